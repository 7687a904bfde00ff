//! Links by name, the ways over them, and what is said where these do not fit.

use tightlink_scenario::spec::Direction;
use tightlink_scenario::{Document, Limit, Scenario};
use units::{Bytes, Rate};

const LINKS: &str = "title = 't'
duration = '60s'
[[link]]
name = 'access'
rate = '100Mbit/s'
delay = '2ms'
queue.limit = '90 packets'
[[link]]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '50 packets'
reverse = { rate = '1Mbit/s', queue = { kind = 'codel', limit = '20 packets' }, loss = '1%' }
[[link]]
name = 'far'
rate = '50Mbit/s'
delay = '5ms'
queue.limit = '90 packets'
reverse.queue.limit = '40 packets'
";

fn read(text: &str) -> Scenario {
    Document::parse("x.toml", &format!("{LINKS}{text}"))
        .and_then(|document| document.scenario())
        .unwrap_or_else(|faults| panic!("{faults}"))
}

fn fault(text: &str) -> String {
    let faults = Document::parse("x.toml", text).and_then(|document| document.scenario()).unwrap_err();
    assert_eq!(faults.as_slice().len(), 1, "{faults}");
    faults.to_string()
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    let fault = fault(&format!("{LINKS}{text}"));
    for word in words {
        assert!(fault.contains(word), "{word:?} is not in:\n{fault}");
    }
}

#[test]
fn links_have_names_and_a_direction_back() {
    let scenario = read("[[flow]]\n");
    let names: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["access", "link-2", "far"]);
    assert_eq!(scenario.links[0].reverse, None);
    let back = scenario.links[1].reverse.as_ref().unwrap();
    assert_eq!(back.rate, Rate::from_bps(1_000_000).into());
    assert_eq!(back.loss, units::Fraction::new(0.01).unwrap().into());
    assert_eq!((back.queue.kind.as_str(), back.queue.limit), ("codel", Limit::Packets(20)));
    let back = scenario.links[2].reverse.as_ref().unwrap();
    assert_eq!(back.rate, Rate::from_bps(50_000_000).into());
    assert_eq!(back.queue.kind, "drop-tail");
}

#[test]
fn a_way_is_all_links_forward_unless_it_says_otherwise() {
    let scenario = read(
        "[[flow]]\n[[flow]]\npath = ['link-2', 'far']\ndirection = 'reverse'\n\
         [[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\npath = ['access', 'far']\n",
    );
    assert_eq!(scenario.flows[0].path, ["access", "link-2", "far"]);
    assert_eq!(scenario.flows[0].direction, Direction::Forward);
    assert_eq!(scenario.flows[1].path, ["link-2", "far"]);
    assert_eq!(scenario.flows[1].direction, Direction::Reverse);
    assert_eq!(scenario.traffic[0].path, ["access", "far"]);
}

#[test]
fn a_spelled_out_way_is_the_same_scenario_and_another_way_is_another() {
    let hash = |text: &str| read(text).hash();
    let plain = hash("[[flow]]\n");
    assert_eq!(hash("[[flow]]\npath = ['access', 'link-2', 'far']\ndirection = 'forward'\n"), plain);
    assert_ne!(hash("[[flow]]\npath = ['access', 'far']\n"), plain);
}

#[test]
fn links_are_picked_by_name() {
    let mut document = Document::parse("x.toml", &format!("{LINKS}[[flow]]\n")).unwrap();
    document.set("link.far.rate", "7Mbit/s").unwrap();
    document.set("link.link-2.reverse.queue.limit", "9kB").unwrap();
    let links = document.scenario().unwrap().links;
    let rates: Vec<_> = links.iter().map(|link| link.rate.constant()).collect();
    assert_eq!(rates, [100, 10, 7].map(|rate| Some(Rate::from_bps(rate * 1_000_000))));
    assert_eq!(links[1].reverse.as_ref().unwrap().queue.limit, Limit::Bytes(Bytes::new(9000)));
}

#[test]
fn what_is_wrong_with_a_path_is_told_at_its_place() {
    let shown = fault(&format!("{LINKS}[[flow]]\npath = ['acess', 'far']\n"));
    assert_eq!(
        shown,
        "x.toml:20:9: flow[0].path[0]: no link is named \"acess\"
  20 | path = ['acess', 'far']
     |         ^^^^^^^
  accepted: \"access\", \"link-2\", \"far\"
  help: did you mean \"access\"?"
    );
    says("[[flow]]\npath = 'far'\n", &["flow[0].path: ", "a list of links", "write [\"far\"]"]);
    says("[[flow]]\npath = []\n", &["an empty path", "leave it out"]);
    says("[[flow]]\npath = ['far', 'far']\n", &["20:16", "\"far\" for the second time", "each once"]);
    says("[[flow]]\npath = ['far', 'access']\n", &["\"access\" after \"far\": backwards", "direction = "]);
    says("[[flow]]\npath = [3]\n", &["flow[0].path[0]: the integer 3", "a text in quotes"]);
    says("[[flow]]\ndirection = 'back'\n", &["unknown \"back\"", "\"forward\", \"reverse\""]);
    says(
        "[[flow]]\n[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\npath = ['fars']\n",
        &["traffic[0].path[0]: no link is named \"fars\"", "help: did you mean \"far\"?"],
    );
}

#[test]
fn a_way_back_needs_links_that_have_one() {
    says(
        "[[flow]]\ndirection = 'reverse'\n",
        &[
            "flow[0].direction: ",
            "over link \"access\", which has no reverse",
            "give link \"access\" reverse = ",
        ],
    );
}

#[test]
fn an_rtt_covers_the_links_of_its_flow_only() {
    assert!(read("[[flow]]\npath = ['far']\nrtt = '10ms'\n").flows[0].rtt.is_some());
    says("[[flow]]\nrtt = '33ms'\n", &["an RTT of 33ms, less than", "(34ms)", "the flow's links"]);
    says("[[flow]]\npath = ['link-2']\nrtt = ['19ms']\n", &["(20ms)"]);
}

#[test]
fn queues_on_either_side_have_room_for_what_crosses_them() {
    let with = |link: &str, flow: &str| {
        fault(&format!("title = 't'\nduration = '60s'\n{link}\n[[flow]]\nrtt = '40ms'\n{flow}\n"))
    };
    let two = |first: &str, second: &str| {
        format!("[[link]]\nrate = '9Mbit/s'\nqueue = {first}\n[[link]]\nrate = '9Mbit/s'\nqueue = {second}\n")
    };
    let good = "{ limit = '9 packets' }";
    // A number without a unit, in whatever link; one link in packets and another in bytes is no fault.
    let bare = with(&two(good, "{ limit = 250 }"), "");
    assert!(bare.contains("link[1].queue.limit: the integer 250") && bare.contains("write \"250 packets\""));
    let small = with(&two(good, "{ limit = '900B' }"), "");
    assert!(small.contains("link[1].queue.limit: room for 900B, not even one packet of 1.5kB"), "{small}");
    let nobody = with(&two(good, "{ limit = '1 bdp' }"), "path = ['link-1']");
    assert!(nobody.contains("no flow crosses this link"), "{nobody}");
    let link = "[link]\nrate = '9Mbit/s'\nqueue.limit = '9 packets'\n";
    let back = with(&format!("{link}reverse.queue.limit = '79B'"), "");
    assert!(back.contains("link.reverse.queue.limit: room for 79B, not even one packet of 80B"), "{back}");
    let back = with(&format!("{link}reverse.queue.limit = '900B'"), "direction = 'reverse'");
    assert!(back.contains("room for 900B, not even one packet of 1.5kB"), "{back}");
    let back = with(&format!("{link}reverse = {{ rate = '0bit/s', queue.limit = '9kB' }}"), "");
    assert!(back.contains("link.reverse.rate: a rate of zero"), "{back}");
    let back = with(&format!("{link}reverse = {{ rate = '1Mbit/s' }}"), "");
    assert!(back.contains("link.reverse.queue: missing"), "{back}");
    let back = with(&format!("{link}reverse = '1Mbit/s'"), "");
    assert!(
        back.contains("link.reverse: \"1Mbit/s\"") && back.contains("a table with rate, queue, shaper, loss"),
        "{back}"
    );
}

#[test]
fn two_links_of_one_name_are_refused() {
    says(
        "[[link]]\nname = 'far'\nrate = '1Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\npath = ['access']\n",
        &["link[3].name: a second link is named \"far\"", "a name of its own for each link"],
    );
}
