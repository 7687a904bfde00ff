//! A histogram of durations with a relative resolution of under 1 %, in constant memory.

use units::Span;

/// Sub-buckets per power of two: 2^7, so a bucket is at most 1/128 of its value wide.
const SUB_BITS: u32 = 7;
const SUB: u64 = 1 << SUB_BITS;
/// One octave of values, and below it the values that have a bucket each.
const OCTAVES: usize = 64 - SUB_BITS as usize + 1;

type Octave = Box<[u64; SUB as usize]>;

/// Counts of durations in log-linear buckets, with the exact mean and maximum beside them. An octave takes memory
/// only once a duration falls into it, so that every flow can have its own.
#[derive(Clone, Debug)]
pub struct Histogram {
    octaves: [Option<Octave>; OCTAVES],
    count: u64,
    sum: u128,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { octaves: [const { None }; OCTAVES], count: 0, sum: 0, max: 0 }
    }
}

/// The octave of a value and its bucket there.
#[inline]
fn place(nanos: u64) -> (usize, usize) {
    if nanos < SUB {
        return (0, nanos as usize);
    }
    let shift = 63 - nanos.leading_zeros() - SUB_BITS;
    (shift as usize + 1, ((nanos >> shift) - SUB) as usize)
}

/// The middle of a bucket.
fn value(octave: usize, bucket: usize) -> u64 {
    if octave == 0 {
        return bucket as u64;
    }
    let shift = octave - 1;
    ((bucket as u64 + SUB) << shift) + (1u64 << shift) / 2
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: Span) {
        let nanos = duration.as_nanos();
        let (octave, bucket) = place(nanos);
        self.octaves[octave].get_or_insert_with(|| Box::new([0; SUB as usize]))[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(nanos);
        self.max = self.max.max(nanos);
    }

    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; `None` without durations.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_nanos((self.sum / u128::from(self.count)) as u64))
    }

    /// The longest duration.
    #[must_use]
    pub fn max(&self) -> Span {
        Span::from_nanos(self.max)
    }

    /// The duration that the share `q` of all do not exceed, to within 1 %; `None` without durations.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Span> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (octave, counts) in self.octaves.iter().enumerate() {
            for (bucket, count) in counts.iter().flat_map(|counts| counts.iter()).enumerate() {
                seen += count;
                if seen >= rank {
                    return Some(Span::from_nanos(value(octave, bucket).min(self.max)));
                }
            }
        }
        None
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_percent_and_the_mean_is_exact() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for nanos in 1..=1_000_000u64 {
            histogram.record(Span::from_nanos(nanos));
        }
        for q in [0.0001, 0.01, 0.5, 0.95, 0.99, 1.0] {
            let (found, exact) = (histogram.quantile(q).unwrap().as_nanos() as f64, q * 1e6);
            assert!((found / exact - 1.0).abs() < 0.01, "{q}: {found}");
        }
        assert_eq!(histogram.mean(), Some(Span::from_nanos(500_000)));
        assert_eq!((histogram.max(), histogram.count()), (Span::from_nanos(1_000_000), 1_000_000));
        histogram.clear();
        assert_eq!((histogram.count(), histogram.mean()), (0, None));
    }

    #[test]
    fn every_value_has_a_bucket_around_it() {
        for shift in 0..64 {
            for nanos in [1u64 << shift, (1u64 << shift) | (1u64 << shift >> 1), u64::MAX >> (63 - shift)] {
                let (octave, bucket) = place(nanos);
                let middle = value(octave, bucket) as f64;
                assert!((middle / nanos as f64 - 1.0).abs() < 0.008, "{nanos} is put near {middle}");
            }
        }
        assert_eq!(place(0), (0, 0));
    }
}
