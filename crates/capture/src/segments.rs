//! Super-packets, taken apart into the segments that a link carries.
//!
//! With segmentation offload, a sender's capture has packets of up to 64 kB, because the card cuts them later. With
//! receive offload, a receiver's capture has such packets, too. No link carries them. Their segments follow the rule of
//! `emulate` (crates/emu/src/segment.rs): the payload is cut into equal parts but for the last, and each has headers of
//! its own. All arrive at once, and each meets the queue on its own.
//!
//! The capture does not state how large a segment is. The size is taken from the largest segment that a SYN announces,
//! from the full packets that were captured whole, or from 1500 bytes, whichever divides the most super-packets evenly.

use crate::error::{Place, TraceError};
use crate::order::PendingPacket;
use crate::packet::{Kind, Packet};
use link::traffic::Trace;

/// The size of a full packet on most links (RFC 894).
const FULL: u32 = 1500;
/// The size above which packets are super-packets, unless the capture has jumbo frames. A super-packet of two segments
/// is usually larger. Full packets are not, even if their length includes tags or the link layer's header.
const ORDINARY: u32 = 1600;
/// The sizes of jumbo frames: no link in use carries more, and few carry less.
const JUMBO: std::ops::RangeInclusive<u32> = 8000..=9216;
/// The most packets of a trace, which take 600 MB of memory.
pub const MOST_PACKETS: u64 = 100_000_000;
/// The most super-packets of a trace, which take four times the memory of others until they are taken apart.
const MOST_LARGE: usize = 20_000_000;
/// The largest super-packet: half a megabyte with BIG TCP, and headers.
pub(crate) const LARGEST: u32 = 1 << 20;
/// The least segment that a host must accept (RFC 9293, 3.7.1).
const LEAST_SEGMENT: u32 = 536;

/// A packet that may have to be taken apart.
#[derive(Clone, Copy, Debug)]
struct SuperPacket {
    /// Its place in the trace, which has a packet of zero bytes there.
    at: usize,
    size: u32,
    headers: u16,
    kind: Kind,
}

/// A trace that is being built.
#[derive(Debug)]
pub(crate) struct Segments {
    trace: Trace,
    last: Option<u64>,
    large: Vec<SuperPacket>,
    /// The number of TCP packets, and of UDP packets, of ordinary size for each length of payload.
    payloads: [Vec<u64>; 2],
    /// The least of the largest segments that SYNs announced; TCP's options are included.
    announced: Option<u32>,
    /// The least number of packets that the trace will have.
    packets: u64,
}

impl Default for Segments {
    fn default() -> Self {
        let payloads = [vec![0; ORDINARY as usize + 1], vec![0; ORDINARY as usize + 1]];
        Self { trace: Trace::default(), last: None, large: Vec::new(), payloads, announced: None, packets: 0 }
    }
}

impl Segments {
    /// Takes note of the largest segment that a packet announces.
    pub(crate) fn see(&mut self, packet: &Packet) {
        let Some(size) = packet.largest_segment.map(u32::from) else { return };
        if (LEAST_SEGMENT..=*JUMBO.end()).contains(&size) {
            self.announced = Some(self.announced.map_or(size, |known| known.min(size)));
        }
    }

    /// Adds the next packet.
    ///
    /// # Errors
    /// If there are too many packets.
    pub(crate) fn push(&mut self, packet: &PendingPacket) -> Result<(), TraceError> {
        let gap = packet.nanos - self.last.unwrap_or(packet.nanos);
        self.last = Some(packet.nanos);
        let PendingPacket { size, headers, kind, .. } = *packet;
        if size > ORDINARY {
            if self.large.len() == MOST_LARGE {
                let found = format!("more than {} million super-packets", MOST_LARGE / 1_000_000);
                return Err(TraceError::new(Place::Whole, found, "a trace of at most so many")
                    .help("take a part of it: editcap -r IN OUT 1-1000000"));
            }
            self.large.push(SuperPacket { at: self.trace.len(), size, headers, kind });
            self.trace.push(gap, 0);
            self.packets += u64::from(size / JUMBO.end());
        } else {
            if let Some(counts) = self.payloads_of(kind) {
                counts[(size.saturating_sub(headers.into())) as usize] += 1;
            }
            self.trace.push(gap, size as u16);
        }
        self.packets += 1;
        self.within(self.packets)
    }

    fn within(&self, packets: u64) -> Result<(), TraceError> {
        if packets <= MOST_PACKETS {
            return Ok(());
        }
        let found = format!("more than {} million packets", MOST_PACKETS / 1_000_000);
        Err(TraceError::new(Place::Whole, found, "a trace of at most so many, which take 600 MB")
            .help("take a part of it: editcap -r IN OUT 1-1000000"))
    }

    fn payloads_of(&mut self, kind: Kind) -> Option<&mut Vec<u64>> {
        match kind {
            Kind::Tcp => Some(&mut self.payloads[0]),
            Kind::Udp => Some(&mut self.payloads[1]),
            Kind::Other => None,
        }
    }

    /// Returns the whole trace, its super-packets taken apart, and a note on them.
    ///
    /// # Errors
    /// If there are too many segments.
    pub(crate) fn finish(self) -> Result<(Trace, Option<String>), TraceError> {
        let jumbo = self.jumbo();
        let largest = jumbo.unwrap_or(ORDINARY);
        if self.large.is_empty() {
            return Ok((self.trace, None));
        }
        let (tcp, udp) = (self.segment(Kind::Tcp, jumbo), self.segment(Kind::Udp, jumbo));
        let cut = SegmentSizes { tcp, udp, full: jumbo.unwrap_or(FULL) };
        let (mut whole, mut large) = (Trace::default(), self.large.iter().peekable());
        let (mut supers, mut segments, mut most) = (0u64, 0u64, 0);
        for (at, (gap, size)) in self.trace.packets().enumerate() {
            let Some(packet) = large.next_if(|packet| packet.at == at) else {
                whole.push(gap, size);
                continue;
            };
            if packet.size <= largest {
                whole.push(gap, packet.size as u16);
                continue;
            }
            supers += 1;
            for (index, size) in cut.sizes(packet).enumerate() {
                segments += 1;
                most = most.max(size);
                whole.push(if index == 0 { gap } else { 0 }, size);
            }
            self.within(whole.len() as u64)?;
        }
        let note = (supers > 0).then(|| {
            let packets = self.trace.len();
            format!(
                "{supers} of {packets} packets are larger than a link carries: captured before segmentation (TSO, GSO) \
                 or after it (GRO). They are taken apart into {segments} segments of up to {most} bytes"
            )
        });
        Ok((whole, note))
    }

    /// Returns the size of the full packets, if they are jumbo frames. They are jumbo frames if a SYN announces such
    /// segments, or if most large packets have one size that is not a multiple of a common segment.
    fn jumbo(&self) -> Option<u32> {
        if let Some(announced) = self.announced.filter(|size| *size > FULL) {
            return Some(announced + 60);
        }
        let largest =
            self.large.iter().map(|packet| packet.size).max().filter(|size| JUMBO.contains(size))?;
        let alike = self.large.iter().filter(|packet| packet.size == largest);
        let headers = alike.clone().next()?.headers;
        let segments = [Kind::Tcp, Kind::Udp].map(|kind| self.segment(kind, None));
        let payload = largest.saturating_sub(headers.into());
        let cut =
            headers > 0 && segments.into_iter().flatten().any(|segment| payload.is_multiple_of(segment));
        (alike.count() * 2 > self.large.len() && !cut).then_some(largest)
    }

    /// Finds the payload of a full segment of TCP or UDP: the candidate that divides the most super-packets evenly, and
    /// the first of several equal candidates.
    fn segment(&self, kind: Kind, jumbo: Option<u32>) -> Option<u32> {
        let large = || self.large.iter().filter(|packet| packet.kind == kind && packet.headers > 0);
        let headers = u32::from(large().map(|packet| packet.headers).max().unwrap_or(52));
        let counts = &self.payloads[usize::from(kind == Kind::Udp)];
        let largest = |least: u64| {
            let full = (1..counts.len()).rev().find(|payload| counts[*payload] >= least)?;
            Some(full as u32).filter(|payload| *payload >= LEAST_SEGMENT)
        };
        // An announced size leaves out the options, which count here (RFC 9293, 3.7.1). IPv6 has 20 bytes more.
        let without_options = if headers < 60 { 40 } else { 60 };
        let announced = self.announced.filter(|_| kind == Kind::Tcp);
        let announced = announced.map(|size| (size + without_options).saturating_sub(headers));
        let usual = jumbo.unwrap_or(FULL).checked_sub(headers)?;
        // A size that only one packet has is the last candidate, because it may be the rest of a burst.
        let candidates = [announced, largest(2), Some(usual), largest(1)];
        let candidates = candidates.into_iter().flatten().filter(|size| *size > 0);
        let divided =
            |segment: u32| large().filter(|packet| packet.payload().is_multiple_of(segment)).count();
        // `max_by_key` takes the last of equal candidates, so the order is reversed.
        candidates.rev().max_by_key(|segment| divided(*segment))
    }
}

impl SuperPacket {
    fn payload(&self) -> u32 {
        self.size.saturating_sub(self.headers.into())
    }
}

/// The sizes by which super-packets are cut.
#[derive(Clone, Copy, Debug)]
struct SegmentSizes {
    /// Payload of a full TCP segment.
    tcp: Option<u32>,
    /// Payload of a full UDP segment.
    udp: Option<u32>,
    /// The size of a full packet.
    full: u32,
}

impl SegmentSizes {
    /// Returns the size in bytes of each segment of a super-packet, with its headers. If no header was captured, the
    /// whole packet is cut as payload.
    fn sizes(&self, packet: &SuperPacket) -> impl Iterator<Item = u16> + use<> {
        let (headers, payload) = (u32::from(packet.headers), packet.payload());
        let segment = match packet.kind {
            Kind::Tcp => self.tcp,
            Kind::Udp => self.udp,
            Kind::Other => None,
        };
        let segment = segment.unwrap_or_else(|| self.full.saturating_sub(headers)).max(1);
        (0..payload.div_ceil(segment).max(1))
            .map(move |index| (headers + segment.min(payload - index * segment)) as u16)
    }
}
