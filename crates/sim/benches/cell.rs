//! How many times faster than real time a wireless cell is: 300 s, 11 stations at 54 Mbit/s, one of them with a download, the others
//! with an upload each, acknowledgements in a category of their own.
//!
//! `once` runs it once (for callgrind) instead of the best of three; `seconds=N` is for another length.

use air::access::{Access, Category};
use air::config::AfterCollision;
use air::frame::Sizes;
use air::phy::IEEE_80211G;
use link::{Limit, LinkConfig};
use testkit::cpu_seconds;
use tightlink_sim::{
    CellPlace, CellPlan, Direction, DownlinkPlan, FlowPlan, LinkPlan, NoRecorder, Plan, QueuePlan,
    Simulation, StationPlan, Topology, UplinkPlan, UplinkSource,
};
use units::{Rate, Span, Time};

const STATIONS: usize = 11;
const CATEGORIES: [Category; 2] = [Category::BestEffort, Category::Voice];

fn queue(packets: u64) -> QueuePlan {
    QueuePlan { policy: "drop-tail".into(), limit: Limit::Packets(packets) }
}

fn plan(seconds: u64) -> Plan {
    let access = |category| Access::default_of(&IEEE_80211G, category);
    let uplink = |category| UplinkPlan {
        category,
        access: access(category),
        source: UplinkSource::Queue(queue(1000)),
    };
    let station = |number| StationPlan {
        name: format!("station-{number}"),
        rate: Rate::from_bps(54_000_000),
        functions: CATEGORIES.map(uplink).to_vec(),
    };
    let downlink = |category| DownlinkPlan {
        category,
        access: access(category),
        queue: queue(400),
        moving: None,
        airtime: None,
    };
    let wire = |name: &str| LinkPlan {
        name: name.into(),
        config: LinkConfig::constant(Rate::from_bps(100_000_000), Span::from_millis(100)),
        queue: "drop-tail".into(),
        limit: Limit::Packets(1000),
    };
    let flow = |station| FlowPlan {
        route: Vec::new(),
        place: Some(CellPlace {
            station,
            direction: if station == 0 { Direction::Down } else { Direction::Up },
            category: CATEGORIES[0],
            ack_category: CATEGORIES[1],
        }),
        start: Time::ZERO + Span::from_millis(91 * station as u64),
        ..FlowPlan::greedy(&format!("flow-{station}"), "reno", Span::from_millis(200))
    };
    Plan {
        topology: Topology::Cell(CellPlan {
            phy: IEEE_80211G,
            sizes: Sizes::default(),
            control_rate: Rate::from_bps(24_000_000),
            after_collision: AfterCollision::Eifs,
            ack_timeout: None,
            access_point: CATEGORIES.map(downlink).to_vec(),
            watched: 0,
            stations: (1..=STATIONS).map(station).collect(),
            backhaul: [wire("to the access point"), wire("to the server")],
        }),
        flows: (0..STATIONS).map(flow).collect(),
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: Some(Time::ZERO + Span::from_secs(seconds)),
        warmup: Time::ZERO,
        seed: 1,
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let once = arguments.iter().any(|word| word == "once");
    let length = arguments.iter().find_map(|word| word.strip_prefix("seconds="));
    let seconds = length.map_or(300, |seconds| seconds.parse().expect("whole seconds"));
    let runs = (0..if once { 1 } else { 3 }).map(|_| {
        let before = cpu_seconds();
        let outcome = Simulation::new(plan(seconds), NoRecorder).run();
        (cpu_seconds() - before, outcome)
    });
    let (took, outcome) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a run");
    let cell = outcome.cell.expect("it is a cell");
    println!(
        "cell: {seconds} s, {STATIONS} stations: {took:.3} CPU-s, {:.0} times real time, {} frames, {} in the air, {:.2} us per attempt",
        seconds as f64 / took,
        cell.functions.iter().map(|function| function.access.delivered).sum::<u64>(),
        cell.throughput(),
        took * 1e6 / cell.functions.iter().map(|function| function.access.attempts).sum::<u64>() as f64,
    );
}
