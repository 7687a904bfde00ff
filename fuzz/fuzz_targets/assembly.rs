// libFuzzer: -max_len=300 -runs=1/20
//! The receiving end without its connections. Input: the rules, then messages in the form of `receive/fuzzing/assembly.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::ready;
use transfer::fuzzing::assembly;

fuzz_target!(init: ready(), |input: &[u8]| assembly(input));
