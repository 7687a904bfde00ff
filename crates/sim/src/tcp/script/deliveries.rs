//! How many segments a controller that wants every delivery hears of, with selective acknowledgements and without: the same.

use super::{SEGMENT, config, hear, number};
use cc::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, Wants};
use units::Bytes;

/// A window of eight segments, four after a loss and one after a timeout, and the deliveries it has heard of: those of each
/// acknowledgement, and what the rate samples say in all.
#[derive(Debug)]
struct Heard {
    rate: bool,
    window: u64,
    delivered: Bytes,
    by_rates: Bytes,
}

impl CongestionControl for Heard {
    fn on_ack(&mut self, ack: &Ack) {
        assert_eq!(ack.rate.is_some(), self.rate);
        self.delivered += ack.delivered;
        if let Some(sample) = ack.rate {
            assert_eq!(sample.newly_delivered, ack.delivered);
            self.by_rates = sample.delivered_total;
        }
    }
    fn on_congestion(&mut self, event: &Congestion) {
        self.window = if event.kind == CongestionKind::Loss { 4 } else { 1 };
    }
    fn wants(&self) -> Wants {
        Wants { rate: self.rate, deliveries: true, departures: false }
    }
    fn allowance(&self) -> Allowance {
        Allowance { window: SEGMENT * self.window, pacing: None }
    }
    fn state(&self) -> CcState {
        CcState { phase: Phase::Fixed, window: SEGMENT * self.window, threshold: None }
    }
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("delivered", (self.delivered.get() / SEGMENT.get()) as f64);
        show("by rates", (self.by_rates.get() / SEGMENT.get()) as f64);
    }
}

/// A line is `time ms · event · segments delivered so far`; whatever may leave leaves after each. Without selective
/// acknowledgements what an event names is not looked at.
#[track_caller]
fn hears(script: &str) {
    for (sack, rate) in [(true, true), (true, false), (false, true), (false, false)] {
        let heard = Heard { rate, window: 8, delivered: Bytes::ZERO, by_rates: Bytes::ZERO };
        let mut config = config(8);
        (config.sack, config.control) = (sack, Box::new(heard));
        hear(config, script, |shown, expected, line| {
            let expected = number(expected);
            let by_rates = if rate { expected } else { 0 };
            assert_eq!(shown, [expected, by_rates], "sack {sack}, rate {rate}: {line}");
        });
    }
}

/// Of ten segments 0 and 4 are lost: each duplicate tells of one delivery, and what fills a hole of one more.
#[test]
fn a_duplicate_is_a_delivery_and_what_it_told_of_is_not_told_of_again() {
    hears(
        "  0 · go           · 0
         101 · ack 0 sack 1 · 1
         102 · ack 0 sack 2 · 2
         103 · ack 0 sack 3 · 3
         105 · ack 0 sack 5 · 4
         106 · ack 0 sack 6 · 5
         107 · ack 0 sack 7 · 6
         201 · ack 0 sack 8 · 7
         202 · ack 0 sack 9 · 8
         203 · ack 4        · 9
         303 · ack 10       · 10
         403 · ack 11       · 11",
    );
}

/// A timeout, after which the sender has forgotten the duplicates, does not make of what they told of a burst.
#[test]
fn what_arrived_before_a_timeout_is_not_delivered_again_after_it() {
    hears(
        "   0 · go           · 0
          101 · ack 0 sack 1 · 1
          102 · ack 0 sack 2 · 2
          103 · ack 0 sack 3 · 3
         1103 · timer        · 3
         1203 · ack 4        · 4
         1303 · ack 5        · 5",
    );
}
