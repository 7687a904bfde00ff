// libFuzzer: -max_len=1000 -runs=1/20
//! A sender's control connection. Input: its data connections, then a script (`transfer::fuzzing`) of its receiver's bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::ready;
use transfer::fuzzing::sender_control;

fuzz_target!(init: ready(), |input: &[u8]| sender_control(input));
