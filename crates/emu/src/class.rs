//! The hosts and the class of an IP packet, IPv4 and IPv6.

/// Returns the DSCP of `packet` (RFC 2474), 0 without a whole IP header.
pub(crate) fn dscp(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 4 => second >> 2,
        // The traffic class lies across the first two bytes.
        [first, second, ..] if first >> 4 == 6 => ((first & 0x0f) << 2) | (second >> 6),
        _ => 0,
    }
}

/// Returns keys of the addresses of `packet`: sender and receiver. Both are 0 without a whole IP header. An IPv6
/// address is folded.
pub(crate) fn hosts(packet: &[u8]) -> (u32, u32) {
    let (at, length) = match packet.first() {
        Some(first) if first >> 4 == 4 => (12, 4),
        Some(first) if first >> 4 == 6 => (8, 16),
        _ => return (0, 0),
    };
    let key = |at: usize| {
        let address = packet.get(at..at + length)?;
        let words =
            address.chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
        Some(words.fold(0u32, |key, word| key.rotate_left(7).wrapping_mul(0x9e37_79b1) ^ word))
    };
    (key(at).unwrap_or(0), key(at + length).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_class_come_from_the_header() {
        let mut packet = vec![0u8; 40];
        (packet[0], packet[1]) = (0x45, 46 << 2 | 1);
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!((dscp(&packet), hosts(&packet)), (46, (0x0a00_0001, 0x0a00_0002)));
        // Traffic class 0xb8 of IPv6 is EF, too.
        (packet[0], packet[1]) = (0x6b, 0x80);
        packet[8..40].fill(0);
        (packet[23], packet[39]) = (1, 2);
        let (source, destination) = hosts(&packet);
        assert_eq!((dscp(&packet), source != destination), (46, true));
        for short in [&packet[..0], &packet[..1], &packet[..20]] {
            assert_eq!(hosts(short).1, 0);
        }
        assert_eq!(dscp(&packet[..1]), 0);
    }
}
