//! The media that carry packets between endpoints.
//!
//! Reading order: the trait, then `medium/lines.rs` (packets under way behind the queues), `medium/tight.rs` (one link)
//! and `medium/assisted.rs` (one link whose router advises senders). Then `medium/network.rs` (several links) and
//! `medium/cell.rs` (a wireless cell), and `medium/watched.rs` (any of them, with a record of
//! its packets).

mod assisted;
mod cell;
mod lines;
mod markings;
mod network;
mod tight;
mod watched;

pub(crate) use assisted::AssistedLink;
pub(crate) use cell::WirelessCell;
pub(crate) use lines::Lines;
pub(crate) use markings::Markings;
pub(crate) use network::Network;
pub(crate) use tight::TightLink;
pub(crate) use watched::{Seen, Watched, ways_back};

use crate::outcome::CellReport;
use crate::packet::{Kind, Packet, UnderWay};
use crate::tagged::Tagged;
use link::assist::CongestionHeader;
use link::{LinkReport, LinkState, LossEpisodes, SourceReport};
use units::Time;

/// A medium that carries packets between endpoints: one tight link, a network of links, or a wireless cell. It has
/// slots of its own in the agenda. It knows no endpoint: the loop hands on the packets that arrived or were dropped. A
/// further kind of medium is a file here, and a variant of [`Topology`](crate::Topology).
pub(crate) trait Medium {
    /// True if acknowledgements may cross queues. If false, the code for that is compiled out.
    const CARRIES_ACKNOWLEDGEMENTS: bool;

    /// True if the medium's router reads headers and answers. If false, the code for that is compiled out.
    const ASSISTS: bool = false;

    /// True if the medium records the packets that it carries. If false, the code for that is compiled out.
    const WATCHED: bool = false;

    /// Records what a flow shows of its acknowledgements and connections.
    fn show(&mut self, seen: Seen) {
        let _ = seen;
    }

    /// Takes the record since the last call.
    fn take_seen(&mut self) -> Vec<Seen> {
        Vec::new()
    }

    /// Gives back the room of a record that was taken.
    fn give_back(&mut self, seen: Vec<Seen>) {
        drop(seen);
    }

    /// Offers a packet to the medium; returns false if the medium drops it at once.
    fn offer(&mut self, now: Time, packet: Packet) -> bool;

    /// Offers a packet with a header for the router.
    fn offer_with(&mut self, now: Time, packet: Packet, header: CongestionHeader) -> bool {
        let _ = header;
        self.offer(now, packet)
    }

    /// Returns the router's answer to a segment that arrives, if it had a header.
    fn feedback(&mut self, flow: u32, segment: Tagged, sent: Time) -> Option<f64> {
        let _ = (flow, segment, sent);
        None
    }

    /// Returns the time of the next arrival at a sender.
    fn next_arrival(&self) -> Time;

    /// Takes the next arrival at a sender: a segment whose acknowledgement is computed only now, or the number of an
    /// acknowledgement that crossed queues.
    fn pop_arrival(&mut self) -> Option<UnderWay>;

    /// Returns the flow of the arrival `places` behind the last one taken, as far as the medium knows it without a
    /// search. It is a hint: other arrivals may come first.
    fn arrives_later(&self, places: usize) -> Option<u32> {
        let _ = places;
        None
    }

    /// Gives the next segments of `flow` to `takes` before their time, with the times of their arrivals, as long as `takes`
    /// takes them. Called only for segments whose arrival concerns nobody else.
    fn take_ahead(&mut self, flow: u32, takes: impl FnMut(Time, &UnderWay) -> bool) {
        let _ = (flow, takes);
    }

    /// Returns true if it is certain at `now` that no segment of `flow` arrives by `until`, and that nothing is dropped
    /// meanwhile but what is offered.
    fn brings_nothing(&self, flow: u32, now: Time, until: Time) -> bool {
        let _ = (flow, now, until);
        false
    }

    /// Returns the number of slots that the medium has in the agenda.
    fn slots(&self) -> usize;

    /// Handles the medium's slot number `slot`, which is due. Segments that reach a receiver whose acknowledgements
    /// cross queues go to `arrived`.
    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>);

    /// Reports changes; the loop calls it after every event. It calls `dropped` with the flow's index and the kind of
    /// each packet dropped since the last call, unless [`Medium::offer`] has reported it. It calls `wake` with each
    /// slot of its own whose time may have moved.
    fn settle(&mut self, now: Time, dropped: impl FnMut(u32, Kind), wake: impl FnMut(usize, Time));

    /// Returns the tight link's drops of greedy flows.
    fn losses(&mut self) -> &mut LossEpisodes;

    /// Starts the measured interval.
    fn begin_measuring(&mut self, now: Time);

    /// Returns true if [`Medium::settle`] has nothing to report.
    fn is_settled(&self) -> bool {
        false
    }

    /// Returns the state of the tight link now.
    fn state(&mut self, now: Time) -> LinkState;

    /// Returns the report of every link from the start of measurement to `end`.
    fn reports(&mut self, end: Time) -> Vec<LinkReport>;

    /// Returns the report of each source of cross traffic from the start of measurement to `end`, over its whole route.
    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        let _ = end;
        Vec::new()
    }

    /// Returns the limit of the tight link's queue, if it moves.
    fn moving_limit(&mut self, now: Time) -> Option<u64> {
        let _ = now;
        None
    }

    /// Returns the report of the wireless cell from the start of measurement to `end`, if the medium is one.
    fn cell_report(&mut self, end: Time) -> Option<CellReport> {
        let _ = end;
        None
    }
}
