//! The notation of key paths such as `link.rate`, `flow.target.size`, `flow[0].rtt` or `flow."my flow".size`.

use std::fmt;
use units::Complaint;

/// One step down the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A step to the value of a key.
    Key(String),
    /// A step to an item of a list. A single table counts as a list of one, so index 0 is the table itself.
    Index(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// Makes the complaint about a path that leads nowhere, without a place.
pub(crate) fn nowhere(found: impl Into<String>, accepted: impl Into<String>) -> Complaint {
    Complaint::new("", found).accepted(accepted)
}

/// The most segments of a path.
const DEEPEST: usize = 8;

/// Splits a path such as `a.b`, `a[0].b` or `a."b c".d` into its segments.
pub(crate) fn split(path: &str) -> Result<Vec<String>, Complaint> {
    let accepted = "a key path such as link.rate, flow.NAME.size or flow.0.size";
    let malformed = |found: &str| nowhere(found, accepted);
    let mut segments = Vec::new();
    let mut rest = path.trim();
    loop {
        let (segment, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted.split_once('"').ok_or_else(|| malformed("a quote that is not closed"))?
        } else if let Some(index) = rest.strip_prefix('[') {
            index.split_once(']').ok_or_else(|| malformed("a bracket that is not closed"))?
        } else {
            rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()))
        };
        if segment.is_empty() {
            return Err(malformed(if path.is_empty() { "no key" } else { "an empty step in the path" }));
        }
        segments.push(segment.to_owned());
        if segments.len() > DEEPEST {
            return Err(malformed("a path of too many steps"));
        }
        if after.is_empty() {
            return Ok(segments);
        }
        rest = match after.strip_prefix('.') {
            Some(rest) => rest,
            None if after.starts_with('[') => after,
            None => return Err(malformed("a step that does not begin with a point")),
        };
    }
}
