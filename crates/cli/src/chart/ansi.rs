//! [`Ansi`]: a terminal for ratatui by the control sequences of ECMA-48.
//!
//! ratatui's own backends bring a reader of input with a handler of signals. Here the loop that waits for the command
//! waits for keys, too, so only the output is needed.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use rustix::termios::tcgetwinsize;
use std::fmt::Write as _;
use std::io::{self, Write, stderr};

/// The size of a terminal that does not know it.
const USUAL: Size = Size { width: 80, height: 24 };

/// The terminal at standard error. A picture is written at once, so that it never shows half drawn.
#[derive(Debug, Default)]
pub(super) struct Ansi {
    out: String,
}

/// Returns the size of the terminal at standard error.
pub(super) fn size() -> Size {
    match tcgetwinsize(stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size { width: size.ws_col, height: size.ws_row },
        _ => USUAL,
    }
}

/// Returns the parameter that sets a colour of the text, as far as charts use them.
fn colour(colour: Color) -> u8 {
    match colour {
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::DarkGray => 90,
        _ => 39,
    }
}

impl Ansi {
    fn put(&mut self, sequence: &str) -> io::Result<()> {
        self.out.push_str(sequence);
        Ok(())
    }
}

impl Backend for Ansi {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut cursor = None;
        let mut style = None;
        for (x, y, cell) in content {
            if cursor != Some((x, y)) {
                let _ = write!(self.out, "\x1b[{};{}H", y + 1, x + 1);
            }
            let wanted = (cell.fg, cell.modifier.contains(Modifier::BOLD));
            if style != Some(wanted) {
                let bold = if wanted.1 { "1" } else { "22" };
                let _ = write!(self.out, "\x1b[{bold};{}m", colour(cell.fg));
                style = Some(wanted);
            }
            self.out.push_str(cell.symbol());
            cursor = Some((x + 1, y));
        }
        self.put("\x1b[0m")
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.put("\x1b[?25l")
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.put("\x1b[?25h")
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        let _ = write!(self.out, "\x1b[{};{}H", y + 1, x + 1);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.put("\x1b[2J")
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.put(match region {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        })
    }

    fn size(&self) -> io::Result<Size> {
        Ok(size())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: size(), pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut terminal = stderr().lock();
        let written = terminal.write_all(self.out.as_bytes()).and_then(|()| terminal.flush());
        self.out.clear();
        written
    }
}
