//! `tightlink emulate -- CMD`: any program behind the emulated tight link.
//!
//! ```text
//!   near namespace                                   far namespace
//!   CMD ($TIGHTLINK_NEAR) ──► tight link ──────────► server ($TIGHTLINK_FAR)
//!                         ◄────────── tight link ◄──
//! ```
//!
//! CMD runs at the near end. Its packets to `$TIGHTLINK_FAR`, and those that come back, pass a link of the
//! [`PathConfig`]. The configuration may leave the direction back without a link. The far end has only the optional
//! server command, which is started first and has up to ten seconds to listen. The two namespaces have no way out, no
//! DNS and no NAT, and another address is refused at once, so CMD can talk only to the server. Users with the rights
//! can start more programs at the far end with `nsenter --net=$TIGHTLINK_FAR_NETNS`.
//!
//! Both programs inherit the terminal and end with this process, even if it is killed. Programs that they leave in the
//! background have to end by themselves, and keep their namespace until then.

use crate::children::{collect, has_ended, has_failed, keep_ends};
use crate::namespace::before_exec;
use crate::tap::{PacketSink, TapThread};
use crate::{Attendant, EmuError, Namespace, Path, PathConfig, PathReport, User};
use host::waiting::ProcessTree;
use host::{PollFd, PollFlags};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::time::Duration;
use units::{Complaint, Span};

/// The time for which the server may take to listen before the command starts anyway.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);
/// The time after which the user reads that the command waits for the server. A server whose line has ended, and left a
/// program in the background, has this time from then on.
const SERVER_SOON: Duration = Duration::from_secs(2);
/// The time for which the server may take to end after SIGTERM.
const SERVER_GRACE: Duration = Duration::from_secs(1);
/// The longest time between two checks of the path and the programs.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The programs to run, and the path between them.
pub struct Shell {
    /// The path between the two ends.
    pub path: PathConfig,
    /// The program at the near end and its arguments.
    pub command: Vec<OsString>,
    /// Variables for that program, beyond those of this process and of the path.
    pub environment: Vec<(OsString, OsString)>,
    /// A line for `sh` at the far end, which is started first and ended last.
    pub server: Option<String>,
    /// The congestion control of both ends; `None`: the machine's.
    pub control: Option<String>,
    /// The user who runs both programs; `None`: the user of the calling process.
    pub user: Option<User>,
    /// The object that takes copies of all packets; `None`: none are made.
    pub sink: Option<Box<dyn PacketSink>>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The command's exit status, or 128 plus the signal that ended it: the status to exit with.
    pub code: u8,
    /// The report of the path, from the command's start to its end.
    pub report: PathReport,
    /// The congestion control of connections whose programs chose none.
    pub control: String,
    /// The number of packets that were not copied, or the error of the sink; `None`: no copies were asked for.
    pub copies: Option<io::Result<u64>>,
}

/// Runs the command and waits for it; `attendant` receives messages for a person meanwhile, and may show the path.
/// SIGINT, SIGTERM, SIGQUIT and SIGHUP sent to this process are passed to the command.
///
/// Call it from the main thread, before other threads start: the signals must reach this thread, and the programs live
/// only as long as the thread that started them.
///
/// # Errors
/// As for [`Path::start`]; [`EmuError::Missing`] if the command does not start; [`EmuError::Ended`] if the path ends
/// during the run.
pub fn run(shell: Shell, attendant: &mut dyn Attendant) -> Result<Outcome, EmuError> {
    let Some((program, arguments)) = shell.command.split_first() else {
        return Err(EmuError::Missing(
            Complaint::new("a command", "none")
                .help("name one after --: tightlink emulate --rate 100Mbit/s -- CMD"),
        ));
    };
    keep_ends();
    let signals = Signals::take(attendant.takes_terminal())?;
    let mut path = Path::start_with(shell.path, shell.sink)?;
    let (by_route, control) = match shell.control {
        Some(name) => (path.set_control(&name)?, name),
        None => (false, path.default_control()?),
    };
    let mut server = match &shell.server {
        Some(line) => Some(Server::start(&path, line, shell.user.as_ref(), &signals, attendant)?),
        None => None,
    };
    let begun = path.begin(Span::ZERO)?;
    let mut far = server.as_ref().map(|server| ProcessTree::of(server.child.id()));
    let mut command = path.sender().command_as(program, shell.user.as_ref());
    command.args(arguments).envs(shell.environment);
    at_ends(&path, &mut command);
    attendant.streams(&mut command).map_err(|error| EmuError::os("making the command's streams", error))?;
    signals.restored_in(&mut command);
    attendant.begin(&path)?;
    let mut child = command.spawn().map_err(|error| {
        // A command of one word with a space in it is probably a whole line in quotes, so the help names `sh -c`.
        let line = program.as_encoded_bytes().contains(&b' ') && arguments.is_empty();
        let help = if line {
            format!("to run a line of shell: -- sh -c '{}'", program.display())
        } else {
            "check its name and that it may be run".into()
        };
        let found = Complaint::new(format!("the command {}", program.display()), error.to_string());
        EmuError::Missing(found.help(help))
    })?;
    let mut near = ProcessTree::of(child.id());
    let own: Vec<u32> = server.iter().map(|server| server.child.id()).chain([child.id()]).collect();
    // The command keeps its end of the streams only, so that their other end notices the command's end.
    drop(command);
    let status = signals.attend(&mut child, Some(&path), attendant, &mut || {
        near.look();
        far.iter_mut().for_each(ProcessTree::look);
        collect(&own);
    });
    let ran = host::clock::now().duration_since(begun);
    let ran = Span::from_nanos(u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX));
    if status.is_err() {
        // The command is killed, because without the path it would wait for ever.
        let _ = child.kill();
        let _ = child.wait();
    }
    if let Some(server) = &mut server {
        let _ = server.end();
    }
    let status = status?;
    let tap = path.take_tap();
    let mut report = path.stop()?;
    let copies = tap.map(TapThread::join);
    let ran = ran.saturating_sub(report.stopped);
    report.hosts[0].waited = Some((near.longest(), ran));
    report.hosts[1].waited = far.map(|far| (far.longest(), ran));
    if by_route {
        report.notes.push(format!(
            "the route has {control}, which tcp_allowed_congestion_control does not list; it overrides a control that a \
             program chooses before it connects or listens"
        ));
    }
    Ok(Outcome { code: code(status), report, control, copies })
}

/// Runs `command` and waits for it as [`run`] does, at an end of a path of another process. Returns the status to exit
/// with.
///
/// # Errors
/// [`EmuError::Missing`] if the command does not start.
pub fn inside(mut command: std::process::Command, attendant: &mut dyn Attendant) -> Result<u8, EmuError> {
    keep_ends();
    let signals = Signals::take(attendant.takes_terminal())?;
    signals.restored_in(&mut command);
    let mut child = command.spawn().map_err(|error| {
        let program = command.get_program().display();
        let found = Complaint::new(format!("the command {program}"), error.to_string());
        EmuError::Missing(found.help("check its name and that it may be run"))
    })?;
    drop(command);
    signals.attend(&mut child, None, attendant, &mut || ()).map(code)
}

/// Gives a command the addresses of the ends, and the far namespace, as variables.
fn at_ends(path: &Path, command: &mut std::process::Command) {
    command
        .env("TIGHTLINK_NEAR", path.sender_address().to_string())
        .env("TIGHTLINK_FAR", path.receiver_address().to_string())
        .env("TIGHTLINK_FAR_NETNS", format!("/proc/{}/fd/{}", std::process::id(), path.receiver().raw()));
}

/// Converts a status to the number that a shell reports.
fn code(status: ExitStatus) -> u8 {
    status.code().map_or_else(|| 128u8.wrapping_add(status.signal().unwrap_or(0) as u8), |code| code as u8)
}

/// Signals to this process, which a descriptor reads while this value exists. Before and after, they act as usual.
struct Signals {
    descriptor: SignalFd,
    before: SigSet,
}

impl Signals {
    /// Takes the signals that are passed on, and SIGTSTP if `stop`.
    fn take(stop: bool) -> Result<Self, EmuError> {
        let mut set = SigSet::empty();
        let passed = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGHUP];
        for signal in passed.into_iter().chain([Signal::SIGCHLD]).chain(stop.then_some(Signal::SIGTSTP)) {
            set.add(signal);
        }
        let wrong = |errno: Errno| EmuError::os("taking charge of signals", errno);
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(wrong)?;
        let descriptor =
            SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map_err(wrong)?;
        Ok(Self { descriptor, before })
    }

    /// Lets a child start with the signal mask that this process had before.
    fn restored_in(&self, command: &mut std::process::Command) {
        let before = self.before;
        #[expect(unsafe_code, reason = "Command::pre_exec, by before_exec")]
        // SAFETY: the step makes one system call with a mask that it owns; its error is a code.
        unsafe {
            before_exec(command, move || Ok(before.thread_set_mask()?));
        }
    }

    /// Waits for `child` to end, passes signals on, and calls `look` regularly.
    fn attend(
        &self,
        child: &mut Child,
        path: Option<&Path>,
        attendant: &mut dyn Attendant,
        look: &mut dyn FnMut(),
    ) -> Result<ExitStatus, EmuError> {
        let leader = Pid::from_raw(child.id() as i32);
        let mut next_look = host::clock::now();
        loop {
            let now = host::clock::now();
            if now >= next_look {
                look();
                next_look = now + LOOK_EVERY;
            }
            if let Some(status) =
                child.try_wait().map_err(|error| EmuError::os("waiting for the command", error))?
            {
                return Ok(status);
            }
            if let Some(reason) = path.and_then(Path::failure) {
                return Err(EmuError::Ended(reason));
            }
            if let Some(signal) = attendant.look(path)? {
                // A terminal sends the signal of a key to a whole group. Sending fails if the group has just ended.
                let _ = killpg(leader, signal);
            }
            // The wait is limited, so that `look` is called regularly and a failure of the path, which sends no signal,
            // is noticed.
            pause(&self.descriptor, &attendant.descriptors(), LOOK_EVERY.min(attendant.pause()))?;
            let apart = attendant.has_terminal();
            while let Ok(Some(info)) = self.descriptor.read_signal() {
                // Ctrl-C on a terminal reaches the child as well; passing it on would send it twice.
                let reached = info.ssi_code == libc::SI_KERNEL && !apart;
                let signal = Signal::try_from(info.ssi_signo as i32).ok();
                if signal == Some(Signal::SIGTSTP) {
                    // Without a terminal the command did not get the signal. Sending fails if the group has just ended.
                    let _ = killpg(leader, Signal::SIGSTOP);
                    let stopped = attendant.stop();
                    let _ = killpg(leader, Signal::SIGCONT);
                    stopped.map_err(|error| EmuError::os("taking the terminal again", error))?;
                    continue;
                }
                if let Some(signal) = signal.filter(|signal| *signal != Signal::SIGCHLD && !reached) {
                    // Sending fails if the child has just ended.
                    let _ = kill(leader, signal);
                }
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Pending signals are discarded, because they were meant for a child that has ended. A SIGTERM that acted now
        // would hide its exit status.
        while let Ok(Some(_)) = self.descriptor.read_signal() {}
        let _ = self.before.thread_set_mask();
    }
}

/// Waits until `descriptor` or one of `others` can be read, at most `limit`.
fn pause(descriptor: &impl AsFd, others: &[BorrowedFd<'_>], limit: Duration) -> Result<(), EmuError> {
    let limit = Span::from_nanos(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    let own = PollFd::new(descriptor, PollFlags::IN);
    let mut all: Vec<PollFd<'_>> =
        [own].into_iter().chain(others.iter().map(|other| PollFd::new(other, PollFlags::IN))).collect();
    host::wait(&mut all, Some(limit))
        .map(drop)
        .map_err(|error| EmuError::os("waiting for the command", error))
}

/// The program at the far end.
struct Server {
    /// The server's process. Its number is also its group's. The exit status is collected last, so that no other
    /// program gets the number before.
    child: Child,
    ended: bool,
}

impl Server {
    fn start(
        path: &Path,
        line: &str,
        user: Option<&User>,
        signals: &Signals,
        attendant: &mut dyn Attendant,
    ) -> Result<Self, EmuError> {
        let mut command = path.receiver().command_as("sh", user);
        // The server has its own process group: Ctrl-C is for the command, and all programs that the line starts end
        // together.
        command.arg("-c").arg(line).process_group(0);
        at_ends(path, &mut command);
        attendant
            .streams(&mut command)
            .map_err(|error| EmuError::os("making the server's streams", error))?;
        signals.restored_in(&mut command);
        let child = command
            .spawn()
            .map_err(|error| EmuError::os(format!("starting the server ({line:?})"), error))?;
        let mut server = Self { child, ended: false };
        let begun = host::clock::now();
        let (mut patience, mut noted, mut has_line_ended) = (SERVER_PATIENCE, false, false);
        loop {
            if listens(path.receiver())? {
                break;
            }
            let waited = host::clock::now().duration_since(begun);
            if waited >= patience {
                attendant.note(&format!(
                    "nothing listens at the far end after {} s; the command starts without waiting for the server ({line:?})",
                    patience.as_secs()
                ));
                break;
            }
            if !has_line_ended && has_ended(&server.child) {
                has_line_ended = true;
                patience = patience.min(waited + SERVER_SOON);
            }
            if !noted && !has_line_ended && waited >= SERVER_SOON {
                noted = true;
                attendant.note(&format!(
                    "the command waits until the server ({line:?}) listens, at most {} s",
                    SERVER_PATIENCE.as_secs()
                ));
            }
            if has_failed(&server.child)
                && let Some(status) = server.end()
            {
                return Err(EmuError::Missing(
                    Complaint::new(format!("the server {line:?}"), format!("it ended at once ({status})"))
                        .help("try the line by itself; $TIGHTLINK_FAR is the address to listen on"),
                ));
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Sends SIGTERM to the server's whole group, then SIGKILL. Returns the status of the line at the first call only.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let group = Pid::from_raw(self.child.id() as i32);
        // An error means that the group's programs have ended already.
        let _ = killpg(group, Signal::SIGTERM);
        let deadline = host::clock::now() + SERVER_GRACE;
        while host::clock::now() < deadline && !has_ended(&self.child) {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        let _ = killpg(group, Signal::SIGKILL);
        self.child.wait().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Returns true if any program in `namespace` listens, on TCP or UDP.
fn listens(namespace: &Namespace) -> Result<bool, EmuError> {
    namespace.run(|| {
        let table =
            |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        // The fourth column is the state: 0A is LISTEN; a UDP socket without a peer is 07.
        let has = |text: String, state: &str| {
            text.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
        };
        has(table("tcp"), "0A")
            || has(table("tcp6"), "0A")
            || has(table("udp"), "07")
            || has(table("udp6"), "07")
    })
}
