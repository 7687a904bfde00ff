//! The progress of long work on stderr: a bar on a terminal, elsewhere a plain line from time to time.

use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::print;
use crate::problem::Problem;
use indicatif::{ProgressBar, ProgressStyle};
use lab::run::record::Engine;
use lab::study::lines::results;
use lab::study::watch::{Event, Watch, Work};
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::Duration;

/// The least time between plain lines.
const PAUSE: Duration = Duration::from_secs(10);

/// The display of an experiment's progress: a bar for each kind of its work.
#[derive(Default)]
pub(crate) struct Bars {
    silent: bool,
    /// True if the summaries of each answer are printed as JSON.
    prints: bool,
    /// The name of the work while evidence is gathered.
    doing: String,
    bar: Bar,
    /// The error that occurred in writing an answer to stdout.
    problem: Option<Problem>,
    interrupt: Option<Interrupt>,
    interrupted: bool,
    /// The number of runs reused from earlier commands.
    reused: usize,
    /// The steps of the current work: the number finished, and the number in all.
    steps: (usize, usize),
    /// True if each step is a search.
    searches: bool,
}

#[derive(Default)]
enum Bar {
    #[default]
    None,
    Runs(Progress),
    Points(Count),
}

impl Bars {
    /// Makes bars that show nothing, for a command that prints only data.
    pub(crate) fn silent() -> Self {
        Self { silent: true, ..Self::default() }
    }

    /// Prints the summaries of each answer as JSON, as it comes.
    pub(crate) fn printing(self) -> Self {
        Self { prints: true, ..self }
    }

    /// Sets the name of the runs by which claims are judged.
    pub(crate) fn doing(self, what: &str) -> Self {
        Self { doing: what.into(), ..self }
    }

    /// Shows the progress of `work` until it ends.
    pub(crate) fn watch<T, E: Into<Problem>>(
        mut self,
        work: impl FnOnce(&mut dyn Watch) -> Result<T, E>,
    ) -> Result<T, Problem> {
        let done = work(&mut self);
        self.bar = Bar::None;
        self.interrupt = None;
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        let done = done.map_err(Into::into);
        if self.interrupted
            && let Err(problem) = done
        {
            let message = format!("interrupted: {}; the same command continues", problem.message);
            return Err(Problem { message, code: INTERRUPTED });
        }
        // The number of reused runs is not printed for a search, which reuses its own runs. A failed search is excluded
        // by `done`, because it fails before its first try.
        if done.is_ok() && self.reused > 0 && !self.silent && !self.searches {
            let (reused, all) = (self.reused, self.steps.1);
            print::talk(format_args!("{reused} of {all} points reused from earlier runs"));
        }
        done
    }
}

impl Watch for Bars {
    fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if matches!(event, Event::Begun(_)) && self.interrupt.is_none() {
            self.interrupt = Interrupt::attend();
        }
        self.interrupted |= self.interrupt.as_ref().is_some_and(Interrupt::is_asked);
        match event {
            Event::Begun(_) => self.reused = 0,
            Event::Reused => self.reused += 1,
            Event::Finished { done, all } => self.steps = (done, all),
            Event::Tried { .. } => self.searches = true,
            _ => {}
        }
        match (event, &mut self.bar) {
            _ if self.problem.is_some() || self.interrupted => return ControlFlow::Break(()),
            (Event::Begun(_), _) if self.silent => {}
            (Event::Begun(Work::Runs), bar) => *bar = Bar::Runs(Progress::new()),
            (Event::Begun(work), bar) => {
                let mut count = Count::new();
                if work == Work::Evidence {
                    count.doing(self.doing.clone());
                }
                *bar = Bar::Points(count);
            }
            (Event::Finished { done, all }, Bar::Runs(progress)) => progress.finished(done, all),
            (Event::Finished { done, all }, Bar::Points(count)) => count.of(done, all),
            (Event::Running { task, engine, passed, end }, Bar::Runs(progress)) => {
                progress.show(&task.label(), engine, passed, end);
            }
            (Event::Tried { key, value, runs, share }, Bar::Points(count)) => {
                count.searching(share, format!("{key} = {value}, {runs} runs"));
            }
            (Event::Answered(answer), _) if self.prints => {
                if let Err(problem) = results(answer).try_for_each(|line| print::json(&line)) {
                    self.problem = Some(problem);
                    return ControlFlow::Break(());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A bar over runs that come one after the other.
struct Progress {
    bar: ProgressBar,
    /// Runs finished, and in all.
    runs: (u64, u64),
    plain: PlainLines,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new(1000);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} passed, {eta} to go  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, runs: (0, 1), plain: PlainLines::default() }
    }

    /// Shows that `runs` of `all` have ended.
    fn finished(&mut self, runs: usize, all: usize) {
        self.runs = (runs as u64, all.max(1) as u64);
        self.bar.set_position(self.position(0.0));
        self.show_plain(0.0, 0.0);
    }

    /// Shows that `engine` is `passed` seconds into the run called `label`.
    fn show(&mut self, label: &str, engine: Engine, passed: f64, end: Option<f64>) {
        self.bar.set_message(doing(label, engine, passed, end));
        let part = end.map_or(0.0, |end| (passed / end).min(1.0));
        self.bar.set_position(self.position(part));
        // Only runs of the kernel get plain lines before they end, because they take the scenario's own time. A
        // simulation ends soon.
        if engine == Engine::Live {
            self.show_plain(part, end.map_or(0.0, |end| (end - passed).max(0.0)));
        }
    }

    /// Returns the position in thousandths of all runs.
    fn position(&self, part: f64) -> u64 {
        let (finished, all) = self.runs;
        ((finished as f64 + part) * 1000.0 / all as f64) as u64
    }

    /// Prints a plain line if one is due. The current run takes at least `rest` more seconds.
    fn show_plain(&mut self, part: f64, rest: f64) {
        let (finished, all) = self.runs;
        self.plain.rest = rest;
        self.plain.show(self.bar.elapsed(), finished as f64 + part, all, "runs", "");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns "sim: limit = 1 bdp, 12.3 of 60 s".
fn doing(label: &str, engine: Engine, passed: f64, end: Option<f64>) -> String {
    let of = end.map_or(String::new(), |end| format!(" of {end}"));
    let label = if label.is_empty() { String::new() } else { format!("{label}, ") };
    format!("{engine}: {label}{passed:.1}{of} s")
}

/// A bar over the points of a sweep.
struct Count {
    bar: ProgressBar,
    plain: PlainLines,
    /// Points finished, and in all.
    points: (u64, u64),
    /// True if each point is a search: the bar then counts in thousandths of all.
    searches: bool,
}

impl Count {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} points  {elapsed} passed, {eta} to go  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, plain: PlainLines::default(), points: (0, 0), searches: false }
    }

    /// Shows the name of the work at the next point.
    fn doing(&mut self, what: String) {
        self.bar.set_message(what);
        self.show(0.0);
    }

    /// Shows the share of the search at the next point that is done.
    fn searching(&mut self, share: f64, what: String) {
        if !self.searches {
            self.searches = true;
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} passed  {msg}");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.set_length(1000);
        }
        self.bar.set_message(what);
        self.show(share);
    }

    /// Shows that `finished` points of `all` have ended.
    fn of(&mut self, finished: usize, all: usize) {
        self.points = (self.points.0.max(finished as u64), all as u64);
        if !self.searches {
            self.bar.set_length(all as u64);
        }
        self.show(0.0);
    }

    /// Shows the finished points, and this share of the next.
    fn show(&mut self, share: f64) {
        let (finished, all) = self.points;
        let done = finished as f64 + share;
        let scale = if self.searches { 1000.0 / all.max(1) as f64 } else { 1.0 };
        self.bar.set_position(self.bar.position().max((done * scale) as u64));
        if self.searches {
            // No time left is printed, because the time of a run depends on the value that is tried.
            self.plain.show_share(self.bar.elapsed(), done / all.max(1) as f64, &self.bar.message());
        } else {
            self.plain.show(self.bar.elapsed(), done, all, "points", &self.bar.message());
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The plain lines for a stderr that is not a terminal.
#[derive(Debug, Default)]
struct PlainLines {
    /// The time of the last line, from the start.
    last_line: Duration,
    /// The time of the first report, and the work done by then. The speed is measured from there, because results
    /// reused from disk would make it too high.
    first: Option<(Duration, f64)>,
    /// The seconds that the current run takes at least.
    rest: f64,
}

impl PlainLines {
    fn show(&mut self, elapsed: Duration, finished: f64, all: u64, what: &str, doing: &str) {
        if !stderr().is_terminal()
            && let Some(line) = self.line(elapsed, finished, all, what)
        {
            print::talk(if doing.is_empty() { line } else { format!("{line}: {doing}") });
        }
    }

    /// Prints the share of a search that is done, if a line is due.
    fn show_share(&mut self, elapsed: Duration, share: f64, doing: &str) {
        if !stderr().is_terminal() && elapsed >= self.last_line + PAUSE {
            self.last_line = elapsed;
            print::talk(format_args!("{:.0} % searched: {doing}", share * 100.0));
        }
    }

    /// Returns a line if one is due now.
    fn line(&mut self, elapsed: Duration, finished: f64, all: u64, what: &str) -> Option<String> {
        let (start, before) = *self.first.get_or_insert((elapsed, finished));
        if elapsed < self.last_line + PAUSE || finished >= all as f64 {
            return None;
        }
        self.last_line = elapsed;
        let left = if finished > before {
            let pace = (elapsed - start).as_secs_f64() / (finished - before);
            format!("about {} left", rough((pace * (all as f64 - finished)).max(self.rest)))
        } else if self.rest > 0.0 {
            format!("about {} left", rough(self.rest))
        } else {
            "time left unknown".into()
        };
        Some(format!("{} of {all} {what}, {left}", finished.floor()))
    }
}

/// Formats a time with at most two digits.
fn rough(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 5400.0 => format!("{} min", (s / 60.0).round()),
        s => format!("{} h", (s / 3600.0).round()),
    }
}

#[cfg(test)]
#[path = "../tests/within/progress.rs"]
mod tests;
