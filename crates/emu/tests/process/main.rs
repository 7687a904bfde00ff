//! What concerns whole processes: rights, signals, exit codes, and that nothing is left behind. Each case runs
//! in a child made from this same program; its first argument says which part it plays.

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use testkit::{now, wait_until, within};
use tightlink_emu::shell::{self, Shell};
use tightlink_emu::{Namespace, Path, PathConfig, prepare, privilege};
use units::{Rate, Span};

/// An ordinary user: nobody.
const NOBODY: u32 = 65534;

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("an_ordinary_user_gets_a_path_in_a_user_namespace", ordinary_user),
    ("rights_are_refused_once_threads_run", too_late),
    ("the_commands_exit_code_is_ours", exit_codes),
    ("the_command_reaches_the_server_through_the_link", server),
    ("a_signal_to_us_goes_to_the_command", forwarded_signal),
    ("a_stop_is_no_stall_of_the_machine", stopped),
    ("nothing_is_left_after_a_normal_end", nothing_left_after_drop),
    ("nothing_is_left_after_kill_9", nothing_left_after_kill),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("play") => return play(&arguments[1..]),
        Some("--list") => return CASES.iter().for_each(|(name, _)| println!("{name}: test")),
        _ => {}
    }
    if !privilege::check().is_ok_and(|privilege| !privilege.user_namespace) {
        return testkit::could_not_judge("these tests start as root");
    }
    let wanted: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    for (name, case) in CASES {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            case();
            println!("test {name} ... ok");
        }
    }
}

/// The parts children play.
fn play(arguments: &[String]) {
    let part: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match part[..] {
        ["ordinary"] => {
            let privilege = prepare().expect("user namespaces are allowed here");
            assert!(privilege.user_namespace);
            let before = nix::unistd::geteuid();
            let path = Path::start(config()).expect("the path starts");
            let echoed = talk(&path);
            assert_eq!((before.as_raw(), echoed), (NOBODY, true));
            let report = path.stop().expect("the path is alive");
            println!("{} packets, notes {:?}", report.real().arrived, report.notes);
        }
        ["late"] => {
            let (done, wait) = std::sync::mpsc::channel::<()>();
            let other = std::thread::spawn(move || wait.recv());
            println!("{}", prepare().expect_err("threads run"));
            drop(done);
            let _ = other.join();
        }
        ["hold", traffic] => {
            let mut path = Path::start(config()).expect("the path starts");
            assert!(talk(&path));
            path.begin(Span::ZERO).expect("the path is alive");
            // The connection just used takes a few round trips to close.
            std::thread::park_timeout(Duration::from_millis(200));
            // A transfer under way, with data waiting in sockets, when the end comes.
            let transfer = (traffic == "busy").then(|| {
                let (source, sink) = connect(&path);
                let mut writer = source.try_clone().expect("a descriptor is free");
                let writing = std::thread::spawn(move || while writer.write_all(&[0; 65536]).is_ok() {});
                (source, sink, writing)
            });
            let mut asleep = path.sender().command("sleep").arg("1000").spawn().expect("sleep is there");
            println!("{} {} {}", path.sender().raw(), path.receiver().raw(), asleep.id());
            let mut line = String::new();
            // The test writes a line when the path may end, or kills this process.
            let _ = std::io::stdin().read_line(&mut line);
            asleep.kill().expect("it sleeps");
            asleep.wait().expect("it was killed");
            if let Some((source, _sink, writing)) = transfer {
                source.shutdown(Shutdown::Both).expect("it is connected");
                writing.join().expect("it ends when it cannot write");
            }
            drop(path);
            println!("dropped");
            let _ = std::io::stdin().read_line(&mut line);
        }
        ["stopped"] => {
            let sampled = PathConfig { sample_every: Some(Span::from_millis(20)), ..config() };
            let mut path = Path::start(sampled).expect("the path starts");
            path.begin(Span::ZERO).expect("the path is alive");
            println!("ready");
            // The test writes a line when the path may end.
            let _ = std::io::stdin().read_line(&mut String::new());
            let report = path.stop().expect("the path is alive");
            let times = [report.stopped, report.stalls.total, report.elapsed].map(Span::as_millis_f64);
            println!("{} {} {}", times[0], times[1], times[2]);
            println!("{}", report.notes.join("; "));
        }
        ["serve"] => {
            let address = std::env::var("TIGHTLINK_FAR").expect("the shell says where");
            let listener = TcpListener::bind((address.as_str(), 4000)).expect("a free port");
            for stream in listener.incoming().flatten() {
                (&stream).write_all(b"hello").expect("a client");
            }
        }
        ["client"] => {
            let address = std::env::var("TIGHTLINK_FAR").expect("the shell says where");
            let started = now();
            let stream = TcpStream::connect((address.as_str(), 4000)).expect("the server listens");
            let mut text = String::new();
            stream.take(5).read_to_string(&mut text).expect("a greeting");
            assert_eq!(text, "hello");
            assert!(started.elapsed() > Duration::from_millis(19), "the link was passed");
        }
        ["emulate", server, ref command @ ..] => {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            let server = (server != "-").then(|| server.to_owned());
            match shell::run(
                Shell {
                    path: config(),
                    command,
                    environment: Vec::new(),
                    server,
                    control: None,
                    user: None,
                    sink: None,
                },
                &mut |_: &str| (),
            ) {
                Ok(outcome) => std::process::exit(i32::from(outcome.code)),
                Err(error) => {
                    println!("{error}");
                    std::process::exit(3)
                }
            }
        }
        _ => panic!("no such part: {arguments:?}"),
    }
}

fn config() -> PathConfig {
    PathConfig::new(Rate::from_bps(50_000_000), Span::from_millis(5), link::Limit::Packets(100))
}

fn connect(path: &Path) -> (TcpStream, TcpStream) {
    let address = (path.receiver_address(), 4001);
    let listener =
        path.receiver().run(move || TcpListener::bind(address).expect("a free port")).expect("inside");
    let source = path.sender().run(move || TcpStream::connect(address).expect("a listener")).expect("inside");
    (source, listener.accept().expect("a connection").0)
}

/// Sends a word through the path.
fn talk(path: &Path) -> bool {
    let (mut source, mut sink) = connect(path);
    source.write_all(b"word").expect("the path carries it");
    let mut word = [0; 4];
    sink.read_exact(&mut word).is_ok() && word == *b"word"
}

fn part(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("play").args(arguments);
    command
}

fn output_of(mut command: Command) -> (i32, String) {
    let output = command.output().expect("the child starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), text.into_owned())
}

/// The exit code and output of `part`, played by an ordinary user.
fn play_as_nobody(part: &str) -> (i32, String) {
    // The program itself may lie where nobody may not look.
    let copy = std::env::temp_dir().join(format!("tightlink-emu-process-{}-{part}", std::process::id()));
    std::fs::copy(std::env::current_exe().expect("this program"), &copy).expect("room for a copy");
    // Machines differ in whom they let open /dev/net/tun. In a mount namespace of its own it is a device that anyone may.
    let tun = copy.with_extension("tun");
    let line = format!(
        "mknod {tun} c 10 200 && chmod 666 {tun} && mount --bind {tun} /dev/net/tun && \
         exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {copy} play {part}",
        tun = tun.display(),
        copy = copy.display(),
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &line]).current_dir("/");
    let ended = output_of(command);
    std::fs::remove_file(&copy).expect("the copy is ours");
    std::fs::remove_file(&tun).expect("the device is ours");
    ended
}

fn ordinary_user() {
    let (code, text) = play_as_nobody("ordinary");
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("ordinary priority"),
        "nobody may not use SCHED_FIFO, and the report says so: {text}"
    );
}

fn too_late() {
    let (_, text) = play_as_nobody("late");
    assert!(text.contains("2 threads run already"), "{text}");
    assert!(text.contains("call emu::prepare() first in main"), "{text}");
}

fn exit_codes() {
    for (line, expected) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)] {
        let (code, text) = output_of(part(&["emulate", "-", "sh", "-c", line]));
        assert_eq!(code, expected, "{line}: {text}");
    }
    let (code, text) = output_of(part(&["emulate", "-", "no-such-program"]));
    assert_eq!(code, 3, "{text}");
    assert!(text.starts_with("the command no-such-program: No such file"), "{text}");
}

fn server() {
    let this = std::env::current_exe().expect("this program").display().to_string();
    let line = format!("exec '{this}' play serve");
    let (code, text) = output_of(part(&["emulate", &line, &this, "play", "client"]));
    assert_eq!(code, 0, "{text}");
    let (code, text) = output_of(part(&["emulate", "exit 5", "true"]));
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("it ended at once (exit status: 5)"), "{text}");
}

fn forwarded_signal() {
    let line = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child =
        part(&["emulate", "-", "sh", "-c", line]).stdout(Stdio::piped()).spawn().expect("the child starts");
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next(), "ready");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).expect("it runs");
    assert_eq!(lines.next(), "caught");
    assert_eq!(child.wait().expect("it ends").code(), Some(9));
}

fn stopped() {
    let started = now();
    let mut child =
        part(&["stopped"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the child starts");
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next(), "ready");
    let process = Pid::from_raw(child.id() as i32);
    kill(process, Signal::SIGSTOP).expect("it runs");
    let state = || std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    assert!(within(Duration::from_secs(5), || state().contains(") T ")), "{}", state());
    let begun = now();
    wait_until(begun + Duration::from_millis(600));
    let stood = begun.elapsed().as_secs_f64() * 1e3;
    kill(process, Signal::SIGCONT).expect("it is stopped");
    // Some samples are due after the stop.
    wait_until(now() + Duration::from_millis(200));
    child.stdin.as_mut().expect("piped").write_all(b"\n").expect("it listens");
    let times: Vec<f64> = lines.next().split(' ').map(|word| word.parse().expect("a time")).collect();
    let all = started.elapsed().as_secs_f64() * 1e3;
    // The path notices a stop when its next sample is due, at most 20 ms after the beginning.
    assert!(
        times[0] + 20.1 >= stood && times[0] <= all,
        "stopped for {stood} of {all} ms, reported {times:?}"
    );
    assert!(times[1] < stood, "the stop counts as a stall: {times:?}");
    assert!(times[2] + stood <= all + 20.1, "the stop counts as measured time: {times:?} of {all} ms");
    let notes = lines.next();
    assert!(notes.contains("this process was stopped for "), "{notes}");
    assert!(child.wait().expect("it ends").success());
}

fn nothing_left_after_drop() {
    let (mut child, mut lines, watch) = held("busy");
    child.stdin.as_mut().expect("piped").write_all(b"\n").expect("it listens");
    assert_eq!(lines.next(), "dropped");
    watch.all_gone();
    child.kill().expect("it waits");
    child.wait().expect("it was killed");
}

fn nothing_left_after_kill() {
    // Without an open connection: the kernel would try for some two minutes to close it in good order, and its
    // namespace, empty by then, would stay as long.
    let (mut child, _lines, watch) = held("idle");
    assert!(std::fs::exists(format!("/proc/{}", watch.program)).expect("proc is there"));
    child.kill().expect("it waits");
    assert_eq!(child.wait().expect("it was killed").signal(), Some(9));
    watch.all_gone();
    let gone = || !running(watch.program);
    assert!(within(Duration::from_secs(2), gone), "the program inside dies with us");
}

/// A child that holds a path, and something that sees when its namespaces are gone.
fn held(traffic: &str) -> (Child, Lines, Watch) {
    let mut child = part(&["hold", traffic])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let mut lines = Lines::of(&mut child);
    let numbers: Vec<u32> = lines.next().split(' ').map(|word| word.parse().expect("a number")).collect();
    let watch = Watch::on(child.id(), &numbers[..2], numbers[2]);
    (child, lines, watch)
}

/// Sees namespaces without holding them: the kernel numbers those that another one knows, and takes the number
/// back when they go.
struct Watch {
    from: Namespace,
    program: u32,
}

impl Watch {
    fn on(process: u32, descriptors: &[u32], program: u32) -> Self {
        let from = Namespace::new().expect("root may");
        for (id, descriptor) in descriptors.iter().enumerate() {
            let file = File::open(format!("/proc/{process}/fd/{descriptor}")).expect("the child holds it");
            from.run(move || number(&file, id as i32).expect("root may")).expect("inside");
        }
        let watch = Self { from, program };
        assert_eq!(watch.count(), descriptors.len());
        watch
    }

    fn count(&self) -> usize {
        let output = self.from.command("ip").args(["netns", "list-id"]).output().expect("ip runs");
        String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains("nsid")).count()
    }

    fn all_gone(&self) {
        // The kernel removes namespaces in the background, and a closing connection may try once more to say so.
        let started = now();
        let gone = within(Duration::from_secs(20), || self.count() == 0);
        assert!(gone, "{} namespaces are left", self.count());
        println!("  namespaces gone after {} ms", started.elapsed().as_millis());
    }
}

/// Has the calling thread's namespace know the one behind `file` by the number `id` (RTM_NEWNSID).
fn number(file: &File, id: i32) -> nix::Result<()> {
    const RTM_NEWNSID: u16 = 88;
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    let mut message = Vec::new();
    message.extend_from_slice(&36u32.to_ne_bytes());
    message.extend_from_slice(&RTM_NEWNSID.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    // Sequence, port and an empty rtgenmsg; then NETNSA_NSID (1) and NETNSA_FD (3), eight bytes each.
    message.resize(20, 0);
    for (kind, value) in [(1u16, id), (3, file.as_raw_fd())] {
        message.extend_from_slice(&8u16.to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&value.to_ne_bytes());
    }
    let protocol = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    send(socket.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 128];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    assert!(length >= 20, "an acknowledgement");
    let code = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    if code == 0 { Ok(()) } else { Err(nix::Error::from_raw(-code)) }
}

/// A child's standard output, line by line.
struct Lines(BufReader<ChildStdout>);

impl Lines {
    fn of(child: &mut Child) -> Self {
        Self(BufReader::new(child.stdout.take().expect("piped")))
    }

    fn next(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("the child writes text");
        line.trim_end().to_owned()
    }
}

/// Whether the process is there and not just waiting to be collected.
fn running(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
