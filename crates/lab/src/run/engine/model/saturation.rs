//! Bianchi's fixed point as a theory: a cell whose stations always have a frame to send.

use super::Theory;
use super::answer::Answer;
use super::departure::{Departure, Severity};
use crate::run::record::{Note, StationSummary, WlanSummary};
use crate::run::resolve::Resolved;
use air::access::{Access, Countdown};
use air::config::AfterCollision;
use air::frame::ExchangeTime;
use model::bianchi::{self, Channel, Class, Countdown as Rule};
use sim::{CellPlan, UplinkSource};
use units::{Bytes, Complaint, Rate, Span};

/// Saturated stations of one or several kinds.
#[derive(Debug)]
pub(super) struct Saturation;

/// Stations with equal parameters.
struct Kind {
    category: &'static str,
    access: Access,
    class: Class,
    /// The number of frames that an access without a collision transmits.
    frames: u64,
    names: Vec<String>,
}

impl Theory for Saturation {
    fn name(&self) -> &'static str {
        "saturation"
    }

    fn source(&self) -> &'static str {
        "bianchi2000, tinnirello2010"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let kinds = kinds(cell(resolved)?);
        if kinds.is_empty() {
            return Err(Complaint::new(
                "station",
                "no station is saturated: saturation has nothing to predict",
            )
            .accepted("a [[station]] with saturated")
            .help("ask the simulator"));
        }
        let mut departures = Vec::new();
        if let Some(flow) = resolved.flows.first() {
            let found = "flows in a cell with saturated stations: a flow sends when TCP lets it";
            let complaint = Complaint::new(flow.key("station"), found)
                .accepted("saturated stations only")
                .help("ask the simulator");
            departures.push(Departure::new(Severity::Core, complaint, "the flows are left out"));
        }
        if kinds.len() > 1
            && let Some(dcf) = kinds.iter().find(|kind| kind.access.countdown == Countdown::IdleSlots)
        {
            let found = format!("stations of {} kinds that count down in idle slots only", kinds.len());
            let complaint = Complaint::new("wlan.access", found)
                .accepted("\"edca\", or stations alike")
                .help("ask the simulator");
            let assumption = format!(
                "{} and the others are taken to count down at every slot boundary, as with access = \"edca\"",
                dcf.names[0]
            );
            departures.push(Departure::new(Severity::Part, complaint, assumption));
        }
        Ok(departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let cell = cell(resolved)?;
        let kinds = kinds(cell);
        let channel = channel(cell);
        let found: Vec<bianchi::Saturation> = match &kinds[..] {
            [kind] => {
                let rule = match kind.access.countdown {
                    Countdown::EveryBoundary => Rule::EveryBoundary,
                    Countdown::IdleSlots => Rule::IdleSlots,
                };
                vec![bianchi::saturation(&channel, &kind.class, rule).map_err(asked_of_the_cell)?]
            }
            _ => {
                let classes: Vec<Class> = kinds.iter().map(|kind| kind.class).collect();
                bianchi::by_class(&channel, &classes).map_err(asked_of_the_cell)?.classes
            }
        };
        Ok(answer(resolved, &kinds, &found))
    }
}

/// Returns the cell of the scenario, or an error if it has none.
pub(super) fn cell(resolved: &Resolved) -> Result<&CellPlan, Complaint> {
    resolved.cell.as_ref().ok_or_else(|| Complaint::new("wlan", "no wireless cell").accepted("[wlan]"))
}

fn asked_of_the_cell(complaint: Complaint) -> Complaint {
    let place = match complaint.place.rsplit(' ').next() {
        Some(key @ ("cw_min" | "cw_max" | "aifsn")) => format!("wlan.ac.be.{key}"),
        _ => "wlan".to_owned(),
    };
    Complaint { place, ..complaint }
}

fn channel(cell: &CellPlan) -> Channel {
    let after_collision = match cell.after_collision {
        AfterCollision::Difs => Span::ZERO,
        AfterCollision::Eifs => cell.phy.eifs_less_difs(cell.sizes.acknowledgement),
        AfterCollision::Wait(wait) => wait,
    };
    Channel { slot: cell.phy.slot, sifs: cell.phy.sifs, after_collision }
}

/// The transmission of a function with `access` that wins the medium: the number of frames of `payload` that fit into
/// its TXOP, and the time for them.
pub(super) struct Burst {
    /// Exchanges, separated by SIFS; at least one.
    pub(super) frames: u64,
    /// The time from the first frame to the last acknowledgement.
    pub(super) whole: Span,
    /// The time of the first data frame.
    pub(super) data: Span,
}

impl Burst {
    /// Computes the burst, of at most `most` frames.
    pub(super) fn new(cell: &CellPlan, access: &Access, payload: Bytes, rate: Rate, most: u64) -> Self {
        let time = ExchangeTime::new(&cell.phy, &cell.sizes, payload, rate, cell.control_rate);
        let sifs = cell.phy.sifs;
        let fit = (access.txop + sifs).as_nanos() / (time.whole + sifs).as_nanos();
        let frames = fit.min(most).max(1);
        Self { frames, whole: time.whole * frames + sifs * (frames - 1), data: time.data }
    }
}

/// Groups the saturated stations by equal parameters, in the order of the file.
fn kinds(cell: &CellPlan) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for station in &cell.stations {
        for function in &station.functions {
            let UplinkSource::Saturated(payload) = function.source else { continue };
            let burst = Burst::new(cell, &function.access, payload, station.rate, u64::MAX);
            let class = Class {
                stations: 1,
                aifsn: function.access.aifsn,
                cw_min: function.access.cw_min,
                cw_max: function.access.cw_max,
                // A higher limit is never reached, so it counts as none.
                attempts: Some(function.access.retry_limit).filter(|attempts| *attempts <= 255),
                payload: payload * burst.frames,
                exchange: burst.whole,
                data: burst.data,
            };
            let category = function.category.name();
            let alike =
                |kind: &&mut Kind| kind.category == category && Class { stations: 1, ..kind.class } == class;
            match kinds.iter_mut().find(alike) {
                Some(kind) => {
                    kind.class.stations += 1;
                    kind.names.push(station.name.clone());
                }
                None => {
                    let names = vec![station.name.clone()];
                    let (access, frames) = (function.access, burst.frames);
                    kinds.push(Kind { category, access, class, frames, names });
                }
            }
        }
    }
    kinds
}

fn answer(resolved: &Resolved, kinds: &[Kind], found: &[bianchi::Saturation]) -> Answer {
    let of = |(kind, found): (&Kind, &bianchi::Saturation)| {
        let stations = f64::from(kind.class.stations);
        let station = |name: &String| StationSummary {
            name: name.clone(),
            category: kind.category.to_owned(),
            throughput_bps: found.throughput.as_bps_f64() / stations,
            airtime_share: Some(found.airtime_share / stations),
            retries: None,
            dropped_at_limit: None,
        };
        kind.names.iter().map(station).collect::<Vec<_>>()
    };
    let stations: Vec<StationSummary> = kinds.iter().zip(found).flat_map(of).collect();
    let idle_share = found.first().map_or(1.0, |one| one.idle_share);
    // Counts over all transmissions: those that collide, and the frames of those that do not.
    let (mut all, mut collided) = (0.0, 0.0);
    for (kind, found) in kinds.iter().zip(found) {
        let won = found.throughput.as_bps_f64() / kind.class.payload.bits_f64();
        let p = found.collision_probability;
        let lost = won * p / (1.0 - p).max(1e-12);
        all += won * kind.frames as f64 + lost;
        collided += lost;
    }
    let dropped = found.iter().map(|found| found.drop_probability).fold(0.0, f64::max);
    let mut notes: Vec<Note> = Vec::new();
    if dropped > 0.0 {
        notes.push(
            format!("up to {:.2} % of a station's frames are dropped at the retry limit", dropped * 100.0)
                .into(),
        );
    }
    Answer {
        utilization: 1.0 - idle_share,
        flows: resolved.flows.iter().map(super::answer::nothing).collect(),
        wlan: Some(WlanSummary {
            throughput_bps: stations.iter().map(|station| station.throughput_bps).sum(),
            collision_probability: (all > 0.0).then(|| collided / all),
            idle_share,
            stations,
            ..WlanSummary::default()
        }),
        notes,
        ..Answer::default()
    }
}
