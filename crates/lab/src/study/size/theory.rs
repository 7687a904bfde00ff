//! The answer of theory: the rules, and the curve that it expects.

use super::answer::{Delay, Point, Rule};
use super::question::Question;
use model::OutOfRange;
use model::fixed_point::{self, Bottleneck, Flow, Queue};
use model::response::Protocol;
use model::rules::bursts;
use model::rules::single_flow::{self, Growth, WindowCycle};
use model::rules::{many_flows, sqrt_n_buffer, tiny_buffer};
use transport::FALLS_ASLEEP;
use units::{Fraction, Rate, Span};

/// The least number of flows for which the square-root rule is made: its source asks for some hundreds.
const MANY: u64 = 300;
/// One flow out of this many is assumed to be out of step with the others. In simulation, 603 CUBIC flows at 6 Gbit/s
/// and 50 ms have 99.2 % utilization with 0.92 BDP/sqrt(n), where independent windows would have 99.9 %. If a ninth of
/// the flows counts as independent, the promised value is below the simulated one.
const IN_STEP: u64 = 9;
/// The window, in packets, below which many losses end in a timeout for want of duplicate acknowledgements. Only
/// [`bursts`] has timeouts.
const SMALL_WINDOW: f64 = 10.0;
/// The number of bursts of several BBR flows that meet in a queue. It was chosen on simulated paths of up to 2 ms. With
/// bursts of 12 packets, three flows at 230 Mbit/s and 700 us have 83 % utilization behind 24 packets and 99.9 % behind
/// 50.
const BBR_BURSTS: f64 = 2.0;
/// The time for which hosts hold packets is mentioned if it is at least this share of the path's round trip.
const MUCH_HELD: f64 = 0.1;
/// Two answers of theory are both mentioned if they differ by at least this factor.
const FAR_APART: f64 = 2.0;
/// 95 % of a normal distribution lie below its mean plus this many standard deviations.
const P95: f64 = 1.645;
/// The segments that CUBIC's cubic grows in a second cubed `[rfc9438:5]`.
const CUBIC_C: f64 = 0.4;
/// The segments by which CUBIC's Reno-friendly window grows per round trip: 3 (1 - beta)/(1 + beta) `[rfc9438:4.3]`.
const FRIENDLY: f64 = 3.0 * 0.3 / 1.7;
/// Scalable's growth per acknowledged segment `[kelly:ccr03]`.
const SCALABLE: f64 = 0.01;

/// The relative difference of two utilizations that is not a difference: both theories say that the link is full.
const ROUNDING: f64 = 1e-6;

/// The behaviour of one flow, as far as theory knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Behaviour {
    /// A window that follows a sawtooth.
    WindowCycle(WindowCycle),
    /// A rate with probes.
    Bbr,
}

/// Returns the behaviour of a flow of `control` whose window is `window` packets at its largest. CUBIC follows
/// whichever of its windows is larger. Controls without a rule here count as Reno, which needs the largest buffer.
pub(super) fn behaviour(control: &str, window: f64, rtt: f64) -> Behaviour {
    match control {
        "bbr" | "bbr3" => Behaviour::Bbr,
        "scalable" => Behaviour::WindowCycle(WindowCycle::SCALABLE),
        "cubic" if cubic_period(window) < friendly_period(window, rtt) => {
            Behaviour::WindowCycle(WindowCycle::CUBIC)
        }
        "cubic" => Behaviour::WindowCycle(WindowCycle::CUBIC_FRIENDLY),
        _ => Behaviour::WindowCycle(WindowCycle::RENO),
    }
}

/// Returns the seconds from a loss until CUBIC's cubic is back at the window before the loss.
fn cubic_period(window: f64) -> f64 {
    libm::cbrt(window * (1.0 - WindowCycle::CUBIC.beta) / CUBIC_C)
}

fn friendly_period(window: f64, rtt: f64) -> f64 {
    window * (1.0 - WindowCycle::CUBIC_FRIENDLY.beta) / FRIENDLY * rtt
}

/// Returns the seconds from a loss to the next, for a flow whose window is `window` at its largest.
pub(crate) fn period(control: &str, window: f64, rtt: f64) -> f64 {
    match behaviour(control, window, rtt) {
        // The probe for the round-trip time comes every 10 s [bbr:draft00 4.3.5].
        Behaviour::Bbr => 10.0,
        Behaviour::WindowCycle(WindowCycle { growth: Growth::Cubic, .. }) => cubic_period(window),
        Behaviour::WindowCycle(WindowCycle { growth: Growth::Exponential, beta }) => {
            -libm::log(beta) / SCALABLE * rtt
        }
        Behaviour::WindowCycle(_) if control == "cubic" => friendly_period(window, rtt).max(rtt),
        Behaviour::WindowCycle(cycle) => (window * (1.0 - cycle.beta) * rtt).max(rtt),
    }
}

/// Returns the share of its packets that a flow loses. A window with a sawtooth loses one packet at each loss.
fn loss(control: &str, window: f64, rtt: f64, buffer: f64) -> f64 {
    match behaviour(control, window, rtt) {
        // In one round trip of eight, a probe at 5/4 of the rate loses the part that a queue of less than a quarter BDP
        // cannot hold.
        Behaviour::Bbr => (0.25 - buffer).max(0.0) / 8.0,
        Behaviour::WindowCycle(cycle) => {
            let mean = window * (1.0 + cycle.beta) / 2.0;
            (rtt / (period(control, window, rtt) * mean)).min(0.5)
        }
    }
}

/// Returns the effects that theory expects of a limit of `packets`, for `flows`.
pub(super) fn expected(question: &Question, flows: u64, packets: u64) -> Point {
    let point = Point::at(question, packets);
    // From here on `packets` counts full packets, as windows do.
    let packets = ((packets as f64 / question.mean_per_full()).round() as u64).max(1);
    let full = |packets: f64| question.drain(packets * question.mean_per_full());
    let path = question.rtt.mean().as_secs_f64() * question.reach(flows);
    // A receiver sleeps while packets of its flow wait in the queue, which is half full in the mean.
    let round = path + full(packets as f64) / 2.0;
    let rtt = path + question.hosts.held(round, flows);
    let reach = rtt / question.rtt.mean().as_secs_f64();
    let buffer = packets as f64 / (question.bdp_packets() * reach);
    let window = question.window(flows) * reach * (1.0 + buffer);
    let burst =
        question.hosts.burst(question.rate, flows, window, Span::from_secs_f64(path), question.packet);
    let reachable = question.hosts.reachable(question.rate, flows);
    let (mut utilization, mut mean, mut p95, mut lost) = (0.0, 0.0, 0.0, 0.0);
    for (control, share) in question.mix.shares() {
        let behaves = behaviour(control, window, rtt);
        // A burst takes its room in the queue; the rest is left for the window's sawtooth.
        let burst = if behaves == Behaviour::Bbr && flows > 1 { BBR_BURSTS * burst } else { burst };
        let room = buffer * (1.0 - burst / packets as f64).max(0.0);
        let (of, waits, longest) = match behaves {
            Behaviour::WindowCycle(cycle) => {
                let spread =
                    in_range(many_flows::window_deviation(cycle.beta)) / f64::from(apart(flows)).sqrt();
                // Flows are neither all in step nor all out of step. The estimates for either case have too little
                // utilization and may have too short delays, so the larger of the two estimates counts.
                (
                    in_range(single_flow::mean_utilization(cycle, room))
                        .max(in_range(many_flows::least_utilization(cycle.beta, apart(flows), room))),
                    in_range(single_flow::mean_backlog(cycle, buffer)).max(buffer / 2.0),
                    in_range(single_flow::backlog_quantile(cycle, buffer, 0.95))
                        .max(buffer.min(buffer / 2.0 + P95 * spread * (1.0 + buffer))),
                )
            }
            // None of several BBR flows measures exactly the rate that the others leave, so their mean utilization is
            // nearer to the least utilization of a single flow. A single flow has a queue in one round trip of eight;
            // several flows keep up to a bandwidth-delay product waiting.
            Behaviour::Bbr if flows == 1 => {
                (in_range(single_flow::bbr_mean_utilization(room)), buffer.min(0.25) / 8.0, buffer.min(0.25))
            }
            Behaviour::Bbr => {
                (in_range(single_flow::bbr_least_utilization(room)), buffer.min(1.0) / 2.0, buffer.min(1.0))
            }
        };
        let of = (of * (packets as f64 / burst).min(1.0)).max(never_lost(behaves, question, reach, packets));
        let met = met(question, flows, rtt, (control, behaves), packets);
        utilization += share * of.min(met.utilization);
        mean += share * waits;
        p95 += share * longest;
        let bursts_decide = met.utilization < of * (1.0 - ROUNDING);
        lost += share * if bursts_decide { met.loss } else { loss(control, window, rtt, buffer) };
    }
    Point {
        utilization: utilization.min(1.0) * reachable,
        queueing_delay_s: Delay { mean: mean * rtt, p95: p95 * rtt },
        loss_rate: lost,
        ..point
    }
}

/// Returns the utilization of windows that together never exceed the queue and the packet being sent.
fn never_lost(behaves: Behaviour, question: &Question, reach: f64, packets: u64) -> f64 {
    match behaves {
        Behaviour::WindowCycle(cycle) => {
            let held = (packets + 1) as f64 / (question.bdp_packets() * reach);
            in_range(single_flow::held_utilization(cycle, held.min(1e6)))
        }
        Behaviour::Bbr => 0.0,
    }
}

/// Returns the utilization and the loss that result from bursts that meet in the queue.
fn met(
    question: &Question,
    flows: u64,
    rtt: f64,
    (control, behaves): (&str, Behaviour),
    packets: u64,
) -> bursts::Balance {
    let (protocol, beta) = match behaves {
        // BBR keeps nearly all of its window at a loss.
        Behaviour::Bbr => (Protocol::Bbr, 0.999),
        Behaviour::WindowCycle(cycle) => (Protocol::named(control).unwrap_or(Protocol::Reno), cycle.beta),
    };
    in_range(bursts::balance(&senders(question, flows, rtt, protocol, beta), packets))
}

/// Returns the flows as senders of bursts, with round trips of `rtt` seconds without a queue. The control `protocol`
/// keeps the share `beta` of its window at a loss.
fn senders(question: &Question, flows: u64, rtt: f64, protocol: Protocol, beta: f64) -> bursts::Flows {
    let (hosts, path) = (&question.hosts, question.rtt.mean().as_secs_f64() * question.reach(flows));
    // The theory is valid up to 1e12 packets, and no link carries more in such a time.
    let sent = |time: f64| (question.rate.as_bps_f64() * time / question.packet.bits_f64()).min(1e12);
    bursts::Flows {
        count: flows,
        protocol,
        beta,
        pipe: sent(rtt),
        rtt: Span::from_secs_f64(rtt),
        together: hosts.super_packet(question.rate, flows, Span::from_secs_f64(path), question.packet),
        spread: hosts.spread(question.rate),
        // The packets that arrive while the receiver wakes up, and while its card gathers.
        gathered: if hosts.waking > Span::ZERO { sent(hosts.most_held()) } else { 0.0 },
        asleep: sent(FALLS_ASLEEP.as_secs_f64()),
        timeout: hosts.timeout,
        probes: hosts.probes,
    }
}

/// Returns the result of a rule for a question's numbers, which are in the rule's range.
fn in_range<T>(found: Result<T, OutOfRange>) -> T {
    found.expect("limits, windows and targets of a question that was checked are in range")
}

/// Returns the number of flows that are assumed to be out of step with each other.
fn apart(flows: u64) -> u32 {
    count(flows / IN_STEP).max(1)
}

/// Describes the assumption that the queue is drop-tail, for a queue that is not.
pub(super) fn policy(question: &Question) -> Option<String> {
    (question.queue != link::queue::DROP_TAIL).then(|| {
        format!(
            "theory knows drop-tail alone, and not that {} drops packets before its limit; simulation knows it",
            question.queue
        )
    })
}

/// Describes the cross traffic that theory leaves out, if there is some.
pub(super) fn traffic(question: &Question) -> Option<String> {
    (question.unresponsive > Rate::ZERO).then(|| {
        format!(
            "theory leaves out the cross traffic of {}, and knows only the mean length of its packets, {} with the flows'",
            question.unresponsive,
            question.mean_packet()
        )
    })
}

/// Describes the range of least limits by theory, from windows nearly all in step to windows all out of step. Returns
/// it only if the limits lie far apart, because simulation may have either.
pub(super) fn range(question: &Question, least: u64) -> Option<String> {
    let rule = |name: &str| {
        let found = rules(question).into_iter().find(|rule| rule.name == name);
        found.and_then(|rule| rule.packets)
    };
    let windows = rule("many flows, least").into_iter().chain(rule("fixed point"));
    let nearest = windows.min().filter(|_| question.flows.least > IN_STEP)?;
    (least as f64 >= FAR_APART * nearest as f64).then(|| {
        format!(
            "by theory the least limit is {least} packets if one flow of {IN_STEP} is out of step with the others, and about {nearest} if \
             all are: simulation may find as little or less. Leave out --quick to simulate"
        )
    })
}

/// Describes the doubt about timeouts, for windows that are too small to avoid them.
pub(super) fn small_windows(question: &Question) -> Option<String> {
    let window = question.window(question.flows.most);
    (window < SMALL_WINDOW).then(|| {
        format!(
            "each of {} flows has {window:.1} packets under way where they fill the link: below {SMALL_WINDOW:.0} many a loss ends in \
             a timeout, which theory estimates roughly: ask simulation",
            question.flows.most
        )
    })
}

/// Describes the time that hosts hold packets, if the path is so short that this time decides.
pub(super) fn hosts(question: &Question) -> Option<String> {
    let (path, flows) = (question.rtt.mean().as_secs_f64(), question.flows.most);
    let held = question.hosts.held(path, flows);
    (held > MUCH_HELD * path).then(|| {
        format!(
            "hosts hold packets for {} of each round trip, as `host = \"linux\"` does, and the path for {}: {:.0} packets are under way on a \
             full link",
            Span::from_secs_f64(held),
            question.rtt.mean(),
            question.bdp_packets() * (1.0 + held / path)
        )
    })
}

/// Returns the effects that theory expects at both ends of the range of flows, of which the worse counts.
pub(super) fn curve(question: &Question, limits: &[u64]) -> Vec<Point> {
    let ends = question.flows;
    let point = |packets: &u64| {
        expected(question, ends.least, *packets).worse(expected(question, ends.most, *packets))
    };
    limits.iter().map(point).collect()
}

fn count(flows: u64) -> u32 {
    u32::try_from(flows).unwrap_or(u32::MAX)
}

/// Returns the results of the rules. Each is applied to the least number of flows, which needs the largest buffer.
pub(super) fn rules(question: &Question) -> Vec<Rule> {
    let (flows, bdp, target) = (question.flows.least, question.bdp_limit(), question.target.get());
    let whole = |packets: f64| packets.is_finite().then_some(packets.ceil() as u64);
    let rtt = question.rtt.mean().as_secs_f64();
    let mut rules = vec![Rule {
        name: "bandwidth-delay product".into(),
        packets: whole(bdp),
        source: "Villamizar and Song 1994",
        fits: flows == 1 && question.mix.has("reno"),
        because: "one Reno flow, or many in step, that never leave the link idle".into(),
    }];
    for (control, _) in question.mix.shares() {
        rules.extend(of_one(question, control, flows, rtt));
    }
    let beta = question.mix.shares().iter().filter_map(|(control, _)| {
        match behaviour(control, question.window(flows), rtt) {
            Behaviour::WindowCycle(cycle) => Some(cycle.beta),
            Behaviour::Bbr => None,
        }
    });
    rules.push(Rule {
        name: "BDP / sqrt(n)".into(),
        packets: whole(
            sqrt_n_buffer(question.rate, question.rtt.mean(), count(flows)).get() as f64
                / question.mean_packet().get() as f64,
        ),
        source: "Appenzeller, Keslassy and McKeown 2004",
        fits: flows >= MANY,
        because: match flows {
            1 => "one window, with which no other is out of step; the source asks for some hundreds".into(),
            _ => format!("{flows} windows out of step; the source asks for some hundreds"),
        },
    });
    // The control with the deepest decrease needs the largest buffer.
    if let Some(beta) = beta.reduce(f64::min) {
        let least = in_range(many_flows::buffer_for_least(beta, count(flows), target));
        rules.push(Rule {
            name: "many flows, least".into(),
            packets: least.and_then(|buffer| whole(buffer * bdp)),
            source: "Appenzeller, Keslassy and McKeown 2004",
            fits: flows >= MANY,
            because: "the same with the target: a packet waits for that share of the time".into(),
        });
    }
    rules.extend(fixed_point(question, flows));
    let (window, share) = (question.window(flows), Fraction::new(target).unwrap_or(Fraction::ONE));
    rules.push(Rule {
        name: "O(log W)".into(),
        packets: tiny_buffer(share, window.max(1.0), share)
            .ok()
            .and_then(|packets| whole(packets * question.mean_per_full())),
        source: "Enachescu, Ganjali, Goel, McKeown and Roughgarden 2006",
        fits: false,
        because: "paced flows that are limited elsewhere and offer the target's load; greedy flows offer more than any link has".into(),
    });
    rules
}

/// Returns the rule of the fixed point of flows and queue, if every control has a response function. Its limit is the
/// least at which the fixed point's utilization meets the target.
fn fixed_point(question: &Question, flows: u64) -> Option<Rule> {
    let of_each = question.mix.counts(flows).into_iter().map(|(control, flows)| {
        let base_rtt = question.rtt.mean() + question.rate.serialization(question.packet);
        let protocol = Protocol::named(control).filter(|protocol| protocol.laws().is_some())?;
        Some(Flow {
            count: count(flows),
            protocol,
            base_rtt,
            packet: question.packet,
            max_window: f64::INFINITY,
        })
    });
    let of_each: Vec<Flow> = of_each.collect::<Option<_>>()?;
    let misses = |limit: u64| {
        let bottleneck = Bottleneck {
            capacity: question.rate,
            unresponsive: Rate::ZERO,
            loss: Fraction::ZERO,
            // The model counts the packet being sent, too.
            packets: limit + 1,
            queue: Queue::DropTail,
        };
        let found = fixed_point::fixed_point(&bottleneck, &of_each).ok()?;
        Some(found.utilization < question.target.get())
    };
    let (mut low, mut high) = (0, question.bdp_packets().ceil() as u64);
    let reached = !misses(high)?;
    while reached && high - low > 1 {
        let middle = low.midpoint(high);
        if misses(middle)? { low = middle } else { high = middle }
    }
    Some(Rule {
        name: "fixed point".into(),
        packets: reached.then_some((high as f64 * question.mean_per_full()).ceil() as u64),
        source: "Barman, Smaragdakis and Matta 2004",
        fits: false,
        because:
            "arrivals without memory at a queue of M/M/1/K, while arrivals of sawtooth windows have memory"
                .into(),
    })
}

/// Returns the rules for one flow of `control`: for its least and its mean utilization.
fn of_one(question: &Question, control: &str, flows: u64, rtt: f64) -> Vec<Rule> {
    let (bdp, target) = (question.bdp_limit(), question.target.get());
    let (least, mean) = match behaviour(control, question.window(flows), rtt) {
        Behaviour::Bbr => {
            (single_flow::bbr_buffer_for_least(target), single_flow::bbr_buffer_for_mean(target))
        }
        Behaviour::WindowCycle(cycle) => {
            (single_flow::buffer_for_least(cycle.beta, target), single_flow::buffer_for_mean(cycle, target))
        }
    };
    let of = |what: &str, buffer: Result<f64, OutOfRange>, source, because: &str| Rule {
        name: format!("one {control} flow, {what}"),
        packets: Some((in_range(buffer) * bdp).ceil() as u64),
        source,
        fits: flows < MANY,
        because: because.into(),
    };
    vec![
        of(
            "least",
            least,
            "Spang, Arslan and McKeown 2021",
            "the rate just after a decrease reaches the target",
        ),
        of(
            "mean",
            mean,
            "integral over the cycle of the same window",
            "the mean over the cycle reaches the target; several flows need as much if they are in step",
        ),
    ]
}
