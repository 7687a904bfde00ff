//! Tables as far as they could be read, with what the checks across tables need.

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
    /// The other direction, if there is one, and its room.
    pub(super) reverse: Option<(Keys<'a>, Option<Limit>)>,
}

impl PartialLink<'_> {
    /// The room in its queue.
    pub(super) fn limit(&self) -> Option<Limit> {
        self.read.queue.as_ref().map(|queue| queue.limit)
    }
}

/// A flow, or the connections of users.
pub(super) struct PartialFlow<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) read: FlowRead,
    pub(super) way: Way,
    /// The flow, if all of it could be read.
    pub(super) flow: Option<Flow>,
}

/// A way over links. Each key that could not be read is absent.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) names: Option<Vec<String>>,
    pub(super) direction: Option<Direction>,
    /// The same as `names`, by index.
    pub(super) links: Vec<usize>,
    /// The way in a cell. The outer option is whether it could be read.
    pub(super) cell: Option<Option<CellWay>>,
}

/// All `[[traffic]]` by what it is; each in the order of the file.
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
    /// Whether some always have a frame to send.
    pub(super) saturated: bool,
    /// Without categories: best effort alone.
    pub(super) dcf: bool,
    /// One-way delay of the backhaul, if there is one that could be read.
    pub(super) delay: Option<Option<Span>>,
    pub(super) wlan: Option<Wlan>,
}
