//! The send buffer: what the program has written bounds what is in flight, and it writes when a third is free
//! (Linux's `sk_stream_is_writeable`).

use super::{config, leaving, ms, play};
use crate::tcp::{Acknowledgement, Full, Sender, SenderConfig};
use transport::SendBuffer;
use units::Bytes;

/// A window of 1000 segments behind 100 kB of memory: 98.2 kB of payload, and the rest of a super-packet, 130 segments.
/// The program is woken at two thirds of 98.2 kB, 65 segments.
fn behind_memory() -> SenderConfig {
    let mut config = config(1000);
    config.transport.host.send_buffer = SendBuffer::AtMost(Bytes::new(100_000));
    config
}

fn acknowledges(sender: &mut Sender, below: u64, window: u64) -> usize {
    let ack = Acknowledgement {
        cumulative: below,
        sacked: None,
        duplicate: false,
        congested: false,
        newest_sent: ms(100),
        echo: ms(0),
        window,
    };
    sender.on_ack::<Full>(ms(100), &ack, &[]);
    leaving(sender, ms(100)).len()
}

#[test]
fn the_program_fills_the_buffer_when_a_third_is_free() {
    let mut sender = Sender::new(behind_memory());
    assert_eq!(leaving(&mut sender, ms(0)).len(), 130);
    assert_eq!(acknowledges(&mut sender, 64, u64::MAX), 0, "66 are left");
    assert_eq!(acknowledges(&mut sender, 65, u64::MAX), 65, "in one burst");
    assert_eq!(acknowledges(&mut sender, 129, u64::MAX), 0);
    assert_eq!(acknowledges(&mut sender, 140, u64::MAX), 75);
}

#[test]
fn a_smaller_receive_window_holds_beside_it() {
    let mut sender = Sender::new(SenderConfig { buffer_segments: 20, ..behind_memory() });
    assert_eq!(leaving(&mut sender, ms(0)).len(), 20);
    assert_eq!(acknowledges(&mut sender, 10, 30), 20);
    // What is written is the limit again: 130 of 140 have left.
    assert_eq!(acknowledges(&mut sender, 40, u64::MAX), 90);
    assert_eq!(acknowledges(&mut sender, 60, u64::MAX), 0);
}

/// A window that the buffer keeps unused does not grow.
#[test]
fn a_window_beyond_the_buffer_does_not_grow() {
    let mut sender = Sender::new(behind_memory());
    leaving(&mut sender, ms(0));
    acknowledges(&mut sender, 130, u64::MAX);
    assert_eq!(sender.window_segments(), 1000);
}

/// With super-packets the end of what is written waits for no acknowledgement.
#[test]
fn the_end_of_what_is_written_does_not_wait() {
    let mut config = config(40);
    config.transport.host.tso = true;
    config.transport.host.send_buffer = SendBuffer::AtMost(Bytes::new(8_000));
    play(
        config,
        "0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 |
         100 · ack 1 · |
         100 · ack 34 · |
         # Five are left of 40.
         100 · ack 35 · 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 |",
    );
}
