//! Proposals for a connection: what to change, and the simulated effect.

use estimate::diagnosis::{
    BufferEstimate, Cause, Confidence, Diagnosis, Direction, Evidence, Interval, PathState, Shares, Vantage,
};
use tightlink_lab::study::diagnosis::{PROGRAMS, Proposal, Subject, programs_with, propose};
use units::{Bytes, Rate, Span, Time};

/// Returns the evidence of a connection with `goodput` for 10 s, whose bottleneck may be known.
fn evidence(goodput: &str, rtt: u64, capacity: Option<&str>) -> Evidence {
    let direction = Direction {
        source: "192.0.2.1:5001".parse().unwrap(),
        destination: "192.0.2.9:40000".parse().unwrap(),
    };
    let goodput: Rate = goodput.parse().unwrap();
    let length = Span::from_millis(100);
    let interval = |at: u64| Interval {
        from: Time::from_nanos(at * length.as_nanos()),
        length,
        delivered: goodput.volume(length),
        ..Interval::default()
    };
    Evidence {
        base_round_trip: Some(Span::from_millis(rtt)),
        capacity: capacity.map(|rate| rate.parse().unwrap()),
        control: Some("cubic".into()),
        intervals: (0..100).map(interval).collect(),
        ..Evidence::new(direction, Vantage::ReceiverSocket)
    }
}

fn diagnosis(cause: Cause, path: Option<PathState>, in_use: Option<u64>) -> Diagnosis {
    Diagnosis {
        shares: Shares::default(),
        cause: Some(cause),
        path,
        confidence: Confidence::High,
        reason: String::new(),
        in_use: in_use.map(Bytes::new),
    }
}

const SUBJECT: Subject<'_> = Subject { pid: Some(4711), program: Some("nc") };

fn with_window(mut evidence: Evidence, window: u64) -> Evidence {
    for interval in &mut evidence.intervals {
        interval.receive_window = Some(Bytes::new(window));
        interval.flight = interval.receive_window;
    }
    evidence
}

fn text(proposal: &Proposal) -> String {
    proposal.sentences.join("\n")
}

#[test]
fn a_receive_window_gets_the_size_the_effect_and_the_commands() {
    let evidence = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let started = std::time::Instant::now();
    let proposal = propose(&evidence, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    println!("{} {:#?}", started.elapsed().as_millis(), proposal);
}
