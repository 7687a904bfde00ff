//! Loss synchronization: flows that nothing tells apart lose together, others less often.

use scenario::Document;
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::resolve_document;

/// Reno flows on 100 Mbit/s behind 0.2 BDP of an RTT of 40 ms.
fn flows(count: usize, more: &str) -> Record {
    let text = format!(
        "title = 't'
duration = '60s'
warmup = '10s'
[link]
rate = '100Mbit/s'
delay = '10ms'
queue.limit = '67 packets'
[[flow]]
control = 'reno'
count = {count}
{more}
"
    );
    let document = Document::parse("t.toml", &text).unwrap();
    engine::run(Engine::Sim, &resolve_document(&document).unwrap(), engine::UNWATCHED).unwrap()
}

fn share(record: &Record) -> f64 {
    record.summary.synchronized_loss_share.unwrap_or_else(|| panic!("{:?}", record.summary))
}

fn notes(record: &Record) -> usize {
    record.notes.iter().filter(|note| note.text().starts_with("losses are synchronized")).count()
}

#[test]
fn four_reno_flows_of_one_rtt_lose_together_and_a_note_says_so() {
    let record = flows(4, "rtt = '40ms'");
    assert!(share(&record) > 0.95, "{}", share(&record));
    assert_eq!(notes(&record), 1, "{:?}", record.notes);
    // The same utilization as one flow has.
    let [four, one] = [&record, &flows(1, "rtt = '40ms'")].map(|run| run.summary.utilization.unwrap());
    assert!((four - one).abs() < 0.02, "{four} {one}");
}

#[test]
fn jitter_or_other_rtts_make_flows_lose_less_often_together_and_the_link_busier() {
    let alike = flows(4, "rtt = '40ms'");
    for (more, most) in [
        ("rtt = '40ms'\nsend_jitter = '1ms'", 0.75),
        // Linux's windows are whole segments. Its kernel has 0.50 to 0.75 here, in three runs.
        ("rtt = '40ms'\nhost = 'linux'", 0.75),
        ("rtt = ['30ms', '37ms', '43ms', '50ms']", 0.45),
    ] {
        let record = flows(4, more);
        assert!(share(&record) < most, "{more}: {}", share(&record));
        assert_eq!(notes(&record), 0, "{more}: {:?}", record.notes);
        let [apart, together] = [&record, &alike].map(|run| run.summary.utilization.unwrap());
        assert!(apart > together + 0.02, "{more}: {apart} {together}");
    }
}

#[test]
fn one_greedy_flow_has_no_share_nor_have_sized_ones_nor_too_few_episodes() {
    let one = flows(1, "rtt = '40ms'").summary;
    assert_eq!((one.loss_episodes, one.synchronized_loss_share), (None, None));
    let sized = flows(4, "rtt = '40ms'\nsize = '1GB'").summary;
    assert_eq!((sized.loss_episodes, sized.synchronized_loss_share), (None, None));
    // Windows that never fill the link.
    let limited = flows(4, "rtt = '40ms'\nsocket_buffer = '50kB'").summary;
    assert_eq!((limited.loss_episodes, limited.synchronized_loss_share), (Some(0), None));
}
