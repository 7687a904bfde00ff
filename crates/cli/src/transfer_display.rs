//! The progress of a transfer on stderr: one changing line on a terminal, elsewhere a plain line from time to time.

use crate::print;
use crate::problem::Problem;
use host::{PollFd, PollFlags, WaitResult};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nix::sys::termios::{FlushArg, tcflush};
use std::fmt::Display;
use std::io::{IsTerminal, stderr, stdin};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use transfer::name::Name;
use transfer::{EntryOutcome, Observer, Question, Snapshot};
use units::Span;

/// The least time between plain lines.
const PAUSE: Span = Span::from_secs(10);

/// The time between two checks that the answer is still needed.
const QUESTION_CHECK: Span = Span::from_millis(100);

/// The longest time left that is shown: 100 days.
const LONGEST_LEFT_S: f64 = 100.0 * 86_400.0;

/// The observer of a transfer that prints its progress and asks the user.
pub(crate) struct TransferDisplay {
    bar: ProgressBar,
    terminal: bool,
    verbose: bool,
    /// The time of the last plain line.
    last_line: Mutex<Span>,
    /// The least round-trip time so far, as an estimate of the round trip without a queue.
    least: Mutex<Option<Span>>,
}

impl TransferDisplay {
    /// Makes an observer. If `verbose`, it prints the name of each entry, and the sizer's reason for each window.
    pub(crate) fn new(verbose: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            terminal: stderr().is_terminal(),
            verbose,
            last_line: Mutex::new(Span::ZERO),
            least: Mutex::default(),
        }
    }

    /// Shows that nothing moves yet.
    pub(crate) fn waiting(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    /// Writes data to standard output, above the changing line.
    pub(crate) fn show(&self, data: impl Display) -> Result<(), Problem> {
        self.bar.suspend(|| print::data(data))
    }

    /// Removes the changing line.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns true if a user can be asked.
pub(crate) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

impl Drop for TransferDisplay {
    fn drop(&mut self) {
        self.end();
    }
}

impl Observer for TransferDisplay {
    fn say(&self, line: &str) {
        self.bar.suspend(|| print::talk(line));
    }

    fn moved(&self, name: &Name, fate: EntryOutcome) {
        if self.verbose {
            let fate = match fate {
                EntryOutcome::Sent => "",
                EntryOutcome::There => " (was there)",
                EntryOutcome::Kept => " (another one was kept)",
            };
            self.say(&format!("{name}{fate}"));
        }
    }

    fn accept(&self, question: &Question, is_over: &dyn Fn() -> bool) -> bool {
        self.bar.suspend(|| print::talk(&question.text));
        // The changing line is hidden meanwhile, because it would be drawn over the typed answer.
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        let answer = answer(is_over);
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        answer
    }

    fn progress(&self, snapshot: &Snapshot) {
        let mut least = self.least.lock().unwrap_or_else(PoisonError::into_inner);
        *least = least.into_iter().chain(snapshot.rtt).min();
        let queue = snapshot.rtt.zip(*least).map(|(rtt, least)| rtt.saturating_sub(least));
        drop(least);
        if self.terminal {
            self.bar.set_message(line(snapshot, queue, self.verbose));
            return;
        }
        let mut last_line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        // After an interruption the time of the session starts again at zero, so the time of the last line is reset.
        if snapshot.elapsed < *last_line {
            *last_line = Span::ZERO;
        }
        if snapshot.elapsed >= *last_line + PAUSE {
            *last_line = snapshot.elapsed;
            print::talk(line(snapshot, queue, self.verbose));
        }
    }
}

/// Returns true if the user types yes.
fn answer(is_over: &dyn Fn() -> bool) -> bool {
    loop {
        // Input from before the question appeared is discarded, because it is not an answer to it.
        let _ = tcflush(stdin(), FlushArg::TCIFLUSH);
        print::ask("Accept? [y/n] ");
        let mut line = String::new();
        loop {
            match host::wait(&mut [PollFd::new(&stdin(), PollFlags::IN)], Some(QUESTION_CHECK)) {
                _ if is_over() => {
                    print::talk("the sender has left");
                    return false;
                }
                Ok(WaitResult::TimedOut | WaitResult::Interrupted) => {}
                Ok(WaitResult::Ready) => break,
                Err(_) => return false,
            }
        }
        if stdin().read_line(&mut line).is_ok_and(|length| length == 0) {
            return false;
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return true,
            "n" | "no" => return false,
            _ => {}
        }
    }
}

/// Describes the sizer's work on a window. If `verbose`, it names its phase, and its reason with all symbols.
pub(crate) fn windowed(
    window: &str,
    phase: &str,
    reason: &str,
    queue: Option<Span>,
    verbose: bool,
) -> String {
    if verbose && !phase.is_empty() {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        return format!("window {window} ({phase}{reason})");
    }
    match (phase, queue) {
        ("", _) => format!("window {window}"),
        ("measure", _) => "measuring the path".to_owned(),
        ("watch", _) => format!("window {window}, waiting for a steady rate"),
        ("dip", _) => format!("window {window}, measuring the path without a queue"),
        ("grow" | "refill", _) => format!("window {window}, growing"),
        ("hold", Some(queue)) => {
            format!("window set to {window}: the queue is {}", short(queue.as_secs_f64() * 1e3, " ms"))
        }
        ("hold", None) => format!("window set to {window}: the queue is not known"),
        ("open", _) if reason.contains("not known") => {
            "window not limited: the base RTT is not known".to_owned()
        }
        ("open", _) => "window not limited".to_owned(),
        _ => format!("window {window} ({reason})"),
    }
}

/// Returns "42 %, 1.31 GB of 3.10 GB, 941 Mbit/s, RTT 20.3 ms, window set to 2.42 MB: the queue is 0.30 ms, 15 s left".
fn line(snapshot: &Snapshot, queue: Option<Span>, verbose: bool) -> String {
    // Nothing moves until a person answers, so the line is only the question.
    if snapshot.phase == "asking" {
        return snapshot.reason.clone();
    }
    let mut parts = Vec::new();
    match snapshot.all_bytes {
        Some(all) if all > 0 => {
            let share = snapshot.bytes as f64 * 100.0 / all as f64;
            parts.push(format!("{:.0} %", share.min(100.0).floor()));
            parts.push(format!("{} of {}", bytes(snapshot.bytes), bytes(all)));
        }
        _ => parts.push(bytes(snapshot.bytes)),
    }
    if snapshot.all_entries.is_some_and(|all| all > 1) || snapshot.entries > 1 {
        let all = snapshot.all_entries.map_or_else(String::new, |all| format!(" of {all}"));
        parts.push(format!("{}{all} entries", snapshot.entries));
    }
    parts.push(rate(snapshot.rate_bps));
    if let Some(rtt) = snapshot.rtt {
        parts.push(format!("RTT {}", short(rtt.as_secs_f64() * 1e3, " ms")));
    }
    let window = snapshot.window.map_or_else(|| "max".to_owned(), |window| bytes(window.get()));
    if snapshot.window.is_some() || !snapshot.phase.is_empty() {
        parts.push(windowed(&window, &snapshot.phase, &snapshot.reason, queue, verbose));
    }
    if let Some(all) = snapshot.all_bytes
        && snapshot.rate_bps > 0.0
        && all > snapshot.bytes
    {
        let left = (all - snapshot.bytes) as f64 * 8.0 / snapshot.rate_bps;
        // At a rate near zero the time left is unknown.
        if left < LONGEST_LEFT_S {
            parts.push(format!("{} left", time(left)));
        }
    }
    parts.join(", ")
}

/// Formats a size with three digits.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count as f64, &[" B", " kB", " MB", " GB", " TB", " PB"])
}

/// Formats a rate with three digits.
pub(crate) fn rate(bps: f64) -> String {
    scaled(bps, &[" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s"])
}

fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut at = 0;
    while value >= 999.5 && at + 1 < units.len() {
        value /= 1000.0;
        at += 1;
    }
    if at == 0 { format!("{value:.0}{}", units[0]) } else { short(value, units[at]) }
}

/// Formats a number with three digits.
fn short(value: f64, unit: &str) -> String {
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$}{unit}")
}

/// Formats a time with at most two digits; hours go up to 48.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 5400.0 => format!("{} min", (s / 60.0).round()),
        s if s < 172_800.0 => format!("{} h", (s / 3600.0).round()),
        s => format!("{} days", (s / 86_400.0).round()),
    }
}

#[cfg(test)]
#[path = "../tests/within/talk.rs"]
mod tests;
