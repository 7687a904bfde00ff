//! [`Process`]: a running program, the programs it started, and their descriptors. `process/error.rs` has what can go
//! wrong with it.

mod error;

pub use error::ProcessError;

use host::{PollFd, PollFlags, WaitResult};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A socket, by its place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// The descriptor's number in the program.
    pub(crate) number: i32,
    /// The inode number of the socket behind it. No other open socket has it unless the kernel's 32-bit counter has
    /// wrapped.
    pub(crate) inode: u64,
}

/// A process, by a handle that cannot refer to a later process with the same id.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    id: u32,
    handle: Arc<OwnedFd>,
}

impl Process {
    pub(crate) fn open(id: u32) -> Result<Self, ProcessError> {
        let pid =
            i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(ProcessError::NoProcess { pid: id })?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Ok(Self { id, handle: Arc::new(handle) }),
            // No process has the id, or the id is that of a thread.
            Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => {
                Err(ProcessError::NoProcess { pid: id })
            }
            Err(error) => Err(ProcessError::System {
                doing: "watch the process (it takes Linux 5.6 or later)",
                source: error.into(),
            }),
        }
    }

    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Returns the program's name, or "?" if it cannot be read. The user who runs the program chose the name, so it is
    /// shown as [`units::Foreign`].
    pub(crate) fn name(&self) -> String {
        name_of(self.id).unwrap_or_else(|| "?".into())
    }

    pub(crate) fn is_alive(&self) -> bool {
        // The process is alive as long as its handle is not readable.
        host::wait(&mut [PollFd::new(&*self.handle, PollFlags::IN)], Some(units::Span::ZERO))
            .is_ok_and(|woken| woken == WaitResult::TimedOut)
    }

    /// Returns this process and all that it started, as far as they still run.
    pub(crate) fn family(&self) -> Vec<Self> {
        let mut children = Children::find();
        let mut family = vec![self.clone()];
        let mut next = 0;
        while let Some(member) = family.get(next) {
            next += 1;
            let young: Vec<Self> =
                children.of(member.id).into_iter().filter_map(|id| member.child(id)).collect();
            family.extend(young);
        }
        family
    }

    /// Returns the inodes of the sockets that this process and those that it started have open, each with the first
    /// process that has it. Takes time for these processes only, and no descriptor for any of them.
    pub(crate) fn sockets(&self) -> Result<BTreeMap<u64, u32>, ProcessError> {
        let mut sockets = BTreeMap::new();
        let mut add = |id: u32, found: Vec<Descriptor>| {
            for descriptor in found {
                sockets.entry(descriptor.inode).or_insert(id);
            }
        };
        match self.descriptors() {
            Ok(found) => add(self.id, found),
            // A program that has ended and is not collected yet refuses its descriptors to everybody.
            Err(_) if !self.is_alive() => {}
            Err(error) => return Err(error),
        }
        let (mut children, mut seen) = (Children::find(), BTreeSet::from([self.id]));
        let mut members = vec![self.id];
        while let Some(member) = members.pop() {
            for id in children.of(member) {
                // The program of another user refuses its descriptors.
                let found = sockets_of(id).unwrap_or_default();
                // The child may have ended since it was listed, and another process may have its id.
                if parent(id) == Some(member) && seen.insert(id) {
                    add(id, found);
                    members.push(id);
                }
            }
        }
        // Once this process has ended, another may have its id.
        Ok(if self.is_alive() { sockets } else { BTreeMap::new() })
    }

    /// Returns the process `id` if this process started it and both still run.
    fn child(&self, id: u32) -> Option<Self> {
        let child = Self::open(id).ok()?;
        // The process that the caller found under this id may have ended, and another may have the id. So the parent is
        // read again here. This reading is of the opened process if that is alive afterwards, because it keeps its id
        // until it has ended. The same holds for the parent.
        (parent(id) == Some(self.id) && child.is_alive() && self.is_alive()).then_some(child)
    }

    /// Lists the sockets that the process has open.
    pub(crate) fn descriptors(&self) -> Result<Vec<Descriptor>, ProcessError> {
        sockets_of(self.id).map_err(|error| self.refused(error))
    }

    /// Borrows a copy of a descriptor, to be closed soon; `None` if the program has closed it.
    pub(crate) fn borrow(&self, descriptor: Descriptor) -> Result<Option<OwnedFd>, ProcessError> {
        let copy = match pidfd_getfd(&*self.handle, descriptor.number, PidfdGetfdFlags::empty()) {
            Ok(copy) => copy,
            Err(rustix::io::Errno::BADF | rustix::io::Errno::SRCH) => return Ok(None),
            Err(error) => return Err(self.refused(error.into())),
        };
        // The number may belong to another file by now, so the inode is compared.
        let copy = fs::File::from(copy);
        let same = copy.metadata().is_ok_and(|found| found.ino() == descriptor.inode);
        Ok(same.then(|| copy.into()))
    }

    fn refused(&self, source: io::Error) -> ProcessError {
        match source.kind() {
            // The option `hidepid` of /proc hides the processes of others, and their handles work all the same.
            io::ErrorKind::NotFound if self.is_alive() => ProcessError::Hidden { pid: self.id },
            io::ErrorKind::NotFound => ProcessError::NoProcess { pid: self.id },
            _ if source.raw_os_error() == Some(libc::ESRCH) => ProcessError::NoProcess { pid: self.id },
            io::ErrorKind::PermissionDenied => {
                ProcessError::NotPermitted { pid: self.id, name: self.name(), source }
            }
            _ => ProcessError::System { doing: "look at a process's descriptors", source },
        }
    }

    /// Returns true if the process is in another network namespace than this one; `None` if the kernel does not say.
    pub(crate) fn is_elsewhere(&self) -> Option<bool> {
        let own = fs::metadata("/proc/thread-self/ns/net").ok()?;
        let its = fs::metadata(format!("/proc/{}/ns/net", self.id)).ok()?;
        Some(own.ino() != its.ino())
    }
}

/// The children of processes.
enum Children {
    /// The kernel lists those of each thread.
    Listed,
    /// The kernel has no such lists (`CONFIG_PROC_CHILDREN`), so all processes were asked for their parents.
    Walked(BTreeMap<u32, Vec<u32>>),
}

impl Children {
    fn find() -> Self {
        if fs::exists("/proc/thread-self/children").unwrap_or(false) { Self::Listed } else { Self::walk() }
    }

    fn walk() -> Self {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for id in ids("/proc") {
            if let Some(parent) = parent(id) {
                children.entry(parent).or_default().push(id);
            }
        }
        Self::Walked(children)
    }

    /// Returns the children of a process. Each may have ended since.
    fn of(&mut self, id: u32) -> Vec<u32> {
        match self {
            Self::Walked(children) => children.remove(&id).unwrap_or_default(),
            Self::Listed => {
                let threads = ids(&format!("/proc/{id}/task")).into_iter();
                let lists = threads.map(|thread| format!("/proc/{id}/task/{thread}/children"));
                let lists = lists.filter_map(|file| fs::read_to_string(file).ok());
                lists.flat_map(|list| numbers(&list)).collect()
            }
        }
    }
}

/// Returns the numbers of a text.
fn numbers(text: &str) -> Vec<u32> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Lists the sockets that the process `id` has open.
fn sockets_of(id: u32) -> io::Result<Vec<Descriptor>> {
    let socket = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let link = fs::read_link(entry.path()).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        Some(Descriptor { number, inode })
    };
    Ok(fs::read_dir(format!("/proc/{id}/fd"))?.flatten().filter_map(socket).collect())
}

/// Lists the entries of a folder that are numbers.
fn ids(folder: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the name of the process `id`, as data.
pub(crate) fn name_of(id: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{id}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(&name)).into_owned())
}

/// Reads the id of a process's parent: the second field after its name. The name is in brackets, and may itself contain
/// brackets.
fn parent(id: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
#[path = "../tests/within/process.rs"]
mod tests;
