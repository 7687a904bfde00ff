//! The way into a running path for a second terminal of the same user: `tightlink enter`.
//!
//! A process with a path has an [`Entrance`]: a Unix socket in a folder that only its user may open. Whoever connects
//! gets a line that describes the path, and then a line for each sample. The other side finds all entrances of its user
//! by [`running`]. Both sides ask the kernel for the user of the other process, and refuse any other user.
//!
//! The lines are the caller's. This room knows the folder, the sockets and the namespaces.

use crate::{EmuError, Namespace};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Uid, geteuid};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;
use units::Complaint;

/// The end of the names of sockets.
const SUFFIX: &str = ".socket";
/// The largest number of connected readers; more are refused.
const MOST_READERS: usize = 16;
/// The longest line that a reader accepts.
const LONGEST_LINE: usize = 65_536;
/// The time for which a reader waits for the first line. A process that waits for its server sends it late.
const PATIENCE: Duration = Duration::from_secs(4);

/// A socket by which other processes of the same user find this process and its path.
#[derive(Debug)]
pub struct Entrance {
    listener: UnixListener,
    place: PathBuf,
    /// The first line that each reader gets.
    description: String,
    readers: Vec<UnixStream>,
}

impl Entrance {
    /// Opens the socket of this process. Each reader first gets `description`, a line without a line break.
    ///
    /// # Errors
    /// If no folder is this user's alone, or the socket cannot be made.
    pub fn open(description: String) -> io::Result<Self> {
        let folder = folder().ok_or_else(|| {
            io::Error::new(io::ErrorKind::PermissionDenied, "no folder for sockets is this user's alone")
        })?;
        let place = folder.join(format!("{}{SUFFIX}", process::id()));
        // The folder is this user's, and the number is this process's. So a socket of the same name was left behind by
        // a process that was killed.
        let _ = fs::remove_file(&place);
        let listener = UnixListener::bind(&place)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, place, description, readers: Vec::new() })
    }

    /// Accepts readers that have connected since the last call.
    pub fn accept(&mut self) {
        while let Ok((mut reader, _)) = self.listener.accept() {
            let line = format!("{}\n", self.description);
            let greeted = is_own(&reader)
                && self.readers.len() < MOST_READERS
                && reader.set_nonblocking(true).is_ok()
                && reader.write_all(line.as_bytes()).is_ok();
            if greeted {
                self.readers.push(reader);
            }
        }
    }

    /// Sends a line to all readers. A reader that has left, or that is so late that the line does not fit into its
    /// socket, is forgotten.
    pub fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.readers.retain_mut(|reader| reader.write_all(line.as_bytes()).is_ok());
    }

    /// Returns true if there is a reader.
    #[must_use]
    pub fn is_read(&self) -> bool {
        !self.readers.is_empty()
    }
}

impl AsFd for Entrance {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.place);
    }
}

/// A running path of this user, connected through its entrance.
#[derive(Debug)]
pub struct Entry {
    pid: u32,
    description: String,
    age: Duration,
    lines: Lines,
}

impl Entry {
    /// Returns the number of the process with the path.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the time for which the path has been there.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.age
    }

    /// Returns the line that describes the path, as the other process sent it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Waits for the next line until `limit`. Returns `None` after the other process has ended.
    ///
    /// # Errors
    /// With kind `WouldBlock` if no line came in time; otherwise if the other process sent something else than a line.
    pub fn line(&mut self, limit: Duration) -> io::Result<Option<String>> {
        self.lines.next(limit)
    }

    /// Returns true if the other process has ended. Lines that have come are discarded.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        loop {
            match self.line(Duration::from_micros(1)) {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Moves this process into the user namespace of the path, if the path has one of its own, and returns the network
    /// namespace behind descriptor `number` of the other process. Call it while the program has one thread.
    ///
    /// # Errors
    /// [`EmuError::Missing`] without the right, or if the other process has ended.
    pub fn namespace(&self, number: i32) -> Result<Namespace, EmuError> {
        let pid = self.pid;
        let refused = |what: String, error: io::Error| {
            let help = match error.kind() {
                io::ErrorKind::NotFound => {
                    "it has probably just ended; `tightlink enter` lists those that run"
                }
                _ => "enter from a terminal outside of the path, as the user who started `tightlink emulate`",
            };
            EmuError::Missing(Complaint::new(what, error.to_string()).help(help))
        };
        let of_process = format!("the namespaces of process {pid}");
        let namespace = Namespace::at(&format!("/proc/{pid}/fd/{number}"))
            .map_err(|error| refused(of_process.clone(), error))?;
        let (own, other) = ("/proc/self/ns/user".to_owned(), format!("/proc/{pid}/ns/user"));
        let number = |file: &str| fs::metadata(file).map(|found| found.ino());
        let differs = number(&own).and_then(|own| Ok(own != number(&other)?));
        if differs.map_err(|error| refused(of_process.clone(), error))? {
            let file = File::open(&other).map_err(|error| refused(of_process.clone(), error))?;
            setns(file, CloneFlags::CLONE_NEWUSER).map_err(|errno| {
                refused(format!("entering the user namespace of process {pid}"), errno.into())
            })?;
        }
        // A thread tries the namespace, so that a missing right is an error here and not between fork and exec.
        namespace.run(|| ()).map_err(|error| match error {
            EmuError::Os { source, .. } => refused(format!("entering the path of process {pid}"), source),
            other => other,
        })?;
        Ok(namespace)
    }
}

/// Finds the running paths of this user, in the order of their numbers. Sockets without a process are removed.
#[must_use]
pub fn running() -> Vec<Entry> {
    let mut found = Vec::new();
    for file in folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten() {
        let name = file.file_name();
        let pid = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.parse::<u32>().ok());
        let Some(pid) = pid else { continue };
        match connect(&file.path(), pid) {
            Ok(Some(entry)) => found.push(entry),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(file.path());
            }
            Ok(None) | Err(_) => {}
        }
    }
    found.sort_by_key(|entry| entry.pid);
    found
}

/// Connects to the socket of `pid`. Returns `None` if another process has it.
fn connect(place: &Path, pid: u32) -> io::Result<Option<Entry>> {
    let stream = UnixStream::connect(place)?;
    let credentials = getsockopt(&stream, PeerCredentials)?;
    if !is_own(&stream) || credentials.pid().cast_unsigned() != pid {
        return Ok(None);
    }
    // A clock that was set back makes the socket look new.
    let age = fs::metadata(place)?.modified()?.elapsed().unwrap_or_default();
    let mut lines = Lines { stream, read: Vec::new() };
    Ok(lines.next(PATIENCE)?.map(|description| Entry { pid, description, age, lines }))
}

/// The lines that another process sends.
#[derive(Debug)]
struct Lines {
    stream: UnixStream,
    /// The bytes that have been read and not returned.
    read: Vec<u8>,
}

impl Lines {
    fn next(&mut self, limit: Duration) -> io::Result<Option<String>> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        self.stream.set_read_timeout(Some(limit))?;
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).take(end).collect();
                return String::from_utf8(line).map(Some).map_err(|_| invalid("a line that is not text"));
            }
            if self.read.len() > LONGEST_LINE {
                return Err(invalid("a line that does not end"));
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(count) => self.read.extend_from_slice(&bytes[..count]),
                // A reset is the end of a process that had not read everything.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns true if the process at the other end of `stream` is this user's.
fn is_own(stream: &UnixStream) -> bool {
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| Uid::from_raw(peer.uid()) == geteuid())
}

/// Returns the folder of this user's sockets: the first one that can be this user's alone. Both sides find the same.
fn folder() -> Option<PathBuf> {
    let user = geteuid();
    let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let usual = PathBuf::from(if user.is_root() { "/run".into() } else { format!("/run/user/{user}") });
    let last = PathBuf::from(format!("/tmp/tightlink-{user}"));
    let folders = named.into_iter().chain([usual]).map(|folder| folder.join("tightlink")).chain([last]);
    folders.into_iter().find(|folder| make_own(folder))
}

/// Makes a folder for this user alone, unless it exists. Returns true if it is this user's alone.
fn make_own(folder: &Path) -> bool {
    // A missing or foreign parent is not made: the next folder is tried.
    let _ = DirBuilder::new().mode(0o700).create(folder);
    is_own_folder(folder)
}

/// Returns true if `folder` is a folder that only this user may open, and not a link to one.
fn is_own_folder(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir() && found.uid() == geteuid().as_raw() && found.permissions().mode() & 0o077 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_may_open_is_not_used() {
        let folder = std::env::temp_dir().join(format!("tightlink-entrance-{}", process::id()));
        assert!(make_own(&folder) && is_own_folder(&folder));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).expect("ours");
        assert!(!make_own(&folder), "the group may open it");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("ours");
        let link = folder.join("link");
        std::os::unix::fs::symlink(&folder, &link).expect("ours");
        assert!(!is_own_folder(&link), "a link");
        fs::remove_dir_all(&folder).expect("ours");
    }
}
