//! The capture of a simulated run: its TCP packets at one end of the path or at both, as pcapng.
//!
//! The simulator shows packets in the order of its events, which may be half of a base RTT behind their times. So they
//! wait here until no earlier one can come. The simulator's segments have numbers; here they get addresses, ports,
//! sequence numbers that begin at 0, options and checksums.

mod connection;

use crate::run::captured::{CaptureFile, CapturedEnds};
use crate::run::resolve::Resolved;
use capture::written::{Interface, SNAPSHOT, Writer};
use connection::{Connection, EPOCH_S, nanos};
use sim::{PacketView, PathEnd};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use units::{Complaint, Span, Time};

/// The interfaces, the sender's end first.
const INTERFACES: [Interface<'static>; 2] = [
    Interface { name: "sender", description: "the senders' end of the path, in front of the queue" },
    Interface { name: "receiver", description: "the receivers' end of the path, behind the queue" },
];

/// A capture under way.
pub(super) struct RunCapture {
    writer: Writer<BufWriter<File>>,
    ends: CapturedEnds,
    connections: Vec<Connection>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// The number of packets so far, which keeps the order of packets with equal times.
    packets: u64,
    /// The longest time for which a packet waits.
    longest: Span,
    failed: Option<io::Error>,
}

/// A packet that waits for its turn.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    nanos: u64,
    number: u64,
    interface: usize,
    original: u32,
    headers: Vec<u8>,
}

impl RunCapture {
    /// Creates the file for the packets of a run.
    pub(super) fn create(file: &CaptureFile, resolved: &Resolved) -> io::Result<Self> {
        let (ends, out) = (file.ends, BufWriter::with_capacity(1 << 20, File::create(&file.path)?));
        let application = concat!("tightlink ", env!("CARGO_PKG_VERSION"));
        let (title, hash) = (&resolved.title, &resolved.hash);
        let comment = format!("{title} (scenario {hash}, simulated); the run begins at {EPOCH_S} s");
        let connections: Vec<Connection> = (0..)
            .zip(resolved.connections())
            .map(|(index, flow)| {
                Connection::new(index, flow, index as usize >= resolved.flows.len(), resolved)
            })
            .collect();
        let longest = resolved.connections().map(|flow| flow.base_rtt).max().unwrap_or_default();
        let mut capture = Self {
            writer: Writer::new(out, application, &comment, ends.of(&INTERFACES))?,
            ends,
            connections,
            waiting: BinaryHeap::new(),
            packets: 0,
            longest,
            failed: None,
        };
        for (index, flow) in resolved.flows.iter().enumerate() {
            if !flow.handshake {
                capture.open(index, flow.start);
            }
        }
        Ok(capture)
    }

    /// Records that a user's connection begins at `at`.
    pub(super) fn connection(&mut self, at: Time, index: usize) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        if connection.renew() {
            self.open(index, at);
        }
    }

    /// Adds the handshake of a connection that the simulator begins at `start` without one. It takes the base RTT
    /// before that.
    fn open(&mut self, index: usize, start: Time) {
        for (end, nanos, content) in self.connections[index].handshake(nanos(start)) {
            let mut headers = Vec::with_capacity(SNAPSHOT);
            let original = content.headers(&mut headers);
            self.put(end, nanos, headers, original);
        }
    }

    /// Takes a packet at an event of the time `now`.
    pub(super) fn packet(&mut self, now: Time, packet: &PacketView) {
        let Some(connection) = self.connections.get_mut(packet.flow) else { return };
        let mut headers = Vec::with_capacity(SNAPSHOT);
        let original = connection.segment(packet).headers(&mut headers);
        self.put(packet.end, nanos(packet.at), headers, original);
        let settled = nanos(now).saturating_sub(self.longest.as_nanos());
        self.write_until(settled);
    }

    fn put(&mut self, end: PathEnd, nanos: u64, headers: Vec<u8>, original: u32) {
        let Some(interface) = self.ends.interface(end == PathEnd::Receiver) else { return };
        self.waiting.push(Reverse(Waiting { nanos, number: self.packets, interface, original, headers }));
        self.packets += 1;
    }

    /// Writes the packets before `settled`.
    fn write_until(&mut self, settled: u64) {
        while let Some(Reverse(first)) = self.waiting.peek()
            && first.nanos < settled
        {
            let Some(Reverse(Waiting { nanos, interface, original, headers, .. })) = self.waiting.pop()
            else {
                return;
            };
            if self.failed.is_none() {
                self.failed = self.writer.packet(interface, nanos, &headers, original).err();
            }
        }
    }

    /// Returns true if the file could not be written, so that the run need not go on.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes the packets that wait and ends the file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write_until(u64::MAX);
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(&[0; 2])?.into_inner().map_err(io::Error::from)?.sync_all(),
        }
    }
}

/// Returns the error of a capture that cannot be written.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Complaint {
    Complaint::new(path.display().to_string(), format!("cannot write the capture: {error}"))
        .help("choose another file with --pcap, or free some room")
}
