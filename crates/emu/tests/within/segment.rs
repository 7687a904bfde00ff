//! Any subset of a super-packet's segments, framed run by run, yields valid packets with exactly the surviving bytes.

use super::*;
use proptest::prelude::*;

/// A super-packet as the kernel would hand it over.
#[derive(Clone, Debug)]
struct Super {
    frame: Vec<u8>,
    headers: usize,
    transport: usize,
    size: usize,
    udp: bool,
    ipv6: bool,
}

const SEQUENCE: u32 = 0xffff_f000; // wraps within the packet
const ID: u16 = 0xfffe;

fn super_packet(payload: &[u8], size: usize, udp: bool, ipv6: bool, flags: u8) -> Super {
    let transport = if ipv6 { 40 } else { 20 };
    let own = if udp { 8 } else { 32 };
    let headers = transport + own;
    let length = headers + payload.len();
    let mut packet = vec![0u8; headers];
    if ipv6 {
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        packet[6] = if udp { PROTOCOL_UDP } else { PROTOCOL_TCP };
        packet[8..40].copy_from_slice(&[0x5a; 32]);
    } else {
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[4..6].copy_from_slice(&ID.to_be_bytes());
        packet[9] = if udp { PROTOCOL_UDP } else { PROTOCOL_TCP };
        packet[12..20].copy_from_slice(&[100, 64, 77, 1, 100, 64, 77, 2]);
    }
    packet[transport..transport + 4].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
    if !udp {
        packet[transport + 4..transport + 8].copy_from_slice(&SEQUENCE.to_be_bytes());
        packet[transport + 12] = 8 << 4;
        packet[transport + 13] = flags;
    }
    packet.extend_from_slice(payload);
    let gso = match (udp, ipv6) {
        (true, _) => GSO_UDP_L4,
        (false, false) => GSO_TCPV4,
        (false, true) => GSO_TCPV6,
    };
    let ecn = if !udp && flags & CWR != 0 { GSO_ECN } else { 0 };
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type: gso | ecn,
        hdr_len: headers as u16,
        gso_size: size as u16,
        csum_start: transport as u16,
        csum_offset: if udp { 6 } else { 16 },
    };
    let mut frame = vnet.bytes().to_vec();
    frame.extend_from_slice(&packet);
    Super { frame, headers, transport, size, udp, ipv6 }
}

fn split_of(frame: &[u8]) -> Result<Split, MalformedPacket> {
    let (vnet, packet) = frame.split_first_chunk::<VNET_LEN>().ok_or(MalformedPacket)?;
    Split::of(VnetHeader::read(vnet), packet)
}

/// Returns the framed run as the bytes that would be written.
fn framed(split: &Split, frame: &[u8], run: Range<u32>) -> Vec<u8> {
    let mut headers = [0; HEADERS_MAX];
    let (length, payload) = split.frame(frame, run, &mut headers);
    [&headers[..length], &frame[payload]].concat()
}

/// Checks everything that a receiver would check, and returns the payload.
fn validated<'a>(from: &Super, written: &'a [u8], run: &Range<u32>, count: u32) -> &'a [u8] {
    let vnet = VnetHeader::read(written.first_chunk().expect("a virtio header"));
    let packet = &written[VNET_LEN..];
    let payload = &packet[from.headers..];
    let several = run.end - run.start > 1;
    assert_eq!(vnet.flags, NEEDS_CSUM);
    assert_eq!(usize::from(vnet.gso_size), if several { from.size } else { 0 });
    assert_eq!(vnet.gso_type == GSO_NONE, !several);
    assert!(run.start == 0 || vnet.gso_type & GSO_ECN == 0, "only the first segment has CWR");
    assert_eq!(
        payload.len().div_ceil(from.size).max(1) as u32,
        run.end - run.start,
        "as many segments as framed"
    );
    let transport = &packet[from.transport..];
    let addresses = if from.ipv6 {
        assert_eq!(usize::from(get16(packet, 4)), packet.len() - 40);
        8..40
    } else {
        assert_eq!(usize::from(get16(packet, 2)), packet.len());
        assert_eq!(get16(packet, 4), ID.wrapping_add(run.start as u16));
        assert_eq!(fold(sum(&packet[..20])), 0xffff, "the IP header's sum is right");
        12..20
    };
    // Finishes the partial checksum as a receiver of NEEDS_CSUM may, then verifies the whole.
    let mut finished = transport.to_vec();
    let at = usize::from(vnet.csum_offset);
    let complete = !fold_wide(&finished);
    put16(&mut finished, at, complete);
    let protocol = if from.udp { PROTOCOL_UDP } else { PROTOCOL_TCP };
    let pseudo = u32::from(fold(sum(&packet[addresses]))) + u32::from(protocol) + transport.len() as u32;
    assert_eq!(fold(pseudo + u32::from(fold_wide(&finished))), 0xffff, "the transport checksum is right");
    if from.udp {
        assert_eq!(usize::from(get16(transport, 4)), transport.len());
    } else {
        let offset = run.start * from.size as u32;
        assert_eq!(get32(transport, 4), SEQUENCE.wrapping_add(offset));
        let (was, is) = (from.frame[VNET_LEN + from.transport + 13], transport[13]);
        let mut expected = was;
        // Without GSO_ECN the bit belongs to the counter of accurate ECN.
        if run.start > 0 && from.frame[1] & GSO_ECN != 0 {
            expected &= !CWR;
        }
        if run.end < count {
            expected &= !(FIN | PSH);
        }
        assert_eq!(is, expected, "flags stay where they belong");
    }
    payload
}

fn fold_wide(bytes: &[u8]) -> u16 {
    bytes.chunks(1024).fold(0, |so_far, part| fold(u32::from(so_far) + sum(part)))
}

/// Returns the runs of neighbouring survivors.
fn runs(survives: &[bool]) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for index in (0..survives.len()).filter(|index| survives[*index]).map(|index| index as u32) {
        match runs.last_mut() {
            Some(run) if run.end == index => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

proptest! {
    #[test]
    fn surviving_segments_come_out_as_valid_packets_with_their_own_bytes(
        length in 1usize..60_000,
        size in 100usize..9000,
        udp: bool,
        ipv6: bool,
        flags: u8,
        pattern in proptest::collection::vec(any::<bool>(), 600),
    ) {
        let payload: Vec<u8> = (0..length).map(|i| (i * 31 + i / 251) as u8).collect();
        let packet = super_packet(&payload, size, udp, ipv6, flags);
        let split = split_of(&packet.frame).expect("well formed");
        prop_assert_eq!(split.count() as usize, length.div_ceil(size));
        let survives = &pattern[..split.count() as usize];
        let mut out = Vec::new();
        for run in runs(survives) {
            let written = framed(&split, &packet.frame, run.clone());
            out.extend_from_slice(validated(&packet, &written, &run, split.count()));
        }
        let expected: Vec<u8> = payload
            .chunks(size)
            .zip(survives)
            .filter(|(_, survives)| **survives)
            .flat_map(|(chunk, _)| chunk.iter().copied())
            .collect();
        prop_assert!(out == expected, "{} bytes survive, {} came out", expected.len(), out.len());
        // Each segment meets the queue with the length it would have on a wire.
        let wire: u32 = (0..split.count()).map(|index| split.wire_len(index)).sum();
        prop_assert_eq!(wire as usize, length + split.count() as usize * packet.headers);
    }

    #[test]
    fn random_bytes_never_panic(
        mut frame in proptest::collection::vec(any::<u8>(), 0..400),
        gso in prop::sample::select(vec![0u8, 1, 3, 4, 5, 0x80, 0x81, 0x84, 0x85, 0xff]),
        version in prop::sample::select(vec![0x45u8, 0x46, 0x4f, 0x60, 0x00, 0x41]),
        pick: prop::sample::Index,
    ) {
        if frame.len() > 20 {
            frame[1] = gso;
            frame[VNET_LEN] = version;
            frame[VNET_LEN + 9] = if frame[2] & 1 == 0 { PROTOCOL_TCP } else { PROTOCOL_UDP };
        }
        let _ = crate::flow::FlowKey::of(frame.get(VNET_LEN..).unwrap_or(&[]));
        if let Ok(split) = split_of(&frame) {
            let start = pick.index(split.count() as usize) as u32;
            let written = framed(&split, &frame, start..split.count());
            prop_assert!(written.len() <= frame.len() + HEADERS_MAX);
            prop_assert!((0..split.count()).all(|index| split.wire_len(index) > 0));
        }
    }
}

#[test]
fn a_whole_packet_travels_untouched() {
    let frame: Vec<u8> = [vec![0; VNET_LEN], vec![0x45; 60]].concat();
    let split = split_of(&frame).expect("any packet without offload");
    assert_eq!((split.count(), split.wire_len(0)), (1, 60));
    assert_eq!(framed(&split, &frame, 0..1), frame);
}

#[test]
fn a_super_packet_framed_whole_is_the_same_super_packet() {
    let packet = super_packet(&[7; 10_000], 1448, false, false, CWR | PSH | 0x10);
    let split = split_of(&packet.frame).expect("well formed");
    let written = framed(&split, &packet.frame, 0..split.count());
    let run = 0..split.count();
    assert_eq!(validated(&packet, &written, &run, split.count()), [7; 10_000]);
    assert_eq!(written[..VNET_LEN], packet.frame[..VNET_LEN], "the kernel's own header comes out again");
}

/// RFC 9768, section 3.2.2: AE, CWR and ECE are a counter, which every segment has. A kernel that knows this does not set
/// [`GSO_ECN`].
#[test]
fn the_counter_of_accurate_ecn_is_in_every_segment() {
    let (cwr_and_ece, ae) = (0xc0, 0x01);
    let mut packet = super_packet(&[7; 10_000], 1448, false, false, cwr_and_ece | 0x10);
    let transport = VNET_LEN + packet.transport;
    packet.frame[1] &= !GSO_ECN;
    packet.frame[transport + 12] |= ae;
    let split = split_of(&packet.frame).expect("well formed");
    for index in 0..split.count() {
        let written = framed(&split, &packet.frame, index..index + 1);
        validated(&packet, &written, &(index..index + 1), split.count());
        assert_eq!((written[transport + 12] & ae, written[transport + 13] & cwr_and_ece), (ae, cwr_and_ece));
    }
}
