//! How TCP-Madison's flows share a bottleneck, case by case.
//!
//! ```text
//! cargo run --release -p tightlink-sim --example madison_cases -- [chosen | held | against | even | fast | printed | printed-random] [p_init p_min]
//! ```

#[path = "madison/plan.rs"]
mod plan;

use cc::registry::build;
use cc::{CongestionControl, Madison, MadisonParameters, Start};
use link::LinkState;
use plan::Case;
use tightlink_sim::{FlowView, Recorder, Simulation};
use units::{Span, Time};

/// How often throughput is looked at, and over how many looks it is averaged.
const EVERY: Span = Span::from_millis(500);
const OVER: usize = 2;

/// What each flow had delivered at each look, bits.
#[derive(Default)]
struct Delivered(Vec<(f64, Vec<f64>)>);

impl Recorder for Delivered {
    fn interval(&self) -> Option<Span> {
        Some(EVERY)
    }
    fn link(&mut self, at: Time, _state: &LinkState) {
        self.0.push((at.since(Time::ZERO).as_secs_f64(), Vec::new()));
    }
    fn flow(&mut self, _at: Time, _index: usize, view: &FlowView) {
        if let Some((_, delivered)) = self.0.last_mut() {
            delivered.push(view.delivered.bits_f64());
        }
    }
}

impl Delivered {
    /// When the flow's rate over 2 s first comes within a fifth of `share`, after it began.
    fn converged(&self, flow: usize, began: f64, share: f64) -> f64 {
        let found = self.0.windows(OVER + 1).find(|looks| {
            let (first, last) = (&looks[0], &looks[OVER]);
            first.0 >= began
                && ((last.1[flow] - first.1[flow]) / (last.0 - first.0) / share - 1.0).abs() < 0.2
        });
        found.map_or(f64::NAN, |looks| looks[OVER].0 - began)
    }
}

fn show(case: &Case, control: &dyn Fn(usize, Start) -> Box<dyn CongestionControl>) {
    let outcome = Simulation::new(case.plan(control), Delivered::default()).run();
    let rates: Vec<f64> =
        outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64() * 1500.0 / 1448.0).collect();
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let unequal = rates.iter().map(|rate| (rate / mean - 1.0).abs()).fold(0.0, f64::max);
    let link = &outcome.link;
    let own = link.mean_waiting_packets * mean / (case.mbps as f64 * 1e6 * link.utilization);
    let last = case.rtts.len() - 1;
    let converged = outcome.recorder.converged(last, (case.apart * last as u64) as f64, mean);
    let rates: Vec<String> = rates.iter().map(|rate| format!("{:.2}", rate / 1e6)).collect();
    println!(
        "{:>4} {:<22} {:>3} {:>5} {:>4} | {:>5.1}% {:>6.2} {:>7.1} {:>6} {:>7.2} {:.4} {:>6.1} | {}",
        case.mbps,
        format!("{:?}", case.rtts),
        case.cross,
        case.buffer,
        case.seed,
        100.0 * unequal,
        own,
        link.mean_waiting_packets,
        link.queue_length.max(),
        1e4 * link.loss_rate(),
        link.utilization,
        converged,
        rates.join(" ")
    );
}

fn cases(which: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |mbps: u64, rtts: &[u64], crosses: &[u64], seeds: &[u64]| {
        for &cross in crosses {
            for &seed in seeds {
                let (rtts, buffer) = (rtts.to_vec(), 1000);
                let measured = if mbps <= 24 { (100, 400) } else { (60, 120) };
                cases.push(Case { mbps, rtts, cross, buffer, seed, apart: 5, measured, ppm: 0 });
            }
        }
    };
    if which == "held" {
        for rtts in [&[20, 80, 160][..], &[30, 300], &[10, 40, 90, 200], &[70, 78, 246]] {
            for mbps in [10, 24, 100, 500] {
                add(mbps, rtts, &[0, 25, 55], &[11, 12]);
            }
        }
    } else {
        for rtts in [&[50][..], &[50, 50], &[50, 100, 250], &[100; 5], &[100; 10]] {
            add(100, rtts, &[0, 10, 40, 70], &[1, 2]);
        }
    }
    cases
}

fn mixed(mut case: Case, names: &[&str], parameters: MadisonParameters) {
    println!("{names:?} {} parts per million lost", case.ppm);
    case.apart = 0;
    show(&case, &|index, start| with(names[index], parameters, start));
}

fn named(name: &str, start: Start) -> Box<dyn CongestionControl> {
    build(name, "standard", start).expect("a registered control")
}

/// A registered control, Madison's with these parameters.
fn with(name: &str, parameters: MadisonParameters, start: Start) -> Box<dyn CongestionControl> {
    if name == "madison" { Box::new(Madison::with(start, parameters)) } else { named(name, start) }
}

fn against(parameters: MadisonParameters) {
    let case = |mbps, rtts: &[u64], cross, buffer, ppm| Case {
        mbps,
        rtts: rtts.to_vec(),
        cross,
        buffer,
        seed: 1,
        apart: 0,
        measured: (20, 140),
        ppm,
    };
    for (mbps, rtt, cross, buffer, ppm) in [
        (100, 50, 0, 417, 0),
        (100, 50, 0, 100, 0),
        (100, 50, 40, 417, 0),
        (100, 50, 40, 100, 0),
        (100, 260, 65, 880, 0),
        (100, 260, 65, 93, 0),
        (24, 113, 40, 261, 0),
        (10, 72, 40, 107, 0),
        (100, 50, 40, 100, 200),
    ] {
        let case = case(mbps, &[rtt, rtt], cross, buffer, ppm);
        for names in [["reno", "reno"], ["reno", "madison"]] {
            mixed(case.clone(), &names[..], parameters);
        }
    }
    println!("joining at 250 ms");
    for name in ["fast", "madison"] {
        println!("{name}");
        for (rtts, cross, buffer) in [
            (&[250][..], 0, 1000),
            (&[250], 40, 1000),
            (&[250], 70, 300),
            (&[250, 250], 0, 1000),
            (&[250, 250], 40, 1000),
            (&[250, 250, 250], 10, 2000),
            (&[250, 250, 250], 70, 1000),
        ] {
            for seed in [1, 2, 3] {
                let mut joining = case(100, rtts, cross, buffer, 0);
                (joining.apart, joining.measured, joining.seed) = (20, (80, 280), seed);
                show(&joining, &|_, start| with(name, parameters, start));
            }
        }
    }
    println!("alone");
    for (mbps, rtt, cross, buffer, ppm) in [
        (500, 78, 70, 115, 0),
        (500, 78, 70, 115, 250),
        (100, 278, 42, 105, 0),
        (100, 278, 42, 105, 400),
        (24, 113, 60, 261, 0),
        (10, 72, 80, 107, 0),
        (100, 196, 8, 1333, 0),
    ] {
        for name in ["reno", "bic", "fast", "madison"] {
            mixed(case(mbps, &[rtt], cross, buffer, ppm), &[name], parameters);
        }
    }
    for (rtts, crosses) in [(&[246, 246, 246][..], [8, 70]), (&[50, 100, 250], [0, 70])] {
        for cross in crosses {
            for buffer in [95, 323] {
                let mut small = case(100, rtts, cross, buffer, 0);
                small.apart = 20;
                small.measured = (0, 180);
                show(&small, &|_, start| with("madison", parameters, start));
            }
        }
    }
}

fn main() {
    let mut given = std::env::args().skip(1);
    let mode = given.next().unwrap_or_else(|| "chosen".into());
    let mut parameters = MadisonParameters::default();
    let mut rate = || given.next().map(|text| text.parse().expect("a loss rate"));
    if let (Some(initial_loss), Some(least_loss)) = (rate(), rate()) {
        parameters = MadisonParameters { initial_loss, least_loss, ..parameters };
    }
    println!(
        "Mbps rtts              cross buffer seed | unequal own waiting max loss/1e4 utilization converged | Mbit/s"
    );
    if mode == "against" {
        return against(parameters);
    }
    match mode.as_str() {
        "even" => parameters.randomness = 0.0,
        "printed-random" => {
            parameters = MadisonParameters { randomness: 1.0, ..MadisonParameters::printed() }
        }
        _ => {}
    }
    let name = match mode.as_str() {
        "fast" => "fast",
        "printed" => "madison-printed",
        _ => "madison",
    };
    for case in cases(&mode) {
        show(&case, &|_, start| with(name, parameters, start));
    }
}
