//! pcapng: blocks in sections. Each interface has its link type, its unit of time and an offset of its times.
//!
//! Blocks of packets and interfaces go through pcap-parser; others are skipped by their length.

use crate::error::{Place, TraceError};
use crate::input::Input;
use crate::link_layer::LinkType;
use crate::pcap::MOST_CAPTURED;
use crate::recording::{Frame, Frames};
use pcap_parser::{Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode};
use pcap_parser::{parse_block_be, parse_block_le};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
/// The length of the longest block: more than any packet's, with room for its comments.
const LONGEST: u32 = MOST_CAPTURED + (1 << 20);

/// The most interfaces of a section.
const MOST_INTERFACES: usize = 1 << 16;
/// The number of bytes of a block that are skipped at a time.
const PIECE: u64 = 1 << 18;

/// Returns true if a file with these first bytes is pcapng.
pub(crate) fn begins(first: &[u8]) -> bool {
    first.starts_with(&SECTION.to_be_bytes())
}

/// The settings by which an interface's packets are read.
struct Interface {
    link_type: LinkType,
    units_per_second: u128,
    offset_seconds: i64,
}

/// Hands the packets of `input` to `recorder`.
pub(crate) fn read(input: &mut Input<'_>, recorder: &mut impl Frames) -> Result<(), TraceError> {
    let (mut big_endian, mut interfaces) = (false, Vec::new());
    loop {
        let place = Place::Packet(recorder.frames() + 1, input.offset());
        let damaged = |what: &str| {
            TraceError::new(place, format!("{what}: the capture is damaged"), "a pcapng capture")
        };
        let seen = input.see(12)?;
        let Some(header) = seen.first_chunk::<12>() else {
            if seen.is_empty() {
                recorder.ended(input);
            } else {
                recorder.cut_off(place, input);
            }
            return Ok(());
        };
        let [kind, length, order] =
            [0, 4, 8].map(|at| [header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if kind == SECTION.to_be_bytes() {
            big_endian = match order {
                BIG_ENDIAN => true,
                LITTLE_ENDIAN => false,
                _ => return Err(damaged("a section without a byte order")),
            };
            interfaces.clear();
        }
        let number = |bytes| if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        let (kind, length) = (number(kind), number(length));
        if length < 12 || !length.is_multiple_of(4) {
            return Err(damaged(&format!("a block of {length} bytes")));
        }
        match kind {
            SIMPLE_PACKET | OBSOLETE_PACKET => return Err(unreadable(kind, place)),
            INTERFACE | ENHANCED_PACKET => {
                if length > LONGEST {
                    return Err(damaged(&format!("a block of {length} bytes")));
                }
                let seen = input.see(length as usize)?;
                let Some(block) = seen.get(..length as usize) else {
                    recorder.cut_off(place, input);
                    return Ok(());
                };
                let parsed = if big_endian { parse_block_be(block) } else { parse_block_le(block) };
                match parsed {
                    Ok((_, Block::InterfaceDescription(block))) => {
                        if interfaces.len() == MOST_INTERFACES {
                            return Err(too_many_interfaces(place));
                        }
                        let of = interface(&block, big_endian);
                        interfaces
                            .push(of.ok_or_else(|| damaged("an interface with an unknown unit of time"))?);
                    }
                    Ok((_, Block::EnhancedPacket(block))) => {
                        let interface = interfaces.get(block.if_id as usize);
                        let interface =
                            interface.ok_or_else(|| damaged("a packet of an unknown interface"))?;
                        let frame = frame(&block, interface);
                        recorder.frame(&frame.ok_or_else(|| damaged("a time out of range"))?, place)?;
                    }
                    _ => return Err(damaged("a block that contradicts itself")),
                }
                input.take(length as usize);
                recorder.passed(input.offset())?;
            }
            _ => {
                let mut rest = u64::from(length);
                while rest > 0 {
                    let piece = rest.min(PIECE);
                    if !input.skip(piece)? {
                        recorder.cut_off(place, input);
                        return Ok(());
                    }
                    recorder.passed(input.offset())?;
                    rest -= piece;
                }
            }
        }
    }
}

fn too_many_interfaces(place: Place) -> TraceError {
    let found = format!("more than {MOST_INTERFACES} interfaces in a section: the capture is damaged");
    let accepted = format!("a pcapng capture with at most {MOST_INTERFACES} interfaces in each section");
    TraceError::new(place, found, accepted)
}

fn unreadable(kind: u32, place: Place) -> TraceError {
    let accepted = "packets with times: Enhanced Packet Blocks";
    if kind == SIMPLE_PACKET {
        let found = "a Simple Packet Block, which has no time: when the packet came is not known";
        return TraceError::new(place, found, accepted).help("capture again, with times (dumpcap, tcpdump)");
    }
    TraceError::new(place, "an obsolete Packet Block", accepted).help("convert it: editcap IN OUT")
}

/// Reads the options of an interface directly, because pcap-parser 0.17 takes `if_tsoffset` for little-endian in every
/// file, and refuses units of a power of two.
fn interface(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Option<Interface> {
    let option = |code: OptionCode| {
        let option = block.options.iter().find(|option| option.code == code)?;
        option.value.get(..usize::from(option.len))
    };
    let units_per_second = match option(OptionCode::IfTsresol).and_then(<[u8]>::first) {
        None => 1_000_000,
        Some(power @ ..0x80) => 10u128.checked_pow(u32::from(*power)).filter(|_| *power <= 20)?,
        Some(power) => 1u128.checked_shl(u32::from(power & 0x7f)).filter(|_| power & 0x7f <= 64)?,
    };
    let offset = option(OptionCode::IfTsoffset).and_then(<[u8]>::first_chunk::<8>);
    let number =
        |bytes: [u8; 8]| if big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
    let offset_seconds = offset.copied().map_or(0, number);
    Some(Interface { link_type: LinkType(block.linktype.0 as u16), units_per_second, offset_seconds })
}

fn frame<'a>(block: &'a EnhancedPacketBlock<'_>, interface: &Interface) -> Option<Frame<'a>> {
    let units = u128::from(block.ts_high) << 32 | u128::from(block.ts_low);
    let nanos = units * 1_000_000_000 / interface.units_per_second;
    let nanos = i128::try_from(nanos).ok()? + i128::from(interface.offset_seconds) * 1_000_000_000;
    let data = block.data.get(..block.caplen as usize)?;
    Some(Frame {
        nanos: u64::try_from(nanos).ok()?,
        link_type: interface.link_type,
        interface: block.if_id,
        data,
        original: block.origlen,
    })
}
