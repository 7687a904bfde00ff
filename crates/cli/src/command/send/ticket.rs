//! The ticket comes from the last word, a file, standard input, the environment, or the terminal.
//!
//! It is a secret. Other users could see a word of the command line as long as the program runs, and children would
//! inherit a variable. So the program begins anew without either ([`hide`]), with the ticket as its input.

use crate::args::SendOptions;
use crate::print;
use crate::problem::Problem;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use transfer::{Ticket, TransferError};
use units::{Complaint, Foreign};
use zeroize::Zeroizing;

/// The environment variable that may hold the ticket.
const VARIABLE: &str = "TIGHTLINK_TICKET";
/// The most bytes that are read: much more than any ticket has.
const LONGEST: u64 = 4096;
/// The exit code that a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

const ACCEPTED: &str = "the ticket as the last word, --ticket-file FILE, the environment variable TIGHTLINK_TICKET, or \"-\" for \
                        standard input";

/// Begins this program anew if the ticket is a word of its command line or a variable, with the ticket as standard
/// input. Returns if there is nothing to hide, or if the system does not let the program begin anew.
pub(super) fn hide(options: &SendOptions) {
    let words = ordered(&options.words);
    let last = words.last();
    let word = last.filter(|last| as_ticket(last).is_some()).map(|last| last.as_os_str().to_owned());
    // A variable with a mistake is not hidden, because the program ends at once and names the variable.
    let variable = std::env::var_os(VARIABLE).filter(|text| as_ticket(Path::new(text)).is_some());
    // Two tickets are not hidden either, because they are a mistake that ends the program.
    let (Some(ticket), None) = (word.as_ref().xor(variable.as_ref()), &options.ticket_file) else { return };
    // A file may have the name of a ticket.
    let alone = words.len() == 1 && options.test.is_none();
    if word.is_some() && (alone || last.is_some_and(|last| fs::symlink_metadata(last).is_ok())) {
        return;
    }
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(place) = word.as_ref().and_then(|word| arguments.iter().rposition(|one| one == word)) {
        arguments.remove(place);
    }
    arguments.push("-".into());
    // If the user ran this program through the dynamic linker, only the linker would begin anew.
    let linker =
        |path: PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld"));
    if std::env::current_exe().is_ok_and(linker) {
        return;
    }
    let Ok((from, mut into)) = io::pipe() else { return };
    if into.write_all(ticket.as_encoded_bytes()).is_err() {
        return;
    }
    drop(into);
    let mut again = Command::new("/proc/self/exe");
    again.args(&arguments[1..]).arg0(&arguments[0]).env_remove(VARIABLE).stdin(from);
    // `exec` returns only if it fails. The ticket then stays where it was.
    let _ = again.exec();
}

/// Returns the words that are paths, for a command without need of a ticket.
pub(super) fn paths(options: &SendOptions) -> Vec<PathBuf> {
    let words = ordered(&options.words);
    match words.split_last() {
        Some((last, paths)) if !paths.is_empty() && (is_dash(last) || as_ticket(last).is_some()) => {
            paths.to_vec()
        }
        _ => words,
    }
}

/// Moves the ticket to the end of the words. The name of an existing file never counts as a ticket here.
fn ordered(words: &[PathBuf]) -> Vec<PathBuf> {
    let mut words = words.to_vec();
    let named = words.last().is_some_and(|last| is_dash(last) || as_ticket(last).is_some());
    let is_ticket = |word: &PathBuf| as_ticket(word).is_some() && fs::symlink_metadata(word).is_err();
    if let Some(place) = words.iter().position(is_ticket).filter(|_| !named) {
        let ticket = words.remove(place);
        words.push(ticket);
    }
    words
}

/// Returns the ticket of a test, which has no paths.
pub(super) fn alone(options: &SendOptions) -> Result<Ticket, Problem> {
    let [words @ .., last] = &options.words[..] else {
        // Without a word, the ticket comes from elsewhere, as for paths.
        if let Some(file) = &options.ticket_file {
            return parsed(&of_file(file)?);
        }
        return match std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
            Some(text) => parsed(&Zeroizing::new(text.into_string().unwrap_or_default())),
            None => parsed(&asked()?),
        };
    };
    if !words.is_empty() || !is_dash(last) && as_ticket(last).is_none() && options.ticket_file.is_some() {
        return Err(Problem::usage(
            Complaint::new("--test", "a test sends no files")
                .accepted("the ticket alone")
                .help("leave the paths out"),
        ));
    }
    if is_dash(last) {
        let line = first_line(io::stdin().lock());
        return parsed(&line.map_err(|error| Problem::environment(format!("standard input: {error}")))?);
    }
    if options.ticket_file.is_some() {
        return Err(Problem::usage("the ticket is given twice: as the last word, and by --ticket-file"));
    }
    parsed(&last.to_string_lossy())
}

/// Returns the words that are paths, and the ticket.
pub(super) fn find(options: &SendOptions) -> Result<(Vec<PathBuf>, Ticket), Problem> {
    let words = ordered(&options.words);
    let (last, before) = words.split_last().expect("the command line asks for one");
    let given = as_ticket(last);
    if let Some(file) = &options.ticket_file {
        // A file may have the name of a ticket.
        if given.is_some() && fs::symlink_metadata(last).is_err() {
            return Err(Problem::usage("the ticket is given twice: as the last word, and by --ticket-file"));
        }
        let ticket = parsed(&of_file(file)?)?;
        return Ok((words, ticket));
    }
    let variable = std::env::var_os(VARIABLE).filter(|text| !text.is_empty());
    if let Some(ticket) = given {
        // A ticket that is also the name of a file is refused. Otherwise a person who can put a file into a folder
        // could choose the receiver of `tightlink send *`.
        if fs::symlink_metadata(last).is_ok() {
            return Err(Problem::usage(
                Complaint::new("", "the last word is a ticket, and a file here has that name").accepted(
                    format!(
                        "./ before the name to send the file; --ticket-file, {VARIABLE} or - for the ticket"
                    ),
                ),
            ));
        }
        if variable.is_some() {
            return Err(Problem::usage(format!(
                "the ticket is given twice: as the last word, and by {VARIABLE}"
            )));
        }
        return at_least_one(before, ticket);
    }
    if is_dash(last) {
        let line = first_line(io::stdin().lock());
        let line = line.map_err(|error| Problem::environment(format!("standard input: {error}")))?;
        return at_least_one(before, parsed(&line)?);
    }
    if let Some(text) = variable {
        let text = Zeroizing::new(text.into_string().unwrap_or_default());
        return parsed(&text)
            .map(|ticket| (words, ticket))
            .map_err(|problem| Problem { message: format!("{VARIABLE}: {}", problem.message), ..problem });
    }
    // A last word that is neither a path nor a ticket is taken for a ticket that was mistyped or cut.
    let looks_like_one = last.as_os_str().as_encoded_bytes().starts_with(b"tl1");
    if (!before.is_empty() || looks_like_one) && fs::symlink_metadata(last).is_err() {
        parsed(&last.to_string_lossy())?;
    }
    if let Some(path) = words.iter().find(|path| fs::symlink_metadata(path).is_err()) {
        // A missing path is reported before the program asks for the ticket, so that nobody types a ticket in vain.
        let error = fs::symlink_metadata(path).err().unwrap_or_else(|| io::ErrorKind::NotFound.into());
        let path = Foreign::path(path);
        return Err(Problem::usage(
            Complaint::new(path.to_string(), error.to_string()).accepted("files and folders that exist"),
        ));
    }
    let ticket = parsed(&asked()?)?;
    Ok((words, ticket))
}

fn at_least_one(paths: &[PathBuf], ticket: Ticket) -> Result<(Vec<PathBuf>, Ticket), Problem> {
    if paths.is_empty() {
        return Err(Problem::usage("nothing to send: a ticket, but no path"));
    }
    Ok((paths.to_vec(), ticket))
}

fn is_dash(word: &Path) -> bool {
    word.as_os_str() == OsStr::new("-")
}

fn as_ticket(word: &Path) -> Option<Ticket> {
    word.to_str()?.parse().ok()
}

fn parsed(text: &str) -> Result<Ticket, Problem> {
    text.parse().map_err(|error| Problem::from(TransferError::Ticket(error)))
}

/// Reads the first line, which need not end with a line break.
fn first_line(from: impl Read) -> io::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST as usize));
    BufReader::new(from.take(LONGEST)).read_until(b'\n', &mut line)?;
    let text = str::from_utf8(&line).map_err(|_| io::Error::other("not valid UTF-8"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn of_file(path: &Path) -> Result<Zeroizing<String>, Problem> {
    let shown = Foreign::path(path);
    let read = File::open(path).and_then(|file| {
        let mode = file.metadata()?.permissions().mode();
        Ok((first_line(file)?, mode))
    });
    let (line, mode) = read.map_err(|error| {
        Problem::usage(
            Complaint::new(shown.to_string(), error.to_string())
                .accepted("a file that begins with the ticket"),
        )
    })?;
    if mode & 0o044 != 0 {
        print::talk(format_args!(
            "warning: {shown}: other users of this machine may read this ticket; `chmod 600` keeps it from them"
        ));
    }
    Ok(line)
}

/// Asks for the ticket at the terminal, which does not show it.
fn asked() -> Result<Zeroizing<String>, Problem> {
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let terminal = terminal.map_err(|_| {
        Problem::usage(
            Complaint::new("", "no ticket is given, and no terminal is there to ask for it")
                .accepted(ACCEPTED),
        )
    })?;
    match typed(&terminal) {
        Ok(Some(line)) => Ok(line),
        Ok(None) => Err(Problem { message: String::new(), code: INTERRUPTED }),
        Err(error) => Err(Problem::environment(format!("the terminal: {error}"))),
    }
}

/// The terminal without echo. Dropping this restores its settings.
struct NoEcho<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> NoEcho<'a> {
    /// Turns off the echo, and makes each key readable at once. Ctrl-C arrives as a key, too, because it must not end
    /// the program before the settings are restored.
    fn new(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        tcsetattr(terminal, SetArg::TCSAFLUSH, &quiet)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for NoEcho<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, SetArg::TCSAFLUSH, &self.before);
    }
}

/// Reads a line; returns `None` if Ctrl-C or Ctrl-D ended it.
fn typed(mut terminal: &File) -> io::Result<Option<Zeroizing<String>>> {
    let quiet = NoEcho::new(terminal)?;
    terminal.write_all(b"Ticket (it is not shown): ")?;
    let mut line = Zeroizing::new(String::with_capacity(LONGEST as usize));
    let ended = loop {
        let mut key = [0];
        if terminal.read(&mut key)? == 0 {
            break false;
        }
        match key[0] {
            b'\n' | b'\r' => break true,
            3 | 4 => break false,
            8 | 127 => drop(line.pop()),
            // Ctrl-U erases the line.
            21 => line.clear(),
            key if line.len() < line.capacity() => line.push(char::from(key)),
            _ => {}
        }
    };
    terminal.write_all(b"\n")?;
    drop(quiet);
    Ok(ended.then_some(line))
}
