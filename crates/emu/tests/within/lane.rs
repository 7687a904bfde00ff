//! Tests of packets between the link and the device.

use super::*;
use crate::segment::{fold, sum};
use crate::vnet::{GSO_NONE, GSO_TCPV4, NEEDS_CSUM};

/// Stores an IPv4 TCP packet of `payload` bytes, ECT(0), in segments of 1000 bytes if it is longer.
fn stored(store: &mut Store, payload: usize) -> u32 {
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type: if payload > 1000 { GSO_TCPV4 } else { GSO_NONE },
        hdr_len: 40,
        gso_size: if payload > 1000 { 1000 } else { 0 },
        csum_start: 20,
        csum_offset: 16,
    };
    let mut packet = vec![0u8; 40 + payload];
    packet[..2].copy_from_slice(&[0x45, 0x02]);
    packet[2..4].copy_from_slice(&(40 + payload as u16).to_be_bytes());
    packet[9] = 6;
    packet[32] = 5 << 4;
    let checksum = !fold(sum(&packet[..20]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    let length = VNET_LEN + packet.len();
    store.scratch[..VNET_LEN].copy_from_slice(&vnet.bytes());
    store.scratch[VNET_LEN..length].copy_from_slice(&packet);
    let split = Split::of(vnet, &packet).expect("a packet");
    assert_eq!(split.count() as usize, payload.div_ceil(1000));
    store.pool.store(&mut store.scratch, length, split, 0)
}

/// Returns the IP header that would be written.
fn header(store: &mut Store, slot: u32, run: Range<u32>, marked: bool) -> Vec<u8> {
    let (length, _) = store.frame(slot, run, marked);
    let written = if length == 0 { store.pool.get(slot).frame() } else { &store.headers[..length] };
    written[VNET_LEN..VNET_LEN + 20].to_vec()
}

#[test]
fn a_marked_segment_is_written_with_ce_and_its_neighbours_are_not() {
    let mut store = Store::new();
    for payload in [3000, 700] {
        let slot = stored(&mut store, payload);
        let plain = header(&mut store, slot, 0..1, false);
        let marked = header(&mut store, slot, 0..1, true);
        assert_eq!((ecn::of(&plain), ecn::of(&marked)), (Ecn::Capable, Ecn::Marked));
        assert_eq!(fold(sum(&marked)), 0xffff, "the checksum holds");
        if payload > 1000 {
            assert_eq!(ecn::of(&header(&mut store, slot, 1..3, false)), Ecn::Capable);
        }
    }
}

#[test]
fn a_queue_sees_and_sets_the_field_of_real_packets_only() {
    let mut packet =
        Packet::Real { slot: 0, index: 0, length: 1500, flow: 0, hosts: (1, 2), ecn: Ecn::Capable, dscp: 0 };
    packet.mark();
    assert_eq!(packet.ecn(), Ecn::Marked);
    let mut cross = Packet::Cross { length: 1500, source: 0, dscp: 0 };
    cross.mark();
    assert_eq!(cross.ecn(), Ecn::NotCapable);
}
