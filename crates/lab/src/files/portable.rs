//! [`Place`] for a build without the feature `kernel`: folders are opened by their paths. It has no precautions against
//! other users of the machine, because these need Linux.

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

    /// Returns the same place.
    pub(crate) const fn hold(self) -> io::Result<Self> {
        Ok(self)
    }

    /// Returns its path for display.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.clone()
    }

    /// Calls `work` in the folder, which is made if necessary.
    ///
    /// # Errors
    /// If the file system reports an error, or if `work` fails.
    pub(crate) fn make<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        fs::create_dir_all(&self.0)?;
        work(&self.0)
    }

    /// Works like [`Self::make`], except that the folder must exist.
    ///
    /// # Errors
    /// The same as those of [`Self::make`].
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

/// Returns true, because the owner of the file stays unknown.
pub(super) const fn is_ours(_about: &Metadata) -> bool {
    true
}

/// Returns true, because the number of names of an open file stays unknown.
pub(super) const fn is_named(_about: &Metadata) -> bool {
    true
}

/// Returns `None`, because the room in the file system stays unknown.
pub(crate) const fn free_space(_folder: &Path) -> Option<u64> {
    None
}
