//! [`Rules`]: the user's decisions about names that are taken, and their consequence for an entry.

use crate::receive::Existing;
use crate::store::{NameHolder, OnConflict};
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
pub(super) enum Treatment {
    /// The entry exists already.
    Present,
    /// The present file or link stays, as the user wanted.
    Kept,
    /// The entry is received. With [`OnConflict::Refuse`], the complete entry is compared with the file that has the
    /// name.
    Receive(OnConflict),
    /// The entry is refused.
    Refuse(&'static str),
}

impl Rules {
    pub(super) fn treatment(&self, found: &NameHolder, size: u64, modified: Stamp) -> Treatment {
        let there = match found {
            NameHolder::Nothing => return Treatment::Receive(self.free()),
            NameHolder::Folder => return Treatment::Refuse(KIND_TAKEN),
            NameHolder::Other => return Treatment::Refuse(OTHER_TAKEN),
            NameHolder::File(there) | NameHolder::Link { there, .. } => there,
        };
        let file = matches!(found, NameHolder::File(_));
        if file && there.size == size && (same_time(there.modified, modified) || size == 0) {
            return Treatment::Present;
        }
        let same_size = file && there.size == size;
        match self.existing {
            // The two files may be the same. The offered one is received and then compared, because a sender must not
            // learn the digest of the present file.
            Existing::Refuse | Existing::Rename if same_size => Treatment::Receive(OnConflict::Refuse),
            Existing::Refuse => Treatment::Refuse(TAKEN),
            Existing::Rename => Treatment::Receive(OnConflict::Number),
            Existing::Update if is_later(modified, there.modified) => {
                Treatment::Receive(OnConflict::ReplaceThis(*there))
            }
            Existing::Update => Treatment::Kept,
            Existing::Replace => Treatment::Receive(OnConflict::Replace),
        }
    }

    /// Returns the rule for the case that a name is free now, but taken when the entry is complete.
    const fn free(&self) -> OnConflict {
        match self.existing {
            Existing::Refuse | Existing::Update => OnConflict::Refuse,
            Existing::Rename => OnConflict::Number,
            Existing::Replace => OnConflict::Replace,
        }
    }
}

/// Returns true if two times are the same, to the precision of the file system that keeps the first one.
fn same_time(kept: Stamp, offered: Stamp) -> bool {
    kept.seconds == offered.seconds && (kept.nanos == offered.nanos || kept.nanos == 0)
}

fn is_later(one: Stamp, other: Stamp) -> bool {
    (one.seconds, one.nanos) > (other.seconds, other.nanos)
}
