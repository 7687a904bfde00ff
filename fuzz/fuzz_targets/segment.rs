// libFuzzer: -max_len=400
//! Packets on the emulated path: segments, flows, ECN. Input: a segment to begin at, a virtio header, an IP packet.

#![no_main]

use emu::fuzzing::segments;
use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&start, frame)) = input.split_first() else { return };
    if let Some(written) = segments(frame, 0) {
        // All segments as one packet: again a packet with the same segments.
        assert_eq!(segments(&written, 0).as_ref(), Some(&written), "framed again");
    }
    let _ = segments(frame, start.into());
});
