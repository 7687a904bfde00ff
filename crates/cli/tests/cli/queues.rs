//! The settings of queue policies: what may stand beside `kind` and `limit`, and what becomes of it.

use crate::place::{Place, SMALL};
use serde_json::Value;

/// [`SMALL`] with a greedy flow and another queue.
fn place(queue: &str) -> Place {
    let place = Place::new();
    let text = SMALL.replace("kind = \"drop-tail\", limit = \"1 bdp\"", queue).replace("20kB", "max");
    place.write("queue.toml", text);
    place
}

fn summary(queue: &str) -> Value {
    place(queue).run(&["run", "queue.toml", "--json"]).well().summaries().remove(0)
}

fn backlog(queue: &str) -> f64 {
    summary(queue)["mean_backlog_bytes"].as_f64().unwrap()
}

#[test]
fn every_policy_takes_its_settings() {
    for settings in [
        "kind = \"red\", min_threshold = 5, max_threshold = \"15 packets\", max_probability = \"10%\", weight = 0.002, \
         gentle = false, wait = true, by_bytes = true, ecn = true",
        "kind = \"red\", min_threshold = \"0.1 bdp\", max_threshold = \"5ms\"",
        "kind = \"adaptive-red\", target = \"5ms\", interval = \"500ms\"",
        "kind = \"codel\", target = \"2ms\", interval = \"50ms\", ecn = false",
        "kind = \"pie\", target = \"10ms\", interval = \"15ms\", burst = \"0s\", derandomize = false",
        "kind = \"fq-codel\", quantum = \"3kB\", flows = 64",
        "kind = \"pie\", alpha = 0.25, beta = 2.5, ecn_probability = \"20%\"",
        "kind = \"fq-pie\", target = \"10ms\", burst = \"0s\", quantum = \"3kB\", flows = 64, ecn_probability = 0",
        "kind = \"dualpi2\", target = \"10ms\", interval = \"15ms\", alpha = 0.15, beta = 3, coupling = 3, \
         step_threshold = \"800us\", classic_protection = \"20%\", drop_on_overload = false, ecn = true",
        "kind = \"dualpi2\", step_threshold = \"5 packets\", step_queue = 2",
        "kind = \"cobalt\", target = \"2ms\", interval = \"50ms\", ecn = false",
        "kind = \"cake\", rtt = \"30ms\", isolation = \"dual-src\", tins = \"diffserv4\", ecn = false",
    ] {
        let summary = summary(&format!("{settings}, limit = \"100 packets\""));
        assert!(summary["utilization"].as_f64().unwrap() > 0.5, "{settings}: {summary}");
    }
}

#[test]
fn a_setting_has_its_effect_and_a_default_written_out_changes_nothing() {
    let low = backlog("kind = \"codel\", target = \"3ms\", limit = \"100 packets\"");
    let plain = backlog("kind = \"codel\", limit = \"100 packets\"");
    let high = backlog("kind = \"codel\", target = \"20ms\", limit = \"100 packets\"");
    assert!(low < plain && plain < high, "{low} {plain} {high}");
    let spelled =
        backlog("kind = \"codel\", target = \"5ms\", interval = \"100ms\", limit = \"100 packets\"");
    assert!(spelled == plain, "{spelled} {plain}");
    // 7500 bytes, or 5 % of the limit, are five of the packets that come.
    let of = |threshold| {
        format!("kind = \"red\", min_threshold = {threshold}, max_threshold = 30, limit = \"100 packets\"")
    };
    let (packets, bytes, share) = (backlog(&of("5")), backlog(&of("\"7500B\"")), backlog(&of("\"5%\"")));
    assert!(packets == bytes && packets == share, "{packets} {bytes} {share}");
    assert_ne!(packets, backlog(&of("9")));
}

#[test]
fn a_setting_is_part_of_what_a_scenario_says() {
    let hash = |queue: &str| summary(queue)["scenario_hash"].as_str().unwrap().to_owned();
    let plain = hash("kind = \"pie\", limit = \"100 packets\"");
    assert_ne!(plain, hash("kind = \"pie\", limit = \"100 packets\", target = \"16ms\""));
    let place = place("kind = \"pie\", limit = \"100 packets\"");
    let set =
        place.run(&["run", "queue.toml", "--set", "link.queue.target=16ms", "--json"]).well().summaries();
    assert_eq!(set[0]["scenario_hash"], hash("kind = \"pie\", limit = \"100 packets\", target = \"16ms\""));
}

#[track_caller]
fn refused(queue: &str, words: &[&str]) {
    place(queue).run(&["run", "queue.toml"]).failed(2, words);
}

#[test]
fn what_is_wrong_with_a_setting_is_told_with_its_place_and_what_would_be_right() {
    refused(
        "kind = \"red\", limit = \"1 bdp\", min_treshold = 5",
        &["queue.toml:8:42: link.queue.min_treshold: unknown key", "help: did you mean \"min_threshold\"?"],
    );
    refused(
        "kind = \"codle\", limit = \"1 bdp\"",
        &[
            "queue.toml:8:18: link.queue.kind: unknown queue \"codle\"",
            "accepted: drop-tail, drop-head, red",
            "did you mean \"codel\"?",
        ],
    );
    let stray = [
        "queue.toml:8:",
        "link.queue.weight: a queue of kind \"codel\" has no such setting",
        "link.queue.flows: a queue",
        "accepted: kind, limit, target, interval, ecn",
        "help: weight goes with kind = \"red\", kind = \"adaptive-red\"",
    ];
    refused("kind = \"codel\", limit = \"1 bdp\", weight = 0.1, flows = 3", &stray);
    refused(
        "limit = \"1 bdp\", ecn = true",
        &[
            "a queue of kind \"drop-tail\" has no such setting",
            "accepted: kind, limit",
            "help: ecn goes with",
        ],
    );
    let red = |setting: &str| format!("kind = \"red\", limit = \"1 bdp\", {setting}");
    for (setting, words) in [
        ("weight = 2", ["link.queue.weight: the integer 2", "accepted: a share from 0 to 1"]),
        ("weight = 0", ["link.queue.weight: a share of zero", "accepted: a share above 0"]),
        ("gentle = \"yes\"", ["link.queue.gentle: \"yes\"", "accepted: true or false"]),
        (
            "min_threshold = -1",
            ["link.queue.min_threshold: a threshold of -1", "accepted: a number of packets"],
        ),
        ("min_threshold = \"5 pakets\"", ["unknown unit \"pakets\"", "did you mean \"5 packets\"?"]),
        (
            "min_threshold = 9, max_threshold = 3",
            ["link.queue.max_threshold: it resolves to 3", "accepted: above min_threshold"],
        ),
    ] {
        refused(&red(setting), &words);
    }
    refused(
        "kind = \"pie\", limit = \"1 bdp\", target = 15",
        &["link.queue.target: the integer 15", "help: write \"15ms\""],
    );
    refused(
        "kind = \"pie\", limit = \"1 bdp\", interval = \"0s\"",
        &["link.queue.interval: an interval of zero"],
    );
    for flows in ["70000", "2000000"] {
        refused(
            &format!("kind = \"fq-codel\", limit = \"1 bdp\", flows = {flows}"),
            &[&format!("link.queue.flows: it resolves to {flows}"), "accepted: 1 to 65536"],
        );
    }
}

#[test]
fn a_setting_of_l4s_out_of_its_range_is_refused_with_what_is_accepted() {
    let of = |setting: &str| format!("kind = \"dualpi2\", limit = \"1 bdp\", {setting}");
    for (setting, words) in [
        ("ecn = false", ["link.queue.ecn: it resolves to false", "true, because scalable flows need marks"]),
        ("coupling = 0", ["link.queue.coupling: the integer 0", "accepted: a whole number from 1 to 255"]),
        ("coupling = 2.5", ["link.queue.coupling: the number 2.5", "accepted: a whole number from 1 to 255"]),
        ("alpha = 0", ["link.queue.alpha: it resolves to 0", "a number per second, above 0"]),
        ("beta = -1", ["link.queue.beta: it resolves to -1", "a number per second, above 0"]),
        ("classic_protection = 2", ["link.queue.classic_protection: the integer 2", "a share from 0 to 1"]),
        (
            "step_threshold = \"0.5 bdp\"",
            ["link.queue.step_threshold: \"0.5 bdp\"", "accepted: a time or packets, such as \"1ms\""],
        ),
        (
            "step_threshold = 5",
            ["link.queue.step_threshold: the integer 5", "help: write \"5ms\" or \"5 packets\""],
        ),
        (
            "quantum = \"1kB\"",
            ["link.queue.quantum: a queue of kind \"dualpi2\" has no such setting", "help:"],
        ),
    ] {
        refused(&of(setting), &words);
    }
    for (theirs, ours) in [
        ("step_thresh = \"1ms\"", "step_threshold"),
        ("coupling_factor = 2", "coupling"),
        ("tupdate = \"16ms\"", "interval"),
    ] {
        refused(&of(theirs), &["unknown key", &format!("did you mean \"{ours}\"?")]);
    }
    refused(
        "kind = \"fq_pie\", limit = \"1 bdp\"",
        &["unknown queue \"fq_pie\"", "did you mean \"fq-pie\"?"],
    );
}

#[test]
fn misspelt_names_of_controls_and_slow_starts_are_guessed() {
    let place = Place::small();
    let set = |change: &str| place.run(&["run", "small.toml", "--set", change]);
    set("flow.control=rneo").failed(2, &["unknown congestion control \"rneo\"", "did you mean \"reno\"?"]);
    set("flow.slow_start=standart")
        .failed(2, &["unknown slow start \"standart\"", "did you mean \"standard\"?"]);
}

#[test]
fn the_list_of_policies_tells_their_settings() {
    let listed = Place::new().run(&["list", "queues"]).well().out;
    assert!(listed.contains("target, interval, quantum, flows, ecn"), "{listed}");
}

/// A path with a shaper in front of a deep queue, two hosts with ten flows and one, and a call.
const HOME: &str = "title = 'home'
duration = '20s'
warmup = '5s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue = { limit = '1000 packets' }
shaper = { rate = '95%' }
[[flow]]
name = 'many'
control = 'cubic'
count = 10
sending_host = 'laptop'
[[flow]]
name = 'one'
control = 'cubic'
sending_host = 'desk'
[[traffic]]
name = 'call'
kind = 'cbr'
rate = '80kbit/s'
packet = '200B'
dscp = 'ef'
";

fn home(changes: &[&str]) -> Value {
    let place = Place::new();
    place.write("home.toml", HOME);
    let set = changes.iter().flat_map(|change| ["--set", change]);
    let line: Vec<&str> = ["run", "home.toml", "--json"].into_iter().chain(set).collect();
    place.run(&line).well().summaries().remove(0)
}

#[test]
fn a_shaper_with_cake_keeps_the_modem_empty_hosts_even_and_a_call_short() {
    let summary = home(&[]);
    let number =
        |path: &str| summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    assert!(number("/shaper/link_queue_p99_packets") < 2.0, "{summary}");
    let flows = summary["flows"].as_array().unwrap();
    let goodput = |begins: &str| -> f64 {
        let of = flows.iter().filter(|flow| flow["name"].as_str().unwrap().starts_with(begins));
        of.map(|flow| flow["goodput_bps"].as_f64().unwrap()).sum()
    };
    let (many, one) = (goodput("many"), goodput("one"));
    assert!((many - one).abs() < 0.03 * (many + one), "{many} {one}");
    // Two packets of 1514 bytes at 9.5 Mbit/s take 2.6 ms.
    assert!(number("/traffic/0/queueing_delay_s/p99") < 0.0026, "{summary}");
    // Without a shaper that shapes, the modem's queue fills and the call waits.
    let slack = home(&["link.shaper.rate=20Mbit/s"]);
    let number = |path: &str| slack.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    assert!(
        number("/shaper/link_queue_p99_packets") > 100.0 && number("/traffic/0/queueing_delay_s/p99") > 0.1
    );
}

#[test]
fn what_is_wrong_with_a_shaper_or_a_marking_is_told_with_its_place() {
    let place = Place::new();
    place.write("home.toml", HOME);
    let told = |set: &str, words: &[&str]| {
        place.run(&["run", "home.toml", "--set", set]).failed(2, words);
    };
    told("link.shaper.rate=0%", &["link.shaper.rate: 0% of the link's rate", "at most 100%"]);
    told("link.shaper.rate=120%", &["link.shaper.rate: 120% of the link's rate", "at most 100%"]);
    told(
        "link.shaper.overhead=300B",
        &["link.shaper.overhead: 300B", "accepted: a size from \"0B\" to \"256B\""],
    );
    told("link.shaper.framing=vdsl", &["link.shaper.framing", "\"none\", \"atm\", \"ptm\""]);
    told("link.shaper.queue.kind=rod", &["link.shaper.queue.kind: unknown queue \"rod\"", "cake"]);
    told(
        "link.shaper.queue.quantum=300B",
        &["link.shaper.queue.quantum", "\"cake\" has no such setting", "rtt, isolation"],
    );
    told("link.shaper.queue.rtt=1us", &["link.shaper.queue.rtt", "20us or more"]);
    told("link.shaper.queue.tins=diffserv8", &["link.shaper.queue.tins", "\"diffserv3\"", "eight tins"]);
    told("link.shaper.queue.isolation=triple-isolate", &["link.shaper.queue.isolation", "write \"triple\""]);
    told("link.shaper.queue.limit=100B", &["link.shaper.queue.limit: room for 100B", "1.5kB"]);
    told(
        "link.shaper.burst=10kB",
        &["link.shaper.burst: unknown key", "rate, queue, overhead, mpu, framing"],
    );
    told("flow.dscp=64", &["flow[0].dscp: the integer 64", "a whole number from 0 to 63"]);
    told("flow.dscp=gold", &["flow[0].dscp: unknown \"gold\"", "\"ef\""]);
    place
        .run(&["run", "home.toml", "--engine", "model"])
        .failed(2, &["link.shaper", "a shaper, which is a second queue"]);
}

#[test]
fn a_shaper_that_does_not_shape_and_tins_without_marks_are_explained() {
    let place = Place::new();
    place.write("home.toml", HOME);
    let notes = |set: &str| place.run(&["run", "home.toml", "--set", set]).well().err;
    assert!(notes("link.shaper.rate=10Mbit/s").contains("note: link.shaper: it lets 10Mbit/s through"));
    let plain = HOME.replace("dscp = 'ef'\n", "");
    place.write("home.toml", plain);
    assert!(notes("link.shaper.queue.tins=diffserv4").contains("note: tins: no packet has a dscp"));
    assert!(!notes("seed=2").contains("tins"));
}

#[test]
fn a_flow_that_no_queue_marks_is_told_so() {
    let run = |queue: &str| {
        let place = place(&format!("{queue}, limit = \"100 packets\""));
        place.run(&["run", "queue.toml", "--set", "flow.ecn=true"]).well().err
    };
    for queue in ["kind = \"drop-tail\"", "kind = \"codel\", ecn = false"] {
        assert!(run(queue).contains("no queue of its way marks packets"), "{queue}");
    }
    for queue in ["kind = \"drop-tail\", mark_above = 20", "kind = \"dualpi2\""] {
        assert!(!run(queue).contains("no queue of its way"), "{queue}");
    }
}
