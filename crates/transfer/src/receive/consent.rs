//! [`Consent`]: a sender's announcement, and the part of it that the receiver's user accepts.
//!
//! Nothing is stored before it is announced and accepted. The accepted amount is a cap. More has to be announced first,
//! and the user, if there is one, is asked again. Without a user, the ticket is the consent to the announcement, up to
//! the limit of `--accept`. A cap that a person accepted holds for the session. It also admits the sender that
//! continues the session after an interruption, without a second question.

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

/// The greatest number of offers of one file. An honest sender makes three offers of a file that keeps changing.
const MOST_OFFERS: u32 = 8;
/// The number of entries that every limit allows. Entries are limited because folders, links and empty files take room,
/// too.
const FREE_ENTRIES: u64 = 1000;
/// The number of bytes of the limit for which one more entry is allowed.
const BYTES_PER_ENTRY: u64 = 512;
/// The greatest number of entries in a session, because the record of each takes memory.
const MOST_ENTRIES: usize = 20_000_000;
/// The divisor for growth. Files may grow while they are sent, so the receiver takes a hundredth more bytes than a
/// person accepted.
const GROWTH: u64 = 100;

/// The consequence of an announcement or an answer.
#[derive(Debug)]
pub(super) enum Step {
    /// No consequence.
    None,
    /// A line for a person.
    Say(String),
    /// A question to a person. Offers wait for the answer.
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
    /// Makes the consent of a session. `spent` has the amounts of earlier senders, if a limit or a person's answer
    /// holds for the whole session.
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

    /// Takes the sender's count. `free` is the room on the disk of the folder at `path`. `resumed` is true if part of
    /// the data is stored already.
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
        // A smaller version does not lower the amount, because parts of an earlier one may still be stored.
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

    /// Returns the amounts offered and accepted so far, for the next sender of the session. They are empty without a
    /// limit and a person's answer.
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
#[path = "../../tests/within/consent.rs"]
mod tests;
