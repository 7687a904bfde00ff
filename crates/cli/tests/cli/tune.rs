//! `tightlink tune` from outside: the test's own connections, and those of programs.

use crate::place::{Ended, Place, SOON, end, root, within};
use host::TcpInfo;
use host::options::{RECEIVE_LOCK, buffer_lock, receive_buffer, window_clamp};
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use testkit::could_not_judge;
use testkit::tries::{in_one_of_five, in_time};
use units::Bytes;

/// A connection of this process over loopback through which data flows until it is dropped.
pub struct Stream {
    pub receiver: TcpStream,
    listener: TcpListener,
    moved: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Stream {
    pub fn new() -> Self {
        Self::with_buffer(None)
    }

    /// Whose receiver has this `SO_RCVBUF` from before the connection.
    pub fn with_buffer(size: Option<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        if let Some(size) = size {
            SockRef::from(&listener).set_recv_buffer_size(size).expect("a size");
        }
        let mut sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (receiver, _) = listener.accept().expect("a connection");
        let mut reader = receiver.try_clone().expect("a descriptor");
        let (moved, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop) = (Arc::clone(&moved), Arc::clone(&over));
        let writing = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) && sender.write_all(&[0; 20_000]).is_ok() {
                std::thread::park_timeout(Duration::from_millis(1));
            }
        });
        let reading = std::thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Self { receiver, listener, moved, over, threads: vec![writing, reading] }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().expect("bound").port()
    }

    pub fn clamp(&self) -> Bytes {
        window_clamp(&self.receiver).expect("a TCP socket")
    }

    pub fn is_locked(&self) -> bool {
        buffer_lock(&self.receiver).expect("Linux 5.14") & RECEIVE_LOCK != 0
    }

    /// Whether data still moves: more than may have been waiting in a buffer.
    pub fn flows(&self) -> bool {
        let before = self.moved.load(Ordering::Relaxed);
        within(SOON, || self.moved.load(Ordering::Relaxed) > before + 2_000_000)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("it does not panic");
        }
    }
}

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

pub fn own_pid() -> String {
    std::process::id().to_string()
}

fn ended(child: Child) -> Ended {
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn a_running_programs_window_is_held_and_given_back_when_it_is_interrupted() {
    if !root() {
        return;
    }
    for (name, json) in [("INT", true), ("TERM", false)] {
        let (place, stream) = (Place::new(), Stream::new());
        let (before, port) = (receive_buffer(&stream.receiver).expect("a size"), stream.port().to_string());
        assert!(!stream.is_locked() && stream.flows(), "it is under way");
        let mut arguments = vec!["tune", "--window", "40kB", "--port", &port, "--pid"];
        let pid = own_pid();
        arguments.push(&pid);
        arguments.extend(json.then_some("--json"));
        let child = place.start(&arguments);
        let window = Bytes::new(40_000);
        assert!(within(SOON, || stream.clamp() == window), "the window is {}", stream.clamp());
        assert!(stream.is_locked() && stream.flows());
        // Linux sets another limit when segments change their share of a buffer; `tune` then sets the window again.
        assert!(within(SOON, || stream.clamp() == window), "while data flows: {}", stream.clamp());
        signal(&child, name);
        let ended = ended(child).well();
        assert!(stream.clamp() > Bytes::new(1_000_000), "{}", stream.clamp());
        assert!(!stream.is_locked(), "autotuning is on again");
        // Not the 128 MB that tune gave it; the kernel's own tuning goes up to tcp_rmem for a reader that comes late.
        let after = receive_buffer(&stream.receiver).expect("a size");
        assert!(after <= before.max(Bytes::new(64 << 20)), "{after}");
        assert!(stream.flows(), "the program is unharmed");
        if json {
            // Both ends are this process's.
            let report = ended.json();
            let ours = report
                .iter()
                .find(|line| line["local"].as_str().is_some_and(|at| at.ends_with(&format!(":{port}"))));
            let ours = ours.expect("the receiving end is in the report");
            assert_eq!((&ours["window_bytes"], &ours["given_back"]), (&40_000.into(), &true.into()));
            assert!(ours["before"]["goodput_bps"].as_f64().expect("it was under way") > 0.0, "{ours}");
            assert!(ours["received_bytes"].as_u64().expect("a number") > 100_000, "{ours}");
            let theirs = report.iter().find(|line| line["peer"] == ours["local"]);
            let theirs = theirs.expect("the sending end is in the report");
            assert!(theirs["sent_bytes"].as_u64().expect("a number") > 100_000, "{theirs}");
            assert_eq!(ours["pid"], std::process::id());
        } else {
            assert!(
                ended.out.contains("given back to the kernel") && ended.out.contains("window 40.0 kB"),
                "{}",
                ended.out
            );
            assert!(ended.err.contains("taken over"), "{}", ended.err);
            assert!(ended.out.contains("before: ") && !ended.out.contains('?'), "{}", ended.out);
            // Of the two ends the one that sends, and no other.
            assert_eq!(ended.out.matches("run tune at the receiving end").count(), 1, "{}", ended.out);
        }
    }
}

#[test]
fn only_windows_that_the_connection_can_advertise_are_named() {
    if !root() {
        return;
    }
    // 65 536 bytes of buffer: the window has no scale, whatever is asked for later.
    for (window, json) in [("2MB", true), ("max", true), ("2MB", false)] {
        let (place, stream) = (Place::new(), Stream::with_buffer(Some(32_768)));
        let local = stream.receiver.local_addr().expect("bound");
        let (pid, port) = (own_pid(), local.port().to_string());
        let mut arguments = vec!["tune", "--window", window, "--port", &port, "--pid", &pid];
        arguments.extend(json.then_some("--json"));
        let child = place.start(&arguments);
        let buffer = || receive_buffer(&stream.receiver).expect("a size");
        assert!(within(SOON, || buffer() > Bytes::new(1_000_000)), "it is not taken over: {}", buffer());
        assert!(stream.flows());
        signal(&child, "INT");
        let ended = ended(child).well();
        if json {
            let report = ended.json();
            let ours =
                report.iter().find(|line| line["local"] == local.to_string()).expect("it is in the report");
            assert_eq!(
                (&ours["window_bytes"], &ours["largest_window_bytes"]),
                (&65_535.into(), &65_535.into())
            );
        } else {
            for words in ["window 65.5 kB", "can advertise 65.5 kB at most", "SO_RCVBUF"] {
                assert!(ended.out.contains(words), "{words:?}: {}", ended.out);
            }
        }
    }
    let none = Place::new().run(&["tune", "--window", "5GB", "--pid", &own_pid()]);
    none.failed(2, &["no TCP connection has a window of more than 1.07 GB", "1.07372544GB", "--window max"]);
}

#[test]
fn a_connection_that_the_program_closes_is_closed() {
    if !root() {
        return;
    }
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let port = address.port().to_string();
    let child = place.start(&["tune", "--window", "50kB", "--json", "--port", &port, "--pid", &own_pid()]);
    // It comes up only now.
    let mut client = TcpStream::connect(address).expect("it listens");
    let (server, _) = listener.accept().expect("a connection");
    client.write_all(&[0; 100_000]).ok();
    assert!(within(SOON, || window_clamp(&server).is_ok_and(|clamp| clamp == Bytes::new(50_000))));
    drop(server);
    // If tune held the socket, the end would never come.
    client.set_read_timeout(Some(SOON)).expect("above zero");
    assert!(
        !matches!(client.read(&mut [0; 10]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    );
    std::thread::park_timeout(Duration::from_millis(300));
    signal(&child, "INT");
    let report = ended(child).well().json();
    let ours = report.iter().find(|line| line["local"] == address.to_string()).expect("it was taken over");
    assert_eq!(ours["given_back"], false, "{ours}");
}

#[test]
fn a_command_it_starts_is_tuned_and_so_are_its_children() {
    if !root() {
        return;
    }
    in_one_of_five(|| {
        let (place, listener) = (Place::new(), TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = listener.local_addr().expect("bound").port();
        let sending = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the command connects");
            for _ in 0..150 {
                if stream.write_all(&[b'x'; 20_000]).is_err() {
                    return;
                }
                std::thread::park_timeout(Duration::from_millis(10));
            }
        });
        // A child of a child reads.
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; (cat <&3 | wc -c); exit 7");
        let ended = end(place.program(&["tune", "--window", "60kB", "--json", "--", "bash", "-c", &line]));
        sending.join().expect("no panic");
        assert_eq!(ended.code, Some(7), "the command's own\n{}", ended.err);
        let (count, report) = ended.out.split_once('\n').expect("the command's output, then the report");
        assert_eq!(count.trim(), "3000000");
        let report: serde_json::Value =
            serde_json::from_str(report.lines().next().expect("a line")).expect("JSON");
        assert_eq!(
            (&report["window_bytes"], &report["peer"]),
            (&60_000.into(), &format!("127.0.0.1:{port}").into())
        );
        in_time(report["received_bytes"].as_u64().expect("a number") > 1_000_000, report)
    });
}

#[test]
fn sobas_watches_a_transfer_under_way_and_ends_with_the_program() {
    if !root() {
        return;
    }
    in_one_of_five(|| {
        let (place, listener) = (Place::new(), TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = listener.local_addr().expect("bound").port();
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; exec cat <&3 >/dev/null");
        let mut program = Command::new("bash").args(["-c", &line]).spawn().expect("bash");
        let (mut stream, _) = listener.accept().expect("the program connects");
        stream.write_all(&[0; 1_000_000]).expect("it reads");
        let child = place.start(&["tune", "--json", "--pid", &program.id().to_string()]);
        // It is watched for 0.8 s before it is taken over.
        for _ in 0..200 {
            stream.write_all(&[0; 20_000]).expect("it reads");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        drop(stream);
        program.wait().expect("it ends");
        let report = ended(child).well().json();
        in_time(!report.is_empty(), "it was over before it was tuned")?;
        assert_eq!(report.len(), 1);
        let phases = report[0]["phases"].as_array().expect("a list");
        assert_eq!(phases[0]["phase"], "watch", "{}", report[0]);
        assert!(phases[0]["reason"].as_str().expect("text").contains("under way"), "{}", report[0]);
        Ok(())
    });
}

#[test]
fn what_cannot_be_tuned_is_said_and_how_to_mend_it() {
    let (place, pid) = (Place::new(), own_pid());
    place.run(&["tune", "--pid", "4194303"]).failed(2, &["no process has the id 4194303", "pgrep"]);
    place
        .run(&["tune", "--pid", &pid, "--window", "400kb/s"])
        .failed(2, &["no sizer is called \"400kb/s\"", "400kB"]);
    place.run(&["tune", "--pid", &pid, "--window", "0B"]).failed(2, &["nothing would come"]);
    place.run(&["tune", "--", "/no/such/program"]).failed(3, &["/no/such/program", "does not start"]);
    for arguments in [&["tune"][..], &["tune", "--pid", "0"], &["tune", "--pid", "1", "--", "true"]] {
        let ended = place.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.err);
    }
    let mut idle = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("sleep");
    let ended = place.run(&["tune", "--pid", &idle.id().to_string()]);
    idle.kill().and_then(|()| idle.wait()).expect("ours to end");
    ended.failed(2, &["(sleep) has no TCP socket", "check the number"]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port().to_string();
    // No ordinary port.
    place.run(&["tune", "--pid", &pid, "--port", "1"]).failed(2, &["port 1 at either end", &port]);
}

#[test]
fn another_users_program_is_refused_with_the_remedy() {
    if !root() {
        return;
    }
    let (place, pid) = (Place::new(), own_pid());
    let mut program = place.program(&["tune", "--pid", &pid]);
    // Nobody, who may not look at what root runs; the program itself must be readable to them.
    program.uid(65_534).gid(65_534).current_dir("/");
    match program.output() {
        Ok(output) => Ended::from(output).failed(3, &["may not be tuned", "run as root"]),
        Err(error) => could_not_judge(format_args!("nobody may not run the program ({error})")),
    }
}

#[test]
fn a_programs_name_cannot_write_to_the_terminal() {
    let place = Place::new();
    // A program's name is that of its file; whoever runs it may also set it (prctl).
    let name = "\x1b]0;owned\x07\n";
    let start = |program: &str, arguments: &[&str]| {
        let copy = place.path().join(name);
        // By a process of its own: a child of another test could hold the copy open for writing.
        assert!(Command::new("cp").arg(program).arg(&copy).status().expect("cp runs").success());
        Command::new(copy).args(arguments).stdin(Stdio::null()).spawn().expect("the copy starts")
    };
    let mut idle = start("/bin/sleep", &["60"]);
    let refused = place.run(&["tune", "--pid", &idle.id().to_string()]);
    idle.kill().and_then(|()| idle.wait()).expect("ours to end");
    refused.failed(2, &["(\\u{1b}]0;owned\\u{7}\\n) has no TCP socket"]);
    assert!(!refused.err.contains('\x1b'), "{:?}", refused.err);
    if !root() {
        return;
    }
    for json in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port().to_string();
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; read line <&3");
        let mut program = start("/bin/bash", &["-c", &line]);
        let (mut stream, _) = listener.accept().expect("the program connects");
        let pid = program.id().to_string();
        let arguments = ["tune", "--window", "50kB", "--pid", &pid];
        let child = place.start(&[&arguments[..], if json { &["--json"] } else { &[] }].concat());
        // The window that the program grants shrinks as data comes.
        let held = |stream: &mut TcpStream| {
            stream.write_all(&[b'x'; 2000]).expect("it reads");
            TcpInfo::of(stream).expect("a TCP socket").snd_wnd.expect("Linux 5.4") <= Bytes::new(60_000)
        };
        assert!(within(SOON, || held(&mut stream)), "it is not tuned");
        stream.write_all(b"over\n").expect("it reads");
        program.wait().expect("it ends");
        let ended = ended(child).well();
        assert!(!(ended.out.clone() + &ended.err).contains('\x1b'), "{:?} {:?}", ended.out, ended.err);
        if json {
            assert_eq!(ended.json()[0]["program"], name, "data stays data");
        } else {
            assert!(ended.out.contains(", \\u{1b}]0;owned\\u{7}\\n)"), "{}", ended.out);
        }
    }
}

#[test]
fn what_a_killed_tune_left_is_given_back_by_restore() {
    if !root() {
        return;
    }
    let setting = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_rmem").expect("Linux");
    let largest: u64 =
        setting.split_whitespace().nth(2).and_then(|number| number.parse().ok()).expect("three numbers");
    for json in [false, true] {
        let (place, listener) = (Place::new(), TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = listener.local_addr().expect("bound").port().to_string();
        // The connection is that of a child of the process that is named.
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 >/dev/null; exit 0");
        let mut program = Command::new("bash").args(["-c", &line]).spawn().expect("bash");
        let (mut stream, _) = listener.accept().expect("the program connects");
        let pid = program.id().to_string();
        let mut window = || {
            stream.write_all(&[0; 200_000]).expect("it reads");
            TcpInfo::of(&stream).expect("a TCP socket").snd_wnd.expect("Linux 5.4")
        };
        let mut child = place.start(&["tune", "--window", "100kB", "--pid", &pid]);
        let small = |window: Bytes| window > Bytes::new(90_000) && window < Bytes::new(103_000);
        // For a while: the kernel overwrites the limit once, after the first data.
        assert!(within(SOON, || (0..50).all(|_| small(window()))), "the window is {}", window());
        child.kill().expect("it runs");
        child.wait().expect("it was killed");
        for _ in 0..50 {
            assert!(small(window()), "it stays where it was left: {}", window());
        }
        let arguments = ["tune", "--restore", "--port", &port, "--pid", &pid];
        let ended = place.run(&[&arguments[..], if json { &["--json"] } else { &[] }].concat()).well();
        assert!(within(SOON, || window() > Bytes::new(500_000)), "it is not lifted: {}", window());
        if json {
            let report = ended.json();
            assert_eq!(report.len(), 1, "{report:?}");
            assert_eq!(report[0]["before"]["autotuned"], false, "{}", report[0]);
            assert_eq!(report[0]["now"]["autotuned"], true, "{}", report[0]);
            assert_eq!((&report[0]["given_back"], &report[0]["program"]), (&true.into(), &"bash".into()));
            let buffer = |when: &str| report[0][when]["buffer_bytes"].as_u64().expect("a number");
            assert!(buffer("now") <= largest && buffer("before") > 10_000_000, "{}", report[0]);
        } else {
            for words in
                [&format!("127.0.0.1:{port} -> 127.0.0.1:")[..], "window limit 100kB lifted", "on again"]
            {
                assert!(ended.out.contains(words), "{words:?}: {}", ended.out);
            }
        }
        // Again: nothing is left to do, and nothing is harmed.
        let again = place.run(&arguments).well();
        assert!(again.out.contains("autotuning was on"), "{}", again.out);
        drop(stream);
        assert!(program.wait().expect("it ends").success());
    }
}

#[test]
fn what_cannot_be_restored_is_said() {
    let (place, pid) = (Place::new(), own_pid());
    place.run(&["tune", "--restore", "--pid", "4194303"]).failed(2, &["no process has the id 4194303"]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port().to_string();
    place
        .run(&["tune", "--restore", "--pid", &pid, "--port", "1"])
        .failed(2, &["port 1 at either end", &port]);
    let usage: [&[&str]; 3] = [
        &["tune", "--restore"],
        &["tune", "--restore", "--", "true"],
        &["tune", "--restore", "--pid", &pid, "--window", "1MB"],
    ];
    for arguments in usage {
        let ended = place.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.err);
    }
    if root() {
        let mut program = place.program(&["tune", "--restore", "--pid", &pid]);
        program.uid(65_534).gid(65_534).current_dir("/");
        match program.output() {
            Ok(output) => Ended::from(output).failed(3, &["may not be tuned", "run as root"]),
            Err(error) => could_not_judge(format_args!("nobody may not run the program ({error})")),
        }
    }
}
