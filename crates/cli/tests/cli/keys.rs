//! `tightlink keys`.

use crate::place::Place;
use std::collections::BTreeSet;

#[test]
fn a_key_is_told_in_full() {
    let told = Place::new().run(&["keys", "recovery"]).well().out;
    for words in
        ["flow.recovery\n", "default   \"rfc6675\"\n", "\"prr\" with host = \"linux\"", "engines   sim\n"]
    {
        assert!(told.contains(words), "{words:?} in {told}");
    }
}

#[test]
fn a_part_of_keys_lists_them() {
    let told = Place::new().run(&["keys", "_ack"]).well().out;
    assert!(told.contains("flow.delayed_ack ") && told.contains("flow.quick_ack "), "{told}");
    assert!(!told.contains("flow.rtt"), "{told}");
}

#[test]
fn keys_as_json_are_an_object_for_each() {
    let keys = Place::new().run(&["keys", "--json"]).well().json();
    assert!(keys.len() > 100, "{}", keys.len());
    assert!(keys.iter().any(|key| key["key"] == "link.rate" && key["required"] == true));
}

#[test]
fn a_mistyped_key_is_refused_with_the_near_one() {
    Place::new()
        .run(&["keys", "delayd_ack"])
        .failed(2, &["no key is called \"delayd_ack\"", "did you mean \"delayed_ack\"?"]);
}

#[test]
fn a_setting_of_a_queue_names_the_policies_that_have_it() {
    let rows = scenario::reference::rows();
    for row in rows.iter().filter(|row| row.path.starts_with("link.queue.") && !row.key.kinds.is_empty()) {
        let named: BTreeSet<&str> = row.key.kinds.split(' ').collect();
        let policies = link::queue::POLICIES.iter().filter(|policy| policy.settings.contains(&row.key.name));
        assert_eq!(named, policies.map(|policy| policy.name).collect(), "{}", row.path);
    }
}
