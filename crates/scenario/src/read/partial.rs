//! Tables as far as they could be read, with the facts for checks across tables.

use crate::cursor::Keys;
use crate::spec::{CellWay, Direction, Flow, Limit, Replay, Sessions, Traffic, Wlan};
use crate::tables::flow::FlowRead;
use crate::tables::link::LinkRead;
use units::Span;

/// A link.
pub(super) struct PartialLink<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) name: String,
    pub(super) read: LinkRead,
    /// The other direction, if there is one, and its queue's limit.
    pub(super) reverse: Option<(Keys<'a>, Option<Limit>)>,
}

impl PartialLink<'_> {
    /// Returns the limit of its queue.
    pub(super) fn limit(&self) -> Option<Limit> {
        self.read.queue.as_ref().map(|queue| queue.limit)
    }
}

/// A flow, or the connections of users.
pub(super) struct PartialFlow<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) read: FlowRead,
    pub(super) way: PartialWay,
    /// The flow, if all of it could be read.
    pub(super) flow: Option<Flow>,
}

/// A way over links. Each key that could not be read is absent.
#[derive(Clone, Debug)]
pub(super) struct PartialWay {
    pub(super) names: Option<Vec<String>>,
    pub(super) direction: Option<Direction>,
    /// The same as `names`, by index.
    pub(super) links: Vec<usize>,
    /// The way in a cell, if there is one. The outer option is `None` if it could not be read.
    pub(super) cell: Option<Option<CellWay>>,
}

/// All `[[traffic]]` by kind; each in the order of the file.
#[derive(Default)]
pub(super) struct PartialTraffic<'a> {
    pub(super) traffic: Vec<Option<Traffic>>,
    pub(super) replays: Vec<Option<Replay>>,
    /// The connections of the users, for checks across tables.
    pub(super) users: Vec<PartialFlow<'a>>,
    pub(super) sessions: Vec<Option<Sessions>>,
}

/// A cell.
pub(super) struct PartialWlan<'a> {
    pub(super) keys: Keys<'a>,
    /// The names of all stations; `None` if one of them could not be read.
    pub(super) stations: Option<Vec<String>>,
    /// True if some stations always have a frame to send.
    pub(super) saturated: bool,
    /// True for DCF, in which best effort is the only category.
    pub(super) dcf: bool,
    /// The one-way delay of the backhaul. The outer option is `None` if it could not be read, the inner one without a
    /// backhaul.
    pub(super) delay: Option<Option<Span>>,
    pub(super) wlan: Option<Wlan>,
}
