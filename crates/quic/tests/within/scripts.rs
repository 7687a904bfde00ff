//! Property tests: random scripts for the ledger and for both ends.

use super::{datagrams::datagrams, ledger::ledger};
use cc::registry::CONTROLS;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Acknowledgements and losses come in any order, of unknown packets, repeated, and in parts.
    #[test]
    fn the_ledgers_bytes_are_those_of_its_records_whatever_is_called(script in vec(any::<u8>(), 0..600)) {
        for number in 0..CONTROLS.len() {
            ledger(&[&[number as u8], &script[..]].concat());
        }
    }

    #[test]
    fn a_flow_goes_on_whatever_datagrams_are_forged(script in vec(any::<u8>(), 0..1000)) {
        datagrams(&script);
    }
}

/// A script that the fuzzer found: it withdrew a packet that was settled already, which no owner does.
#[test]
fn a_packet_that_is_withdrawn_counts_as_control() {
    ledger(&[
        7, 14, 1, 0, 7, 14, 1, 0, 0, 0, 59, 58, 66, 99, 254, 249, 14, 65, 0, 0, 0, 59, 41, 1, 0, 59, 66, 58,
        99, 8, 254, 249, 0, 14, 65, 0, 0, 59, 41, 1, 0, 255, 255, 86, 86, 86, 99, 0, 0, 59, 66, 249, 254, 9,
        99, 58, 65, 0, 0, 99, 0, 59, 1, 0, 0, 86, 86, 86, 99, 249,
    ]);
}
