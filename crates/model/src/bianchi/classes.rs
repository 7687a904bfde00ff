//! Classes of stations with different AIFS, windows and frames: EDCA.
//!
//! Source: the method of Tinnirello and Bianchi, "Rethinking the IEEE 802.11e EDCA Performance Modeling Methodology",
//! IEEE/ACM Trans. Networking 18(2), 2010 `[tinnirello2010edca]`, which distinguishes the slots after a busy period.
//! They are numbered `k = 0, 1, …` from the end of the shortest AIFS. A class whose AIFS is `d` slots longer contends
//! from `k = d` on. Its station with a counter of `r` transmits at `k = d + r` if nobody has before. The unknown is the
//! distribution `G(r)` of a station's counter at the moment when the medium becomes idle. The counters of different
//! stations are taken to be independent:
//!
//! ```text
//! Q(k) = product over the other stations of P(d + r > k)        they are silent up to k
//! q(j) = (Q(d+j-1) - Q(d+j))/Q(d-1)                             the first of them is at k = d + j, given that none was before d
//! f(m) = 1 + sum_{j<m} f(m-1-j) q(j)                            a busy period takes j + 1 slots of the counter
//! G(r) ~ sum_i A_i f(W_i-1-r)/W_i                               A_0 = 1, A_(i+1) = A_i sum_r f(W_i-1-r)/W_i q(r)
//! S_c  = n_c sum_r G_c(r) Q_c(d+r) payload / mean length of a busy period and the idle one before it
//! ```
//! A single class is within a percent of [`saturation`](super::saturation), which treats all slots alike.
//!
//! Left out: two functions of one station, whose collisions are internal.

use super::{Channel, Class, Saturation, check, within};
use units::{Complaint, Rate};

/// The saturation of several classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ByClass {
    /// Each class, in the order in which they were given. A class to which the others leave no slot has zero throughput
    /// and zero attempts.
    pub classes: Vec<Saturation>,
    /// The sum of the throughputs.
    pub throughput: Rate,
}

/// The difference in `P(counter > r)` at which the iteration ends.
const TOLERANCE: f64 = 1e-11;
const MOST_ITERATIONS: u32 = 20_000;
/// The share of the computed change that an iteration applies. It is halved while the residual does not fall.
const DAMPING: f64 = 0.5;
/// The largest window: the work rises with its square.
const MOST_WINDOW: u32 = 4095;

/// Returns the saturation of `classes` in one cell, with counters that go down at every boundary.
///
/// # Errors
/// If there are no classes, a parameter is out of the range that its documentation states, a `CWmax` is over 4095, or
/// the iteration does not settle (with its residual).
pub fn by_class(channel: &Channel, classes: &[Class]) -> Result<ByClass, Complaint> {
    for (index, class) in classes.iter().enumerate() {
        let name = |fault: Complaint| Complaint { place: format!("class {index}: {}", fault.place), ..fault };
        check(channel, class).map_err(name)?;
        within("cw_max", class.cw_max, 0, MOST_WINDOW).map_err(name)?;
    }
    let Some(shortest) = classes.iter().map(|class| class.aifsn).min() else {
        return Err(Complaint::new("classes", "none").accepted("one or more"));
    };
    let mut cell = Cell { contenders: classes.iter().map(|class| Contender::new(class, shortest)).collect() };
    let (residual, iterations) = cell.settle()?;
    let silence = cell.silence(None);
    let ifs = (channel.sifs + channel.slot * u64::from(shortest)).as_secs_f64();
    let mut mean = silence.iter().sum::<f64>() * channel.slot.as_secs_f64();
    let (mut successes, mut busy) = (Vec::new(), 0.0);
    for (index, class) in classes.iter().enumerate() {
        let success = cell.success(index);
        let collision = (cell.longest(index) - success).max(0.0);
        mean += success * (class.exchange.as_secs_f64() + ifs)
            + collision * ((class.data + channel.after_collision).as_secs_f64() + ifs);
        busy += success * class.exchange.as_secs_f64() + collision * class.data.as_secs_f64();
        successes.push(success);
    }
    let of = |index: usize| {
        let contender = &cell.contenders[index];
        let step = contender.step(&cell.silence(Some(index)));
        // The mean number of slot boundaries before a busy period at which the class may transmit.
        let boundaries: f64 = contender.eligible(&silence);
        Saturation {
            throughput: Rate::from_bps_f64(successes[index] * classes[index].payload.bits_f64() / mean),
            collision_probability: step.collision_probability,
            drop_probability: step.dropped,
            airtime_share: successes[index] * classes[index].exchange.as_secs_f64() / mean,
            idle_share: 1.0 - busy / mean,
            attempt_probability: if boundaries > 0.0 { (step.attempts / boundaries).min(1.0) } else { 0.0 },
            residual,
            iterations,
        }
    };
    let classes: Vec<_> = (0..classes.len()).map(of).collect();
    let throughput = classes.iter().fold(Rate::ZERO, |sum, class| sum + class.throughput);
    Ok(ByClass { classes, throughput })
}

/// A class, and the counters of its stations.
struct Contender<'a> {
    class: &'a Class,
    /// Slots beyond the shortest AIFS.
    offset: usize,
    /// `G`.
    counters: Vec<f64>,
    /// `P(counter > r)`.
    beyond: Vec<f64>,
}

/// The result of an iteration for one class, from the silence of the other stations.
struct Step {
    counters: Vec<f64>,
    /// Transmissions of one station per busy period.
    attempts: f64,
    collision_probability: f64,
    dropped: f64,
}

impl<'a> Contender<'a> {
    fn new(class: &'a Class, shortest: u32) -> Self {
        let first = class.window(0);
        let counters =
            (0..=class.cw_max).map(|count| if count <= class.cw_min { 1.0 / first } else { 0.0 }).collect();
        let offset = (class.aifsn - shortest) as usize;
        let mut contender = Self { class, offset, counters, beyond: Vec::new() };
        contender.beyond = tails(&contender.counters);
        contender
    }

    /// Returns `P(d + r > k)`, the probability that one station is silent up to `k`.
    fn silent_up_to(&self, k: usize) -> f64 {
        match k.checked_sub(self.offset) {
            None => 1.0,
            Some(count) => self.beyond.get(count).copied().unwrap_or(0.0),
        }
    }

    /// Returns the probability that all of `stations` stations are silent up to `k`.
    fn all_silent_up_to(&self, k: usize, stations: u32) -> f64 {
        libm::pow(self.silent_up_to(k), f64::from(stations))
    }

    /// Returns the mean number of slot boundaries from `d` on before a busy period; `silence` is the `Q` of all
    /// stations.
    fn eligible(&self, silence: &[f64]) -> f64 {
        let before = |k: usize| if k == 0 { 1.0 } else { silence.get(k - 1).copied().unwrap_or(0.0) };
        (self.offset..=silence.len()).map(before).sum()
    }

    /// Computes the distribution of the counters, and the attempts, from `silence`: the `Q` of the other stations.
    fn step(&self, silence: &[f64]) -> Step {
        let quiet = |k: usize| silence.get(k).copied().unwrap_or(0.0);
        let reached = if self.offset == 0 { 1.0 } else { quiet(self.offset - 1) };
        if reached <= 0.0 {
            let counters = self.counters.clone();
            return Step { counters, attempts: 0.0, collision_probability: 0.0, dropped: 0.0 };
        }
        let size = self.counters.len();
        // `q`, up to its last value above zero.
        let mut first = Vec::with_capacity(size);
        let mut before = reached;
        while first.len() < size && before > 0.0 {
            let now = quiet(self.offset + first.len());
            first.push((before - now) / reached);
            before = now;
        }
        // f
        let mut visits: Vec<f64> = Vec::with_capacity(size);
        for room in 0..size {
            let passed = first.iter().take(room).zip(visits.iter().rev()).map(|(q, visits)| q * visits);
            visits.push(1.0 + passed.sum::<f64>());
        }
        let last = self.class.doublings();
        let mut counters = vec![0.0; size];
        let mut arrives = 1.0;
        let stages = self.class.attempts.unwrap_or(last + 1);
        for failures in 0..stages.min(last) {
            let window = self.class.window(failures) as usize;
            add(&mut counters, &visits, window, arrives);
            arrives *= collides(&first, &visits, window);
        }
        let mut dropped = if self.class.attempts.is_some() { arrives } else { 0.0 };
        if stages > last {
            // From here on the window does not grow, so that the sums are geometric series. If frames are never
            // dropped, all sums are multiplied by 1 - `fails`, because they may be infinite.
            let window = self.class.window(last) as usize;
            let fails = collides(&first, &visits, window);
            match self.class.attempts {
                Some(limit) => {
                    let left = limit - last;
                    let series: f64 = (0..left).map(|more| fails.powi(more as i32)).sum();
                    add(&mut counters, &visits, window, arrives * series);
                    dropped = arrives * fails.powi(left as i32);
                }
                None => {
                    counters.iter_mut().for_each(|count| *count *= (1.0 - fails).max(0.0));
                    add(&mut counters, &visits, window, arrives);
                }
            }
        }
        let all: f64 = counters.iter().sum();
        counters.iter_mut().for_each(|count| *count /= all);
        let collisions: f64 = counters.iter().zip(&first).map(|(share, q)| share * q).sum();
        let alone = |(count, share): (usize, &f64)| share * quiet(self.offset + count) / reached;
        let successes: f64 = counters.iter().enumerate().map(alone).sum();
        let tries = collisions + successes;
        Step {
            counters,
            attempts: reached * tries,
            collision_probability: if tries > 0.0 { collisions / tries } else { 0.0 },
            dropped,
        }
    }
}

/// Adds to `counters` those of a backoff stage with `window` values, which a frame reaches `arrives` times on average.
fn add(counters: &mut [f64], visits: &[f64], window: usize, arrives: f64) {
    for (share, visits) in counters[..window].iter_mut().zip(visits[..window].iter().rev()) {
        *share += arrives * visits / window as f64;
    }
}

/// Returns the probability that an attempt from a window of `window` values collides.
fn collides(first: &[f64], visits: &[f64], window: usize) -> f64 {
    let met = first.iter().zip(visits[..window].iter().rev()).map(|(q, visits)| q * visits);
    (met.sum::<f64>() / window as f64).min(1.0)
}

/// Returns `P(counter > r)` of each `r`; exactly 0 for the last.
fn tails(counters: &[f64]) -> Vec<f64> {
    let mut above = 0.0;
    let mut tails: Vec<f64> = counters
        .iter()
        .rev()
        .map(|share| {
            let tail = above;
            above += share;
            tail
        })
        .collect();
    tails.reverse();
    tails
}

struct Cell<'a> {
    contenders: Vec<Contender<'a>>,
}

impl Cell<'_> {
    /// Returns `Q`: for each `k`, the probability that all stations except one of class `but` are silent up to `k`. The
    /// list ends where `Q` is zero.
    fn silence(&self, but: Option<usize>) -> Vec<f64> {
        let end = self.contenders.iter().map(|contender| contender.offset + contender.counters.len()).max();
        let all = |k: usize| -> f64 {
            let of = |(index, contender): (usize, &Contender<'_>)| {
                contender.all_silent_up_to(k, contender.class.stations - u32::from(but == Some(index)))
            };
            self.contenders.iter().enumerate().map(of).product()
        };
        (0..end.unwrap_or(0)).map(all).take_while(|silent| *silent > 0.0).collect()
    }

    /// Returns the probability that a busy period is a success of class `index`.
    fn success(&self, index: usize) -> f64 {
        let contender = &self.contenders[index];
        let silence = self.silence(Some(index));
        let alone = silence.iter().skip(contender.offset).zip(&contender.counters);
        f64::from(contender.class.stations) * alone.map(|(silent, share)| silent * share).sum::<f64>()
    }

    /// Returns the probability that class `index` takes part in a busy period in which no class with longer data frames
    /// takes part. Among equal lengths, the class given first counts as longer.
    fn longest(&self, index: usize) -> f64 {
        let data = |class: usize| (self.contenders[class].class.data, std::cmp::Reverse(class));
        let begins = |k: usize| -> f64 {
            let of = |(other, contender): (usize, &Contender<'_>)| {
                let stations = contender.class.stations;
                let after = contender.all_silent_up_to(k, stations);
                let from = if k == 0 { 1.0 } else { contender.all_silent_up_to(k - 1, stations) };
                match data(other).cmp(&data(index)) {
                    std::cmp::Ordering::Greater => after,
                    std::cmp::Ordering::Equal => from - after,
                    std::cmp::Ordering::Less => from,
                }
            };
            self.contenders.iter().enumerate().map(of).product()
        };
        let contender = &self.contenders[index];
        (contender.offset..contender.offset + contender.counters.len()).map(begins).sum()
    }

    /// Iterates the counters of all classes; returns the residual and the number of iterations.
    fn settle(&mut self) -> Result<(f64, u32), Complaint> {
        let (mut damping, mut least, mut since) = (DAMPING, f64::INFINITY, 0);
        for iteration in 1..=MOST_ITERATIONS {
            let steps: Vec<Step> = self
                .contenders
                .iter()
                .enumerate()
                .map(|(index, contender)| contender.step(&self.silence(Some(index))))
                .collect();
            let mut residual: f64 = 0.0;
            for (contender, step) in self.contenders.iter_mut().zip(&steps) {
                let new = tails(&step.counters);
                for (old, new) in contender.beyond.iter().zip(&new) {
                    residual = residual.max((new - old).abs());
                }
            }
            if residual < TOLERANCE {
                return Ok((residual, iteration));
            }
            // If a hundred iterations have not reduced the residual, their steps are too long.
            if residual < 0.9 * least {
                (least, since) = (residual, 0);
            } else {
                since += 1;
                if since > 100 {
                    (damping, since) = (0.5 * damping, 0);
                }
            }
            for (contender, step) in self.contenders.iter_mut().zip(steps) {
                for (old, new) in contender.counters.iter_mut().zip(step.counters) {
                    *old += damping * (new - *old);
                }
                contender.beyond = tails(&contender.counters);
            }
        }
        let found = format!("no fixed point in {MOST_ITERATIONS} iterations; the residual was {least:.1e}");
        Err(Complaint::new("classes", found).help("ask the simulation"))
    }
}
