//! [`Rules`]: the user's decisions about names that are taken, and their consequence for an entry.

use crate::receive::Existing;
use crate::store::{Found, Taken};
use crate::wire::control::Stamp;

/// The reason for refusing an entry whose name is taken.
pub(super) const TAKEN: &str = "a different file has this name, and only --existing replaces files";
const KIND_TAKEN: &str = "the receiver cannot store it: a folder has this name";
const OTHER_TAKEN: &str = "the receiver cannot store it: a device, socket or pipe has this name";

/// The user's decisions about entries.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::receive) struct Rules {
    pub(in crate::receive) existing: Existing,
    pub(in crate::receive) outside_links: bool,
    /// True if the names of all files are kept, for their digests.
    pub(in crate::receive) listed: bool,
}

/// The treatment of an entry, given the file or link that has its name.
pub(super) enum Way {
    /// The entry exists already.
    There,
    /// The present file or link stays, as the user wanted.
    Kept,
    /// The entry is received. With [`Taken::Refuse`] it is compared, when complete, with the file that has the name.
    Come(Taken),
    /// The entry is refused.
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
            // The file may be the same. It is received and compared then, because a sender must not learn the digest of
            // the present file.
            Existing::Refuse | Existing::Rename if same_size => Way::Come(Taken::Refuse),
            Existing::Refuse => Way::Refuse(TAKEN),
            Existing::Rename => Way::Come(Taken::Number),
            Existing::Update if is_later(modified, there.modified) => Way::Come(Taken::ReplaceThis(*there)),
            Existing::Update => Way::Kept,
            Existing::Replace => Way::Come(Taken::Replace),
        }
    }

    /// Returns the rule for a name that is free now, but taken when the entry is complete.
    const fn free(&self) -> Taken {
        match self.existing {
            Existing::Refuse | Existing::Update => Taken::Refuse,
            Existing::Rename => Taken::Number,
            Existing::Replace => Taken::Replace,
        }
    }
}

/// Returns true if two times are the same, to the precision of the file system that keeps the first one.
fn same_time(kept: Stamp, said: Stamp) -> bool {
    kept.seconds == said.seconds && (kept.nanos == said.nanos || kept.nanos == 0)
}

fn is_later(one: Stamp, other: Stamp) -> bool {
    (one.seconds, one.nanos) > (other.seconds, other.nanos)
}
