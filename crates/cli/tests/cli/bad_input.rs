//! Scenarios and options that are wrong: exit code 2 and one screen that says where, what, and how to fix it.

use crate::place::{Place, SMALL, alone, end, now, root};
use std::process::Command;
use std::time::Duration;

/// [`SMALL`] with `found` in the place of `right`, run; the message names the place and has all of `words`.
#[track_caller]
fn refused(right: &str, found: &str, words: &[&str]) {
    let text = SMALL.replacen(right, found, 1);
    assert_ne!(text, SMALL, "{right:?} is not in the scenario");
    let place = Place::new();
    place.write("bad.toml", text);
    place.run(&["run", "bad.toml"]).failed(2, words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}

#[test]
fn an_unknown_key() {
    let words = [
        "bad.toml:8:1: link.quue: unknown key",
        "8 | quue",
        "accepted: name, rate, delay, queue, shaper, loss",
        "help: did you mean \"queue\"?",
    ];
    refused("queue", "quue", &words);
}

#[test]
fn a_wrong_unit() {
    let words = [
        "bad.toml:6:11: link.rate: unknown unit \"Mbits\"",
        "^^^^^",
        "accepted: a rate such as",
        "help: did you mean \"10Mbit/s\"?",
    ];
    refused("10Mbit/s", "10Mbits", &words);
}

#[test]
fn a_negative_rate() {
    refused(
        "10Mbit/s",
        "-10Mbit/s",
        &["bad.toml:6:", "link.rate: a negative number", "accepted: a rate such as"],
    );
}

#[test]
fn a_zero_buffer() {
    refused("1 bdp", "0 packets", &["bad.toml:8:", "link.queue.limit: a buffer of zero", "accepted: "]);
}

#[test]
fn a_zero_duration() {
    refused("2s", "0s", &["bad.toml:2:12: duration: a duration of zero", "accepted: a time such as"]);
}

#[test]
fn links_that_disagree_on_units() {
    let second = "queue = { limit = \"1 bdp\" }\n[[link]]\nrate = \"10MB/s\"\ndelay = \"5 packets\"\nqueue = { limit = \"40Mbit/s\" }";
    let place = Place::new();
    let text = SMALL
        .replace("[link]", "[[link]]")
        .replace("queue = { kind = \"drop-tail\", limit = \"1 bdp\" }", second);
    place.write("bad.toml", text);
    let words = [
        "bad.toml:10:11: link[1].rate: unknown unit \"MB/s\"",
        "help: rates are in bits: 10MB/s is \"80Mbit/s\"",
        "bad.toml:11:12: link[1].delay: unknown unit \"packets\"",
        "bad.toml:12:",
        "link[1].queue.limit: unknown unit \"Mbit/s\"",
    ];
    place.run(&["run", "bad.toml", "--engine", "live"]).failed(2, &words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}

#[test]
fn zero_flows() {
    refused("control = \"reno\"", "count = 0", &["bad.toml:12:", "flow[0].count: zero flows", "accepted: "]);
    refused(
        "[[flow]]\nname = \"target\"\ncontrol = \"reno\"\nsocket_buffer = \"20kB\"\n",
        "",
        &["bad.toml:1:1: flow: zero flows", "accepted: at least one [[flow]]"],
    );
}

#[test]
fn a_warm_up_beyond_the_duration() {
    let words = [
        "bad.toml:3:",
        "warmup: a warmup of 3s in a run of 2s: nothing is left to measure",
        "accepted: a time below 2s",
    ];
    refused("500ms", "3s", &words);
}

#[test]
fn a_limit_below_one_packet() {
    for limit in ["1000B", "100us", "0.01 bdp"] {
        refused("1 bdp", limit, &["bad.toml:8:", "link.queue.limit: room for 1", "accepted: "]);
    }
}

#[test]
fn a_sweep_over_a_missing_key() {
    let sweep = |axis: &str| format!("rate = \"2Mbit/s\"\n[sweep]\n{axis}\n");
    let words =
        ["bad.toml:20:1: sweep.\"link.queue.limt\": unknown key \"limt\"", "help: did you mean \"limit\"?"];
    refused("rate = \"2Mbit/s\"\n", &sweep("\"link.queue.limt\" = [\"1 bdp\"]"), &words);
    let words = ["bad.toml:20:1: sweep.\"flow.targt.rtt\": no flow is named \"targt\"", "accepted: target"];
    refused("rate = \"2Mbit/s\"\n", &sweep("\"flow.targt.rtt\" = [\"20ms\"]"), &words);
}

#[test]
fn a_sweep_of_a_billion_points() {
    let numbers: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
    let numbers = numbers.join(", ");
    let axes = ["seed", "flow.count", "flow.delayed_ack"].map(|key| format!("\"{key}\" = [{numbers}]\n"));
    let words =
        ["bad.toml:19:1: sweep: 1000 x 1000 x 1000 = 1000000000 points", "accepted: at most 100000 points"];
    refused("rate = \"2Mbit/s\"\n", &format!("rate = \"2Mbit/s\"\n[sweep]\n{}", axes.concat()), &words);
}

#[test]
fn an_unknown_control() {
    let words = [
        "bad.toml:12:11: flow[0].control: unknown congestion control \"rino\"",
        "accepted: fixed, reno, newreno, cubic, ",
    ];
    refused("\"reno\"", "\"rino\"", &words);
}

#[test]
fn an_unknown_queue() {
    let words = ["bad.toml:8:18: link.queue.kind: unknown queue \"rod\"", "accepted: drop-tail"];
    refused("\"drop-tail\"", "\"rod\"", &words);
}

#[test]
fn a_control_the_engine_does_not_have() {
    let place = Place::new();
    place.write("bad.toml", SMALL.replace("\"reno\"", "\"vegas\""));
    let words = [
        "bad.toml:12:11: flow[0].control: this kernel has no control \"vegas\"",
        "accepted: reno, cubic, bbr",
        "--engine sim",
    ];
    place.run(&["run", "bad.toml", "--engine", "live"]).failed(2, &words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}

#[test]
fn a_rate_the_emulator_cannot_reach() {
    let place = Place::new();
    // Wrong at the second point of a sweep only: the first must not run before that is found.
    place.write("fast.toml", format!("{SMALL}[sweep]\n\"link.rate\" = [\"10Mbit/s\", \"40Gbit/s\"]\n"));
    let started = now();
    let ended = place.run(&["run", "fast.toml", "--engine", "live"]);
    ended.failed(
        2,
        &["fast.toml:20:28: link.rate: rate = 40Gbit/s", "accepted: 1bit/s to ", "help: ", "--engine sim"],
    );
    assert!(started.elapsed() < Duration::from_secs(2), "something ran");
    assert_eq!(place.files().len(), 1, "nothing was made");
}

#[test]
fn the_same_rate_leaves_the_kernel_out_of_a_comparison() {
    let place = Place::new();
    place.write(
        "fast.toml",
        SMALL.replace("10Mbit/s", "40Gbit/s").replace("2s", "20ms").replace("500ms", "10ms"),
    );
    let _alone = alone();
    if root() {
        let ended = place.run(&["compare", "fast.toml"]).well();
        assert!(ended.err.contains("no answer from live: rate = 40Gbit/s"), "{}", ended.err);
    }
}

#[test]
fn a_missing_file() {
    let ended = Place::new().run(&["run", "nowhere.toml"]);
    ended.failed(2, &["nowhere.toml: No such file", "help: give the path of a scenario file", "figure list"]);
    Place::new().run(&["run", "."]).failed(2, &[".: Is a directory", "help: "]);
}

#[test]
fn an_empty_file() {
    let place = Place::new();
    place.write("empty.toml", "");
    let words = ["empty.toml:1:1: title: missing", "link: missing", "flow: zero flows", "accepted: "];
    place.run(&["run", "empty.toml"]).failed(2, &words);
}

#[test]
fn a_binary_file() {
    let place = Place::new();
    let mut bytes = b"title = 'a'\n".to_vec();
    bytes.extend((0..=255).cycle().take(100_000).map(|byte: u8| byte.reverse_bits()));
    place.write("binary.toml", &bytes);
    place
        .run(&["run", "binary.toml"])
        .failed(2, &["binary.toml:2: not valid UTF-8", "accepted: TOML in UTF-8", "help: "]);
    // Control characters are text, and must not reach the terminal.
    place.write("escape.toml", "title = \"\u{1b}[2J\"\n\u{7} = 1\n");
    let ended = place.run(&["run", "escape.toml"]);
    ended.failed(2, &["escape.toml:"]);
    assert!(!ended.err.contains('\u{1b}') && !ended.err.contains('\u{7}'));
}

#[test]
fn a_huge_file() {
    let place = Place::new();
    place.write("nested.toml", format!("a = {}", "[".repeat(1_000_000)));
    place.run(&["run", "nested.toml"]).failed(2, &["nested.toml:1:"]);
    place.write("dotted.toml", format!("{}a = 1", "a.".repeat(500_000)));
    place.run(&["run", "dotted.toml"]).failed(2, &["dotted.toml:1:"]);
    place.write("rubbish.toml", "this is no scenario at all\n".repeat(50_000));
    place.run(&["run", "rubbish.toml"]).failed(2, &["rubbish.toml:1:", "… and "]);
    place
        .run(&["run", "/dev/zero"])
        .failed(2, &["/dev/zero: too large for a scenario", "accepted: up to 16 MB", "help: "]);
}

#[test]
fn many_faults_fit_a_screen_and_the_rest_is_counted() {
    let place = Place::new();
    let keys: Vec<String> = (0..50).map(|number| format!("key{number} = 1\n")).collect();
    place.write("bad.toml", format!("{}{SMALL}", keys.concat()));
    place.run(&["run", "bad.toml"]).failed(2, &["bad.toml:1:1: key0: unknown key", "… and "]);
}

#[test]
fn set_without_a_value_or_of_an_unknown_key() {
    let place = Place::small();
    let set = |change: &str| place.run(&["run", "small.toml", "--set", change]);
    set("link.rate")
        .failed(2, &["--set link.rate: no value", "accepted: KEY=VALUE, such as --set link.rate=100Mbit/s"]);
    let words = [
        "--set: link.rat: unknown key",
        "--set link.rat=1Mbit/s",
        "^^^",
        "accepted: name, rate, delay",
        "did you mean \"rate\"?",
    ];
    set("link.rat=1Mbit/s").failed(2, &words);
    set("=1").failed(2, &["--set: no key", "accepted: a key path such as link.rate"]);
    set("flow.nobody.rtt=1s").failed(2, &["no flow is named \"nobody\"", "accepted: target"]);
    set("seed=-1").failed(2, &["seed: the integer -1", "accepted: a whole number from 0"]);
}

#[test]
fn set_of_a_part_of_what_is_swept() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}[sweep]\n\"link.queue\" = [{{ limit = \"1 bdp\" }}]\n"));
    let ended = place.run(&["run", "sweep.toml", "--set", "link.queue.limit=2 bdp"]);
    ended.failed(
        2,
        &["--set: link.queue.limit: a part of what [sweep] varies as \"link.queue\"", "help: set link.queue"],
    );
}

#[test]
fn options_that_do_not_exist() {
    let place = Place::small();
    for arguments in [
        vec!["run"],
        vec!["run", "small.toml", "--engine", "ns2"],
        vec!["walk"],
        vec!["run", "small.toml", "--seed", "x"],
    ] {
        let ended = end(place.program(&arguments));
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
        assert!(ended.err.starts_with("error: ") && ended.err.lines().count() <= 24, "{}", ended.err);
    }
}

#[test]
fn series_that_would_not_fit_into_memory() {
    let place = Place::new();
    place.write("much.toml", format!("{SMALL}[record]\nevery = \"1ns\"\n"));
    let words = [
        "much.toml:",
        "record.every: ",
        " samples of 1 flows: series of about ",
        "accepted: at most 240 MB",
        "or columns = [] for no series",
    ];
    place.run(&["run", "much.toml"]).failed(2, &words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}

/// `arguments` fail with a message that has all of `words`.
#[track_caller]
fn told(arguments: &[&str], words: &[&str]) {
    let place = Place::small();
    let ended = place.run(arguments);
    assert_eq!(ended.code, Some(2), "{}{}", ended.out, ended.err);
    for word in words {
        assert!(ended.err.contains(word), "{word:?} is not in:\n{}", ended.err);
    }
}

#[test]
fn set_of_a_key_that_stands_in_another_table() {
    let set = |change: &str, words: &[&str]| told(&["run", "small.toml", "--set", change], words);
    set("rate=20Mbit/s", &["rate: unknown key", "did you mean \"link.rate\"?"]);
    set("limit=40packets", &["did you mean \"link.queue.limit\"?"]);
    set("link.limit=40packets", &["did you mean \"link.queue.limit\"?"]);
    set("control=cubic", &["did you mean \"flow.control\"?"]);
    set("flow.loss=1%", &["did you mean \"link.loss\"?"]);
    // What was written works.
    let place = Place::small();
    place.run(&["run", "small.toml", "--set", "link.queue.limit=40packets"]).well();
}

#[test]
fn a_queue_given_as_a_word() {
    let set = |change: &str, words: &[&str]| told(&["run", "small.toml", "--set", change], words);
    set("link.queue=codel", &["help: write link.queue.kind=codel"]);
    set("link.queue=40 packets", &["help: write link.queue.limit=40 packets"]);
    set("link.queue.kind=sfq", &["unknown queue \"sfq\"", "\"fq-codel\"", "queue for each flow"]);
    set("link.queue.kind=pfifo_fast", &["write \"drop-tail\""]);
    set("flow.control=dctpc", &["did you mean \"dctcp\""]);
    set("flow.control=bbr2", &["\"bbr3\""]);
    refused(
        "{ kind = \"drop-tail\", limit = \"1 bdp\" }",
        "\"codel\"",
        &["write { kind = \"codel\", limit = "],
    );
    told(&["keys", "l4s"], &["mark_above"]);
    told(&["size", "--rate", "10Mbit/s", "--queue", "sfq"], &["\"fq-codel\""]);
    let place = Place::small();
    place.run(&["run", "small.toml", "--set", "link.queue.kind=codel"]).well();
}

#[test]
fn a_rate_in_the_place_of_a_file_or_in_bytes_or_over_time() {
    told(&["size", "10Gbit/s"], &["no file is called \"10Gbit/s\"", "--rate 10Gbit/s"]);
    told(&["emulate", "10Mbit/s", "--", "true"], &["--rate 10Mbit/s"]);
    told(&["run", "10Mbit/s"], &["--set link.rate=10Mbit/s"]);
    told(&["send", "--limit", "100MB/s", "x", "y"], &["unknown unit \"MB/s\"", "100MB/s is \"800Mbit/s\""]);
    told(&["size", "--rate", "10MBps"], &["10MBps is \"80Mbit/s\""]);
    let set = |change: &str, words: &[&str]| told(&["run", "small.toml", "--set", change], words);
    set("link.rate={ trace = \"lte.up\" }", &["lte.up: No such file", "relative to the folder"]);
    set("link.rate=lte.up", &["write { trace = \"lte.up\" }"]);
    set("link.rate=[\"16Mbit/s\", \"4Mbit/s\"]", &["{ steps = [[\"0s\", …], [\"10s\", …]] }"]);
}

#[test]
fn a_program_among_the_options() {
    told(&["tune", "curl", "-O", "x"], &["put -- before the program"]);
    // Folders are sent whole: the -r of other tools changes nothing.
    told(&["send", "-r", "folder"], &["folder: No such file"]);
    told(&["sweep", "small.toml", "--repeat", "5"], &["seed = [1, 2, 3, 4, 5] below [sweep]"]);
    told(&["receive", "--listen", "127.0.0.1"], &["write 127.0.0.1:4711"]);
    // An option that is nearly right keeps its own tip.
    told(&["emulate", "--rat", "10Mbit/s", "--", "true"], &["'--rate'"]);
}

#[test]
fn a_range_as_elsewhere() {
    let size = |option: &str, value: &str, words: &[&str]| {
        told(&["size", "--rate", "10Mbit/s", option, value], words);
    };
    size("--rtt", "30", &["write 30ms"]);
}

#[test]
fn figures_by_a_part_of_their_name() {
    for asked in ["sobas:fig1", "sobas:fig2"] {
        told(&["figure", asked], &["did you mean \"sobas:fig1-4\"?"]);
    }
    told(&["figure", "sobas:fig14"], &["did you mean \"sobas:fig14-15\"?"]);
}

#[test]
fn a_sweep_that_varies_one_key_twice() {
    let place = Place::new();
    let sweep = "[sweep]\n\"link.queue.limit\" = [\"1 bdp\", \"2 bdp\"]\n";
    place.write("twice.toml", format!("{SMALL}{sweep}\"link.0.queue.limit\" = [\"3 bdp\"]\n"));
    place
        .run(&["run", "twice.toml"])
        .failed(2, &["what \"link.queue.limit\" varies", "accepted: keys of which none"]);
    // Another list on the command line takes the place of the file's.
    place.write("sweep.toml", format!("{SMALL}{sweep}"));
    for key in ["sweep.link.queue.limit", "sweep.\"link.queue.limit\""] {
        let change = format!("{key}=[\"3 bdp\"]");
        let ended = place.run(&["run", "sweep.toml", "--json", "--set", &change]).well();
        let lines = ended.json();
        assert_eq!(lines.len(), 1, "{}", ended.out);
        assert_eq!(lines[0]["point"]["link.queue.limit"], "3 bdp");
    }
    told(&["run", "small.toml", "--set", "sweep.\"link.queue.kind\"=pie"], &["write [\"pie\"]"]);
}

#[test]
fn more_flows_over_quic_than_sockets_may_be_opened() {
    let place = Place::new();
    let many = "name = \"target\"\ncount = 100\ntransport = \"quic\"";
    place.write("many.toml", SMALL.replace("name = \"target\"", many));
    let mut command = Command::new("prlimit");
    let args = ["--nofile=128", env!("CARGO_BIN_EXE_tightlink"), "run", "many.toml", "--engine", "live"];
    command.args(args);
    let words = [
        "flow[0].count: 100 flows, which need 264 sockets and files in one process, and it may open 128",
        "accepted: up to 32 flows",
        "help: raise the limit: ulimit -n 264; or use fewer flows, or --engine sim",
    ];
    end(place.here(command)).failed(2, &words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}
