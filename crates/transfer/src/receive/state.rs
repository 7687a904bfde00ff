//! [`State`]: what of a session outlives the receiver's process, in `.tightlink` in its folder, for its user's eyes only.
//!
//! `session` has the key and the secret, `journal` what has arrived, `partial/` the files under way, `lock` keeps a
//! second receiver out. All of it goes when the session is finished, and with it the ticket.

use crate::error::TransferError;
use crate::journal::Journal;
use crate::keys::fill_random;
use crate::name::RESERVED;
use crate::ticket::{Host, Secret};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    version: u16,
    seed: [u8; 32],
    secret: [u8; 16],
    /// Where it was listened; `None` before it was, and then without a port.
    listen: Option<SocketAddr>,
    /// What the ticket names.
    addresses: Vec<Host>,
}

/// The session's files.
#[derive(Debug)]
pub(super) struct State {
    own: PathBuf,
    /// Held for its lock.
    _lock: File,
    session: Session,
}

impl State {
    /// Takes up the session in `folder`, or begins one; whether it was taken up. `new`: always begins one.
    pub(super) fn open(folder: &Path, new: bool) -> Result<(Self, bool), TransferError> {
        fs::create_dir_all(folder).map_err(TransferError::file(folder, "make the folder"))?;
        let own = folder.join(RESERVED);
        match DirBuilder::new().mode(0o700).create(&own) {
            Ok(()) => {}
            // A link there would lead the key out of the folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !fs::symlink_metadata(&own).is_ok_and(|there| there.is_dir()) {
                    return Err(TransferError::State { path: own, reason: "this is no folder".into() });
                }
            }
            Err(error) => return Err(TransferError::file(&own, "make the folder")(error)),
        }
        let lock = own.join("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock)
            .map_err(TransferError::file(&lock, "open the file"))?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(TransferError::Busy { path: folder.to_owned() });
            }
            Err(error) => return Err(TransferError::file(folder, "lock the folder")(error)),
        }
        let path = own.join("session");
        if new {
            forget(&own)?;
        }
        let (session, resumed) = match fs::read(&path) {
            Ok(bytes) => (
                serde_json::from_slice(&bytes)
                    .ok()
                    .filter(|session: &Session| session.version == crate::wire::VERSION)
                    .ok_or_else(|| TransferError::State {
                        path,
                        reason: "not a session of this version".into(),
                    })?,
                true,
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // What is left of a session without a key belongs to nobody.
                forget(&own)?;
                let mut session = Session {
                    version: crate::wire::VERSION,
                    seed: [0; 32],
                    secret: [0; 16],
                    listen: None,
                    addresses: Vec::new(),
                };
                fill_random(&mut session.seed);
                fill_random(&mut session.secret);
                (session, false)
            }
            Err(error) => return Err(TransferError::file(&path, "read the session")(error)),
        };
        Ok((Self { own, _lock: lock, session }, resumed))
    }

    pub(super) const fn seed(&self) -> &[u8; 32] {
        &self.session.seed
    }

    pub(super) const fn secret(&self) -> Secret {
        Secret(self.session.secret)
    }

    /// Where an interrupted session was listened.
    pub(super) const fn listen(&self) -> Option<SocketAddr> {
        self.session.listen
    }

    /// The addresses its ticket names.
    pub(super) fn addresses(&self) -> &[Host] {
        &self.session.addresses
    }

    /// Writes the session down, with what its ticket names.
    pub(super) fn keep(&mut self, listen: SocketAddr, addresses: &[Host]) -> Result<(), TransferError> {
        self.session.listen = Some(listen);
        self.session.addresses = addresses.to_vec();
        let (path, under_way) = (self.own.join("session"), self.own.join("session-under-way"));
        let text = serde_json::to_vec(&self.session).expect("a session can be written to memory");
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&under_way)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&under_way, &path))
            .map_err(TransferError::file(&path, "write the session"))
    }

    pub(super) fn journal(&self) -> Result<Journal, TransferError> {
        Journal::open(&self.own.join("journal"), boot())
    }

    /// The session is finished: nothing of it is left.
    pub(super) fn finish(self) -> Result<(), TransferError> {
        forget(&self.own)?;
        fs::remove_dir_all(&self.own).map_err(TransferError::file(&self.own, "remove the folder"))
    }
}

/// The key goes first: what is left without it is of no use to anybody.
fn forget(own: &Path) -> Result<(), TransferError> {
    for name in ["session", "session-under-way", "journal"] {
        let path = own.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(TransferError::file(&path, "remove the file")(error));
            }
            _ => {}
        }
    }
    let partial = own.join("partial");
    match fs::remove_dir_all(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TransferError::file(&partial, "remove the folder")(error))
        }
        _ => Ok(()),
    }
}

/// Tells this boot of the machine from others; if the kernel does not say, no earlier record is believed unseen.
fn boot() -> [u8; 16] {
    let mut boot = [0; 16];
    match fs::read("/proc/sys/kernel/random/boot_id") {
        Ok(id) => boot.copy_from_slice(&blake3::hash(&id).as_bytes()[..16]),
        Err(_) => fill_random(&mut boot),
    }
    boot
}
