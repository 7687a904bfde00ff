//! What is said about what is wrong with `[[traffic]]`: keys of its kinds, users, traces.

mod common;

use common::{LINK, TOP, fault, further, says};
use tightlink_scenario::Document;

#[test]
fn traffic_keys_belong_to_their_kind() {
    let traffic = |keys: &str| further(&format!("[[traffic]]\nrate = '5Mbit/s'\n{keys}"));
    says(
        &traffic("kind = 'cbr'\npeak = '9Mbit/s'"),
        &["traffic[0].peak: this key belongs to kind = \"on-off\""],
    );
    says(
        &traffic("kind = 'poisson'\nburst = '1ms'"),
        &["traffic[0].burst: this key belongs to", "\"poisson\""],
    );
    says(&traffic("kind = 'on-off'\nburst = '1ms'"), &["traffic[0].peak: missing"]);
    says(&traffic("kind = 'on-off'\nburst = '1ms'\npeak = '5Mbit/s'"), &["a peak of 5Mbit/s, not above"]);
    says(
        &traffic("kind = 'cbr'\ntoward = '10.0.0.1'"),
        &["traffic[0].toward: this key belongs to kind = \"replay\""],
    );
    says(&traffic("kind = 'onoff'"), &["unknown \"onoff\"", "did you mean \"on-off\"?"]);
    says(&traffic("kind = 'cbr'\npacket = '0B'"), &["packets of zero bytes"]);
    says(&traffic("kind = 'cbr'\nstart = '5s'\nstop = '5s'"), &["it stops at 5s but starts at 5s"]);
    says(&traffic(""), &["traffic[0].kind: missing"]);
    says(&further("[[traffic]]\nkind = 'cbr'\nrate = '0bit/s'"), &["traffic[0].rate: a rate of zero"]);
}

/// The one fault of a sound scenario without flows and with this traffic.
fn in_traffic(keys: &str) -> String {
    fault(&format!("{TOP}{LINK}[[traffic]]\n{keys}\n"))
}

const ENGSET: &str = "kind = 'engset'\nusers = 200\nthink = '2s'\n";

#[test]
fn users_may_take_the_place_of_flows_but_not_of_a_duration() {
    let users = format!("[[traffic]]\n{ENGSET}session = '100 packets'\n");
    let scenario = Document::parse("x.toml", &format!("{TOP}{LINK}{users}")).unwrap().scenario().unwrap();
    assert!(scenario.flows.is_empty());
    assert_eq!(scenario.sessions[0].flow.count, 200);
    says(
        &fault(&format!("title = 't'\n{LINK}{users}")),
        &["traffic[0].users: never ends", "write duration = \"60s\""],
    );
    says(&fault(&format!("{TOP}{LINK}")), &["flow: zero flows"]);
}

#[test]
fn sessions_are_whole() {
    let engset = |keys: &str| in_traffic(&format!("{ENGSET}{keys}"));
    says(&in_traffic("kind = 'engset'\nsession = '9 packets'\nthink = '2s'"), &["traffic[0].users: missing"]);
    says(&engset(""), &["traffic[0].session: missing", "200 packets"]);
    says(&engset("session = 9"), &["write \"9 packets\""]);
    says(&engset("session = '0 packets'"), &["sessions of nothing"]);
    says(&engset("session = { uniform = ['0 packets', '9 packets'] }"), &["sessions of nothing"]);
    says(
        &engset("session = { uniform = ['9 packets', '9kB'] }"),
        &["9 packets and 9kB, which do not compare"],
    );
    says(
        &engset("session = { uniform = ['9 packets', '1 packets'] }"),
        &["write [\"1 packets\", \"9 packets\"]"],
    );
    says(&engset("session = ['9 packets']"), &["one value, or a distribution to draw from"]);
    says(
        &engset("session = { pareto = { shape = 1.2, mean = '9kB', draw = 'quantiles' } }"),
        &["traffic[0].session: quantiles"],
    );
    says(&engset("session = '9 packets'\nsegment = '52B'"), &["traffic[0].segment", "headers fill"]);
    says(
        &engset("session = '9 packets'\ninitial_rto = '0s'"),
        &["traffic[0].initial_rto: a timeout of zero"],
    );
    says(&engset("session = '9 packets'\nuser = 9"), &["unknown key", "did you mean \"users\"?"]);
}

#[test]
fn keys_of_another_kind_say_whose_they_are() {
    says(
        &in_traffic(&format!("{ENGSET}session = '9 packets'\nrate = '1Mbit/s'")),
        &[
            "traffic[0].rate: this key belongs to kind = \"cbr\" or \"poisson\" or \"on-off\", not to \"engset\"",
        ],
    );
    says(
        &further("[[traffic]]\nkind = 'replay'\nfile = 't.csv'\npacket = '40B'"),
        &["not to \"replay\"", "accepted: name, kind, file, repeat, toward, from, start, stop"],
    );
    says(
        &further("[[traffic]]\nkind = 'poisson'\nrate = '1Mbit/s'\nshape = 1.5"),
        &["this key belongs to kind = \"on-off\", not to \"poisson\""],
    );
    says(&further("[[traffic]]\nkind = 'replay'"), &["traffic[0].file: missing", "trace.pcap"]);
    says(
        &further(
            "[[traffic]]\nkind = 'on-off'\nrate = '1Mbit/s'\npeak = '2Mbit/s'\nburst = '9ms'\nshape = 1",
        ),
        &["traffic[0].shape: a shape of 1, which has no mean"],
    );
}
