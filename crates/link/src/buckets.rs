//! Log-linear buckets: a weight for every duration, with a constant relative resolution, in constant memory.

use units::Span;

/// The number of octaves. The first holds the shortest durations, which have a bucket each. It is enough for 2^7 or
/// more buckets per octave.
const OCTAVES: usize = 64 - 7 + 1;

type Octave<const SUB: usize> = Box<[u64; SUB]>;

/// Weights of durations in buckets. An octave of durations has `SUB` buckets, which is 2^7 or a higher power of two. A
/// bucket is at most 1/`SUB` of its values wide. Each of the shortest `SUB` durations has a bucket of its own. An
/// octave takes memory only once a duration falls into it.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<const SUB: usize> {
    octaves: [Option<Octave<SUB>>; OCTAVES],
}

/// The durations that share a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    low: u64,
    width: u64,
}

impl Bucket {
    /// Returns the duration a share of the way from the bucket's shortest to its longest.
    pub(crate) fn at(self, share: f64) -> Span {
        Span::from_nanos(self.low + ((self.width - 1) as f64 * share).round() as u64)
    }

    /// Returns the middle of the bucket.
    pub(crate) fn middle(self) -> Span {
        Span::from_nanos(self.low + self.width / 2)
    }
}

impl<const SUB: usize> Default for Buckets<SUB> {
    fn default() -> Self {
        Self { octaves: [const { None }; OCTAVES] }
    }
}

impl<const SUB: usize> Buckets<SUB> {
    const BITS: u32 = SUB.trailing_zeros();

    /// Returns the octave of a value and its bucket there.
    #[inline]
    fn place(nanos: u64) -> (usize, usize) {
        if nanos < SUB as u64 {
            return (0, nanos as usize);
        }
        let shift = 63 - nanos.leading_zeros() - Self::BITS;
        (shift as usize + 1, ((nanos >> shift) - SUB as u64) as usize)
    }

    fn bucket(octave: usize, bucket: usize) -> Bucket {
        match octave.checked_sub(1) {
            None => Bucket { low: bucket as u64, width: 1 },
            Some(shift) => Bucket { low: ((bucket + SUB) as u64) << shift, width: 1 << shift },
        }
    }

    /// Returns the number of a duration's bucket. Longer durations have higher numbers.
    #[inline]
    pub(crate) fn number(nanos: u64) -> u16 {
        let (octave, bucket) = Self::place(nanos);
        (octave * SUB + bucket) as u16
    }

    /// Returns the bucket with this number.
    pub(crate) fn numbered(number: u16) -> Bucket {
        Self::bucket(usize::from(number) / SUB, usize::from(number) % SUB)
    }

    /// Adds `weight` to the bucket of a duration.
    #[inline]
    pub(crate) fn add(&mut self, nanos: u64, weight: u64) {
        let (octave, bucket) = Self::place(nanos);
        self.octaves[octave].get_or_insert_with(|| Box::new([0; SUB]))[bucket] += weight;
    }

    /// Returns the sum of all weights.
    pub(crate) fn total(&self) -> u64 {
        self.octaves.iter().flatten().flat_map(|octave| octave.iter()).sum()
    }

    /// Returns the bucket in which the sum of weights, from the shortest duration up, reaches `wanted`, and the share
    /// of that bucket's weight that the sum needs. Returns `None` if all weights together are too few.
    pub(crate) fn reach(&self, wanted: u64) -> Option<(Bucket, f64)> {
        let mut seen = 0;
        for (octave, weights) in self.octaves.iter().enumerate() {
            for (bucket, weight) in weights.iter().flat_map(|weights| weights.iter()).enumerate() {
                if *weight > 0 && seen + weight >= wanted {
                    return Some((Self::bucket(octave, bucket), (wanted - seen) as f64 / *weight as f64));
                }
                seen += weight;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_value_has_a_bucket_around_it<const SUB: usize>() {
        for shift in 0..64 {
            for nanos in [1u64 << shift, (1u64 << shift) | (1u64 << shift >> 1), u64::MAX >> (63 - shift)] {
                let (octave, bucket) = Buckets::<SUB>::place(nanos);
                let Bucket { low, width } = Buckets::<SUB>::bucket(octave, bucket);
                assert!(low <= nanos && nanos - low < width, "{nanos} is put into {width} from {low}");
                assert!(width == 1 || width * SUB as u64 <= low, "{width} from {low} is wide");
            }
        }
        assert_eq!(Buckets::<SUB>::place(0), (0, 0));
    }

    #[test]
    fn every_value_has_a_narrow_bucket_around_it() {
        every_value_has_a_bucket_around_it::<128>();
        every_value_has_a_bucket_around_it::<1024>();
    }

    #[test]
    fn weights_are_reached_shortest_duration_first() {
        let mut buckets = Buckets::<128>::default();
        assert_eq!(buckets.reach(1), None);
        buckets.add(1 << 20, 6);
        buckets.add(3, 4);
        assert_eq!(buckets.total(), 10);
        assert_eq!(buckets.reach(4), Some((Bucket { low: 3, width: 1 }, 1.0)));
        let (bucket, share) = buckets.reach(7).unwrap();
        assert_eq!((bucket, share), (Bucket { low: 1 << 20, width: 1 << 13 }, 0.5));
        assert_eq!(buckets.reach(11), None);
    }
}
