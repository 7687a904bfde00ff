//! [`Rules`]: what the receiver's user decided about names that are taken, and what follows for an entry.

use crate::receive::Existing;
use crate::store::{Found, Taken};
use crate::wire::control::Stamp;

/// Why an entry is refused whose name is taken.
pub(super) const TAKEN: &str = "a different file has this name, and only --existing replaces files";
const KIND_TAKEN: &str = "the receiver cannot store it: a folder has this name";
const OTHER_TAKEN: &str = "the receiver cannot store it: a device, socket or pipe has this name";

/// What the receiver's user decided on entries.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::receive) struct Rules {
    pub(in crate::receive) existing: Existing,
    pub(in crate::receive) outside_links: bool,
    /// The names of all files are kept, for their digests.
    pub(in crate::receive) listed: bool,
}

/// What to do about a name that is taken.
pub(super) enum Way {
    /// It is there.
    There,
    /// What is there stays, as the user wanted.
    Kept,
    /// It comes. With [`Taken::Refuse`] it is compared with the file that has the name when it is whole.
    Come(Taken),
    /// It does not.
    Refuse(&'static str),
}

impl Rules {
    pub(super) fn way(&self, found: &Found, size: u64, modified: Stamp) -> Way {
        let there = match found {
            Found::Nothing => return Way::Come(self.free()),
            Found::Folder => return Way::Refuse(KIND_TAKEN),
            Found::Other => return Way::Refuse(OTHER_TAKEN),
            Found::File(there) | Found::Link { there, .. } => there,
        };
        let file = matches!(found, Found::File(_));
        if file && there.size == size && (same_time(there.modified, modified) || size == 0) {
            return Way::There;
        }
        let same_size = file && there.size == size;
        match self.existing {
            // It may be the same. It comes, and is compared then: a sender must not learn the digest of the file here.
            Existing::Refuse | Existing::Rename if same_size => Way::Come(Taken::Refuse),
            Existing::Refuse => Way::Refuse(TAKEN),
            Existing::Rename => Way::Come(Taken::Number),
            Existing::Update if is_later(modified, there.modified) => Way::Come(Taken::ReplaceThis(*there)),
            Existing::Update => Way::Kept,
            Existing::Replace => Way::Come(Taken::Replace),
        }
    }

    /// What it means if a name that is free now is taken when the entry is whole.
    const fn free(&self) -> Taken {
        match self.existing {
            Existing::Refuse | Existing::Update => Taken::Refuse,
            Existing::Rename => Taken::Number,
            Existing::Replace => Taken::Replace,
        }
    }
}

/// Whether two times are the same, as far as the file system that keeps the first one tells.
fn same_time(kept: Stamp, said: Stamp) -> bool {
    kept.seconds == said.seconds && (kept.nanos == said.nanos || kept.nanos == 0)
}

fn is_later(one: Stamp, other: Stamp) -> bool {
    (one.seconds, one.nanos) > (other.seconds, other.nanos)
}
