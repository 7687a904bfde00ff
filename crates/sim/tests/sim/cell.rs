//! The wireless cell from outside: against hand calculations, and what must hold in any cell.

use crate::common::seconds;
use air::access::{Access, Category, Countdown};
use air::config::AfterCollision;
use air::frame::{ExchangeTime, Sizes};
use air::phy::IEEE_80211G;
use link::{Limit, LinkConfig};
use tightlink_sim::{
    AccessReport, CellPlace, CellPlan, CellReport, ControlPlan, Direction, DownlinkPlan, FlowPlan, LinkPlan,
    NoRecorder, Outcome, Plan, QueuePlan, Simulation, StationPlan, Topology, UplinkPlan, UplinkSource,
};
use units::{Bytes, Rate, Span, Time};

pub const DATA: Category = Category::BestEffort;
pub const ACKNOWLEDGEMENTS: Category = Category::Voice;
const RATE: Rate = Rate::from_bps(54_000_000);
const CONTROL: Rate = Rate::from_bps(6_000_000);

/// Data: AIFSN 6, windows of 31 to 1023. Acknowledgements: AIFSN 2, windows of 3 to 7. Eleven attempts.
pub fn data() -> Access {
    let countdown = Countdown::EveryBoundary;
    Access { aifsn: 6, cw_min: 31, cw_max: 1023, txop: Span::ZERO, retry_limit: 11, countdown }
}

fn acknowledgements() -> Access {
    Access { aifsn: 2, cw_min: 3, cw_max: 7, ..data() }
}

pub fn queue(policy: &str, packets: u64) -> QueuePlan {
    QueuePlan { policy: policy.into(), limit: Limit::Packets(packets) }
}

fn wire(name: &str) -> LinkPlan {
    LinkPlan {
        name: name.into(),
        config: LinkConfig::constant(Rate::from_bps(100_000_000), Span::from_millis(100)),
        queue: "drop-tail".into(),
        limit: Limit::Packets(1000),
    }
}

/// A cell of 802.11g without stations, whose access point has room for so many packets of data.
pub fn cell(room: u64) -> CellPlan {
    let downlink = |category, access, room| DownlinkPlan {
        category,
        access,
        queue: queue("drop-tail", room),
        moving: None,
        airtime: None,
    };
    CellPlan {
        phy: IEEE_80211G,
        sizes: Sizes::default(),
        control_rate: CONTROL,
        after_collision: AfterCollision::Eifs,
        ack_timeout: None,
        access_point: vec![
            downlink(DATA, data(), room),
            downlink(ACKNOWLEDGEMENTS, acknowledgements(), 1000),
        ],
        watched: 0,
        stations: Vec::new(),
        backhaul: [wire("to the access point"), wire("to the server")],
    }
}

/// With one more station that has queues for both categories.
pub fn station(mut cell: CellPlan) -> CellPlan {
    let function = |category, access| UplinkPlan {
        category,
        access,
        source: UplinkSource::Queue(queue("drop-tail", 1000)),
    };
    cell.stations.push(StationPlan {
        name: format!("station-{}", cell.stations.len() + 1),
        rate: RATE,
        functions: vec![function(DATA, data()), function(ACKNOWLEDGEMENTS, acknowledgements())],
    });
    cell
}

fn saturated(mut cell: CellPlan, stations: usize, access: Access) -> CellPlan {
    for number in 1..=stations {
        let source = UplinkSource::Saturated(Bytes::new(1500));
        cell.stations.push(StationPlan {
            name: format!("station-{number}"),
            rate: RATE,
            functions: vec![UplinkPlan { category: DATA, access, source }],
        });
    }
    cell
}

/// Segments of 1000 bytes of payload, each acknowledged by itself, for the station with this index.
pub fn flow(station: usize, direction: Direction) -> FlowPlan {
    let name = format!("{direction:?}-{station}");
    let payload = Bytes::new(1000);
    FlowPlan {
        control: ControlPlan::new("reno", payload),
        payload,
        header: Bytes::new(40),
        route: Vec::new(),
        place: Some(CellPlace { station, direction, category: DATA, ack_category: ACKNOWLEDGEMENTS }),
        // Nobody starts at the same instant.
        start: Time::ZERO + Span::from_micros(137_111 * station as u64),
        ..FlowPlan::greedy(&name, "reno", Span::from_millis(200))
    }
}

/// A download of the first station and uploads of as many others, from `warmup` to `end` seconds.
pub fn download_and_uploads(mut cell: CellPlan, uploads: usize, (warmup, end): (u64, u64)) -> Plan {
    for _ in 0..=uploads {
        cell = station(cell);
    }
    let flows = [flow(0, Direction::Down)]
        .into_iter()
        .chain((1..=uploads).map(|station| flow(station, Direction::Up)));
    plan(cell, flows.collect(), (warmup, end))
}

pub fn plan(cell: CellPlan, flows: Vec<FlowPlan>, (warmup, end): (u64, u64)) -> Plan {
    Plan {
        topology: Topology::Cell(cell),
        flows,
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: Some(seconds(end)),
        warmup: seconds(warmup),
        seed: 1,
    }
}

pub fn run(plan: Plan) -> (Outcome<NoRecorder>, CellReport) {
    let outcome = Simulation::new(plan, NoRecorder).run();
    let cell = outcome.cell.clone().expect("it is a cell");
    (outcome, cell)
}

pub fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * sum / (values.len() as f64 * values.iter().map(|value| value * value).sum::<f64>())
}

fn throughputs(cell: &CellReport) -> Vec<f64> {
    let stations = cell.functions.iter().filter(|function| function.queue.is_none());
    stations.map(|function| cell.throughput_of(function).as_bps_f64()).collect()
}

#[test]
fn one_saturated_station_has_the_throughput_of_the_hand_calculation() {
    let access = Access { aifsn: 3, cw_min: 15, ..data() };
    let (_, report) = run(plan(saturated(cell(100), 1, access), Vec::new(), (1, 61)));
    // 1538 bytes and 22 bits in 58 symbols of 216 bits, preamble 20, extension 6: 258 us. SIFS 10. An acknowledgement of 14 bytes at
    // 6 Mb/s in 6 symbols: 50 us. AIFS 10 + 27, and 7.5 slots of 9 us.
    let expected = 1500.0 * 8.0 / (258e-6 + 10e-6 + 50e-6 + 37e-6 + 67.5e-6);
    let found = report.throughput().as_bps_f64();
    assert!((found / expected - 1.0).abs() < 0.002, "{found} {expected}");
    assert!((report.airtime_share(&report.functions[2]) - 318.0 / 422.5).abs() < 0.002);
    assert_eq!(report.collision_probability(), 0.0);
}

#[test]
fn a_lone_download_has_its_payload_over_the_mean_exchange_time() {
    let (outcome, _) = run(download_and_uploads(cell(700), 0, (60, 360)));
    // The station's acknowledgement contends at AIFSN 2 with at most 3 slots, the next segment at AIFSN 6: each segment is
    // followed by the acknowledgement of it, without a collision, and the access point's counter stands still meanwhile.
    let exchange =
        |length| ExchangeTime::new(&IEEE_80211G, &Sizes::default(), Bytes::new(length), RATE, CONTROL).whole;
    let (segment, acknowledgement) = (exchange(1040).as_secs_f64(), exchange(40).as_secs_f64());
    let waits = 10e-6 + (6.0 + 15.5) * 9e-6 + 10e-6 + (2.0 + 1.5) * 9e-6;
    let expected = 8000.0 / (segment + acknowledgement + waits);
    let found = outcome.flows[0].goodput().as_bps_f64();
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
}

#[test]
fn the_airtime_adds_up_to_the_time_that_has_passed() {
    let adds_up = |report: &CellReport| assert_eq!(report.airtime.total(), report.measured);
    adds_up(&run(plan(saturated(cell(100), 5, data()), Vec::new(), (1, 11))).1);
    let (_, report) = run(download_and_uploads(cell(70), 5, (5, 25)));
    adds_up(&report);
    let exchanges: f64 = report.functions.iter().map(|function| report.airtime_share(function)).sum();
    let busy = report.airtime.exchange.as_secs_f64() / report.measured.as_secs_f64();
    assert!((exchanges - busy).abs() < 1e-3, "{exchanges} {busy}");
}

/// With windows this small and one retry, frames are lost.
#[test]
fn every_frame_is_acknowledged_retried_or_dropped_once() {
    let mut plan = download_and_uploads(cell(70), 6, (0, 20));
    let Topology::Cell(cell) = &mut plan.topology else { unreachable!("it is a cell") };
    for function in cell.stations.iter_mut().flat_map(|station| &mut station.functions) {
        function.access = Access { retry_limit: 2, cw_max: 15, cw_min: 3, ..function.access };
    }
    let (outcome, report) = run(plan);
    let mut lost = 0;
    for AccessReport { access, queue, station, .. } in &report.functions {
        let queue = queue.as_ref().expect("nobody is saturated");
        assert_eq!((access.delivered, access.dropped), (queue.forwarded, queue.random_losses), "{station}");
        let under_way = access.attempts - access.collisions - access.delivered;
        assert!(under_way <= 1, "{station}: {access:?}");
        let failures = access.collisions + access.internal_collisions;
        assert_eq!(access.retries() + access.dropped, failures);
        let kept = queue.conservation;
        assert_eq!(kept.arrived, kept.forwarded + kept.dropped + kept.held, "{station}");
        lost += access.dropped;
    }
    assert!(lost > 100, "{lost}");
    let dropped = outcome.flows.iter().map(|flow| flow.dropped + flow.acknowledgements_dropped).sum::<u64>();
    let queues = report.functions.iter().filter_map(|function| function.queue.as_ref());
    let wires = outcome.links[1..].iter();
    assert_eq!(dropped, queues.chain(wires).map(|queue| queue.conservation.dropped).sum::<u64>());
}

#[test]
fn saturated_stations_with_equal_parameters_share_equally() {
    for stations in [2, 5, 10] {
        let (_, report) = run(plan(saturated(cell(100), stations, data()), Vec::new(), (1, 61)));
        let index = jain(&throughputs(&report));
        assert!(index > 0.99, "{stations}: {index}");
    }
}

#[test]
fn a_plan_with_the_same_seed_has_the_same_outcome() {
    let of = |seed| {
        let plan = Plan { seed, ..download_and_uploads(cell(70), 3, (2, 12)) };
        format!("{:?}", Simulation::new(plan, NoRecorder).run())
    };
    assert!(of(1) == of(1), "the same seed");
    assert!(of(1) != of(2), "another seed");
}

/// Goodputs of ten uploads alone.
fn uploads(ack_category: Category) -> Vec<f64> {
    let mut plan = Plan { seed: 14, ..download_and_uploads(cell(400), 10, (30, 230)) };
    plan.flows.remove(0);
    for flow in &mut plan.flows {
        flow.place.as_mut().expect("it is in the cell").ack_category = ack_category;
    }
    run(plan).0.flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect()
}

#[test]
fn uploads_share_equally_only_if_their_acknowledgements_have_a_category() {
    let (apart, together) = (jain(&uploads(ACKNOWLEDGEMENTS)), jain(&uploads(DATA)));
    assert!(apart > 0.95, "{apart}");
    assert!(together < 0.95, "{together}");
}
