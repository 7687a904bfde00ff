//! Connections of captures of kernel TCP. `tests/data/connections/bulk-*` are of tcpdump on both sides of
//! `tightlink emulate --rate 5Mbit/s --delay 20ms --queue 30packets --control cubic`, Linux 6.18. The emulator dropped 5
//! packets, and its queue was 70.2 ms long at most; nstat counted 5 retransmissions and no timeout.

use crate::common::file;
use estimate::diagnosis::{Evidence, Vantage};
use tightlink_capture::connections::Statistics;

fn bulk(name: &str) -> (Statistics, Evidence) {
    let mut capture = crate::read(&file(&format!("connections/{name}")));
    assert_eq!((capture.connections.len(), &capture.notes), (1, &vec![]));
    let [forward, back] = capture.connections.remove(0).directions;
    assert!(back.evidence.is_none() && back.statistics.payload.get() == 0);
    (forward.statistics, forward.evidence.unwrap())
}

#[test]
fn both_sides_of_a_bulk_flow_have_the_same_path() {
    for (name, vantage) in
        [("bulk-s.pcap.gz", Vantage::SenderCapture), ("bulk-r.pcap.gz", Vantage::ReceiverCapture)]
    {
        let (statistics, evidence) = bulk(name);
        assert_eq!(evidence.vantage, vantage);
        assert!(!evidence.scaling_off && !evidence.inferred_scale && evidence.window_scale == Some(10));
        assert_eq!(evidence.segment.get(), 1448);
        let base = evidence.base_round_trip.unwrap().as_millis_f64();
        assert!((40.0..41.0).contains(&base), "{name}: {base} ms");
        let rate = evidence.capacity.unwrap().as_bps_f64() / 5e6;
        assert!((0.99..1.01).contains(&rate), "{name}: {rate} of the rate");
        let buffer = evidence.buffer.unwrap();
        assert!(!buffer.at_least && (41_000..48_000).contains(&buffer.size.get()), "{name}: {buffer:?}");
        let repeated = statistics.retransmitted;
        assert_eq!((repeated.segments, repeated.fast, repeated.needless), (5, 5, 0), "{name}");
        assert_eq!((evidence.timeouts, evidence.needless, statistics.out_of_order), (0, 0, 0), "{name}");
        assert_eq!(evidence.episodes.iter().map(|episode| episode.segments).sum::<u64>(), 5, "{name}");
        assert_eq!(statistics.unseen.get(), 0, "{name}");
    }
}

#[test]
fn intervals_cover_the_flow_without_gaps() {
    // tshark's tcp.ack of the last acknowledgement: 1862129 at the sender, whose capture ends before the connection does,
    // and 2031618 at the receiver, the SYN and the FIN included.
    for (name, delivered) in [("bulk-s.pcap.gz", 1_862_128), ("bulk-r.pcap.gz", 2_031_616)] {
        let (_, evidence) = bulk(name);
        for pair in evidence.intervals.windows(2) {
            assert_eq!(pair[0].from + pair[0].length, pair[1].from, "{name}");
        }
        assert_eq!(evidence.delivered().get(), delivered, "{name}");
        // 30 packets of 1500 bytes wait, and 25 kB are on their way.
        let peak = evidence.intervals.iter().filter_map(|interval| interval.peak_flight).max().unwrap().get();
        assert!((65_000..80_000).contains(&peak), "{name}: {peak}");
        let sum: u64 = evidence.intervals.iter().map(|interval| interval.retransmitted).sum();
        assert_eq!(sum, 5, "{name}");
    }
}
