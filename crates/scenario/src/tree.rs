//! The tree: [`Node`], [`Value`] and [`Table`], made from TOML.

use crate::fault::{Fault, Faults};
use crate::origin::{Origin, Source};
use crate::path::{Step, nowhere};
use std::collections::HashSet;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Complaint;

/// A value and its place in the text.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The place of the value itself, or of a table's header.
    pub origin: Origin,
}

/// A value to the right of a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// A quoted text.
    String(String),
    /// A whole number.
    Integer(i128),
    /// A number with a point or an exponent; may be infinite or NaN.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or a time of day, as text.
    Datetime(String),
    /// `[a, b]`, or `[[tables]]`.
    List(Vec<Node>),
    /// `{ key = value }`, or a `[table]`.
    Table(Table),
}

/// The keys of a table in the order of the file; each at most once.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<Entry>);

/// A key, its place, and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The place of the key.
    pub origin: Origin,
    /// Its value.
    pub node: Node,
}

impl Table {
    /// Returns the value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Returns the entries in the order of the file; keys that overrides added come last.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.iter()
    }

    /// Replaces the value of `key`, if there is one, by a table.
    pub(crate) fn replace(&mut self, key: &str, value: Self) {
        if let Some(entry) = self.0.iter_mut().find(|entry| entry.key == key) {
            entry.node.value = Value::Table(value);
        }
    }

    /// Returns the table and those within it, without the entries whose path from here `leaves` picks.
    pub(crate) fn pruned(&self, prefix: &str, leaves: &dyn Fn(&str) -> bool) -> Self {
        let pruned = |entry: &Entry| {
            let path = path(prefix, &entry.key);
            if leaves(&path) {
                return None;
            }
            let mut entry = entry.clone();
            if let Value::Table(table) = &entry.node.value {
                entry.node.value = Value::Table(table.pruned(&path, leaves));
            }
            Some(entry)
        };
        Self(self.0.iter().filter_map(pruned).collect())
    }

    pub(crate) fn without(&self, key: &str) -> Self {
        Self(self.0.iter().filter(|entry| entry.key != key).cloned().collect())
    }

    /// Returns the value of `key`; sets it to an empty table first if absent.
    fn enter(&mut self, key: &str, origin: &Origin) -> &mut Node {
        let at = self.0.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            let node = Node { value: Value::Table(Self::default()), origin: origin.clone() };
            self.0.push(Entry { key: key.to_owned(), origin: origin.clone(), node });
            self.0.len() - 1
        });
        &mut self.0[at].node
    }

    fn insert(&mut self, key: &str, origin: &Origin, node: Node) {
        let entry = Entry { key: key.to_owned(), origin: origin.clone(), node };
        match self.0.iter_mut().find(|entry| entry.key == key) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    pub(crate) fn from_toml(source: &Arc<Source>, start: usize, table: &DeTable<'_>) -> Self {
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts the keys by name; faults and sweeps need the file's order.
        entries.sort_by_key(|(key, _)| key.span().start);
        let entries = entries.into_iter().map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            origin: Origin::new(source, shift(key, start)),
            node: Node::from_toml(source, start, value),
        });
        Self(entries.collect())
    }
}

impl Node {
    /// Makes the tree of a TOML value whose text begins `start` bytes into the source.
    pub(crate) fn from_toml(source: &Arc<Source>, start: usize, value: &Spanned<DeValue<'_>>) -> Self {
        let origin = Origin::new(source, shift(value, start));
        let value = match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            // The parser has checked the grammar, so this fails only for huge numbers.
            DeValue::Integer(integer) => Value::Integer(
                i128::from_str_radix(integer.as_str(), integer.radix())
                    .unwrap_or(if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX }),
            ),
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(datetime) => Value::Datetime(datetime.to_string()),
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| Self::from_toml(source, start, item)).collect())
            }
            DeValue::Table(table) => Value::Table(Table::from_toml(source, start, table)),
        };
        Self { value, origin }
    }

    /// Makes the tree of a value, such as a default.
    pub(crate) fn of_value(text: &str) -> Option<Self> {
        let source = Arc::new(Source { file: Some("a default".to_owned()), text: text.to_owned() });
        DeValue::parse(text).ok().map(|value| Self::from_toml(&source, 0, &value))
    }

    /// Describes the value for "found …": `the integer 20`, `a list`, or the text itself in quotes.
    pub(crate) fn described(&self) -> String {
        match &self.value {
            Value::String(text) if text.chars().count() > 40 => "a long text".into(),
            Value::String(text) => format!("\"{text}\""),
            Value::Integer(i128::MIN | i128::MAX) => "a huge integer".into(),
            Value::Integer(integer) => format!("the integer {integer}"),
            Value::Float(float) => format!("the number {float}"),
            Value::Boolean(boolean) => format!("{boolean}"),
            Value::Datetime(_) => "a date or time of day".into(),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
        }
    }

    /// Returns the value as a person typed it; a string is without its quotes.
    pub(crate) fn typed(&self) -> &str {
        match &self.value {
            Value::String(text) => text,
            _ => self.origin.text(),
        }
    }

    /// Returns the node one step down.
    pub(crate) fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.value, step) {
            (Value::Table(table), Step::Key(key)) => table.get(key),
            // A single `[link]` counts as a list of one.
            (Value::Table(_), Step::Index(0)) => Some(self),
            (Value::List(items), Step::Index(index)) => items.get(*index),
            (Value::List(items), Step::Key(key)) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Puts `node` at the end of `steps` from here, and adds missing tables on the way.
    pub(crate) fn place(&mut self, steps: &[Step], origin: &Origin, node: &Self) -> Result<(), Complaint> {
        let described = self.described();
        match (steps, &mut self.value) {
            ([], _) => *self = node.clone(),
            ([Step::Key(key)], Value::Table(table)) => table.insert(key, origin, node.clone()),
            ([Step::Key(key), rest @ ..], Value::Table(table)) => {
                table.enter(key, origin).place(rest, origin, node)?;
            }
            ([Step::Index(0), rest @ ..], Value::Table(_)) => self.place(rest, origin, node)?,
            ([step, rest @ ..], Value::List(items)) => {
                let index = match step {
                    Step::Index(index) => Some(*index),
                    Step::Key(key) => key.parse().ok(),
                };
                let length = items.len();
                let item = index.and_then(|index| items.get_mut(index)).ok_or_else(|| {
                    nowhere(format!("no item \"{step}\" in a list of {length}"), "an index from 0")
                })?;
                item.place(rest, origin, node)?;
            }
            ([step, ..], _) => {
                return Err(nowhere(
                    format!("no key \"{step}\" within {described}"),
                    "the path of a key; to change a whole value, set the key that holds it",
                ));
            }
        }
        Ok(())
    }
}

/// Returns the path of `key` below `prefix`, which is empty at the top.
pub(crate) fn path(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn shift<T>(spanned: &Spanned<T>, start: usize) -> std::ops::Range<usize> {
    let span = spanned.span();
    span.start + start..span.end + start
}

/// Returns the errors in the TOML grammar: the first one of each line, because the others follow from it.
pub(crate) fn syntax_faults(source: &Arc<Source>, errors: &[toml::de::Error]) -> Faults {
    let mut lines = HashSet::new();
    // A file that is not TOML has an error in every line.
    let faults = errors.iter().take(100).map(|error| syntax_fault(source, error));
    Faults::new(faults.filter(|fault| lines.insert(fault.origin.line())).collect())
}

fn syntax_fault(source: &Arc<Source>, error: &toml::de::Error) -> Fault {
    let origin = Origin::new(source, error.span().unwrap_or(0..0));
    let before = origin.before();
    let key = before.split_once('=').map_or("", |(key, _)| key.trim()).to_owned();
    let (found, accepted) = error.message().split_once(", expected ").unwrap_or((error.message(), ""));
    let bare = origin.text().trim().trim_matches(['"', '\'', '“', '”', '„', '‘', '’']);
    let (found, accepted, help) = match found {
        "string values must be quoted" if bare.is_empty() => {
            ("no value".into(), "a value after \"=\"".into(), None)
        }
        "string values must be quoted" => {
            let help = (!bare.contains(['\n', '"'])).then(|| format!("write \"{bare}\""));
            ("a text without quotes".into(), "text in quotes, a number, a list or a table".into(), help)
        }
        "duplicate key" => (
            format!("duplicate key \"{bare}\""),
            "each key once".into(),
            Some("remove one of the two".into()),
        ),
        _ => (found.to_owned(), accepted.to_owned(), None),
    };
    Fault::new(origin, key, Complaint { place: String::new(), found, accepted, help })
}
