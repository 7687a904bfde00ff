//! Retransmissions: by timeout or fast, needed or not; and the episodes of loss that they repair.

use super::sequence::stamped_before;
use super::{Flow, Hole, short};
use crate::connections::segment::Segment;
use estimate::diagnosis::LossEpisode;
use std::collections::VecDeque;
use units::{Span, Time};

/// The most retransmissions that wait for the verdict of an acknowledgement, or may still be found needless.
const MOST_REPEATS: usize = 512;
/// The most episodes of a flow; later losses count as the last one's.
const MOST_EPISODES: usize = 4096;
/// The least silence before a timeout. Linux waits 200 ms at least, others from 30 ms on.
const LEAST_SILENCE: u64 = 20_000_000;

/// Data that were sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub start: u64,
    pub end: u64,
    at: u64,
    stamp: Option<u32>,
    segments: u64,
    /// The number of its episode.
    episode: usize,
    /// True if the acknowledgement has come.
    acknowledged: bool,
    needless: bool,
}

/// The retransmissions of a flow that may still be judged.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: VecDeque<Repeat>,
    /// The end of what was sent when the present recovery began, and true if a timeout began it.
    recovery: Option<(u64, bool)>,
}

impl Repeats {
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.recovery = None;
    }
}

impl Flow {
    /// Takes a retransmission of the range; `hole` is where it was missing at this place.
    pub(super) fn repeat(
        &mut self,
        segment: &Segment,
        start: u64,
        end: u64,
        at: u64,
        segments: u64,
        hole: Option<Hole>,
    ) {
        self.counts.retransmitted += segments;
        self.unheard.1 = self.unheard.1.saturating_add(1);
        self.counts.retransmitted_payload += end - start;
        let slot = self.slots.at(at);
        slot.retransmitted = slot.retransmitted.saturating_add(short(segments));
        let silent = self.is_silent(at);
        let in_recovery = self.repeats.recovery.filter(|&(until, _)| start < until);
        let head = start <= self.known.acknowledged;
        let timeout = silent && (head || self.known.sacked == 0 && start < self.known.acknowledged + 1);
        let by_timeout = match in_recovery {
            _ if timeout => true,
            Some((_, by_timeout)) => by_timeout,
            None => false,
        };
        if timeout {
            self.counts.timeouts += 1;
            self.counts.by_timeout += segments;
        } else if silent && end >= self.next {
            self.counts.probes += segments;
        } else if by_timeout {
            self.counts.by_timeout += segments;
        } else {
            self.counts.fast += segments;
        }
        let first = hole.map_or_else(|| self.sent_at(end), |hole| Some(hole.at)).unwrap_or(at);
        match in_recovery {
            Some((until, _)) => self.repeats.recovery = Some((until, by_timeout)),
            None => {
                self.repeats.recovery = Some((self.next, by_timeout));
                if self.episodes.is_empty() {
                    self.counts.first_peak = self.counts.peak_flight;
                }
                if self.episodes.len() < MOST_EPISODES {
                    let known = self.halves.least().is_some();
                    let queueing = known.then(|| Span::from_nanos(self.growths.largest()));
                    let at = self
                        .episodes
                        .last()
                        .map_or(Time::from_nanos(first), |last| last.at.max(Time::from_nanos(first)));
                    self.episodes.push(LossEpisode { at, segments: 0, queueing, by_timeout: false });
                }
                if let Some(rates) = &mut self.rates {
                    rates.acknowledgements.restart();
                }
            }
        }
        let episode = self.episodes.len() - 1;
        self.episodes[episode].segments += segments;
        self.episodes[episode].by_timeout |= by_timeout;
        if self.repeats.last.len() == MOST_REPEATS {
            self.repeats.last.pop_front();
        }
        let arrived = hole.is_none() && (end <= self.acked || self.sacked.contains(start, end));
        let stamp = segment.stamps.map(|(value, _)| value);
        // A segment that was missing here cannot have been at the receiver.
        let acknowledged = hole.is_some() || arrived;
        let mut repeat = Repeat { start, end, at, stamp, segments, episode, acknowledged, needless: false };
        if arrived {
            self.found_needless(&mut repeat);
        }
        self.repeats.last.push_back(repeat);
    }

    /// Returns true if neither data nor acknowledgements moved for so long that a timer sent what comes now.
    fn is_silent(&self, at: u64) -> bool {
        let last = self.last_data.max(self.known.at);
        let round_trip = self.halves.latest().map_or(0, Span::as_nanos);
        at.saturating_sub(last) >= LEAST_SILENCE.max(round_trip / 2)
    }

    /// Returns the time at which the data up to `end` were first seen.
    fn sent_at(&self, end: u64) -> Option<u64> {
        let index = self.sent.partition_point(|sent| sent.end < end);
        self.sent.get(index).map(|sent| sent.at)
    }

    fn found_needless(&mut self, repeat: &mut Repeat) {
        if repeat.needless {
            return;
        }
        repeat.needless = true;
        self.counts.needless += repeat.segments;
        let episode = &mut self.episodes[repeat.episode];
        episode.segments = episode.segments.saturating_sub(repeat.segments);
    }

    /// Judges the retransmissions that an acknowledgement covers. If it answers a packet that was sent before the first
    /// of them, or comes too early for that one, the first transmission had arrived (Eifel, RFC 3522).
    pub(super) fn judge(&mut self, acknowledged: u64, at: u64, echo: Option<u32>) {
        if self.repeats.last.is_empty() {
            return;
        }
        let mut last = std::mem::take(&mut self.repeats.last);
        let covered = |repeat: &Repeat| !repeat.acknowledged && repeat.end <= acknowledged;
        if let Some(first) = last.iter().find(|repeat| covered(repeat)) {
            let early = match (echo, first.stamp) {
                (Some(echo), Some(stamp)) if echo != stamp => stamped_before(echo, stamp),
                _ => {
                    let least = self.halves.receiver.least.unwrap_or(0);
                    at.saturating_sub(first.at) < least / 4 * 3
                }
            };
            for repeat in last.iter_mut().filter(|repeat| covered(repeat)) {
                repeat.acknowledged = true;
                if early {
                    self.found_needless(repeat);
                }
            }
        }
        self.repeats.last = last;
    }

    /// Takes the report of a receiver that got a range twice (D-SACK, RFC 2883).
    pub(super) fn got_twice(&mut self, start: u64, end: u64) {
        let mut last = std::mem::take(&mut self.repeats.last);
        let found = last.iter_mut().rev().filter(|repeat| repeat.start < end && repeat.end > start);
        let mut some = false;
        for repeat in found {
            some = true;
            if !repeat.needless {
                repeat.acknowledged = true;
                self.found_needless(repeat);
                break;
            }
        }
        self.repeats.last = last;
        if !some {
            self.counts.delivered_twice += 1;
        }
    }
}
