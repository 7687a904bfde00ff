//! Tests of the schema's columns `engines` and `refused_by` against the engines. An engine that follows a key does
//! something else when the key is written. One that refuses a key says so. One in neither column does the same.
//!
//! For a run on the kernel, the tests compare its settings; their effect needs the kernel.

#[cfg(feature = "kernel")]
use super::live;
use super::{check, run, sim};
use crate::run::record::Engine;
use crate::run::resolve::{Resolved, resolve_document};
use scenario::reference::{Row, rows};
use scenario::{DefaultValue, Document};
use std::path::Path;

/// A scenario that every engine supports.
const BASE: &str = "title = 't'\nduration = '2s'\n[link]\nrate = '10Mbit/s'\ndelay = '10ms'\nqueue = { limit = '50 packets' }\n\
                    [[flow]]\nname = 'a'\n";
/// Its cross traffic, by kind.
const TRAFFIC: [(&str, &str); 4] = [
    ("cbr", "kind = 'cbr'\nrate = '1Mbit/s'"),
    ("on-off", "kind = 'on-off'\nrate = '1Mbit/s'\npeak = '4Mbit/s'\nburst = '100ms'"),
    ("replay", "kind = 'replay'\nfile = 'one.csv'"),
    ("engset", "kind = 'engset'\nusers = 3\nsession = '10 packets'\nthink = '1s'"),
];
/// A wireless cell that the simulator and the model support.
const DOWNLOAD: &str = "title = 't'\nduration = '2s'\n[wlan]\nphy = '802.11g'\nrate = '54Mbit/s'\nqueue.limit = '900 packets'\n\
                        ac.be.aifsn = 12\nbackhaul = { rate = '100Mbit/s', delay = '10ms', queue.limit = '90 packets' }\n\
                        [[station]]\nname = 's'\n[[station]]\nname = 'other'\n[[flow]]\nname = 'a'\nstation = 's'\nack_category = 'vo'\n";
const SATURATED: &str = "title = 't'\nduration = '2s'\n[wlan]\nphy = '802.11g'\nrate = '54Mbit/s'\n[[station]]\nname = 's'\ncount = 3\nsaturated = '1500B'\n";
/// Keys that matter where stations are saturated.
const OF_SATURATION: &[&str] = &[
    "wlan.after_collision",
    "wlan.eifs_rate",
    "wlan.access",
    "wlan.ac.be.cw_max",
    "wlan.ac.be.retry_limit",
    "station.count",
    "station.saturated",
    "station.category",
];
const EBDP: (&str, &str) = ("wlan.queue.sizing", "{ rule = 'ebdp' }");
const ALT: (&str, &str) = ("wlan.queue.sizing", "{ rule = 'alt' }");
const AQL: (&str, &str) = ("wlan.queue.airtime_limits", "{}");
const OF_80211B: (&str, &str) = (
    "wlan",
    "{ phy = '802.11b', rate = '11Mbit/s', queue.limit = '900 packets', backhaul = { rate = '100Mbit/s', queue.limit = '9 packets' } }",
);
const REVERSE: (&str, &str) = ("link.reverse", "{ queue = { limit = '50 packets' } }");
const OUTAGE: (&str, &str) = ("link.outage", "{ every = '1s', length = '80ms' }");
const RED: (&str, &str) = ("link.queue.kind", "red");
const CODEL: (&str, &str) = ("link.queue.kind", "codel");
const PIE: (&str, &str) = ("link.queue.kind", "pie");
const FQ_CODEL: (&str, &str) = ("link.queue.kind", "fq-codel");
const DUALPI2: (&str, &str) = ("link.queue.kind", "dualpi2");
const CAKE: (&str, &str) = ("link.queue.kind", "cake");
const SHAPER: (&str, &str) = ("link.shaper", "{ rate = '5Mbit/s' }");

/// For each key, the settings before it, and a value that is not the default. A key may have several samples: an engine
/// follows the key if it follows one of them. Switches need no samples, because they are inverted.
type Sample = (&'static str, &'static [(&'static str, &'static str)], &'static str);
const SAMPLES: &[Sample] = &[
    ("seed", &[], "2"),
    ("duration", &[], "3s"),
    ("warmup", &[], "1s"),
    ("link.rate", &[], "20Mbit/s"),
    ("link.delay", &[], "15ms"),
    ("link.queue", &[], "{ limit = '60 packets' }"),
    ("link.loss", &[], "1%"),
    ("link.outage", &[], OUTAGE.1),
    ("link.outage.every", &[OUTAGE], "2s"),
    ("link.outage.length", &[OUTAGE], "30ms"),
    ("link.outage.first", &[OUTAGE], "0s"),
    ("link.jitter", &[], "5ms"),
    ("link.assist", &[], "xcp"),
    ("link.reverse", &[], REVERSE.1),
    ("link.shaper", &[], SHAPER.1),
    ("link.shaper.rate", &[SHAPER], "4Mbit/s"),
    ("link.shaper.queue", &[SHAPER], "{ kind = 'codel' }"),
    ("link.shaper.overhead", &[SHAPER], "44B"),
    ("link.shaper.mpu", &[SHAPER], "64B"),
    ("link.shaper.framing", &[SHAPER], "atm"),
    ("link.reverse.shaper", &[REVERSE], SHAPER.1),
    ("flow.sending_host", &[], "laptop"),
    ("flow.receiving_host", &[], "desk"),
    ("flow.dscp", &[], "ef"),
    ("traffic.sending_host", &[], "laptop"),
    ("traffic.receiving_host", &[], "desk"),
    ("traffic.dscp", &[], "ef"),
    ("link.queue.rtt", &[CAKE], "30ms"),
    ("link.queue.isolation", &[CAKE], "flows"),
    ("link.queue.tins", &[CAKE], "besteffort"),
    ("link.queue.kind", &[], "codel"),
    ("link.queue.limit", &[], "60 packets"),
    ("link.queue.target", &[CODEL], "20ms"),
    ("link.queue.interval", &[CODEL], "50ms"),
    ("link.queue.burst", &[PIE], "50ms"),
    ("link.queue.derandomize", &[PIE], "false"),
    ("link.queue.min_threshold", &[RED], "3"),
    ("link.queue.max_threshold", &[RED], "30"),
    ("link.queue.max_probability", &[RED], "0.2"),
    ("link.queue.weight", &[RED], "0.01"),
    ("link.queue.gentle", &[RED], "false"),
    ("link.queue.wait", &[RED], "true"),
    ("link.queue.by_bytes", &[RED], "true"),
    ("link.queue.quantum", &[FQ_CODEL], "3000B"),
    ("link.queue.flows", &[FQ_CODEL], "16"),
    ("link.queue.ecn", &[RED], "false"),
    ("link.queue.mark_above", &[("flow.a.ecn", "true")], "5"),
    ("link.queue.alpha", &[PIE], "0.2"),
    ("link.queue.beta", &[PIE], "2"),
    ("link.queue.ecn_probability", &[PIE], "0.2"),
    ("link.queue.coupling", &[DUALPI2], "3"),
    ("link.queue.step_threshold", &[DUALPI2], "5 packets"),
    ("link.queue.step_queue", &[DUALPI2], "2"),
    ("link.queue.classic_protection", &[DUALPI2], "0.2"),
    ("link.queue.drop_on_overload", &[DUALPI2], "false"),
    ("link.reverse.rate", &[REVERSE], "1Mbit/s"),
    ("link.reverse.queue", &[REVERSE], "{ limit = '60 packets' }"),
    ("link.reverse.loss", &[REVERSE], "1%"),
    ("wlan.phy", &[], "802.11a"),
    ("wlan.preamble", &[OF_80211B], "short"),
    ("wlan.rate", &[], "24Mbit/s"),
    ("wlan.control_rate", &[], "6Mbit/s"),
    ("wlan.access", &[], "dcf"),
    ("wlan.after_collision", &[], "difs"),
    ("wlan.eifs_rate", &[], "6Mbit/s"),
    ("wlan.header", &[], "60B"),
    ("wlan.llc", &[], "0B"),
    ("wlan.ack", &[], "40B"),
    ("wlan.ac", &[], "{ be = { cw_min = 7 } }"),
    ("wlan.ac.be", &[], "{ cw_min = 7 }"),
    ("wlan.ac.bk", &[("flow.a.category", "bk")], "{ cw_min = 7 }"),
    ("wlan.ac.vi", &[("flow.a.category", "vi")], "{ cw_min = 3 }"),
    ("wlan.ac.vo", &[], "{ cw_min = 1 }"),
    ("wlan.ac.be.cw_min", &[], "7"),
    ("wlan.ac.be.cw_max", &[], "31"),
    ("wlan.ac.be.aifsn", &[], "13"),
    ("wlan.ac.be.txop", &[], "3ms"),
    ("wlan.ac.be.retry_limit", &[], "2"),
    ("wlan.access_point", &[], "{ ac.be = { cw_min = 7 } }"),
    ("wlan.access_point.ac", &[], "{ be = { cw_min = 7 } }"),
    ("wlan.queue", &[], "{ limit = '800 packets' }"),
    ("wlan.queue.limit", &[], "800 packets"),
    ("wlan.queue.sizing", &[], EBDP.1),
    ("wlan.queue.airtime_limits", &[], "{}"),
    ("wlan.queue.sizing.rule", &[EBDP], "alt"),
    ("wlan.queue.sizing.target", &[EBDP], "100ms"),
    ("wlan.queue.sizing.extra", &[EBDP], "5"),
    ("wlan.queue.sizing.weight", &[EBDP], "0.01"),
    ("wlan.queue.sizing.interval", &[ALT], "2s"),
    ("wlan.queue.sizing.increase", &[ALT], "5"),
    ("wlan.queue.sizing.decrease", &[ALT], "2"),
    ("wlan.queue.sizing.fewest", &[ALT], "3"),
    ("wlan.queue.airtime_limits.low", &[AQL], "4ms"),
    ("wlan.queue.airtime_limits.high", &[AQL], "14ms"),
    ("wlan.queue.airtime_limits.threshold", &[AQL], "20ms"),
    ("wlan.backhaul.rate", &[], "200Mbit/s"),
    ("wlan.backhaul.delay", &[], "20ms"),
    ("wlan.backhaul.queue", &[], "{ limit = '80 packets' }"),
    ("station.count", &[], "4"),
    ("station.rate", &[], "24Mbit/s"),
    ("station.saturated", &[], "1000B"),
    ("station.category", &[], "vi"),
    ("station.queue", &[], "{ limit = '80 packets' }"),
    ("station.queue.limit", &[], "80 packets"),
    ("flow.station", &[], "other"),
    ("flow.category", &[], "bk"),
    ("flow.ack_category", &[], "vi"),
    ("flow.count", &[], "2"),
    ("flow.size", &[], "1MB"),
    ("flow.stop", &[], "1s"),
    ("flow.start", &[], "0.5s"),
    ("flow.transport", &[], "quic"),
    ("flow.handshake", &[], "false"),
    ("flow.rtt", &[], "50ms"),
    ("flow.direction", &[REVERSE], "reverse"),
    ("flow.segment", &[], "1000B"),
    ("flow.delayed_ack", &[], "2"),
    ("flow.delayed_ack", &[("flow.a.byte_counting", "0")], "2"),
    ("flow.delayed_ack_timeout", &[], "50ms"),
    ("flow.socket_buffer", &[], "20kB"),
    ("flow.send_buffer", &[], "20kB"),
    ("flow.host", &[], "linux"),
    ("flow.host", &[("flow.a.byte_counting", "0")], "linux"),
    ("flow.bbr_variant", &[("flow.a.control", "bbr")], "linux"),
    ("flow.cubic_variant", &[("flow.a.control", "cubic")], "linux"),
    ("flow.window_variant", &[("flow.a.control", "reno")], "linux"),
    ("flow.gro", &[], "50us"),
    ("flow.quick_ack", &[], "16"),
    ("flow.quick_growth", &[], "true"),
    ("flow.sack_compression", &[], "1ms"),
    ("flow.pause", &[], "1ms"),
    ("flow.pause_interval", &[("flow.a.pause", "1ms")], "200ms"),
    ("flow.wake_up", &[], "350us"),
    ("flow.access_rate", &[], "5Mbit/s"),
    ("flow.control", &[], "cubic"),
    ("flow.initial_window", &[], "4"),
    ("flow.initial_ssthresh", &[], "100kB"),
    ("flow.slow_start", &[], "hystart++"),
    ("flow.max_ssthresh", &[("flow.a.slow_start", "limited")], "50"),
    ("flow.fast_alpha", &[("flow.a.control", "fast")], "20"),
    ("flow.prague_rtt_scaling", &[("flow.a.control", "prague")], "none"),
    ("flow.prague_rtt_target", &[("flow.a.control", "prague")], "10ms"),
    ("flow.prague_rtt_transition", &[("flow.a.control", "prague")], "4"),
    ("flow.byte_counting", &[("flow.a.delayed_ack", "2")], "0"),
    ("flow.send_jitter", &[], "1ms"),
    ("flow.recovery", &[], "prr"),
    ("flow.loss_detection", &[], "rack"),
    ("flow.min_rto", &[("link.loss", "1%")], "300ms"),
    ("flow.initial_rto", &[], "3s"),
    ("traffic.rate", &[], "2Mbit/s"),
    ("traffic.packet", &[], "500B"),
    ("traffic.peak", &[], "8Mbit/s"),
    ("traffic.burst", &[], "50ms"),
    ("traffic.shape", &[], "1.5"),
    ("traffic.file", &[], "other.csv"),
    ("traffic.users", &[], "4"),
    ("traffic.session", &[], "20 packets"),
    ("traffic.think", &[], "2s"),
    ("traffic.start", &[], "0.2s"),
    ("traffic.stop", &[], "1s"),
    ("traffic.direction", &[REVERSE], "reverse"),
    ("model.theory", &[("flow.a.count", "10"), ("warmup", "1s")], "fluid"),
    ("live.stack", &[], "classic"),
    ("record.every", &[("flow.a.count", "10"), ("warmup", "1s"), ("model.theory", "fluid")], "10ms"),
    ("record.flows", &[("flow.a.count", "40")], "all"),
    ("record.fairness", &[], "100ms"),
    ("record.acks", &[], "true"),
];

/// Keys that ask nothing of an engine: they name things, hold other keys, select the part of a file that is read, or
/// control the output.
const ASKS_NOTHING: &[&str] = &[
    "title",
    "source",
    "link",
    "wlan",
    "wlan.backhaul",
    "station",
    "station.name",
    "flow",
    "traffic",
    "model",
    "live",
    "record",
    "sweep",
    "figure",
    "link.name",
    "flow.name",
    "flow.path",
    "traffic.name",
    "traffic.kind",
    "traffic.path",
    "traffic.toward",
    "traffic.from",
    "record.columns",
];
/// Tables whose keys are forms of a value, or define a figure.
const FORMS: &[&str] = &[
    "link.rate.",
    "link.delay.",
    "link.loss.",
    "link.outage.length.",
    "link.reverse.rate.",
    "link.reverse.loss.",
    "flow.rtt.",
    "flow.socket_buffer.",
    "figure.",
];

/// Makes the scenario without the key, with the kind of traffic that has the key.
fn base(row: &Row, folder: &Path) -> Document {
    let in_cell = ["wlan", "station", "flow.station", "flow.category", "flow.ack_category"];
    let mut text = match row.path.as_str() {
        path if OF_SATURATION.contains(&path) => SATURATED,
        path if in_cell.iter().any(|start| path.starts_with(start)) => DOWNLOAD,
        _ => BASE,
    }
    .to_owned();
    if row.path.starts_with("traffic.") {
        let has = |kind: &&(&str, &str)| {
            row.key.kinds.is_empty() || row.key.kinds.split_whitespace().any(|one| one == kind.0)
        };
        let (_, table) = TRAFFIC.iter().find(has).expect("a kind that has the key");
        text += &format!("[[traffic]]\nname = 'x'\n{table}\n");
    }
    Document::parse(&folder.join("t.toml").to_string_lossy(), &text).unwrap()
}

/// Returns, for each sample, the settings before the key, and its value.
fn samples(row: &Row) -> Vec<(&'static [(&'static str, &'static str)], &'static str)> {
    let own = SAMPLES.iter().filter(|(key, ..)| *key == row.path);
    let own: Vec<_> = own.map(|(_, before, value)| (*before, *value)).collect();
    if !own.is_empty() {
        return own;
    }
    let (DefaultValue::Written(usual) | DefaultValue::Words(usual) | DefaultValue::Hosts { rfc: usual, .. }) =
        row.key.default
    else {
        return Vec::new();
    };
    match usual.trim_matches('`') {
        "true" => vec![(&[], "false")],
        "false" => vec![(&[], "true")],
        _ => Vec::new(),
    }
}

/// Returns the key with the name of the table in which it stands.
fn placed(path: &str) -> String {
    path.replacen("flow.", "flow.a.", 1).replacen("traffic.", "traffic.x.", 1)
}

/// Returns the task that the scenario gives `engine`; `None` if the engine refuses.
fn asked(engine: Engine, resolved: &Resolved) -> Option<String> {
    check(engine, resolved).ok()?;
    let watched = (&resolved.sample, &resolved.acks, resolved.fairness, resolved.every);
    Some(match engine {
        Engine::Model => {
            let mut record = run(engine, resolved, super::UNWATCHED).expect("it is made for it");
            record.summary.scenario_hash.clear();
            (record.summary.seed, record.summary.peak_rss_bytes, record.summary.wall_s) = (0, 0, 0.0);
            format!("{record:?}")
        }
        Engine::Sim => format!("{:?} {watched:?}", sim::plan(resolved)),
        #[cfg(not(feature = "kernel"))]
        Engine::Live => return None,
        #[cfg(feature = "kernel")]
        Engine::Live => {
            let transport = &resolved.flows[0].transport;
            let switches =
                (resolved.stack, transport.timestamps, transport.sack, live::send_memory(resolved));
            format!(
                "{:?} {:?} {switches:?}",
                live::path_config(resolved),
                (live::sessions::tcp(resolved), live::sessions::quic(resolved))
            )
        }
    })
}

#[test]
fn every_key_is_followed_refused_or_ignored_by_the_engines_that_the_schema_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.csv"), "time_ms,size\n0,1000\n1,1000\n").unwrap();
    std::fs::write(folder.path().join("other.csv"), "time_ms,size\n0,500\n1,500\n").unwrap();
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for row in rows() {
        let path = row.path.as_str();
        if ASKS_NOTHING.contains(&path) || FORMS.iter().any(|form| path.starts_with(form)) {
            continue;
        }
        let scenarios: Vec<(Resolved, Resolved)> = samples(&row)
            .into_iter()
            .map(|(before, value)| {
                let mut document = base(&row, folder.path());
                let mut set = |key: &str, value: &str| {
                    document.set(key, value).unwrap_or_else(|fault| panic!("{path}: {fault}"));
                    resolve_document(&document).unwrap_or_else(|fault| panic!("{path}: {fault}"))
                };
                let mut without = set("seed", "1");
                for (key, value) in before {
                    without = set(key, value);
                }
                (without, set(&placed(path), value))
            })
            .collect();
        if scenarios.is_empty() {
            wrong.push(format!("{path}: give it a sample here"));
        }
        let names =
            |list: &str, engine: Engine| list.split_whitespace().any(|name| name == engine.to_string());
        for engine in Engine::ALL.into_iter().filter(|it| cfg!(feature = "kernel") || *it != Engine::Live) {
            let (follows, refuses) = (names(row.key.engines, engine), names(row.key.refused_by, engine));
            // A scenario that is refused before the key is written cannot show the key's effect.
            let asked = scenarios
                .iter()
                .filter_map(|(without, with)| Some((asked(engine, without)?, asked(engine, with))));
            let asked: Vec<(String, Option<String>)> = asked.collect();
            let refused = asked.iter().any(|(_, with)| with.is_none());
            let changed =
                asked.iter().any(|(without, with)| with.as_ref().is_some_and(|with| with != without));
            judged += asked.len();
            let right = asked.is_empty()
                || if refuses { refused && !changed } else { follows == (changed || refused) };
            if !right {
                wrong.push(format!("{path}: {engine} (follows: {follows}, refuses: {refuses})"));
            }
        }
    }
    assert!(judged > 150, "{judged}");
    assert!(wrong.is_empty(), "the schema is wrong of:\n{}", wrong.join("\n"));
}

/// Each form of a value that changes, with the key that the model names when it refuses.
const CHANGING: &[(&str, &str, &str)] = &[
    ("link.rate", "{ steps = [['0s', '10Mbit/s'], ['1s', '5Mbit/s']], every = '2s' }", "a rate that changes"),
    ("link.rate", "{ trace = 'lte.down' }", "a rate that changes"),
    ("link.rate", "{ trace = 'rate.csv', every = '2s' }", "a rate that changes"),
    ("link.delay", "{ steps = [['0s', '10ms'], ['1s', '30ms']] }", "a delay that changes"),
    ("link.delay", "{ trace = 'delay.csv', reorder = true }", "a delay that changes"),
    (
        "link.loss",
        "{ gilbert_elliott = { to_bad = 0.01, to_good = 0.3 } }",
        "losses that are not independent",
    ),
    ("link.loss", "{ packets = [5, 17] }", "losses that are not independent"),
    ("link.loss", "{ packets = { trace = 'lost.txt' } }", "losses that are not independent"),
    ("link.loss", "{ trace = 'loss.csv' }", "losses that are not independent"),
    ("link.outage", OUTAGE.1, "outages"),
];

#[test]
fn a_link_that_changes_is_simulated_and_emulated_and_refused_by_theory_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("lte.down", "0\n1\n1\n7\n"),
        ("rate.csv", "time_s,rate_mbps\n0,10\n1,0\n"),
        ("delay.csv", "time_s,delay_ms\n0,30\n1,10\n"),
        ("loss.csv", "time_s,loss\n0,0.1\n1,0\n"),
        ("lost.txt", "5\n17\n"),
    ];
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let name = folder.path().join("t.toml");
    let constant = resolve_document(&Document::parse(&name.to_string_lossy(), BASE).unwrap()).unwrap();
    for (key, value, reason) in CHANGING {
        let mut document = Document::parse(&name.to_string_lossy(), BASE).unwrap();
        document.set(key, value).unwrap_or_else(|fault| panic!("{key} = {value}: {fault}"));
        let resolved = resolve_document(&document).unwrap_or_else(|fault| panic!("{key} = {value}: {fault}"));
        let refused = check(Engine::Model, &resolved).unwrap_err();
        assert_eq!(refused.complaint.place, *key);
        assert!(refused.complaint.found.starts_with(reason), "{refused}");
        for engine in
            Engine::ALL.into_iter().skip(1).filter(|it| cfg!(feature = "kernel") || *it != Engine::Live)
        {
            let asked =
                |resolved| asked(engine, resolved).unwrap_or_else(|| panic!("{engine} refuses {value}"));
            assert_ne!(asked(&resolved), asked(&constant), "{engine} ignores {value}");
        }
        run(Engine::Sim, &resolved, super::UNWATCHED).unwrap_or_else(|error| panic!("{value}: {error}"));
    }
}

#[test]
fn the_schema_names_the_bound_of_a_setting_that_only_its_policy_knows() {
    let row = rows().into_iter().find(|row| row.path == "link.queue.flows").unwrap();
    let mut document = base(&row, Path::new(""));
    document.set("link.queue.kind", "fq-codel").unwrap();
    document.set("link.queue.flows", "2000000").unwrap();
    let faults = resolve_document(&document).unwrap_err();
    let complaint = &faults.as_slice()[0].complaint;
    assert_eq!(complaint.found, "it resolves to 2000000");
    assert_eq!(row.key.kind, format!("whole number, {}", complaint.accepted));
}
