//! `tightlink diagnose` of running connections from outside: the report, the rights it needs, and its errors.

use crate::place::{Ended, Place, SOON, alone, end, root, within};
use crate::tune::{Stream, own_pid, signal};
use serde_json::Value;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const NOBODY: u32 = 65_534;

/// A program of the user nobody that sends to this process until it is dropped.
struct Sender {
    child: Child,
    port: u16,
    over: Arc<AtomicBool>,
    reading: Option<JoinHandle<()>>,
}

impl Sender {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat /dev/zero >&3; true")]);
        bash.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null()).uid(NOBODY).gid(NOBODY);
        let child = bash.spawn().expect("bash");
        let (mut stream, _) = listener.accept().expect("bash connects");
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let reading = std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            // The program ends when the connection is closed.
            while !stop.load(Ordering::Relaxed) && stream.read(&mut buffer).is_ok_and(|length| length > 0) {
                std::thread::park_timeout(std::time::Duration::from_millis(2));
            }
        });
        Self { child, port, over, reading: Some(reading) }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.reading.take().map(JoinHandle::join);
        let _ = self.child.wait();
    }
}

/// The program as the user nobody. A program that this user may read is a copy in `place`.
fn as_nobody(place: &Place, arguments: &[&str]) -> Ended {
    let copy = place.path().join("tightlink");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_tightlink"), &copy).expect("room");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path(), open).expect("own folder");
    }
    let mut command = place.here(Command::new(copy));
    command.args(arguments).uid(NOBODY).gid(NOBODY);
    end(command)
}

/// The shares of an object add up to one.
fn add_up(case: &Value) -> bool {
    let shares = case["shares"].as_object().expect("shares").values();
    (shares.filter_map(Value::as_f64).sum::<f64>() - 1.0).abs() < 1e-9
}

#[test]
fn the_connections_of_a_program_are_reported_with_shares_that_add_up() {
    let (place, stream) = (Place::new(), Stream::new());
    assert!(stream.flows());
    let port = stream.port().to_string();
    let arguments = ["diagnose", "--pid", &own_pid(), "--port", &port, "--for", "600ms"];
    let text = place.run(&arguments).well();
    let lines: Vec<&str> = text.out.lines().collect();
    assert!(lines[0].contains(&format!(":{port}: process {} (", own_pid())), "{}", text.out);
    assert!(lines[1].contains("bit/s, ") && lines[2].starts_with("  ["), "{}", text.out);
    for line in lines.iter().filter(|line| !line.starts_with("    ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let percents = text.out.split(" %").filter_map(|part| part.rsplit(' ').next()?.parse::<u32>().ok());
    assert!(percents.take_while(|percent| *percent <= 100).count() > 0, "{}", text.out);
    let json = place.run(&[&arguments[..], &["--json"]].concat()).well().json();
    assert_eq!(json.len(), 1, "both ends are here, and one direction has data");
    assert!(add_up(&json[0]), "{}", json[0]);
    assert_eq!(json[0]["vantage"], "sender-socket");
    assert_eq!(json[0]["pid"], std::process::id());
    assert!(json[0]["delivered_bytes"].as_u64() > Some(1_000_000), "{}", json[0]);
}

#[test]
fn control_c_gives_the_report_so_far() {
    let (place, stream) = (Place::new(), Stream::new());
    let port = stream.port().to_string();
    let child = place.start(&["diagnose", "--port", &port, "--for", "1h", "--json"]);
    testkit::wait_until(testkit::now() + std::time::Duration::from_millis(1500));
    signal(&child, "INT");
    let json = Ended::from(child.wait_with_output().expect("it ends")).well().json();
    let observed = json[0]["observed_s"].as_f64();
    assert!(observed > Some(0.2) && observed < Some(60.0), "{}", json[0]);
}

#[test]
fn an_ordinary_user_sees_every_connection_and_the_own_programs() {
    let _alone = alone();
    if !root() {
        return;
    }
    let (place, sender, ours) = (Place::new(), Sender::new(), Stream::new());
    let pid = sender.child.id().to_string();
    let json = as_nobody(&place, &["diagnose", "--pid", &pid, "--for", "500ms", "--json"]).well().json();
    assert_eq!(json[0]["pid"], sender.child.id(), "{}", json[0]);
    assert!(json[0]["destination"].as_str().is_some_and(|to| to.ends_with(&format!(":{}", sender.port))));
    // A connection between programs of other users.
    let port = ours.port().to_string();
    let json = as_nobody(&place, &["diagnose", "--port", &port, "--for", "500ms", "--json"]).well().json();
    assert!(json[0]["pid"].is_null() && add_up(&json[0]), "{}", json[0]);
    // The descriptors of another user's program are not to be seen.
    let refused = as_nobody(&place, &["diagnose", "--pid", &own_pid(), "--for", "500ms"]);
    refused.failed(3, &["cannot be listed", "--port N or --to HOST", "or as root"]);
    let hidden = "mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups \
                  ./tightlink diagnose --for 500ms --pid ";
    let mut command = place.here(Command::new("unshare"));
    // The shell itself has the id, so that the process surely exists.
    command.args(["-m", "sh", "-c", &format!("mount --make-rprivate /; {hidden}{}", own_pid())]);
    end(command).failed(3, &["hidepid", "--port N or --to HOST"]);
}

#[test]
fn a_program_in_another_network_namespace_is_named_with_the_command_to_enter_it() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let mut elsewhere = Command::new("unshare");
    let mut child = elsewhere.args(["-n", "sleep", "60"]).spawn().expect("unshare");
    let pid = child.id().to_string();
    let own = std::fs::read_link("/proc/self/ns/net").expect("a namespace");
    assert!(within(SOON, || std::fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|its| its != own)));
    let refused = place.run(&["diagnose", "--pid", &pid, "--for", "500ms"]);
    child.kill().expect("it sleeps");
    child.wait().expect("it was killed");
    let command = format!("nsenter -t {pid} -n tightlink diagnose --pid {pid}");
    refused.failed(3, &["another network namespace", &command]);
}

#[test]
fn requests_that_cannot_be_met_are_refused_with_the_way_out() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listens = listener.local_addr().expect("bound").port().to_string();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let quic = udp.local_addr().expect("bound").port().to_string();
    for (arguments, code, words) in [
        (&["--for", "0s"][..], 2, &["not a time", "100ms to 24h"][..]),
        (&["--for", "400000h"], 2, &["100ms to 24h"]),
        (&["--pid", "4000000"], 2, &["no process has the id 4000000", "pgrep"]),
        (&["--to", "no-such-host.invalid", "--for", "1s"], 2, &["--to no-such-host.invalid", "192.0.2.1"]),
        (&["--port", &listens, "--for", "200ms"], 2, &["no TCP connection", "it listens"]),
        (&["--port", &quic, "--for", "200ms"], 2, &["no TCP connection", "QUIC"]),
        (&["--to", "192.0.2.77", "--for", "200ms"], 2, &["host 192.0.2.77 had no TCP connection"]),
        (&["nothing.pcap"], 2, &["nothing.pcap"]),
    ] {
        place.run(&[&["diagnose"][..], arguments].concat()).failed(code, words);
    }
    let _idle = std::net::TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let idle = place.run(&["diagnose", "--port", &listens, "--for", "300ms"]);
    idle.failed(2, &["2 TCP connections, and no data moved", "--for 60s"]);
}

#[test]
fn a_refusal_half_way_keeps_the_readings_and_says_why_they_ended() {
    let _alone = alone();
    let (place, stream) = (Place::new(), Stream::new());
    assert!(stream.flows());
    let port = stream.port().to_string();
    let arguments = ["diagnose", "--pid", &own_pid(), "--port", &port, "--for", "1h", "--json"];
    let child = place.start(&arguments);
    testkit::wait_until(testkit::now() + std::time::Duration::from_millis(1000));
    // From now on the program cannot open any file, so it cannot list the descriptors of the process again.
    let id = child.id().to_string();
    let limited = Command::new("prlimit").args(["--pid", &id, "--nofile=3:3"]).status().expect("util-linux");
    assert!(limited.success());
    let ended = Ended::from(child.wait_with_output().expect("it ends")).well();
    assert!(
        ended.err.contains("note: the watching ended after ") && ended.err.contains("Too many open files")
    );
    let json = ended.json();
    assert!(json[0]["delivered_bytes"].as_u64() > Some(0) && add_up(&json[0]), "{}", json[0]);
}
