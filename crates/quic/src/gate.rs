//! [`Gate`]: the time at which the next packet may leave.
//!
//! Before each packet the owner asks whether the window has room, whether the next departure has come, and whether the
//! controller holds everything back. The next departure follows from the controller's own gaps, or else from its rate.
//! Within a rate a [quantum](cc::send_quantum) may leave together. The plan is kept and not the deeds: a departure that
//! was late does not delay the following ones. But time in which the window or the data were the limit gives no credit,
//! because saved credit becomes a burst. With 20 ms of it, BBR v1 on 100 Mbit/s and 40 ms keeps 19 ms of queue, and 2 ms
//! without.

use crate::lateness::LatenessCounts;
use crate::ledger::Ledger;
use cc::send_quantum;
use units::{Bytes, Rate, Span, Time};

/// The most time by which departures may lag behind their plan and still catch up.
const CATCH_UP: Span = Span::from_millis(1);

/// The state of the gate before a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A packet of data may leave.
    Open,
    /// The window has no room.
    Full,
    /// The time has not come.
    Early,
}

/// The plan of departures.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The time from which a whole quantum may leave.
    free_at: Time,
    /// The time between packets at the controller's rate, set last.
    gap: Span,
    rate: Option<Rate>,
    /// The part of `gap` by which a packet may leave before `free_at`.
    early: Span,
    /// The cap that a sizer asks for.
    cap: Option<Rate>,
    /// True while the controller holds everything back.
    held: bool,
    /// The departure of the next packet as the controller gets it, once that is known. The second packet of a pair has
    /// that of the first.
    departure: Option<Time>,
    /// True if the next packet is the second of a pair.
    is_second: bool,
    /// True if the window or the data have been the limit since the plan was last consulted.
    limited: bool,
    /// True if the plan is what the next packet waits for.
    timed: bool,
    lateness: LatenessCounts,
}

impl Gate {
    /// Makes a gate that is open, and limits the pace to `cap`.
    pub(crate) fn new(cap: Option<Rate>) -> Self {
        Self {
            free_at: Time::ZERO,
            gap: Span::ZERO,
            rate: None,
            early: Span::ZERO,
            cap,
            held: false,
            departure: None,
            is_second: false,
            limited: true,
            timed: false,
            lateness: LatenessCounts::default(),
        }
    }

    /// Limits the pace to `cap` from now on.
    pub(crate) fn set_cap(&mut self, cap: Option<Rate>) {
        self.cap = cap.filter(|cap| *cap > Rate::ZERO);
        self.rate = None;
    }

    pub(crate) const fn lateness(&self) -> &LatenessCounts {
        &self.lateness
    }

    pub(crate) fn begin_measuring(&mut self) {
        self.lateness = LatenessCounts::default();
    }

    /// Returns true if the controller holds everything back.
    pub(crate) fn is_held(&self, ledger: &Ledger) -> bool {
        self.held && self.pace(ledger).is_none()
    }

    /// Returns the rate at which packets leave; `None` if they leave as acknowledgements come.
    fn pace(&self, ledger: &Ledger) -> Option<Rate> {
        let asked = ledger.control().allowance().pacing;
        asked.into_iter().chain(self.cap).min()
    }

    /// Follows the controller's rate. Packets of `packet` bytes wait.
    fn follow(&mut self, now: Time, ledger: &Ledger, packet: u64) {
        let pace = self.pace(ledger);
        if pace == self.rate && !self.held {
            return;
        }
        if self.held {
            // The controller held everything back; it goes on when it has a rate.
            if pace.is_none() {
                return;
            }
            (self.held, self.free_at, self.limited) = (false, Time::ZERO, true);
        }
        let gap =
            pace.map_or(Span::ZERO, |pace| pace.max(Rate::from_bps(1)).serialization(Bytes::new(packet)));
        // A packet that waits by a slower rate leaves earlier at the new one, and is not late by that.
        let free_at = (self.free_at - self.gap.saturating_sub(gap)).max(now.min(self.free_at));
        let single = ledger.places_departures() || self.cap.is_some();
        let quantum = pace.filter(|_| !single).map_or(1, send_quantum);
        (self.rate, self.gap, self.free_at, self.early) = (pace, gap, free_at, gap * (quantum - 1));
    }

    /// Returns true if the window has room for a packet of `packet` bytes.
    pub(crate) fn has_room(ledger: &Ledger, packet: u64) -> bool {
        ledger.in_flight() + packet <= ledger.control().allowance().window.get()
    }

    /// Returns the state at `now` for a packet of `packet` bytes.
    pub(crate) fn look(&mut self, now: Time, ledger: &mut Ledger, packet: u64) -> Opening {
        self.follow(now, ledger, packet);
        if !Self::has_room(ledger, packet) {
            ledger.on_window_full();
            self.on_dry();
            return Opening::Full;
        }
        if self.held {
            return Opening::Early;
        }
        if self.departure.is_none() {
            if std::mem::take(&mut self.limited) {
                self.timed = self.free_at > now;
                self.free_at = self.free_at.max(now);
            }
            if now < self.free_at - self.early {
                return Opening::Early;
            }
        }
        if ledger.places_departures() {
            // The controller gets the planned time, so that one late departure does not delay all that follow.
            let planned =
                if self.timed { self.free_at.max(now - CATCH_UP.min(now.since(Time::ZERO))) } else { now };
            ledger.departs(*self.departure.get_or_insert(planned));
        }
        Opening::Open
    }

    /// Records that the window, the data or the receiver's credit were the limit.
    pub(crate) fn on_dry(&mut self) {
        self.limited = true;
        self.departure = self.departure.filter(|_| self.is_second);
    }

    /// Records that a packet of data leaves at `now`.
    pub(crate) fn on_sent(&mut self, now: Time, ledger: &mut Ledger) {
        let is_second = std::mem::take(&mut self.is_second);
        let timed = self.timed && !is_second;
        if timed && now >= self.free_at {
            self.lateness.note(now.since(self.free_at));
        }
        let slack = if self.timed { CATCH_UP } else { Span::ZERO };
        let departed = self.departure.take();
        let placed = departed.and_then(|departed| {
            let gap = ledger.control_mut().gap_after(departed)?;
            Some((departed, gap))
        });
        let least = self.cap.map_or(Span::ZERO, |_| self.gap);
        match placed {
            Some((_, Span::MAX)) => self.held = true,
            Some((departed, Span::ZERO)) => (self.departure, self.is_second) = (Some(departed), true),
            Some((departed, gap)) => self.free_at = departed + gap.max(least),
            None if self.rate.is_some() => {
                self.free_at = self.free_at.max(now - slack.min(now.since(Time::ZERO))) + self.gap;
            }
            None => self.free_at = Time::ZERO,
        }
        self.timed = self.rate.is_some() || placed.is_some();
    }

    /// Returns the time of the next departure; never while the controller holds everything back.
    pub(crate) const fn next(&self) -> Time {
        if self.held { Time::NEVER } else { self.free_at }
    }
}
