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
