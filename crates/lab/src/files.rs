//! Files are whole or not there: each is written under a temporary name in the same folder, then renamed.
//!
//! A file under way is locked by its maker for as long as it is at work, and so is a folder under way, by the file of
//! the same name. The kernel gives the locks of a killed program up. So who finds one that is not locked may remove it.
//! The numbers of processes would not do: programs in other containers or on other machines have the same ones.
//!
//! `files/place.rs` opens the folders; `files/portable.rs` is its stand-in for systems other than Linux.

#[cfg_attr(not(feature = "kernel"), path = "files/portable.rs")]
mod place;

pub(crate) use place::{Place, free_space};

use place::{is_named, is_ours, open_plain};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Marks files and folders under way; what a killed run left under it is removed by the next.
pub(crate) const UNDER_WAY: &str = ".under-way-";
/// Letters of a file's name that the temporary name shows: the rest leaves room for what is around them.
const SHOWN: usize = 40;
/// Behind a lock's name: the folder under way, and the one whose place it takes.
const FOLDERS: [&str; 2] = [".new", ".old"];

/// Tries that [`replace`] will be able to write `path`, so that a run does not fail after it.
///
/// # Errors
/// What the file system says; a link of another user on the way.
pub fn try_replace(path: &Path) -> io::Result<()> {
    let (place, name) = parts(path)?;
    place.enter(|folder| {
        if fs::symlink_metadata(folder.join(name)).is_ok_and(|there| there.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut trial = beside(folder, name)?;
        trial.write_all(&[0; 4096])?;
        trial.as_file().sync_all()
    })
}

/// Makes a folder, and those above it that are missing.
///
/// # Errors
/// What the file system says; a link of another user on the way.
pub fn make_folder(path: &Path) -> io::Result<()> {
    Place::of(path).make(|_| Ok(()))
}

/// Writes a file of ours for a person, under a temporary name first. A file that was there is replaced, a link too, and
/// not what it points at; a folder stays.
///
/// # Errors
/// What the file system says; a link of another user on the way.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_by(path, |mut file| file.write_all(content))
}

/// As [`replace`], with the content written by `write` to the file it is given.
///
/// # Errors
/// What `write` or the file system says.
pub(crate) fn replace_by(path: &Path, write: impl FnOnce(File) -> io::Result<()> + Send) -> io::Result<()> {
    let (place, name) = parts(path)?;
    place.enter(|folder| put(folder, name, write))
}

/// The folder of `path`, and the name in it.
fn parts(path: &Path) -> io::Result<(Place, &Path)> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok((Place::of(path.parent().unwrap_or(Path::new(""))), Path::new(name)))
}

/// Writes the file `name` in an open folder.
pub(crate) fn put(
    folder: &Path,
    name: impl AsRef<Path>,
    write: impl FnOnce(File) -> io::Result<()>,
) -> io::Result<()> {
    // Removed again where one of these fails.
    let under_way = beside(folder, name.as_ref())?;
    write(under_way.as_file().try_clone()?)?;
    under_way.as_file().sync_all()?;
    under_way.persist(folder.join(name)).map(drop).map_err(|refused| refused.error)
}

/// A new file, locked, of a name that was free: no link is followed, and nothing of others is touched. Its mode is that
/// of any new file.
fn beside(folder: &Path, name: &Path) -> io::Result<NamedTempFile> {
    let name = name.to_string_lossy();
    let shown: String = name.chars().take(SHOWN).collect();
    Builder::new().prefix(&format!("{UNDER_WAY}{shown}-")).rand_bytes(10).make_in(folder, |path| {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        match file.try_lock() {
            // Who removes leftovers was faster: another name is tried.
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
            // Without locks nothing is taken for a leftover.
            _ if !is_named(&file.metadata()?) => Err(io::ErrorKind::AlreadyExists.into()),
            _ => Ok(file),
        }
    })
}

/// A folder under way, which goes with this unless it gets its place.
#[derive(Debug)]
pub(crate) struct FolderUnderWay {
    lock: NamedTempFile,
}

impl FolderUnderWay {
    /// A new folder in an open one.
    pub(crate) fn begin(folder: &Path, name: &str) -> io::Result<Self> {
        let under_way = Self { lock: beside(folder, Path::new(name))? };
        fs::create_dir(under_way.path())?;
        Ok(under_way)
    }

    /// Its path.
    pub(crate) fn path(&self) -> PathBuf {
        self.named(FOLDERS[0])
    }

    fn named(&self, end: &str) -> PathBuf {
        let mut path = self.lock.path().as_os_str().to_owned();
        path.push(end);
        path.into()
    }

    /// Puts it in the place of `kept`, which goes at once, not file by file. Another process may do the same at the same
    /// time: the last one stays.
    pub(crate) fn take_the_place_of(self, kept: &Path) -> io::Result<()> {
        let old = self.named(FOLDERS[1]);
        for _ in 0..MOST_EXCHANGES {
            match fs::rename(kept, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let placed = fs::rename(self.path(), kept);
            remove(&old);
            match placed {
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                other => return other,
            }
        }
        Err(io::Error::other("other programs put theirs there all the time"))
    }
}

/// Other programs that may be faster, one after the other.
const MOST_EXCHANGES: usize = 100;

impl Drop for FolderUnderWay {
    fn drop(&mut self) {
        remove(&self.path());
    }
}

/// Makes a new file in a folder under way.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Removes a file or a folder. A leftover that cannot be removed does no harm.
fn remove(path: &Path) {
    let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
}

/// Removes what killed runs left in an open folder.
pub(crate) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(UNDER_WAY) {
            continue;
        }
        let lock = FOLDERS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match open_plain(&folder.join(lock)) {
            Ok(file) if file.metadata().is_ok_and(|about| about.is_file()) => {
                // It is kept locked until it is gone.
                if file.try_lock().is_ok() {
                    remove(&entry.path());
                }
            }
            // It belongs to a user who does not show it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            // No program makes such a lock, or it is gone.
            _ => remove(&entry.path()),
        }
    }
}

/// Reads back a file of ours in an open folder. `None` for what is none: another user's, a link, a folder, a device, a
/// pipe, or one of more than `most` bytes.
pub(crate) fn read_own(folder: &Path, name: &str, most: u64) -> Option<Vec<u8>> {
    let file = open_plain(&folder.join(name)).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || !is_ours(&about) || about.len() > most {
        return None;
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= most).then_some(content)
}

/// Reads a text that a scenario names, of at most `most` bytes, whatever lies there.
///
/// # Errors
/// What the file system says; a text that is longer, or no UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("more than {} MB, which is no text of this kind", most >> 20)));
    }
    Ok(text)
}
