//! Windows and a queue as fluids: many long-lived flows and one queue over time, `[misra:sigcomm00]`.
//!
//! Each flow of a class has the expected window `W`, sends at `x = W/R` and learns of losses one round trip late:
//!
//! ```text
//! R(t)  = T + q(t)/C
//! l(t)  = (1 - exp(-W p)) / R, of one R before    reductions per second of one flow
//! dW/dt = a(W)/R - b(W) W l                      Reno: a = 1, b = 1/2; HighSpeed TCP: [rfc3649:5]
//! dq/dt = sum N x (1-p) - C                      within 0 <= q <= B
//! ```
//! The source has `l = x p`, so that each lost packet is a reduction. Senders reduce once per round trip, for any
//! number of lost packets. So `l` is here the probability that a round trip loses a packet, over `R` `[D]`. If losses
//! are rare, the two are equal.
//!
//! CUBIC has two quantities, the window before its last loss and the time since then, `[vardoyan:infocom18]`:
//!
//! ```text
//! dM/dt = -(M - W) l          ds/dt = 1 - s l
//! W     = max( C_c (s - K)^3 + M,  beta M + alpha s/R ),   K = cbrt(M (1-beta)/C_c)      [rfc9438:4.2, 4.3]
//! ```
//! Drop-tail loses the arrivals above the capacity while the queue is full, `p = 1 - C/A`. RED's probability of a drop
//! depends on the average queue `v`, `dv/dt = -ln(1-w) C (q - v)` `[misra:sigcomm00]`. Arrivals that find the queue
//! full are also dropped.
//!
//! **Range.** Many flows, in congestion avoidance: no slow start, no timeout, no limit by a socket buffer. A class
//! represents its mean, so flows of one class lose together; [`crate::sawtooth`] has a single flow's sawtooth. Real
//! windows of less than a few segments have timeouts.
//!
//! If RED's average would follow the queue in less than one step of the solver, it follows within one step. The windows
//! do not notice the difference.
//!
//! The equations have delays that depend on their solution. They are integrated by a Runge-Kutta method of order four
//! with a fixed step. The step is a part of the shortest round trip, because a full queue bends the solution sharply.

use crate::OutOfRange;
use crate::red::Red;
use crate::response::{Protocol, cubic, highspeed};
use differential_equations::prelude::*;
use units::Complaint;

/// The number of steps within the shortest base RTT.
const STEPS_PER_RTT: f64 = 16.0;
/// The most steps: a few seconds of computing.
const MOST_STEPS: f64 = 2e6;
/// The largest product of three numbers: the steps, the steps that the longest delay reaches back, and the classes. It
/// takes a second or two of computing, because the solver searches its past step by step.
const MOST_WORK: f64 = 4e8;
/// The most classes: each is one delay of the equations.
pub const MOST_CLASSES: usize = 8;

/// A class of identical flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Reno, CUBIC or HighSpeed TCP.
    pub protocol: Protocol,
    /// The number of flows; above zero.
    pub flows: f64,
    /// `T`: the round trip with an empty queue, seconds; above zero.
    pub base_rtt: f64,
    /// The window of each at the start, segments; 1 or more.
    pub window: f64,
}

/// The queue and the link that it drains into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// `C`, packets per second; above zero.
    pub capacity: f64,
    /// `B`, packets that may wait; above zero.
    pub buffer: f64,
    /// The RED that drops before the queue is full; `None` for drop-tail.
    pub red: Option<AveragedRed>,
}

/// Random early detection by the average queue `[red93]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AveragedRed {
    /// The probability as a function of the average, in packets.
    pub curve: Red,
    /// Weight of one packet in the average, above 0 and below 1.
    pub weight: f64,
    /// True if the probability rises from [`Red::max_probability`] to 1 at twice [`Red::max_threshold`]; otherwise it
    /// jumps to 1 at [`Red::max_threshold`].
    pub gentle: bool,
}

impl AveragedRed {
    /// Returns the probability at the average queue `average`.
    #[must_use]
    pub fn probability(&self, average: f64) -> f64 {
        let Red { max_threshold, max_probability, .. } = self.curve;
        if self.gentle && average >= max_threshold && average < 2.0 * max_threshold {
            max_probability + (1.0 - max_probability) * (average - max_threshold) / max_threshold
        } else {
            self.curve.probability(average)
        }
    }
}

/// A sampled solution: index i of every column is sample i.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// Seconds since the start.
    pub t: Vec<f64>,
    /// The window of a flow of each class, segments.
    pub windows: Vec<Vec<f64>>,
    /// The sending rate of a flow of each class, packets per second.
    pub rates: Vec<Vec<f64>>,
    /// Packets waiting.
    pub backlog: Vec<f64>,
    /// The part of the arrivals that is dropped.
    pub loss: Vec<f64>,
    /// The sending rate of the link over its capacity.
    pub utilization: Vec<f64>,
}

/// The error of a computation without a trajectory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// An argument is out of its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// The solver gave up.
    #[error("the equations were not solved: {0}")]
    Unsolved(String),
}

impl From<FluidError> for Complaint {
    fn from(error: FluidError) -> Self {
        match error {
            FluidError::Range(range) => range.into(),
            FluidError::Unsolved(_) => Self::new("", error.to_string()),
        }
    }
}

/// Solves the equations from the start to `end` seconds, and samples the solution each `every` seconds. Before the
/// start the state is that at the start, with an empty queue.
///
/// # Errors
/// Returns [`FluidError`] if an argument is out of its range, or if there are more classes than [`MOST_CLASSES`], or
/// more round trips than can be stepped.
pub fn trajectory(
    bottleneck: &Bottleneck,
    classes: &[Class],
    end: f64,
    every: f64,
) -> Result<Trajectory, FluidError> {
    check(bottleneck, classes, end, every)?;
    let fluid = Fluid { bottleneck, classes };
    match classes.len() {
        1 => fluid.solve::<1>(end, every),
        2 => fluid.solve::<2>(end, every),
        3..=4 => fluid.solve::<4>(end, every),
        _ => fluid.solve::<MOST_CLASSES>(end, every),
    }
}

/// Checks that [`trajectory`] accepts all arguments.
///
/// # Errors
/// Returns the first argument out of its range.
pub fn check(bottleneck: &Bottleneck, classes: &[Class], end: f64, every: f64) -> Result<(), OutOfRange> {
    let above = |what, value: f64| {
        OutOfRange::unless(value > 0.0 && value.is_finite(), what, value, "above zero").map(drop)
    };
    above("capacity", bottleneck.capacity)?;
    above("buffer", bottleneck.buffer)?;
    above("end", end)?;
    above("sampling interval", every)?;
    if let Some(red) = &bottleneck.red {
        let Red { min_threshold, max_threshold, max_probability: p } = red.curve;
        above("max_threshold less min_threshold", max_threshold - min_threshold)?;
        OutOfRange::unless(min_threshold >= 0.0, "min_threshold", min_threshold, "zero or more")?;
        let w = red.weight;
        OutOfRange::unless(p > 0.0 && p <= 1.0, "max_probability", p, "above 0, at most 1")?;
        OutOfRange::unless(w > 0.0 && w < 1.0, "weight", w, "above 0 and below 1")?;
    }
    let count = classes.len();
    OutOfRange::unless((1..=MOST_CLASSES).contains(&count), "classes of flows", count, "from 1 to 8")?;
    for class in classes {
        above("number of flows", class.flows)?;
        above("base RTT", class.base_rtt)?;
        let window = class.window;
        OutOfRange::unless(window >= 1.0 && window.is_finite(), "window", window, "1 segment or more")?;
        let known = [Protocol::Reno, Protocol::HighSpeed, Protocol::Cubic].contains(&class.protocol);
        OutOfRange::unless(known, "protocol", class.protocol.name(), "reno, highspeed or cubic")?;
    }
    let steps = end / step(classes);
    OutOfRange::unless(
        steps <= MOST_STEPS,
        "steps of a sixteenth of the shortest RTT",
        steps,
        "at most 2e6",
    )?;
    let work = steps * longest_delay(bottleneck, classes) / step(classes) * count as f64;
    OutOfRange::unless(work <= MOST_WORK, "steps times steps of the longest delay", work, "at most 4e8")?;
    OutOfRange::unless(
        every >= step(classes),
        "sampling interval",
        every,
        "a sixteenth of the shortest RTT or more",
    )?;
    Ok(())
}

/// Returns the longest round trip with a full queue, seconds.
fn longest_delay(bottleneck: &Bottleneck, classes: &[Class]) -> f64 {
    classes.iter().map(|class| class.base_rtt).fold(0.0, f64::max) + bottleneck.buffer / bottleneck.capacity
}

/// Returns the step of the solver, seconds, which is the least time between samples.
#[must_use]
pub fn step(classes: &[Class]) -> f64 {
    classes.iter().map(|class| class.base_rtt).fold(f64::INFINITY, f64::min) / STEPS_PER_RTT
}

/// The equations of the windows and the queue. Their state is the queue, the average queue, and two numbers for each
/// class: CUBIC's two quantities, or the window and an unused number.
struct Fluid<'a> {
    bottleneck: &'a Bottleneck,
    classes: &'a [Class],
}

/// The state of the queue at one moment.
struct QueueMoment {
    backlog: f64,
    /// Packets that arrive per second.
    arriving: f64,
    /// The part of the arrivals that RED drops.
    early: f64,
    /// The part of the arrivals that is dropped, by RED or because the queue is full.
    loss: f64,
}

impl Fluid<'_> {
    fn start(&self) -> Vec<f64> {
        let mut state = vec![0.0, 0.0];
        for class in self.classes {
            let since = match class.protocol {
                Protocol::Cubic => plateau(class.window),
                _ => 0.0,
            };
            state.extend([class.window, since]);
        }
        state
    }

    fn backlog(&self, state: &[f64]) -> f64 {
        state[0].clamp(0.0, self.bottleneck.buffer)
    }

    fn rtt(&self, index: usize, state: &[f64]) -> f64 {
        self.classes[index].base_rtt + self.backlog(state) / self.bottleneck.capacity
    }

    fn window(&self, index: usize, state: &[f64]) -> f64 {
        let (first, since) = (state[2 + 2 * index], state[3 + 2 * index].max(0.0));
        let window = match self.classes[index].protocol {
            Protocol::Cubic => {
                let before = first.max(1.0);
                let cubic = cubic::C * (since - plateau(before)).powi(3) + before;
                cubic.max(cubic::BETA * before + cubic::ALPHA * since / self.rtt(index, state))
            }
            _ => first,
        };
        window.max(1.0)
    }

    fn rate(&self, index: usize, state: &[f64]) -> f64 {
        self.window(index, state) / self.rtt(index, state)
    }

    fn moment(&self, state: &[f64]) -> QueueMoment {
        let Bottleneck { capacity, buffer, red } = self.bottleneck;
        let sending =
            self.classes.iter().enumerate().map(|(index, class)| class.flows * self.rate(index, state));
        let arriving: f64 = sending.sum();
        let early = red.map_or(0.0, |red| red.probability(state[1]));
        let accepted = arriving * (1.0 - early);
        let full = state[0] >= *buffer && accepted > *capacity;
        let loss = if full { 1.0 - capacity / arriving } else { early };
        QueueMoment { backlog: self.backlog(state), arriving, early, loss }
    }

    /// Returns the sending rate of the link over its capacity.
    fn utilization(&self, moment: &QueueMoment) -> f64 {
        if moment.backlog > 0.0 {
            1.0
        } else {
            (moment.arriving * (1.0 - moment.loss) / self.bottleneck.capacity).min(1.0)
        }
    }

    fn solve<const L: usize>(&self, end: f64, every: f64) -> Result<Trajectory, FluidError> {
        let start = self.start();
        let before = start.clone();
        let longest = longest_delay(self.bottleneck, self.classes);
        let step = step(self.classes);
        let steps = (end / step).ceil();
        let method = ExplicitRungeKutta::rk4(end / steps)
            .max_steps(steps as usize * 2 + 16)
            .max_delay(longest + 4.0 * step);
        let equations = Delayed::<L>(self);
        let solved =
            IVP::dde(&equations, 0.0, end, start, move |_| before.clone()).even(every).method(method).solve();
        let solution = solved.map_err(|error| FluidError::Unsolved(format!("{error:?}")))?;
        let count = self.classes.len();
        let mut out = Trajectory {
            windows: vec![Vec::new(); count],
            rates: vec![Vec::new(); count],
            ..Trajectory::default()
        };
        for (t, state) in solution.iter() {
            if state.iter().any(|value| !value.is_finite()) {
                return Err(FluidError::Unsolved(format!("no number at {t} s")));
            }
            let moment = self.moment(state);
            out.t.push(*t);
            for index in 0..count {
                out.windows[index].push(self.window(index, state));
                out.rates[index].push(self.rate(index, state));
            }
            out.utilization.push(self.utilization(&moment));
            out.backlog.push(moment.backlog);
            out.loss.push(moment.loss);
        }
        Ok(out)
    }
}

/// Returns `K`, the seconds after a loss until CUBIC's window is back at the value `before` `[rfc9438:4.2]`.
fn plateau(before: f64) -> f64 {
    libm::cbrt(before * (1.0 - cubic::BETA) / cubic::C)
}

/// The equations with `L` delays, one for each class. If there are fewer classes, the other delays equal the first
/// class's.
struct Delayed<'a, const L: usize>(&'a Fluid<'a>);

impl<const L: usize> DDE<L, f64, Vec<f64>> for Delayed<'_, L> {
    fn diff(&self, _: f64, state: &Vec<f64>, before: &[Vec<f64>; L], change: &mut Vec<f64>) {
        let Self(fluid) = self;
        let Bottleneck { capacity, buffer, red } = fluid.bottleneck;
        let now = fluid.moment(state);
        let excess = now.arriving * (1.0 - now.early) - capacity;
        change[0] = if state[0] <= 0.0 {
            excess.max(0.0)
        } else if state[0] >= *buffer {
            excess.min(0.0)
        } else {
            excess
        };
        let following =
            |red: AveragedRed| (-libm::log(1.0 - red.weight) * capacity).min(1.0 / step(fluid.classes));
        change[1] = red.map_or(0.0, |red| following(red) * (now.backlog - state[1]));
        for (index, class) in fluid.classes.iter().enumerate() {
            let then = &before[index];
            let lost = fluid.window(index, then) * fluid.moment(then).loss;
            let losses = -libm::expm1(-lost) / fluid.rtt(index, then);
            let (first, since) = (state[2 + 2 * index], state[3 + 2 * index]);
            let window = fluid.window(index, state);
            let (gain, part) = match class.protocol {
                Protocol::Cubic => {
                    change[2 + 2 * index] = -(first - window) * losses;
                    change[3 + 2 * index] = 1.0 - since * losses;
                    continue;
                }
                Protocol::HighSpeed => (highspeed::increment(window), highspeed::decrease(window)),
                _ => (1.0, 0.5),
            };
            change[2 + 2 * index] = gain / fluid.rtt(index, state) - part * window * losses;
            change[3 + 2 * index] = 0.0;
        }
    }

    fn lags(&self, _: f64, state: &Vec<f64>, lags: &mut [f64; L]) {
        let Self(fluid) = self;
        for (index, lag) in lags.iter_mut().enumerate() {
            *lag = fluid.rtt(if index < fluid.classes.len() { index } else { 0 }, state);
        }
    }
}
