//! PIE, proportional integral controller enhanced. Arrivals are dropped or marked at random, with a probability that
//! a controller steers by the queueing delay and its trend.
//!
//! Source: RFC 8033; section numbers are its own. Every [`UPDATE`](PieParameters::UPDATE) the probability moves by
//! alpha (delay - target) + beta (delay - delay at the last update), scaled down while it is small (section 4.2).
//! Nothing is dropped within the burst allowance (4.4), from a nearly empty queue, or while delay and probability are
//! low (4.1). Three optional parts are here: ECN (5.1), de-randomization (5.4, a setting) and the cap on steps (5.5).
//! PIE is never turned off (5.3), because with its threshold of a third of the room a large buffer would let the delay
//! grow to many targets first.
//!
//! **Delay** is the time for which the last packet to leave had waited, zero once the queue is empty. The RFC allows
//! this or the backlog over a measured departure rate (4.3, 5.2). Timestamps need no warm-up, hold when the link's rate
//! changes, and the link has them anyway. The estimator saves hardware the stamps, which is not an advantage here.
//!
//! Updates that fell due without a call are made at the next one. Their inputs do not change in between, so the outcome
//! is that of a timer. The controller is in `pie/control.rs`.

mod control;

use super::store::Store;
use super::{Context, Queue};
use crate::{Backlog, Datagram, DropReason};
pub(super) use control::Control;
use units::{Span, Time};

/// The settings of [`Pie`], and of the PIE of each flow in [`FqPie`](super::FqPie).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieParameters {
    /// `QDELAY_REF`: the target queueing delay.
    pub target: Span,
    /// `T_UPDATE`: time between updates. The gains are meant for the default.
    pub interval: Span,
    /// `MAX_BURST`: the time after a period without congestion in which nothing is dropped.
    pub burst: Span,
    /// Weight of the error, per second.
    pub alpha: f64,
    /// Weight of the trend, per second.
    pub beta: f64,
    /// True if drops are kept from coming too close together or too far apart.
    pub derandomize: bool,
    /// True if capable packets are marked.
    pub ecn: bool,
    /// `mark_ecnth`: the probability above which packets are dropped even if they could be marked.
    pub ecn_probability: f64,
}

impl PieParameters {
    /// `T_UPDATE`, as in section 4.2.
    pub const UPDATE: Span = Span::from_millis(15);
}

impl Default for PieParameters {
    /// Returns the values of RFC 8033 sections 4.2, whose gains come from the stability analysis of its `[HPSR-PIE]`,
    /// 4.4 and 5.1; de-randomized as in Linux.
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            interval: Self::UPDATE,
            burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            derandomize: true,
            ecn: true,
            ecn_probability: 0.1,
        }
    }
}

/// A first-in, first-out queue under PIE.
#[derive(Debug)]
pub struct Pie<P> {
    parameters: PieParameters,
    context: Context,
    store: Store<P>,
    control: Control,
}

impl<P> Pie<P> {
    /// Creates an empty queue on a link described by `context`.
    ///
    /// # Panics
    /// If the interval is zero.
    #[must_use]
    pub fn new(parameters: PieParameters, context: Context) -> Self {
        assert!(parameters.interval > Span::ZERO, "PIE needs an interval above zero");
        Self { parameters, context, store: Store::default(), control: Control::new(&parameters) }
    }

    /// Returns the current drop probability.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.control.probability()
    }
}

impl<P: Datagram + Send> Queue<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let Self { parameters, context, store, control } = self;
        control.catch_up(now, parameters);
        if !context.limit.admits(store.backlog(), packet.wire_len()) {
            control.refused();
            drops(packet, DropReason::QueueFull);
        } else if let Some(packet) = control.admitted(packet, store.bytes(), parameters, context, drops) {
            store.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.control.catch_up(now, &self.parameters);
        let next = self.store.pop();
        let waited = next.as_ref().filter(|_| !self.store.is_empty()).map(|(arrived, _)| now.since(*arrived));
        self.control.departed(waited);
        next.map(|(_, packet)| packet)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
