//! `[link]`, its queue, and its other direction.

use super::changes::{DELAY_OVER_TIME, LOSS, OUTAGE, RATE_OVER_TIME, delay, loss, outage, rate};
use super::queue::{QUEUE, QUEUE_WRITTEN, Queue, queue};
use super::shaper::{SHAPER, Shaper, shaper};
use crate::changes::{Loss, Outage, OverTime};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN, RATE};
use crate::table::table;
use serde::Serialize;
use units::{Rate, Span};

table! {
    /// `[link]` or one `[[link]]`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Link {}
    read LinkRead |at, read, _context: ()|;
    keys LINK = [LINKS];

    group LINKS from KEY;

    /// names the link in paths and results
    pub name: String => {
        kind: "text", default: Words(r#"`"link-1"`, `"link-2"`, …"#),
        why: "a single link needs no name", from: OWN,
    }
    /// capacity, at the IP layer. `live`: up to 7 Gbit/s with 1500-byte packets. A table describes a rate that
    /// [changes](../guide/changing-links.md); a step may be zero
    pub rate: OverTime<Rate> = rate(at) => {
        kind: "rate above zero, or a table with `trace` or `steps`", default: Required(RATE),
        within: RATE_OVER_TIME,
    }
    /// one-way propagation delay. If it changes, base RTTs contain the least value, and the other direction has it
    /// throughout
    pub delay: OverTime<Span> = delay(at) => {
        kind: "time, or a table with `trace` or `steps`", default: Written(r#""0s""#),
        why: "a link has no delay unless one is written; a flow's `rtt` can hold all of it", from: OWN,
        within: DELAY_OVER_TIME,
    }
    /// the queue in front of the link, see [queues](../guide/scenario.md#queues)
    pub queue: Queue = queue(at) => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        within: QUEUE,
    }
    /// a shaper in front of the queue, see [shapers](../guide/scenario.md#shapers). `rate` and `queue` of the link are
    /// then those of the modem behind it
    opt shaper: Shaper [serde(skip_serializing_if = "Option::is_none")] = shaper(at) => {
        kind: "table with `rate`, `queue`, `overhead`, `mpu`, `framing`",
        engines: "sim live", refused_by: "model", within: SHAPER,
    }
    /// each arriving packet is lost with this probability, whatever the queue holds. A table describes losses that
    /// come in bursts, by time, or to certain packets
    pub loss: Loss = loss(at) => {
        kind: "share below 1, or a table with `gilbert_elliott`, `trace`, `steps` or `packets`",
        default: Written("0"), why: "losses come from the queue", from: OWN, within: LOSS,
    }
    /// times at which nothing leaves the link, and packets wait. Only the forward direction has them
    opt outage: Outage [serde(skip_serializing_if = "Option::is_none")] = outage(at) => {
        kind: "table with `every`, `length`, `first`",
        engines: "sim live", refused_by: "model", within: OUTAGE,
    }
    /// each packet takes up to this much longer than `delay`, by a uniform distribution of its own, and may
    /// overtake others: reordering
    pub jitter: Span [serde(skip_serializing_if = "Span::is_zero")] = at.quantity("ms") => {
        kind: "time", default: Written(r#""0s""#),
        engines: "sim live", refused_by: "model",
        why: "packets stay in order on one wire", from: OWN,
    }
    /// the router's feedback to senders. Flows with the `control` of that name need the router and send it a
    /// header with every packet. The router counts other flows. One link without `reverse` only, behind any
    /// queue. Only `sim` has such controls
    opt assist: String [serde(skip_serializing_if = "Option::is_none")] = at.text() => {
        kind: r#"`"xcp"`, `"rcp"`"#, default: Words("none"),
        engines: "sim",
    }
    /// the link's other direction, with the same delay. `reverse.queue` is as `queue`, and required;
    /// `reverse.rate` is the link's own if absent, `reverse.loss` is 0
    pub reverse: Option<Reverse> => {
        kind: "table with `rate`, `queue`, `loss`", default: Words("none"),
        engines: "sim", refused_by: "model live", within: REVERSE,
    }
}

table! {
    /// `reverse = { … }` of a link: its other direction, with the same delay.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Reverse {}
    read ReverseRead |at, read, _context: ()|;
    keys REVERSE = [REVERSED];

    group REVERSED from KEY;

    /// capacity of the other direction
    pub rate: OverTime<Rate> => {
        kind: "rate above zero, or a table as for `rate`", default: Words("the link's own"),
        engines: "sim", refused_by: "model live",
        why: "most links are symmetric", from: OWN, within: RATE_OVER_TIME,
    }
    /// the queue in front of the other direction
    pub queue: Queue = queue(at) => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        engines: "sim", refused_by: "model live", within: QUEUE,
    }
    /// a shaper in front of the other direction's queue; it is not the link's own unless it is written again
    opt shaper: Shaper [serde(skip_serializing_if = "Option::is_none")] = shaper(at) => {
        kind: "table as for `shaper`",
        engines: "sim", refused_by: "model live", within: SHAPER,
    }
    /// each packet that arrives for the other direction is lost with this probability
    pub loss: Loss = loss(at) => {
        kind: "share below 1, or a table as for `loss`", default: Written("0"),
        engines: "sim", refused_by: "model live",
        why: "losses come from the queue", from: OWN, within: LOSS,
    }
}
