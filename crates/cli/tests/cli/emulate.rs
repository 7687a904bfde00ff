//! `tightlink emulate`.

use crate::kill::{all_gone, made_by, signal};
use crate::place::{Place, SOON, alone, root, within};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;

const LINK: [&str; 6] = ["emulate", "--rate", "20Mbit/s", "--delay", "10ms", "--"];

fn behind_the_link<'a>(program: &[&'a str]) -> Vec<&'a str> {
    LINK.into_iter().chain(program.iter().copied()).collect()
}

/// The next line the child's program writes.
fn line(child: &mut Child) -> String {
    let mut line = String::new();
    // Unbuffered, so that nothing of the next line is lost with this reader.
    let reader = child.stdout.as_mut().expect("piped");
    BufReader::with_capacity(1, reader).read_line(&mut line).expect("text");
    line.trim().to_owned()
}

/// Whether the process is there and not just waiting to be collected by whoever inherited it.
fn runs(process: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn the_programs_exit_code_and_output_are_ours() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let ended = place.run(&behind_the_link(&["sh", "-c", "echo $TIGHTLINK_NEAR $TIGHTLINK_FAR; exit 7"]));
        assert_eq!(ended.code, Some(7), "{}", ended.err);
        let addresses: Vec<&str> = ended.out.split_whitespace().collect();
        assert_eq!(addresses.len(), 2, "{}", ended.out);
        assert!(
            addresses.iter().all(|address| address.parse::<std::net::Ipv4Addr>().is_ok()),
            "{addresses:?}"
        );
        assert!(ended.err.starts_with("tight link: "), "{}", ended.err);
    }
}

#[test]
fn a_program_killed_by_a_signal_is_128_and_its_number() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        for (name, code) in [("TERM", 143), ("KILL", 137)] {
            let ended = place.run(&behind_the_link(&["sh", "-c", &format!("kill -{name} $$")]));
            assert_eq!(ended.code, Some(code), "{}", ended.err);
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let _alone = alone();
    if root() {
        let ended = Place::new().run(&behind_the_link(&["no-such-program"]));
        ended.failed(3, &["the command no-such-program", "No such file", "check its name"]);
    }
}

#[test]
fn the_round_trip_takes_twice_the_delay() {
    let _alone = alone();
    if root() {
        // A SYN to a port nobody listens on is answered at once by the far kernel.
        let once = "begin=$EPOCHREALTIME; (: < /dev/tcp/$TIGHTLINK_FAR/9) 2> /dev/null; end=$EPOCHREALTIME";
        let lap = "took=$(( ${end/./} - ${begin/./} )); echo $took; [ $took -lt 27000 ] && break";
        let line = format!("for try in {{1..100}}; do {once}; {lap}; done; true");
        let ended = Place::new().run(&behind_the_link(&["bash", "-c", &line])).well();
        let micros: Vec<u32> = ended.out.lines().map(|line| line.parse().expect("a number")).collect();
        // The subshell takes a few milliseconds of its own, many on a busy machine: the quickest of many counts.
        let least = micros.iter().min().expect("one or more");
        assert!((20_000..27_000).contains(least), "{micros:?} us");
    }
}

#[test]
fn ctrl_c_reaches_the_program() {
    let _alone = alone();
    if root() {
        let line_of_shell = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.02; done";
        let mut child = Place::new().start(&behind_the_link(&["sh", "-c", line_of_shell]));
        let made = made_by(&child);
        assert_eq!(line(&mut child), "ready");
        signal(&child, "INT");
        assert_eq!(line(&mut child), "caught");
        assert_eq!(child.wait().unwrap().code(), Some(9));
        all_gone(&made);
    }
}

#[test]
fn where_ctrl_c_was_ignored_the_program_ignores_it_and_other_signals_end_it() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let mut command = place.shell(
            "trap '' INT; exec \"$TIGHTLINK\" emulate --rate 20Mbit/s -- sh -c 'echo ready; exec sleep 1000'",
        );
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        assert_eq!(line(&mut child), "ready");
        signal(&child, "INT");
        assert!(!within(Duration::from_millis(300), || child.try_wait().unwrap().is_some()), "it ended");
        signal(&child, "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    }
}

#[test]
fn kill_9_takes_the_program_and_its_server_along() {
    let _alone = alone();
    if root() {
        let arguments = [
            "emulate",
            "--rate",
            "20Mbit/s",
            "--server",
            "exec sleep 1000",
            "--",
            "sh",
            "-c",
            "echo $$; exec sleep 1000",
        ];
        let mut child = Place::new().start(&arguments);
        let made = made_by(&child);
        let program = line(&mut child);
        assert!(runs(&program));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert!(within(SOON, || !runs(&program)), "the program lives on");
        all_gone(&made);
    }
}

#[test]
fn a_program_that_ends_leaves_nothing() {
    let _alone = alone();
    if root() {
        let mut child = Place::new().start(&behind_the_link(&["sh", "-c", "echo up; sleep 0.3"]));
        let made = made_by(&child);
        let mut rest = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("up\n", Some(0)));
        all_gone(&made);
    }
}

#[test]
fn options_that_make_no_link_are_refused() {
    let place = Place::new();
    let refused = |options: &[&str], words: &[&str]| {
        let arguments: Vec<&str> =
            ["emulate"].iter().chain(options).chain(&["--", "true"]).copied().collect();
        place.run(&arguments).failed(2, words);
    };
    refused(&["--rate", "0"], &["--rate"]);
    refused(&["--rate", "0Mbit/s"], &["--rate", "nothing would pass", "accepted: a rate above zero"]);
    refused(&["--rate", "20Mbits"], &["--rate", "unknown unit \"Mbits\""]);
    refused(
        &["--rate", "20Mbit/s", "--queue", "1bdp"],
        &["--queue", "product", "accepted: 1 packet or more"],
    );
    refused(&["--rate", "40Gbit/s"], &["rate", "40Gbit/s", "accepted"]);
    refused(&["--rate", "20Mbit/s", "--queue", "0packets"], &["--queue", "accepted"]);
    refused(
        &["--rate", "20Mbit/s", "--queue", "100B"],
        &["--queue: less room than one packet of 1.5kB", "accepted"],
    );
    refused(&["--rate", "20Mbit/s", "--queue", "some"], &["--queue"]);
    refused(&["--rate", "20Mbit/s", "--loss", "150%"], &["--loss"]);
    refused(&["--rate", "20Mbit/s", "--mtu", "100B"], &["mtu", "accepted"]);
    refused(&["--rate", "20Mbit/s", "--delay", "-1ms"], &["--delay", "a negative number"]);
    assert_eq!(place.run(&["emulate", "--rate", "20Mbit/s"]).code, Some(2), "no program");
}
