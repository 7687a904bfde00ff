//! [`Advice`]: the remedies for the limit of a transfer, with the rates that may be expected.

use super::LimitedBy;
use units::{Bytes, Rate, Span};

/// The first window of a connection in segments [rfc6928].
const FIRST_WINDOW: f64 = 10.0;
/// The number of streams that are proposed where one does not fill the path.
const STREAMS: u64 = 8;
/// The share by which the mean round trip has to exceed the least one to show a standing queue.
const QUEUE_SHARE: f64 = 0.05;
/// The least time by which the mean round trip has to exceed the least one to show a standing queue.
const QUEUE: Span = Span::from_millis(2);
/// The ratio of the send buffer to the data in flight. A writer is woken when a third of the buffer is free
/// (`sk_stream_is_writeable`), and the buffer includes the kernel's bookkeeping.
const BUFFER_FOR: u64 = 2;

/// The measurements of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes of payload.
    pub bytes: Bytes,
    /// Goodput.
    pub goodput: Rate,
    /// Data connections.
    pub streams: u64,
    /// The least round-trip time; zero if unknown.
    pub least_rtt: Span,
    /// The mean round-trip time; zero if unknown.
    pub mean_rtt: Span,
    /// Payload of a full segment; zero if unknown.
    pub segment: Bytes,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// True if the congestion control sends at a rate that it measures.
    pub rate_based: bool,
}

/// Advice for a person, or a fact to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// Only a path with a higher rate helps.
    None,
    /// Slow start takes this number of round trips for the data.
    Rounds(u32),
    /// This number of streams has up to this rate in all. Autotuning reaches it with one stream if it may use buffers
    /// of this size.
    Streams(u64, Rate, Bytes),
    /// A receive buffer of this size has room for a window with `STREAMS` times the rate.
    ReceiveBuffer(Bytes),
    /// Losses came while no queue stood. A control that does not reduce its window for each loss has more goodput.
    OtherControl,
    /// Neither losses nor a queue: the path had room.
    Room,
}

/// Returns the advice for `limit`.
#[must_use]
pub fn advice(limit: LimitedBy, measured: &Measured) -> Advice {
    let Measured { goodput, streams, least_rtt, .. } = *measured;
    let more = STREAMS.max(streams * 2);
    let of_all = Rate::from_bps(goodput.as_bps() / streams.max(1) * more);
    // The other end reports the round trip, so the buffer may be any number.
    let buffer = (of_all.volume(least_rtt) * BUFFER_FOR).get().checked_next_power_of_two();
    let buffer = Bytes::new(buffer.unwrap_or(u64::MAX));
    match limit {
        LimitedBy::SlowStart => Advice::Rounds(slow_start_rounds(measured.bytes, measured.segment)),
        LimitedBy::SendBuffer if least_rtt > Span::ZERO => Advice::Streams(more, of_all, buffer),
        LimitedBy::ReceiveWindow if least_rtt > Span::ZERO => Advice::ReceiveBuffer(buffer),
        LimitedBy::CongestionWindow if !measured.rate_based && !has_queue(measured) => {
            if measured.retransmits > 0 { Advice::OtherControl } else { Advice::Room }
        }
        _ => Advice::None,
    }
}

/// Returns true if the path was busy, as a standing queue shows.
fn has_queue(measured: &Measured) -> bool {
    let Measured { least_rtt, mean_rtt, .. } = *measured;
    // If the times are unknown, a queue is assumed.
    least_rtt == Span::ZERO
        || mean_rtt == Span::ZERO
        || mean_rtt.saturating_sub(least_rtt) > QUEUE.max(least_rtt.scale(QUEUE_SHARE))
}

/// Returns the number of round trips that slow start takes for `bytes` on one connection: a window of ten segments,
/// which doubles.
#[must_use]
pub fn slow_start_rounds(bytes: Bytes, segment: Bytes) -> u32 {
    let first = segment.get().max(1) as f64 * FIRST_WINDOW;
    libm::log2(bytes.get() as f64 / first + 1.0).ceil() as u32
}
