//! Recovery from losses and from timeouts, and the rate of a path that looks policed, which losses reveal.

use super::Bbr1;
use super::long_term::Change;
use super::state::State;
use crate::{Ack, Congestion, CongestionKind, RateSample};
use units::{Bytes, Span, Time};

/// A recovery from losses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recovery {
    /// Fast recovery, whose first round is over with the round of this number.
    Fast { conserves_until: u64 },
    /// Recovery from a timeout, which is over when this much more is acknowledged.
    Timeout { left: Bytes },
}

impl Bbr1 {
    /// Follows a recovery. Returns true in its first round, in which the window conserves what is in flight.
    pub(super) fn recover(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        let mut conserves = false;
        if let Some(recovery) = self.recovering {
            self.recovering = match recovery {
                Recovery::Fast { conserves_until } if ack.recovering => {
                    self.window.lose(sample.newly_lost);
                    conserves = self.rounds.count < conserves_until;
                    Some(recovery)
                }
                Recovery::Timeout { left } if left > ack.acked => {
                    self.window.lose(sample.newly_lost);
                    Some(Recovery::Timeout { left: left - ack.acked })
                }
                Recovery::Fast { .. } | Recovery::Timeout { .. } => {
                    self.window.restore();
                    None
                }
            };
        }
        conserves
    }

    /// Takes an expiry of the retransmission timer.
    pub(super) fn time_out(&mut self, event: &Congestion) {
        // Linux remembers the window before the first of several timeouts (`tcp_enter_loss`).
        if !self.linux || event.kind == CongestionKind::Timeout {
            self.window.save(self.recovering.is_some() || self.state.probes_rtt());
        }
        // Everything is lost; the window grows back with the data that arrive.
        self.recovering = None;
        self.window.collapse();
        if self.linux {
            self.recovering = Some(Recovery::Timeout { left: event.in_flight });
            self.full.reset();
            let probes = matches!(self.state, State::ProbeBandwidth(_));
            let lost = event.in_flight.saturating_sub(event.lost);
            let change = self.long_term.on_timeout(lost, probes);
            self.change_rate(change, event.now);
        }
    }

    /// Takes back what losses did to the model (`bbr_undo_cwnd`).
    pub(super) fn undo(&mut self) {
        self.full.reset();
        self.long_term.reset();
        self.enter(self.state);
    }

    /// Takes an acknowledgement for the rate of a path that looks policed.
    pub(super) fn observe_long_term(&mut self, ack: &Ack, sample: &RateSample) {
        self.long_term.count(ack.now, sample);
        if sample.interval == Span::ZERO {
            return;
        }
        let limited = self.rounds.is_limited(sample);
        let probes = matches!(self.state, State::ProbeBandwidth(_));
        let change =
            self.long_term.observe(sample.newly_lost > Bytes::ZERO, limited, self.rounds.started, probes);
        self.change_rate(change, ack.now);
    }

    fn change_rate(&mut self, change: Change, now: Time) {
        match change {
            Change::None => {}
            Change::Begins => self.enter(self.state),
            Change::Ends => self.probe_bandwidth(now),
        }
    }
}
