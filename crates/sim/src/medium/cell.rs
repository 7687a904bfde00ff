//! A wireless cell between stations and a server behind a wire.
//!
//! A packet crosses the backhaul, which is a link each way, and the air, where the access functions that have frames
//! contend ([`air::Cell`]). Packets wait for the air in the queue of an access function. The access point and each
//! station have one queue per category. The receiver has a packet as its data frame ends; the sender knows once the
//! frame is acknowledged.
//!
//! Flows run between the server's side and a station, and their place says in which direction data goes. Their
//! acknowledgements go the other way in a category of their own. The part of a flow's base RTT beyond the backhaul is
//! its sender's access line.

mod transmitter;

use super::{Lines, Markings, Medium};
use crate::outcome::{AccessReport, CellReport};
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::{CellPlace, CellPlan, Direction, FlowPlan, Plan, QueuePlan, UplinkSource};
use air::access::Category;
use air::{Airtime, Cell, Fate, FunctionId, FunctionReport, Outcome};
use link::moving_limit::MovingLimit;
use link::{Link, LinkReport, LinkState, LossEpisodes, ServedQueue};
use std::mem;
use transmitter::{Limiter, Surroundings, Transmitter};
use units::random::Stream;
use units::{Span, Time};

/// The medium's slot for the air; the slots of the backhaul's links follow.
const AIR: usize = 0;
/// The number of the medium's slots in the agenda.
const SLOTS: usize = 3;
/// The backhaul's link towards the access point, as an index.
const TO_ACCESS_POINT: usize = 0;
/// The backhaul's link towards the server.
const TO_SERVER: usize = 1;

/// The value in place of a packet's station if the backhaul dropped it.
const ON_THE_WIRE: u32 = u32::MAX;

/// A cell and the wire behind it.
pub(crate) struct WirelessCell {
    air: Cell,
    /// The transmitter of each access function, by the function's index; `None`: a saturated station.
    transmitters: Vec<Option<Transmitter>>,
    /// The station name, category and id of each access function, by the function's index.
    functions: Vec<(String, Category, FunctionId)>,
    watched: usize,
    markings: Markings,
    /// The airtime limits of the access point.
    limiter: Option<Limiter>,
    backhaul: [Link<Packet>; 2],
    /// The way of each flow.
    ways: Vec<CellRoute>,
    lines: Lines,
    /// The function whose frame is being received, and the time at which its receiver has all of it.
    receiving: Option<(usize, Time)>,
    outcomes: Vec<Outcome>,
    /// Packets that have reached their receivers and are not yet handed over.
    arrived: Vec<Packet>,
    dropped: Vec<Packet>,
    losses: LossEpisodes,
    /// The time at which each slot is due, as the agenda knows it.
    agenda_times: [Time; SLOTS],
    /// Counts as measuring began.
    before: CellCounts,
}

/// The way of a flow.
#[derive(Clone, Copy, Debug)]
struct CellRoute {
    direction: Direction,
    station: u32,
    /// The index of the access function that sends the flow's data over the air.
    data: usize,
    /// The index of the access function that sends its acknowledgements.
    acknowledgements: usize,
}

#[derive(Debug, Default)]
struct CellCounts {
    at: Time,
    airtime: Airtime,
    functions: Vec<FunctionReport>,
}

impl WirelessCell {
    /// Creates the cell of a plan with its backhaul's links.
    ///
    /// # Panics
    /// If the cell's access parameters do not pass their check, a registry lacks a queue, or there is cross traffic.
    /// If a flow has no place, or a place whose functions do not exist. If airtime limits of two categories differ,
    /// or the access point does not have the watched queue.
    pub(crate) fn new(cell: &CellPlan, backhaul: [Link<Packet>; 2], plan: &Plan) -> Self {
        assert!(plan.traffic.is_empty(), "no cross traffic in a wireless cell");
        let air = Cell::new(&cell.access(plan.seed)).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(cell.watched < cell.access_point.len(), "the access point has the queue that is watched");
        let (mut functions, mut transmitters) = (Vec::new(), Vec::new());
        let mut add = |station: usize, name: &str, category: Category, queue, limited| {
            let id = air.function(station, category).expect("the plan's functions are the cell's");
            functions.push((name.to_owned(), category, id));
            let transmitter = |queue| Transmitter::new(id, category, station > 0, queue, limited);
            transmitters.push(Option::map(queue, transmitter));
        };
        let fastest = cell.phy.rates[cell.phy.rates.len() - 1];
        let make = |count: usize, queue: &QueuePlan, name: &str, category: Category| {
            let stream = Stream::new(plan.seed, &format!("queue {name} {}", category.name()));
            ServedQueue::make(count, &queue.policy, queue.limit, fastest, stream)
                .expect("the plan names queues of the registry and their settings")
        };
        for function in &cell.access_point {
            let (name, category) = (CellPlan::ACCESS_POINT, function.category);
            let limited = function.airtime.is_some();
            let queues = if limited { cell.stations.len() } else { 1 };
            let mut queue = make(queues, &function.queue, name, category);
            if let Some(limit) = function.moving {
                queue = queue.limited(MovingLimit::new(limit));
            }
            add(0, name, category, Some(queue), limited);
        }
        for (station, number) in cell.stations.iter().zip(1..) {
            for function in &station.functions {
                let queue = match &function.source {
                    UplinkSource::Queue(queue) => Some(make(1, queue, &station.name, function.category)),
                    UplinkSource::Saturated(_) => None,
                };
                add(number, &station.name, function.category, queue, false);
            }
        }
        let mut limits = cell.access_point.iter().filter_map(|function| function.airtime);
        let limiter = limits.next().map(|first| {
            assert!(limits.all(|other| other == first), "airtime limits are those of the whole access point");
            Limiter::new(first, cell)
        });
        let way = |flow: &FlowPlan| {
            let place = flow.place.unwrap_or_else(|| panic!("{} needs a place in the cell", flow.name));
            let way = way(place, &air);
            let exist = [way.data, way.acknowledgements];
            let queued = exist.iter().all(|index| transmitters[*index].is_some());
            assert!(queued, "{} sends through a saturated function", flow.name);
            way
        };
        let delay: Span = cell.backhaul.iter().map(|link| link.config.delay).sum();
        Self {
            ways: plan.connections().map(way).collect(),
            lines: Lines::new(plan.connections().map(|flow| flow.base_rtt.saturating_sub(delay))),
            transmitters,
            before: CellCounts {
                functions: vec![FunctionReport::default(); functions.len()],
                ..CellCounts::default()
            },
            functions,
            markings: Markings::new(plan),
            watched: cell.watched,
            limiter,
            backhaul,
            receiving: None,
            outcomes: Vec::new(),
            arrived: Vec::new(),
            dropped: Vec::new(),
            losses: plan.loss_episodes(),
            agenda_times: [Time::NEVER; SLOTS],
            air,
        }
    }

    /// Does everything on the air that is due by `now`.
    fn advance(&mut self, now: Time) {
        loop {
            if let Some((function, at)) = self.receiving
                && at <= now
            {
                self.receiving = None;
                self.receive(at, function);
                continue;
            }
            let at = self.air.wakeup();
            if at > now || at == Time::NEVER {
                return;
            }
            let mut outcomes = mem::take(&mut self.outcomes);
            self.air.poll(at, &mut outcomes);
            for outcome in outcomes.drain(..) {
                match outcome.fate {
                    Fate::Delivered { .. } => self.on_outcome(at, outcome.function.index(), true),
                    Fate::Dropped { .. } => self.on_outcome(at, outcome.function.index(), false),
                    Fate::Retried => {}
                }
            }
            self.outcomes = outcomes;
            self.receiving = self.air.receiving().map(|(function, at)| (function.index(), at));
        }
    }

    /// Handles the end of a function's first frame, which was `sent`, or given up.
    fn on_outcome(&mut self, now: Time, function: usize, sent: bool) {
        let (air, dropped, limiter) = (&mut self.air, &mut self.dropped, self.limiter.as_mut());
        let mut around = Surroundings { now, air, limiter, dropped };
        let Some(transmitter) = &mut self.transmitters[function] else { return };
        transmitter.on_outcome(sent, &mut around);
        if transmitter.is_limited() {
            // The access point has less airtime pending now, so functions that waited for airtime may send.
            let limited = self.transmitters.iter_mut().flatten().filter(|other| other.is_limited());
            limited.for_each(|other| other.feed(&mut around));
        }
    }

    /// Passes on the packet of a data frame that ended undisturbed.
    fn receive(&mut self, now: Time, function: usize) {
        let Some(transmitter) = &self.transmitters[function] else { return };
        let Some(packet) = transmitter.first().copied() else { return };
        if transmitter.is_station() {
            self.send(now, TO_SERVER, packet);
        } else {
            self.arrive(now, packet);
        }
    }

    /// Takes a packet that has crossed both the air and the backhaul.
    fn arrive(&mut self, now: Time, packet: Packet) {
        match packet.kind {
            Kind::Segment => self.arrived.push(packet),
            Kind::Acknowledgement | Kind::Probe => self.lines.push(now, packet.into()),
            Kind::Cross => {}
        }
    }

    /// Puts a packet into a link of the backhaul.
    fn send(&mut self, now: Time, link: usize, packet: Packet) {
        let dropped = &mut self.dropped;
        self.backhaul[link].push(now, packet, &mut |packet, _| dropped.push(wired(packet)));
    }

    /// Puts a packet into the queue of the function that sends it over the air.
    fn contend(&mut self, now: Time, packet: Packet) {
        self.advance(now);
        let way = self.ways[packet.flow as usize];
        let function = if packet.kind == Kind::Acknowledgement { way.acknowledgements } else { way.data };
        let transmitter = self.transmitters[function].as_mut().expect("checked as the cell was made");
        let (air, dropped, limiter) = (&mut self.air, &mut self.dropped, self.limiter.as_mut());
        transmitter.push(packet, &mut Surroundings { now, air, limiter, dropped });
    }

    fn watched(&mut self) -> &mut Transmitter {
        self.transmitters[self.watched].as_mut().expect("the access point is not saturated")
    }

    /// Returns the time for which the air was busy since measuring began.
    fn busy(&self, now: Time) -> Span {
        let airtime = self.air.airtime(now).since(&self.before.airtime);
        airtime.exchange + airtime.collision
    }

    fn due(&self) -> [Time; SLOTS] {
        let received = self.receiving.map_or(Time::NEVER, |(_, at)| at);
        let air = self.air.wakeup().min(received);
        let [to_access_point, to_server] =
            self.backhaul.each_ref().map(|link| link.wakeup().unwrap_or(Time::NEVER));
        [air, to_access_point, to_server]
    }
}

impl Medium for WirelessCell {
    const CARRIES_ACKNOWLEDGEMENTS: bool = true;

    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        let mut packet = self.markings.mark(packet);
        let Some(way) = self.ways.get(packet.flow as usize) else { return false };
        packet.hop = way.station;
        let from_station = (way.direction == Direction::Up) == (packet.kind != Kind::Acknowledgement);
        if from_station {
            self.contend(now, packet);
        } else {
            self.send(now, TO_ACCESS_POINT, packet);
        }
        true
    }

    fn next_arrival(&self) -> Time {
        self.lines.next()
    }

    fn pop_arrival(&mut self) -> Option<UnderWay> {
        self.lines.pop()
    }

    fn slots(&self) -> usize {
        SLOTS
    }

    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>) {
        if slot == AIR {
            self.advance(now);
        } else {
            let link = slot - 1;
            loop {
                let dropped = &mut self.dropped;
                let packet = self.backhaul[link].poll(now, &mut |packet, _| dropped.push(wired(packet)));
                let Some(packet) = packet else { break };
                if link == TO_SERVER {
                    self.arrive(now, packet);
                } else {
                    self.contend(now, packet);
                }
            }
        }
        arrived.append(&mut self.arrived);
    }

    fn settle(&mut self, now: Time, mut dropped: impl FnMut(u32, Kind), mut wake: impl FnMut(usize, Time)) {
        for packet in self.dropped.drain(..) {
            let way = self.ways[packet.flow as usize];
            if packet.kind == Kind::Segment
                && packet.hop != ON_THE_WIRE
                && way.data == self.watched
                && let Some(transmitter) = &self.transmitters[self.watched]
            {
                let delay = || transmitter.queue.state(now).queueing_delay();
                self.losses.observe(now, packet.flow as usize, delay);
            }
            dropped(packet.flow, packet.kind);
        }
        let mut due = self.due();
        if !self.arrived.is_empty() {
            due[AIR] = now;
        }
        for (slot, at) in due.into_iter().enumerate() {
            if self.agenda_times[slot] != at {
                self.agenda_times[slot] = at;
                wake(slot, at);
            }
        }
    }

    fn losses(&mut self) -> &mut LossEpisodes {
        &mut self.losses
    }

    fn begin_measuring(&mut self, now: Time) {
        self.advance(now);
        let functions = self.functions.iter().map(|(_, _, id)| self.air.report(*id)).collect();
        self.before = CellCounts { at: now, airtime: self.air.airtime(now), functions };
        for transmitter in self.transmitters.iter_mut().flatten() {
            transmitter.queue.begin_measuring(now);
        }
        self.backhaul.iter_mut().for_each(|link| link.begin_measuring(now));
        self.losses.begin_measuring();
    }

    fn state(&mut self, now: Time) -> LinkState {
        let busy = self.busy(now);
        LinkState { busy, ..self.watched().queue.state(now) }
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        let measured = end.since(self.before.at).as_secs_f64().max(f64::MIN_POSITIVE);
        let utilization = self.busy(end).as_secs_f64() / measured;
        let idle_fraction = 1.0 - utilization;
        let watched = LinkReport { utilization, idle_fraction, ..self.watched().queue.report(end) };
        let mut reports = vec![watched];
        reports.extend(self.backhaul.iter_mut().map(|link| link.report(end)));
        reports
    }

    fn moving_limit(&mut self, now: Time) -> Option<u64> {
        self.watched().queue.moving_limit(now)
    }

    fn cell_report(&mut self, end: Time) -> Option<CellReport> {
        let mean_moving_limit = self.watched().queue.mean_moving_limit(end);
        let of = self.functions.iter().zip(&self.transmitters).zip(&self.before.functions);
        let functions = of
            .map(|(((station, category, id), transmitter), before)| AccessReport {
                station: station.clone(),
                category: *category,
                access: self.air.report(*id).since(before),
                queue: transmitter.as_ref().map(|transmitter| transmitter.queue.report(end)),
            })
            .collect();
        let airtime = self.air.airtime(end).since(&self.before.airtime);
        Some(CellReport { measured: end.since(self.before.at), airtime, functions, mean_moving_limit })
    }
}

/// Marks a packet as dropped by the backhaul.
fn wired(packet: Packet) -> Packet {
    Packet { hop: ON_THE_WIRE, ..packet }
}

/// Returns the way of a flow at `place`.
///
/// # Panics
/// If the cell lacks a function that the flow needs.
fn way(place: CellPlace, air: &Cell) -> CellRoute {
    let station = place.station + 1;
    let (data, acknowledgements) = match place.direction {
        Direction::Down => (0, station),
        Direction::Up => (station, 0),
    };
    let function = |station, category: Category| {
        let function = air.function(station, category);
        let missing = || panic!("station number {station} sends nothing in {}", category.name());
        function.unwrap_or_else(missing).index()
    };
    CellRoute {
        direction: place.direction,
        station: place.station as u32,
        data: function(data, place.category),
        acknowledgements: function(acknowledgements, place.ack_category),
    }
}
