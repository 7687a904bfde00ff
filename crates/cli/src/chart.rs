//! A live chart in the terminal, for `emulate --live`, `enter --live` and `tune --live`.
//!
//! A [`Chart`] is lines against time in panels, and knows no terminal. A [`LiveView`] shows it: on a terminal by a
//! screen with the command's output below, elsewhere by one plain line a second.
//!
//! Reading order: this file, `chart/draw.rs` (the picture), `chart/pane.rs` (the command's output),
//! `chart/screen.rs` (the terminal), `chart/ansi.rs` (its control sequences), `chart/view.rs`.

mod ansi;
mod draw;
mod pane;
mod screen;
mod view;

pub(crate) use view::{CommandOutput, LiveView};

/// The time that a chart shows, seconds.
const SHOWN_S: f64 = 60.0;

/// Panels of lines against time, the newest minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    /// The name of the path or program.
    title: String,
    panels: Vec<Panel>,
    /// The newest time, seconds.
    now_s: f64,
}

/// A quantity against time.
#[derive(Clone, Debug)]
struct Panel {
    name: &'static str,
    unit: &'static str,
    lines: Vec<Line>,
    /// A remark behind the newest values.
    remark: String,
}

/// The values of one direction or connection.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Line {
    /// Returns the mean of the values after `from_s`; `None` without any.
    fn mean_since(&self, from_s: f64) -> Option<f64> {
        let late = self.points.iter().rev().take_while(|(at, _)| *at > from_s).map(|(_, value)| value);
        let (count, sum) = late.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
        (count > 0).then(|| sum / f64::from(count))
    }
}

impl Chart {
    /// Makes a chart with a panel for each name and unit.
    pub(crate) fn new(title: String, panels: &[(&'static str, &'static str)]) -> Self {
        let panel = |&(name, unit)| Panel { name, unit, lines: Vec::new(), remark: String::new() };
        Self { title, panels: panels.iter().map(panel).collect(), now_s: 0.0 }
    }

    /// Adds a value to the line `name` of a panel, which appears with its first value. A value that is not finite is
    /// left out.
    pub(crate) fn push(&mut self, panel: usize, name: &str, at_s: f64, value: f64) {
        let Some(panel) = self.panels.get_mut(panel) else { return };
        if !at_s.is_finite() || !value.is_finite() {
            return;
        }
        self.now_s = self.now_s.max(at_s);
        let place = panel.lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            panel.lines.push(Line { name: name.to_owned(), points: Vec::new() });
            panel.lines.len() - 1
        });
        let points = &mut panel.lines[place].points;
        // Old points go in blocks, because removing them one by one would move all others each time.
        let from_s = self.now_s - SHOWN_S;
        let old = points.partition_point(|(at, _)| *at < from_s);
        if old > points.len() / 2 {
            points.drain(..old);
        }
        points.push((at_s, value));
    }

    /// Removes lines whose last value is older than the chart.
    pub(crate) fn forget_old(&mut self) {
        let from_s = self.now_s - SHOWN_S;
        for panel in &mut self.panels {
            panel.lines.retain(|line| line.points.last().is_some_and(|(at, _)| *at >= from_s));
        }
    }

    /// Sets the remark of a panel.
    pub(crate) fn remark(&mut self, panel: usize, remark: String) {
        if let Some(panel) = self.panels.get_mut(panel) {
            panel.remark = remark;
        }
    }

    /// Returns the newest time, seconds.
    fn now_s(&self) -> f64 {
        self.now_s
    }

    /// Returns a plain line with the means since `from_s`: "3 s: rate to far 19.2, from far 0.4 Mbit/s; RTT 48 ms".
    fn plain(&self, from_s: f64) -> String {
        let panel = |panel: &Panel| {
            let values: Vec<String> = panel
                .lines
                .iter()
                .filter_map(|line| Some(named(&line.name, line.mean_since(from_s)?)))
                .collect();
            let remark = if panel.remark.is_empty() { String::new() } else { format!(", {}", panel.remark) };
            (!values.is_empty())
                .then(|| format!("{} {} {}{remark}", panel.name, values.join(", "), panel.unit))
        };
        let panels: Vec<String> = self.panels.iter().filter_map(panel).collect();
        format!("{:.0} s: {}", self.now_s, panels.join("; "))
    }
}

/// Returns "to far 19.2".
fn named(name: &str, value: f64) -> String {
    let value = short(value);
    if name.is_empty() { value } else { format!("{name} {value}") }
}

/// Formats a value with three digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
#[path = "../tests/within/chart.rs"]
mod tests;
