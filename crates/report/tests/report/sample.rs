//! A report to make pages of, with hostile text wherever text may come from outside.

use lab::run::record::{Engine, FlowSeries, FlowSummary, LinkSeries, Record, RttStatistics, Series, Summary};
use lab::study::claims::Verdict;
use tightlink_report::{Case, Report};

pub const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&\u{2028}{{title}}";

/// `n` samples of a noisy ramp whose extremes lie inside.
pub fn column(n: usize) -> (Vec<f64>, Vec<f64>) {
    let t: Vec<f64> = (1..=n).map(|i| i as f64 * 0.02).collect();
    let mut y: Vec<f64> = (0..n).map(|i| 50.0 + (i * 7919 % 101) as f64 / 100.0).collect();
    y[n / 3] = 99.0;
    y[n / 2] = -3.0;
    (t, y)
}

pub fn record(engine: Engine, flows: usize, samples: usize) -> Record {
    let model = engine == Engine::Model;
    let (t, y) = column(if model { 10 } else { samples });
    let (t, y) = if model { (vec![0.0, 60.0], vec![50.0; 2]) } else { (t, y) };
    let series = |i: usize| FlowSeries {
        name: format!("{HOSTILE} {i}"),
        t_s: t.clone().into(),
        rate_bps: y.iter().map(|v| v * 1e6).collect(),
        rtt_s: y.iter().map(|v| v / 1e3).collect(),
        window_bytes: y.iter().map(|v| v * 1e3).collect(),
        ..FlowSeries::default()
    };
    let drops = if model { Vec::new() } else { t.iter().map(|_| 1).collect() };
    let summary = |i: usize| FlowSummary {
        name: format!("{HOSTILE} {i}"),
        goodput_bps: 77.2e6 / flows as f64,
        loss_rate: None,
        retransmits: (!model).then_some(12_345),
        marks: None,
        rtt_s: Some(RttStatistics { min: 0.02, mean: 0.0251, p95: None }),
        completion_s: None,
        ..FlowSummary::default()
    };
    Record {
        summary: Summary {
            engine,
            scenario_hash: "0123456789abcdef".into(),
            seed: 1,
            measured_s: 50.0,
            wall_s: 0.1,
            loss_rate: (!model).then_some(1.3e-4),
            flows: (0..flows).map(summary).collect(),
            ..Summary::default()
        },
        series: Series {
            flows: (0..flows).map(series).collect(),
            link: LinkSeries { t_s: t.clone().into(), backlog_bytes: y, drops, ..LinkSeries::default() },
            ..Series::default()
        },
        notes: vec![HOSTILE.into()],
    }
}

pub fn report(cases: usize, flows: usize) -> Report {
    let case = |i: usize| Case {
        label: format!("limit = {i}, name = {HOSTILE}"),
        settings: vec![("limit".into(), i.to_string()), ("name".into(), HOSTILE.into())],
        capacity_bps: 100e6,
        available_bps: 80e6,
        base_rtt_s: 0.02,
        limit_bytes: 120e3,
        socket_buffer_bytes: Some(300e3),
        warmup_s: 10.0,
        sentences: vec![HOSTILE.into()],
        records: Engine::ALL.iter().map(|&e| record(e, flows, 3000)).collect(),
        absent: vec![HOSTILE.into()],
    };
    Report {
        title: HOSTILE.into(),
        source: Some(HOSTILE.into()),
        scenario_text: HOSTILE.into(),
        scenario_name: HOSTILE.into(),
        cases: (0..cases).map(case).collect(),
        verdicts: vec![Verdict {
            claim: HOSTILE.into(),
            held: false,
            detail: HOSTILE.into(),
            disagrees: None,
            judged: vec![Engine::Sim],
            left_out: Vec::new(),
        }],
        command: HOSTILE.into(),
    }
}
