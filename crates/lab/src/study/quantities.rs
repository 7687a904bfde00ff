//! Swept values as numbers, which a table has in addition to the values as they are written.

use crate::run::resolve::{Resolved, ResolvedFlow, ResolvedLink, RoomScale};
use link::Limit;
use scenario::spec::Direction;
use units::{Bytes, Fraction, Rate, Span, split_quantity};

/// A swept value in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweptQuantity {
    /// The end of its column's name, behind the key: `_bytes`.
    pub suffix: &'static str,
    /// Its unit in files.
    pub unit: &'static str,
    /// The number.
    pub value: f64,
}

impl SweptQuantity {
    const fn new(suffix: &'static str, unit: &'static str, value: f64) -> Self {
        Self { suffix, unit, value }
    }
}

/// Returns the value `typed` of `key` in numbers; empty for a word, such as a control's name.
///
/// A queue's limit and a socket buffer are given in bytes, packets, bandwidth-delay products and milliseconds, whatever
/// unit `typed` has. For a queue the packets have the mean length of those that arrive there. The round-trip time is
/// the mean of the flows that cross the link. For a socket buffer the packets are full segments' payload. Its
/// round-trip time is the flow's, and its rate is the tight link's. The number in the unit of `typed` is as written,
/// although whole bytes may be a little less: 0.1 for "0.1 bdp".
pub(crate) fn quantities(resolved: &Resolved, key: &str, typed: &str) -> Vec<SweptQuantity> {
    if let Some(link) = key.ends_with("queue.limit").then(|| link_of(resolved, key)).flatten() {
        let scale = link.room_scale();
        // A wireless cell has no rate of its own, so its limit is given in bytes and packets only.
        let rate = if resolved.cell.is_some() { Rate::ZERO } else { scale.rate };
        let found = size(scale.bytes(link.limit), scale.packets(link.limit), RoomScale { rate, ..scale });
        return as_written(found, typed);
    }
    if key.ends_with("socket_buffer") {
        let flow = flow_of(resolved, key);
        let flow = flow.and_then(|flow| flow.receive_window().map(|buffer| (flow, buffer)));
        return flow.map_or_else(Vec::new, |(flow, bytes)| {
            let scale = RoomScale { rate: resolved.link.rate, mean_rtt: flow.base_rtt, packet: flow.payload };
            as_written(size(bytes, scale.packets(Limit::Bytes(bytes)), scale), typed)
        });
    }
    let Ok(quantity) = split_quantity(typed, "a number") else { return Vec::new() };
    let one = match quantity.unit {
        "" => SweptQuantity::new("_value", "1", quantity.value()),
        "packets" => SweptQuantity::new("_packets", "packets", quantity.value()),
        "bdp" => SweptQuantity::new("_bdp", "bdp", quantity.value()),
        _ => {
            let rate = || typed.parse::<Rate>().ok().map(|rate| ("_bps", "bit/s", rate.as_bps_f64()));
            let span = || typed.parse::<Span>().ok().map(|span| ("_s", "s", span.as_secs_f64()));
            let bytes = || typed.parse::<Bytes>().ok().map(|bytes| ("_bytes", "B", bytes.get() as f64));
            let share = || typed.parse::<Fraction>().ok().map(|share| ("_value", "1", share.get()));
            match rate().or_else(span).or_else(bytes).or_else(share) {
                Some((suffix, unit, value)) => SweptQuantity::new(suffix, unit, value),
                None => return Vec::new(),
            }
        }
    };
    vec![one]
}

/// Returns the numbers `found`, of which the one in the unit of `typed` has the value of `typed`.
fn as_written(mut found: Vec<SweptQuantity>, typed: &str) -> Vec<SweptQuantity> {
    let Ok(quantity) = split_quantity(typed, "a number") else { return found };
    let written = match quantity.unit {
        unit @ ("bdp" | "packets") => Some((unit, quantity.value())),
        _ => typed.parse::<Span>().ok().map(|span| ("ms", span.as_nanos() as f64 / 1e6)),
    };
    let own = written.and_then(|(unit, value)| Some((found.iter_mut().find(|one| one.unit == unit)?, value)));
    if let Some((one, value)) = own {
        one.value = value;
    }
    found
}

fn size(bytes: Bytes, packets: f64, scale: RoomScale) -> Vec<SweptQuantity> {
    let bytes = bytes.get() as f64;
    let mut found =
        vec![SweptQuantity::new("_bytes", "B", bytes), SweptQuantity::new("_packets", "packets", packets)];
    found.extend(scale.bdp(bytes).map(|share| SweptQuantity::new("_bdp", "bdp", share)));
    found.extend(scale.seconds(bytes).map(|time| SweptQuantity::new("_ms", "ms", time * 1e3)));
    found
}

/// Returns the link that the key of a limit names; the tight one, where it names none.
fn link_of<'a>(resolved: &'a Resolved, key: &str) -> Option<&'a ResolvedLink> {
    let (direction, place) = match key.strip_suffix(".queue.limit")?.strip_suffix(".reverse") {
        Some(place) => (Direction::Reverse, place),
        None => (Direction::Forward, key.strip_suffix(".queue.limit")?),
    };
    let mut links = resolved.links.iter().filter(|link| link.direction == direction);
    match place.strip_prefix("link.") {
        Some(name) => {
            let by_place = || links.clone().nth(name.parse().ok()?);
            links.clone().find(|link| link.name == name).or_else(by_place)
        }
        None if direction == Direction::Forward => resolved.links.get(resolved.tight),
        None => links.next(),
    }
}

/// Returns the flow that a key names; the first, where it names none.
fn flow_of<'a>(resolved: &'a Resolved, key: &str) -> Option<&'a ResolvedFlow> {
    let name = key.strip_prefix("flow.")?.rsplit_once('.').map(|(name, _)| name);
    let Some(name) = name else { return resolved.flows.first() };
    let beginning = name.strip_suffix('*');
    // If several are alike, `name-1`, `name-2`, …, the first is meant.
    let fits = |flow: &str| match beginning {
        Some(beginning) => flow.starts_with(beginning),
        None => flow == name || flow.strip_suffix("-1") == Some(name),
    };
    let by_place = || resolved.flows.iter().find(|flow| name.parse() == Ok(flow.entry));
    resolved.flows.iter().find(|flow| fits(&flow.name)).or_else(by_place)
}
