//! [`Statistics`]: the sums of one direction of a connection.

use units::{Bytes, Span, Time};

/// Retransmissions, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retransmissions {
    /// All of them.
    pub segments: u64,
    /// Their payload.
    pub payload: Bytes,
    /// Those that acknowledgements set off.
    pub fast: u64,
    /// Those that a retransmission timeout set off, and those of the recovery that it began.
    pub by_timeout: u64,
    /// Probes for a lost tail (TLP, RFC 8985).
    pub probes: u64,
    /// Those of data that had arrived.
    pub needless: u64,
}

/// Round-trip times between the place of the capture and the receiver, or of the whole path if the capture was made at
/// the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// The time of the handshake, from the SYN to the acknowledgement of the answer: the whole path.
    pub handshake: Option<Span>,
    /// The least sample.
    pub least: Option<Span>,
    /// The mean of the samples without delayed acknowledgements.
    pub mean: Option<Span>,
    /// The largest of them.
    pub largest: Option<Span>,
    /// The number of them.
    pub samples: u64,
}

/// The end of slow start by losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overshoot {
    /// The time of the first loss.
    pub at: Time,
    /// The largest payload in flight until then.
    pub peak: Bytes,
    /// The segments lost.
    pub lost: u64,
}

/// The sums of one direction of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets as they were captured, acknowledgements included.
    pub packets: u64,
    /// Their bytes at the IP layer.
    pub bytes: Bytes,
    /// Segments with payload: a super-packet counts as the segments that it becomes.
    pub segments: u64,
    /// Payload, retransmissions included.
    pub payload: Bytes,
    /// Retransmissions.
    pub retransmitted: Retransmissions,
    /// Segments that others had overtaken.
    pub out_of_order: u64,
    /// Segments that were captured twice, or that the network duplicated.
    pub duplicates: u64,
    /// Payload that was acknowledged, but is not in the capture.
    pub unseen: Bytes,
    /// Segments, or acknowledgements of segments, with a mark of congestion.
    pub marked: u64,
    /// Keep-alives with a byte of old data.
    pub keep_alives: u64,
    /// The number of times at which the receiver closed its window.
    pub zero_windows: u64,
    /// The time for which it was closed.
    pub zero_window_time: Span,
    /// Round-trip times.
    pub round_trip: RoundTrips,
    /// The largest payload that passed within a millisecond.
    pub largest_burst: Bytes,
    /// The time in which everything was acknowledged, and nothing was sent.
    pub idle: Span,
    /// The number of these pauses.
    pub pauses: u64,
    /// The end of slow start, if losses ended it.
    pub overshoot: Option<Overshoot>,
}

/// The counters of a flow. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub segments: u64,
    pub payload: u64,
    pub delivered: u64,
    pub retransmitted: u64,
    pub retransmitted_payload: u64,
    pub fast: u64,
    pub by_timeout: u64,
    pub probes: u64,
    pub needless: u64,
    pub timeouts: u64,
    pub out_of_order: u64,
    pub duplicates: u64,
    /// Reports of a receiver that got a segment twice, which no retransmission explains.
    pub delivered_twice: u64,
    pub unseen: u64,
    pub marked: u64,
    pub echoes: u64,
    pub keep_alives: u64,
    pub zero_windows: u64,
    pub zero_window_time: u64,
    pub largest_burst: u64,
    pub peak_flight: u64,
    /// The largest payload in flight when the first loss was repaired.
    pub first_peak: u64,
    pub pauses: u64,
}

impl Statistics {
    /// Adds the sums of a later part of the same direction.
    pub(super) fn add(&mut self, later: &Self) {
        let (one, other) = (&mut self.retransmitted, &later.retransmitted);
        one.segments += other.segments;
        one.payload += other.payload;
        one.fast += other.fast;
        one.by_timeout += other.by_timeout;
        one.probes += other.probes;
        one.needless += other.needless;
        self.packets += later.packets;
        self.bytes += later.bytes;
        self.segments += later.segments;
        self.payload += later.payload;
        self.out_of_order += later.out_of_order;
        self.duplicates += later.duplicates;
        self.unseen += later.unseen;
        self.marked += later.marked;
        self.keep_alives += later.keep_alives;
        self.zero_windows += later.zero_windows;
        self.zero_window_time += later.zero_window_time;
        self.largest_burst = self.largest_burst.max(later.largest_burst);
        self.idle += later.idle;
        self.pauses += later.pauses;
        self.overshoot = self.overshoot.or(later.overshoot);
        let (one, other) = (&mut self.round_trip, &later.round_trip);
        one.handshake = one.handshake.or(other.handshake);
        one.least = [one.least, other.least].into_iter().flatten().min();
        one.largest = one.largest.max(other.largest);
        let sum = |times: &RoundTrips| times.mean.map_or(Span::ZERO, |mean| mean * times.samples);
        let (sum, samples) = (sum(one) + sum(other), one.samples + other.samples);
        one.mean = (samples > 0).then(|| sum / samples.max(1));
        one.samples = samples;
    }
}
