//! Properties of the answers to drawn scenarios: nothing is counted twice, nothing arrives that was not sent, sums keep within the
//! link, a file's goodput times its time is its size, and a theory that names no broken assumption is near the simulation.
//!
//! `TIGHTLINK_CASES_SEED=test` draws another set than `dev`, `PROPTEST_CASES=2000` as many (`make soak`).

mod draw;
mod kernel;

use draw::{Drawn, Reach, drawn};
use lab::run::engine::{UNWATCHED, run};
use lab::run::record::{Engine, Summary};
use lab::run::resolve::{Resolved, resolve_document};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use scenario::Document;
use serde_json::Value;

/// How far a theory without a broken assumption may be from the simulation, with the floors of the tests of its bands in room `lab`.
const BAND: f64 = 0.15;
/// Scenarios of `make test`: some twenty seconds.
const COUNT: u64 = 150;

#[test]
fn what_is_drawn_has_possible_answers() {
    let set = std::env::var("TIGHTLINK_CASES_SEED").unwrap_or_else(|_| "dev".into());
    let count = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(COUNT);
    let faults: Vec<String> =
        (0..count).into_par_iter().flat_map_iter(|index| judge(&drawn(&set, index, Reach::Sim))).collect();
    let shown: Vec<&str> = faults.iter().take(40).map(String::as_str).collect();
    assert!(
        faults.is_empty(),
        "{} faults in {count} scenarios of {set}:\n{}",
        faults.len(),
        shown.join("\n")
    );
}

#[test]
fn what_is_drawn_for_the_kernel_is_a_scenario_for_it() {
    for index in 0..200 {
        let drawn = drawn("dev", index, Reach::Live);
        let resolved = resolved(&drawn);
        let fit = lab::run::engine::check(Engine::Live, &resolved);
        assert!(fit.is_ok(), "{fit:?}:\n{}", drawn.text);
    }
}

/// The scenario, its trace in a folder beside it.
fn resolved(drawn: &Drawn) -> Resolved {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    if let Some(trace) = &drawn.trace {
        std::fs::write(folder.path().join("trace.csv"), trace).unwrap();
    }
    let read = Document::parse(&file.to_string_lossy(), &drawn.text)
        .and_then(|document| resolve_document(&document));
    read.unwrap_or_else(|faults| panic!("{}: {faults}\n{}", drawn.name, drawn.text))
}

/// What is wrong with the answers to a scenario.
fn judge(drawn: &Drawn) -> Vec<String> {
    let resolved = resolved(drawn);
    let sim = match run(Engine::Sim, &resolved, UNWATCHED) {
        Ok(record) => record.summary,
        Err(error) => return vec![format!("{}: sim: {error}", drawn.name)],
    };
    let mut faults = Vec::new();
    possible("", &serde_json::to_value(&sim).unwrap(), &mut faults);
    conserved(&sim, &resolved, &mut faults);
    files(&sim, &resolved, &mut faults);
    if let Ok(model) = run(Engine::Model, &resolved, UNWATCHED) {
        let model = model.summary;
        possible("model", &serde_json::to_value(&model).unwrap(), &mut faults);
        theory(&model, &sim, &mut faults);
    }
    faults.iter().map(|fault| format!("{}: {fault}", drawn.name)).collect()
}

/// Every number is one, at least zero, and percentiles ascend.
fn possible(place: &str, value: &Value, faults: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.as_f64().is_none_or(|number| !number.is_finite() || number < 0.0) => {
            faults.push(format!("{place} is {number}"));
        }
        Value::Array(items) => items.iter().for_each(|item| possible(place, item, faults)),
        Value::Object(table) => {
            let of = |key: &str| table.get(key).and_then(Value::as_f64);
            let mut last = 0.0;
            for key in ["p1", "p5", "p50", "p95", "p99", "max"] {
                if let Some(value) = of(key) {
                    if value < last {
                        faults.push(format!(
                            "{place}.{key} = {value} is below the percentile before it, {last}"
                        ));
                    }
                    last = value;
                }
            }
            if let (Some(mean), Some(max)) = (of("mean"), of("max"))
                && mean > max * (1.0 + 1e-9)
            {
                faults.push(format!("{place}: a mean of {mean} over the maximum {max}"));
            }
            // A trend is a difference.
            for (key, value) in table.iter().filter(|(key, _)| *key != "trend") {
                possible(&format!("{place}.{key}"), value, faults);
            }
        }
        _ => {}
    }
}

/// Nothing is delivered that the link could not carry.
fn conserved(sim: &Summary, resolved: &Resolved, faults: &mut Vec<String>) {
    for (what, share) in
        [("utilization", sim.utilization), ("idle", sim.idle_fraction), ("loss", sim.loss_rate)]
    {
        if share.is_some_and(|share| share > 1.0 + 1e-9) {
            faults.push(format!("{what} of {share:?}"));
        }
    }
    if resolved.is_network() || resolved.cell.is_some() {
        return;
    }
    // What was in flight when the measured time began arrives in it: a queue and a round trip more at most. Where packets
    // were lost, data beyond a hole count when the hole is filled, and may all have come in the warm-up.
    let rate = resolved.link.rate.as_bps_f64();
    let carried = rate * sim.measured_s;
    let lost = sim.packets_dropped.is_some_and(|dropped| dropped > 0);
    let queue = sim.queueing_delay_s.as_ref().and_then(|delay| delay.max).unwrap_or_default();
    let rtts = sim.flows.iter().filter_map(|flow| flow.rtt_s).map(|rtt| rtt.p95.unwrap_or(rtt.mean));
    let warmup = resolved.warmup.as_secs_f64();
    let before = rate * if lost { warmup.max(queue) } else { queue + rtts.fold(0.0, f64::max) };
    let delivered: f64 =
        sim.flows.iter().filter_map(|flow| flow.delivered_bytes).map(|bytes| bytes * 8.0).sum();
    if delivered > carried + before {
        faults.push(format!("{delivered:.0} bits delivered in {} s at {rate:.0} bit/s", sim.measured_s));
    }
    if sim.goodput_bps() > rate + before / sim.measured_s {
        faults.push(format!("a goodput of {:.0} on {rate:.0} bit/s", sim.goodput_bps()));
    }
    for flow in sim.flows.iter().filter(|flow| flow.completion_s.is_none() && !lost) {
        if flow.goodput_bps > rate * (1.0 + 1e-6) {
            faults.push(format!("flow {} has {:.0} of {rate:.0} bit/s", flow.name, flow.goodput_bps));
        }
    }
}

/// A file that was done has its size as goodput times completion, and no file has more than its size.
fn files(sim: &Summary, resolved: &Resolved, faults: &mut Vec<String>) {
    for flow in &sim.flows {
        let size =
            resolved.flows.iter().find(|resolved| resolved.name == flow.name).and_then(|flow| flow.size);
        let Some(size) = size.map(|size| size.get() as f64) else { continue };
        if flow.delivered_bytes.is_some_and(|bytes| bytes > size) {
            faults.push(format!("flow {}: {:?} of {size} bytes delivered", flow.name, flow.delivered_bytes));
        }
        if let Some(completion) = flow.completion_s {
            let product = flow.goodput_bps * completion / 8.0;
            if (product / size - 1.0).abs() > 0.005 {
                faults.push(format!(
                    "flow {}: goodput x completion is {product:.0} of {size} bytes",
                    flow.name
                ));
            }
        }
    }
}

/// A theory that names no broken assumption is near what happens.
fn theory(model: &Summary, sim: &Summary, faults: &mut Vec<String>) {
    if !model.is_exact() {
        return;
    }
    let mut compare = |what: &str, theory: f64, sim: f64, floor: f64| {
        if (theory - sim).abs() > BAND * sim.abs() + floor {
            faults.push(format!("theory without a star: {what} {theory:.5} for {sim:.5}"));
        }
    };
    let (Some(theory), Some(found)) = (model.flows.first(), sim.flows.first()) else { return };
    if let (Some(one), Some(other)) = (theory.completion_s, found.completion_s) {
        compare("completion", one, other, 0.002);
    } else {
        compare("goodput", theory.goodput_bps, found.goodput_bps, 1e3);
    }
    let rtt = found.rtt_s.map(|rtt| rtt.mean);
    if let (Some(one), Some(other)) = (theory.rtt_s, rtt) {
        compare("RTT", one.mean, other, 1e-3);
    }
    if let (Some(one), Some(other), Some(rtt)) = (&model.queueing_delay_s, &sim.queueing_delay_s, rtt) {
        compare("queue", one.mean, other.mean, BAND * rtt);
    }
}
