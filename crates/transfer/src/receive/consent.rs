//! [`Consent`]: a sender's announcement, and the part of it that the receiver's user accepts.
//!
//! Nothing is stored before it is announced and accepted. The accepted amount is a cap. More than that has to be
//! announced, and the user is asked again if there is one. If there is nobody, the ticket is the consent to the
//! announcement, up to the limit if there is one. A cap that a person accepted holds for the session. It also admits
//! the sender that continues the session after an interruption, without a second question.

use super::Accept;
use super::incoming::name_key;
use crate::error::TransferError;
use crate::progress::Question;
use crate::store::Key;
use crate::wire::control::{Counted, Entry, Kind};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use units::{Bytes, Time};

/// The greatest number of offers of one file. An honest sender offers a file that keeps changing three times.
const MOST_OFFERS: u32 = 8;
/// The number of entries accepted under any limit, to which one is added for each 512 bytes of the limit. Folders,
/// links and empty files take room, too.
const FREE_ENTRIES: u64 = 1000;
const BYTES_PER_ENTRY: u64 = 512;
/// The greatest number of entries in a session, because the record of each takes memory.
const MOST_ENTRIES: usize = 20_000_000;
/// The divisor for growth. Files grow while they are sent, so a hundredth more than a person accepted passes.
const GROWTH: u64 = 100;

/// The consequence of an announcement or an answer.
#[derive(Debug)]
pub(super) enum Step {
    /// No consequence.
    None,
    /// A line for a person.
    Say(String),
    /// A question to a person, for whose answer offers wait.
    Ask(Question),
    /// A refusal.
    Refuse(TransferError),
}

/// The decision on an offer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The offer is examined.
    Yes,
    /// The offer waits for an announcement or an answer.
    Wait,
    /// The offer is refused, for this reason: too many entries, too many bytes, or offered too often.
    No(&'static str),
}

/// The state of consent in one sender's session.
#[derive(Debug)]
pub(super) struct Consent {
    accept: Accept,
    peer: SocketAddr,
    announced: Option<Counted>,
    /// The numbers of entries and bytes that are accepted.
    granted: Option<(u64, u64)>,
    asking: Option<Counted>,
    spent: ConsentAmounts,
}

/// The offered and the accepted amount.
#[derive(Debug, Default)]
pub(super) struct ConsentAmounts {
    /// The numbers of entries and bytes offered.
    offered: (u64, u64),
    /// The numbers of entries and bytes that a person accepted.
    granted: Option<(u64, u64)>,
    /// The largest size of each entry, by the key of its name, and the number of its offers. A file that has changed is
    /// offered again.
    sizes: HashMap<Key, (u64, u32)>,
}

impl ConsentAmounts {
    /// Makes the record of an interrupted session's stored data, given as keys of names with their bytes. A limit holds
    /// for a session, however often its receiver is started.
    pub(super) fn on(there: impl IntoIterator<Item = (Key, u64)>) -> Self {
        let mut spent = Self::default();
        for (name, bytes) in there {
            let largest = spent.sizes.entry(name).or_default();
            largest.0 = largest.0.max(bytes);
        }
        let bytes = spent.sizes.values().fold(0, |sum: u64, &(bytes, _)| sum.saturating_add(bytes));
        spent.offered = (spent.sizes.len() as u64, bytes);
        spent
    }
}

impl Consent {
    /// Makes the consent of a session. `spent` is the record of earlier senders, if a limit or a person's answer holds
    /// for all.
    pub(super) fn new(accept: Accept, peer: SocketAddr, spent: ConsentAmounts) -> Self {
        Self { accept, peer, announced: None, granted: spent.granted, asking: None, spent }
    }

    /// Returns the last announcement.
    pub(super) const fn announced(&self) -> Option<Counted> {
        self.announced
    }

    /// Returns true if a person has not answered yet.
    pub(super) const fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Takes the sender's count. `free`: room on the disk of the folder at `path`; `resumed`: part of the data is
    /// stored already.
    pub(super) fn announce(
        &mut self,
        counted: Counted,
        free: Option<u64>,
        resumed: bool,
        path: &Path,
    ) -> Step {
        let before = self.announced;
        let known = before.unwrap_or_default();
        // Two announcements may overtake each other, but the announced amount never shrinks.
        let counted = Counted {
            entries: counted.entries.max(known.entries),
            bytes: counted.bytes.max(known.bytes),
            disk: counted.disk.max(known.disk),
            complete: counted.complete || known.complete,
        };
        self.announced = Some(counted);
        let within =
            self.granted.is_some_and(|(entries, bytes)| counted.entries <= entries && counted.bytes <= bytes);
        if self.asking.is_some() {
            return Step::None;
        }
        let lacks = free.filter(|&free| counted.disk > free);
        let what = self.what(counted);
        if self.accept.all {
            self.granted = Some((u64::MAX, u64::MAX));
            let lack = lacks.map(|free| format!("; only {} are free", Bytes::new(free).rounded()));
            return if before.is_none() { Step::Say(what + &lack.unwrap_or_default()) } else { Step::None };
        }
        if within && (before.is_some_and(|before| before.complete) || !counted.complete) {
            return Step::None;
        }
        let allowed = self.accept.limit.is_none_or(|limit| counted.bytes <= limit.get());
        if self.accept.ask && (self.accept.limit.is_none() || !allowed) {
            if within {
                return Step::None;
            }
            self.asking = Some(counted);
            let free = lacks
                .map_or_else(String::new, |free| format!(" Only {} are free.", Bytes::new(free).rounded()));
            return Step::Ask(Question { text: format!("{what}.{free}") });
        }
        if !allowed {
            let limit = self.accept.limit.unwrap_or(Bytes::ZERO);
            return Step::Refuse(TransferError::NotAccepted(format!("{what}; --accept allows {limit}")));
        }
        if let Some(free) = lacks.filter(|_| !resumed) {
            return Step::Refuse(TransferError::NoRoom {
                path: path.to_owned(),
                announced: Bytes::new(counted.disk),
                free: Bytes::new(free),
            });
        }
        self.granted = Some(match self.accept.limit.map(Bytes::get) {
            Some(limit) => (counted.entries.min(FREE_ENTRIES + limit / BYTES_PER_ENTRY), limit),
            None => (counted.entries, counted.bytes),
        });
        let news = match before {
            None => true,
            Some(before) => before.complete && before != counted,
        };
        if news { Step::Say(what) } else { Step::None }
    }

    /// Takes a person's answer.
    pub(super) fn answered(&mut self, yes: bool) -> Step {
        let Some(asked) = self.asking.take() else { return Step::None };
        if !yes {
            return Step::Refuse(TransferError::NotAccepted("the receiver's user declined".into()));
        }
        let with_growth = |count: u64| count.saturating_add(count / GROWTH);
        self.granted = Some((with_growth(asked.entries), with_growth(asked.bytes)));
        self.spent.granted = self.granted;
        Step::None
    }

    /// Decides on an offered entry.
    pub(super) fn admit(&mut self, entry: &Entry) -> Admission {
        let Some(granted) = self.granted else { return Admission::Wait };
        let size = self.size(entry);
        let key = name_key(&entry.name);
        let before = self.spent.sizes.get(&key).copied();
        let (largest, times) = before.unwrap_or_default();
        if times >= MOST_OFFERS || times > 0 && !matches!(entry.kind, Kind::File { .. }) {
            return Admission::No("it was offered before");
        }
        if before.is_none() && self.spent.sizes.len() >= MOST_ENTRIES {
            return Admission::No("it is one more entry than a session may have");
        }
        let entries = self.spent.offered.0.saturating_add(u64::from(before.is_none()));
        // Parts of an earlier version may still be stored.
        let grown = size.saturating_sub(largest);
        let bytes = self.spent.offered.1.saturating_add(grown);
        if entries > granted.0 || bytes > granted.1 {
            let counting = self.announced.is_some_and(|announced| !announced.complete);
            if self.asking.is_some() || self.accept.ask || counting && bytes <= self.most() {
                return Admission::Wait;
            }
            return Admission::No(if self.accept.limit.is_some() {
                "it is more than --accept allows"
            } else {
                "it is more than the sender announced"
            });
        }
        self.spent.offered = (entries, bytes);
        self.spent.sizes.insert(key, (size.max(largest), times + 1));
        Admission::Yes
    }

    /// Returns the bytes that an entry takes. Targets of links are not announced, and count only under a limit.
    fn size(&self, entry: &Entry) -> u64 {
        match &entry.kind {
            Kind::File { size, .. } => *size,
            Kind::Link { target } if self.accept.limit.is_some() => target.len() as u64,
            Kind::Link { .. } | Kind::Folder => 0,
        }
    }

    /// Returns the number of bytes that no announcement can exceed.
    fn most(&self) -> u64 {
        self.accept.limit.map_or(u64::MAX, Bytes::get)
    }

    /// Returns the record of what the limit or a person's answer has been spent on, for the next sender of the session.
    /// It is empty if there is neither.
    pub(super) fn into_spent(mut self) -> ConsentAmounts {
        if self.accept.limit.is_none() && self.spent.granted.is_none() {
            return ConsentAmounts::default();
        }
        self.spent.sizes.values_mut().for_each(|(_, times)| *times = 0);
        self.spent
    }

    /// Makes an announcement from offers that wait without one: `waiting` has the numbers of their entries and bytes.
    /// Returns `None` if these are announced already, or a question is open.
    pub(super) fn unannounced(&self, waiting: (u64, u64)) -> Option<Counted> {
        let known = self.announced.unwrap_or_default();
        let entries = self.spent.offered.0.saturating_add(waiting.0);
        let bytes = self.spent.offered.1.saturating_add(waiting.1);
        let more = entries > known.entries || bytes > known.bytes || self.announced.is_none();
        (more && self.asking.is_none()).then(|| Counted {
            entries: entries.max(known.entries),
            bytes: bytes.max(known.bytes),
            disk: known.disk.max(bytes),
            complete: false,
        })
    }

    fn what(&self, counted: Counted) -> String {
        let least = if counted.complete { "" } else { "at least " };
        let entries = match counted.entries {
            1 => "1 file or folder".to_owned(),
            count => format!("{count} files and folders"),
        };
        format!("{} sends {least}{entries}, {}", self.peer, Bytes::new(counted.bytes).rounded())
    }
}

/// Returns true if offers have waited long enough for an announcement.
pub(super) fn patience_is_over(began: Time, now: Time) -> bool {
    now.since(began) > units::Span::from_secs(1)
}

#[cfg(test)]
mod tests {
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
}
