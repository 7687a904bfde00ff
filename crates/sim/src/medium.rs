//! What carries packets between endpoints.
//!
//! Reading order: the trait, then `medium/lines.rs` (packets under way behind the queues), `medium/tight.rs` (one
//! link) and `medium/assisted.rs` (one link whose router tells senders). Then `medium/network.rs` (several links) and
//! `medium/cell.rs` (a wireless cell).

mod assisted;
mod cell;
mod lines;
mod network;
mod tight;

pub(crate) use assisted::AssistedLink;
pub(crate) use cell::WirelessCell;
pub(crate) use lines::Lines;
pub(crate) use network::Network;
pub(crate) use tight::TightLink;

use crate::outcome::CellReport;
use crate::packet::{Kind, Packet, UnderWay};
use crate::tagged::Tagged;
use link::assist::CongestionHeader;
use link::{LinkReport, LinkState, LossEpisodes, SourceReport};
use units::Time;

/// What carries packets between endpoints: one tight link, a network of links, or a wireless cell. It has slots in
/// the agenda of its own. It knows no endpoint: the loop hands on what arrived and what was dropped. A further kind
/// of medium is a file here, and a variant of [`Topology`](crate::Topology).
pub(crate) trait Medium {
    /// Whether acknowledgements may cross queues. Where they may not, nothing is spent on it.
    const CARRIES_ACKNOWLEDGEMENTS: bool;

    /// Whether its router reads headers and answers. Where it does not, nothing is spent on it.
    const ASSISTS: bool = false;

    /// A packet enters; false if it is known to be dropped.
    fn offer(&mut self, now: Time, packet: Packet) -> bool;

    /// The same with a header for the router.
    fn offer_with(&mut self, now: Time, packet: Packet, header: CongestionHeader) -> bool {
        let _ = header;
        self.offer(now, packet)
    }

    /// What the router granted to a segment that arrives, if it had a header.
    fn feedback(&mut self, flow: u32, segment: Tagged, sent: Time) -> Option<f64> {
        let _ = (flow, segment, sent);
        None
    }

    /// When something next reaches a sender.
    fn next_arrival(&self) -> Time;

    /// Takes what does then: a segment whose acknowledgement is worked out only now, or the number of an
    /// acknowledgement that crossed queues.
    fn pop_arrival(&mut self) -> Option<UnderWay>;

    /// How many slots of the agenda are its.
    fn slots(&self) -> usize;

    /// Its slot number `slot` is due. Segments that reach a receiver whose acknowledgements cross queues go to
    /// `arrived`.
    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>);

    /// Call it after any event. It calls `dropped` with the flow's index and the kind of each packet dropped since
    /// the last call, unless [`Medium::offer`] has said so. It calls `wake` with each slot of its own whose time may
    /// have moved.
    fn settle(&mut self, now: Time, dropped: impl FnMut(u32, Kind), wake: impl FnMut(usize, Time));

    /// The tight link's drops of greedy flows.
    fn losses(&mut self) -> &mut LossEpisodes;

    /// Starts the measured interval.
    fn begin_measuring(&mut self, now: Time);

    /// The tight link now.
    fn state(&mut self, now: Time) -> LinkState;

    /// Every link from the start of measurement to `end`.
    fn reports(&mut self, end: Time) -> Vec<LinkReport>;

    /// Each source of cross traffic from the start of measurement to `end`, over its whole route.
    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        let _ = end;
        Vec::new()
    }

    /// The limit of the tight link's queue, if it moves.
    fn moving_limit(&mut self, now: Time) -> Option<u64> {
        let _ = now;
        None
    }

    /// The wireless cell from the start of measurement to `end`, if it is one.
    fn cell_report(&mut self, end: Time) -> Option<CellReport> {
        let _ = end;
        None
    }
}
