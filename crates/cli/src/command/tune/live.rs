//! The chart of `tightlink tune --live`: rate, window and RTT of the connections that are tuned.

use crate::args::TuneOptions;
use crate::chart::{Chart, CommandOutput, LiveView};
use crate::problem::Problem;
use live::tune::Tuner;
use std::collections::BTreeMap;
use std::fs::File;
use units::{Bytes, Complaint, Span, Time};

/// The panels.
const PANELS: [(&str, &str); 3] = [("rate", "Mbit/s"), ("window", "kB"), ("RTT", "ms")];
/// The time between two points. Shorter rates would show single segments of slow connections.
const EVERY: Span = Span::from_millis(250);
/// The number of connections that are drawn, the newest ones.
const DRAWN: usize = 4;

/// A chart of a tuner's connections.
pub(super) struct TuneChart {
    pub(super) view: LiveView,
    start: Time,
    next: Time,
    /// The time and the bytes received at the last point of a connection, by its place.
    before: BTreeMap<usize, (Time, Bytes)>,
}

impl TuneChart {
    /// Makes the chart that the options ask for; `None` without `--live`.
    pub(super) fn open(options: &TuneOptions, now: Time) -> Result<Option<Self>, Problem> {
        if !options.live {
            return Ok(None);
        }
        let problem = |place: String, error: std::io::Error| {
            Problem::environment(Complaint::new(place, error.to_string()))
        };
        let output = match (&options.output, options.pid) {
            (Some(file), _) => CommandOutput::File(
                File::create(file).map_err(|error| problem(format!("--output {}", file.display()), error))?,
            ),
            (None, None) => CommandOutput::Pane,
            (None, Some(_)) => CommandOutput::Elsewhere,
        };
        let title = match options.pid {
            Some(pid) => format!("tune: process {pid}"),
            None => format!("tune: {}", options.program.join(" ")),
        };
        let hint = if options.pid.is_some() { "q: end" } else { "q: Ctrl-C" };
        let view = LiveView::open(Chart::new(title, &PANELS), output, hint)
            .map_err(|error| problem("--live".into(), error))?;
        Ok(Some(Self { view, start: now, next: now, before: BTreeMap::new() }))
    }

    /// Takes the terminal over.
    pub(super) fn begin(&mut self) -> Result<(), Problem> {
        let begun = self.view.begin();
        begun
            .map_err(|error| Problem::environment(Complaint::new("--live", format!("the terminal: {error}"))))
    }

    /// Adds a point for each of the newest connections, if that is due.
    pub(super) fn add(&mut self, tuner: &Tuner, now: Time) {
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        let at_s = now.since(self.start).as_secs_f64();
        let connections = tuner.connections().iter().enumerate();
        let tuned: Vec<_> = connections.filter(|(_, connection)| connection.restored().is_none()).collect();
        let chart = &mut self.view.chart;
        for &(place, connection) in tuned.iter().rev().take(DRAWN).rev() {
            let name = format!("#{}", place + 1);
            let received = connection.received().1;
            let window = connection.window().unwrap_or(connection.largest());
            let before = self.before.insert(place, (now, received));
            if let Some((then, earlier)) = before {
                let bits = received.saturating_sub(earlier).bits_f64();
                chart.push(0, &name, at_s, bits / now.since(then).as_secs_f64() / 1e6);
            }
            chart.push(1, &name, at_s, window.get() as f64 / 1e3);
            if let Some(round_trip) = connection.round_trip() {
                chart.push(2, &name, at_s, round_trip.as_millis_f64());
            }
        }
        let remark = match tuned.len() {
            count if count > DRAWN => format!("the newest {DRAWN} of {count} connections"),
            _ => String::new(),
        };
        chart.remark(0, remark);
        chart.forget_old();
        self.view.changed();
    }
}
