//! Bursts and pauses of random length.

use units::random::{Distribution, Stream};
use units::{Span, Time};

/// Where the burst under way ends.
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

/// Lengths with these means: Pareto with a `shape`, exponential without.
pub(super) fn lengths(burst: Span, pause: Span, shape: Option<f64>, stream: &mut Stream) -> Lengths<'_> {
    let of = |mean: Span| {
        let mean = mean.as_secs_f64();
        shape.map_or(Distribution::Exponential(mean), |shape| Distribution::Pareto { shape, mean })
    };
    Lengths { burst: of(burst), pause: of(pause), stream }
}

impl Bursts {
    /// A pause begins at `start`.
    pub(super) fn new(start: Time) -> Self {
        Self { ends: start }
    }

    /// When the packet comes that is `gap` after the one at `now`. The gap passes only while a burst lasts, so no
    /// packet is gained or lost at a burst's ends and the long-run rate is exact.
    pub(super) fn after(&mut self, mut now: Time, mut gap: Span, lengths: &mut Lengths<'_>) -> Time {
        while now + gap >= self.ends {
            gap = gap.saturating_sub(self.ends.since(now));
            now = self.ends + Span::from_secs_f64(lengths.pause.draw(lengths.stream));
            self.ends = now + Span::from_secs_f64(lengths.burst.draw(lengths.stream)) + Span::from_nanos(1);
        }
        now + gap
    }
}
