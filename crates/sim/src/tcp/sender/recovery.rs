//! Loss recovery: the choice of segments to send again, the beginning and end of episodes, and timeouts.

use super::{Episode, Features, Full, Sender, Transmission};
use crate::tcp::receiver::Acknowledgement;
use cc::{Congestion, CongestionKind};
use units::{Bytes, Time};

impl Sender {
    /// Chooses the next segment by RFC 6675's NextSeg: lost segments first, then new ones, then holes not known to be
    /// lost, then, once, the last one.
    #[inline]
    pub(super) fn transmit_in_episode<F: Features>(&mut self) -> Option<Transmission> {
        if !self.has_room_in_episode::<F>() && !self.owed {
            self.limited_below = self.board.next();
            return None;
        }
        // Usually all lost segments have been sent again.
        if self.sack && !self.board.may_resend_lost() && self.may_send_new() {
            return Some(Transmission { segment: self.board.send_next(), again: false });
        }
        self.transmit_repair()
    }

    fn transmit_repair(&mut self) -> Option<Transmission> {
        let again = |segment| Transmission { segment, again: true };
        let hole = match self.episode {
            Episode::FastRecovery { .. } if !self.sack => self.board.first().filter(|_| self.owed),
            _ => self.board.resend_lost(),
        };
        if let Some(segment) = hole {
            return Some(again(segment));
        }
        if self.may_send_new() {
            return Some(Transmission { segment: self.board.send_next(), again: false });
        }
        let Episode::FastRecovery { until, once } = self.episode else { return None };
        // Without selective acknowledgements no other hole is known. With detection by time, a hole not known to be
        // lost may still arrive.
        if !self.sack || self.is_timed() {
            return None;
        }
        if let Some(segment) = self.board.resend_hole() {
            return Some(again(segment));
        }
        if once {
            return None;
        }
        self.episode = Episode::FastRecovery { until, once: true };
        self.board.rescue().map(again)
    }

    /// Counts `ack` if it is a duplicate in RFC 5681's sense: data are outstanding, and it does not move the left edge.
    /// Returns true if it counts. Duplicates after a timeout do not: they report segments sent again needlessly. Nor do
    /// those after Reno's fast recovery, which report segments sent in it.
    pub(super) fn count_duplicate(&mut self, ack: &Acknowledgement) -> bool {
        let moves_nothing = ack.cumulative == self.board.una() && self.board.outstanding() > 0;
        let says_nothing = matches!(self.episode, Episode::Timeout { .. } | Episode::Barred { .. });
        moves_nothing && !says_nothing && self.board.duplicate()
    }

    /// Ends the episode that this acknowledgement completes, and begins the one it reveals.
    #[inline]
    pub(super) fn follow_episode(&mut self, now: Time, newly: u64) {
        let una = self.board.una();
        // RFC 6582, section 3.2, steps 2 and 4: duplicates are not a sign of loss until a segment beyond `until` is
        // acknowledged.
        let beyond = u64::from(!self.sack);
        match self.episode {
            Episode::FastRecovery { until, .. } if una >= until => self.end_fast_recovery(until),
            Episode::Timeout { until } | Episode::Barred { until } if una >= until + beyond => {
                self.end_episode();
            }
            // RFC 2581: any acknowledgement of new data ends fast recovery.
            Episode::FastRecovery { until, .. } if self.reno && newly > 0 => {
                self.end_episode();
                self.episode = Episode::Barred { until };
            }
            // RFC 6582, step 3: a partial acknowledgement shows the next hole, which is sent again at once.
            Episode::FastRecovery { until, .. } if !self.sack && newly > 0 => {
                self.episode = Episode::FastRecovery { until, once: true };
                self.owed = true;
                self.report_first_lost();
            }
            Episode::FastRecovery { .. } => {}
            Episode::None | Episode::Timeout { .. } | Episode::Barred { .. } => {}
        }
        if self.episode == Episode::None && self.board.first_is_lost() {
            self.begin_fast_recovery(now);
        }
        if self.options.is_some() {
            self.reduce();
        }
    }

    pub(super) fn end_episode(&mut self) {
        self.episode = Episode::None;
        self.board.end_recovery();
        self.note_recovered();
    }

    /// Ends fast recovery, because everything sent before it is acknowledged. RFC 6582 (section 3.2, step 3) then
    /// allows two windows: ssthresh, or min(ssthresh, max(FlightSize, SMSS) + SMSS). Here the window is ssthresh, as in
    /// ns-2.
    fn end_fast_recovery(&mut self, until: u64) {
        self.end_episode();
        if !self.sack && self.board.una() == until {
            self.episode = Episode::Barred { until };
        }
    }

    /// Returns true if an acknowledgement in fast recovery does not reset the timer: only the first partial one does
    /// (RFC 6582, section 3.2, step 3).
    #[inline]
    pub(super) fn is_impatient(&self) -> bool {
        !self.sack
            && matches!(self.episode, Episode::FastRecovery { until, once: true } if self.board.una() < until)
    }

    fn begin_fast_recovery(&mut self, now: Time) {
        self.board.begin_recovery();
        self.episode = Episode::FastRecovery { until: self.board.next(), once: false };
        self.owed = true;
        let outstanding = self.board.outstanding();
        self.congestion(now, CongestionKind::Loss, outstanding);
        self.begin_reduction(outstanding);
        if !self.sack {
            self.report_first_lost();
        }
    }

    /// Returns the number of segments known to be lost. Without selective acknowledgements the scoreboard does not
    /// count the hole that fast recovery is repairing.
    fn known_lost(&self) -> u64 {
        let unnamed = !self.sack && matches!(self.episode, Episode::FastRecovery { .. });
        self.board.lost() + u64::from(unnamed)
    }

    /// Reports congestion to the controller, with `outstanding` segments outstanding just before.
    pub(super) fn congestion(&mut self, now: Time, kind: CongestionKind, outstanding: u64) {
        // RFC 5681, section 3.2: segments that limited transmit added beyond the window do not count.
        let in_flight = (outstanding * self.payload).min(self.window);
        self.control.on_congestion(&Congestion {
            now,
            kind,
            lost: Bytes::new(self.known_lost() * self.payload),
            in_flight: Bytes::new(in_flight),
        });
        self.note_reduced(now);
        self.super_packet = 0;
        self.adopt::<Full>();
    }

    /// Handles a timer of the sender that expired.
    #[cold]
    pub(crate) fn on_timer(&mut self, now: Time) {
        if !self.on_option_timer(now) {
            self.on_timeout(now);
        }
        self.note_option_timer();
    }

    /// Handles the expired retransmission timer: RFC 6298 (5.4)-(5.7), RFC 6675 section 5.1.
    fn on_timeout(&mut self, now: Time) {
        let una = self.board.una();
        let kind =
            if self.timed_out == una { CongestionKind::PersistentLoss } else { CongestionKind::Timeout };
        self.timed_out = una;
        self.timeouts += 1;
        self.congestion(now, kind, self.board.outstanding());
        if self.is_timed() {
            self.lose_timed_out(now);
        } else {
            self.board.lose_everything();
        }
        // Without selective acknowledgements nothing is reported here. The next acknowledgement reports the losses,
        // except for the segments it covers: duplicates have shown how many of those arrived.
        if self.sack && self.pacing.deliveries {
            self.report_losses();
            self.adopt::<Full>();
        }
        if let Some(options) = self.options.as_deref_mut() {
            options.doubt_timeout(self.episode);
        }
        self.timed = None;
        (self.round, self.round_ends) = (self.round + 1, self.board.next());
        self.episode = Episode::Timeout { until: self.board.next() };
        self.owed = true;
        self.rtt.back_off();
        self.timer = now + self.rtt.timeout();
    }
}
