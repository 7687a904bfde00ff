//! A sizer of your own for the receive window: cargo run --release --example own_sizer
//!
//! It keeps the window a little larger than the data that a round trip without a queue delivers. So the buffer of the
//! link stays nearly empty with every congestion control of the sender.

use tightlink::sizing::registry::{Sizer, add};
use tightlink::sizing::{Action, BufferSizer, Input, SizerConfig};
use tightlink::units::{Bytes, Span, Time};
use tightlink::{Engine, Error, Flow, Run, Scenario, metric};

#[derive(Debug)]
struct Gentle {
    config: SizerConfig,
    least_rtt: Option<Span>,
    delivered: Bytes,
    since: Time,
    /// A window that the owner of the connection does not know yet.
    news: Option<Bytes>,
}

impl Gentle {
    fn new(config: SizerConfig) -> Self {
        let first = config.segment * 20;
        Self { config, least_rtt: None, delivered: Bytes::ZERO, since: Time::ZERO, news: Some(first) }
    }
}

impl BufferSizer for Gentle {
    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::RoundTrip(sample) => {
                self.least_rtt = Some(self.least_rtt.map_or(sample, |least| least.min(sample)));
            }
            Input::Delivered(bytes) => {
                self.delivered += bytes;
                let Some(round) = self.least_rtt.filter(|round| now.since(self.since) >= *round) else {
                    return;
                };
                // The data that arrive in the time of one round trip without a queue.
                let share = round.as_secs_f64() / now.since(self.since).as_secs_f64();
                let window = self.delivered.scale(1.25 * share).max(self.config.segment * 20);
                self.news = Some(window.min(self.config.maximum));
                (self.delivered, self.since) = (Bytes::ZERO, now);
            }
            _ => {}
        }
    }

    fn poll(&mut self, _now: Time) -> Option<Action> {
        self.news.take().map(Action::Window)
    }
}

pub(crate) fn main() -> Result<(), Error> {
    add(Sizer {
        name: "gentle",
        summary: "a quarter more than a round trip without a queue delivers",
        source: "this example",
        build: |config| Box::new(Gentle::new(config)),
    })?;

    let path = Scenario::link("50Mbit/s", "20ms").limit("2 bdp").duration("30s").warmup("10s");
    let scenario = path.flow(Flow::cubic()).build()?;
    let mut waits = Vec::new();
    for buffer in ["max", "{ sizer = \"gentle\", max = \"6MB\" }"] {
        let summary = scenario.with("flow.socket_buffer", buffer)?.run(Engine::Sim)?.summary;
        let wait = metric::value(&summary, "queueing_delay_s.mean").unwrap_or_default() * 1e3;
        println!("{buffer:40} {:5.2} Mbit/s, {wait:6.2} ms in the queue", summary.goodput_bps() / 1e6);
        assert!(summary.goodput_bps() > 40e6);
        waits.push(wait);
    }
    assert!(waits[1] < waits[0] / 2.0, "the sizer keeps the queue short: {waits:?}");
    Ok(())
}
