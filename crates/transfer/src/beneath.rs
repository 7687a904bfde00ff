//! Functions that open an entry beneath an open folder without following a link.
//!
//! `openat2` resolves a path beneath a folder in one call and fails at the first link. Where the kernel or a sandbox
//! has no `openat2`, the parts of the path are opened one by one.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Flags to open a folder only to resolve names in it, which needs no right to list it.
pub(crate) const HOLD: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags to open a file for reading; such an open never waits.
pub(crate) const READ: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// True once `openat2` has been found missing.
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Opens `path` beneath `top`.
///
/// # Errors
/// Returns `ELOOP` if a part of the path is a link, and any other error of opening.
pub(crate) fn open(top: BorrowedFd<'_>, path: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    if !NO_OPENAT2.load(Relaxed) {
        // Every link must be an error here. With `NOFOLLOW`, `openat2` may open a link in the last place itself.
        let flags = flags.difference(OFlags::NOFOLLOW);
        match rustix::fs::openat2(top, path, flags, Mode::empty(), BENEATH) {
            Err(Errno::NOSYS) => NO_OPENAT2.store(true, Relaxed),
            // A sandbox may refuse every call of `openat2`. Opening part by part shows whether the path is the reason.
            Err(Errno::PERM) => {}
            result => return result,
        }
    }
    part_by_part(top, path, flags)
}

/// Opens `path` as `openat2` does, but part by part with older system calls.
fn part_by_part(top: BorrowedFd<'_>, path: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let (folders, last) = match path.as_bytes().iter().rposition(|&byte| byte == b'/') {
        Some(at) => (Some(&path.as_bytes()[..at]), &path.as_bytes()[at + 1..]),
        None => (None, path.as_bytes()),
    };
    let mut at: Option<OwnedFd> = None;
    for part in folders.into_iter().flat_map(|folders| folders.split(|&byte| byte == b'/')) {
        at = Some(open_at(at.as_ref().map_or(top, AsFd::as_fd), OsStr::from_bytes(part), HOLD)?);
    }
    open_at(at.as_ref().map_or(top, AsFd::as_fd), OsStr::from_bytes(last), flags)
}

/// Opens the entry `last` of an open folder, unless it is a link.
///
/// # Errors
/// Returns `ELOOP` if it is a link, and any other error of opening.
pub(crate) fn open_at(
    folder: BorrowedFd<'_>,
    last: impl rustix::path::Arg + Copy,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, last, flags, Mode::empty()).map_err(|error| {
        let kind = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode);
        let is_link = || {
            rustix::fs::statat(folder, last, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| kind(stat) == FileType::Symlink)
        };
        if error == Errno::NOTDIR && is_link() { Errno::LOOP } else { error }
    })
}

/// Describes for a person why an entry beneath a folder cannot be opened.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::LOOP) => "a folder on its way became a link; left out".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    #[test]
    fn both_ways_open_what_is_beneath_and_stop_at_links() {
        let bench = tempfile::tempdir().unwrap();
        fs::create_dir_all(bench.path().join("tree/a/b")).unwrap();
        fs::write(bench.path().join("tree/a/b/file"), "inside").unwrap();
        fs::write(bench.path().join("secret"), "outside").unwrap();
        symlink("a", bench.path().join("tree/way")).unwrap();
        symlink("../secret", bench.path().join("tree/link")).unwrap();
        symlink("..", bench.path().join("tree/up")).unwrap();
        let top = File::open(bench.path().join("tree")).unwrap();
        type Treatment<'a> = &'a dyn Fn(&str) -> rustix::io::Result<OwnedFd>;
        let one_call: Treatment<'_> = &|path| open(top.as_fd(), OsStr::new(path), READ);
        let by_parts: Treatment<'_> = &|path| part_by_part(top.as_fd(), OsStr::new(path), READ);
        for way in [one_call, by_parts] {
            let file = File::from(way("a/b/file").unwrap());
            assert_eq!(io::read_to_string(file).unwrap(), "inside");
            for path in ["way/b/file", "link", "up/secret", "a/b/file/more", "a/nothing"] {
                let error = way(path).map(drop).unwrap_err();
                let expected = match path {
                    "a/b/file/more" => Errno::NOTDIR,
                    "a/nothing" => Errno::NOENT,
                    _ => Errno::LOOP,
                };
                assert_eq!(error, expected, "{path}");
            }
        }
    }
}
