//! The ECN field of an IP packet: RFC 3168, section 5, for IPv4 and IPv6.

use link::Ecn;

/// The two bits of the field, in IPv4's type of service.
const FIELD: u8 = 0b11;
/// The value for congestion experienced.
const CE: u8 = 0b11;
/// The shift of the field in IPv6. The traffic class lies across the first two bytes: its low bits are the high half of
/// the second byte.
const SHIFT6: u32 = 4;

const IPV4_MIN: usize = 20;
const IPV6_LEN: usize = 40;

/// Reads the ECN field of `packet`; without a whole IP header the packet is not capable.
pub(crate) fn of(packet: &[u8]) -> Ecn {
    let field = match version(packet) {
        Some(4) => packet[1] & FIELD,
        Some(6) => packet[1] >> SHIFT6 & FIELD,
        _ => 0,
    };
    match field {
        0 => Ecn::NotCapable,
        1 => Ecn::Scalable,
        CE => Ecn::Marked,
        _ => Ecn::Capable,
    }
}

/// Sets congestion experienced, and updates IPv4's header checksum. Changes nothing if `packet` does not begin with a
/// whole IP header.
pub(crate) fn mark(packet: &mut [u8]) {
    match version(packet) {
        Some(4) => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= CE;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            let checksum = updated_checksum(u16::from_be_bytes([packet[10], packet[11]]), before, after);
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        Some(6) => packet[1] |= CE << SHIFT6,
        _ => {}
    }
}

/// Returns the IP version, if there is a whole header.
fn version(packet: &[u8]) -> Option<u8> {
    let version = packet.first()? >> 4;
    let header = if version == 4 { IPV4_MIN } else { IPV6_LEN };
    (packet.len() >= header).then_some(version)
}

/// Computes the checksum after one word that it covers has changed: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

#[cfg(test)]
#[path = "../tests/within/ecn.rs"]
mod tests;
