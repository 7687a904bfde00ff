//! Engset sessions: against ns-2 on the rows of P2's reference (tests/reference/README.md), and their own rules.

use crate::common::{flow, plan};
use crate::ns2::base_rtts;
use cc::Start;
use cc::registry::build;
use tightlink_sim::{FlowPlan, NoRecorder, Plan, SessionSize, SessionsPlan, Simulation};
use units::random::Distribution;
use units::{Bytes, Span, Time};

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
    let rtts = base_rtts(200);
    let segment = Bytes::new(460);
    let connect = move |user: usize, syn_lost: bool| FlowPlan {
        control: build(
            "reno",
            "standard",
            Start { segment, window: segment * if syn_lost { 1 } else { 2 }, threshold: Bytes::MAX },
        )
        .expect("registered"),
        payload: segment,
        header: Bytes::new(40),
        send_jitter: Span::from_micros(250),
        timestamps: false,
        // As ns-2: RFC 2988, which RFC 6298 takes the place of.
        initial_rto: Span::from_secs(3),
        ..flow("user", "reno", rtts[user])
    };
    plan.sessions = vec![SessionsPlan {
        name: "users".into(),
        users: 200,
        connect: Box::new(connect),
        size: SessionSize::Packets(Distribution::Uniform(1.0, 200.0)),
        think: Distribution::Exponential(2.0),
        handshake: true,
    }];
    plan
}

#[test]
fn engset_rows_of_ns2_are_met() {
    for row in rows() {
        let outcome = Simulation::new(scenario(row.buffer), NoRecorder).run();
        let (link, users) = (outcome.link, &outcome.sessions[0]);
        println!(
            "B {:3} idle {:.4} ({:.4}) loss {:.4} ({:.4}) {:+.1} % occupancy {:.3} ({:.3}) active {:.1} ({:.1}) sessions {}",
            row.buffer,
            link.idle_fraction,
            row.idle,
            link.loss_rate(),
            row.loss,
            100.0 * (link.loss_rate() / row.loss - 1.0),
            link.mean_waiting_packets / row.buffer as f64,
            row.occupancy,
            users.mean_active,
            row.active,
            users.completed
        );
        let n = users.completed as f64;
        println!(
            "   again {:.2} sent {:.2} dropped {:.2}",
            users.retransmits as f64 / n,
            users.sent as f64 / n,
            users.dropped as f64 / n
        );
    }
}
