//! One path, in theory and in the simulator: cargo run --release --example one_run

use tightlink::{Engine, Error, Flow, Run, Scenario, metric};

pub(crate) fn main() -> Result<(), Error> {
    let scenario = Scenario::link("50Mbit/s", "5ms")
        .limit("0.5 bdp")
        .flow(Flow::reno().rtt("40ms"))
        .duration("30s")
        .warmup("10s")
        .build()?;

    let answer = scenario.compare()?;
    for record in &answer.records {
        let summary = &record.summary;
        println!("{:5}  {:6.2} Mbit/s of goodput", summary.engine.to_string(), summary.goodput_bps() / 1e6);
        // Every number has a key, words and a unit.
        for key in ["utilization", "queueing_delay_s.mean", "loss_rate"] {
            if let Some(value) = metric::value(summary, key) {
                println!("       {value:10.6}  {key}");
            }
        }
    }
    answer.absent.iter().for_each(|reason| println!("no answer: {reason}"));

    // The faults of a scenario are data, too.
    let mut wrong = scenario;
    wrong.flows[0].control = "renoo".into();
    let error = wrong.run(Engine::Sim).expect_err("no such control");
    assert_eq!(error.complaints[0].place, "flow[0].control");
    println!("{error}");
    Ok(())
}
