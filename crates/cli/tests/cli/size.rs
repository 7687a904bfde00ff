//! `tightlink size`.

use crate::place::{Place, SMALL, now};
use std::fs;
use std::path::Path;
use std::time::Duration;
use testkit::tries::{in_one_of_five, in_time};

const HOME: [&str; 7] = ["size", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "2"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    HOME.iter().chain(more).copied().collect()
}

#[test]
fn quick_names_three_limits_in_four_units_and_leaves_nothing_behind() {
    let place = Place::new();
    let answer = place.run(&with(&["--quick", "--json"])).well().json().remove(0);
    for name in ["least", "recommended", "most"] {
        let point = &answer[name];
        for key in ["packets", "bytes", "ms", "bdp", "utilization", "loss_rate"] {
            assert!(point[key].is_number(), "{name}.{key}: {point}");
        }
        for key in ["mean", "p95"] {
            assert!(point["queueing_delay_s"][key].is_number(), "{name}: {point}");
        }
        assert_eq!(point["bytes"].as_u64().unwrap(), 1500 * point["packets"].as_u64().unwrap());
    }
    let packets = |name: &str| answer[name]["packets"].as_u64().unwrap();
    assert!(packets("least") <= packets("recommended") && packets("least") <= packets("most"), "{answer}");
    // 20 ms, and not 0.020000000000000002 s.
    assert_eq!(answer["asked"]["rtt_s"].to_string(), "[0.02,0.02]");
    assert!(answer["recommended"]["utilization"].as_f64().unwrap() >= 0.99, "{answer}");
    let rules = answer["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["name"].is_string() && rule["source"].is_string()), "{answer}");
    // 10 Mbit/s times 20 ms are 16.7 packets.
    assert_eq!(rules[0]["packets"], 17);
    assert!(
        answer["curve"].as_array().unwrap().len() >= 8
            && !answer["assumptions"].as_array().unwrap().is_empty()
    );
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn by_theory_a_larger_limit_never_loses_more() {
    let place = Place::new();
    for rate in ["100Mbit/s", "1Gbit/s", "10Gbit/s"] {
        for flows in ["2", "10", "50"] {
            for control in ["cubic", "reno"] {
                let question = ["--rate", rate, "--flows", flows, "--control", control];
                let lines =
                    place.run(&[&["size", "--quick", "--json"], &question[..]].concat()).well().json();
                let curve = lines[0]["curve"].as_array().expect("a curve");
                let losses: Vec<f64> =
                    curve.iter().map(|point| point["loss_rate"].as_f64().unwrap()).collect();
                assert!(
                    losses.len() > 5 && losses.is_sorted_by(|less, more| *more <= less * 1.001),
                    "{question:?}: {losses:?}"
                );
            }
        }
    }
}

#[test]
fn quick_takes_less_than_fifty_milliseconds() {
    let place = Place::new();
    let question = ["size", "--rate", "10Gbit/s", "--rtt", "20ms..80ms", "--flows", "100..5000", "--quick"];
    in_one_of_five(|| {
        let begun = now();
        place.run(&question).well();
        let took = begun.elapsed();
        in_time(took < Duration::from_millis(50), format!("{took:?}"))
    });
}

#[test]
fn a_small_link_is_simulated_with_a_curve_and_a_report() {
    let place = Place::new();
    let answer = place.run(&with(&["--json", "--target-utilization", "95%"])).well().json().remove(0);
    let curve = answer["curve"].as_array().unwrap();
    assert!(curve.len() >= 8, "{}", curve.len());
    assert!(curve.iter().all(|point| point["utilization_ci95"].is_number()), "{answer}");
    let recommended = &answer["recommended"];
    let surely =
        recommended["utilization"].as_f64().unwrap() - recommended["utilization_ci95"].as_f64().unwrap();
    assert!(surely >= 0.95, "{recommended}");
    assert_eq!(answer["sensitivity"].as_array().unwrap().len(), 4);
    let queues: Vec<&str> =
        answer["pareto"].as_array().unwrap().iter().map(|policy| policy["queue"].as_str().unwrap()).collect();
    for queue in ["drop-tail", "codel", "fq-codel", "pie", "fq-pie", "dualpi2"] {
        assert!(queues.contains(&queue), "{queues:?}");
    }
    let page = fs::read_to_string(place.path().join("results/size.html")).unwrap();
    assert!(page.contains("Which buffer?"), "{page}");
    // What was simulated is found again.
    let again = place.run(&with(&["--json", "--target-utilization", "95%"])).well().json().remove(0);
    assert_eq!(again, answer);
}

#[test]
fn an_answer_begins_with_advice_for_calls_and_the_rows_say_what_a_call_waits() {
    let place = Place::new();
    let told = place.run(&HOME).well().out;
    let advice = told.lines().next().unwrap();
    assert!(advice.contains(" keeps a call under ") && advice.contains("drop-tail of "), "{told}");
    let table = told.split("utilization against delay").nth(1).unwrap();
    assert!(table.lines().nth(1).unwrap().ends_with("  call p95 ms"), "{told}");
    let answer = place.run(&with(&["--json"])).well().json().remove(0);
    assert_eq!(answer["advice"], advice);
    for row in answer["pareto"].as_array().unwrap() {
        let wait = row["call"]["queueing_delay_p95_s"].as_f64().unwrap();
        assert!(wait > 0.0 && wait < 0.1, "{row}");
    }
    let page = fs::read_to_string(place.path().join("results/size.html")).unwrap();
    // Numbers and units have a space there that does not break.
    let page = page.replace('\u{a0}', " ");
    assert!(
        page.contains(&format!("<p>{advice}.</p>")) && page.contains("a call waits (p95), ms"),
        "{advice}"
    );
    // Theory simulates nothing.
    assert!(place.run(&with(&["--quick", "--json"])).well().json()[0]["advice"].is_null());
}

#[test]
fn rows_say_what_l4s_flows_beside_classic_ones_get() {
    let place = Place::new();
    let mixed = with(&["--control", "cubic:50%,prague:50%", "--queue", "dualpi2"]);
    let told = place.run(&mixed).well().out;
    let head = told.lines().find(|line| line.contains("utilization %")).unwrap();
    assert!(head.ends_with("  L4S %  L4S p95 ms"), "{told}");
    assert!(told.contains("prague flows (50 % of all) send ECT(1)"), "{told}");
    let answer = place.run(&[&mixed[..], &["--json"]].concat()).well().json().remove(0);
    let l4s = &answer["recommended"]["l4s"];
    assert!(l4s["even_share"] == 0.5 && l4s["queueing_delay_p95_s"].as_f64().unwrap() < 0.01, "{answer}");
    let page = fs::read_to_string(place.path().join("results/size.html")).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("L4S packets wait (p95), ms"), "{page}");
    // Theory does not know the two kinds apart, and no row of classic flows has the columns.
    let quick = place.run(&[&mixed[..], &["--quick", "--json"]].concat()).well().json().remove(0);
    assert!(quick["recommended"]["l4s"].is_null(), "{quick}");
    assert!(!place.run(&HOME).well().out.contains("L4S %"));
}

#[test]
fn a_delay_that_the_target_cannot_have_is_answered_with_numbers() {
    let told = Place::new().run(&with(&["--quick", "--max-delay", "1ms"])).well().out;
    for words in ["no limit meets every target", "99% needs", "a p95 delay of 1ms"] {
        assert!(told.contains(words), "{words:?} in {told}");
    }
}

#[test]
fn a_scenario_is_asked_as_it_is() {
    let place = Place::new();
    place.write("first.toml", SMALL);
    let answer = place.run(&["size", "first.toml", "--quick", "--json"]).well().json().remove(0);
    assert_eq!(answer["asked"]["rate_bps"], 1e7);
    place.run(&["size", "first.toml", "--rate", "1Gbit/s"]).failed(2, &["cannot be used with"]);
}

#[test]
fn each_option_says_what_it_takes() {
    let place = Place::new();
    let refused = |options: &[&str], words: &[&str]| {
        place.run(&[&["size", "--quick"], options].concat()).failed(2, words);
    };
    refused(&[], &["--rate"]);
    refused(&["--rate", "fast"], &["--rate", "a rate such as"]);
    refused(&["--rate", "0bit/s"], &["--rate: 0bit/s", "accepted: 10kbit/s or more"]);
    let rate = |more: &[&'static str]| [&["--rate", "10Mbit/s"], more].concat();
    refused(&rate(&["--rtt", "80ms..20ms"]), &["--rtt", "80ms before 20ms", "help: write 20ms..80ms"]);
    refused(&rate(&["--rtt", "30"]), &["no unit", "20ms..150ms", "help: write 30ms or 30s"]);
    refused(&rate(&["--rtt", "20ms..x"]), &["accepted: a time such as 20ms, or a range such as 20ms..150ms"]);
    refused(
        &["10Gbit/s"],
        &["no file is called \"10Gbit/s\", which is a rate", "help: write --rate 10Gbit/s"],
    );
    refused(&["10Gbit/s", "--flows", "4"], &["help: write --rate 10Gbit/s"]);
    refused(&rate(&["--rtt", "0s"]), &["--rtt: 0s", "accepted: a time such as 20ms"]);
    refused(&rate(&["--rtt", "1us"]), &["less than one packet is under way"]);
    refused(&rate(&["--flows", "0"]), &["--flows: 0", "accepted: 1 to"]);
    refused(&rate(&["--flows", "many"]), &["--flows"]);
    refused(&rate(&["--flows", "3", "--place", "edge"]), &["cannot be used with"]);
    refused(&rate(&["--place", "moon"]), &["edge, aggregation, core"]);
    refused(&rate(&["--control", "cubik"]), &["unknown control \"cubik\"", "did you mean \"cubic\"?"]);
    refused(&rate(&["--control", "fixed"]), &["\"fixed\" needs a window", "accepted: reno", "size FILE"]);
    refused(&rate(&["--control", "cubic:50%,dctcp:50%"]), &["\"dctcp\" needs a queue that marks", "prague"]);
    refused(&rate(&["--control", "cubic:80%,bbr:30%"]), &["110.0%", "shares that add to 100%"]);
    refused(&rate(&["--control", "cubic,bbr"]), &["\"cubic\" without a share"]);
    refused(
        &rate(&["--control", "cubic=3,prague=1"]),
        &["\"cubic=3\" without a share", "help: write --flows 4 --control cubic:75%,prague:25%"],
    );
    refused(&rate(&["--target-utilization", "100%"]), &["--target-utilization: 100%", "below 100%"]);
    refused(&rate(&["--target-utilization", "lots"]), &["--target-utilization"]);
    refused(&rate(&["--max-delay", "0s"]), &["--max-delay: 0s", "accepted: a time such as 5ms"]);
    refused(&rate(&["--max-loss", "2"]), &["--max-loss", "help: write 2%"]);
    refused(&rate(&["--packet", "1B"]), &["--packet: 1B", "accepted: 64B to"]);
    refused(&rate(&["--queue", "codle"]), &["unknown queue \"codle\"", "did you mean \"codel\"?"]);
    refused(&rate(&["--set", "link.rate=1Mbit/s"]), &["--set link.rate=1Mbit/s", "no scenario is given"]);
    refused(&rate(&["--engine", "sim"]), &["cannot be used with"]);
    place
        .run(&["size", "--rate", "10Mbit/s", "--control", "vegas", "--engine", "live"])
        .failed(2, &["--control: vegas: the kernel does not have it", "accepted: reno, cubic, bbr"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn natural_forms_are_taken() {
    let place = Place::new();
    let asked = |options: &[&str]| {
        let question = [&["size", "--quick", "--json", "--rate", "10Mbit/s"], options].concat();
        place.run(&question).well().json().remove(0)["asked"].clone()
    };
    for rtt in ["20..150ms", "20ms-150ms", "20 to 150ms"] {
        assert_eq!(asked(&["--rtt", rtt])["rtt_s"], serde_json::json!([0.02, 0.15]), "{rtt}");
    }
    assert_eq!(asked(&["--flows", "1-20"])["flows"], serde_json::json!([1, 20]));
    assert_eq!(asked(&["--target-utilization", "95"])["target_utilization"], 0.95);
}

/// Where `tc` has a policy's module or not: it has read the line.
const READ: [&str; 2] = ["", "Specified qdisc kind is unknown"];

/// Asserts that `tc` reads the lines for Linux that `size` prints with `queue`.
#[track_caller]
fn assert_read(queue: &str) {
    let asked = ["size", "--quick", "--json", "--rate", "20Mbit/s", "--rtt", "20ms", "--queue", queue];
    let of = Place::new().run(&asked).well().json().remove(0);
    for line in of["lines"].as_array().unwrap() {
        let (system, line) = (line["system"].as_str().unwrap(), line["line"].as_str().unwrap());
        if !system.starts_with("Linux") {
            continue;
        }
        let told = sh(&in_a_namespace(&line.replace("DEV", "veth0"))).unwrap();
        let told = String::from_utf8_lossy(&told.stderr).into_owned();
        let errors: Vec<&str> = told.lines().filter(|line| !line.contains("Warning")).collect();
        let read = errors.iter().all(|line| READ[1..].iter().any(|known| line.contains(known)));
        assert!(read, "{line}: {told}");
    }
}

/// Returns true if this machine lets us configure cards of our own.
fn configures_cards() -> bool {
    let tools = ["unshare -n true", "tc -V", "ip -V"];
    tools.iter().all(|tool| sh(tool).is_some_and(|out| out.status.success()))
}

#[test]
fn the_line_for_dualpi2_is_read_by_a_tc_that_knows_it() {
    let told = sh("tc qdisc add dev none root dualpi2 help").map(|out| out.stderr).unwrap_or_default();
    if !configures_cards() || !String::from_utf8_lossy(&told).contains("coupling_factor") {
        testkit::could_not_judge("no root, ip, or tc of iproute2 6.18");
        return;
    }
    assert_read("dualpi2");
}

#[test]
fn the_lines_for_linux_are_read_by_tc_and_hold_the_packets_that_they_promise() {
    if !configures_cards() {
        testkit::could_not_judge("no root, tc or ip");
        return;
    }
    ["drop-tail", "fq-codel", "codel", "pie", "fq-pie"].into_iter().for_each(assert_read);
    let place = Place::new();
    let answer = |options: &[&str]| {
        place.run(&[&["size", "--quick", "--json"], options].concat()).well().json().remove(0)
    };
    // One byte less of limit holds one packet less.
    for packets in [1u64, 10] {
        let delay = format!("{}ms", packets * 24 + 1);
        let of = answer(&["--rate", "500kbit/s", "--rtt", "500ms", "--flows", "1", "--max-delay", &delay]);
        let packets = of["recommended"]["packets"].as_u64().unwrap();
        let shaped =
            of["lines"].as_array().unwrap().iter().find(|line| line["system"] == "Linux, shaped").unwrap();
        let line = shaped["line"].as_str().unwrap().replace("DEV", "veth0");
        assert!(line.ends_with(&format!("limit {}", packets * 1514)), "{line}");
        // As many at once as the limit holds.
        assert_eq!(dropped(&line, packets), 0, "{line}");
        let less =
            line.replace(&format!("limit {}", packets * 1514), &format!("limit {}", packets * 1514 - 1));
        // Two more are in the bucket. A machine that sends them slowly drops none.
        assert!((0..5).any(|_| dropped(&less, packets + 2) > 0), "{less}");
    }
}

fn sh(command: &str) -> Option<std::process::Output> {
    std::process::Command::new("sh").args(["-c", command]).output().ok()
}

/// Runs `commands` where `veth0` is a card that nobody else has.
fn in_a_namespace(commands: &str) -> String {
    let card = "ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up && \
                ip addr add 10.99.0.1/24 dev veth0 && \
                ip neigh replace 10.99.0.2 lladdr 02:00:00:00:00:01 dev veth0 nud permanent && sysctl -qw net.ipv6.conf.all.disable_ipv6=1";
    format!("unshare -n bash -c '{card}\n{commands}'")
}

/// Of `packets` datagrams of 1500 bytes that are sent at once through the queue of `line`, those that it drops.
fn dropped(line: &str, packets: u64) -> u64 {
    let send = "for i in $(seq %) ; do printf \"%1472s\" x > /dev/udp/10.99.0.2/7000; done";
    let send = send.replacen('%', &packets.to_string(), 1);
    let commands = format!("{line}\n{send}\ntc -s qdisc show dev veth0");
    let told = sh(&in_a_namespace(&commands)).unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let count = told.split("(dropped ").nth(1).and_then(|rest| rest.split(',').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

/// A download and an upload in one cell. The scenario is short, so that a run takes milliseconds.
const CELL: &str = "title = 't'\nduration = '6s'\nwarmup = '2s'\n[wlan]\nphy = '802.11g'\nrate = '54Mbit/s'\nqueue.limit = '100 packets'\n\
                    backhaul = { rate = '100Mbit/s', delay = '10ms', queue.limit = '500 packets' }\n[[station]]\ncount = 2\n\
                    [[flow]]\nname = 'down'\nstation = 'station-1'\nack_category = 'vo'\n\
                    [[flow]]\nname = 'up'\nstation = 'station-2'\ndirection = 'up'\nack_category = 'vo'\n";

#[test]
fn the_queue_of_an_access_point_is_sized_by_the_best_that_its_downloads_get() {
    let place = Place::new();
    place.write("cell.toml", CELL);
    let answer = place.run(&["size", "cell.toml", "--json"]).well().json().remove(0);
    assert!(answer["best_bps"].as_f64().unwrap() > 1e6, "{answer}");
    assert!(answer["asked"]["bdp_packets"].is_null() && answer["asked"]["cell"]["uploads"] == 1, "{answer}");
    for name in ["least", "recommended", "most"] {
        let point = &answer[name];
        assert!(point["bdp"].is_null(), "{point}");
        for key in ["packets", "bytes", "ms", "utilization", "utilization_ci95", "loss_rate"] {
            assert!(point[key].is_number(), "{name}.{key}: {point}");
        }
    }
    let names = |list: &str, key: &str| -> Vec<String> {
        let entries = answer[list].as_array().unwrap().iter();
        entries.map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("sensitivity", "what"), ["no uploads", "double the RTT (40ms)"]);
    for queue in ["drop-tail", "eBDP, a = 40", "fq-codel, airtime limits"] {
        assert!(names("pareto", "queue").contains(&queue.to_owned()), "{answer}");
    }
    let page = fs::read_to_string(place.path().join("results/size.html")).unwrap();
    assert!(page.contains("Which queue for the access point?"), "{page}");
}

#[test]
fn what_cannot_be_asked_of_a_cell_is_said() {
    let place = Place::new();
    place.write("cell.toml", CELL);
    place
        .run(&["size", "cell.toml", "--engine", "live"])
        .failed(2, &["--engine live: a wireless cell", "accepted: --engine sim"]);
    place.run(&["size", "cell.toml", "--quick"]).failed(2, &["no theory covers", "simulation answers"]);
    place.write("up.toml", CELL.replace("name = 'down'", "direction = 'up'\nname = 'down'"));
    place.run(&["size", "up.toml"]).failed(2, &["no greedy download"]);
    assert!(!place.path().join("results").exists());
}

/// The questions of the guide's last section.
const QUESTIONS: [(&str, &str); 10] = [
    ("A home's uplink", "--rate 10Mbit/s --rtt 30ms --flows 1..4"),
    ("An office", "--rate 1Gbit/s --rtt 20ms..80ms --flows 300"),
    ("A data centre", "--rate 100Gbit/s --rtt 50us --flows 50"),
    ("A satellite", "--rate 40Mbit/s --rtt 600ms --flows 10"),
    ("One flow", "--rate 1Gbit/s --rtt 40ms --flows 1"),
    ("A core with 50 000 flows", "--rate 100Gbit/s --rtt 50ms --flows 50000"),
    ("BBR and CUBIC", "--rate 1Gbit/s --rtt 40ms --flows 50 --control cubic:70%,bbr:30%"),
    ("A cell like Wi-Fi", "--rate 60Mbit/s --rtt 15ms --flows 1..8 --max-delay 5ms"),
    ("An aggregation", "--rate 10Gbit/s --rtt 50ms --flows 1000"),
    ("A call on a slow line", "--rate 5Mbit/s --rtt 40ms --flows 3 --max-delay 20ms --max-loss 0.1%"),
];

/// Returns `value` with three significant digits and no trailing zeros, as C's `%.3g` without an exponent.
fn three_digits(value: f64) -> String {
    let decimals = if value > 0.0 { (2 - libm::log10(value).floor() as i32).max(0) as usize } else { 0 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns a row of a table about a limit.
fn row(name: &str, point: &serde_json::Value) -> String {
    let of = |value: &serde_json::Value| value.as_f64().expect("a number");
    let half =
        point.get("utilization_ci95").map_or_else(String::new, |half| format!(" ± {:.2}", of(half) * 100.0));
    let delay = &point["queueing_delay_s"];
    format!(
        "| {name} | {} | {} | {} | {:.2}{half} | {} | {} | {} |\n",
        point["packets"],
        three_digits(of(&point["ms"])),
        three_digits(of(&point["bdp"])),
        of(&point["utilization"]) * 100.0,
        three_digits(of(&delay["mean"]) * 1e3),
        three_digits(of(&delay["p95"]) * 1e3),
        three_digits(of(&point["loss_rate"]) * 100.0),
    )
}

/// Returns the guide's section about a question.
fn section(title: &str, options: &str) -> String {
    let words: Vec<&str> = ["size", "--json"].into_iter().chain(options.split(' ')).collect();
    let answer = Place::new().run(&words).well().json().remove(0);
    let list = |key: &str| answer[key].as_array().cloned().expect("a list");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let mut out = format!(
        "### {title}\n\n`tightlink size {options}`\n\n\
         |  | packets | ms | BDP | utilization, % | mean delay, ms | p95 delay, ms | loss, % |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for name in ["least", "recommended", "most"] {
        out += &row(name, &answer[name]);
    }
    let curve = list("curve");
    for point in curve.iter().step_by(curve.len().div_ceil(8)) {
        out += &row("curve", point);
    }
    let fits = |rule: &serde_json::Value| rule["fits"] == true && rule["packets"].is_number();
    let rules = list("rules").into_iter().filter(fits);
    let rules: Vec<String> =
        rules.map(|rule| format!("{} {}", text(&rule["name"]), rule["packets"])).collect();
    let rules = if rules.is_empty() { "none".to_owned() } else { rules.join(", ") };
    let bdp = answer["asked"]["bdp_packets"].as_f64().expect("a number");
    out += &format!("\nThe bandwidth-delay product is {bdp:.0} packets. Rules made for this: {rules}.\n");
    if answer["trade_off"].is_object() {
        out += &format!("No limit meets every target: {}.\n", text(&answer["trade_off"]["says"]));
    }
    for told in list("assumptions").iter().map(text).filter(|told| told.contains("twin")) {
        out += &format!("{}{}.\n", told[..1].to_uppercase(), &told[1..]);
    }
    out + "\n"
}

#[test]
#[ignore = "minutes of simulation: make soak; TIGHTLINK_WRITE=1 writes the answers"]
fn the_guide_s_ten_questions_have_the_answers_that_it_prints() {
    const BEGIN: &str = "<!-- made by crates/cli/tests/cli/size.rs -->\n\n";
    const END: &str = "<!-- end of what crates/cli/tests/cli/size.rs made -->\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/size.md");
    let page = fs::read_to_string(&file).expect("the guide");
    let (before, rest) = page.split_once(BEGIN).expect("the beginning");
    let (_, after) = rest.split_once(END).expect("the end");
    let made: String = QUESTIONS.iter().map(|(title, options)| section(title, options)).collect();
    let whole = format!("{before}{BEGIN}{made}{END}{after}");
    if std::env::var_os("TIGHTLINK_WRITE").is_some() {
        fs::write(&file, &whole).expect("the guide is written");
    }
    assert!(whole == page, "docs/guide/size.md has other answers\n  help: TIGHTLINK_WRITE=1 writes them");
}
