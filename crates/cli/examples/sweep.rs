//! Utilization against the buffer, for two controls, on all cores: cargo run --release --example sweep [FOLDER]

use tightlink::{Engine, Error, Flow, Run, Scenario, Unwatched};

pub(crate) fn main() -> Result<(), Error> {
    let scenario = Scenario::link("20Mbit/s", "5ms")
        .limit("1 bdp")
        .flow(Flow::reno().rtt("40ms"))
        .duration("20s")
        .warmup("5s")
        .build()?;

    // A sweep over one key needs only this.
    let points = scenario.sweep(Engine::Model, "link.queue.limit", ["0.25 bdp", "1 bdp"])?;
    assert!(points[0].summary.goodput_bps() < points[1].summary.goodput_bps());

    // With a folder, a sweep over several keys continues where it was stopped, and writes tables.
    let mut experiment = scenario.experiment(&[
        ("flow.control", &["reno", "cubic"]),
        ("link.queue.limit", &["0.1 bdp", "0.25 bdp", "0.5 bdp", "1 bdp"]),
    ])?;
    if let Some(folder) = std::env::args().nth(1).filter(|word| !word.starts_with('-')) {
        experiment = experiment.folder(folder);
    }
    let swept = experiment.sweep(Engine::Sim, &mut Unwatched)?;
    for result in &swept.results {
        let values: Vec<&str> = result.point.iter().map(|(_, value)| value.as_str()).collect();
        println!("{:20} {:6.2} %", values.join(", "), result.summary.utilization.unwrap_or_default() * 100.0);
    }
    swept.files.iter().for_each(|file| println!("{}", file.display()));
    Ok(())
}
