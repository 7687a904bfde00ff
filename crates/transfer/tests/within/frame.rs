//! Tests of the frames of messages: lengths, limits, and bytes that are no message.

use super::*;
use crate::chunks::Chunks;
use crate::history::PhaseEntry;
use crate::name::Name;
use crate::wire::bounded::{LONGEST_TEXT, MOST_ENTERED, MOST_OBSERVED, MOST_STREAMS};
use crate::wire::control::{Entry, Kind, Progress, Report, Stamp, Verdict};
use crate::wire::observation::Observation;
use crate::wire::test::{
    Ended, LatencyResults, LoadSample, Plan, ProbeResults, Results, SenderAccount, TrainRate, WayResults,
};
use proptest::prelude::*;

fn round_trip<M: Framed + PartialEq + std::fmt::Debug>(message: &M) {
    let mut bytes = vec![1, 2, 3];
    append(&mut bytes, message);
    append(&mut bytes, message);
    let (read, length) = first::<M>(&bytes[3..]).unwrap().unwrap();
    assert_eq!(read, *message);
    assert_eq!(first::<M>(&bytes[3 + length..]).unwrap().unwrap().0, *message);
    for cut in 0..length {
        assert_eq!(first::<M>(&bytes[3..3 + cut]), Ok(None), "not whole yet");
    }
}

#[test]
fn frames_come_out_as_they_went_in_one_behind_the_other() {
    let kind = Kind::File { size: 5, chunk: 20, version: [3; 16] };
    let modified = Stamp { seconds: -1, nanos: 5 };
    let entry = Entry { name: Name::new(b"a/\xff".to_vec()).unwrap(), kind, mode: 0o644, modified };
    round_trip(&ToReceiver::Offer { id: 7, entry });
    round_trip(&ToSender::Answer { id: 7, verdict: Verdict::Rest(vec![(3, [7; 32])]) });
    round_trip(&Data::Small { id: u64::MAX, length: 9, digest: [1; 32] });
    round_trip(&Greeting::Data { token: [1; 16], stream: 3 });
}

#[test]
fn the_longest_message_fits() {
    let most = Chunks::new(1 << 40).count();
    let verdict = Verdict::Rest((0..most).map(|index| (index, [255; 32])).collect());
    let mut bytes = Vec::new();
    append(&mut bytes, &ToSender::Answer { id: u64::MAX, verdict });
    assert!(first::<ToSender>(&bytes).unwrap().is_some());
}

#[test]
fn a_name_that_leads_out_is_no_message() {
    let mut bytes = Vec::new();
    let kind = Kind::Folder;
    let entry =
        Entry { name: Name::new(b"xx/etc".to_vec()).unwrap(), kind, mode: 0, modified: Stamp::default() };
    append(&mut bytes, &ToReceiver::Offer { id: 0, entry });
    let at = bytes.windows(2).position(|pair| pair == b"xx").unwrap();
    bytes[at..at + 2].copy_from_slice(b"..");
    assert!(matches!(first::<ToReceiver>(&bytes), Err(FrameError::Malformed(_))));
}

#[test]
fn the_longest_messages_to_a_receiver_fit() {
    let part = [&[b'n'; 254][..], b"/"].concat().repeat(16);
    let name = Name::new([&part[..], &[b'n'; 15]].concat()).unwrap();
    assert_eq!(name.bytes().len(), 4095);
    let kind = Kind::Link { target: vec![b't'; 4095] };
    let modified = Stamp { seconds: i64::MIN, nanos: u32::MAX };
    round_trip_once(&ToReceiver::Offer {
        id: u64::MAX,
        entry: Entry { name, kind, mode: u32::MAX, modified },
    });
    round_trip_once(&ToReceiver::Report(Report::largest(MOST_STREAMS)));
}

#[test]
fn the_longest_messages_of_a_test_fit() {
    let most = u64::MAX;
    let LargestTest { results, sample } = LargestTest::new();
    let up = results.up.clone().unwrap();
    let ended = Ended { sent: Some(up.sender), sending: up.evidence.clone(), receiving: up.evidence };
    round_trip_once(&ToTested::Results(Box::new(results)));
    round_trip_once(&ToTester::Sample(sample));
    round_trip_once(&ToTester::Ended(Box::new(ended)));
    let mut bytes = Vec::new();
    append(&mut bytes, &ToTester::Abort { reason: "ä".repeat(5000) });
    assert!(first::<ToTester>(&bytes).unwrap().is_some());
    let plan = Plan { load: most, up: u16::MAX, down: u16::MAX, together: true, control: "c".repeat(5000) };
    append(&mut Vec::new(), &ToTested::Plan(plan));
}

/// The messages of a test with the largest possible numbers.
struct LargestTest {
    results: Results,
    sample: LoadSample,
}

impl LargestTest {
    fn new() -> Self {
        let most = u64::MAX;
        let sender = SenderAccount {
            segments: most,
            retransmits: most,
            segment: most,
            receive_window: most,
            in_flight: most,
            send_buffer: most,
        };
        let probes = ProbeResults { sent: most, lost: most, least: most, mean: most, most };
        let latencies = LatencyResults { tcp: most, tls: most, request: most, loaded: most, steadiness: 255 };
        let way = WayResults {
            streams: u16::MAX,
            elapsed: most,
            received: most,
            late: most,
            received_late: most,
            trains: TrainRate { bps: Some(most), whole: u16::MAX, lost: u16::MAX },
            idle: probes,
            loaded: probes,
            buffer: Some((most, true)),
            latencies: Some(latencies),
            sender,
            evidence: Some(Observation::largest("c".repeat(LONGEST_TEXT), MOST_OBSERVED)),
        };
        let (up, down) = (Some(way.clone()), Some(way.clone()));
        let results = Results { up, down, together: Some((way.clone(), way)) };
        // Whatever a sender claims, the report on it can be made and shown, and the verdict found.
        let report = crate::path_report::PathReport::new(&results);
        let way = report.together.unwrap().down;
        assert!(!way.lines().is_empty());
        let evidence = way.evidence.unwrap();
        let _ = estimate::diagnosis::diagnose(&evidence);
        assert_eq!(evidence.intervals.len(), MOST_OBSERVED);
        Self { results, sample: LoadSample { elapsed: most, received: most, retransmits: most } }
    }
}

fn round_trip_once<M: Framed + PartialEq + std::fmt::Debug>(message: &M) {
    let mut bytes = Vec::new();
    append(&mut bytes, message);
    assert_eq!(first::<M>(&bytes).unwrap().unwrap().0, *message);
}

#[test]
fn lists_and_texts_longer_than_an_honest_peers_are_no_message() {
    let mut bytes = Vec::new();
    let ended =
        |count| Ended { sending: Some(Observation::largest(String::new(), count)), ..Ended::default() };
    append(&mut bytes, &ToTester::Ended(Box::new(ended(MOST_OBSERVED + 1))));
    assert!(matches!(first::<ToTester>(&bytes), Err(FrameError::Malformed(_))));
    bytes.clear();
    append(&mut bytes, &ToReceiver::Report(Report::largest(MOST_STREAMS + 1)));
    assert!(matches!(first::<ToReceiver>(&bytes), Err(FrameError::Malformed(_))));
    let entry = PhaseEntry { at_ms: 1, phase: "hold".into(), reason: "why".into() };
    for (count, fits) in [(MOST_ENTERED, true), (MOST_ENTERED + 1, false)] {
        let mut bytes = Vec::new();
        let entered = vec![entry.clone(); count];
        append(&mut bytes, &ToSender::Progress(Progress { entered, ..Progress::default() }));
        assert_eq!(first::<ToSender>(&bytes).is_ok(), fits, "{count}");
    }
    // Abort and its text, which no honest sender would leave so long.
    let text = [&[5u8][..], &[0xd2, 0x0f], &[b'a'; 2002]].concat();
    let frame = [&(text.len() as u32).to_le_bytes()[..], &text].concat();
    assert!(matches!(first::<ToReceiver>(&frame), Err(FrameError::Malformed(_))));
}

#[test]
fn a_reason_of_any_length_can_be_said() {
    let reason = "ä".repeat(5000);
    let mut bytes = Vec::new();
    append(&mut bytes, &ToSender::Failed { id: 1, reason: reason.clone() });
    append(&mut bytes, &ToSender::Answer { id: 1, verdict: Verdict::Refused(reason.clone()) });
    append(&mut bytes, &ToSender::Busy(reason.clone()));
    let Some((ToSender::Failed { reason: read, .. }, _)) = first::<ToSender>(&bytes).unwrap() else {
        panic!()
    };
    assert!(read.len() > 900 && read.starts_with("ää") && read.ends_with('…'), "{read}");
    let mut bytes = Vec::new();
    append(&mut bytes, &ToReceiver::Abort { reason });
    assert!(first::<ToReceiver>(&bytes).unwrap().is_some());
}

#[test]
fn a_length_beyond_all_messages_is_refused_before_anything_is_read() {
    let long = |length: u32| length.to_le_bytes();
    let error = |most, length: u32| Err(FrameError::Long { length: length as usize, most });
    assert_eq!(first::<Data>(&long(u32::MAX)).map(drop), error(1 << 10, u32::MAX));
    assert_eq!(first::<ToReceiver>(&long(16 << 10 | 1)).map(drop), error(16 << 10, 16 << 10 | 1));
    assert_eq!(first::<ToReceiver>(&long(16 << 10)).map(drop), Ok(()));
    assert_eq!(first::<ToSender>(&long(4 << 20)).map(drop), Ok(()));
}

proptest! {
    #[test]
    fn no_bytes_make_any_parser_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let framed = [&(body.len() as u32).to_le_bytes()[..], &body].concat();
        for bytes in [&body, &framed] {
            let _ = first::<Greeting>(bytes);
            let _ = first::<ToReceiver>(bytes);
            let _ = first::<ToSender>(bytes);
            let _ = first::<Data>(bytes);
        }
    }

    #[test]
    fn no_changed_byte_makes_a_parser_panic(at in 0usize..80, to: u8) {
        let mut bytes = Vec::new();
        let entry = Entry {
            name: Name::new(b"a/b/c".to_vec()).unwrap(),
            kind: Kind::Link { target: b"somewhere".to_vec() },
            mode: 0o777,
            modified: Stamp { seconds: 1 << 40, nanos: 1 },
        };
        append(&mut bytes, &ToReceiver::Offer { id: 1 << 50, entry });
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(Some((ToReceiver::Offer { entry, .. }, _))) = first::<ToReceiver>(&bytes) {
            prop_assert!(!entry.name.bytes().split(|&byte| byte == b'/').any(|part| part == b".."));
        }
    }
}
