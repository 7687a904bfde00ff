//! `[[traffic]]`: packets that do not respond to congestion. `read/sessions.rs` reads the kind whose packets respond.

use super::partial::{PartialTraffic, PartialWay};
use super::way::LinkNames;
use super::{repeated, sessions};
use crate::cursor::{Keys, ValueAt};
use crate::places;
use crate::schema::{self, Keys as Known};
use crate::spec::{Pattern, Replay, Traffic};
use crate::tables;
use crate::tables::marking::MarkingRead;
use crate::tree::{Node, Value};
use std::collections::HashSet;
use units::{Bytes, Rate, Span};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Cbr,
    Poisson,
    OnOff,
    Replay,
    Engset,
}

const KINDS: &[(&str, Kind)] = &[
    ("cbr", Kind::Cbr),
    ("poisson", Kind::Poisson),
    ("on-off", Kind::OnOff),
    ("replay", Kind::Replay),
    ("engset", Kind::Engset),
];

impl Kind {
    fn keys(self) -> Known {
        match self {
            Self::Cbr | Self::Poisson => tables::STEADY,
            Self::OnOff => tables::ON_OFF,
            Self::Replay => tables::REPLAY,
            Self::Engset => tables::ENGSET,
        }
    }
}

/// The most sources. The meters of each link would fill the memory if there were more.
const MOST_TRAFFIC: usize = 1000;

/// Reads all traffic, if there is any.
pub(super) fn traffic<'a>(root: &Keys<'a>, ways: &LinkNames) -> Option<PartialTraffic<'a>> {
    let tables = repeated(root, "traffic")?;
    if tables.len() > MOST_TRAFFIC {
        root.near("traffic").fault(
            format!("{} of them", tables.len()),
            format!("at most {MOST_TRAFFIC}"),
            None,
        );
        return None;
    }
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let names = places::names("traffic", &nodes);
    let mut seen = HashSet::new();
    let mut read = PartialTraffic::default();
    for (entry, (at, name)) in tables.iter().zip(&names).enumerate() {
        let kind = kind(at);
        let keys = at.keys_among(kind.map_or(tables::TRAFFIC, Kind::keys), tables::TRAFFIC, &belongs)?;
        if !seen.insert(name) {
            let found = format!("a second traffic is named \"{name}\"");
            keys.near("name").fault(found, "a name of its own for each traffic", None);
        }
        match kind {
            Some(Kind::Replay) => read.replays.push(replay(&keys, entry, name, ways.read(&keys))),
            Some(Kind::Engset) => {
                let (users, sessions) = sessions::sessions(&keys, entry, name, ways);
                read.users.push(users);
                read.sessions.push(sessions);
            }
            Some(Kind::Cbr) => {
                read.traffic.push(one(&keys, name, ways.read(&keys), |_, _| Some(Pattern::Cbr)));
            }
            Some(Kind::Poisson) => {
                read.traffic.push(one(&keys, name, ways.read(&keys), |_, _| Some(Pattern::Poisson)));
            }
            Some(Kind::OnOff) => read.traffic.push(one(&keys, name, ways.read(&keys), bursts)),
            None => {
                keys.read("kind", |at| at.word_among(KINDS));
                read.traffic.push(None);
            }
        }
    }
    Some(read)
}

/// Returns the kind, if there is one and it is known.
fn kind(at: &ValueAt<'_>) -> Option<Kind> {
    let Value::String(word) = &at.child("kind")?.node.value else { return None };
    KINDS.iter().find(|(known, _)| known == word).map(|(_, kind)| *kind)
}

/// Returns the words of the fault for a key that belongs to other kinds.
fn belongs(key: &str, at: &ValueAt<'_>) -> String {
    let having: Vec<String> = KINDS
        .iter()
        .filter(|(_, kind)| schema::find(kind.keys(), key).is_some())
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    let kind = at.child("kind").map_or_else(String::new, |kind| kind.node.described());
    format!("this key belongs to kind = {}, not to {kind}", having.join(" or "))
}

fn one(
    keys: &Keys<'_>,
    default_name: &str,
    way: PartialWay,
    pattern: impl FnOnce(&Keys<'_>, Option<Rate>) -> Option<Pattern>,
) -> Option<Traffic> {
    let name = keys.or("name", default_name, ValueAt::name);
    let rate = keys.read("rate", |at| at.above_zero("Mbit/s", "a rate of zero: no traffic"));
    let packet = keys.read("packet", packet);
    let start = keys.read("start", |at| at.quantity("s"));
    let stop = keys.optional("stop", |at| stop(at, start));
    let pattern = pattern(keys, rate);
    let marking = MarkingRead::read(keys, ()).whole();
    Some(Traffic {
        name: name?,
        pattern: pattern?,
        rate: rate?,
        packet: packet?,
        start: start?,
        stop: stop?,
        path: way.names?,
        direction: way.direction?,
        marking: marking?,
    })
}

fn replay(keys: &Keys<'_>, entry: usize, default_name: &str, way: PartialWay) -> Option<Replay> {
    let name = keys.or("name", default_name, ValueAt::name);
    let file = keys.read("file", ValueAt::text);
    let repeat = keys.read("repeat", ValueAt::boolean);
    let toward = keys.optional("toward", ValueAt::text);
    let from = keys.optional("from", ValueAt::text);
    let start = keys.read("start", |at| at.quantity("s"));
    let stop = keys.optional("stop", |at| stop(at, start));
    let marking = MarkingRead::read(keys, ()).whole();
    Some(Replay {
        entry,
        name: name?,
        file: file?,
        repeat: repeat?,
        toward: toward?,
        from: from?,
        start: start?,
        stop: stop?,
        path: way.names?,
        direction: way.direction?,
        marking: marking?,
    })
}

fn packet(at: &ValueAt<'_>) -> Option<Bytes> {
    let packet: Bytes = at.above_zero("B", "packets of zero bytes")?;
    if packet > Bytes::new(65_535) {
        at.fault(format!("packets of {packet}"), "a size on the wire from \"1B\" to \"65535B\"", None);
        return None;
    }
    Some(packet)
}

fn stop(at: &ValueAt<'_>, start: Option<Span>) -> Option<Span> {
    let stop: Span = at.quantity("s")?;
    if let Some(start) = start.filter(|start| stop <= *start) {
        at.fault(format!("it stops at {stop} but starts at {start}"), format!("a time after {start}"), None);
        return None;
    }
    Some(stop)
}

fn bursts(keys: &Keys<'_>, rate: Option<Rate>) -> Option<Pattern> {
    let peak: Option<Rate> = keys.read("peak", |at| {
        let peak: Rate = at.quantity("Mbit/s")?;
        if let Some(rate) = rate.filter(|rate| peak <= *rate) {
            let found = format!("a peak of {peak}, not above the mean rate of {rate}");
            at.fault(found, format!("a rate above {rate}, the rate within a burst"), None);
            return None;
        }
        Some(peak)
    });
    let burst = keys.read("burst", |at| at.above_zero("ms", "bursts of zero length"));
    let shape = keys.optional("shape", |at| at.shape("1.5"));
    Some(Pattern::OnOff { peak: peak?, burst: burst?, shape: shape? })
}
