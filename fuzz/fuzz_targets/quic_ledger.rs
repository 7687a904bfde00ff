// libFuzzer: -max_len=1000
//! The ledger of a QUIC flow. Input: a controller, then calls in the form of `crates/quic/fuzzing/ledger.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quic::fuzzing::ledger;
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |input: &[u8]| ledger(input));
