//! Acknowledgements of a flow.

use super::sequence::unwrapped;
use super::{Ack, Flow, MOST_RECORDS, Unseen, thin_out};
use crate::connections::segment::Segment;

/// A jump of acknowledgements that no window allows: another connection, or damage.
const MOST_JUMP: u64 = 1 << 30;
/// The full segments in flight from which there are trains.
const LEAST_FLIGHT: u64 = 8;

impl Flow {
    /// Takes a packet that goes against the direction of the data.
    pub(in crate::connections) fn acknowledge(&mut self, segment: &Segment, at: u64) {
        self.unheard = (at, 0);
        let Some(number) = segment.acknowledgement.filter(|_| !segment.rst) else { return };
        let acknowledged = unwrapped(self.acked, number);
        if acknowledged.abs_diff(self.next) > MOST_JUMP {
            return;
        }
        if self.next > self.acked || acknowledged > self.acked {
            self.pass(at);
        }
        if acknowledged > self.next {
            // Data that were not captured, or not yet.
            let sent = self.last_data > 0 && self.heard;
            self.counts.unseen += if sent { acknowledged - self.next } else { 0 };
            let start = if self.unseen.end == self.next { self.unseen.start } else { self.next };
            self.unseen = Unseen { start, end: acknowledged, at };
            self.next = acknowledged;
        }
        self.hops.1 = segment.hops;
        self.slots.at(at).returned += u64::from(segment.payload);
        let before = (self.acked, self.sacked.total());
        self.heard = true;
        self.selective(segment, acknowledged, at);
        let mut sent = None;
        if acknowledged > self.acked {
            sent = self.sample(acknowledged, at);
            while let Some(hole) = self.holes.front_mut().filter(|hole| hole.start < acknowledged) {
                let end = hole.end.min(acknowledged);
                self.counts.unseen += end - hole.start;
                self.closed = Unseen { start: hole.start, end, at };
                hole.start = end;
                if hole.start == hole.end {
                    self.holes.pop_front();
                }
            }
            self.judge(acknowledged, at, segment.stamps.map(|(_, echo)| echo));
            self.acked = acknowledged;
            self.sacked.remove_below(acknowledged);
        }
        self.count_delivered(before, at, sent);
        if segment.echo && !segment.syn {
            self.counts.echoes += 1;
            let marked = &mut self.slots.at(at).marked;
            *marked = marked.saturating_add(1);
        }
        self.observe_window(segment, acknowledged, at);
        self.log(segment, acknowledged, at);
    }

    /// Counts what the acknowledgement moved, the newest of which left at `sent`.
    fn count_delivered(&mut self, before: (u64, u64), at: u64, sent: Option<u64>) {
        let fin = self.fin == Some(self.acked) && self.acked > before.0;
        let moved = self.acked - before.0 - u64::from(fin);
        if moved > 0 {
            self.slots.at(at).delivered += moved;
            self.counts.delivered += moved;
        }
        let arrived = (self.acked + self.sacked.total()).saturating_sub(before.0 + before.1);
        if arrived > 0 {
            let (full, headers) = (u64::from(self.full()).max(1), u64::from(self.headers));
            self.came.1 += arrived + arrived * headers / full;
            if let Some(rates) = &mut self.rates {
                rates.acknowledgements.observe(at, self.came.1, full + headers);
            }
            if self.trains.is_none() && self.next.saturating_sub(before.0) >= LEAST_FLIGHT * full {
                self.trains = Some(Box::default());
            }
            if let Some(trains) = &mut self.trains {
                trains.observe(at, self.came.1, sent, full + headers);
            }
        }
    }

    /// Takes the blocks of a selective acknowledgement.
    fn selective(&mut self, segment: &Segment, acknowledged: u64, at: u64) {
        let blocks: [Option<(u64, u64)>; 4] = segment.blocks.map(|block| {
            let (left, right) = block?;
            let (start, end) = (unwrapped(acknowledged, left), unwrapped(acknowledged, right));
            // The newest data may be captured behind the report of them.
            let end = end.min(self.next.max(acknowledged));
            (start < end && acknowledged - start.min(acknowledged) < MOST_JUMP).then_some((start, end))
        });
        let mut rest = &blocks[..];
        if let Some((start, end)) = blocks[0] {
            let within = blocks[1].is_some_and(|(left, right)| left <= start && end <= right);
            if end <= acknowledged || within {
                self.got_twice(start, end);
                rest = &blocks[1..];
            }
        }
        for (start, end) in rest.iter().flatten().copied() {
            // A hole that was filled in between also changes a block, but its right end is old.
            let newest = end > self.sacked.end().unwrap_or(0);
            if self.sacked.insert(start.max(acknowledged), end) > 0 && newest {
                self.sample_at(end, at);
            }
        }
    }

    /// Takes a round-trip time from the newest data that an acknowledgement covers, unless some were sent again. Returns
    /// the time at which they were sent.
    fn sample(&mut self, acknowledged: u64, at: u64) -> Option<u64> {
        let (mut newest, mut clean) = (None, self.sacked.total() == 0);
        while let Some(sent) = self.sent.front().copied().filter(|sent| sent.end <= acknowledged) {
            self.sent.pop_front();
            clean &= !sent.repeated;
            newest = Some(sent);
        }
        // An acknowledgement may end within a super-packet, a segment of which set it off.
        let mut next = self.sent.iter();
        if newest.is_none_or(|newest| newest.end < acknowledged) {
            newest = next.next().copied();
            clean &= newest.is_some_and(|newest| !newest.repeated);
        }
        let sent = newest.filter(|_| clean);
        if let Some(sent) = sent {
            // A receiver may delay the acknowledgement of a single segment, until the next one comes.
            let sample = at.saturating_sub(sent.at);
            let followed = next.next().is_some_and(|next| next.at.saturating_sub(sent.at) <= sample / 16);
            let prompt = followed || acknowledged - self.acked >= 2 * u64::from(self.full());
            self.observe_receiver(sample, prompt, at);
        }
        sent.map(|sent| sent.at)
    }

    /// Takes a round-trip time from data that were acknowledged selectively.
    fn sample_at(&mut self, end: u64, at: u64) {
        let index = self.sent.partition_point(|sent| sent.end < end);
        if let Some(sent) = self.sent.get(index).copied().filter(|sent| sent.end == end && !sent.repeated) {
            self.observe_receiver(at.saturating_sub(sent.at), true, at);
        }
    }

    fn observe_receiver(&mut self, sample: u64, prompt: bool, at: u64) {
        self.halves.receiver.observe(sample, prompt);
        if prompt {
            self.slots.at(at).receiver_half.observe(sample);
            self.observe_growth(at);
        }
    }

    fn observe_window(&mut self, segment: &Segment, acknowledged: u64, at: u64) {
        let window = u32::from(segment.window);
        if segment.syn {
            return;
        }
        self.scale.observe(acknowledged, window);
        self.largest_window = self.largest_window.max(window);
        match (window, self.zero_since) {
            (0, None) => {
                self.zero_since = Some(at);
                self.counts.zero_windows += 1;
            }
            (1.., Some(since)) => {
                self.counts.zero_window_time += at.saturating_sub(since);
                self.zero_since = None;
            }
            _ => {}
        }
    }

    /// Adds the acknowledgement to those that are under way to the sender.
    fn log(&mut self, segment: &Segment, acknowledged: u64, at: u64) {
        let stamp = segment.stamps.map(|(value, _)| value);
        if self.acks.len() == MOST_RECORDS {
            thin_out(&mut self.acks);
        }
        let window = u32::from(segment.window);
        let window = if segment.syn { window >> self.scale.value() } else { window };
        self.acks.push_back(Ack { at, stamp, acknowledged, window, sacked: self.sacked.total() });
        if let Some(stamp) = stamp.filter(|&stamp| self.stamps.back().is_none_or(|&(last, _)| last != stamp))
        {
            if self.stamps.len() == MOST_RECORDS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, at));
        }
    }
}
