//! A histogram of durations with a relative resolution of under 1 %, in constant memory.

use units::Span;

/// Sub-buckets per power of two: 2^7, so a bucket is at most 1/128 of its value wide.
const SUB_BITS: u32 = 7;
const SUB: u64 = 1 << SUB_BITS;
const BUCKETS: usize = ((64 - SUB_BITS as usize) + 1) << SUB_BITS;

/// Counts of durations in log-linear buckets, with the exact mean and maximum beside them.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, sum: 0, max: 0 }
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < SUB {
        return nanos as usize;
    }
    let shift = 63 - nanos.leading_zeros() - SUB_BITS;
    // The leading bit of `nanos >> shift` is worth SUB, hence shift + 1 below it.
    ((u64::from(shift) << SUB_BITS) + (nanos >> shift)) as usize
}

/// The middle of a bucket.
fn value(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < SUB {
        return bucket;
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let low = (bucket - (shift << SUB_BITS)) << shift;
    low + (1u64 << shift) / 2
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: Span) {
        let nanos = duration.as_nanos();
        self.counts[bucket(nanos)] += 1;
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
        let at = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Span::from_nanos(value(at).min(self.max)))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum, self.max) = (0, 0, 0);
    }
}
