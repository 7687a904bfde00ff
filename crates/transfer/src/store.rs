//! [`Store`]: the receiver's folder. Everything in the folder is reached from its descriptor, part by part, without
//! following a symbolic link. So no received name and no received link leads out of the folder, or into its state
//! folder.
//!
//! A file grows under a temporary name in `.tightlink/partial`. Once it is complete, verified and on the disk, one
//! rename gives it its own name. [`OnConflict`] decides whether it may replace a file or link, but never a folder.

use crate::beneath;
use crate::error::TransferError;
use crate::lock::locked;
use crate::name::Name;
use crate::origin::Origin;
use crate::wire::control::Stamp;
use host::Clock;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use units::{Span, Time};

/// The number of folders kept open, because files come folder by folder.
const OPEN_FOLDERS: usize = 128;
/// The time for which an open folder is used without a new look-up of its name, because the folder may be moved.
const FRESH: Span = Span::from_millis(2);
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The permission bits that are taken over. A sender must not decide with whose rights a program runs (set-user-id).
const MODE: u32 = 0o1777;
/// The greatest number tried after a name that is taken.
const MOST_NUMBERS: u32 = 9999;

/// The key of a file under way, a hash of its name, version and size, or the key of a name.
pub(crate) type Key = u128;

/// The state of a file or link. It stays the same as long as nobody changes the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    pub(crate) size: u64,
    pub(crate) modified: Stamp,
    pub(crate) inode: u64,
}

/// The entry that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameHolder {
    Nothing,
    File(FileStamp),
    Link {
        there: FileStamp,
        target: Vec<u8>,
    },
    Folder,
    /// A device, socket or pipe.
    Other,
}

/// The rule for an entry whose name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// The entry does not get the name.
    Refuse,
    /// The entry gets the name.
    Replace,
    /// The entry gets the name if the present file or link has this state.
    ReplaceThis(FileStamp),
    /// The entry gets the name with a number.
    Number,
}

/// The outcome of naming an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamingOutcome {
    /// The entry has the name.
    Here,
    /// The entry has this other name.
    As(Name),
    /// Another entry has the name.
    Not,
}

/// A folder that was made or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedFolder {
    pub(crate) origin: Origin,
    /// The time that it had, if it existed before.
    pub(crate) there: Option<Stamp>,
}

/// The rights and time that a folder gets when nothing more is put into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FolderAttributes {
    /// The identity of the folder. Another folder of its name stays unchanged.
    pub(crate) origin: Origin,
    /// The rights that it gets, if the session made it.
    pub(crate) mode: Option<u32>,
    /// The time that it gets.
    pub(crate) modified: Stamp,
}

/// An open folder below the one received into, and the time at which its name was looked up.
#[derive(Debug)]
struct Opened {
    folder: Arc<OwnedFd>,
    then: Time,
}

/// The folder received into.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    top: Arc<OwnedFd>,
    partial: OwnedFd,
    /// Device and inode of the state folder and of `partial` in it. No name may lead into either.
    own: [(u64, u64); 2],
    /// Permission bits that new files and folders do not get.
    mask: u32,
    /// Folders whose names were looked up a moment ago.
    open: Mutex<HashMap<Vec<u8>, Opened>>,
    clock: Clock,
}

impl Store {
    /// Opens the store of the folder `top`, whose path is `path`, with the state folder `own` in it. With `preserve`,
    /// permission bits are taken over unchanged, without the umask.
    pub(crate) fn open(
        path: &Path,
        top: &OwnedFd,
        own: &OwnedFd,
        preserve: bool,
    ) -> Result<Self, TransferError> {
        let opened = || -> io::Result<Self> {
            match rustix::fs::mkdirat(own, "partial", Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            let partial = rustix::fs::openat(own, "partial", FOLDER, Mode::empty())?;
            let (stat, inner) = (rustix::fs::fstat(own)?, rustix::fs::fstat(&partial)?);
            Ok(Self {
                path: path.to_owned(),
                top: Arc::new(top.try_clone()?),
                partial,
                own: [(stat.st_dev, stat.st_ino), (inner.st_dev, inner.st_ino)],
                mask: if preserve { 0 } else { umask() },
                open: Mutex::default(),
                clock: Clock::start(),
            })
        };
        opened().map_err(TransferError::file(path, "open the folder"))
    }

    /// Returns the folder called `name`, which must exist.
    fn folder(&self, name: Option<&[u8]>) -> io::Result<Arc<OwnedFd>> {
        let Some(name) = name else { return Ok(Arc::clone(&self.top)) };
        let now = self.clock.now();
        if let Some(open) = locked(&self.open).get(name)
            && now.since(open.then) < FRESH
        {
            return Ok(Arc::clone(&open.folder));
        }
        let found = Arc::new(beneath::open(self.top.as_fd(), OsStr::from_bytes(name), FOLDER)?);
        let stat = rustix::fs::fstat(&*found)?;
        if self.own.contains(&(stat.st_dev, stat.st_ino)) {
            return Err(io::Error::other("this is the folder of the session's own files"));
        }
        let mut open = locked(&self.open);
        if open.len() >= OPEN_FOLDERS {
            open.clear();
        }
        open.insert(name.to_owned(), Opened { folder: Arc::clone(&found), then: now });
        Ok(found)
    }

    /// Makes a folder, or takes the existing one. If the existing folder is the session's `own`, it gets the rights
    /// that filling it needs, until [`Store::finish_folder`].
    pub(crate) fn make_folder(&self, name: &Name, own: Option<Origin>) -> io::Result<ReceivedFolder> {
        let (folder, last) = name.split();
        let folder = self.folder(folder)?;
        let new = match rustix::fs::mkdirat(&*folder, last, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        // This fails for a link to a folder, which may lead out. It succeeds for a folder that cannot be read.
        let held = rustix::fs::openat(&*folder, last, FOLDER.union(OFlags::PATH), Mode::empty())
            .map_err(|_| io::Error::other("something that is not a folder has this name"))?;
        let (origin, stat) = (Origin::of(&held)?, rustix::fs::fstat(&held)?);
        let mode = Mode::from_raw_mode(stat.st_mode);
        if own == Some(origin) && !mode.contains(Mode::RWXU) {
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), mode | Mode::RWXU)?;
        }
        Ok(ReceivedFolder { origin, there: (!new).then(|| stamp(&stat)) })
    }

    /// Gives a folder its time, and its rights if the session made it, when nothing more is put into it.
    pub(crate) fn finish_folder(&self, name: &Name, finish: FolderAttributes) -> io::Result<()> {
        locked(&self.open).remove(name.bytes());
        let folder = self.folder(Some(name.bytes()))?;
        if Origin::of(&folder)? != finish.origin {
            return Ok(());
        }
        rustix::fs::futimens(&*folder, &times(finish.modified))?;
        if let Some(mode) = finish.mode {
            rustix::fs::fchmod(&*folder, self.mode(mode))?;
        }
        Ok(())
    }

    /// Finds the entry with this name.
    pub(crate) fn find(&self, name: &Name) -> io::Result<NameHolder> {
        let (folder, last) = name.split();
        let folder = match self.folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(NameHolder::Nothing),
            folder => folder?,
        };
        let stat = match rustix::fs::statat(&*folder, last, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(NameHolder::Nothing),
            stat => stat?,
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => NameHolder::File(there(&stat)),
            FileType::Directory => NameHolder::Folder,
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&*folder, last, Vec::new())?.into_bytes();
                NameHolder::Link { there: there(&stat), target }
            }
            _ => NameHolder::Other,
        })
    }

    /// Makes a symbolic link. Also returns its state.
    pub(crate) fn make_link(
        &self,
        name: &Name,
        target: &[u8],
        modified: Stamp,
        key: Key,
        taken: OnConflict,
    ) -> io::Result<(NamingOutcome, FileStamp)> {
        let under_way = partial_name(key);
        self.remove(&under_way)?;
        rustix::fs::symlinkat(OsStr::from_bytes(target), &self.partial, &under_way)?;
        let stamp = times(modified);
        rustix::fs::utimensat(&self.partial, &under_way, &stamp, AtFlags::SYMLINK_NOFOLLOW)?;
        let stat = rustix::fs::statat(&self.partial, &under_way, AtFlags::SYMLINK_NOFOLLOW)?;
        let named = self.place(key, name, taken);
        if !matches!(named, Ok(NamingOutcome::Here | NamingOutcome::As(_))) {
            self.discard(key);
        }
        Ok((named?, there(&stat)))
    }

    /// Opens a file under way to continue it; it must exist.
    pub(crate) fn reopen(&self, key: Key) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.partial, partial_name(key), flags, Mode::empty())?.into())
    }

    /// Opens a new file under way.
    pub(crate) fn create(&self, key: Key) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = partial_name(key);
        let create = || rustix::fs::openat(&self.partial, &name, flags, Mode::RUSR | Mode::WUSR);
        match create() {
            Err(Errno::EXIST) => {
                self.remove(&name)?;
                Ok(create()?.into())
            }
            created => Ok(created?.into()),
        }
    }

    /// Removes a file under way.
    pub(crate) fn discard(&self, key: Key) {
        let _ = self.remove(&partial_name(key));
    }

    fn remove(&self, under_way: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.partial, under_way, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a complete file under way its rights and time. Returns its state after that, and its identity.
    pub(crate) fn set_metadata(
        &self,
        file: &File,
        mode: u32,
        modified: Stamp,
    ) -> io::Result<(FileStamp, Origin)> {
        rustix::fs::fchmod(file, self.mode(mode))?;
        rustix::fs::futimens(file, &times(modified))?;
        Ok((there(&rustix::fs::fstat(file)?), Origin::of(file)?))
    }

    /// Returns the identity of the file with this name.
    pub(crate) fn origin(&self, name: &Name) -> io::Result<Origin> {
        let (folder, last) = name.split();
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Origin::of(rustix::fs::openat(&*self.folder(folder)?, last, flags, Mode::empty())?)?)
    }

    fn mode(&self, mode: u32) -> Mode {
        Mode::from_raw_mode(mode & MODE & !self.mask)
    }

    /// Gives a complete file or link its name.
    pub(crate) fn place(&self, key: Key, name: &Name, taken: OnConflict) -> io::Result<NamingOutcome> {
        let under_way = partial_name(key);
        let (folder, last) = name.split();
        let folder = self.folder(folder)?;
        let replaces = match taken {
            OnConflict::Replace => true,
            // The file may have changed since the decision to replace it.
            OnConflict::ReplaceThis(this) => matches!(
                self.find(name)?, NameHolder::File(there) | NameHolder::Link { there, .. } if there == this
            ),
            OnConflict::Refuse | OnConflict::Number => false,
        };
        if replaces {
            return self.replace(&under_way, &folder, last).map(|()| NamingOutcome::Here);
        }
        if self.rename_new(&under_way, &folder, last)? {
            return Ok(NamingOutcome::Here);
        }
        if taken == OnConflict::Number {
            for number in 1..=MOST_NUMBERS {
                let numbered = name.numbered(number).map_err(io::Error::other)?;
                if self.rename_new(&under_way, &folder, numbered.split().1)? {
                    return Ok(NamingOutcome::As(numbered));
                }
            }
        }
        Ok(NamingOutcome::Not)
    }

    /// Renames a file under way if nothing has the new name. Returns false if something has it.
    fn rename_new(&self, under_way: &str, folder: &OwnedFd, last: &OsStr) -> io::Result<bool> {
        let partial = &self.partial;
        match rustix::fs::renameat_with(partial, under_way, folder, last, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(true),
            Err(Errno::EXIST) => return Ok(false),
            // This file system cannot rename without replacing.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            Err(error) => return Err(fault(error)),
        }
        match rustix::fs::linkat(partial, under_way, folder, last, AtFlags::empty()) {
            Ok(()) => {
                rustix::fs::unlinkat(partial, under_way, AtFlags::empty())?;
                return Ok(true);
            }
            Err(Errno::EXIST) => return Ok(false),
            // The file system has no hard links either. From here on, another program may take the name between the
            // check and the rename.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {}
            Err(error) => return Err(fault(error)),
        }
        match rustix::fs::statat(folder, last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(false),
            Err(Errno::NOENT) => {
                rustix::fs::renameat(partial, under_way, folder, last).map(|()| true).map_err(fault)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn replace(&self, under_way: &str, folder: &OwnedFd, last: &OsStr) -> io::Result<()> {
        if let Ok(there) = rustix::fs::statat(folder, last, AtFlags::SYMLINK_NOFOLLOW) {
            let kind = FileType::from_raw_mode(there.st_mode);
            if !matches!(kind, FileType::RegularFile | FileType::Symlink | FileType::Directory) {
                return Err(io::Error::other("a device, socket or pipe has this name"));
            }
        }
        rustix::fs::renameat(&self.partial, under_way, folder, last).map_err(fault)
    }

    /// Opens a file under its own name.
    pub(crate) fn read(&self, name: &Name) -> io::Result<File> {
        let (folder, last) = name.split();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(&*self.folder(folder)?, last, flags, Mode::empty())?.into())
    }

    /// Waits until everything written is on the disk.
    pub(crate) fn sync(&self) -> Result<(), TransferError> {
        rustix::fs::syncfs(&*self.top)
            .map_err(TransferError::file(&self.path, "write the folder to its disk"))
    }

    /// Returns the number of bytes that this user may still write.
    pub(crate) fn free(&self) -> Option<u64> {
        let free = rustix::fs::fstatvfs(&*self.top).ok()?;
        Some(free.f_bavail.saturating_mul(free.f_frsize))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn top(&self) -> &OwnedFd {
        &self.top
    }
}

/// Describes why a rename failed.
fn fault(error: Errno) -> io::Error {
    match error {
        Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST => io::Error::other("a folder has this name"),
        Errno::XDEV => {
            io::Error::other("another file system is mounted there; receive into that folder by itself")
        }
        _ => error.into(),
    }
}

fn partial_name(key: Key) -> String {
    format!("{key:032x}")
}

fn there(stat: &Stat) -> FileStamp {
    FileStamp { size: stat.st_size.try_into().unwrap_or(0), modified: stamp(stat), inode: stat.st_ino }
}

fn stamp(stat: &Stat) -> Stamp {
    Stamp { seconds: stat.st_mtime, nanos: stat.st_mtime_nsec as u32 }
}

fn times(modified: Stamp) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec {
            tv_sec: modified.seconds,
            tv_nsec: modified.nanos.min(999_999_999).into(),
        },
    }
}

/// Reads the process's umask without changing it.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let said = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    // An old kernel does not report the umask, so the usual one is assumed.
    said.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}
