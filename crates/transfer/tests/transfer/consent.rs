//! The receiver's user decides before anything is stored.

use crate::bench::{TestTransfer, noise};
use std::fs;
use std::sync::Mutex;
use tightlink_transfer::{
    Accept, Ending, Observer, Question, ReceiveOptions, Receiver, SendOptions, SilentObserver, Snapshot,
    TransferError, send,
};
use units::Bytes;

/// Answers every question alike, after looking into the folder.
struct Person<'a> {
    bench: &'a TestTransfer,
    yes: bool,
    asked: Mutex<Vec<String>>,
}

impl Observer for Person<'_> {
    fn say(&self, _line: &str) {}
    fn progress(&self, _snapshot: &Snapshot) {}
    fn accept(&self, question: &Question, _is_over: &dyn Fn() -> bool) -> bool {
        // A person takes a while.
        std::thread::park_timeout(std::time::Duration::from_millis(700));
        let here = fs::read_dir(self.bench.to()).unwrap().count();
        assert_eq!(here, 1, "nothing but the state folder is there");
        self.asked.lock().unwrap().push(question.text.clone());
        self.yes
    }
}

fn asked(yes: bool) -> (TestTransfer, Result<u64, TransferError>, Result<u64, TransferError>, Vec<String>) {
    let bench = TestTransfer::new();
    bench.write("x/one", noise(200_000, 1));
    bench.write("x/two", "small");
    fs::create_dir(bench.from().join("x/empty")).unwrap();
    let options =
        ReceiveOptions { accept: Accept { ask: true, ..Accept::default() }, ..TestTransfer::options() };
    let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    let ticket = receiver.ticket().clone();
    let person = Person { bench: &bench, yes, asked: Mutex::default() };
    let (sent, received) = std::thread::scope(|threads| {
        let receiving = threads.spawn(|| receiver.run(&person));
        let path = bench.from().join("x");
        let sent = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver);
        (sent, receiving.join().unwrap())
    });
    let asked = person.asked.into_inner().unwrap();
    (bench, sent.map(|sent| sent.entries), received.map(|received| received.entries), asked)
}

#[test]
fn a_person_is_asked_once_and_yes_lets_it_in() {
    let (bench, sent, received, asked) = asked(true);
    assert_eq!((sent.unwrap(), received.unwrap()), (4, 4));
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains("127.0.0.1:") && asked[0].contains("4 files and folders, 200 kB"), "{asked:?}");
    assert!(fs::read(bench.to().join("x/one")).unwrap() == noise(200_000, 1));
}

#[test]
fn no_keeps_everything_out_and_both_sides_are_told() {
    let (bench, sent, received, _) = asked(false);
    let (sent, received) = (sent.unwrap_err(), received.unwrap_err());
    assert_eq!((sent.ending(), received.ending()), (Ending::Refused, Ending::Refused));
    assert!(sent.to_string().contains("the receiver's user declined"), "{sent}");
    assert_eq!(fs::read_dir(bench.to()).unwrap().count(), 0, "the ticket is of no use any more");
}

#[test]
fn a_limit_holds_for_a_session_however_often_its_receiver_is_started() {
    let bench = TestTransfer::new();
    let paths = [bench.write("one", noise(700, 1)), bench.write("taken", "it is")];
    fs::create_dir(bench.to()).unwrap();
    fs::write(bench.to().join("taken"), "by another file").unwrap();
    let limited = |limit| {
        let accept = Accept { limit: Some(Bytes::new(limit)), ..Accept::default() };
        ReceiveOptions { accept, ..TestTransfer::options() }
    };
    // Something is missing in the end: the session goes on.
    let first = bench.transfer_to(&limited(1000), &paths, &SendOptions::default());
    assert!(matches!(first.received, Err(TransferError::Incomplete { failed: 1, .. })));
    let more = [bench.write("two", noise(600, 2))];
    let second = bench.transfer_to(&limited(1000), &more, &SendOptions::default());
    assert_eq!(second.sent.unwrap_err().ending(), Ending::Partial);
    assert!(
        second.there.heard().contains("two: it is more than --accept allows"),
        "{}",
        second.there.heard()
    );
    assert!(!bench.to().join("two").exists());
    // The same again costs nothing.
    let third =
        bench.transfer_to(&limited(1300), &[paths[0].clone(), more[0].clone()], &SendOptions::default());
    third.received.unwrap();
    assert!(fs::read(bench.to().join("two")).unwrap() == noise(600, 2));
}

#[test]
fn more_than_the_limit_is_refused_before_anything_is_stored() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(200_000, 1));
    let limited = |limit| {
        let accept = Accept { limit: Some(Bytes::new(limit)), ..Accept::default() };
        ReceiveOptions { accept, ..TestTransfer::options() }
    };
    let transfer = bench.transfer_to(&limited(199_999), std::slice::from_ref(&path), &SendOptions::default());
    let (sent, received) = (transfer.sent.unwrap_err(), transfer.received.unwrap_err());
    assert_eq!((sent.ending(), received.ending()), (Ending::Refused, Ending::Refused));
    assert!(received.to_string().contains("200 kB; --accept allows 199.999kB"), "{received}");
    assert!(!bench.to().join("file").exists());
    bench.transfer_to(&limited(200_000), &[path], &SendOptions::default()).received.unwrap();
}
