//! The repair of a slow start's losses, and the window and threshold that it leaves.

use super::clock::Loss;
use super::rounds::Rounds;

/// The way in which a sender repairs several losses of one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Fast recovery repairs the first loss and ends with its acknowledgement. The others wait for a timeout (RFC
    /// 2581, with one fast retransmission per window, as ns-2's Reno).
    Reno,
    /// One repair per round trip, until the timer that the first partial acknowledgement set expires (RFC 6582).
    NewReno,
    /// In each round trip, all known losses for which the window has room (RFC 6675).
    Sack,
    /// As `Sack`, but a lost segment counts as under way until it is acknowledged. A loss is known only if a segment
    /// beyond it is acknowledged (Fall and Floyd 1996, ns-2's Sack1).
    Sack1,
}

impl Repair {
    /// Returns true if acknowledgements name the segments that arrived.
    pub(super) const fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::Sack1)
    }

    /// Returns two numbers for the round trip `round` of recovery: the segments that leave, and the most of these that
    /// may be repairs. The window is `half`, and `holes` are left. Returns `None` if nothing leaves and the timer
    /// expires.
    fn allowance(self, round: u64, half: u64, holes: u64) -> Option<(u64, u64)> {
        let new_segments = half.saturating_sub(holes);
        match self {
            Self::Reno if round > 0 => None,
            Self::Reno | Self::NewReno => Some((1 + new_segments, 1)),
            Self::Sack => Some((half, holes)),
            // The first repair does not wait for the window.
            Self::Sack1 if round == 0 => Some((new_segments.max(1), holes)),
            Self::Sack1 => (new_segments > 0).then_some((new_segments, holes)),
        }
    }
}

/// Returns half of a window as in RFC 5681: at least two segments.
fn half(window: f64) -> f64 {
    (window / 2.0).floor().max(2.0)
}

/// Brings `rounds` to the point where `loss` has been repaired, or where a timeout has left a window of one segment to
/// repair it.
///
/// Returns the end of the transfer, if it ended meanwhile.
pub(super) fn repair(repair: Repair, loss: &Loss, rounds: &mut Rounds) -> Option<f64> {
    let outstanding = (loss.sent - loss.lost[0]) as f64;
    rounds.lose(&loss.lost, loss.sent, repair.is_selective());
    let halved = half(outstanding.min(loss.window));
    let Some(detected) = loss.detected else {
        rounds.time_out(loss.expires, halved);
        return None;
    };
    (rounds.window, rounds.threshold) = (halved, halved);
    // The last acknowledgements of the window release the new window, one for one.
    rounds.at = detected.max(loss.last - halved * rounds.service);
    // The first repair leaves at once and restarts the timer; the queue may hold it for longer than the timeout.
    let empty = loss.last - rounds.back;
    if detected.max(empty) + rounds.rtt > detected + loss.timeout {
        rounds.time_out(empty.max(detected + loss.timeout), half(halved));
        return None;
    }
    let mut waits = (empty - rounds.at).max(0.0);
    let unknown = if repair == Repair::Sack1 { rounds.set_tail_aside() } else { Vec::new() };
    let (mut round, mut expires) = (0, f64::INFINITY);
    while rounds.holes() > 0 {
        // Segments that leave now are acknowledged a round trip later.
        if rounds.at + rounds.rtt > expires {
            rounds.time_out(expires, half(halved));
            return None;
        }
        let Some((most, repairs)) = repair.allowance(round, halved as u64, rounds.holes()) else {
            break;
        };
        let done = rounds.step(most, repairs, waits);
        if done.is_some() && unknown.is_empty() {
            return done;
        }
        if repair == Repair::NewReno && round == 0 {
            expires = rounds.at + loss.timeout;
        }
        (round, waits) = (round + 1, 0.0);
    }
    if rounds.holes() > 0 || !unknown.is_empty() {
        rounds.add_holes(unknown);
        rounds.time_out(rounds.at + loss.timeout, half(halved));
    }
    None
}
