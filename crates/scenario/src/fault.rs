//! [`Fault`]: one thing wrong with the text of a scenario, and [`Faults`]: all of them. [`Complaints`] are the same
//! without a text.
//!
//! A fault names the place (file, line, column, or the override), the key, what was found, what is accepted and the
//! remedy. Its text form shows the line with a caret under the place.

use crate::origin::Origin;
use std::collections::HashSet;
use std::fmt;
use units::{Complaint, printable};

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The place of the mistake in the text.
    pub origin: Origin,
    /// The description of the mistake. Its place is the key's path, such as `flow[0].rtt`; empty for the whole file.
    pub complaint: Complaint,
}

/// The most letters of a line that are shown.
const SHOWN: usize = 110;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.complaint.head())?;
        if !self.origin.is_whole() {
            self.snippet(f)?;
        }
        write!(f, "{}", self.complaint.advice())
    }
}

impl Fault {
    pub(crate) fn new(origin: Origin, key: impl Into<String>, complaint: Complaint) -> Self {
        Self { origin, complaint: Complaint { place: key.into(), ..complaint } }
    }

    /// Writes the line, and the caret under the place.
    fn snippet(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = &self.origin;
        let (gutter, margin) = match origin.file() {
            Some(_) => {
                let line = origin.line().to_string();
                (format!("{line} | "), format!("{:width$} | ", "", width = line.len()))
            }
            None => ("--set ".to_owned(), " ".repeat("--set ".len())),
        };
        // A long line is shown from a little before the place.
        let column = origin.column();
        let skip = if column > SHOWN - 30 { column - SHOWN / 3 } else { 0 };
        let line: Vec<char> = printable(origin.line_text()).chars().skip(skip).collect();
        let (head, tail) = (if skip > 0 { "…" } else { "" }, if line.len() > SHOWN { "…" } else { "" });
        let shown: String = line.iter().take(SHOWN).collect();
        // Tabs stay tabs, so that the caret lines up whatever their width.
        let indent: String =
            origin.before().chars().skip(skip).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let room = SHOWN.saturating_sub(indent.chars().count()).max(1);
        write!(f, "\n  {gutter}{head}{shown}{tail}")?;
        write!(
            f,
            "\n  {margin}{}{indent}{}",
            if skip > 0 { " " } else { "" },
            "^".repeat(origin.length().min(room))
        )
    }
}

/// Returns the path without indices: `flow.rtt` for `flow[0].rtt`.
fn without_indices(key: &str) -> String {
    key.split('[')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once(']').map_or(part, |(_, rest)| rest) })
        .collect()
}

/// Everything wrong with a scenario, in the order of the file; at least one fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(Vec<Fault>);

/// The lines printed before the rest is only counted: one screen of 24, less the line that counts and its gap.
const LINES: usize = 22;
/// The number of faults named by their keys among those that do not fit.
const NAMED: usize = 8;

impl Faults {
    /// Sorts the faults by place and keeps one of several equal ones.
    pub(crate) fn new(mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| fault.origin.rank());
        // A fault in an override or a sweep that sets a key of every flow is kept once, not once for each flow.
        let mut seen = HashSet::new();
        faults.retain(|fault| {
            let text = fault.origin.text().to_owned();
            seen.insert((
                fault.origin.rank(),
                text,
                without_indices(&fault.complaint.place),
                fault.complaint.found.clone(),
            ))
        });
        Self(faults)
    }

    /// Returns the faults in the order of the file; overrides come last.
    #[must_use]
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// Returns the faults in the order of the file; overrides come last.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        screen(f, self.0.iter().map(|fault| (fault.to_string(), fault.complaint.place.as_str())))
    }
}

/// Prints as many of the texts as fit on a screen, and names the places of the others.
fn screen<'a>(
    f: &mut fmt::Formatter<'_>,
    texts: impl ExactSizeIterator<Item = (String, &'a str)> + Clone,
) -> fmt::Result {
    let mut used = 0;
    for (at, (text, _)) in texts.clone().enumerate() {
        let gap = if at > 0 { "\n\n" } else { "" };
        used += text.lines().count() + usize::from(at > 0);
        // The first text is printed whatever its length.
        if at > 0 && used > LINES {
            let more = texts.len() - at;
            let places = texts.skip(at).map(|(_, place)| place);
            let places: Vec<&str> = places.filter(|place| !place.is_empty()).take(NAMED).collect();
            let named = if places.is_empty() { "" } else { ": " };
            let left = if more > places.len() && !places.is_empty() { ", …" } else { "" };
            return write!(f, "\n\n… and {more} more{named}{}{left}", printable(&places.join(", ")));
        }
        write!(f, "{gap}{text}")?;
    }
    Ok(())
}

/// Everything wrong with a scenario that has no text, in the order in which its text would have the keys. It holds at
/// least one complaint, whose place is a key such as `link.rate` or `flow[0].rtt`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Complaints(Vec<Complaint>);

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        screen(f, self.0.iter().map(|complaint| (complaint.to_string(), complaint.place.as_str())))
    }
}

impl Complaints {
    /// Returns the complaints in the order of the keys.
    #[must_use]
    pub fn as_slice(&self) -> &[Complaint] {
        &self.0
    }
}

impl From<Faults> for Complaints {
    fn from(faults: Faults) -> Self {
        Self(faults.0.into_iter().map(|fault| fault.complaint).collect())
    }
}
impl From<Vec<Complaint>> for Complaints {
    fn from(complaints: Vec<Complaint>) -> Self {
        Self(complaints)
    }
}
impl From<Complaint> for Complaints {
    fn from(complaint: Complaint) -> Self {
        Self(vec![complaint])
    }
}
impl IntoIterator for Complaints {
    type Item = Complaint;
    type IntoIter = std::vec::IntoIter<Complaint>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}
impl From<Vec<Fault>> for Faults {
    fn from(faults: Vec<Fault>) -> Self {
        Self::new(faults)
    }
}
impl IntoIterator for Faults {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
