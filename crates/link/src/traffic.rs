//! Cross traffic that does not answer to congestion: arrival processes, the same in simulator and emulator.

use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// How packets are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Equal gaps.
    Cbr,
    /// Exponential gaps.
    Poisson,
    /// Equal gaps at `peak` during bursts; burst and pause lengths are exponential.
    OnOff {
        /// Rate within a burst.
        peak: Rate,
        /// Mean length of a burst.
        burst: Span,
    },
}

/// An arrival process.
#[derive(Clone, Copy, Debug)]
pub struct TrafficConfig {
    /// How packets are spaced.
    pub pattern: Pattern,
    /// Long-run mean rate on the wire.
    pub rate: Rate,
    /// Size of every packet on the wire.
    pub packet: Bytes,
    /// When the first packet may come.
    pub start: Time,
    /// No packet comes at or after this.
    pub stop: Time,
}

/// Packets of an arrival process, in order of time.
#[derive(Clone, Debug)]
pub struct Source {
    config: TrafficConfig,
    stream: Stream,
    next: Time,
    /// What the last gap left below a nanosecond, so that a constant rate stays exact.
    carry: f64,
    burst_ends: Time,
}

impl Source {
    /// A source that draws from `stream`.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn new(config: TrafficConfig, stream: Stream) -> Self {
        assert!(config.rate > Rate::ZERO, "cross traffic needs a rate above zero");
        let mut source = Self { config, stream, next: config.start, carry: 0.0, burst_ends: config.start };
        if config.pattern != Pattern::Cbr {
            source.wait();
        }
        source
    }

    /// When the next packet comes; `None` after the last.
    #[must_use]
    pub fn wakeup(&self) -> Option<Time> {
        (self.next < self.config.stop).then_some(self.next)
    }

    /// Takes the packet that comes at [`wakeup`](Source::wakeup) and moves on to the next.
    pub fn emit(&mut self) -> Bytes {
        self.wait();
        self.config.packet
    }

    /// Moves `next` on by one gap. Within an on-off source the gap passes only while a burst lasts, so no
    /// packet is gained or lost at a burst's ends and the long-run rate is exact.
    fn wait(&mut self) {
        let Pattern::OnOff { peak, burst } = self.config.pattern else {
            let gap = self.gap(self.config.rate);
            self.next += gap;
            return;
        };
        let mut gap = self.gap(peak);
        let on = burst.as_secs_f64();
        // The mean pause makes the long-run rate: burst (peak - rate) / rate.
        let off = on * (peak.as_bps_f64() / self.config.rate.as_bps_f64() - 1.0);
        while self.next + gap >= self.burst_ends {
            gap = gap.saturating_sub(self.burst_ends.since(self.next));
            self.next = self.burst_ends + Span::from_secs_f64(self.stream.exponential(off));
            self.burst_ends =
                self.next + Span::from_secs_f64(self.stream.exponential(on)) + Span::from_nanos(1);
        }
        self.next += gap;
    }

    /// The time between two packets at `rate`, random for a Poisson source.
    fn gap(&mut self, rate: Rate) -> Span {
        let mean_nanos = self.config.packet.bits_f64() * 1e9 / rate.as_bps_f64();
        let gap = match self.config.pattern {
            Pattern::Poisson => self.stream.exponential(mean_nanos),
            Pattern::Cbr | Pattern::OnOff { .. } => mean_nanos,
        } + self.carry;
        let whole = gap.floor();
        self.carry = gap - whole;
        Span::from_nanos(whole as u64)
    }
}
