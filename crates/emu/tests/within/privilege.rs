//! Tests of the errors that name a missing right, and how to get it.

use super::*;

#[test]
fn capabilities_are_read_from_the_status_text() {
    assert_eq!(effective("Name:\tx\nCapEff:\t0000000000201000\n"), Some(0x20_1000));
    assert_eq!(effective("Name:\tx\n"), None);
}

#[test]
fn a_tun_without_access_says_how_to_help() {
    let error = tun_refused(&io::Error::from(io::ErrorKind::PermissionDenied)).to_string();
    assert!(error.starts_with("/dev/net/tun: permission denied (mode 0"), "{error}");
    assert!(error.contains("sudo chmod 0666 /dev/net/tun"), "{error}");
}

#[test]
fn a_switch_for_the_whole_machine_is_the_last_remedy_for_forbidden_namespaces() {
    let error = user_namespace_refused("user.max_user_namespaces = 0").to_string();
    let remedies = [
        "user.max_user_namespaces = 0",
        "with sudo",
        "/etc/apparmor.d/tightlink",
        "every program of the machine",
        "user.max_user_namespaces=10000",
    ];
    let places = remedies.map(|remedy| error.find(remedy).unwrap_or_else(|| panic!("{remedy}: {error}")));
    assert!(places.is_sorted(), "{error}");
}

#[test]
fn the_apparmor_switch_forbids_nothing_to_a_program_with_a_profile() {
    let key = "kernel.apparmor_restrict_unprivileged_userns";
    let restricted = |asked: &str| (asked == key).then(|| "1\n".to_owned());
    for label in [None, Some("unconfined"), Some("unconfined\n")] {
        assert_eq!(forbidding(restricted, label), Some(format!("{key} = 1")), "{label:?}");
    }
    assert_eq!(forbidding(restricted, Some("tightlink (unconfined)\n")), None);
    let none = |asked: &str| (asked == "user.max_user_namespaces").then(|| "0\n".to_owned());
    assert!(forbidding(none, Some("tightlink (unconfined)\n")).is_some(), "a profile does not help here");
}
