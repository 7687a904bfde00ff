//! `tightlink tune`: a sizer for the connections of a program that does not know about it. `tune/restore.rs` has
//! `--restore`, `tune/live.rs` the chart of `--live`.

mod live;
mod restore;

use self::live::TuneChart;
use crate::args::TuneOptions;
use crate::print;
use crate::problem::Problem;
use crate::transfer_display;
use ::live::tune::{
    ConnectionLimit, EarlierMeasurements, LARGEST_WINDOW, PhaseChange, Restored, TuneConfig, TuneEvent,
    TuneWindow, TunedConnection, Tuner,
};
use emu::children;
use host::{Clock, PollFd, PollFlags};
use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use units::{Bytes, Complaint, Span, Time};

/// The longest wait between two checks that the program still runs, because its end sends no signal here.
const END_CHECK: Span = Span::from_millis(50);
/// The changes of phase that are printed for one connection while it runs; the report has all of them.
const PHASES_TOLD: usize = 8;
/// A window that is enough for most paths. A connection that can have this much gets the note about its largest window
/// only if that window limits it.
const WIDE: Bytes = Bytes::new(4_000_000);
/// The words for a window that has its earlier limit again.
const FIXED: &str =
    "as it was, with the limit that the program had set, or a tightlink that was killed (--restore lifts it)";
/// The least data that an end must have sent to count as the sender. Less data may be a request.
const LEAST_SENT: Bytes = Bytes::new(100_000);

pub(crate) fn run(options: &TuneOptions) -> Result<ExitCode, Problem> {
    if let Some(pid) = options.pid.filter(|_| options.restore) {
        return restore::run(pid, options);
    }
    let config = config(options)?;
    let clock = Clock::start();
    let mut chart = TuneChart::open(options, clock.now())?;
    let (mut tuner, mut child) = match options.pid {
        Some(pid) => {
            let tuner = Tuner::attach(pid, config)?;
            tuner.check()?;
            (tuner, None)
        }
        None => {
            // This process adopts the processes that the command leaves behind, so that it finds them and collects
            // their exit statuses.
            let _ = set_child_subreaper(true);
            children::keep_ends();
            let tuner = Tuner::attach(std::process::id(), config)?;
            (tuner, Some(start(&options.program, chart.as_ref())?))
        }
    };
    // Signals are taken over only after the command has started, so that it does not inherit the change.
    let signals = Signals::take(chart.as_ref().is_some_and(|chart| chart.view.is_screen()))?;
    let begun = chart.as_mut().map_or(Ok(()), TuneChart::begin);
    let ended =
        begun.and_then(|()| attend(&mut tuner, child.as_mut(), &signals, &clock, (options, chart.as_mut())));
    tuner.restore(&clock);
    if let Some(chart) = chart {
        chart.view.end();
    }
    report(&tuner, options)?;
    Ok(ended?.map_or(ExitCode::SUCCESS, |status| ExitCode::from(code(status))))
}

fn config(options: &TuneOptions) -> Result<TuneConfig, Problem> {
    let window = match (options.window.as_str(), options.window.parse::<Bytes>()) {
        (_, Ok(Bytes::ZERO)) => {
            return Err(Problem::usage(
                Complaint::new("--window 0", "nothing would come")
                    .accepted("a size such as 400kB, or a sizer"),
            ));
        }
        (_, Ok(window)) if window > LARGEST_WINDOW => {
            let found = format!("no TCP connection has a window of more than {}", LARGEST_WINDOW.rounded());
            return Err(Problem::usage(
                Complaint::new(format!("--window {}", options.window), found)
                    .accepted(format!("a size up to {LARGEST_WINDOW}, or a sizer"))
                    .help("--window max takes the largest that each connection can advertise"),
            ));
        }
        (_, Ok(window)) => TuneWindow::Fixed(window),
        ("max", _) => TuneWindow::Sizer("maximum".into()),
        (name, Err(_)) => TuneWindow::Sizer(name.into()),
    };
    Ok(TuneConfig { port: options.port, window, maximum: options.max.min(LARGEST_WINDOW) })
}

fn start(program: &[String], chart: Option<&TuneChart>) -> Result<Child, Problem> {
    let (name, arguments) = program.split_first().ok_or_else(|| Problem::usage("no command behind --"))?;
    let mut command = Command::new(name);
    command.args(arguments);
    let streams = chart.map_or(Ok(()), |chart| chart.view.streams(&mut command, None));
    streams.and_then(|()| command.spawn()).map_err(|error| {
        let found = format!("the command {name} does not start: {error}");
        Problem::environment(Complaint::new("", found).help("check its name and that it may be run"))
    })
}

/// Tunes until the program has ended or a signal arrives. Returns the command's status, if this process started one.
fn attend(
    tuner: &mut Tuner,
    mut child: Option<&mut Child>,
    signals: &Signals,
    clock: &Clock,
    (options, mut chart): (&TuneOptions, Option<&mut TuneChart>),
) -> Result<Option<ExitStatus>, Problem> {
    loop {
        let screen = chart.as_ref().is_some_and(|chart| chart.view.has_terminal());
        for event in tuner.poll(clock)? {
            if !options.json && !screen {
                print_event(tuner, &event, options.verbose);
            }
        }
        match &mut child {
            Some(child) => {
                let status = child
                    .try_wait()
                    .map_err(|error| Problem::environment(format!("waiting for the command: {error}")))?;
                if status.is_some() {
                    return Ok(status);
                }
            }
            None if !tuner.is_alive() => return Ok(None),
            None => {}
        }
        children::collect(child.as_ref().map(|child| child.id()).as_slice());
        if let Some(chart) = &mut chart {
            chart.add(tuner, clock.now());
            match (chart.view.look(), &child) {
                // A terminal sends the signal of a key to a whole group. The command may have ended just now.
                (Some(signal), Some(child)) => drop(killpg(Pid::from_raw(child.id() as i32), signal)),
                (Some(_), None) => return Ok(None),
                (None, _) => {}
            }
        }
        let wait = tuner.wakeup().since(clock.now()).min(END_CHECK);
        let others = chart.as_ref().map_or_else(Vec::new, |chart| chart.view.descriptors());
        for signal in signals.within(wait, &others)? {
            if signal.signal == Signal::SIGTSTP {
                stop(chart.as_deref_mut(), child.as_deref())?;
                continue;
            }
            match &child {
                // The command decides whether the signal ends it.
                Some(child) => signal.pass_on(child, screen),
                None => return Ok(None),
            }
        }
    }
}

/// Gives the terminal back, and stops this process and the command until SIGCONT.
fn stop(chart: Option<&mut TuneChart>, child: Option<&Child>) -> Result<(), Problem> {
    let group = child.map(|child| Pid::from_raw(child.id() as i32));
    // Sending fails if the group has just ended.
    group.map(|group| killpg(group, Signal::SIGSTOP));
    let stopped = chart.map_or(Ok(()), |chart| chart.view.stop());
    group.map(|group| killpg(group, Signal::SIGCONT));
    stopped.map_err(|error| Problem::environment(Complaint::new("--live", format!("the terminal: {error}"))))
}

fn print_event(tuner: &Tuner, event: &TuneEvent, verbose: bool) {
    let connections = tuner.connections();
    match event {
        TuneEvent::Taken(place) => {
            let connection = &connections[*place];
            print::talk(format_args!("{connection}: taken over, window {}", window(connection.window())));
            if let Some(note) = scale_note(connection) {
                print::talk(format_args!("{connection}: {note}"));
            }
            print_phase(connection, verbose);
        }
        TuneEvent::Phase(place) => print_phase(&connections[*place], verbose),
        TuneEvent::Closed(place) => {
            let connection = &connections[*place];
            let note = sends(connection).map_or_else(String::new, |note| format!("; {note}"));
            print::talk(format_args!("{connection}: closed{note}"));
        }
        TuneEvent::Refused(why) => print::talk(format_args!("left alone: {why}")),
    }
}

fn print_phase(connection: &TunedConnection, verbose: bool) {
    let changes = connection.changes();
    let Some(change) = changes.last().filter(|change| !change.state.phase.is_empty()) else { return };
    if changes.len() <= PHASES_TOLD {
        let after = change.at.since(connection.taken());
        let state = transfer_display::windowed(
            &window(change.window.map(|window| window.min(connection.largest()))),
            change.state.phase,
            &change.state.reason,
            None,
            verbose,
        );
        print::talk(format_args!("{connection}: after {:.1} s {state}", after.as_secs_f64()));
    }
}

fn window(requested: Option<Bytes>) -> String {
    requested.map_or_else(|| "max".to_owned(), |window| transfer_display::bytes(window.get()))
}

fn report(tuner: &Tuner, options: &TuneOptions) -> Result<(), Problem> {
    for connection in tuner.connections() {
        if options.json {
            print::json(&as_json(connection))?;
        } else {
            as_text(connection, options.verbose)?;
        }
    }
    if tuner.connections().is_empty() {
        print::talk("the program opened no connection that can be tuned");
    }
    Ok(())
}

fn as_text(connection: &TunedConnection, verbose: bool) -> Result<(), Problem> {
    let (span, bytes) = connection.received();
    let state = connection.state();
    let window = window(connection.window());
    print::data(connection)?;
    print::data(format_args!(
        "  {} in {:.1} s, {:.2} Mbit/s; {}",
        transfer_display::bytes(bytes.get()),
        span.as_secs_f64(),
        connection.goodput().as_bps_f64() / 1e6,
        transfer_display::windowed(&window, state.phase, &state.reason, None, verbose),
    ))?;
    for note in notes(connection) {
        print::data(format_args!("  {note}"))?;
    }
    print::data(format_args!("  {}", restored(connection).0))
}

/// Returns notes for a person: the limit before and now, and the lasting remedy.
fn notes(connection: &TunedConnection) -> Vec<String> {
    if let Some(note) = sends(connection) {
        return vec![note];
    }
    let mut notes: Vec<String> = connection.earlier().map(before).into_iter().collect();
    notes.extend(scale_note(connection));
    let window = connection.window().unwrap_or(connection.largest());
    match connection.held() {
        Some((ConnectionLimit::Programs, flight)) => notes.push(format!(
            "the window is {} and {} are in flight, no queue stands and nothing is lost: the programs limit themselves, to \
             about {} a round trip (or a sender with BBR has the whole path). A larger window does not help",
            transfer_display::bytes(window.get()),
            transfer_display::bytes(flight.get()),
            transfer_display::bytes(flight.get())
        )),
        Some((ConnectionLimit::Path, flight)) => notes.push(format!(
            "limited by the path: {} are in flight, and a queue stands or segments are lost",
            transfer_display::bytes(flight.get())
        )),
        Some((ConnectionLimit::Window, flight)) => {
            notes.push(format!("limited by this window: {} are in flight", transfer_display::bytes(flight.get())));
        }
        Some((ConnectionLimit::Scale, _)) | None => {}
    }
    if let Some(earlier) =
        connection.earlier().filter(|earlier| earlier.held == Some(ConnectionLimit::Window))
        && connection.goodput() > earlier.goodput
    {
        notes.push(lasting(connection, earlier));
    }
    notes
}

/// Returns "before: 118 Mbit/s, limited by the receive window of 2.39 MB".
fn before(earlier: &EarlierMeasurements) -> String {
    let (rate, window) =
        (transfer_display::rate(earlier.goodput.as_bps_f64()), transfer_display::bytes(earlier.window.get()));
    match earlier.held {
        Some(ConnectionLimit::Window | ConnectionLimit::Scale) => {
            format!("before: {rate}, limited by the receive window of {window}")
        }
        _ => format!("before: {rate} in a receive window of {window}, which was not the limit"),
    }
}

/// Returns a note if the window cannot have the requested size.
fn scale_note(connection: &TunedConnection) -> Option<String> {
    let (asked, largest) = (connection.requested().unwrap_or(LARGEST_WINDOW), connection.largest());
    let is_limit = matches!(connection.held(), Some((ConnectionLimit::Scale, _)));
    (asked > largest && (is_limit || largest < WIDE)).then(|| {
        format!(
            "this connection can advertise {} at most: its scale was fixed at the handshake, by the program's SO_RCVBUF or \
             by net.ipv4.tcp_rmem. Only a new connection can have more",
            transfer_display::bytes(largest.get())
        )
    })
}

/// Returns the command that has the same effect on all later connections.
fn lasting(connection: &TunedConnection, earlier: &EarlierMeasurements) -> String {
    let flight = connection.goodput().volume(earlier.round_trip.unwrap_or_default());
    // Linux advertises at least half of a buffer, and the window must be well above the data in flight. So the buffer
    // is at least four times these data.
    let buffer = (flight * 4).get().next_power_of_two().max(6 << 20);
    format!(
        "to make it permanent: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {buffer}\", and the same in a file in \
         /etc/sysctl.d"
    )
}

/// Returns a note if the data go the other way, because a receive window limits only arriving data.
fn sends(connection: &TunedConnection) -> Option<String> {
    let (sent, received) = (connection.sent(), connection.received().1);
    (sent > LEAST_SENT && sent > received * 10).then(|| {
        let (sent, received) = (sent.rounded(), received.rounded());
        format!("this end sends ({sent} sent, {received} received): run tune at the receiving end")
    })
}

/// Returns the final state in words, true if the kernel sets the window again, and the settings that differ from
/// before.
fn restored(connection: &TunedConnection) -> (String, bool, Vec<&str>) {
    match connection.restored() {
        Some(Restored::Back(left)) => {
            let left: Vec<&str> = left.iter().map(|left| left.0.as_str()).collect();
            let words = match &left[..] {
                [] if connection.was_fixed() => FIXED.to_owned(),
                [] => "as it was".to_owned(),
                left => left.join("; "),
            };
            (format!("given back to the kernel: {words}"), true, left)
        }
        Some(Restored::Closed) => {
            ("closed by the program: nothing to give back".to_owned(), false, Vec::new())
        }
        Some(Restored::Failed(why)) => (format!("could not be given back: {why}"), false, vec![why]),
        None => ("still tuned".to_owned(), false, Vec::new()),
    }
}

fn as_json(connection: &TunedConnection) -> Value {
    let ((local, peer), (pid, program)) = (connection.ends(), connection.process());
    let ((span, bytes), (clamp, before, buffer)) = (connection.received(), connection.limits());
    let (state, (_, given_back, left)) = (connection.state(), restored(connection));
    let seconds = |at: Time| at.since(connection.taken()).as_secs_f64();
    let change = |change: &PhaseChange| {
        json!({
            "t_s": seconds(change.at),
            "phase": change.state.phase,
            "reason": change.state.reason,
            "window_bytes": change.window.map(|window| window.min(connection.largest()).get()),
        })
    };
    let earlier = connection.earlier();
    json!({
        "local": local.to_string(),
        "peer": peer.map(|peer| peer.to_string()),
        "pid": pid,
        "program": program,
        "tuned_s": span.as_secs_f64(),
        "received_bytes": bytes.get(),
        "sent_bytes": connection.sent().get(),
        "goodput_bps": connection.goodput().as_bps_f64(),
        "window_bytes": connection.window().map(Bytes::get),
        "largest_window_bytes": connection.largest().get(),
        "limited_by": connection.held().map(|(held, _)| held.name()),
        "in_flight_bytes": connection.held().map(|(_, flight)| flight.get()),
        "base_rtt_s": connection.base_rtt().map(Span::as_secs_f64),
        "phase": state.phase,
        "reason": state.reason,
        "phases": connection.changes().iter().map(change).collect::<Vec<_>>(),
        "before": {
            "window_clamp_bytes": clamp.get(),
            "buffer_bytes": before.get(),
            "goodput_bps": earlier.map(|earlier| earlier.goodput.as_bps_f64()),
            "window_bytes": earlier.map(|earlier| earlier.window.get()),
            "rtt_s": earlier.and_then(|earlier| earlier.round_trip).map(Span::as_secs_f64),
            "limited_by": earlier.and_then(|earlier| earlier.held).map(ConnectionLimit::name),
        },
        "buffer_bytes": buffer.get(),
        "given_back": given_back,
        "left": left,
    })
}

/// Returns the exit code that a shell reports for a status.
fn code(status: ExitStatus) -> u8 {
    status.code().map_or_else(|| 128u8.wrapping_add(status.signal().unwrap_or(0) as u8), |code| code as u8)
}

/// A signal to this process.
struct ReceivedSignal {
    signal: Signal,
    /// True if it came from a terminal, which sends it to the command, too.
    from_terminal: bool,
}

impl ReceivedSignal {
    /// Passes the signal to the command, unless the terminal did. With a chart on the `screen` the command does not get
    /// the terminal's signals.
    fn pass_on(&self, child: &Child, screen: bool) {
        if !self.from_terminal || screen {
            // The command may have ended by itself just now.
            let _ = kill(Pid::from_raw(child.id() as i32), self.signal);
        }
    }
}

/// A descriptor from which signals to end can be read.
struct Signals(SignalFd);

impl Signals {
    /// Takes the signals that end the work, and SIGTSTP if `stop`.
    fn take(stop: bool) -> Result<Self, Problem> {
        let ends = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGHUP].into_iter();
        let set: SigSet = ends.chain(stop.then_some(Signal::SIGTSTP)).collect();
        let wrong = |errno: Errno| Problem::environment(format!("taking charge of signals: {errno}"));
        set.thread_block().map_err(wrong)?;
        SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self).map_err(wrong)
    }

    /// Returns the signals that have come or come within `wait`. Input from `others` ends the wait.
    fn within(&self, wait: Span, others: &[BorrowedFd<'_>]) -> Result<Vec<ReceivedSignal>, Problem> {
        let others = others.iter().map(|other| PollFd::new(other, PollFlags::IN));
        let mut waited: Vec<_> = [PollFd::new(&self.0, PollFlags::IN)].into_iter().chain(others).collect();
        host::wait(&mut waited, Some(wait))
            .map_err(|error| Problem::environment(format!("waiting: {error}")))?;
        let mut came = Vec::new();
        while let Ok(Some(info)) = self.0.read_signal() {
            let signal = Signal::try_from(info.ssi_signo as i32);
            // SI_KERNEL, 0x80, means that it was typed at the terminal.
            came.extend(
                signal.ok().map(|signal| ReceivedSignal { signal, from_terminal: info.ssi_code == 0x80 }),
            );
        }
        Ok(came)
    }
}
