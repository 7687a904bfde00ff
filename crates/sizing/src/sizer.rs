//! [`BufferSizer`]: the trait that every sizer implements.

use std::fmt::Debug;
use units::{Bytes, Rate, Span, Time};

/// An observation by the owner of a connection. A sizer ignores inputs that it does not use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// This much payload, in order, was copied to the application.
    Delivered(Bytes),
    /// A round-trip time that the receiver measured: from an acknowledgement to the first data that it allowed the
    /// sender to send. It is measured by the echo of its time stamp (RFC 7323) or by `tcpi_rcv_rtt`. Without time
    /// stamps these inputs do not occur.
    RoundTrip(Span),
    /// The outcome of one periodic probe: the round trip of its echo. It is `None` when a gap in the echoes' sequence
    /// numbers shows that the probe was lost on the data's way [sobas:IV].
    Probe(Option<Span>),
    /// The dispersion rate of one packet train that the other side sent on request; `None` when packets of it were
    /// lost [sobas:IV].
    Train(Option<Rate>),
    /// The dispersion rate of the packets that remain of a train with losses, as [`estimate::Train::remains`] computes
    /// it.
    TrainRemains(Rate),
    /// The number of further segments that arrived out of order, which they do after losses (`tcpi_rcv_ooopack`).
    OutOfOrder(u64),
    /// A report by the sender of the data on its own transfer.
    Sender(SenderReport),
    /// The sender's congestion control sends at a rate that it measures, despite losses, as BBR does. This input comes
    /// once.
    RateBased,
}

/// A sender's knowledge of its own transfer, all counted from its beginning (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// The time with data in flight or waiting (`tcpi_busy_time`).
    pub busy: Span,
    /// The part of `busy` in which the receive window was the limit (`tcpi_rwnd_limited`).
    pub window_limited: Span,
    /// Segments retransmitted.
    pub retransmits: u64,
}

/// An action that a sizer requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Advertise this receive window from now on: the payload that may be unacknowledged. Data that was promised
    /// already stays promised, because the right edge of a window never moves to the left [rfc9293:3.8.6].
    Window(Bytes),
    /// Request one train with this number of packets from the other side. The answer is [`Input::Train`] or
    /// [`Input::TrainRemains`].
    Train(usize),
    /// Let the sender send no faster than this, if it is ours; `None`: without a cap.
    Pace(Option<Rate>),
}

/// The state of a sizer and the reason for it, for people to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizerState {
    /// The phase, by its name in the sizer's transition table.
    pub phase: &'static str,
    /// The reason for the phase, with numbers and units.
    pub reason: String,
}

/// A machine that decides on a receive window, from inputs in the order in which they happen. Its owner calls
/// [`poll`](BufferSizer::poll) until that returns nothing more, after each [`handle`](BufferSizer::handle) and at each
/// time that [`wakeup`](BufferSizer::wakeup) names. The first `poll`, before any input, returns the first window.
pub trait BufferSizer: Send + Debug {
    /// Handles `input`, which happens at `now`, not before the previous input.
    fn handle(&mut self, now: Time, input: Input);
    /// Handles some of `count` segments that arrived in order, each with `payload`, and before each the round trip that
    /// its arrival shows, if it shows one. Returns the number of segments that it has handled, at least one, and true if
    /// it is to be polled before the next one.
    fn on_segments(
        &mut self,
        now: Time,
        count: u64,
        payload: Bytes,
        round_trip: Option<Span>,
    ) -> (u64, bool) {
        let _ = count;
        if let Some(round_trip) = round_trip {
            self.handle(now, Input::RoundTrip(round_trip));
        }
        self.handle(now, Input::Delivered(payload));
        (1, true)
    }
    /// Returns true if it uses [`Input::OutOfOrder`].
    fn counts_out_of_order(&self) -> bool {
        true
    }
    /// Returns the next action, one per call.
    fn poll(&mut self, now: Time) -> Option<Action>;
    /// Returns the time at which the sizer has to be polled even without an input; `None`: never.
    fn wakeup(&self) -> Option<Time> {
        None
    }
    /// Returns the interval at which the round trip should be probed ([`Input::Probe`]); `None`: not at all.
    fn probe_interval(&self) -> Option<Span> {
        None
    }
    /// Returns true while the sizer measures the path without the transfer: an owner that can hold the data back should
    /// do so. This state ends by itself, even if an answer does not come.
    fn wants_quiet(&self) -> bool {
        false
    }
    /// Returns the base RTT, if it was measured in a transfer that was under way; `None` otherwise.
    fn base_rtt(&self) -> Option<Span> {
        None
    }
    /// Returns the state and the reason for it.
    fn state(&self) -> SizerState {
        SizerState::default()
    }
}
