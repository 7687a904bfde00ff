//! A congestion control of your own next to Reno: cargo run --release --example own_controller
//!
//! With the word `live` behind `--` it also runs on real packets: UDP packets of ours carry it over QUIC, and the
//! kernel's TCP carries Reno.
//!
//! SQRT adds 1/sqrt(w) segments per round trip and gives up sqrt(w)/2 on loss (Bansal, Balakrishnan, INFOCOM 2001). A
//! loss-based controller combines a slow start and a growth, so only the growth must be written. Other controllers
//! implement `cc::CongestionControl`.

use tightlink::cc::growth::Growth;
use tightlink::cc::growth::share::{Remainder, in_use, part, segments};
use tightlink::cc::registry::{Control, PAPER, add};
use tightlink::cc::{Ack, Congestion};
use tightlink::units::Bytes;
use tightlink::{Engine, Error, Flow, Run, Scenario, ScenarioDraft};

#[derive(Clone, Copy, Debug)]
struct Sqrt {
    segment: Bytes,
    rest: Remainder,
}

impl Sqrt {
    fn new(segment: Bytes) -> Self {
        Self { segment, rest: Remainder::default() }
    }
}

impl Growth for Sqrt {
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        let step = self.segment.get() as f64 / segments(window, self.segment).sqrt();
        self.rest.give(step * part(counted, window), counted)
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let used = in_use(event, window);
        let taken = 0.5 * segments(used, self.segment).sqrt() * self.segment.get() as f64;
        used.saturating_sub(Bytes::new(taken as u64))
    }
}

pub(crate) fn main() -> Result<(), Error> {
    add(Control {
        name: "sqrt",
        summary: "grows by 1/sqrt(w) per round trip, gives up sqrt(w)/2 on loss",
        source: "Bansal, Balakrishnan 2001",
        status: PAPER,
        build: |recipe| recipe.loss_based(Sqrt::new),
    })?;

    print_shares(&path("tcp").duration("60s").warmup("20s").build()?, Engine::Sim)?;
    if std::env::args().any(|word| word == "live") {
        on_packets()?;
    }
    Ok(())
}

/// Runs the same control on real packets, and the same seconds in the simulator. This takes 12 seconds, and needs the
/// right to make namespaces.
pub(crate) fn on_packets() -> Result<(), Error> {
    let scenario = path("quic").duration("12s").warmup("4s").build()?;
    print_shares(&scenario, Engine::Sim)?;
    print_shares(&scenario, Engine::Live)
}

/// Returns a path with a flow of SQRT, carried by `transport`, and a flow of Reno over TCP.
fn path(transport: &str) -> ScenarioDraft {
    let sqrt = Flow::new("sqrt").transport(transport);
    Scenario::link("20Mbit/s", "20ms").limit("0.5 bdp").flow(sqrt).flow(Flow::reno())
}

fn print_shares(scenario: &Scenario, engine: Engine) -> Result<(), Error> {
    let record = scenario.run(engine)?;
    for (flow, name) in record.summary.flows.iter().zip(["sqrt", "reno"]) {
        println!("{:4}  {name}  {:5.2} Mbit/s", engine.to_string(), flow.goodput_bps / 1e6);
        assert!(flow.goodput_bps > 1e6, "both get a part of the link");
    }
    Ok(())
}
