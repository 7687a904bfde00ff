//! What `host` sets, and what it leaves to the keys of the flow.

mod common;

use common::{LINK, TOP, fault, says};
use tightlink_scenario::{
    BbrVariant, CubicVariant, Document, Flow, Host, LossDetection, Recovery, SendBuffer, SocketBuffer,
    WindowVariant,
};
use units::{Rate, Span};

fn flow(keys: &str) -> Flow {
    let text = format!(
        "title = 't'\nduration = '9s'\n[link]\nrate = '1Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\n{keys}"
    );
    Document::parse("x.toml", &text).and_then(|document| document.scenario()).unwrap().flows.remove(0)
}

#[test]
fn linux_is_the_transport_of_linux() {
    let linux = flow("host = 'linux'");
    let host = linux.transport.host;
    assert_eq!(
        (linux.transport.recovery, linux.transport.loss_detection),
        (Recovery::Prr, LossDetection::Rack)
    );
    assert_eq!((host.bbr_variant, host.cubic_variant), (BbrVariant::Linux, CubicVariant::Linux));
    assert_eq!(host.window_variant, WindowVariant::Linux);
    assert_eq!(linux.socket_buffer, SocketBuffer::Autotuned);
    assert_eq!((linux.delayed_ack, linux.delayed_ack_timeout), (2, Span::from_millis(40)));
    assert_eq!(linux.access_rate, Some(Rate::from_bps(10_000_000_000)));
    assert_eq!((host.pause, host.pause_interval), (Span::from_millis(1), Span::from_millis(200)));
    assert!(host.tso && host.quick_growth && host.undo_timeouts);
    assert_eq!(host.send_buffer, SendBuffer::Autotuned);
}

#[test]
fn the_default_host_is_that_of_the_rfcs() {
    assert_eq!(flow(""), flow("host = 'rfc'"));
}

#[test]
fn only_cubic_has_hystart_on_linux() {
    assert_eq!(flow("host = 'linux'\ncontrol = 'cubic'").slow_start, "hystart");
    assert_eq!(flow("host = 'linux'\ncontrol = 'reno'").slow_start, "standard");
    assert_eq!(flow("control = 'cubic'").slow_start, "standard");
}

#[test]
fn a_written_key_comes_before_its_host() {
    assert_eq!(flow("host = 'linux'\ndelayed_ack = 3").delayed_ack, 3);
    assert_eq!(flow("host = 'linux'\naccess_rate = 'unlimited'").access_rate, None);
}

/// A size is the memory of the buffer; without a host there is no limit, and the scenario's hash knows of none.
#[test]
fn a_send_buffer_is_a_word_or_a_size() {
    let of = |keys: &str| flow(keys).transport.host.send_buffer;
    assert_eq!(of(""), SendBuffer::Unlimited);
    assert_eq!(of("host = 'linux'\nsend_buffer = 'unlimited'"), SendBuffer::Unlimited);
    assert_eq!(of("send_buffer = '1MB'"), SendBuffer::AtMost(units::Bytes::new(1_000_000)));
    assert_eq!(of("send_buffer = 'autotuned'").memory(), Some(units::Bytes::new(4_194_304)));
    assert_eq!(SendBuffer::Unlimited.per_round_trip(), None);
}

#[test]
fn without_selective_acknowledgements_no_host_has_rack() {
    assert_eq!(flow("host = 'linux'\nsack = false").transport.loss_detection, LossDetection::DupAck);
}

#[test]
fn a_default_of_a_host_is_what_its_flows_have() {
    let linux = flow("host = 'linux'");
    assert_eq!(Host::Linux.default_of("byte_counting", "reno"), Some(linux.byte_counting));
    assert_eq!(Host::Linux.default_of("send_jitter", "reno"), Some(linux.send_jitter));
    assert_eq!(Host::Linux.default_of("slow_start", "cubic"), Some("hystart".to_owned()));
    assert_eq!(Host::Linux.default_of::<u64>("name", "reno"), None);
}

#[test]
fn what_a_host_does_lies_within_what_hosts_do() {
    let in_flow = |keys: &str| fault(&format!("{TOP}{LINK}delay = '10ms'\n[[flow]]\n{keys}\n"));
    let near = "did you mean \"linux\"?";
    says(&in_flow("host = 'linus'"), &["x.toml:8:8: flow[0].host", "\"rfc\", \"linux\"", near]);
    for (key, first) in [("bbr_variant", "draft"), ("cubic_variant", "rfc"), ("window_variant", "rfc")] {
        let place = format!("flow[0].{key}");
        says(&in_flow(&format!("{key} = 'linus'")), &[&place, &format!("\"{first}\", \"linux\""), near]);
    }
    for key in ["undo_timeouts", "tso", "quick_growth"] {
        says(&in_flow(&format!("{key} = 'on'")), &[&format!("flow[0].{key}"), "true or false"]);
    }
    for key in ["gro", "sack_compression", "pause", "wake_up"] {
        says(&in_flow(&format!("{key} = '11ms'")), &[&format!("flow[0].{key}: 11"), "a time up to 10"]);
        says(&in_flow(&format!("{key} = 1")), &[&format!("flow[0].{key}: the integer 1"), "a time such as"]);
    }
    says(&in_flow("quick_ack = -1"), &["flow[0].quick_ack", "a whole number from 0 to 1000000"]);
    says(
        &in_flow("pause_interval = '0s'"),
        &["flow[0].pause_interval: no time between two pauses", "above zero"],
    );
    says(&in_flow("access_rate = '0Mbit/s'"), &["flow[0].access_rate: a line of zero", "above zero"]);
}
