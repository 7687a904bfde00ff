//! `tightlink emulate`.

use crate::kill::{all_gone, made_by, signal};
use crate::place::{Ended, Place, SOON, alone, end, root, within};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LINK: [&str; 6] = ["emulate", "--rate", "20Mbit/s", "--delay", "10ms", "--"];

/// What `sudo` leaves in the environment when nobody calls it.
const SUDO: [(&str, &str); 2] = [("SUDO_UID", "65534"), ("SUDO_GID", "65534")];

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
        assert!(ended.err.contains("note: no packet crossed the link; "), "{}", ended.err);
        assert!(
            addresses.iter().all(|address| address.parse::<std::net::Ipv4Addr>().is_ok()),
            "{addresses:?}"
        );
        let said: Vec<&str> = ended.err.lines().collect();
        assert!(
            said[0].starts_with("to the far end:   ") && said[1].starts_with("from the far end: "),
            "{said:?}"
        );
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
            "exec python3 -m http.server --bind $TIGHTLINK_FAR 8000 >/dev/null 2>&1",
            "--",
            "sh",
            "-c",
            "echo $$; exec sleep 1000",
        ];
        for sudo in [false, true] {
            let place = Place::new();
            let mut command = place.program(&arguments);
            if sudo {
                command.envs(SUDO);
            }
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
            let made = made_by(&child);
            let program = line(&mut child);
            let ran = runs(&program);
            child.kill().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(9));
            assert!(ran, "{program:?} is no process");
            assert!(within(SOON, || !runs(&program)), "the program lives on (as another user: {sudo})");
            all_gone(&made);
        }
    }
}

/// Runs `tightlink emulate` with `options` before the command, as `sudo` called by nobody would.
fn under_sudo(variables: &[(&str, &str)], options: &[&str], program: &[&str]) -> Ended {
    let arguments: Vec<&str> =
        LINK[..5].iter().chain(options).chain(&["--"]).chain(program).copied().collect();
    let place = Place::new();
    let mut command = place.program(&arguments);
    command.env("HOME", "/root").env("USER", "root").env("LOGNAME", "root").envs(variables.iter().copied());
    end(command)
}

#[test]
fn sudo_does_not_run_the_command_as_root() {
    let _alone = alone();
    if root() {
        let ended = under_sudo(&SUDO, &[], &["sh", "-c", "id -u; id -g; echo $USER $LOGNAME $HOME"]).well();
        let home = "/nonexistent";
        assert_eq!(ended.out, format!("65534\n65534\nnobody nobody {home}\n"), "{}", ended.err);
        let said = "note: the command runs as nobody (uid 65534), who called sudo; --as-root runs it as root";
        assert_eq!(ended.err.lines().filter(|line| *line == said).count(), 1, "{}", ended.err);
    }
}

#[test]
fn sudo_does_not_run_the_server_as_root() {
    let _alone = alone();
    if root() {
        let ended = under_sudo(&SUDO, &["--server", "id -u"], &["true"]).well();
        assert_eq!(ended.out, "65534\n", "{}", ended.err);
    }
}

#[test]
fn under_sudo_nothing_of_roots_rights_is_left_or_can_be_had_again() {
    let _alone = alone();
    if root() {
        // Root is in more groups than its own.
        let place = Place::new();
        let mut command = Command::new("setpriv");
        command.args(["--groups", "0,4,6", env!("CARGO_BIN_EXE_tightlink")]).args(LINK);
        let mut command = place.here(command);
        command.args(["cat", "/proc/self/status"]).envs(SUDO);
        let ended = end(command).well();
        let field = |name: &str| {
            let line = ended.out.lines().find_map(|line| line.strip_prefix(name)).expect("a line of status");
            line.split_whitespace().collect::<Vec<_>>()
        };
        // Real, effective, saved, and that of the file system.
        assert_eq!((field("Uid:"), field("Gid:")), (vec!["65534"; 4], vec!["65534"; 4]));
        assert_eq!(field("Groups:"), ["65534"]);
        for set in ["CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(field(set), ["0000000000000000"], "{set}");
        }
        let again = under_sudo(&SUDO, &[], &["setpriv", "--reuid=0", "id", "-u"]);
        assert!(again.code != Some(0) && again.out.is_empty(), "{again:?}");
    }
}

#[test]
fn the_link_is_between_the_programs_of_a_user_behind_sudo_too() {
    let _alone = alone();
    if root() {
        let line = "grep -c tight /proc/net/dev; begin=$EPOCHREALTIME; (: < /dev/tcp/$TIGHTLINK_FAR/9) 2> /dev/null; \
                    end=$EPOCHREALTIME; echo $(( ${end/./} - ${begin/./} ))";
        let ended = under_sudo(&SUDO, &[], &["bash", "-c", line]).well();
        let numbers: Vec<u32> = ended.out.lines().map(|line| line.parse().expect("a number")).collect();
        assert!(numbers[0] == 1 && numbers[1] >= 20_000, "a device, and a round trip: {numbers:?}");
    }
}

#[test]
fn as_root_and_a_root_that_called_sudo_keep_root() {
    let _alone = alone();
    if root() {
        let cases = [(SUDO, &["--as-root"][..]), ([("SUDO_UID", "0"), ("SUDO_GID", "0")], &[])];
        for (variables, options) in cases {
            let ended = under_sudo(&variables, options, &["sh", "-c", "id -u; echo $USER"]).well();
            assert_eq!(ended.out, "0\nroot\n", "{}", ended.err);
            assert!(!ended.err.contains("sudo"), "{}", ended.err);
        }
    }
}

#[test]
fn a_caller_of_sudo_who_is_not_known_is_an_error_and_nothing_runs() {
    if root() {
        let run = |id: &str| under_sudo(&[("SUDO_UID", id)], &[], &["echo", "ran"]);
        for id in ["", "nobody", "-1", "4294967295", "1e3"] {
            run(id).failed(2, &["SUDO_UID: ", "accepted: 0 to 4294967294", "--as-root"]);
        }
        run("3999999999").failed(3, &["3999999999", "no user of this machine has the number", "--as-root"]);
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

/// Sends 300 kB from the far end to the near one, which takes at least a second at 2 Mbit/s.
const DOWNLOAD: [&str; 4] = [
    "--server",
    "exec python3 -c 'import os,socket; s=socket.create_server((os.environ[\"TIGHTLINK_FAR\"],7)); \
     c,_=s.accept(); c.sendall(bytes(300000)); c.close()'",
    "--",
    "bash",
];
const FETCH: [&str; 2] = [
    "-c",
    "begin=$EPOCHREALTIME; cat < /dev/tcp/$TIGHTLINK_FAR/7 | wc -c; end=$EPOCHREALTIME; \
     echo $(( ${end/./} - ${begin/./} ))",
];

/// A download on a path that the arguments describe: how long it took, seconds, and what was said.
fn download(link: &[&str]) -> (f64, Ended) {
    let arguments = [&["emulate"], link, &DOWNLOAD, &FETCH].concat();
    let place = Place::new();
    place.write(
        "slow.toml",
        "title = 'slow'\nduration = '9s'\n[link]\nrate = '50Mbit/s'\ndelay = '5ms'\nqueue.limit = '100 packets'\n\
         reverse = { rate = '2Mbit/s', queue = { kind = 'codel', limit = '1s' } }\n[[flow]]\n",
    );
    let ended = place.run(&arguments).well();
    let numbers: Vec<f64> = ended.out.lines().take(2).map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(numbers[0], 300_000.0);
    (numbers[1] / 1e6, ended)
}

#[test]
fn a_download_is_limited_too_unless_one_way_is_asked() {
    let _alone = alone();
    if root() {
        let rate = ["--rate", "2Mbit/s", "--delay", "5ms"];
        let (took, ended) = download(&[&rate[..], &["--json"]].concat());
        assert!(took > 1.0, "{took} s");
        assert!(!ended.err.contains("no packet crossed"), "{}", ended.err);
        let last = ended.out.lines().last().expect("JSON");
        let json: serde_json::Value = serde_json::from_str(last).expect("an object");
        let busy = |way: &str| json[way]["utilization"].as_f64().expect("a number");
        assert!(busy("from_far") > 0.3 && busy("to_far") < 0.2, "{last}");
        assert!(json["from_far"]["queueing_delay_s"]["p95"].as_f64().unwrap() > 0.001, "{last}");
        let (took, ended) = download(&[&rate[..], &["--one-way"]].concat());
        assert!(took < 1.0, "{took} s");
        assert!(ended.err.contains("packets, without a limit"), "{}", ended.err);
        // The word of old.
        assert!(download(&[&rate[..], &["--both"]].concat()).0 > 1.0);
    }
}

#[test]
fn a_page_shows_the_queue_of_each_direction() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let link = ["emulate", "--rate", "2Mbit/s", "--delay", "5ms", "--report"];
        let ended = place.run(&[&link[..], &["page.html"], &DOWNLOAD, &FETCH].concat()).well();
        assert!(ended.err.ends_with("report: page.html\n"), "{}", ended.err);
        let page = fs::read_to_string(place.path().join("page.html")).expect("a page");
        for chart in ["delay", "rate", "drops"] {
            assert!(page.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
        }
        let nowhere = place.run(&[&link[..], &["none/page.html", "--", "echo", "ran"]].concat());
        assert!(nowhere.out.is_empty(), "nothing runs whose page cannot be written: {}", nowhere.out);
        nowhere.failed(3, &["none/page.html"]);
    }
}

#[test]
fn a_queue_of_the_registry_and_a_scenario_take_the_place_of_flags() {
    let _alone = alone();
    if root() {
        let (took, _) = download(&["slow.toml"]);
        assert!(took > 1.0, "{took} s");
        let arguments = ["emulate", "--rate", "20Mbit/s", "--queue"];
        for queue in ["fq-codel", "codel, 1s", "codel, 1s, target=10ms", "pie,100packets", "40ms"] {
            Place::new().run(&[&arguments[..], &[queue, "--", "true"]].concat()).well();
        }
    }
}

#[test]
fn a_server_that_does_not_listen_is_waited_for_and_told() {
    let _alone = alone();
    if root() {
        let told = |server: &str| {
            let arguments = ["emulate", "--rate", "20Mbit/s", "--server", server, "--", "true"];
            Place::new().run(&arguments).well().err
        };
        let waiting = "note: the command waits until the server (\"sleep 99\") listens, at most 10 s";
        let err = told("sleep 99");
        assert!(err.contains(waiting) && err.contains("nothing listens at the far end after 1"), "{err}");
        // A line that has ended may have left a program that will listen, but it gets less time.
        let err = told("true");
        assert!(err.contains("nothing listens at the far end after") && !err.contains("after 10 s"), "{err}");
    }
}

#[test]
fn queues_that_cannot_be_are_refused() {
    let refused = |queue: &str, words: &[&str]| {
        let arguments = ["emulate", "--rate", "20Mbit/s", "--queue", queue, "--", "true"];
        Place::new().run(&arguments).failed(2, words);
    };
    refused("codell, 1s", &["unknown queue \"codell\"", "codel"]);
    refused("codel, red", &["two policies"]);
    refused("codel, 1apple", &["unknown unit \"apple\""]);
    refused("codel, limit=1s, tarjet=5ms", &["link.queue.tarjet"]);
    refused("drop-tail, 1s, target=5ms", &["no such setting", "target"]);
    let shaper = |rate: &str, queue: &str, words: &[&str]| {
        let line = ["emulate", "--rate", "20Mbit/s", "--shaper", rate, "--shaper-queue", queue, "--", "true"];
        Place::new().run(&line).failed(2, words);
    };
    shaper("0%", "cake", &["--shaper", "nothing would pass; write a share such as 95%"]);
    shaper("fast", "cake", &["--shaper", "a share of the link's rate such as 95%"]);
    shaper("95%", "cake, tins=diffserv9", &["link.shaper.queue.tins", "\"diffserv3\", \"diffserv4\""]);
    shaper("95%", "cake, 100B", &["link.shaper.queue.limit", "room for 100B"]);
}

#[test]
fn a_shaper_holds_the_packets_in_each_direction() {
    let _alone = alone();
    if root() {
        let link = ["--rate", "2Mbit/s", "--delay", "5ms", "--queue", "1s", "--shaper", "90%", "--json"];
        let (took, ended) = download(&link);
        assert!(took > 1.2, "{took} s");
        let last = ended.out.lines().last().expect("JSON");
        let json: serde_json::Value = serde_json::from_str(last).expect("an object");
        let packets = |key: &str| json["from_far"]["shaper"][key].as_u64().expect("a number");
        assert!(packets("link_queue_p99_packets") < 2 && packets("queue_p99_packets") > 1, "{last}");
        assert!(json["to_far"]["shaper"]["packets_dropped"].is_number(), "{last}");
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
    refused(&["--rate", "0Mbit/s"], &["--rate", "nothing would pass; write a rate such as 100Mbit/s"]);
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
    refused(&["--rate", "5Gbit/s"], &["accepted: 1bit/s to 3.5Gbit/s", "--one-way"]);
    refused(&["--rate", "20Mbit/s", "--delay", "-1ms"], &["--delay", "a negative number"]);
    assert_eq!(place.run(&["emulate", "--rate", "20Mbit/s"]).code, Some(2), "no program");
}

#[test]
fn traces_of_mahimahi_give_each_direction_its_rate() {
    let _alone = alone();
    let place = Place::new();
    // Ten and a hundred packets of 1500 bytes a second.
    let trace =
        |every: usize| (1..=1000 / every).map(|line| format!("{}\n", line * every)).collect::<String>();
    place.write("up.trace", trace(100));
    place.write("down.trace", trace(10));
    place.write("bad.trace", "5\n4\n");
    let options =
        ["emulate", "--rate", "up.trace", "--rate-back", "down.trace", "-q", "10packets", "--json", "--"];
    let refused = |from: usize, by: &str, words: &[&str]| {
        let mut options = options.to_vec();
        options[from] = by;
        place.run(&[&options[..], &["true"]].concat()).failed(2, words);
    };
    refused(2, "none.trace", &["--rate: none.trace: No such file"]);
    refused(4, "bad.trace", &["--rate-back: bad.trace:2: 4 after 5: the time goes back", "sort -n"]);
    if root() {
        let send = "head -c 1472 /dev/zero > /dev/udp/$TIGHTLINK_FAR/9";
        let line =
            format!("end=$((SECONDS + 4)); while [ $SECONDS -lt $end ]; do {send}; done 2> /dev/null; true");
        let ended = place.run(&[&options[..], &["bash", "-c", &line]].concat()).well();
        let json: serde_json::Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
        let rate = json["to_far"]["rate_bps"].as_f64().expect("a number");
        assert!((100_000.0..=121_000.0).contains(&rate), "{rate} bit/s: {}", ended.out);
        assert!(json["to_far"]["packets_dropped"].as_u64().unwrap() > 0, "{}", ended.out);
    }
}
