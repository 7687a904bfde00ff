//! What TCP-Madison's flows measure, beside what is true. A row per flow and half a second:
//!
//! ```text
//! cargo run --release -p tightlink-sim --example madison_trace -- [madison | madison-even | madison-printed] [cross %] [RTT ms]... > trace.tsv
//! ```
//!
//! Delays are in seconds, backlogs in packets, shares are parts of the capacity; `true_` is the simulator's, over the same
//! half second.

#[path = "madison/plan.rs"]
mod plan;

use cc::registry::build;
use link::LinkState;
use plan::Case;
use tightlink_sim::{FlowView, Recorder, Simulation};
use units::{Span, Time};

const EVERY: Span = Span::from_millis(500);
/// Of the link.
const MBPS: u64 = 100;

/// Prints as it goes.
#[derive(Default)]
struct Trace {
    busy: Span,
    utilization: f64,
    waiting: f64,
    delivered: Vec<f64>,
    row: Vec<(&'static str, f64)>,
    headed: bool,
}

impl Trace {
    fn print(&mut self) {
        if self.row.len() < 4 {
            return;
        }
        if !self.headed {
            let names: Vec<&str> = self.row.iter().map(|(name, _)| *name).collect();
            println!("{}", names.join("\t"));
            self.headed = true;
        }
        let values: Vec<String> = self.row.iter().map(|(_, value)| format!("{value:.5}")).collect();
        println!("{}", values.join("\t"));
        self.row.clear();
    }
}

impl Recorder for Trace {
    fn interval(&self) -> Option<Span> {
        Some(EVERY)
    }
    fn link(&mut self, _at: Time, state: &LinkState) {
        self.print();
        self.utilization = state.busy.saturating_sub(self.busy).as_secs_f64() / EVERY.as_secs_f64();
        self.busy = state.busy;
        self.waiting = state.backlog.packets as f64;
    }
    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        self.print();
        if self.delivered.len() <= index {
            self.delivered.resize(index + 1, 0.0);
        }
        // With headers, as the link sees it.
        let delivered = view.delivered.bits_f64() * 1500.0 / 1448.0;
        let share = (delivered - self.delivered[index]) / EVERY.as_secs_f64() / (MBPS as f64 * 1e6);
        self.delivered[index] = delivered;
        self.row = vec![
            ("at_s", at.since(Time::ZERO).as_secs_f64()),
            ("flow", index as f64),
            ("true_waiting", self.waiting),
            ("true_utilization", self.utilization),
            ("true_own_share", share),
        ];
    }
    fn wants_measures(&self) -> bool {
        true
    }
    fn measure(&mut self, _at: Time, _index: usize, name: &'static str, value: f64) {
        self.row.push((name, value));
    }
}

fn main() {
    let mut given = std::env::args().skip(1);
    let control = given.next().unwrap_or_else(|| "madison".into());
    let cross = given.next().map_or(0, |text| text.parse().expect("percent"));
    let mut rtts: Vec<u64> = given.map(|text| text.parse().expect("milliseconds")).collect();
    if rtts.is_empty() {
        rtts = vec![50, 100, 250];
    }
    let case = Case { mbps: MBPS, rtts, cross, buffer: 1000, seed: 1, apart: 5, measured: (0, 60), ppm: 0 };
    let plan = case.plan(&|_, start| build(&control, "standard", start).expect("a registered control"));
    let mut outcome = Simulation::new(plan, Trace::default()).run();
    outcome.recorder.print();
    eprintln!(
        "{} packets waiting on average, {} at most, {:.2} lost of 10 000",
        outcome.link.mean_waiting_packets,
        outcome.link.queue_length.max(),
        1e4 * outcome.link.loss_rate()
    );
}
