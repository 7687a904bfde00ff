//! Packets per CPU second on the scenarios the peers were measured on (docs/concepts/performance.md).
//!
//! S1: 10 flows, 100 Mbit/s, 50 ms, 417 packets. S2: the same at 1 Gbit/s, 4167 packets. S3: 1000 flows at
//! 1 Gbit/s, 4167 packets. 1500 B, every segment acknowledged, starts within 1 s, drop-tail. Beyond the peers'
//! scenarios: `fat`, 200 flows on 100 Gbit/s, 20 ms, and `many`, 100 000 flows on 10 Gbit/s.
//!
//! Arguments: names of scenarios (all of them if none), and `once` to run each once (for callgrind) instead of the best of three;
//! `control=NAME` for another controller than Reno, `paced` for a pace of twice or 1.2 times window over RTT, and `seconds=N`
//! for another length (all three for `scripts/controls`, which also reads whether the controller brings a pace of its own);
//! `host=linux` for hosts with Linux's behaviour; `flows=N` for N flows in place of the named scenarios; `toml` prints the
//! scenario for `tightlink run` instead (for
//! `scripts/bench-command`).

#[path = "peers/linux.rs"]
mod linux;

use cc::{Ack, CongestionControl, RttView, Start, registry::build};
use link::{Limit, LinkConfig};
use testkit::cpu_seconds;
use tightlink_sim::{ControlPlan, FlowPlan, LinkPlan, NoRecorder, Plan, Simulation, Topology};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

fn scenario(flows: usize, rate: u64, rtt: u64, limit: u64, seconds: u64, warmup: u64) -> Plan {
    let mut starts = Stream::new(1, "starts");
    let flow = |index| FlowPlan {
        start: Time::ZERO + Span::from_secs_f64(starts.uniform()),
        ..FlowPlan::greedy(&format!("flow-{index}"), "reno", Span::from_millis(rtt))
    };
    let config = LinkConfig::constant(Rate::from_bps(rate), Span::ZERO);
    Plan {
        topology: Topology::OneLink(LinkPlan {
            name: "link-1".into(),
            config,
            queue: "drop-tail".into(),
            limit: Limit::Packets(limit),
        }),
        flows: (0..flows).map(flow).collect(),
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: Some(Time::ZERO + Span::from_secs(seconds)),
        warmup: Time::ZERO + Span::from_secs(warmup),
        seed: 1,
    }
}

/// The same with another controller, and the router that it needs; all that leaves is `paced`, and hosts have Linux if
/// `linux` is true.
fn with(control: &str, paced: bool, linux: bool, mut plan: Plan) -> Plan {
    let segment = Bytes::new(1448);
    for flow in &mut plan.flows {
        flow.transport.pacing = paced;
        flow.control = ControlPlan::new(control, segment);
        if control == "fixed" {
            flow.socket_buffer = segment * 60;
        }
        if linux {
            *flow = linux::on_linux(flow.clone());
        }
    }
    plan.topology.links_mut()[0].queue.assist = cc::registry::assist(control).map(str::to_owned);
    plan
}

/// Whether `control` says itself how fast a sender may send. Some do so only after the first round trip, or once a router has
/// answered.
fn brings_a_pace(control: &str) -> bool {
    let segment = Bytes::new(1448);
    let start = Start { segment, window: segment * 10, threshold: Bytes::MAX };
    let mut control = build(control, "standard", start).expect("a registered control");
    let has_one = |control: &dyn CongestionControl| control.allowance().pacing.is_some();
    let at_once = has_one(&*control);
    control.on_feedback(1e6);
    let rtt = Span::from_millis(50);
    control.on_ack(&Ack {
        now: Time::ZERO + rtt,
        acked: segment,
        delivered: segment,
        newest_sent: Time::ZERO,
        in_flight: segment * 9,
        rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
        rate: None,
        window_limited: true,
        paced: false,
        recovering: false,
        round: 1,
    });
    at_once || has_one(&*control)
}

/// The largest resident memory of this process so far, MB.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).expect("a number") / 1024.0
}

/// Name, flows, rate, RTT in ms, limit in packets, seconds simulated, seconds of them not measured.
type Scenario = (&'static str, usize, u64, u64, u64, u64, u64);

const SCENARIOS: [Scenario; 5] = [
    ("S1", 10, 100_000_000, 50, 417, 100, 10),
    ("S2", 10, 1_000_000_000, 50, 4167, 30, 10),
    ("S3", 1000, 1_000_000_000, 50, 4167, 30, 10),
    ("fat", 200, 100_000_000_000, 20, 166_667, 3, 1),
    ("many", 100_000, 10_000_000_000, 100, 83_333, 10, 5),
];

/// Makes a scenario of `flows` flows, each with 0.1 Mbit/s, on a link of at least 100 Mbit/s. The RTT is 100 ms and the buffer
/// one BDP. The run has some eight million packets, and takes at most 100 s.
fn of(flows: usize) -> Scenario {
    let rate = (flows as u64 * 100_000).max(100_000_000);
    let seconds = (100_000_000_000 / rate).clamp(4, 100);
    ("flows", flows, rate, 100, rate / 120_000, seconds, seconds / 2)
}

/// The same paths and flows as a scenario file; only the drawn starts differ.
fn print_toml(
    name: &str,
    (control, host): (&str, &str),
    (flows, rate, rtt, limit, seconds, warmup): (usize, u64, u64, u64, u64, u64),
) {
    let host = if host == "rfc" { String::new() } else { format!("\nhost = \"{host}\"") };
    println!("title = \"{name}\"\nduration = \"{seconds}s\"\nwarmup = \"{warmup}s\"\n");
    println!(
        "[link]\nrate = \"{rate}bit/s\"\ndelay = \"{}us\"\nqueue = {{ limit = \"{limit} packets\" }}\n",
        rtt * 500
    );
    println!(
        "[[flow]]\nname = \"flow\"\ncount = {flows}\ncontrol = \"{control}\"\nhandshake = false{host}\nstart = {{ uniform = [\"0s\", \"1s\"] }}"
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let once = arguments.iter().any(|word| word == "once");
    let option = |key: &str| arguments.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let control = option("control").unwrap_or("reno");
    let paced = arguments.iter().any(|word| word == "paced");
    let host = option("host").unwrap_or("rfc");
    assert!(matches!(host, "rfc" | "linux"), "host={host}: rfc or linux");
    if option("control").is_some() {
        println!("pace {}", if brings_a_pace(control) { "own" } else { "none" });
    }
    let length = option("seconds").map(|seconds| seconds.parse().expect("whole seconds"));
    let names: Vec<&String> =
        arguments.iter().filter(|word| *word != "once" && *word != "paced" && !word.contains('=')).collect();
    let named = |name: &str| names.is_empty() || names.iter().any(|word| *word == name);
    if !arguments.iter().any(|word| word == "toml") {
        println!("scenario  Mpackets/CPU-s  simulated-s/CPU-s   packets   utilization   loss   peak-MB");
    }
    let grown: Option<usize> = option("flows").map(|flows| flows.parse().expect("a number of flows"));
    let scenarios = grown.map_or(SCENARIOS.to_vec(), |flows| vec![of(flows)]);
    for (name, flows, rate, rtt, limit, seconds, warmup) in scenarios {
        if !named(name) {
            continue;
        }
        let seconds = length.unwrap_or(seconds);
        if arguments.iter().any(|word| word == "toml") {
            print_toml(name, (control, host), (flows, rate, rtt, limit, seconds, warmup));
            continue;
        }
        // The best of three: the machine is shared.
        let runs = (0..if once || seconds < 20 { 1 } else { 3 }).map(|_| {
            let before = cpu_seconds();
            let plan =
                with(control, paced, host == "linux", scenario(flows, rate, rtt, limit, seconds, warmup));
            let outcome = Simulation::new(plan, NoRecorder).run();
            (cpu_seconds() - before, outcome)
        });
        let (took, outcome) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a run");
        let forwarded = outcome.link.conservation.forwarded;
        println!(
            "{name:8} {:13.2} {:15.2} {:14} {:10.4} {:10.5} {:8.1}",
            forwarded as f64 / took / 1e6,
            seconds as f64 / took,
            forwarded,
            outcome.link.utilization,
            outcome.link.loss_rate(),
            peak_megabytes()
        );
    }
}
