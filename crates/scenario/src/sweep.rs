//! `[sweep]`: a scenario at every combination of some keys' values.

use crate::document::Document;
use crate::fault::{Fault, Faults};
use crate::near;
use crate::origin::Origin;
use crate::path::{self, Step, split};
use crate::schema;
use crate::tables::ROOT;
use crate::tree::{self, Entry, Table, Value};
use std::collections::HashSet;
use units::Complaint;

/// One combination: each swept key, and its value as typed.
pub type Point = Vec<(String, String)>;

/// More points than this are a mistake.
const MOST: usize = 100_000;

/// The axes of a `[sweep]`, in the order of the file. Without axes there is one point, the scenario itself.
#[derive(Clone, Debug)]
pub struct Sweep {
    axes: Vec<Axis>,
}

/// One swept key and the values it takes.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key's path, such as `link.queue.limit`.
    pub key: String,
    /// The values as typed; of strings, what is within the quotes.
    pub values: Vec<String>,
}

impl Sweep {
    /// The swept keys, in the order of the file.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many points there are, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a sweep is never empty")]
    pub fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The points; the last axis varies fastest.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        (0..self.len()).map(|number| {
            let mut rest = number;
            let mut point: Point = self
                .axes
                .iter()
                .rev()
                .map(|axis| {
                    let at = rest % axis.values.len();
                    rest /= axis.values.len();
                    (axis.key.clone(), axis.values[at].clone())
                })
                .collect();
            point.reverse();
            point
        })
    }
}

impl Document {
    /// Reads `[sweep]`: lists of values by key path, such as `"link.queue.limit" = ["0.1 bdp", "1 bdp"]`.
    ///
    /// # Errors
    /// A swept key that no scenario has or that leads nowhere in this one, or a key within another swept one. A value
    /// that is no list, an empty list, a value given twice, and more than 100 000 points.
    pub fn sweep(&self) -> Result<Sweep, Faults> {
        let mut faults = Vec::new();
        let sweep = Sweep { axes: self.axes(&mut faults) };
        self.nested(&sweep, &mut faults);
        let points = sweep.axes.iter().try_fold(1usize, |points, axis| points.checked_mul(axis.values.len()));
        if faults.is_empty() && points.is_none_or(|points| points > MOST) {
            let sizes: Vec<String> = sweep.axes.iter().map(|axis| axis.values.len().to_string()).collect();
            let found = match points {
                Some(points) => format!("{} = {points} points", sizes.join(" x ")),
                None => "more points than can be counted".into(),
            };
            faults.push(self.fault("sweep", found, format!("at most {MOST} points"), None));
        }
        if faults.is_empty() { Ok(sweep) } else { Err(Faults::new(faults)) }
    }

    /// The document at a point of its sweep. The values of the point take the place of the swept keys, and faults in
    /// them point into the sweep. The sweep itself is gone. What `point` holds beyond this document's sweep is set as
    /// by [`Document::set`].
    ///
    /// # Errors
    /// If a key of the point leads nowhere. The points of [`Document::sweep`] never fail here.
    pub fn at(&self, point: &[(String, String)]) -> Result<Self, Faults> {
        let entries = self.sweep_table().map(lists).unwrap_or_default();
        let mut document = self.without("sweep");
        for (key, value) in point {
            let entry = entries.iter().find(|(swept, _)| swept == key).map(|(_, entry)| *entry);
            let node = entry.and_then(|entry| match &entry.node.value {
                Value::List(nodes) => Some((entry, nodes.iter().find(|node| node.typed() == value)?)),
                _ => None,
            });
            match node {
                Some((entry, node)) => document
                    .place(key, &entry.origin, node)
                    .map_err(|complaint| Fault::new(entry.origin.clone(), key.clone(), complaint))?,
                None => document.set(key, value)?,
            }
        }
        Ok(document)
    }

    /// The sweep without the axes that setting `key` fixes; `None` if it fixes none.
    pub(crate) fn settled(&self, key: &str) -> Result<Option<Table>, Complaint> {
        let (Some(table), Ok(segments)) = (self.sweep_table(), split(key)) else {
            return Ok(None);
        };
        let set = path::targets(ROOT, self.root(), &segments)?;
        let mut fixed = HashSet::new();
        for (swept, _) in lists(table) {
            // An axis that leads nowhere is a fault of the sweep, found when that is read.
            let Ok(varied) = split(&swept).and_then(|segments| path::targets(ROOT, self.root(), &segments)) else {
                continue;
            };
            let within = |inner: &[Step], outer: &[Step]| inner.starts_with(outer);
            let covered = |place: &Vec<Step>| set.iter().any(|set| within(place, set));
            if varied.iter().all(covered) {
                fixed.insert(swept);
            } else if varied.iter().any(|place| covered(place) || set.iter().any(|set| within(set, place))) {
                return Err(Complaint::new("", format!("a part of what [sweep] varies as \"{swept}\""))
                    .accepted("a key that is not swept, or a whole axis of the sweep")
                    .help(format!("set {swept}, which fixes it, or change the sweep in the file")));
            }
        }
        Ok((!fixed.is_empty()).then(|| table.pruned("", &|path| fixed.contains(path))))
    }

    fn axes(&self, faults: &mut Vec<Fault>) -> Vec<Axis> {
        if let Some(table) = self.sweep_table() {
            return lists(table)
                .into_iter()
                .filter_map(|(key, entry)| self.axis(key, entry, faults))
                .collect();
        }
        if let Some(sweep) = self.top("sweep") {
            let accepted = "a table such as { \"link.queue.limit\" = [\"0.1 bdp\", \"1 bdp\"] }";
            faults.push(self.fault("sweep", sweep.described(), accepted, None));
        }
        Vec::new()
    }

    /// The axis of `key`, as written.
    pub(crate) fn swept(&self, key: &str) -> Option<&Entry> {
        lists(self.sweep_table()?).into_iter().find(|(swept, _)| swept == key).map(|(_, entry)| entry)
    }

    fn sweep_table(&self) -> Option<&Table> {
        match &self.top("sweep")?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    fn axis(&self, key: String, entry: &Entry, faults: &mut Vec<Fault>) -> Option<Axis> {
        let mut fault = |origin: &Origin, found: String, accepted: String, help: Option<String>| {
            let place = format!("sweep.\"{key}\"");
            let complaint = Complaint { place, found, accepted, help };
            faults.push(Fault { origin: origin.clone(), complaint });
        };
        let segments = split(&key).and_then(|segments| {
            path::targets(ROOT, self.root(), &segments)?;
            Ok(segments)
        });
        let segments = match segments {
            Ok(segments) => segments,
            Err(complaint) => {
                faults.push(Fault::new(entry.origin.clone(), format!("sweep.\"{key}\""), complaint));
                return None;
            }
        };
        let followed = match segments.first().map(String::as_str) {
            Some("sweep") => Err(("sweep".to_owned(), ROOT)),
            _ => schema::follow(ROOT, self.schema_path(&segments)).map(drop),
        };
        if let Err((unknown, known)) = followed {
            let accepted =
                if known.is_empty() { "a key that holds keys".into() } else { schema::listed(known) };
            let help = near::key_meant(&unknown, known, ROOT);
            fault(&entry.origin, format!("unknown key \"{unknown}\""), accepted, help);
            return None;
        }
        let accepted = || "a list of values, such as [\"0.1 bdp\", \"1 bdp\"]".to_owned();
        let Value::List(nodes) = &entry.node.value else {
            let help = match &entry.node.value {
                Value::String(text) => format!("write [\"{text}\"]"),
                _ => format!("write [{}]", entry.node.origin.text()),
            };
            fault(&entry.node.origin, entry.node.described(), accepted(), Some(help));
            return None;
        };
        if nodes.is_empty() {
            fault(&entry.node.origin, "an empty list".into(), accepted(), None);
            return None;
        }
        let values: Vec<String> = nodes.iter().map(|node| node.typed().to_owned()).collect();
        let mut seen = HashSet::new();
        for (node, value) in nodes.iter().zip(&values) {
            if !seen.insert(value) {
                fault(
                    &node.origin,
                    format!("{} for the second time", node.described()),
                    "each value once".into(),
                    None,
                );
                return None;
            }
        }
        if let Err(complaint) = self.without("sweep").place(&key, &entry.origin, &nodes[0]) {
            faults.push(Fault::new(entry.origin.clone(), format!("sweep.\"{key}\""), complaint));
            return None;
        }
        Some(Axis { key, values })
    }

    /// Axes that lie within others, or vary the same: what one sets the other would replace.
    fn nested(&self, sweep: &Sweep, faults: &mut Vec<Fault>) {
        let places: Vec<Vec<Vec<Step>>> = sweep
            .axes
            .iter()
            .map(|axis| split(&axis.key).and_then(|path| path::targets(ROOT, self.root(), &path)).unwrap_or_default())
            .collect();
        for (at, (axis, inner)) in sweep.axes.iter().zip(&places).enumerate() {
            let within = |outer: &Vec<Step>| {
                inner.iter().any(|inner| inner.len() > outer.len() && inner.starts_with(outer))
            };
            let mut others = sweep.axes.iter().zip(&places).enumerate();
            let outer = others.find(|(other, (_, outer))| {
                outer.iter().any(within) || *other < at && *outer == inner && !inner.is_empty()
            });
            if let (Some((_, (outer, places))), Some(entry)) = (outer, self.swept(&axis.key)) {
                let part = if places == inner { "" } else { "a part of " };
                let complaint = Complaint::new(
                    format!("sweep.\"{}\"", axis.key),
                    format!("{part}what \"{}\" varies", outer.key),
                )
                .accepted("keys of which none lies within another, each once");
                faults.push(Fault { origin: entry.origin.clone(), complaint });
            }
        }
    }

    /// The path without what picks one link, flow or traffic.
    fn schema_path(&self, segments: &[String]) -> Vec<String> {
        let picks = path::picks(ROOT, self.root(), segments);
        segments
            .iter()
            .enumerate()
            .filter(|(at, _)| !(picks && *at == 1))
            .map(|(_, segment)| segment.clone())
            .collect()
    }
}

/// The lists of a sweep by key path, in the order of the file.
fn lists(table: &Table) -> Vec<(String, &Entry)> {
    let mut entries = Vec::new();
    flatten("", table, &mut entries);
    entries.sort_by_key(|(_, entry)| entry.origin.rank());
    entries
}

/// Lists by dotted path: `"link.rate" = […]` and `link.rate = […]` are the same.
fn flatten<'a>(prefix: &str, table: &'a Table, entries: &mut Vec<(String, &'a Entry)>) {
    for entry in table.iter() {
        let key = tree::path(prefix, &entry.key);
        match &entry.node.value {
            Value::Table(within) => flatten(&key, within, entries),
            _ => entries.push((key, entry)),
        }
    }
}
