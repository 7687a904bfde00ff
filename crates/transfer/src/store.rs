//! [`Store`]: the receiver's folder. Everything in it is reached from its descriptor, part by part, without following
//! a symbolic link, so no name and no link that was received leads out of it.
//!
//! A file grows under a temporary name in `.tightlink/partial` and gets its own name by one rename when it is whole and
//! verified. It replaces a file or link of that name, and never a folder.

use crate::error::TransferError;
use crate::name::{Name, RESERVED};
use crate::wire::control::Stamp;
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Folders kept open: files come folder by folder.
const OPEN_FOLDERS: usize = 128;
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Set-user-id and set-group-id are not taken over: whoever sends does not decide with whose rights a program runs here.
const MODE: u32 = 0o1777;

/// Names a file's content under way: of its name and version.
pub(crate) type Key = u128;

/// The folder received into.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    top: Arc<OwnedFd>,
    partial: OwnedFd,
    open: Mutex<HashMap<Vec<u8>, Arc<OwnedFd>>>,
}

impl Store {
    /// Opens the folder at `path`, which exists, and the one for files under way, `partial`, inside `own`.
    pub(crate) fn open(path: &Path) -> Result<Self, TransferError> {
        let open = |path: &Path, flags: OFlags| {
            rustix::fs::open(path, flags, Mode::empty()).map_err(TransferError::file(path, "open the folder"))
        };
        let top = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC)?;
        let partial = path.join(RESERVED).join("partial");
        match rustix::fs::mkdir(&partial, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(TransferError::file(&partial, "make the folder")(error)),
        }
        let partial = open(&partial, FOLDER)?;
        Ok(Self { path: path.to_owned(), top: Arc::new(top), partial, open: Mutex::default() })
    }

    /// The folder called `name`, which must exist.
    fn folder(&self, name: Option<&[u8]>) -> io::Result<Arc<OwnedFd>> {
        let Some(name) = name else { return Ok(Arc::clone(&self.top)) };
        if let Some(open) = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Arc::clone(open));
        }
        let mut at = Arc::clone(&self.top);
        for part in name.split(|&byte| byte == b'/') {
            at = Arc::new(rustix::fs::openat(&*at, OsStr::from_bytes(part), FOLDER, Mode::empty())?);
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= OPEN_FOLDERS {
            open.clear();
        }
        open.insert(name.to_owned(), Arc::clone(&at));
        Ok(at)
    }

    /// Makes a folder, or takes the one that is there. Its rights allow to fill it, until
    /// [`Store::finish_folder`].
    pub(crate) fn make_folder(&self, name: &Name) -> io::Result<()> {
        let (folder, last) = name.split();
        let folder = self.folder(folder)?;
        match rustix::fs::mkdirat(&*folder, last, Mode::RWXU) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => {
                // A link to a folder is not a folder: it may lead out. One that may not be read can still be held.
                let there = rustix::fs::openat(&*folder, last, FOLDER.union(OFlags::PATH), Mode::empty())
                    .map_err(|_| io::Error::other("something that is no folder has this name"))?;
                let mode = Mode::from_raw_mode(rustix::fs::fstat(&there)?.st_mode);
                if !mode.contains(Mode::RWXU) {
                    let held = format!("/proc/self/fd/{}", there.as_raw_fd());
                    rustix::fs::chmod(held, mode | Mode::RWXU)?;
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a folder its rights and time, when nothing more is put into it.
    pub(crate) fn finish_folder(&self, name: &Name, mode: u32, modified: Stamp) -> io::Result<()> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name.bytes());
        let folder = self.folder(Some(name.bytes()))?;
        rustix::fs::futimens(&*folder, &times(modified))?;
        rustix::fs::fchmod(&*folder, Mode::from_raw_mode(mode & MODE))?;
        Ok(())
    }

    /// Makes a symbolic link, in place of a file or link that is there.
    pub(crate) fn make_link(&self, name: &Name, target: &[u8], modified: Stamp, key: Key) -> io::Result<()> {
        let (folder, last) = name.split();
        let folder = self.folder(folder)?;
        let under_way = partial_name(key);
        match rustix::fs::unlinkat(&self.partial, &under_way, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        rustix::fs::symlinkat(OsStr::from_bytes(target), &self.partial, &under_way)?;
        let stamp = times(modified);
        rustix::fs::utimensat(&self.partial, &under_way, &stamp, AtFlags::SYMLINK_NOFOLLOW)?;
        self.rename(&under_way, &folder, last)
    }

    /// Opens a file under way, to go on with it: it must be there.
    pub(crate) fn reopen(&self, key: Key) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.partial, partial_name(key), flags, Mode::empty())?.into())
    }

    /// Opens an empty file under way.
    pub(crate) fn create(&self, key: Key) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.partial, partial_name(key), flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Throws a file under way away.
    pub(crate) fn discard(&self, key: Key) {
        let _ = rustix::fs::unlinkat(&self.partial, partial_name(key), AtFlags::empty());
    }

    /// Gives a whole file its rights, time and name.
    pub(crate) fn settle(
        &self,
        file: &File,
        key: Key,
        name: &Name,
        mode: u32,
        modified: Stamp,
    ) -> io::Result<()> {
        let (folder, last) = name.split();
        let folder = self.folder(folder)?;
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode & MODE))?;
        rustix::fs::futimens(file, &times(modified))?;
        self.rename(&partial_name(key), &folder, last)
    }

    fn rename(&self, under_way: &str, folder: &OwnedFd, last: &OsStr) -> io::Result<()> {
        if let Ok(there) = rustix::fs::statat(folder, last, AtFlags::SYMLINK_NOFOLLOW) {
            use rustix::fs::FileType as Kind;
            let kind = Kind::from_raw_mode(there.st_mode);
            if !matches!(kind, Kind::RegularFile | Kind::Symlink | Kind::Directory) {
                return Err(io::Error::other("a device, socket or pipe has this name"));
            }
        }
        rustix::fs::renameat(&self.partial, under_way, folder, last).map_err(|error| match error {
            Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST => io::Error::other("a folder has this name"),
            Errno::XDEV => {
                io::Error::other("another file system is mounted there; receive into that folder by itself")
            }
            _ => error.into(),
        })
    }

    /// Opens a file under its own name.
    pub(crate) fn read(&self, name: &Name) -> io::Result<File> {
        let (folder, last) = name.split();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(&*self.folder(folder)?, last, flags, Mode::empty())?.into())
    }

    /// Whether a plain file of `size` has this name.
    pub(crate) fn has(&self, name: &Name, size: u64) -> bool {
        let (folder, last) = name.split();
        let Ok(folder) = self.folder(folder) else { return false };
        rustix::fs::statat(&*folder, last, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile
                && u64::try_from(stat.st_size) == Ok(size)
        })
    }

    /// Waits until all that was written lies on the disk.
    pub(crate) fn sync(&self) -> Result<(), TransferError> {
        rustix::fs::syncfs(&*self.top)
            .map_err(TransferError::file(&self.path, "write the folder to its disk"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn partial_name(key: Key) -> String {
    format!("{key:032x}")
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
