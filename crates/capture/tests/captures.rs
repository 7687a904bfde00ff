//! Captures by hand: byte orders, link layers, pcapng, offload, order, directions, and what is said of the others.

mod common;

use common::*;
use tightlink_capture::{PacketFilter, Place, read};

#[test]
fn captures_of_either_byte_order_and_resolution_are_read() {
    for (magic, fraction) in [(MICRO, 1500), (NANO, 1_500_000)] {
        for big_endian in [false, true] {
            let seen = ipv4(1, 2, 17, &udp(12));
            let records =
                [(7, 0, seen.clone(), 40), (7, fraction, seen.clone(), 40), (12, 0, Vec::new(), 60)];
            let recording = parse(&pcap(magic, big_endian, RAW, &records)).unwrap();
            assert_eq!(packets(&recording), [(0.0, 40), (1.5, 40), (5000.0, 60)]);
            assert_eq!(recording.notes, Vec::<String>::new());
        }
    }
}

#[test]
fn one_traffic_is_one_answer_on_every_link_layer() {
    let four = ipv4(1, 2, 17, &udp(12));
    let six = ipv6(17, &udp(12));
    let with = |header: &[u8], packet: &[u8], trailer: usize| [header, packet, &vec![0; trailer]].concat();
    let ethernet = |kind: &[u8]| [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], kind].concat();
    let cooked = |kind: [u8; 2]| [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &kind].concat();
    let cooked2 =
        |kind: [u8; 2]| [&kind[..], &[0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]].concat();
    // IPv4 of 40 bytes and IPv6 of 60, each behind the header of a link type. Short Ethernet frames are padded to 60.
    let cases: Vec<(u16, Vec<u8>, Vec<u8>)> = vec![
        (1, with(&ethernet(&[8, 0]), &four, 6), with(&ethernet(&[0x86, 0xdd]), &six, 0)),
        (
            1,
            with(&ethernet(&[0x81, 0, 0, 7, 8, 0]), &four, 2),
            with(&ethernet(&[0x81, 0, 0, 7, 0x86, 0xdd]), &six, 0),
        ),
        (
            1,
            with(&ethernet(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 7, 8, 0]), &four, 0),
            with(&ethernet(&[0x81, 0, 0, 1, 0x81, 0, 0, 7, 0x86, 0xdd]), &six, 0),
        ),
        (
            1,
            with(&ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21]), &four, 4),
            with(&ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 62, 0, 0x57]), &six, 0),
        ),
        (
            1,
            with(&ethernet(&[0x88, 0x47, 0, 0, 0x10, 64, 0, 0, 0x21, 64]), &four, 0),
            with(&ethernet(&[0x88, 0x47, 0, 0, 0x11, 64]), &six, 0),
        ),
        (
            1,
            with(&ethernet(&[0, 48, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]), &four, 0),
            with(&ethernet(&[0, 68, 0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd]), &six, 0),
        ),
        (113, with(&cooked([8, 0]), &four, 0), with(&cooked([0x86, 0xdd]), &six, 0)),
        (276, with(&cooked2([8, 0]), &four, 0), with(&cooked2([0x86, 0xdd]), &six, 0)),
        (101, four.clone(), six.clone()),
        (12, four.clone(), six.clone()),
        (14, four.clone(), six.clone()),
        (228, four.clone(), six.clone()),
        (229, four.clone(), six.clone()),
        (0, with(&[2, 0, 0, 0], &four, 0), with(&[30, 0, 0, 0], &six, 0)),
        (0, with(&[0, 0, 0, 2], &four, 0), with(&[0, 0, 0, 24], &six, 0)),
        (108, with(&[0, 0, 0, 2], &four, 0), with(&[0, 0, 0, 28], &six, 0)),
        (9, with(&[0xff, 3, 0, 0x21], &four, 0), with(&[0, 0x57], &six, 0)),
        (9, with(&[0x21], &four, 0), with(&[0xff, 3, 0x57], &six, 0)),
        (50, with(&[0x0f, 0, 8, 0], &four, 0), with(&[0xff, 3, 0, 0x57], &six, 0)),
        (
            51,
            with(&[0x11, 0, 0, 1, 0, 42, 0, 0x21], &four, 0),
            with(&[0x11, 0, 0, 1, 0, 62, 0, 0x57], &six, 0),
        ),
        (104, with(&[0x0f, 0, 8, 0], &four, 0), with(&[0x0f, 0, 0x86, 0xdd], &six, 0)),
        (166, with(&[0, 3, 0, 0x21], &four, 0), with(&[1, 3, 0, 0x57], &six, 0)),
        (219, with(&[0, 0, 0x11, 64], &four, 0), with(&[0, 0, 0x11, 64], &six, 0)),
    ];
    for (link_type, four, six) in cases {
        assert_eq!(
            sizes(&frames(link_type, &[four.clone(), six])),
            [40, 60],
            "link type {link_type}: {four:?}"
        );
    }
    // Of nothing captured, the link type says how long its header is (case 07).
    for (link_type, header) in
        [(1, 14), (101, 0), (276, 20), (113, 16), (0, 4), (108, 4), (9, 2), (51, 8), (219, 4)]
    {
        let records = [(0, 0, Vec::new(), 52 + header), (0, 1, Vec::new(), 1500 + header)];
        assert_eq!(sizes(&pcap(MICRO, false, link_type, &records)), [52, 1500], "link type {link_type}");
    }
}

#[test]
fn frames_without_ip_are_left_out_and_counted() {
    let ethernet = |kind: [u8; 2], rest: &[u8]| [&[0; 12][..], &kind, rest].concat();
    let packet = ethernet([8, 0], &ipv4(1, 2, 17, &udp(12)));
    let (arp, lldp, spanning) =
        (ethernet([8, 6], &[0; 28]), ethernet([0x88, 0xcc], &[0; 40]), ethernet([0, 38], &[0x42; 38]));
    let recording = parse(&frames(1, &[arp.clone(), packet.clone(), lldp, packet, spanning])).unwrap();
    assert_eq!(packets(&recording), [(0.0, 40), (2.0, 40)]);
    assert_eq!(recording.notes, ["3 of 5 frames carry no IP (ARP, LLDP and the like) and are left out"]);
    assert_eq!(error(&frames(1, &[arp])).found, "1 frames, and none carries IP");
    for (link_type, name) in
        [(220, "USB"), (105, "802.11 frames"), (127, "radiotap"), (195, "802.15.4"), (4000, "4000")]
    {
        let error = error(&frames(link_type, &[vec![0; 64]]));
        assert!(error.found.contains(name) && error.found.contains(&link_type.to_string()), "{error}");
        assert!(error.accepted.contains("Ethernet (1)"), "{error:?}");
    }
}

#[test]
fn a_length_of_zero_is_that_of_the_frame() {
    let mut big = ipv6(6, &tcp(14_480));
    big[4..6].copy_from_slice(&[0, 0]);
    // The same with the option that BIG TCP has in front (RFC 2675), which goes when the packet is cut.
    let mut jumbo = ipv6(0, &[&[6, 0, 0xc2, 4, 0, 0, 0x38, 0xac][..], &tcp(14_480)].concat());
    jumbo[4..6].copy_from_slice(&[0, 0]);
    let mut offloaded = ipv4(1, 2, 6, &tcp(2920));
    offloaded[2..4].copy_from_slice(&[0, 0]);
    for (packet, segment, full) in [(big, 1440, 10), (jumbo, 1440, 10), (offloaded, 1460, 2)] {
        let sizes = sizes(&frames(RAW, &[packet]));
        assert_eq!(sizes.len(), if segment == 1440 { 11 } else { 2 });
        assert!(sizes[..full].iter().all(|size| *size == 1500), "{sizes:?}");
    }
}

#[test]
fn the_size_of_segments_follows_the_capture() {
    let on_wire = |packets: &[Vec<u8>]| sizes(&frames(RAW, packets));
    let super_of = |payload| ipv4(1, 2, 6, &tcp(payload));
    // Nothing says otherwise: full packets of 1500 bytes.
    assert_eq!(on_wire(&[super_of(4000)]), [1500, 1500, 1120]);
    // PPPoE: packets of 1492 bytes, seen whole, announced, or by what divides the super-packets.
    assert_eq!(on_wire(&[super_of(1452), super_of(1452), super_of(4000)])[2..], [1492, 1492, 1136]);
    assert_eq!(on_wire(&[ipv4(1, 2, 6, &syn(1452)), super_of(4000)])[1..], [1492, 1492, 1136]);
    assert_eq!(on_wire(&[super_of(1452), super_of(1452 * 4), super_of(1452 * 3)])[1..], [1492; 7]);
    // What is left of a burst is no full packet.
    assert_eq!(on_wire(&[super_of(1300), super_of(2920)]), [1340, 1500, 1500]);
    // Jumbo frames are packets that links carry, but their super-packets are not.
    assert_eq!(on_wire(&[super_of(8960), super_of(8960), super_of(1000)]), [9000, 9000, 1040]);
    let announced = [ipv4(1, 2, 6, &syn(8960)), super_of(8960), super_of(8960 * 2 + 10)];
    assert_eq!(on_wire(&announced)[1..], [9000, 9000, 9000, 50]);
    assert_eq!(on_wire(&[super_of(1460 * 6), super_of(1460 * 6)]), [1500; 12]);
    // QUIC with UDP_SEGMENT; a datagram that is left whole.
    let datagram = |payload| ipv4(1, 2, 17, &udp(payload));
    assert_eq!(
        on_wire(&[datagram(1252), datagram(1252), datagram(1252 * 3 + 90)])[2..],
        [1280, 1280, 1280, 118]
    );
    // Of other protocols the IP header is repeated.
    assert_eq!(on_wire(&[ipv4(1, 2, 50, &vec![0; 2960])]), [1500, 1500]);
    let note = &parse(&frames(RAW, &[super_of(4000)])).unwrap().notes[0];
    assert!(
        note.starts_with("1 of 1 packets are larger than a link carries") && note.contains("3 segments"),
        "{note}"
    );
}

#[test]
fn segments_come_at_once_and_before_what_follows() {
    let records = [(0, 0, Vec::new(), 64_240), (0, 40_000, Vec::new(), 64_240)];
    let recording = parse(&pcap(MICRO, false, RAW, &records)).unwrap();
    let packets = packets(&recording);
    assert_eq!(packets.len(), 86);
    assert!(
        packets[..43].iter().all(|(at, _)| *at == 0.0) && packets[43..].iter().all(|(at, _)| *at == 40.0)
    );
    assert_eq!((packets[0].1, packets[42].1), (1500, 64_240 - 42 * 1500));
    assert_eq!(recording.trace.bytes().get(), 2 * 64_240);
}

#[test]
fn pcapng_has_interfaces_with_units_and_offsets_of_their_own() {
    let datagram = ipv4(1, 2, 17, &udp(12));
    let frame = [&[0; 12][..], &[8, 0], &datagram, &[0; 6]].concat();
    for big_endian in [false, true] {
        let offset = |seconds: i64| if big_endian { seconds.to_be_bytes() } else { seconds.to_le_bytes() };
        let mut file = section(big_endian);
        // The default is microseconds; ten stands for 2^10 units a second with the highest bit set.
        file.extend(interface(big_endian, 1, &[(2, b"eth0")]));
        file.extend(interface(big_endian, 101, &[(9, &[9]), (14, &offset(100)), (0, &[])]));
        file.extend(interface(big_endian, 101, &[(9, &[0x8a]), (14, &offset(-100))]));
        file.extend(packet(big_endian, 0, 200_000_000, &frame, 60));
        // A block of another kind, such as names or statistics.
        file.extend(block(big_endian, 4, &[1, 2, 3, 4, 5, 6, 7]));
        file.extend(packet(big_endian, 1, 100_001_500_000, &datagram, 40));
        file.extend(packet(big_endian, 2, 300 * 1024 + 512, &datagram[..20], 40));
        let recording = parse(&file).unwrap();
        assert_eq!(packets(&recording), [(0.0, 40), (1.5, 40), (500.0, 40)], "big endian: {big_endian}");
        // A further section begins anew.
        let twice = [file.clone(), file.clone()].concat();
        assert!(parse(&twice).is_ok());
    }
}

#[test]
fn faults_of_pcapng_name_packet_and_byte() {
    let datagram = ipv4(1, 2, 17, &udp(12));
    let begin = [section(false), interface(false, 101, &[])].concat();
    let whole = [begin.clone(), packet(false, 0, 5, &datagram, 40)].concat();
    let at = begin.len() as u64;
    let simple = [whole.clone(), block(false, 3, &[&[40, 0, 0, 0][..], &datagram].concat())].concat();
    let fault = error(&simple);
    assert_eq!(fault.place, Place::Packet(2, whole.len() as u64));
    assert!(fault.found.contains("Simple Packet Block, which has no time"), "{fault}");
    assert!(error(&[begin.clone(), block(false, 2, &[0; 40])].concat()).found.contains("obsolete"));
    let stranger = error(&[begin.clone(), packet(false, 1, 5, &datagram, 40)].concat());
    assert_eq!(
        stranger.to_string(),
        format!(": packet 1 at byte {at}: a packet of an unknown interface: the capture is damaged")
    );
    let mut lying = whole.clone();
    lying[at as usize + 20] = 200;
    assert!(error(&lying).found.contains("contradicts itself"), "{}", error(&lying));
    let mut crooked = whole.clone();
    crooked[at as usize + 4] = 13;
    assert!(error(&crooked).found.contains("a block of 13 bytes"));
    let unit = [section(false), interface(false, 101, &[(9, &[99])])].concat();
    assert!(error(&unit).found.contains("unknown unit of time"));
    let cut = parse(&[whole.clone(), whole[at as usize..].to_vec()].concat()[..whole.len() + 40]).unwrap();
    assert_eq!(cut.trace.len(), 1);
    assert!(cut.notes[0].contains(&format!("inside packet 2, at byte {}", whole.len())), "{:?}", cut.notes);
    // An interface without IP is left out where others have packets; alone it is refused.
    let usb = [section(false), interface(false, 220, &[]), packet(false, 0, 5, &[0; 64], 64)].concat();
    assert!(error(&usb).found.contains("USB (link type 220)"));
    let mixed = [section(false), interface(false, 220, &[]), interface(false, 101, &[])].concat();
    let mixed = [mixed, packet(false, 0, 5, &[0; 64], 64), packet(false, 1, 5, &datagram, 40)].concat();
    assert_eq!(parse(&mixed).unwrap().trace.len(), 1);
}

#[test]
fn faults_of_captures_name_packet_and_byte() {
    let datagram = ipv4(1, 2, 17, &udp(12));
    let whole = pcap(MICRO, false, RAW, &[(1, 0, datagram.clone(), 40), (2, 0, datagram.clone(), 40)]);
    for cut in [whole.len() - 1, whole.len() - 44, whole.len() - 55] {
        let recording = parse(&whole[..cut]).unwrap();
        assert_eq!(recording.trace.len(), 1);
        let note = "the capture ends inside packet 2, at byte 80; the packets before it are taken";
        assert_eq!(recording.notes, [note]);
    }
    assert_eq!(error(&whole[..50]).found, "a trace without packets");
    assert_eq!(error(&whole[..12]).found, "the capture ends within its header");
    assert!(error(&pcap(MICRO, true, RAW, &[(2, 1_000_000, Vec::new(), 60)])).found.contains("damaged"));
    assert_eq!(error(&pcap(MICRO, true, RAW, &[])).found, "a trace without packets");
    let mut greedy = pcap(MICRO, false, RAW, &[(2, 0, Vec::new(), 60)]);
    greedy[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&greedy).found.contains("damaged"), "{}", error(&greedy));
    let huge = error(&pcap(MICRO, false, RAW, &[(2, 0, Vec::new(), 1 << 21)]));
    assert_eq!(huge.to_string(), ": packet 1 at byte 24: a packet of 2097152 bytes");
}

#[test]
fn order_is_mended_within_a_second() {
    let at = |seconds, fraction, length| (seconds, fraction, Vec::new(), length);
    let file = |records: &[Record]| pcap(MICRO, false, RAW, records);
    let mended =
        parse(&file(&[at(5, 0, 100), at(5, 900_000, 101), at(5, 5, 102), at(4, 999_995, 103)])).unwrap();
    assert_eq!(packets(&mended), [(0.0, 103), (0.005, 100), (0.01, 102), (900.005, 101)]);
    assert_eq!(mended.notes, ["2 packets were out of order, by 900.005 ms at most; all are sorted by time"]);
    let fault = error(&file(&[at(5, 0, 100), at(3, 900_000, 101)]));
    assert_eq!(
        fault.to_string(),
        ": packet 2 at byte 40: time runs backwards: it comes 1.1 s before an earlier packet"
    );
    assert_eq!(fault.help.as_deref(), Some("sort the capture: reordercap IN OUT"));
    // Packets of one instant keep their order.
    let alike = parse(&file(&[at(5, 0, 100), at(5, 0, 101), at(5, 0, 102)])).unwrap();
    assert_eq!(packets(&alike), [(0.0, 100), (0.0, 101), (0.0, 102)]);
}

#[test]
fn one_direction_of_many_hosts_is_taken_and_strays_are_said() {
    let datagram = |from, to| ipv4(from, to, 17, &udp(12));
    let mut backbone: Vec<Vec<u8>> =
        (0..1500u32).map(|at| datagram((at % 50) as u8, 100 + (at % 90) as u8)).collect();
    assert_eq!(parse(&frames(RAW, &backbone)).unwrap().notes, Vec::<String>::new());
    // One of 1500 goes the other way.
    backbone.push(datagram(100, 0));
    let recording = parse(&frames(RAW, &backbone)).unwrap();
    assert_eq!(recording.trace.len(), 1501);
    assert!(
        recording.notes[0].starts_with("1 packets go against the direction of the others"),
        "{:?}",
        recording.notes
    );
    // A laptop and its servers: the key names the laptop.
    let laptop: Vec<Vec<u8>> =
        (1..9).flat_map(|server| [datagram(9, server), datagram(server, 9), datagram(server, 9)]).collect();
    let fault = error(&frames(RAW, &laptop));
    assert!(
        fault
            .found
            .contains("16 packets with 640 bytes go from others to 198.18.0.9, and 8 packets with 320 bytes"),
        "{fault}"
    );
    let six = [ipv6(17, &udp(12)), ipv6(17, &udp(12))];
    assert_eq!(parse(&frames(RAW, &six)).unwrap().trace.len(), 2);
}

#[test]
fn prefixes_are_read_and_contain() {
    let wanted = |toward: &str| PacketFilter { toward: Some(toward.parse().unwrap()), from: None };
    let file = frames(RAW, &[ipv4(1, 2, 17, &udp(12)), ipv4(1, 130, 17, &udp(40)), ipv6(17, &udp(9))]);
    let bytes =
        |toward: &str| read(&file[..], &wanted(toward)).map(|recording| recording.trace.bytes().get()).ok();
    for (toward, taken) in [
        ("198.18.0.2", Some(40)),
        ("198.18.0.0/25", Some(40)),
        ("198.18.0.128/25", Some(68)),
        ("198.18.0.77/24", Some(108)),
        ("0.0.0.0/0", Some(108)),
        ("::/0", Some(57)),
        ("2001:db8::/32", Some(57)),
        ("2001:db8::2", Some(57)),
        ("2001:db8::1", None),
        ("10.0.0.0/8", None),
    ] {
        assert_eq!(bytes(toward), taken, "{toward}");
    }
    for text in ["", "198.18.0", "198.18.0.2/33", "2001:db8::/129", "host", "198.18.0.2/x", "/8"] {
        assert!(text.parse::<tightlink_capture::Prefix>().is_err(), "{text}");
    }
    // Packets of which no address was captured fit no prefix.
    let unseen = pcap(MICRO, false, RAW, &[(0, 0, Vec::new(), 60)]);
    let fault = read(&unseen[..], &wanted("10.0.0.1")).unwrap_err();
    assert!(fault.accepted.contains("at least the IP header was captured"), "{fault:?}");
}
