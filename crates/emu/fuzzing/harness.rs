//! For the fuzz targets only (`--cfg fuzzing`): the emulator's reading of a packet.

use crate::segment::{HEADERS_MAX, Split};
use crate::vnet::{VNET_LEN, VnetHeader};
use crate::{ecn, flow};

units::fuzzing_checks!();

/// Reads `frame`, a virtio header and a packet, and frames the segments from `start` on; `None` if it has no segments.
///
/// # Panics
/// If a property of segments does not hold: this is what the target tests.
#[must_use]
pub fn segments(frame: &[u8], start: u32) -> Option<Vec<u8>> {
    let (head, packet) = frame.split_first_chunk::<VNET_LEN>()?;
    let _ = flow::FlowKey::of(packet);
    let mut marked = packet.to_vec();
    ecn::mark(&mut marked);
    assert!(ecn::of(packet) == ecn::of(&marked) || ecn::of(&marked) == link::Ecn::Marked);
    let split = Split::of(VnetHeader::read(head), packet).ok()?;
    let count = split.count();
    let start = start % count;
    let mut headers = [0; HEADERS_MAX];
    let (length, rest) = split.frame(frame, start..count, &mut headers);
    let mut written = headers[..length].to_vec();
    written.extend(&frame[rest]);
    assert!(written.len() <= frame.len(), "segments hold no more than their packet");
    assert!(start > 0 || written.len() == frame.len(), "all of the segments hold all of it");
    assert!(split.wire_len(start) > 0 && split.wire_len(count - 1) > 0);
    Some(written)
}
