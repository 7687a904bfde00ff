//! The throughput of one transfer on one path as a function of its window: the picture of the Maximum Feasible
//! Throughput, `[sobas:mft]`.
//!
//! The transfer (*target*) keeps a window of `S` payload bytes in flight. The tight link, a drop-tail FIFO of
//! capacity `C` and buffer `B`, also carries cross traffic. As `S` grows the target passes through
//!
//! ```text
//! S < A Te                       buffer limited: R = S/Te, no queue            Regime::BufferLimited
//! S >= A Te, queue fits in B     saturated: a queue stands, T = Te + q/C       Regime::Saturated
//! queue would exceed B           the window saws: crate::sawtooth              Regime::SelfInducedLoss
//! ```
//! A path that loses packets by itself has `R = min(f(T, p, S), A)`, Regime::Congested, at any `S`. If a backlog `q`
//! stands, the arrivals equal the capacity, where `X(q)` is the rate of the cross traffic:
//!
//! ```text
//! S/(Te + q/C) + X(q) = C
//! X = C - A                      unresponsive: so R = A, T = S/A, q = C (T - Te)
//! X = Wx/(Tx + q/C)              responsive because limited by its own window
//! ```
//! In these equations `S` is whole segments with headers: `floor(S/payload)` segments of `segment` bytes. Goodput
//! counts only their payload. A window of less than one payload sends nothing in this model.
//!
//! Left out are slow start and its overshoot, the reaction of cross traffic to drops, the reverse path, and the random
//! queue of cross traffic that is not evenly spaced. With constant-rate cross traffic and a windowed target that queue
//! is at most a packet per source. Poisson cross traffic of load `rho` adds an M/D/1 queue of about `rho^2/(2(1-rho))`
//! packets, which blunts the knee at `A Te`.
//!
//! Reading order: [`Path`], [`Target`], [`prediction`], then the windows [`saturating_window`] and [`lossless_window`]
//! and the best result, [`maximum_feasible_throughput`].

mod overflowing;

use units::{Bytes, Fraction, Rate, Span};

use crate::pftk::{LossyFlow, pftk_full};
use crate::root::decreasing_root;

/// The rest of the traffic at the tight link; it is assumed to lose nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrossTraffic {
    /// Traffic that keeps its rate whatever the target does: `X = rate`.
    Unresponsive {
        /// The rate on the wire.
        rate: Rate,
    },
    /// TCP limited by its own window: it slows as the queueing delay grows, `X = window/(base_rtt + q/C)`.
    BufferLimited {
        /// The sum of the windows, in wire bytes.
        window: Bytes,
        /// The RTT of these flows before the target starts; above zero.
        base_rtt: Span,
    },
}

impl CrossTraffic {
    /// A path without cross traffic.
    pub const NONE: Self = Self::Unresponsive { rate: Rate::ZERO };

    /// Returns the rate once the target has added `queueing` to every round trip.
    #[must_use]
    pub fn rate(&self, queueing: Span) -> Rate {
        Rate::from_bps_f64(self.bps(queueing.as_secs_f64()))
    }

    fn bps(&self, queueing: f64) -> f64 {
        match self {
            Self::Unresponsive { rate } => rate.as_bps_f64(),
            Self::BufferLimited { window, base_rtt } => {
                window.bits_f64() / (base_rtt.as_secs_f64() + queueing)
            }
        }
    }
}

/// A path as the model sees it: one tight link and a delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// `C`, the capacity of the tight link, at the level of [`Target::segment`]; above zero.
    pub capacity: Rate,
    /// The rest of the traffic.
    pub cross: CrossTraffic,
    /// `Te`: the whole round trip before the target adds to the queue, serialization included; above zero.
    pub base_rtt: Span,
    /// `B`: the room for waiting data at the tight link, the packet being sent excluded.
    pub buffer: Bytes,
    /// `p`: the loss that the target meets whatever its window is.
    pub loss: Fraction,
}

impl Path {
    fn drain(&self) -> f64 {
        self.buffer.bits_f64() / self.capacity.as_bps_f64()
    }
}

/// The transfer that the question is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// `S`: the smaller socket buffer, in payload bytes; [`Bytes::MAX`] for no limit.
    pub window: Bytes,
    /// Useful bytes in a full segment; above zero.
    pub payload: Bytes,
    /// Bytes of a full segment at the level at which the capacity is stated; at least the payload.
    pub segment: Bytes,
    /// The number of segments that one acknowledgement covers, `b`: 1, or 2 with delayed acknowledgements.
    pub delayed_ack: u32,
    /// The first retransmission timeout, for [`pftk_full`].
    pub timeout: Span,
}

impl Target {
    /// Creates a transfer with the window `window` as on today's hosts: 1448 useful bytes in 1500 (timestamps on), and
    /// delayed acknowledgements. The timeout is 300 ms, Linux's least margin of 200 ms on an RTT of 100 ms.
    #[must_use]
    pub const fn reno(window: Bytes) -> Self {
        Self {
            window,
            payload: Bytes::new(1448),
            segment: Bytes::new(1500),
            delayed_ack: 2,
            timeout: Span::from_millis(300),
        }
    }

    /// Returns the same transfer with another window.
    #[must_use]
    pub const fn with_window(self, window: Bytes) -> Self {
        Self { window, ..self }
    }

    /// Returns the window in whole segments, as payload: `floor(S/payload) payload`.
    #[must_use]
    pub fn whole_window(&self) -> Bytes {
        self.payload * (self.window / self.payload)
    }

    /// Returns the window in whole segments, on the wire: `floor(S/payload) segment`.
    #[must_use]
    pub fn wire_window(&self) -> Bytes {
        self.segment * (self.window / self.payload)
    }

    /// Returns the payload per wire byte.
    fn efficiency(&self) -> f64 {
        self.payload.get() as f64 / self.segment.get() as f64
    }
}

/// The cause that limits the target's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The window is below `A Te`: the link idles.
    BufferLimited,
    /// The window fills the link and the rest of it stands in the buffer.
    Saturated,
    /// The window overflows the buffer: the target reduces it and grows it again.
    SelfInducedLoss,
    /// The path loses packets by itself: a small window only costs throughput, so the best one is the largest.
    Congested,
}

/// The performance of the target, averaged over time after start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Useful data over time.
    pub goodput: Rate,
    /// `Ta`, the average round-trip time.
    pub rtt: Span,
    /// All data waiting at the tight link beyond the exogenous queue, including the cross traffic's.
    pub backlog: Bytes,
    /// The target's data in flight, payload.
    pub window: Bytes,
    /// The share of the target's packets that are lost.
    pub loss: f64,
    /// The cause that limits the target's throughput.
    pub regime: Regime,
}

/// Returns the available bandwidth before the target starts, `[sobas:mft]`.
///
/// ```text
/// A = C (1 - rho) = C - X(0)
/// ```
/// It is stated at the level of the capacity; zero if the cross traffic alone fills the link.
#[must_use]
pub fn available_bandwidth(path: &Path) -> Rate {
    path.capacity.saturating_sub(path.cross.rate(Span::ZERO))
}

/// Returns the smallest window that saturates the path, in whole segments, `[sobas:mft]`.
///
/// ```text
/// S = A Te, up to whole segments
/// ```
/// (The source prints "less than A/Te", which should read `A Te`.) The window of `target` itself is not used.
#[must_use]
pub fn saturating_window(path: &Path, target: &Target) -> Bytes {
    let wire = available_bandwidth(path).volume(path.base_rtt);
    target.payload * wire.get().div_ceil(target.segment.get())
}

/// Returns the largest window that does not overflow the buffer, in whole segments.
///
/// ```text
/// S = (C - X(B)) (Te + B/C), down to whole segments
/// ```
/// For unresponsive cross traffic this is `A Te + B A/C`: the target's part of the buffer is its share of the traffic.
/// The window of `target` itself is not used.
#[must_use]
pub fn lossless_window(path: &Path, target: &Target) -> Bytes {
    let wire_bits = window_bits(path, path.drain());
    target.payload * ((wire_bits / target.segment.bits_f64()) as u64)
}

/// Returns the Maximum Feasible Throughput of the path, and the window that reaches it, `[sobas:mft]`.
///
/// Without loss the window is [`lossless_window`]. If the cross traffic does not respond, the goodput is the payload's
/// share of `A`. If it responds, the goodput is higher, at the price of a full buffer. On a congested path the window
/// is that of `target`, which should be as large as the hosts allow.
#[must_use]
pub fn maximum_feasible_throughput(path: &Path, target: &Target) -> Prediction {
    if path.loss > Fraction::ZERO {
        return prediction(path, target);
    }
    prediction(path, &target.with_window(lossless_window(path, target)))
}

/// The unit in which a queue's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The limit counts bytes, so that a nearly full queue drops a full segment but still takes a smaller packet.
    Bytes,
    /// The limit counts packets, so that a full queue drops cross traffic's packets as well as the target's.
    Packets,
}

/// Predicts as [`prediction()`] does, for a queue whose limit is counted in `room`. [`Path::buffer`] is that limit in
/// bytes.
#[must_use]
pub fn prediction_with(path: &Path, target: &Target, room: Room) -> Prediction {
    let lossless = standing(path, target).unwrap_or_else(|| overflowing::prediction(path, target, room));
    if path.loss == Fraction::ZERO { lossless } else { congested(path, target, &lossless) }
}

/// Predicts the performance of `target` on `path`: the four regimes of the module's picture, with a limit in bytes.
///
/// Goodput never falls as the window grows, until the window overflows the buffer. From there on it is the goodput of
/// the sawtooth, and no longer depends on the window. If unresponsive cross traffic fills the link (`A = 0`), the
/// buffer is full and the target's goodput is zero.
#[must_use]
pub fn prediction(path: &Path, target: &Target) -> Prediction {
    prediction_with(path, target, Room::Bytes)
}

/// Returns the wire window, in bits, with which the target fills the link and makes every packet wait `queueing`
/// seconds. It rises with `queueing`.
fn window_bits(path: &Path, queueing: f64) -> f64 {
    let share = path.capacity.as_bps_f64() - path.cross.bps(queueing);
    share.max(0.0) * (path.base_rtt.as_secs_f64() + queueing)
}

/// Predicts the result if the path and its buffer hold the target's window without loss; returns `None` if they do not
/// hold it.
fn standing(path: &Path, target: &Target) -> Option<Prediction> {
    let wire = target.wire_window();
    let (capacity, base) = (path.capacity.as_bps_f64(), path.base_rtt.as_secs_f64());
    let excess = |queueing: f64| wire.bits_f64() / (base + queueing) + path.cross.bps(queueing) - capacity;
    // A buffer that is exactly full still holds the window; the allowance is for rounding.
    if excess(path.drain()) > capacity * 1e-12 {
        return None;
    }
    let queueing = decreasing_root(0.0, path.drain(), excess);
    let saturated = wire >= available_bandwidth(path).volume(path.base_rtt);
    let window = target.whole_window();
    Some(Prediction {
        goodput: Rate::from_bps_f64(window.bits_f64() / (base + queueing)),
        rtt: Span::from_secs_f64(base + queueing),
        backlog: backlog(path, queueing),
        window,
        loss: 0.0,
        regime: if saturated { Regime::Saturated } else { Regime::BufferLimited },
    })
}

/// Solves `[sobas:eq4]` on this path, with the full formula for `f`. A window in a sawtooth below its limit is below
/// the limit on average. The approximate formula ignores this in its minimum, and misses Fig. 5 by a quarter. The RTT
/// lies between the base RTT and its value without random loss. If loss leaves less than the available bandwidth, the
/// queue is empty and the RTT is the base RTT. Otherwise the queue adds the rest.
fn congested(path: &Path, target: &Target, lossless: &Prediction) -> Prediction {
    let at = |rtt: f64| {
        pftk_full(&LossyFlow {
            payload: target.payload,
            rtt: Span::from_secs_f64(rtt),
            timeout: target.timeout,
            loss: path.loss,
            delayed_ack: target.delayed_ack,
            max_window: target.whole_window(),
        })
    };
    let base = path.base_rtt.as_secs_f64();
    let efficiency = target.efficiency();
    let rtt = decreasing_root(base, lossless.rtt.as_secs_f64(), |rtt| {
        let share = path.capacity.as_bps_f64() - path.cross.bps(rtt - base);
        at(rtt).as_bps_f64() - share * efficiency
    });
    let goodput = at(rtt).min(lossless.goodput);
    Prediction {
        goodput,
        rtt: Span::from_secs_f64(rtt),
        backlog: backlog(path, rtt - base),
        window: goodput.volume(Span::from_secs_f64(rtt)),
        loss: path.loss.get().max(lossless.loss),
        regime: Regime::Congested,
    }
}

/// Returns the backlog `q = C (T - Te)`.
fn backlog(path: &Path, queueing: f64) -> Bytes {
    Bytes::new((path.capacity.as_bps_f64() * queueing / 8.0).round() as u64)
}
