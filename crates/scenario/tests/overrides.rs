//! `--set key=value`.

use tightlink_scenario::{Document, Faults, Limit, Scenario, SocketBuffer, Spread};
use units::{Bytes, Rate, Span};

const TEXT: &str = "title = 't'
duration = '60s'
[link]
rate = '10Mbit/s'
queue = { limit = '9 packets' }
[[flow]]
name = 'target'
[[flow]]
name = 'cross flow'
[[flow]]
[[traffic]]
kind = 'cbr'
rate = '1Mbit/s'
";

fn set(key: &str, value: &str) -> Result<Scenario, Faults> {
    let mut document = Document::parse("x.toml", TEXT)?;
    document.set(key, value)?;
    document.scenario()
}

#[track_caller]
fn sound(key: &str, value: &str) -> Scenario {
    set(key, value).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn refused(key: &str, value: &str) -> String {
    match set(key, value) {
        Ok(_) => panic!("{key}={value} was taken"),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn a_value_replaces_the_files() {
    assert_eq!(sound("link.rate", "\"97Mbit/s\"").links[0].rate, Rate::from_bps(97_000_000).into());
    assert_eq!(sound("seed", "7").seed, 7);
}

#[test]
fn quotes_may_be_left_out() {
    assert_eq!(sound("link.rate", "97Mbit/s").links[0].rate, Rate::from_bps(97_000_000).into());
    assert_eq!(sound("link.queue.limit", "40ms").links[0].queue.limit, Limit::Time(Span::from_millis(40)));
    assert_eq!(sound("link.queue.limit", " 12 packets ").links[0].queue.limit, Limit::Packets(12));
    assert_eq!(sound("title", "a = b").title, "a = b");
}

#[test]
fn an_absent_key_is_added() {
    assert_eq!(sound("warmup", "10s").warmup, Span::from_secs(10));
    assert_eq!(sound("record.every", "1s").record.every, Span::from_secs(1));
    assert_eq!(sound("link.delay", "5ms").links[0].delay, Span::from_millis(5).into());
}

#[test]
fn a_key_of_flow_means_every_flow_and_a_name_or_index_one() {
    let buffers = |key: &str| -> Vec<bool> {
        sound(key, "400kB").flows.iter().map(|flow| flow.socket_buffer != SocketBuffer::Max).collect()
    };
    assert_eq!(buffers("flow.socket_buffer"), [true, true, true]);
    assert_eq!(buffers("flow.target.socket_buffer"), [true, false, false]);
    assert_eq!(buffers("flow.1.socket_buffer"), [false, true, false]);
    assert_eq!(buffers("flow[1].socket_buffer"), [false, true, false]);
    assert_eq!(buffers("flow.\"cross flow\".socket_buffer"), [false, true, false]);
    assert_eq!(buffers("flow.\"c*\".socket_buffer"), [false, true, false], "a name that begins so");
    assert_eq!(buffers("flow.*.socket_buffer"), [true, true, true]);
    assert_eq!(buffers("flow.flow.socket_buffer"), [false, false, true], "the name it gets by default");
}

#[test]
fn links_and_traffic_are_picked_alike() {
    assert_eq!(sound("link.0.rate", "1Gbit/s").links[0].rate, Rate::from_bps(1_000_000_000).into());
    assert_eq!(sound("traffic.cbr.packet", "100B").traffic[0].packet, Bytes::new(100));
    assert_eq!(sound("traffic.packet", "100B").traffic[0].packet, Bytes::new(100));
    assert_eq!(sound("traffic.0.packet", "100B").traffic[0].packet, Bytes::new(100));
}

#[test]
fn lists_and_tables_are_taken_whole() {
    let rtt = sound("flow.target.rtt", "{ uniform = ['38ms', '142ms'] }").flows[0].rtt.clone();
    assert_eq!(rtt, Some(Spread::Uniform(Span::from_millis(38), Span::from_millis(142))));
    let rtt = sound("flow.rtt.exponential", "2s").flows[2].rtt.clone();
    assert_eq!(rtt, Some(Spread::Exponential(Span::from_secs(2))));
}

#[test]
fn a_fault_names_the_override() {
    assert_eq!(
        refused("link.rate", "97Mbits"),
        "--set: link.rate: unknown unit \"Mbits\"
  --set link.rate=97Mbits
                    ^^^^^
  accepted: a rate such as \"100Mbit/s\" or \"1Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s; M, mbit, Mbit, Mbps and Mb/s also read)
  help: did you mean \"97Mbit/s\"?"
    );
}

#[test]
fn an_unknown_key_is_refused_once_however_many_flows_there_are() {
    assert_eq!(
        refused("flow.socket_bufer", "400kB"),
        "--set: flow[0].socket_bufer: unknown key
  --set flow.socket_bufer=400kB
        ^^^^^^^^^^^^^^^^^
  accepted: name, count, transport, size, handshake, stop, start, rtt, station, direction, category, ack_category, path, segment, timestamps, sack, delayed_ack, delayed_ack_timeout, socket_buffer, send_buffer, host, bbr_variant, cubic_variant, window_variant, undo_timeouts, tso, gro, quick_ack, quick_growth, sack_compression, pause, pause_interval, wake_up, access_rate, control, initial_window, initial_ssthresh, slow_start, max_ssthresh, fast_alpha, prague_rtt_scaling, prague_rtt_target, prague_rtt_transition, byte_counting, pacing, send_jitter, recovery, loss_detection, ecn, min_rto, initial_rto, sending_host, receiving_host, dscp
  help: did you mean \"socket_buffer\"?"
    );
}

#[test]
fn an_unknown_flow_is_told_the_names() {
    assert_eq!(
        refused("flow.tagret.size", "1GB"),
        "--set: flow.tagret.size: no flow is named \"tagret\"
  --set flow.tagret.size=1GB
        ^^^^^^^^^^^^^^^^
  accepted: target, cross flow, flow, or an index from 0
  help: did you mean \"target\"?"
    );
    assert!(refused("flow.3.size", "1GB").contains("no flow 3: there are 3, counted from 0"));
    assert!(refused("link.1.rate", "1Gbit/s").contains("no link 1: there are 1, counted from 0"));
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    assert!(refused("", "1").contains("no key"));
    assert!(refused("link..rate", "1").contains("an empty step"));
    assert!(refused("flow.\"a.size", "1").contains("a quote that is not closed"));
    assert!(refused("flow[0.size", "1").contains("a bracket that is not closed"));
    assert!(refused("title.x", "1").contains("no key \"x\" within \"t\""));
    assert!(refused("a.b.c.d.e.f.g.h.i", "1").contains("too many steps"));
    assert!(refused("link.queue.limit.x", "1").contains("no key \"x\" within \"9 packets\""));
}

#[test]
fn a_broken_list_is_refused_with_its_quotes_in_mind() {
    let fault = refused("flow.rtt", "[20ms, 30ms]");
    assert!(fault.contains("strings need their quotes"), "{fault}");
    assert!(fault.contains("--set flow.rtt=[20ms, 30ms]\n"), "{fault}");
}

#[test]
fn a_refused_override_changes_nothing() {
    let mut document = Document::parse("x.toml", TEXT).unwrap();
    let before = document.scenario().unwrap();
    assert!(document.set("flow.9.size", "1GB").is_err());
    assert!(document.set("title.x", "1").is_err());
    assert_eq!(document.scenario().unwrap(), before);
}

/// What the sweep of `text` varies after `key` was set, one `key: values` per axis.
fn axes_after(sweep: &str, key: &str, value: &str) -> Result<Vec<String>, Faults> {
    let mut document = Document::parse("x.toml", &format!("{TEXT}[sweep]\n{sweep}\n"))?;
    document.set(key, value)?;
    let sweep = document.sweep()?;
    let point = sweep.points().next().unwrap();
    document.at(&point)?.scenario()?;
    Ok(sweep.axes().iter().map(|axis| format!("{}: {}", axis.key, axis.values.join(", "))).collect())
}

#[test]
fn setting_a_swept_key_takes_its_axis_out_of_the_sweep() {
    let sweep = "'link.queue.limit' = ['1 bdp', '2 bdp']\nflow.target.rtt = ['10ms', '20ms']";
    let after = |key: &str, value: &str| axes_after(sweep, key, value).unwrap();
    assert_eq!(after("link.queue.limit", "3 packets"), ["flow.target.rtt: 10ms, 20ms"]);
    assert_eq!(after("link[0].queue.limit", "3 packets"), ["flow.target.rtt: 10ms, 20ms"]);
    assert_eq!(after("link.queue", "{ limit = '3 packets' }"), ["flow.target.rtt: 10ms, 20ms"]);
    assert_eq!(after("flow.0.rtt", "30ms"), ["link.queue.limit: 1 bdp, 2 bdp"]);
    assert_eq!(
        after("flow.rtt", "30ms"),
        ["link.queue.limit: 1 bdp, 2 bdp"],
        "every flow, so the target, too"
    );
    assert_eq!(after("flow.1.rtt", "30ms").len(), 2, "another flow");
    assert_eq!(after("link.rate", "1Mbit/s").len(), 2);
}

#[test]
fn the_value_set_is_the_one_that_runs() {
    let mut document =
        Document::parse("x.toml", &format!("{TEXT}[sweep]\nseed = [3, 4]\n'link.rate' = ['1Mbit/s']"))
            .unwrap();
    document.set("seed", "7").unwrap();
    let points: Vec<_> = document.sweep().unwrap().points().collect();
    assert_eq!(points.len(), 1);
    let scenario = document.at(&points[0]).unwrap().scenario().unwrap();
    assert_eq!((scenario.seed, &scenario.links[0].rate), (7, &Rate::from_bps(1_000_000).into()));
    assert_eq!(document.overrides(), [("seed".to_owned(), "7".to_owned())]);
}

#[test]
fn setting_a_part_of_what_is_swept_is_refused() {
    let refused =
        |sweep: &str, key: &str, value: &str| axes_after(sweep, key, value).unwrap_err().to_string();
    let fault = refused("'flow.socket_buffer' = ['100kB', 'max']", "flow.target.socket_buffer", "20kB");
    for word in [
        "--set: flow.target.socket_buffer: a part of",
        "as \"flow.socket_buffer\"",
        "help: set flow.socket_buffer",
    ] {
        assert!(fault.contains(word), "{word:?} is not in:\n{fault}");
    }
    let fault = refused("'link.queue' = [{ limit = '1 bdp' }]", "link.queue.limit", "2 bdp");
    assert!(fault.contains("a part of what [sweep] varies as \"link.queue\""), "{fault}");
}
