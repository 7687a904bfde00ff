//! The choice of limits from a curve: the least, the recommended and the largest sensible limit, and conflicts between
//! wishes.
//!
//! A curve of simulations need not be monotone, so a limit meets a utilization only if no larger limit surely misses
//! it. The recommended limit is taken from those whose confidence interval lies above the target.

use super::answer::{Point, Policy, TradeOff};
use super::question::Question;
use units::Span;

/// The ratio of the recommended limit to the least one that surely keeps the utilization. Half the flows need up to
/// sqrt(2) times as much buffer. Kernels lose a little more utilization in small buffers than simulated hosts do
/// (docs/papers/kernel.md).
pub const MARGIN: f64 = 1.5;
/// The least recommended limit, packets: it holds a new flow's first window in any case [rfc6928:2].
pub const FLOOR: u64 = 10;
/// The time for which the recommended limit holds the link's data; it holds a bandwidth-delay product if that is less.
/// Flows that share a machine send in clumps. The time was chosen on the kernel. In simulation each flow has a machine
/// of its own, and needs less (docs/guide/size.md).
const CLUMP: Span = Span::from_millis(2);
/// The gain in utilization above which a larger limit makes sense.
const GAIN: f64 = 0.001;

/// The chosen limits in packets. Their effects are on the curve.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) least: u64,
    pub(super) recommended: u64,
    pub(super) most: u64,
    pub(super) conflict: Option<Conflict>,
}

/// The limits that keep one wish each, if no limit keeps all wishes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conflict {
    utilization: Option<u64>,
    delay: Option<u64>,
    loss: Option<u64>,
}

impl Choice {
    /// Returns true if no limit that was tried keeps the utilization. A limit does not count if a larger one surely
    /// misses the utilization.
    pub(super) fn none_meets(&self) -> bool {
        self.conflict.as_ref().is_some_and(|conflict| conflict.utilization.is_none())
    }
}

impl Conflict {
    /// Returns the limits.
    pub(super) fn limits(&self) -> impl Iterator<Item = u64> {
        [self.utilization, self.delay, self.loss].into_iter().flatten()
    }
}

/// Chooses from `curve`, which ascends and is not empty.
pub(super) fn choice(question: &Question, curve: &[Point]) -> Choice {
    let target = question.target.get();
    let best = curve.iter().map(|point| point.utilization).fold(0.0, f64::max);
    let met = meeting(curve, target, |point| point.utilization);
    let sure = meeting(curve, target, Point::surely);
    // The largest limit behind which packets wait no longer than wished, interpolated between the points of the curve.
    let delay = question.max_delay.map(|most| {
        let most = most.as_secs_f64();
        crossing(curve, |point| point.queueing_delay_s.p95 - most)
    });
    // The smallest limit at which, and above which, no more packets are lost than wished.
    let loss = question.max_loss.map(|most| {
        let kept = curve.iter().rev().take_while(|point| point.loss_rate <= most.get()).last();
        kept.map(|point| point.packets)
    });
    let near = |wanted: f64| first(curve, |point| point.utilization >= wanted).unwrap_or(curve[0].packets);
    let least = met.unwrap_or_else(|| near(best - GAIN)).max(loss.flatten().unwrap_or(0));
    let floor = floor(question);
    // A trace is the load itself, and on a link that changes a reserve costs much delay.
    let margin = if question.changing.is_some() { 1.0 } else { MARGIN };
    let scaled = |packets: u64| ((packets as f64 * margin).ceil() as u64).max(floor);
    let mut recommended = match (sure, met) {
        (Some(sure), _) => scaled(sure.max(least)),
        // The limit meets the target in the mean, but not surely, so it gets the margin twice.
        (None, Some(_)) => scaled(scaled(least)),
        (None, None) => least.max(floor),
    };
    let mut most = near(best - GAIN).max(least);
    let mut conflict = None;
    let impossible = delay.is_some_and(|delay| delay.is_none_or(|delay| delay < least))
        || loss == Some(None)
        || met.is_none();
    if let Some(longest) = delay {
        // If packets wait too long behind every limit, the smallest one that was tried comes nearest to the wish.
        let longest = longest.unwrap_or(curve[0].packets).max(1);
        recommended = recommended.min(longest);
        most = most.min(longest);
    }
    let least = least.min(recommended);
    if impossible {
        conflict = Some(Conflict { utilization: met, delay: delay.flatten(), loss: loss.flatten() });
    }
    Choice { least, recommended, most: most.max(least), conflict }
}

/// Returns the least recommended limit in packets, unless a wished delay asks for less.
fn floor(question: &Question) -> u64 {
    (clump(question).ceil() as u64).max(FLOOR)
}

fn clump(question: &Question) -> f64 {
    let sent = question.rate.volume(CLUMP).get() as f64 / question.mean_packet().get() as f64;
    sent.min(question.bdp_limit())
}

/// Explains a recommended limit that holds a clump of packets, where simulation alone would give a smaller one.
pub(super) fn clumps(question: &Question, recommended: u64) -> Option<String> {
    let clump = clump(question);
    (recommended > FLOOR && recommended == clump.ceil() as u64).then(|| {
        let holds = if clump < question.bdp_limit() {
            format!("what the link carries in {CLUMP}")
        } else {
            "a bandwidth-delay product".into()
        };
        format!("the recommended limit holds {holds}: flows that share a machine send in clumps, and simulated hosts do not")
    })
}

/// Returns the smallest limit for which `certain` is at least `target`, and above which no limit surely misses it.
fn meeting(curve: &[Point], target: f64, certain: fn(&Point) -> f64) -> Option<u64> {
    let missed = curve.iter().rposition(|point| point.perhaps() < target).map_or(0, |index| index + 1);
    first(&curve[missed..], |point| certain(point) >= target)
}

fn first(curve: &[Point], meets: impl Fn(&Point) -> bool) -> Option<u64> {
    curve.iter().find(|point| meets(point)).map(|point| point.packets)
}

/// Returns the limit at which `excess` rises through zero, on a straight line between the points around it. Returns
/// `None` if `excess` is above zero everywhere, and the largest limit if it never is.
fn crossing(curve: &[Point], excess: impl Fn(&Point) -> f64) -> Option<u64> {
    let Some(above) = curve.iter().position(|point| excess(point) > 0.0) else {
        return curve.last().map(|point| point.packets);
    };
    let (high, low) = (&curve[above], curve[..above].last()?);
    let share = -excess(low) / (excess(high) - excess(low));
    // Without the small summand, rounding could lower a limit that is a whole number.
    Some((low.packets as f64 + share * (high.packets - low.packets) as f64 + 1e-6).floor() as u64)
}

/// Returns the limit at which the curve bends: farthest above the straight line between its ends, over the logarithm of
/// the limit; `None` if the curve does not bend.
pub(super) fn knee(curve: &[Point]) -> Option<u64> {
    let (first, last) = (curve.first()?, curve.last()?);
    let place = |point: &Point| libm::log(point.packets.max(1) as f64);
    let (from, to) = (place(first), place(last));
    let line = |point: &Point| {
        first.utilization + (last.utilization - first.utilization) * (place(point) - from) / (to - from)
    };
    let above = |point: &&Point| point.utilization - line(point);
    let bend = curve.iter().max_by(|a, b| above(a).total_cmp(&above(b)))?;
    (above(&bend) > 0.0).then_some(bend.packets)
}

/// Explains the conflict between wishes in words and numbers. `at` returns a limit with its effects.
pub(super) fn trade_off(
    question: &Question,
    conflict: &Conflict,
    curve: &[Point],
    at: impl Fn(u64) -> Point,
) -> TradeOff {
    let (utilization, delay, loss) =
        (conflict.utilization.map(&at), conflict.delay.map(&at), conflict.loss.map(&at));
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let millis = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
    let mut parts = Vec::new();
    let best = curve.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization));
    match (utilization, best) {
        (Some(point), _) => parts.push(format!(
            "a utilization of {} needs {} packets, with a p95 delay of {} and a loss of {}",
            question.target,
            point.packets,
            millis(point.queueing_delay_s.p95),
            percent(point.loss_rate)
        )),
        (None, Some(best)) if best.utilization >= question.target.get() => parts.push(format!(
            "{} packets have a utilization of {}, but larger limits up to {} packets miss {}",
            best.packets,
            percent(best.utilization),
            curve.last().map_or(0, |point| point.packets),
            question.target
        )),
        (None, Some(best)) => parts.push(format!(
            "no limit up to {} packets has a utilization of {}: the most is {} at {} packets",
            curve.last().map_or(0, |point| point.packets),
            question.target,
            percent(best.utilization),
            best.packets
        )),
        (None, None) => {}
    }
    match (question.max_delay, delay) {
        (Some(most), Some(point)) => parts.push(format!(
            "a p95 delay of {most} allows {} packets, with a utilization of {} and a loss of {}",
            point.packets,
            percent(point.utilization),
            percent(point.loss_rate)
        )),
        (Some(most), None) => parts.push(format!("no simulated limit has a p95 delay of {most}")),
        (None, _) => {}
    }
    match (question.max_loss, loss) {
        (Some(most), Some(point)) => parts.push(format!(
            "a loss of {most} needs {} packets, with a p95 delay of {}",
            point.packets,
            millis(point.queueing_delay_s.p95)
        )),
        (Some(most), None) => {
            let least = curve.iter().map(|point| point.loss_rate).fold(1.0, f64::min);
            parts.push(format!(
                "no simulated limit loses {most} or less: the least is {}. Losses hold the windows of greedy flows down: \
                 fewer flows, or ECN, lose less",
                percent(least)
            ));
        }
        (None, _) => {}
    }
    TradeOff { says: parts.join("; "), keeps_utilization: utilization, keeps_delay: delay, keeps_loss: loss }
}

/// Marks the points that no other one excels in both utilization and delay.
pub(super) fn pareto(points: Vec<(&str, Point)>) -> Vec<Policy> {
    let better = |a: &Point, b: &Point| {
        let (more, less) = (a.utilization >= b.utilization, a.queueing_delay_s.p95 <= b.queueing_delay_s.p95);
        more && less && (a.utilization > b.utilization || a.queueing_delay_s.p95 < b.queueing_delay_s.p95)
    };
    let all: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
    let policy = |(queue, point): (&str, Point)| Policy {
        queue: queue.into(),
        point,
        call: None,
        best: !point.unsettled && !all.iter().any(|other| !other.unsettled && better(other, &point)),
    };
    points.into_iter().map(policy).collect()
}

#[cfg(test)]
#[path = "../../../tests/within/choice.rs"]
mod tests;
