// libFuzzer: -max_len=1500 -runs=1/20
//! Sessions of senders. Input: the rules, then a script (`transfer::fuzzing`) of control connections and data connections.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::ready;
use transfer::fuzzing::sender_session;

fuzz_target!(init: ready(), |input: &[u8]| sender_session(input));
