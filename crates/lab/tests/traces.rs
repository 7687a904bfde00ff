//! Captures as cross traffic, from the file to the summary: cases 06 to 08 of shared/cases/turn3, and what the notes say.

use scenario::Document;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, Note, Record};
use tightlink_lab::run::resolve::resolve_document;

/// A folder of its own, removed at the end.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A capture of packets at microseconds, of which nothing but the length was captured.
    fn pcap(&self, name: &str, link_type: u32, packets: impl Iterator<Item = (u64, u32)>) {
        let mut bytes =
            [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 262_144, link_type].map(u32::to_le_bytes).concat();
        for (at, length) in packets {
            let (seconds, fraction) = (1_700_000_000 + at / 1_000_000, at % 1_000_000);
            bytes.extend([seconds as u32, fraction as u32, 0, length].map(u32::to_le_bytes).concat());
        }
        fs::write(self.file(name), bytes).unwrap();
    }

    fn document(&self, text: &str) -> Document {
        Document::parse(&self.file("x.toml").display().to_string(), text).unwrap()
    }

    fn run(&self, engine: Engine, text: &str) -> Record {
        let resolved = resolve_document(&self.document(text)).unwrap_or_else(|faults| panic!("{faults}"));
        engine::run(engine, &resolved, engine::UNWATCHED).unwrap()
    }
}

fn notes(record: &Record) -> Vec<&str> {
    record.notes.iter().map(Note::text).collect()
}

#[test]
fn one_traffic_captured_three_ways_leaves_one_goodput() {
    let folder = Folder::new();
    for (name, link_type, header) in [("eth", 1, 14), ("raw", 101, 0), ("sll2", 276, 20)] {
        let packets = (0..30_000u64).map(|at| (at * 1_000_000 / 15_000, 52 + header));
        folder.pcap(name, link_type, packets);
    }
    let summary = |file: &str, engine| {
        let text = format!(
            "title = 't'\nduration = '2s'\nwarmup = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '20ms'\n\
             queue.limit = '100 packets'\n[[flow]]\n[[traffic]]\nkind = 'replay'\nfile = '{file}'\n"
        );
        folder.run(engine, &text).summary
    };
    for engine in [Engine::Sim, Engine::Model] {
        let raw = summary("raw", engine);
        for file in ["eth", "sll2"] {
            let other = summary(file, engine);
            assert_eq!(other.goodput_bps(), raw.goodput_bps(), "{engine}: {file}");
        }
    }
}

#[test]
fn super_packets_meet_the_queue_as_segments() {
    let folder = Folder::new();
    folder.pcap("super.pcap", 101, (0..100).map(|at| (at * 40_000, 64_240)));
    let mut table = "time_us,size\n".to_owned();
    for packet in 0..100 {
        let whole = (0..42).map(|segment| (segment, 1500)).chain([(42, 1240)]);
        table.extend(whole.map(|(segment, size)| format!("{},{size}\n", packet * 40_000 + segment)));
    }
    fs::write(folder.file("split.csv"), table).unwrap();
    let run = |file: &str| {
        let text = format!(
            "title = 't'\nduration = '4s'\nwarmup = '1s'\n[link]\nrate = '30Mbit/s'\ndelay = '20ms'\n\
             queue.limit = '100 packets'\n[[flow]]\ncontrol = 'cubic'\n[[traffic]]\nkind = 'replay'\nfile = '{file}'\n"
        );
        folder.run(Engine::Sim, &text)
    };
    let (whole, split) = (run("super.pcap"), run("split.csv"));
    let worst =
        |record: &Record| record.summary.queueing_delay_s.as_ref().and_then(|delay| delay.max).unwrap();
    // 100 packets of 1500 bytes at 30 Mbit/s.
    assert!(worst(&whole) <= 0.0401 && worst(&split) <= 0.0401, "{} {}", worst(&whole), worst(&split));
    let ratio = whole.summary.goodput_bps() / split.summary.goodput_bps();
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    assert!(notes(&whole).iter().any(|note| note.contains("super.pcap: 100 of 100 packets are larger")));
    assert!(!notes(&split).iter().any(|note| note.contains("larger")));
}

#[test]
fn a_trace_that_ends_before_the_run_is_said_to() {
    let folder = Folder::new();
    folder.pcap("four.pcap", 1, (0..4000).map(|at| (at * 1000, 1514)));
    let text = |more: &str| {
        format!(
            "title = 't'\nduration = '60s'\nwarmup = '1s'\n[link]\nrate = '30Mbit/s'\ndelay = '20ms'\n\
             queue.limit = '1 bdp'\n[[flow]]\n[[traffic]]\nkind = 'replay'\nfile = 'four.pcap'\n{more}\n"
        )
    };
    for engine in [Engine::Sim, Engine::Model] {
        let record = folder.run(engine, &text(""));
        let said = "replay: the trace ends at 4 s of 60 s; repeat = true begins it anew";
        assert!(notes(&record).contains(&said), "{engine}: {:?}", record.notes);
    }
    let goodput = folder.run(Engine::Sim, &text("")).summary.goodput_bps();
    // 12 Mbit/s for 3 of the 59 measured seconds.
    assert!((28.0e6..28.9e6).contains(&goodput), "{goodput}");
    for quiet in ["repeat = true", "stop = '4s'"] {
        let record = folder.run(Engine::Sim, &text(quiet));
        assert!(
            !notes(&record).iter().any(|note| note.contains("trace ends")),
            "{quiet}: {:?}",
            record.notes
        );
    }
}

#[test]
fn a_direction_is_chosen_by_a_key_that_counts_in_the_hash_if_it_is_there() {
    let folder = Folder::new();
    let capture = testkit::repository().join("tests/cases/files/trace-both-directions.pcap");
    fs::copy(capture, folder.file("both.pcap")).unwrap();
    let text = |more: &str| {
        format!(
            "title = 't'\nduration = '4s'\n[link]\nrate = '30Mbit/s'\nqueue.limit = '100 packets'\n[[flow]]\n\
             rtt = '40ms'\n[[traffic]]\nkind = 'replay'\nfile = 'both.pcap'\n{more}\n"
        )
    };
    let faults = |more: &str| resolve_document(&folder.document(&text(more))).unwrap_err().to_string();
    let both = faults("");
    assert!(
        both.contains("traffic[0].file: ") && both.contains("both.pcap: both directions: 73 packets"),
        "{both}"
    );
    assert!(both.contains("toward = \"198.18.0.2\""), "{both}");
    let odd = faults("toward = 'server'");
    assert!(odd.contains("x.toml:11:10: traffic[0].toward: \"server\" is not an address"), "{odd}");
    let resolved = |more: &str| resolve_document(&folder.document(&text(more))).unwrap();
    let (toward, from) = (resolved("toward = '198.18.0.2'"), resolved("from = '198.18.0.2'"));
    assert_ne!(toward.hash, from.hash);
    assert_eq!(toward.notes[0], "both.pcap: toward = \"198.18.0.2\" takes 73 packets and leaves 72 out");
    // Without the keys the canonical form is as it was.
    let scenario = folder.document(&text("")).scenario().unwrap();
    let plain = serde_json::to_string(&scenario).unwrap();
    assert!(!plain.contains("toward") && !plain.contains("\"from\""), "{plain}");
}
