//! The trait every sizer implements.

use std::fmt::Debug;
use units::{Bytes, Rate, Span, Time};

/// What the owner of a connection sees. A machine ignores what it has no use for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// So much payload, in order, was copied to the application.
    Delivered(Bytes),
    /// A round-trip time as the receiver measures it: from an acknowledgement to the first data that it let the
    /// sender send. It is measured by the echo of its time stamp (RFC 7323) or by `tcpi_rcv_rtt`. Without time stamps
    /// none of these come.
    RoundTrip(Span),
    /// The outcome of one periodic probe: the round trip of its echo. It is `None` when a gap in the echoes' sequence
    /// numbers shows that it was lost on the data's way [sobas:IV].
    Probe(Option<Span>),
    /// The dispersion rate of one packet train that the other side sent on request; `None` when packets of it were
    /// lost [sobas:IV].
    Train(Option<Rate>),
    /// Packets of a train were lost, and this is the dispersion rate of the others, as [`estimate::Train::remains`] has
    /// it.
    TrainRemains(Rate),
    /// So many more segments arrived out of order, which they do after losses (`tcpi_rcv_ooopack`).
    OutOfOrder(u64),
    /// What the sender of the data says of itself.
    Sender(SenderReport),
    /// The sender's congestion control sends at a rate that it measures, whatever is lost, as BBR does. Said once.
    RateBased,
}

/// What a sender knows about its own transfer, all counted from its beginning (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// Time with data in flight or waiting (`tcpi_busy_time`).
    pub busy: Span,
    /// Of that, the time in which the receive window held it back (`tcpi_rwnd_limited`).
    pub window_limited: Span,
    /// Segments sent again.
    pub retransmits: u64,
}

/// What a sizer wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Advertise this receive window, from now on: payload that may be unacknowledged. What was promised already
    /// stays promised: the right edge of a window never moves to the left [rfc9293:3.8.6].
    Window(Bytes),
    /// Ask the other side for one train with this number of packets. The answer is [`Input::Train`] or
    /// [`Input::TrainRemains`].
    Train(usize),
    /// Let the sender send no faster than this, where it is ours; `None`: as fast as it likes.
    Pace(Option<Rate>),
}

/// What a sizer is doing and why, for people to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizerState {
    /// The phase, by its name in the sizer's transition table.
    pub phase: &'static str,
    /// Why it is in it, with numbers and units.
    pub reason: String,
}

/// Decides on a receive window, in the order in which things happen. Each [`handle`](BufferSizer::handle) is followed
/// by [`poll`](BufferSizer::poll) until that returns nothing more. So is each time that
/// [`wakeup`](BufferSizer::wakeup) names. The first `poll`, before any input, says with which window to begin.
pub trait BufferSizer: Send + Debug {
    /// `input` happens at `now`, not before what was told last.
    fn handle(&mut self, now: Time, input: Input);
    /// What to do, one thing at a time.
    fn poll(&mut self, now: Time) -> Option<Action>;
    /// When the sizer wants to be polled although nothing happens; `None`: never.
    fn wakeup(&self) -> Option<Time> {
        None
    }
    /// How often the sizer wants the round trip probed ([`Input::Probe`]); `None`: not at all.
    fn probe_interval(&self) -> Option<Span> {
        None
    }
    /// Whether it is measuring the path as it is without the transfer: whoever can, holds the data back so long. It
    /// does not last: an answer that does not come is not waited for.
    fn wants_quiet(&self) -> bool {
        false
    }
    /// The base RTT, where it was measured in a transfer that was under way; `None` where it was not, or is not known.
    fn base_rtt(&self) -> Option<Span> {
        None
    }
    /// What it is doing and why.
    fn state(&self) -> SizerState {
        SizerState::default()
    }
}
