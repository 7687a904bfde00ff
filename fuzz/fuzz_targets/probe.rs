// libFuzzer: -max_len=200
//! Datagrams of probing. Input: a form, then a datagram, with its own authentication code or a right one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use probe::fuzzing::{probe, probe_signed};
use tightlink_fuzz::ready;

/// The part that every message has.
const HEAD: usize = 72;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let datagram = if form & 1 == 0 { probe_signed(rest.to_vec()) } else { rest.to_vec() };
    if let Some(again) = probe(&datagram) {
        // The filling of a train's packet is not read.
        assert_eq!((again.len(), &again[..HEAD]), (datagram.len(), &datagram[..HEAD]), "it has one form");
    }
});
