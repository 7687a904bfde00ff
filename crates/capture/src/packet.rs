//! One packet of a capture: its size at the IP layer, its ends, and the headers that each of its segments repeats.

use crate::link_layer::{FrameContent, LinkType};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice, ip_number};
use std::net::IpAddr;

/// The transport protocol of a packet, as far as the size of its segments depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Tcp,
    Udp,
    /// Another protocol, a fragment, or a packet whose header was not captured.
    Other,
}

/// A packet of a capture or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Bytes at the IP layer.
    pub size: u32,
    /// The length of the headers that each segment of a super-packet has; zero if none was seen.
    pub headers: u16,
    pub kind: Kind,
    /// The largest payload that the sender of a SYN accepts (RFC 9293, 3.7.1).
    pub largest_segment: Option<u16>,
    /// Source and destination.
    pub ends: Option<(IpAddr, IpAddr)>,
}

impl Packet {
    /// Makes a packet of which only the size is known.
    pub(crate) fn of_size(size: u32) -> Self {
        Self { size, headers: 0, kind: Kind::Other, largest_segment: None, ends: None }
    }

    /// Finds the IP packet in a frame of `original` bytes, of which `data` were captured; `None` if it carries no IP.
    pub(crate) fn of_frame(link_type: LinkType, data: &[u8], original: u32) -> Option<Self> {
        let shortest = link_type.shortest_header() as u32;
        match link_type.carried(data) {
            FrameContent::Other => None,
            FrameContent::Unseen => {
                original.checked_sub(shortest).filter(|size| *size > 0).map(Self::of_size)
            }
            FrameContent::Ip(packet) => {
                let header = (data.len() - packet.len()) as u32;
                Self::of_ip(packet, original.checked_sub(header).filter(|size| *size > 0)?)
            }
        }
    }

    /// Reads an IP packet that fills `room` bytes of its frame, as far as it was captured. The packet's own length
    /// takes precedence, because frames are padded, and some have a checksum. Super-packets over 64 kB (BIG TCP) have a
    /// length of zero, and so do super-packets whose length the card was to write.
    fn of_ip(packet: &[u8], room: u32) -> Option<Self> {
        let Ok(sliced) = LaxSlicedPacket::from_ip(packet) else {
            // Less than an IP header was captured.
            return Some(Self::of_size(room));
        };
        let (says, network, payload, ends) = match sliced.net.as_ref()? {
            LaxNetSlice::Ipv4(slice) => {
                let header = slice.header();
                let ends: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
                let extension = slice.extensions().auth.map_or(0, |auth| auth.slice().len());
                let network = header.slice().len() + extension;
                let says = u32::from(header.total_len());
                ((says >= network as u32).then_some(says), network, slice.payload(), ends)
            }
            LaxNetSlice::Ipv6(slice) => {
                let header = slice.header();
                let ends: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
                let extensions = slice.extensions().slice().len();
                let says = u32::from(header.payload_length());
                // The option with the length of a jumbogram (RFC 2675) disappears when the packet is cut into segments.
                let jumbo = if says == 0 { extensions.min(8) } else { 0 };
                let network = header.slice().len() + extensions - jumbo;
                ((says > 0).then_some(says + 40), network, slice.payload(), ends)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let mut largest_segment = None;
        let (kind, transport) = match &sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => {
                if tcp.syn() {
                    largest_segment = tcp.options_iterator().find_map(|option| match option {
                        Ok(TcpOptionElement::MaximumSegmentSize(size)) => Some(size),
                        _ => None,
                    });
                }
                (Kind::Tcp, tcp.header_slice().len())
            }
            Some(TransportSlice::Udp(_)) => (Kind::Udp, 8),
            // The header was not captured in full, so a length is assumed: most TCP headers have time stamps.
            None if payload.ip_number == ip_number::TCP && !payload.fragmented => (Kind::Tcp, 32),
            None if payload.ip_number == ip_number::UDP && !payload.fragmented => (Kind::Udp, 8),
            _ => (Kind::Other, 0),
        };
        let headers = (network + transport) as u16;
        Some(Self { size: says.unwrap_or(room), headers, kind, largest_segment, ends: Some(ends) })
    }
}
