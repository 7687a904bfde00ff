//! The paper's rules for the time and the value of a new rate, with another utilization `[D]`. The queue's fluctuations
//! do not bias that utilization, and it holds also while the queue grows or drains.
//!
//! At the utilizations wanted here, 0.95 to 0.99, the length of an M/D/1 queue has nearly an exponential distribution,
//! whose deviation is as large as its mean `B`. The queue forgets its length only in some `8 B^2` service times: a
//! second at 100 Mbit/s where 30 packets wait. Six probes see one moment of that time. The average of `1 - U = 1/(2B +
//! 1)` over such moments is several times its value at the mean `B`. So flows that rely on six probes ask for more
//! capacity than there is. The same holds for `n_D`, which is computed from the same probes. Therefore the rules use
//! two other measures. The first is
//!
//! ```text
//! U  = U(B) + U'(B) (B' - B) + (12/C) dB'/dt,    U(B) = 2B/(2B + 1) [madison:eq8]
//! ```
//! `B` is the mean backlog over the last 16 windows of probes, and `B'` the mean over the last two. The last term is
//! the excess of arrivals that a growing queue shows, for any kind of arrivals, as in a fluid. On average the second
//! and the third term vanish. The second measure,
//!
//! ```text
//! nD = U B / b_target
//! ```
//! is the number of flows that make the backlog `B` if each has its target. All flows that share the path find the same
//! number. The paper's `n = U/x` is larger for a flow with a smaller share. So it is right only at the target, and
//! slows small flows down.

use super::rules::{Decision, NEAR, Probe};
use estimate::ProbeWindows;
use model::bottleneck::{share, shared_rate, starting_rate, utilization, utilization_slope, waiting};
use units::Time;

/// The most windows of probes in the mean backlog: at least 3.2 s, longer than the memory of a queue of some ten flows.
const MEMORY: f64 = 16.0;
/// The smallest part of a rate that one change may leave.
const LEAST: f64 = 0.3;

/// The rules and their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Averaged {
    /// Mean of the total backlog, packets, over up to 16 windows.
    backlog: f64,
    full_windows: f64,
    /// `n_D`.
    adapting: f64,
    windows: ProbeWindows,
}

impl Averaged {
    /// Returns `n_D`.
    pub(super) fn adapting(&self) -> f64 {
        self.adapting
    }

    /// Notes that packets leave at `rate` per second from `now` on.
    pub(super) fn send_at(&mut self, now: Time, rate: f64) {
        self.windows.send_at(now, rate);
    }

    /// Decides at each probe that fills a window of probes.
    pub(super) fn on_probe(&mut self, probe: &Probe) -> Option<Decision> {
        let Probe { service, target, .. } = *probe;
        if !self.windows.observe(probe.sent, probe.rtt, probe.least, probe.period) {
            return None;
        }
        let newest = waiting(self.windows.newest_delay()?, service);
        self.full_windows += 1.0;
        self.backlog += (newest - self.backlog) / self.full_windows.min(MEMORY);
        let slow = self.backlog;
        let own = share(self.windows.own_rate()?, service);
        let lately = waiting(self.windows.delay()?, service) - slow;
        // The queue's growth in packets per service time: the arrivals beyond the capacity, as a share of the capacity.
        let growth = self.windows.growth().unwrap_or(0.0);
        let off = utilization_slope(slow) * lately + growth;
        let is_near = (share(self.windows.newest_own()?, service) * slow / target - 1.0).abs() <= NEAR;
        // The backlog counts at most as the longest queue that a probe of the last two windows met. If that was short,
        // the path has room.
        let most = waiting(self.windows.most_delay()?, service);
        let utilization = utilization(slow.min(most));
        if probe.starting && !is_near {
            self.adapting = 1.0;
            let share = starting_rate(target, utilization + off - own);
            return Some(Decision { is_near, share: Some(share) });
        }
        self.adapting = (utilization * slow / target).max(1.0);
        let share = shared_rate(target, utilization - own, own, self.adapting);
        // Each flow corrects its own part of the excess, so that all together correct it once, however many adapt.
        Some(Decision { is_near, share: Some((share - own * off).max(LEAST * own)) })
    }
}
