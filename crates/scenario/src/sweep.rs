//! `[sweep]`: a scenario at every combination of some keys' values.
//!
//! `sweep/draw.rs` draws values of several keys together. The drawn rows are one more axis, which varies slowest.

mod draw;

use crate::document::Document;
use crate::fault::{Fault, Faults};
use crate::near;
use crate::origin::Origin;
use crate::path::{Step, split};
use crate::places;
use crate::schema;
use crate::tables::ROOT;
use crate::tree::{self, Entry, Node, Table, Value};
use draw::Rows;
use std::collections::HashSet;
use units::Complaint;

/// One combination: each swept key, and its value as typed.
pub type Point = Vec<(String, String)>;

/// The most points of a sweep, because a larger number is most likely a mistake.
const MOST: usize = 100_000;

/// Keys of `[sweep]` that are not axes.
const RESERVED: [&str; 2] = ["draw", "baseline"];

/// The axes of a `[sweep]`, in the order of the file. Without axes there is one point, the scenario itself.
#[derive(Clone, Debug)]
pub struct Sweep {
    axes: Vec<Axis>,
    /// Rows of drawn values: the slowest axis.
    drawn: Option<Rows>,
    baseline: Point,
}

/// One swept key and the values it takes.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key's path, such as `link.queue.limit`.
    pub key: String,
    /// The values as typed; strings are without their quotes.
    pub values: Vec<String>,
}

impl Sweep {
    /// Returns the keys with lists of values, in the order of the file.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns every key that the sweep varies, the drawn ones first.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let drawn = self.drawn.iter().flat_map(|drawn| &drawn.keys);
        drawn.chain(self.axes.iter().map(|axis| &axis.key)).map(String::as_str)
    }

    /// Returns the swept keys and values that the baseline of every point has in place of the point's own; empty
    /// without a `baseline`.
    #[must_use]
    pub fn baseline(&self) -> &[(String, String)] {
        &self.baseline
    }

    /// Returns the number of points, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a sweep is never empty")]
    pub fn len(&self) -> usize {
        let rows = self.drawn.as_ref().map_or(1, |drawn| drawn.rows.len());
        rows * self.axes.iter().map(|axis| axis.values.len()).product::<usize>()
    }

    /// Returns the points. The last axis varies fastest, and the drawn rows slowest.
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
            if let Some(Rows { keys, rows }) = &self.drawn {
                point.extend(keys.iter().cloned().zip(rows[rest].iter().cloned()).rev());
            }
            point.reverse();
            point
        })
    }
}

impl Document {
    /// Reads `[sweep]`: lists of values by key path, such as `"link.queue.limit" = ["0.1 bdp", "1 bdp"]`.
    ///
    /// # Errors
    /// If no scenario has a swept key, if it leads nowhere in this one, or if it lies within another swept key. If a
    /// value is not a list, or is an empty one or one with a value twice, and if there are more than 100 000 points. If
    /// a distribution in `draw` is not valid, or `baseline` has a value that the sweep lacks.
    pub fn sweep(&self) -> Result<Sweep, Faults> {
        let mut faults = Vec::new();
        let axes = self.axes(&mut faults);
        let drawn = self.drawn(&mut faults);
        let baseline = self.baseline(&axes, &mut faults);
        let sweep = Sweep { axes, drawn, baseline };
        self.nested(&sweep, &mut faults);
        let rows = sweep.drawn.as_ref().map(|drawn| drawn.rows.len());
        let sizes = || rows.into_iter().chain(sweep.axes.iter().map(|axis| axis.values.len()));
        let points = sizes().try_fold(1usize, usize::checked_mul);
        if faults.is_empty() && points.is_none_or(|points| points > MOST) {
            let sizes: Vec<String> = sizes().map(|size| size.to_string()).collect();
            let found = match points {
                Some(points) => format!("{} = {points} points", sizes.join(" x ")),
                None => "more points than can be counted".into(),
            };
            faults.push(self.fault("sweep", found, format!("at most {MOST} points"), None));
        }
        if faults.is_empty() { Ok(sweep) } else { Err(Faults::new(faults)) }
    }

    /// Returns the document at a point of its sweep, without the sweep. The swept keys have the values of the point,
    /// and faults in them point into the sweep. Keys of `point` that the sweep does not vary are set as by
    /// [`Document::set`].
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
                None => match self.law(key).and_then(|(entry, law)| Some((entry, law.node(entry, value)?))) {
                    Some((entry, node)) => document
                        .place(key, &entry.origin, &node)
                        .map_err(|complaint| Fault::new(entry.origin.clone(), key.clone(), complaint))?,
                    None => document.set(key, value)?,
                },
            }
        }
        Ok(document)
    }

    /// Returns the sweep without the axes that an override of `key` fixes; `None` if it fixes none.
    pub(crate) fn settled(&self, key: &str) -> Result<Option<Table>, Complaint> {
        let (Some(table), Ok(segments)) = (self.sweep_table(), split(key)) else {
            return Ok(None);
        };
        let set = places::targets(ROOT, self.root(), &segments)?;
        let mut fixed = HashSet::new();
        let draws = self.draw_table().map(draw::entries).unwrap_or_default();
        let drawn = draws.iter().map(|(key, _)| (key.clone(), format!("draw.{key}")));
        for (swept, at) in lists(table).into_iter().map(|(key, _)| (key.clone(), key)).chain(drawn) {
            // An axis whose key leads nowhere is skipped, because the reader of the sweep reports it.
            let Ok(varied) = split(&swept).and_then(|segments| places::targets(ROOT, self.root(), &segments))
            else {
                continue;
            };
            let within = |inner: &[Step], outer: &[Step]| inner.starts_with(outer);
            let covered = |place: &Vec<Step>| set.iter().any(|set| within(place, set));
            if varied.iter().all(covered) {
                fixed.insert(format!("baseline.{swept}"));
                fixed.insert(at);
            } else if varied.iter().any(|place| covered(place) || set.iter().any(|set| within(set, place))) {
                return Err(Complaint::new("", format!("a part of what [sweep] varies as \"{swept}\""))
                    .accepted("a key that is not swept, or a whole axis of the sweep")
                    .help(format!("set {swept}, which fixes it, or change the sweep in the file")));
            }
        }
        if !draws.is_empty() && draws.iter().all(|(key, _)| fixed.contains(&format!("draw.{key}"))) {
            fixed.insert("draw".to_owned());
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

    /// Returns the axis of `key`, as written.
    pub(crate) fn swept(&self, key: &str) -> Option<&Entry> {
        lists(self.sweep_table()?).into_iter().find(|(swept, _)| swept == key).map(|(_, entry)| entry)
    }

    fn sweep_table(&self) -> Option<&Table> {
        match &self.top("sweep")?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    fn swept_node(&self, key: &str) -> Option<&Node> {
        self.sweep_table()?.get(key)
    }

    /// Reads `baseline`, in which each value is one of an axis.
    fn baseline(&self, axes: &[Axis], faults: &mut Vec<Fault>) -> Point {
        let Some(node) = self.swept_node("baseline") else { return Vec::new() };
        let mut baseline = Vec::new();
        let Value::Table(table) = &node.value else {
            let accepted =
                "a table of swept keys and one of their values, such as { \"flow.socket_buffer\" = \"max\" }";
            let complaint = Complaint::new("", node.described()).accepted(accepted);
            faults.push(Fault::new(node.origin.clone(), "sweep.baseline", complaint));
            return baseline;
        };
        let mut entries = Vec::new();
        flatten("", table, &|key| axes.iter().any(|axis| axis.key == key), &mut entries);
        for (key, entry) in entries {
            let value = entry.node.typed();
            let axis = axes.iter().find(|axis| axis.key == key);
            let (found, accepted) = match axis {
                Some(axis) if axis.values.iter().any(|one| one == value) => {
                    baseline.push((key, value.to_owned()));
                    continue;
                }
                Some(axis) => {
                    (entry.node.described(), format!("one of its swept values: {}", axis.values.join(", ")))
                }
                None => {
                    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
                    let keys = if keys.is_empty() {
                        "a key with a list of values in [sweep]".into()
                    } else {
                        keys.join(", ")
                    };
                    ("a key without a list of values in [sweep]".to_owned(), keys)
                }
            };
            let complaint = Complaint::new("", found).accepted(accepted);
            faults.push(Fault::new(
                entry.node.origin.clone(),
                format!("sweep.baseline.\"{key}\""),
                complaint,
            ));
        }
        baseline
    }

    /// Returns true if a sweep can vary `key`, which is written at `origin`; notes a fault at `place` if not.
    fn is_key(&self, key: &str, origin: &Origin, place: &str, faults: &mut Vec<Fault>) -> bool {
        let mut fault = |complaint: Complaint| faults.push(Fault::new(origin.clone(), place, complaint));
        let segments = split(key).and_then(|segments| {
            places::targets(ROOT, self.root(), &segments)?;
            Ok(segments)
        });
        let segments = match segments {
            Ok(segments) => segments,
            Err(complaint) => {
                fault(complaint);
                return false;
            }
        };
        let followed = match segments.first().map(String::as_str) {
            Some("sweep") => Err(("sweep".to_owned(), ROOT)),
            _ => schema::follow(ROOT, self.schema_path(&segments)).map(drop),
        };
        let Err((unknown, known)) = followed else { return true };
        let accepted = if known.is_empty() { "a key that holds keys".into() } else { schema::listed(known) };
        let help = near::key_meant(&unknown, known, ROOT);
        fault(Complaint {
            help,
            ..Complaint::new("", format!("unknown key \"{unknown}\"")).accepted(accepted)
        });
        false
    }

    fn axis(&self, key: String, entry: &Entry, faults: &mut Vec<Fault>) -> Option<Axis> {
        let place = format!("sweep.\"{key}\"");
        if !self.is_key(&key, &entry.origin, &place, faults) {
            return None;
        }
        let mut fault = |origin: &Origin, found: String, accepted: String, help: Option<String>| {
            let complaint = Complaint { place: place.clone(), found, accepted, help };
            faults.push(Fault { origin: origin.clone(), complaint });
        };
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

    /// Records keys that lie within others or are the same, because each would replace the value of the other.
    fn nested(&self, sweep: &Sweep, faults: &mut Vec<Fault>) {
        let places: Vec<(&str, Vec<Vec<Step>>)> = sweep
            .keys()
            .map(|key| {
                (
                    key,
                    split(key).and_then(|path| places::targets(ROOT, self.root(), &path)).unwrap_or_default(),
                )
            })
            .collect();
        for (at, (key, inner)) in places.iter().enumerate() {
            let within = |outer: &Vec<Step>| {
                inner.iter().any(|inner| inner.len() > outer.len() && inner.starts_with(outer))
            };
            let outer = places.iter().enumerate().find(|(other, (_, outer))| {
                outer.iter().any(within) || *other < at && outer == inner && !inner.is_empty()
            });
            let entry = || self.swept(key).or_else(|| self.law(key).map(|(entry, _)| entry));
            if let (Some((_, (outer, places))), Some(entry)) = (outer, entry()) {
                let part = if places == inner { "" } else { "a part of " };
                let complaint =
                    Complaint::new(format!("sweep.\"{key}\""), format!("{part}what \"{outer}\" varies"))
                        .accepted("keys of which none lies within another, each once");
                faults.push(Fault { origin: entry.origin.clone(), complaint });
            }
        }
    }

    /// Returns the path without the segment that picks a link, flow, traffic or station.
    fn schema_path(&self, segments: &[String]) -> Vec<String> {
        let picks = places::picks(ROOT, self.root(), segments);
        segments
            .iter()
            .enumerate()
            .filter(|(at, _)| !(picks && *at == 1))
            .map(|(_, segment)| segment.clone())
            .collect()
    }
}

/// Returns the lists of a sweep with their key paths, in the order of the file, then in that of the overrides.
fn lists(table: &Table) -> Vec<(String, &Entry)> {
    let mut entries = Vec::new();
    flatten("", table, &|_| false, &mut entries);
    entries.retain(|(key, _)| !RESERVED.iter().any(|reserved| key.split('.').next() == Some(*reserved)));
    entries.sort_by_key(|(_, entry)| {
        // An override's place ends where its key ends. The end would sort overrides by the length of their keys, so
        // only the start counts.
        let (is_override, start, _) = entry.origin.rank();
        (is_override, start)
    });
    entries
}

/// Adds the values by dotted path: `"link.rate" = […]` and `link.rate = […]` are the same. A table whose path
/// `is_whole` picks is a value.
fn flatten<'a>(
    prefix: &str,
    table: &'a Table,
    is_whole: &dyn Fn(&str) -> bool,
    entries: &mut Vec<(String, &'a Entry)>,
) {
    for entry in table.iter() {
        let key = tree::path(prefix, &entry.key);
        match &entry.node.value {
            Value::Table(within) if !is_whole(&key) => flatten(&key, within, is_whole, entries),
            _ => entries.push((key, entry)),
        }
    }
}
