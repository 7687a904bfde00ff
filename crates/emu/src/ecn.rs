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
        CE => Ecn::Marked,
        _ => Ecn::Capable,
    }
}

/// Sets congestion experienced, and updates IPv4's header checksum. Leaves anything but a whole IP header alone.
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
mod tests {
    use super::*;
    use crate::segment::{fold, sum};
    use proptest::prelude::*;

    /// Makes an IPv4 header as a host sends it, with this type of service.
    fn ipv4(service: u8) -> [u8; 20] {
        let mut packet = [
            0x45, service, 0x05, 0xdc, 0x1c, 0x46, 0x40, 0, 0x40, 6, 0, 0, 0xac, 0x10, 0x0a, 0x63, 0xac,
            0x10, 0x0a, 0x0c,
        ];
        let checksum = !fold(sum(&packet));
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    #[test]
    fn the_field_is_read_from_both_versions() {
        for (bits, ecn) in
            [(0b00, Ecn::NotCapable), (0b01, Ecn::Capable), (0b10, Ecn::Capable), (0b11, Ecn::Marked)]
        {
            assert_eq!(of(&ipv4(0xb8 | bits)), ecn);
            let mut ipv6 = [0u8; 40];
            // Traffic class 0xb8 with the bits, flow label 0xfffff.
            ipv6[..4].copy_from_slice(&[0x6b, 0x8f | bits << 4, 0xff, 0xff]);
            assert_eq!(of(&ipv6), ecn);
        }
    }

    #[test]
    fn a_mark_changes_two_bits_and_the_checksum() {
        let mut packet = ipv4(0xba);
        mark(&mut packet);
        assert_eq!(packet, ipv4(0xbb));
        let mut ipv6 = [0u8; 40];
        ipv6[..4].copy_from_slice(&[0x6b, 0xaf, 0xff, 0xff]);
        mark(&mut ipv6);
        assert_eq!(ipv6[..4], [0x6b, 0xbf, 0xff, 0xff]);
        assert_eq!(ipv6[4..], [0; 36]);
    }

    proptest! {
        /// A header that verified before verifies after the mark, with options or without.
        #[test]
        fn a_marked_header_still_verifies(bytes in prop::collection::vec(any::<u8>(), 20..60)) {
            let mut packet = bytes;
            packet.truncate(packet.len() / 2 * 2);
            packet[0] = 0x45;
            packet[10..12].fill(0);
            let checksum = !fold(sum(&packet));
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
            mark(&mut packet);
            prop_assert_eq!(of(&packet), Ecn::Marked);
            prop_assert_eq!(fold(sum(&packet)), 0xffff);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut marked = bytes.clone();
            mark(&mut marked);
            if of(&bytes) == Ecn::NotCapable && of(&marked) == Ecn::NotCapable {
                // Without an IP header the bytes are left alone.
                prop_assert_eq!(marked, bytes);
            } else {
                prop_assert_eq!(of(&marked), Ecn::Marked);
            }
        }
    }
}
