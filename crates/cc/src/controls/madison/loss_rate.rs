//! The loss rate that sets the target backlog `[madison:4.3]`.

use super::parameters::Losses;

/// Packets without a loss, in units of 1/p, after which the path counts as better than `p` `[madison:4.3]`.
const CLEAN: f64 = 10.0;

/// Loss events per packet, as a Madison flow estimates them.
#[derive(Clone, Debug)]
pub(super) struct LossRate {
    counts: Losses,
    /// `p`.
    value: f64,
    least: f64,
    /// Packets sent since the last loss (`q`).
    sent: f64,
    /// Losses since the last recomputation.
    lost: f64,
}

impl LossRate {
    /// Creates a rate that begins at `initial` and is never below `least`.
    pub(super) fn new(initial: f64, least: f64, counts: Losses) -> Self {
        Self { counts, value: initial, least, sent: 0.0, lost: 0.0 }
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Counts packets that have arrived.
    pub(super) fn on_delivered(&mut self, packets: f64) {
        self.sent = (self.sent + packets).min(1e18);
    }

    /// Counts a lost packet.
    pub(super) fn on_lost(&mut self) {
        self.sent += 1.0;
        if self.counts == Losses::Packets {
            self.lost += 1.0;
        }
    }

    /// Counts the losses of one round trip.
    pub(super) fn on_event(&mut self) {
        if self.counts == Losses::Events {
            self.lost += 1.0;
        }
    }

    /// Counts the marks of one round trip.
    pub(super) fn on_mark(&mut self) {
        self.lost += 1.0;
    }

    /// Recomputes the rate at a probe's acknowledgement; returns true if it has changed.
    pub(super) fn recompute(&mut self) -> bool {
        let before = self.value;
        if self.lost > 0.0 {
            // The old rate counts as one loss in 1/p packets; the new packets and losses are added.
            self.value = (self.lost + 1.0) / (self.sent + 1.0 / self.value);
            (self.lost, self.sent) = (0.0, 0.0);
        } else if self.sent > CLEAN / self.value {
            self.value = 1.0 / self.sent;
        }
        self.value = self.value.clamp(self.least, 1.0);
        self.value != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rate: &mut LossRate, packets: f64, lost: u32) -> f64 {
        rate.on_delivered(packets);
        for _ in 0..lost {
            rate.on_lost();
        }
        rate.recompute();
        rate.value()
    }

    #[test]
    fn a_loss_after_as_many_packets_as_expected_changes_nothing() {
        let mut rate = LossRate::new(1e-4, 2.55e-5, Losses::Packets);
        assert!((after(&mut rate, 9_999.0, 1) - 1e-4).abs() < 1e-12);
        // A sooner loss raises the rate, a later one lowers it.
        assert!((after(&mut rate, 2_499.0, 1) - 2.0 / 12_500.0).abs() < 1e-12);
        assert!(after(&mut rate, 50_000.0, 1) < 1e-4);
    }

    #[test]
    fn ten_times_as_many_packets_without_loss_say_that_the_path_is_better() {
        let mut rate = LossRate::new(1e-3, 2.55e-5, Losses::Packets);
        assert!((after(&mut rate, 10_000.0, 0) - 1e-3).abs() < 1e-12);
        assert!((after(&mut rate, 1.0, 0) - 1.0 / 10_001.0).abs() < 1e-12);
        assert!((after(&mut rate, 1e9, 0) - 2.55e-5).abs() < 1e-12);
        assert!(!rate.recompute(), "the least rate is not news again");
    }

    #[test]
    fn losses_of_one_round_trip_are_three_packets_or_one_event() {
        let seen = |counts| {
            let mut rate = LossRate::new(1e-4, 1e-6, counts);
            rate.on_delivered(9_997.0);
            (0..3).for_each(|_| rate.on_lost());
            rate.on_event();
            rate.recompute();
            rate.value()
        };
        assert!((seen(Losses::Packets) - 4.0 / 20_000.0).abs() < 1e-12);
        assert!((seen(Losses::Events) - 2.0 / 20_000.0).abs() < 1e-12);
    }
}
