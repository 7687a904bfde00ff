//! [`Model`]: the entries that a sender has offered, and the content that it has sent with a right digest.

use crate::chunks::{Chunks, Digest, file_digest, small_file_digest};
use crate::name::Name;
use crate::wire::control::{Entry, Id, Kind, Stamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The greatest number that `--existing rename` may have tried.
const MOST_NUMBERS: u32 = 64;

/// The record of all that a sender has sent. It may have more than the receiver has accepted, and never less.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The files of an offer's number, which several offers may have had.
    ids: HashMap<Id, BTreeSet<usize>>,
    offers: Vec<Offer>,
}

#[derive(Debug)]
struct Offer {
    entry: Entry,
    /// The digests of received bytes, by chunk.
    chunks: BTreeMap<u32, BTreeSet<Digest>>,
    /// True once the sender has sent the digest of an empty file.
    empty: bool,
}

impl Model {
    /// Adds an offer.
    pub(super) fn offer(&mut self, id: Id, entry: &Entry) {
        let known = |offer: &Offer| offer.entry.name == entry.name && offer.entry.kind == entry.kind;
        let index = self.offers.iter().position(known).unwrap_or_else(|| {
            let offer = Offer { entry: entry.clone(), chunks: BTreeMap::new(), empty: false };
            self.offers.push(offer);
            self.offers.len() - 1
        });
        self.offers[index].entry.modified = later(self.offers[index].entry.modified, entry.modified);
        self.ids.entry(id).or_default().insert(index);
    }

    /// Adds a small file.
    pub(super) fn small(&mut self, id: Id, bytes: &[u8], digest: &Digest) {
        let (right, chunk) = small_file_digest(bytes);
        if right == *digest {
            chunk.into_iter().for_each(|chunk| self.chunk_end(id, 0, &chunk));
            self.file_end(id, digest);
        }
    }

    /// Adds the digest at the end of a chunk, which the receiver compares.
    pub(super) fn chunk_end(&mut self, id: Id, chunk: u32, digest: &Digest) {
        for offer in self.by_id(id) {
            offer.chunks.entry(chunk).or_default().insert(*digest);
        }
    }

    /// Adds the digest at the end of a file.
    pub(super) fn file_end(&mut self, id: Id, digest: &Digest) {
        let empty = file_digest(0, []) == *digest;
        self.by_id(id).for_each(|offer| offer.empty |= empty);
    }

    fn by_id(&mut self, id: Id) -> impl Iterator<Item = &mut Offer> {
        let known = self.ids.get(&id);
        let offers = self.offers.iter_mut().enumerate();
        offers
            .filter(move |(index, _)| known.is_some_and(|known| known.contains(index)))
            .map(|(_, offer)| offer)
    }

    /// Returns true if a sender has sent `content` for this name.
    pub(super) fn has_sent(&self, name: &Name, content: &[u8]) -> bool {
        let size = content.len() as u64;
        let chunks = Chunks::new(size);
        let digests: Vec<Digest> = (0..chunks.count())
            .map(|index| {
                let range = chunks.range(index);
                *blake3::hash(&content[range.start as usize..range.end as usize]).as_bytes()
            })
            .collect();
        self.named(name).any(|offer| {
            let sent = |(index, digest)| offer.chunks.get(&index).is_some_and(|known| known.contains(digest));
            matches!(offer.entry.kind, Kind::File { size: offered, .. } if offered == size)
                && (0..).zip(&digests).all(sent)
                && (size > 0 || offer.empty)
        })
    }

    /// Returns true if a file of this name and size was offered.
    pub(super) fn has_offered_file(&self, name: &Name, size: u64) -> bool {
        self.named(name)
            .any(|offer| matches!(offer.entry.kind, Kind::File { size: known, .. } if known == size))
    }

    /// Returns true if a folder of this name was offered.
    pub(super) fn has_offered_folder(&self, name: &Name) -> bool {
        self.offers.iter().any(|offer| offer.entry.name == *name && offer.entry.kind == Kind::Folder)
    }

    /// Returns the names of the offered links with this target.
    pub(super) fn offered_links(&self, name: &Name, target: &[u8]) -> impl Iterator<Item = &Name> {
        let same = move |kind: &Kind| matches!(kind, Kind::Link { target: known } if known == target);
        self.named(name).filter(move |offer| same(&offer.entry.kind)).map(|offer| &offer.entry.name)
    }

    /// Returns true if an entry of this name was offered with a later time.
    pub(super) fn has_offered_later(&self, name: &Name, than: (i64, u32)) -> bool {
        let time = |offer: &Offer| (offer.entry.modified.seconds, offer.entry.modified.nanos);
        self.offers.iter().any(|offer| offer.entry.name == *name && time(offer) > than)
    }

    /// Returns the offers that may have got this name.
    fn named(&self, name: &Name) -> impl Iterator<Item = &Offer> {
        let numbered = |offered: &Name| {
            offered.split().0 == name.split().0
                && (1..=MOST_NUMBERS).any(|number| offered.numbered(number).as_ref() == Ok(name))
        };
        self.offers.iter().filter(move |offer| offer.entry.name == *name || numbered(&offer.entry.name))
    }
}

fn later(one: Stamp, other: Stamp) -> Stamp {
    if (one.seconds, one.nanos) < (other.seconds, other.nanos) { other } else { one }
}
