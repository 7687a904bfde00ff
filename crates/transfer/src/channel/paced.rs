//! [`Paced`]: a socket that accepts data no faster than a pace allows.

use crate::lock::locked;
use host::{Clock, Pace};
use std::io::{self, IoSlice, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use units::Time;

/// The writing end of a socket.
#[derive(Debug)]
pub(super) struct Paced<'a> {
    tcp: &'a TcpStream,
    pace: &'a Mutex<Pace>,
    clock: Clock,
    next: Option<Time>,
}

impl<'a> Paced<'a> {
    pub(super) const fn new(tcp: &'a TcpStream, pace: &'a Mutex<Pace>, clock: Clock) -> Self {
        Self { tcp, pace, clock, next: None }
    }

    /// Returns the time until which the pace accepts nothing, if the last write failed because of the pace.
    pub(super) const fn next(&self) -> Option<Time> {
        self.next
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut pace = locked(self.pace);
        if !pace.is_on() {
            drop(pace);
            return self.tcp.write_vectored(parts);
        }
        let now = self.clock.now();
        let room = pace.room(now);
        if room == 0 {
            self.next = Some(pace.due());
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if pace.is_full(self.tcp).map_err(io::Error::other)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let first = parts.iter().find(|part| !part.is_empty()).map_or(&[][..], |part| part);
        let written = self.tcp.write(&first[..first.len().min(room)])?;
        pace.wrote(now, written, false);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
