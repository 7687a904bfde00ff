//! [`Place`] for a build without the feature `kernel`: folders are opened by their paths. It has none of the precautions
//! against other users of the machine, which need Linux.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A folder that the user named, or one below it.
#[derive(Clone, Debug)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// Returns the folder that the user named; an empty path is the current one.
    pub(crate) fn of(named: &Path) -> Self {
        Self(if named.as_os_str().is_empty() { ".".into() } else { named.into() })
    }

    /// Returns the folder `name` in this one.
    pub(crate) fn within(&self, name: impl AsRef<OsStr>) -> Self {
        Self(self.0.join(name.as_ref()))
    }

    /// Returns its path, to be shown.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.clone()
    }

    /// Has `work` act in the folder, which is made if need be.
    ///
    /// # Errors
    /// What the file system or `work` says.
    pub(crate) fn make<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        fs::create_dir_all(&self.0)?;
        work(&self.0)
    }

    /// As [`Self::make`], where the folder must be there.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn enter<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        match fs::metadata(&self.0)?.is_dir() {
            true => work(&self.0),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}

/// Opens a file that is to be read back; a link is refused.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Returns true: whose file it is stays unknown.
pub(super) const fn is_ours(_about: &Metadata) -> bool {
    true
}

/// Returns true: the number of names of an open file stays unknown.
pub(super) const fn is_named(_about: &Metadata) -> bool {
    true
}

/// Returns `None`: the room in the file system stays unknown.
pub(crate) const fn free_space(_folder: &Path) -> Option<u64> {
    None
}
