//! `[link]`, or `[[link]]` in path order.

use super::partial::PartialLink;
use crate::cursor::{Keys, ValueAt};
use crate::places;
use crate::spec::OverTime;
use crate::spec::Reverse;
use crate::tables::changes::rate;
use crate::tables::link::{LINK, LinkRead, REVERSE, ReverseRead};
use crate::tree::{Node, Value};
use std::collections::HashSet;
use units::Rate;

/// The most links. With more, the meters of all sources fill the memory.
const MOST_LINKS: usize = 1000;

/// Reads every link; at least one is required.
pub(super) fn links<'a>(root: &Keys<'a>) -> Option<Vec<PartialLink<'a>>> {
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
    let names = places::names("link", &nodes);
    let read: Vec<Option<PartialLink<'a>>> =
        tables.iter().zip(&names).map(|(at, name)| link(at, name)).collect();
    let read: Vec<PartialLink<'a>> = read.into_iter().collect::<Option<_>>()?;
    let mut seen = HashSet::new();
    for link in &read {
        if !seen.insert(&link.name) {
            let found = format!("a second link is named \"{}\"", link.name);
            link.keys.near("name").fault(found, "a name of its own for each link", None);
        }
    }
    Some(read)
}

fn link<'a>(at: &ValueAt<'a>, default_name: &str) -> Option<PartialLink<'a>> {
    let keys = at.keys(LINK)?;
    let mut read = LinkRead::read(&keys, ());
    read.name = keys.or("name", default_name, ValueAt::name);
    let reverse = keys.get("reverse").map(|at| reverse(&at, read.rate.clone()));
    read.reverse = match &reverse {
        None => Some(None),
        Some(back) => back.as_ref().and_then(|(_, reverse)| reverse.clone()).map(Some),
    };
    let name = read.name.clone().unwrap_or_else(|| default_name.to_owned());
    let reverse = reverse.flatten().map(|(keys, reverse)| (keys, reverse.map(|reverse| reverse.queue.limit)));
    Some(PartialLink { keys, name, read, reverse })
}

/// Reads the other direction of a link: its table, and its values if all of them could be read. By default it has the
/// `rate_of_link`.
fn reverse<'a>(
    at: &ValueAt<'a>,
    rate_of_link: Option<OverTime<Rate>>,
) -> Option<(Keys<'a>, Option<Reverse>)> {
    let keys = at.keys(REVERSE)?;
    let mut read = ReverseRead::read(&keys, ());
    read.rate = keys.get("rate").map_or(rate_of_link, |at| rate(&at));
    Some((keys, read.whole()))
}
