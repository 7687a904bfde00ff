//! Headers of the link layer, by the link type that a capture names (<https://www.tcpdump.org/linktypes.html>).

/// A link type of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkType(pub u16);

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameContent<'a> {
    /// An IP packet, as far as it was captured.
    Ip(&'a [u8]),
    /// Something else: ARP, LLDP, a control frame.
    Other,
    /// Too little was captured to tell.
    Unseen,
}

/// The beginning of the frames of a link type.
#[derive(Clone, Copy)]
enum FrameStart {
    /// This number of bytes, with an EtherType at this offset.
    EtherType(usize, usize),
    /// An IP packet.
    Ip,
    /// An address family of four bytes.
    Family,
    /// PPP, after this number of bytes.
    Ppp(usize),
    /// MPLS labels.
    Mpls,
}

/// The link types that carry IP.
const FORMS: &[(u16, FrameStart)] = &[
    (0, FrameStart::Family),
    (1, FrameStart::EtherType(14, 12)),
    (9, FrameStart::Ppp(0)),
    (12, FrameStart::Ip),
    (14, FrameStart::Ip),
    (50, FrameStart::Ppp(0)),
    (51, FrameStart::Ppp(6)),
    (101, FrameStart::Ip),
    (104, FrameStart::EtherType(4, 2)),
    (108, FrameStart::Family),
    (113, FrameStart::EtherType(16, 14)),
    (166, FrameStart::Ppp(0)),
    (219, FrameStart::Mpls),
    (228, FrameStart::Ip),
    (229, FrameStart::Ip),
    (276, FrameStart::EtherType(20, 0)),
];

/// The names of common link types that carry no IP or hide it.
const NAMES: &[(u16, &str)] = &[
    (6, "token ring"),
    (10, "FDDI"),
    (105, "802.11 frames"),
    (119, "802.11 frames with a Prism header"),
    (127, "802.11 frames with a radiotap header"),
    (147, "a user's own link type"),
    (163, "802.11 frames with an AVS header"),
    (187, "Bluetooth"),
    (189, "USB"),
    (192, "per-packet information (PPI)"),
    (195, "802.15.4"),
    (201, "Bluetooth"),
    (220, "USB"),
    (227, "CAN bus"),
    (230, "802.15.4"),
    (239, "netfilter's log"),
    (245, "NFC"),
    (249, "USB"),
    (251, "Bluetooth Low Energy"),
    (252, "Wireshark's upper PDUs"),
    (253, "netlink"),
    (254, "Bluetooth"),
    (256, "Bluetooth Low Energy"),
    (266, "USB"),
    (272, "nRF sniffer"),
    (283, "802.15.4"),
];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: 802.1Q, 802.1ad, and an older one of Q-in-Q.
const VLANS: &[u16] = &[0x8100, 0x88a8, 0x9100];
const PPPOE: u16 = 0x8864;
const MPLS: &[u16] = &[0x8847, 0x8848];
/// The least EtherType: smaller values are lengths, and LLC follows (802.3).
const LEAST_TYPE: u16 = 0x0600;
/// LLC and SNAP in front of an EtherType.
const SNAP: &[u8] = &[0xaa, 0xaa, 0x03, 0, 0, 0];

impl LinkType {
    fn form(self) -> Option<FrameStart> {
        FORMS.iter().find(|(number, _)| *number == self.0).map(|(_, form)| *form)
    }

    /// Returns true if frames of this type can carry IP.
    pub(crate) fn carries_ip(self) -> bool {
        self.form().is_some()
    }

    /// Describes the type: "802.11 frames (link type 105)".
    pub(crate) fn described(self) -> String {
        let name = NAMES.iter().find(|(number, _)| *number == self.0);
        name.map_or_else(
            || format!("link type {}", self.0),
            |(number, name)| format!("{name} (link type {number})"),
        )
    }

    /// Returns the length of the shortest header in front of IP, for frames of which too little was captured to see it.
    pub(crate) fn shortest_header(self) -> usize {
        match self.form() {
            Some(FrameStart::EtherType(header, _)) => header,
            Some(FrameStart::Family | FrameStart::Mpls) => 4,
            Some(FrameStart::Ppp(before)) => before + 2,
            Some(FrameStart::Ip) | None => 0,
        }
    }

    /// Returns the content of a frame, of which `data` were captured.
    pub(crate) fn carried(self, data: &[u8]) -> FrameContent<'_> {
        match self.form() {
            None => FrameContent::Other,
            Some(FrameStart::Ip) => versioned(data),
            Some(FrameStart::Ppp(before)) => data.get(before..).map_or(FrameContent::Unseen, ppp),
            Some(FrameStart::Mpls) => mpls(data),
            Some(FrameStart::Family) => match data.first_chunk::<4>() {
                None => FrameContent::Unseen,
                Some(family) => family_of(*family, &data[4..]),
            },
            Some(FrameStart::EtherType(header, at)) => match (word(data, at), data.get(header..)) {
                (Some(kind), Some(rest)) => ether_type(kind, rest),
                _ => FrameContent::Unseen,
            },
        }
    }
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk::<2>().map(|bytes| u16::from_be_bytes(*bytes))
}

/// Reads the packet behind an address family, in the byte order of the machine that captured: AF_INET is 2 everywhere,
/// AF_INET6 is 10, 24, 28 or 30.
fn family_of(family: [u8; 4], rest: &[u8]) -> FrameContent<'_> {
    let family = match family {
        [0, 0, 0, family] | [family, 0, 0, 0] => family,
        _ => 0,
    };
    if matches!(family, 2 | 10 | 24 | 28 | 30) { versioned(rest) } else { FrameContent::Other }
}

/// Recognizes IP by the version in its first byte.
fn versioned(data: &[u8]) -> FrameContent<'_> {
    match data.first().map(|byte| byte >> 4) {
        None => FrameContent::Unseen,
        Some(4 | 6) => FrameContent::Ip(data),
        Some(_) => FrameContent::Other,
    }
}

fn ether_type(mut kind: u16, mut rest: &[u8]) -> FrameContent<'_> {
    while VLANS.contains(&kind) {
        let (Some(inner), Some(after)) = (word(rest, 2), rest.get(4..)) else { return FrameContent::Unseen };
        (kind, rest) = (inner, after);
    }
    match kind {
        IPV4 | IPV6 if rest.is_empty() => FrameContent::Unseen,
        IPV4 | IPV6 => versioned(rest),
        PPPOE => rest.get(6..).map_or(FrameContent::Unseen, ppp),
        kind if MPLS.contains(&kind) => mpls(rest),
        kind if kind < LEAST_TYPE => match (rest.get(..6), word(rest, 6)) {
            (Some(SNAP), Some(IPV4 | IPV6)) => versioned(&rest[8..]),
            (Some(_), _) => FrameContent::Other,
            (None, _) => FrameContent::Unseen,
        },
        _ => FrameContent::Other,
    }
}

/// Reads PPP. An address and a control field may be left out, and so may the first byte of the protocol (RFC 1661, 6.5,
/// 6.6). Captures of pppd have a direction in place of the address. Cisco's HDLC has an EtherType instead.
fn ppp(data: &[u8]) -> FrameContent<'_> {
    let data = match data {
        [0x0f | 0x8f, 0x00, rest @ ..] => {
            return match (word(rest, 0), rest.get(2..)) {
                (Some(kind), Some(rest)) => ether_type(kind, rest),
                _ => FrameContent::Unseen,
            };
        }
        [0xff | 0x00 | 0x01, 0x03, rest @ ..] => rest,
        data => data,
    };
    match data {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => versioned(rest),
        [] | [0x00] => FrameContent::Unseen,
        _ => FrameContent::Other,
    }
}

/// Reads MPLS: labels of four bytes, of which the last has a bit set, and then usually IP (RFC 3032).
fn mpls(mut data: &[u8]) -> FrameContent<'_> {
    loop {
        let Some((label, rest)) = data.split_first_chunk::<4>() else { return FrameContent::Unseen };
        if label[2] & 1 == 1 {
            return versioned(rest);
        }
        data = rest;
    }
}
