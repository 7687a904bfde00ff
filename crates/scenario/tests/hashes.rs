//! The content hash changes with what a scenario says, and with nothing else.

use tightlink_scenario::Document;

const TEXT: &str = "title = 't'
duration = '60s'
[link]
rate = '10Mbit/s'
queue = { kind = 'drop-tail', limit = '9 packets' }
[[flow]]
rtt = '40ms'
";

fn hash(text: &str) -> String {
    Document::parse("x.toml", text).and_then(|document| document.scenario()).unwrap().hash()
}

#[test]
fn a_hash_is_sixteen_hexadecimal_digits() {
    let hash = hash(TEXT);
    assert_eq!(hash.len(), 16);
    assert!(hash.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)), "{hash}");
}

/// Stores, reports and caches of earlier versions know scenarios by their hash.
#[test]
fn a_hash_stays_from_version_to_version() {
    let text = "title = 'all'
duration = '1s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '50 packets'
[[flow]]
control = 'bbr'
min_rto = '300ms'
initial_rto = '2s'
timestamps = true
sack = true
recovery = 'prr'
loss_detection = 'rack'
ecn = true
pacing = true
bbr_variant = 'linux'
tso = true
gro = '10us'
quick_ack = 3
sack_compression = '1ms'
pause = '1ms'
pause_interval = '300ms'
wake_up = '20us'
access_rate = '100Mbit/s'
delayed_ack = 2
send_jitter = '3us'
";
    assert_eq!(hash(text), "1452c7df1630bd66");
    let plain = "title = 't'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '40ms'\n[[flow]]\nsize = '1MB'\n";
    assert_eq!(hash(plain), "8c79542e897dbcaa");
}

/// Booleans and words say the same, and a control that turns on a feedback has it in its hash.
#[test]
fn a_feedback_has_one_hash_however_it_is_written() {
    let with = |keys: &str| hash(&format!("{TEXT}{keys}\n"));
    assert_eq!(with("ecn = true"), with("ecn = 'classic'"));
    assert_eq!(with("ecn = 'off'"), hash(TEXT));
    assert_eq!(with("control = 'prague'"), with("control = 'prague'\necn = 'accecn'"));
    assert_ne!(with("control = 'dctcp'"), with("control = 'dctcp'\necn = 'accecn'"));
}

#[test]
fn comments_layout_order_and_spelling_do_not_change_it() {
    let same = "# a comment
duration   = \"1min\" # another
title = \"t\"

[[flow]]
rtt = '0.04s'
control = 'reno'

[[link]]
queue.limit = '9 packets'
rate = '10_000kbit/s'
[sweep]
seed = [1, 2]
";
    assert_eq!(hash(TEXT), hash(same));
}

#[test]
fn every_value_changes_it() {
    let mut hashes = vec![hash(TEXT)];
    for (key, value) in [
        ("title", "u"),
        ("source", "sobas:fig11"),
        ("seed", "2"),
        ("duration", "61s"),
        ("warmup", "1ns"),
        ("link.rate", "10000001bit/s"),
        ("link.delay", "1ns"),
        ("link.loss", "0.1%"),
        ("link.queue.kind", "red"),
        ("link.name", "x"),
        ("link.reverse", "{ queue = { limit = '9 packets' } }"),
        ("link.queue.limit", "10 packets"),
        ("link.queue.limit", "9 bdp"),
        ("flow.name", "x"),
        ("flow.count", "2"),
        ("flow.control", "cubic"),
        ("flow.size", "1GB"),
        ("flow.rtt", "41ms"),
        ("flow.rtt", "['40ms']"),
        ("flow.segment", "1501B"),
        ("flow.delayed_ack", "2"),
        ("flow.delayed_ack_timeout", "1s"),
        ("flow.socket_buffer", "1MB"),
        ("flow.socket_buffer", "{ sizer = 'drs', max = '1MB' }"),
        ("flow.socket_buffer", "{ sizer = 'drs' }"),
        ("flow.byte_counting", "2"),
        ("flow.start", "1s"),
        ("flow.send_jitter", "1us"),
        ("flow.initial_window", "2"),
        ("flow.initial_ssthresh", "64kB"),
        ("flow.slow_start", "limited"),
        ("flow.min_rto", "1s"),
        ("flow.initial_rto", "3s"),
        ("flow.timestamps", "false"),
        ("flow.sack", "false"),
        ("flow.recovery", "prr"),
        ("flow.loss_detection", "rack"),
        ("flow.ecn", "true"),
        ("flow.ecn", "accecn"),
        ("flow.pacing", "true"),
        ("traffic", "[{ kind = 'cbr', rate = '1Mbit/s' }]"),
        ("live.stack", "classic"),
        ("record.every", "1s"),
        ("record.columns", "[]"),
        ("record.flows", "all"),
        ("record.flows", "[0]"),
        ("record.flows", "['a', 0]"),
        ("record.acks", "true"),
    ] {
        let mut document = Document::parse("x.toml", TEXT).unwrap();
        document.set(key, value).unwrap();
        let hash = document.scenario().unwrap_or_else(|faults| panic!("{faults}")).hash();
        assert!(!hashes.contains(&hash), "{key}={value}");
        hashes.push(hash);
    }
}

#[test]
fn a_theory_changes_the_hash_and_the_default_does_not() {
    let with = |theory: &str| hash(&format!("{TEXT}[model]\ntheory = '{theory}'\n"));
    assert_eq!(with("nearest"), hash(TEXT));
    assert_ne!(with("fluid"), hash(TEXT));
    assert_ne!(with("fluid"), with("fixed point"));
}
