//! [`Foreign`]: text that somebody else chose, made safe to show.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::Path;

/// Letters shown at most; more would fill a terminal.
const LONGEST: usize = 200;

/// Bytes that a peer, a file or another user of the machine chose, for a person to read. Examples are a reason from
/// the other side, the name of a received file and the name of another user's process.
///
/// It is shown on one line of at most 200 letters (`…` says that it was cut). Controls, invisible letters, letters that
/// turn the direction of writing, backslashes and bytes that are not UTF-8 are escaped. So the text cannot move the
/// cursor or change the terminal's title or clipboard. Nor can it look like a line of this program. `{:#}` puts it in
/// double quotes, which marks it as somebody else's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign<'a>(&'a [u8]);

impl<'a> Foreign<'a> {
    /// Makes a text of any origin safe to show.
    #[must_use]
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self(text.as_ref())
    }

    /// Makes a path of any origin safe to show.
    #[must_use]
    pub fn path(path: &'a Path) -> Self {
        Self::os(path.as_os_str())
    }

    /// Makes a part of a path safe to show.
    #[must_use]
    pub fn os(text: &'a OsStr) -> Self {
        Self(text.as_encoded_bytes())
    }
}

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = formatter.alternate();
        if quoted {
            formatter.write_char('"')?;
        }
        let mut left = LONGEST;
        'text: for chunk in self.0.utf8_chunks() {
            for letter in chunk.valid().chars() {
                if left == 0 {
                    formatter.write_char('…')?;
                    break 'text;
                }
                left -= 1;
                if is_visible(letter) && letter != '\\' && !(quoted && letter == '"') {
                    formatter.write_char(letter)?;
                } else {
                    write!(formatter, "{}", letter.escape_default())?;
                }
            }
            for byte in chunk.invalid() {
                if left == 0 {
                    formatter.write_char('…')?;
                    break 'text;
                }
                left -= 1;
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        if quoted {
            formatter.write_char('"')?;
        }
        Ok(())
    }
}

/// Returns the text on one line, for a person to read. White space with the end of a line in it becomes one space.
/// Other letters that are not visible are escaped.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    let ends_line =
        |letter: char| matches!(letter, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut line = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(letter) = rest.chars().next() {
        let white = rest.len() - rest.trim_start().len();
        if rest[..white].contains(ends_line) {
            line.push(' ');
            rest = &rest[white..];
            continue;
        }
        if is_visible(letter) {
            line.push(letter);
        } else {
            line.extend(letter.escape_default());
        }
        rest = &rest[letter.len_utf8()..];
    }
    Cow::Owned(line)
}

/// Returns true if a letter shows as itself: it is not a control, a format character (Unicode's Cf) or a separator of
/// lines.
#[must_use]
pub fn is_visible(letter: char) -> bool {
    let hidden = matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    !hidden && !letter.is_control()
}
