//! Start-up: the first estimates of an unknown path, from its probes `[madison:4.2]`.

use estimate::Bottleneck;
use model::bottleneck::{utilization, waiting};
use units::Span;

/// The number of probes for the paper's first estimates `[madison:4.2]`. Ours use the largest delay of twice as many
/// `[D]`.
const PROBES: usize = 4;
/// The number of service times that [`SPACING`] must last for every probe to count. If it lasts for fewer, probes are
/// too close together: twice as many are sent, and every second one counts.
const SERVICES_APART: f64 = 20.0;
/// The time between the packets of start-up, seconds `[madison:4.2]`.
pub(super) const SPACING: f64 = 0.015;

/// The progress of start-up.
#[derive(Clone, Debug, Default)]
pub(super) struct StartUp {
    /// Round-trip times of the probes.
    rtts: Vec<Span>,
    /// True after a timeout: one segment is allowed until an acknowledgement comes.
    pub(super) is_quiet: bool,
}

impl StartUp {
    pub(super) fn restart(&mut self) {
        self.rtts.clear();
    }

    /// Takes a probe that has returned. Once there are enough, gives them to `path` and returns its service time in
    /// seconds.
    pub(super) fn observe(&mut self, rtt: Span, path: &mut Bottleneck, as_printed: bool) -> Option<f64> {
        path.observe_least(rtt);
        self.rtts.push(rtt);
        let service = path.service()?;
        let apart = SPACING >= SERVICES_APART * service;
        // At 42 % of load four probes all meet an empty queue one time in nine, and eight probes one time in eighty
        // [D].
        let few = apart && as_printed;
        if self.rtts.len() < if few { PROBES } else { 2 * PROBES } {
            return None;
        }
        for rtt in self.rtts.iter().step_by(if apart { 1 } else { 2 }) {
            path.observe(*rtt);
        }
        Some(service)
    }

    /// Returns the utilization, from the largest delay `[D]`. So few probes see only one length of the queue, and the
    /// least of their RTTs is taken for the RTT of an empty queue. So the largest excess over it says more than the
    /// mean. If all n probes met an empty queue, the utilization is 1/(n + 2): the chance, by the rule of succession,
    /// that the next probe meets a busy one.
    pub(super) fn utilization(&self, path: &Bottleneck, service: f64) -> f64 {
        let most = self.rtts.iter().copied().max().map_or(0.0, Span::as_secs_f64);
        let seen = utilization(waiting(most - path.least_rtt().unwrap_or(most), service));
        seen.max(1.0 / (self.rtts.len() as f64 + 2.0))
    }
}
