// libFuzzer: -max_len=300
//! Tickets. Input: a form, then a text, or the content of a ticket.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::{ready, ticket};
use transfer::Ticket;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let text = if form & 1 == 0 { ticket(rest) } else { String::from_utf8_lossy(rest).into_owned() };
    match text.parse::<Ticket>() {
        Ok(read) => {
            assert!((1..=8).contains(&read.addresses.len()) && read.port != 0);
            let printed = read.to_string();
            assert!(printed.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
            if form & 1 == 0 {
                assert_eq!(printed, text, "a content has one text");
            }
            assert_eq!(printed.parse(), Ok(read), "printed and read again");
        }
        Err(error) => assert!(!error.to_string().chars().any(|letter| letter.is_control() && letter != '\n')),
    }
});
