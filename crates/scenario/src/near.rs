//! "Did you mean": the known word nearest to a mistyped one.

use strsim::osa_distance;

/// Words longer than this are not typing mistakes.
const LONGEST: usize = 40;

/// What people from elsewhere call our keys.
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
    ("length", "duration"),
];

/// The candidate that `word` most likely stands for, if any is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().filter(|c| c.chars().count() <= LONGEST).collect();
    let near = candidates
        .iter()
        .map(|candidate| (osa_distance(&folded, &candidate.to_lowercase().replace('-', "_")), *candidate))
        .min_by_key(|(distance, _)| *distance)
        // A third of the letters may be wrong; a word of two letters or fewer must differ by case alone.
        .filter(|(distance, candidate)| {
            *distance <= length.min(candidate.chars().count()).div_ceil(3).min(length / 2)
        });
    near.map(|(_, candidate)| candidate).or_else(|| {
        let (_, ours) = OTHER_WORDS.iter().find(|(theirs, _)| *theirs == folded)?;
        candidates.into_iter().find(|candidate| candidate == ours)
    })
}

/// `did you mean "rate"?`, if a candidate is near enough.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
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
    }
}
