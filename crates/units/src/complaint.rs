//! [`Complaint`]: the one form of an error that a person reads.

use serde::Serialize;
use std::fmt;

/// An error for a person: the place, the finding, the accepted values, and the remedy.
///
/// ```
/// use tightlink_units::Complaint;
/// let complaint = Complaint::new("--jobs", "0: nothing would run").accepted("1 or more");
/// assert_eq!(complaint.to_string(), "--jobs: 0: nothing would run\n  accepted: 1 or more");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Complaint {
    /// The place: a key such as `flow[0].rtt`, an option, a file; may be empty.
    pub place: String,
    /// The finding, as a phrase: `unknown unit "Mbits"`.
    pub found: String,
    /// The values that are accepted instead; may be empty.
    pub accepted: String,
    /// The remedy, if one is known.
    pub help: Option<String>,
}

impl Complaint {
    /// Creates a complaint about what was `found` at `place`.
    #[must_use]
    pub fn new(place: impl Into<String>, found: impl Into<String>) -> Self {
        Self { place: place.into(), found: found.into(), ..Self::default() }
    }

    /// Adds the accepted values.
    #[must_use]
    pub fn accepted(mut self, accepted: impl Into<String>) -> Self {
        self.accepted = accepted.into();
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the first line: place and finding.
    #[must_use]
    pub fn head(&self) -> impl fmt::Display {
        let place = if self.place.is_empty() { "" } else { &format!("{}: ", self.place) };
        printable(&format!("{place}{}", self.found))
    }

    /// Returns the lines after the first, `accepted: …` and `help: …`, each after a line break.
    #[must_use]
    pub fn advice(&self) -> impl fmt::Display {
        let line = |what: &str, text: &str| format!("\n  {what}: {}", printable(text));
        let accepted = Some(&self.accepted).filter(|accepted| !accepted.is_empty());
        let accepted = accepted.map_or_else(String::new, |accepted| line("accepted", accepted));
        accepted + &self.help.as_ref().map_or_else(String::new, |help| line("help", help))
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.head(), self.advice())
    }
}

/// Makes text fit for a terminal: replaces control characters other than tabs by the replacement character.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_takes_no_room() {
        assert_eq!(Complaint::new("", "nothing").to_string(), "nothing");
        assert_eq!(Complaint::new("a", "b").help("c").to_string(), "a: b\n  help: c");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let complaint = Complaint::new("a\x1b", "b\r").accepted("c\n").help("d\u{7}");
        assert_eq!(complaint.to_string(), "a\u{fffd}: b\u{fffd}\n  accepted: c\u{fffd}\n  help: d\u{fffd}");
    }

    #[test]
    fn it_is_data() {
        let json = serde_json::to_value(Complaint::new("flow[0].rtt", "missing").accepted("a time")).unwrap();
        let expected = serde_json::json!({
            "place": "flow[0].rtt", "found": "missing", "accepted": "a time", "help": null
        });
        assert_eq!(json, expected);
    }
}
