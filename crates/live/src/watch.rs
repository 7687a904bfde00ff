//! [`Watcher`]: readings of the TCP connections of a program, of a port, to a host, or of the whole namespace, as
//! evidence of what limits them.
//!
//! The readings come by netlink (`host::SockDiag`), so that no right to the program is needed. No socket is changed, and
//! none is kept open. A *scan* lists all connections, finds new ones and those that move data. A *round* reads the
//! busiest of these again every 20 ms. Scans walk the kernel's whole table, so the time between them is longer where
//! they cost more.
//!
//! Reading order: this file, `watch/owners.rs` (the connections of one program), `watch/connection.rs` (one connection),
//! `watch/side.rs` (one direction: intervals from readings), `watch/settings.rs` (the namespace's). Then `watch/memory.rs`
//! (the bound of all intervals), `watch/both_ends.rs` (connections whose ends are both seen), `watch/sockets.rs` (this
//! program's own connections), `watch/absence.rs` (sockets other than TCP's), `watch/error.rs`.

mod absence;
mod both_ends;
mod connection;
mod error;
mod memory;
mod owners;
mod settings;
mod side;
mod sockets;

use crate::process::Process;
pub use both_ends::learn;
use connection::Track;
pub use connection::WatchedConnection;
pub use error::{Instead, WatchError};
use estimate::diagnosis::HostSettings;
use host::clock::thread_cpu;
use host::{Clock, ConnectionId, SockDiag, TcpConnection};
use owners::{Owner, Owners};
pub use sockets::SocketWatch;
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
#[derive(Debug)]
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
    pub settings: HostSettings,
    /// The reason for which the watching ended early; `None` if nothing failed.
    pub cut_short: Option<WatchError>,
}

/// Readings of connections.
#[derive(Debug)]
pub struct Watcher {
    config: WatchConfig,
    whose: String,
    owners: Option<Owners>,
    diag: SockDiag,
    settings: HostSettings,
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
    /// [`WatchError::Process`], [`WatchError::OtherNamespace`], [`WatchError::Host`].
    pub fn begin(config: WatchConfig, clock: &Clock) -> Result<Self, WatchError> {
        let process = config.pid.map(Process::open).transpose()?;
        if let Some(process) = &process {
            process.descriptors()?;
            if process.is_elsewhere() == Some(true) {
                return Err(WatchError::OtherNamespace { pid: process.id(), name: process.name() });
            }
        }
        let whose = whose(&config, process.as_ref());
        let owners = process.map(|process| Owners::of(process, clock)).transpose()?;
        let now = clock.now();
        let mut watcher = Self {
            whose,
            config,
            owners,
            diag: SockDiag::open()?,
            settings: settings::read(),
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

    /// Makes the readings that are due. After an error [`Watcher::finish_early`] has the outcome so far.
    ///
    /// # Errors
    /// [`WatchError::Host`]; [`WatchError::Process`] if a right was lost meanwhile.
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
        self.owners.as_ref().is_some_and(|owners| !owners.process().is_alive()) && self.tracks.is_empty()
    }

    /// Returns the number of connections so far, and the payload that they moved.
    #[must_use]
    pub fn progress(&self) -> (usize, Bytes) {
        let open = self.tracks.values().map(|track| track.moved().0 + track.moved().1);
        let ended = self.ended.iter().map(WatchedConnection::moved);
        let moved = open.chain(ended).fold(self.forgotten.1, |sum, moved| sum + moved);
        (self.tracks.len() + self.ended.len() + self.forgotten.0 + self.idle, moved)
    }

    /// Makes the last readings and returns the outcome. If they fail, the outcome is that of the readings before.
    ///
    /// # Errors
    /// [`WatchError::NoConnection`], [`WatchError::NothingMoved`]; [`WatchError::Host`] if no reading has evidence.
    pub fn finish(mut self, clock: &Clock) -> Result<Watched, WatchError> {
        let failed = self.look_around(clock).err();
        self.conclude(clock, failed)
    }

    /// Returns the outcome so far, after [`Watcher::poll`] has failed with `error`.
    ///
    /// # Errors
    /// `error`, if no reading has evidence.
    pub fn finish_early(self, clock: &Clock, error: WatchError) -> Result<Watched, WatchError> {
        self.conclude(clock, Some(error))
    }

    fn conclude(mut self, clock: &Clock, cut_short: Option<WatchError>) -> Result<Watched, WatchError> {
        let time = clock.now().since(self.began);
        let settings = self.settings;
        let open = std::mem::take(&mut self.tracks).into_values();
        self.ended.extend(open.map(|track| track.end(self.began, &settings)));
        let idle = self.idle + self.ended.iter().filter(|connection| connection.evidence.is_empty()).count();
        let all = self.ended.len() + self.forgotten.0 + self.idle;
        let mut connections = self.ended;
        both_ends::merge(&mut connections);
        connections.sort_by_key(|connection| Reverse(connection.moved()));
        if let Some(error) = cut_short {
            if connections.is_empty() {
                return Err(error);
            }
            let (forgotten, cut_short) = (self.forgotten, Some(error));
            return Ok(Watched { connections, idle, forgotten, time, settings, cut_short });
        }
        let whose = self.whose;
        if all == 0 {
            let instead = match &self.owners {
                Some(owners) => absence::of_inodes(&owners.process().sockets()?),
                None => absence::of_port(self.config.port),
            };
            return Err(WatchError::NoConnection { whose, time, instead });
        }
        if connections.is_empty() {
            return Err(WatchError::NothingMoved { whose, connections: all, time });
        }
        Ok(Watched { connections, idle, forgotten: self.forgotten, time, settings, cut_short: None })
    }

    /// Lists all connections: finds new ones, those that have ended, and the busiest.
    fn look_around(&mut self, clock: &Clock) -> Result<(), WatchError> {
        let (config, owners, tracks) = (&self.config, &mut self.owners, &mut self.tracks);
        let mut seen = BTreeSet::new();
        self.diag.list(|connection| {
            let (cookie, at) = (connection.id.cookie(), clock.now());
            if let Some(track) = tracks.get_mut(&cookie) {
                seen.insert(cookie);
                track.observe(at, connection);
                return;
            }
            if !config.wants(&connection) {
                return;
            }
            let (connection, owner) = match owners {
                None => (connection, None),
                Some(owners) => match owners.judge(at, connection) {
                    Some((connection, owner)) => (connection, Some(owner)),
                    None => return,
                },
            };
            seen.insert(cookie);
            tracks.insert(cookie, Track::new(at, connection, owner));
        })?;
        let gone: Vec<u64> = self.tracks.keys().filter(|cookie| !seen.contains(cookie)).copied().collect();
        for cookie in gone {
            self.close(cookie);
        }
        if let Some(owners) = &mut self.owners {
            for (at, connection, owner) in owners.end_scan(clock)? {
                self.tracks.insert(connection.id.cookie(), Track::new(at, connection, Some(owner)));
            }
        }
        let ranks =
            self.tracks.iter_mut().filter_map(|(cookie, track)| Some((Reverse(track.count()?), *cookie)));
        let mut active: Vec<_> = ranks.collect();
        active.sort_unstable();
        let busiest = active.iter().take(MOST_READ).filter_map(|(_, cookie)| self.tracks.get(cookie));
        self.busiest = busiest.map(|track| track.id().clone()).collect();
        memory::bound(&mut self.tracks, &mut self.ended);
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
    settings: &HostSettings,
) -> Option<WatchedConnection> {
    let mut readings = readings.into_iter();
    let (began, first) = readings.next()?;
    let mut track = Track::new(began, first, None);
    readings.for_each(|(at, connection)| track.observe(at, connection));
    Some(track.end(began, settings))
}

impl WatchConfig {
    /// Returns true if a connection meets the conditions on its ends.
    fn wants(&self, connection: &TcpConnection) -> bool {
        self.port.is_none_or(|port| [connection.local.port(), connection.peer.port()].contains(&port))
            && (self.hosts.is_empty() || self.hosts.contains(&connection.peer.ip()))
    }
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
