//! What is sent arrives.

use crate::bench::{TestTransfer, no_session_in, noise};
use std::fs;
use tightlink_transfer::SendOptions;

#[test]
fn a_file_arrives_as_it_is_and_the_session_is_forgotten() {
    let bench = TestTransfer::new();
    let content = noise(5_000_001, 1);
    let path = bench.write("one.bin", &content);
    let transfer = bench.transfer(&[path], &SendOptions::default());
    let sent = transfer.sent.unwrap();
    assert_eq!((sent.entries, sent.bytes, sent.sent, sent.skipped), (1, 5_000_001, Some(5_000_001), 0));
    let received = transfer.received.unwrap();
    assert_eq!((received.entries, received.bytes), (1, 5_000_001));
    assert!(fs::read(bench.to().join("one.bin")).unwrap() == content);
    no_session_in(&bench.to());
    assert!(transfer.there.heard().contains("begins"), "{}", transfer.there.heard());
    assert_eq!(fs::read_dir(bench.to()).unwrap().count(), 1);
}
