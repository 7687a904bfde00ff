//! Progress of long work on stderr; silent where stderr is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use lab::record::Engine;

/// A bar over the runs of a comparison.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Runs finished, and in all.
    runs: (u64, u64),
}

impl Progress {
    pub(crate) fn new(runs: usize) -> Self {
        let bar = ProgressBar::new(1000);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} passed, {eta} to go  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, runs: (0, runs.max(1) as u64) }
    }

    /// One more run has ended.
    pub(crate) fn finish_run(&mut self) {
        self.runs.0 += 1;
        self.show(0.0);
    }

    /// `engine` is `passed` seconds into the run called `label`.
    pub(crate) fn tell(&mut self, label: &str, engine: Engine, passed: f64, end: Option<f64>) {
        self.bar.set_message(format!("{engine}: {label}"));
        self.show(end.map_or(0.0, |end| (passed / end).min(1.0)));
    }

    fn show(&self, part: f64) {
        self.bar.set_position(((self.runs.0 as f64 + part) * 1000.0 / self.runs.1 as f64) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar over the points of a sweep; threads may tell it.
pub(crate) struct Count(ProgressBar);

impl Count {
    pub(crate) fn new(points: usize) -> Self {
        let bar = ProgressBar::new(points as u64);
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} points  {elapsed} passed, {eta} to go");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Self(bar)
    }

    /// So many are finished.
    pub(crate) fn tell(&self, finished: usize) {
        self.0.set_position(self.0.position().max(finished as u64));
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
