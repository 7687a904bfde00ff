//! The rate of the bottleneck, from the spacing of what came through it.
//!
//! Packets of one flow that stood in a queue one behind the other leave it at the bottleneck's rate. Hosts take packets
//! in lumps, so short windows scatter around that rate, and windows with pauses of the sender fall below it. So rates are
//! counted in windows of several lengths, which begin anew after a pause, and the most frequent rate of the upper half
//! counts. [`Trains`] are evidence that a rate is the path's and not the sender's.

use units::Rate;

/// The lengths of windows, in full segments.
const LENGTHS: [u64; 5] = [4, 8, 32, 128, 512];
/// The durations of windows that are counted apart, as lower bounds in nanoseconds.
const DURATIONS: [u64; 4] = [500_000, 2_000_000, 8_000_000, 32_000_000];
/// The least rate of the histogram, bit/s, and the width of a bin.
const LEAST_RATE: f64 = 8_000.0;
const WIDTH: f64 = 0.01;
const BINS: usize = 1800;
/// A gap is a pause if it is this much longer than the bytes before it took, and at least so long. Hosts take packets
/// in lumps of up to a millisecond.
const PAUSE: u128 = 4;
const LEAST_PAUSE: u64 = 1_000_000;
/// The bins to each side of a rate that count for it.
const NEAR: usize = 3;
/// The windows near a rate from which it counts, and the part of the upper half that they must be.
const ENOUGH: u32 = 4;
const LEAST_SHARE: u32 = 3;
/// The ratio by which a rate of shorter windows is the right one: longer windows have pauses.
const HIGHER: f64 = 1.2;

/// A counter of rates.
#[derive(Clone, Debug)]
pub(super) struct RateMeter {
    windows: [Option<(u64, u64)>; LENGTHS.len()],
    counts: Vec<u16>,
    /// The time and the bytes of the last packet.
    last: (u64, u64),
}

impl Default for RateMeter {
    fn default() -> Self {
        Self { windows: [None; LENGTHS.len()], counts: vec![0; BINS * DURATIONS.len()], last: (0, 0) }
    }
}

impl RateMeter {
    /// Observes that `bytes` in total had come at `at`; a full segment has `full` bytes.
    pub(super) fn observe(&mut self, at: u64, bytes: u64, full: u64) {
        // The shortest window that has some bytes says how fast they come.
        let (gap, length) = (at.saturating_sub(self.last.0), bytes.saturating_sub(self.last.1));
        let before =
            self.windows.iter().flatten().find(|(_, had)| self.last.1.saturating_sub(*had) >= 2 * full);
        if let Some(&(start, had)) = before.filter(|_| gap >= LEAST_PAUSE) {
            let (took, came) = (self.last.0.saturating_sub(start), self.last.1.saturating_sub(had));
            if u128::from(gap) * u128::from(came) > PAUSE * u128::from(took) * u128::from(length.max(full)) {
                self.restart();
            }
        }
        self.last = (at, bytes);
        for (window, length) in self.windows.iter_mut().zip(LENGTHS) {
            match *window {
                Some((start, had)) if bytes.saturating_sub(had) >= length * full => {
                    count(&mut self.counts, bytes.saturating_sub(had), at.saturating_sub(start));
                    *window = Some((at, bytes));
                }
                Some(_) => {}
                None => *window = Some((at, bytes)),
            }
        }
    }

    /// Begins all windows anew, for instance after losses.
    pub(super) fn restart(&mut self) {
        self.windows = [None; LENGTHS.len()];
    }

    /// Returns the rate.
    pub(super) fn estimate(&self) -> Option<Rate> {
        let (mut best, mut weight) = (None::<(f64, u32, u32)>, 256);
        for counts in self.counts.chunks(BINS).rev() {
            let Some((rate, support)) = plateau(counts) else { continue };
            weight /= 4;
            let better = match best {
                None => true,
                // Shorter windows scatter more, but only they fit between the pauses of a sender.
                Some((had, windows, weighted)) => {
                    support * weight > weighted || (rate > had * HIGHER && support * 8 >= windows)
                }
            };
            if better {
                best = Some((rate, support, support * weight));
            }
        }
        best.map(|(rate, ..)| Rate::from_bps_f64(rate))
    }
}

/// The full segments of a train, and the most trains that are kept.
const TRAIN: u64 = 8;
const MOST_TRAINS: usize = 64;
/// The parts of four of the time between acknowledgements in which the path spread data that left together.
const SPREAD: u64 = 3;
/// The trains near a rate from which it is the path's, and their part of all trains.
const ENOUGH_TRAINS: usize = 4;
const LEAST_TRAINS: usize = 3;
/// The distance of a train's rate from another within which they are the same.
const SAME: f64 = 0.06;

/// Trains of segments that left faster than their acknowledgements came, as those of slow start do: the path spread
/// them, and not the sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Trains {
    /// The time, the bytes acknowledged, and the time at which the newest of them was sent.
    start: Option<(u64, u64, u64)>,
    rates: Vec<f64>,
}

impl Trains {
    /// Observes that `bytes` in total were acknowledged at `at`, the newest of which left at `sent`.
    pub(super) fn observe(&mut self, at: u64, bytes: u64, sent: Option<u64>, full: u64) {
        let Some(sent) = sent else {
            self.start = None;
            return;
        };
        let Some((began, had, left)) = self.start else {
            self.start = Some((at, bytes, sent));
            return;
        };
        let came = bytes.saturating_sub(had);
        if came < TRAIN * full {
            return;
        }
        let (took, leaving) = (at.saturating_sub(began), sent.saturating_sub(left));
        let is_spread = leaving.saturating_mul(4) <= took.saturating_mul(SPREAD);
        if is_spread && took >= DURATIONS[0] && self.rates.len() < MOST_TRAINS {
            self.rates.push(came as f64 * 8e9 / took as f64);
        }
        self.start = Some((at, bytes, sent));
    }

    /// Returns true if enough trains came at this rate.
    pub(super) fn confirm(&self, rate: Rate) -> bool {
        let is_near = |&&train: &&f64| (train / rate.as_bps_f64() - 1.0).abs() <= SAME;
        let near = self.rates.iter().filter(is_near).count();
        near >= ENOUGH_TRAINS && near * LEAST_TRAINS >= self.rates.len()
    }
}

fn count(counts: &mut [u16], bytes: u64, duration: u64) {
    let Some(class) = DURATIONS.iter().rposition(|&least| duration >= least) else { return };
    let rate = bytes as f64 * 8e9 / duration as f64;
    let bin = (libm::log(rate / LEAST_RATE) / WIDTH).max(0.0) as usize;
    let bin = &mut counts[class * BINS + bin.min(BINS - 1)];
    *bin = bin.saturating_add(1);
}

/// Finds the most frequent rate of the upper half of a histogram, with the windows near it.
fn plateau(counts: &[u16]) -> Option<(f64, u32)> {
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut below = 0;
    let median = counts.iter().position(|&count| {
        below += u64::from(count);
        below * 2 >= all.max(1)
    })?;
    let near = |bin: usize| bin.saturating_sub(NEAR)..(bin + NEAR + 1).min(counts.len());
    let support = |bin: usize| counts[near(bin)].iter().map(|&count| u32::from(count)).sum::<u32>();
    let mode = (median..counts.len()).max_by_key(|&bin| support(bin))?;
    let sum = support(mode);
    let upper: u32 = counts[median..].iter().map(|&count| u32::from(count)).sum();
    if sum < ENOUGH || sum * LEAST_SHARE < upper {
        return None;
    }
    let mean =
        near(mode).map(|bin| (bin as f64 + 0.5) * f64::from(counts[bin])).sum::<f64>() / f64::from(sum);
    Some((LEAST_RATE * libm::exp(mean * WIDTH), sum))
}
