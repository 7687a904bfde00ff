//! [`State`]: the part of a session that outlives the receiver's process, in `.tightlink` in its folder, readable by
//! its user only.
//!
//! `session` has the key and the secret, `journal` the record of arrived data, and `partial/` the files under way;
//! `lock` keeps a second receiver out. Finishing the session removes all of it, and the ticket is then useless.
//!
//! Anyone who can put files into the folder can put a state folder there, too. So the state folder is trusted only
//! under four conditions. It is this user's own and closed to others. It is opened once without following links.
//! Everything in it is reached from that descriptor and checked likewise. A session holds only in the folder that it
//! was made in.

use crate::error::TransferError;
use crate::journal::Journal;
use crate::keys::fill_random;
use crate::name::RESERVED;
use crate::origin::Origin;
use crate::ticket::{Host, Secret};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use units::{Span, Time};
use zeroize::Zeroize;

/// The greatest size of a session's file, which usually has some hundred bytes.
const LONGEST_SESSION: u64 = 64 << 10;
/// The form of the session's file. Form 1 had neither home nor expiry.
const FORM: u16 = 2;
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const PLAIN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    version: u16,
    /// The folder that it was made in.
    home: FolderIdentity,
    /// The time at which its ticket expires, in nanoseconds since 1970.
    expires: u64,
    seed: [u8; 32],
    secret: [u8; 16],
    /// The address and port listened on; `None` until the receiver listens.
    listen: Option<SocketAddr>,
    /// The addresses in the ticket.
    addresses: Vec<Host>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.seed.zeroize();
        self.secret.zeroize();
    }
}

/// The identity of a folder and of the state folder in it. All other pairs of folders have other identities, and so do
/// copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FolderIdentity {
    folder: Origin,
    own: Origin,
}

/// The files of a session.
#[derive(Debug)]
pub(super) struct State {
    path: PathBuf,
    /// The folder received into.
    folder: OwnedFd,
    /// The state folder `.tightlink` in it.
    own: OwnedFd,
    /// The file that is kept open for its lock.
    _lock: File,
    session: Session,
}

/// The origin of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origins {
    /// The session begins now.
    New,
    /// The session was interrupted; its ticket is still valid.
    Resumed,
    /// The session was interrupted, and its ticket has expired; it has a new one.
    Renewed,
}

impl State {
    /// Resumes the session in the folder at `path`, or begins one. With `new`, it always begins one. A new ticket lasts
    /// for `expire` from `now`, the time since 1970.
    pub(super) fn open(
        path: &Path,
        new: bool,
        now: Time,
        expire: Span,
    ) -> Result<(Self, Origins), TransferError> {
        fs::create_dir_all(path).map_err(TransferError::file(path, "make the folder"))?;
        let folder = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(TransferError::file(path, "open the folder"))?;
        let own = open_own(&folder, path)?;
        let Some(lock) = open_plain(&own, path, "lock", OFlags::RDWR | OFlags::CREATE)? else {
            return Err(fault(path, "lock", "it went away".into()));
        };
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(TransferError::Busy { path: path.to_owned() }),
            Err(error) => return Err(TransferError::file(path, "lock the folder")(error)),
        }
        if new {
            forget(&own, path)?;
        }
        let home = Origin::of(&folder)
            .and_then(|folder| Ok(FolderIdentity { folder, own: Origin::of(&own)? }))
            .map_err(TransferError::file(path, "examine the folder"))?;
        let expires = (now + expire).as_nanos();
        let (session, origins) = match read_session(&own, path)? {
            Some(session) if session.home != home => {
                let reason = "the session there was begun in another folder, and copied or moved here";
                return Err(fault(path, "session", reason.into()));
            }
            // The arrived data stays, but the old ticket lets nobody in.
            Some(session) if session.expires <= now.as_nanos() => {
                (Session::new(home, expires), Origins::Renewed)
            }
            Some(session) => (session, Origins::Resumed),
            None => {
                // Remains of a session without a key are useless.
                forget(&own, path)?;
                (Session::new(home, expires), Origins::New)
            }
        };
        Ok((Self { path: path.to_owned(), folder, own, _lock: lock, session }, origins))
    }

    pub(super) const fn seed(&self) -> &[u8; 32] {
        &self.session.seed
    }

    pub(super) const fn secret(&self) -> Secret {
        Secret(self.session.secret)
    }

    /// Returns the address at which an interrupted session listened.
    pub(super) const fn listen(&self) -> Option<SocketAddr> {
        self.session.listen
    }

    /// Returns the addresses in its ticket.
    pub(super) fn addresses(&self) -> &[Host] {
        &self.session.addresses
    }

    /// Returns the time since 1970 at which its ticket expires.
    pub(super) fn expires(&self) -> Time {
        Time::from_nanos(self.session.expires)
    }

    /// Returns the folder received into, and the state folder in it.
    pub(super) const fn folders(&self) -> (&OwnedFd, &OwnedFd) {
        (&self.folder, &self.own)
    }

    /// Writes the session to its file, with the addresses in its ticket.
    pub(super) fn keep(&mut self, listen: SocketAddr, addresses: &[Host]) -> Result<(), TransferError> {
        self.session.listen = Some(listen);
        self.session.addresses = addresses.to_vec();
        let mut text = serde_json::to_vec(&self.session).expect("a session can be written to memory");
        let written = remove(&self.own, "session-under-way")
            .and_then(|()| {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | PLAIN;
                rustix::fs::openat(&self.own, "session-under-way", flags, Mode::RUSR | Mode::WUSR)
            })
            .map_err(std::io::Error::from)
            .and_then(|file| {
                let mut file = File::from(file);
                file.write_all(&text).and_then(|()| file.sync_all())
            })
            .and_then(|()| Ok(rustix::fs::renameat(&self.own, "session-under-way", &self.own, "session")?))
            .and_then(|()| Ok(rustix::fs::fsync(&self.own)?))
            // The ticket is printed next, and must outlive a power cut from then on.
            .and_then(|()| Ok(rustix::fs::fsync(&self.folder)?));
        text.zeroize();
        written.map_err(TransferError::file(&own_path(&self.path, "session"), "write the session"))
    }

    pub(super) fn journal(&self) -> Result<Journal, TransferError> {
        let file = open_plain(&self.own, &self.path, "journal", OFlags::RDWR)?;
        let file = match file {
            Some(file) => file,
            None => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
                open_plain(&self.own, &self.path, "journal", flags)?
                    .ok_or_else(|| fault(&self.path, "journal", "it went away".into()))?
            }
        };
        Journal::open(file, &own_path(&self.path, "journal"))
    }

    /// Removes all files of a finished session, and waits until the disk has removed them.
    pub(super) fn finish(self) -> Result<(), TransferError> {
        forget(&self.own, &self.path)?;
        remove(&self.own, "lock")
            .and_then(|()| rustix::fs::unlinkat(&self.folder, RESERVED, AtFlags::REMOVEDIR))
            .and_then(|()| rustix::fs::fsync(&self.folder))
            .map_err(TransferError::file(&own_path(&self.path, ""), "remove the folder"))
    }
}

impl Session {
    fn new(home: FolderIdentity, expires: u64) -> Self {
        let mut session = Self {
            version: FORM,
            home,
            expires,
            seed: [0; 32],
            secret: [0; 16],
            listen: None,
            addresses: Vec::new(),
        };
        fill_random(&mut session.seed);
        fill_random(&mut session.secret);
        session
    }
}

/// Opens `.tightlink` in `folder`, and makes it if necessary. It must be this user's own and closed to others.
fn open_own(folder: &OwnedFd, path: &Path) -> Result<OwnedFd, TransferError> {
    match rustix::fs::mkdirat(folder, RESERVED, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(TransferError::file(&own_path(path, ""), "make the folder")(error)),
    }
    let own = match rustix::fs::openat(folder, RESERVED, FOLDER, Mode::empty()) {
        Ok(own) => own,
        // A link there would lead the key out of the folder.
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(fault(path, "", "not a folder".into())),
        Err(error) => return Err(TransferError::file(&own_path(path, ""), "open the folder")(error)),
    };
    let stat =
        rustix::fs::fstat(&own).map_err(TransferError::file(&own_path(path, ""), "examine the folder"))?;
    check(path, "", stat.st_uid, stat.st_mode)?;
    Ok(own)
}

/// Checks that a file or folder is this user's own and closed to others.
fn check(path: &Path, name: &str, owner: u32, mode: u32) -> Result<(), TransferError> {
    let me = rustix::process::geteuid().as_raw();
    if owner != me {
        let user = nix::unistd::User::from_uid(owner.into()).ok().flatten();
        let user = user.map_or_else(String::new, |user| format!(" ({})", units::Foreign::new(&user.name)));
        let reason = format!("it belongs to user {owner}{user}, not to user {me}");
        return Err(TransferError::NotOwn { path: own_path(path, name), reason });
    }
    if mode & 0o077 != 0 {
        let reason = format!("others may use it (mode {:04o})", mode & 0o7777);
        return Err(TransferError::NotOwn { path: own_path(path, name), reason });
    }
    Ok(())
}

/// Opens a regular file of the state folder without following a link; `None` if it does not exist.
fn open_plain(own: &OwnedFd, path: &Path, name: &str, flags: OFlags) -> Result<Option<File>, TransferError> {
    let file = match rustix::fs::openat(own, name, flags | PLAIN, Mode::RUSR | Mode::WUSR) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
            return Err(fault(path, name, "not a regular file".into()));
        }
        Err(error) => return Err(TransferError::file(&own_path(path, name), "open the file")(error)),
    };
    let stat =
        rustix::fs::fstat(&file).map_err(TransferError::file(&own_path(path, name), "examine the file"))?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
        return Err(fault(path, name, "not a regular file".into()));
    }
    if stat.st_nlink != 1 {
        return Err(fault(
            path,
            name,
            format!("it has {} names; its content may be elsewhere, too", stat.st_nlink),
        ));
    }
    check(path, name, stat.st_uid, stat.st_mode)?;
    Ok(Some(file.into()))
}

fn read_session(own: &OwnedFd, path: &Path) -> Result<Option<Session>, TransferError> {
    let Some(file) = open_plain(own, path, "session", OFlags::RDONLY)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(LONGEST_SESSION)
        .read_to_end(&mut bytes)
        .map_err(TransferError::file(&own_path(path, "session"), "read the session"))?;
    let session = session(&bytes);
    bytes.zeroize();
    match session {
        Some(session) => Ok(Some(session)),
        None => Err(fault(path, "session", "not a session of this version".into())),
    }
}

/// Parses the bytes of a session's file.
fn session(bytes: &[u8]) -> Option<Session> {
    serde_json::from_slice(bytes).ok().filter(|session: &Session| session.version == FORM)
}

/// Removes the files of a session. The key goes first, because the rest is useless without it.
fn forget(own: &OwnedFd, path: &Path) -> Result<(), TransferError> {
    for name in ["session", "session-under-way", "journal"] {
        remove(own, name).map_err(TransferError::file(&own_path(path, name), "remove the file"))?;
    }
    // A power cut must not bring a ticket back.
    rustix::fs::fsync(own)
        .map_err(TransferError::file(&own_path(path, ""), "write the folder to its disk"))?;
    let partial = own_path(path, "partial");
    let files = match rustix::fs::openat(own, "partial", FOLDER, Mode::empty()) {
        Ok(files) => files,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return remove(own, "partial").map_err(TransferError::file(&partial, "remove the file"));
        }
        Err(error) => return Err(TransferError::file(&partial, "open the folder")(error)),
    };
    let emptied = rustix::fs::Dir::read_from(&files).and_then(|listing| {
        for entry in listing {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                rustix::fs::unlinkat(&files, OsStr::from_bytes(name), AtFlags::empty())?;
            }
        }
        rustix::fs::unlinkat(own, "partial", AtFlags::REMOVEDIR)
    });
    emptied.map_err(TransferError::file(&partial, "remove the folder"))
}

/// Removes a name, if it exists, and never the target of a link.
fn remove(own: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(own, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

fn own_path(path: &Path, name: &str) -> PathBuf {
    let own = path.join(RESERVED);
    if name.is_empty() { own } else { own.join(name) }
}

fn fault(path: &Path, name: &str, reason: String) -> TransferError {
    TransferError::State { path: own_path(path, name), reason }
}
