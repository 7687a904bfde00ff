//! A controller that wants every delivery and every loss, and scripts of the reports that it receives.

use super::{SEGMENT, config, lines, number, perform};
use crate::tcp::{Full, Sender};
use cc::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, Wants};
use units::Bytes;

/// A controller with a window of eight segments, four after a loss and one after a timeout, and the reports it
/// received.
#[derive(Debug)]
struct Heard {
    rate: bool,
    window: u64,
    /// The number of losses reported; the greatest number lost since one of them was sent.
    told: u64,
    beside: Bytes,
    /// The segments known to be lost as the last episode began.
    known: Bytes,
    /// The deliveries of each acknowledgement in all, and those of the rate samples.
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
        self.known = event.lost;
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        assert_eq!(lost.size, SEGMENT);
        self.told += 1;
        self.beside = self.beside.max(lost.lost);
    }
    fn wants(&self) -> Wants {
        Wants { rate: self.rate, deliveries: true, ..Wants::default() }
    }
    fn allowance(&self) -> Allowance {
        Allowance { window: SEGMENT * self.window, pacing: None }
    }
    fn state(&self) -> CcState {
        CcState { phase: Phase::Fixed, window: SEGMENT * self.window, threshold: None }
    }
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("told", self.told as f64);
        for (name, bytes) in [
            ("beside", self.beside),
            ("known", self.known),
            ("delivered", self.delivered),
            ("by rates", self.by_rates),
        ] {
            show(name, (bytes.get() / SEGMENT.get()) as f64);
        }
    }
}

/// Plays `script` to a sender with this controller. After each line all segments that may leave do so, and the numbers
/// `shown`, in segments, must be those that the line expects.
#[track_caller]
pub(super) fn hears(sack: bool, rate: bool, shown: &[&str], script: &str) {
    let none = Bytes::ZERO;
    let heard =
        Heard { rate, window: 8, told: 0, beside: none, known: none, delivered: none, by_rates: none };
    let mut config = config(8);
    (config.transport.sack, config.control) = (sack, Box::new(heard));
    let mut sender = Sender::new(config);
    for (now, event, expected, line) in lines(script) {
        perform(&mut sender, now, event, line);
        while sender.transmit::<Full>(now).is_some() {}
        let mut found = Vec::new();
        sender.measures(&mut |name, value| found.push((name, value as u64)));
        let expected: Vec<u64> = expected.split_whitespace().map(number).collect();
        assert_eq!(expected.len(), shown.len(), "one number for each of {shown:?}: {line}");
        for (name, expected) in shown.iter().zip(expected) {
            // Numbers that come with rates are unknown without them.
            let expected = if !rate && ["beside", "by rates"].contains(name) { 0 } else { expected };
            assert!(
                found.contains(&(name, expected)),
                "{name} is not {expected}: {found:?}, sack {sack}, rate {rate}: {line}"
            );
        }
    }
}
