//! `station`, `direction`, `category` and `ack_category` of a flow: its way in a cell.

use crate::cursor::{Keys, ValueAt};

use super::partial::{PartialWay, PartialWlan};
use super::wlan::category;
use crate::near;
use crate::spec::{CellDirection, CellWay, Direction};
use crate::tree::Value;

/// The keys that a flow has only in a cell.
const KEYS: [&str; 3] = ["station", "category", "ack_category"];

/// The facts about stations that ways need.
pub(super) struct Stations {
    /// The stations' names; `None` if they could not be read. The names of stations in flows are not checked then.
    names: Option<Vec<String>>,
    dcf: bool,
}

/// Records a fault for each key that only a flow in a cell may have; returns true if the flow has none of them.
pub(super) fn misplaced(keys: &Keys<'_>) -> bool {
    let written = KEYS.iter().filter_map(|key| Some((key, keys.key_origin(key)?)));
    let stray = written.inspect(|(key, origin)| {
        let help = "leave it out, or describe a cell by [wlan] in the place of [link]".to_owned();
        keys.near(key).fault_from(
            origin,
            "this key belongs to a flow in a cell",
            "no such key here",
            Some(help),
        );
    });
    stray.count() == 0
}

impl Stations {
    /// Takes the stations of a cell, as far as it could be read.
    pub(super) fn new(cell: Option<&PartialWlan<'_>>) -> Self {
        Self { names: cell.and_then(|cell| cell.stations.clone()), dcf: cell.is_some_and(|cell| cell.dcf) }
    }

    /// Reads the way of a flow.
    pub(super) fn read(&self, keys: &Keys<'_>) -> PartialWay {
        if let Some(origin) = keys.key_origin("path") {
            let help = "leave it out: every flow goes over the air and the backhaul".to_owned();
            keys.near("path").fault_from(origin, "a path, in a cell", "no path here", Some(help));
        }
        let stations = self.stations(keys);
        let direction = keys.or("direction", CellDirection::Down, ValueAt::word);
        let category_of = |at: &ValueAt<'_>| category(at, self.dcf);
        let data = keys.or("category", crate::spec::Category::Be, category_of);
        let acknowledgements = keys.optional("ack_category", category_of);
        let way = || {
            let category = data?;
            let ack_category = acknowledgements?.unwrap_or(category);
            Some(CellWay { stations: stations?, direction: direction?, category, ack_category })
        };
        PartialWay {
            names: Some(Vec::new()),
            direction: Some(Direction::Forward),
            links: Vec::new(),
            cell: way().map(Some),
        }
    }

    /// Returns the stations that a flow names.
    fn stations(&self, keys: &Keys<'_>) -> Option<Vec<String>> {
        let Some(at) = keys.get("station") else {
            keys.near("station").fault("missing", self.listed(), None);
            return None;
        };
        let names = self.names.as_ref();
        let is_list = matches!(&at.node.value, Value::List(items) if !items.is_empty());
        let items = if is_list { at.items() } else { vec![at] };
        let mut meant = Vec::new();
        for item in items {
            let named = item.text()?;
            let Some(names) = names else { continue };
            // In a list each name is one station, even with a `*` at its end.
            let beginning = named.strip_suffix('*').filter(|_| !is_list);
            let is_meant = |name: &&String| {
                beginning.map_or_else(|| **name == named, |beginning| name.starts_with(beginning))
            };
            let before = meant.len();
            meant.extend(names.iter().filter(is_meant).cloned());
            if meant.len() == before {
                let help = near::did_you_mean(&named, names.iter().map(String::as_str));
                item.fault(format!("no station is named \"{named}\""), self.listed(), help);
                return None;
            }
        }
        names.map(|_| meant)
    }

    /// Lists the first names, for a fault.
    fn listed(&self) -> String {
        let Some(names) = &self.names else { return "the name of a [[station]]".to_owned() };
        let shown: Vec<String> = names.iter().take(12).map(|name| format!("\"{name}\"")).collect();
        format!("{}{}", shown.join(", "), if names.len() > shown.len() { ", …" } else { "" })
    }
}
