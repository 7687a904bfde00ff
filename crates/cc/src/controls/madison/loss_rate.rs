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
