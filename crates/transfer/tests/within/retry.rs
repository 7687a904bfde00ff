//! Tests of the pauses between tries.

use super::*;

fn gone() -> TransferError {
    TransferError::gone("cut")
}

fn reached(limit: Span) -> Retry {
    let mut retry = Retry::new(limit, Clock::start());
    retry.reached();
    retry
}

#[test]
fn pauses_grow_until_there_is_progress() {
    let mut retry = reached(Span::from_secs(3600));
    let pauses: Vec<Span> = (0..9).map(|_| retry.pause(&gone()).unwrap()).collect();
    let expected = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
    assert_eq!(pauses, expected.map(Span::from_millis));
    retry.got(&Progress { bytes: 1, ..Progress::default() }, (1, 1));
    assert_eq!(retry.pause(&gone()), Some(FIRST_PAUSE));
    retry.got(&Progress { bytes: 1, ..Progress::default() }, (1, 1));
    assert_ne!(retry.pause(&gone()), Some(FIRST_PAUSE), "the same again is no progress");
    retry.got(&Progress { bytes: 9, entries: 9, ..Progress::default() }, (0, 1));
    assert_ne!(retry.pause(&gone()), Some(FIRST_PAUSE), "nor is more than there is");
}

#[test]
fn what_cannot_pass_and_what_was_never_reached_is_not_tried_again() {
    let unreachable = TransferError::Unreachable { tried: "x".into() };
    let address = "192.0.2.7:1".parse().unwrap();
    let mut retry = Retry::new(Span::from_secs(60), Clock::start());
    assert_eq!(retry.pause(&unreachable), None);
    retry.reached();
    assert!(retry.pause(&unreachable).is_some());
    assert!(retry.pause(&TransferError::Refused(ANOTHER_SENDER.into())).is_some());
    for error in [
        TransferError::Refused("the ticket has expired".into()),
        TransferError::Aborted("no room".into()),
        TransferError::TicketRefused { address },
        TransferError::OtherReceiver { address },
        TransferError::Incomplete { failed: 1, all: 2, first: "x".into() },
    ] {
        assert_eq!(retry.pause(&error), None, "{error}");
    }
    assert_eq!(reached(Span::ZERO).pause(&gone()), None);
}
