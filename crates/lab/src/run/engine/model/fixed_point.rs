//! Many greedy flows at one queue: the fixed point of load, loss and round-trip times (`model::fixed_point`).
//!
//! It covers ten or more greedy flows behind drop-tail or RED, whatever their round-trip times, if their controls have
//! response functions. As in its source, adaptive RED is treated as simple RED, with the thresholds and the probability
//! that it starts with; a note says so.

use super::Theory;
use super::answer::{Answer, elsewhere, shares};
use super::departure::{self, Departure, Severity};
use super::offered::OfferedLoad;
use super::tight::{crossing, empty_rtt, red};
use crate::run::record::{DelayStatistics, FlowSummary, Note, Percentiles, QueueLength, RttStatistics};
use crate::run::resolve::{Resolved, ResolvedFlow};
use model::fixed_point::{self as theory, Bottleneck, Flow, Queue};
use model::response::{MOST_LOSS, Protocol};
use units::{Complaint, Fraction};

/// The protocol that stands for a control without a response function.
const OTHERWISE: Protocol = Protocol::Reno;

/// Returns the names of the congestion controls that have a response function.
pub(super) fn controls() -> impl Iterator<Item = &'static str> {
    Protocol::ALL.into_iter().filter(|protocol| protocol.laws().is_some()).map(Protocol::name)
}

/// The loss rate above which timers expire, as simulations of drawn scenarios show.
const LITTLE_LOSS: f64 = 0.01;

/// The number of round trips, at the longest RTT of the flows, that their start takes.
const START: f64 = 20.0;

/// The theory of the fixed point.
pub(super) struct FixedPoint;

impl Theory for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed point"
    }

    fn source(&self) -> &'static str {
        "highspeed:III"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let crossing = crossing(resolved)?;
        bottleneck(resolved).check()?;
        let known: Vec<&str> = controls().collect();
        let (reno, policy) = ("Reno, by its response function", departure::not_drop_tail_or_red(resolved));
        let mut departures = departure::of_links(resolved, crossing.iter().copied(), &known, reno, policy);
        let found = match crossing.len() {
            1 => "one flow: its packets do not arrive at random".to_owned(),
            count => format!("{count} flows: they lose together rather than one by one"),
        };
        let random = "packets are taken to arrive at random, as those of many flows do";
        departures.extend(departure::of_many(resolved, &crossing, &found, random));
        if departures.is_empty() {
            departures.extend(limits(resolved, &crossing));
        }
        Ok(departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let crossing = crossing(resolved)?;
        let bottleneck = bottleneck(resolved);
        let flows: Vec<Flow> = crossing.iter().map(|flow| described(resolved, flow)).collect();
        let found = theory::fixed_point(&bottleneck, &flows)
            .map_err(|error| Complaint::from(error).help("ask the simulator"))?;
        let (mut found_shares, link_shares) = (found.flows.iter(), shares(resolved));
        let (mut summaries, mut windows) = (Vec::new(), Vec::new());
        for flow in &resolved.flows {
            let share = if flow.route.contains(&resolved.tight) { found_shares.next() } else { None };
            windows.push(share.map(|share| share.window * flow.payload.get() as f64));
            summaries.push(match share {
                Some(share) => summary(flow, share, &found),
                None => elsewhere(resolved, flow, &link_shares),
            });
        }
        let per_packet = found.mean_packet * 8.0 / bottleneck.capacity.as_bps_f64();
        let quantile = |share| found.lengths.waiting(Fraction::new(share).unwrap_or(Fraction::ONE));
        Ok(Answer {
            utilization: found.utilization,
            loss_rate: Some(found.path_loss),
            backlog_bytes: Some(found.waiting * found.mean_packet),
            queue_empty: Some(found.lengths.none_waits()),
            queue_length: Some(QueueLength {
                mean: found.waiting,
                percentiles: Percentiles::of(quantile),
                max: bottleneck.packets - 1,
            }),
            queueing_delay: Some(DelayStatistics {
                mean: found.queueing_delay.as_secs_f64(),
                percentiles: Percentiles::of(|share| Some(quantile(share) as f64 * per_packet)),
                max: None,
            }),
            flows: summaries,
            windows,
            notes: notes(resolved, &found),
            ..Answer::default()
        })
    }
}

fn bottleneck(resolved: &Resolved) -> Bottleneck {
    let offered = OfferedLoad::new(resolved);
    let capacity = resolved.link.rate;
    let room = offered.segments(resolved);
    Bottleneck {
        capacity,
        unresponsive: offered.rate,
        loss: resolved.link.loss,
        packets: room as u64 + 1,
        queue: red(resolved).map_or(Queue::DropTail, |(red, _)| Queue::Red(red)),
    }
}

/// Lists the limits beyond which the fixed point departs from the behaviour of packets, found by simulation of drawn
/// scenarios (`lab/tests/bands.rs`). A published result has none of these departures, because its claims judge it.
pub(super) fn limits(resolved: &Resolved, crossing: &[&ResolvedFlow]) -> Vec<Departure> {
    let flows: Vec<Flow> = crossing.iter().map(|flow| described(resolved, flow)).collect();
    let found = theory::fixed_point(&bottleneck(resolved), &flows).ok().filter(|_| resolved.source.is_none());
    let Some(found) = found else { return Vec::new() };
    let mut departures = Vec::new();
    let mut depart = |is_so: bool, place: String, found: String, accepted: &str, assumption: &str| {
        if is_so {
            let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
            departures.push(Departure::new(Severity::Part, complaint, assumption));
        }
    };
    let loss = 100.0 * found.path_loss;
    depart(
        found.path_loss > LITTLE_LOSS,
        crossing[0].key("count"),
        format!("a loss of {loss:.1} %, at which timers expire"),
        "fewer flows, or a faster link",
        "no timer expires",
    );
    let turns = found.flows.iter().map(|flow| flow.rtt.as_secs_f64()).fold(0.0, f64::max) * START;
    let last = crossing.iter().map(|flow| flow.start.as_secs_f64()).fold(0.0, f64::max);
    depart(
        last + turns > resolved.warmup.as_secs_f64(),
        "warmup".into(),
        format!("a start of {turns:.1} s, which is measured"),
        "a longer warm-up",
        "the start of the flows is not measured",
    );
    depart(
        crossing.iter().any(|flow| flow.control.name == "cubic"),
        crossing[0].key("control"),
        "cubic, whose windows vary more than its response function says".into(),
        "reno, highspeed, or scalable",
        "cubic has the mean window of its response function",
    );
    depart(
        crossing.iter().any(|flow| flow.transport.host.gathers()),
        crossing[0].key("host"),
        "hosts that take segments together".into(),
        "\"rfc\"",
        "hosts send and acknowledge segment by segment",
    );
    depart(
        !resolved.traffic.is_empty() || resolved.link.loss > Fraction::ZERO,
        "traffic".into(),
        "losses or traffic that do not respond to the queue".into(),
        "flows alone",
        "traffic that does not respond to the queue has packets like the flows'",
    );
    departures
}

fn described(resolved: &Resolved, flow: &ResolvedFlow) -> Flow {
    let segment = flow.segment();
    Flow {
        count: 1,
        protocol: Protocol::named(&flow.control.name)
            .filter(|known| known.laws().is_some())
            .unwrap_or(OTHERWISE),
        base_rtt: empty_rtt(resolved, flow),
        packet: segment,
        max_window: flow
            .per_round_trip()
            .map_or(f64::INFINITY, |buffer| (buffer / flow.payload).max(1) as f64),
    }
}

fn summary(flow: &ResolvedFlow, share: &theory::Share, found: &theory::FixedPoint) -> FlowSummary {
    let goodput =
        share.throughput.scale(flow.payload.get() as f64 / flow.segment().get() as f64).as_bps_f64();
    let arriving = share.throughput.as_bps_f64() / flow.segment().bits_f64();
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: goodput,
        loss_rate: Some(found.path_loss),
        rtt_s: Some(RttStatistics {
            min: (share.rtt.saturating_sub(found.queueing_delay)).as_secs_f64(),
            mean: share.rtt.as_secs_f64(),
            p95: None,
        }),
        // Little's law gives the mean number of waiting packets.
        backlog_packets: Some(arriving * found.queueing_delay.as_secs_f64()),
        ..FlowSummary::default()
    }
}

/// Lists the effects that the theory cannot know in any scenario, if they matter.
fn notes(resolved: &Resolved, found: &theory::FixedPoint) -> Vec<Note> {
    let mut notes: Vec<Note> = vec![
        format!(
            "load {:.6}: arrivals are taken for a Poisson process; flows that lose together use less of a small buffer",
            found.load
        )
        .into(),
    ];
    if let Some((red, knobs)) = red(resolved) {
        let adaptive = if resolved.queue.policy == link::queue::RED {
            ""
        } else {
            "the probability stays where it starts, "
        };
        notes.push(
            format!(
                "simple RED: drops go by the queue's length now, not by its average; {adaptive}{} at {:.0} packets{}",
                Fraction::new(red.max_probability).unwrap_or(Fraction::ONE),
                knobs.max_threshold,
                if knobs.gentle { ", and all beyond" } else { "" },
            )
            .into(),
        );
    }
    if found.path_loss > MOST_LOSS {
        notes.push(
            format!(
                "a loss of {:.1} %: timeouts, which response functions leave out, set the goodput; expect less",
                100.0 * found.path_loss
            )
            .into(),
        );
    }
    notes
}
