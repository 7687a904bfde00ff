//! The file's own text at one point of its sweep, with its comments and layout. A store keeps it so that the point can
//! be run again by itself.

use crate::document::Document;
use crate::path::{Step, split};
use crate::places::targets;
use crate::tables::ROOT;
use crate::tree::{Entry, Node, Value};
use std::ops::Range;

/// A range of the text and its replacement.
type Edit = (Range<usize>, String);

impl Document {
    /// Returns the text with the values of `point` for the swept keys and `[sweep]` commented out. It leaves out
    /// overrides, and values that have no place in the text.
    #[must_use]
    pub fn text_at(&self, point: &[(String, String)]) -> String {
        let text = self.text();
        let Ok(written) = Self::parse(self.name(), text) else { return text.to_owned() };
        let mut edits = Vec::new();
        for (key, value) in point {
            let value = self.written_value(key, value);
            let places = split(key).and_then(|segments| targets(ROOT, written.root(), &segments));
            edits.extend(
                places.into_iter().flatten().filter_map(|steps| edit(written.root(), &steps, &value, text)),
            );
        }
        // The edits that insert `#` come after the other insertions. So at one place the other text lands before the
        // `#`, not between it and its line.
        edits.extend(written.sweep_commented_out());
        // Edits are applied from the end of the text, so that earlier places stay valid. At one place the later edit is
        // applied first.
        edits.sort_by_key(|(range, _)| range.start);
        let mut edited = text.to_owned();
        for (range, by) in edits.into_iter().rev() {
            edited.replace_range(range, &by);
        }
        edited
    }

    /// Returns a swept value as TOML: as the sweep has it, or as [`Document::set`] would accept it.
    fn written_value(&self, key: &str, value: &str) -> String {
        let items = self.swept(key).map(|entry| &entry.node.value);
        let item = match items {
            Some(Value::List(nodes)) => nodes.iter().find(|node| node.typed() == value),
            _ => None,
        };
        let item = item.map(|node| node.origin.text().to_owned());
        item.or_else(|| self.drawn_as_written(key, value)).unwrap_or_else(|| format!("{value:?}"))
    }

    /// Returns the edits that put a `#` before each line of the sweep.
    fn sweep_commented_out(&self) -> Vec<Edit> {
        let text = self.text();
        let Some(sweep) = self.top("sweep") else { return Vec::new() };
        let mut ranges = vec![sweep.origin.range()];
        stretches(sweep, &mut ranges);
        let mut lines: Vec<usize> = ranges.iter().flat_map(|range| line_starts(text, range)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().map(|start| (start..start, "# ".to_owned())).collect()
    }
}

/// Adds the ranges of the keys and values within a table.
fn stretches(node: &Node, ranges: &mut Vec<Range<usize>>) {
    let Value::Table(table) = &node.value else { return };
    for Entry { origin, node, .. } in table.iter() {
        ranges.extend([origin.range(), node.origin.range()]);
        stretches(node, ranges);
    }
}

/// Returns the starts of the lines that a range touches.
fn line_starts(text: &str, range: &Range<usize>) -> Vec<usize> {
    let first = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
    let rest = text[range.clone()].match_indices('\n').map(|(at, _)| range.start + at + 1);
    std::iter::once(first).chain(rest).collect()
}

/// Returns the edit that sets the value at the end of `steps`: it replaces an old value, or adds the key to the
/// innermost table that exists.
fn edit(root: &Node, steps: &[Step], value: &str, text: &str) -> Option<Edit> {
    let mut node = root;
    for (at, step) in steps.iter().enumerate() {
        let Some(child) = node.child(step) else {
            let rest: Vec<String> = steps[at..].iter().map(Step::to_string).collect();
            let Value::Table(table) = &node.value else { return None };
            return Some(insertion(node, table.iter().next().is_none(), &rest.join("."), value, text));
        };
        node = child;
    }
    Some((node.origin.range(), value.to_owned()))
}

/// Returns the edit that adds a key: first in an inline table, or on a line of its own below a table's header.
fn insertion(table: &Node, empty: bool, key: &str, value: &str, text: &str) -> Edit {
    let range = table.origin.range();
    if table.origin.text().starts_with('{') {
        let separator = if empty { " " } else { "," };
        let at = range.start + 1;
        return (at..at, format!(" {key} = {value}{separator}"));
    }
    if range == (0..0) {
        return (range, format!("{key} = {value}\n"));
    }
    let at = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end + 1);
    let line = if at == text.len() && !text.ends_with('\n') { "\n" } else { "" };
    (at..at, format!("{line}{key} = {value}\n"))
}
