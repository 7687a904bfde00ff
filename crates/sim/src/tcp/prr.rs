//! Proportional rate reduction: the amount that fast recovery may send for the data delivered [rfc9937:6].
//!
//! Above the new threshold PRR sends in proportion. By the end of the episode the network then holds as much as the
//! threshold allows. It neither pauses at first nor sends a burst afterwards. The network holds less than the threshold
//! if losses or an idle application took more than the reduction asks for. Then the conservative reduction bound (CRB)
//! sends one segment for each that was delivered. An acknowledgement that moves the left edge and reveals no loss adds
//! one segment (the slow-start reduction bound, SSRB). Linux does the same (`tcp_cwnd_reduction()` of 6.18).

/// One episode, in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// The segments that may be in the network once the reduction is done (`ssthresh`).
    threshold: u64,
    /// The segments outstanding as the episode began (`RecoverFS`).
    flight: u64,
    /// The segments delivered since then, and the segments sent.
    delivered: u64,
    out: u64,
    /// The segments that may be sent now (`sndcnt`).
    room: u64,
}

impl Prr {
    /// Begins an episode with `flight` segments outstanding, which it reduces to `threshold`.
    pub(super) fn begin(&mut self, flight: u64, threshold: u64) {
        *self = Self { threshold: threshold.max(1), flight: flight.max(1), ..Self::default() };
    }

    /// Takes an acknowledgement which reports that `delivered` more segments have arrived, with `pipe` believed to be
    /// in the network. It is `safe` if it moves the left edge and reveals no loss (`SafeACK`).
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) {
        self.delivered += delivered;
        self.room = if pipe > self.threshold {
            (self.delivered * self.threshold).div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(safe);
            bound.min(self.threshold - pipe)
        };
    }

    /// Returns the number of segments that may leave.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Returns true if a segment may leave.
    pub(super) fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Counts a segment that left, again or for the first time.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.room = self.room.saturating_sub(1);
    }
}
