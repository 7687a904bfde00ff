//! The settings of a queue policy, beside `kind` and `limit`. Whether the policy has them is for those who know
//! the policies.

use crate::cursor::{At, Keys};
use crate::spec::{Limit, QueueSettings, Threshold};
use crate::tree::Value;
use units::{Bytes, Fraction, Span};

/// How a room in a queue is read: what is accepted depends on what carries the packets.
pub(super) type ReadRoom = fn(&At<'_>) -> Option<Limit>;

/// Reads what is given of all settings there are. `room` reads a threshold that is written as a limit is.
pub(super) fn settings(keys: &Keys<'_>, room: ReadRoom) -> Option<QueueSettings> {
    let time = |key, zero: &str| keys.optional(key, |at| at.above_zero::<Span>("ms", zero));
    let switch = |key| keys.optional(key, At::boolean);
    let share = |key| keys.optional(key, share_above_zero);
    let (target, interval) = (
        time("target", "a target of zero: every packet would come too late"),
        time("interval", "an interval of zero"),
    );
    let burst = keys.optional("burst", |at| at.quantity("ms"));
    let threshold = |key| keys.optional(key, |at| threshold(at, room));
    let thresholds = (threshold("min_threshold"), threshold("max_threshold"));
    let shares = (share("max_probability"), share("weight"));
    let (gentle, wait, by_bytes) = (switch("gentle"), switch("wait"), switch("by_bytes"));
    let (derandomize, ecn) = (switch("derandomize"), switch("ecn"));
    let quantum = keys.optional("quantum", |at| at.above_zero::<Bytes>("B", "a turn of zero bytes"));
    let flows = keys.optional("flows", |at| at.positive("zero queues"));
    let mark_above = threshold("mark_above");
    Some(QueueSettings {
        target: target?,
        interval: interval?,
        burst: burst?,
        derandomize: derandomize?,
        min_threshold: thresholds.0?,
        max_threshold: thresholds.1?,
        max_probability: shares.0?,
        weight: shares.1?,
        gentle: gentle?,
        wait: wait?,
        by_bytes: by_bytes?,
        quantum: quantum?,
        flows: flows?,
        ecn: ecn?,
        mark_above: mark_above?,
    })
}

pub(super) fn share_above_zero(at: &At<'_>) -> Option<Fraction> {
    let share = at.fraction()?;
    if share == Fraction::ZERO {
        at.fault(
            "a share of zero: it would have no effect",
            "a share above 0, at most 1, such as 0.002",
            None,
        );
        return None;
    }
    Some(share)
}

/// A number of mean packets, a share of the limit, or a text as a limit has it.
fn threshold(at: &At<'_>, room: ReadRoom) -> Option<Threshold> {
    match &at.node.value {
        Value::Integer(_) | Value::Float(_) => {}
        Value::String(text) if text.trim_end().ends_with('%') => {
            return at.fraction().map(Threshold::OfLimit);
        }
        _ => return room(at).map(Threshold::Room),
    }
    let packets = at.number()?;
    if packets < 0.0 {
        let accepted =
            "a number of packets, zero or more, or a text such as \"5 packets\", \"7500B\" or \"40%\"";
        at.fault(format!("a threshold of {packets} packets"), accepted, None);
        return None;
    }
    Some(Threshold::MeanPackets(packets))
}
