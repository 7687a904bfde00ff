//! One TCP packet of a capture: the header fields that connections need.

use crate::link_layer::FrameContent;
use crate::recording::Frame;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpOptionsIterator, ip_number};
use std::net::IpAddr;

/// The link type of Linux cooked captures, version 2, whose header has the number of the interface.
const LINUX_SLL2: u16 = 276;
/// The length of a TCP header without options.
const SHORTEST: usize = 20;

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct End {
    pub address: IpAddr,
    pub port: u16,
}

/// A TCP packet, which may be a super-packet of many segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Nanoseconds.
    pub at: u64,
    pub interface: u32,
    pub source: End,
    pub destination: End,
    /// Bytes at the IP layer.
    pub size: u32,
    pub payload: u32,
    /// The length of the IP and TCP headers.
    pub headers: u16,
    pub sequence: u32,
    pub acknowledgement: Option<u32>,
    /// The window as the header has it, not scaled.
    pub window: u16,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    /// True for an echo of a mark of congestion (ECE).
    pub echo: bool,
    /// True if a queue marked this packet (CE).
    pub marked: bool,
    /// The identification of IPv4; zero without one.
    pub id: u16,
    /// The hops that the packet may still take.
    pub hops: u8,
    /// The largest payload that the sender of a SYN accepts.
    pub largest_segment: Option<u16>,
    pub scale: Option<u8>,
    /// The time stamp, and the echo of the peer's.
    pub stamps: Option<(u32, u32)>,
    /// Blocks of a selective acknowledgement; `None` from the first that is missing.
    pub blocks: [Option<(u32, u32)>; 4],
}

/// The TCP packet of a frame, if there is one.
pub(crate) enum Found {
    Segment(Segment),
    /// Another protocol over IP, or a fragment.
    OtherIp,
    /// Too little of the headers was captured.
    CutHeader,
    /// No IP.
    NoIp,
}

/// Finds the TCP packet in a frame.
pub(crate) fn find(frame: &Frame<'_>) -> Found {
    let packet = match frame.link_type.carried(frame.data) {
        FrameContent::Ip(packet) => packet,
        FrameContent::Other => return Found::NoIp,
        FrameContent::Unseen => return Found::CutHeader,
    };
    let room = frame.original.saturating_sub((frame.data.len() - packet.len()) as u32);
    let Ok(sliced) = LaxSlicedPacket::from_ip(packet) else { return Found::CutHeader };
    let Some(net) = sliced.net.as_ref() else { return Found::CutHeader };
    let (addresses, says, network, payload, id, hops, marked): ((IpAddr, IpAddr), _, _, _, _, _, _) =
        match net {
            LaxNetSlice::Ipv4(slice) => {
                let header = slice.header();
                let network =
                    header.slice().len() + slice.extensions().auth.map_or(0, |auth| auth.slice().len());
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                let says = u32::from(header.total_len());
                let says = (says >= network as u32).then_some(says);
                let marked = header.ecn().value() == 3;
                (addresses, says, network, slice.payload(), header.identification(), header.ttl(), marked)
            }
            LaxNetSlice::Ipv6(slice) => {
                let header = slice.header();
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                let network = header.slice().len() + slice.extensions().slice().len();
                let says = u32::from(header.payload_length());
                let says = (says > 0).then_some(says + 40);
                let marked = header.ecn().value() == 3;
                (addresses, says, network, slice.payload(), 0, header.hop_limit(), marked)
            }
            LaxNetSlice::Arp(_) => return Found::NoIp,
        };
    if payload.ip_number != ip_number::TCP || payload.fragmented {
        return Found::OtherIp;
    }
    let size = says.unwrap_or(room);
    let Some(mut segment) = header(payload.payload, addresses, size, network) else {
        return Found::CutHeader;
    };
    segment.at = frame.nanos;
    segment.interface = interface(frame);
    (segment.id, segment.hops, segment.marked) = (id, hops, marked);
    Found::Segment(segment)
}

/// Returns the interface of a frame. Cooked captures of all interfaces have it in each header; the upper half keeps its
/// numbers apart from those of the file.
fn interface(frame: &Frame<'_>) -> u32 {
    match frame.data.get(4..8) {
        Some(&[a, b, c, d]) if frame.link_type.0 == LINUX_SLL2 => u32::from_be_bytes([a, b, c, d]) | 1 << 31,
        _ => frame.interface,
    }
}

/// Reads a TCP header, of which the options may be cut off.
fn header(data: &[u8], addresses: (IpAddr, IpAddr), size: u32, network: usize) -> Option<Segment> {
    let fixed = data.first_chunk::<SHORTEST>()?;
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let length = usize::from(fixed[12] >> 4) * 4;
    let headers = network + length;
    if length < SHORTEST || (size as usize) < headers {
        return None;
    }
    let flags = fixed[13];
    let mut segment = Segment {
        at: 0,
        interface: 0,
        source: End { address: addresses.0, port: half(0) },
        destination: End { address: addresses.1, port: half(2) },
        size,
        payload: size - headers as u32,
        headers: u16::try_from(headers).unwrap_or(u16::MAX),
        sequence: word(4),
        acknowledgement: (flags & 0x10 > 0).then(|| word(8)),
        window: half(14),
        syn: flags & 0x02 > 0,
        fin: flags & 0x01 > 0,
        rst: flags & 0x04 > 0,
        echo: flags & 0x40 > 0,
        marked: false,
        id: 0,
        hops: 0,
        largest_segment: None,
        scale: None,
        stamps: None,
        blocks: [None; 4],
    };
    for option in TcpOptionsIterator::from_slice(&data[SHORTEST..length.min(data.len())]) {
        match option {
            Ok(TcpOptionElement::MaximumSegmentSize(size)) => segment.largest_segment = Some(size),
            // RFC 7323, 2.3: a larger scale counts as 14.
            Ok(TcpOptionElement::WindowScale(scale)) => segment.scale = Some(scale.min(14)),
            Ok(TcpOptionElement::Timestamp(value, echo)) => segment.stamps = Some((value, echo)),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, rest)) => {
                segment.blocks = [Some(first), rest[0], rest[1], rest[2]];
            }
            Ok(TcpOptionElement::Noop | TcpOptionElement::SelectiveAcknowledgementPermitted) => {}
            Err(_) => break,
        }
    }
    Some(segment)
}
