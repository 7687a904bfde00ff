//! Data of a flow.

use super::sequence::{self, stamped_before, unwrapped};
use super::{Flow, Hole, METERED, MOST_RECORDS, Mark, ORDINARY, Sent, Unseen, short, thin_out};
use crate::connections::segment::Segment;
use units::Span;

/// The most holes that are remembered.
const MOST_HOLES: usize = 256;
/// A jump of sequence numbers that no window allows (RFC 7323, 2.3): another connection, or damage.
const MOST_JUMP: u64 = 1 << 30;
/// The time within which a packet without identification and time stamp is taken for the same one, captured twice.
const TWICE: u64 = 1_000_000;
/// The time by which packets overtake each other at most, if the round trip is not known (Wireshark's).
const REORDERED: u64 = 3_000_000;
/// The least time without data that counts as a pause.
const LEAST_PAUSE: u64 = 10_000_000;
/// The time within which data belong to one burst.
const BURST: u64 = 1_000_000;

impl Unseen {
    /// Takes data that were captured. Returns the bytes of them that were missing, if they follow at once.
    fn seen(&mut self, start: u64, end: u64, at: u64) -> u64 {
        if !(self.start..self.end).contains(&start) || at.saturating_sub(self.at) > REORDERED {
            return 0;
        }
        self.start = end.min(self.end);
        self.start - start
    }
}

impl Flow {
    /// Takes a packet that goes in the direction of the data.
    pub(in crate::connections) fn data(&mut self, segment: &Segment, at: u64, meters: &mut usize) {
        let mut start = unwrapped(self.next, segment.sequence);
        if start.abs_diff(self.next) > MOST_JUMP {
            start = self.resynchronise(start);
        }
        self.pass(at);
        let echo = segment.stamps.map(|(_, echo)| echo);
        if let Some(echo) = echo.filter(|_| segment.acknowledgement.is_some()) {
            self.observe_echo(echo, at);
        }
        if segment.payload == 0 && !segment.fin {
            return;
        }
        let end = start + u64::from(segment.payload) + u64::from(segment.fin);
        if segment.payload <= 1 && !segment.fin && start + 1 == self.acked && start < self.next {
            self.counts.keep_alives += 1;
            return;
        }
        if self.follows_at_once(start, end, at) {
            let segments = self.segments_of(segment);
            self.take(segment, at, segments, meters);
            self.last_data = at;
            if end > self.next {
                self.next = end;
                self.record(end, at, segment.id);
            }
            return;
        }
        if start < self.next && self.captured_twice(segment, end, at) {
            self.counts.duplicates += self.segments_of(segment);
            return;
        }
        if segment.fin {
            self.fin = Some(end);
        }
        let segments = self.segments_of(segment);
        self.take(segment, at, segments, meters);
        if start >= self.next {
            self.new_data(segment, start, end, at);
        } else {
            self.old_data(segment, start, end, at, segments);
        }
        self.last_data = at;
        let flight = self.state().flight;
        let slot = self.slots.at(at);
        slot.peak = slot.peak.max(flight);
        self.counts.peak_flight = self.counts.peak_flight.max(flight);
    }

    /// Counts a packet.
    fn take(&mut self, segment: &Segment, at: u64, segments: u64, meters: &mut usize) {
        if segment.payload == 0 {
            return;
        }
        let payload = u64::from(segment.payload);
        if segment.size <= ORDINARY || self.announced.is_some_and(|announced| segment.payload <= announced) {
            self.see_size(segment.payload);
        }
        self.headers = segment.headers.into();
        self.counts.segments += segments;
        self.counts.payload += payload;
        self.came.0 += payload + segments * u64::from(segment.headers);
        let slot = self.slots.at(at);
        slot.sent += payload;
        slot.segments += segments;
        if segment.marked {
            slot.marked = slot.marked.saturating_add(short(segments));
            self.counts.marked += segments;
        }
        let full = u64::from(self.full()) + u64::from(self.headers);
        if self.rates.is_none() && self.counts.payload > METERED && *meters > 0 {
            *meters -= 1;
            self.rates = Some(Box::default());
        }
        if let Some(rates) = &mut self.rates {
            rates.data.observe(at, self.came.0, full);
        }
        if at.saturating_sub(self.burst.0) > BURST {
            self.burst = (at, 0);
        }
        self.burst.1 += payload;
        self.counts.largest_burst = self.counts.largest_burst.max(self.burst.1);
    }

    /// Takes the payload of an ordinary packet. Only a size that comes again is that of full segments: all packets but
    /// the tail of a write may be super-packets.
    fn see_size(&mut self, payload: u32) {
        if payload <= self.ordinary {
            return;
        }
        if self.larger.contains(&payload) {
            self.ordinary = payload;
        } else {
            self.larger.rotate_right(1);
            self.larger[0] = payload;
        }
    }

    fn segments_of(&self, segment: &Segment) -> u64 {
        u64::from(segment.payload.div_ceil(self.unit(segment.payload, segment.size)).max(1))
    }

    fn new_data(&mut self, segment: &Segment, start: u64, end: u64, at: u64) {
        self.unheard.1 = 0;
        let waited = at.saturating_sub(self.last_data.max(self.known.at));
        let round_trip = self.halves.latest().map_or(0, Span::as_nanos);
        self.counts.pauses += u64::from(self.state().idle && waited > LEAST_PAUSE.max(round_trip));
        if start > self.next {
            while self.holes.len() >= MOST_HOLES
                && let Some(hole) = self.holes.pop_front()
            {
                self.counts.unseen += hole.end - hole.start;
            }
            let stamp = segment.stamps.map(|(value, _)| value);
            self.holes.push_back(Hole { start: self.next, end: start, at, stamp, id: segment.id });
        }
        self.next = end;
        self.record(end, at, segment.id);
        self.scale.sent(end, self.known.acknowledged, self.known.window);
        // A sender that has more to send sends full segments, unless the window ends.
        let unit = self.unit(segment.payload, segment.size).max(self.full());
        let room = self.scale.edge() >= end + u64::from(unit);
        self.dry = room && !segment.payload.is_multiple_of(unit);
    }

    fn record(&mut self, end: u64, at: u64, id: u16) {
        if self.sent.len() == MOST_RECORDS {
            thin_out(&mut self.sent);
        }
        self.sent.push_back(Sent { end, at, id, repeated: false });
    }

    /// Returns true if data were captured behind their own acknowledgement, as happens where a capture merges two directions.
    fn follows_at_once(&mut self, start: u64, end: u64, at: u64) -> bool {
        let seen = self.unseen.seen(start, end, at);
        self.counts.unseen = self.counts.unseen.saturating_sub(seen);
        seen > 0
    }

    /// Takes data that begin before the end of what was seen: late, or sent again.
    fn old_data(&mut self, segment: &Segment, start: u64, end: u64, at: u64, segments: u64) {
        let old_end = end.min(self.next);
        let hole = self.fill(start, old_end);
        self.counts.unseen = self.counts.unseen.saturating_sub(self.closed.seen(start, end, at));
        if end > self.next {
            self.next = end;
            self.record(end, at, segment.id);
        }
        // A repeated segment with less than the window allows still shows a sender that has no more.
        self.ambiguous(start, old_end);
        match hole {
            Some(hole) if self.overtaken(segment, &hole, at) => {
                self.counts.out_of_order += segments;
                let slot = self.slots.at(at);
                slot.out_of_order = slot.out_of_order.saturating_add(short(segments));
            }
            hole => self.repeat(segment, start, old_end, at, segments, hole),
        }
    }

    /// Removes a range from the holes. Returns the first hole that it touched. A hole that it parts loses its second
    /// part if there are too many.
    fn fill(&mut self, start: u64, end: u64) -> Option<Hole> {
        let at = self.holes.iter().position(|hole| hole.end > start && hole.start < end)?;
        let first = self.holes[at];
        let mut index = at;
        while index < self.holes.len() && self.holes[index].start < end {
            let hole = self.holes[index];
            let (before, after) = (hole.start < start, hole.end > end);
            match (before, after) {
                (true, true) => {
                    self.holes[index].end = start;
                    if self.holes.len() < MOST_HOLES {
                        self.holes.insert(index + 1, Hole { start: end, ..hole });
                    } else {
                        self.counts.unseen += hole.end - end;
                    }
                    break;
                }
                (true, false) => self.holes[index].end = start,
                (false, true) => self.holes[index].start = end,
                (false, false) => {
                    self.holes.remove(index);
                    continue;
                }
            }
            index += 1;
        }
        Some(first)
    }

    /// Returns true if the packet was sent before the one behind the hole, and arrived later.
    fn overtaken(&self, segment: &Segment, hole: &Hole, at: u64) -> bool {
        if let (Some((value, _)), Some(stamp)) = (segment.stamps, hole.stamp)
            && value != stamp
        {
            return stamped_before(value, stamp);
        }
        let waited = at.saturating_sub(hole.at);
        // Nothing is repeated before the acknowledgement of the packet behind the hole was at the sender.
        let least = self.halves.least().map_or(REORDERED, |least| least / 10 * 9);
        if waited < least {
            return true;
        }
        segment.id != 0
            && hole.id != 0
            && (segment.id.wrapping_sub(hole.id) as i16) < 0
            && segment.stamps.is_some()
    }

    /// Marks the records of a range, whose acknowledgement is ambiguous now.
    fn ambiguous(&mut self, start: u64, end: u64) {
        let from = self.sent.partition_point(|sent| sent.end <= start);
        for sent in self.sent.range_mut(from..) {
            sent.repeated = true;
            if sent.end >= end {
                break;
            }
        }
    }

    /// Returns true if a packet of old data was captured or delivered a second time. Then it has the
    /// identification of the first, or comes too soon behind it for a retransmission.
    fn captured_twice(&mut self, segment: &Segment, end: u64, at: u64) -> bool {
        let Segment { sequence, payload, id, .. } = *segment;
        let period = match id {
            0 => TWICE,
            _ => TWICE.max(self.halves.least().unwrap_or(0) / 2),
        };
        let again = |other: u16, before: u64| other == id && at.saturating_sub(before) < period;
        let sent = self.sent.partition_point(|sent| sent.end < end);
        if self.sent.get(sent).is_some_and(|sent| sent.end == end && again(sent.id, sent.at)) {
            return true;
        }
        let same = |mark: &&Mark| mark.sequence == sequence && mark.payload == payload;
        if self.marks.iter().find(same).is_some_and(|mark| again(mark.id, mark.at)) {
            return true;
        }
        self.marks.rotate_right(1);
        self.marks[0] = Mark { sequence, payload, id, at };
        false
    }

    /// Takes the echo of a time stamp: the sender has the acknowledgement that brought it.
    fn observe_echo(&mut self, echo: u32, at: u64) {
        if self.echo.is_none_or(|last| stamped_before(last, echo)) {
            self.echo = Some(echo);
            while self.stamps.front().is_some_and(|&(stamp, _)| stamped_before(stamp, echo)) {
                self.stamps.pop_front();
            }
            if let Some(&(_, first)) = self.stamps.front().filter(|&&(stamp, _)| stamp == echo) {
                let sample = at.saturating_sub(first);
                let state = self.state();
                let clean = !state.idle && !state.dry;
                self.halves.sender.observe(sample, clean);
                if clean {
                    self.slots.at(at).sender_half.observe(sample);
                    self.observe_growth(at);
                }
            }
        }
        self.learn_by_echo(echo, at);
    }

    pub(super) fn observe_growth(&mut self, at: u64) {
        let period = self.halves.latest().map_or(0, Span::as_nanos);
        self.growths.observe(at, self.halves.growth(), period);
    }

    /// Begins the sequence numbers anew.
    fn resynchronise(&mut self, start: u64) -> u64 {
        let start = sequence::first(start as u32);
        (self.next, self.acked, self.heard) = (start, start, false);
        self.holes.clear();
        self.unseen = Unseen::default();
        self.sent.clear();
        self.sacked.clear();
        self.acks.clear();
        self.known.acknowledged = start;
        self.known.sacked = 0;
        self.repeats.clear();
        if let Some(rates) = &mut self.rates {
            rates.data.restart();
            rates.acknowledgements.restart();
        }
        start
    }
}
