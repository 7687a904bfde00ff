//! Delivery rates: the rate at which data arrived while a segment was under way, for controllers that ask for it
//! [draft-cheng-iccrg-delivery-rate-estimation]. The losses that BBR wants are counted here, too [draft-ietf-ccwg-bbr].

use cc::{LostSegment, RateSample};
use units::{Bytes, Span, Time};

/// The record of a segment under way, as it was last sent. Counts are segments since the start.
#[derive(Clone, Copy, Debug, Default)]
struct SentSegment {
    at: Time,
    /// The time at which the first segment of its flight was sent (`P.first_sent_time`).
    first_sent: Time,
    /// The number of segments delivered when this one was sent (`P.delivered`).
    delivered: u64,
    /// The time at which the last of them was delivered (`P.delivered_time`).
    delivered_at: Time,
    lost: u64,
    in_flight: u64,
    application_limited: bool,
}

/// The records of the segments in `first..next`, each at its number modulo the ring's length, a power of two.
#[derive(Debug, Default)]
struct Records {
    ring: Vec<SentSegment>,
    first: u64,
    next: u64,
}

impl Records {
    #[inline]
    fn get(&self, segment: u64) -> Option<&SentSegment> {
        let under_way = segment >= self.first && segment < self.next;
        if under_way { self.ring.get(segment as usize & (self.ring.len() - 1)) } else { None }
    }

    #[inline]
    fn set(&mut self, segment: u64, sent: SentSegment) {
        if segment - self.first >= self.ring.len() as u64 {
            self.grow(segment);
        }
        let place = segment as usize & (self.ring.len() - 1);
        self.ring[place] = sent;
        self.next = self.next.max(segment + 1);
    }

    /// Makes room from the first segment to `segment`.
    #[cold]
    fn grow(&mut self, segment: u64) {
        let length = (segment - self.first + 1).next_power_of_two().max(16) as usize;
        let mut ring = vec![SentSegment::default(); length];
        for segment in self.first..self.next {
            ring[segment as usize & (length - 1)] = self.ring[segment as usize & (self.ring.len() - 1)];
        }
        self.ring = ring;
    }
}

/// The delivery rates of a sender.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    records: Records,
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    /// The count of delivered segments from which samples are no longer limited by a sender that had no data; zero: no
    /// such limit (`C.app_limited`).
    limited_until: u64,
    lost: u64,
    /// The segment sent last of those that the acknowledgement at hand delivers.
    newest: Option<u64>,
    /// The number of segments that it newly delivers.
    newly_delivered: u64,
    /// The number of segments found lost since the last sample.
    newly_lost: u64,
}

impl Delivery {
    /// Records that a segment leaves; `in_flight` segments are in the network, this one included.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, in_flight: u64) {
        if in_flight <= 1 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let sent = SentSegment {
            at: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight,
            application_limited: self.limited_until > 0,
        };
        self.records.set(segment, sent);
    }

    /// Records that nothing is left to send, with `in_flight` segments in the network.
    pub(super) fn on_out_of_data(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Records that an acknowledgement reports the arrival of `segment` for the first time.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Time, segment: u64) {
        let Some(sent) = self.records.get(segment) else { return };
        self.delivered += 1;
        self.delivered_at = now;
        self.newly_delivered += 1;
        let newer = |newest: &SentSegment| (sent.delivered, sent.at) >= (newest.delivered, newest.at);
        if self.newest.and_then(|newest| self.records.get(newest)).is_none_or(newer) {
            self.newest = Some(segment);
        }
    }

    /// Corrects the counts without selective acknowledgements. Of the segments just counted as delivered, duplicates
    /// had reported `known` before. `duplicate`: one more segment has arrived.
    pub(super) fn on_unnamed(&mut self, now: Time, known: u64, duplicate: bool) {
        self.delivered = self.delivered - known + u64::from(duplicate);
        self.newly_delivered = self.newly_delivered - known + u64::from(duplicate);
        if duplicate {
            self.delivered_at = now;
        }
    }

    /// Records the loss of `segment`. Returns it for the controller; `None` if the segment is not under way.
    pub(super) fn on_lost(&mut self, segment: u64, payload: u64) -> Option<LostSegment> {
        let sent = self.records.get(segment)?;
        self.lost += 1;
        self.newly_lost += 1;
        Some(LostSegment {
            size: Bytes::new(payload),
            sent_in_flight: Bytes::new(sent.in_flight * payload),
            lost: Bytes::new((self.lost - sent.lost) * payload),
        })
    }

    /// Records that `segments` that were sent again are lost again. Linux counts each of their losses (`tp->lost`).
    pub(super) fn on_lost_again(&mut self, segments: u64) {
        self.lost += segments;
        self.newly_lost += segments;
    }

    /// Forgets everything below `una`, which is acknowledged for good.
    #[inline]
    pub(super) fn forget_below(&mut self, una: u64) {
        self.records.first = self.records.first.max(una.min(self.records.next));
    }

    /// Returns the sample of the acknowledgement at hand; `None` if it delivered nothing. The caller has reported all
    /// its segments and has not forgotten any.
    #[inline]
    pub(super) fn sample(&mut self, min_rtt: Span, payload: u64) -> Option<RateSample> {
        let delivered = std::mem::take(&mut self.newly_delivered);
        if delivered == 0 {
            return None;
        }
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let Some(newest) = self.newest.take().and_then(|newest| self.records.get(newest)) else {
            // A duplicate acknowledgement says only that some segment arrived. The time at which it was sent is
            // unknown.
            return Some(RateSample {
                delivered_total: Bytes::new(self.delivered * payload),
                newly_delivered: Bytes::new(delivered * payload),
                newly_lost: Bytes::new(std::mem::take(&mut self.newly_lost) * payload),
                ..RateSample::default()
            });
        };
        self.first_sent = newest.at;
        let sending = newest.at.since(newest.first_sent);
        let interval = sending.max(self.delivered_at.since(newest.delivered_at));
        let bytes = |segments: u64| Bytes::new(segments * payload);
        Some(RateSample {
            delivered: bytes(self.delivered - newest.delivered),
            // An interval shorter than any round trip gives no rate: a retransmitted segment was acknowledged for its
            // first copy.
            interval: if interval < min_rtt { Span::ZERO } else { interval },
            application_limited: newest.application_limited,
            delivered_before: bytes(newest.delivered),
            delivered_total: bytes(self.delivered),
            newly_delivered: bytes(delivered),
            newly_lost: bytes(std::mem::take(&mut self.newly_lost)),
            lost: bytes(self.lost - newest.lost),
            sent_in_flight: bytes(newest.in_flight),
        })
    }
}
