//! Flows over QUIC: the key `transport`, other bounds of shared keys, and keys that only TCP has.

mod common;

use common::{LINK, TOP, fault, faults, says};
use tightlink_scenario::spec::Carrier;
use tightlink_scenario::{Document, Scenario};

fn text(keys: &str) -> String {
    format!("{TOP}{LINK}[[flow]]\n{keys}\n")
}

fn read(keys: &str) -> Scenario {
    let document = Document::parse("x.toml", &text(keys)).unwrap();
    document.scenario().unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn over_quic(keys: &str) -> String {
    fault(&text(&format!("transport = 'quic'\n{keys}")))
}

#[test]
fn a_flow_is_tcp_s_unless_it_says_quic() {
    assert_eq!(read("").flows[0].carrier, Carrier::Tcp);
    assert_eq!(read("transport = 'quic'").flows[0].carrier, Carrier::Quic);
    let said = fault(&text("transport = 'udp'"));
    says(&said, &["flow[0].transport: unknown", "\"udp\"", "accepted: \"tcp\", \"quic\""]);
    says(&fault(&text("transport = 'quick'")), &["did you mean \"quic\"?"]);
}

#[test]
fn the_hash_has_the_transport_only_if_it_is_not_tcp() {
    let plain = read("").hash();
    assert_eq!(read("transport = 'tcp'").hash(), plain);
    assert_ne!(read("transport = 'quic'").hash(), plain);
}

#[test]
fn a_transport_is_set_swept_and_written() {
    let mut document = Document::parse("x.toml", &text("")).unwrap();
    document.set("flow.transport", "quic").unwrap();
    let scenario = document.scenario().unwrap();
    assert_eq!(scenario.flows[0].carrier, Carrier::Quic);
    let written = scenario.to_toml();
    assert!(written.contains("transport = \"quic\""), "{written}");
    let again = Document::parse("y.toml", &written).unwrap().scenario().unwrap();
    assert_eq!(again.hash(), scenario.hash());

    let swept = format!("{}[sweep]\nflow.transport = ['tcp', 'quic']\n", text(""));
    let document = Document::parse("x.toml", &swept).unwrap();
    let sweep = document.sweep().unwrap();
    let carrier =
        |point: Vec<(String, String)>| document.at(&point).unwrap().scenario().unwrap().flows[0].carrier;
    let carriers: Vec<Carrier> = sweep.points().map(carrier).collect();
    assert_eq!(carriers, [Carrier::Tcp, Carrier::Quic]);
}

#[test]
fn a_host_of_linux_over_quic_is_written_and_read_again() {
    let scenario = read("transport = 'quic'\nhost = 'linux'\ncontrol = 'cubic'\ndelayed_ack = 1");
    let again = Document::parse("y.toml", &scenario.to_toml()).unwrap().scenario();
    assert_eq!(again.unwrap_or_else(|faults| panic!("{faults}\n{}", scenario.to_toml())), scenario);
}

#[test]
fn a_packet_has_room_for_quic_s_least_datagram() {
    let said = over_quic("segment = '1000B'");
    says(
        &said,
        &["flow[0].segment: packets of 1kB over QUIC", "\"1228B\" to \"65535B\"", "transport = \"tcp\""],
    );
    over_quic("segment = '1227B'");
    over_quic("segment = '65536B'");
    read("transport = 'quic'\nsegment = '1228B'");
}

#[test]
fn acknowledgements_are_within_the_bounds_of_their_extension() {
    for (value, found) in [("0", "the integer 0"), ("101", "the integer 101")] {
        let said = over_quic(&format!("delayed_ack = {value}"));
        says(&said, &["flow[0].delayed_ack", found, "a whole number from 1 to 100"]);
    }
    let said = over_quic("delayed_ack_timeout = '0.5ms'");
    says(
        &said,
        &["flow[0].delayed_ack_timeout", "500us", "a time from 1ms to 16.383s", "transport = \"tcp\""],
    );
    over_quic("delayed_ack_timeout = '17s'");
    read("transport = 'quic'\ndelayed_ack = 100\ndelayed_ack_timeout = '1ms'");
    read("delayed_ack = 101\ndelayed_ack_timeout = '0.5ms'");
}

#[test]
fn keys_that_only_tcp_has_are_refused_where_they_are_written() {
    for key in [
        "timestamps = true",
        "sack = true",
        "recovery = 'prr'",
        "loss_detection = 'rack'",
        "ecn = false",
        "pacing = true",
        "min_rto = '200ms'",
        "initial_rto = '1s'",
        "undo_timeouts = true",
        "tso = false",
        "gro = '50us'",
        "quick_ack = 16",
        "quick_growth = true",
        "sack_compression = '1ms'",
        "send_buffer = 'unlimited'",
        "access_rate = '10Gbit/s'",
    ] {
        let name = key.split(' ').next().unwrap();
        read(key);
        says(
            &over_quic(key),
            &[
                "x.toml:8:",
                &format!("flow[0].{name}: {name} of a flow over QUIC: "),
                &format!("accepted: no {name} with transport = \"quic\""),
                &format!("help: leave {name} out, or write transport = \"tcp\""),
            ],
        );
    }
    read("transport = 'quic'\nhost = 'linux'");
}

#[test]
fn users_have_no_transport() {
    let users =
        "[[traffic]]\nkind = 'engset'\nusers = 3\nsession = '9 packets'\nthink = '1s'\ntransport = 'quic'\n";
    let said = faults(&format!("{TOP}{LINK}{users}")).to_string();
    says(&said, &["traffic[0].transport: unknown key", "accepted: name, kind"]);
}
