//! [`Retry`]: a connection that broke is made again, as long as there is progress now and then.

use crate::error::TransferError;
use crate::history::History;
use crate::wire::ANOTHER_SENDER;
use crate::wire::control::Progress;
use host::Clock;
use units::{Foreign, Span, Time};

/// Before the first new attempt; twice as long before each further one.
const FIRST_PAUSE: Span = Span::from_millis(500);
/// Between two attempts at most.
const LONGEST_PAUSE: Span = Span::from_secs(30);

/// What earlier attempts of a transfer leave to the next one.
#[derive(Clone, Debug)]
pub(super) struct Earlier {
    /// When the first one began.
    pub(super) began: Time,
    /// Bytes of files handed to the network.
    pub(super) sent: u64,
    /// Data connections that it came to.
    pub(super) streams: u16,
    pub(super) history: History,
    /// Lines of the receiver's about lost entries.
    pub(super) lines: u64,
}

impl Earlier {
    /// Nothing, before the first attempt.
    pub(super) fn new(began: Time) -> Self {
        Self { began, sent: 0, streams: 0, history: History::default(), lines: 0 }
    }
}

/// Whether and when it is tried again.
#[derive(Debug)]
pub(super) struct Retry {
    /// For so long without progress; zero: not at all.
    limit: Span,
    clock: Clock,
    /// The receiver has let this sender in once.
    reached: bool,
    progressed: Time,
    /// The most entries and bytes that the receiver has told of.
    most: (u64, u64),
    pause: Span,
}

impl Retry {
    pub(super) fn new(limit: Span, clock: Clock) -> Self {
        Self { limit, clock, reached: false, progressed: clock.now(), most: (0, 0), pause: FIRST_PAUSE }
    }

    /// Whether this is the first attempt, or the receiver was never reached.
    pub(super) const fn is_first(&self) -> bool {
        !self.reached
    }

    /// The receiver has let this sender in.
    pub(super) const fn reached(&mut self) {
        self.reached = true;
    }

    /// How far an attempt that has ended got. What is sent again and again is no progress: only what the receiver has
    /// more than ever before. And no more than the `offered` entries and bytes: a receiver that claims more would be
    /// tried for ever.
    pub(super) fn got(&mut self, progress: &Progress, offered: (u64, u64)) {
        let (entries, bytes) = (progress.entries.min(offered.0), progress.bytes.min(offered.1));
        let most = (self.most.0.max(entries), self.most.1.max(bytes));
        if most != self.most {
            (self.most, self.progressed, self.pause) = (most, self.clock.now(), FIRST_PAUSE);
        }
    }

    /// How long to wait before the next attempt after `error`; `None`: there is none.
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

/// Whether the same may go well a little later.
fn passes(error: &TransferError) -> bool {
    match error {
        TransferError::PeerGone { .. } | TransferError::Tls { .. } | TransferError::Unreachable { .. } => {
            true
        }
        // The receiver has not noticed yet that the earlier connection broke.
        TransferError::Refused(reason) => reason == ANOTHER_SENDER,
        _ => false,
    }
}

/// In words for a line.
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
mod tests {
    use super::*;

    fn gone() -> TransferError {
        TransferError::gone("cut")
    }

    fn reached(limit: Span) -> Retry {
        let mut retry = Retry::new(limit, Clock::start());
        retry.reached();
        retry
    }

    #[test]
    fn pauses_grow_until_there_is_progress() {
        let mut retry = reached(Span::from_secs(3600));
        let pauses: Vec<Span> = (0..9).map(|_| retry.pause(&gone()).unwrap()).collect();
        let expected = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
        assert_eq!(pauses, expected.map(Span::from_millis));
        retry.got(&Progress { bytes: 1, ..Progress::default() }, (1, 1));
        assert_eq!(retry.pause(&gone()), Some(FIRST_PAUSE));
        retry.got(&Progress { bytes: 1, ..Progress::default() }, (1, 1));
        assert_ne!(retry.pause(&gone()), Some(FIRST_PAUSE), "the same again is no progress");
        retry.got(&Progress { bytes: 9, entries: 9, ..Progress::default() }, (0, 1));
        assert_ne!(retry.pause(&gone()), Some(FIRST_PAUSE), "nor is more than there is");
    }

    #[test]
    fn what_cannot_pass_and_what_was_never_reached_is_not_tried_again() {
        let unreachable = TransferError::Unreachable { tried: "x".into() };
        let address = "192.0.2.7:1".parse().unwrap();
        let mut retry = Retry::new(Span::from_secs(60), Clock::start());
        assert_eq!(retry.pause(&unreachable), None);
        retry.reached();
        assert!(retry.pause(&unreachable).is_some());
        assert!(retry.pause(&TransferError::Refused(ANOTHER_SENDER.into())).is_some());
        for error in [
            TransferError::Refused("the ticket has expired".into()),
            TransferError::Aborted("no room".into()),
            TransferError::TicketRefused { address },
            TransferError::OtherReceiver { address },
            TransferError::Incomplete { failed: 1, all: 2, first: "x".into() },
        ] {
            assert_eq!(retry.pause(&error), None, "{error}");
        }
        assert_eq!(reached(Span::ZERO).pause(&gone()), None);
    }
}
