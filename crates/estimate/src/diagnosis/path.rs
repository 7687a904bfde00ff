//! The state of the path, from the queue, the losses and the rate while a queue stood.

use super::causes::Context;
use super::evidence::Evidence;
use super::stretch::Stretch;
use super::verdict::{Cause, PathState};
use units::{Rate, Span};

/// The share of marked segments from which marks decide.
const MARKED: f64 = 0.001;
/// The queue at a loss below which losses come without a queue: a time, and a share of the least round trip.
const EMPTY: Span = Span::from_millis(4);
const EMPTY_SHARE: f64 = 0.1;
/// The queue at a loss, over the largest of all, below which something drops before the queue is full. A drop-tail queue
/// is equally long at all losses.
const EARLY: f64 = 0.45;
/// The distance of the quartiles of the rate while a queue stands, over its median, from which other flows share the
/// bottleneck. The rate of a flow alone is the bottleneck's.
const SPREAD: f64 = 0.15;
/// The least number of stretches with a queue from which rates are compared.
const LEAST: usize = 6;
/// The share of the bottleneck's rate below which other flows have the rest, while a queue stands.
const REST: f64 = 0.85;
/// The share of stretches with a queue from which the flow keeps one.
const KEPT: f64 = 0.5;

/// Returns the state of the path of a connection whose first cause is `cause`, and of which `network` are the stretches
/// that the network limits.
pub(super) fn path(
    evidence: &Evidence,
    context: &Context,
    cause: Cause,
    network: &[Stretch],
) -> Option<PathState> {
    match cause {
        Cause::ReceiveWindow | Cause::SendBuffer | Cause::ReceivingProgram | Cause::ProgramWindow => {
            return Some(PathState::WindowLimited);
        }
        Cause::SendingProgram | Cause::SlowStart => return Some(PathState::NotCongested),
        Cause::Network => {}
    }
    let segments: u64 = network.iter().filter_map(|one| one.segments).sum();
    let marked: u64 = network.iter().map(|one| one.marked).sum();
    if marked as f64 > MARKED * segments.max(1) as f64 {
        return Some(PathState::Managed);
    }
    let base = context.base?;
    let growth = |one: &Stretch| one.round_trips.map(|[_, mean, _]| mean.saturating_sub(base));
    let largest = network.iter().filter_map(growth).max()?;
    let calm = |number: usize| network[number.saturating_sub(2)..=number].iter().all(|one| one.strays == 0);
    let queued: Vec<(usize, &Stretch)> =
        network.iter().enumerate().filter(|(_, one)| context.queued(one)).collect();
    let kept = queued.len() as f64 >= KEPT * network.len() as f64;
    // After a loss, an acknowledgement covers data that arrived earlier.
    let rates = queued.iter().filter(|&&(number, _)| calm(number)).map(|(_, one)| one.rate()).collect();
    let shared = is_shared(rates, context.capacity);
    if network.iter().all(|one| one.strays == 0) {
        return Some(match (kept, shared) {
            (true, true) => PathState::Congested,
            (true, false) => PathState::SelfInduced,
            (false, _) => PathState::NotCongested,
        });
    }
    // The first losses end slow start, which fills any queue.
    let episodes = evidence.episodes.iter().skip(usize::from(evidence.episodes.len() > 1));
    let mut queues: Vec<Span> = episodes.filter_map(|episode| episode.queueing).collect();
    if queues.is_empty() {
        // A receiver sees the queue around its losses only.
        queues = network.iter().filter(|one| one.strays > 0).filter_map(growth).collect();
    }
    queues.sort_unstable();
    let at_loss = queues.get(queues.len() / 2).copied().unwrap_or_default();
    Some(match () {
        () if at_loss < EMPTY.max(base.scale(EMPTY_SHARE)) && !kept => PathState::RandomLoss,
        () if shared => PathState::Congested,
        () if at_loss < largest.scale(EARLY) => PathState::Managed,
        () => PathState::SelfInduced,
    })
}

/// Returns true if the rates while a queue stands are not those of the bottleneck alone.
fn is_shared(mut rates: Vec<Rate>, capacity: Option<Rate>) -> bool {
    if rates.len() < LEAST {
        return false;
    }
    rates.sort_unstable();
    let [lower, median, upper] = [1, 2, 3].map(|quarter| rates[rates.len() * quarter / 4].as_bps_f64());
    upper - lower > SPREAD * median || capacity.is_some_and(|capacity| median < REST * capacity.as_bps_f64())
}
