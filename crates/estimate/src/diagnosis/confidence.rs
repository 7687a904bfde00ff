//! The confidence in a first cause, and its reason.

use super::causes::Context;
use super::evidence::{Evidence, Vantage};
use super::stretch::Stretch;
use super::verdict::{Cause, Confidence, Shares};
use units::{Bytes, Span};

/// The lead of the first cause over the second below which the confidence is low, and above which it can be high.
const CLOSE: f64 = 0.2;
const CLEAR: f64 = 0.35;
/// The same for observers other than the sender's kernel, which infer more.
const CLEAR_ELSEWHERE: f64 = 0.6;
/// The time of observation below which the confidence is low, and above which it can be high.
const SHORT: Span = Span::from_millis(500);
const LONG: Span = Span::from_secs(2);
/// The payload below which a connection is over before anything limits it.
const LEAST: Bytes = Bytes::new(30_000);
/// The growth of the round trip with a full window, as a share of the least one, up to which no reader delays it.
const DELAYED: f64 = 0.1;
/// The share of the bottleneck's rate below which a queue is not the flow's alone, or not always there.
const FILLED: f64 = 0.85;
/// The share of time with a full send buffer from which a program writes as much as it can.
const BULK: f64 = 0.5;
/// The share of the receiving program from which its pauses may be more than they seem.
const PAUSES: f64 = 0.1;
/// The share of stretches with a queue or losses from which the network shows itself as the limit.
const SHOWN: f64 = 0.8;

/// Returns the confidence in the first cause of `shares` and its reason; `None` if the evidence is too little for a
/// cause. `applied` are the stretches of that cause.
pub(super) fn confidence(
    evidence: &Evidence,
    context: &Context,
    shares: &Shares,
    applied: &[Stretch],
) -> Option<(Confidence, String)> {
    let (first, share) = shares.first()?;
    if evidence.delivered() < LEAST && first != Cause::SendingProgram && first != Cause::ReceivingProgram {
        return None;
    }
    let second = Cause::ALL
        .into_iter()
        .filter(|&cause| cause != first)
        .map(|cause| shares.of(cause))
        .fold(0.0, f64::max);
    let lead = share - second;
    let observed = evidence.observed();
    let low = |reason: &str| Some((Confidence::Low, reason.to_owned()));
    let fair = |reason: &str| Some((Confidence::Fair, reason.to_owned()));
    let high = |reason: &str| Some((Confidence::High, reason.to_owned()));
    if lead < CLOSE {
        return low("Two causes have nearly equal shares.");
    }
    if observed < SHORT && first != Cause::SlowStart {
        return low("The connection was observed for less than half a second.");
    }
    // Only the sender, and the receiver's kernel, see a reader that delays acknowledgements.
    let hides_delays = matches!(evidence.vantage, Vantage::MiddleCapture | Vantage::ReceiverCapture);
    let at_sender = evidence.vantage == Vantage::SenderSocket;
    if first == Cause::SendBuffer && !at_sender {
        return low(
            "The sender does not fill any window, and shows no other cause. Only its own socket shows its buffer.",
        );
    }
    if lead < if at_sender { CLEAR } else { CLEAR_ELSEWHERE } {
        return fair("Another cause has a large share, too.");
    }
    if observed < LONG && first != Cause::SlowStart {
        return fair("The connection was observed for less than two seconds.");
    }
    if evidence.inferred_scale && matches!(first, Cause::ReceiveWindow | Cause::ReceivingProgram) {
        return fair("The handshake was not seen, so the size of the window is inferred.");
    }
    match first {
        Cause::ReceiveWindow if hides_delays || is_delayed(context, applied) => {
            fair("The window was full. A reader that is a little too slow can look the same.")
        }
        Cause::ReceiveWindow => high("The window was full, and as large as ever."),
        Cause::ReceivingProgram => {
            high("The window was smaller than before, because data waited for the program.")
        }
        Cause::SendBuffer => {
            high("The send buffer was full and nothing in it was unsent, with room in both windows.")
        }
        Cause::SendingProgram if at_sender => {
            high("Nothing waited in the send buffer, with room in it and in both windows.")
        }
        Cause::SendingProgram if is_silent(applied, shares, context) => {
            high("The sender was silent, with nothing in flight.")
        }
        Cause::SendingProgram => {
            fair("Many segments are not full, as those of a program that writes little at a time.")
        }
        Cause::ProgramWindow => fair(
            "Data in flight stayed below every window of the kernels, and messages of the receiver released more.",
        ),
        Cause::SlowStart if at_sender => high("The data delivered per round trip grew until the end."),
        Cause::SlowStart => {
            fair("The data delivered per round trip grew; only the sender's socket shows its window.")
        }
        Cause::Network if shares.of(Cause::ReceivingProgram) >= PAUSES => {
            fair("The receiving program also paused, and its kernel acknowledges late meanwhile.")
        }
        Cause::Network if at_sender && evidence.bulk => {
            high("The sending program had more data at all times, and the receive window had room.")
        }
        Cause::Network if at_sender && has_room(applied) => {
            fair("The send buffer had room, as that of a program that writes in bursts.")
        }
        Cause::Network if at_sender => {
            high("The send buffer was full of data that waited, and the receive window had room.")
        }
        Cause::Network if is_shown(context, applied) => {
            high("A queue stood or packets were lost, and the receive window had room.")
        }
        Cause::Network => fair("Data arrived as through a full link, but few packets were lost or waited."),
    }
}

/// Returns true if the send buffer had room for most of the time.
fn has_room(applied: &[Stretch]) -> bool {
    let sum = |of: fn(&Stretch) -> Span| applied.iter().fold(Span::ZERO, |sum, one| sum + of(one));
    sum(|one| one.buffer_full) < sum(|one| one.length).scale(BULK)
}

/// Returns true if the round trip is longer while the window is full.
fn is_delayed(context: &Context, applied: &[Stretch]) -> bool {
    let Some(base) = context.base else { return true };
    let mut means: Vec<Span> =
        applied.iter().filter_map(|one| one.round_trips.map(|[_, mean, _]| mean)).collect();
    means.sort_unstable();
    means.get(means.len() / 2).is_none_or(|&mean| mean.saturating_sub(base) > base.scale(DELAYED))
}

/// Returns true if pauses make the share of the sending program.
fn is_silent(applied: &[Stretch], shares: &Shares, context: &Context) -> bool {
    let writes = applied.iter().filter(|one| one.idle < one.length.scale(0.5)).count();
    context.answers < 0.5 && shares.of(Cause::SendingProgram) > CLEAR && writes * 2 < applied.len()
}

/// Returns true if most stretches show a queue or losses, and a queue is there while the link is full. A program that
/// writes in bursts makes queues, too.
fn is_shown(context: &Context, applied: &[Stretch]) -> bool {
    let queued: Vec<f64> =
        applied.iter().filter(|one| context.queued(one)).map(|one| one.rate().as_bps_f64()).collect();
    let mean = queued.iter().sum::<f64>() / queued.len().max(1) as f64;
    let part = context.capacity.is_some_and(|capacity| mean < FILLED * capacity.as_bps_f64());
    if part && queued.len() * 2 > applied.len() {
        return false;
    }
    let shown = applied.iter().filter(|one| one.strays > 0 || context.queued(one)).count();
    applied.iter().any(|one| one.strays > 0) && shown as f64 >= SHOWN * applied.len() as f64
}
