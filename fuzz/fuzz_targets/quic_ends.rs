// libFuzzer: -max_len=1000 -runs=1/100
//! Forged datagrams at both ends of a QUIC flow. Input: turns and forgeries in the form of
//! `crates/quic/fuzzing/datagrams.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quic::fuzzing::datagrams;
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |input: &[u8]| datagrams(input));
