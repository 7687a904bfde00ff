//! What a sound scenario reads as.

use tightlink_scenario::spec::Loss;
use tightlink_scenario::{
    Column, Document, Limit, Pattern, Scenario, SocketBuffer, Spread, Stack, Transport,
};
use units::{Bytes, Fraction, Rate, Span};

const EXAMPLE: &str = r#"
title = "SOBAS, gigabit path, unresponsive cross traffic"
source = "sobas:fig11"          # id of the published result, if any
seed = 1
duration = "60s"                # or until every sized flow ends
warmup = "10s"                  # metrics leave it out
[link]                          # the tight link; [[link]] in order for a longer path
rate = "970Mbit/s"
delay = "10ms"                  # one way
queue = { kind = "drop-tail", limit = "0.25 bdp" }   # or "250 packets", "512kB", "40ms"
[[flow]]
name = "target"
count = 1
control = "reno"
size = "1GB"                    # absent: greedy
rtt = "20ms"                    # base RTT
segment = "1500B"               # on the wire
delayed_ack = 2
socket_buffer = "max"           # or "400kB"
start = "0s"                    # a time, or { uniform = ["0s", "10s"] }
send_jitter = "0s"
initial_window = 10
initial_ssthresh = "unlimited"
slow_start = "standard"         # standard, limited (RFC 3742), hystart++
[[traffic]]
kind = "cbr"
rate = "400Mbit/s"
[live]                          # only the live engine reads it
stack = "modern"                # modern, or classic: SACK and RACK off
[record]
every = "20ms"
columns = ["rate", "rtt", "window", "backlog", "drops"]
[sweep]
"link.queue.limit" = ["0.1 bdp", "0.2 bdp", "1 bdp"]
"#;

fn read(text: &str) -> Scenario {
    Document::parse("x.toml", text)
        .and_then(|document| document.scenario())
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// A scenario with these keys in its only flow.
fn flow(keys: &str) -> tightlink_scenario::Flow {
    let text = format!(
        "title = 't'\nduration = '60s'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\n{keys}"
    );
    read(&text).flows.remove(0)
}

#[test]
fn the_example_of_the_design_reads() {
    let scenario = read(EXAMPLE);
    assert_eq!(scenario.title, "SOBAS, gigabit path, unresponsive cross traffic");
    assert_eq!(scenario.source.as_deref(), Some("sobas:fig11"));
    assert_eq!(scenario.duration, Some(Span::from_secs(60)));
    assert_eq!(scenario.warmup, Span::from_secs(10));
    assert_eq!(scenario.links[0].rate, Rate::from_bps(970_000_000).into());
    assert_eq!(scenario.links[0].queue.limit, Limit::Bdp(0.25));
    assert_eq!(scenario.flows[0].name, "target");
    assert_eq!(scenario.flows[0].size, Some(Bytes::new(1_000_000_000)));
    assert_eq!(scenario.flows[0].rtt, Some(Spread::All(Span::from_millis(20))));
    assert_eq!(scenario.traffic[0].name, "cbr");
    assert_eq!(scenario.traffic[0].pattern, Pattern::Cbr);
}

#[test]
fn the_shortest_scenario_gets_every_default() {
    let scenario =
        read("title = 't'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '40ms'\n[[flow]]\nsize = '1MB'\n");
    assert_eq!((scenario.seed, scenario.duration, scenario.warmup), (1, None, Span::ZERO));
    let link = &scenario.links[0];
    assert_eq!((&link.delay, &link.loss), (&Span::ZERO.into(), &Loss::NONE));
    assert_eq!(link.queue.kind, "drop-tail");
    assert_eq!(link.queue.limit, Limit::Time(Span::from_millis(40)));
    let flow = &scenario.flows[0];
    assert_eq!((flow.name.as_str(), flow.count, flow.control.as_str()), ("flow", 1, "reno"));
    assert_eq!((flow.rtt.clone(), flow.segment, flow.delayed_ack), (None, Bytes::new(1500), 1));
    assert_eq!(flow.delayed_ack_timeout, Span::from_millis(100));
    assert_eq!(flow.socket_buffer, SocketBuffer::Max);
    assert_eq!((flow.start.clone(), flow.send_jitter), (Spread::All(Span::ZERO), Span::ZERO));
    assert_eq!((flow.initial_window, flow.initial_ssthresh), (10, None));
    assert_eq!((flow.slow_start.as_str(), flow.transport), ("standard", Transport::default()));
    assert_eq!((flow.max_ssthresh, flow.byte_counting), (100, 1));
    assert_eq!(scenario.live.stack, Stack::Modern);
    assert_eq!(scenario.record.every, Span::from_millis(20));
    let all = [Column::Rate, Column::Rtt, Column::Window, Column::Backlog, Column::Drops];
    assert_eq!(scenario.record.columns, all);
}

#[test]
fn spelled_out_defaults_change_nothing() {
    let short = "title = 't'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '40ms'\n[[flow]]\nsize = '1MB'\n";
    let long = "title = 't'\nseed = 1\nwarmup = '0s'\n[[link]]\nrate = '10Mbit/s'\ndelay = '0ms'\nloss = 0\n\
                [link.queue]\nkind = 'drop-tail'\nlimit = '40ms'\n[[flow]]\nsize = '1MB'\ncontrol = 'reno'\n\
                delayed_ack_timeout = '100ms'\nmin_rto = '0.2s'\n[live]\n[record]\nevery = '20ms'\nflows = 'sample'\n";
    assert_eq!(read(short), read(long));
}

#[test]
fn every_form_of_rtt_reads() {
    let ms = Span::from_millis;
    assert_eq!(flow("rtt = '20ms'").rtt, Some(Spread::All(ms(20))));
    assert_eq!(flow("count = 2\nrtt = ['20ms', '30ms']").rtt, Some(Spread::List(vec![ms(20), ms(30)])));
    assert_eq!(flow("rtt = { uniform = ['38ms', '142ms'] }").rtt, Some(Spread::Uniform(ms(38), ms(142))));
    assert_eq!(
        flow("rtt = { pareto = { shape = 1.2, mean = '100ms' } }").rtt,
        Some(Spread::Pareto { shape: 1.2, mean: ms(100) })
    );
    assert_eq!(
        flow("rtt = { pareto = { shape = 1.2, mean = '100ms', draw = 'quantiles' } }").rtt,
        Some(Spread::ParetoQuantiles { shape: 1.2, mean: ms(100) })
    );
    assert_eq!(flow("rtt.exponential = '2s'").rtt, Some(Spread::Exponential(ms(2000))));
    assert_eq!(flow("start = { uniform = ['0s', '10s'] }").start, Spread::Uniform(ms(0), ms(10_000)));
}

#[test]
fn every_form_of_limit_reads() {
    let limit = |limit: &str| {
        let text = format!(
            "title = 't'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '{limit}'\n[[flow]]\nsize = '1MB'\n"
        );
        read(&text).links[0].queue.limit
    };
    assert_eq!(limit("250 packets"), Limit::Packets(250));
    assert_eq!(limit("1 packet"), Limit::Packets(1));
    assert_eq!(limit("512kB"), Limit::Bytes(Bytes::new(512_000)));
    assert_eq!(limit("40ms"), Limit::Time(Span::from_millis(40)));
    assert_eq!(limit("0.25 bdp"), Limit::Bdp(0.25));
    assert_eq!(limit("1bdp"), Limit::Bdp(1.0));
}

#[test]
fn sizes_and_their_words_read() {
    assert_eq!(flow("socket_buffer = '400kB'").socket_buffer, SocketBuffer::Fixed(Bytes::new(400_000)));
    let sized = |max| SocketBuffer::Sized { sizer: "drs".into(), max, regret: None };
    assert_eq!(flow("socket_buffer = { sizer = 'drs' }").socket_buffer, sized(Bytes::new(6_000_000)));
    assert_eq!(
        flow("socket_buffer = { sizer = 'drs', max = '64KiB' }").socket_buffer,
        sized(Bytes::new(65_536))
    );
    assert_eq!(flow("initial_ssthresh = '64kB'").initial_ssthresh, Some(Bytes::new(64_000)));
    assert_eq!(flow("initial_ssthresh = 'unlimited'").initial_ssthresh, None);
}

#[test]
fn names_of_controls_queues_and_slow_starts_pass_unchecked() {
    let flow = flow("control = 'no-such'\nslow_start = 'nor-this'");
    assert_eq!((flow.control.as_str(), flow.slow_start.as_str()), ("no-such", "nor-this"));
}

#[test]
fn a_longer_path_keeps_its_order() {
    let scenario = read(
        "title = 't'\n[[link]]\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\nloss = '0.5%'\n[[link]]\n\
         rate = '20Mbit/s'\nqueue.limit = '9 packets'\nloss = 0.25\n[[flow]]\nsize = '1MB'\n",
    );
    let rates: Vec<_> = scenario.links.iter().map(|link| link.rate.constant()).collect();
    assert_eq!(rates, [10_000_000, 20_000_000].map(|rate| Some(Rate::from_bps(rate))));
    assert_eq!(scenario.links[0].loss, Fraction::new(0.005).unwrap().into());
    assert_eq!(scenario.links[1].loss, Fraction::new(0.25).unwrap().into());
}

#[test]
fn unnamed_flows_and_traffic_get_distinct_names() {
    let scenario = read(
        "title = 't'\nduration = '9s'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\n[[flow]]\n\
         name = 'flow-2'\n[[flow]]\n[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\n[[traffic]]\nkind = 'cbr'\n\
         rate = '1Mbit/s'\n[[traffic]]\nkind = 'on-off'\nrate = '1Mbit/s'\npeak = '2Mbit/s'\nburst = '50ms'\n",
    );
    let flows: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(flows, ["flow", "flow-2", "flow-3"]);
    let traffic: Vec<&str> = scenario.traffic.iter().map(|traffic| traffic.name.as_str()).collect();
    assert_eq!(traffic, ["cbr", "cbr-2", "on-off"]);
    let bursts =
        Pattern::OnOff { peak: Rate::from_bps(2_000_000), burst: Span::from_millis(50), shape: None };
    assert_eq!(scenario.traffic[2].pattern, bursts);
}

#[test]
fn a_document_gives_back_its_name_and_text() {
    let mut document = Document::parse("scenarios/x.toml", EXAMPLE).unwrap();
    document.set("seed", "7").unwrap();
    assert_eq!(document.name(), "scenarios/x.toml");
    assert_eq!(document.text(), EXAMPLE);
}
