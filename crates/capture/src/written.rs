//! Captures that are written: pcapng with an interface for each place, and headers of TCP segments.
//!
//! [`Writer`] writes the blocks of the format: a section, its interfaces, packets with times in nanoseconds, and at the
//! end each interface's counts. All packets begin with their IPv4 header. [`Segment`] makes the headers of
//! a packet that never was on a wire, with the checksums of a payload of zeros.

use etherparse::{IpEcn, Ipv4Header, TcpHeader, TcpOptionElement, ip_number};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The most bytes of each packet that are written. The longest headers have 120.
pub const SNAPSHOT: usize = 128;
/// Packets that begin with an IP header of either version, which tcptrace reads.
const LINKTYPE_RAW: u16 = 101;
/// Packets that begin with an IPv4 header. libpcap 1.10.3 refuses a file with two interfaces of the other type
/// (`findings/libpcap-refuses-two-raw-interfaces.sh`).
const LINKTYPE_IPV4: u16 = 228;
/// The times' unit: 10^-9 seconds.
const NANOSECONDS: u8 = 9;
/// Zeros, as many as a payload may have.
static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const INTERFACE_RESOLUTION: u16 = 9;
const STATISTICS_RECEIVED: u16 = 4;
const STATISTICS_DROPPED: u16 = 5;

/// A place at which packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name, as `frame.interface_name` shows it.
    pub name: &'a str,
    /// Its description, in words.
    pub description: &'a str,
}

/// A writer of one section of pcapng.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    /// The number of packets written at each interface.
    packets: Vec<u64>,
    /// The time of the last packet, nanoseconds.
    last: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a section that `application` writes, with `comment` for a person, and its interfaces.
    ///
    /// # Errors
    /// Returns an error of `out`.
    pub fn new(out: W, application: &str, comment: &str, interfaces: &[Interface<'_>]) -> io::Result<Self> {
        let (packets, block) = (vec![0; interfaces.len()], Vec::new());
        let mut writer = Self { out, block, packets, last: 0 };
        writer.begin(SECTION);
        writer.block.extend(BYTE_ORDER.to_le_bytes());
        // Version 1.0, and a section of unknown length.
        writer.block.extend([1u16.to_le_bytes(), 0u16.to_le_bytes()].concat());
        writer.block.extend(u64::MAX.to_le_bytes());
        writer.option(COMMENT, comment.as_bytes());
        writer.option(SECTION_APPLICATION, application.as_bytes());
        writer.end_options();
        writer.end()?;
        let link_type = if interfaces.len() > 1 { LINKTYPE_IPV4 } else { LINKTYPE_RAW };
        for interface in interfaces {
            writer.begin(INTERFACE);
            writer.block.extend([link_type.to_le_bytes(), [0; 2]].concat());
            writer.block.extend((SNAPSHOT as u32).to_le_bytes());
            writer.option(INTERFACE_NAME, interface.name.as_bytes());
            writer.option(INTERFACE_DESCRIPTION, interface.description.as_bytes());
            writer.option(INTERFACE_RESOLUTION, &[NANOSECONDS]);
            writer.end_options();
            writer.end()?;
        }
        Ok(writer)
    }

    /// Writes a packet of `original` bytes at a time in nanoseconds since 1970: its beginning `data`, at most
    /// [`SNAPSHOT`] bytes of it.
    ///
    /// # Errors
    /// Returns an error of the writer below.
    pub fn packet(&mut self, interface: usize, nanos: u64, data: &[u8], original: u32) -> io::Result<()> {
        let data = &data[..data.len().min(SNAPSHOT)];
        self.begin(ENHANCED_PACKET);
        self.block.extend((interface as u32).to_le_bytes());
        self.time(nanos);
        self.block.extend((data.len() as u32).to_le_bytes());
        self.block.extend(original.to_le_bytes());
        self.block.extend(data);
        self.pad();
        if let Some(packets) = self.packets.get_mut(interface) {
            *packets += 1;
        }
        self.last = self.last.max(nanos);
        self.end()
    }

    /// Writes the counts of each interface, `missed` of whose packets were not written, and returns the writer below.
    ///
    /// # Errors
    /// Returns an error of the writer below.
    pub fn finish(mut self, missed: &[u64]) -> io::Result<W> {
        for interface in 0..self.packets.len() {
            let missed = missed.get(interface).copied().unwrap_or(0);
            let received = self.packets[interface] + missed;
            self.begin(STATISTICS);
            self.block.extend((interface as u32).to_le_bytes());
            self.time(self.last);
            self.option(STATISTICS_RECEIVED, &received.to_le_bytes());
            self.option(STATISTICS_DROPPED, &missed.to_le_bytes());
            self.end_options();
            self.end()?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Begins a block, whose length is written at its end.
    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
    }

    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend(length);
        self.out.write_all(&self.block)
    }

    fn time(&mut self, nanos: u64) {
        self.block.extend(((nanos >> 32) as u32).to_le_bytes());
        self.block.extend((nanos as u32).to_le_bytes());
    }

    /// Adds an option; a value beyond the longest one is cut.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.pad();
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}

/// The flags of a segment beyond those that follow from its other fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The request of a connection, or its answer.
    pub syn: bool,
    /// The acknowledgment number counts.
    pub ack: bool,
    /// The last segment of a write.
    pub psh: bool,
    /// The receiver echoes a congestion mark.
    pub ece: bool,
    /// The sender has reduced its window.
    pub cwr: bool,
    /// The first bit of the counter of accurate ECN, whose others are `cwr` and `ece` [rfc9768:3.1].
    pub ae: bool,
}

/// The options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest payload that the sender of a SYN accepts [rfc9293:3.7.1].
    pub largest_segment: Option<u16>,
    /// True in the SYN of an end that reads selective acknowledgements [rfc2018:2].
    pub sack_permitted: bool,
    /// The shift of the sender's window, in a SYN [rfc7323:2.2].
    pub window_scale: Option<u8>,
    /// The sender's clock and the echo of the other's [rfc7323:3.2].
    pub timestamps: Option<(u32, u32)>,
    /// Selectively acknowledged sequence numbers [rfc2018:3]; the first four, or three with time stamps.
    pub blocks: Vec<(u32, u32)>,
}

impl Options {
    /// Returns the options as Linux lays them out: each begins at a multiple of four bytes.
    fn elements(&self) -> Vec<TcpOptionElement> {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
            WindowScale,
        };
        let mut elements = Vec::new();
        elements.extend(self.largest_segment.map(MaximumSegmentSize));
        match (self.sack_permitted, self.timestamps) {
            (true, Some((own, echo))) => {
                elements.extend([SelectiveAcknowledgementPermitted, Timestamp(own, echo)]);
            }
            (true, None) => elements.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
            (false, Some((own, echo))) => elements.extend([Noop, Noop, Timestamp(own, echo)]),
            (false, None) => {}
        }
        elements.extend(self.window_scale.into_iter().flat_map(|shift| [Noop, WindowScale(shift)]));
        let room = if self.timestamps.is_some() { 3 } else { 4 };
        if let [first, rest @ ..] = &self.blocks[..self.blocks.len().min(room)] {
            let rest = [0, 1, 2].map(|place| rest.get(place).copied());
            elements.extend([Noop, Noop, SelectiveAcknowledgement(*first, rest)]);
        }
        elements
    }
}

/// A TCP segment over IPv4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its source.
    pub source: SocketAddrV4,
    /// Its destination.
    pub destination: SocketAddrV4,
    /// The IP identification.
    pub identification: u16,
    /// The ECN field of the IP header, 0 to 3 [rfc3168:5].
    pub ecn: u8,
    /// The sequence number.
    pub sequence: u32,
    /// The acknowledgment number.
    pub acknowledgment: u32,
    /// The window field, scaled.
    pub window: u16,
    /// The flags.
    pub flags: Flags,
    /// The options.
    pub options: Options,
    /// The number of bytes of data, which are zeros.
    pub payload: u16,
}

impl Segment {
    /// The most bytes of data for which any options fit into a packet.
    pub const MOST_PAYLOAD: u16 = u16::MAX - 80;

    /// Makes an empty segment without flags.
    #[must_use]
    pub fn new(source: SocketAddrV4, destination: SocketAddrV4) -> Self {
        let (flags, options) = (Flags::default(), Options::default());
        Self {
            source,
            destination,
            identification: 0,
            ecn: 0,
            sequence: 0,
            acknowledgment: 0,
            window: 0,
            flags,
            options,
            payload: 0,
        }
    }

    /// Writes the headers of IP and TCP to `out`; returns the length of the packet. A payload is cut to
    /// [`MOST_PAYLOAD`](Self::MOST_PAYLOAD).
    pub fn headers(&self, out: &mut Vec<u8>) -> u32 {
        let payload = self.payload.min(Self::MOST_PAYLOAD);
        let octets = |end: SocketAddrV4| Ipv4Addr::octets(end.ip());
        let mut tcp = TcpHeader::new(self.source.port(), self.destination.port(), self.sequence, self.window);
        tcp.acknowledgment_number = self.acknowledgment;
        let Flags { syn, ack, psh, ece, cwr, ae } = self.flags;
        (tcp.syn, tcp.ack, tcp.psh, tcp.ece, tcp.cwr, tcp.ns) = (syn, ack, psh, ece, cwr, ae);
        // All options that one segment can have fit. Without room the segment would have none.
        let _ = tcp.set_options(&self.options.elements());
        let length = tcp.header_len_u16() + payload;
        // The lengths fit, because the payload is cut to leave room for the longest headers.
        let ip = Ipv4Header::new(length, 64, ip_number::TCP, octets(self.source), octets(self.destination));
        let Ok(mut ip) = ip else { return 0 };
        ip.identification = self.identification;
        ip.dont_fragment = true;
        ip.ecn = IpEcn::try_new(self.ecn & 3).unwrap_or_default();
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &ZEROS[..usize::from(payload)]).unwrap_or_default();
        out.extend(ip.to_bytes());
        out.extend(tcp.to_bytes());
        u32::from(ip.total_len)
    }
}
