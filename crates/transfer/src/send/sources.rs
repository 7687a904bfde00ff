//! [`Source`]: an entry that a path on the command line stands for.

use super::root::{EntryState, Root};
use crate::error::TransferError;
use crate::name::Name;
use rustix::fs::{CWD, FileType};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Complaint, Foreign};

/// A file, folder or link to send, and its name at the receiver.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The folder itself, or the one in which the file or link lies.
    pub(super) root: Arc<Root>,
    pub(super) name: Name,
}

/// Opens the source of each path. A source gets the name of the path's last part: `a/b` arrives as `b`.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, TransferError> {
    let mut sources = Vec::with_capacity(paths.len());
    let mut seen: HashMap<Name, &Path> = HashMap::new();
    // Files of one folder share its descriptor.
    let mut around: HashMap<&Path, Arc<Root>> = HashMap::new();
    for path in paths {
        let shown = Foreign::path(path).to_string();
        let refused = |found: String| Complaint::new(&shown, found);
        // A missing path is probably mistyped, so nothing at all is sent.
        let missing = |error: io::Error| {
            TransferError::Usage(refused(error.to_string()).accepted("files and folders that exist"))
        };
        let there = EntryState::at(CWD, path).map_err(|error| missing(error.into()))?;
        if !matches!(there.kind, FileType::RegularFile | FileType::Directory | FileType::Symlink) {
            let special = refused("a device, socket or pipe".into());
            return Err(TransferError::Usage(special.accepted("files, folders and symbolic links")));
        }
        // Paths such as "." and "a/.." get the real name of their folder.
        let named = match path.file_name() {
            Some(_) => path.clone(),
            None => path.canonicalize().map_err(TransferError::file(path, "find the folder's name"))?,
        };
        let last = named.file_name().ok_or_else(|| {
            let root = Complaint::new("/", "has no name at the receiver");
            TransferError::Usage(root.accepted("folders below it"))
        })?;
        let name = Name::new(last.as_bytes().to_vec())
            .map_err(|error| TransferError::Usage(refused(error.to_string())))?;
        if let Some(other) = seen.insert(name.clone(), path) {
            let one = Foreign::path(other);
            let both = format!("{one} and {shown} would both be {name} at the receiver");
            let help = "send them one after the other, into different folders";
            return Err(TransferError::Usage(Complaint::new("", both).help(help)));
        }
        let root = if there.kind == FileType::Directory {
            Arc::new(
                opened(|| Root::folder(path, &name)).map_err(TransferError::file(path, "open the folder"))?,
            )
        } else {
            let parent = path.parent().unwrap_or(Path::new(""));
            match around.get(parent) {
                Some(root) => Arc::clone(root),
                None => {
                    let root = Arc::new(
                        opened(|| Root::around(parent))
                            .map_err(TransferError::file(path, "open its folder"))?,
                    );
                    around.insert(parent, Arc::clone(&root));
                    root
                }
            }
        };
        sources.push(Source { root, name });
    }
    if sources.is_empty() {
        return Err(TransferError::Usage(
            Complaint::new("", "nothing to send").accepted("files and folders"),
        ));
    }
    Ok(sources)
}

/// Opens a root. Thousands of folders on a command line may exceed the default number of open files. The user may raise
/// that limit, so it is raised once it is reached.
fn opened(open: impl Fn() -> io::Result<Root>) -> io::Result<Root> {
    match open() {
        Err(error) if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            let mut most = getrlimit(Resource::Nofile);
            most.current = most.maximum;
            setrlimit(Resource::Nofile, most)?;
            open()
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_arrives_under_its_last_part() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir_all(tree.join("inner")).unwrap();
        let names = |path: PathBuf| sources(&[path]).unwrap()[0].name.to_string();
        assert_eq!(names(tree.join("inner")), "inner");
        assert_eq!(names(tree.join("inner/")), "inner");
        assert_eq!(names(tree.join("inner/..")), "tree");
        assert_eq!(names(tree.join(".")), "tree");
    }

    #[test]
    fn missing_paths_and_equal_names_are_refused_before_anything_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/x")).unwrap();
        std::fs::create_dir_all(folder.path().join("b/x")).unwrap();
        let both = [folder.path().join("a/x"), folder.path().join("b/x")];
        assert!(sources(&both).unwrap_err().to_string().contains("would both be x"));
        let missing = sources(&[folder.path().join("c")]).unwrap_err();
        assert!(
            missing.ending() == crate::Ending::Usage && missing.to_string().contains("No such file"),
            "{missing}"
        );
        assert!(sources(&["/".into()]).is_err());
        assert!(sources(&["/dev/null".into()]).unwrap_err().to_string().contains("a device"));
    }
}
