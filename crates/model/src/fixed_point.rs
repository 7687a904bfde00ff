//! The fixed point of load, loss and round-trip times where greedy flows share one queue: `[highspeed:III]` behind
//! drop-tail, `[highspeed:IV]` behind RED.
//!
//! Flow `i` sends `lambda_i(p, R_i)` packets per second, its response function over its round-trip time. The queue is
//! M/M/1/K, and its loss `p` and its delay result from the load `rho` that the flows make:
//!
//! ```text
//! rho = (1/C) sum lambda_i(p, R_i) L_i
//! p   = rho^K (1 - rho) / (1 - rho^(K+1))                                     drop-tail
//! R_i = T_i + (L/C) q,    q = rho/(1 - rho) - K rho^K / (1 - rho^K)
//! ```
//! `C` = capacity, `L_i` = a flow's packet, `L` = the mean packet, `T_i` = base round-trip time, `K` = packets that the
//! system holds, the one being sent included. `q` is the number of packets that an admitted one finds. The source
//! prints "rho =" for "p =". Behind RED `p` and `q` are sums over the chain's states ([`Red`]). With drop-tail's
//! probabilities, 0 below `K` and 1 at `K`, these sums are the expressions above.
//!
//! **One point.** `rho` may exceed 1. Both `p` and `q` rise with `rho`; windows fall with `p`; rates fall with the
//! delay, by less than in proportion. So the right side of the first equation falls with `rho`, even if packets differ
//! in length, and equals `rho` once. The search uses `x = ln rho`: the point lies between 0 and the logarithm of the
//! right side at `rho = 1`.
//!
//! **Known limits.** Packets arrive as a Poisson process here, while TCP sends in bursts and flows lose together. In
//! case 1 of the source, with a buffer of a tenth of the bandwidth-delay product, the point has utilizations of 99.5 %
//! (HighSpeed) and 99.3 % (Reno). Simulated HighSpeed flows have 90 % there: `docs/papers/highspeed.md`. Each lost
//! packet counts as a loss event, and timeouts are left out: see [`MOST_LOSS`](crate::response::MOST_LOSS).
//!
//! Reading order: [`Flow`], [`Bottleneck`], [`fixed_point()`], [`FixedPoint`]; `fixed_point/stationary.rs` is the
//! queue at a given load.

mod stationary;

use crate::OutOfRange;
use crate::red::Red;
use crate::response::{PowerLaw, Protocol, largest};
use crate::root::bracketed;
pub use stationary::Lengths;
use stationary::{Stationary, System};
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// A group of identical greedy flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The number of flows, from 1 to 10^9.
    pub count: u32,
    /// The protocol, by its response function.
    pub protocol: Protocol,
    /// `T_i`, above zero. The source uses twice the propagation delay; a packet's own transmission belongs here, too.
    pub base_rtt: Span,
    /// A full packet on the wire, at least one byte.
    pub packet: Bytes,
    /// The largest possible window, in packets, above zero; infinite if only loss limits it.
    pub max_window: f64,
}

/// The link that all flows share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// `C`, at the level of [`Flow::packet`]; above zero.
    pub capacity: Rate,
    /// The rate of other traffic at the queue, which does not respond to loss or delay.
    pub unresponsive: Rate,
    /// The share of the flows' packets that is lost before the queue, whatever its length; below 1.
    pub loss: Fraction,
    /// `K`: packets in the system, the one being sent included; from 1 to 2^53, behind RED to 10^6.
    pub packets: u64,
    /// The queue policy, which decides which packets are dropped before the system is full.
    pub queue: Queue,
}

/// A queue policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// Arrivals are dropped when the system is full.
    DropTail,
    /// Simple RED.
    ///
    /// ```text
    /// pi(n) ~ product over i < n of rho (1 - p(i))        p = sum pi(n) p(n)
    /// ```
    /// `[highspeed:IV]`, after Bonald, May and Bolot 2000: `n` is the current length, and a full system drops every
    /// arrival.
    Red(Red),
}

/// The state that is consistent for the flows and the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    /// `rho`: the arrival rate at the queue over the link's capacity. May exceed 1.
    pub load: f64,
    /// `p`: the share of arriving packets that the queue drops, in (0, 1].
    pub loss: f64,
    /// The share of their packets that the flows lose, in the queue and before it.
    pub path_loss: f64,
    /// The share of time in which the link sends, `rho (1 - p)`, in [0, 1].
    pub utilization: f64,
    /// Packets that wait, averaged over time, the one being sent excluded.
    pub waiting: f64,
    /// The distribution of the queue's length.
    pub lengths: Lengths,
    /// `(L/C) q`: the mean wait of an admitted packet.
    pub queueing_delay: Span,
    /// `L`: the mean length of a packet sent, bytes.
    pub mean_packet: f64,
    /// The share of each flow, in the order of the flows.
    pub flows: Vec<Share>,
    /// The relative excess over `rho` of the load that the flows make: zero except for rounding.
    pub residual: f64,
    /// Steps of the search for the point.
    pub iterations: u32,
}

/// The round trip, the window and the throughput of one flow of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// `R_i`.
    pub rtt: Span,
    /// The average window, packets.
    pub window: f64,
    /// The rate of its delivered packets, on the wire: `lambda_i L_i` without the lost ones.
    pub throughput: Rate,
}

/// The error of a computation without a fixed point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoFixedPoint {
    /// An argument is outside the range of the theory.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A flow's protocol has no response function.
    #[error("{} has no response function: no source gives its window as a function of the loss rate", .0.name())]
    NoResponse(Protocol),
    /// The search ended too early.
    #[error("the search for the fixed point ended after {iterations} steps, {residual:e} of the load apart")]
    NotConverged {
        /// The last residual, as [`FixedPoint::residual`].
        residual: f64,
        /// The number of steps of the search.
        iterations: u32,
    },
}

impl From<NoFixedPoint> for Complaint {
    fn from(error: NoFixedPoint) -> Self {
        match error {
            NoFixedPoint::OutOfRange(range) => range.into(),
            _ => Self::new("", error.to_string()),
        }
    }
}

/// The logarithm of the least loss rate in use: no flow of finite speed can have a lower one.
const LEAST_LN_LOSS: f64 = -600.0;
/// The accuracy of `K ln rho`, which is in the exponent of the loss rate.
const TOLERANCE: f64 = 1e-12;

/// Computes the fixed point of `flows` at `bottleneck`.
///
/// # Errors
/// Returns [`NoFixedPoint`] if an argument is out of range, a protocol has no response function, or the search fails.
pub fn fixed_point(bottleneck: &Bottleneck, flows: &[Flow]) -> Result<FixedPoint, NoFixedPoint> {
    bottleneck.check()?;
    let system = bottleneck.system();
    let senders = Senders::new(bottleneck, flows)?;
    let excess = |x: f64| {
        let queue = system.at(x);
        libm::log(senders.load(&queue, senders.delay(&queue))) - x
    };
    let at_one = excess(0.0);
    // The load falls with x, so the signs of `excess` at x = 0 and at x = at_one differ, and the root lies between
    // these. The margin covers rounding.
    let margin = 1e-9 * (1.0 + at_one.abs());
    let (low, high) = if at_one > 0.0 { (0.0, at_one + margin) } else { (at_one - margin, 0.0) };
    let root = bracketed(low, high, TOLERANCE / system.states(), excess)
        .ok_or(NoFixedPoint::NotConverged { residual: libm::expm1(at_one), iterations: 0 })?;
    let residual = libm::expm1(root.residual);
    if !root.converged {
        return Err(NoFixedPoint::NotConverged { residual, iterations: root.iterations });
    }
    let queue = system.at(root.at);
    let delay = senders.delay(&queue);
    let mean_packet = delay.seconds_per_packet * bottleneck.capacity.as_bps_f64() / 8.0;
    let utilization = -libm::expm1(queue.ln_idle);
    Ok(FixedPoint {
        load: libm::exp(root.at),
        loss: libm::exp(queue.ln_loss),
        utilization,
        path_loss: libm::exp(senders.ln_path_loss(&queue)),
        waiting: utilization * queue.found,
        lengths: system.lengths(root.at),
        queueing_delay: Span::from_secs_f64(delay.seconds),
        mean_packet,
        flows: senders.shares(&queue, delay),
        residual,
        iterations: root.iterations,
    })
}

impl Bottleneck {
    /// Checks that each number is in its range.
    ///
    /// # Errors
    /// Returns the first number that is not in its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let Self { capacity, unresponsive, loss, packets, queue } = *self;
        OutOfRange::unless(capacity > Rate::ZERO, "capacity", capacity, "above 0")?;
        OutOfRange::unless(
            unresponsive < capacity,
            "unresponsive traffic",
            unresponsive,
            "below the capacity",
        )?;
        OutOfRange::unless(loss < Fraction::ONE, "loss before the queue", loss, "below 100%")?;
        let (most, accepted) = match queue {
            Queue::DropTail => (1 << f64::MANTISSA_DIGITS, "from 1 to 2^53"),
            Queue::Red(_) => (1_000_000, "from 1 to 10^6 (RED)"),
        };
        OutOfRange::unless((1..=most).contains(&packets), "packets held", packets, accepted)?;
        if let Queue::Red(Red { min_threshold: min, max_threshold: max, max_probability: most }) = queue {
            OutOfRange::unless(min >= 0.0 && min.is_finite(), "min_threshold", min, "0 or more")?;
            OutOfRange::unless(max > min && max.is_finite(), "max_threshold", max, "above min_threshold")?;
            OutOfRange::unless(most > 0.0 && most <= 1.0, "max_probability", most, "above 0, and 1 at most")?;
        }
        Ok(())
    }

    fn system(&self) -> System {
        match self.queue {
            Queue::DropTail => System::drop_tail(self.packets),
            Queue::Red(red) => System::red(self.packets, &red),
        }
    }
}

/// The flows, represented by the load that they make.
struct Senders<'a> {
    flows: &'a [Flow],
    laws: Vec<Vec<PowerLaw>>,
    /// The capacity of the link, bits per second.
    capacity: f64,
    /// The rate of the unresponsive traffic, bits per second.
    unresponsive: f64,
    /// The share of packets lost before the queue.
    lost: f64,
}

/// A queueing delay.
#[derive(Clone, Copy)]
struct Delay {
    seconds: f64,
    /// `L/C`: the time to send a mean packet.
    seconds_per_packet: f64,
}

impl<'a> Senders<'a> {
    fn new(bottleneck: &Bottleneck, flows: &'a [Flow]) -> Result<Self, NoFixedPoint> {
        OutOfRange::unless(!flows.is_empty(), "number of flows", flows.len(), "1 or more")?;
        let mut laws = Vec::new();
        for flow in flows {
            OutOfRange::unless(
                (1..=1_000_000_000).contains(&flow.count),
                "count of flows",
                flow.count,
                "from 1 to 10^9",
            )?;
            OutOfRange::unless(flow.base_rtt > Span::ZERO, "base round-trip time", flow.base_rtt, "above 0")?;
            OutOfRange::unless(flow.packet > Bytes::ZERO, "packet", flow.packet, "at least one byte")?;
            OutOfRange::unless(flow.max_window > 0.0, "largest window", flow.max_window, "above 0 packets")?;
            laws.push(flow.protocol.laws().ok_or(NoFixedPoint::NoResponse(flow.protocol))?);
        }
        let (capacity, unresponsive) =
            (bottleneck.capacity.as_bps_f64(), bottleneck.unresponsive.as_bps_f64());
        Ok(Self { flows, laws, capacity, unresponsive, lost: bottleneck.loss.get() })
    }

    /// Returns the logarithm of the share of packets that the flows lose: `1 - (1 - p)(1 - l)`, with the loss `l`
    /// before the queue.
    fn ln_path_loss(&self, queue: &Stationary) -> f64 {
        // If nothing is lost before the queue, the logarithm of `p` is not converted, because `p` may be too small for
        // a float.
        if self.lost == 0.0 {
            return queue.ln_loss.max(LEAST_LN_LOSS);
        }
        libm::log(self.lost + (1.0 - self.lost) * libm::exp(queue.ln_loss))
    }

    /// Returns the logarithm of the window of the flow at `index`.
    fn ln_window(&self, index: usize, ln_loss: f64, ln_rtt: f64) -> f64 {
        largest(&self.laws[index], ln_loss, ln_rtt).min(libm::log(self.flows[index].max_window))
    }

    /// Returns, for each group of flows, the packets per second and the bits per second that reach the queue.
    fn rates(&self, queue: &Stationary, delay: f64) -> impl Iterator<Item = (f64, f64)> {
        let (ln_loss, reaching) = (self.ln_path_loss(queue), 1.0 - self.lost);
        self.flows.iter().enumerate().map(move |(index, flow)| {
            let ln_rtt = libm::log(flow.base_rtt.as_secs_f64() + delay);
            let each = libm::exp(self.ln_window(index, ln_loss, ln_rtt) - ln_rtt);
            let packets = f64::from(flow.count) * reaching * each;
            (packets, packets * flow.packet.bits_f64())
        })
    }

    /// Returns `rho`, the load that the flows and the unresponsive traffic make.
    fn load(&self, queue: &Stationary, delay: Delay) -> f64 {
        let bits: f64 = self.rates(queue, delay.seconds).map(|(_, bits)| bits).sum();
        (self.unresponsive + bits) / self.capacity
    }

    /// Returns an admitted packet's wait for the packets that it finds. Their mean length is that of all packets sent.
    /// If lengths differ, it depends on the delay, because each flow's rate does. The consistent delay is unique,
    /// because the mean changes by less than in proportion to the delay.
    fn delay(&self, queue: &Stationary) -> Delay {
        let of = |flow: &Flow| flow.packet.bits_f64() / self.capacity;
        let least = self.flows.iter().map(of).fold(f64::INFINITY, f64::min);
        let largest = self.flows.iter().map(of).fold(0.0, f64::max);
        let mean = |seconds_per_packet: f64| {
            let rates = self.rates(queue, seconds_per_packet * queue.found);
            let (packets, bits) =
                rates.fold((0.0, 0.0), |sums, (packets, bits)| (sums.0 + packets, sums.1 + bits));
            bits / packets / self.capacity
        };
        let seconds_per_packet = if least < largest {
            // Only rounding can put the root outside the bracket, if packets of one length make nearly all of the
            // traffic.
            bracketed(least, largest, 1e-12 * least, |s| mean(s) - s)
                .map_or_else(|| mean(least), |root| root.at)
        } else {
            least
        };
        Delay { seconds: seconds_per_packet * queue.found, seconds_per_packet }
    }

    fn shares(&self, queue: &Stationary, delay: Delay) -> Vec<Share> {
        let ln_loss = self.ln_path_loss(queue);
        let arriving = -libm::expm1(ln_loss);
        let share = |(index, flow): (usize, &Flow)| {
            let rtt = flow.base_rtt.as_secs_f64() + delay.seconds;
            let window = libm::exp(self.ln_window(index, ln_loss, libm::log(rtt)));
            let throughput = Rate::from_bps_f64(window / rtt * flow.packet.bits_f64() * arriving);
            Share { rtt: Span::from_secs_f64(rtt), window, throughput }
        };
        self.flows.iter().enumerate().map(share).collect()
    }
}
