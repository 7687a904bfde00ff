//! The ten bytes in front of every packet on the TUN descriptor: `struct virtio_net_hdr`, native byte order.

/// The length of the header.
pub(crate) const VNET_LEN: usize = 10;

/// The flag of a checksum field that holds only the pseudo-header's sum; the receiver of the packet computes the rest.
pub(crate) const NEEDS_CSUM: u8 = 1;

/// The kinds of super-packet in `gso_type`.
pub(crate) const GSO_NONE: u8 = 0;
pub(crate) const GSO_TCPV4: u8 = 1;
pub(crate) const GSO_TCPV6: u8 = 4;
pub(crate) const GSO_UDP_L4: u8 = 5;
/// The flag, in addition to a TCP kind, of a super-packet whose first segment carries CWR.
pub(crate) const GSO_ECN: u8 = 0x80;

/// The kernel's description of the packet that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VnetHeader {
    pub(crate) flags: u8,
    pub(crate) gso_type: u8,
    pub(crate) hdr_len: u16,
    pub(crate) gso_size: u16,
    pub(crate) csum_start: u16,
    pub(crate) csum_offset: u16,
}

impl VnetHeader {
    pub(crate) fn read(bytes: &[u8; VNET_LEN]) -> Self {
        let [flags, gso_type, a, b, c, d, e, f, g, h] = *bytes;
        Self {
            flags,
            gso_type,
            hdr_len: u16::from_ne_bytes([a, b]),
            gso_size: u16::from_ne_bytes([c, d]),
            csum_start: u16::from_ne_bytes([e, f]),
            csum_offset: u16::from_ne_bytes([g, h]),
        }
    }

    pub(crate) fn bytes(self) -> [u8; VNET_LEN] {
        let [a, b] = self.hdr_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h]
    }
}
