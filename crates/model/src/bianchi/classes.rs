//! Classes of stations with different AIFS, windows and frames: EDCA.
//!
//! Source: Robinson and Randhawa, "Saturation Throughput Analysis of IEEE 802.11e Enhanced Distributed Coordination Function", IEEE JSAC
//! 22(5), 2004 `[robinson2004]`. After a busy period the boundaries are numbered `k = 0, 1, …` from the end of the shortest AIFS. A class
//! with `d` slots more contends from `k = d` on, so that the boundaries fall into zones by the classes `A` that contend there:
//!
//! ```text
//! q_z  = product over A_z of (1 - tau_c)^n_c                    nobody transmits
//! w_z  = sum over k in z of P(boundary k is reached)            by the q before it
//! p_c  = sum_{z >= z_c} w_z (1 - q_z/(1-tau_c)) / sum_{z >= z_c} w_z
//! ```
//! and `tau_c` follows from `p_c` as for one class, with the counter going down at each boundary of the class.
//!
//! Range: a class transmits at each of its boundaries with the same probability here. Where a few stations of small windows contend
//! beside a class whose AIFS is longer by as many slots, they leave it less than the fixed point says; a lone station with `CWmax` below
//! that difference leaves it nothing.

use super::{Channel, Class, Countdown, Saturation, check};
use units::{Complaint, Rate};

/// The saturation of several classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ByClass {
    /// Each class, in the order in which they were given.
    pub classes: Vec<Saturation>,
    /// The sum of the throughputs.
    pub throughput: Rate,
}

/// The difference at which the iteration ends.
const TOLERANCE: f64 = 1e-12;
const MOST_ITERATIONS: u32 = 100_000;
/// Of the step that a plain iteration would make; halved where it does not help.
const DAMPING: f64 = 0.5;

/// A run of boundaries with the same contenders.
struct Zone {
    /// First boundary.
    start: u32,
    /// How many: `None` for the last zone.
    length: Option<u32>,
}

/// The saturation of `classes` in one cell, with counters that go down at every boundary. One class gives what
/// [`saturation`](super::saturation) does.
///
/// # Errors
/// No class, a parameter out of the range that its documentation states, or an iteration that does not settle (with its residual).
pub fn by_class(channel: &Channel, classes: &[Class]) -> Result<ByClass, Complaint> {
    for (index, class) in classes.iter().enumerate() {
        let name = |fault: Complaint| Complaint { place: format!("class {index}: {}", fault.place), ..fault };
        check(channel, class).map_err(name)?;
    }
    let Some(shortest) = classes.iter().map(|class| class.aifsn).min() else {
        return Err(Complaint::new("classes", "none").accepted("one or more"));
    };
    let offsets: Vec<u32> = classes.iter().map(|class| class.aifsn - shortest).collect();
    let cell = Cell { classes, zones: zones(&offsets), offsets };
    let (probabilities, residual, iterations) = cell.solve()?;
    let taus = cell.taus(&probabilities);
    let weights = cell.weights(&taus);
    let ifs = (channel.sifs + channel.slot * u64::from(shortest)).as_secs_f64();
    let mut mean = 0.0;
    let mut successes = vec![0.0; classes.len()];
    for (zone, weight) in cell.zones.iter().zip(&weights) {
        let idle = cell.silence(zone, &taus, None);
        mean += weight * idle * channel.slot.as_secs_f64();
        for (index, class) in classes.iter().enumerate() {
            let success = cell.success(zone, &taus, index);
            successes[index] += weight * success;
            mean += weight * success * (class.exchange.as_secs_f64() + ifs);
            let collision = (cell.longest(zone, &taus, index) - success).max(0.0);
            mean += weight * collision * ((class.data + channel.after_collision).as_secs_f64() + ifs);
        }
    }
    let of = |index: usize| Saturation {
        throughput: Rate::from_bps_f64(successes[index] * classes[index].payload.bits_f64() / mean),
        collision_probability: probabilities[index],
        drop_probability: classes[index].chain(probabilities[index], Countdown::EveryBoundary).dropped,
        attempt_probability: taus[index],
        residual,
        iterations,
    };
    let classes: Vec<_> = (0..classes.len()).map(of).collect();
    let throughput = classes.iter().fold(Rate::ZERO, |sum, class| sum + class.throughput);
    Ok(ByClass { classes, throughput })
}

fn zones(offsets: &[u32]) -> Vec<Zone> {
    let mut starts = offsets.to_vec();
    starts.sort_unstable();
    starts.dedup();
    let next = starts.iter().skip(1).map(|next| Some(*next)).chain([None]);
    let zone =
        |(start, next): (&u32, Option<u32>)| Zone { start: *start, length: next.map(|next| next - start) };
    starts.iter().zip(next).map(zone).collect()
}

struct Cell<'a> {
    classes: &'a [Class],
    /// Slots beyond the shortest AIFS.
    offsets: Vec<u32>,
    zones: Vec<Zone>,
}

impl Cell<'_> {
    fn contends(&self, zone: &Zone, class: usize) -> bool {
        self.offsets[class] <= zone.start
    }

    /// The probability that nobody transmits at a boundary of `zone`; one station of class `but` left out.
    fn silence(&self, zone: &Zone, taus: &[f64], but: Option<usize>) -> f64 {
        let silent = |index: usize| {
            let stations = self.classes[index].stations - u32::from(but == Some(index));
            (1.0 - taus[index]).powf(f64::from(stations))
        };
        (0..self.classes.len()).filter(|index| self.contends(zone, *index)).map(silent).product()
    }

    /// The probability that exactly one station transmits, of class `index`.
    fn success(&self, zone: &Zone, taus: &[f64], index: usize) -> f64 {
        if !self.contends(zone, index) {
            return 0.0;
        }
        f64::from(self.classes[index].stations) * taus[index] * self.silence(zone, taus, Some(index))
    }

    /// The probability that somebody of class `index` transmits, and nobody whose data frame is longer. Of equal lengths, the
    /// class given first counts as longer.
    fn longest(&self, zone: &Zone, taus: &[f64], index: usize) -> f64 {
        if !self.contends(zone, index) {
            return 0.0;
        }
        let data = |class: usize| (self.classes[class].data, std::cmp::Reverse(class));
        let silent = |class: usize| (1.0 - taus[class]).powf(f64::from(self.classes[class].stations));
        let longer: f64 = (0..self.classes.len())
            .filter(|other| self.contends(zone, *other) && data(*other) > data(index))
            .map(silent)
            .product();
        longer * (1.0 - silent(index))
    }

    fn taus(&self, probabilities: &[f64]) -> Vec<f64> {
        let tau =
            |(class, p): (&Class, &f64)| class.chain(*p, Countdown::EveryBoundary).attempt_probability();
        self.classes.iter().zip(probabilities).map(tau).collect()
    }

    /// `w_z`: how many boundaries of each zone a busy period is followed by, on average.
    fn weights(&self, taus: &[f64]) -> Vec<f64> {
        let mut reached = 1.0;
        let weight = |zone: &Zone| {
            let idle = self.silence(zone, taus, None);
            let before = reached;
            let passed = zone.length.map_or(0.0, |length| idle.powf(f64::from(length)));
            reached *= passed;
            before * (1.0 - passed) / (1.0 - idle)
        };
        self.zones.iter().map(weight).collect()
    }

    /// `p` of each class for the `p` assumed.
    fn implied(&self, probabilities: &[f64]) -> Vec<f64> {
        let taus = self.taus(probabilities);
        let weights = self.weights(&taus);
        let of = |index: usize| {
            let (mut met, mut all) = (0.0, 0.0);
            for (zone, weight) in self.zones.iter().zip(&weights) {
                if self.contends(zone, index) {
                    met += weight * (1.0 - self.silence(zone, &taus, Some(index)));
                    all += weight;
                }
            }
            // A class that no boundary is left for would collide, were there one.
            if all > 0.0 { (met / all).clamp(0.0, 1.0) } else { 1.0 }
        };
        (0..self.classes.len()).map(of).collect()
    }

    /// `p` of each class, the residual and the iterations.
    fn solve(&self) -> Result<(Vec<f64>, f64, u32), Complaint> {
        let mut probabilities = vec![0.5; self.classes.len()];
        let (mut damping, mut least, mut since) = (DAMPING, f64::INFINITY, 0);
        for iteration in 1..=MOST_ITERATIONS {
            let implied = self.implied(&probabilities);
            let differences = implied.iter().zip(&probabilities).map(|(new, old)| (new - old).abs());
            let residual = differences.fold(0.0, f64::max);
            if residual < TOLERANCE {
                return Ok((probabilities, residual, iteration));
            }
            // Where a hundred steps have not brought it nearer, they are too long.
            if residual < 0.9 * least {
                (least, since) = (residual, 0);
            } else {
                since += 1;
                if since > 100 {
                    (damping, since) = (0.5 * damping, 0);
                }
            }
            for (old, new) in probabilities.iter_mut().zip(implied) {
                *old += damping * (new - *old);
            }
        }
        let found =
            format!("no fixed point in {MOST_ITERATIONS} iterations; the residual was {least:.1e} at best");
        Err(Complaint::new("classes", found).help("ask the simulation"))
    }
}
