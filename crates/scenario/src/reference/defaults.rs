//! The defaults, each with its reason and source.

use super::rows;
use crate::schema::{DefaultValue, Key};

/// The default of a key of the scenario.
#[derive(Clone, Debug)]
pub struct Default {
    /// The key's path from the top of the file.
    pub path: String,
    /// The value in Markdown, or words in place of a single value.
    pub value: String,
    /// The reason and the source of the value; `None` if the schema has none.
    pub reason: Option<(&'static str, &'static str)>,
}

/// Returns every default. A key that is required or has no effect when absent has none, nor has a table that may stay
/// empty.
#[must_use]
pub fn defaults() -> Vec<Default> {
    let of = |path: String, key: &Key| {
        let value = match key.default {
            DefaultValue::Required(_) | DefaultValue::Written("{}") => return None,
            DefaultValue::Written(text) => format!("`{text}`"),
            DefaultValue::Hosts { rfc, linux, with, .. } => {
                let with = with.map_or_else(String::new, |control| format!(" and `{control}`"));
                format!("`{rfc}`; with `host = \"linux\"`{with} `{linux}`")
            }
            DefaultValue::Words(words) if is_absence(words) => return None,
            DefaultValue::Words(words) => words.to_owned(),
        };
        let reason = (!key.why.is_empty()).then_some((key.why, key.from));
        Some(Default { path, value, reason })
    };
    rows().into_iter().filter_map(|row| of(row.path, row.key)).collect()
}

/// Returns true if the words say that the key has no default or is required.
fn is_absence(words: &str) -> bool {
    ["none", "required", "this or "].iter().any(|start| words.starts_with(start)) && words != "none: greedy"
}

/// Returns the paths of keys that have a reason although they have no default.
#[must_use]
pub fn reasons_without_default() -> Vec<String> {
    let defaults = defaults();
    let has = |path: &str| defaults.iter().any(|default| default.path == path);
    let reasoned = rows().into_iter().filter(|row| !row.key.why.is_empty());
    reasoned.map(|row| row.path).filter(|path| !has(path)).collect()
}
