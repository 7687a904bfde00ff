//! [`Document`]: a scenario file as a tree that remembers where each value was written, and its overrides.

use crate::fault::{Fault, Faults};
use crate::origin::{Origin, Source};
use crate::path::{self, Step};
use crate::places;
use crate::tables::ROOT;
use crate::tree::{self, Node, Table, Value};
use std::sync::Arc;
use toml::de::{DeTable, DeValue};
use units::Complaint;

/// A scenario file: its text, and the tree of its keys and values with any overrides applied.
#[derive(Clone)]
pub struct Document {
    source: Arc<Source>,
    root: Node,
    overrides: Vec<(String, String)>,
}

/// Shows the name and the tree, without the text.
impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("name", &self.name()).field("root", &self.root.value).finish()
    }
}

impl Document {
    /// Parses the `text` of the file called `name`; only faults use the name.
    ///
    /// # Errors
    /// If the text is not TOML. [`Document::scenario`] checks that it is a scenario.
    pub fn parse(name: &str, text: &str) -> Result<Self, Faults> {
        let source = Arc::new(Source { file: Some(name.to_owned()), text: text.to_owned() });
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(tree::syntax_faults(&source, &errors));
        }
        let value = Value::Table(Table::from_toml(&source, 0, table.get_ref()));
        let root = Node { value, origin: Origin::new(&source, 0..0) };
        Ok(Self { source, root, overrides: Vec::new() })
    }

    /// Returns the file's name, as given to [`Document::parse`].
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.file.as_deref().unwrap_or_default()
    }

    /// Returns the file's text, without overrides.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// Returns the overrides of [`Document::set`]: keys and values as given, the latest last.
    #[must_use]
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }

    /// Returns the tree: a node that holds the file's table.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Overrides a value, as `--set key=value` does.
    ///
    /// `key` is a path such as `link.rate` (every link), `link.0.rate` (one), `flow.socket_buffer` (every flow),
    /// `flow.NAME.socket_buffer` or `flow.0.socket_buffer` (one), and the same for `traffic`. `value` is a TOML
    /// value; any other text becomes a string, so that `10Mbit/s` needs no quotes. A key that is absent from
    /// the file is added; reading the scenario then checks that the schema has it.
    ///
    /// This fixes a key that `[sweep]` varies: its axis leaves the sweep. `sweep.KEY` gives the axis other values.
    ///
    /// # Errors
    /// If the path is malformed, names a flow or an index that does not exist, or leads through a value that holds no
    /// keys. If the value begins as a list, a table or a quoted string and is not one. If the key is a part of a key
    /// that an axis of `[sweep]` varies, because the axis would undo the value. The document is then unchanged.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Faults> {
        let value = value.trim();
        let source = Arc::new(Source { file: None, text: format!("{key}={value}") });
        let start = key.len() + 1;
        let key_origin = Origin::new(&source, 0..key.len());
        let node = match DeValue::parse(value) {
            Ok(parsed) => Node::from_toml(&source, start, &parsed),
            Err(error) if value.starts_with(['[', '{', '"', '\'']) => {
                let span = error.span().unwrap_or(0..value.len());
                let complaint = Complaint::new(key, error.message())
                    .accepted("a TOML value, or a bare word or quantity such as 10Mbit/s")
                    .help("within lists and tables, strings need their quotes: [\"20ms\", \"40ms\"]");
                let origin = Origin::new(&source, start + span.start..start + span.end);
                return Err(Fault { origin, complaint }.into());
            }
            Err(_) => Node {
                value: Value::String(value.to_owned()),
                origin: Origin::new(&source, start..source.text.len()),
            },
        };
        let fault = |complaint| Fault::new(key_origin.clone(), key, complaint);
        // Another list for an axis replaces the axis, however its key is written.
        let varied = key.strip_prefix("sweep.").map_or(key, |axis| axis.trim_matches('"'));
        let settled = self.settled(varied).map_err(fault)?;
        let before = self.root.clone();
        if let (Some(sweep), Value::Table(table)) = (settled, &mut self.root.value) {
            table.replace("sweep", sweep);
        }
        if let Err(complaint) = self.place(key, &key_origin, &node) {
            self.root = before;
            return Err(fault(complaint).into());
        }
        self.overrides.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Returns a fault at `key`, such as `flow[2].control` or `link.queue.kind`, for stages that know more than the
    /// schema. If the key was not written, the fault points at the nearest table around it.
    #[must_use]
    pub fn fault(
        &self,
        key: &str,
        found: impl Into<String>,
        accepted: impl Into<String>,
        help: Option<String>,
    ) -> Fault {
        self.complain(Complaint {
            place: key.to_owned(),
            found: found.into(),
            accepted: accepted.into(),
            help,
        })
    }

    /// Returns a fault as [`fault`](Document::fault) does; the place of the complaint is the key.
    #[must_use]
    pub fn complain(&self, complaint: Complaint) -> Fault {
        Fault { origin: self.nearest(&complaint.place).origin.clone(), complaint }
    }

    /// Returns the value of `key` as it is written, without outer quotes.
    ///
    /// # Errors
    /// If the key has no value of its own: it is absent, or a table or list.
    pub fn value(&self, key: &str) -> Result<String, Faults> {
        let node = self.nearest(key);
        if matches!(node.value, Value::Table(_) | Value::List(_)) {
            let help = format!("write {key} in the scenario, or give it with --set");
            return Err(self.fault(key, "no value", "a single value", Some(help)).into());
        }
        Ok(node.typed().to_owned())
    }

    /// Puts `node` at every place that `key` means.
    pub(crate) fn place(&mut self, key: &str, key_origin: &Origin, node: &Node) -> Result<(), Complaint> {
        let mut root = self.root.clone();
        for steps in places::targets(ROOT, &root, &path::split(key)?)? {
            root.place(&steps, key_origin, node)?;
        }
        self.root = root;
        Ok(())
    }

    /// Returns the value of a key at the top of the file.
    pub(crate) fn top(&self, key: &str) -> Option<&Node> {
        match &self.root.value {
            Value::Table(table) => table.get(key),
            _ => None,
        }
    }

    /// Returns the document without the key at the top of the file.
    pub(crate) fn without(&self, key: &str) -> Self {
        let value = match &self.root.value {
            Value::Table(table) => Value::Table(table.without(key)),
            other => other.clone(),
        };
        let root = Node { value, origin: self.root.origin.clone() };
        Self { source: Arc::clone(&self.source), root, overrides: self.overrides.clone() }
    }

    /// Returns the value at `key`, or the nearest value around it.
    fn nearest(&self, key: &str) -> &Node {
        let Ok(segments) = path::split(key) else {
            return &self.root;
        };
        let steps = places::targets(ROOT, &self.root, &segments)
            .ok()
            .and_then(|targets| targets.into_iter().next())
            .unwrap_or_else(|| segments.into_iter().map(Step::Key).collect());
        let mut node = &self.root;
        for step in &steps {
            match node.child(step) {
                Some(child) => node = child,
                None => break,
            }
        }
        node
    }
}
