//! A remark on simulated flows that lose together because they are identical.

use crate::run::record::Summary;
use crate::run::resolve::Resolved;
use units::Span;

/// Losses are called synchronized if more than half of the flows lose packets in at least this share of the loss
/// episodes. The value was chosen on drawn paths; docs/reference/commands.md reports its accuracy on other paths.
const SHARE: f64 = 0.9;

/// Returns a remark if the losses are synchronized and the flows are alike.
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

/// Returns true if more than half of the greedy flows have the same base RTT and no jitter.
fn are_alike(resolved: &Resolved) -> bool {
    let flows = resolved.greedy().count();
    let mut rtts: Vec<Span> =
        (resolved.greedy().filter(|flow| flow.send_jitter == Span::ZERO)).map(|flow| flow.base_rtt).collect();
    rtts.sort_unstable();
    rtts.chunk_by(|one, other| one == other).any(|alike| 2 * alike.len() > flows)
}
