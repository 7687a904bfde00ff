//! [`Tree`]: files to be sent, and others that must not be.

use crate::name::Name;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

/// The byte that is in every file that must not be sent, and in no other.
const CANARY: u8 = 0xee;
/// The size of a file with a hole.
const LARGE: u64 = (1 << 20) + 10;

/// A tree and its neighbourhood.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    changed: bool,
}

/// The files with their lengths; `t/large` has a hole.
const FILES: [(&str, usize); 6] =
    [("t/a", 5), ("t/empty", 0), ("t/sub/c", 70_000), ("t/sub/d", 9), ("t/deep/er/e", 7), ("single", 3)];
const OTHERS: [&str; 8] = ["t", "t/large", "t/sub", "t/deep", "t/deep/er", "t/out", "t/way", "t/sub/new"];

impl Tree {
    pub(super) fn new() -> Self {
        let root = crate::fuzzing::folder("sender");
        for folder in ["outside/er", "outside/sub"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["canary", "outside/a", "outside/c", "outside/d", "outside/er/e", "outside/sub/c"] {
            fs::write(root.join(file), [CANARY; 9]).unwrap();
        }
        let tree = Self { root, changed: false };
        tree.build();
        tree
    }

    fn build(&self) {
        for folder in ["t/sub/.tightlink", "t/deep/er"] {
            fs::create_dir_all(self.root.join(folder)).unwrap();
        }
        fs::write(self.root.join("t/sub/.tightlink/session"), [CANARY; 9]).unwrap();
        for (name, length) in FILES {
            fs::write(self.root.join(name), content(name, 0, length)).unwrap();
        }
        let large = fs::File::create(self.root.join("t/large")).unwrap();
        large.set_len(LARGE).unwrap();
        large.write_all_at(&content("t/large", 0, 5), 0).unwrap();
        large.write_all_at(&content("t/large", LARGE - 5, 5), LARGE - 5).unwrap();
        symlink("../canary", self.root.join("t/out")).unwrap();
        symlink("../outside", self.root.join("t/way")).unwrap();
    }

    /// Returns the paths of the sources.
    pub(super) fn paths(&self) -> [PathBuf; 2] {
        ["t", "single"].map(|name| self.root.join(name))
    }

    /// Returns true if an entry of this name may be offered.
    pub(super) fn has(name: &Name) -> bool {
        let name = name.path();
        FILES.iter().map(|(name, _)| *name).chain(OTHERS).any(|known| Path::new(known) == name)
    }

    /// Changes the tree as another program would.
    pub(super) fn meddle(&mut self, way: u8) {
        self.changed = true;
        let at = |name: &str| self.root.join(name);
        let aside = |name: &str| drop(fs::rename(at(name), at("aside").join(name.replace('/', "-"))));
        let _ = fs::create_dir(at("aside"));
        let _ = match way % 12 {
            0 => {
                aside("t/a");
                symlink("../canary", at("t/a"))
            }
            1 => {
                aside("t/sub");
                symlink("../outside", at("t/sub"))
            }
            2 => {
                aside("t/deep/er");
                symlink("../../outside/er", at("t/deep/er"))
            }
            3 => self.write("t/a", b"longer than before"),
            4 => self.write("t/sub/c", b"shorter"),
            5 => fs::rename(at("t/sub/d"), at("t/sub/new")),
            6 => {
                aside("t/a");
                fs::create_dir(at("t/a"))
            }
            7 => self.write("t/empty", b"full"),
            8 => {
                aside("single");
                symlink("canary", at("single"))
            }
            9 => self.write("t/large", b"no hole"),
            10 => self.write("t/deep/er/e", b"another"),
            _ => {
                aside("t/a");
                let (kind, rights) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
                Ok(rustix::fs::mknodat(rustix::fs::CWD, at("t/a"), kind, rights, 0).unwrap_or_default())
            }
        };
    }

    /// Writes to a file of the tree, if it still is one and no link leads to it.
    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.root.join(name);
        let is_here = path.canonicalize()? == path && path.is_file();
        if is_here { fs::write(path, content) } else { Ok(()) }
    }

    /// Checks bytes that are about to reach the receiver.
    pub(super) fn check_content(&self, name: &Name, offset: u64, bytes: &[u8]) {
        assert!(!bytes.contains(&CANARY), "{name}: bytes of a file that is not to be sent");
        if !self.changed {
            let name = std::str::from_utf8(name.path().as_os_str().as_bytes()).unwrap();
            assert!(bytes == content(name, offset, bytes.len()), "{name}: other bytes at {offset}");
        }
    }

    /// Restores the tree.
    pub(super) fn reset(&mut self) {
        if std::mem::take(&mut self.changed) {
            for folder in ["t", "aside"] {
                let _ = fs::remove_dir_all(self.root.join(folder));
            }
            let _ = fs::remove_file(self.root.join("single"));
            self.build();
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Makes bytes of a file; those of `t/large` are few.
fn content(name: &str, offset: u64, length: usize) -> Vec<u8> {
    let byte = |at: u64| {
        let hole = name == "t/large" && (5..LARGE - 5).contains(&at);
        if hole { 0 } else { (at % 64) as u8 + name.len() as u8 }
    };
    (offset..offset + length as u64).map(byte).collect()
}
