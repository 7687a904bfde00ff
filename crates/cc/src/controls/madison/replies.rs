//! The acknowledgements of probes and pairs, recognized by the sending time of the segment whose arrival caused them.

use std::collections::VecDeque;
use units::{Span, Time};

/// The most entries that are remembered; fewer are ever under way.
const MOST_REMEMBERED: usize = 4096;

/// A pair, or a longer burst, whose acknowledgements are coming in.
#[derive(Clone, Copy, Debug)]
struct Burst {
    sent: Time,
    first: Time,
    last: Time,
    /// Segments acknowledged after the first acknowledgement.
    segments: f64,
}

/// Probes and pairs that are under way.
#[derive(Clone, Debug)]
pub(super) struct Replies {
    probes: VecDeque<Time>,
    pairs: VecDeque<Time>,
    open: Option<Burst>,
    /// The earliest sending time of a segment whose acknowledgement measures something.
    awaited: Time,
}

impl Replies {
    pub(super) fn new() -> Self {
        Self { probes: VecDeque::new(), pairs: VecDeque::new(), open: None, awaited: Time::NEVER }
    }

    pub(super) fn expect_pair(&mut self, sent: Time) {
        remember(&mut self.pairs, sent);
        self.awaited = self.awaited.min(sent);
    }

    pub(super) fn expect_probe(&mut self, sent: Time) {
        remember(&mut self.probes, sent);
        self.awaited = self.awaited.min(sent);
    }

    /// Returns the time at which the last probe under way was sent.
    #[cfg(test)]
    pub(super) fn last_probe(&self) -> Option<Time> {
        self.probes.back().copied()
    }

    /// Returns true if [`on_ack`](Replies::on_ack) would learn anything from the acknowledgement of a segment sent at
    /// `sent`.
    #[inline]
    pub(super) fn awaits(&self, sent: Time) -> bool {
        sent >= self.awaited
    }

    /// Takes an acknowledgement at `now` that covers `segments`, caused by a segment sent at `sent`. Returns true if
    /// that segment was a probe. Also returns the dispersion per packet of a pair whose acknowledgements are now
    /// complete.
    pub(super) fn on_ack(&mut self, now: Time, sent: Time, segments: f64) -> (bool, Option<Span>) {
        let mut dispersion = None;
        match &mut self.open {
            Some(open) if open.sent == sent => {
                open.last = now;
                open.segments += segments;
            }
            open => {
                if let Some(burst) = open.take()
                    && burst.segments > 0.0
                {
                    dispersion = Some(burst.last.since(burst.first).scale(1.0 / burst.segments));
                }
                if take(&mut self.pairs, sent) {
                    *open = Some(Burst { sent, first: now, last: now, segments: 0.0 });
                }
            }
        }
        let is_probe = take(&mut self.probes, sent);
        let first = |times: &VecDeque<Time>| times.front().copied().unwrap_or(Time::NEVER);
        self.awaited = match self.open {
            Some(_) => Time::ZERO,
            None => first(&self.probes).min(first(&self.pairs)),
        };
        (is_probe, dispersion)
    }
}

fn remember(times: &mut VecDeque<Time>, sent: Time) {
    if times.len() >= MOST_REMEMBERED {
        times.pop_front();
    }
    times.push_back(sent);
}

/// Removes `sent` and all older times from `times`; returns true if it was among them.
fn take(times: &mut VecDeque<Time>, sent: Time) -> bool {
    while let Some(&first) = times.front() {
        if first > sent {
            return false;
        }
        times.pop_front();
        if first == sent {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pairs_dispersion_is_told_once_the_next_packet_is_acknowledged() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut replies = Replies::new();
        replies.expect_pair(Time::ZERO);
        replies.expect_probe(ms(15));
        assert_eq!(replies.on_ack(ms(50), Time::ZERO, 1.0), (false, None));
        assert_eq!(replies.on_ack(ms(52), Time::ZERO, 1.0), (false, None));
        assert_eq!(replies.on_ack(ms(65), ms(15), 1.0), (true, Some(Span::from_millis(2))));
    }
}
