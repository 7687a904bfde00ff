//! [`restore`]: gives the windows that a killed tuner has left limited back to the kernel.

use super::TAKEN;
use super::connection::{Ends, UNLIMITED, set_room};
use super::error::TuneError;
use super::lock::ConnectionLock;
use crate::error::LiveError;
use crate::process::{Process, ProcessError};
use host::TcpInfo;
use host::options::{self, RECEIVE_LOCK};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use units::{Bytes, Complaint, Foreign};

/// The largest buffer where the setting cannot be read: Linux's default on a machine with enough memory.
const LARGEST_BUFFER: Bytes = Bytes::new(6 << 20);

/// The limits of a connection's receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimits {
    /// `TCP_WINDOW_CLAMP`.
    pub clamp: Bytes,
    /// The receive buffer.
    pub buffer: Bytes,
    /// True if the kernel sizes the buffer by itself; `None`: this kernel does not report it.
    pub autotuned: Option<bool>,
}

impl WindowLimits {
    fn of(socket: &impl AsFd) -> Result<Self, LiveError> {
        Ok(Self {
            clamp: options::window_clamp(socket)?,
            buffer: options::receive_buffer(socket)?,
            autotuned: options::buffer_lock(socket).ok().map(|lock| lock & RECEIVE_LOCK == 0),
        })
    }
}

/// A connection that was given back, or could not be.
#[derive(Debug)]
pub struct ReturnedConnection {
    ends: Ends,
    pid: u32,
    program: String,
    /// The limits before and after, or the failure.
    outcome: Result<(WindowLimits, WindowLimits), LiveError>,
}

impl ReturnedConnection {
    /// Returns the process that has the connection, and the program's name as data: show it as [`Foreign`].
    #[must_use]
    pub fn process(&self) -> (u32, &str) {
        (self.pid, &self.program)
    }

    /// Returns the end at the program, and the other end.
    #[must_use]
    pub fn ends(&self) -> (SocketAddr, Option<SocketAddr>) {
        self.ends.addresses()
    }

    /// Returns its limits as they were found and as they are now.
    ///
    /// # Errors
    /// The reason why it could not be given back.
    pub const fn limits(&self) -> Result<(WindowLimits, WindowLimits), &LiveError> {
        match &self.outcome {
            Ok(limits) => Ok(*limits),
            Err(error) => Err(error),
        }
    }

    /// Returns a text about what the kernel still does not control; `None` if it controls the buffer again.
    #[must_use]
    pub fn left(&self) -> Option<String> {
        let (_, now) = *self.outcome.as_ref().ok()?;
        (now.autotuned != Some(true)).then(|| super::connection::autotuning_stays_off(now.buffer))
    }
}

impl fmt::Display for ReturnedConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (process {}, {})", self.ends, self.pid, Foreign::new(&self.program))
    }
}

/// Gives receive windows back to the kernel: those of every TCP connection of the process `pid` and of its child
/// processes. With `port`, only connections that have it at either end. The former limits need not be known. A limit
/// that the program set itself is lifted too, because it looks the same as one that a tuner has left.
///
/// # Errors
/// [`TuneError::Process`], [`TuneError::NoSocket`], [`TuneError::NoPort`].
pub fn restore(pid: u32, port: Option<u16>) -> Result<Vec<ReturnedConnection>, TuneError> {
    let root = Process::open(pid)?;
    super::check(&root, port)?;
    let (mut seen, mut given_back) = (BTreeSet::new(), Vec::new());
    for process in root.family() {
        let descriptors = match process.descriptors() {
            Ok(descriptors) => descriptors,
            // This process has ended meanwhile.
            Err(ProcessError::NoProcess { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        for descriptor in descriptors {
            if seen.contains(&descriptor.inode) {
                continue;
            }
            let Some(socket) = process.borrow(descriptor)? else { continue };
            seen.insert(descriptor.inode);
            let Some(ends) = Ends::of(&socket).filter(|ends| ends.stands) else { continue };
            if port.is_none_or(|port| ends.ports().contains(&port)) {
                // A connection that another tuner has is left alone, because that tuner would limit it again.
                let outcome = match ConnectionLock::of(&process, descriptor) {
                    Ok(None) => Err(LiveError::Config(Complaint::new(
                        "",
                        format!("{TAKEN}: end that, which gives it back"),
                    ))),
                    _claim => give_back(&socket),
                };
                given_back.push(ReturnedConnection {
                    ends,
                    pid: process.id(),
                    program: process.name(),
                    outcome,
                });
            }
        }
    }
    Ok(given_back)
}

fn give_back(socket: &impl AsFd) -> Result<(WindowLimits, WindowLimits), LiveError> {
    let before = WindowLimits::of(socket)?;
    if before.autotuned == Some(false) {
        // The buffer becomes as large as autotuning may make it. It is not smaller than the sender's promised window
        // needs, or the kernel would discard data. Autotuning does not enlarge a smaller buffer: it waits for more data
        // in a round trip than ever before, which a small window does not admit.
        let promised = TcpInfo::of(socket)?.rcv_wnd.unwrap_or(before.buffer / 2);
        let room = (largest_buffer() / 2).max(promised);
        if room * 2 < before.buffer {
            set_room(socket, room)?;
        }
        let lock = options::buffer_lock(socket)?;
        options::set_buffer_lock(socket, lock & !RECEIVE_LOCK)?;
    }
    // The limit is lifted here, because autotuning raises it only together with the buffer, which may be large enough
    // already.
    options::set_window_clamp(socket, UNLIMITED)?;
    Ok((before, WindowLimits::of(socket)?))
}

/// Reads the largest receive buffer of autotuning: the third number of `net.ipv4.tcp_rmem`.
fn largest_buffer() -> Bytes {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_rmem").unwrap_or_default();
    let largest = text.split_whitespace().nth(2).and_then(|number| number.parse().ok());
    largest.map_or(LARGEST_BUFFER, Bytes::new)
}
