//! Bursts and pauses of random length.

use units::random::{Distribution, Stream};
use units::{Span, Time};

/// The current burst, of which only the end is kept.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    ends: Time,
}

/// Lengths of bursts and pauses.
pub(super) struct Lengths<'a> {
    burst: Distribution,
    pause: Distribution,
    stream: &'a mut Stream,
}

/// Returns lengths with these means: Pareto with a `shape`, exponential without.
pub(super) fn lengths(burst: Span, pause: Span, shape: Option<f64>, stream: &mut Stream) -> Lengths<'_> {
    let of = |mean: Span| {
        let mean = mean.as_secs_f64();
        shape.map_or(Distribution::Exponential(mean), |shape| Distribution::Pareto { shape, mean })
    };
    Lengths { burst: of(burst), pause: of(pause), stream }
}

impl Bursts {
    /// Begins a pause at `start`.
    pub(super) fn new(start: Time) -> Self {
        Self { ends: start }
    }

    /// Returns the time of the packet that is `gap` after the one at `now`. The gap passes only while a burst lasts. So
    /// the ends of bursts neither add nor remove packets, and the long-run rate is exact.
    pub(super) fn after(&mut self, mut now: Time, mut gap: Span, lengths: &mut Lengths<'_>) -> Time {
        while now + gap >= self.ends {
            gap = gap.saturating_sub(self.ends.since(now));
            now = self.ends + Span::from_secs_f64(lengths.pause.draw(lengths.stream));
            self.ends = now + Span::from_secs_f64(lengths.burst.draw(lengths.stream)) + Span::from_nanos(1);
        }
        now + gap
    }
}
