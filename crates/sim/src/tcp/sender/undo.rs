//! The undoing of needless timeouts: the retransmission timer expired, but the data were only late, as behind a link
//! that stood still. Linux's rules (`tcp_process_loss()` of 6.18).
//!
//! An acknowledgement shows the mistake in one of two ways. By Eifel (RFC 3522) it moves the left edge and echoes a
//! time stamp from before the first retransmission. By F-RTO (RFC 5682, section 3.1, step 3.b) it reports a segment
//! that was not sent again; this needs the times at which segments left, which RACK keeps. Then nothing counts as lost,
//! and the controller returns to its window (RFC 4015).
//!
//! Two parts of Linux are left out. F-RTO's step 2.b sends new data in place of retransmissions to provoke such a
//! report; time stamps mostly decide before it. Nor is fast recovery undone: it is needless only where packets change
//! their order.

use super::options::Options;
use super::{Episode, Full, Sender};
use crate::tcp::Acknowledgement;
use units::Time;

/// The facts by which a timeout shows itself as needless.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeoutDoubt {
    /// The time of the first retransmission after the timer expired; [`Time::NEVER`] before it.
    first_again: Time,
    /// True if the acknowledgement at hand reports the arrival of a segment that was not sent again.
    original: bool,
}

impl TimeoutDoubt {
    /// Records that a segment was sent again.
    pub(super) fn on_sent_again(&mut self, now: Time) {
        self.first_again = self.first_again.min(now);
    }
}

impl Options {
    /// Records that the retransmission timer expired in `episode`. In fast recovery the window that should return is
    /// not the controller's last one, so Linux does not ask F-RTO there. Such a timeout is not doubted here.
    pub(super) fn doubt_timeout(&mut self, episode: Episode) {
        match episode {
            Episode::None if self.undoes => {
                let doubt = TimeoutDoubt { first_again: Time::NEVER, original: false };
                self.doubt = Some(Box::new(doubt));
            }
            Episode::Timeout { .. } => {}
            _ => self.doubt = None,
        }
    }

    /// Returns the time before which a segment must have left to count as original; zero without a doubtful timeout.
    pub(super) fn first_again(&self) -> Time {
        self.doubt.as_ref().map_or(Time::ZERO, |doubt| doubt.first_again)
    }

    /// Records whether the acknowledgement at hand reports an original segment.
    pub(super) fn note_original(&mut self, original: bool) {
        if let Some(doubt) = &mut self.doubt {
            doubt.original = original;
        }
    }
}

impl Sender {
    /// Takes back the last timeout if `ack`, which acknowledges `newly` segments, shows that it was needless.
    #[cold]
    pub(super) fn undo_timeout(&mut self, ack: &Acknowledgement, newly: u64) {
        let Some(options) = self.options.as_deref_mut() else { return };
        let Some(doubt) = options.doubt.as_deref() else { return };
        let is_late = self.timestamps && newly > 0 && ack.echo < doubt.first_again;
        if !is_late && !doubt.original {
            return;
        }
        self.board.forgive();
        self.end_episode();
        (self.owed, self.timed_out) = (false, u64::MAX);
        self.super_packet = 0;
        self.control.on_spurious();
        self.adopt::<Full>();
    }
}
