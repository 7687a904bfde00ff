//! The results of a session: the samples against time, and the totals, per flow and side.
//!
//! The receiver knows what arrived ([`ReceivedFlow`]). The sender knows the round-trip time, its windows and its
//! retransmissions ([`SentFlow`]). Flows keep the order of the session. All times are of the run's one clock.

use crate::window::WindowReading;
use host::TcpOptions;
use host::options::ReceiveBuffer;
use probe::ProbeCounts;
use sizing::PhaseChange;
use std::net::SocketAddr;
use units::{Bytes, Rate, Span, Time};

/// Payload that arrived between two readings. The instants are those of the readings, so the rate is exact however late
/// the thread woke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The end of the warm-up, or the accept if that was later.
    pub from: Time,
    /// The end of the session, or of the flow if that was earlier.
    pub to: Time,
    /// Payload that arrived between the two.
    pub payload: Bytes,
}

impl Measured {
    /// Returns payload over time; zero for an empty interval.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        Rate::of(self.payload, self.to.since(self.from))
    }
}

/// One flow as its receiver saw it.
#[derive(Clone, Debug)]
pub struct ReceivedFlow {
    /// The flow's name.
    pub name: String,
    /// The sender's address; `None` if the flow never connected.
    pub peer: Option<SocketAddr>,
    /// The time at which the connection was accepted; `None` if the flow never connected.
    pub accepted: Option<Time>,
    /// The time at which the sender finished or cut the flow; `None` if the session ended first.
    pub ended: Option<Time>,
    /// Payload over the flow's whole life.
    pub payload: Bytes,
    /// Payload after the warm-up.
    pub measured: Measured,
    /// Packets that arrived with a congestion mark after the warm-up; `None` if the kernel or the transport does not count
    /// them.
    pub marks: Option<u64>,
    /// The TCP options that the handshake agreed on.
    pub options: TcpOptions,
    /// The exponent of the window scale: the advertised window is a multiple of 2 to this power.
    pub window_scale: u8,
    /// The buffer behind the window; `None` if the flow never connected.
    pub buffer: Option<ReceiveBuffer>,
    /// The number of times that the kernel overwrote the requested window and it was set again.
    pub window_overwritten: u32,
    /// The phases that the flow's sizer went through, if it has one.
    pub phases: Vec<PhaseChange>,
    /// The window that the sizer requested last; `None` without a sizer, or for the maximum.
    pub final_window: Option<Bytes>,
    /// The counts of the sizer's probes: sent, echoed and lost.
    pub probes: ProbeCounts,
    /// Readings, one per period.
    pub samples: Vec<ReceiverSample>,
    /// Notes that a reader of the numbers needs.
    pub notes: Vec<String>,
}

/// One reading at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverSample {
    /// The time of the reading.
    pub at: Time,
    /// Payload received in order since the start of the flow, read by the program or not.
    pub payload: Bytes,
    /// The payload since the previous sample, over the time since then.
    pub goodput: Rate,
    /// The receiver's own estimate of the round-trip time.
    pub rcv_rtt: Option<Span>,
    /// Segments that have arrived out of order so far.
    pub out_of_order: Option<u32>,
    /// The requested, granted and observed window.
    pub window: WindowReading,
}

/// One flow as its sender saw it.
#[derive(Clone, Debug)]
pub struct SentFlow {
    /// The flow's name.
    pub name: String,
    /// The time at which the handshake was done; `None` if the flow did not connect before the session ended.
    pub connected: Option<Time>,
    /// The time from [`connected`](Self::connected) until the last byte was acknowledged, read within about a
    /// millisecond. `None` for a greedy flow, or if the session ended first.
    pub completion: Option<Span>,
    /// The time from the flow's start until the handshake was done; `None` if the flow did not connect before the
    /// session ended.
    pub handshake: Option<Span>,
    /// Payload acknowledged over the flow's whole life.
    pub acked: Bytes,
    /// The counts over the flow's whole life.
    pub whole: SendCounts,
    /// The counts after the warm-up.
    pub measured: SendCounts,
    /// Statistics of the samples after the warm-up; `None` without any.
    pub rtt: Option<RttStatistics>,
    /// The least round-trip time that the kernel saw on a single segment (in the last five minutes), warm-up included.
    pub min_rtt: Option<Span>,
    /// Payload of a full segment.
    pub segment_payload: Bytes,
    /// The TCP options that the handshake agreed on.
    pub options: TcpOptions,
    /// The quantities that the controller measured, with their names, where the controller runs in this process.
    pub measures: Vec<(&'static str, f64)>,
    /// The lateness of departures after the warm-up, where this process times them.
    pub lateness: Option<Lateness>,
    /// Readings, one per period.
    pub samples: Vec<SenderSample>,
    /// Notes that a reader of the numbers needs.
    pub notes: Vec<String>,
}

/// The times by which packets left after they were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The number of departures that were due at a time of their own.
    pub count: u64,
    /// The mean.
    pub mean: Span,
    /// The 99th percentile: 99 % of the departures were no later.
    pub p99: Span,
    /// The latest one.
    pub max: Span,
}

/// Counts of segments sent and retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendCounts {
    /// Segments with payload, retransmissions included.
    pub segments: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Payload retransmitted; `None` if the kernel does not report it.
    pub retransmitted: Option<Bytes>,
    /// Retransmission timeouts; `None` if the kernel does not report them.
    pub timeouts: Option<u64>,
}

impl SendCounts {
    /// Returns the counts since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            segments: self.segments.saturating_sub(earlier.segments),
            retransmits: self.retransmits.saturating_sub(earlier.retransmits),
            retransmitted: self
                .retransmitted
                .map(|bytes| bytes.saturating_sub(earlier.retransmitted.unwrap_or_default())),
            timeouts: self.timeouts.map(|count| count.saturating_sub(earlier.timeouts.unwrap_or_default())),
        }
    }
}

/// One reading at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSample {
    /// The time of the reading.
    pub at: Time,
    /// Payload acknowledged since the start of the flow.
    pub acked: Bytes,
    /// The kernel's smoothed round-trip time (gain 1/8 per sample), less the time for which an emulated path stood
    /// still during the round trip.
    pub rtt: Option<Span>,
    /// Least round-trip time so far.
    pub min_rtt: Option<Span>,
    /// Congestion window.
    pub congestion_window: Bytes,
    /// Slow-start threshold; `None` while unlimited.
    pub slow_start_threshold: Option<Bytes>,
    /// The receive window as the sender knows it.
    pub peer_window: Option<Bytes>,
    /// The lesser of the congestion window and the receive window. The send buffer grows with the congestion window and
    /// is not a limit of its own (see `sndbuf_limited`).
    pub send_window: Bytes,
    /// Bytes that were sent and are still in flight.
    pub in_flight: Bytes,
    /// The latest delivery rate that the kernel measured.
    pub delivery_rate: Option<Rate>,
    /// Segments believed lost and not yet repaired.
    pub lost: u32,
    /// Segments retransmitted so far.
    pub retransmits: u32,
    /// The time so far during which the peer's window was the limit.
    pub rwnd_limited: Option<Span>,
    /// The time so far during which the send buffer was the limit.
    pub sndbuf_limited: Option<Span>,
}

/// Statistics of smoothed round-trip times at equally spaced times, so that the mean is a mean over time. Smoothing
/// hides extremes: [`SentFlow::min_rtt`] has the least single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttStatistics {
    /// The least round-trip time.
    pub min: Span,
    /// The mean.
    pub mean: Span,
    /// The 95th percentile: 95 % of the samples are no longer.
    pub p95: Span,
    /// The 99th percentile: 99 % of the samples are no longer.
    pub p99: Span,
    /// The number of samples.
    pub count: usize,
}

impl RttStatistics {
    /// Computes the statistics of the samples at or after `from`; `None` without any.
    #[must_use]
    pub fn of(samples: &[SenderSample], from: Time) -> Option<Self> {
        let mut rtts: Vec<Span> =
            samples.iter().filter(|sample| sample.at >= from).filter_map(|sample| sample.rtt).collect();
        rtts.sort_unstable();
        let count = rtts.len();
        let min = *rtts.first()?;
        let mean = rtts.iter().copied().sum::<Span>() / count as u64;
        let least_of = |percent: usize| rtts[(count * percent).div_ceil(100) - 1];
        Some(Self { min, mean, p95: least_of(95), p99: least_of(99), count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, rtt: u64) -> SenderSample {
        SenderSample {
            at: Time::ZERO + Span::from_millis(at),
            acked: Bytes::ZERO,
            rtt: Some(Span::from_millis(rtt)),
            min_rtt: None,
            congestion_window: Bytes::ZERO,
            slow_start_threshold: None,
            peer_window: None,
            send_window: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            delivery_rate: None,
            lost: 0,
            retransmits: 0,
            rwnd_limited: None,
            sndbuf_limited: None,
        }
    }

    #[test]
    fn rtt_statistics_leave_the_warmup_out() {
        let samples: Vec<_> = (0..=100).map(|i| sample(i, if i == 0 { 5 } else { i })).collect();
        let rtt = RttStatistics::of(&samples, Time::ZERO + Span::from_millis(1)).unwrap();
        assert_eq!((rtt.min, rtt.mean, rtt.count), (Span::from_millis(1), Span::from_micros(50_500), 100));
        assert_eq!((rtt.p95, rtt.p99), (Span::from_millis(95), Span::from_millis(99)));
        assert_eq!(RttStatistics::of(&samples, Time::ZERO + Span::from_secs(1)), None);
    }

    #[test]
    fn goodput_is_payload_over_the_time_really_measured() {
        let second = |second| Time::ZERO + Span::from_secs(second);
        let measured = Measured { from: second(1), to: second(3), payload: Bytes::new(250_000) };
        assert_eq!(measured.goodput(), Rate::from_bps(1_000_000));
        assert_eq!(Measured::default().goodput(), Rate::ZERO);
    }
}
