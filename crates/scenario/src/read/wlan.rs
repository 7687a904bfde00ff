//! `[wlan]` and `[[station]]`. Later stages, which know the PHYs, check the rest, such as rates.

use super::partial::{PartialTraffic, PartialWlan};
use super::repeated;
use crate::cursor::{Keys, ValueAt};
use crate::places;
use crate::spec::{Access, AccessRule, Backhaul, Categories, Category, Saturated, Station, Wlan};
use crate::tables;
use crate::tables::cell_queue;
use crate::tables::wlan::{AccessRead, BackhaulRead, rate};
use crate::tree::{Node, Value};
use crate::word::Word;
use std::collections::HashSet;
use units::{Bytes, Span};

const PREAMBLES: &[(&str, bool)] = &[("long", false), ("short", true)];

/// The name that results give the access point.
const ACCESS_POINT: &str = "access-point";
/// The most stations of a cell. 802.11 numbers up to 2007 of them (9.4.1.8).
const MOST_STATIONS: u64 = 1000;
/// The AIFSN of DIFS [10.3.2.3.5].
const DIFS: i128 = 2;
const MOST_IN_A_FRAME: Bytes = Bytes::new(65_535);

/// Reads the cell. The outer option is `None` if the scenario has no cell.
pub(super) fn wlan<'a>(root: &Keys<'a>) -> Option<Option<PartialWlan<'a>>> {
    let Some(at) = root.get("wlan") else {
        if let Some(origin) = root.key_origin("station") {
            let help = "write [wlan] with phy and rate, or remove the stations".to_owned();
            root.near("station").fault_from(origin, "stations without a cell", "a [wlan]", Some(help));
        }
        return None;
    };
    if let Some(origin) = root.key_origin("link") {
        let help = "remove one of them; the wire behind the access point is wlan.backhaul".to_owned();
        root.near("link").fault_from(origin, "a [link] together with a [wlan]", "one of the two", Some(help));
    }
    Some(read(root, &at))
}

fn read<'a>(root: &Keys<'a>, at: &ValueAt<'a>) -> Option<PartialWlan<'a>> {
    let keys = at.keys(tables::WLAN)?;
    let phy = keys.read("phy", ValueAt::text);
    let short_preamble = keys.read("preamble", |at| at.word_among(PREAMBLES));
    let rate_read = keys.read("rate", rate);
    let control_rate = keys.optional("control_rate", rate);
    let usual = if distributed(root, &keys) { AccessRule::Dcf } else { AccessRule::Edca };
    let access = keys.or("access", usual, ValueAt::word);
    let dcf = access == Some(AccessRule::Dcf);
    let after_collision = keys.read("after_collision", ValueAt::word);
    let eifs_rate = keys.optional("eifs_rate", rate);
    let header =
        keys.or("header", Wlan::header_of(access.unwrap_or(usual)), |at| in_a_frame(at, at.quantity("B")));
    let llc = keys.read("llc", |at| in_a_frame(at, at.quantity("B")));
    let ack = keys.read("ack", |at| in_a_frame(at, at.above_zero("B", "an acknowledgement of nothing")));
    let ac = keys.read("ac", |at| categories(at, dcf));
    let access_point =
        keys.read("access_point", |at| at.keys(tables::ACCESS_POINT)?.read("ac", |at| categories(at, dcf)));
    let queue = keys.read("queue", cell_queue::queue);
    let backhaul = keys.optional("backhaul", backhaul);
    let delay = backhaul.as_ref().map(|backhaul| backhaul.as_ref().map(|backhaul| backhaul.delay));
    let (stations, names, saturated) = stations(root, dcf);
    let wlan = || {
        Some(Wlan {
            phy: phy?,
            short_preamble: short_preamble?,
            rate: rate_read?,
            control_rate: control_rate?,
            access: access?,
            after_collision: after_collision?,
            eifs_rate: eifs_rate?,
            header: header?,
            llc: llc?,
            ack: ack?,
            ac: ac?,
            access_point: access_point?,
            queue: queue?,
            backhaul: backhaul?,
            stations: stations?,
        })
    };
    let wlan = wlan();
    Some(PartialWlan { keys, stations: names, saturated, dcf, delay, wlan })
}

/// Returns true if a cell without `access` uses DCF. In DCF best effort is the only category that is named, and it
/// contends by DIFS, without a TXOP.
fn distributed(root: &Keys<'_>, keys: &Keys<'_>) -> bool {
    let stations = keys.get("ac");
    let access_point = keys.get("access_point").and_then(|at| at.child("ac"));
    let Some(be) = stations.as_ref().and_then(|ac| ac.child("be")) else { return false };
    let by_difs = matches!(be.child("aifsn").map(|at| &at.node.value), Some(Value::Integer(DIFS)));
    let bursts =
        |be: &ValueAt<'_>| be.child("txop").is_some_and(|txop| txop.node.typed().parse() != Ok(Span::ZERO));
    let tables = || stations.iter().chain(&access_point);
    let others = Category::WORDS.iter().filter(|(_, category)| *category != Category::Be);
    let alone = others.map(|(name, _)| name).all(|name| tables().all(|ac| ac.child(name).is_none()));
    let plain = |at: &ValueAt<'_>, key: &str| at.child(key).is_none_or(|at| at.node.typed() == "be");
    let items = |section: &str| root.get(section).map(|at| at.items()).unwrap_or_default();
    by_difs
        && alone
        && !tables().filter_map(|ac| ac.child("be")).any(|be| bursts(&be))
        && items("station").iter().all(|at| plain(at, "category"))
        && items("flow").iter().all(|at| plain(at, "category") && plain(at, "ack_category"))
}

/// Checks a size that is part of a frame: at most that of the largest packet.
fn in_a_frame(at: &ValueAt<'_>, size: Option<Bytes>) -> Option<Bytes> {
    let size = size?;
    if size > MOST_IN_A_FRAME {
        at.fault(format!("{size} in a frame"), format!("at most {MOST_IN_A_FRAME}"), None);
        return None;
    }
    Some(size)
}

/// Reads an access category; with DCF only best effort is accepted.
pub(super) fn category(at: &ValueAt<'_>, dcf: bool) -> Option<Category> {
    let category = at.word()?;
    if dcf && category != Category::Be {
        let help = "leave it out, or write access = \"edca\" in [wlan]".to_owned();
        at.fault(format!("category {} with access = \"dcf\"", at.node.described()), "\"be\"", Some(help));
        return None;
    }
    Some(category)
}

fn categories(at: &ValueAt<'_>, dcf: bool) -> Option<Categories> {
    let keys = at.keys(tables::CATEGORIES)?;
    if dcf
        && let Some((stray, _)) =
            Category::WORDS.iter().find(|(name, _)| *name != "be" && keys.get(name).is_some())
    {
        let help = "leave it out, or write access = \"edca\"".to_owned();
        keys.near(stray).fault(format!("category \"{stray}\" with access = \"dcf\""), "be", Some(help));
        return None;
    }
    let (be, bk) = (keys.read("be", access), keys.read("bk", access));
    let (vi, vo) = (keys.read("vi", access), keys.read("vo", access));
    Some(Categories { be: be?, bk: bk?, vi: vi?, vo: vo? })
}

fn access(at: &ValueAt<'_>) -> Option<Access> {
    AccessRead::read(&at.keys(tables::ACCESS)?, ()).whole()
}

fn backhaul(at: &ValueAt<'_>) -> Option<Backhaul> {
    BackhaulRead::read(&at.keys(tables::BACKHAUL)?, ()).whole()
}

/// Reads every station. Returns also the names, if all could be read, and true if some stations are saturated.
fn stations(root: &Keys<'_>, dcf: bool) -> (Option<Vec<Station>>, Option<Vec<String>>, bool) {
    let Some(tables) = repeated(root, "station") else { return (None, None, false) };
    if tables.is_empty() {
        root.near("station").fault("zero stations", "at least one [[station]]", None);
        return (None, None, false);
    }
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let defaults = places::names("station", &nodes);
    let (mut read, mut next, mut seen) = (Vec::new(), 1, HashSet::from([ACCESS_POINT.to_owned()]));
    // A larger number of tables is refused below.
    for (at, default) in tables.iter().zip(defaults).take(MOST_STATIONS as usize + 1) {
        read.push(station(at, &default, dcf, &mut next, &mut seen));
    }
    let stations: Option<Vec<Station>> = read.into_iter().collect();
    let all = stations.as_deref().unwrap_or_default();
    let saturated = all.iter().any(|station| station.saturated.is_some());
    let names: Vec<String> = all.iter().flat_map(|station| station.names.clone()).collect();
    if names.len() as u64 > MOST_STATIONS {
        let found = format!("{} stations", names.len());
        root.near("station").fault(found, format!("at most {MOST_STATIONS} in one cell"), None);
        return (None, None, saturated);
    }
    let names = stations.as_ref().map(|_| names);
    (stations, names, saturated)
}

/// Reads one table of stations. `next` is the number of the next station without a name; `seen` has the names that
/// are taken.
fn station(
    at: &ValueAt<'_>,
    default: &str,
    dcf: bool,
    next: &mut u64,
    seen: &mut HashSet<String>,
) -> Option<Station> {
    let keys = at.keys(tables::STATION)?;
    let name = keys.optional("name", ValueAt::name);
    let count = keys.read("count", |at| at.integer(1..=MOST_STATIONS));
    let own_rate = keys.optional("rate", rate);
    let category = keys.read("category", |at| category(at, dcf));
    let payload: Option<Option<Bytes>> =
        keys.optional("saturated", |at| in_a_frame(at, at.above_zero("B", "frames without a payload")));
    let limit = keys.read("queue", |at| {
        at.keys(tables::STATION_QUEUE)?.read("limit", |at| cell_queue::limit(at, "the uplink"))
    });
    let (name, count) = (name?, count?);
    let names: Vec<String> = match &name {
        Some(name) if count == 1 => vec![name.clone()],
        Some(name) => (1..=count).map(|number| format!("{name}-{number}")).collect(),
        None => (*next..*next + count).map(|number| format!("station-{number}")).collect(),
    };
    if name.is_none() {
        *next += count;
    }
    if let Some(taken) = names.iter().find(|name| !seen.insert((*name).clone())) {
        let found = format!("a second station is named \"{taken}\"");
        let help = format!("call \"{default}\" otherwise; \"{ACCESS_POINT}\" is the access point");
        keys.near("name").fault(found, "a name of its own for each station", Some(help));
        return None;
    }
    let category = category?;
    let saturated = payload?.map(|payload| Saturated { payload, category });
    Some(Station { names, rate: own_rate?, saturated, limit: limit? })
}

/// Records `[[traffic]]`, which a cell does not carry.
pub(super) fn no_traffic<'a>(root: &Keys<'a>) -> Option<PartialTraffic<'a>> {
    if let Some(origin) = root.key_origin("traffic") {
        root.near("traffic").fault_from(
            origin,
            "[[traffic]] in a cell, which carries flows and the frames of saturated stations",
            "no [[traffic]] here",
            Some("write a [[station]] with saturated = \"1500B\" for load on the air".to_owned()),
        );
        return None;
    }
    Some(PartialTraffic::default())
}
