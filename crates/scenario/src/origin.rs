//! [`Origin`]: the place of a key or a value, in the file or in a `--set` override.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use units::one_line;

/// A text that scenario values come from.
#[derive(PartialEq, Eq)]
pub(crate) struct Source {
    /// The file's name; absent for an override, whose text is `key=value`.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
}

/// The place of a key or a value: a stretch of the scenario file, or of a `--set key=value`.
#[derive(Clone, PartialEq, Eq)]
pub struct Origin {
    source: Arc<Source>,
    range: Range<usize>,
}

impl Origin {
    pub(crate) fn new(source: &Arc<Source>, range: Range<usize>) -> Self {
        let start = floor_char_boundary(&source.text, range.start);
        let end = floor_char_boundary(&source.text, range.end).max(start);
        Self { source: Arc::clone(source), range: start..end }
    }

    /// Returns the scenario file's name; `None` for a `--set` override.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.source.file.as_deref()
    }

    /// Returns the line, counted from 1; always 1 in an override.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.text[..self.range.start].matches('\n').count() + 1
    }

    /// Returns the column, counted in characters from 1; in an override, that of the text `key=value`.
    #[must_use]
    pub fn column(&self) -> usize {
        self.source.text[self.line_start()..self.range.start].chars().count() + 1
    }

    /// Returns the number of characters that this covers on its first line, at least 1.
    #[must_use]
    pub fn length(&self) -> usize {
        self.text().lines().next().map_or(0, |line| line.chars().count()).max(1)
    }

    /// Returns the text as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.source.text[self.range.clone()]
    }

    /// Returns the range of bytes in the source.
    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the whole line on which this starts, without its line break.
    pub(crate) fn line_text(&self) -> &str {
        self.source.text[self.line_start()..].lines().next().unwrap_or("")
    }

    /// Returns the part of the line before this.
    pub(crate) fn before(&self) -> &str {
        &self.source.text[self.line_start()..self.range.start]
    }

    /// Returns true for the file or override as a whole, at which no caret can point.
    pub(crate) fn is_whole(&self) -> bool {
        self.range == (0..0)
    }

    /// Ranks faults as a person reads them: the file as a whole, down the file, then the overrides.
    pub(crate) fn rank(&self) -> (bool, usize, usize) {
        (self.source.file.is_none(), self.range.start, self.range.end)
    }

    /// Returns the place of the `column`th character (from 1) of the string written here, up to the next space. If
    /// the string was written with escapes, columns do not correspond, and the place is the whole string.
    pub(crate) fn within(&self, string: &str, column: usize) -> Self {
        let Some(quote) = self.text().find(string).filter(|_| !string.is_empty()) else {
            return self.clone();
        };
        let at = string.char_indices().nth(column.saturating_sub(1)).map_or(string.len(), |(at, _)| at);
        let rest = &string[at..];
        // A column just behind the string gives one character: the closing quote, or the end of an unquoted override.
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len()).max(usize::from(rest.is_empty()));
        let start = self.range.start + quote + at;
        let end = (start + length).min(self.source.text.len());
        Self::new(&self.source, start..end)
    }

    fn line_start(&self) -> usize {
        self.source.text[..self.range.start].rfind('\n').map_or(0, |end| end + 1)
    }
}

/// Writes `file:line:column`, or `--set` for an override.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            Some(file) => write!(f, "{}:{}:{}", one_line(file), self.line(), self.column()),
            None => f.write_str("--set"),
        }
    }
}

/// Writes the place and its text, without the whole source.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} {:?}", self.text())
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
