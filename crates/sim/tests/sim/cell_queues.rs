//! Queues and limits of a wireless cell's access point.

use crate::cell::{
    ACKNOWLEDGEMENTS, DATA, cell, data, download_and_uploads, flow, plan, queue, run, station,
};
use air::access::Access;
use air::airtime_limits::AirtimeLimits;
use link::LinkState;
use link::moving_limit::{AltParameters, EbdpParameters, MovingLimitConfig};
use tightlink_sim::{
    CellPlan, Direction, EcnMode, FlowPlan, FlowView, Outcome, Plan, Recorder, SessionSize, SessionsPlan,
    Simulation, Topology,
};
use units::random::Distribution;
use units::{Bytes, Span, Time};

/// Keeps the moving limit once a second.
#[derive(Debug, Default)]
struct Limits(Vec<u64>);

impl Recorder for Limits {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_secs(1))
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
    fn moving_limit(&mut self, _at: Time, packets: u64) {
        self.0.push(packets);
    }
}

fn moved_by(limit: MovingLimitConfig) -> CellPlan {
    let mut cell = cell(1600);
    cell.access_point[0].moving = Some(limit);
    cell
}

/// Ten uploads begin at 100 s.
fn limits_as_uploads_begin(limit: MovingLimitConfig) -> (Vec<u64>, Outcome<Limits>) {
    let mut plan = Plan { seed: 11, ..download_and_uploads(moved_by(limit), 10, (0, 250)) };
    for flow in &mut plan.flows[1..] {
        flow.start += Span::from_secs(100);
    }
    let mut outcome = Simulation::new(plan, Limits::default()).run();
    (std::mem::take(&mut outcome.recorder.0), outcome)
}

#[test]
fn the_limit_of_ebdp_follows_the_uploads_that_begin() {
    let (limits, outcome) = limits_as_uploads_begin(MovingLimitConfig::Ebdp(EbdpParameters::default()));
    // An exchange of segment and acknowledgement takes 593 us with the waits, so 337 of them take 0.2 s, and 40 more.
    let before = limits[60..99].iter().sum::<u64>() as f64 / 39.0;
    assert!((before / 377.0 - 1.0).abs() < 0.03, "{before}");
    let last = limits[200..].iter().sum::<u64>() as f64 / (limits.len() - 200) as f64;
    assert!(last < 100.0, "{last}");
    for (second, limit) in limits.iter().enumerate().skip(130) {
        assert!((*limit as f64 / last - 1.0).abs() < 0.1, "{second} s: {limit} {last}");
    }
    let report = outcome.cell.expect("it is a cell");
    let mean = limits.iter().sum::<u64>() as f64 / limits.len() as f64;
    let found = report.mean_moving_limit.expect("it moves");
    assert!((found / mean - 1.0).abs() < 0.02, "{found} {mean}");
}

#[test]
fn the_limit_of_a_star_is_never_above_that_of_ebdp() {
    let (ebdp, alt) = (EbdpParameters::default(), AltParameters::default());
    let (limits, outcome) = limits_as_uploads_begin(MovingLimitConfig::Lesser(ebdp, alt, 400));
    assert!(limits[130..].iter().all(|limit| *limit < 110), "{:?}", &limits[130..]);
    assert!(outcome.link.queue_length.max() <= 400);
}

/// FQ-CoDel as mac80211 has it.
fn with_airtime_limits(mut cell: CellPlan) -> CellPlan {
    for function in &mut cell.access_point {
        function.queue = queue("fq-codel", 8192);
        function.queue.policy.settings.target = Some(Span::from_millis(20));
        function.queue.policy.settings.quantum = Some(Bytes::new(300));
        function.airtime = Some(AirtimeLimits::default());
    }
    cell
}

#[test]
fn airtime_limits_over_fq_codel_keep_the_delay_low() {
    for uploads in [0, 5, 10] {
        let of = |cell| {
            let mut plan = Plan { seed: 12, ..download_and_uploads(cell, uploads, (50, 250)) };
            plan.flows.iter_mut().for_each(|flow| flow.transport.ecn = EcnMode::Classic);
            let (outcome, _) = run(plan);
            let delay = outcome.link.queueing_delay.mean().expect("time was measured");
            (delay.as_secs_f64(), outcome.flows[0].goodput().as_bps_f64())
        };
        let ((long, most), (short, some)) = (of(cell(400)), of(with_airtime_limits(cell(400))));
        assert!(short < long / 5.0 && some > 0.8 * most, "{uploads}: {long} {short} {}", some / most);
    }
}

/// Downloads of this many stations and an upload of each of as many others.
fn downloads_and_uploads(each: usize, access_point: Access) -> (Vec<f64>, Vec<f64>) {
    let mut cell = cell(400);
    for _ in 0..2 * each {
        cell = station(cell);
    }
    cell.access_point[0].access = access_point;
    let downloads = (0..each).map(|index| flow(index, Direction::Down));
    let uploads = (each..2 * each).map(|index| flow(index, Direction::Up));
    let (outcome, _) = run(Plan { seed: 13, ..plan(cell, downloads.chain(uploads).collect(), (50, 250)) });
    let mut goodputs: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect();
    let uploads = goodputs.split_off(each);
    (goodputs, uploads)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn downloads_share_one_stations_part_unless_the_access_point_may_send_more() {
    let (down, up) = downloads_and_uploads(1, data());
    assert!((down[0] / up[0] - 1.0).abs() < 0.05, "{down:?} {up:?}");
    let (down, up) = downloads_and_uploads(4, data());
    let share = 4.0 * mean(&down) / mean(&up);
    assert!((share - 1.0).abs() < 0.1, "{down:?} {up:?}");
    // Four exchanges of 252 us and SIFS between them.
    let txop = Span::from_micros(4 * 252 + 3 * 10);
    let (down, up) = downloads_and_uploads(4, Access { txop, ..data() });
    let share = 4.0 * mean(&down) / mean(&up);
    assert!((share / 4.0 - 1.0).abs() < 0.1, "{down:?} {up:?}");
    let (down, up) = downloads_and_uploads(4, Access { cw_min: 7, ..data() });
    assert!(4.0 * mean(&down) / mean(&up) > 2.0, "{down:?} {up:?}");
}

#[test]
fn users_come_and_go_in_a_cell_too() {
    let mut plan = download_and_uploads(cell(100), 1, (5, 65));
    plan.sessions.push(SessionsPlan {
        name: "users".into(),
        connections: vec![FlowPlan { start: Time::ZERO, ..flow(0, Direction::Down) }; 5],
        size: SessionSize::Packets(Distribution::Constant(20.0)),
        think: Distribution::Exponential(0.5),
        handshake: true,
    });
    let (outcome, _) = run(plan);
    // A handshake, and 20 segments from a window of 10: three round trips of 0.2 s and more, then half a second of thought.
    let completed = outcome.sessions[0].completed;
    assert!((100..=5 * 60).contains(&completed), "{completed}");
}

#[test]
fn a_cell_can_be_copied_and_written_down() {
    let plan = download_and_uploads(with_airtime_limits(cell(100)), 1, (0, 3));
    let text = serde_json::to_string(&plan).expect("a plan is data");
    for part in
        ["802.11g", "\"cw_min\":31", "\"category\":\"BestEffort\"", "\"threshold\":\"24ms\"", "station-2"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let copy = plan.clone();
    assert_eq!(plan, copy);
    assert_eq!(plan.clone().simplified(), copy);
}

#[test]
#[should_panic(expected = "station number 2 sends nothing in vi")]
fn a_flow_in_a_category_that_its_station_lacks_is_refused() {
    let mut plan = download_and_uploads(cell(100), 1, (0, 3));
    plan.flows[1].place.as_mut().expect("it is in the cell").category = air::access::Category::Video;
    let _ = Simulation::new(plan, Limits::default());
}

#[test]
#[should_panic(expected = "access-point")]
fn a_station_with_the_access_points_name_is_refused() {
    let mut plan = download_and_uploads(cell(100), 1, (0, 3));
    let Topology::Cell(cell) = &mut plan.topology else { unreachable!("it is a cell") };
    cell.stations[0].name = CellPlan::ACCESS_POINT.into();
    let _ = Simulation::new(plan, Limits::default());
}

/// What follows from a place alone: the acknowledgements have the other way.
#[test]
fn acknowledgements_take_the_other_way_in_their_own_category() {
    let (_, report) = run(download_and_uploads(cell(338), 1, (0, 20)));
    let of = |name: &str, category| {
        let its = report.functions.iter().find(|own| own.station == name && own.category == category);
        its.expect("it has it").access
    };
    let (down, down_acks) = (of("access-point", DATA), of("station-1", ACKNOWLEDGEMENTS));
    let (up, up_acks) = (of("station-2", DATA), of("access-point", ACKNOWLEDGEMENTS));
    assert_eq!((of("station-1", DATA).attempts, of("station-2", ACKNOWLEDGEMENTS).attempts), (0, 0));
    for (data, acks) in [(down, down_acks), (up, up_acks)] {
        assert_eq!(data.payload, Bytes::new(1040) * data.delivered);
        assert!(acks.delivered > 1000 && acks.delivered.abs_diff(data.delivered) < 2000, "{data:?} {acks:?}");
    }
    assert!(down.delivered.abs_diff(down_acks.delivered) <= 2, "{down:?} {down_acks:?}");
}
