//! Downloads in a cell without other load: the access point always has a segment to send, and each is acknowledged.
//!
//! ```text
//! T_serv = d (AIFS_data + CWmin_data/2 slots + exchange_data) + AIFS_ack + CWmin_ack/2 slots + exchange_ack      d segments per acknowledgement
//! goodput = d payload / T_serv
//! ```
//! Nothing collides if the last slot of the acknowledgements' first window comes before the first slot of the data's:
//! `AIFSN_ack + CWmin_ack < AIFSN_data`. Otherwise both count down at the same time, which the theory leaves out.

use super::Theory;
use super::answer::Answer;
use super::departure::{Departure, Severity, control};
use super::saturation::{Burst, cell};
use crate::run::record::{FlowSummary, Note, RttStatistics, StationSummary, WlanSummary};
use crate::run::resolve::{Resolved, ResolvedFlow};
use air::access::{Access, Category};
use link::Limit;
use link::moving_limit::MovingLimitConfig;
use sim::{CellPlan, Direction, UplinkSource};
use units::{Bytes, Complaint, Rate, Span};

/// Downloads, without other traffic in the air.
#[derive(Debug)]
pub(super) struct Downloads;

/// The time that one direction of a download takes, on average per frame.
struct Cost {
    /// The time from the end of the previous exchange to the end of this one.
    whole: f64,
    /// The part of that time for frames and acknowledgements.
    airtime: f64,
}

/// The controls that fill a queue and keep it filled, if it holds a bandwidth-delay product.
pub(super) const CONTROLS: [&str; 2] = ["reno", "newreno"];

impl Theory for Downloads {
    fn name(&self) -> &'static str {
        "downloads"
    }

    fn source(&self) -> &'static str {
        "mean exchange times"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let cell = cell(resolved)?;
        let first = downloads(resolved, cell)?;
        let served = DownloadService::new(cell, first);
        let mut departures: Vec<Departure> =
            control(&resolved.flows, &CONTROLS, "Reno, which fills the queue").into_iter().collect();
        if !served.apart {
            let complaint = Complaint::new(
                first.key("ack_category"),
                "acknowledgements that count down while the data do: they collide, and their times overlap",
            )
            .accepted("a category whose AIFSN + CWmin is below the data's AIFSN")
            .help("ask the simulator");
            let assumption = "data and acknowledgements are taken to follow each other, without collisions";
            departures.push(Departure::new(Severity::Part, complaint, assumption));
        }
        let product = first.base_rtt.as_secs_f64() / served.segment();
        if let Some(room) = room(resolved).filter(|room| (*room as f64) < product) {
            let found =
                format!("room for {room} packets, less than the bandwidth-delay product of {product:.0}");
            let complaint = Complaint::new("wlan.queue.limit", found)
                .accepted(format!("{} packets or more", product.ceil()))
                .help("ask the simulator");
            departures.push(Departure::new(
                Severity::Part,
                complaint,
                "the queue is taken never to be empty, though it holds less than a bandwidth-delay product",
            ));
        }
        if let Some(sized) = resolved.flows.iter().find(|flow| flow.size.is_some() || flow.stop.is_some()) {
            let complaint = Complaint::new(sized.key("size"), "a download that ends")
                .accepted("greedy downloads without a stop")
                .help("ask the simulator");
            departures.push(Departure::new(
                Severity::Part,
                complaint,
                "downloads are taken to go on all the time",
            ));
        }
        Ok(departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let cell = cell(resolved)?;
        let first = downloads(resolved, cell)?;
        Ok(DownloadService::new(cell, first).answer(resolved, cell, first))
    }
}

/// Returns the first of the downloads, if the cell has no other traffic.
fn downloads<'a>(resolved: &'a Resolved, cell: &CellPlan) -> Result<&'a ResolvedFlow, Complaint> {
    let other =
        resolved.flows.iter().find(|flow| flow.place.is_none_or(|place| place.direction != Direction::Down));
    if let Some(upload) = other {
        return Err(Complaint::new(
            upload.key("direction"),
            "an upload: theory has downloads, or saturated stations",
        )
        .accepted("\"down\"")
        .help("ask the simulator"));
    }
    let mut functions = cell.stations.iter().flat_map(|station| &station.functions);
    if functions.any(|function| matches!(function.source, UplinkSource::Saturated(_))) {
        return Err(Complaint::new("station", "saturated stations together with downloads")
            .accepted("downloads, or saturated stations")
            .help("ask the simulator"));
    }
    let first = resolved.flows.first();
    first.ok_or_else(|| Complaint::new("flow", "zero flows").accepted("a download, or saturated stations"))
}

/// Returns the limit of the access point's queue, if it is in packets.
fn room(resolved: &Resolved) -> Option<u64> {
    match resolved.limit {
        Limit::Packets(packets) => Some(packets),
        Limit::Bytes(_) => None,
    }
}

/// The service of a download by the access point and a station.
struct DownloadService {
    data: Cost,
    acknowledgement: Cost,
    /// Segments per acknowledgement.
    covered: f64,
    payload: Bytes,
    /// True if acknowledgements are sent before the access point may count down.
    apart: bool,
}

/// Returns the time between two segments of `flow`, a download, without other traffic in the air, seconds.
pub(crate) fn served_every(cell: &CellPlan, flow: &ResolvedFlow) -> f64 {
    DownloadService::new(cell, flow).segment()
}

impl DownloadService {
    fn new(cell: &CellPlan, flow: &ResolvedFlow) -> Self {
        // Every flow of a cell has a place, and functions for both its categories.
        let place = flow.place.expect("a flow in a cell");
        let station = &cell.stations[place.station];
        let access_point = cell.access_point.iter().find(|function| function.category == place.category);
        let answering = station.functions.iter().find(|function| function.category == place.ack_category);
        let data = access_point.expect("a function for its data").access;
        let answer = answering.expect("a function for its acknowledgements").access;
        let covered = flow.delayed_ack;
        // The number of data frames per access. There are only as many acknowledgements as these segments require.
        let frames = Burst::new(cell, &data, flow.segment(), station.rate, u64::MAX).frames;
        Self {
            data: cost(cell, &data, flow.segment(), station.rate, frames),
            acknowledgement: cost(cell, &answer, flow.header, station.rate, frames / covered),
            covered: covered as f64,
            payload: flow.payload,
            apart: answer.aifsn + answer.cw_min < data.aifsn,
        }
    }

    /// Returns the seconds from one segment to the next.
    fn segment(&self) -> f64 {
        self.data.whole + self.acknowledgement.whole / self.covered
    }

    fn answer(&self, resolved: &Resolved, cell: &CellPlan, first: &ResolvedFlow) -> Answer {
        let every = self.segment();
        let goodput = self.payload.bits_f64() / every;
        let share = goodput / resolved.flows.len() as f64;
        let flow = |flow: &ResolvedFlow| FlowSummary {
            name: flow.name.clone(),
            goodput_bps: share,
            rtt_s: Some(self.rtt(resolved, flow)),
            ..FlowSummary::default()
        };
        let busy = (self.data.airtime + self.acknowledgement.airtime / self.covered) / every;
        let place = first.place.expect("a flow in a cell");
        let one = |name: &str, category: Category, bytes: Bytes, rate: f64, airtime: f64| StationSummary {
            name: name.to_owned(),
            category: category.name().to_owned(),
            throughput_bps: bytes.bits_f64() * rate,
            airtime_share: Some(airtime * rate),
            retries: None,
            dropped_at_limit: None,
        };
        let (segments, acknowledgements) = (1.0 / every, 1.0 / every / self.covered);
        let mut stations =
            vec![one(CellPlan::ACCESS_POINT, place.category, first.segment(), segments, self.data.airtime)];
        if let [only] = &resolved.flows[..] {
            let name = &cell.stations[place.station].name;
            stations.push(one(
                name,
                place.ack_category,
                only.header,
                acknowledgements,
                self.acknowledgement.airtime,
            ));
        }
        let throughput = first.segment().bits_f64() * segments + first.header.bits_f64() * acknowledgements;
        Answer {
            utilization: busy,
            flows: resolved.flows.iter().map(flow).collect(),
            wlan: Some(WlanSummary {
                throughput_bps: throughput,
                collision_probability: self.apart.then_some(0.0),
                idle_share: 1.0 - busy,
                stations,
                ..WlanSummary::default()
            }),
            notes: self.notes(cell),
            ..Answer::default()
        }
    }

    /// Estimates the RTT. Reno fills and empties the queue in turn, so the mean lies half-way between an empty queue's
    /// RTT and a full one's.
    fn rtt(&self, resolved: &Resolved, flow: &ResolvedFlow) -> RttStatistics {
        let least = flow.base_rtt.as_secs_f64() + self.data.whole + self.acknowledgement.whole;
        let waiting = room(resolved).map_or(0.0, |room| room as f64 * self.segment());
        RttStatistics { min: least, mean: least + waiting / 2.0, p95: None }
    }

    fn notes(&self, cell: &CellPlan) -> Vec<Note> {
        let every = Span::from_secs_f64(self.segment());
        let ebdp = match cell.access_point[cell.watched].moving {
            Some(MovingLimitConfig::Ebdp(ebdp) | MovingLimitConfig::Lesser(ebdp, ..)) => Some(ebdp),
            _ => None,
        };
        let settles = ebdp.map(|ebdp| {
            let packets = ((ebdp.target.as_secs_f64() / self.segment()) as u64).saturating_add(ebdp.extra);
            format!("eBDP settles at {} packets", packets.min(ebdp.most))
        });
        std::iter::once(format!("a segment is served every {every}")).chain(settles).map(Note::from).collect()
    }
}

/// Computes the cost of a frame of `payload` for a function that has the medium to itself, with at most `most` frames
/// per access.
fn cost(cell: &CellPlan, access: &Access, payload: Bytes, rate: Rate, most: u64) -> Cost {
    let burst = Burst::new(cell, access, payload, rate, most);
    let waits = (cell.phy.sifs + cell.phy.slot * u64::from(access.aifsn)).as_secs_f64()
        + 0.5 * f64::from(access.cw_min) * cell.phy.slot.as_secs_f64();
    let frames = burst.frames as f64;
    let airtime = burst.whole.as_secs_f64() / frames;
    Cost { whole: waits / frames + airtime, airtime }
}
