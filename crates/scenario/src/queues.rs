//! The queues whose limit a key sets.

use crate::document::Document;
use crate::path::{Step, split};
use crate::places::targets;
use crate::schema::{self, ROOM};
use crate::tables::ROOT;
use crate::tree::Value;

impl Document {
    /// Returns the tables that hold a queue whose limit `key` sets, such as `link`, `link[1].reverse` or `wlan`;
    /// empty if `key` sets something else.
    ///
    /// ```
    /// use tightlink_scenario::Document;
    /// let document = Document::parse("x.toml", "[[link]]\nname = 'a'\n[[link]]\nname = 'b'\n")?;
    /// assert_eq!(document.tables_limited_by("link.queue.limit"), ["link[0]", "link[1]"]);
    /// assert_eq!(document.tables_limited_by("link.b.reverse.queue.limit"), ["link[1].reverse"]);
    /// assert!(document.tables_limited_by("link.rate").is_empty());
    /// # Ok::<(), tightlink_scenario::Faults>(())
    /// ```
    #[must_use]
    pub fn tables_limited_by(&self, key: &str) -> Vec<String> {
        let Ok(targets) = split(key).and_then(|segments| targets(ROOT, self.root(), &segments)) else {
            return Vec::new();
        };
        let several = self.top("link").is_some_and(|link| match &link.value {
            Value::List(links) => links.len() > 1,
            _ => false,
        });
        targets.iter().filter_map(|steps| table(steps, several)).collect()
    }
}

/// Returns the path of the table that holds the queue, if `steps` lead to a queue's limit. Indices appear if there are
/// `several` links.
fn table(steps: &[Step], several: bool) -> Option<String> {
    let names = steps.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    let names: Vec<&str> = names.collect();
    let [.., "queue", _] = names[..] else { return None };
    if schema::follow(ROOT, names).ok()??.kind != ROOM {
        return None;
    }
    let mut path = String::new();
    for step in &steps[..steps.len() - 2] {
        match step {
            Step::Key(key) if path.is_empty() => path.clone_from(key),
            Step::Key(key) => path = format!("{path}.{key}"),
            Step::Index(index) if several => path = format!("{path}[{index}]"),
            Step::Index(_) => {}
        }
    }
    Some(path)
}
