//! [`Watcher`]: readings of the TCP connections of a program, of a port, to a host, or of the whole namespace, as
//! evidence of what limits them.
//!
//! The readings come by netlink (`host::SockDiag`), so that no right to the program is needed. No socket is changed, and
//! none is kept open. A *scan* lists all connections, finds new ones and those that move data. A *round* reads the
//! busiest of these again every 20 ms. Scans walk the kernel's whole table, so the time between them is longer where
//! they cost more.
//!
//! Reading order: this file, `watch/connection.rs` (one connection), `watch/side.rs` (one direction: intervals from
//! readings), `watch/settings.rs` (the namespace's),
//! `watch/both_ends.rs` (connections whose ends are both seen), `watch/sockets.rs` (this program's own connections),
//! `watch/absence.rs` (sockets other than TCP's), `watch/error.rs`.

mod absence;
mod both_ends;
mod connection;
mod error;
mod settings;
mod side;
mod sockets;

pub use both_ends::learn;
pub use connection::WatchedConnection;
pub use error::{Instead, WatchError};
pub use settings::ReceiveSettings;
pub use sockets::SocketWatch;

use crate::process::Process;
use connection::Track;
use host::clock::thread_cpu;
use host::{Clock, ConnectionId, SockDiag, TcpConnection};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use units::{Bytes, Foreign, Span, Time};

/// The time between two readings of a connection.
pub const USUAL_INTERVAL: Span = Span::from_millis(20);
/// The least time between two scans.
const SCAN_INTERVAL: Span = Span::from_millis(240);
/// The least time between two scans, in lengths of the last one: scans take at most 1/400 of a processor.
const SCAN_SHARE: u64 = 400;
/// The most connections that are read in every round. The others are read in every scan.
const MOST_READ: usize = 32;
/// The most intervals in memory: about 100 MB.
const MOST_INTERVALS: usize = 300_000;
/// The most connections that have ended and are kept; beyond twice this number those with the least data go.
const MOST_ENDED: usize = 1000;

/// The connections to watch. All conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchConfig {
    /// The process that has the connection, or started the process that has it.
    pub pid: Option<u32>,
    /// The port at either end.
    pub port: Option<u16>,
    /// The addresses of the other end; any if empty.
    pub hosts: Vec<IpAddr>,
}

/// The outcome of watching.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The connections that moved data, or had data that waited; those with most data first.
    pub connections: Vec<WatchedConnection>,
    /// The number of connections that moved nothing.
    pub idle: usize,
    /// The number of connections that ended, had little data and are not among `connections`, and their data.
    pub forgotten: (usize, Bytes),
    /// The time of watching.
    pub time: Span,
    /// The settings of the namespace.
    pub settings: ReceiveSettings,
}

/// Readings of connections.
#[derive(Debug)]
pub struct Watcher {
    config: WatchConfig,
    whose: String,
    process: Option<Process>,
    diag: SockDiag,
    settings: ReceiveSettings,
    tracks: BTreeMap<u64, Track>,
    /// The connections that have ended, and that moved data.
    ended: Vec<WatchedConnection>,
    /// The number of those that have ended, and that moved nothing.
    idle: usize,
    forgotten: (usize, Bytes),
    /// The connections of each round.
    busiest: Vec<ConnectionId>,
    began: Time,
    round: Time,
    scan: Time,
}

impl Watcher {
    /// Makes the first readings.
    ///
    /// # Errors
    /// [`WatchError::NoProcess`], [`WatchError::NotPermitted`], [`WatchError::Hidden`],
    /// [`WatchError::OtherNamespace`], [`WatchError::Host`].
    pub fn begin(config: WatchConfig, clock: &Clock) -> Result<Self, WatchError> {
        let process = config.pid.map(Process::open).transpose()?;
        if let Some(process) = &process {
            process.descriptors()?;
            if process.is_elsewhere() == Some(true) {
                return Err(WatchError::OtherNamespace { pid: process.id(), name: process.name() });
            }
        }
        let now = clock.now();
        let mut watcher = Self {
            whose: whose(&config, process.as_ref()),
            config,
            process,
            diag: SockDiag::open()?,
            settings: ReceiveSettings::read(),
            tracks: BTreeMap::new(),
            ended: Vec::new(),
            idle: 0,
            forgotten: (0, Bytes::ZERO),
            busiest: Vec::new(),
            began: now,
            round: now,
            scan: now,
        };
        watcher.poll(clock)?;
        Ok(watcher)
    }

    /// Makes the readings that are due.
    ///
    /// # Errors
    /// [`WatchError::Host`].
    pub fn poll(&mut self, clock: &Clock) -> Result<(), WatchError> {
        let now = clock.now();
        if now < self.wakeup() {
            return Ok(());
        }
        if now >= self.scan {
            let before = thread_cpu();
            self.look_around(clock)?;
            let took = thread_cpu().saturating_sub(before);
            self.scan = now + SCAN_INTERVAL.max(took * SCAN_SHARE);
        } else {
            self.read(clock)?;
        }
        // A round that is late does not shorten the next one by more than a half.
        self.round = (self.round + USUAL_INTERVAL).max(now + USUAL_INTERVAL.scale(0.5));
        Ok(())
    }

    /// Returns the time of the next reading.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        // A scan takes the place of a round, so that all intervals have the same length.
        if self.busiest.is_empty() { self.scan } else { self.round }
    }

    /// Returns true if the program has ended, and with it its connections.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !process.is_alive()) && self.tracks.is_empty()
    }

    /// Returns the number of connections so far, and the payload that they moved.
    #[must_use]
    pub fn progress(&self) -> (usize, Bytes) {
        let open = self.tracks.values().map(|track| track.moved().0 + track.moved().1);
        let ended = self.ended.iter().map(WatchedConnection::moved);
        let moved = open.chain(ended).fold(self.forgotten.1, |sum, moved| sum + moved);
        (self.tracks.len() + self.ended.len() + self.forgotten.0 + self.idle, moved)
    }

    /// Makes the last readings and returns the outcome.
    ///
    /// # Errors
    /// [`WatchError::NoConnection`], [`WatchError::NothingMoved`]; [`WatchError::Host`].
    pub fn finish(mut self, clock: &Clock) -> Result<Watched, WatchError> {
        self.look_around(clock)?;
        let time = clock.now().since(self.began);
        let settings = self.settings;
        let open = std::mem::take(&mut self.tracks).into_values();
        self.ended.extend(open.map(|track| track.end(self.began, &settings)));
        let idle = self.idle + self.ended.iter().filter(|connection| connection.evidence.is_empty()).count();
        let all = self.ended.len() + self.forgotten.0 + self.idle;
        let mut connections = self.ended;
        both_ends::merge(&mut connections);
        connections.sort_by_key(|connection| Reverse(connection.moved()));
        let whose = self.whose;
        if all == 0 {
            let instead = match &self.process {
                Some(process) => absence::of_inodes(&inodes(process)?),
                None => absence::of_port(self.config.port),
            };
            return Err(WatchError::NoConnection { whose, time, instead });
        }
        if connections.is_empty() {
            return Err(WatchError::NothingMoved { whose, connections: all, time });
        }
        Ok(Watched { connections, idle, forgotten: self.forgotten, time, settings })
    }

    /// Lists all connections: finds new ones, those that have ended, and the busiest.
    fn look_around(&mut self, clock: &Clock) -> Result<(), WatchError> {
        let inodes = match &self.process {
            Some(process) => Some(inodes(process)?),
            None => None,
        };
        let (config, tracks) = (&self.config, &mut self.tracks);
        let mut seen = BTreeSet::new();
        self.diag.list(|connection| {
            let cookie = connection.id.cookie();
            if let Some(track) = tracks.get_mut(&cookie) {
                seen.insert(cookie);
                track.observe(clock.now(), connection);
            } else if config.wants(&connection, inodes.as_ref()) {
                seen.insert(cookie);
                tracks.insert(cookie, Track::new(clock.now(), connection));
            }
        })?;
        let gone: Vec<u64> = self.tracks.keys().filter(|cookie| !seen.contains(cookie)).copied().collect();
        for cookie in gone {
            self.close(cookie);
        }
        let ranks =
            self.tracks.iter_mut().filter_map(|(cookie, track)| Some((Reverse(track.count()?), *cookie)));
        let mut active: Vec<_> = ranks.collect();
        active.sort_unstable();
        let busiest = active.iter().take(MOST_READ).filter_map(|(_, cookie)| self.tracks.get(cookie));
        self.busiest = busiest.map(|track| track.id().clone()).collect();
        if self.tracks.values().map(Track::len).sum::<usize>() > MOST_INTERVALS {
            self.tracks.values_mut().for_each(Track::halve);
        }
        Ok(())
    }

    /// Reads the busiest connections.
    fn read(&mut self, clock: &Clock) -> Result<(), WatchError> {
        let ids: Vec<&ConnectionId> = self.busiest.iter().collect();
        let (mut closed, tracks) = (Vec::new(), &mut self.tracks);
        self.diag.read(&ids, |place, connection| {
            let cookie = ids[place].cookie();
            match (connection, tracks.get_mut(&cookie)) {
                (Some(connection), Some(track)) => track.observe(clock.now(), connection),
                (None, _) => closed.push(cookie),
                _ => {}
            }
        })?;
        for cookie in closed {
            self.busiest.retain(|id| id.cookie() != cookie);
            self.close(cookie);
        }
        Ok(())
    }

    /// Ends the watching of a connection that has ended.
    fn close(&mut self, cookie: u64) {
        let Some(mut track) = self.tracks.remove(&cookie) else { return };
        track.closed = true;
        let connection = track.end(self.began, &self.settings);
        if connection.evidence.is_empty() {
            self.idle += 1;
            return;
        }
        self.ended.push(connection);
        if self.ended.len() > 2 * MOST_ENDED {
            self.ended.sort_by_key(|connection| Reverse(connection.moved()));
            for connection in self.ended.drain(MOST_ENDED..) {
                self.forgotten.0 += 1;
                self.forgotten.1 += connection.moved();
            }
        }
    }
}

/// Makes the outcome for one connection from readings that were made earlier, each with its time; `None` without any.
#[must_use]
pub fn replay(
    readings: impl IntoIterator<Item = (Time, TcpConnection)>,
    settings: &ReceiveSettings,
) -> Option<WatchedConnection> {
    let mut readings = readings.into_iter();
    let (began, first) = readings.next()?;
    let mut track = Track::new(began, first);
    readings.for_each(|(at, connection)| track.observe(at, connection));
    Some(track.end(began, settings))
}

impl WatchConfig {
    /// Returns true if a connection meets all conditions; `inodes` has the sockets of the process.
    fn wants(&self, connection: &TcpConnection, inodes: Option<&BTreeSet<u64>>) -> bool {
        inodes.is_none_or(|inodes| inodes.contains(&connection.inode))
            && self.port.is_none_or(|port| [connection.local.port(), connection.peer.port()].contains(&port))
            && (self.hosts.is_empty() || self.hosts.contains(&connection.peer.ip()))
    }
}

/// Lists the inodes of the sockets of a process and of those that it started.
fn inodes(process: &Process) -> Result<BTreeSet<u64>, WatchError> {
    let mut inodes = BTreeSet::new();
    for (place, member) in process.family().into_iter().enumerate() {
        match member.descriptors() {
            Ok(descriptors) => inodes.extend(descriptors.iter().map(|descriptor| descriptor.inode)),
            // The program may end, and its children may belong to other users. A program that has ended and is not
            // collected yet refuses its descriptors to everybody.
            Err(_) if place > 0 || !process.is_alive() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(inodes)
}

/// Returns the request in words: "process 4711 (curl), port 443".
fn whose(config: &WatchConfig, process: Option<&Process>) -> String {
    let process =
        process.map(|process| format!("process {} ({})", process.id(), Foreign::new(&process.name())));
    let port = config.port.map(|port| format!("port {port}"));
    let hosts: Vec<String> = config.hosts.iter().map(ToString::to_string).collect();
    let hosts = (!hosts.is_empty()).then(|| format!("host {}", hosts.join(" or ")));
    let parts: Vec<String> = [process, port, hosts].into_iter().flatten().collect();
    if parts.is_empty() { "this network namespace".into() } else { parts.join(", ") }
}
