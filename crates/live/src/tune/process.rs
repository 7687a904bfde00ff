//! [`Process`]: a running program, the programs it started, and their descriptors.

use super::error::TuneError;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A socket as a program has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Its number in the program.
    pub(super) number: i32,
    /// The socket behind it, for the life of the machine.
    pub(super) inode: u64,
}

/// A process. It cannot be mistaken for a later one with the same id.
#[derive(Clone, Debug)]
pub(super) struct Process {
    id: u32,
    handle: Arc<OwnedFd>,
}

impl Process {
    pub(super) fn open(id: u32) -> Result<Self, TuneError> {
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(TuneError::NoProcess { pid: id })?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Ok(Self { id, handle: Arc::new(handle) }),
            // No process at all, or one of a process's threads.
            Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => {
                Err(TuneError::NoProcess { pid: id })
            }
            Err(error) => Err(TuneError::System {
                doing: "watch the process (it takes Linux 5.6 or later)",
                source: error.into(),
            }),
        }
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Its name, as far as it can be told.
    pub(super) fn name(&self) -> String {
        fs::read_to_string(format!("/proc/{}/comm", self.id))
            .map_or_else(|_| "?".into(), |name| name.trim().into())
    }

    pub(super) fn is_alive(&self) -> bool {
        // Readable when it has ended.
        poll(&mut [PollFd::new((*self.handle).as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO)
            .is_ok_and(|ready| ready == 0)
    }

    /// It and all that it started, as far as they still run.
    pub(super) fn family(&self) -> Vec<Self> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for id in ids("/proc") {
            if let Some(parent) = parent(id) {
                children.entry(parent).or_default().push(id);
            }
        }
        let mut family = vec![self.clone()];
        let mut next = 0;
        while let Some(member) = family.get(next) {
            next += 1;
            let young = children.remove(&member.id).unwrap_or_default();
            family.extend(young.into_iter().filter_map(|id| Self::open(id).ok()));
        }
        family
    }

    /// The sockets it has open.
    pub(super) fn descriptors(&self) -> Result<Vec<Descriptor>, TuneError> {
        let folder = format!("/proc/{}/fd", self.id);
        let entries = fs::read_dir(&folder).map_err(|error| self.refused(error))?;
        let socket = |entry: fs::DirEntry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let link = fs::read_link(entry.path()).ok()?;
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
            Some(Descriptor { number, inode })
        };
        Ok(entries.flatten().filter_map(socket).collect())
    }

    /// A copy of a descriptor, to be given back soon; `None` if the program has closed it.
    pub(super) fn borrow(&self, descriptor: Descriptor) -> Result<Option<OwnedFd>, TuneError> {
        let copy = match pidfd_getfd(&*self.handle, descriptor.number, PidfdGetfdFlags::empty()) {
            Ok(copy) => copy,
            Err(rustix::io::Errno::BADF | rustix::io::Errno::SRCH) => return Ok(None),
            Err(error) => return Err(self.refused(error.into())),
        };
        // The number may be another file's by now.
        let copy = fs::File::from(copy);
        let same = copy.metadata().is_ok_and(|found| found.ino() == descriptor.inode);
        Ok(same.then(|| copy.into()))
    }

    fn refused(&self, source: io::Error) -> TuneError {
        match source.kind() {
            io::ErrorKind::NotFound => TuneError::NoProcess { pid: self.id },
            _ if source.raw_os_error() == Some(libc::ESRCH) => TuneError::NoProcess { pid: self.id },
            io::ErrorKind::PermissionDenied => {
                TuneError::NotPermitted { pid: self.id, name: self.name(), source, mend: mend() }
            }
            _ => TuneError::System { doing: "look at a process's descriptors", source },
        }
    }
}

/// How to get the right to another process's sockets.
fn mend() -> String {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "1" | "2" => "run as root (kernel.yama.ptrace_scope keeps others out), or let tightlink start the program: tightlink tune -- CMD".into(),
        "3" => "kernel.yama.ptrace_scope = 3 forbids it to everyone until the machine is started anew".into(),
        _ => "run as root, or as the user who runs the program; in a container: --cap-add SYS_PTRACE".into(),
    }
}

/// The entries of a folder that are numbers.
fn ids(folder: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Who started a process: the second field behind its name, which stands in brackets and may hold some.
fn parent(id: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
