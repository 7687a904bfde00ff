//! Proportional rate reduction: the amount that fast recovery may send for the data delivered [rfc9937:6].
//!
//! While the network holds more than the new threshold, PRR sends in proportion to the data delivered. So it neither
//! pauses at first nor sends a burst at the end, when the network holds as much as the threshold allows. The network
//! may hold less, because many segments were lost or the application was idle. Then the conservative reduction bound
//! (CRB) sends one segment for each that was delivered. An acknowledgement that moves the left edge and reveals no loss
//! adds one segment (the slow-start reduction bound, SSRB). Linux does the same (`tcp_cwnd_reduction()` of 6.18).

/// One episode, in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// The segments that may be in the network once the reduction is done (`ssthresh`).
    threshold: u64,
    /// The segments outstanding as the episode began (`RecoverFS`).
    flight: u64,
    /// The segments delivered since the episode began.
    delivered: u64,
    /// The segments sent since the episode began.
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
