//! [`Root`]: the open folder below which all entries of a source are examined and opened, without following a link.
//!
//! Another user of this machine may own the tree that is sent. That user may replace a folder in it by a link while it
//! is sent. So every path is resolved below the open folder, and not from the top of the file system.

use crate::beneath::{self, HOLD, READ};
use crate::name::Name;
use crate::wire::control::Stamp;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Flags for a folder to list.
pub(super) const LIST: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub(super) struct Root {
    folder: OwnedFd,
    /// The length of the part of a name that stands for the folder itself, in bytes.
    skip: usize,
    /// The folder as the user named it, to be shown.
    path: PathBuf,
}

/// The state of an entry, as the kernel reported it once.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryState {
    pub(super) kind: FileType,
    pub(super) size: u64,
    /// The size on the disk, in bytes, holes left out.
    pub(super) disk: u64,
    pub(super) mode: u32,
    pub(super) modified: Stamp,
    changed: (i64, i64),
    /// Device and inode.
    pub(super) place: (u64, u64),
}

impl Root {
    /// Opens the folder at `path`, whose own name is `name`. The path may lead through links: that is the user's
    /// choice.
    pub(super) fn folder(path: &Path, name: &Name) -> io::Result<Self> {
        let folder = rustix::fs::open(path, HOLD, Mode::empty())?;
        Ok(Self { folder, skip: name.bytes().len() + 1, path: path.to_owned() })
    }

    /// Opens the folder at `path`, in which a source lies.
    pub(super) fn around(path: &Path) -> io::Result<Self> {
        let shown = path.to_owned();
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let folder = rustix::fs::open(path, HOLD.difference(OFlags::NOFOLLOW), Mode::empty())?;
        Ok(Self { folder, skip: 0, path: shown })
    }

    /// Returns the path of `name` below the folder.
    fn below<'a>(&self, name: &'a Name) -> &'a OsStr {
        OsStr::from_bytes(name.bytes().get(self.skip..).unwrap_or(b"."))
    }

    /// Returns `name` as a path for a person.
    pub(super) fn shown(&self, name: &Name) -> PathBuf {
        match name.bytes().get(self.skip..) {
            Some(below) => self.path.join(OsStr::from_bytes(below)),
            None => self.path.clone(),
        }
    }

    /// Opens a file.
    pub(super) fn open(&self, name: &Name) -> io::Result<File> {
        Ok(self.beneath(self.below(name), READ)?.into())
    }

    /// Opens a folder to list it.
    pub(super) fn list(&self, name: &Name) -> io::Result<OwnedFd> {
        Ok(self.beneath(self.below(name), LIST)?)
    }

    /// Returns the state of the entry `name`; for a link, the state of the link itself.
    pub(super) fn look(&self, name: &Name) -> io::Result<EntryState> {
        let path = Path::new(self.below(name));
        let (Some(folder), Some(last)) = (path.parent(), path.file_name()) else {
            return Ok(EntryState::of(&self.folder)?);
        };
        if folder.as_os_str().is_empty() {
            return Ok(EntryState::at(&self.folder, last)?);
        }
        let folder = self.beneath(folder.as_os_str(), HOLD)?;
        Ok(EntryState::at(&folder, last)?)
    }

    /// Returns the folder that holds a source which is not a folder.
    pub(super) const fn descriptor(&self) -> &OwnedFd {
        &self.folder
    }

    fn beneath(&self, path: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        beneath::open(self.folder.as_fd(), path, flags)
    }
}

/// Reads the target of the link at `path`.
pub(super) fn target(folder: impl AsFd, path: impl rustix::path::Arg) -> io::Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(folder, path, Vec::new())?.into_bytes())
}

impl EntryState {
    /// Returns the state of an open file or folder.
    pub(super) fn of(open: impl AsFd) -> rustix::io::Result<Self> {
        rustix::fs::fstat(open).map(|stat| Self::from(&stat))
    }

    /// Returns the state of the entry `last` in an open folder; for a link, the state of the link itself.
    pub(super) fn at(folder: impl AsFd, last: impl rustix::path::Arg) -> rustix::io::Result<Self> {
        rustix::fs::statat(folder, last, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Self::from(&stat))
    }

    pub(super) fn is_file(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    /// Computes a hash of the properties that change with the content.
    pub(super) fn version(&self) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new();
        for number in [self.place.0, self.place.1, self.size] {
            hasher.update(&number.to_le_bytes());
        }
        let modified = (self.modified.seconds, i64::from(self.modified.nanos));
        for number in [modified.0, modified.1, self.changed.0, self.changed.1] {
            hasher.update(&number.to_le_bytes());
        }
        let mut version = [0; 16];
        version.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        version
    }
}

impl From<&Stat> for EntryState {
    #[expect(clippy::unnecessary_cast, reason = "the fields have other types on other processors")]
    fn from(stat: &Stat) -> Self {
        let (size, place) = (stat.st_size as u64, (stat.st_dev as u64, stat.st_ino as u64));
        Self {
            kind: FileType::from_raw_mode(stat.st_mode as _),
            size,
            disk: (stat.st_blocks as u64).saturating_mul(512).min(size),
            mode: stat.st_mode as u32 & 0o7777,
            modified: Stamp { seconds: stat.st_mtime as i64, nanos: stat.st_mtime_nsec as u32 },
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            place,
        }
    }
}

/// Returns true if an error means that an entry changed a moment ago: it vanished, or something else took its place.
pub(super) fn is_change(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOENT | Errno::LOOP | Errno::NOTDIR))
}
