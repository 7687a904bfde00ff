//! Files are whole or not there: each is written under a temporary name in the same folder, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Marks files and folders under way; what a killed run left under it is removed by the next.
pub(crate) const UNDER_WAY: &str = ".under-way-";
/// Letters of a file's name that the temporary name shows: the rest leaves room for what is around them.
const SHOWN: usize = 40;

/// Tries that [`replace`] will be able to write `path`, so that a run does not fail after it.
///
/// # Errors
/// What the file system says.
pub fn try_replace(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut trial = beside(path)?;
    trial.write_all(&[0; 4096])?;
    trial.as_file().sync_all()
}

/// Writes a file of ours for a person, under a temporary name first. A file that was there is replaced, a link too, and
/// not what it points at; a folder stays.
///
/// # Errors
/// What the file system says.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_by(path, |mut file| file.write_all(content))
}

/// As [`replace`], with the content written by `write` to the file it is given.
///
/// # Errors
/// What `write` or the file system says.
pub(crate) fn replace_by(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    // Removed again where one of these fails.
    let under_way = beside(path)?;
    write(under_way.as_file().try_clone()?)?;
    under_way.as_file().sync_all()?;
    under_way.persist(path).map(drop).map_err(|refused| refused.error)
}

/// A new file in the folder of `path`, of a name that was free: no link is followed, and nothing of others is
/// touched. Its mode is that of any new file. What a killed run leaves of it, its process' number tells.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shown: String = name.chars().take(SHOWN).collect();
    Builder::new()
        .prefix(&format!("{UNDER_WAY}{shown}-"))
        .suffix(&format!("-{}", std::process::id()))
        .rand_bytes(10)
        .make_in(folder, |path| OpenOptions::new().write(true).create_new(true).open(path))
}

/// Removes what killed runs left in one folder.
pub(crate) fn clear_folder(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(process) = name.strip_prefix(UNDER_WAY).and_then(|rest| rest.rsplit('-').next()) else {
            continue;
        };
        if Path::new("/proc").join(process).exists() {
            continue;
        }
        // A leftover that cannot be removed does no harm.
        let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
    }
}
