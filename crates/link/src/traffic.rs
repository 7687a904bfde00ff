//! Cross traffic that does not respond to congestion: arrival processes, the same in simulator and emulator.
//!
//! This file has the description of a source, and [`Source`], which emits its packets one after the other.
//! `traffic/on_off.rs` has bursts and pauses, `traffic/trace.rs` packets recorded elsewhere, which the room `capture`
//! reads from files.

mod on_off;
mod trace;

pub use trace::Trace;

use on_off::Bursts;
use serde::{Serialize, Serializer};
use std::sync::Arc;
use trace::Cursor;
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// The spacing of packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Pattern {
    /// Equal gaps.
    Cbr,
    /// Exponential gaps.
    Poisson,
    /// Equal gaps at `peak` during bursts; burst and pause lengths are random.
    OnOff {
        /// Rate within a burst.
        peak: Rate,
        /// Mean length of a burst.
        burst: Span,
        /// Tail index of burst and pause lengths, over 1, if they are Pareto: below 2 the sum of many such sources is
        /// self-similar. `None` if they are exponential.
        shape: Option<f64>,
    },
    /// The packets of a trace.
    Replay {
        /// The trace.
        #[serde(serialize_with = "shared")]
        trace: Arc<Trace>,
        /// True if it restarts at its end, one mean gap after its last packet.
        repeat: bool,
    },
}

/// Serializes the trace. If several replays share it, it is written once for each.
fn shared<S: Serializer>(trace: &Arc<Trace>, serializer: S) -> Result<S::Ok, S::Error> {
    trace.as_ref().serialize(serializer)
}

/// An arrival process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficConfig {
    /// The spacing of packets.
    pub pattern: Pattern,
    /// Long-run mean rate on the wire; of a replay, that of its trace.
    pub rate: Rate,
    /// Size of every packet on the wire; of a replay, the largest.
    pub packet: Bytes,
    /// The earliest time of the first packet; of a replay, its time.
    pub start: Time,
    /// The time from which no packet comes.
    pub stop: Time,
}

impl TrafficConfig {
    /// Creates the arrival process of the packets of `trace`.
    #[must_use]
    pub fn replay(trace: Arc<Trace>, repeat: bool, start: Time, stop: Time) -> Self {
        let (rate, packet) = (trace.mean_rate(), trace.largest());
        Self { pattern: Pattern::Replay { trace, repeat }, rate, packet, start, stop }
    }
}

/// A source of the packets of an arrival process, in order of time.
#[derive(Clone, Debug)]
pub struct Source {
    config: TrafficConfig,
    stream: Stream,
    next: Time,
    /// The part of the last gap below a nanosecond, which keeps a constant rate exact.
    carry: f64,
    bursts: Bursts,
    cursor: Cursor,
}

impl Source {
    /// Creates a source that draws from `stream`.
    ///
    /// # Panics
    /// If the rate is zero and the pattern is not a replay.
    #[must_use]
    pub fn new(config: TrafficConfig, stream: Stream) -> Self {
        let replays = matches!(config.pattern, Pattern::Replay { .. });
        assert!(replays || config.rate > Rate::ZERO, "cross traffic needs a rate above zero");
        let bursts = Bursts::new(config.start);
        let mut source =
            Self { next: config.start, config, stream, carry: 0.0, bursts, cursor: Cursor::default() };
        if matches!(source.config.pattern, Pattern::Poisson | Pattern::OnOff { .. }) {
            source.wait();
        }
        source
    }

    /// Creates the source that a scenario calls `name`. With the same `seed` it draws the same on every engine.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn named(config: TrafficConfig, seed: u64, name: &str) -> Self {
        Self::new(config, Stream::new(seed, &format!("traffic {name}")))
    }

    /// Returns the time of the next packet; `None` after the last.
    #[must_use]
    pub fn wakeup(&self) -> Option<Time> {
        (self.next < self.config.stop).then_some(self.next)
    }

    /// Takes the packet that comes at [`wakeup`](Source::wakeup) and moves on to the next.
    pub fn emit(&mut self) -> Bytes {
        let length = match &self.config.pattern {
            Pattern::Replay { trace, .. } => trace.size(&self.cursor),
            _ => self.config.packet,
        };
        self.wait();
        length
    }

    /// Moves `next` on by one gap.
    fn wait(&mut self) {
        self.next = match &self.config.pattern {
            Pattern::Cbr | Pattern::Poisson => self.next + self.gap(self.config.rate),
            Pattern::OnOff { peak, burst, shape } => {
                let (peak, burst, shape) = (*peak, *burst, *shape);
                let gap = self.gap(peak);
                // The mean pause that gives the long-run rate: burst (peak - rate) / rate.
                let pause = burst.scale(peak.as_bps_f64() / self.config.rate.as_bps_f64() - 1.0);
                self.bursts.after(self.next, gap, &mut on_off::lengths(burst, pause, shape, &mut self.stream))
            }
            Pattern::Replay { trace, repeat } => {
                trace.gap(&mut self.cursor, *repeat).map_or(Time::NEVER, |gap| self.next + gap)
            }
        };
    }

    /// Returns the time between two packets at `rate`, random for a Poisson source.
    fn gap(&mut self, rate: Rate) -> Span {
        let mean_nanos = self.config.packet.bits_f64() * 1e9 / rate.as_bps_f64();
        let gap = match self.config.pattern {
            Pattern::Poisson => self.stream.exponential(mean_nanos),
            _ => mean_nanos,
        } + self.carry;
        let whole = gap.floor();
        self.carry = gap - whole;
        Span::from_nanos(whole as u64)
    }
}
