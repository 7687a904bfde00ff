//! `[link]` and its queue.

use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN, RATE};
use crate::table::keys;

pub(super) const QUEUE_WRITTEN: &str = r#"a queue such as { kind = "drop-tail", limit = "0.25 bdp" }"#;

keys! {
    /// `[link]`.
    pub(crate) table LINK from KEY;

    /// names the link in paths and results
    key name => {
        kind: "text", default: Words(r#"`"link-1"`, `"link-2"`, …"#),
        why: "a single link needs no name", from: OWN,
    }
    /// capacity, at the IP layer. `live`: up to 7 Gbit/s with 1500-byte packets
    key rate => {
        kind: "rate above zero", default: Required(RATE),
    }
    /// one-way propagation delay
    key delay => {
        kind: "time", default: Written(r#""0s""#),
        why: "a link has no delay unless one is written; a flow's `rtt` can hold all of it", from: OWN,
    }
    /// the queue in front of the link, see [queues](../guide/scenario.md#queues)
    key queue => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        within: QUEUE,
    }
    /// each arriving packet is lost with this probability, whatever the queue holds
    key loss => {
        kind: "share below 1", default: Written("0"),
        why: "losses come from the queue", from: OWN,
    }
    /// each packet takes up to this much longer than `delay`, by a uniform distribution of its own, and may
    /// overtake others: reordering
    key jitter => {
        kind: "time", default: Written(r#""0s""#),
        engines: "sim live", refused_by: "model",
        why: "packets stay in order on one wire", from: OWN,
    }
    /// the router's feedback to senders. Flows with the `control` of that name need the router and send it a
    /// header with every packet. The router counts other flows. One link without `reverse` only, behind any
    /// queue. Only `sim` has such controls
    key assist => {
        kind: r#"`"xcp"`, `"rcp"`"#, default: Words("none"),
        engines: "sim",
    }
    /// the link's other direction, with the same delay. `reverse.queue` is as `queue`, and required;
    /// `reverse.rate` is the link's own if absent, `reverse.loss` is 0
    key reverse => {
        kind: "table with `rate`, `queue`, `loss`", default: Words("none"),
        engines: "sim", refused_by: "model live", within: REVERSE,
    }
}

keys! {
    /// `reverse = { … }` of a link.
    pub(crate) table REVERSE from KEY;

    /// capacity of the other direction
    key rate => {
        kind: "rate above zero", default: Words("the link's own"),
        engines: "sim", refused_by: "model live",
        why: "most links are symmetric", from: OWN,
    }
    /// the queue in front of the other direction
    key queue => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        engines: "sim", refused_by: "model live", within: QUEUE,
    }
    /// each packet that arrives for the other direction is lost with this probability
    key loss => {
        kind: "share below 1", default: Written("0"),
        engines: "sim", refused_by: "model live",
        why: "losses come from the queue", from: OWN,
    }
}

keys! {
    /// `[link.queue]`.
    pub(crate) table QUEUE from KEY;

    /// the queue policy, one of `tightlink list queues`. `model` has theories of `drop-tail`, `red` and
    /// `adaptive-red`
    key kind => {
        kind: "text", default: Written(r#""drop-tail""#),
        engines: "sim live", refused_by: "model",
        why: "most interfaces drop arrivals when the queue is full", from: "RFC 2309 (2)",
    }
    /// how much may wait. It counts waiting data; the packet being sent is not in it. It must hold one
    /// segment
    key limit => {
        kind: "room above zero",
        default: Required(r#"the room for waiting packets, such as "250 packets", "512kB", "40ms" or "0.25 bdp""#),
    }
    /// queueing delay aimed at
    key target => {
        kind: "time above zero", default: Words("5 ms; `pie` 15 ms"),
        engines: "sim live", kinds: "codel fq-codel pie adaptive-red",
        why: "`codel`: 5 % of the interval keeps the link busy. `pie`: the RFC's. `adaptive-red`: ns-2's",
        from: "RFC 8289 (4.3), RFC 8033 (4.2), ns-2 `red.cc`",
    }
    /// `codel`, `fq-codel`: how long the target may be exceeded; else the time between updates
    key interval => {
        kind: "time, 1 us or more", default: Words("100 ms; `pie` 15 ms, `adaptive-red` 500 ms"),
        engines: "sim live", kinds: "codel fq-codel pie adaptive-red",
        why: "`codel`: a base RTT of 100 ms, which most paths keep below. `pie`, `red`: the sources' times between updates",
        from: "RFC 8289 (4.2), RFC 8033 (4.2), Floyd, Gummadi and Shenker 2001",
    }
    /// how long after a time without congestion nothing is dropped
    key burst => {
        kind: "time", default: Words("150 ms"),
        engines: "sim live", kinds: "pie",
        why: "bursts of 150 ms pass without drops", from: "RFC 8033 (4.4)",
    }
    /// drops are kept from clustering
    key derandomize => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "pie",
        why: "drops that cluster cost a flow a timeout", from: "RFC 8033 (5.4), Linux `sch_pie`",
    }
    /// average queue from which packets are dropped
    key min_threshold => {
        kind: "threshold",
        default: Words("`red`: 0.4 of `max_threshold`; `adaptive-red`: what goes through in half the target, 5 packets at least, and a third of `limit` at most"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: a range wide enough that windows do not synchronize. `adaptive-red`: half the target's packets",
        from: "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001",
    }
    /// average queue at which the probability is `max_probability`. Given alone, either threshold keeps the
    /// default's ratio to the other
    key max_threshold => {
        kind: "threshold above `min_threshold`",
        default: Words("`red`: the lesser of `limit` and what goes through in 100 ms; `adaptive-red`: 3 `min_threshold`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: a base RTT of 100 ms, as for CoDel. `adaptive-red`: three times the lower threshold",
        from: "RFC 8289 (4.2); Floyd, Gummadi and Shenker 2001",
    }
    /// probability at `max_threshold`; `adaptive-red`: where it starts
    key max_probability => {
        kind: "share above zero", default: Words("`0.1`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "the later recommendation of RED's author", from: "Floyd 2000, gentle RED",
    }
    /// weight of one arrival in the average
    key weight => {
        kind: "share above zero",
        default: Words("`red`: 0.002; `adaptive-red`: 1 - exp(-1/C), C in packets/s"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "`red`: an average over 500 packets. `adaptive-red`: over one second",
        from: "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001",
    }
    /// beyond `max_threshold` the probability climbs to 1 at twice that, rather than jump
    key gentle => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "without it a small excess drops every packet", from: "Floyd 2000, gentle RED",
    }
    /// drops keep a distance
    key wait => {
        kind: "`true`, `false`", default: Words("`false`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "the algorithm of 1993 without ns-2's change", from: "Floyd and Jacobson 1993",
    }
    /// queue and probability go by bytes
    key by_bytes => {
        kind: "`true`, `false`", default: Words("`false`"),
        engines: "sim live", kinds: "red adaptive-red",
        why: "packets have one size in most scenarios", from: "Floyd and Jacobson 1993",
    }
    /// what a flow sends in a turn
    key quantum => {
        kind: "size above zero", default: Words("1514 B"),
        engines: "sim live", kinds: "fq-codel",
        why: "one frame of Ethernet", from: "RFC 8290 (5.2.4)",
    }
    /// number of queues
    key flows => {
        kind: "whole number, 1 to 65536", default: Words("1024"),
        engines: "sim live", kinds: "fq-codel",
        why: "few flows share a queue", from: "RFC 8290 (5.2.5)",
    }
    /// packets of flows with `ecn` are marked rather than dropped
    key ecn => {
        kind: "`true`, `false`", default: Words("`true`"),
        engines: "sim live", kinds: "red adaptive-red codel pie fq-codel",
        why: "a flow without `ecn` is not touched by it", from: "RFC 3168 (5), Linux `sch_fq_codel`",
    }
    /// step marking as for DCTCP (RFC 8257): an arrival that a queue of this room would drop is marked, if
    /// its flow has `ecn`. With 0 that is every packet that has to wait; one that finds the link idle does
    /// not wait and is not marked. These two have no other early sign, so without it they never mark. `model`
    /// refuses it where a flow has `ecn`
    key mark_above => {
        kind: "threshold", default: Words("never"),
        engines: "sim live", refused_by: "model", kinds: "drop-tail drop-head",
        why: "drop-tail and drop-head know no marks", from: OWN,
    }
}
