//! [`Owners`]: the connections of a program among all those of the namespace, by the inodes of its sockets.
//!
//! The sockets are listed only if a connection appears that has not been judged, and from time to time, because a
//! program may get an open socket from another one. A list takes time for the program's own descriptors.

use super::SCAN_SHARE;
use crate::process::{Process, ProcessError, name_of};
use host::clock::thread_cpu;
use host::{Clock, TcpConnection};
use std::collections::BTreeMap;
use units::{Span, Time};

/// The time after which the sockets are listed again, even if no connection is new.
const AGAIN: Span = Span::from_millis(2000);
/// The most readings of new connections that wait for the program's sockets.
const MOST_WAITING: usize = 1000;
/// The most names of processes in memory.
const MOST_NAMES: usize = 1000;

/// The process that has a connection, and its name as data: show it as [`units::Foreign`].
pub(super) type Owner = (u32, String);

/// The sockets of a program, and the connections of others.
#[derive(Debug)]
pub(super) struct Owners {
    process: Process,
    /// The inodes of the program's sockets, each with the process that has it.
    sockets: BTreeMap<u64, u32>,
    names: BTreeMap<u32, String>,
    /// The connections of other programs by their cookies: the inode, and the number of the scan that saw it last.
    others: BTreeMap<u64, (u64, u64)>,
    /// The connections that the present scan has found and that have not been judged.
    waiting: Vec<(Time, TcpConnection)>,
    scan: u64,
    /// The earliest time of the next list of sockets, and the latest.
    due: Time,
    again: Time,
}

impl Owners {
    /// Lists the sockets of a process and of those that it started.
    pub(super) fn of(process: Process, clock: &Clock) -> Result<Self, ProcessError> {
        let now = clock.now();
        let (sockets, names, others) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut owners =
            Self { process, sockets, names, others, waiting: Vec::new(), scan: 0, due: now, again: now };
        owners.list(clock)?;
        Ok(owners)
    }

    pub(super) const fn process(&self) -> &Process {
        &self.process
    }

    /// Returns the owner of a connection that a scan has found, with the connection. Keeps it if it is to be judged at
    /// the end of the scan.
    pub(super) fn judge(&mut self, at: Time, connection: TcpConnection) -> Option<(TcpConnection, Owner)> {
        // A connection that no program has accepted yet, or that its program has closed.
        if connection.inode == 0 {
            return None;
        }
        if let Some(other) = self.others.get_mut(&connection.id.cookie()) {
            other.1 = self.scan;
            return None;
        }
        match self.owner(connection.inode) {
            Some(owner) => Some((connection, owner)),
            None => {
                if self.waiting.len() < MOST_WAITING {
                    self.waiting.push((at, connection));
                } else {
                    self.others.insert(connection.id.cookie(), (connection.inode, self.scan));
                }
                None
            }
        }
    }

    /// Ends a scan. Returns those of its connections that are the program's own, each with the time of its reading.
    pub(super) fn end_scan(
        &mut self,
        clock: &Clock,
    ) -> Result<Vec<(Time, TcpConnection, Owner)>, ProcessError> {
        let now = clock.now();
        let waiting = std::mem::take(&mut self.waiting);
        let mut own = Vec::new();
        if now >= self.due && (!waiting.is_empty() || now >= self.again) {
            self.list(clock)?;
            for (at, connection) in waiting {
                match self.owner(connection.inode) {
                    Some(owner) => own.push((at, connection, owner)),
                    None => {
                        self.others.insert(connection.id.cookie(), (connection.inode, self.scan));
                    }
                }
            }
            // The next scan finds those of them that are the program's own by now.
            let sockets = &self.sockets;
            self.others.retain(|_, (inode, _)| !sockets.contains_key(inode));
        }
        let scan = self.scan;
        self.others.retain(|_, other| other.1 == scan);
        self.scan += 1;
        Ok(own)
    }

    /// Lists the program's sockets.
    fn list(&mut self, clock: &Clock) -> Result<(), ProcessError> {
        let before = thread_cpu();
        self.sockets = self.process.sockets()?;
        let now = clock.now();
        self.due = now + thread_cpu().saturating_sub(before) * SCAN_SHARE;
        self.again = now + AGAIN;
        Ok(())
    }

    fn owner(&mut self, inode: u64) -> Option<Owner> {
        let id = *self.sockets.get(&inode)?;
        if self.names.len() >= MOST_NAMES {
            self.names.clear();
        }
        let name = self.names.entry(id).or_insert_with(|| name_of(id).unwrap_or_else(|| "?".into()));
        Some((id, name.clone()))
    }
}
