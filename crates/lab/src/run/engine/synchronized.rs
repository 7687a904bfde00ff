//! A remark on simulated flows that lose together because nothing tells them apart.

use crate::run::record::Summary;
use crate::run::resolve::Resolved;
use units::Span;

/// From this share of common loss episodes on losses are called synchronized. Chosen on drawn paths;
/// docs/reference/commands.md says how it did on others.
const SHARE: f64 = 0.9;

/// What to know of a simulation whose losses are synchronized, if they are and its flows are alike.
pub(super) fn note(summary: &Summary, resolved: &Resolved) -> Option<String> {
    let share = summary.synchronized_loss_share.filter(|share| *share >= SHARE)?;
    are_alike(resolved).then(|| {
        format!(
            "losses are synchronized: in {:.0} % of the loss episodes more than half of the flows lost packets. Most flows \
             have the same base RTT and no timing noise. Flows of real hosts lose less often together, so that the \
             utilization can be higher there. Write host = \"linux\", or give the flows different RTTs, or a send_jitter of \
             one packet's transmission time",
            share * 100.0
        )
    })
}

/// Whether more than half of the greedy flows have the same base RTT and no jitter.
fn are_alike(resolved: &Resolved) -> bool {
    let flows = resolved.greedy().count();
    let mut rtts: Vec<Span> =
        (resolved.greedy().filter(|flow| flow.send_jitter == Span::ZERO)).map(|flow| flow.base_rtt).collect();
    rtts.sort_unstable();
    rtts.chunk_by(|one, other| one == other).any(|alike| 2 * alike.len() > flows)
}
