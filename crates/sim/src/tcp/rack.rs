//! RACK: a segment is lost if one sent later has been delivered and enough time has passed [rfc8985:6].
//!
//! The original transmissions leave in the order of their numbers, so those judged lost are all holes below an edge, as
//! with duplicate acknowledgements. Segments sent again are kept in a line of their own, in the order of sending, and
//! judged likewise. A lost retransmission is found a round trip later, while counting would wait for the timer.

use super::few::Few;
use super::scoreboard::Scoreboard;
use super::times::Times;
use units::{Span, Time};

/// The number of recoveries without a repeat after which a widened reordering window is narrow again [rfc8985:6.2].
const PERSIST: u32 = 16;

/// The state of loss detection by time.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// The times at which outstanding segments were last sent.
    times: Times,
    /// Retransmissions in the network, in the order in which they left.
    again: Few<(Time, u64)>,
    /// The delivered segment that was sent last: the time of its sending, and its number (`RACK.xmit_ts`,
    /// `RACK.end_seq`).
    newest: (Time, u64),
    /// The round-trip time of that segment (`RACK.rtt`).
    rtt: Span,
    /// The least round-trip time of any segment sent once; [`Span::MAX`] before there is one.
    min_rtt: Span,
    /// One past the highest segment delivered (`RACK.fack`).
    highest: u64,
    reordering: bool,
    /// The reordering window, in quarters of the least round-trip time.
    quarters: u64,
    persist: u32,
    /// The segment below which everything must be acknowledged before a repeat counts again. So one repeat per round
    /// counts.
    repeat_round: u64,
    /// The time at which the sender looks for losses next.
    pub(super) due: Time,
}

/// The retransmissions found lost by a call of [`Rack::detect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RackLosses {
    /// The time at which the newest of these retransmissions had left.
    pub(super) again: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            times: Times::new(8),
            again: Few::default(),
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            min_rtt: Span::MAX,
            highest: 0,
            reordering: false,
            quarters: 1,
            persist: 0,
            repeat_round: 0,
            due: Time::NEVER,
        }
    }
}

impl Rack {
    /// Begins to load the time of `segment` into the processor's cache.
    #[inline]
    pub(super) fn load_time(&self, segment: u64) {
        self.times.load_early(segment);
    }

    /// Records that `segment` leaves; everything below `una` is acknowledged.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, again: bool, una: u64) {
        self.times.reserve(una, segment);
        self.times.set(segment, now);
        if again {
            self.again.push((now, segment));
        }
    }

    /// Returns the time at which `segment` was last sent.
    pub(super) fn sent_at(&self, segment: u64) -> Time {
        self.times.get(segment)
    }

    /// Records that `segment` is newly acknowledged: steps 2 and 3 of [rfc8985:6.2]. `echo`: the echoed time stamp, if
    /// the segment is cumulatively acknowledged. In a selective report the echo belongs to an older segment. There only
    /// the least round-trip time shows whether the original or the retransmission arrived.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Time, segment: u64, again: bool, echo: Option<Time>) {
        if segment >= self.highest {
            self.highest = segment + 1;
        } else if !again {
            self.reordering = true;
        }
        let sent = self.times.get(segment);
        let took = now.since(sent);
        if !again {
            self.min_rtt = self.min_rtt.min(took);
        } else if echo.is_some_and(|echo| echo < sent) || (self.min_rtt < Span::MAX && took < self.min_rtt) {
            return;
        }
        if (sent, segment) >= self.newest {
            self.newest = (sent, segment);
            self.rtt = took;
        }
    }

    /// Widens the reordering window, because the receiver got a segment twice: a segment was sent again that was not
    /// lost.
    pub(super) fn on_repeat(&mut self, board: &Scoreboard) {
        if board.una() >= self.repeat_round {
            self.repeat_round = board.next();
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// Counts a recovery that ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Returns the reordering window of step 4: the extra time for which the sender waits for a segment sent before the
    /// newest. It is at most the `smoothed` round-trip time.
    pub(super) fn window(&self, board: &Scoreboard, recovering: bool, smoothed: Option<Span>) -> Span {
        if !self.reordering && (recovering || board.enough_sacked()) {
            return Span::ZERO;
        }
        let min_rtt = if self.min_rtt == Span::MAX { Span::ZERO } else { self.min_rtt };
        let window = min_rtt * self.quarters / 4;
        smoothed.map_or(window, |smoothed| window.min(smoothed))
    }

    /// Returns true if no outstanding segment was sent again, or left before the newest one that arrived: none can be
    /// lost by time.
    #[inline]
    pub(super) fn is_in_order(&self, board: &Scoreboard) -> bool {
        let first = board.una().max(board.loss_edge());
        self.again.is_empty()
            && board.is_whole()
            && (first >= board.next() || (self.times.get(first), first) >= self.newest)
    }

    /// Marks the lost segments on `board`: step 5. Sets `due` if more may turn out to be lost later.
    pub(super) fn detect(&mut self, now: Time, board: &mut Scoreboard, window: Span) -> RackLosses {
        let mut found = RackLosses { again: None };
        let mut latest = None;
        let patience = self.rtt + window;
        let mut from = board.loss_edge();
        while let Some(hole) = board.hole_from(from) {
            let sent = self.times.get(hole);
            from = hole + 1;
            if board.is_resent(hole) {
                continue;
            }
            if (sent, hole) >= self.newest {
                break;
            }
            if sent + patience > now {
                latest = Some(sent);
            } else {
                board.lose_below(hole + 1);
            }
        }
        let newest = self.newest;
        self.judge_again(
            board,
            |sent, segment| (sent, segment) < newest && sent + patience <= now,
            &mut found,
        );
        for again in self.again.iter() {
            if *again >= newest {
                break;
            }
            latest = latest.max(Some(again.0));
        }
        self.due = latest.map_or(Time::NEVER, |sent| sent + patience);
        found
    }

    /// Marks the first segment and all that left too long ago as lost, after the retransmission timer expired
    /// [rfc8985:6.3].
    pub(super) fn lose_timed_out(&mut self, now: Time, board: &mut Scoreboard, window: Span) {
        let patience = self.rtt + window;
        self.judge_again(board, |sent, _| sent + patience <= now, &mut RackLosses { again: None });
        board.lose_resent(board.una());
        let mut from = board.loss_edge();
        while let Some(hole) = board.hole_from(from) {
            from = hole + 1;
            if board.is_resent(hole) {
                continue;
            }
            if self.times.get(hole) + patience > now {
                break;
            }
            board.lose_below(hole + 1);
        }
        self.due = Time::NEVER;
    }

    /// Marks retransmissions on the board as lost, oldest first, as long as `is_lost` holds for their times and
    /// numbers.
    fn judge_again(
        &mut self,
        board: &mut Scoreboard,
        is_lost: impl Fn(Time, u64) -> bool,
        found: &mut RackLosses,
    ) {
        while let Some(&(sent, segment)) = self.again.first() {
            let current = board.is_resent(segment) && self.times.get(segment) == sent;
            if current && !is_lost(sent, segment) {
                break;
            }
            if current {
                board.lose_resent(segment);
                found.again = Some(sent);
            }
            self.again.pop();
        }
    }
}
