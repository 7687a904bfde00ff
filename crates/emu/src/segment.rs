//! Super-packets and their segments.
//!
//! With segmentation offload the kernel hands over TCP (or UDP) super-packets of up to 64 kB that a network card would
//! cut into segments. [`Split`] finds the cuts without making them. The link decides about each segment by its own
//! length. [`Split::frame`] writes the headers of any run of neighbouring segments as one smaller super-packet, as if
//! the card had sent only those. The payload is never copied or changed.
//!
//! The rules are those of the kernel's own segmentation (tcp_offload.c, udp_offload.c). IPv4 ids count up by one per
//! segment. CWR belongs to the first segment, FIN and PSH to the last. Checksums are left partial. If the kernel does not
//! say that CWR is RFC 3168's ([`GSO_ECN`]), it is a bit of the counter of accurate ECN, which every segment has.

use crate::vnet::{GSO_ECN, GSO_NONE, GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, NEEDS_CSUM, VNET_LEN, VnetHeader};
use std::ops::Range;

const IPV4_MIN: usize = 20;
const IPV6_LEN: usize = 40;
const TCP_MIN: usize = 20;
const UDP_LEN: usize = 8;
const PROTOCOL_TCP: u8 = 6;
pub(crate) const PROTOCOL_UDP: u8 = 17;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// The room for the longest headers: virtio, IPv4 with options, TCP with options.
pub(crate) const HEADERS_MAX: usize = VNET_LEN + 60 + 60;

/// The error of a packet that contradicts its own header, so that it has no segments. It cannot be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedPacket;

/// The places of a packet's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    kind: Kind,
    /// Offset of the TCP or UDP header.
    transport: u16,
    /// Length of all headers of each segment.
    headers: u16,
    /// Payload of every segment but the last.
    size: u16,
    /// Payload of all segments; of a whole packet, its length.
    payload: u32,
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A packet that is not a super-packet, and is carried unchanged.
    Whole,
    Tcp4,
    Tcp6,
    Udp4,
    Udp6,
}

impl Split {
    /// Finds the segments of `packet`, an IP packet of at most 65535 bytes.
    pub(crate) fn of(vnet: VnetHeader, packet: &[u8]) -> Result<Self, MalformedPacket> {
        let length = u16::try_from(packet.len()).map_err(|_| MalformedPacket)?;
        if length == 0 {
            return Err(MalformedPacket);
        }
        if vnet.gso_type & !GSO_ECN == GSO_NONE {
            return Ok(Self {
                kind: Kind::Whole,
                transport: 0,
                headers: 0,
                size: 0,
                payload: u32::from(length),
                count: 1,
            });
        }
        let (kind, transport) = match (vnet.gso_type & !GSO_ECN, packet[0] >> 4) {
            (GSO_TCPV4, 4) => (Kind::Tcp4, ipv4_header(packet, PROTOCOL_TCP)?),
            (GSO_TCPV6, 6) => (Kind::Tcp6, ipv6_header(packet, PROTOCOL_TCP)?),
            (GSO_UDP_L4, 4) => (Kind::Udp4, ipv4_header(packet, PROTOCOL_UDP)?),
            (GSO_UDP_L4, 6) => (Kind::Udp6, ipv6_header(packet, PROTOCOL_UDP)?),
            _ => return Err(MalformedPacket),
        };
        let own = match kind {
            Kind::Tcp4 | Kind::Tcp6 => {
                let length = usize::from(packet.get(transport + 12).ok_or(MalformedPacket)? >> 4) * 4;
                if length < TCP_MIN { return Err(MalformedPacket) } else { length }
            }
            Kind::Whole | Kind::Udp4 | Kind::Udp6 => UDP_LEN,
        };
        let headers = transport + own;
        let payload = packet.len().checked_sub(headers).ok_or(MalformedPacket)?;
        if vnet.gso_size == 0 {
            return Err(MalformedPacket);
        }
        Ok(Self {
            kind,
            transport: transport as u16,
            headers: headers as u16,
            size: vnet.gso_size,
            payload: payload as u32,
            count: (payload as u32).div_ceil(u32::from(vnet.gso_size)).max(1),
        })
    }

    /// Returns the number of segments; at least one.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the length of segment `index` on the wire, IP header included.
    pub(crate) fn wire_len(&self, index: u32) -> u32 {
        let payload = self.payload_range(index..index + 1);
        u32::from(self.headers) + payload.len() as u32
    }

    /// Returns the payload bytes of the segments `run`, counted from the end of the headers.
    fn payload_range(&self, run: Range<u32>) -> Range<usize> {
        if self.kind == Kind::Whole {
            return 0..self.payload as usize;
        }
        let size = u32::from(self.size);
        let at = |index: u32| index.saturating_mul(size).min(self.payload) as usize;
        at(run.start)..at(run.end)
    }

    /// Makes one packet of the segments `run`: writes its virtio, IP and transport headers to the front of `out`.
    /// Returns their length and the place of the rest in `frame`, which holds virtio header and packet as they were
    /// read.
    ///
    /// `run` must be a non-empty part of `0..count`, and `frame` the bytes that `self` was made from.
    pub(crate) fn frame(
        &self,
        frame: &[u8],
        run: Range<u32>,
        out: &mut [u8; HEADERS_MAX],
    ) -> (usize, Range<usize>) {
        debug_assert!(run.start < run.end && run.end <= self.count, "a run of existing segments");
        if self.kind == Kind::Whole {
            return (0, 0..VNET_LEN + self.payload as usize);
        }
        let headers = usize::from(self.headers);
        let transport = usize::from(self.transport);
        let payload = self.payload_range(run.clone());
        let several = run.end - run.start > 1;
        let (first, last) = (run.start == 0, run.end == self.count);
        let was = VnetHeader::read(frame.first_chunk().unwrap_or(&[0; VNET_LEN]));
        let cwr = if first { was.gso_type & GSO_ECN } else { 0 };
        let vnet = VnetHeader {
            flags: NEEDS_CSUM,
            gso_type: if several { self.gso_type() | cwr } else { GSO_NONE },
            hdr_len: self.headers,
            gso_size: if several { self.size } else { 0 },
            csum_start: self.transport,
            csum_offset: self.checksum_offset() as u16,
        };
        out[..VNET_LEN].copy_from_slice(&vnet.bytes());
        let packet = &mut out[VNET_LEN..VNET_LEN + headers];
        packet.copy_from_slice(&frame[VNET_LEN..VNET_LEN + headers]);

        let length = headers + payload.len();
        match self.kind {
            Kind::Whole => {}
            Kind::Tcp4 | Kind::Udp4 => {
                put16(packet, 2, length as u16);
                let id = get16(packet, 4).wrapping_add(run.start as u16);
                put16(packet, 4, id);
                put16(packet, 10, 0);
                let sum = !fold(sum(&packet[..transport]));
                put16(packet, 10, sum);
            }
            Kind::Tcp6 | Kind::Udp6 => put16(packet, 4, (length - IPV6_LEN) as u16),
        }
        match self.kind {
            Kind::Whole => {}
            Kind::Tcp4 | Kind::Tcp6 => {
                let sequence = get32(packet, transport + 4).wrapping_add(payload.start as u32);
                packet[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
                let flags = &mut packet[transport + 13];
                if !first && was.gso_type & GSO_ECN != 0 {
                    *flags &= !CWR;
                }
                if !last {
                    *flags &= !(FIN | PSH);
                }
            }
            Kind::Udp4 | Kind::Udp6 => put16(packet, transport + 4, (length - transport) as u16),
        }
        let pseudo = fold(self.pseudo_header(packet, length - transport));
        put16(packet, transport + self.checksum_offset(), pseudo);
        let start = VNET_LEN + headers;
        (VNET_LEN + headers, start + payload.start..start + payload.end)
    }

    fn gso_type(&self) -> u8 {
        match self.kind {
            Kind::Whole => GSO_NONE,
            Kind::Tcp4 => GSO_TCPV4,
            Kind::Tcp6 => GSO_TCPV6,
            Kind::Udp4 | Kind::Udp6 => GSO_UDP_L4,
        }
    }

    fn checksum_offset(&self) -> usize {
        match self.kind {
            Kind::Tcp4 | Kind::Tcp6 => 16,
            Kind::Whole | Kind::Udp4 | Kind::Udp6 => 6,
        }
    }

    /// Returns the sum of the pseudo-header for a transport part of `length` bytes.
    fn pseudo_header(&self, packet: &[u8], length: usize) -> u32 {
        let (addresses, protocol) = match self.kind {
            Kind::Tcp4 => (12..20, PROTOCOL_TCP),
            Kind::Udp4 => (12..20, PROTOCOL_UDP),
            Kind::Tcp6 => (8..40, PROTOCOL_TCP),
            Kind::Whole | Kind::Udp6 => (8..40, PROTOCOL_UDP),
        };
        sum(&packet[addresses]) + u32::from(protocol) + length as u32
    }
}

/// Returns the length of an IPv4 header followed by `protocol`.
fn ipv4_header(packet: &[u8], protocol: u8) -> Result<usize, MalformedPacket> {
    let length = usize::from(packet[0] & 0x0f) * 4;
    let sound = length >= IPV4_MIN && packet.len() >= length && packet[9] == protocol;
    if sound { Ok(length) } else { Err(MalformedPacket) }
}

/// Returns the length of an IPv6 header followed directly by `protocol`. The kernel makes no super-packets with
/// extension headers for a device that, like ours, does not offer to cut them.
fn ipv6_header(packet: &[u8], protocol: u8) -> Result<usize, MalformedPacket> {
    if packet.len() >= IPV6_LEN && packet[6] == protocol { Ok(IPV6_LEN) } else { Err(MalformedPacket) }
}

/// Returns the sum of 16-bit words of RFC 1071, not yet folded. For headers only, whose sums are far from overflow.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        [high] => u32::from(high) << 8,
        _ => 0,
    });
    words.sum()
}

/// Folds the carries of a sum into 16 bits.
pub(crate) fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
#[path = "../tests/within/segment.rs"]
mod tests;
