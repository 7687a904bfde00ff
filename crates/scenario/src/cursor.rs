//! The cursor of the walk over the tree: [`ValueAt`] is a value with its path, [`Keys`] a table of known keys. Every
//! reader returns `None` after it has noted a fault.

mod quantity;

pub(crate) use quantity::TypedQuantity;

use crate::fault::{Fault, Faults};
use crate::near;
use crate::origin::Origin;
use crate::schema::{self, DefaultValue};
use crate::tree::{Node, Value};
use crate::values::Host;
use crate::word::Word;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use units::{Complaint, Foreign, TextError, is_visible, one_line};

/// The faults that readers have noted, the keys of the whole file, and the trees of defaults.
pub(crate) struct Sink {
    faults: RefCell<Vec<Fault>>,
    root: schema::Keys,
}

impl Sink {
    pub(crate) fn new(root: schema::Keys) -> Self {
        Self { faults: RefCell::default(), root }
    }

    /// Returns the value that was read, or all faults that were noted.
    pub(crate) fn result<T>(self, read: Option<T>) -> Result<T, Faults> {
        match (read, self.faults.into_inner()) {
            (Some(read), faults) if faults.is_empty() => Ok(read),
            (_, faults) => Err(Faults::new(faults)),
        }
    }

    /// Returns the tree of a default. The first call makes the trees of all defaults.
    fn default(&self, text: &'static str) -> Option<&'static Node> {
        static TREES: OnceLock<HashMap<&'static str, Node>> = OnceLock::new();
        let trees = TREES.get_or_init(|| {
            let mut trees = HashMap::new();
            plant(self.root, &mut trees);
            trees
        });
        trees.get(text)
    }
}

/// Adds the trees of the defaults of `keys` and of the keys within them.
fn plant(keys: schema::Keys, trees: &mut HashMap<&'static str, Node>) {
    for key in schema::all(keys) {
        let texts = match key.default {
            DefaultValue::Written(text) => [Some(text), None],
            DefaultValue::Hosts { rfc, linux, .. } => [Some(rfc), Some(linux)],
            DefaultValue::Required(_) | DefaultValue::Words(_) => [None, None],
        };
        for text in texts.into_iter().flatten() {
            if let Some(node) = Node::of_value(text) {
                trees.insert(text, node);
            }
        }
        plant(key.within, trees);
    }
}

/// A value, its path, and the sink for its faults.
#[derive(Clone)]
pub(crate) struct ValueAt<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: String,
    /// The place of the key itself; `None` for a default, and for a value without a key.
    pub(crate) key: Option<&'a Origin>,
    sink: &'a Sink,
}

/// A table whose keys are known; absent keys have the defaults of the schema or are faults.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
    at: ValueAt<'a>,
    known: schema::Keys,
    host: Host,
    control: String,
}

/// The most letters of a name. Longer ones fit into no table.
const MOST_NAME: usize = 100;
/// The most letters of a text for people, such as the title.
const MOST_LETTERS: usize = 1000;

/// The largest count. Larger ones are mistakes.
const MOST: u64 = 1_000_000;

impl<'a> ValueAt<'a> {
    pub(crate) fn root(node: &'a Node, sink: &'a Sink) -> Self {
        Self { node, path: String::new(), key: None, sink }
    }

    /// Records a fault at this value.
    pub(crate) fn fault(&self, found: impl Into<String>, accepted: impl Into<String>, help: Option<String>) {
        self.fault_from(&self.node.origin, found, accepted, help);
    }

    /// Records a fault with this value's path, at another place.
    pub(crate) fn fault_from(
        &self,
        origin: &Origin,
        found: impl Into<String>,
        accepted: impl Into<String>,
        help: Option<String>,
    ) {
        let place = self.path.clone();
        let complaint = Complaint { place, found: found.into(), accepted: accepted.into(), help };
        self.sink.faults.borrow_mut().push(Fault { origin: origin.clone(), complaint });
    }

    /// Records a fault in the text of this value, at the column of `error`.
    pub(crate) fn fault_within(&self, text: &str, error: &TextError, help: Option<String>) {
        let origin = self.node.origin.within(text, error.column);
        self.fault_from(&origin, error.found.clone(), error.accepted.clone(), help);
    }

    /// Reads a table, and records a fault for each key in it that is not `known`.
    pub(crate) fn keys(&self, known: schema::Keys) -> Option<Keys<'a>> {
        self.keys_among(known, &[], &|_, _| String::new())
    }

    /// Reads a table as [`keys`](ValueAt::keys) does. For a key of `others`, the fault has the words of `misplaced`.
    pub(crate) fn keys_among(
        &self,
        known: schema::Keys,
        others: schema::Keys,
        misplaced: &dyn Fn(&str, &ValueAt<'_>) -> String,
    ) -> Option<Keys<'a>> {
        let Value::Table(table) = &self.node.value else {
            self.fault(self.node.described(), format!("a table with {}", schema::listed(known)), None);
            return None;
        };
        let keys = Keys { at: self.clone(), known, host: Host::default(), control: String::new() };
        for entry in table.iter() {
            if schema::find(known, &entry.key).is_none() {
                let (path, key) = (keys.path(&entry.key), Some(&entry.origin));
                let at = ValueAt { node: &entry.node, path, key, sink: self.sink };
                if schema::find(others, &entry.key).is_some() {
                    at.fault_from(&entry.origin, misplaced(&entry.key, self), schema::listed(known), None);
                    continue;
                }
                let help = near::key_meant(&entry.key, known, self.sink.root);
                at.fault_from(&entry.origin, "unknown key", schema::listed(known), help);
            }
        }
        Some(keys)
    }

    /// Returns the value of a key, if this is a table that has it.
    pub(crate) fn child(&self, name: &str) -> Option<Self> {
        let Value::Table(table) = &self.node.value else {
            return None;
        };
        let entry = table.iter().find(|entry| entry.key == name)?;
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Some(Self { node: &entry.node, path, key: Some(&entry.origin), sink: self.sink })
    }

    /// Returns the items of a list; an empty vector for any other value.
    pub(crate) fn items(&self) -> Vec<Self> {
        let Value::List(items) = &self.node.value else {
            return Vec::new();
        };
        let item = |(index, node)| {
            let path = format!("{}[{index}]", self.path);
            Self { node, path, key: None, sink: self.sink }
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Reads true or false.
    pub(crate) fn boolean(&self) -> Option<bool> {
        let Value::Boolean(value) = &self.node.value else {
            self.fault(self.node.described(), "true or false", None);
            return None;
        };
        Some(*value)
    }

    /// Reads a text that is not empty.
    pub(crate) fn text(&self) -> Option<String> {
        let help = match &self.node.value {
            Value::String(text) if !text.trim().is_empty() => return Some(text.clone()),
            Value::String(_) => {
                self.fault("an empty text", "a text", None);
                return None;
            }
            Value::List(_) | Value::Table(_) => None,
            _ => Some(format!("write \"{}\"", self.node.origin.text())),
        };
        self.fault(self.node.described(), "a text in quotes", help);
        None
    }

    /// Reads a text for people, which is shown on one line.
    pub(crate) fn line(&self) -> Option<String> {
        let line = one_line(&self.text()?).into_owned();
        let letters = line.chars().count();
        if letters > MOST_LETTERS {
            self.fault(
                format!("a text of {letters} letters"),
                format!("at most {MOST_LETTERS} letters"),
                None,
            );
            return None;
        }
        Some(line)
    }

    /// Reads a name, which stands in tables, files and keys.
    pub(crate) fn name(&self) -> Option<String> {
        let name = self.text()?;
        let letters = name.chars().count();
        if let Some(hidden) = name.chars().find(|letter| !is_visible(*letter)) {
            let found = format!(
                "a name with the letter {:?}, which is not visible: {:#}",
                hidden,
                Foreign::new(&name)
            );
            self.fault(found, "a name of visible letters, on one line", None);
            return None;
        }
        if letters > MOST_NAME {
            self.fault(format!("a name of {letters} letters"), format!("at most {MOST_NAME} letters"), None);
            return None;
        }
        Some(name)
    }

    /// Reads one of a few words.
    pub(crate) fn word<T: Word>(&self) -> Option<T> {
        self.word_among(T::WORDS)
    }

    /// Reads one of these words.
    pub(crate) fn word_among<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let accepted: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let help = near::did_you_mean(&text, words.iter().map(|(word, _)| *word));
        self.fault(format!("unknown {}", self.node.described()), accepted.join(", "), help);
        None
    }

    /// Reads a whole number within `range`.
    pub(crate) fn integer(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let accepted = format!("a whole number from {} to {}", range.start(), range.end());
        self.integer_within(range, accepted)
    }

    /// Reads a whole number above zero, without an upper bound; `zero` says what a zero would mean.
    pub(crate) fn positive(&self, zero: &str) -> Option<u64> {
        let accepted = "a whole number, 1 or more";
        if matches!(self.node.value, Value::Integer(0)) {
            self.fault(zero, accepted, None);
            return None;
        }
        self.integer_within(1..=u64::MAX, accepted.to_owned())
    }

    fn integer_within(&self, range: RangeInclusive<u64>, accepted: String) -> Option<u64> {
        let help = match &self.node.value {
            Value::Integer(integer) => match u64::try_from(*integer) {
                Ok(value) if range.contains(&value) => return Some(value),
                _ => None,
            },
            Value::String(text) if text.trim().parse::<u64>().is_ok() => {
                Some(format!("write {} without quotes", text.trim()))
            }
            Value::Float(float) if float.fract() == 0.0 && (0.0..1e15).contains(float) => {
                Some(format!("write {float}"))
            }
            _ => None,
        };
        self.fault(self.node.described(), accepted, help);
        None
    }

    /// Reads a whole number from 1 to a million; `zero` says what a zero would mean.
    pub(crate) fn count(&self, zero: &str) -> Option<u64> {
        if matches!(self.node.value, Value::Integer(0)) {
            self.fault(zero, format!("a whole number from 1 to {MOST}"), None);
            return None;
        }
        self.integer(1..=MOST)
    }

    /// Reads a Pareto distribution's tail index.
    pub(crate) fn shape(&self, example: &str) -> Option<f64> {
        let shape = self.number()?;
        if shape <= 1.0 {
            let found = format!("a shape of {shape}, which has no mean");
            self.fault(found, format!("a number over 1, such as {example}"), None);
            return None;
        }
        Some(shape)
    }

    /// Reads a finite number, whole or not.
    pub(crate) fn number(&self) -> Option<f64> {
        match &self.node.value {
            Value::Integer(integer) => Some(*integer as f64),
            Value::Float(float) if float.is_finite() => Some(*float),
            _ => {
                self.fault(self.node.described(), "a number", None);
                None
            }
        }
    }
}

impl<'a> Keys<'a> {
    /// Returns the value of `name`, if present.
    pub(crate) fn get(&self, name: &str) -> Option<ValueAt<'a>> {
        self.at.child(name)
    }

    /// Returns the value of `name`. If it is absent, returns the table itself with the key's path, so that a fault can
    /// report the key as missing.
    pub(crate) fn near(&self, name: &str) -> ValueAt<'a> {
        self.get(name).unwrap_or_else(|| ValueAt { path: self.path(name), ..self.at.clone() })
    }

    /// Returns the same table with the defaults of `host` for a flow with `control`.
    pub(crate) fn on(&self, host: Host, control: &str) -> Self {
        Self { host, control: control.to_owned(), ..self.clone() }
    }

    /// Returns the same table, with `known` as the keys whose defaults it has.
    pub(crate) fn among(&self, known: schema::Keys) -> Self {
        Self { known, ..self.clone() }
    }

    /// Reads a key that is required or has a default, as the schema says.
    pub(crate) fn read<T>(&self, name: &str, read: impl FnOnce(&ValueAt<'a>) -> Option<T>) -> Option<T> {
        if let Some(at) = self.get(name) {
            return read(&at);
        }
        let default = schema::find(self.known, name).map(|key| key.default);
        let written = default
            .and_then(|default| default.on(self.host, &self.control))
            .and_then(|text| self.at.sink.default(text));
        match (written, default) {
            (Some(node), _) => read(&ValueAt { node, path: self.path(name), key: None, sink: self.at.sink }),
            (None, Some(DefaultValue::Required(accepted))) => {
                self.near(name).fault("missing", accepted, None);
                None
            }
            (None, _) => {
                self.near(name).fault("missing", "", None);
                None
            }
        }
    }

    /// Reads a key whose default depends on more than the schema knows.
    pub(crate) fn or<T>(
        &self,
        name: &str,
        default: impl Into<T>,
        read: impl FnOnce(&ValueAt<'a>) -> Option<T>,
    ) -> Option<T> {
        self.get(name).map_or_else(|| Some(default.into()), |at| read(&at))
    }

    /// Reads a key that may be absent.
    pub(crate) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&ValueAt<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.get(name).map_or(Some(None), |at| read(&at).map(Some))
    }

    /// Returns the place of the key itself.
    pub(crate) fn key_origin(&self, name: &str) -> Option<&'a Origin> {
        self.get(name)?.key
    }

    fn path(&self, name: &str) -> String {
        if self.at.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at.path) }
    }
}
