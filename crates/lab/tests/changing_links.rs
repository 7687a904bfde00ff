//! Links that change, from the scenario to the summary: their means, their files, and each part that assumes one rate.

use link::changes::Capacity;
use scenario::{Document, Faults};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tightlink_lab::run::engine::{UNWATCHED, check, run};
use tightlink_lab::run::record::{Engine, Note, Record};
use tightlink_lab::run::resolve::{Resolved, resolve_document};
use tightlink_lab::study::experiment::Experiment;
use tightlink_lab::study::search::{Bound, Target};
use tightlink_lab::study::size::Study;
use tightlink_lab::study::watch::Unwatched;
use units::{Bytes, Rate, Span};

/// A link whose rate is 20 Mbit/s for ten seconds, and then 5 for as long: 12.5 in the mean.
const STEPS: &str = "title = 't'
duration = '40s'
warmup = '10s'
[link]
rate = { steps = [['0s', '20Mbit/s'], ['10s', '5Mbit/s']], every = '20s' }
delay = '20ms'
queue.limit = '1 bdp'
[[flow]]
";

fn read(folder: &Path, text: &str) -> Result<Resolved, Faults> {
    resolve_document(&Document::parse(&folder.join("t.toml").to_string_lossy(), text)?)
}

#[track_caller]
fn resolved(text: &str) -> Resolved {
    read(Path::new(""), text).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn simulated(text: &str) -> Record {
    run(Engine::Sim, &resolved(text), UNWATCHED).unwrap_or_else(|error| panic!("{error}"))
}

fn notes(record: &Record) -> String {
    record.notes.iter().map(Note::text).collect::<Vec<_>>().join("\n")
}

fn bps(rate: u64) -> Rate {
    Rate::from_bps(rate)
}

#[test]
fn limits_in_bdp_and_time_are_of_the_mean_rate_and_a_note_says_so() {
    let of = |limit: &str| resolved(&STEPS.replace("1 bdp", limit));
    assert_eq!(of("1 bdp").link.rate, bps(12_500_000));
    assert_eq!(of("1 bdp").limit, link::Limit::Bytes(Bytes::new(62_500)));
    assert_eq!(of("40ms").limit, link::Limit::Bytes(Bytes::new(62_500)));
    let note = "link.queue.limit: 1 bdp by the mean rate, 12.5 Mbit/s";
    assert!(notes(&simulated(STEPS)).contains(note), "{}", notes(&simulated(STEPS)));
    assert!(of("40 packets").notes.is_empty());
}

#[test]
fn the_mean_of_a_list_that_does_not_repeat_is_that_of_the_run_and_outages_reduce_it() {
    let once = STEPS.replace(", every = '20s'", "");
    assert_eq!(resolved(&once).link.rate, bps((20 * 10 + 5 * 30) * 1_000_000 / 40));
    let outage = "outage = { every = '1s', length = { uniform = ['50ms', '150ms'] } }\n";
    let with = |text: &str| resolved(&text.replace("[[flow]]", &format!("{outage}[[flow]]")));
    assert_eq!(with(STEPS).link.rate, bps(11_250_000));
    // A constant rate keeps its value between outages.
    let constant = with(
        &STEPS.replace("{ steps = [['0s', '20Mbit/s'], ['10s', '5Mbit/s']], every = '20s' }", "'20Mbit/s'"),
    );
    assert_eq!(constant.link.rate, bps(18_000_000));
    let Some(Capacity::Rates(rates)) = &constant.link.changes.capacity else { panic!("no capacity") };
    assert_eq!(rates.values().collect::<Vec<_>>(), [bps(20_000_000)]);
}

#[test]
fn a_flow_fills_a_rate_that_changes_and_waits_through_a_rate_of_zero() {
    let record = simulated(STEPS);
    assert!(record.summary.utilization.unwrap() > 0.9, "{:?}", record.summary.utilization);
    let silent =
        STEPS.replace("'40s'", "'400s'").replace("'5Mbit/s'], ", "'0Mbit/s'], ['190s', '20Mbit/s'], ");
    let silent = silent.replace("['10s', '5Mbit/s']]", "['10s', '0Mbit/s'], ['190s', '20Mbit/s']]");
    let record = simulated(&silent.replace(", every = '20s'", ""));
    let summary = &record.summary;
    for number in [summary.utilization, summary.loss_rate, summary.queueing_delay_s.map(|delay| delay.mean)] {
        assert!(number.is_some_and(f64::is_finite), "{summary:?}");
    }
    // The timer of the flow backs off while nothing passes, so that it comes back some time after the link does.
    assert!(record.summary.goodput_bps() > 3e6, "{} bit/s", record.summary.goodput_bps());
}

/// The files of a folder, and a scenario that names them.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Self(folder)
    }

    fn read(&self, link: &str) -> Result<Resolved, Faults> {
        let text = format!(
            "title = 't'\nduration = '60s'\n[link]\n{link}\nqueue.limit = '1 bdp'\n[[flow]]\nrtt = '100ms'\n"
        );
        read(self.0.path(), &text)
    }

    #[track_caller]
    fn resolved(&self, link: &str) -> Resolved {
        self.read(link).unwrap_or_else(|faults| panic!("{faults}"))
    }

    #[track_caller]
    fn refused(&self, link: &str, words: &[&str]) {
        let faults = self.read(link).unwrap_err().to_string();
        for word in words {
            assert!(faults.contains(word), "{word:?} is not in:\n{faults}");
        }
    }
}

#[test]
fn files_give_rates_delays_and_losses_and_their_content_is_in_the_hash() {
    let files = Files::new(&[
        ("lte.down", "0\n2\n2\n10\n"),
        ("same.down", "0\n2\n2\n10\n"),
        ("other.down", "0\n2\n3\n10\n"),
        ("rate.csv", "time_s,rate_mbps\n0,20\n10,0\n"),
        ("delay.csv", "time_s,delay_ms\n0,30\n1,10\n"),
    ]);
    let trace = files.resolved("rate = { trace = 'lte.down' }");
    assert_eq!(trace.link.rate, bps(4_800_000));
    assert!(matches!(&trace.link.changes.capacity, Some(Capacity::Opportunities(all)) if all.repeats()));
    let table = files.resolved("rate = { trace = 'rate.csv', every = '20s' }");
    assert_eq!(table.link.rate, bps(10_000_000));
    let delay = files.resolved("rate = '10Mbit/s'\ndelay = { trace = 'delay.csv' }");
    assert_eq!((delay.link.delay, delay.flows[0].base_rtt), (Span::from_millis(10), Span::from_millis(100)));
    let extra = delay.link.changes.delay.unwrap();
    assert_eq!(extra.steps.values().collect::<Vec<_>>(), [Span::from_millis(20), Span::ZERO]);

    let hash = |name: &str| files.resolved(&format!("rate = {{ trace = '{name}' }}")).hash;
    assert_ne!(hash("lte.down"), hash("other.down"));
    fs::copy(files.0.path().join("other.down"), files.0.path().join("lte.down")).unwrap();
    assert_ne!(files.resolved("rate = { trace = 'lte.down' }").hash, trace.hash, "another content");
    // The points of a sweep share one copy of a file.
    let again = files.resolved("rate = { trace = 'same.down' }");
    let once_more = files.resolved("rate = { trace = 'same.down' }");
    let of = |resolved: &Resolved| match resolved.link.changes.capacity.clone() {
        Some(Capacity::Opportunities(all)) => all,
        other => panic!("{other:?}"),
    };
    assert!(std::sync::Arc::ptr_eq(&of(&again), &of(&once_more)));
}

#[test]
fn each_fault_of_a_file_has_its_key_and_line() {
    let files = Files::new(&[
        ("lte.down", "0\n2\n1\n"),
        ("fine.down", "0\n2\n"),
        ("rate.csv", "time_s,rate_mbps\n0,20\n10,5\n"),
        ("zero.csv", "time_s,rate_mbps\n0,0\n10,0\n"),
        ("loss.csv", "time_s,loss\n0,1\n"),
        ("delay.csv", "time_s,delay_ms\n0,30\n1,60\n"),
        ("lost.txt", "5\n5\n"),
        ("nothing", ""),
    ]);
    let rate = |trace: &str| format!("rate = {{ trace = {trace} }}");
    files.refused(&rate("'none'"), &["link.rate.trace", "none: No such file", "relative to the folder"]);
    files.refused(&rate("'lte.down'"), &["link.rate.trace", "lte.down:3: 1 after 2", "sort -n"]);
    files.refused(&rate("'nothing'"), &["an empty file", "a trace of mahimahi"]);
    files.refused(&rate("'zero.csv'"), &["link.rate: a mean rate of zero: nothing would pass"]);
    files.refused(
        &rate("'rate.csv', every = '10s'"),
        &["link.rate.every: a period that ends before the last time"],
    );
    files.refused(&rate("'rate.csv', repeat = true"), &["link.rate.repeat", "write every = \"20s\""]);
    files.refused(&rate("'fine.down', every = '10s'"), &["link.rate.every", "leave every out"]);
    files.refused(
        "rate = '1Mbit/s'\nloss = { trace = 'loss.csv' }",
        &["link.loss: a loss of 100% throughout"],
    );
    files.refused(
        "rate = '1Mbit/s'\nloss = { packets = { trace = 'lost.txt' } }",
        &["link.loss.packets.trace", "lost.txt:2: 5 after 5"],
    );
    files.refused(
        "rate = '1Mbit/s'\ndelay = { trace = 'delay.csv' }\nreverse = { rate = { trace = 'lte.down' }, queue.limit = '9 packets' }",
        &["link.reverse.rate.trace"],
    );
    files.refused(
        "rate = '1Mbit/s'\ndelay = { steps = [['0s', '60ms']] }",
        &["flow[0].rtt", "an RTT of 100ms"],
    );
    let long = Files::new(&[("delay.csv", "time_s,delay_ms\n0,70\n1,60\n")]);
    long.refused("rate = '1Mbit/s'\ndelay = { trace = 'delay.csv' }", &["flow[0].rtt", "at least 120ms"]);
}

#[test]
fn a_trace_that_ends_before_the_run_gets_a_note() {
    let short = "0\n".repeat(1000) + "5000\n";
    let files = Files::new(&[("short.down", &short), ("rate.csv", "time_s,rate_mbps\n0,20\n10,5\n")]);
    let notes = |link: &str| files.resolved(link).notes.join("\n");
    let ended = notes("rate = { trace = 'short.down', repeat = false }");
    assert!(ended.contains("short.down ends at 5 s of 60 s: nothing passes from then on"), "{ended}");
    let held = notes("rate = { trace = 'rate.csv' }");
    assert!(held.contains("rate.csv ends at 10 s of 60 s: the last rate holds"), "{held}");
    assert!(!notes("rate = { trace = 'short.down' }").contains("ends"));
}

/// A part that assumes one rate, and the words with which it refuses a link that changes; `None`: it works.
const PARTS: &[(&str, Option<&str>)] = &[
    ("engine model", Some("link.rate: a rate that changes over time, and theory")),
    ("engine sim", None),
    ("engine live", None),
    ("size sim", None),
    ("size model", Some("--quick, --engine model: a link that changes over time: theory describes links")),
    ("size live", None),
    ("search", None),
    ("claim of capacity", None),
    ("record.fairness", None),
    ("socket_buffer sobas", None),
    ("socket_buffer drs", None),
    ("queue red", None),
    ("queue adaptive-red", None),
    ("queue codel", None),
    ("queue pie", None),
    ("queue fq-codel", None),
    ("assist xcp", Some("link.assist: a router that assists senders by the rate of its link")),
    ("assist rcp", Some("link.assist: a router that assists senders by the rate of its link")),
    ("reverse", None),
    ("several links", None),
    ("traffic", None),
    ("sweep of the rate", None),
];

#[test]
fn every_part_that_assumes_one_rate_works_by_the_mean_or_refuses_by_name() {
    for (part, refusal) in PARTS {
        match (tried(part), refusal) {
            (Ok(()), None) => {}
            (Err(said), Some(words)) => assert!(said.contains(words), "{part}: {said}"),
            (Ok(()), Some(_)) => panic!("{part} works, and is to refuse"),
            (Err(said), None) => panic!("{part} is to work: {said}"),
        }
    }
}

/// Tries a part on a link that changes. The error has the words of its refusal.
fn tried(part: &str) -> Result<(), String> {
    let short = STEPS.replace("'40s'", "'4s'").replace("warmup = '10s'", "warmup = '1s'");
    let engine = |name: &str| Engine::ALL.into_iter().find(|engine| engine.to_string() == name).unwrap();
    let sim = |text: &str| {
        let resolved = read(Path::new(""), text).map_err(|faults| faults.to_string())?;
        run(Engine::Sim, &resolved, UNWATCHED).map(drop).map_err(|error| error.to_string())
    };
    match part.split_once(' ').unwrap_or((part, "")) {
        ("engine", name) => {
            let engine = engine(name);
            if engine == Engine::Live && !cfg!(feature = "kernel") {
                return Ok(());
            }
            check(engine, &resolved(&short))
                .map_err(|misfit| format!("{}: {}", misfit.complaint.place, misfit.complaint.found))
        }
        ("size", "sim") => {
            let document = Document::parse("t.toml", &short).unwrap();
            let study = Study::of_scenario(&document, "".into()).map_err(|faults| faults.to_string())?;
            let study = Study { folder: None, ..study };
            let sizing = study.simulate(&mut Unwatched).map_err(|error| error.to_string())?;
            assert!(sizing.recommended.utilization > 0.9, "{:?}", sizing.recommended);
            Ok(())
        }
        ("size", name) => {
            let document = Document::parse("t.toml", &short).unwrap();
            let study = Study::of_scenario(&document, "".into()).map_err(|faults| faults.to_string())?;
            study.check(engine(name)).map_err(|complaint| format!("{}: {}", complaint.place, complaint.found))
        }
        ("search", _) => {
            let target = Target { metric: "utilization".into(), bound: Bound::AtLeast(0.5) };
            let document = Document::parse("t.toml", &short).unwrap();
            let asked = Experiment::in_memory(&document).unwrap();
            let found = asked.search("link.queue.limit", &target, &mut Unwatched);
            found.map(|found| assert!(!found.is_empty())).map_err(|error| error.to_string())
        }
        ("claim", _) => {
            let text = "[[claim]]\nfigure = 'f'\nsays = 'c'\nquantity = 'goodput'\nengines = ['sim']\nat_least = '20% of capacity'\n";
            let claims = tightlink_lab::study::claims::parse_claims("c.toml", text).unwrap();
            let document = Document::parse("t.toml", &short).unwrap();
            let asked = Experiment::in_memory(&document).unwrap().engines([Engine::Sim]);
            let compared = asked.compare(&claims, &mut Unwatched).map_err(|error| error.to_string())?;
            assert!(compared.verdicts.iter().all(|verdict| verdict.held), "{:?}", compared.verdicts);
            Ok(())
        }
        ("record.fairness", _) => sim(&(short + "[record]\nfairness = '100ms'\n")),
        ("socket_buffer", sizer) => sim(&(short + &format!("socket_buffer = {{ sizer = '{sizer}' }}\n"))),
        ("queue", kind) => sim(&short.replace("queue.limit", &format!("queue.kind = '{kind}'\nqueue.limit"))),
        ("assist", name) => {
            let text = short.replace("queue.limit", &format!("assist = '{name}'\nqueue.limit"));
            sim(&(text + &format!("control = '{name}'\n")))
        }
        ("reverse", _) => sim(&short.replace("queue.limit", "reverse.queue.limit = '1 bdp'\nqueue.limit")),
        ("several", _) => {
            let second = "[[link]]\nrate = '8Mbit/s'\nqueue.limit = '1 bdp'\n[[flow]]";
            sim(&short.replace("[link]", "[[link]]").replace("[[flow]]", second))
        }
        ("traffic", _) => sim(&(short + "[[traffic]]\nkind = 'poisson'\nrate = '2Mbit/s'\n")),
        ("sweep", _) => {
            let rates = "['10Mbit/s', { steps = [['0s', '8Mbit/s'], ['1s', '2Mbit/s']] }]";
            let document =
                Document::parse("t.toml", &(short + &format!("[sweep]\n'link.rate' = {rates}\n"))).unwrap();
            let asked = Experiment::in_memory(&document).map_err(|faults| faults.to_string())?;
            assert_eq!(asked.tasks().len(), 2);
            asked.engines([Engine::Sim]).run(&mut Unwatched).map(drop).map_err(|error| error.to_string())
        }
        other => panic!("unknown part: {other:?}"),
    }
}
