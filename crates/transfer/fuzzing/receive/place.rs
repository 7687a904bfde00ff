//! [`Place`]: the folder received into, made anew for every input, and its neighbourhood.

use super::model::Model;
use crate::name::{Name, RESERVED, is_reserved};
use crate::receive::Existing;
use crate::receive::assembly::Rules;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// The number of bytes of a file that are compared; of a longer file only times and inode are.
const READ: u64 = 1 << 10;
/// The time of the files that exist before.
const THEN: u64 = 1_600_000_000;
/// The size of a file that a comparison does not read at once.
const LARGE: u64 = (1 << 20) + 3;
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// An entry as it is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    mode: u32,
    inode: u64,
    size: u64,
    links: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// A file's beginning, or a link's target.
    content: Vec<u8>,
}

impl Seen {
    fn is(&self, kind: u32) -> bool {
        self.mode & 0o170_000 == kind
    }

    /// Returns true if it is the same entry. Entries may have been put into a folder.
    fn is_still(&self, now: &Self) -> bool {
        self == now || self.is(FOLDER) && (self.mode, self.inode) == (now.mode, now.inode)
    }
}

type Tree = BTreeMap<PathBuf, Seen>;

/// A folder with entries, and its neighbours.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    /// The neighbourhood.
    around: Tree,
    /// The entries that exist before a sender comes.
    before: Tree,
    /// Entries that another program has made meanwhile.
    meddled: Tree,
}

impl Place {
    pub(super) fn new() -> Self {
        let root = crate::fuzzing::folder("receiver");
        let outside = root.join("outside");
        fs::create_dir_all(outside.join("sub").join(RESERVED)).unwrap();
        for file in ["secret", "x", "sub/x", "sub/.tightlink/session"] {
            write(&outside.join(file), b"canary");
        }
        write(&root.join("beside"), b"canary");
        let mut place = Self { root, around: Tree::new(), before: Tree::new(), meddled: Tree::new() };
        place.build();
        (place.around, place.before) = place.seen();
        place
    }

    /// Returns the folder received into.
    pub(super) fn folder(&self) -> PathBuf {
        self.root.join("folder")
    }

    fn build(&self) {
        let folder = self.folder();
        fs::create_dir_all(folder.join("sub").join(RESERVED)).unwrap();
        fs::create_dir(folder.join("dir")).unwrap();
        for file in ["b", "sub/x", "sub/.tightlink/session"] {
            write(&folder.join(file), b"there");
        }
        File::create(folder.join("large")).unwrap().set_len(LARGE).unwrap();
        for (link, target) in [
            ("out", "../outside"),
            ("file", "../beside"),
            ("sub/out", "../../outside/sub"),
            ("dir/in", "../sub"),
            ("broken", "nowhere"),
        ] {
            symlink(target, folder.join(link)).unwrap();
        }
        let pipe = rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        );
        pipe.unwrap();
    }

    /// Makes a file as another program would, if the name is free.
    pub(super) fn meddle(&mut self, name: &str, content: &[u8]) {
        let path = self.folder().join(name);
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let Ok(file) = made else { return };
        io::Write::write_all(&mut &file, content).unwrap();
        drop(file);
        self.meddled.insert(Path::new("folder").join(name), look(&path, None).unwrap());
    }

    /// Returns the entries of the neighbourhood and of the folder.
    fn seen(&self) -> (Tree, Tree) {
        let mut all = Tree::new();
        let known = |path: &Path| self.around.get(path).or_else(|| self.before.get(path));
        list(&self.root, Path::new(""), &known, &mut all);
        all.into_iter().partition(|(path, _)| !path.starts_with("folder"))
    }

    /// Restores everything. `now` has the present entries of the folder.
    fn reset(&mut self, now: &Tree) {
        self.meddled.clear();
        let _ = fs::remove_dir_all(self.folder().join(RESERVED));
        let is_still = |path: &Path, seen: &Seen| now.get(path).is_some_and(|now| seen.is_still(now));
        if self.before.iter().all(|(path, seen)| is_still(path, seen)) {
            for (path, seen) in now.iter().rev().filter(|(path, _)| !self.before.contains_key(*path)) {
                let path = self.root.join(path);
                let _ = if seen.is(FOLDER) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            }
        } else {
            fs::remove_dir_all(self.folder()).unwrap();
            self.build();
            self.before = self.seen().1;
        }
    }

    /// Compares everything with its state before, and new entries with `model`. Then restores everything.
    ///
    /// # Panics
    /// If an entry exists, or is missing, that should not be so.
    pub(super) fn check(&mut self, model: &Model, rules: Rules) {
        let (around, mut now) = self.seen();
        assert_eq!(around, self.around, "something outside was changed");
        let own = Path::new("folder").join(RESERVED);
        now.retain(|path, seen| match path.strip_prefix(&own) {
            Ok(inner) => {
                check_own(inner, seen);
                false
            }
            Err(_) => true,
        });
        for (path, seen) in self.before.iter().chain(&self.meddled) {
            let still = now.get(path);
            let same = still.is_some_and(|now| seen.is_still(now));
            let replaces = match rules.existing {
                Existing::Refuse | Existing::Rename => false,
                Existing::Update => {
                    let than = (seen.modified.0, seen.modified.1 as u32);
                    name(path).is_some_and(|name| model.has_offered_later(&name, than))
                }
                Existing::Replace => true,
            };
            let replaceable = (seen.is(FILE) || seen.is(LINK)) && name(path).is_some();
            assert!(same || replaces && replaceable && still.is_some(), "{path:?}: {seen:?}, now {still:?}");
        }
        for (path, seen) in &now {
            let was = self.before.get(path).or_else(|| self.meddled.get(path));
            if !was.is_some_and(|was| was.is_still(seen)) {
                self.check_new(path, seen, model, rules);
            }
        }
        self.reset(&now);
    }

    /// Checks an entry that did not exist before, or is another one now.
    fn check_new(&self, path: &Path, seen: &Seen, model: &Model, rules: Rules) {
        let Some(name) = name(path) else { panic!("{path:?} is no name for a received entry") };
        if seen.is(FILE) {
            assert!(seen.links == 1 && seen.mode & 0o6000 == 0, "{name}: {seen:?}");
            if seen.size <= 4 << 20 {
                let file = self.root.join(path);
                let content = fs::read(&file).or_else(|_| {
                    fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
                    fs::read(&file)
                });
                let content = content.unwrap();
                assert!(
                    model.has_sent(&name, &content),
                    "{name}: its content was not sent: {} bytes, {} not zero; offered {model:?}",
                    content.len(),
                    content.iter().filter(|byte| **byte != 0).count()
                );
            } else {
                assert!(model.has_offered_file(&name, seen.size), "{name}: nobody offered it");
            }
        } else if seen.is(LINK) {
            let mut offered = model.offered_links(&name, &seen.content);
            let leads = |offered: &Name| !rules.outside_links && offered.leads_out(&seen.content);
            assert!(offered.any(|name| !leads(name)), "{name}: a link that nobody offered, or leads out");
        } else {
            assert!(seen.is(FOLDER) && model.has_offered_folder(&name), "{name}: {seen:?}");
            assert!(seen.mode & 0o6000 == 0, "{name}: {seen:?}");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Checks an entry of the state folder.
fn check_own(path: &Path, seen: &Seen) {
    let mut parts = path.iter().map(|part| part.as_bytes());
    let (first, second) = (parts.next(), parts.next());
    let (kind, rights) = match (first, second) {
        (None, None) => (FOLDER, 0o700),
        (Some(b"partial"), None) => (FOLDER, 0o700),
        (Some(b"session" | b"lock" | b"journal"), None) => (FILE, 0o600),
        (Some(b"partial"), Some(key)) => {
            let hex = key.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            assert!(key.len() == 32 && hex, "{path:?} in the state folder");
            // The file has its later rights already while it waits for its name.
            (FILE, seen.mode & 0o1777)
        }
        _ => panic!("{path:?} in the state folder"),
    };
    assert!(parts.next().is_none() && seen.mode == kind | rights, "{path:?} in the state folder: {seen:?}");
    assert!(kind == FOLDER || seen.links == 1, "{path:?} in the state folder: {seen:?}");
}

/// Returns the name of an entry in the folder, as a sender may send it.
fn name(path: &Path) -> Option<Name> {
    let below = path.strip_prefix("folder").ok()?;
    assert!(
        below.iter().all(|part| !is_reserved(part.as_bytes())) || below.starts_with("sub/.tightlink"),
        "{path:?}"
    );
    Name::new(below.as_os_str().as_bytes().to_vec()).ok()
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(THEN)).unwrap();
}

/// Reads an entry, unless it is `known` with these times, because the kernel's time of change cannot be chosen.
fn look(path: &Path, known: Option<&Seen>) -> io::Result<Seen> {
    let meta = fs::symlink_metadata(path)?;
    let same = |seen: &&Seen| {
        (seen.inode, seen.mode, seen.size, seen.changed)
            == (meta.ino(), meta.mode(), meta.len(), (meta.ctime(), meta.ctime_nsec()))
    };
    let content = if let Some(known) = known.filter(same) {
        known.content.clone()
    } else if meta.is_symlink() {
        fs::read_link(path)?.into_os_string().as_bytes().to_vec()
    } else if meta.is_file() && meta.len() <= READ {
        fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    Ok(Seen {
        mode: meta.mode(),
        inode: meta.ino(),
        size: if meta.is_dir() { 0 } else { meta.len() },
        links: if meta.is_dir() { 1 } else { meta.nlink() },
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        content,
    })
}

/// Lists all entries below `root`, by their paths from there. A folder that may not be read is opened to this user
/// first.
fn list<'a>(root: &Path, below: &Path, known: &impl Fn(&Path) -> Option<&'a Seen>, all: &mut Tree) {
    let folder = root.join(below);
    let listed = fs::read_dir(&folder).or_else(|_| {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        fs::read_dir(&folder)
    });
    for entry in listed.unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let seen = look(&root.join(&path), known(&path)).unwrap();
        let inner = seen.is(FOLDER);
        all.insert(path.clone(), seen);
        if inner {
            list(root, &path, known, all);
        }
    }
}
