//! The simulator against ns-2 on P2's greedy flows: every row of the reference, tests/reference/README.md.

use crate::common::{plan, two_segments};
use tightlink_sim::{ControlPlan, FlowPlan, NoRecorder, Plan, Simulation, Transport};
use units::random::Stream;
use units::{Bytes, Span, Time};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns2");

/// One row: what was run and what ns-2 found.
struct Row {
    tcp: String,
    flows: usize,
    buffer: u64,
    warmup: u64,
    measured: u64,
    idle: f64,
    loss: f64,
    occupancy: f64,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(format!("{FOLDER}/p2_greedy_ns2.csv")).expect("the reference");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        Row {
            tcp: cells[1].to_owned(),
            flows: number(3) as usize,
            buffer: number(4) as u64,
            warmup: number(8) as u64,
            measured: number(9) as u64,
            idle: number(12),
            loss: number(14),
            occupancy: number(16),
        }
    };
    text.lines().skip(1).map(row).collect()
}

pub fn base_rtts(flows: usize) -> Vec<Span> {
    let text = std::fs::read_to_string(format!("{FOLDER}/pareto_n{flows}_q.txt")).expect("the delays");
    let seconds = text.lines().filter(|line| !line.starts_with('#'));
    seconds.map(|line| Span::from_secs_f64(line.trim().parse().expect("seconds"))).collect()
}

fn scenario(row: &Row) -> Plan {
    // B counts the packet in service, a limit does not.
    let mut plan = plan(16_000_000, row.buffer - 1);
    plan.warmup = Time::ZERO + Span::from_secs(row.warmup);
    plan.end = Some(plan.warmup + Span::from_secs(row.measured));
    let segment = Bytes::new(460);
    let mut starts = Stream::new(1, "starts");
    let one = |(index, rtt): (usize, Span)| FlowPlan {
        control: ControlPlan { start: two_segments(segment), ..ControlPlan::new("reno", segment) },
        payload: segment,
        header: Bytes::new(40),
        start: Time::ZERO + Span::from_secs_f64(10.0 * starts.uniform()),
        send_jitter: Span::from_micros(250),
        transport: Transport { timestamps: false, sack: row.tcp == "Sack1", ..Transport::default() },
        ..FlowPlan::greedy(&format!("flow-{index}"), "reno", rtt)
    };
    plan.flows = base_rtts(row.flows).into_iter().enumerate().map(one).collect();
    plan
}

#[test]
fn every_row_of_ns2_is_met() {
    let rows = rows();
    assert_eq!(rows.len(), 51);
    let mut missed = Vec::new();
    for row in &rows {
        let link = Simulation::new(scenario(row), NoRecorder).run().link;
        let occupancy = link.mean_waiting_packets / row.buffer as f64;
        let idle_fits = (link.idle_fraction - row.idle).abs() <= (0.2 * row.idle).max(0.015);
        let loss_fits = (link.loss_rate() / row.loss - 1.0).abs() <= 0.15;
        if !idle_fits || !loss_fits || (occupancy - row.occupancy).abs() > 0.05 {
            missed.push(format!(
                "{} n = {}, B = {}: idle {:.4} ({:.4}), loss {:.5} ({:.5}), occupancy {occupancy:.3} ({:.3})",
                row.tcp,
                row.flows,
                row.buffer,
                link.idle_fraction,
                row.idle,
                link.loss_rate(),
                row.loss,
                row.occupancy
            ));
        }
    }
    assert!(missed.is_empty(), "ours (ns-2's):\n{}", missed.join("\n"));
}
