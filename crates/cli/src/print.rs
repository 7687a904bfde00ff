//! Output to a reader who may leave: data on stdout, talk on stderr.
//!
//! `println!` panics when stdout is closed or full. Here a reader who has seen enough (`| head -1`) ends the program
//! quietly, as it ends any program in a pipe. A full disk is an error with an exit code.

use crate::problem::Problem;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use units::is_visible;

/// Writes a line of data to stdout.
pub(crate) fn data(line: impl Display) -> Result<(), Problem> {
    writeln!(io::stdout(), "{}", harmless(&line.to_string())).map_err(|error| Problem::output(&error))
}

/// Returns the number of letters in a line of the terminal that shows stdout; `None` if stdout is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
    // Some terminals say 0 for a width that they do not know.
    Some(usize::from(width)).filter(|width| *width > 0)
}

/// Writes an entry of a list: `head` as it is, then `text`, which is wrapped if stdout is a terminal.
pub(crate) fn entry(head: &str, text: &str) -> Result<(), Problem> {
    wrapped(head, text, terminal_width()).into_iter().try_for_each(data)
}

/// Returns the lines of an entry with at most `most` letters each, if its words allow it. Further lines begin below the
/// text. If that leaves it less than half of a line, all of the text stands below the head.
fn wrapped(head: &str, text: &str, most: Option<usize>) -> Vec<String> {
    const BELOW: &str = "      ";
    let length = |text: &str| text.chars().count();
    let whole = format!("{head}{text}");
    let Some(most) = most.filter(|most| length(&whole) > *most) else { return vec![whole] };
    let beside = length(head) * 2 <= most;
    let further = if beside { " ".repeat(length(head)) } else { BELOW.to_owned() };
    let mut lines = if beside { Vec::new() } else { vec![head.trim_end().to_owned()] };
    let mut line = if beside { head.to_owned() } else { further.clone() };
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && length(&line) + 1 + length(word) > most {
            lines.push(std::mem::replace(&mut line, further.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

/// Writes text of this program, which ends with a line break, to stdout.
pub(crate) fn text(text: &str) -> Result<(), Problem> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| Problem::output(&error))
}

/// Writes a value to stdout, as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Problem> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, OnlyVisible);
    let written = value.serialize(&mut serializer).map_err(io::Error::from);
    written
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(|error| Problem::output(&error))
}

/// A formatter that also escapes letters that JSON allows but that control a terminal.
struct OnlyVisible;

impl Formatter for OnlyVisible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        // A summary of many flows has millions of keys. JSON itself escapes all other controls of ASCII.
        if rest.is_ascii() && !rest.as_bytes().contains(&0x7f) {
            return out.write_all(rest.as_bytes());
        }
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| !is_visible(*letter)) {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[at + letter.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// Escapes all letters that control a terminal, except line breaks and tabs. Text from other people has already been
/// escaped ([`units::Foreign`]). This function is for the user's own arguments, for files and for messages of the
/// system.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_visible(letter) || matches!(letter, '\n' | '\t') {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

/// Writes a question over the last line of the terminal. The user types the answer behind it.
pub(crate) fn ask(question: impl Display) {
    let _ = write!(io::stderr(), "\r\x1b[2K{}", harmless(&question.to_string()))
        .and_then(|()| io::stderr().flush());
}

/// Writes the reason why the program ends to stderr, in the form of clap's errors: in colour on a terminal.
pub(crate) fn error(message: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let colour = io::stderr().is_terminal() && !is_set("NO_COLOR") && !dumb;
    let _ = writeln!(io::stderr(), "{}", error_line(message, colour));
}

fn error_line(message: &str, colour: bool) -> String {
    let word = if colour { "\x1b[1m\x1b[31merror:\x1b[0m" } else { "error:" };
    format!("{word} {}", harmless(message))
}

/// Writes a line of talk to stderr; ignores errors.
pub(crate) fn talk(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", harmless(&line.to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_wrapped_below_its_text_or_below_its_head() {
        assert_eq!(wrapped("  a  ", "one two", None), ["  a  one two"]);
        assert_eq!(wrapped("  a  ", "one two", Some(12)), ["  a  one two"]);
        assert_eq!(wrapped("  a  ", "one two", Some(11)), ["  a  one", "     two"]);
        assert_eq!(
            wrapped("  long  ", "one two", Some(14)),
            ["  long", "      one two"].map(str::to_owned)[..]
        );
        assert_eq!(wrapped("  a  ", "verylongword on", Some(11)), ["  a  verylongword", "     on"]);
    }

    #[test]
    fn a_message_has_no_colour_of_its_own() {
        assert_eq!(
            error_line("a \x1b[32mgreen\x1b[0m file", false),
            "error: a \\u{1b}[32mgreen\\u{1b}[0m file"
        );
        let shown = error_line("a \x1b[32mgreen\x1b[0m file", true);
        assert!(shown.starts_with("\x1b[1m\x1b[31merror:\x1b[0m a \\u{1b}[32mgreen"), "{shown}");
    }
}
