// libFuzzer: -max_len=600
//! Frames of the transfer's protocol. Input: a kind of message and a form, then bytes, with or without their frame.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;
use tightlink_fuzz::{framed, pieces, ready};
use transfer::wire::Greeting;
use transfer::wire::control::{ToReceiver, ToSender};
use transfer::wire::data::Data;
use transfer::wire::frame::{Framed, append, first};
use transfer::wire::test::{Load, ToTested, ToTester};

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&kind, rest)) = input.split_first() else { return };
    let stream = if kind & 4 == 0 { pieces(rest).flat_map(framed).collect() } else { rest.to_vec() };
    match kind & 11 {
        0 => read::<Greeting>(&stream),
        1 => read::<ToReceiver>(&stream),
        2 => read::<ToSender>(&stream),
        3 => read::<Data>(&stream),
        8 => read::<ToTested>(&stream),
        9 => read::<ToTester>(&stream),
        _ => read::<Load>(&stream),
    }
});

/// Reads message after message.
fn read<M: Framed + PartialEq + Debug>(mut stream: &[u8]) {
    loop {
        let whole = first::<M>(stream);
        // So many bytes decide: a shorter beginning is not whole yet, a longer one gives the same result.
        let decided = match &whole {
            Ok(None) => stream.len() + 1,
            Ok(Some((_, length))) => *length,
            Err(_) => (4..=stream.len()).find(|&cut| first::<M>(&stream[..cut]) != Ok(None)).unwrap(),
        };
        for cut in 0..decided.min(stream.len() + 1) {
            assert_eq!(first::<M>(&stream[..cut]), Ok(None), "decided by {cut} bytes of {decided}");
        }
        if decided <= stream.len() {
            assert_eq!(first::<M>(&stream[..decided]), whole, "by {decided} bytes of {}", stream.len());
        }
        let Ok(Some((message, length))) = whole else { return };
        assert!((4..=stream.len()).contains(&length));
        let mut again = Vec::new();
        append(&mut again, &message);
        let written = again.len();
        assert_eq!(first::<M>(&again), Ok(Some((message, written))), "written and read again");
        assert!(written <= length, "the shortest form is written");
        stream = &stream[length..];
    }
}
