//! The deadlines of owners.

use units::Time;

/// The deadline of an owner, and the time of its slot in the agenda. Most deadlines are put off before they come, so a
/// slot moves only if its owner's deadline comes nearer, and otherwise when its time has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// The deadline, or an earlier time.
    pub(crate) due: Time,
    pub(crate) armed: Time,
}

impl From<Time> for Timer {
    fn from(due: Time) -> Self {
        Self { due, armed: due }
    }
}

impl Timer {
    /// Takes the owner's deadline; returns true if the slot must move to it.
    #[inline]
    pub(super) fn move_to(&mut self, deadline: Time) -> bool {
        self.due = deadline;
        let nearer = deadline < self.armed;
        if nearer {
            self.armed = deadline;
        }
        nearer
    }
}
