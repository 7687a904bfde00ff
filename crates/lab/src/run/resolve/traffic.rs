//! `[[traffic]]` in numbers: arrival processes, traces, populations of users.

use super::files::Files;
use super::flow::{ResolvedFlow, transfers};
use super::shaper::Hosts;
use super::ways::Directions;
use super::{Resolved, trace};
use link::traffic::{Pattern, TrafficConfig};
use scenario::spec::{self, Volume};
use scenario::{Scenario, Spread};
use sim::{SessionSize, TrafficPlan};
use units::random::Distribution;
use units::{Complaint, Span, Time};

/// A population of users in numbers.
#[derive(Clone, Debug)]
pub struct ResolvedSessions {
    /// The index of its `[[traffic]]` table in the scenario.
    pub entry: usize,
    /// Its name.
    pub name: String,
    /// The size of a session.
    pub size: SessionSize,
    /// Seconds between the end of a session and the beginning of the user's next.
    pub think: Distribution,
    /// True if a SYN passes the link before the data.
    pub handshake: bool,
    /// The parameters of each user's connection.
    pub connections: Vec<ResolvedFlow>,
}

/// Resolves the populations of a scenario.
pub(super) fn sessions(
    scenario: &Scenario,
    directions: &Directions<'_>,
    hosts: &Hosts<'_>,
) -> Vec<ResolvedSessions> {
    let population = |sessions: &spec::Sessions| ResolvedSessions {
        entry: sessions.entry,
        name: sessions.flow.name.clone(),
        size: size(&sessions.session),
        think: distribution(&sessions.think, Span::as_secs_f64),
        handshake: sessions.handshake,
        connections: transfers(scenario, &sessions.flow, ("traffic", sessions.entry), directions, hosts),
    };
    scenario.sessions.iter().map(population).collect()
}

fn size(session: &Spread<Volume>) -> SessionSize {
    let some = match session {
        Spread::All(volume) | Spread::Uniform(volume, _) | Spread::Exponential(volume) => Some(volume),
        Spread::Pareto { mean, .. } | Spread::ParetoQuantiles { mean, .. } => Some(mean),
        Spread::List(volumes) => volumes.first(),
    };
    let counts = distribution(session, |volume| volume.count() as f64);
    match some {
        Some(Volume::Bytes(_)) => SessionSize::Bytes(counts),
        _ => SessionSize::Packets(counts),
    }
}

/// Converts a spread from which values are drawn repeatedly. Lists and quantiles do not occur, because the scenario's
/// reader refuses them for such a key.
fn distribution<T: Copy>(spread: &Spread<T>, number: impl Fn(T) -> f64) -> Distribution {
    match spread {
        Spread::All(value) => Distribution::Constant(number(*value)),
        Spread::Uniform(low, high) => Distribution::Uniform(number(*low), number(*high)),
        Spread::Exponential(mean) => Distribution::Exponential(number(*mean)),
        Spread::Pareto { shape, mean } | Spread::ParetoQuantiles { shape, mean } => {
            Distribution::Pareto { shape: *shape, mean: number(*mean) }
        }
        Spread::List(values) => Distribution::Constant(values.first().map_or(0.0, |value| number(*value))),
    }
}

/// The unresponsive traffic of a scenario.
pub(super) struct Unresponsive {
    /// The arrival processes, replays last.
    pub(super) traffic: Vec<TrafficPlan>,
    /// The fingerprints of the traces.
    pub(super) contents: Vec<u64>,
    /// Remarks on the files of the traces.
    pub(super) notes: Vec<String>,
}

/// Resolves the arrival processes, and reads the traces.
pub(super) fn traffic(
    scenario: &Scenario,
    files: &dyn Files,
    directions: &Directions<'_>,
    hosts: &Hosts<'_>,
) -> Result<Unresponsive, Vec<Complaint>> {
    let mut all: Vec<_> = scenario.traffic.iter().map(|traffic| source(traffic, directions, hosts)).collect();
    let (mut contents, mut notes, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
    for replay in &scenario.replays {
        match trace::read(files, replay) {
            Ok((trace, remarks)) => {
                contents.push(trace.fingerprint());
                notes.extend(remarks);
                let (start, stop) = (Time::ZERO + replay.start, stop(replay.stop));
                let config = TrafficConfig::replay(trace, replay.repeat, start, stop);
                let route = directions.there(&replay.path, replay.direction);
                let marking = hosts.numbers(&replay.marking);
                all.push(TrafficPlan { name: replay.name.clone(), config, route, marking });
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    if complaints.is_empty() { Ok(Unresponsive { traffic: all, contents, notes }) } else { Err(complaints) }
}

impl Resolved {
    /// Returns remarks on the traces: on their files, and on those that end before a run that lasts until `end`.
    #[must_use]
    pub fn trace_notes(&self, end: Option<Span>) -> Vec<String> {
        let ends = self.traffic.iter().filter_map(|traffic| {
            let TrafficConfig { start, stop, .. } = traffic.config;
            let Pattern::Replay { trace, repeat: false } = &traffic.config.pattern else { return None };
            let last = start + trace.duration();
            let end = (Time::ZERO + end?).min(stop);
            // A capture that was cut to the duration of the run ends a little before the run does, so a small gap gets
            // no remark.
            let left = end.as_secs_f64() - last.as_secs_f64();
            (left > 0.01 * end.as_secs_f64()).then(|| {
                let (name, last, end) = (&traffic.name, seconds(last), seconds(end));
                format!("{name}: the trace ends at {last} s of {end} s; repeat = true begins it anew")
            })
        });
        self.notes.iter().cloned().chain(ends).collect()
    }
}

/// Returns seconds with two decimals at most, such as 4 or 12.25.
fn seconds(time: Time) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

fn source(traffic: &spec::Traffic, directions: &Directions<'_>, hosts: &Hosts<'_>) -> TrafficPlan {
    let pattern = match traffic.pattern {
        spec::Pattern::Cbr => Pattern::Cbr,
        spec::Pattern::Poisson => Pattern::Poisson,
        spec::Pattern::OnOff { peak, burst, shape } => Pattern::OnOff { peak, burst, shape },
    };
    let config = TrafficConfig {
        pattern,
        rate: traffic.rate,
        packet: traffic.packet,
        start: Time::ZERO + traffic.start,
        stop: stop(traffic.stop),
    };
    let route = directions.there(&traffic.path, traffic.direction);
    TrafficPlan { name: traffic.name.clone(), config, route, marking: hosts.numbers(&traffic.marking) }
}

fn stop(stop: Option<Span>) -> Time {
    stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
}
