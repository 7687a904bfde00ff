//! What the paths on the command line stand for.

use crate::error::TransferError;
use crate::name::Name;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path to send, and its name at the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) name: Name,
}

/// Each path under its last part's name: `a/b` arrives as `b`.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, TransferError> {
    let mut sources = Vec::with_capacity(paths.len());
    let mut seen: HashMap<Name, &Path> = HashMap::new();
    for path in paths {
        // A missing path is a slip of the hand: nothing is sent then.
        let there = std::fs::symlink_metadata(path).map_err(|error| {
            TransferError::Usage(format!(
                "{}: {error}\n  accepted: files and folders that exist",
                path.display()
            ))
        })?;
        let kind = there.file_type();
        if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            return Err(TransferError::Usage(format!(
                "{}: a device, socket or pipe\n  accepted: files, folders and symbolic links",
                path.display()
            )));
        }
        // "." and "a/.." have a name too.
        let named = match path.file_name() {
            Some(_) => path.clone(),
            None => path.canonicalize().map_err(TransferError::file(path, "find the folder's name"))?,
        };
        let last = named.file_name().ok_or_else(|| {
            TransferError::Usage("/: has no name at the receiver\n  accepted: folders below it".into())
        })?;
        let name = Name::new(last.as_bytes().to_vec())
            .map_err(|error| TransferError::Usage(format!("{}: {error}", path.display())))?;
        if let Some(other) = seen.insert(name.clone(), path) {
            let (one, two) = (other.display(), path.display());
            return Err(TransferError::Usage(format!(
                "{one} and {two} would both be {name} at the receiver\n  help: send them one after the other, into \
                 different folders"
            )));
        }
        sources.push(Source { path: path.clone(), name });
    }
    if sources.is_empty() {
        return Err(TransferError::Usage("nothing to send".into()));
    }
    Ok(sources)
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
