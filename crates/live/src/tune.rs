//! [`Tuner`]: sizers for the sockets of programs that are not prepared for them.
//!
//! The tuner finds the TCP connections of a program and of its children in `/proc/PID/fd`, and reaches them by
//! `pidfd_getfd`. It borrows a socket for some microseconds at a time, because a copy that it kept would keep a
//! connection open that the program has closed. So it remembers the number of the descriptor with the socket's inode,
//! and looks it up anew each time. The network namespace does not matter, because a socket stays in its own.
//!
//! The sizer uses only what a receiver can see by itself: there are no probes, and the sender does not cooperate. Every
//! established connection is taken over; if a port is given, only those with that port at either end. Listening sockets
//! are left alone. The connections that they accept are found within about a tenth of a second.
//!
//! Reading order: this file, `process.rs` (processes and their descriptors), `tune/connection.rs` (one connection,
//! its former settings and their return), `tune/lock.rs` (one tuner for each connection). Then `tune/restore.rs` (the
//! return where the former settings are unknown), `tune/error.rs`. `tune/verdict.rs` finds what limited a connection.

mod connection;
mod error;
mod lock;
mod restore;
mod verdict;

pub use crate::window::LARGEST_WINDOW;
pub use connection::{Restored, TunedConnection, UndoFailure};
pub use error::TuneError;
pub use restore::{ReturnedConnection, WindowLimits, restore};
pub use sizing::{PhaseChange, USUAL_MAXIMUM};
pub use verdict::{ConnectionLimit, EarlierMeasurements, ReadingSummary, held};

use crate::error::LiveError;
use crate::process::{Descriptor, Process, ProcessError};
use connection::{ConnectionOwner, Ends};
use host::Clock;
use host::TcpInfo;
use lock::ConnectionLock;
use sizing::{BufferSizer, Fixed, SizerConfig, USUAL_REGRET, USUAL_SEGMENT, registry};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use units::{Bytes, Rate, Span, Time};

/// The time between two scans for new connections; longer where a scan takes long, so that scans never take more than a
/// twentieth of a processor.
const SCAN_INTERVAL: Span = Span::from_millis(100);
/// The least time between two scans, in lengths of the last scan.
const SCAN_SHARE: u64 = 20;
/// The bytes received above which a connection counts as under way: it may have built a queue of its own.
const RUNNING: Bytes = Bytes::new(64_000);
/// The time for which such a connection is watched before it is taken over, so that the effect of tuning is known.
const WATCH: Span = Span::from_millis(800);

/// The text about a connection that another tuner has.
const TAKEN: &str = "another tightlink tunes it";

/// The setting that decides on the windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneWindow {
    /// A sizer of the registry, by name.
    Sizer(String),
    /// One size for all connections.
    Fixed(Bytes),
}

/// Settings of the tuning of a program's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneConfig {
    /// Only connections with this port at either end; `None`: all.
    pub port: Option<u16>,
    /// The setting that decides on the windows.
    pub window: TuneWindow,
    /// The largest window that a sizer may request.
    pub maximum: Bytes,
}

impl TuneConfig {
    /// Builds the sizer for a connection that has received `received` bytes in segments of `segment`, and has promised
    /// its sender a window of `promised`.
    fn sizer(
        &self,
        segment: Bytes,
        received: Bytes,
        promised: Bytes,
    ) -> Result<Box<dyn BufferSizer>, TuneError> {
        let name = match &self.window {
            TuneWindow::Fixed(window) => return Ok(Box::new(Fixed::new(*window))),
            TuneWindow::Sizer(name) => name,
        };
        let segment = if received > Bytes::ZERO { segment } else { USUAL_SEGMENT };
        let running = (received > RUNNING).then_some(promised);
        let config = SizerConfig {
            trains: 0,
            running,
            regret: Some(USUAL_REGRET),
            ..SizerConfig::new(segment, self.maximum)
        };
        registry::build_with(name, config).ok_or_else(|| TuneError::UnknownSizer { name: name.clone() })
    }
}

/// A change of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneEvent {
    /// A connection was taken over: its place in [`Tuner::connections`].
    Taken(usize),
    /// The sizer of a connection entered another phase, the last one of its changes.
    Phase(usize),
    /// The program has closed a connection.
    Closed(usize),
    /// A connection could not be taken over, with the reason.
    Refused(String),
}

/// Sizers for the connections of one program and of those it started.
#[derive(Debug)]
pub struct Tuner {
    root: Process,
    config: TuneConfig,
    connections: Vec<TunedConnection>,
    /// The place in `connections` of the connection with this inode.
    known: BTreeMap<u64, usize>,
    /// Inodes that are not examined again: sockets other than TCP's, connections without the port, and refused ones.
    dismissed: BTreeSet<u64>,
    look: Time,
    /// Connections that are being watched: the time at which watching began, and the bytes received until that time.
    watched: BTreeMap<u64, (Time, Bytes)>,
    /// True once all processes have been scanned for the first time.
    looked: bool,
}

impl Tuner {
    /// Attaches to the process `pid`; nothing is changed yet.
    ///
    /// # Errors
    /// [`TuneError::Process`], [`TuneError::UnknownSizer`].
    pub fn attach(pid: u32, config: TuneConfig) -> Result<Self, TuneError> {
        config.sizer(USUAL_SEGMENT, Bytes::ZERO, Bytes::ZERO)?;
        let root = Process::open(pid)?;
        root.descriptors()?;
        Ok(Self {
            root,
            config,
            connections: Vec::new(),
            known: BTreeMap::new(),
            dismissed: BTreeSet::new(),
            look: Time::ZERO,
            watched: BTreeMap::new(),
            looked: false,
        })
    }

    /// Checks that there is something to tune: a TCP socket, and one with the port if one is given.
    ///
    /// # Errors
    /// [`TuneError::NoSocket`], [`TuneError::NoPort`] with the ports that exist; [`TuneError::Process`].
    pub fn check(&self) -> Result<(), TuneError> {
        check(&self.root, self.config.port)
    }

    /// Looks for new connections if that is due, and has those sizers measure that are due.
    ///
    /// # Errors
    /// [`TuneError::Process`] if rights were lost. A connection that fails is left alone and reported as an event.
    pub fn poll(&mut self, clock: &Clock) -> Result<Vec<TuneEvent>, TuneError> {
        let mut events = Vec::new();
        let now = clock.now();
        if now >= self.look {
            self.look_around(now, &mut events)?;
            let took = clock.now().since(now);
            self.look = now + SCAN_INTERVAL.max(took * SCAN_SHARE);
        }
        for (place, connection) in self.connections.iter_mut().enumerate() {
            if now < connection.wakeup() {
                continue;
            }
            let phases = connection.changes().len();
            match connection.poll(now) {
                Ok(true) if connection.changes().len() > phases => events.push(TuneEvent::Phase(place)),
                Ok(true) => {}
                Ok(false) => {
                    self.known.remove(&connection.inode());
                    events.push(TuneEvent::Closed(place));
                }
                Err(error) => {
                    connection.leave(now);
                    events.push(TuneEvent::Refused(format!("{connection}: {}", error.complaint().head())));
                }
            }
        }
        Ok(events)
    }

    /// Returns the time of the next poll.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.connections.iter().map(TunedConnection::wakeup).fold(self.look, Time::min)
    }

    /// Returns true if the program still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.root.is_alive()
    }

    /// Returns all connections taken over so far, in order, closed ones included.
    #[must_use]
    pub fn connections(&self) -> &[TunedConnection] {
        &self.connections
    }

    /// Gives every window back to the kernel as far as possible; each connection then reports what is left. May be
    /// called again.
    pub fn restore(&mut self, clock: &Clock) {
        for connection in &mut self.connections {
            connection.restore(clock.now());
        }
    }

    fn look_around(&mut self, now: Time, events: &mut Vec<TuneEvent>) -> Result<(), TuneError> {
        for process in self.root.family() {
            let descriptors = match process.descriptors() {
                Ok(descriptors) => descriptors,
                // This process has ended meanwhile. The end of the program itself is checked elsewhere.
                Err(ProcessError::NoProcess { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            for descriptor in descriptors {
                self.consider(&process, descriptor, now, events)?;
            }
        }
        self.looked = true;
        Ok(())
    }

    /// Takes over a descriptor's connection if it is established and new.
    fn consider(
        &mut self,
        process: &Process,
        descriptor: Descriptor,
        now: Time,
        events: &mut Vec<TuneEvent>,
    ) -> Result<(), TuneError> {
        if self.dismissed.contains(&descriptor.inode) {
            return Ok(());
        }
        if let Some(&place) = self.known.get(&descriptor.inode) {
            // The socket is known. It may now have another number, or belong to a child.
            self.connections[place].is_at(process, descriptor);
            return Ok(());
        }
        let Some(socket) = process.borrow(descriptor)? else { return Ok(()) };
        let Some(ends) = Ends::of(&socket) else {
            self.dismissed.insert(descriptor.inode);
            return Ok(());
        };
        if !ends.stands {
            // The socket listens, is connecting, or is closing.
            return Ok(());
        }
        if self.config.port.is_some_and(|port| !ends.ports().contains(&port)) {
            self.dismissed.insert(descriptor.inode);
            return Ok(());
        }
        let Some(earlier) = self.watch(descriptor.inode, &socket, now) else { return Ok(()) };
        let lock = match ConnectionLock::of(process, descriptor) {
            Ok(Some(lock)) => lock,
            refused => {
                self.dismissed.insert(descriptor.inode);
                let why =
                    refused.map_or_else(|error| format!("cannot be claimed: {error}"), |_| TAKEN.into());
                events.push(TuneEvent::Refused(format!("{ends}: {why}")));
                return Ok(());
            }
        };
        let sizer =
            |info: &TcpInfo, promised| self.config.sizer(info.rcv_mss, info.stream_received(), promised);
        let whose = ConnectionOwner { process, descriptor, ends, lock };
        match TunedConnection::take(whose, &socket, sizer, self.config.maximum, earlier, now) {
            Ok(connection) => {
                self.known.insert(descriptor.inode, self.connections.len());
                events.push(TuneEvent::Taken(self.connections.len()));
                self.connections.push(connection);
            }
            Err(error) => {
                self.dismissed.insert(descriptor.inode);
                let error: &LiveError = &error;
                events.push(TuneEvent::Refused(format!("{ends}: {}", error.complaint().head())));
            }
        }
        Ok(())
    }
}

impl Tuner {
    /// Watches a connection that was under way before, without a sizer. Returns `None` while it watches, and then the
    /// measurements. Returns `Some(None)` for a new connection, which is not watched.
    fn watch(&mut self, inode: u64, socket: &impl AsFd, now: Time) -> Option<Option<EarlierMeasurements>> {
        let Ok(info) = TcpInfo::of(socket) else { return Some(None) };
        let received = info.stream_received();
        // A connection with little data, or one that appears after the first scan, is new and gets a sizer at once.
        if received <= RUNNING || (self.looked && !self.watched.contains_key(&inode)) {
            return Some(None);
        }
        let (since, before) = *self.watched.entry(inode).or_insert((now, received));
        let span = now.since(since);
        if span < WATCH {
            return None;
        }
        self.watched.remove(&inode);
        Some(Some(EarlierMeasurements::of(&info, Rate::of(received.saturating_sub(before), span))))
    }
}

/// Checks that the process or one it started has a TCP socket, and one with the port if one is given.
fn check(root: &Process, port: Option<u16>) -> Result<(), TuneError> {
    let mut ports = BTreeSet::new();
    for process in root.family() {
        for descriptor in process.descriptors()? {
            if let Some(ends) = process.borrow(descriptor)?.as_ref().and_then(Ends::of) {
                ports.extend(ends.ports());
            }
        }
    }
    let (pid, name) = (root.id(), root.name());
    match port {
        _ if ports.is_empty() => Err(TuneError::NoSocket { pid, name }),
        Some(port) if !ports.contains(&port) => {
            let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            Err(TuneError::NoPort { pid, name, port, ports })
        }
        _ => Ok(()),
    }
}
