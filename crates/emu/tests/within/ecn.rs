//! Tests of the ECN field of IP headers.

use super::*;
use crate::segment::{fold, sum};
use proptest::prelude::*;

/// Makes an IPv4 header as a host sends it, with this type of service.
fn ipv4(service: u8) -> [u8; 20] {
    let mut packet = [
        0x45, service, 0x05, 0xdc, 0x1c, 0x46, 0x40, 0, 0x40, 6, 0, 0, 0xac, 0x10, 0x0a, 0x63, 0xac, 0x10,
        0x0a, 0x0c,
    ];
    let checksum = !fold(sum(&packet));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet
}

#[test]
fn the_field_is_read_from_both_versions() {
    for (bits, ecn) in
        [(0b00, Ecn::NotCapable), (0b01, Ecn::Scalable), (0b10, Ecn::Capable), (0b11, Ecn::Marked)]
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
