//! Engset sessions: against ns-2 on the rows of P2's reference (tests/reference/README.md), and their own rules.

use crate::common::{plan, two_segments};
use crate::ns2::base_rtts;
use tightlink_sim::{
    ControlPlan, FlowPlan, NoRecorder, Plan, SessionSize, SessionsPlan, Simulation, Transport,
};
use units::random::Distribution;
use units::{Bytes, Fraction, Rate, Span, Time};

/// What ns-2 found with a buffer of `buffer` packets, the one in service included.
#[derive(Debug)]
struct Row {
    buffer: u64,
    idle: f64,
    loss: f64,
    occupancy: f64,
    active: f64,
}

fn rows() -> Vec<Row> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns2");
    let text = std::fs::read_to_string(format!("{folder}/p2_engset_ns2.csv")).expect("the reference");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        assert_eq!((cells[1], number(3), number(8), number(9)), ("Sack1", 200.0, 50.0, 300.0));
        Row {
            buffer: number(4) as u64,
            idle: number(12),
            loss: number(14),
            occupancy: number(16),
            active: number(17),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// 200 users on 16 Mbit/s as the reference had them.
fn scenario(buffer: u64) -> Plan {
    let mut plan = plan(16_000_000, buffer - 1);
    plan.warmup = Time::ZERO + Span::from_secs(50);
    plan.end = Some(Time::ZERO + Span::from_secs(350));
    let segment = Bytes::new(460);
    let connection = |rtt: Span| FlowPlan {
        control: ControlPlan { start: two_segments(segment), ..ControlPlan::new("reno", segment) },
        payload: segment,
        header: Bytes::new(40),
        send_jitter: Span::from_micros(250),
        // As ns-2: RFC 2988, which RFC 6298 takes the place of.
        transport: Transport { timestamps: false, initial_rto: Span::from_secs(3), ..Transport::default() },
        ..FlowPlan::greedy("user", "reno", rtt)
    };
    plan.sessions = vec![SessionsPlan {
        name: "users".into(),
        connections: base_rtts(200).into_iter().map(connection).collect(),
        size: SessionSize::Packets(Distribution::Uniform(1.0, 200.0)),
        think: Distribution::Exponential(2.0),
        handshake: true,
    }];
    plan
}

#[test]
fn every_engset_row_of_ns2_is_met() {
    let rows = rows();
    assert_eq!(rows.len(), 12);
    let mut missed = Vec::new();
    for row in &rows {
        let outcome = Simulation::new(scenario(row.buffer), NoRecorder).run();
        let (link, active) = (outcome.link, outcome.sessions[0].mean_active);
        let occupancy = link.mean_waiting_packets / row.buffer as f64;
        let idle_fits = (link.idle_fraction - row.idle).abs() <= (0.2 * row.idle).max(0.015);
        let loss_fits = (link.loss_rate() / row.loss - 1.0).abs() <= 0.15;
        let active_fits = (active / row.active - 1.0).abs() <= 0.06;
        let line = format!(
            "B = {}: idle {:.4} ({:.4}), loss {:.4} ({:.4}), occupancy {occupancy:.3} ({:.3}), active {active:.1} ({:.1})",
            row.buffer,
            link.idle_fraction,
            row.idle,
            link.loss_rate(),
            row.loss,
            row.occupancy,
            row.active
        );
        println!("{line}");
        if !idle_fits || !loss_fits || !active_fits || (occupancy - row.occupancy).abs() > 0.05 {
            missed.push(line);
        }
    }
    assert!(missed.is_empty(), "ours (ns-2's):\n{}", missed.join("\n"));
}

/// Little's law for the users that think: they are N - active, begin to think as often as sessions end, and think for 2 s. As
/// the link carries 4000 packets/s at most and a session has 100.5 in the mean, active >= N - 2 s * 4000/100.5 per s = 120.4,
/// for ns-2 as for us. The paper prints "around 110".
#[test]
fn no_buffer_leaves_fewer_users_active_than_littles_law_allows() {
    let (think, measured) = (2.0_f64, 300.0_f64);
    let most_sessions = 4000.0 / 100.5 * measured;
    let least_active = 200.0 - think * most_sessions / measured;
    assert!((least_active - 120.4).abs() < 0.01, "{least_active}");
    // Standard deviations of one run: of the mean of so many times to think, and of so many sizes.
    let of_thinking = think * think * f64::sqrt(most_sessions) / measured;
    let of_sizes = think * (199.0 / f64::sqrt(12.0) / 100.5) * f64::sqrt(most_sessions) / measured;
    for row in rows() {
        assert!(row.active > least_active, "ns-2, B = {}: {}", row.buffer, row.active);
    }
    for buffer in [5, 30, 100, 400] {
        let sessions = &Simulation::new(scenario(buffer), NoRecorder).run().sessions[0];
        let thinking = think * sessions.completed as f64 / measured;
        println!("B = {buffer}: {:.2} active, {thinking:.2} think", sessions.mean_active);
        assert!(
            (sessions.mean_active + thinking - 200.0).abs() < 3.0 * of_thinking,
            "B = {buffer}: {} are active and {thinking} think, of 200",
            sessions.mean_active
        );
        let least = least_active - 3.0 * libm::hypot(of_thinking, of_sizes);
        assert!(sessions.mean_active > least, "B = {buffer}: {} of {least}", sessions.mean_active);
    }
}

/// One user on a fast path without loss: 10 packets in windows of 10 after a handshake, then a second of thought.
fn alone(handshake: bool, loss: f64) -> Plan {
    let mut plan = plan(1_000_000_000, 1000);
    plan.topology.links_mut()[0].config.loss = Fraction::new(loss).expect("a share");
    plan.end = Some(Time::ZERO + Span::from_secs(2000));
    plan.sessions = vec![SessionsPlan {
        name: "user".into(),
        connections: vec![FlowPlan::greedy("user", "reno", Span::from_millis(100))],
        size: SessionSize::Packets(Distribution::Constant(10.0)),
        think: Distribution::Constant(1.0),
        handshake,
    }];
    plan
}

#[test]
fn a_user_with_a_line_of_its_own_sends_one_segment_after_the_other() {
    let mut plan = alone(false, 0.0);
    plan.sessions[0].connections[0].access_rate = Some(Rate::from_bps(12_000_000));
    let outcome = Simulation::new(plan, NoRecorder).run();
    // The tenth segment leaves nine milliseconds after the first, and takes 12 us on the link like the others.
    let took = outcome.sessions[0].completion.mean().unwrap().as_secs_f64();
    assert!((took - 0.109_012).abs() < 0.000_02, "{took}");
    assert_eq!(outcome.link.mean_waiting_packets, 0.0, "no two segments meet at the link");
}

#[test]
fn a_lone_user_takes_a_round_trip_for_the_handshake_and_one_for_each_window() {
    for (handshake, took) in [(false, 0.1), (true, 0.2)] {
        let outcome = Simulation::new(alone(handshake, 0.0), NoRecorder).run();
        let user = &outcome.sessions[0];
        // Ten packets of 12 us behind the first round trips.
        assert!((user.completion.mean().unwrap().as_secs_f64() - took - 0.00012).abs() < 0.00002);
        assert_eq!(user.completed, (2000.0 / (1.0 + took + 0.00012)) as u64);
        assert!((user.mean_active - took / (1.0 + took)).abs() < 0.001, "{}", user.mean_active);
        assert_eq!((user.dropped, user.retransmits), (0, 0));
        // At the end a session may be under way.
        let packets = if handshake { 11 } else { 10 };
        assert!((user.completed * packets..=(user.completed + 1) * packets).contains(&user.sent));
        assert_eq!(user.delivered, Bytes::new(1448 * 10 * user.completed));
    }
}

#[test]
fn a_lost_handshake_costs_its_timeout_and_nothing_that_was_sent_is_forgotten() {
    let outcome = Simulation::new(alone(true, 0.2), NoRecorder).run();
    let user = &outcome.sessions[0];
    assert_eq!(user.dropped, outcome.link.drops());
    assert!(user.retransmits >= user.dropped * 9 / 10, "{} of {}", user.retransmits, user.dropped);
    // One in five handshakes waits a second at least.
    assert!(user.completion.quantile(0.9).unwrap() > Span::from_millis(1200));
    assert!(user.completion.quantile(0.05).unwrap() < Span::from_millis(300));
}

#[test]
fn sessions_are_the_same_whichever_way_the_link_is_driven_and_every_time() {
    let short = || {
        let mut plan = scenario(20);
        plan.end = Some(plan.warmup + Span::from_secs(10));
        plan
    };
    let outcomes = [
        Simulation::new(short(), NoRecorder).run(),
        Simulation::new(short(), NoRecorder).run(),
        Simulation::with_link_events(short(), NoRecorder).run(),
    ];
    let numbers = |outcome: &tightlink_sim::Outcome<NoRecorder>| {
        let users = &outcome.sessions[0];
        (users.completed, users.delivered, users.dropped, users.retransmits, users.mean_active.to_bits())
    };
    assert!(numbers(&outcomes[0]).0 > 100);
    assert_eq!(numbers(&outcomes[0]), numbers(&outcomes[1]));
    assert_eq!(numbers(&outcomes[0]), numbers(&outcomes[2]));
}
