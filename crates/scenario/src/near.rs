//! "Did you mean": the known word nearest to a mistyped one.

use crate::schema::{self, Keys};
use strsim::osa_distance;

/// The most letters of a word that counts as a typing mistake.
const LONGEST: usize = 40;

/// Words of other tools and papers for keys, each with the key's name here.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("latency", "delay"),
    ("propagation", "delay"),
    ("buffer", "queue"),
    ("algorithm", "control"),
    ("cc", "control"),
    ("congestion", "control"),
    ("mss", "segment"),
    ("initcwnd", "initial_window"),
    ("icw", "initial_window"),
    ("window", "socket_buffer"),
    ("interval", "every"),
    ("end", "stop"),
    ("type", "kind"),
    ("time", "duration"),
    ("tupdate", "interval"),
    ("coupling_factor", "coupling"),
    ("step_thresh", "step_threshold"),
    ("min_qlen_step", "step_queue"),
    ("ecn_prob", "ecn_probability"),
    ("length", "duration"),
];

/// Features of other tools that this one lacks: the name there, the nearest word here, and the help text.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("fq", "fq-codel", "\"fq-codel\" is nearest; fq's pacing is flow.pacing = true"),
    ("sfq", "fq-codel", "SFQ is not there: \"fq-codel\" has a queue for each flow, too"),
    ("fq_cobalt", "cake", "write \"cake\", which has a COBALT for each flow"),
    ("dualq", "dualpi2", "write \"dualpi2\""),
    ("l4s", "dualpi2", "write \"dualpi2\", the queue of L4S"),
    ("pi2", "dualpi2", "PI2 alone is not there: \"dualpi2\" serves classic flows as PI2 does"),
    ("triple_isolate", "triple", "write \"triple\""),
    ("dual_srchost", "dual-src", "write \"dual-src\""),
    ("dual_dsthost", "dual-dst", "write \"dual-dst\""),
    ("srchost", "dual-src", "\"dual-src\" is nearest: it also shares evenly among the flows of a host"),
    ("dsthost", "dual-dst", "\"dual-dst\" is nearest: it also shares evenly among the flows of a host"),
    ("flowblind", "flows", "CAKE without flow queues is not there: \"cobalt\" has one queue"),
    ("diffserv8", "diffserv4", "CAKE's eight tins are not there: \"diffserv4\" is nearest"),
    ("precedence", "diffserv4", "CAKE's eight tins are not there: \"diffserv4\" is nearest"),
    ("htb", "shaper", "HTB without classes is link.shaper, with any queue: [link.shaper] rate, queue"),
    ("tbf", "shaper", "TBF without its burst is link.shaper, with any queue: [link.shaper] rate, queue"),
    ("pfifo", "drop-tail", "write \"drop-tail\" with a limit in packets"),
    ("bfifo", "drop-tail", "write \"drop-tail\" with a limit in bytes"),
    ("pfifo_fast", "drop-tail", "write \"drop-tail\" with a limit in packets"),
    ("fifo", "drop-tail", "write \"drop-tail\""),
    ("tail_drop", "drop-tail", "write \"drop-tail\""),
    ("ared", "adaptive-red", "write \"adaptive-red\""),
    ("bbr1", "bbr", "write \"bbr\""),
    ("bbrv1", "bbr", "write \"bbr\""),
    ("bbr2", "bbr3", "BBRv2 is not there: \"bbr3\" is its successor, \"bbr\" is version 1"),
    ("bbrv2", "bbr3", "BBRv2 is not there: \"bbr3\" is its successor, \"bbr\" is version 1"),
    ("bbrv3", "bbr3", "write \"bbr3\""),
    ("htcp", "highspeed", "H-TCP is not there: \"highspeed\", \"scalable\" and \"bic\" are of its kind"),
    (
        "illinois",
        "highspeed",
        "TCP Illinois is not there: \"highspeed\", \"scalable\" and \"bic\" are of its kind",
    ),
    ("ledbat", "lp", "LEDBAT is not there: \"lp\" leaves the link to others, too"),
    (
        "l4s",
        "mark_above",
        "L4S flows have control = \"prague\"; link.queue.mark_above marks them at once, as an L4S queue does",
    ),
    (
        "dctcp",
        "mark_above",
        "DCTCP's marking is link.queue.mark_above, and its flows have control = \"dctcp\"",
    ),
    (
        "trace",
        "file",
        "a trace of packets is traffic.file; a rate over time is [[traffic]] with start and stop, which takes the difference",
    ),
    ("mahimahi", "file", "a rate over time is [[traffic]] with start and stop, which takes the difference"),
    ("accecn", "ecn", "write ecn = \"accecn\""),
];

/// Returns the candidate that `word` most likely stands for, if any is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().filter(|c| c.chars().count() <= LONGEST).collect();
    // A beginning counts first: "sobas:fig1" means "sobas:fig1-4", although it is nearer to "sobas:fig13".
    let begins = |candidate: &&&str| {
        let rest = candidate.strip_prefix(word).and_then(|rest| rest.chars().next());
        rest == Some('-')
    };
    if let Some(begun) = candidates.iter().find(begins) {
        return Some(begun);
    }
    let near = candidates
        .iter()
        .map(|candidate| (osa_distance(&folded, &candidate.to_lowercase().replace('-', "_")), *candidate))
        .min_by_key(|(distance, _)| *distance)
        // A candidate is near enough if at most a third of the letters are wrong. A word of one letter may differ by
        // case alone.
        .filter(|(distance, candidate)| {
            *distance <= length.min(candidate.chars().count()).div_ceil(3).min(length / 2)
        });
    near.map(|(_, candidate)| candidate).or_else(|| called_here(word, candidates))
}

/// Returns the candidate that other tools call `word`.
fn called_here<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase().replace('-', "_");
    let (_, ours) = OTHER_WORDS.iter().find(|(theirs, _)| *theirs == folded)?;
    candidates.into_iter().find(|candidate| candidate == ours)
}

/// Returns `did you mean "link.rate"?` for an unknown key of a table with the `known` keys. The same name in another
/// table comes before a similar name in this one.
pub(crate) fn key_meant(name: &str, known: Keys, root: Keys) -> Option<String> {
    let meant = |key: &str| format!("did you mean \"{key}\"?");
    let here = called_here(name, schema::names(known)).map(meant);
    here.or_else(|| schema::elsewhere(root, name).map(|path| meant(&path)))
        .or_else(|| did_you_mean(name, schema::names(known)))
}

/// Returns `did you mean "rate"?` if a candidate is near enough. For a feature of another tool, returns help that names
/// the nearest candidate.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let folded = word.to_lowercase().replace('-', "_");
    let elsewhere = || ELSEWHERE.iter().filter(|(theirs, ..)| *theirs == folded);
    if elsewhere().next().is_some() {
        // A word that other tools know is not a typing mistake.
        let mut nearest = elsewhere().filter(|(_, ours, _)| candidates.contains(ours));
        return nearest.next().map(|(.., words)| (*words).to_owned());
    }
    nearest(word, candidates).map(|near| format!("did you mean \"{near}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_words_find_their_neighbour() {
        let keys = ["rate", "delay", "queue", "loss"];
        assert_eq!(nearest("raet", keys), Some("rate"));
        assert_eq!(nearest("Delay", keys), Some("delay"));
        assert_eq!(nearest("bandwidth", keys), Some("rate"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("on_of", ["cbr", "on-off"]), Some("on-off"));
        assert_eq!(nearest("a:fig1", ["a:fig13", "a:fig1-4"]), Some("a:fig1-4"));
    }

    #[test]
    fn what_other_tools_have_leads_to_what_is_nearest_here() {
        let queues = ["drop-tail", "codel", "fq-codel"];
        assert!(did_you_mean("SFQ", queues).is_some_and(|help| help.contains("\"fq-codel\"")));
        assert!(did_you_mean("pfifo-fast", queues).is_some_and(|help| help.contains("\"drop-tail\"")));
        // The help appears only if the nearest word is a candidate.
        assert_eq!(did_you_mean("sfq", ["rate", "delay"]), None);
    }
}
