//! Proportional rate reduction: how much fast recovery may send for what has been delivered [rfc9937:6].
//!
//! Above the new threshold PRR sends in proportion. By the end of the episode the network then holds as much as the
//! threshold says. There is no pause at first and no burst afterwards. Below the threshold losses or an idle
//! application took more than the reduction asks for. There the conservative reduction bound (CRB) sends one segment
//! for each that was delivered. An acknowledgement that moves the left edge and reveals no loss adds one segment (the
//! slow-start reduction bound, SSRB). Linux does the same (`tcp_cwnd_reduction()` of 6.18).

/// One episode, in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// What may be in the network once the reduction is done (`ssthresh`).
    threshold: u64,
    /// Outstanding as the episode began (`RecoverFS`).
    flight: u64,
    /// Since then: delivered, and sent.
    delivered: u64,
    out: u64,
    /// What may be sent now (`sndcnt`).
    room: u64,
}

impl Prr {
    /// An episode begins with `flight` segments outstanding, of which it is to leave `threshold`.
    pub(super) fn begin(&mut self, flight: u64, threshold: u64) {
        *self = Self { threshold: threshold.max(1), flight: flight.max(1), ..Self::default() };
    }

    /// Takes an acknowledgement that says that `delivered` more segments have arrived, with `pipe` believed to be in
    /// the network. It is `safe` if it moves the left edge and reveals no loss (`SafeACK`).
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) {
        self.delivered += delivered;
        self.room = if pipe > self.threshold {
            (self.delivered * self.threshold).div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(safe);
            bound.min(self.threshold - pipe)
        };
    }

    /// How many segments may leave.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Whether a segment may leave.
    pub(super) fn has_room(&self) -> bool {
        self.room > 0
    }

    /// A segment left, again or for the first time.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.room = self.room.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent on each acknowledgement of one segment: the first, fast retransmit, always.
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

    /// RFC 6937, section 4, first example: one segment of twenty is lost. Two were sent by limited transmit, and the
    /// lost one is no more in the network, so 20 are as the third duplicate comes.
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
        // 30 delivered at once allow 31, but 17 fill it.
        let mut count = 0;
        while prr.has_room() {
            prr.on_sent();
            count += 1;
        }
        assert_eq!(count, 17);
    }
}
