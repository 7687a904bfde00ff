//! [`SocketWatch`]: readings of connections that this program has itself, as evidence of what limits them.

use super::connection::{Track, WatchedConnection};
use super::error::WatchError;
use super::settings;
use estimate::diagnosis::HostSettings;
use host::{Clock, SockDiag};
use std::net::SocketAddr;
use units::Time;

/// Readings of connections that this program has itself. Their owner decides when they are made.
#[derive(Debug)]
pub struct SocketWatch {
    diag: SockDiag,
    settings: HostSettings,
    tracks: Vec<Track>,
    began: Time,
}

impl SocketWatch {
    /// Makes the first readings of the connections with these ends: the local one and the peer's.
    ///
    /// # Errors
    /// [`WatchError::Host`] if the kernel does not list connections.
    pub fn begin(ends: &[(SocketAddr, SocketAddr)], clock: &Clock) -> Result<Self, WatchError> {
        let (mut diag, mut tracks) = (SockDiag::open()?, Vec::new());
        diag.list(|connection| {
            if ends.contains(&(connection.local, connection.peer)) {
                tracks.push(Track::new(clock.now(), connection, None));
            }
        })?;
        Ok(Self { diag, settings: settings::read(), tracks, began: clock.now() })
    }

    /// Makes a reading of each connection. A connection that has ended keeps its earlier ones.
    ///
    /// # Errors
    /// [`WatchError::Host`].
    pub fn read(&mut self, clock: &Clock) -> Result<(), WatchError> {
        let ids: Vec<_> = self.tracks.iter().map(|track| track.id().clone()).collect();
        let (ids, tracks) = (ids.iter().collect::<Vec<_>>(), &mut self.tracks);
        self.diag.read(&ids, |place, connection| {
            if let Some(connection) = connection {
                tracks[place].observe(clock.now(), connection);
            }
        })?;
        Ok(())
    }

    /// Returns the outcome for each connection.
    #[must_use]
    pub fn finish(self) -> Vec<WatchedConnection> {
        let Self { settings, tracks, began, .. } = self;
        tracks.into_iter().map(|track| track.end(began, &settings)).collect()
    }
}
