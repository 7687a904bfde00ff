//! The charts of a connection: time and sequence, the data in flight against its windows, round-trip time, goodput, and
//! retransmissions.

use super::DiagnosedConnection;
use crate::chart::{CaseData, Chart, MAX_POINTS, MAX_RATE_POINTS, Trace, finish, trace};
use crate::decimate::{envelope, interval_means, interval_sums};
use crate::flows::Role;
use crate::text::short;
use estimate::diagnosis::{Evidence, Interval};
use lab::run::record::Engine;
use units::Bytes;

/// The curves that have a colour each, in every chart.
const FLIGHT: (usize, &str) = (0, "sent, in flight");
const RECEIVE_WINDOW: (usize, &str) = (1, "receive window");
const CONGESTION_WINDOW: (usize, &str) = (2, "congestion window");
const ACKNOWLEDGED: (usize, &str) = (3, "acknowledged");
const COLORS: usize = 4;
/// The first stretch of a time-sequence graph, in windows: each of them is then a tenth of the height.
const WINDOWS: f64 = 10.0;
/// The least length of that stretch, in intervals, and its largest share of the whole time.
const LEAST_INTERVALS: usize = 25;
const MOST_SHARE: f64 = 0.5;
/// The round trips that a point of the goodput covers, if that leaves this number of points.
const ROUNDS: f64 = 2.0;
const LEAST_RATE_POINTS: usize = 20;
/// The most bars.
const MAX_BARS: usize = 120;

/// Returns the mean excess of the round trip over the base RTT, seconds.
pub(super) fn queueing(evidence: &Evidence) -> Option<f64> {
    let base = evidence.base_round_trip?;
    let samples: Vec<f64> = evidence
        .intervals
        .iter()
        .filter_map(|interval| Some(interval.round_trip?.saturating_sub(base).as_secs_f64()))
        .collect();
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// A column of a connection: a value for each interval, NaN where it is unknown.
struct Columns<'a> {
    intervals: &'a [Interval],
    /// The ends of the intervals, seconds from the beginning of the first.
    t: Vec<f64>,
}

impl Columns<'_> {
    fn of(&self, value: impl Fn(&Interval) -> Option<f64>) -> Vec<f64> {
        self.intervals.iter().map(|interval| value(interval).unwrap_or(f64::NAN)).collect()
    }

    fn bytes(&self, value: impl Fn(&Interval) -> Option<Bytes>) -> Vec<f64> {
        self.of(|interval| value(interval).map(|bytes| bytes.get() as f64))
    }
}

/// Returns the charts of one direction of a connection.
pub(super) fn case_data(connection: &DiagnosedConnection<'_>) -> CaseData {
    let DiagnosedConnection { evidence, proposal, .. } = connection;
    let intervals = evidence.intervals.as_slice();
    let from = intervals.first().map_or(0.0, |interval| interval.from.as_secs_f64());
    let end = |interval: &Interval| (interval.from + interval.length).as_secs_f64() - from;
    let columns = Columns { intervals, t: intervals.iter().map(end).collect() };
    let end_s = columns.t.last().copied().unwrap_or(0.0);
    let (beginning, whole) = sequences(evidence, &columns);
    let needed = proposal.needed_bytes.map_or(0.0, |bytes| bytes as f64 / 1e3);
    let note = "sent and not acknowledged; a window that it reaches is the limit".to_owned();
    let windows = windows(&columns);
    let windows =
        finish("window", "Data in flight and its windows", "kB", note, windows, &[("needed", needed)]);
    let others = [windows, round_trips(evidence, &columns), goodput(evidence, &columns, end_s)];
    let charts = beginning.into_iter().chain(others).chain(retransmissions(&columns)).chain([whole]);
    // A lone sample does not make a curve.
    let curves = |chart: &Chart| chart.traces.iter().any(|trace| trace.bar_s > 0.0 || trace.x.len() > 1);
    let charts = charts.filter(curves).collect();
    CaseData { end_s, colored_flows: COLORS, charts, ..CaseData::default() }
}

fn round_trips(evidence: &Evidence, columns: &Columns<'_>) -> Chart {
    // Not every interval has a sample, and the curve goes on to the next one.
    let sampled = columns.intervals.iter().zip(&columns.t);
    let (t, y): (Vec<f64>, Vec<f64>) =
        sampled.filter_map(|(interval, t)| Some((*t, interval.round_trip?.as_secs_f64()))).unzip();
    let thin = envelope(&t, &y, MAX_POINTS);
    let curve = vec![trace(Engine::Live, None, "round-trip time".into(), &thin, 1e3)];
    let base = evidence.base_round_trip.map_or(0.0, units::Span::as_millis_f64);
    let note = "time from a segment to its acknowledgement; what exceeds the base RTT waited in a queue";
    finish("rtt", "Round-trip time", "ms", note.to_owned(), curve, &[("base RTT", base)])
}

fn goodput(evidence: &Evidence, columns: &Columns<'_>, end_s: f64) -> Chart {
    let rates = columns.of(|interval| {
        let seconds = interval.length.as_secs_f64();
        (seconds > 0.0).then(|| interval.delivered.bits_f64() / seconds)
    });
    // A window leaves once in a round trip, so a shorter mean shows the bursts and not the rate.
    let rounds = evidence.base_round_trip.map_or(f64::INFINITY, |span| end_s / (ROUNDS * span.as_secs_f64()));
    let points = (rounds as usize).clamp(LEAST_RATE_POINTS, MAX_RATE_POINTS);
    let thin = interval_means(&columns.t, &rates, points);
    let mut note = "useful data delivered per second".to_owned();
    if thin.every > 0.0 {
        note += &format!("; each point is a mean over {} s", short(thin.every));
    }
    let capacity = evidence.capacity.map_or(0.0, |rate| rate.as_bps_f64() / 1e6);
    let drawn = vec![trace(Engine::Live, None, "goodput".into(), &thin, 1e-6)];
    finish("rate", "Goodput", "Mbit/s", note, drawn, &[("capacity", capacity)])
}

/// Returns the chart of segments sent again, if there are any.
fn retransmissions(columns: &Columns<'_>) -> Option<Chart> {
    let again = columns.of(|interval| Some(interval.retransmitted as f64));
    again.iter().any(|count| *count > 0.0).then(|| {
        let thin = interval_sums(&columns.t, &again, MAX_BARS);
        let mut bars = trace(Engine::Sim, None, "sent again".into(), &thin, 1.0);
        bars.bar_s = thin.every;
        let note = format!("segments sent again, per {} s", short(thin.every));
        finish("drops", "Retransmissions", "segments", note, vec![bars], &[])
    })
}

/// Returns a curve, or none if no value is known.
fn line((color, name): (usize, &str), t: &[f64], y: &[f64], scale: f64) -> Option<Trace> {
    y.iter().any(|value| value.is_finite()).then(|| {
        let thin = envelope(t, y, MAX_POINTS);
        trace(Engine::Sim, Some(Role::Flow(color)), name.to_owned(), &thin, scale)
    })
}

fn windows(columns: &Columns<'_>) -> Vec<Trace> {
    let flight = columns.bytes(|interval| interval.flight.or(interval.peak_flight));
    let mut lines = vec![line(FLIGHT, &columns.t, &flight, 1e-3)];
    let received = columns.bytes(|interval| interval.receive_window);
    let congestion = columns.bytes(|interval| interval.congestion_window);
    // A window far above the data in flight would flatten the curve that it does not limit.
    let most = flight.iter().chain(&received).copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let near: Vec<f64> =
        congestion.iter().map(|value| if *value > 8.0 * most { f64::NAN } else { *value }).collect();
    lines.push(line(RECEIVE_WINDOW, &columns.t, &received, 1e-3));
    lines.push(line(CONGESTION_WINDOW, &columns.t, &near, 1e-3));
    lines.into_iter().flatten().collect()
}

/// Returns the time-sequence graph: its first stretch, in which a window can be seen, and the whole.
fn sequences(evidence: &Evidence, columns: &Columns<'_>) -> (Option<Chart>, Chart) {
    // The sequence begins with the observation, so that a curve begins at zero.
    let mut acknowledged = vec![0.0];
    let mut sum = 0;
    for interval in &evidence.intervals {
        sum += interval.delivered.get();
        acknowledged.push(sum as f64);
    }
    let times: Vec<f64> = [0.0].into_iter().chain(columns.t.iter().copied()).collect();
    let above = |of: fn(&Interval) -> Option<Bytes>| -> Vec<f64> {
        let more = [f64::NAN].into_iter().chain(columns.bytes(of));
        more.zip(&acknowledged).map(|(more, sum)| more + sum).collect()
    };
    let sent = above(|interval| interval.flight);
    let window = above(|interval| interval.receive_window);
    let graph = |kind: &str, title: &str, note: &str, count: usize| {
        let cut = |y: &[f64]| y[..count].to_vec();
        let t = &times[..count];
        let lines = [
            line(FLIGHT, t, &cut(&sent), 1e-6),
            line(RECEIVE_WINDOW, t, &cut(&window), 1e-6),
            line(ACKNOWLEDGED, t, &cut(&acknowledged), 1e-6),
        ];
        finish(kind, title, "MB", note.to_owned(), lines.into_iter().flatten().collect(), &[])
    };
    let count = times.len();
    let note = "acknowledged data, with the data in flight and the receive window on top of them";
    let beginning = first_stretch(evidence, columns).map(|first| Chart {
        end_s: columns.t.get(first - 1).copied(),
        ..graph("sequence-start", "Time and sequence, the beginning", note, first + 1)
    });
    let title = if beginning.is_some() { "Time and sequence, the whole time" } else { "Time and sequence" };
    let whole = graph("sequence", title, note, count);
    (beginning, whole)
}

/// Returns the number of intervals in which a window can be seen next to the sequence; `None` if that is most of them.
fn first_stretch(evidence: &Evidence, columns: &Columns<'_>) -> Option<usize> {
    let windows = columns.bytes(|interval| interval.receive_window.or(interval.flight));
    let known: Vec<f64> = windows.into_iter().filter(|value| value.is_finite() && *value > 0.0).collect();
    let window = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let goodput = evidence.goodput().as_bps_f64() / 8.0;
    if window <= 0.0 || goodput <= 0.0 {
        return None;
    }
    let seconds = WINDOWS * window / goodput;
    let count = columns.t.iter().take_while(|end| **end <= seconds).count().max(LEAST_INTERVALS);
    (count as f64 <= MOST_SHARE * columns.t.len() as f64).then_some(count)
}
