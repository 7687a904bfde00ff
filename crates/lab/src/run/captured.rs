//! The ends of a path at which packets are captured.

use capture::written::Interface;
use std::path::PathBuf;

/// A capture that a run writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    /// The file.
    pub path: PathBuf,
    /// The ends that it has.
    pub ends: CapturedEnds,
}

/// The ends of a path whose packets a capture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapturedEnds {
    /// The end in front of the queue, at which most captures of real packets are made.
    #[default]
    Sender,
    /// The end behind the queue.
    Receiver,
    /// Both ends, each an interface of its own.
    Both,
}

impl CapturedEnds {
    /// Returns the place of an end's interface in the file, or `None` if the file does not have that end. `far` is true
    /// for the end behind the queue.
    #[must_use]
    pub const fn interface(self, far: bool) -> Option<usize> {
        match (self, far) {
            (Self::Sender | Self::Both, false) | (Self::Receiver, true) => Some(0),
            (Self::Both, true) => Some(1),
            (Self::Sender, true) | (Self::Receiver, false) => None,
        }
    }

    /// Returns those of the interfaces of both ends, the sender's first, that the file has.
    pub(super) fn of<'a, 'b>(self, both: &'a [Interface<'b>; 2]) -> &'a [Interface<'b>] {
        match self {
            Self::Sender => &both[..1],
            Self::Receiver => &both[1..],
            Self::Both => both,
        }
    }
}
