//! The simulator against ns-2 on ten HighSpeed flows at 1 Gb/s: every row of the reference, tests/reference/README.md.

use crate::common::{plan, two_segments};
use cc::registry::LIMITED;
use tightlink_sim::{ControlPlan, FlowPlan, NoRecorder, Plan, Recovery, Simulation, Transport};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

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

/// What to run: the paper's case 1, its case 2, or (3) two flows whose RTTs are 1 : 2; the queue; how recovery counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    case: u64,
    buffer: u64,
    red: bool,
    recovery: Recovery,
}

impl Setting {
    fn drop_tail(case: u64, buffer: u64, recovery: Recovery) -> Self {
        Self { case, buffer, red: false, recovery }
    }

    /// Limited slow start, starts within two seconds, a sending overhead of one service time at most.
    fn plan(&self, seed: u64) -> Plan {
        // Base RTTs are equally spaced.
        let (rate, flows, [least, largest]) = match self.case {
            1 => (1_000_000_000, 10, [115_500, 124_500]),
            2 => (2_500_000_000, 10, [38_000, 142_000]),
            _ => (1_000_000_000, 2, [40_000, 80_000]),
        };
        // B counts the packet in service, a limit does not.
        let mut plan = plan(rate, self.buffer - 1);
        if self.red {
            let room = self.buffer.min([12_500, 6_250, 2_500][self.case as usize - 1]) as f64;
            let queue = &mut plan.topology.links_mut()[0].queue;
            *queue = "red".into();
            queue.mean_packet = Bytes::new(1000);
            (queue.settings.min_threshold, queue.settings.max_threshold) = (Some(0.4 * room), Some(room));
            queue.settings.wait = Some(true);
        }
        plan.seed = seed;
        plan.warmup = Time::ZERO + Span::from_secs(30);
        plan.end = Some(plan.warmup + Span::from_secs(60));
        let segment = Bytes::new(960);
        let mut starts = Stream::new(seed, "starts");
        let one = |index: u64| {
            let rtt = Span::from_micros(least + (largest - least) * index / (flows - 1));
            FlowPlan {
                control: ControlPlan {
                    slow_start: LIMITED.into(),
                    start: two_segments(segment),
                    ..ControlPlan::new("highspeed", segment)
                },
                payload: segment,
                header: Bytes::new(40),
                start: Time::ZERO + Span::from_secs_f64(2.0 * starts.uniform()),
                send_jitter: Rate::from_bps(rate).serialization(Bytes::new(1000)),
                transport: Transport { timestamps: false, recovery: self.recovery, ..Transport::default() },
                ..FlowPlan::greedy(&format!("flow-{index}"), "highspeed", rtt)
            }
        };
        plan.flows = (0..flows).map(one).collect();
        plan
    }

    /// Utilization of one run.
    fn used(&self, seed: u64) -> f64 {
        1.0 - Simulation::new(self.plan(seed), NoRecorder).run().link.idle_fraction
    }
}

#[test]
fn ten_highspeed_flows_use_the_link_as_in_ns2_at_every_buffer() {
    let rows = rows();
    assert_eq!(rows.len(), 7);
    let mut missed = Vec::new();
    for row in &rows {
        // At the two smallest a run is chance, so we take the mean of twelve, and of three beyond. From 250 on that is within the
        // confidence interval of ns-2's one run. At 125 it is 0.022 off and the interval 0.009 wide: ns-2's own twelve are between
        // 0.161 and 0.192, this row's at 0.166 among the lowest. The next test holds means against means.
        let seeds = if row.buffer <= 250 { 1..=12 } else { 1..=3 };
        let allowed = if row.buffer == 125 { 0.03 } else { row.half_width.max(0.001) };
        let setting = Setting::drop_tail(1, row.buffer, Recovery::Rfc6675);
        let runs = seeds.clone().count() as f64;
        let (mut utilization, mut loss, mut occupancy) = (0.0, 0.0, 0.0);
        for seed in seeds {
            let link = Simulation::new(setting.plan(seed), NoRecorder).run().link;
            utilization += (1.0 - link.idle_fraction) / runs;
            loss += link.loss_rate() / runs;
            occupancy += link.mean_waiting_packets / row.buffer as f64 / runs;
        }
        let found = format!(
            "B = {}: utilization {utilization:.4} ({:.4}), loss {loss:.3e} ({:.3e}), occupancy {occupancy:.3} ({:.3})",
            row.buffer, row.utilization, row.loss, row.occupancy
        );
        println!("{found}");
        if (utilization - row.utilization).abs() > allowed {
            missed.push(found);
        }
    }
    assert!(missed.is_empty(), "ours (ns-2's):\n{}", missed.join("\n"));
}

/// Compares means of runs of one case with means of ns-2's (tests/reference/ns2/hstcp.tcl): other seeds, and what the reference
/// leaves out. What is lost counts as under way, as in ns-2's Sack1; small buffers also as RFC 6675 has it, which sends more at
/// case 2's 625 packets.
fn case_is_used_as_ns2_uses_it_on_average(case: u64) {
    let path = REFERENCE.replace("ns2.csv", "ns2_seeds.csv");
    let text = std::fs::read_to_string(path).expect("the reference");
    let rows: Vec<Vec<f64>> = (text.lines().skip(1))
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    let of = |row: &[f64], recovery| Setting {
        case: row[0] as u64,
        buffer: row[1] as u64,
        red: row[6] > 0.0,
        recovery,
    };
    let mut settings: Vec<Setting> = rows.iter().map(|row| of(row, Recovery::Sack1)).collect();
    settings.retain(|setting| setting.case == case);
    settings.dedup();
    let small = settings.iter().filter(|setting| setting.buffer <= 250 && !setting.red && setting.case < 3);
    let small: Vec<Setting> =
        small.map(|setting| Setting { recovery: Recovery::Rfc6675, ..*setting }).collect();
    assert!(!settings.is_empty() && settings.iter().any(|setting| setting.red) == (case == 1));
    assert!(case == 3 || small.len() >= 2);
    for setting in settings.iter().chain(&small) {
        let found = rows.iter().filter(|row| of(row, setting.recovery) == *setting);
        let theirs: Vec<f64> = found.map(|row| row[3]).collect();
        let theirs_mean = theirs.iter().sum::<f64>() / theirs.len() as f64;
        let seeds = 1..=match setting.buffer {
            ..=250 => 12,
            251..=625 => 6,
            _ => 2,
        };
        let ours: Vec<f64> = seeds.map(|seed| setting.used(seed)).collect();
        let ours_mean = ours.iter().sum::<f64>() / ours.len() as f64;
        println!("{setting:?}: {ours:.3?}, mean {ours_mean:.4}; ns-2 {theirs:.3?}, mean {theirs_mean:.4}");
        assert!((ours_mean - theirs_mean).abs() < 0.03, "{setting:?}: {ours_mean} ({theirs_mean})");
    }
}

#[test]
fn case_1_is_used_as_ns2_uses_it_on_average() {
    case_is_used_as_ns2_uses_it_on_average(1);
}

#[test]
fn case_2_is_used_as_ns2_uses_it_on_average() {
    case_is_used_as_ns2_uses_it_on_average(2);
}

#[test]
fn two_flows_use_the_link_as_in_ns2_on_average() {
    case_is_used_as_ns2_uses_it_on_average(3);
}

/// Two flows whose RTTs are 1 : 2: the ratio of the nearer one's goodput to the farther one's, means of runs against that of
/// ns-2's twelve. At 250 packets they agree as far as twelve runs of each can tell. Beyond, ours is fairer than ns-2 by more
/// than the runs vary (docs/papers/highspeed.md), and the band is of what that is.
#[test]
fn two_flows_have_the_ratio_of_ns2_on_average() {
    let path = REFERENCE.replace("ns2.csv", "ns2_two_flows.csv");
    let text = std::fs::read_to_string(path).expect("the reference");
    let mut ratios_found = Vec::new();
    for (buffer, beside_ns2) in [(250_u64, None), (2500, Some(0.80..0.92)), (10_000, Some(0.85..0.95))] {
        let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let rows = rows.filter(|row| row[1].parse() == Ok(buffer));
        let theirs: Vec<f64> = rows.map(|row| row[6].parse::<f64>().expect("a number")).collect();
        let theirs: [f64; 12] = theirs.try_into().expect("twelve runs");
        let ratio = |seed| {
            let plan = Setting::drop_tail(3, buffer, Recovery::Sack1).plan(seed);
            let flows = Simulation::new(plan, NoRecorder).run().flows;
            let [near, far] = [0, 1].map(|index: usize| flows[index].goodput().as_bps_f64());
            near / far
        };
        let (theirs, their_half) = mean_of_twelve(&theirs);
        let ours = if let Some(band) = beside_ns2 {
            let ours = (1..=6).map(ratio).sum::<f64>() / 6.0;
            println!("B = {buffer}: {ours:.2} ({theirs:.2} +- {their_half:.2})");
            assert!(band.contains(&(ours / theirs)), "B = {buffer}: {ours:.2} ({theirs:.2})");
            ours
        } else {
            let (ours, our_half) = mean_of_twelve(&std::array::from_fn(|seed| ratio(1 + seed as u64)));
            let found = format!("B = {buffer}: {ours:.2} +- {our_half:.2} ({theirs:.2} +- {their_half:.2})");
            println!("{found}");
            assert!((ours - theirs).abs() < libm::hypot(our_half, their_half), "{found}");
            ours
        };
        ratios_found.push(ours);
    }
    assert!(
        ratios_found.is_sorted_by(|small, large| small > large),
        "a larger buffer is fairer: {ratios_found:?}"
    );
}

/// Mean of `values`, and half the width of its 95 % confidence interval (Student's t for twelve).
fn mean_of_twelve(values: &[f64; 12]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / 12.0;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, 2.201 * (squares / 11.0 / 12.0).sqrt())
}

/// The tables of docs/papers/highspeed.md; case 1 by the band that was asked for, at every buffer.
#[test]
#[ignore = "hundreds of runs, minutes: part of `make soak`"]
fn twelve_seeds_at_every_buffer() {
    let reference = rows();
    for recovery in [Recovery::Rfc6675, Recovery::Sack1] {
        let case_1 =
            [125, 250, 625, 1250, 2500, 5000, 10000].map(|buffer| Setting::drop_tail(1, buffer, recovery));
        let case_2 = [63, 125, 625, 1250, 2500, 6250].map(|buffer| Setting::drop_tail(2, buffer, recovery));
        for setting in case_1.iter().chain(&case_2) {
            let runs: [f64; 12] = std::array::from_fn(|seed| setting.used(1 + seed as u64));
            let (mean, half_width) = mean_of_twelve(&runs);
            println!("{setting:?}: {mean:.4} +- {half_width:.4}, {runs:.3?}");
            if setting.case == 1 {
                let theirs =
                    reference.iter().find(|row| row.buffer == setting.buffer).expect("a row of ns-2's");
                let apart = (mean - theirs.utilization).abs();
                assert!(apart < 0.03, "{setting:?}: {mean:.4} ({:.4})", theirs.utilization);
            }
        }
    }
}
