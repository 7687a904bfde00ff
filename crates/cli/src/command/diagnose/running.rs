//! The evidence of running connections: watches them for a time, with a line of progress.

use super::{Case, Report, SHOWN};
use crate::args::DiagnoseOptions;
use crate::interrupt::Interrupt;
use crate::print;
use crate::problem::Problem;
use host::{Clock, port_owner};
use indicatif::{ProgressBar, ProgressStyle};
use live::watch::{WatchConfig, Watched, Watcher};
use std::io::{IsTerminal, stderr};
use std::net::{IpAddr, ToSocketAddrs};
use units::{Bytes, Complaint, Span, Time};

/// The time for which connections may be watched.
const LEAST_TIME: Span = Span::from_millis(100);
const MOST_TIME: Span = Span::from_secs(24 * 3600);
/// The longest wait between two checks for Ctrl-C.
const CHECK: Span = Span::from_millis(100);
/// The time between two lines of progress where stderr is not a terminal.
const PAUSE: Span = Span::from_secs(10);

/// Watches connections and reports on them.
pub(super) fn report(options: &DiagnoseOptions) -> Result<Report, Problem> {
    if !(LEAST_TIME..=MOST_TIME).contains(&options.time) {
        let found = Complaint::new(format!("--for {}", options.time), "not a time for which one can watch");
        return Err(Problem::usage(found.accepted("100ms to 24h, such as 10s")));
    }
    let hosts = options.to.as_deref().map(addresses).transpose()?.unwrap_or_default();
    let config = WatchConfig { pid: options.pid, port: options.port, hosts };
    let clock = Clock::start();
    let watched = watch(config, options.time, &clock)?;
    if let Some(error) = &watched.cut_short {
        print::talk(format_args!("note: the watching ended after {}: {error}", watched.time.rounded()));
    }
    Ok(reported(watched, options))
}

/// Returns the addresses of a host.
pub(super) fn addresses(host: &str) -> Result<Vec<IpAddr>, Problem> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(vec![address.to_canonical()]);
    }
    let place = format!("--to {host}");
    match (host, 0_u16).to_socket_addrs() {
        Ok(found) => Ok(found.map(|address| address.ip().to_canonical()).collect()),
        Err(error) => Err(Problem::usage(
            Complaint::new(place, format!("no address is known: {error}"))
                .accepted("an address such as 192.0.2.1 or 2001:db8::1, or a host's name without a port"),
        )),
    }
}

/// Watches until the time is over, the program has ended, or Ctrl-C is typed.
fn watch(config: WatchConfig, time: Span, clock: &Clock) -> Result<Watched, Problem> {
    let mut watcher = Watcher::begin(config, clock)?;
    let interrupt = Interrupt::attend();
    let mut line = Line::new();
    let end = clock.now() + time;
    loop {
        if let Err(error) = watcher.poll(clock) {
            drop(line);
            return Ok(watcher.finish_early(clock, error)?);
        }
        let now = clock.now();
        let is_asked = interrupt.as_ref().is_some_and(Interrupt::is_asked);
        if now >= end || is_asked || watcher.is_over() {
            break;
        }
        line.show(&watcher, now, end);
        let wait = watcher.wakeup().min(end).since(now).min(CHECK);
        host::wait(&mut [], Some(wait)).map_err(|error| Problem::environment(format!("waiting: {error}")))?;
    }
    drop(line);
    Ok(watcher.finish(clock)?)
}

/// Chooses the connections that are shown.
fn reported(watched: Watched, options: &DiagnoseOptions) -> Report {
    let shown = if options.all { watched.connections.len() } else { SHOWN };
    let mut connections = watched.connections;
    let others = connections.split_off(shown.min(connections.len()));
    let unknown = connections.iter().filter(|one| one.owner.is_none() && one.inode > 0).map(|one| one.inode);
    let owners = port_owner::of_inodes(&unknown.collect());
    let mut cases = Vec::new();
    for connection in connections {
        let program = connection.owner.or_else(|| owners.get(&connection.inode).cloned());
        let case = |evidence| Case::new(evidence, program.clone(), connection.closed);
        cases.extend(connection.evidence.into_iter().map(case));
    }
    let (count, moved) = watched.forgotten;
    let rest = others.iter().fold(moved, |sum, other| sum + other.moved());
    let rest = (others.len() + count, rest);
    Report { cases, rest, idle: watched.idle, all: options.all, ..Report::default() }
}

/// The line of progress: a changing one on a terminal, elsewhere one from time to time.
struct Line {
    bar: ProgressBar,
    terminal: bool,
    /// The time of the next change.
    next: Time,
}

impl Line {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let terminal = stderr().is_terminal();
        let next = Time::ZERO + if terminal { Span::ZERO } else { PAUSE };
        Self { bar, terminal, next }
    }

    fn show(&mut self, watcher: &Watcher, now: Time, end: Time) {
        if now < self.next {
            return;
        }
        let (count, moved) = watcher.progress();
        let left = end.since(now).as_secs_f64().ceil();
        let text = format!("{}, {left} s left", seen(count, moved));
        if self.terminal {
            self.bar.set_message(text);
            self.bar.tick();
            self.next = now + CHECK * 2;
        } else {
            print::talk(text);
            self.next = now + PAUSE;
        }
    }
}

/// Returns "3 connections, 12.3 MB moved".
fn seen(count: usize, moved: Bytes) -> String {
    match count {
        0 => "no connection yet".into(),
        1 => format!("1 connection, {} moved", moved.rounded()),
        count => format!("{count} connections, {} moved", moved.rounded()),
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
