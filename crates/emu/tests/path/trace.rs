//! A link whose rate is a trace of mahimahi, compared with the times in the trace.

use super::endpoints::{alone, settled};
use link::Limit;
use link::changes::{Capacity, Changes, Opportunities};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use testkit::wait_until;
use tightlink_emu::{Path, PathConfig, PathReport};
use units::{Span, Time};

/// Times in milliseconds: a first one of 0, equal ones, and the last one, which is the period.
const TRACE: [u64; 14] = [0, 5, 10, 10, 50, 51, 99, 100, 100, 100, 150, 200, 250, 300];
const PERIOD: u64 = 300;
const PACKETS: u64 = 60;
/// Samples are taken at times of opportunities.
const EVERY: u64 = 50;

/// Returns the number of opportunities later than `from` and not later than `to`, in milliseconds.
fn opportunities(from: u64, to: u64) -> u64 {
    let times = (0..=to / PERIOD).flat_map(|round| TRACE.map(|at| round * PERIOD + at));
    times.filter(|at| from < *at && *at <= to).count() as u64
}

/// A burst of packets of `length` bytes that wait for the link, behind a queue of this policy.
fn burst(policy: &str, delay: Span, length: usize) -> PathReport {
    let mut all = Opportunities::default();
    TRACE.iter().for_each(|at| all.push(*at).expect("a rising time"));
    let all = all.finish(true).expect("a trace");
    let mut config = PathConfig::new(all.mean_rate(), delay, Limit::Packets(2 * PACKETS));
    config.queue = policy.into();
    config.sample_every = Some(Span::from_millis(EVERY));
    config.link.changes =
        Changes { capacity: Some(Capacity::Opportunities(Arc::new(all))), ..Changes::default() };
    let mut path = Path::start(config).expect("the path starts");
    let far = path.receiver_address();
    let bind = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a free port");
    let socket = path.sender().run(bind).expect("inside");
    let begun = path.begin(Span::ZERO).expect("the path is alive");
    let payload = vec![0; length - 28];
    for _ in 0..PACKETS {
        socket.send_to(&payload, (far, 9)).expect("the path takes packets");
    }
    wait_until(begun + Duration::from_millis(1200));
    path.stop().expect("the path is alive")
}

/// Compares each interval between two samples with the trace, and returns the number of those in which packets waited
/// throughout. Packets there use every opportunity; a part of one may be left for the next packet.
#[track_caller]
fn compared(report: &PathReport, part: u64) -> usize {
    let mut busy = 0;
    let mut before = (0, 0, 0, 0);
    for sample in &report.samples {
        let at = sample.at.since(Time::ZERO).as_nanos() / 1_000_000;
        let changing = sample.changing.expect("the rate changes");
        let (offered, used) = (changing.offered.get(), changing.used.get());
        assert!(used <= offered, "{used} of {offered} at {at} ms");
        let (from, offered_before, used_before, arrived) = before;
        let expected = opportunities(from, at) * Opportunities::CARRIES;
        assert_eq!(offered - offered_before, expected, "from {from} to {at} ms");
        if arrived == PACKETS && sample.backlog.packets > 0 {
            let used = used - used_before;
            assert!(used.abs_diff(expected) <= part, "{used} of {expected} from {from} to {at} ms");
            busy += 1;
        }
        before = (at, offered, used, sample.arrivals_total);
    }
    busy
}

#[test]
fn packets_that_wait_use_every_opportunity_of_a_trace() {
    let Some(_alone) = alone() else { return };
    for (policy, delay, length, part) in [
        ("drop-tail", Span::ZERO, 1500, 0),
        ("drop-tail", Span::from_millis(20), 700, Opportunities::CARRIES - 1),
        // PIE decides as packets leave, so that some have left and are not delivered yet.
        ("pie", Span::from_millis(20), 1500, 0),
    ] {
        // The packets of a program that does not run come too late for most intervals.
        settled(|| compared(&burst(policy, delay, length), part), |busy| *busy >= 8);
    }
}
