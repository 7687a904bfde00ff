//! [`Tuner`]: sizers at the sockets of programs that know nothing of them.
//!
//! A program's TCP connections are found in `/proc/PID/fd`, its children's too, and reached by `pidfd_getfd`. A
//! socket is borrowed for some microseconds at a time and given back. A copy that was kept would keep a connection
//! open that the program has closed. So the number of the descriptor is remembered with the socket's inode, and
//! looked at anew each time. The namespace does not matter; a socket stays in its own.
//!
//! Only what a receiver sees by itself is used: there are no probes, and the sender is a stranger. Every connection
//! that stands is taken over, with either end at the port if one is given. Listening sockets are left alone. The
//! connections that they accept are found within about a tenth of a second.
//!
//! Reading order: here, `tune/process.rs` (processes and their descriptors), `tune/connection.rs` (one connection,
//! its former settings and their return), `tune/claim.rs` (one tuner for each). Then `tune/restore.rs` (the same where nobody knows the former settings),
//! `tune/error.rs`. `tune/verdict.rs` says what limited a connection.

mod claim;
mod connection;
mod error;
mod process;
mod restore;
mod verdict;

pub use crate::window::LARGEST_WINDOW;
pub use connection::{Left, Restored, TunedConnection};
pub use error::TuneError;
pub use restore::{GivenBack, WindowLimits, restore};
pub use sizing::{PhaseChange, USUAL_MAXIMUM};
pub use verdict::{Earlier, Held, Seen, held};

use crate::error::LiveError;
use claim::Claim;
use connection::{Ends, Whose};
use host::Clock;
use host::TcpInfo;
use process::{Descriptor, Process};
use sizing::{BufferSizer, Fixed, SizerConfig, USUAL_REGRET, USUAL_SEGMENT, registry};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use units::{Bytes, Rate, Span, Time};

/// How often new connections are looked for; less often where looking takes long, so that it never takes more than a
/// twentieth of a processor.
const SCAN_INTERVAL: Span = Span::from_millis(100);
const SCAN_SHARE: u64 = 20;
/// A connection that has received more than this was under way before: the queue of its own may stand.
const RUNNING: Bytes = Bytes::new(64_000);
/// Such a connection is watched for so long before it is taken over, so that it is known what was better or worse.
const WATCH: Span = Span::from_millis(800);

/// Said of a connection that another tuner has.
const TAKEN: &str = "another tightlink tunes it";

/// Who decides on the windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneWindow {
    /// A sizer of the registry, by name.
    Sizer(String),
    /// One size for all.
    Fixed(Bytes),
}

/// What to do to a program's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneConfig {
    /// Only connections with this port at either end.
    pub port: Option<u16>,
    /// Who decides.
    pub window: TuneWindow,
    /// The largest window a sizer may ask for.
    pub maximum: Bytes,
}

impl TuneConfig {
    /// The sizer for a connection that has received `received` bytes in segments of this size, and has promised this
    /// window.
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

/// What has happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneEvent {
    /// It was taken over: its place in [`Tuner::connections`].
    Taken(usize),
    /// Its sizer entered another phase, the last one of its changes.
    Phase(usize),
    /// The program has closed it.
    Closed(usize),
    /// It could not be taken over, and why.
    Refused(String),
}

/// Sizers at the connections of one program and of those it started.
#[derive(Debug)]
pub struct Tuner {
    root: Process,
    config: TuneConfig,
    connections: Vec<TunedConnection>,
    /// Where the connection with this inode is in `connections`.
    known: BTreeMap<u64, usize>,
    /// Inodes that are not to be looked at again: other sockets, listening ones excepted, and refused ones.
    dismissed: BTreeSet<u64>,
    look: Time,
    /// Connections that are watched: since when, and what they had received.
    watched: BTreeMap<u64, (Time, Bytes)>,
    /// All processes have been looked at once.
    looked: bool,
}

impl Tuner {
    /// For the process `pid`; nothing is changed yet.
    ///
    /// # Errors
    /// [`TuneError::NoProcess`], [`TuneError::NotPermitted`], [`TuneError::UnknownSizer`].
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

    /// That there is something to tune: a TCP socket, and one with the port that was asked for.
    ///
    /// # Errors
    /// [`TuneError::NoSocket`], [`TuneError::NoPort`] with the ports there are; [`TuneError::NotPermitted`].
    pub fn check(&self) -> Result<(), TuneError> {
        check(&self.root, self.config.port)
    }

    /// Looks for new connections if it is time to, and has those sizers measure that are due.
    ///
    /// # Errors
    /// [`TuneError::NotPermitted`] if rights were lost. A connection that fails is left alone, and an event.
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

    /// When to poll next.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.connections.iter().map(TunedConnection::wakeup).fold(self.look, Time::min)
    }

    /// Whether the program still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.root.is_alive()
    }

    /// All connections taken over so far, in order, closed ones included.
    #[must_use]
    pub fn connections(&self) -> &[TunedConnection] {
        &self.connections
    }

    /// Gives every window back to the kernel as far as it goes; each connection then says what is left. May be called
    /// again.
    pub fn restore(&mut self, clock: &Clock) {
        for connection in &mut self.connections {
            connection.restore(clock.now());
        }
    }

    fn look_around(&mut self, now: Time, events: &mut Vec<TuneEvent>) -> Result<(), TuneError> {
        for process in self.root.family() {
            let descriptors = match process.descriptors() {
                Ok(descriptors) => descriptors,
                // It has ended meanwhile; the program itself is asked about elsewhere.
                Err(TuneError::NoProcess { .. }) => continue,
                Err(error) => return Err(error),
            };
            for descriptor in descriptors {
                self.consider(&process, descriptor, now, events)?;
            }
        }
        self.looked = true;
        Ok(())
    }

    /// Takes a descriptor's connection over if it is one that stands, and new.
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
            // The same socket under another number, or passed on to a child.
            self.connections[place].is_at(process, descriptor);
            return Ok(());
        }
        let Some(socket) = process.borrow(descriptor)? else { return Ok(()) };
        let Some(ends) = Ends::of(&socket) else {
            self.dismissed.insert(descriptor.inode);
            return Ok(());
        };
        if !ends.stands {
            // It listens, is being made, or ends.
            return Ok(());
        }
        if self.config.port.is_some_and(|port| !ends.ports().contains(&port)) {
            self.dismissed.insert(descriptor.inode);
            return Ok(());
        }
        let Some(earlier) = self.watch(descriptor.inode, &socket, now) else { return Ok(()) };
        let claim = match Claim::of(process, descriptor) {
            Ok(Some(claim)) => claim,
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
        let whose = Whose { process, descriptor, ends, claim };
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
    /// How a connection did without us: nothing of one that is new, and `None` while it is still watched.
    fn watch(&mut self, inode: u64, socket: &impl AsFd, now: Time) -> Option<Option<Earlier>> {
        let Ok(info) = TcpInfo::of(socket) else { return Some(None) };
        let received = info.stream_received();
        // What comes up later has a window of its own from the beginning.
        if received <= RUNNING || (self.looked && !self.watched.contains_key(&inode)) {
            return Some(None);
        }
        let (since, before) = *self.watched.entry(inode).or_insert((now, received));
        let span = now.since(since);
        if span < WATCH {
            return None;
        }
        self.watched.remove(&inode);
        Some(Some(Earlier::of(&info, Rate::of(received.saturating_sub(before), span))))
    }
}

/// That the process or one it started has a TCP socket, and one with the port.
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
