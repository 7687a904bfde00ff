//! Windows and the queue as fluids against time (`model::fluid`).
//!
//! It covers ten or more greedy flows of Reno, CUBIC or HighSpeed TCP behind drop-tail or RED, if the warm-up covers
//! their start. It takes longer than any other theory, and gives no further numbers of a steady state. So it answers
//! only if a scenario asks for it by name, to have series against time.

use super::Theory;
use super::answer::{Answer, elsewhere, shares};
use super::departure::{self, Departure, Severity};
use super::offered::OfferedLoad;
use super::tight::{crossing, empty_rtt, red};
use crate::run::record::{
    DelayStatistics, FlowSeries, FlowSummary, LinkSeries, Note, Percentiles, RttStatistics, Series, Times,
};
use crate::run::resolve::{Resolved, ResolvedFlow};
use model::OutOfRange;
use model::fluid::{self as theory, AveragedRed, Bottleneck, Class, MOST_CLASSES, Trajectory};
use model::red::Red;
use model::response::Protocol;
use scenario::Column;
use units::{Complaint, Span};

/// The protocols that the equations cover.
const KNOWN: [Protocol; 3] = [Protocol::Reno, Protocol::Cubic, Protocol::HighSpeed];

/// The least number of samples within the measured time, whatever the scenario's sampling interval.
const SAMPLES: f64 = 1000.0;

/// The window, segments, below which timeouts occur, which the equations leave out.
const SMALL_WINDOW: f64 = 4.0;

/// The theory of fluids.
pub(super) struct Fluid;

/// The scenario as the theory sees it.
struct TheoryInput {
    bottleneck: Bottleneck,
    classes: Vec<Class>,
    /// The number of distinct round-trip times of the flows, over all protocols.
    rtts: usize,
    /// The class of each flow of the scenario; `None` if it does not cross the tight link.
    class_of: Vec<Option<usize>>,
    /// A packet on the wire, bytes.
    packet: f64,
    end: f64,
    /// The seconds between two samples of the computed trajectory.
    every: f64,
    /// The number of such intervals between two samples of the series.
    times: usize,
}

impl Theory for Fluid {
    fn name(&self) -> &'static str {
        "fluid"
    }

    fn source(&self) -> &'static str {
        "misra:sigcomm00"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let crossing = crossing(resolved)?;
        let seen = seen(resolved)?;
        seen.check().map_err(placed)?;
        let known = KNOWN.map(Protocol::name);
        let policy = departure::not_drop_tail_or_red(resolved);
        let mut departures =
            departure::of_links(resolved, crossing.iter().copied(), &known, departure::RENO, policy);
        let found =
            format!("{} of them: each window is a sawtooth, and the equations have its mean", crossing.len());
        let mean = "each flow has the mean window of many";
        departures.extend(departure::of_many(resolved, &crossing, &found, mean));
        departures.extend(beyond(resolved, &crossing, &seen));
        if departures.is_empty() {
            // The fixed point has the same limits, since its equations are about the same senders.
            departures.extend(super::fixed_point::limits(resolved, &crossing));
        }
        Ok(departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let seen = seen(resolved)?;
        let TheoryInput { bottleneck, classes, end, every, .. } = &seen;
        let found = theory::trajectory(bottleneck, classes, *end, *every)
            .map_err(|error| Complaint::from(error).help("ask the simulator"))?;
        Ok(seen.answer(resolved, &found))
    }
}

/// Replaces the model's name of a quantity by the key of the scenario.
fn placed(error: OutOfRange) -> Complaint {
    let place = match error.what {
        "capacity" => "link.rate",
        "buffer" => "link.queue.limit",
        "base RTT" => "flow.rtt",
        "sampling interval" => "record.every",
        "max_threshold less min_threshold" | "min_threshold" | "max_probability" | "weight" => "link.queue",
        _ => "duration",
    };
    let help = "shorten the duration, or ask the simulator";
    Complaint { place: place.into(), ..Complaint::from(error) }.help(help)
}

fn protocol(flow: &ResolvedFlow) -> Protocol {
    Protocol::named(&flow.control.name).filter(|named| KNOWN.contains(named)).unwrap_or(Protocol::Reno)
}

/// Groups the flows over the tight link into classes of one protocol and one round-trip time, by their indices in the
/// scenario. If these classes are too many, flows of neighbouring round-trip times share one.
fn members(resolved: &Resolved) -> Vec<Vec<usize>> {
    let flow = |place: usize| &resolved.flows[place];
    let mut members = Vec::new();
    let crossing = (0..resolved.flows.len()).filter(|place| flow(*place).route.contains(&resolved.tight));
    let crossing: Vec<usize> = crossing.collect();
    let of = |known: Protocol| {
        let mut flows = crossing.clone();
        flows.retain(|place| protocol(flow(*place)) == known);
        flows.sort_by_key(|place| flow(*place).base_rtt);
        flows
    };
    let mut of_protocol: Vec<Vec<usize>> = KNOWN.map(of).into();
    of_protocol.retain(|flows| !flows.is_empty());
    let most = MOST_CLASSES / of_protocol.len().max(1);
    for flows in of_protocol {
        let alike: Vec<&[usize]> = flows.chunk_by(|a, b| flow(*a).base_rtt == flow(*b).base_rtt).collect();
        if alike.len() <= most {
            members.extend(alike.into_iter().map(<[_]>::to_vec));
        } else {
            members.extend(flows.chunks(flows.len().div_ceil(most)).map(<[_]>::to_vec));
        }
    }
    members
}

fn seen(resolved: &Resolved) -> Result<TheoryInput, Complaint> {
    let crossing = crossing(resolved)?;
    let end = resolved.end.ok_or_else(|| {
        Complaint::new("duration", "none: windows and queue are followed against time")
            .accepted("a duration")
            .help("write duration = \"60s\"")
    })?;
    let count = crossing.len() as f64;
    let packet = crossing.iter().map(|flow| flow.segment().get() as f64).sum::<f64>() / count;
    let offered = OfferedLoad::new(resolved);
    let capacity = resolved.link.rate.saturating_sub(offered.rate).as_bps_f64() / (8.0 * packet);
    let red = red(resolved).map(|(_, knobs)| AveragedRed {
        curve: Red {
            min_threshold: knobs.min_threshold,
            max_threshold: knobs.max_threshold,
            max_probability: knobs.max_probability,
        },
        weight: knobs.weight,
        gentle: knobs.gentle,
    });
    let members = members(resolved);
    let mut class_of = vec![None; resolved.flows.len()];
    for (class, places) in members.iter().enumerate() {
        places.iter().for_each(|place| class_of[*place] = Some(class));
    }
    let rtt = |place: &usize| resolved.flows[*place].base_rtt;
    let rtts = members.iter().map(|places| places.chunk_by(|a, b| rtt(a) == rtt(b)).count()).sum();
    let class = |places: &Vec<usize>| {
        let flow = |place: usize| &resolved.flows[place];
        let own = |place: &usize| empty_rtt(resolved, flow(*place)).as_secs_f64();
        let base_rtt = places.iter().map(own).sum::<f64>() / places.len() as f64;
        // Each window starts at the flow's share of the path, so that the link is full and the queue empty.
        let window = (capacity * base_rtt / count).max(1.0);
        Class { protocol: protocol(flow(places[0])), flows: places.len() as f64, base_rtt, window }
    };
    let classes: Vec<Class> = members.iter().map(class).collect();
    let (end, asked) = (end.as_secs_f64(), resolved.every.as_secs_f64());
    let measured = end - resolved.warmup.as_secs_f64();
    let least = theory::step(&classes);
    // `times` is as large as the summary needs, but leaves at least a step of the equations between two samples.
    let asked = if resolved.columns.is_empty() { measured / SAMPLES } else { asked };
    let times = (asked * SAMPLES / measured).ceil().min((asked / least).floor()).max(1.0);
    let every = (asked / times).max(least);
    Ok(TheoryInput {
        bottleneck: Bottleneck { capacity, buffer: offered.segments(resolved), red },
        classes,
        rtts,
        class_of,
        packet,
        end,
        every,
        times: times as usize,
    })
}

/// Lists the departures for effects that the equations of fluids leave out.
fn beyond(resolved: &Resolved, crossing: &[&ResolvedFlow], seen: &TheoryInput) -> Vec<Departure> {
    let mut departures = Vec::new();
    let mut depart =
        |is_so: bool, weight, place: String, found: String, accepted: String, assumption: String| {
            if is_so {
                let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
                departures.push(Departure::new(weight, complaint, assumption));
            }
        };
    let first = crossing[0];
    depart(
        resolved.warmup == Span::ZERO,
        Severity::Part,
        "warmup".into(),
        "0s: slow start, which the equations leave out, is measured".into(),
        "a time after which every flow is beyond its slow start".into(),
        "without a slow start, each flow begins with its share of the path".into(),
    );
    let (rtts, classes) = (seen.rtts, seen.classes.len());
    depart(
        rtts > classes,
        Severity::Part,
        first.key("rtt"),
        format!("{rtts} round-trip times: each class of flows is a delay of the equations"),
        format!("{MOST_CLASSES} or fewer, over all controls"),
        format!("{rtts} round-trip times are taken for {classes}, the means of neighbours"),
    );
    if let Some(other) = crossing.iter().find(|flow| flow.segment() != first.segment()) {
        depart(
            true,
            Severity::Part,
            other.key("segment"),
            format!("{} on the wire together with {}", other.segment(), first.segment()),
            "one size of packets".into(),
            "all packets have the mean size".into(),
        );
    }
    let all = seen.bottleneck.capacity * seen.classes.iter().map(|class| class.base_rtt).fold(0.0, f64::max)
        + seen.bottleneck.buffer;
    let flows = crossing.iter().copied();
    let held = departure::held_back(flows, Severity::Part, all, "\"max\", or what path and queue hold");
    departures.extend(departure::random_loss(resolved));
    departures.extend(departure::cross_traffic(resolved));
    departures.extend(held);
    departures
}

/// Sums over the measured time.
struct TimeSums {
    seconds: f64,
    utilization: f64,
    backlog: f64,
    /// Packets that arrived at the queue.
    arrived: f64,
    /// Packets that were dropped.
    dropped: f64,
    /// For each class, the packets of one flow that were not dropped.
    taken: Vec<f64>,
    /// For each class, the window of one flow, integrated over the seconds.
    window: Vec<f64>,
}

impl TheoryInput {
    fn check(&self) -> Result<(), OutOfRange> {
        theory::check(&self.bottleneck, &self.classes, self.end, self.every)
    }

    /// Integrates the trajectory by trapezoids from the end of the warm-up.
    fn means(&self, warmup: f64, found: &Trajectory) -> TimeSums {
        let count = self.classes.len();
        let mut sums = TimeSums {
            seconds: 0.0,
            utilization: 0.0,
            backlog: 0.0,
            arrived: 0.0,
            dropped: 0.0,
            taken: vec![0.0; count],
            window: vec![0.0; count],
        };
        for at in 1..found.t.len() {
            let seconds = found.t[at] - found.t[at - 1];
            if found.t[at - 1] + 0.5 * seconds < warmup {
                continue;
            }
            let area = |value: &dyn Fn(usize) -> f64| 0.5 * (value(at - 1) + value(at)) * seconds;
            sums.seconds += seconds;
            sums.utilization += area(&|i| found.utilization[i]);
            sums.backlog += area(&|i| found.backlog[i]);
            for (index, class) in self.classes.iter().enumerate() {
                let taken = area(&|i| found.rates[index][i] * (1.0 - found.loss[i]));
                let arrived = area(&|i| found.rates[index][i]);
                sums.taken[index] += taken;
                sums.arrived += class.flows * arrived;
                sums.dropped += class.flows * (arrived - taken);
                sums.window[index] += area(&|i| found.windows[index][i]);
            }
        }
        sums
    }

    fn answer(&self, resolved: &Resolved, found: &Trajectory) -> Answer {
        let means = self.means(resolved.warmup.as_secs_f64(), found);
        let seconds = means.seconds.max(f64::MIN_POSITIVE);
        let utilization = means.utilization / seconds;
        let waiting = means.backlog / seconds;
        let delay = waiting / self.bottleneck.capacity;
        let loss = if means.arrived > 0.0 { (means.dropped / means.arrived).clamp(0.0, 1.0) } else { 0.0 };
        // The bytes that the link sends are divided among the flows by their accepted packets, because nearly all of
        // these leave.
        let taken: f64 =
            self.classes.iter().zip(&means.taken).map(|(class, taken)| class.flows * taken).sum();
        let sent = utilization * self.bottleneck.capacity;
        let link_shares = shares(resolved);
        let (mut flows, mut windows) = (Vec::new(), Vec::new());
        for (flow, class) in resolved.flows.iter().zip(&self.class_of) {
            let Some(index) = *class else {
                windows.push(None);
                flows.push(elsewhere(resolved, flow, &link_shares));
                continue;
            };
            let rate = if taken > 0.0 { sent * means.taken[index] / taken } else { 0.0 };
            let payload = flow.payload.get() as f64;
            let base = empty_rtt(resolved, flow).as_secs_f64();
            let goodput = rate * 8.0 * self.packet * payload / flow.segment().get() as f64;
            windows.push(Some(means.window[index] / seconds * payload));
            flows.push(FlowSummary {
                name: flow.name.clone(),
                goodput_bps: goodput,
                loss_rate: Some(loss),
                rtt_s: Some(RttStatistics { min: base, mean: base + delay, p95: None }),
                ..FlowSummary::default()
            });
        }
        let of_link = utilization * self.bottleneck.capacity * 8.0 * self.packet
            + OfferedLoad::new(resolved).rate.as_bps_f64();
        Answer {
            utilization: (of_link / resolved.link.rate.as_bps_f64()).clamp(0.0, 1.0),
            loss_rate: Some(loss),
            backlog_bytes: Some(waiting * self.packet),
            queueing_delay: Some(DelayStatistics {
                mean: delay,
                percentiles: Percentiles::default(),
                max: None,
            }),
            flows,
            windows,
            series: Some(self.series(resolved, found)),
            notes: self.notes(resolved, &means, seconds),
            ..Answer::default()
        }
    }

    /// Returns the columns that the scenario asks for, for the flows that have series.
    fn series(&self, resolved: &Resolved, found: &Trajectory) -> Series {
        let has = |column| resolved.columns.contains(&column);
        let thin = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..found.t.len()).step_by(self.times).map(value).collect()
        };
        let when = |column, value: &dyn Fn(usize) -> f64| if has(column) { thin(value) } else { Vec::new() };
        let t_s: Times =
            if resolved.columns.is_empty() { Times::default() } else { thin(&|i| found.t[i]).into() };
        let one = |place: usize| {
            let flow = &resolved.flows[place];
            let name = flow.name.clone();
            let Some(index) = self.class_of[place] else {
                return FlowSeries { name, ..FlowSeries::default() };
            };
            let payload = flow.payload.get() as f64;
            let bits = 8.0 * self.packet * payload / flow.segment().get() as f64;
            let base = self.classes[index].base_rtt;
            FlowSeries {
                name,
                t_s: t_s.clone(),
                rate_bps: when(Column::Rate, &|i| found.rates[index][i] * (1.0 - found.loss[i]) * bits),
                rtt_s: when(Column::Rtt, &|i| base + found.backlog[i] / self.bottleneck.capacity),
                window_bytes: when(Column::Window, &|i| found.windows[index][i] * payload),
                ..FlowSeries::default()
            }
        };
        let drawn = resolved.sample.clone().unwrap_or_else(|| (0..resolved.flows.len()).collect());
        Series {
            flows: drawn.into_iter().map(one).collect(),
            link: LinkSeries {
                t_s,
                backlog_bytes: when(Column::Backlog, &|i| found.backlog[i] * self.packet),
                ..LinkSeries::default()
            },
            ..Series::default()
        }
    }

    /// Lists the effects that the theory cannot know in any scenario, if they matter.
    fn notes(&self, resolved: &Resolved, means: &TimeSums, seconds: f64) -> Vec<Note> {
        let mut notes: Vec<Note> = vec![
            "each flow is the mean of many: it begins with its share of the path, without slow start, and its window has no sawtooth"
                .into(),
        ];
        if resolved.queue.policy == link::queue::ADAPTIVE_RED {
            notes.push("simple RED: the probability at the upper threshold stays where it starts".into());
        }
        let least = means.window.iter().map(|window| window / seconds).fold(f64::INFINITY, f64::min);
        if least < SMALL_WINDOW {
            let found = format!(
                "a mean window of {least:.1} segments: timeouts, which the equations leave out, set the goodput"
            );
            notes.push(format!("{found}; expect less").into());
        }
        notes
    }
}
