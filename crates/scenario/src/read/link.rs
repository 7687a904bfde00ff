//! `[link]`, or `[[link]]` in path order.

use super::keys::{At, Keys};
use super::settings;
use crate::document::Value;
use crate::schema;
use crate::spec::{Limit, Link, Queue};
use units::{Fraction, Rate, Span};

/// A link as far as it could be read, with what the checks across tables need.
pub(super) struct LinkRead<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) delay: Option<Span>,
    pub(super) limit: Option<Limit>,
    pub(super) link: Option<Link>,
}

/// Reads every link; at least one is needed.
pub(super) fn links<'a>(root: &Keys<'a>) -> Option<Vec<LinkRead<'a>>> {
    let missing = || root.near("link").fault("missing", "a [link] with a rate and a queue", None);
    let Some(at) = root.get("link") else {
        missing();
        return None;
    };
    let tables = match &at.node.value {
        Value::List(items) if items.is_empty() => {
            missing();
            return None;
        }
        Value::List(_) => at.items(),
        _ => vec![at],
    };
    let read: Vec<Option<LinkRead<'a>>> = tables.iter().map(link).collect();
    read.into_iter().collect()
}

fn link<'a>(at: &At<'a>) -> Option<LinkRead<'a>> {
    let keys = at.keys(schema::LINK)?;
    let rate: Option<Rate> = keys.required("rate", "a rate such as \"100Mbit/s\"", |at| {
        at.above_zero("Mbit/s", "a rate of zero: nothing would pass")
    });
    let delay = keys.or("delay", Span::ZERO, |at| at.quantity("ms"));
    let loss = keys.or("loss", Fraction::ZERO, |at| {
        let loss = at.fraction()?;
        if loss == Fraction::ONE {
            at.fault("a loss of 100%: nothing would pass", "a share below 1, such as \"0.5%\"", None);
            return None;
        }
        Some(loss)
    });
    let queue =
        keys.required("queue", "a queue such as { kind = \"drop-tail\", limit = \"0.25 bdp\" }", queue);
    let limit = queue.as_ref().map(|queue| queue.limit);
    let link = rate.zip(delay).zip(queue).zip(loss).map(|(((rate, delay), queue), loss)| Link {
        rate,
        delay,
        queue,
        loss,
    });
    Some(LinkRead { keys, delay, limit, link })
}

fn queue(at: &At<'_>) -> Option<Queue> {
    if let Value::String(limit) = &at.node.value {
        let help = format!("write {{ kind = \"drop-tail\", limit = \"{limit}\" }}");
        at.fault(at.node.described(), "a table with kind, limit", Some(help));
        return None;
    }
    let keys = at.keys(schema::QUEUE)?;
    let kind = keys.or("kind", "drop-tail", At::text);
    let accepted =
        "the room for waiting packets, such as \"250 packets\", \"512kB\", \"40ms\" or \"0.25 bdp\"";
    let limit = keys.required("limit", accepted, |at| {
        at.above_zero(" packets", "a buffer of zero: it needs room for one packet")
    });
    let settings = settings::settings(&keys);
    Some(Queue { kind: kind?, limit: limit?, settings: settings? })
}
