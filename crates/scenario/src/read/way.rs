//! `path` and `direction` of a flow or traffic: the way over the links. `read/cell_way.rs` has the way in a cell.

use super::cell_way::{self, Stations};
use super::partial::{PartialLink, PartialWay, PartialWlan};
use crate::cursor::{Keys, ValueAt};
use crate::near;
use crate::spec::Direction;
use crate::tree::Value;
use std::ops::Range;

/// The links' names, and true for each link with a second direction, in the order of the file. Both lists are empty if
/// the links could not be read. The names of links in a `path` are not checked then.
pub(super) struct LinkNames {
    names: Vec<String>,
    two_way: Vec<bool>,
    /// The stations of a cell, which has no links.
    cell: Option<Stations>,
}

impl LinkNames {
    pub(super) fn new(links: Option<&[PartialLink<'_>]>) -> Self {
        let links = links.unwrap_or_default();
        Self {
            names: links.iter().map(|link| link.name.clone()).collect(),
            two_way: links.iter().map(|link| link.reverse.is_some()).collect(),
            cell: None,
        }
    }

    /// Creates the facts for flows in a cell, as far as the cell could be read.
    pub(super) fn in_cell(cell: Option<&PartialWlan<'_>>) -> Self {
        Self { names: Vec::new(), two_way: Vec::new(), cell: Some(Stations::new(cell)) }
    }

    /// Reads the way of a flow or traffic; all links if it names none.
    pub(super) fn read(&self, keys: &Keys<'_>) -> PartialWay {
        if let Some(stations) = &self.cell {
            return stations.read(keys);
        }
        let cell = cell_way::misplaced(keys).then_some(None);
        let direction = keys.or("direction", Direction::Forward, ValueAt::word);
        let links = match keys.get("path") {
            None => Some((0..self.names.len()).collect()),
            Some(at) => self.path(&at),
        };
        if let Some(links) = &links
            && direction == Some(Direction::Reverse)
            && let Some(one_way) = links.iter().find(|link| !self.two_way[**link])
        {
            let name = &self.names[*one_way];
            keys.near("direction").fault(
                format!("direction \"reverse\" over link \"{name}\", which has no reverse"),
                "links with a reverse",
                Some(format!("give link \"{name}\" reverse = {{ queue = {{ limit = \"1 bdp\" }} }}")),
            );
        }
        let names = links.as_ref().map(|links| links.iter().map(|link| self.names[*link].clone()).collect());
        PartialWay { names, direction, links: links.unwrap_or_default(), cell }
    }

    /// Reads the links of a path, by index.
    fn path(&self, at: &ValueAt<'_>) -> Option<Vec<usize>> {
        let accepted = self.accepted();
        if !matches!(at.node.value, Value::List(_)) {
            let help =
                matches!(at.node.value, Value::String(_)).then(|| format!("write [{}]", at.node.described()));
            at.fault(at.node.described(), accepted, help);
            return None;
        }
        let items = at.items();
        if items.is_empty() {
            at.fault("an empty path", accepted, Some("leave it out to cross all links".into()));
            return None;
        }
        let mut links: Vec<usize> = Vec::new();
        let mut sound = true;
        for item in &items {
            match self.link(item) {
                Some(link) => {
                    sound &= self.follows(item, link, &links);
                    links.push(link);
                }
                None => sound = false,
            }
        }
        (sound && !self.names.is_empty()).then_some(links)
    }

    /// Returns the link that `item` names.
    fn link(&self, item: &ValueAt<'_>) -> Option<usize> {
        let name = item.text()?;
        let index = self.names.iter().position(|known| *known == name);
        if index.is_none() && !self.names.is_empty() {
            let help = near::did_you_mean(&name, self.names.iter().map(String::as_str));
            item.fault(format!("no link is named \"{name}\""), self.listed(0..self.names.len()), help);
        }
        index
    }

    /// Returns true if `link` may follow the links `before`. Records a fault if it repeats one of them or goes
    /// backwards.
    fn follows(&self, item: &ValueAt<'_>, link: usize, before: &[usize]) -> bool {
        let name = &self.names[link];
        let found = match before.last() {
            _ if before.contains(&link) => format!("\"{name}\" for the second time"),
            Some(last) if link < *last => format!("\"{name}\" after \"{}\": backwards", self.names[*last]),
            _ => return true,
        };
        let help = "a path lists links in the order of the file; what goes the other way has direction = \"reverse\"";
        item.fault(found, self.accepted(), Some(help.into()));
        false
    }

    fn accepted(&self) -> String {
        format!("a list of links, each once, in the order of the file: {}", self.listed(0..self.names.len()))
    }

    /// Lists the first names of a range, for a fault.
    fn listed(&self, range: Range<usize>) -> String {
        let names: Vec<String> =
            self.names[range].iter().take(12).map(|name| format!("\"{name}\"")).collect();
        let more = if self.names.len() > names.len() { ", …" } else { "" };
        format!("{}{more}", names.join(", "))
    }
}
