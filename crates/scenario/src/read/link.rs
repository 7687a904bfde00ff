//! `[link]`, or `[[link]]` in path order.

use super::settings;
use crate::cursor::{At, Keys};
use crate::path;
use crate::schema;
use crate::spec::{Limit, Link, Queue, QueueSettings, Reverse};
use crate::tables;
use crate::tree::{Node, Value};
use std::collections::HashSet;
use units::{Fraction, Rate, Span};

/// A link as far as it could be read, with what the checks across tables need.
pub(super) struct LinkRead<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) name: String,
    pub(super) delay: Option<Span>,
    pub(super) limit: Option<Limit>,
    /// The other direction, if there is one, and its room.
    pub(super) reverse: Option<(Keys<'a>, Option<Limit>)>,
    pub(super) link: Option<Link>,
}

/// More links than this have the meters of all sources fill the memory.
const MOST_LINKS: usize = 1000;

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
    if tables.len() > MOST_LINKS {
        root.near("link").fault(format!("{} links", tables.len()), format!("at most {MOST_LINKS}"), None);
        return None;
    }
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let names = path::names("link", &nodes);
    let read: Vec<Option<LinkRead<'a>>> =
        tables.iter().zip(&names).map(|(at, name)| link(at, name)).collect();
    let read: Vec<LinkRead<'a>> = read.into_iter().collect::<Option<_>>()?;
    let mut seen = HashSet::new();
    for link in &read {
        if !seen.insert(&link.name) {
            let found = format!("a second link is named \"{}\"", link.name);
            link.keys.near("name").fault(found, "a name of its own for each link", None);
        }
    }
    Some(read)
}

fn link<'a>(at: &At<'a>, default_name: &str) -> Option<LinkRead<'a>> {
    let keys = at.keys(tables::LINK)?;
    let name = keys.or("name", default_name, At::name);
    let rate = keys.read("rate", rate);
    let delay = keys.read("delay", |at| at.quantity("ms"));
    let loss = keys.read("loss", loss);
    let jitter = keys.read("jitter", |at| at.quantity("ms"));
    let queue = keys.read("queue", queue);
    let limit = queue.as_ref().map(|queue| queue.limit);
    let assist = keys.optional("assist", At::text);
    let reverse = keys.optional("reverse", |at| Some(reverse(at, rate)));
    let (reverse, read) = match reverse.flatten() {
        None => (None, Some(None)),
        Some(read) => (
            read.as_ref()
                .map(|(keys, reverse)| (keys.clone(), reverse.as_ref().map(|reverse| reverse.queue.limit))),
            read.and_then(|(_, reverse)| reverse).map(Some),
        ),
    };
    let name_read = name.clone().unwrap_or_else(|| default_name.to_owned());
    let link = || {
        Some(Link {
            name: name?,
            rate: rate?,
            delay: delay?,
            queue: queue?,
            loss: loss?,
            jitter: jitter?,
            assist: assist?,
            reverse: read?,
        })
    };
    Some(LinkRead { name: name_read, delay, limit, reverse, link: link(), keys })
}

/// Reads the other direction of a link of `rate`: its table, and what it says if all of it could be read.
fn reverse<'a>(at: &At<'a>, rate: Option<Rate>) -> Option<(Keys<'a>, Option<Reverse>)> {
    let keys = at.keys(tables::REVERSE)?;
    let rate = match keys.get("rate") {
        None => rate,
        Some(at) => self::rate(&at),
    };
    let queue = keys.read("queue", queue);
    let loss = keys.read("loss", loss);
    let reverse = || Some(Reverse { rate: rate?, queue: queue?, loss: loss? });
    let reverse = reverse();
    Some((keys, reverse))
}

/// Reads a rate. A list, a table or a file of rates is what other tools have for a rate that changes.
fn rate(at: &At<'_>) -> Option<Rate> {
    let changes = match &at.node.value {
        Value::List(_) | Value::Table(_) => true,
        Value::String(text) => {
            let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
            let is_unit = ["bit", "bps"].iter().any(|unit| ending.to_ascii_lowercase().contains(unit));
            ending.len() > 1 && ending.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_unit
        }
        _ => false,
    };
    if changes {
        let help = "a rate that changes is the highest one here, and [[traffic]] of kind \"cbr\" that takes the \
                    difference from its start to its stop: docs/guide/scenario.md";
        at.fault(at.node.described(), "one rate for the whole run, such as \"16Mbit/s\"", Some(help.into()));
        return None;
    }
    at.above_zero("Mbit/s", "a rate of zero: nothing would pass")
}

fn loss(at: &At<'_>) -> Option<Fraction> {
    let loss = at.fraction()?;
    if loss == Fraction::ONE {
        at.fault("a loss of 100%: nothing would pass", "a share below 1, such as \"0.5%\"", None);
        return None;
    }
    Some(loss)
}

/// Reads a queue in front of a link.
pub(super) fn queue(at: &At<'_>) -> Option<Queue> {
    let (keys, kind, settings) = policy(at, tables::QUEUE, |at| at.quantity(" packets"))?;
    let limit = keys.read("limit", limit);
    Some(Queue { kind: kind?, limit: limit?, settings: settings? })
}

/// What a limit of zero would be.
pub(super) const NO_ROOM: &str = "a buffer of zero: it needs room for one packet";

/// Reads the room in a queue.
pub(super) fn limit(at: &At<'_>) -> Option<Limit> {
    at.above_zero(" packets", NO_ROOM)
}

/// Reads a queue's table of the keys `known`: its policy and what is set of it, thresholds by `room`. The limit is
/// left to others.
pub(super) fn policy<'a>(at: &At<'a>, known: schema::Keys, room: settings::ReadRoom) -> Option<Policy<'a>> {
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
    let kind = keys.read("kind", At::text);
    let settings = settings::settings(&keys, room);
    Some((keys, kind, settings))
}

/// A queue's table, its kind, and what is set of it.
type Policy<'a> = (Keys<'a>, Option<String>, Option<QueueSettings>);
