//! Writes a report page about made-up but plausible runs, for looking at the page and for its browser test.
//!
//! `cargo run -p tightlink-report --example report_sample -- PAGE.html [CASES [FLOWS]]`: two cases by default, three
//! engines, a lone flow in the first case and FLOWS (default 3) in the others. Names and scenario text are hostile on purpose.

use lab::run::record::{
    DelayStatistics, Engine, FlowSeries, FlowSummary, LinkSeries, Percentiles, Record, RttStatistics, Series,
    Summary,
};
use lab::study::claims::Verdict;
use std::f64::consts::PI;
use tightlink_report::{Case, Report};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";
const END: f64 = 60.0;
const EVERY: f64 = 0.02;
const WARMUP: f64 = 10.0;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "report-sample.html".into());
    let cases = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(2);
    let flows = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    std::fs::write(path, sample(cases, flows).html())
}

fn sample(cases: usize, flows: usize) -> Report {
    Report {
        title: "A send window between the socket buffer and the queue".into(),
        source: Some("sobas:fig1-4".into()),
        scenario_text: scenario_text(),
        scenario_name: "sobas/fig1.toml".into(),
        cases: (0..cases).map(|i| case(i, cases, if i == 0 { 1 } else { flows })).collect(),
        verdicts: vec![
            Verdict {
                claim: "With S below the path's capacity the flow is limited by its buffer, not by loss."
                    .into(),
                held: true,
                detail: "live 79.1 Mbit/s, model 77.2 Mbit/s, apart 1.9 Mbit/s, allowed 3.9 Mbit/s".into(),
                disagrees: None,
                judged: vec![Engine::Sim],
                left_out: Vec::new(),
            },
            Verdict {
                claim: format!("A name from a scenario stays text: {HOSTILE}"),
                held: false,
                detail: "live 31 drops, allowed 0".into(),
                disagrees: None,
                judged: vec![Engine::Sim],
                left_out: Vec::new(),
            },
        ],
        command: "tightlink compare scenarios/sobas/fig1.toml --out reports/fig1".into(),
    }
}

fn scenario_text() -> String {
    format!(
        "title = \"A send window between the socket buffer and the queue\"\n\
         # {HOSTILE} <!-- \u{2028} {{{{title}}}}\n\
         source = \"sobas:fig1-4\"\nduration = \"60s\"\nwarmup = \"10s\"\n\n\
         [link]\nrate = \"100Mbit/s\"\ndelay = \"10ms\"\nqueue = {{ kind = \"drop-tail\", limit = \"120kB\" }}\n\n\
         [[flow]]\nname = \"target\"\ncontrol = \"reno\"\nrtt = \"20ms\"\nsocket_buffer = \"300kB\"\n\n\
         [[traffic]]\nkind = \"poisson\"\nrate = \"20Mbit/s\"\n"
    )
}

/// A path of 100 Mbit/s with 20 ms, 20 Mbit/s of it taken; the window climbs to `limit` and halves on a drop.
fn case(index: usize, cases: usize, flows: usize) -> Case {
    let limit = 120e3 * (1.0 + index as f64 / 2.0);
    let (capacity, available, base) = (100e6, 80e6, 0.020);
    let engines = if index == 3 { &Engine::ALL[..2] } else { &Engine::ALL[..] };
    let label = format!("limit = {:.0}kB, socket_buffer = 300kB", limit / 1e3);
    Case {
        label: match (cases, index) {
            (1, _) => String::new(),
            (_, 1) => format!("{label}, name = {HOSTILE}"),
            _ => label,
        },
        settings: vec![("limit".into(), format!("{:.0}kB", limit / 1e3))],
        capacity_bps: capacity,
        available_bps: available,
        base_rtt_s: base,
        limit_bytes: limit,
        socket_buffer_bytes: Some(300e3),
        warmup_s: WARMUP,
        sentences: vec![
            format!(
                "The queue holds {:.0} kB, {:.0} ms at full rate: the window climbs until it is full, then halves.",
                limit / 1e3,
                limit * 8e3 / capacity
            ),
            "Theory, simulation and the real stack agree on goodput within 4 %; the real stack drops more."
                .into(),
        ],
        records: engines.iter().map(|&e| record(e, flows, [available, base, limit])).collect(),
        absent: if index == 3 {
            vec!["live: needs user namespaces, which this system does not allow".into()]
        } else {
            Vec::new()
        },
    }
}

fn record(engine: Engine, flows: usize, [available, base, limit]: [f64; 3]) -> Record {
    let names: Vec<String> = (0..flows)
        .map(|i| match (i, engine) {
            (0, _) => "target".into(),
            (1, _) => format!("<b>x</b> {HOSTILE}"),
            _ => format!("target {}", i + 1),
        })
        .collect();
    let series = if engine == Engine::Model {
        steady(&names, [available, base, limit])
    } else {
        sawtooth(engine, &names, [available, base, limit])
    };
    let goodput = |f: &FlowSeries| mean(&f.rate_bps);
    let drops: u64 = series.link.drops.iter().sum();
    let model = engine == Engine::Model;
    let delay = mean(&series.link.backlog_bytes) * 8.0 / 100e6;
    let summary = Summary {
        engine,
        scenario_hash: "9f3c1a55d2e07b64".into(),
        seed: 1,
        measured_s: END - WARMUP,
        packets_forwarded: (!model).then_some(412_345),
        wall_s: if engine == Engine::Live { END } else { 0.12 },
        peak_rss_bytes: 14_000_000,
        utilization: Some(series.flows.iter().map(goodput).sum::<f64>() / 97e6 + 0.2),
        idle_fraction: Some(0.01),
        loss_rate: (!model).then_some(drops as f64 / 4e5),
        mean_backlog_bytes: Some(mean(&series.link.backlog_bytes)),
        mean_occupancy: Some(mean(&series.link.backlog_bytes) / limit),
        queueing_delay_s: Some(DelayStatistics {
            mean: delay,
            percentiles: Percentiles { p95: (!model).then_some(delay * 1.7), ..Percentiles::default() },
            max: None,
        }),
        flows: series
            .flows
            .iter()
            .map(|f| FlowSummary {
                name: f.name.clone(),
                goodput_bps: goodput(f),
                loss_rate: None,
                retransmits: (!model).then_some(drops / flows as u64),
                marks: None,
                rtt_s: Some(RttStatistics { min: base, mean: mean(&f.rtt_s), p95: None }),
                completion_s: None,
                ..FlowSummary::default()
            })
            .collect(),
        ..Summary::default()
    };
    let notes = if engine == Engine::Live {
        vec!["SACK could not be switched off: no privilege.".into()]
    } else {
        Vec::new()
    };
    Record { summary, series, notes }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What a formula knows: two samples, the same.
fn steady(names: &[String], [available, base, limit]: [f64; 3]) -> Series {
    let share = names.len() as f64;
    let flow = |name: &String| FlowSeries {
        name: name.clone(),
        t_s: vec![0.0, END].into(),
        rate_bps: vec![0.965 * 0.98 * available / share; 2],
        rtt_s: vec![base + 0.62 * limit * 8.0 / 100e6; 2],
        window_bytes: vec![(available * base / 8.0 + 0.6 * limit) / share; 2],
        ..FlowSeries::default()
    };
    let link = LinkSeries {
        t_s: vec![0.0, END].into(),
        backlog_bytes: vec![0.62 * limit; 2],
        ..LinkSeries::default()
    };
    Series { flows: names.iter().map(flow).collect(), link, ..Series::default() }
}

/// Additive growth to the full queue, then a halving; each flow at its own phase, a little noise on all.
fn sawtooth(engine: Engine, names: &[String], [available, base, limit]: [f64; 3]) -> Series {
    let n = (END / EVERY) as usize;
    let share = names.len() as f64;
    let live = engine == Engine::Live;
    let mut noise = Noise(if live { 7 } else { 3 });
    let t: Vec<f64> = (1..=n).map(|i| i as f64 * EVERY).collect();
    let top = available * base / 8.0 + limit;
    let period = if live { 3.7 } else { 4.0 };
    let phase = |i: usize, at: f64| ((at + i as f64 * 1.3) / period).fract();
    let backlog: Vec<f64> = t
        .iter()
        .map(|&at| {
            let window: f64 = (0..names.len()).map(|i| top / share * (0.5 + 0.5 * phase(i, at))).sum();
            (window - available * base / 8.0 + 4e3 * noise.next()).clamp(0.0, limit)
        })
        .collect();
    // A repair releases what waited behind it; the start-up has a large window.
    let repaired = |at: f64| if live && (at - 40.0).abs() < EVERY / 2.0 { 1e9 } else { 0.0 };
    let started = |at: f64| if at < 0.5 { 5.0 } else { 1.0 };
    let flow = |(i, name): (usize, &String)| FlowSeries {
        name: name.clone(),
        rate_bps: t
            .iter()
            .zip(&backlog)
            .map(|(&at, &b)| {
                let level = if b > 1e3 { 0.965 } else { 0.965 * (0.6 + 0.4 * phase(i, at)) };
                available / share * (level + 0.05 * noise.next()) * (if live { 0.97 } else { 0.99 })
                    + repaired(at)
            })
            .collect(),
        rtt_s: backlog.iter().map(|b| base + b * 8.0 / 100e6 + 2e-4 * noise.next().abs()).collect(),
        window_bytes: t
            .iter()
            .map(|&at| {
                top / share * (0.5 + 0.5 * phase(i, at)) * (1.0 + 0.01 * libm::sin(at * PI)) * started(at)
            })
            .collect(),
        t_s: t.clone().into(),
        ..FlowSeries::default()
    };
    let flows: Vec<FlowSeries> = names.iter().enumerate().map(flow).collect();
    let drops = t
        .iter()
        .map(|&at| {
            let ends = (0..names.len()).filter(|&i| phase(i, at) < phase(i, at - EVERY)).count() as u64;
            ends * if live { 2 } else { 1 }
        })
        .collect();
    let link = LinkSeries { t_s: t.into(), backlog_bytes: backlog, drops, ..LinkSeries::default() };
    Series { flows, link, ..Series::default() }
}

/// Repeatable noise in [-1, 1].
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}
