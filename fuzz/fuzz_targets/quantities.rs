// libFuzzer: -max_len=60 -dict=quantities
//! The text forms of quantities. Input: the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use tightlink_fuzz::ready;
use units::{Bytes, Fraction, Rate, Span, TextError, Time};

fuzz_target!(init: ready(), |input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    read::<Bytes>(text);
    read::<Rate>(text);
    read::<Fraction>(text);
    if let Some(span) = read::<Span>(text) {
        let time = Time::ZERO + span;
        assert!(time == Time::NEVER || time.to_string() == span.to_string());
    }
});

/// A text that is read is printed, and that is read as the same.
fn read<Q: FromStr<Err = TextError> + Display + Debug + PartialEq + Copy>(text: &str) -> Option<Q> {
    match text.parse::<Q>() {
        Ok(quantity) => {
            let printed = quantity.to_string();
            assert_eq!(printed.parse(), Ok(quantity), "printed as {printed}");
            Some(quantity)
        }
        Err(error) => {
            assert_eq!(error.text, text);
            assert!((1..=text.chars().count() + 1).contains(&error.column), "column {}", error.column);
            assert!(!error.found.is_empty() && !error.accepted.is_empty());
            None
        }
    }
}
