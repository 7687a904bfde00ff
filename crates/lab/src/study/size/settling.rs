//! Policies whose rate of drops grows by a law of time. A run that did not give them that time does not show their
//! answer.

use crate::run::record::Summary;
use crate::run::resolve::Resolved;
use link::queue::CodelParameters;
use units::Span;

/// The ratio of the mean delay to CoDel's target above which CoDel has not yet brought the delay down.
const FAR: f64 = 2.0;
/// The default number of FQ-CoDel's queues.
const QUEUES: usize = 1024;

/// A rate of drops and the time that CoDel takes to reach it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Climb {
    /// The drops and marks a second that hold the flows down.
    pub(super) drops: f64,
    /// The seconds from the first drop until one of CoDel's queues has that rate.
    pub(super) seconds: f64,
}

/// Returns CoDel's climb, if the measured time began before its end and the queue is still far above the target.
///
/// The time between two drops is `interval / sqrt(count)`, so the rate grows by `1 / (2 interval^2)` each second: by 50
/// a second with 100 ms `[rfc8289:5.3]`.
pub(super) fn climb(resolved: &Resolved, summary: &Summary) -> Option<Climb> {
    let codel = CodelParameters::default();
    let queues = match resolved.queue.policy.as_str() {
        "codel" => 1,
        "fq-codel" => resolved.greedy().count().min(resolved.queue.settings.flows.unwrap_or(QUEUES)).max(1),
        _ => return None,
    };
    let interval = resolved.queue.settings.interval.unwrap_or(codel.interval).as_secs_f64();
    let target = resolved.queue.settings.target.unwrap_or(codel.target).as_secs_f64();
    let (loss, packet) = (summary.loss_rate?, resolved.queue.mean_packet.bits_f64());
    let sent = summary.utilization? * resolved.link.rate.as_bps_f64() / packet;
    let whole = resolved.end?.as_secs_f64();
    let marks: u64 = summary.flows.iter().filter_map(|flow| flow.marks).sum();
    let drops = sent * loss / (1.0 - loss).max(1e-6) + marks as f64 / whole;
    let seconds = seconds(drops / queues as f64, interval);
    let late = seconds > resolved.warmup.as_secs_f64() && summary.queueing_delay_s?.mean > FAR * target;
    late.then_some(Climb { drops, seconds })
}

/// Returns the seconds until a CoDel of this interval drops `drops` packets a second.
pub(super) fn seconds(drops: f64, interval: f64) -> f64 {
    2.0 * interval * interval * drops
}

/// Returns the seconds until a CoDel of the default interval drops `drops` packets a second.
pub(super) fn seconds_by_default(drops: f64) -> f64 {
    seconds(drops, CodelParameters::default().interval.as_secs_f64())
}

/// Writes a time in seconds in words.
pub(super) fn shown(seconds: f64) -> String {
    Span::from_secs_f64(seconds).rounded()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codel_gains_fifty_drops_a_second_each_second() {
        assert!((seconds(50.0, 0.1) - 1.0).abs() < 1e-12);
        // The drops are 3 % of 10 Gbit/s in packets of 1500 bytes.
        assert!((seconds_by_default(25_000.0) - 500.0).abs() < 1e-9);
    }
}
