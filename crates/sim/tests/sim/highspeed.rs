//! The simulator against ns-2 on ten HighSpeed flows at 1 Gb/s: every row of the reference, tests/reference/README.md.

use crate::common::{flow, plan};
use cc::Start;
use cc::registry::{LIMITED, build};
use tightlink_sim::{FlowPlan, NoRecorder, Plan, Simulation};
use units::random::Stream;
use units::{Bytes, Span, Time};

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns2/p1_hstcp_ns2.csv");

/// One row: the buffer, and what ns-2 found.
struct Row {
    buffer: u64,
    utilization: f64,
    half_width: f64,
    loss: f64,
    occupancy: f64,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(REFERENCE).expect("the reference");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        Row {
            buffer: number(4) as u64,
            utilization: number(10),
            half_width: number(11),
            loss: number(14),
            occupancy: number(16),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// Case 1: RTTs equally spaced from 115.5 to 124.5 ms, limited slow start, starts within two seconds.
fn case_1(buffer: u64, seed: u64) -> Plan {
    // B counts the packet in service, a limit does not.
    let mut plan = plan(1_000_000_000, buffer - 1);
    plan.seed = seed;
    plan.warmup = Time::ZERO + Span::from_secs(30);
    plan.end = Some(plan.warmup + Span::from_secs(60));
    let segment = Bytes::new(960);
    let mut starts = Stream::new(seed, "starts");
    let one = |index: u64| FlowPlan {
        control: build("highspeed", LIMITED, Start { segment, window: segment * 2, threshold: Bytes::MAX })
            .expect("registered"),
        payload: segment,
        header: Bytes::new(40),
        start: Time::ZERO + Span::from_secs_f64(2.0 * starts.uniform()),
        send_jitter: Span::from_micros(8),
        timestamps: false,
        ..flow(&format!("flow-{index}"), "highspeed", Span::from_micros(115_500 + 1000 * index))
    };
    plan.flows = (0..10).map(one).collect();
    plan
}

#[test]
fn ten_highspeed_flows_use_the_link_as_in_ns2_at_every_buffer() {
    let rows = rows();
    assert_eq!(rows.len(), 7);
    let mut missed = Vec::new();
    for row in &rows {
        // At the two smallest the flows live between timeouts: runs differ by 0.03, and so we take the mean of some.
        let seeds = if row.buffer <= 250 { 1..=5 } else { 1..=1 };
        let runs = seeds.clone().count() as f64;
        let (mut utilization, mut loss, mut occupancy) = (0.0, 0.0, 0.0);
        for seed in seeds {
            let link = Simulation::new(case_1(row.buffer, seed), NoRecorder).run().link;
            utilization += (1.0 - link.idle_fraction) / runs;
            loss += link.loss_rate() / runs;
            occupancy += link.mean_waiting_packets / row.buffer as f64 / runs;
        }
        let found = format!(
            "B = {}: utilization {utilization:.4} ({:.4}), loss {loss:.3e} ({:.3e}), occupancy {occupancy:.3} ({:.3})",
            row.buffer, row.utilization, row.loss, row.occupancy
        );
        println!("{found}");
        if (utilization - row.utilization).abs() > row.half_width.max(0.03) {
            missed.push(found);
        }
    }
    assert!(missed.is_empty(), "ours (ns-2's):\n{}", missed.join("\n"));
}
