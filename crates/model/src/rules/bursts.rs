//! Bursts that meet in a small buffer: the load of flows whose windows the resulting losses keep small.
//!
//! The other rules let a window grow until all windows together fill path and buffer. In a buffer of a few bursts
//! packets are lost long before: two bursts that arrive together are enough. Then load and loss have a fixed point, as
//! in [`crate::fixed_point`], with three differences: packets arrive in bursts, service is deterministic, and windows
//! of a few packets end in timeouts.
//!
//! ```text
//! rho = n lambda(p/m) / C               load of n flows; a burst loses m = max(1, g/3) packets at once
//! x   = (B + 1) / g                     bursts that the system holds, one packet being sent
//! g   = max( min(t, w) max(e, 1/4), min(max(w, 2), 3) )       packets of a burst, in the queue
//! P   = M/D/1/x of rho                  loss where bursts arrive without memory      [smith:pe03]
//! p   = P ( s + (1 - s) e^(-2 x^2/N) )  N = rho C R/g bursts that come once a round trip R     [roberts:cost242]
//! p  >= 1 - 1/rho
//! ```
//! - `lambda` is the full formula of [`crate::pftk`] or the response function of [`crate::response`], whichever is
//!   larger, with timeouts: `s` is the share of time that a flow spends in these.
//! - `t` is the length of a super-packet, and `e` the share of it that waits in the queue. The link sends the rest
//!   while the super-packet arrives at the rate of the sender's line. If two super-packets overlap by chance, more
//!   waits: at least a quarter. An acknowledgement of two packets releases two, or three if the window grows. The
//!   quarter, and the third of a burst that is lost at once, were chosen on simulated paths.
//! - Senders without super-packets, whose packets are acknowledged one by one, send as the link spaces the
//!   acknowledgements, so that no bursts meet. In simulations, 49 CUBIC flows with windows of 5 use 97 % of the link
//!   behind a buffer of two packets.
//! - If every window returns once a round trip, fewer bursts meet than if they came without memory. The factor `e^(-2
//!   x^2/N)` is that of `N` periodic sources (`N D/D/1`): a Brownian bridge replaces the random walk. It does not apply
//!   to flows that wait for a timeout.
//! - Windows whose sum fits into the queue never lose packets. So the utilization by a sawtooth up to this sum is a
//!   lower bound ([`held_utilization`]).
//!
//! **One flow** meets no other burst. Its own super-packet overflows a smaller buffer. The window then grows to the
//! largest burst that the buffer takes. The same holds if a whole window leaves at once. This happens if a receiver
//! sleeps: it takes a while to wake up, and acknowledges all that has arrived meanwhile together.
//!
//! **BBR** does not reduce its window for loss. Several flows offer up to 5/4 of the link `[bbr:draft00 4.3.4.1]`,
//! until a window of two products limits them. In a recovery a flow has four packets under way, or an eighth of its
//! window. If all are lost, it waits for a timeout.
//!
//! Simulations judge the model (`docs/guide/size.md`). Range: hosts with Linux, and buffers of up to some hundred
//! packets, in which nothing else bounds the load. In larger buffers the result is 1, or close to it.

use super::single_flow::{Growth, WindowCycle, held_utilization};
use super::{LARGEST, checked_beta};
use crate::OutOfRange;
use crate::pftk;
use crate::response::{PowerLaw, Protocol, largest};
use crate::root::bracketed;
use units::Span;

/// BBR's largest pacing gain: the largest load that several flows offer, over the capacity `[bbr:draft00 4.3.4.1]`.
const PROBING: f64 = 1.25;
/// The least numbers of packets that a BBR flow has under way, and that it sends at once `[bbr:draft00 4.2.3.4]`.
const BBR_LEAST: (f64, f64) = (4.0, 2.0);
/// The share of its window that a BBR flow has under way in a recovery, chosen on simulated paths.
const BBR_RECOVERY: f64 = 0.125;
/// The least loss rate of the search. Below it bursts do not matter.
const LEAST_LOSS: f64 = 1e-12;
/// The largest loss rate of the search.
const MOST_LOSS: f64 = 0.999;
/// The accuracy of the logarithm of the loss.
const TOLERANCE: f64 = 1e-6;
/// The least share of a burst that waits in the queue, because bursts overlap by chance.
const OVERLAP: f64 = 0.25;
/// The share of a burst that is lost at once, if any is.
const LOST_AT_ONCE: f64 = 1.0 / 3.0;
/// The number of iterations after which the burst agrees with the window.
const STEPS: usize = 6;

/// Identical greedy flows, on the link that they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flows {
    /// `n`, 1 or more.
    pub count: u64,
    /// Their control, by its response function or as BBR.
    pub protocol: Protocol,
    /// `beta`: the share of its window that a flow keeps at a loss.
    pub beta: f64,
    /// `C R`: packets under way on a full link without a queue, above 0 and at most 1e12.
    pub pipe: f64,
    /// `R`: the round-trip time without a queue, above zero.
    pub rtt: Span,
    /// `t`: packets that leave together if the window is large enough; 1 if each leaves by itself.
    pub together: f64,
    /// `e`: the share of these that waits in the queue, from 0 to 1: 1 minus the ratio of the link's rate to the
    /// sender's line rate.
    pub spread: f64,
    /// Packets that the link sends while a sleeping receiver wakes up; 0 if receivers do not sleep.
    pub gathered: f64,
    /// The time without arrivals after which a receiver sleeps, in packets that the link sends in this time.
    pub asleep: f64,
    /// The least retransmission timeout.
    pub timeout: Span,
    /// True if the last packets of a window are probed for after two round trips (RACK-TLP, `[rfc8985]`), so that only
    /// a lost probe ends in a timeout.
    pub probes: bool,
}

/// The consistent state of load and loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// The share of time in which the link sends, in [0, 1].
    pub utilization: f64,
    /// The share of packets that the queue drops, in [0, 1].
    pub loss: f64,
}

/// Returns the loss rate of M/D/1 with `places` bursts in the system, the one being sent included, at the load `load`:
/// the approximation by two moments `[smith:pe03]`.
///
/// ```text
/// P = rho^k (1 - rho) / (1 - rho^(k+1)),   k = (2 K - sqrt(rho)) / (2 - sqrt(rho))
/// ```
/// `rho` = `load` from 0 on, `K` = `places` from 1 on, integer or not. It is exact for `K = 1`, and within a tenth if
/// more than a twentieth is lost. If less is lost, it is too high, or too low by at most 2 %. Above a load of 1 the
/// root in `k` stays 1.
///
/// # Errors
/// If an argument is out of its range.
pub fn deterministic_loss(load: f64, places: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(load >= 0.0 && load.is_finite(), "load", load, "0 or more")?;
    OutOfRange::unless(places >= 1.0 && places.is_finite(), "places", places, "1 or more")?;
    Ok(deterministic(load, places))
}

fn deterministic(load: f64, places: f64) -> f64 {
    let root = load.min(1.0).sqrt();
    memoryless(load, (2.0 * places - root) / (2.0 - root))
}

/// Returns the loss rate of M/M/1 with `places` in the system, integer or not.
fn memoryless(load: f64, places: f64) -> f64 {
    let ln = libm::log(load);
    if ln == 0.0 || ln.abs() * places < 1e-9 {
        return 1.0 / (places + 1.0);
    }
    // Above a load of 1 this form is used, because its powers are at most 1.
    if ln > 0.0 {
        return libm::expm1(-ln) / libm::expm1(-(places + 1.0) * ln);
    }
    libm::expm1(ln) * libm::exp(places * ln) / libm::expm1((places + 1.0) * ln)
}

/// Returns the load that `flows` keep up behind `buffer` packets, and their loss rate.
///
/// # Errors
/// If an argument is out of its range.
pub fn balance(flows: &Flows, buffer: u64) -> Result<Balance, OutOfRange> {
    flows.check()?;
    Ok(flows.balance(buffer as f64))
}

impl Flows {
    fn check(&self) -> Result<(), OutOfRange> {
        checked_beta(self.beta)?;
        OutOfRange::unless(self.count >= 1, "flows", self.count, "1 or more")?;
        let fits = self.pipe > 0.0 && self.pipe <= 1e12;
        OutOfRange::unless(fits, "packets under way", self.pipe, "above 0, and 1e12 at most")?;
        OutOfRange::unless(self.rtt > Span::ZERO, "round-trip time", self.rtt, "above 0")?;
        let fits = self.together >= 1.0 && self.together.is_finite();
        OutOfRange::unless(fits, "packets together", self.together, "1 or more")?;
        super::part("spread", self.spread)?;
        for packets in [self.gathered, self.asleep] {
            OutOfRange::unless(
                (0.0..=1e12).contains(&packets),
                "packets gathered",
                packets,
                "from 0 to 1e12",
            )?;
        }
        Ok(())
    }

    fn balance(&self, buffer: f64) -> Balance {
        if self.together <= 1.0 {
            return Balance { utilization: 1.0, loss: 0.0 };
        }
        match self.protocol {
            Protocol::Bbr => self.bbr(buffer),
            _ if self.count == 1 => self.alone(buffer),
            _ => self.meeting(buffer),
        }
    }

    /// Returns the utilization by windows whose sum fits into the queue, so that no packet is lost.
    fn never_lost(&self, buffer: f64) -> f64 {
        let saw = WindowCycle { growth: Growth::PerRound, beta: self.beta };
        held_utilization(saw, ((buffer + 1.0) / self.pipe).min(LARGEST)).unwrap_or(0.0)
    }

    fn alone(&self, buffer: f64) -> Balance {
        let window = (buffer + 1.0) / self.spread;
        // A receiver sleeps if the link is idle for long enough after a window. The acknowledgement after its sleep
        // releases all packets of a window that arrived while it woke up, so that they leave at once.
        let sleeps = self.pipe > self.asleep && self.pipe + self.gathered - window > self.asleep;
        let whole = window <= self.gathered && sleeps;
        if !whole && self.together.min(self.pipe + buffer) * self.spread <= buffer + 1.0 {
            return Balance { utilization: 1.0, loss: 0.0 };
        }
        let under_way = self.pipe + if whole { self.gathered } else { 0.0 };
        // One packet is lost per cycle. In a cycle the window grows back from the part that a loss leaves.
        let cycle = window * window * (1.0 - self.beta * self.beta) / 2.0;
        let utilization = (1.0 + self.beta) / 2.0 * window / under_way;
        Balance { utilization: utilization.min(1.0), loss: 1.0 / cycle.max(2.0) }
    }

    fn meeting(&self, buffer: f64) -> Balance {
        let laws = self.protocol.laws().unwrap_or_default();
        let excess = |ln: f64| {
            let at = self.at(&laws, buffer, libm::exp(ln));
            libm::log(at.loss.max(LEAST_LOSS / 2.0)) - ln
        };
        let found = bracketed(libm::log(LEAST_LOSS), libm::log(MOST_LOSS), TOLERANCE, excess);
        let Some(root) = found else {
            return Balance { utilization: 1.0, loss: 0.0 };
        };
        let loss = libm::exp(root.at);
        let load = self.at(&laws, buffer, loss).load;
        Balance { utilization: (load * (1.0 - loss)).max(self.never_lost(buffer)).min(1.0), loss }
    }

    /// Returns the load that flows offer if they lose the share `loss`, and the loss rate of the queue at this load.
    fn at(&self, laws: &[PowerLaw], buffer: f64, loss: f64) -> OfferedLoad {
        let mut burst = 3.0;
        let mut sent = FlowLoad { window: 0.0, waiting: 0.0 };
        for _ in 0..STEPS {
            sent = self.sent(laws, (loss / f64::max(1.0, burst * LOST_AT_ONCE)).max(f64::MIN_POSITIVE));
            let now =
                (self.together.min(sent.window) * self.spread.max(OVERLAP)).max(sent.window.clamp(2.0, 3.0));
            burst = (burst * now).sqrt();
        }
        let load = self.count as f64 * sent.window / self.pipe;
        let places = ((buffer + 1.0) / burst).max(1.0);
        let returning = (load * self.pipe / burst).max(1.0);
        let meet = sent.waiting + (1.0 - sent.waiting) * libm::exp(-2.0 * places * places / returning);
        let lost = deterministic(load, places) * meet;
        OfferedLoad { load, loss: if load > 1.0 { lost.max(1.0 - 1.0 / load) } else { lost } }
    }

    /// Returns the sending rate and the waiting time of one flow, if the share `p` of its packets begins a loss event.
    fn sent(&self, laws: &[PowerLaw], p: f64) -> FlowLoad {
        let rtt = self.rtt.as_secs_f64();
        let top = pftk::unlimited_window(p, 1.0);
        let packets = (1.0 - p) / p + top;
        // The packets per round trip without timeouts: those of Reno's sawtooth or those of the response function,
        // whichever are more.
        let pace = (packets / (top / 2.0 + 1.0)).max(libm::exp(largest(laws, libm::log(p), libm::log(rtt))));
        let unseen = pftk::timeout_share(p, top);
        let (probed, ends) = if self.probes { (2.0 * unseen, unseen * p) } else { (0.0, unseen) };
        let timeouts = ends * self.timeout.as_secs_f64() * pftk::backoff(p) / (1.0 - p);
        let time = rtt * (packets / pace + probed) + timeouts;
        FlowLoad { window: packets / time * rtt, waiting: timeouts / time }
    }

    fn bbr(&self, buffer: f64) -> Balance {
        if self.count == 1 {
            return Balance { utilization: 1.0, loss: 0.0 };
        }
        let (flight, together) = BBR_LEAST;
        let products = (buffer / self.pipe).min(1.0);
        let places = ((buffer + 1.0) / together).max(1.0);
        let loss = memoryless(PROBING, places) * (1.0 - products * products);
        let flight = flight.max(self.pipe / self.count as f64 * BBR_RECOVERY);
        let timeouts = libm::pow(loss, flight) * self.timeout.as_secs_f64() / self.rtt.as_secs_f64();
        Balance { utilization: (PROBING * (1.0 - loss) / (1.0 + timeouts)).min(1.0), loss }
    }
}

/// The sending rate and the waiting time of one flow.
struct FlowLoad {
    /// Packets per round trip, timeouts included.
    window: f64,
    /// The share of time that it spends in timeouts.
    waiting: f64,
}

/// The load that all flows offer, and its loss rate.
struct OfferedLoad {
    load: f64,
    loss: f64,
}
