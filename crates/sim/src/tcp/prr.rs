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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the segments sent on each acknowledgement of one segment, and the pipe. Fast retransmit always sends the
    /// first.
    fn sent(prr: &mut Prr, acks: usize, mut pipe: u64, safe: bool) -> (Vec<u64>, u64) {
        let mut log = Vec::new();
        for ack in 0..acks {
            pipe -= 1;
            prr.on_ack(1, pipe, safe);
            let mut count = 0;
            while prr.has_room() || (ack == 0 && count == 0) {
                prr.on_sent();
                (count, pipe) = (count + 1, pipe + 1);
            }
            log.push(count);
        }
        (log, pipe)
    }

    /// RFC 6937, section 4, first example: one segment of twenty is lost. Limited transmit sent two, and the lost one
    /// has left the network, so that 20 are in flight as the third duplicate comes.
    #[test]
    fn one_loss_sends_on_every_second_acknowledgement_and_ends_at_the_threshold() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        let (log, pipe) = sent(&mut prr, 18, 19, false);
        assert_eq!(log[..8], [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(pipe, 10);
    }

    /// The second example: fifteen of twenty are lost at once, so the network holds less than the threshold. RFC 6675
    /// would send the whole difference at once. CRB sends one for each that arrives, and SSRB two.
    #[test]
    fn many_losses_are_mended_by_one_segment_per_acknowledgement_and_by_two_once_it_is_safe() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        let (log, pipe) = sent(&mut prr, 6, 5, false);
        assert_eq!((log, pipe), (vec![1; 6], 5));
        let (log, pipe) = sent(&mut prr, 6, 5, true);
        assert_eq!(log, [2, 2, 2, 2, 2, 1]);
        assert_eq!(pipe, 10);
    }

    #[test]
    fn the_network_is_never_filled_beyond_the_threshold_from_below() {
        let mut prr = Prr::default();
        prr.begin(40, 20);
        prr.on_ack(30, 3, true);
        // 30 delivered at once allow 31, but 17 fill the network.
        let mut count = 0;
        while prr.has_room() {
            prr.on_sent();
            count += 1;
        }
        assert_eq!(count, 17);
    }
}
