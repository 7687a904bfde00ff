//! [`Retry`]: the rule by which a broken connection is made again, as long as there is progress now and then.

use crate::error::TransferError;
use crate::history::History;
use crate::wire::ANOTHER_SENDER;
use crate::wire::control::Progress;
use host::Clock;
use units::{Foreign, Span, Time};

/// The pause before the first new attempt; it doubles before each further one.
const FIRST_PAUSE: Span = Span::from_millis(500);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Span = Span::from_secs(30);

/// The state that earlier attempts of a transfer leave to the next one.
#[derive(Clone, Debug)]
pub(super) struct EarlierAttempts {
    /// The time at which the first one began.
    pub(super) began: Time,
    /// The number of bytes in files handed to the network.
    pub(super) sent: u64,
    /// The number of data connections that the last attempt had.
    pub(super) streams: u16,
    pub(super) history: History,
    /// The number of the receiver's lines about lost entries.
    pub(super) lines: u64,
}

impl EarlierAttempts {
    /// Makes the empty state before the first attempt.
    pub(super) fn new(began: Time) -> Self {
        Self { began, sent: 0, streams: 0, history: History::default(), lines: 0 }
    }
}

/// The state that decides whether and when to try again.
#[derive(Debug)]
pub(super) struct Retry {
    /// The time without progress after which no attempt follows. With zero, no attempt follows the first.
    limit: Span,
    clock: Clock,
    /// True once the receiver has let this sender in.
    reached: bool,
    progressed: Time,
    /// The greatest numbers of entries and bytes that the receiver has reported.
    most: (u64, u64),
    pause: Span,
}

impl Retry {
    pub(super) fn new(limit: Span, clock: Clock) -> Self {
        Self { limit, clock, reached: false, progressed: clock.now(), most: (0, 0), pause: FIRST_PAUSE }
    }

    /// Returns true for the first attempt, or if the receiver was never reached.
    pub(super) const fn is_first(&self) -> bool {
        !self.reached
    }

    /// Records that the receiver has let this sender in.
    pub(super) const fn reached(&mut self) {
        self.reached = true;
    }

    /// Records the progress of an attempt that has ended. Only data that the receiver has beyond all earlier attempts
    /// is progress; data that is sent again is not. A claim of more than the `offered` entries and bytes does not
    /// count, because such claims could go on for ever.
    pub(super) fn got(&mut self, progress: &Progress, offered: (u64, u64)) {
        let (entries, bytes) = (progress.entries.min(offered.0), progress.bytes.min(offered.1));
        let most = (self.most.0.max(entries), self.most.1.max(bytes));
        if most != self.most {
            (self.most, self.progressed, self.pause) = (most, self.clock.now(), FIRST_PAUSE);
        }
    }

    /// Returns the time to wait before the next attempt after `error`; `None` if no attempt follows.
    pub(super) fn pause(&mut self, error: &TransferError) -> Option<Span> {
        let left = (self.progressed + self.limit).since(self.clock.now());
        if !self.reached || !passes(error) || left == Span::ZERO {
            return None;
        }
        let pause = self.pause.min(left);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Some(pause)
    }
}

/// Returns true if another attempt may succeed a little later.
fn passes(error: &TransferError) -> bool {
    match error {
        TransferError::PeerGone { .. } | TransferError::Tls { .. } | TransferError::Unreachable { .. } => {
            true
        }
        // The receiver may not have noticed yet that the earlier connection broke.
        TransferError::Refused(reason) => reason == ANOTHER_SENDER,
        _ => false,
    }
}

/// Describes an error for a line.
pub(super) fn why(error: &TransferError) -> String {
    match error {
        TransferError::PeerGone { reason } => format!("the connection broke ({})", Foreign::new(reason)),
        TransferError::Tls { source, .. } => format!("the connection broke ({source})"),
        TransferError::Unreachable { tried } => format!("the receiver cannot be reached at {tried}"),
        TransferError::Refused(reason) => format!("the receiver refuses: {:#}", Foreign::new(reason)),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "../../tests/within/retry.rs"]
mod tests;
