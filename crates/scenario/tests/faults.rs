//! What is said about what is wrong: exact renderings, and one case for each rule.

mod common;

use common::{LINK, TOP, fault, faults, further, in_flow, says};
use tightlink_scenario::Document;

/// The one fault of a sound scenario with this link.
fn in_link(keys: &str) -> String {
    fault(&format!("{TOP}[link]\n{keys}\n[[flow]]\n"))
}

#[test]
fn an_unknown_unit_is_shown_at_its_column_with_the_one_meant() {
    assert_eq!(
        in_link("rate = \"97Mbits\"\nqueue.limit = '9 packets'"),
        "x.toml:4:11: link.rate: unknown unit \"Mbits\"
  4 | rate = \"97Mbits\"
    |           ^^^^^
  accepted: a rate such as \"100Mbit/s\" or \"1Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s; M, mbit, Mbit, Mbps and Mb/s also read)
  help: did you mean \"97Mbit/s\"?"
    );
}

#[test]
fn an_integer_for_a_time_is_told_its_unit() {
    assert_eq!(
        in_flow("rtt = 20"),
        "x.toml:8:7: flow[0].rtt: the integer 20
  8 | rtt = 20
    |       ^^
  accepted: a time such as \"20ms\", \"1.5s\" or \"250us\" (units: ns, us, ms, s, min, h)
  help: write \"20ms\""
    );
}

#[test]
fn an_unknown_key_lists_the_known_ones() {
    assert_eq!(
        in_link("rate = '10Mbit/s'\nqueue.limit = '9 packets'\ndelya = '1ms'"),
        "x.toml:6:1: link.delya: unknown key
  6 | delya = '1ms'
    | ^^^^^
  accepted: name, rate, delay, queue, shaper, loss, outage, jitter, assist, reverse
  help: did you mean \"delay\"?"
    );
}

#[test]
fn a_missing_key_points_at_its_table() {
    assert_eq!(
        in_link("queue.limit = '9 packets'"),
        "x.toml:3:1: link.rate: missing
  3 | [link]
    | ^^^^^^
  accepted: a rate such as \"100Mbit/s\""
    );
}

#[test]
fn a_missing_title_points_at_no_line() {
    assert_eq!(
        fault(&format!("duration = '60s'\n{LINK}[[flow]]\n")),
        "x.toml:1:1: title: missing\n  accepted: a text that reports are headed with"
    );
}

#[test]
fn a_limit_without_unit_points_at_where_it_belongs() {
    assert_eq!(
        in_link("rate = '10Mbit/s'\nqueue = { limit = \"250\" }"),
        "x.toml:5:23: link.queue.limit: no unit
  5 | queue = { limit = \"250\" }
    |                       ^
  accepted: the room for waiting packets, such as \"250 packets\", \"512kB\", \"40ms\" or \"0.25 bdp\"
  help: write \"250 packets\""
    );
}

#[test]
fn a_short_rtt_says_what_the_links_take() {
    assert_eq!(
        in_flow("rtt = '5ms'"),
        "x.toml:8:7: flow[0].rtt: an RTT of 5ms, less than the links' delay there and back (20ms)
  8 | rtt = '5ms'
    |       ^^^^^
  accepted: at least 20ms, twice the links' one-way delay"
    );
}

#[test]
fn a_greedy_flow_without_duration_never_ends() {
    assert_eq!(
        fault(&format!("title = 't'\n{LINK}[[flow]]\nname = 'a'\n")),
        "x.toml:5:1: flow[0].size: never ends: a greedy flow in a run without a duration
  5 | [[flow]]
    | ^^^^^^^^
  accepted: a duration for the run, or a size for this flow
  help: write duration = \"60s\" at the top, or size = \"100MB\" here"
    );
}

#[test]
fn a_value_without_quotes_is_told_to_wear_them() {
    assert_eq!(
        fault("title = 't'\n[link]\nrate = 97Mbit/s # fast\n"),
        "x.toml:3:8: rate: a text without quotes
  3 | rate = 97Mbit/s # fast
    |        ^^^^^^^^
  accepted: text in quotes, a number, a list or a table
  help: write \"97Mbit/s\""
    );
}

#[test]
fn a_key_given_twice_is_a_fault() {
    assert_eq!(
        fault("title = 't'\ntitle = 'u'\n"),
        "x.toml:2:1: duplicate key \"title\"
  2 | title = 'u'
    | ^^^^^
  accepted: each key once
  help: remove one of the two"
    );
}

#[test]
fn every_line_of_bad_toml_is_reported() {
    let faults = faults("title = \nseed = x\n[link\n");
    let lines: Vec<usize> = faults.iter().map(|fault| fault.origin.line()).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn all_faults_are_collected_in_the_order_of_the_file() {
    let faults = faults(
        "titel = 't'\nduration = 60\n[link]\nrate = '0bit/s'\nqueue = { limit = '0kB', kid = 1 }\n[[flow]]\ncount = 0\n\
         [record]\nevery = '0s'\n",
    );
    let keys: Vec<&str> = faults.iter().map(|fault| fault.complaint.place.as_str()).collect();
    let expected = [
        "title",
        "titel",
        "duration",
        "link.rate",
        "link.queue.limit",
        "link.queue.kid",
        "flow[0].count",
        "record.every",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn an_empty_file_lacks_everything() {
    let faults = faults("");
    let keys: Vec<&str> = faults.iter().map(|fault| fault.complaint.place.as_str()).collect();
    assert_eq!(keys, ["title", "link", "flow"]);
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let shown = fault(&format!("title = 5 #{}\nduration = '60s'\n{LINK}[[flow]]\n", "x".repeat(400)));
    says(&shown, &["\n  1 | title = 5 #xxx", "xxx…\n    |         ^\n"]);
    assert!(shown.lines().all(|line| line.chars().count() < 120));
    let items = vec!["'20ms'"; 40].join(", ");
    let shown = in_flow(&format!("count = 41\nrtt = [{items}, '20sm']"));
    says(&shown, &["flow[0].rtt[40]: unknown unit \"sm\"", "did you mean \"20ms\"?"]);
    let lines: Vec<&str> = shown.lines().collect();
    let caret = lines[2].chars().position(|c| c == '^').unwrap();
    assert_eq!(lines[1].chars().skip(caret).take(2).collect::<String>(), "sm");
}

#[test]
fn a_caret_lines_up_after_tabs_and_wide_letters() {
    let shown = in_flow("name = 'é'\n\trtt =\t'5xs'");
    says(&shown, &["x.toml:9:10: ", "\n  9 | \trtt =\t'5xs'\n    | \t     \t  ^^\n"]);
}

#[test]
fn rates_are_positive_and_in_bits() {
    let rate = |rate: &str| in_link(&format!("rate = {rate}\nqueue.limit = '9 packets'"));
    says(&rate("['16Mbit/s', '4Mbit/s']"), &["link.rate: ", "values over time are { steps = [[\"0s\", …]"]);
    for file in ["trace.txt", "../traces/4g.up"] {
        says(&rate(&format!("'{file}'")), &["link.rate: ", &format!("write {{ trace = \"{file}\" }}")]);
    }
    says(&rate("'-5Mbit/s'"), &["link.rate: a negative number"]);
    says(&rate("'0Mbit/s'"), &["link.rate: a rate of zero: nothing would pass"]);
    says(&rate("10"), &["link.rate: the integer 10", "help: write \"10Mbit/s\""]);
    says(&rate("'12MB/s'"), &["unknown unit \"MB/s\"", "rates are in bits: 12MB/s is \"96Mbit/s\""]);
    says(&rate("true"), &["link.rate: true"]);
}

#[test]
fn a_queue_has_room() {
    let limit = |limit: &str| in_link(&format!("rate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = {limit}"));
    for zero in ["'0 packets'", "'0kB'", "'0 bdp'", "'0ms'"] {
        says(&limit(zero), &["link.queue.limit: a buffer of zero"]);
    }
    says(&limit("'1kB'"), &["room for 1kB, not even one packet of 1.5kB"]);
    says(&limit("'2.5 packets'"), &["a whole number of packets"]);
    says(&limit("'10 furlongs'"), &["unknown unit \"furlongs\""]);
    says(&limit("'10%'"), &["help: a share of the bandwidth-delay product is written \"0.1 bdp\""]);
    says(&limit("250"), &["the integer 250", "help: write \"250 packets\""]);
    says(&in_link("rate = '10Mbit/s'"), &["link.queue: missing"]);
    says(&in_link("rate = '10Mbit/s'\nqueue = { kind = 'drop-tail' }"), &["link.queue.limit: missing"]);
    says(
        &in_link("rate = '10Mbit/s'\nqueue = '1 bdp'"),
        &["write { kind = \"drop-tail\", limit = \"1 bdp\" }"],
    );
    says(&in_link("rate = '10Mbit/s'\nqueue.limit = '1 bdp'"), &["a share of nothing"]);
}

#[test]
fn a_link_lets_something_pass() {
    let loss = |loss: &str| in_link(&format!("rate = '10Mbit/s'\nqueue.limit = '9 packets'\nloss = {loss}"));
    says(&loss("1"), &["link.loss: a loss of 100%: nothing would pass"]);
    says(&loss("'100%'"), &["nothing would pass"]);
    says(&loss("1.5"), &["link.loss: the number 1.5", "a share from 0 to 1"]);
    says(&loss("nan"), &["link.loss: the number NaN"]);
}

#[test]
fn a_run_has_length() {
    let top = |top: &str| fault(&format!("title = 't'\n{top}\n{LINK}[[flow]]\n"));
    says(&top("duration = '0s'"), &["duration: a duration of zero"]);
    says(&top("duration = '10s'\nwarmup = '10s'"), &["warmup: a warmup of 10s in a run of 10s"]);
    says(&top("duration = 60"), &["help: write \"60s\""]);
    says(&top("duration = '60 seconds'"), &["did you mean \"60 s\"?"]);
    says(&top("duration = '60s'\nseed = -1"), &["seed: the integer -1"]);
    says(&fault(&format!("title = 2006\nduration = '9s'\n{LINK}[[flow]]\n")), &["help: write \"2006\""]);
    says(&fault(&format!("title = ' '\nduration = '9s'\n{LINK}[[flow]]\n")), &["title: an empty text"]);
}

#[test]
fn there_are_flows() {
    says(&fault(&format!("{TOP}{LINK}")), &["flow: zero flows", "at least one [[flow]]"]);
    says(&fault(&format!("{TOP}flow = []\n{LINK}")), &["flow: zero flows"]);
    says(&fault(&format!("{TOP}{LINK}[flow]\n")), &["help: write [[flow]]"]);
    says(&fault(&format!("{TOP}flow = [1]\n{LINK}")), &["flow[0]: the integer 1"]);
    says(&in_flow("count = 0"), &["flow[0].count: zero flows"]);
    says(&in_flow("count = -1"), &["the integer -1", "from 0 to 1000000"]);
    says(&in_flow("count = 10000001"), &["the integer 10000001"]);
    says(&in_flow("count = 99999999999999999999999999999999999999999999"), &["a huge integer"]);
    says(&in_flow("count = '3'"), &["help: write 3 without quotes"]);
    says(&in_flow("count = 3.0"), &["the number 3", "help: write 3"]);
}

#[test]
fn segments_carry_data() {
    says(&in_flow("segment = '52B'"), &["flow[0].segment: a segment of 52B, which its 52B of headers fill"]);
    says(&in_flow("segment = '65536B'"), &["\"53B\" to \"65535B\""]);
    says(&in_flow("segment = 1500"), &["help: write \"1500B\""]);
    says(&in_flow("size = '0B'"), &["a size of zero"]);
    says(&in_flow("delayed_ack = 0"), &["an acknowledgement for every zero segments"]);
    says(&in_flow("initial_window = 0"), &["an initial window of zero"]);
    says(&in_flow("socket_buffer = '1000B'"), &["1kB, less than the 1.448kB of data in one segment"]);
    says(
        &in_flow("socket_buffer = 'mex'"),
        &["unknown \"mex\"", "\"max\", \"autotuned\", a size", "a sizer"],
    );
    says(&in_flow("send_buffer = '1000B'"), &["1kB, less than the 1.448kB of data in one segment"]);
    says(&in_flow("send_buffer = 'max'"), &["unknown \"max\"", "\"unlimited\", \"autotuned\", or a size"]);
    says(&in_flow("socket_buffer = [1]"), &["a list", "\"max\", \"autotuned\", a size", "a sizer"]);
}

#[test]
fn sizers_have_a_name_and_room() {
    says(&in_flow("socket_buffer = {}"), &["flow[0].socket_buffer.sizer: missing", "such as \"drs\""]);
    says(
        &in_flow("socket_buffer = { sizer = 'drs', max = '1000B' }"),
        &["flow[0].socket_buffer.max: 1kB, less than the 1.448kB of data in one segment"],
    );
    says(&in_flow("socket_buffer = { sizer = 'drs', limit = '1MB' }"), &["unknown key", "sizer, max"]);
    says(&in_flow("socket_buffer = { sizer = 'drs', max = 1 }"), &["help: write \"1B\""]);
}

#[test]
fn what_belongs_to_a_slow_start_is_refused_with_others() {
    says(
        &in_flow("max_ssthresh = 50"),
        &[
            "max_ssthresh: this key belongs to slow_start = \"limited\", not to \"standard\"",
            "help: leave it out",
        ],
    );
    says(&in_flow("slow_start = 'limited'\nmax_ssthresh = 0"), &["a max_ssthresh of zero"]);
    says(&in_flow("byte_counting = 1001"), &["a whole number from 0 to 1000"]);
}

#[test]
fn spreads_are_whole() {
    says(&in_flow("rtt = ['20ms', '30ms']"), &["a list of 2 for count = 1", "help: write count = 2"]);
    says(&in_flow("count = 3\nrtt = ['20ms', '30ms']"), &["a list of 2 for count = 3"]);
    let uniform = "help: write { uniform = [\"20ms\", \"80ms\"] }";
    says(&in_flow("rtt = '20ms..80ms'"), &["flow[0].rtt: the range \"20ms..80ms\"", uniform]);
    says(&in_flow("count = 2\nrtt = ['20ms', '19ms']"), &["flow[0].rtt[1]: an RTT of 19ms"]);
    says(
        &in_flow("rtt = { pareto = { shape = 1, mean = '1s' } }"),
        &["flow[0].rtt.pareto.shape: a shape of 1"],
    );
    says(&in_flow("rtt = { pareto = { shape = inf, mean = '1s' } }"), &["the number inf"]);
    says(&in_flow("rtt = { pareto = { shape = 1.2 } }"), &["flow[0].rtt.pareto.mean: missing"]);
    says(&in_flow("rtt = { pareto = { shape = 1.2, mean = '100ms' } }"), &["a least RTT of 16.666667ms"]);
    // Ten quantiles are scaled up to the mean that the tail they leave out would have made.
    says(
        &in_flow("count = 10\nrtt = { pareto = { shape = 2, mean = '20ms', draw = 'quantiles' } }"),
        &["a least RTT of 11.343531ms", "at least 20ms"],
    );
    says(
        &in_flow("rtt = { pareto = { shape = 1.2, mean = '100ms', draw = 'quantile' } }"),
        &["flow[0].rtt.pareto.draw", "\"random\", \"quantiles\"", "did you mean \"quantiles\"?"],
    );
    says(&in_flow("rtt = { exponential = '2s' }"), &["a least RTT of 0ns"]);
    says(&in_flow("rtt = { uniform = ['19ms', '50ms'] }"), &["a least RTT of 19ms"]);
    says(
        &in_flow("rtt = { uniform = ['50ms', '40ms'] }"),
        &["50ms before 40ms", "write [\"40ms\", \"50ms\"]"],
    );
    says(&in_flow("rtt = { uniform = ['50ms'] }"), &["a list of 1"]);
    says(&in_flow("rtt = { unifrom = ['20ms', '50ms'], uniform = ['20ms', '50ms'] }"), &["unknown key"]);
    says(&in_flow("rtt = {}"), &["a table without a distribution"]);
    says(
        &in_flow("rtt.exponential = '2s'\nrtt.uniform = ['1s', '2s']"),
        &["uniform and exponential at once"],
    );
    says(&in_flow("start = true"), &["flow[0].start: true"]);
}

#[test]
fn names_are_distinct() {
    let named = |first: &str, second: &str| in_flow(&format!("{first}\n[[flow]]\n{second}"));
    says(&named("name = 'a'", "name = 'a'"), &["flow[1].name: a second flow is named \"a\""]);
    says(&named("name = 'a'\ncount = 3", "name = 'a-3'"), &["\"a-3\" is also one of the flows of \"a\""]);
    let twice = "[[traffic]]\nname = 'x'\nkind = 'cbr'\nrate = '1Mbit/s'\n".repeat(2);
    says(&further(&twice), &["traffic[1].name: a second traffic is named \"x\""]);
}

#[test]
fn fairness_is_measured_over_whole_sampling_intervals() {
    says(
        &further("[record]\nfairness = '30ms'"),
        &["record.fairness: 30ms, which is not a multiple of the sampling interval of 20ms"],
    );
    says(&further("[record]\nfairness = '0s'"), &["record.fairness: an interval of zero"]);
}

#[test]
fn a_flow_leaves_after_it_has_come() {
    says(
        &in_flow("rtt = '20ms'\nstart = { uniform = ['0s', '5s'] }\nstop = '4s'"),
        &["flow[0].stop: a stop at 4s, and a start at 5s", "a time after 5s"],
    );
    says(
        &in_flow("rtt = '20ms'\nstart = { exponential = '1s' }\nstop = '4s'"),
        &["`start` that has no latest time"],
    );
}

#[test]
fn records_have_known_columns_and_an_interval() {
    says(&further("[record]\nevery = '0ms'"), &["record.every: a sampling interval of zero"]);
    says(
        &further("[record]\ncolumns = ['rat']"),
        &["record.columns[0]: unknown \"rat\"", "did you mean \"rate\"?"],
    );
    says(&further("[record]\ncolumns = ['rtt', 'rtt']"), &["record.columns[1]: \"rtt\" for the second time"]);
    says(
        &further("[record]\ncolumns = 'measure'"),
        &["a list of rate, rtt, window, backlog, drops, measures, data"],
    );
    says(&further("[record]\ncolumns = 'rtt'"), &["help: write [\"rtt\"]"]);
    says(
        &further("[record]\nflows = 'al'"),
        &["record.flows: unknown \"al\"", "accepted: \"sample\", \"all\"", "did you mean \"all\"?"],
    );
    says(&further("[record]\nflows = 12"), &["record.flows"]);
    says(&further("[record]\nflows = []"), &["record.flows: an empty list"]);
    says(&further("[record]\nflows = [-1]"), &["record.flows[0]"]);
    says(&further("[record]\nflows = [true]"), &["record.flows[0]"]);
    says(&further("[live]\nstack = 'clasic'"), &["did you mean \"classic\"?"]);
    says(&further("[lan]\nphy = '802.11g'"), &["lan: unknown key", "accepted: title, source, seed"]);
}

#[test]
fn later_stages_raise_faults_at_a_key() {
    let text = format!("{TOP}{LINK}[[flow]]\nname = 'a'\n[[flow]]\ncontrol = 'rneo'\n");
    let document = Document::parse("x.toml", &text).unwrap();
    let help = Some("did you mean \"reno\"?".to_owned());
    assert_eq!(
        document
            .fault("flow[1].control", "unknown congestion control \"rneo\"", "reno, cubic", help)
            .to_string(),
        "x.toml:9:11: flow[1].control: unknown congestion control \"rneo\"
  9 | control = 'rneo'
    |           ^^^^^^
  accepted: reno, cubic
  help: did you mean \"reno\"?"
    );
    let place = |key: &str| {
        let origin = document.fault(key, "x", "y", None).origin;
        (origin.line(), origin.column(), origin.length())
    };
    assert_eq!(place("flow[0].control"), (6, 1, 8), "absent: the table");
    assert_eq!(place("link.queue.kind"), (5, 1, 5), "absent: the table within");
    assert_eq!(place("link.queue.limit"), (5, 15, 11));
    assert_eq!(place("link[0].rate"), (4, 8, 10));
    assert_eq!(place("flow.a.name"), (7, 8, 3));
    assert_eq!(place("no.such.thing"), (1, 1, 1));
    assert_eq!(place(""), (1, 1, 1));
}

#[test]
fn how_losses_are_mended_is_one_of_a_few_words() {
    says(
        &in_flow("recovery = 'ppr'"),
        &["x.toml:8:12: flow[0].recovery", "\"rfc6675\", \"prr\"", "did you mean \"prr\"?"],
    );
    says(&in_flow("loss_detection = 'dupacks'"), &["\"dupack\", \"rack\"", "did you mean \"dupack\"?"]);
    says(
        &in_link("rate = '9Mbit/s'\nqueue = { limit = '9 packets', mark_above = -1 }"),
        &["link.queue.mark_above", "-1"],
    );
    says(
        &in_flow("sack = false\nloss_detection = 'rack'"),
        &["x.toml:9:18: flow[0].loss_detection", "with sack = false", "leave sack at true"],
    );
    says(
        &in_flow("recovery = 'reno'"),
        &["x.toml:8:12: flow[0].recovery", "with selective acknowledgements", "write sack = false"],
    );
}
