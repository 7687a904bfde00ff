//! Copies of the packets that pass a path, for a capture.
//!
//! The emulator's thread copies the beginning of each packet as it is read and as it is delivered. It hands the copies
//! on in batches and never waits: a batch that finds no room is counted and forgotten. Another thread gives them to a
//! [`PacketSink`].

use crate::EmuError;
use crate::segment::{fold, sum};
use crate::vnet::{NEEDS_CSUM, VNET_LEN, VnetHeader};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use units::{Span, Time};

/// The most bytes of a packet that are copied.
pub const COPIED: usize = 128;
/// The packets of a batch, and the batches that may wait: 10 MB in all.
const BATCH: usize = 256;
const BATCHES: usize = 256;
/// The longest time for which a batch is filled.
const FILLS: Span = Span::from_millis(100);

/// The beginning of a packet that passed an end of the path.
#[derive(Clone, Debug)]
pub struct CopiedPacket {
    /// The time, nanoseconds since 1970. It follows the path's time, which stands still with the machine.
    pub nanos: u64,
    /// True at the far end, where packets of the sender come out.
    pub far: bool,
    /// The packet's length on the wire, from its IP header on.
    pub length: u32,
    kept: usize,
    bytes: [u8; COPIED],
}

impl CopiedPacket {
    /// Returns the beginning of the packet, from its IP header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.kept]
    }
}

/// An object that takes copies, in a thread of its own.
pub trait PacketSink: Send {
    /// Takes a copy. The copies of one end are in order of time; those of both ends almost.
    ///
    /// # Errors
    /// If it cannot take more; the following copies are discarded.
    fn packet(&mut self, packet: &CopiedPacket) -> io::Result<()>;

    /// Returns true if it wants the packets at this end, the far one if `far`. The tap reads it once for each end,
    /// before the run.
    fn takes(&self, _far: bool) -> bool {
        true
    }

    /// Takes the number of packets at the near and at the far end that were not copied, because the thread was too slow.
    /// Called once, at the end.
    ///
    /// # Errors
    /// If the copies could not be kept.
    fn finish(self: Box<Self>, missed: [u64; 2]) -> io::Result<()>;
}

/// The emulator's side of a tap.
#[derive(Debug)]
pub(crate) struct Tap {
    batch: Vec<CopiedPacket>,
    batches: SyncSender<Vec<CopiedPacket>>,
    missed: Arc<[AtomicU64; 2]>,
    /// True for the near and for the far end if its packets are copied.
    taken: [bool; 2],
    /// The path's time zero, nanoseconds since 1970.
    epoch: u64,
    /// The time of the first copy of the batch.
    begun: Time,
    /// The time and the end of the deliveries under way.
    delivers: (Time, bool),
}

/// The thread of a tap.
#[derive(Debug)]
pub struct TapThread {
    thread: JoinHandle<io::Result<()>>,
    missed: Arc<[AtomicU64; 2]>,
}

impl TapThread {
    /// Waits until all copies are with the sink. Returns the number of packets that were not copied. The path must have
    /// ended.
    ///
    /// # Errors
    /// Returns the sink's error.
    pub fn join(self) -> io::Result<u64> {
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread is gone")))?;
        Ok(self.missed.iter().map(|missed| missed.load(Ordering::Relaxed)).sum())
    }
}

impl Tap {
    /// Starts the thread that hands copies to `sink`; `epoch` is the path's time zero, nanoseconds since 1970.
    pub(crate) fn start(sink: Box<dyn PacketSink>, epoch: u64) -> Result<(Self, TapThread), EmuError> {
        let (batches, copies) = sync_channel(BATCHES);
        let missed = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let counted = Arc::clone(&missed);
        let taken = [false, true].map(|far| sink.takes(far));
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || write(&copies, sink, &counted))
            .map_err(|error| EmuError::os("starting the thread of the capture", error))?;
        let tap = Self {
            batch: Vec::with_capacity(BATCH),
            batches,
            missed: Arc::clone(&missed),
            taken,
            epoch,
            begun: Time::ZERO,
            delivers: (Time::ZERO, false),
        };
        Ok((tap, TapThread { thread, missed }))
    }

    /// Notes the time and the end of the deliveries that follow.
    pub(crate) fn delivers(&mut self, now: Time, far: bool) {
        self.delivers = (now, far);
        if !self.batch.is_empty() && now >= self.begun + FILLS {
            self.hand_over();
        }
    }

    /// Copies a packet that is being delivered; `head` and `rest` together are its virtio header and the packet.
    pub(crate) fn delivered(&mut self, head: &[u8], rest: &[u8]) {
        let (now, far) = self.delivers;
        self.copy(now, far, head, rest);
    }

    /// Copies a packet that passed an end at `now`, if the sink takes those of this end.
    pub(crate) fn copy(&mut self, now: Time, far: bool, head: &[u8], rest: &[u8]) {
        if !self.taken[usize::from(far)] {
            return;
        }
        let nanos = self.epoch + now.since(Time::ZERO).as_nanos();
        let length = (head.len() + rest.len()).saturating_sub(VNET_LEN);
        let mut frame = [0; VNET_LEN + COPIED];
        let front = head.len().min(frame.len());
        frame[..front].copy_from_slice(&head[..front]);
        let more = rest.len().min(frame.len() - front);
        frame[front..front + more].copy_from_slice(&rest[..more]);
        let kept = length.min(COPIED);
        let mut bytes = [0; COPIED];
        bytes.copy_from_slice(&frame[VNET_LEN..]);
        let vnet = VnetHeader::read(frame.first_chunk().unwrap_or(&[0; VNET_LEN]));
        if vnet.flags & NEEDS_CSUM != 0 {
            let start = VNET_LEN + usize::from(vnet.csum_start);
            let checksum = checksum(head, rest, start);
            let at = usize::from(vnet.csum_start) + usize::from(vnet.csum_offset);
            if let Some(field) = bytes.get_mut(at..at + 2) {
                field.copy_from_slice(&checksum.to_be_bytes());
            }
        }
        if self.batch.is_empty() {
            self.begun = now;
        }
        self.batch.push(CopiedPacket { nanos, far, length: length as u32, kept, bytes });
        if self.batch.len() == BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Err(refused) = self.batches.try_send(batch) {
            let (std::sync::mpsc::TrySendError::Full(batch)
            | std::sync::mpsc::TrySendError::Disconnected(batch)) = refused;
            for packet in &batch {
                self.missed[usize::from(packet.far)].fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // Sending fails if the thread has ended, whose error is reported when it is joined.
        let _ = self.batches.send(std::mem::take(&mut self.batch));
    }
}

/// Returns the checksum of the bytes from `start` on, of `head` and `rest` together. The field holds the sum of the
/// pseudo-header.
fn checksum(head: &[u8], rest: &[u8], start: usize) -> u16 {
    let first = head.get(start..).unwrap_or_default();
    let second = rest.get(start.saturating_sub(head.len())..).unwrap_or_default();
    let mut later = u32::from(fold(sum(second)));
    if !first.len().is_multiple_of(2) {
        later = u32::from((later as u16).swap_bytes());
    }
    // RFC 768: a sum of zero is sent as all ones, which TCP takes for the same.
    match !fold(sum(first) + later) {
        0 => u16::MAX,
        sum => sum,
    }
}

/// Hands copies to `sink` until the path has ended.
fn write(
    copies: &Receiver<Vec<CopiedPacket>>,
    mut sink: Box<dyn PacketSink>,
    missed: &[AtomicU64; 2],
) -> io::Result<()> {
    for batch in copies {
        for packet in &batch {
            sink.packet(packet)?;
        }
    }
    sink.finish([&missed[0], &missed[1]].map(|missed| missed.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_where_the_packet_is_cut() {
        let packet: Vec<u8> = (0..101u8).map(|byte| byte.wrapping_mul(37)).collect();
        let whole = checksum(&[], &packet, 20);
        for cut in [0, 20, 21, 40, 63, 101] {
            assert_eq!(checksum(&packet[..cut], &packet[cut..], 20), whole, "cut at {cut}");
        }
        assert_eq!(checksum(&[0, 1, 0xff, 0xfe], &[], 0), u16::MAX);
    }
}
