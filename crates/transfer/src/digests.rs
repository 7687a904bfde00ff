//! Files of digests, as `b3sum` writes and checks them: `<64 hexadecimal digits>  <path>`, a line for each file.
//!
//! In a path, a backslash, a line feed or a carriage return is escaped (`\\`, `\n`, `\r`), and the line then begins
//! with a backslash. Paths are bytes; `b3sum` itself takes UTF-8 only.

#[cfg(test)]
#[path = "../tests/within/digests.rs"]
mod tests;

use crate::beneath::{self, READ, reason};
use crate::error::TransferError;
use crate::keys::fill_random;
use crate::name::Name;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use units::{Complaint, Foreign};

/// The length of the longest line: a name with every byte escaped, the digest, and the separators.
const LONGEST: usize = 2 * 4095 + 70;
/// The length of a digest in hexadecimal digits.
const DIGITS: usize = 64;
/// The number of bytes read at once.
const PIECE: usize = 256 << 10;

/// The result of checking one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The content has the digest.
    Same,
    /// The content has another digest.
    Differs,
    /// The file does not exist.
    Missing,
    /// The check failed, for this reason: the file cannot be read, or its line is not that of a file of digests.
    Failed(String),
}

/// The counts of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files whose content has the digest.
    pub same: u64,
    /// Files whose content has another digest.
    pub differ: u64,
    /// Files that do not exist.
    pub missing: u64,
    /// Files that could not be checked, and lines that could not be read.
    pub failed: u64,
}

impl Report {
    /// Returns true if every file has its digest.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.differ == 0 && self.missing == 0 && self.failed == 0
    }
}

/// Checks that nothing has the name of `file`, so that it can be written.
///
/// # Errors
/// Returns [`TransferError::Usage`] if something has its name.
pub(crate) fn is_free(file: &Path) -> Result<(), TransferError> {
    match std::fs::symlink_metadata(file) {
        Ok(_) => Err(taken(file)),
        Err(_) => Ok(()),
    }
}

/// Checks that `file` does not lie below `folder`, where a sender may take its name.
///
/// # Errors
/// Returns [`TransferError::Usage`] if `file` lies below `folder`.
pub(crate) fn is_outside(file: &Path, folder: &Path) -> Result<(), TransferError> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // If a folder is missing, the error is reported when the file is written.
    let (Ok(parent), Ok(folder)) = (parent.canonicalize(), folder.canonicalize()) else { return Ok(()) };
    if !parent.starts_with(folder) {
        return Ok(());
    }
    let inside = "lies in the folder that is received into, where a sender may take its name";
    let complaint = Complaint::new(Foreign::path(file).to_string(), inside);
    Err(TransferError::Usage(complaint.help("choose a file elsewhere")))
}

fn taken(file: &Path) -> TransferError {
    let exists = "exists, and digests are never written over something";
    let complaint = Complaint::new(Foreign::path(file).to_string(), exists);
    TransferError::Usage(complaint.help("choose another file, or remove this one"))
}

/// Writes the digests of the files called `names` beneath `folder` to the new `file`, and returns their number. The
/// file gets its name when it is complete and on the disk. A file that cannot be read is left out.
///
/// # Errors
/// Returns [`TransferError::Incomplete`] if files were left out. With any other error nothing of `file` remains.
pub(crate) fn write<'a>(
    folder: &OwnedFd,
    names: impl Iterator<Item = &'a Name>,
    file: &Path,
) -> Result<u64, TransferError> {
    is_free(file)?;
    let under_way = Temporary::new(file)?;
    let mut out = BufWriter::new(&under_way.file);
    let (mut count, mut missed, mut first) = (0, 0, None);
    for name in names {
        let digest = match open(folder, name).and_then(|file| hash(&file)) {
            Ok(digest) => digest,
            Err(error) => {
                missed += 1;
                first.get_or_insert_with(|| {
                    format!("{name}: cannot be read for its digest: {}", reason(&error))
                });
                continue;
            }
        };
        let written = out.write_all(&line(&digest, name.bytes()));
        written.map_err(TransferError::file(file, "write the digests"))?;
        count += 1;
    }
    out.flush().map_err(TransferError::file(file, "write the digests"))?;
    drop(out);
    under_way.keep(file)?;
    match first {
        Some(first) => Err(TransferError::Incomplete { failed: missed, all: count + missed, first }),
        None => Ok(count),
    }
}

/// A temporary file in the folder of the final one. It is removed unless it gets the final name.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    fn new(target: &Path) -> Result<Self, TransferError> {
        let mut random = [0; 8];
        fill_random(&mut random);
        let path = target.with_file_name(format!(".tightlink-{:016x}", u64::from_le_bytes(random)));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file =
            rustix::fs::open(&path, flags, mode).map_err(TransferError::file(target, "write the digests"))?;
        Ok(Self { file: file.into(), path, kept: false })
    }

    /// Gives the file its name, if that is still free.
    fn keep(mut self, name: &Path) -> Result<(), TransferError> {
        self.file.sync_all().map_err(TransferError::file(name, "write the digests"))?;
        match rustix::fs::renameat_with(CWD, &self.path, CWD, name, RenameFlags::NOREPLACE) {
            Ok(()) => self.kept = true,
            // The file system cannot rename without replacing. So the file gets the final name as a second one, and
            // dropping `self` removes the temporary name.
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::linkat(CWD, &self.path, CWD, name, AtFlags::empty()).map_err(failed(name))?;
            }
            Err(error) => return Err(failed(name)(error)),
        }
        let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            folder.sync_all().map_err(TransferError::file(name, "write the digests"))?;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn failed(file: &Path) -> impl FnOnce(Errno) -> TransferError {
    move |error| match error {
        Errno::EXIST => taken(file),
        error => TransferError::file(file, "write the digests")(error),
    }
}

fn open(folder: &OwnedFd, name: &Name) -> io::Result<File> {
    let file = File::from(beneath::open(folder.as_fd(), name.path().as_os_str(), READ)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    Ok(file)
}

fn hash(mut file: &File) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; PIECE];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(length) => drop(hasher.update(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Formats a line, with its end.
fn line(digest: &blake3::Hash, name: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(name.len() + DIGITS + 3);
    if name.iter().any(|byte| b"\\\n\r".contains(byte)) {
        line.push(b'\\');
    }
    line.extend(digest.to_hex().as_bytes());
    line.extend(b"  ");
    for &byte in name {
        match byte {
            b'\\' => line.extend(b"\\\\"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            byte => line.push(byte),
        }
    }
    line.push(b'\n');
    line
}

/// Parses a line without its end.
fn parse(line: &[u8]) -> Result<(blake3::Hash, Name), String> {
    let (escaped, rest) = match line.strip_prefix(b"\\") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (digits, name) = rest
        .split_at_checked(DIGITS)
        .and_then(|(digits, rest)| Some((digits, rest.strip_prefix(b"  ")?)))
        .ok_or("it does not begin with 64 hexadecimal digits and two blanks, as a line of `b3sum` does")?;
    let digest =
        blake3::Hash::from_hex(digits).map_err(|_| "it does not begin with 64 hexadecimal digits")?;
    let name = if escaped { unescaped(name)? } else { name.to_owned() };
    let name = name.strip_prefix(b"./").map_or(name.clone(), <[u8]>::to_owned);
    match Name::new(name) {
        Ok(name) => Ok((digest, name)),
        Err(error) => Err(format!("{error}; accepted: paths below the folder")),
    }
}

fn unescaped(name: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match (byte, byte == b'\\') {
            (byte, false) => byte,
            (_, true) => match bytes.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err("a backslash is followed by none of \\, n and r"),
            },
        });
    }
    Ok(out)
}

/// Checks the digests in `file`, whose paths lie below `folder`. `each` gets the result of every line, with the path,
/// or with the line's number if the line cannot be read. Links below the folder are not followed.
///
/// # Errors
/// If `file` or `folder` cannot be read.
pub fn check(
    file: &Path,
    folder: &Path,
    each: &mut dyn FnMut(&[u8], Checked),
) -> Result<Report, TransferError> {
    let top = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(TransferError::file(folder, "open the folder"))?;
    let opened = File::open(file).map_err(TransferError::file(file, "read the digests"))?;
    let (mut lines, mut report, mut number) = (BufReader::new(opened), Report::default(), 0u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        let unread = TransferError::file(file, "read the digests");
        let read = (&mut lines).take(LONGEST as u64).read_until(b'\n', &mut line).map_err(unread)?;
        if read == 0 {
            return Ok(report);
        }
        number += 1;
        let whole = line.pop_if(|byte| *byte == b'\n').is_some() || read < LONGEST;
        line.pop_if(|byte| *byte == b'\r');
        let parsed = if whole {
            parse(&line)
        } else {
            skip_line(&mut lines).map_err(TransferError::file(file, "read the digests"))?;
            Err(format!("it is longer than {LONGEST} bytes"))
        };
        let (name, found) = match parsed {
            Ok((digest, name)) => {
                let found = examine(&top, &name, digest);
                (name.bytes().to_owned(), found)
            }
            Err(reason) => (format!("line {number}").into_bytes(), Checked::Failed(reason)),
        };
        let counter = match &found {
            Checked::Same => &mut report.same,
            Checked::Differs => &mut report.differ,
            Checked::Missing => &mut report.missing,
            Checked::Failed(_) => &mut report.failed,
        };
        *counter += 1;
        each(&name, found);
    }
}

/// Reads to the end of a line that is too long.
fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
    loop {
        let held = lines.fill_buf()?;
        let (end, length) = match held.iter().position(|&byte| byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (held.is_empty(), held.len()),
        };
        lines.consume(length);
        if end {
            return Ok(());
        }
    }
}

fn examine(top: &OwnedFd, name: &Name, digest: blake3::Hash) -> Checked {
    match open(top, name).and_then(|file| hash(&file)) {
        Ok(found) if found == digest => Checked::Same,
        Ok(_) => Checked::Differs,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Checked::Missing,
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            Checked::Failed("it is a link, or lies behind one; links are not followed".into())
        }
        Err(error) => Checked::Failed(reason(&error)),
    }
}
