//! Pacing: the controller's rate, or Linux's ratio of window and round-trip time.

use super::{SEGMENT, config, ms};
use crate::tcp::{Feedback, Full, Sender};
use cc::{Ack, Allowance, CcState, Congestion, CongestionControl, Phase};
use units::{Rate, Span, Time};

/// A controller with a window of ten segments and a rate of one segment per this time.
#[derive(Debug)]
struct Timed(Span);

impl CongestionControl for Timed {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _event: &Congestion) {}
    fn allowance(&self) -> Allowance {
        Allowance { window: SEGMENT * 10, pacing: Some(Rate::of(SEGMENT, self.0)) }
    }
    fn state(&self) -> CcState {
        CcState { phase: Phase::Fixed, window: SEGMENT * 10, threshold: None }
    }
}

/// Returns the times at which the next `count` segments leave, in microseconds, asking again when the pacer says.
fn times(sender: &mut Sender, mut now: Time, count: usize) -> Vec<u64> {
    let mut times = Vec::new();
    while times.len() < count {
        match sender.transmit::<Full>(now) {
            Some(_) => times.push(now.as_nanos() / 1000),
            None => now = sender.released_at::<Full>(now).expect("the window has room"),
        }
    }
    times
}

fn timed(gap: Span) -> Sender {
    let mut config = config(10);
    config.control = Box::new(Timed(gap));
    assert!(!config.transport.pacing);
    let sender = Sender::new(config);
    assert!(!sender.is_plain());
    sender
}

#[test]
fn a_controller_with_a_rate_is_paced_unasked() {
    // Below 1.2 Mbit/s they leave segment by segment.
    let mut sender = timed(Span::from_millis(20));
    assert_eq!(times(&mut sender, ms(3), 4), [3000, 23000, 43000, 63000]);
    // The window is the limit in the end, and then the pacer has nothing to release.
    assert_eq!(times(&mut sender, ms(63), 6).len(), 6);
    assert_eq!(sender.transmit::<Full>(ms(900)), None);
    assert_eq!(sender.released_at::<Full>(ms(900)), None);
}

#[test]
fn at_a_higher_rate_two_segments_leave_together_and_the_mean_rate_is_the_same() {
    let mut sender = timed(Span::from_millis(2));
    assert_eq!(times(&mut sender, ms(3), 6), [3000, 3000, 7000, 7000, 11000, 11000]);
}

#[test]
fn under_a_cap_segments_leave_one_by_one() {
    let mut sender = timed(Span::from_millis(2));
    sender.cap_pace(Some(Rate::of(SEGMENT, Span::from_millis(3))));
    assert_eq!(times(&mut sender, ms(3), 4), [3000, 6000, 9000, 12000]);
}

#[test]
fn a_cap_that_is_taken_back_leaves_no_pace() {
    let mut sender = Sender::new(config(10));
    assert!(sender.is_plain());
    sender.cap_pace(Some(Rate::of(SEGMENT, Span::from_millis(3))));
    assert!(!sender.is_plain());
    assert_eq!(times(&mut sender, ms(3), 2), [3000, 6000]);
    sender.cap_pace(None);
    assert!(sender.is_plain());
    assert_eq!(times(&mut sender, ms(12), 3), [12000, 12000, 12000]);
}

/// The pace is six fifths of the window per round-trip time at or above half the threshold, and twice the window below.
#[test]
fn a_window_is_spread_over_its_round_trip() {
    for (threshold, gap_us) in [(1, 100_000 * 5 / 6 / 10), (1000, 100_000 / 2 / 11)] {
        let mut config = config(10);
        config.transport.pacing = true;
        let start = cc::Start { segment: SEGMENT, window: SEGMENT * 10, threshold: SEGMENT * threshold };
        config.control = cc::registry::build("reno", "standard", start).expect("registered");
        let mut sender = Sender::new(config);
        // The round-trip time is unknown, so all leave at once.
        assert_eq!(times(&mut sender, ms(0), 10), [0; 10]);
        assert_eq!(sender.transmit::<Full>(ms(0)), None);
        let ack = |cumulative: u64| crate::tcp::Acknowledgement {
            cumulative,
            sacked: None,
            duplicate: false,
            feedback: Feedback::default(),
            newest_sent: ms(0),
            echo: ms(0),
            window: u64::MAX,
        };
        sender.on_ack::<Full>(ms(100), &ack(1), &[]);
        let first = times(&mut sender, ms(100), 1)[0];
        assert_eq!(first, 100_000);
        sender.on_ack::<Full>(ms(100), &ack(2), &[]);
        let second = times(&mut sender, ms(100), 1)[0];
        assert!(second.abs_diff(first + gap_us) < 700, "{threshold}: {second}, not {first} + {gap_us}");
    }
}

/// A segment takes 100 us: nine are a millisecond, five half the window.
#[test]
fn on_a_host_with_offload_a_super_packet_leaves_together_and_the_mean_rate_is_the_same() {
    let mut config = config(10);
    config.control = Box::new(Timed(Span::from_micros(100)));
    config.transport.host.tso = true;
    let mut sender = Sender::new(config);
    let expected = [3000, 3000, 3000, 3000, 3000, 3500, 3500, 3500, 3500, 3500];
    assert_eq!(times(&mut sender, ms(3), 10), expected);
}

#[test]
fn on_a_line_the_segments_of_a_super_packet_leave_one_after_the_other() {
    let mut config = config(10);
    config.control = Box::new(Timed(Span::from_micros(100)));
    config.transport.host.tso = true;
    config.line_gap = Span::from_micros(10);
    let mut sender = Sender::new(config);
    let expected = [3000, 3010, 3020, 3030, 3040, 3500, 3510, 3520, 3530, 3540];
    assert_eq!(times(&mut sender, ms(3), 10), expected);
}
