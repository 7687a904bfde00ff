//! The digests of what was received.

use crate::bench::{TestTransfer, noise};
use std::fs;
use tightlink_transfer::digests::{Checked, Report, check};
use tightlink_transfer::{ReceiveOptions, Receiver, SendOptions, TransferError};

#[test]
fn what_was_received_can_be_verified_later() {
    let bench = TestTransfer::new();
    bench.write("x/large", noise(3_000_001, 1));
    bench.write("x/small", noise(500, 2));
    bench.write("x/empty", "");
    bench.write("x/odd \\ \n name", "odd");
    let file = bench.from().join("sums");
    let listing = ReceiveOptions { digests: Some(file.clone()), ..TestTransfer::options() };
    let transfer = bench.transfer_to(&listing, &[bench.from().join("x")], &SendOptions::default());
    transfer.sent.unwrap();
    transfer.received.unwrap();
    let report = check(&file, &bench.to(), &mut |_, found| assert_eq!(found, Checked::Same)).unwrap();
    assert_eq!(report, Report { same: 4, ..Report::default() });
    let digest = blake3::hash(&noise(3_000_001, 1)).to_hex();
    assert!(fs::read_to_string(&file).unwrap().contains(&format!("{digest}  x/large\n")), "plain BLAKE3");
    fs::write(bench.to().join("x/small"), noise(500, 3)).unwrap();
    assert_eq!(
        check(&file, &bench.to(), &mut |_, _| {}).unwrap(),
        Report { same: 3, differ: 1, ..Report::default() }
    );
}

#[test]
fn a_file_for_the_digests_that_exists_is_refused_before_anything_is_received() {
    let bench = TestTransfer::new();
    let file = bench.write("precious", "mine");
    let listing = ReceiveOptions { digests: Some(file.clone()), ..TestTransfer::options() };
    let error = Receiver::open(&bench.to(), &listing, &bench.clock).map(drop).unwrap_err();
    assert!(matches!(error, TransferError::Usage(_)), "{error}");
    assert_eq!(fs::read(file).unwrap(), b"mine");
    assert!(!bench.to().exists());
}
