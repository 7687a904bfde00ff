//! Saturation throughput of an 802.11 cell: every station always has a frame to send, and hears all others.
//!
//! Source: Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3),
//! 2000 `[bianchi2000]`. The freeze correction is of Tinnirello, Bianchi and Xiao, "Refinements on IEEE 802.11
//! Distributed Coordination Function Modeling Approaches", IEEE Trans. Vehicular Technology 59(3), 2010
//! `[tinnirello2010]`.
//!
//! Each attempt collides with probability `p`, the first one as well as each retry. A station transmits in a slot with
//! probability `tau`. After `i` failures the counter is drawn from `W_i = min(2^i (CWmin+1), CWmax+1)` values, `b_i` is
//! its mean, and the frame is dropped after `K` attempts:
//!
//! ```text
//! tau = sum_i p^i / sum_i p^i (b_i + 1)        i = 0 .. K-1
//! p   = 1 - (1 - tau)^(n-1)
//! S   = n tau (1-p) payload / ((1-P) slot + Ps Ts + (P - Ps) Tc)     P = 1-(1-tau)^n, Ps = n tau (1-p)
//! ```
//! `Ts` and `Tc` run to the end of the AIFS that follows. The rule of the countdown, [`Countdown`], defines a slot. The
//! fixed point is unique: `tau` falls as `p` rises, so that the bracket [0, 1] holds one root.
//!
//! Left out: stations that are not saturated, losses other than collisions, several functions in one station.
//! [`by_class`] takes several classes of stations. For a TXOP, pass the payload and the exchange of all its frames, and
//! the data time of the first one.

mod after_collision;
mod classes;

pub use classes::{ByClass, by_class};

use crate::root::bisected;
use after_collision::RepeatedCollisions;
use units::{Bytes, Complaint, Rate, Span};

/// The slots in which a backoff counter goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Countdown {
    /// A countdown at every slot boundary, including that of the busy slot: `[bianchi2000]`, and EDCA.
    /// `b_i = (W_i - 1)/2`.
    EveryBoundary,
    /// A countdown in idle slots only, so that the slot after a busy period belongs to the stations that transmitted:
    /// the freeze correction `[tinnirello2010]`, for DCF. A busy slot and the idle one after it are one slot of the
    /// chain. A share `1/W_i` of the attempts draws 0 and immediately follows the previous transmission. After a
    /// success such an attempt is unopposed, as in the source. After a collision of `k` the others of the `k` may draw
    /// 0, too. Such an attempt fails with probability `r`; the source has no such term.
    ///
    /// ```text
    /// f_i  = p (1 - 1/W_i) + r/W_i          a frame fails after i failures; r times the share of dropped frames for i = 0
    /// A_i  = f_0 f_1 .. f_(i-1)
    /// tau  = sum_i A_i (1 - 1/W_i) / sum_i A_i (W_i - 1)/2
    /// S    = F payload / ((1-P) slot + F Ts + (P - Ps + C) Tc + P slot),   F = (Ps + R) W_0/(W_0 - 1)
    /// ```
    /// `R` and `C` are the successes and collisions that immediately follow collisions. Each of `k` collided stations
    /// draws 0 with a probability that is the mean of `1/W_(i+1)`. If one alone does so, it succeeds; several collide
    /// again, as the `k` of the next slot.
    IdleSlots,
}

/// A class of stations with equal parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// `n`, 1 to 100 000.
    pub stations: u32,
    /// `AIFS = SIFS + aifsn slots`; 1 to 255.
    pub aifsn: u32,
    /// `CWmin`; for [`Countdown::IdleSlots`] at least 1.
    pub cw_min: u32,
    /// `CWmax`, `CWmin` to 65 535.
    pub cw_max: u32,
    /// `K`, attempts after which a frame is dropped, 1 to 255; `None` for any number of attempts `[bianchi2000]`.
    pub attempts: Option<u32>,
    /// The payload that a successful access delivers; above zero.
    pub payload: Bytes,
    /// Data frame, SIFS and acknowledgement; above zero.
    pub exchange: Span,
    /// The data frame alone, which is the duration of a collision; above zero, at most `exchange`.
    pub data: Span,
}

/// The parameters that all classes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// `slot`; above zero.
    pub slot: Span,
    /// `SIFS`.
    pub sifs: Span,
    /// The wait after a collision beyond AIFS: 0, or `EIFS - DIFS`.
    pub after_collision: Span,
}

/// The performance of a class in saturation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Payload delivered over time, by all stations of the class.
    pub throughput: Rate,
    /// The share of transmissions that collide.
    pub collision_probability: f64,
    /// The share of frames dropped after `K` attempts.
    pub drop_probability: f64,
    /// `tau`.
    pub attempt_probability: f64,
    /// The share of time that the exchanges of the class take, those that end with an acknowledgement.
    pub airtime_share: f64,
    /// The share of time without a transmission, of the whole cell: interframe spaces and backoff.
    pub idle_share: f64,
    /// The difference between `p` and the collision probability at the `tau` that follows from it.
    pub residual: f64,
    /// Steps of the solver.
    pub iterations: u32,
}

const MOST_STATIONS: u32 = 100_000;
const MOST_AIFSN: u32 = 255;
const MOST_WINDOW: u32 = 65_535;
const MOST_ATTEMPTS: u32 = 255;
/// The most iterations that compute the failure rate after collisions; a few are enough.
const MOST_ROUNDS: u32 = 200;

/// Returns the saturation of one class. [`Countdown::EveryBoundary`] is the model of 2000, with `attempts: None` as
/// printed.
///
/// # Errors
/// If a parameter is out of the range that its documentation states.
pub fn saturation(channel: &Channel, class: &Class, countdown: Countdown) -> Result<Saturation, Complaint> {
    check(channel, class)?;
    if countdown == Countdown::IdleSlots && class.cw_min == 0 {
        let complaint = Complaint::new("cw_min", "0: after its first frame a station would send for ever");
        return Err(complaint.accepted("1 or more where only idle slots count down"));
    }
    let (n, slot) = (f64::from(class.stations), channel.slot.as_secs_f64());
    let others = |tau: f64| 1.0 - libm::pow(1.0 - tau, n - 1.0);
    let solved = |after_collision: f64, dropped: f64| {
        let excess =
            |p: f64| others(class.chain(p, countdown, after_collision, dropped).attempt_probability()) - p;
        let root = bisected(0.0, 1.0, excess);
        (root, class.chain(root.at, countdown, after_collision, dropped), excess(root.at).abs())
    };
    let (mut root, mut chain, mut residual) = solved(0.0, 0.0);
    let mut after_collision = RepeatedCollisions::default();
    if countdown == Countdown::IdleSlots {
        let mut dropped = 0.0;
        for _ in 0..MOST_ROUNDS {
            let next =
                RepeatedCollisions::of(class.stations, chain.attempt_probability().min(1.0), chain.zero);
            let apart = (next.fails - after_collision.fails).abs().max((chain.dropped - dropped).abs());
            (after_collision, dropped) = (next, chain.dropped);
            (root, chain, residual) = solved(after_collision.fails, dropped);
            if apart < 1e-12 {
                break;
            }
        }
    }
    let (p, iterations) = (root.at, root.halvings);
    let tau = chain.attempt_probability();
    let ifs = (channel.sifs + channel.slot * u64::from(class.aifsn)).as_secs_f64();
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let succeeds = class.exchange.as_secs_f64() + ifs;
    let collides = (class.data + channel.after_collision).as_secs_f64() + ifs;
    let collision = (1.0 - idle - success).max(0.0) + after_collision.collisions;
    let first = class.window(0);
    let (success, extra) = match countdown {
        Countdown::EveryBoundary => (success, 0.0),
        // Each success is followed by another one if the station draws 0 again.
        Countdown::IdleSlots => {
            ((success + after_collision.successes) * first / (first - 1.0), (1.0 - idle) * slot)
        }
    };
    let mean = idle * slot + success * succeeds + collision * collides + extra;
    let airtime_share = success * class.exchange.as_secs_f64() / mean;
    Ok(Saturation {
        throughput: Rate::from_bps_f64(success * class.payload.bits_f64() / mean),
        collision_probability: (p * chain.opposed + chain.after_collision) / chain.attempts,
        drop_probability: chain.dropped,
        attempt_probability: tau,
        airtime_share,
        idle_share: 1.0 - airtime_share - collision * class.data.as_secs_f64() / mean,
        residual,
        iterations,
    })
}

/// The sums over the average history of a frame. If frames are never dropped, the sums may be infinite. All are then
/// multiplied by 1 - the failure rate in the largest window, which leaves their ratios unchanged.
struct Chain {
    /// Transmissions.
    attempts: f64,
    /// Transmissions that others may collide with.
    opposed: f64,
    /// Transmissions that immediately follow a collision, and collide again.
    after_collision: f64,
    /// The share of the collided stations that draw 0.
    zero: f64,
    /// Slots.
    slots: f64,
    /// The share of frames dropped.
    dropped: f64,
}

impl Chain {
    /// Returns `tau`.
    fn attempt_probability(&self) -> f64 {
        self.opposed / self.slots
    }
}

impl Class {
    /// Returns the chain for a collision probability of `p`, in [0, 1]. An attempt that immediately follows a collision
    /// fails with probability `after_collision`. `dropped` is the share of frames that end in a drop.
    fn chain(&self, p: f64, countdown: Countdown, after_collision: f64, dropped: f64) -> Chain {
        // Returns three means over attempts after `failures` failures: the share that others may collide with, the
        // slots up to the attempt, and the failure rate of all other attempts.
        let of = |failures: u32| {
            let window = self.window(failures);
            match countdown {
                Countdown::EveryBoundary => (1.0, (window + 1.0) / 2.0, 0.0),
                Countdown::IdleSlots => {
                    let followed = if failures == 0 { dropped } else { 1.0 };
                    (1.0 - 1.0 / window, (window - 1.0) / 2.0, after_collision * followed)
                }
            }
        };
        // After `last` failures the window does not change any more.
        let last = self.doublings().max(1);
        let limit = self.attempts.unwrap_or(u32::MAX);
        let (mut attempts, mut opposed, mut slots, mut reached) = (0.0, 0.0, 0.0, 1.0);
        let (mut at_once, mut failed, mut zero) = (0.0, 0.0, 0.0);
        for failures in 0..last.min(limit) {
            let (share, wait, fails) = of(failures);
            attempts += reached;
            opposed += reached * share;
            slots += reached * wait;
            at_once += reached * (1.0 - share) * fails;
            reached *= p * share + (1.0 - share) * fails;
            failed += reached;
            zero += reached / self.window(if failures + 1 < limit { failures + 1 } else { 0 });
        }
        let (share, wait, follows) = of(last);
        let fails = p * share + (1.0 - share) * follows;
        // From `last` on the sums are geometric series. If frames are never dropped, all sums are multiplied by 1 -
        // `fails`.
        let (scale, rest, dropped) = match self.attempts {
            Some(limit) => {
                let left = limit.saturating_sub(last);
                let series: f64 = (0..left).map(|more| fails.powi(more as i32)).sum();
                (1.0, reached * series, reached * fails.powi(left as i32))
            }
            None => (1.0 - fails, reached, 0.0),
        };
        // After these failures a station draws from the largest window; after a drop it draws from the first one.
        let more = if limit > last { dropped } else { 0.0 };
        let (failed, zero) = (
            scale * failed + rest * fails,
            scale * zero + (rest * fails - more) / self.window(last) + more / self.window(0),
        );
        Chain {
            attempts: scale * attempts + rest,
            opposed: scale * opposed + rest * share,
            after_collision: scale * at_once + rest * (1.0 - share) * follows,
            zero: if failed > 0.0 { zero / failed } else { 0.0 },
            slots: scale * slots + rest * wait,
            dropped,
        }
    }

    /// Returns `W_i`.
    fn window(&self, failures: u32) -> f64 {
        let doubled = u64::from(self.cw_min + 1) << failures.min(32);
        doubled.min(u64::from(self.cw_max) + 1) as f64
    }

    /// Returns the number of failures after which the window is at its largest.
    fn doublings(&self) -> u32 {
        let (low, high) = (u64::from(self.cw_min) + 1, u64::from(self.cw_max) + 1);
        (0..).find(|doublings| low << doublings >= high).unwrap_or(0)
    }
}

fn within(place: &str, value: u32, low: u32, high: u32) -> Result<(), Complaint> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Complaint::new(place, value.to_string()).accepted(format!("{low} to {high}")))
}

/// Checks the ranges that the documentation states.
fn check(channel: &Channel, class: &Class) -> Result<(), Complaint> {
    within("stations", class.stations, 1, MOST_STATIONS)?;
    within("aifsn", class.aifsn, 1, MOST_AIFSN)?;
    within("cw_max", class.cw_max, 0, MOST_WINDOW)?;
    within("cw_min", class.cw_min, 0, class.cw_max)?;
    within("attempts", class.attempts.unwrap_or(1), 1, MOST_ATTEMPTS)?;
    let positive = |place: &str, found: &dyn std::fmt::Display, positive: bool| {
        if positive {
            return Ok(());
        }
        Err(Complaint::new(place, found.to_string()).accepted("more than zero"))
    };
    positive("payload", &class.payload, class.payload > Bytes::ZERO)?;
    positive("slot", &channel.slot, channel.slot > Span::ZERO)?;
    positive("data", &class.data, class.data > Span::ZERO)?;
    if class.exchange < class.data {
        let found = format!("{}, shorter than its data frame of {}", class.exchange, class.data);
        return Err(Complaint::new("exchange", found).accepted("data frame, SIFS and acknowledgement"));
    }
    Ok(())
}
