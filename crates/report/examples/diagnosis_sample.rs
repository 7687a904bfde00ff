//! Writes the page of two made-up connections, for its browser test.
//!
//! `cargo run -p tightlink-report --example diagnosis_sample -- PAGE.html`

use estimate::diagnosis::{BufferEstimate, Direction, Evidence, Interval, LossEpisode, Vantage, diagnose};
use lab::study::diagnosis::{Subject, propose};
use tightlink_report::diagnosis::{DiagnosedConnection, DiagnosisPage};
use units::{Bytes, Rate, Span, Time};

const LENGTH: Span = Span::from_millis(20);

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "diagnosis-sample.html".into());
    let (window, queue) = (behind_a_window(), behind_a_queue());
    let (of_window, of_queue) = (diagnose(&window), diagnose(&queue));
    let (first, second) = (
        propose(
            &window,
            &of_window,
            &Subject { pid: Some(4711), program: Some("curl"), ..Subject::default() },
        ),
        propose(&queue, &of_queue, &Subject::default()),
    );
    let page = DiagnosisPage {
        title: "What limits 2 directions of connections",
        connections: vec![
            DiagnosedConnection {
                evidence: &window,
                diagnosis: &of_window,
                proposal: &first,
                program: Some((4711, "curl")),
                name: None,
                facts: &[],
            },
            DiagnosedConnection {
                evidence: &queue,
                diagnosis: &of_queue,
                proposal: &second,
                program: None,
                name: None,
                facts: &[],
            },
        ],
        remarks: vec!["3 more connections with 12 kB (--all shows them)".into()],
        numbers: first.sentences.join("\n"),
        command: "tightlink diagnose --pid 4711".into(),
    };
    std::fs::write(path, page.html())
}

fn connection(vantage: Vantage, interval: impl Fn(u64) -> Interval) -> Evidence {
    let direction = Direction {
        source: "192.0.2.1:443".parse().expect("an address"),
        destination: "198.51.100.7:43210".parse().expect("an address"),
    };
    let timed =
        |at: u64| Interval { from: Time::from_nanos(at * LENGTH.as_nanos()), length: LENGTH, ..interval(at) };
    Evidence {
        base_round_trip: Some(Span::from_millis(80)),
        control: Some("cubic".into()),
        capacity: Some(Rate::from_bps(100_000_000)),
        intervals: (0..500).map(timed).collect(),
        ..Evidence::new(direction, vantage)
    }
}

/// Evidence of slow start, and then of a window of 416 kB that is always full.
fn behind_a_window() -> Evidence {
    connection(Vantage::ReceiverSocket, |at| {
        let flight = (14_480.0 * libm::exp2(at as f64 / 4.0)).min(416_000.0);
        let window = Bytes::new(if at < 25 { 65_535 + at * 14_019 } else { 416_000 });
        Interval {
            delivered: Bytes::new((flight / 4.0) as u64),
            flight: Some(Bytes::new(flight as u64)),
            receive_window: Some(window),
            round_trip: (at % 3 > 0).then(|| Span::from_micros(80_000 + 40 * (at % 7))),
            ..Interval::default()
        }
    })
}

/// Evidence of a sawtooth that fills a buffer of 500 kB, with a loss at each peak.
fn behind_a_queue() -> Evidence {
    let phase = |at: u64| (at % 150) as f64 / 150.0;
    let window = |at: u64| 1.05e6 + 0.45e6 * phase(at);
    let evidence = connection(Vantage::SenderSocket, |at| Interval {
        delivered: Bytes::new(241_000),
        flight: Some(Bytes::new(window(at) as u64)),
        congestion_window: Some(Bytes::new(window(at) as u64 + 5_000)),
        receive_window: Some(Bytes::new(6_000_000)),
        round_trip: Some(Span::from_secs_f64(0.08 + (window(at) - 1e6).max(0.0) * 8e-8)),
        retransmitted: if at % 150 == 149 { 3 } else { 0 },
        ..Interval::default()
    });
    let episode = |place: u64| LossEpisode {
        at: Time::from_nanos((150 * place + 149) * LENGTH.as_nanos()),
        segments: 3,
        queueing: Some(Span::from_millis(40)),
        by_timeout: false,
    };
    let buffer = Some(BufferEstimate { size: Bytes::new(500_000), at_least: false });
    Evidence { buffer, episodes: (0..3).map(episode).collect(), ..evidence }
}
