//! A controller alone, on a path whose loss and round-trip time do not answer to it.

use tightlink_cc::growth::Growth;
use tightlink_cc::registry::build;
use tightlink_cc::slow_start::Standard;
use tightlink_cc::{Ack, Congestion, CongestionControl, CongestionKind, LossBased, RttView, Start};
use units::random::Stream;
use units::{Bytes, Span, Time};

pub const SEGMENT: u64 = 1000;

/// Which packets are lost.
pub enum Losses {
    /// One in so many, evenly spaced.
    Every(u64),
    /// Each with this probability.
    Random(f64, Stream),
}

/// What was sent after a first part that is left out.
pub struct Average {
    /// Packets per round-trip time: the window averaged over time.
    pub window: f64,
    /// The window averaged over packets.
    pub per_packet: f64,
}

/// In congestion avoidance, with a window of `window` segments.
pub fn start(window: f64) -> Start {
    let window = Bytes::new((window * SEGMENT as f64) as u64);
    Start { segment: Bytes::new(SEGMENT), window, threshold: window }
}

pub fn named(control: &str, window: f64) -> Box<dyn CongestionControl> {
    build(control, "standard", start(window)).expect("registered")
}

pub fn of<G: Growth + 'static>(growth: G, window: f64) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(start(window), 1, Standard, growth))
}

/// A sender that always has data, on a path with a round-trip time that stays.
pub struct Sender {
    pub control: Box<dyn CongestionControl>,
    pub rtt: Span,
    least: Span,
    pub now: Time,
    round: u64,
}

impl Sender {
    pub fn new(control: Box<dyn CongestionControl>, rtt: Span) -> Self {
        Self::with_queue(control, rtt, Span::ZERO)
    }

    /// `rtt` is the base round-trip time, and `queue` the delay that stands on top of it.
    pub fn with_queue(control: Box<dyn CongestionControl>, rtt: Span, queue: Span) -> Self {
        Self { control, rtt: rtt + queue, least: rtt, now: Time::ZERO, round: 0 }
    }

    /// Whole segments in the window.
    pub fn window(&self) -> u64 {
        (self.control.allowance().window.get() / SEGMENT).max(1)
    }

    pub fn segments(&self) -> f64 {
        self.control.allowance().window.get() as f64 / SEGMENT as f64
    }

    pub fn acknowledge(&mut self, at: Time) {
        self.control.on_ack(&Ack {
            now: at,
            acked: Bytes::new(SEGMENT),
            delivered: Bytes::new(SEGMENT),
            newest_sent: at - self.rtt,
            in_flight: self.control.allowance().window,
            rtt: RttView { latest: Some(self.rtt), smoothed: self.rtt, min: self.least },
            rate: None,
            window_limited: true,
            paced: false,
            recovering: false,
            round: self.round,
        });
    }

    pub fn lose(&mut self, at: Time) {
        self.control.on_congestion(&Congestion {
            now: at,
            kind: CongestionKind::Loss,
            lost: Bytes::new(SEGMENT),
            in_flight: self.control.allowance().window,
        });
    }

    /// One window of packets, evenly spread over a round-trip time; a loss ends the round where it happens.
    /// Returns what was sent.
    pub fn round(&mut self, mut lost: impl FnMut() -> bool) -> u64 {
        let window = self.window();
        self.round += 1;
        for sent in 1..=window {
            let at = self.now + self.rtt * sent / window;
            if lost() {
                self.lose(at);
                self.now = at;
                return sent;
            }
            self.acknowledge(at);
        }
        self.now += self.rtt;
        window
    }

    /// Sends `packets` after as many as `settle` that are not counted.
    pub fn average(mut self, mut losses: Losses, settle: u64, packets: u64) -> Average {
        let mut index = 0u64;
        let mut lost = || {
            index += 1;
            match &mut losses {
                Losses::Every(interval) => index.is_multiple_of(*interval),
                Losses::Random(p, stream) => stream.uniform() < *p,
            }
        };
        let mut sent = 0;
        while sent < settle {
            sent += self.round(&mut lost);
        }
        let (began, mut sent, mut weighted) = (self.now, 0u64, 0.0);
        while sent < packets {
            let window = self.segments();
            let round = self.round(&mut lost);
            sent += round;
            weighted += round as f64 * window;
        }
        let rounds = self.now.since(began).as_secs_f64() / self.rtt.as_secs_f64();
        Average { window: sent as f64 / rounds, per_packet: weighted / sent as f64 }
    }
}

/// Over `epochs` evenly spaced losses after as many that are not counted.
pub fn periodic(sender: Sender, p: f64, epochs: u64) -> f64 {
    let interval = (1.0 / p).round() as u64;
    sender.average(Losses::Every(interval), epochs * interval, epochs * interval).window
}

/// The same from the steady state: a loss at the window that `control` has now. A window that comes back slowly to
/// where it was lost drifts for hundreds of epochs until it is there.
pub fn periodic_from_loss(control: Box<dyn CongestionControl>, rtt: Span, p: f64, epochs: u64) -> f64 {
    let mut sender = Sender::new(control, rtt);
    sender.lose(sender.now);
    let interval = (1.0 / p).round() as u64;
    sender.average(Losses::Every(interval), 0, epochs * interval).window
}

pub fn agrees(what: &str, ours: f64, published: f64, within: f64) {
    let error = ours / published - 1.0;
    println!("{what}: {ours:.2}, published {published:.2}, {:+.2} %", 100.0 * error);
    assert!(
        error.abs() <= within,
        "{what}: {ours:.3}, published {published:.3}, off by {:+.2} %",
        100.0 * error
    );
}
