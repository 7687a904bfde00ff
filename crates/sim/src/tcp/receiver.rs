//! The receiver: reassembly, delayed acknowledgements (RFC 1122, RFC 5681 section 4.2) and selective ones
//! (RFC 2018).
//!
//! The return path loses nothing, so each acknowledgement needs to name only the segment that caused it: every
//! earlier out-of-order segment has been named already.

use super::bits::BitRing;
use units::{Span, Time};

/// An acknowledgement on its way to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// The first segment not received.
    pub(crate) cumulative: u64,
    /// The segment beyond it that caused this acknowledgement.
    pub(crate) sacked: Option<u64>,
    /// When the segment that caused it was sent.
    pub(crate) newest_sent: Time,
    /// RFC 7323's echo: when the segment that last moved the left edge was sent; of several acknowledged
    /// together, the first.
    pub(crate) echo: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    expected: u64,
    /// Beyond `expected`.
    early: BitRing,
    early_count: u64,
    every: u64,
    timeout: Span,
    /// In order and not yet acknowledged.
    unacknowledged: u64,
    deadline: Time,
    echo: Time,
    newest_sent: Time,
}

impl Receiver {
    /// Acknowledges every `every` segments, each after `timeout` at the latest.
    pub(crate) fn new(every: u64, timeout: Span) -> Self {
        Self {
            expected: 0,
            early: BitRing::default(),
            early_count: 0,
            every,
            timeout,
            unacknowledged: 0,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            newest_sent: Time::ZERO,
        }
    }

    /// Segments received in order.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// When a withheld acknowledgement leaves.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// `segment`, sent at `sent`, arrives.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        self.newest_sent = sent;
        if segment != self.expected {
            return Some(self.out_of_order(segment));
        }
        if self.unacknowledged == 0 {
            self.echo = sent;
        }
        self.unacknowledged += 1;
        self.expected += 1;
        // RFC 5681: a segment that fills all or part of a gap is acknowledged at once.
        let gap = self.early_count > 0;
        if gap {
            self.absorb_early();
        }
        if gap || self.unacknowledged >= self.every {
            return Some(self.acknowledge(None));
        }
        if self.deadline == Time::NEVER {
            self.deadline = now + self.timeout;
        }
        None
    }

    /// The delayed-acknowledgement timer expired.
    pub(crate) fn on_deadline(&mut self) -> Acknowledgement {
        self.acknowledge(None)
    }

    fn absorb_early(&mut self) {
        while self.early_count > 0 && self.early.get(self.expected) {
            self.early.clear(self.expected);
            self.early_count -= 1;
            self.expected += 1;
        }
    }

    /// RFC 5681: out-of-order and repeated segments are acknowledged at once.
    fn out_of_order(&mut self, segment: u64) -> Acknowledgement {
        if segment < self.expected {
            return self.acknowledge(None);
        }
        self.early.reserve(self.expected, segment);
        if !self.early.get(segment) {
            self.early.set(segment);
            self.early_count += 1;
        }
        self.acknowledge(Some(segment))
    }

    fn acknowledge(&mut self, sacked: Option<u64>) -> Acknowledgement {
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        Acknowledgement { cumulative: self.expected, sacked, newest_sent: self.newest_sent, echo: self.echo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_is_echoed() {
        let mut receiver = Receiver::new(2, Span::from_millis(100));
        assert_eq!(receiver.on_segment(at(50), 0, at(10)), None);
        assert_eq!(receiver.deadline(), at(150));
        let ack = receiver.on_segment(at(51), 1, at(11)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo, ack.newest_sent), (2, None, at(10), at(11)));
        assert_eq!(receiver.deadline(), Time::NEVER);
        receiver.on_segment(at(60), 2, at(20));
        assert_eq!(receiver.on_deadline().cumulative, 3);
    }

    #[test]
    fn out_of_order_segments_are_acknowledged_at_once_until_the_gap_is_filled() {
        let mut receiver = Receiver::new(2, Span::from_millis(100));
        let ack = receiver.on_segment(at(1), 1, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(1)));
        let ack = receiver.on_segment(at(2), 3, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(3)));
        let ack = receiver.on_segment(at(3), 0, at(2)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo), (2, None, at(2)));
        let ack = receiver.on_segment(at(4), 2, at(3)).unwrap();
        assert_eq!(ack.cumulative, 4);
        // A repeat is acknowledged at once too.
        assert_eq!(receiver.on_segment(at(5), 2, at(3)).unwrap().cumulative, 4);
    }
}
