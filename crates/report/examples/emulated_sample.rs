//! Writes the page of a made-up download behind an emulated link, for its browser test.
//!
//! `cargo run -p tightlink-report --example emulated_sample -- PAGE.html`

use lab::run::emulated::{DirectionReport, Emulated, LatenessReport, QueueSeries};
use lab::run::record::{DelayStatistics, Percentiles};
use tightlink_report::emulated::html;

const EVERY: f64 = 0.02;
const CAPACITY: f64 = 5e6;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "emulated-sample.html".into());
    let emulated = Emulated {
        control: "cubic".into(),
        control_asked: false,
        hosts: lab::run::record::Hosts::default(),
        code: 0,
        measured_s: 20.0,
        began_unix_s: 0.0,
        to_far: way(0.03, |_| 0.0004),
        from_far: Some(way(0.92, |at| 0.12 * (at / 4.0).fract())),
        packets_back: 8000,
        lateness: LatenessReport::default(),
        notes: vec!["the emulator runs at ordinary priority (SCHED_FIFO not permitted)".into()],
    };
    let text = "[link]\nrate = \"5Mbit/s\"\ndelay = \"40ms\"\nqueue = { kind = \"codel\", limit = \"1s\" }\n";
    let page = html(&emulated, "curl -O http://$TIGHTLINK_FAR/big.bin", text, "tightlink emulate");
    std::fs::write(path, page)
}

/// A direction that sends this share of its capacity, with a queueing delay against time, and a drop where that is greatest.
fn way(busy: f64, delay: fn(f64) -> f64) -> DirectionReport {
    let t_s: Vec<f64> = (1..=1000).map(|i| f64::from(i) * EVERY).collect();
    let delay_s: Vec<f64> = t_s.iter().map(|&at| delay(at)).collect();
    let drops: Vec<f64> = delay_s.iter().map(|&wait| if wait > 0.119 { 2.0 } else { 0.0 }).collect();
    let (dropped, packets) = (drops.iter().sum::<f64>(), busy * CAPACITY * 20.0 / 12_000.0);
    let mean = delay_s.iter().sum::<f64>() / 1000.0;
    DirectionReport {
        cross: Vec::new(),
        seconds: Vec::new(),
        rate_bps: busy * CAPACITY,
        utilization: busy,
        packets: packets as u64,
        packets_dropped: dropped as u64,
        loss_rate: dropped / packets,
        marks: 0,
        mean_backlog_bytes: mean * CAPACITY / 8.0,
        l4s_delay_s: None,
        shaper: None,
        classic_delay_s: None,
        queueing_delay_s: Some(DelayStatistics {
            mean,
            percentiles: Percentiles { p95: Some(1.9 * mean), ..Percentiles::default() },
            max: None,
        }),
        queue: QueueSeries {
            capacity_bps: CAPACITY,
            full_s: 1.0,
            rate_bps: t_s.iter().map(|at| busy * CAPACITY * (1.0 + 0.05 * libm::sin(*at))).collect(),
            t_s,
            delay_s,
            drops,
            offered_bps: Vec::new(),
        },
    }
}
