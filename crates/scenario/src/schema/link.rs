//! `[link]` and its queue.

use super::DefaultValue::{Required, Words, Written};
use super::{KEY, Key, Keys, RATE, ROOM};

pub(super) const QUEUE_WRITTEN: &str = r#"a queue such as { kind = "drop-tail", limit = "0.25 bdp" }"#;

/// `[link]`.
pub(crate) const LINK: Keys = &[&[
    Key {
        name: "name",
        kind: "text",
        default: Words(r#"`"link-1"`, `"link-2"`, …"#),
        meaning: "names the link in paths and results",
        ..KEY
    },
    Key {
        name: "rate",
        kind: "rate above zero",
        default: Required(RATE),
        meaning: "capacity, at the IP layer. `live`: up to 7 Gbit/s with 1500-byte packets",
        ..KEY
    },
    Key {
        name: "delay",
        kind: "time",
        default: Written(r#""0s""#),
        meaning: "one-way propagation delay",
        ..KEY
    },
    Key {
        name: "queue",
        kind: "table",
        default: Required(QUEUE_WRITTEN),
        within: QUEUE,
        meaning: "the queue in front of the link, see [queues](../guide/scenario.md#queues)",
        ..KEY
    },
    Key {
        name: "loss",
        kind: "share below 1",
        default: Written("0"),
        meaning: "each arriving packet is lost with this probability, whatever the queue holds",
        ..KEY
    },
    Key {
        name: "jitter",
        kind: "time",
        default: Written(r#""0s""#),
        engines: "sim live",
        refused_by: "model",
        meaning: "each packet takes up to this much longer than `delay`, by a uniform distribution of its own, and may \
             overtake others: reordering",
        ..KEY
    },
    Key {
        name: "assist",
        kind: r#"`"xcp"`, `"rcp"`"#,
        default: Words("none"),
        engines: "sim",
        meaning: "the router's feedback to senders. Flows with the `control` of that name need the router and send it \
             a header with every packet. The router counts other flows. One link without `reverse` only, behind \
             any queue. Only `sim` has such controls",
        ..KEY
    },
    Key {
        name: "reverse",
        kind: "table with `rate`, `queue`, `loss`",
        default: Words("none"),
        engines: "sim",
        refused_by: "model live",
        within: REVERSE,
        meaning: "the link's other direction, with the same delay. `reverse.queue` is as `queue`, and required; \
             `reverse.rate` is the link's own if absent, `reverse.loss` is 0",
        ..KEY
    },
]];

/// `reverse = { … }` of a link.
pub(crate) const REVERSE: Keys = &[&[
    Key {
        name: "rate",
        kind: "rate above zero",
        default: Words("the link's own"),
        engines: "sim",
        refused_by: "model live",
        meaning: "capacity of the other direction",
        ..KEY
    },
    Key {
        name: "queue",
        kind: "table",
        default: Required(QUEUE_WRITTEN),
        engines: "sim",
        refused_by: "model live",
        within: QUEUE,
        meaning: "the queue in front of the other direction",
        ..KEY
    },
    Key {
        name: "loss",
        kind: "share below 1",
        default: Written("0"),
        engines: "sim",
        refused_by: "model live",
        meaning: "each packet that arrives for the other direction is lost with this probability",
        ..KEY
    },
]];

/// `[link.queue]`.
pub(crate) const QUEUE: Keys = &[&[
    Key {
        name: "kind",
        kind: "text",
        default: Written(r#""drop-tail""#),
        engines: "sim live",
        refused_by: "model",
        meaning: "the queue policy, one of `tightlink list queues`. `model` has theories of `drop-tail`, `red` and \
             `adaptive-red`",
        ..KEY
    },
    Key {
        name: "limit",
        kind: ROOM,
        default: Required(
            r#"the room for waiting packets, such as "250 packets", "512kB", "40ms" or "0.25 bdp""#,
        ),
        meaning: "how much may wait. It counts waiting data; the packet being sent is not in it. It must hold \
             one segment",
        ..KEY
    },
    Key {
        name: "target",
        kind: "time above zero",
        default: Words("5 ms; `pie` 15 ms"),
        engines: "sim live",
        kinds: "codel fq-codel pie adaptive-red",
        meaning: "queueing delay aimed at",
        ..KEY
    },
    Key {
        name: "interval",
        kind: "time, 1 us or more",
        default: Words("100 ms; `pie` 15 ms, `adaptive-red` 500 ms"),
        engines: "sim live",
        kinds: "codel fq-codel pie adaptive-red",
        meaning: "`codel`, `fq-codel`: how long the target may be exceeded; else the time between updates",
        ..KEY
    },
    Key {
        name: "burst",
        kind: "time",
        default: Words("150 ms"),
        engines: "sim live",
        kinds: "pie",
        meaning: "how long after a time without congestion nothing is dropped",
        ..KEY
    },
    Key {
        name: "derandomize",
        kind: "`true`, `false`",
        default: Words("`true`"),
        engines: "sim live",
        kinds: "pie",
        meaning: "drops are kept from clustering",
        ..KEY
    },
    Key {
        name: "min_threshold",
        kind: "threshold",
        default: Words(
            "`red`: 0.4 of `max_threshold`; `adaptive-red`: what goes through in half the target, 5 packets at least, \
 and a third of `limit` at most",
        ),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "average queue from which packets are dropped",
        ..KEY
    },
    Key {
        name: "max_threshold",
        kind: "threshold above `min_threshold`",
        default: Words(
            "`red`: the lesser of `limit` and what goes through in 100 ms; `adaptive-red`: 3 `min_threshold`",
        ),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "average queue at which the probability is `max_probability`. Given alone, either threshold \
             keeps the default's ratio to the other",
        ..KEY
    },
    Key {
        name: "max_probability",
        kind: "share above zero",
        default: Words("`0.1`"),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "probability at `max_threshold`; `adaptive-red`: where it starts",
        ..KEY
    },
    Key {
        name: "weight",
        kind: "share above zero",
        default: Words("`red`: 0.002; `adaptive-red`: 1 - exp(-1/C), C in packets/s"),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "weight of one arrival in the average",
        ..KEY
    },
    Key {
        name: "gentle",
        kind: "`true`, `false`",
        default: Words("`true`"),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "beyond `max_threshold` the probability climbs to 1 at twice that, rather than jump",
        ..KEY
    },
    Key {
        name: "wait",
        kind: "`true`, `false`",
        default: Words("`false`"),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "drops keep a distance",
        ..KEY
    },
    Key {
        name: "by_bytes",
        kind: "`true`, `false`",
        default: Words("`false`"),
        engines: "sim live",
        kinds: "red adaptive-red",
        meaning: "queue and probability go by bytes",
        ..KEY
    },
    Key {
        name: "quantum",
        kind: "size above zero",
        default: Words("1514 B"),
        engines: "sim live",
        kinds: "fq-codel",
        meaning: "what a flow sends in a turn",
        ..KEY
    },
    Key {
        name: "flows",
        kind: "whole number, 1 to 65536",
        default: Words("1024"),
        engines: "sim live",
        kinds: "fq-codel",
        meaning: "number of queues",
        ..KEY
    },
    Key {
        name: "ecn",
        kind: "`true`, `false`",
        default: Words("`true`"),
        engines: "sim live",
        kinds: "red adaptive-red codel pie fq-codel",
        meaning: "packets of flows with `ecn` are marked rather than dropped",
        ..KEY
    },
    Key {
        name: "mark_above",
        kind: "threshold",
        default: Words("never"),
        engines: "sim live",
        refused_by: "model",
        kinds: "drop-tail drop-head",
        meaning: "step marking as for DCTCP (RFC 8257): an arrival that a queue of this room would drop is marked, if \
             its flow has `ecn`. With 0 that is every packet that has to wait; one that finds the link idle does \
             not wait and is not marked. These two have no other early sign, so without it they never mark. \
             `model` refuses it where a flow has `ecn`",
        ..KEY
    },
]];
