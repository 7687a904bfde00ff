//! Theory as an engine: the theory that fits answers as it is, the nearest one says what it assumes, and no number is out of range.

use crate::common::{answered, resolved};
use proptest::prelude::*;
use scenario::Document;
use serde_json::Value;
use tightlink_lab::run::engine::{UNWATCHED, can_answer, check, run};
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::resolve_document;
use tightlink_lab::study::claims::{check as judge, parse_claims};
use tightlink_lab::study::task::{Answer, tasks};

const TOP: &str = "title = 't'\nduration = '20s'\nwarmup = '5s'\n";
const LINK: &str = "[link]\nrate = '10Mbit/s'\nqueue.limit = '40 packets'\n";

#[test]
fn a_scenario_that_the_theory_is_about_breaks_no_assumption() {
    let record = answered(Engine::Model, &format!("{TOP}{LINK}[[flow]]\nrtt = '40ms'\n"));
    assert!(record.summary.is_exact(), "{:?}", record.summary.assumptions);
    assert_eq!(record.notes[0].text(), "answered by the theory mft [sobas:mft]");
    let json = serde_json::to_value(&record.summary).unwrap();
    assert!(json.get("assumptions").is_none(), "{json}");
}

#[test]
fn each_assumption_that_a_scenario_breaks_is_listed_with_its_theory() {
    let text = format!(
        "{TOP}{LINK}queue.kind = 'codel'\n[[flow]]\nrtt = '40ms'\ncontrol = 'cubic'\nstop = '10s'\n\
         [[traffic]]\nkind = 'engset'\nname = 'people'\nusers = 5\nsession = '9 packets'\n\
         think = {{ exponential = '2s' }}\nrtt = '40ms'\n"
    );
    let summary = answered(Engine::Model, &text).summary;
    let parts = [
        "users that come and go (people)",
        "cubic is taken for Reno",
        "a codel queue is taken for drop-tail",
        "all the time",
    ];
    assert_eq!(summary.assumptions.len(), parts.len(), "{:?}", summary.assumptions);
    for (assumption, part) in summary.assumptions.iter().zip(parts) {
        assert!(assumption.starts_with("mft: ") && assumption.contains(part), "{assumption}");
    }
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["assumptions"].as_array().map(Vec::len), Some(parts.len()));
    let refused = check(Engine::Model, &resolved(&text)).unwrap_err();
    assert_eq!(refused.complaint.place, "traffic[0].kind");
    assert!(can_answer(Engine::Model, &resolved(&text)).is_ok());
}

#[test]
fn every_theory_of_links_lists_packets_that_overtake_others() {
    let jitter = "packets are taken to keep their order, without jitter";
    let ordered = FILE.replace("'file'", "'file'\ncount = 10").replace("title = 't'", TOP);
    let disordered = ordered.replace("limit = '19 packets'", "limit = '19 packets'\njitter = '5ms'");
    for theory in ["slow start", "mft", "fixed point", "fluid"] {
        let assumptions = |text: &str| {
            let mut document = Document::parse("x.toml", text).unwrap();
            document.set("model.theory", theory).unwrap();
            let resolved = resolve_document(&document).unwrap_or_else(|faults| panic!("{faults}"));
            run(Engine::Model, &resolved, UNWATCHED).unwrap().summary.assumptions
        };
        let (without, with) = (assumptions(&ordered), assumptions(&disordered));
        let added: Vec<&String> = with.iter().filter(|assumption| !without.contains(assumption)).collect();
        assert_eq!(with.len(), without.len() + 1, "{theory}: {with:?}");
        assert!(added[0].ends_with(jitter), "{theory}: {added:?}");
    }
    // Behind another link than the tight one, too.
    let text = format!(
        "{TOP}[[link]]\nname = 'a'\nrate = '10Mbit/s'\nqueue.limit = '40 packets'\n\
         [[link]]\nname = 'b'\nrate = '30Mbit/s'\njitter = '5ms'\nqueue.limit = '40 packets'\n[[flow]]\nrtt = '40ms'\n"
    );
    let assumptions = answered(Engine::Model, &text).summary.assumptions;
    assert!(assumptions.iter().any(|assumption| assumption.ends_with(jitter)), "{assumptions:?}");
}

#[test]
fn equal_flows_that_lose_together_are_one_flow_of_their_size() {
    let flows = |count: u64, segment: u64| {
        let text = format!(
            "{TOP}[link]\nrate = '48Mbit/s'\nqueue.limit = '96kB'\n[[flow]]\nrtt = '40ms'\ncount = {count}\nsegment = '{segment}B'\n"
        );
        answered(Engine::Model, &text).summary
    };
    let together = flows(4, 1500);
    assert!(together.assumptions[0].contains("the 4 flows are taken"), "{:?}", together.assumptions);
    let goodput: f64 = together.flows[0].goodput_bps;
    assert!(together.flows.iter().all(|flow| flow.goodput_bps == goodput));
    // A single flow saws between the same bounds, whatever its segment: only headers and one serialization differ.
    let (alone, all) = (flows(1, 1500), 4.0 * goodput);
    assert!((all / alone.flows[0].goodput_bps - 1.0).abs() < 1e-6, "{all}");
    assert_eq!(together.utilization, alone.utilization);
    // Four flows regain in one round trip what one regains in four, and each loses once: sixteen times the rate of loss.
    let ratio = together.loss_rate.unwrap() / alone.loss_rate.unwrap();
    assert!((ratio - 16.0).abs() < 1e-6, "{ratio}");
}

#[test]
fn windows_beyond_the_path_and_the_queue_are_not_limited_by_their_buffers() {
    let flows = |buffer: &str| {
        let other = format!("[[flow]]\nrtt = '40ms'\nsocket_buffer = '{buffer}'\n");
        answered(Engine::Model, &format!("{TOP}{LINK}[[flow]]\nrtt = '40ms'\n{other}")).summary
    };
    assert!(flows("40kB").is_exact());
    // The path holds 50 kB, the queue 60 kB.
    let together = flows("4MB");
    assert!(together.assumptions[0].contains("the 2 flows are taken"), "{:?}", together.assumptions);
    let goodput: f64 = together.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!(goodput < 10e6, "{goodput}");
}

#[test]
fn flows_that_avoid_the_tight_link_are_told_apart() {
    let text = format!(
        "{TOP}[[link]]\nname = 'a'\nrate = '10Mbit/s'\nqueue.limit = '40 packets'\n\
         [[link]]\nname = 'b'\nrate = '30Mbit/s'\nqueue.limit = '40 packets'\n\
         [[flow]]\nname = 'long'\nrtt = '40ms'\n[[flow]]\nname = 'short'\nrtt = '40ms'\npath = ['b']\n"
    );
    let summary = answered(Engine::Model, &text).summary;
    assert!(summary.assumptions[0].contains("only the queue of the tight link, a, is counted"));
    assert_eq!(summary.flows.len(), 2);
    // Half of the other link, as both flows cross it; 1448 of 1500 bytes are payload.
    assert!((summary.flows[1].goodput_bps / (15e6 * 1448.0 / 1500.0) - 1.0).abs() < 1e-6, "{summary:?}");
    assert!(summary.flows[0].goodput_bps > 0.7 * 10e6 * 1448.0 / 1500.0);
}

#[test]
fn claims_do_not_judge_an_answer_whose_assumptions_are_broken() {
    let claims = parse_claims(
        "c.toml",
        "[[claim]]\nsays = 'much'\nquantity = 'goodput'\nengines = ['model']\nat_least = '1kbit/s'\n",
    )
    .unwrap();
    let verdict = |control: &str| {
        let text = format!("{TOP}{LINK}[[flow]]\nrtt = '40ms'\ncontrol = '{control}'\n");
        let task = tasks(&Document::parse("x.toml", &text).unwrap()).unwrap().remove(0);
        let record = run(Engine::Model, &task.resolved, UNWATCHED).unwrap();
        judge(&claims, &[Answer::of(task, vec![record])], &[Engine::Model]).remove(0)
    };
    assert!(verdict("reno").held);
    let broken = verdict("cubic");
    assert!(!broken.held, "{broken:?}");
    assert!(broken.detail.contains("that can be judged: mft: cubic is taken for Reno"), "{}", broken.detail);
}

/// Every number of a summary, with its path.
fn numbers(path: &str, json: &Value, found: &mut Vec<(String, f64)>) {
    match json {
        Value::Number(number) => found.push((path.to_owned(), number.as_f64().unwrap())),
        Value::Array(items) => items.iter().for_each(|item| numbers(path, item, found)),
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| numbers(&format!("{path}.{key}"), value, found));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

const SHARES: [&str; 7] = [
    ".utilization",
    ".idle_fraction",
    ".queue_empty_fraction",
    ".loss_rate",
    ".mean_occupancy",
    ".jain_index",
    ".goodput_share",
];

/// Numbers that are not in order: not finite, negative, or shares above one. NaN is `null` in JSON, so the
/// values are also looked at where a summary has them.
fn disorder(record: &Record) -> Vec<String> {
    let summary = &record.summary;
    let mut found = Vec::new();
    numbers("", &serde_json::to_value(summary).unwrap(), &mut found);
    let optional = [
        ("utilization", summary.utilization),
        ("loss_rate", summary.loss_rate),
        ("backlog", summary.mean_backlog_bytes),
        ("occupancy", summary.mean_occupancy),
        ("delay", summary.queueing_delay_s.map(|delay| delay.mean)),
        ("jain", summary.jain_index),
    ];
    found.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    for flow in &summary.flows {
        let own = [Some(flow.goodput_bps), flow.loss_rate, flow.rtt_s.map(|rtt| rtt.mean), flow.completion_s];
        found.extend(own.into_iter().flatten().map(|value| (format!("flow {}", flow.name), value)));
    }
    let series = record.series.flows.iter();
    let columns = series.flat_map(|flow| [&flow.rate_bps, &flow.rtt_s, &flow.window_bytes]);
    let columns = columns.chain([&record.series.link.backlog_bytes]);
    found.extend(columns.flatten().map(|value| ("series".to_owned(), *value)));
    let wrong = |(path, value): &(String, f64)| {
        let is_share =
            SHARES.iter().any(|share| path.ends_with(share)) || path == "utilization" || path == "loss_rate";
        !value.is_finite() || *value < 0.0 || (is_share && *value > 1.0 + 1e-9)
    };
    found.into_iter().filter(wrong).map(|(path, value)| format!("{path} = {value}")).collect()
}

/// The text of a scenario, from what a user may write.
fn scenarios() -> impl Strategy<Value = String> {
    let rate =
        prop_oneof![Just("64kbit/s"), Just("1Mbit/s"), Just("97Mbit/s"), Just("10Gbit/s"), Just("1Tbit/s")];
    let limit = prop_oneof![
        Just("1 packets"),
        Just("7 packets"),
        Just("1500B"),
        Just("2MB"),
        Just("4GB"),
        Just("100ms"),
        Just("1 bdp"),
        Just("8 bdp")
    ];
    let queue =
        prop_oneof![3 => Just("drop-tail"), 1 => Just("red"), 1 => Just("codel"), 1 => Just("fq-codel")];
    let loss = prop_oneof![3 => Just("0"), 1 => Just("1e-9"), 1 => Just("2%"), 1 => Just("99%")];
    let flow = (
        prop_oneof![2 => Just("reno"), 1 => Just("fixed"), 1 => Just("cubic"), 1 => Just("bbr"), 1 => Just("highspeed")],
        prop_oneof![Just(1u32), Just(2), Just(40)],
        prop_oneof![Just("100us"), Just("20ms"), Just("600ms"), Just("20s")],
        prop_oneof![Just("1B"), Just("30kB"), Just("6MB"), Just("2GB")],
        prop_oneof![2 => Just(""), 1 => Just("size = '1B'\n"), 1 => Just("size = '3GB'\n"), 1 => Just("stop = '3s'\n")],
        any::<bool>(),
    );
    let flow = flow.prop_map(|(control, count, rtt, buffer, more, unlimited)| {
        let buffer = if unlimited && control != "fixed" {
            String::new()
        } else {
            format!("socket_buffer = '{buffer}'\n")
        };
        format!("control = '{control}'\ncount = {count}\nrtt = '{rtt}'\n{buffer}{more}")
    });
    let traffic = prop_oneof![
        2 => Just(""),
        1 => Just("[[traffic]]\nkind = 'cbr'\nrate = '500kbit/s'\n"),
        1 => Just("[[traffic]]\nkind = 'poisson'\nrate = '2Gbit/s'\n"),
    ];
    let network = any::<bool>();
    (rate, limit, queue, loss, prop::collection::vec(flow, 1..4), traffic, network).prop_map(
        |(rate, limit, queue, loss, flows, traffic, network)| {
            let link = |name: &str| {
                format!("[[link]]\nname = '{name}'\nrate = '{rate}'\nloss = '{loss}'\nqueue = {{ kind = '{queue}', limit = '{limit}' }}\n")
            };
            let links = if network { link("a") + &link("b") } else { link("a") };
            let flows: Vec<String> = (flows.iter().enumerate())
                .map(|(index, flow)| format!("[[flow]]\nname = 'f{index}'\n{flow}"))
                .collect();
            format!("{TOP}{links}{}{traffic}", flows.concat())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_number_of_every_answer_is_finite_and_in_its_range(text in scenarios()) {
        let document = Document::parse("x.toml", &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        // Some are refused, as an unlimited window is by "fixed", or a queue without room for a segment.
        let Ok(resolved) = resolve_document(&document) else { return Ok(()) };
        prop_assert!(can_answer(Engine::Model, &resolved).is_ok(), "{text}");
        let record = run(Engine::Model, &resolved, UNWATCHED).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(record.summary.is_exact(), check(Engine::Model, &resolved).is_ok());
        let wrong = disorder(&record);
        prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, text);
    }
}

proptest! {
    // Each takes up to seconds.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_number_of_the_fluid_theory_is_finite_and_in_its_range(text in scenarios()) {
        let mut document = Document::parse("x.toml", &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        document.set("model.theory", "fluid").unwrap();
        let Ok(resolved) = resolve_document(&document) else { return Ok(()) };
        if can_answer(Engine::Model, &resolved).is_ok() {
            let record = run(Engine::Model, &resolved, UNWATCHED).unwrap_or_else(|error| panic!("{error}\n{text}"));
            prop_assert!(record.notes[0].text().contains("fluid [misra:sigcomm00]"));
            let wrong = disorder(&record);
            prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, text);
        }
    }
}

/// A mean and what it is of, as the summaries of theories have it.
fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
}

#[test]
fn what_follows_from_rates_is_in_the_summary_of_every_theory() {
    let many = format!("{TOP}{LINK}[[flow]]\nrtt = '40ms'\ncount = 10\n");
    for (text, theory) in [
        (format!("{TOP}{LINK}[[flow]]\nrtt = '40ms'\n"), "mft"),
        (format!("source = 'paper:many'\n{many}"), "fixed point"),
        (format!("source = 'paper:many'\n{many}[model]\ntheory = 'fluid'\n"), "fluid"),
    ] {
        let Record { summary, notes, .. } = answered(Engine::Model, &text);
        assert!(summary.is_exact() && notes[0].text().contains(theory), "{:?}", notes[0]);
        // Of the whole run of 20 s, at 1500 bytes; of the 15 s that are measured.
        let sent = summary.utilization.unwrap() * 10e6 * 20.0 / (8.0 * 1500.0);
        let (forwarded, dropped) = (summary.packets_forwarded.unwrap(), summary.packets_dropped.unwrap());
        assert!((forwarded as f64 - sent).abs() <= 1e-3 * sent, "{theory}: {forwarded}, {sent}");
        let loss = dropped as f64 / (forwarded + dropped) as f64;
        assert!((loss - summary.loss_rate.unwrap()).abs() < 1.0 / sent, "{theory}: {loss}");
        let delay = summary.queueing_delay_s.unwrap().mean;
        for flow in &summary.flows {
            close(flow.delivered_bytes.unwrap(), flow.goodput_bps * 15.0 / 8.0);
            let rate = flow.goodput_bps / (8.0 * 1448.0);
            assert!((flow.backlog_packets.unwrap() - rate * delay).abs() <= 1e-3 * rate * delay, "{theory}");
        }
        assert!(summary.links.is_empty());
    }
}

#[test]
fn a_file_counts_its_own_packets() {
    let summary = answered(Engine::Model, FILE).summary;
    let (forwarded, dropped) = (summary.packets_forwarded.unwrap(), summary.packets_dropped.unwrap());
    assert_eq!(summary.flows[0].delivered_bytes, Some(236_000.0));
    // 500 segments, and what was sent again needlessly.
    assert!((500..520).contains(&forwarded) && dropped > 30, "{forwarded}, {dropped}");
}

#[test]
fn cross_traffic_is_counted_in_packets_of_its_own_size() {
    let text = format!(
        "{TOP}{LINK}[[flow]]\nrtt = '40ms'\nsocket_buffer = '14480B'\n[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\npacket = '500B'\n"
    );
    let summary = answered(Engine::Model, &text).summary;
    let segments = summary.flows[0].goodput_bps * 20.0 / (8.0 * 1448.0);
    let others = 1e6 * 20.0 / (8.0 * 500.0);
    assert!((summary.packets_forwarded.unwrap() as f64 - segments - others).abs() < 1.0, "{summary:?}");
}

#[test]
fn each_link_of_a_network_has_what_the_flows_take_of_it() {
    let text = format!(
        "{TOP}[[link]]\nname = 'a'\nrate = '10Mbit/s'\nqueue.limit = '40 packets'\n\
         [[link]]\nname = 'b'\nrate = '30Mbit/s'\nqueue.limit = '40 packets'\nreverse = {{ queue = {{ limit = '9 packets' }} }}\n\
         [[flow]]\nname = 'long'\nrtt = '40ms'\n[[flow]]\nname = 'short'\nrtt = '40ms'\npath = ['b']\n"
    );
    let summary = answered(Engine::Model, &text).summary;
    let link = |name: &str, direction: &str| {
        summary
            .links
            .iter()
            .find(|link| link.name == name && link.direction == direction)
            .expect("it has a queue")
    };
    assert_eq!(summary.links.len(), 3);
    let (tight, other, back) = (link("a", "forward"), link("b", "forward"), link("b", "reverse"));
    assert!(tight.tight && !other.tight);
    assert_eq!((Some(tight.utilization), tight.loss_rate), (summary.utilization, summary.loss_rate));
    let goodput: f64 = summary.flows.iter().map(|flow| flow.goodput_bps).sum();
    close(other.utilization, goodput * 1500.0 / 1448.0 / 30e6);
    // An acknowledgement of 52 bytes for each segment.
    close(back.utilization, goodput * 52.0 / 1448.0 / 30e6);
    assert_eq!((other.mean_backlog_bytes, other.loss_rate), (Some(0.0), Some(0.0)));
}

/// 52 segments is Theorem 1's window of slow start at 20 packets of buffer.
const FILE: &str = "title = 't'
source = 'paper:theorem-1'
[link]
rate = '1.5Mbit/s'
queue.limit = '19 packets'
[[flow]]
name = 'file'
segment = '512B'
timestamps = false
rtt = '197.269ms'
initial_window = 1
size = '236000B'
";

#[test]
fn a_file_alone_on_its_path_is_answered_by_the_slow_start_that_it_has() {
    let record = answered(Engine::Model, FILE);
    let flow = &record.summary.flows[0];
    assert_eq!(record.summary.assumptions, Vec::<String>::new());
    assert!(record.notes.iter().any(|note| note.to_string().contains("slow start [buffers:theorem1]")));
    assert_eq!(flow.first_loss_window_segments, Some(52.0));
    // Selective acknowledgements: no timeout, and half of the window at which the loss was detected, 2 x 52.
    assert_eq!((flow.timeouts, flow.threshold_segments), (Some(0), Some(51.0)));
    let goodput = 236_000.0 * 8.0 / flow.completion_s.unwrap();
    assert!((flow.goodput_bps - goodput).abs() < 1e-6 * goodput);
}

#[test]
fn what_slow_start_is_not_about_is_left_to_the_theory_of_the_steady_state() {
    let by = |text: &str| {
        let notes = answered(Engine::Model, text).notes;
        notes.iter().any(|note| note.to_string().contains("buffers:theorem1"))
    };
    assert!(by(FILE));
    assert!(by(&FILE.replace("title = 't'", "title = 't'\nduration = '60s'")));
    // A socket buffer of 21 segments is followed: there is no loss.
    let held = answered(
        Engine::Model,
        &FILE.replace("size = '236000B'", "size = '236000B'\nsocket_buffer = '10kB'"),
    )
    .summary;
    assert!(held.is_exact() && held.loss_rate == Some(0.0), "{:?}", held.assumptions);
    // A steady state is further from a file than any of these, which the answer says.
    for (what, other) in [
        ("size = '236000B'", "size = '236000B'\nslow_start = 'hystart'"),
        ("size = '236000B'", "size = '236000B'\npacing = true"),
        ("size = '236000B'", "size = '236000B'\nsend_jitter = '1ms'"),
        ("size = '236000B'", "size = '236000B'\naccess_rate = '2Mbit/s'"),
        ("size = '236000B'", "size = '236000B'\nloss_detection = 'rack'"),
        ("rate = '1.5Mbit/s'", "rate = '1.5Mbit/s'\nloss = 0.01"),
        ("title = 't'", "title = 't'\nduration = '1s'"),
    ] {
        let text = FILE.replace(what, other);
        assert!(by(&text) && !answered(Engine::Model, &text).summary.is_exact(), "{other}");
    }
}
