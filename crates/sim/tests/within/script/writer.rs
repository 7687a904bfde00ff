//! The send buffer: the data that the program has written bounds the data in flight, and it writes when a third is free
//! (Linux's `sk_stream_is_writeable`).

use super::{config, leaving, ms};
use crate::tcp::{Acknowledgement, Feedback, Full, Sender, SenderConfig};
use transport::SendBuffer;
use units::Bytes;

/// Returns a sender with a window of 1000 segments behind 100 kB of memory. That is 98 segments of payload, for which
/// two super-packets of 65 are begun. The program is woken at two thirds of 98, 65 segments.
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
        feedback: Feedback::default(),
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
    // The written data are the limit again: 130 of 140 have left.
    assert_eq!(acknowledges(&mut sender, 40, u64::MAX), 90);
    assert_eq!(acknowledges(&mut sender, 60, u64::MAX), 0);
}

/// A window does not grow if the buffer keeps it from being used.
#[test]
fn a_window_beyond_the_buffer_does_not_grow() {
    let mut sender = Sender::new(behind_memory());
    leaving(&mut sender, ms(0));
    acknowledges(&mut sender, 130, u64::MAX);
    assert_eq!(sender.window_segments(), 1000);
}
