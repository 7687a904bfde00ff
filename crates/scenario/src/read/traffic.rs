//! `[[traffic]]`: packets that do not answer to congestion.

use super::keys::{At, Keys};
use super::repeated;
use super::way::Ways;
use crate::document::{Node, path};
use crate::schema;
use crate::spec::{Pattern, Traffic};
use std::collections::HashSet;
use units::{Bytes, Rate, Span};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Cbr,
    Poisson,
    OnOff,
}

const KINDS: &[(&str, Kind)] = &[("cbr", Kind::Cbr), ("poisson", Kind::Poisson), ("on-off", Kind::OnOff)];
const RATE: &str = "a rate such as \"100Mbit/s\"";

/// Reads all traffic; there may be none.
pub(super) fn traffic(root: &Keys<'_>, ways: &Ways) -> Option<Vec<Traffic>> {
    let tables = repeated(root, "traffic")?;
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let names = path::names("traffic", &nodes);
    let mut seen = HashSet::new();
    let read: Vec<_> = tables
        .iter()
        .zip(&names)
        .map(|(at, name)| {
            let keys = at.keys(schema::TRAFFIC)?;
            if !seen.insert(name) {
                let found = format!("a second traffic is named \"{name}\"");
                keys.near("name").fault(found, "a name of its own for each traffic", None);
            }
            one(&keys, name, ways)
        })
        .collect();
    read.into_iter().collect()
}

fn one(keys: &Keys<'_>, default_name: &str, ways: &Ways) -> Option<Traffic> {
    let name = keys.or("name", default_name, At::text);
    let kind = keys.required("kind", "\"cbr\", \"poisson\", \"on-off\"", |at| at.word(KINDS));
    let rate = keys.required("rate", RATE, |at| at.above_zero("Mbit/s", "a rate of zero: no traffic"));
    let packet = keys.or("packet", Bytes::new(1500), packet);
    let start = keys.or("start", Span::ZERO, |at| at.quantity("s"));
    let stop = keys.optional("stop", |at| stop(at, start));
    let pattern = pattern(keys, kind, rate);
    let way = ways.read(keys);
    Some(Traffic {
        name: name?,
        pattern: pattern?,
        rate: rate?,
        packet: packet?,
        start: start?,
        stop: stop?,
        path: way.names?,
        direction: way.direction?,
    })
}

fn packet(at: &At<'_>) -> Option<Bytes> {
    let packet: Bytes = at.above_zero("B", "packets of zero bytes")?;
    if packet > Bytes::new(65_535) {
        at.fault(format!("packets of {packet}"), "a size on the wire from \"1B\" to \"65535B\"", None);
        return None;
    }
    Some(packet)
}

fn stop(at: &At<'_>, start: Option<Span>) -> Option<Span> {
    let stop: Span = at.quantity("s")?;
    if let Some(start) = start.filter(|start| stop <= *start) {
        at.fault(format!("it stops at {stop} but starts at {start}"), format!("a time after {start}"), None);
        return None;
    }
    Some(stop)
}

fn pattern(keys: &Keys<'_>, kind: Option<Kind>, rate: Option<Rate>) -> Option<Pattern> {
    let bursts = || {
        let peak: Option<Rate> = keys.required("peak", RATE, |at| {
            let peak: Rate = at.quantity("Mbit/s")?;
            if let Some(rate) = rate.filter(|rate| peak <= *rate) {
                let found = format!("a peak of {peak}, not above the mean rate of {rate}");
                at.fault(found, format!("a rate above {rate}, the rate within a burst"), None);
                return None;
            }
            Some(peak)
        });
        let burst = keys.required("burst", "the mean length of a burst, such as \"50ms\"", |at| {
            at.above_zero("ms", "bursts of zero length")
        });
        Some(Pattern::OnOff { peak: peak?, burst: burst? })
    };
    let pattern = match kind? {
        Kind::OnOff => return bursts(),
        Kind::Cbr => Pattern::Cbr,
        Kind::Poisson => Pattern::Poisson,
    };
    let stray = ["peak", "burst"].map(|key| {
        let origin = keys.key_origin(key)?;
        let found = format!("this key belongs to kind = \"on-off\", not to \"{}\"", word(kind?));
        keys.near(key).fault_from(origin, found, "name, kind, rate, packet, start, stop", None);
        Some(())
    });
    stray.iter().all(Option::is_none).then_some(pattern)
}

fn word(kind: Kind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or("", |(word, _)| word)
}
