//! The way from the packets of a file to its trace: the choice, the order and the segments of packets.

use crate::directions::{Directions, PacketFilter};
use crate::error::{Place, TraceError};
use crate::input::Input;
use crate::link_layer::LinkType;
use crate::order::Order;
use crate::packet::Packet;
use crate::segments::{LARGEST, Segments};
use link::traffic::Trace;
use std::collections::BTreeSet;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Its packets: sizes at the IP layer, in order of time.
    pub trace: Trace,
    /// Remarks that a reader must know: what was left out, sorted or taken apart.
    pub notes: Vec<String>,
}

/// A frame of a capture.
pub(crate) struct Frame<'a> {
    pub nanos: u64,
    pub link_type: LinkType,
    /// The number of its interface in the section of the file.
    pub interface: u32,
    /// The captured part of the packet.
    pub data: &'a [u8],
    /// The packet's length on the wire, bytes.
    pub original: u32,
}

/// A reader that takes the frames of a capture one after the other.
pub(crate) trait Frames {
    /// Returns the number of frames so far.
    fn frames(&self) -> u64;

    /// Takes a frame.
    fn frame(&mut self, frame: &Frame<'_>, place: Place) -> Result<(), TraceError>;

    /// Records that the file has been read up to this offset, decompressed. An error ends the reading.
    fn passed(&mut self, _offset: u64) -> Result<(), TraceError> {
        Ok(())
    }

    /// Takes a remark on the file.
    fn note(&mut self, note: String);

    /// Records that the file ends within the packet or block at `place`.
    fn cut_off(&mut self, place: Place, input: &Input<'_>) {
        let Place::Packet(packet, at) = place else { return };
        self.ended(input);
        if input.cut().is_none() {
            self.note(format!(
                "the capture ends inside packet {packet}, at byte {at}; the packets before it are taken"
            ));
        }
    }

    /// Records that compressed data ends too early, if it does.
    fn ended(&mut self, input: &Input<'_>) {
        if let Some(compression) = input.cut() {
            let frames = self.frames();
            self.note(format!(
                "the {compression} data are cut off; the {frames} packets before that are taken"
            ));
        }
    }
}

/// A recorder, which takes the packets of a file one after the other.
pub(crate) struct Recorder<'a> {
    wanted: &'a PacketFilter,
    /// True for a capture, which is refused if it has both directions. A table is not refused, because its author has
    /// chosen its lines.
    is_capture: bool,
    order: Order,
    directions: Directions,
    segments: Segments,
    frames: u64,
    without_ip: u64,
    /// Link types that carry no IP.
    strange: BTreeSet<LinkType>,
    notes: Vec<String>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(wanted: &'a PacketFilter, is_capture: bool) -> Self {
        Self {
            wanted,
            is_capture,
            order: Order::default(),
            directions: Directions::new(*wanted),
            segments: Segments::default(),
            frames: 0,
            without_ip: 0,
            strange: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    /// Takes a packet.
    pub(crate) fn packet(&mut self, nanos: u64, packet: &Packet, place: Place) -> Result<(), TraceError> {
        if packet.size == 0 || packet.size > LARGEST {
            let size = packet.size;
            let found =
                if size == 0 { "a packet of zero bytes".into() } else { format!("a packet of {size} bytes") };
            return Err(TraceError::new(place, found, format!("a size from 1 to {LARGEST} bytes")));
        }
        self.frames += 1;
        self.order.see(nanos, place)?;
        self.segments.see(packet);
        if self.directions.takes(packet.ends, packet.size) {
            self.order.push(nanos, packet);
        }
        self.release(false)
    }

    fn release(&mut self, ended: bool) -> Result<(), TraceError> {
        while let Some(packet) = self.order.pop(ended) {
            self.segments.push(&packet)?;
        }
        Ok(())
    }

    /// Returns the trace, once the file has ended.
    pub(crate) fn finish(mut self) -> Result<Recording, TraceError> {
        self.release(true)?;
        let frames = self.frames;
        if self.without_ip == frames {
            let types: Vec<LinkType> = self.strange.iter().copied().collect();
            if !types.is_empty() {
                return Err(without_ip(&types));
            }
            let found = if frames == 0 {
                "a trace without packets".to_owned()
            } else {
                format!("{frames} frames, and none carries IP")
            };
            return Err(TraceError::new(Place::Whole, found, "at least one packet of IP"));
        }
        self.directions.some()?;
        let both = self.directions.both();
        if let Some(both) = both.as_ref().filter(|both| both.refused && self.is_capture) {
            return Err(both.error());
        }
        let mut notes = self.notes;
        if self.without_ip > 0 {
            let without_ip = self.without_ip;
            notes.push(format!(
                "{without_ip} of {frames} frames carry no IP (ARP, LLDP and the like) and are left out"
            ));
        }
        notes.extend(self.order.note());
        notes.extend(self.directions.note());
        notes.extend(both.map(|both| both.note()));
        if let Some(address) = self.directions.to_itself().filter(|_| self.is_capture) {
            notes.push(format!(
                "source and destination are {address} in both directions, and all packets are taken"
            ));
        }
        let (trace, note) = self.segments.finish()?;
        notes.extend(note);
        debug_assert!(!trace.is_empty(), "{:?}", self.wanted);
        Ok(Recording { trace, notes })
    }
}

impl Frames for Recorder<'_> {
    fn frames(&self) -> u64 {
        self.frames
    }

    fn frame(&mut self, frame: &Frame<'_>, place: Place) -> Result<(), TraceError> {
        if !frame.link_type.carries_ip() {
            self.strange.insert(frame.link_type);
        }
        match Packet::of_frame(frame.link_type, frame.data, frame.original) {
            Some(packet) => self.packet(frame.nanos, &packet, place),
            None => {
                self.frames += 1;
                self.without_ip += 1;
                self.order.see(frame.nanos, place)
            }
        }
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }
}

/// Returns the error for a capture whose frames carry no IP.
pub(crate) fn without_ip(types: &[LinkType]) -> TraceError {
    let types: Vec<String> = types.iter().map(|kind| kind.described()).collect();
    let found = format!("a capture of {}, in which IP is not read", types.join(" and "));
    let accepted =
        "packets of IP: on Ethernet (1), Linux cooked (113, 276), raw IP (101), loopback (0, 108) or PPP (9)";
    TraceError::new(Place::Whole, found, accepted)
        .help("capture on the interface that carries IP: tcpdump -D lists them")
}
