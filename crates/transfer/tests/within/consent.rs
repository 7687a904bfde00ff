//! Tests of what a person or a limit lets in.

use super::*;
use crate::name::Name;
use crate::wire::control::Stamp;

fn consent(accept: Accept) -> Consent {
    Consent::new(accept, "192.0.2.7:5".parse().unwrap(), ConsentAmounts::default())
}

fn counted(entries: u64, bytes: u64, complete: bool) -> Counted {
    Counted { entries, bytes, disk: bytes, complete }
}

fn announce(consent: &mut Consent, counted: Counted) -> Step {
    consent.announce(counted, Some(1_000_000), false, Path::new("/there"))
}

fn file(name: &str, size: u64) -> Entry {
    let kind = Kind::File { size, chunk: 20, version: [1; 16] };
    Entry { name: Name::new(name.into()).unwrap(), kind, mode: 0o644, modified: Stamp::default() }
}

#[test]
fn without_anybody_to_ask_the_ticket_is_the_consent_to_what_is_announced() {
    let mut consent = consent(Accept::default());
    assert_eq!(consent.admit(&file("a", 1)), Admission::Wait, "nothing was announced");
    let said = announce(&mut consent, counted(2, 100, true));
    assert!(
        matches!(&said, Step::Say(line) if line == "192.0.2.7:5 sends 2 files and folders, 100 B"),
        "{said:?}"
    );
    assert_eq!(consent.admit(&file("a", 60)), Admission::Yes);
    assert_eq!(consent.admit(&file("b", 60)), Admission::No("it is more than the sender announced"));
    // The file has changed and is offered again, and parts of its earlier version may still be stored.
    assert_eq!(consent.admit(&file("a", 40)), Admission::Yes);
    assert_eq!(consent.admit(&file("b", 41)), Admission::No("it is more than the sender announced"));
    assert_eq!(consent.admit(&file("b", 40)), Admission::Yes);
    assert_eq!(consent.admit(&file("c", 0)), Admission::No("it is more than the sender announced"));
    // The sender announces more, which is reported.
    assert!(matches!(announce(&mut consent, counted(3, 100, true)), Step::Say(_)));
    assert_eq!(consent.admit(&file("c", 0)), Admission::Yes);
}

#[test]
fn while_the_sender_counts_offers_wait_for_no_more_than_its_next_word() {
    let mut consent = consent(Accept::default());
    let said = announce(&mut consent, counted(1, 1, false));
    assert!(matches!(&said, Step::Say(line) if line.contains("at least 1 file or folder")), "{said:?}");
    assert_eq!(consent.admit(&file("a", 100)), Admission::Wait);
    assert!(matches!(announce(&mut consent, counted(2, 150, true)), Step::None), "it was said before");
    assert_eq!(consent.admit(&file("a", 100)), Admission::Yes);
    assert_eq!(consent.admit(&file("b", 60)), Admission::No("it is more than the sender announced"));
}

#[test]
fn a_person_is_asked_and_asked_again_about_more() {
    let mut consent = consent(Accept { ask: true, ..Accept::default() });
    let Step::Ask(question) = announce(&mut consent, counted(2, 1000, true)) else { panic!("not asked") };
    assert_eq!(question.text, "192.0.2.7:5 sends 2 files and folders, 1 kB.");
    assert_eq!(consent.admit(&file("a", 1)), Admission::Wait);
    assert!(matches!(consent.answered(true), Step::None));
    assert_eq!(consent.admit(&file("a", 1005)), Admission::Yes, "a hundredth more");
    assert_eq!(consent.admit(&file("b", 1000)), Admission::Wait);
    let known = consent.unannounced((1, 1000)).unwrap();
    assert!(matches!(announce(&mut consent, known), Step::Ask(_)));
    assert!(matches!(consent.answered(false), Step::Refuse(TransferError::NotAccepted(_))));
}

#[test]
fn who_goes_on_within_what_a_person_accepted_is_not_asked_about_again() {
    let peer = "192.0.2.7:6".parse().unwrap();
    let accept = Accept { ask: true, ..Accept::default() };
    let mut first = consent(accept);
    assert!(matches!(announce(&mut first, counted(2, 1000, true)), Step::Ask(_)));
    assert!(matches!(first.answered(true), Step::None));
    assert_eq!(first.admit(&file("a", 600)), Admission::Yes);
    let mut second = Consent::new(accept, peer, first.into_spent());
    assert!(matches!(announce(&mut second, counted(2, 1000, false)), Step::None));
    assert!(matches!(announce(&mut second, counted(2, 1000, true)), Step::None));
    assert_eq!(second.admit(&file("a", 600)), Admission::Yes, "it came in part before");
    assert_eq!(second.admit(&file("b", 400)), Admission::Yes);
    // Other files do not pass in the place of the accepted ones.
    assert_eq!(second.admit(&file("c", 400)), Admission::Wait);
    let mut third = Consent::new(accept, peer, second.into_spent());
    assert!(matches!(announce(&mut third, counted(3, 1400, true)), Step::Ask(_)), "that is more");
    assert!(matches!(third.answered(false), Step::Refuse(TransferError::NotAccepted(_))));
}

#[test]
fn a_sender_that_left_before_the_answer_was_not_accepted() {
    let accept = Accept { ask: true, ..Accept::default() };
    let mut first = consent(accept);
    assert!(matches!(announce(&mut first, counted(2, 1000, true)), Step::Ask(_)));
    let mut second = Consent::new(accept, "192.0.2.7:6".parse().unwrap(), first.into_spent());
    assert_eq!(second.admit(&file("a", 1)), Admission::Wait);
    assert!(matches!(announce(&mut second, counted(2, 1000, true)), Step::Ask(_)));
}

#[test]
fn a_limit_is_kept_without_being_asked() {
    let mut consent = consent(Accept { limit: Some(Bytes::new(500)), ..Accept::default() });
    assert!(matches!(announce(&mut consent, counted(2, 400, false)), Step::Say(_)));
    assert_eq!(consent.admit(&file("a", 400)), Admission::Yes);
    assert_eq!(consent.admit(&file("b", 101)), Admission::No("it is more than --accept allows"));
    assert!(matches!(
        announce(&mut consent, counted(2, 501, true)),
        Step::Refuse(TransferError::NotAccepted(_))
    ));
}

#[test]
fn a_limit_counts_entries_that_have_no_bytes() {
    let mut consent = consent(Accept { limit: Some(Bytes::new(5120)), ..Accept::default() });
    assert!(matches!(announce(&mut consent, counted(1_000_000, 0, true)), Step::Say(_)));
    let admitted =
        (0..2000).filter(|index| consent.admit(&file(&index.to_string(), 0)) == Admission::Yes).count();
    assert_eq!(admitted, 1010);
}

#[test]
fn a_disk_without_room_is_told_before_anything_is_written() {
    let mut all = consent(Accept { all: true, ..Accept::default() });
    let said = announce(&mut all, counted(1, 2_000_000, true));
    assert!(matches!(&said, Step::Say(line) if line.contains("only 1 MB are free")), "{said:?}");
    let mut ticket = consent(Accept::default());
    let refused = announce(&mut ticket, counted(1, 2_000_000, true));
    assert!(matches!(refused, Step::Refuse(TransferError::NoRoom { .. })), "{refused:?}");
    let mut person = consent(Accept { ask: true, ..Accept::default() });
    let asked = announce(&mut person, counted(1, 2_000_000, true));
    assert!(
        matches!(&asked, Step::Ask(question) if question.text.ends_with("Only 1 MB are free.")),
        "{asked:?}"
    );
}
