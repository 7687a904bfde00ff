//! Files that are either complete or absent: each is written under a temporary name in the same folder, then renamed.
//!
//! The maker of an unfinished file holds a lock on it as long as it works. An unfinished folder is locked by the file
//! of the same name. The kernel releases the locks of a killed program, so that anybody who finds an unlocked one may
//! remove it. Process numbers would not do: programs in other containers have the same ones.
//!
//! A folder that several machines share may not pass on their locks. So a temporary name has the machine in front of an
//! `@`, and a file of another machine stays, unless nothing has changed it for a day.
//!
//! `files/place.rs` opens the folders; `files/portable.rs` is its stand-in for systems other than Linux.

#[cfg_attr(not(feature = "kernel"), path = "files/portable.rs")]
mod place;

pub(crate) use place::{Place, free_space};

use place::{is_named, is_ours, open_plain};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// The mark in the names of unfinished files and folders; the next run removes those that a killed run left.
pub(crate) const UNDER_WAY: &str = ".under-way-";
/// The most letters of a file's name that its temporary name repeats, so that the other parts fit.
const SHOWN: usize = 40;
/// The age at which an unlocked file of another machine counts as a leftover. Writing takes seconds.
const LEFT: Duration = Duration::from_secs(24 * 3600);
/// The suffixes to a lock's name: the unfinished folder, and the folder that it replaces.
const FOLDERS: [&str; 2] = [".new", ".old"];

/// Checks that [`replace`] will be able to write `path`. Callers check this before a run, whose result would otherwise
/// be lost.
///
/// # Errors
/// If the file system reports an error, or if another user's link is on the path.
pub fn try_replace(path: &Path) -> io::Result<()> {
    let (place, name) = parts(path)?;
    place.enter(|folder| {
        if fs::symlink_metadata(folder.join(name)).is_ok_and(|there| there.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut trial = create_temporary(folder, name)?;
        trial.write_all(&[0; 4096])?;
        trial.as_file().sync_all()
    })
}

/// Makes a folder, and the missing ones above it.
///
/// # Errors
/// If the file system reports an error, or if another user's link is on the path.
pub fn make_folder(path: &Path) -> io::Result<()> {
    Place::of(path).make(|_| Ok(()))
}

/// Writes a file for the user, under a temporary name first. An existing file is replaced. If it is a link, the link is
/// replaced and not its target. A folder is not replaced.
///
/// # Errors
/// If the file system reports an error, or if another user's link is on the path.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_by(path, |mut file| file.write_all(content))
}

/// Replaces a file as [`replace`] does, with content that `write` writes to the file that it receives.
///
/// # Errors
/// Returns an error of `write` or of the file system.
pub(crate) fn replace_by(path: &Path, write: impl FnOnce(File) -> io::Result<()> + Send) -> io::Result<()> {
    let (place, name) = parts(path)?;
    place.enter(|folder| put(folder, name, write))
}

/// Splits `path` into its folder and the name in it.
fn parts(path: &Path) -> io::Result<(Place, &Path)> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok((Place::of(path.parent().unwrap_or(Path::new(""))), Path::new(name)))
}

/// Writes the file `name` in an open folder. The disk has it when this returns.
pub(crate) fn put(
    folder: &Path,
    name: impl AsRef<Path>,
    write: impl FnOnce(File) -> io::Result<()>,
) -> io::Result<()> {
    put_soon(folder, name, |file| {
        write(file.try_clone()?)?;
        file.sync_all()
    })
}

/// Writes a file as [`put`] does, but does not wait for the disk. If the machine loses its power soon after, the file
/// may be damaged. So its reader must be able to recognize damage.
pub(crate) fn put_soon(
    folder: &Path,
    name: impl AsRef<Path>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    // If one of these steps fails, dropping `under_way` removes the unfinished file.
    let under_way = create_temporary(folder, name.as_ref())?;
    write(under_way.as_file())?;
    under_way.persist(folder.join(name)).map(drop).map_err(|refused| refused.error)
}

/// Creates a new file with an unused name and locks it. It follows no link and touches no file of others. The file's
/// mode is that of any new file.
fn create_temporary(folder: &Path, name: &Path) -> io::Result<NamedTempFile> {
    let name = name.to_string_lossy();
    let shown: String = name.chars().take(SHOWN).collect();
    let machine = machine().map_or_else(String::new, |machine| format!("{machine}@"));
    Builder::new().prefix(&format!("{UNDER_WAY}{machine}{shown}-")).rand_bytes(10).make_in(folder, |path| {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        match file.try_lock() {
            // A process that removes leftovers holds the lock, so another name is tried.
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
            // The file was removed as a leftover before it was locked, so another name is tried.
            _ if !is_named(&file.metadata()?) => Err(io::ErrorKind::AlreadyExists.into()),
            _ => Ok(file),
        }
    })
}

/// An unfinished folder. Dropping this value removes it, unless it has been moved to its place.
#[derive(Debug)]
pub(crate) struct FolderUnderWay {
    lock: NamedTempFile,
}

impl FolderUnderWay {
    /// Creates a new folder in an open one.
    pub(crate) fn begin(folder: &Path, name: &str) -> io::Result<Self> {
        let under_way = Self { lock: create_temporary(folder, Path::new(name))? };
        fs::create_dir(under_way.path())?;
        Ok(under_way)
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> PathBuf {
        self.named(FOLDERS[0])
    }

    fn named(&self, end: &str) -> PathBuf {
        let mut path = self.lock.path().as_os_str().to_owned();
        path.push(end);
        path.into()
    }

    /// Replaces the folder `kept` by this one at once, not file by file. If several processes do this at the same time,
    /// the folder of the last one stays.
    pub(crate) fn take_the_place_of(self, kept: &Path) -> io::Result<()> {
        let old = self.named(FOLDERS[1]);
        for _ in 0..MOST_EXCHANGES {
            match fs::rename(kept, &old) {
                // The folder is in the image of a container: overlayfs renames no folder of a lower layer. It removes
                // one, after which the place is empty for a moment.
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => fs::remove_dir_all(kept)?,
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let placed = fs::rename(self.path(), kept);
            remove(&old);
            match placed {
                // Another process has put its folder there meanwhile, so this one tries again.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                other => return other,
            }
        }
        Err(io::Error::other("other programs put theirs there all the time"))
    }
}

/// The most attempts to replace a folder that other programs replace at the same time.
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

/// Removes the leftovers of killed runs in an open folder.
pub(crate) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let may_be_left = || !is_of_another(&name) || entry.metadata().is_ok_and(|about| is_old(&about));
        if !name.starts_with(UNDER_WAY) || !may_be_left() {
            continue;
        }
        let lock = FOLDERS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match open_plain(&folder.join(lock)) {
            Ok(file) if file.metadata().is_ok_and(|about| about.is_file()) => {
                // `file` holds the lock until the entry is removed.
                if file.try_lock().is_ok() {
                    remove(&entry.path());
                }
            }
            // The entry stays, because its lock belongs to a user who does not let others read it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            // The entry is a leftover, because its lock is missing or is not a plain file.
            _ => remove(&entry.path()),
        }
    }
}

/// Returns the identity of this machine since it was started, which its containers share; `None` if it has none.
fn machine() -> Option<&'static str> {
    static MACHINE: LazyLock<Option<String>> = LazyLock::new(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.chars().filter(char::is_ascii_hexdigit).take(12).collect())
            .filter(|id: &String| id.len() == 12)
    });
    MACHINE.as_deref()
}

/// Returns true if the temporary name is of another machine. Names by versions up to 0.3 have no machine in them.
fn is_of_another(name: &str) -> bool {
    let maker = name.strip_prefix(UNDER_WAY).and_then(|name| name.split_once('@'));
    maker.is_some_and(|(maker, _)| Some(maker) != machine())
}

/// Returns true if the file has not been changed for [`LEFT`].
fn is_old(about: &Metadata) -> bool {
    about.modified().is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > LEFT))
}

/// Reads back, from an open folder, a file that belongs to this user. Returns `None` for anything else: another user's
/// file, a link, a folder, a device, a pipe, or a file of more than `most` bytes.
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

/// Reads a text that a scenario names, of at most `most` bytes, whatever type of file it is.
///
/// # Errors
/// If the file system reports an error, or if the text is longer or is not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!(
            "more than {} MB, which is too much for a text of this kind",
            most >> 20
        )));
    }
    Ok(text)
}
