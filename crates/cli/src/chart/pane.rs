//! [`Pane`]: the output of a command, as the lines that a terminal would show.
//!
//! The command writes to a pseudo terminal, so that it prints each line at once. Its control sequences would change the
//! chart, so they are left out, except those that move within a line as progress bars do.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use units::is_visible;

/// The number of lines that are kept.
const KEPT: usize = 1000;
/// The longest line that is kept, in letters.
const LONGEST: usize = 4096;
/// The most bytes that are read before the chart is drawn again.
const READ_AT_ONCE: usize = 1 << 18;

/// A pseudo terminal, and the lines that programs wrote to it.
#[derive(Debug)]
pub(super) struct Pane {
    /// This process's end; `None` once no program has the other end.
    master: Option<OwnedFd>,
    text: Lines,
}

impl Pane {
    /// Makes a pseudo terminal, and returns the end for programs with it.
    pub(super) fn open(columns: u16, rows: u16) -> io::Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        unlockpt(&master)?;
        let programs = ioctl_tiocgptpeer(&master, flags)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let pane = Self { master: Some(master), text: Lines::default() };
        pane.resize(columns, rows);
        Ok((pane, programs))
    }

    /// Tells programs the size of the terminal.
    pub(super) fn resize(&self, columns: u16, rows: u16) {
        if let Some(master) = &self.master {
            // A wrong size only makes lines too long.
            let _ =
                tcsetwinsize(master, Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 });
        }
    }

    /// Reads the output that waits. Returns true if there was any.
    pub(super) fn read(&mut self) -> bool {
        let mut all = 0;
        let mut bytes = [0; 16_384];
        while let Some(master) = self.master.as_ref().filter(|_| all < READ_AT_ONCE) {
            match rustix::io::read(master, &mut bytes) {
                Ok(0) => self.master = None,
                Ok(count) => {
                    all += count;
                    self.text.write(&bytes[..count]);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                // Linux reports an error (EIO) when the last program has closed its end.
                Err(_) => self.master = None,
            }
        }
        all > 0
    }

    /// Returns this process's end, while there is something to wait for.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.master.as_ref().map(OwnedFd::as_fd)
    }

    /// Returns the lines kept.
    pub(super) fn lines(&self) -> &[String] {
        &self.text.lines
    }

    /// Returns the number of lines that were not kept.
    pub(super) fn left_out(&self) -> usize {
        self.text.left_out
    }
}

/// Lines as a terminal shows them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The lines, of which the last one is being written.
    lines: Vec<String>,
    left_out: usize,
    /// The letters of the last line.
    row: Vec<char>,
    column: usize,
    state: State,
    /// The first bytes of a letter whose other bytes have not come.
    begun: Vec<u8>,
}

/// The part of a control sequence that has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// ESC.
    Escape,
    /// ESC [ with parameters.
    Sequence,
    /// ESC ] or another string, up to BEL or ESC \.
    String,
    /// ESC within a string.
    StringEscape,
}

impl Lines {
    /// Adds output of a program.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            chunk.valid().chars().for_each(|letter| self.letter(letter));
            match chunk.invalid() {
                [] => {}
                // The kernel cuts output anywhere, so the end may be half a letter.
                half if chunks.peek().is_none() && is_begun(half) => self.begun = half.to_vec(),
                _ => self.letter(char::REPLACEMENT_CHARACTER),
            }
        }
        self.show();
    }

    fn letter(&mut self, letter: char) {
        self.state = match (self.state, letter) {
            (State::Text, '\u{1b}') => State::Escape,
            (State::Text, _) => {
                self.put(letter);
                State::Text
            }
            (State::Escape, '[') => State::Sequence,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::String,
            (State::Escape, ' '..='/') => State::Escape,
            (State::Sequence, '@'..='~') => {
                if letter == 'K' {
                    self.row.truncate(self.column);
                }
                State::Text
            }
            (State::Sequence, ' '..='?') => State::Sequence,
            (State::String, '\u{7}') => State::Text,
            (State::String, '\u{1b}') => State::StringEscape,
            (State::String, _) => State::String,
            (State::StringEscape, '\\') => State::Text,
            (State::StringEscape, _) => State::String,
            (State::Escape | State::Sequence, _) => State::Text,
        };
    }

    /// Puts a letter at the cursor, or moves the cursor.
    fn put(&mut self, letter: char) {
        match letter {
            '\n' => {
                self.show();
                self.row.clear();
                self.column = 0;
                self.lines.push(String::new());
                if self.lines.len() > 2 * KEPT {
                    self.left_out += KEPT;
                    self.lines.drain(..KEPT);
                }
            }
            '\r' => self.column = 0,
            '\u{8}' => self.column = self.column.saturating_sub(1),
            '\t' => (0..8 - self.column % 8).for_each(|_| self.put(' ')),
            _ if is_visible(letter) && self.column < LONGEST => {
                match self.row.get_mut(self.column) {
                    Some(place) => *place = letter,
                    None => self.row.push(letter),
                }
                self.column += 1;
            }
            _ => {}
        }
    }

    /// Brings the last line up to date.
    fn show(&mut self) {
        let row: String = self.row.iter().collect();
        match self.lines.last_mut() {
            Some(last) => *last = row,
            None if row.is_empty() => {}
            None => self.lines.push(row),
        }
    }
}

/// Returns true if `bytes` are the beginning of a letter.
fn is_begun(bytes: &[u8]) -> bool {
    matches!(bytes, [0xc2..=0xf4] | [0xe0..=0xf4, 0x80..=0xbf] | [0xf0..=0xf4, 0x80..=0xbf, 0x80..=0xbf])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        parts.iter().for_each(|part| lines.write(part));
        lines.lines
    }

    #[test]
    fn output_is_the_lines_that_a_terminal_shows() {
        assert_eq!(shown(&[b"one\r\ntwo\r\n"]), ["one", "two", ""]);
        assert_eq!(shown(&[b" 10 %\r", b" 20 %\r100 %"]), ["100 %"], "a progress bar");
        assert_eq!(shown(&[b"long\rx\x1b[K"]), ["x"], "erased to the end of the line");
        assert_eq!(shown(&[b"a\tb\x08c"]), ["a       c"]);
    }

    #[test]
    fn control_sequences_are_left_out_wherever_they_are_cut() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}\u{1b}(Bgr\u{fc}n \u{1b}P+q\u{1b}\\\u{9b}2J."
            .as_bytes();
        for cut in 0..=text.len() {
            assert_eq!(shown(&[&text[..cut], &text[cut..]]), ["red gr\u{fc}n 2J."], "cut at {cut}");
        }
        assert_eq!(shown(&[b"\xff\xc3", b"("]), ["\u{fffd}\u{fffd}("], "not UTF-8");
    }

    #[test]
    fn old_lines_are_left_out_and_counted() {
        let mut lines = Lines::default();
        (0..5000).for_each(|number| lines.write(format!("{number}\n").as_bytes()));
        assert!(lines.lines.len() <= 2 * KEPT && lines.left_out + lines.lines.len() == 5001);
        assert_eq!(lines.lines[0], lines.left_out.to_string());
    }
}
