//! `queue` of a link and of a shaper: its policy, its room, and the settings of all policies.

use crate::cursor::{Keys, ValueAt};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{self, KEY, OWN, ROOM, is_default};
use crate::table::table;
use crate::tree::Value;
use crate::values::{Isolation, Limit, StepThreshold, Threshold, Tins};
use serde::Serialize;
use units::{Bytes, Fraction, Span};

pub(super) const QUEUE_WRITTEN: &str = r#"a queue such as { kind = "drop-tail", limit = "0.25 bdp" }"#;

/// `queue = { kind = …, limit = … }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// The policy's name in `link`'s registry, such as `drop-tail`.
    pub kind: String,
    /// The amount of data that may wait.
    pub limit: Limit,
    /// The settings of the policy.
    #[serde(skip_serializing_if = "is_default")]
    pub settings: QueueSettings,
}

table! {
    /// The settings of all queue policies; absent ones have the policy's default. The registry of `link` lists the
    /// settings of each policy.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct QueueSettings {}
    read QueueSettingsRead |at, read, room: ReadRoom|;
    keys QUEUE = [POLICY];

    group POLICY from KEY;

    /// the queue policy, one of `tightlink list queues`. `model` has theories of `drop-tail`, `red` and
    /// `adaptive-red`
    key kind => {
        kind: "text", default: Written(r#""drop-tail""#),
        engines: "sim live", refused_by: "model",
        why: "most interfaces drop arrivals when the queue is full", from: "RFC 2309 (2)",
    }
    /// limit of the waiting data, in which the packet being sent does not count. It must hold one segment
    key limit => {
        kind: ROOM,
        default: Required(r#"the room for waiting packets, such as "250 packets", "512kB", "40ms" or "0.25 bdp""#),
    }
    /// queueing delay aimed at
    opt target: Span = at.above_zero("ms", "a target of zero: every packet would come too late") => {
        kind: "time above zero", default: Words("5 ms; `pie`, `fq-pie`, `dualpi2` 15 ms"),
        engines: "sim live", kinds: "codel fq-codel pie fq-pie dualpi2 adaptive-red cobalt",
        why: "`codel`: 5 % of the interval keeps the link busy. `pie`, `dualpi2`: the RFCs'. `adaptive-red`: ns-2's",
        from: "RFC 8289 (4.3), RFC 8033 (4.2), RFC 9332 (A.1), ns-2 `red.cc`",
    }
    /// `codel`, `fq-codel`, `cobalt`: how long the target may be exceeded; else the time between updates
    opt interval: Span = at.above_zero("ms", "an interval of zero") => {
        kind: "time, 1 us or more",
        default: Words("100 ms; `pie`, `fq-pie` 15 ms, `dualpi2` 16 ms, `adaptive-red` 500 ms"),
        engines: "sim live", kinds: "codel fq-codel pie fq-pie dualpi2 adaptive-red cobalt",
        why: "`codel`: a base RTT of 100 ms, which most paths keep below. Others: the sources' times between updates",
        from: "RFC 8289 (4.2), RFC 8033 (4.2), Linux 6.17 `sch_dualpi2`, Floyd, Gummadi and Shenker 2001",
    }
    /// time without drops after a time without congestion
    opt burst: Span = at.quantity("ms") => {
        kind: "time", default: Words("150 ms"),
        engines: "sim live", kinds: "pie fq-pie",
        why: "bursts of 150 ms pass without drops", from: "RFC 8033 (4.4)",
    }
    /// drops are kept from clustering
    opt derandomize: bool = at.boolean() => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "pie fq-pie",
        why: "drops that cluster cost a flow a timeout", from: "RFC 8033 (5.4), Linux `sch_pie`",
    }
    /// average queue from which packets are dropped
    opt min_threshold: Threshold = threshold(at, room) => {
        kind: "threshold",
        default: Words("`red`: 0.4 of `max_threshold`; `adaptive-red`: the data sent in half the target, 5 packets at least, and a third of `limit` at most"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: a range wide enough that windows do not synchronize. `adaptive-red`: half the target's packets",
        from: "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001",
    }
    /// average queue at which the probability is `max_probability`. Given alone, either threshold keeps the
    /// default's ratio to the other
    opt max_threshold: Threshold = threshold(at, room) => {
        kind: "threshold above `min_threshold`",
        default: Words("`red`: the lesser of `limit` and the data sent in 100 ms; `adaptive-red`: 3 `min_threshold`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: a base RTT of 100 ms, as for CoDel. `adaptive-red`: three times the lower threshold",
        from: "RFC 8289 (4.2); Floyd, Gummadi and Shenker 2001",
    }
    /// probability at `max_threshold`; `adaptive-red`: where it starts
    opt max_probability: Fraction = at.share_above_zero() => {
        kind: "share above zero", default: Words("`0.1`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "the later recommendation of RED's author", from: "Floyd 2000, gentle RED",
    }
    /// weight of one arrival in the average
    opt weight: Fraction = at.share_above_zero() => {
        kind: "share above zero",
        default: Words("`red`: 0.002; `adaptive-red`: 1 - exp(-1/C), C in packets/s"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: an average over 500 packets. `adaptive-red`: over one second",
        from: "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001",
    }
    /// beyond `max_threshold` the probability climbs to 1 at twice that, rather than jump
    opt gentle: bool = at.boolean() => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "without it a small excess drops every packet", from: "Floyd 2000, gentle RED",
    }
    /// drops keep a distance
    opt wait: bool = at.boolean() => {
        kind: "`true`, `false`", default: Words("`false`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "the algorithm of 1993 without ns-2's change", from: "Floyd and Jacobson 1993",
    }
    /// queue and probability go by bytes
    opt by_bytes: bool = at.boolean() => {
        kind: "`true`, `false`", default: Words("`false`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "packets have one size in most scenarios", from: "Floyd and Jacobson 1993",
    }
    /// bytes that a flow sends in a turn
    opt quantum: Bytes = at.above_zero("B", "a turn of zero bytes") => {
        kind: "size above zero", default: Words("1514 B"),
        engines: "sim live", kinds: "fq-codel fq-pie",
        why: "one frame of Ethernet", from: "RFC 8290 (5.2.4)",
    }
    /// number of queues
    opt flows: u64 = at.positive("zero queues") => {
        kind: "whole number, 1 to 65536", default: Words("1024"),
        engines: "sim live", kinds: "fq-codel fq-pie",
        why: "few flows share a queue", from: "RFC 8290 (5.2.5)",
    }
    /// packets of flows with `ecn` are marked rather than dropped. `dualpi2` takes `true` only
    opt ecn: bool = at.boolean() => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "red adaptive-red codel pie fq-codel fq-pie dualpi2 cobalt cake",
        why: "a flow without `ecn` is not touched by it", from: "RFC 3168 (5), Linux `sch_fq_codel`",
    }
    /// step marking as for DCTCP (RFC 8257): an arrival that a queue of this room would drop is marked, if its flow has
    /// `ecn`. With 0 that is every packet that has to wait; one that finds the link idle does not wait and is not
    /// marked. Without this key, drop-tail and drop-head never mark. `model` refuses it where a flow has `ecn`
    opt mark_above: Threshold = threshold(at, room) => {
        kind: "threshold", default: Words("never"),
        engines: "sim live", refused_by: "model", kinds: "drop-tail drop-head",
        why: "drop-tail and drop-head know no marks", from: OWN,
    }
    /// weight of the error, which is the delay above the target, in an update: per second
    opt alpha: f64 [serde(skip_serializing_if = "Option::is_none")] = at.number() => {
        kind: "number above zero", default: Words("`0.125`; `dualpi2` `0.16`"),
        engines: "sim live", kinds: "pie fq-pie dualpi2",
        why: "stable for base RTTs up to 100 ms", from: "RFC 8033 (4.2), Linux 6.17 `sch_dualpi2`",
    }
    /// weight of the trend, which is the delay less the delay at the last update: per second
    opt beta: f64 [serde(skip_serializing_if = "Option::is_none")] = at.number() => {
        kind: "number above zero", default: Words("`1.25`; `dualpi2` `3.2`"),
        engines: "sim live", kinds: "pie fq-pie dualpi2",
        why: "as for `alpha`", from: "RFC 8033 (4.2), Linux 6.17 `sch_dualpi2`",
    }
    /// probability above which packets are dropped even if their flow has `ecn`
    opt ecn_probability: Fraction [serde(skip_serializing_if = "Option::is_none")] = at.fraction() => {
        kind: "share", default: Words("`0.1`"),
        engines: "sim live", kinds: "pie fq-pie",
        why: "flows that ignore marks must not fill the queue", from: "RFC 8033 (5.1)",
    }
    /// a packet of the L queue is marked with this times the probability whose square drops or marks one of the C queue
    opt coupling: u64 [serde(skip_serializing_if = "Option::is_none")] = at.integer(1..=255) => {
        kind: "whole number, 1 to 255", default: Words("`2`"),
        engines: "sim live", kinds: "dualpi2",
        why: "classic and scalable flows of one RTT get equal windows", from: "RFC 9332 (2.1)",
    }
    /// a packet of the L queue is marked as it leaves if it has waited longer than this, or leaves more packets behind
    opt step_threshold: StepThreshold [serde(skip_serializing_if = "Option::is_none")] = step(at) => {
        kind: "time, or a number of packets", default: Words("1 ms"),
        engines: "sim live", kinds: "dualpi2",
        why: "bursts of a millisecond pass", from: "Linux 6.17 `sch_dualpi2`",
    }
    /// packets that a packet must find in the L queue as it arrives, for `step_threshold` to apply. At 12 Mbit/s and
    /// below, a packet that waits for one other is above the default threshold, and scalable flows get little. Versions
    /// before Linux 6.17 had `2`
    opt step_queue: u64 [serde(skip_serializing_if = "Option::is_none")] = at.integer(0..=0xffff_ffff) => {
        kind: "whole number, 0 to 4294967295", default: Words("`0`"),
        engines: "sim live", kinds: "dualpi2",
        why: "the kernel's", from: "Linux 6.17 `sch_dualpi2` (`min_qlen_step`)",
    }
    /// share of the C queue while both queues have packets
    opt classic_protection: Fraction [serde(skip_serializing_if = "Option::is_none")] = at.fraction() => {
        kind: "share", default: Words("`0.1`"),
        engines: "sim live", kinds: "dualpi2",
        why: "scalable flows that do not respond cannot starve the others", from: "Linux 6.17 `sch_dualpi2`",
    }
    /// in overload both queues drop, whatever the `ecn` of a flow; otherwise they grow up to `limit`
    opt drop_on_overload: bool [serde(skip_serializing_if = "Option::is_none")] = at.boolean() => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "dualpi2",
        why: "delay stays bounded", from: "RFC 9332 (4.2), Linux 6.17 `sch_dualpi2`",
    }
    /// round-trip time of the flows. The delay aimed at is a 20th of it, and at least the time of one and a half
    /// packets
    opt rtt: Span [serde(skip_serializing_if = "Option::is_none")] = at.above_zero("ms", "a round-trip time of zero") => {
        kind: "time, 20 us or more", default: Words("100 ms"),
        engines: "sim live", kinds: "cake",
        why: "most paths of the Internet are shorter", from: "Linux `sch_cake`",
    }
    /// parties that have even shares. `triple`: sending hosts, receiving hosts, and the flows of each; a flow counts
    /// with the busier of its hosts. `dual-src` and `dual-dst`: the hosts of one side and their flows. `hosts`: pairs
    /// of hosts. `flows`: flows. A flow's hosts are its `sending_host` and `receiving_host`
    opt isolation: Isolation [serde(skip_serializing_if = "Option::is_none")] = at.word() => {
        kind: r#"`"triple"`, `"dual-src"`, `"dual-dst"`, `"hosts"`, `"flows"`"#, default: Words("`triple`"),
        engines: "sim live", kinds: "cake",
        why: "one host with many flows does not push others aside", from: "Linux `sch_cake`",
    }
    /// classes of packets by `dscp`. Each goes before best effort within its share of the rate. `diffserv3`: bulk
    /// (a 16th) and voice (a quarter). `diffserv4`: also video (a half). `besteffort`: one class
    opt tins: Tins [serde(skip_serializing_if = "Option::is_none")] = at.word() => {
        kind: r#"`"diffserv3"`, `"diffserv4"`, `"besteffort"`"#, default: Words("`diffserv3`"),
        engines: "sim live", kinds: "cake",
        why: "packets without a mark have all of the rate", from: "Linux `sch_cake`",
    }
}

/// Reads a wait or a number of packets.
fn step(at: &ValueAt<'_>) -> Option<StepThreshold> {
    let text = if let Value::String(text) = &at.node.value { text.parse().ok() } else { None };
    match text {
        Some(Limit::Time(time)) => return Some(StepThreshold::Time(time)),
        Some(Limit::Packets(packets)) => return Some(StepThreshold::Packets(packets)),
        Some(Limit::Bytes(_) | Limit::Bdp(_)) | None => {}
    }
    let number = matches!(at.node.value, Value::Integer(_) | Value::Float(_)).then(|| at.node.typed());
    let help = number.map(|number| format!("write \"{number}ms\" or \"{number} packets\""));
    at.fault(at.node.described(), "a time or packets, such as \"1ms\" or \"5 packets\"", help);
    None
}

/// Reads a queue in front of a link.
pub(crate) fn queue(at: &ValueAt<'_>) -> Option<Queue> {
    let (keys, kind, settings) = policy(at, QUEUE, |at| at.quantity(" packets"))?;
    let limit = keys.read("limit", limit);
    Some(Queue { kind: kind?, limit: limit?, settings: settings? })
}

/// The words for a limit of zero.
pub(crate) const NO_ROOM: &str = "a buffer of zero: it needs room for one packet";

/// Reads the limit of a queue.
pub(crate) fn limit(at: &ValueAt<'_>) -> Option<Limit> {
    at.above_zero(" packets", NO_ROOM)
}

/// Reads a queue's table of the `known` keys: its policy and its settings, with `room` as the reader of thresholds. The
/// caller reads the limit.
pub(crate) fn policy<'a>(at: &ValueAt<'a>, known: schema::Keys, room: ReadRoom) -> Option<Policy<'a>> {
    if let Value::String(limit) = &at.node.value {
        let (path, word) = (&at.path, limit.trim());
        // A policy begins with a letter, a limit with a digit.
        let (key, table) = match word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => ("kind", format!("{{ kind = \"{word}\", limit = \"1 bdp\" }}")),
            false => ("limit", format!("{{ kind = \"drop-tail\", limit = \"{word}\" }}")),
        };
        let help = match at.node.origin.file() {
            Some(_) => format!("write {table}"),
            None => format!("write {path}.{key}={word}"),
        };
        at.fault(at.node.described(), "a table with kind, limit", Some(help));
        return None;
    }
    let keys = at.keys(known)?;
    let kind = keys.read("kind", ValueAt::text);
    let settings = QueueSettingsRead::read(&keys, room).whole();
    Some((keys, kind, settings))
}

/// A queue's table, its kind, and its settings.
type Policy<'a> = (Keys<'a>, Option<String>, Option<QueueSettings>);

/// A reader of an amount of waiting data; links and cells accept different forms.
pub(crate) type ReadRoom = fn(&ValueAt<'_>) -> Option<Limit>;

/// Reads a number of mean packets, a share of the limit, or a text in a form of a limit.
fn threshold(at: &ValueAt<'_>, room: ReadRoom) -> Option<Threshold> {
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
