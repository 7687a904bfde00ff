//! Acknowledgements one by one, and captures: what they have agrees with the summary, and with other programs.

use crate::place::{Place, alone, root};
use lab::study::store::read_series;
use lab::study::table::Column;
use serde_json::Value;
use std::fs;
use std::process::Command;
use testkit::could_not_judge;

/// Returns the number of packets that tcpdump reads from a capture; `None` if it is not installed.
fn read_by_tcpdump(file: &std::path::Path) -> Option<usize> {
    let read = Command::new("tcpdump").arg("-nr").arg(file).output().ok()?;
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    Some(String::from_utf8_lossy(&read.stdout).lines().filter(|line| line.contains(" IP ")).count())
}

/// A flow with losses, which is measured from its start, so that the summary counts all packets of the capture.
const LOSSY: &str = "title = 'Losses'\nduration = '20s'\nwarmup = '0s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\n\
                     queue.limit = '20 packets'\n[[flow]]\nname = 'one'\ncontrol = 'reno'\nrtt = '40ms'\n\
                     handshake = true\n";

fn with(text: &str) -> Place {
    let place = Place::new();
    place.write("s.toml", text);
    place
}

fn summary(place: &Place, arguments: &[&str]) -> Value {
    let mut all = vec!["run", "s.toml", "--json"];
    all.extend(arguments);
    place.run(&all).well().summaries().swap_remove(0)
}

#[test]
fn a_capture_agrees_with_the_summary_of_its_run() {
    let place = with(LOSSY);
    let summary = summary(&place, &["--pcap", "run.pcapng", "--pcap-at", "both"]);
    let again = summary["flows"][0]["retransmits"].as_u64().expect("a count");
    assert!(again > 0, "{summary}");
    let file = fs::File::open(place.path().join("run.pcapng")).expect("the capture");
    let read = capture::connections::connections(file, |_| std::ops::ControlFlow::Continue(()));
    let read = read.expect("a capture");
    assert_eq!((read.connections.len(), read.notes.as_slice()), (2, &[][..]), "one flow at two interfaces");
    let sender = read.connections.iter().find(|found| found.interface == 0).expect("the sender's end");
    let forward = sender.directions.iter().max_by_key(|way| way.statistics.payload).expect("two directions");
    assert_eq!(forward.statistics.retransmitted.segments, again);
    let least = forward.statistics.round_trip.least.expect("round trips").as_secs_f64();
    let expected = summary["flows"][0]["rtt_s"]["min"].as_f64().expect("a time");
    // The least is that of the handshake: 40 bytes take 32 us on the link, and the summary's full packets 1.2 ms.
    assert!((least - (expected - 0.0012 + 0.000_032)).abs() < 1e-6, "{least} and {expected}");
    // Without --pcap-at the capture is of the sender's end, which tshark reads as it is.
    place.run(&["run", "s.toml", "--pcap", "one.pcapng"]).well();
    let file = place.path().join("one.pcapng");
    let mut shown = Command::new("tshark");
    shown.arg("-r").arg(&file).args([
        "-Y",
        "tcp.analysis.retransmission || tcp.analysis.out_of_order",
        "-T",
        "fields",
        "-e",
        "frame.interface_name",
    ]);
    let Ok(shown) = shown.output() else {
        return could_not_judge("a capture in tshark: it is not installed");
    };
    let lines = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(lines.lines().count() as u64, again);
    assert!(lines.lines().all(|name| name == "sender"), "{lines}");
}

#[test]
fn each_end_of_a_capture_is_that_of_the_capture_of_both() {
    let place = with(LOSSY);
    let captured = |ends: &str| {
        let file = format!("{ends}.pcapng");
        place.run(&["run", "s.toml", "--pcap", &file, "--pcap-at", ends]).well();
        let file = fs::File::open(place.path().join(file)).expect("the capture");
        let read = capture::connections::connections(file, |_| std::ops::ControlFlow::Continue(()));
        let found = read.expect("a capture").connections;
        found.iter().map(|one| one.directions.each_ref().map(|way| format!("{way:?}"))).collect::<Vec<_>>()
    };
    let both = captured("both");
    let ends = [captured("sender"), captured("receiver")];
    let [all, sender, receiver] = ["both", "sender", "receiver"]
        .map(|ends| read_by_tcpdump(&place.path().join(format!("{ends}.pcapng"))));
    match (all, sender, receiver) {
        (Some(all), Some(sender), Some(receiver)) => {
            assert!(
                sender > 1000 && receiver > 1000 && all == sender + receiver,
                "{all} {sender} {receiver}"
            );
        }
        _ => could_not_judge("captures in tcpdump: it is not installed"),
    }
    assert_eq!(ends.each_ref().map(Vec::len), [1, 1]);
    assert_ne!(ends[0], ends[1], "the queue drops packets between them");
    assert_eq!(ends.concat(), both);
    let refused = place.run(&["run", "s.toml", "--pcap-at", "receiver"]);
    refused.failed(2, &["--pcap <FILE>"]);
}

#[test]
fn rows_of_acknowledgements_agree_with_the_summary() {
    let place = with(LOSSY);
    let summary = summary(&place, &["--set", "record.acks=true"]);
    let folder = place.path().join("results").join(summary["scenario_hash"].as_str().expect("a hash"));
    let series = read_series(&folder.join("sim")).expect("series");
    let (_, acks) = series.iter().find(|(name, _)| *name == "acks").expect("acknowledgements");
    let numbers = |name: &str| match &acks.field(name).expect("a column").column {
        Column::Number(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (rtts, acked, cwnd) = (numbers("rtt_s"), numbers("acked_bytes"), numbers("cwnd_bytes"));
    let rtts: Vec<f64> = rtts.into_iter().flatten().collect();
    let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
    let expected = summary["flows"][0]["rtt_s"]["mean"].as_f64().expect("a time");
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} and {expected}");
    let delivered = summary["flows"][0]["delivered_bytes"].as_f64().expect("bytes");
    let last = acked.last().copied().flatten().expect("a row");
    assert!((last / delivered - 1.0).abs() < 0.01, "{last} and {delivered}");
    assert!(cwnd.iter().all(|window| window.is_some_and(|window| window >= 1448.0)));
    assert_eq!(acks.field("cwnd_bytes").expect("a column").unit, "B");
    let Column::Text(states) = &acks.field("state").expect("a column").column else { panic!("words") };
    for state in ["slow start", "avoidance", "recovery"] {
        assert!(states.iter().any(|known| known == state), "{state}");
    }
}

#[test]
fn flows_are_chosen_by_name_and_index() {
    let text =
        format!("{LOSSY}[[flow]]\nname = 'two'\ncount = 3\n[record]\nacks = true\nflows = ['two', 0]\n");
    let place = with(&text);
    place.run(&["run", "s.toml"]).well();
    let unknown = |flows: &str, words: &[&str]| {
        place.run(&["run", "s.toml", "--set", &format!("record.flows={flows}")]).failed(2, words);
    };
    unknown("[9]", &["record.flows[0]: flow 9, and the scenario has 4", "an index from 0 to 3"]);
    unknown("['on']", &["record.flows[0]: unknown flow \"on\"", "did you mean \"one\"?"]);
    unknown("[]", &["record.flows: an empty list"]);
}

#[test]
fn a_capture_is_of_one_simulated_run() {
    let place = with(LOSSY);
    let refused = |arguments: &[&str], words: &[&str]| {
        let mut all = vec!["run", "s.toml", "--pcap", "x.pcapng"];
        all.extend(arguments);
        place.run(&all).failed(2, words);
        assert!(!place.path().join("x.pcapng").exists());
    };
    refused(&["--engine", "live"], &["--pcap: a capture of a run that is not simulated", "emulate --pcap"]);
    refused(&["--repeat", "2"], &["--pcap: a capture of 2 runs", "leave out --repeat"]);
    place.run(&["run", "s.toml", "--engine", "live", "--set", "record.acks=true"]).failed(
        2,
        &["record.acks: acks = true, and the kernel does not show a program each acknowledgement"],
    );
    place.run(&["run", "s.toml", "--pcap", "nowhere/x.pcapng"]).failed(3, &["cannot write the capture"]);
}

#[test]
fn a_capture_of_an_emulated_link_has_the_ends_asked_for() {
    let _alone = alone();
    if !root() {
        return could_not_judge("a capture of an emulated link: it needs root");
    }
    let place = Place::new();
    let interfaces = |ends: &[&str]| {
        let link = ["emulate", "--rate", "50Mbit/s", "--delay", "5ms", "--as-root", "--pcap", "path.pcapng"];
        let command = ["--", "sh", "-c", "ping -c 3 -i 0.2 $TIGHTLINK_FAR"];
        place.run(&[&link[..], ends, &command].concat()).well();
        let bytes = fs::read(place.path().join("path.pcapng")).expect("the capture");
        let recording = capture::read(bytes.as_slice(), &capture::PacketFilter::default());
        // Requests and answers are there at each end, so that it is not a trace of one direction.
        let refused = recording.expect_err("two directions").to_string();
        assert!(refused.contains("direction"), "{refused}");
        let names = [&b"near"[..], b"far\0"].map(|name| bytes.windows(name.len()).any(|at| at == name));
        (names, bytes.len())
    };
    let (near, length) = interfaces(&[]);
    assert_eq!(near, [true, false]);
    assert_eq!(interfaces(&["--pcap-at", "far"]).0, [false, true]);
    let (both, of_both) = interfaces(&["--pcap-at", "both"]);
    assert_eq!(both, [true, true]);
    assert!(of_both > length + 6 * 100, "{of_both} and {length}");
}
