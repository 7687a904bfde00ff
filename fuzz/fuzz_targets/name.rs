// libFuzzer: -max_len=400
//! Names of received entries. Input: a length, a name so long, and another name to join to it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Component;
use tightlink_fuzz::{pieces, ready};
use transfer::name::Name;

fuzz_target!(init: ready(), |input: &[u8]| {
    let mut pieces = pieces(input);
    let (first, second) = (pieces.next().unwrap_or_default(), pieces.next().unwrap_or_default());
    let Ok(name) = Name::new(first.to_vec()) else { return };
    check(&name);
    if let Ok(joined) = name.join(OsStr::from_bytes(second)) {
        check(&joined);
        assert_eq!(joined.bytes(), [first, second].join(&b'/'));
        assert!(joined.path().starts_with(name.path()));
    }
});

fn check(name: &Name) {
    let bytes = name.bytes();
    assert!(!bytes.contains(&0) && bytes.len() <= 4095);
    let mut parts = bytes.split(|&byte| byte == b'/');
    for component in name.path().components() {
        let Component::Normal(part) = component else { panic!("{name:?} leads elsewhere") };
        // The kernel sees the same parts as the check: nothing was normalised away.
        assert_eq!(Some(part.as_bytes()), parts.next());
        assert!((1..=255).contains(&part.len()));
        assert!(!part.as_bytes().eq_ignore_ascii_case(b".tightlink"), "{name:?} is reserved");
    }
    assert_eq!(parts.next(), None);
    for shown in [name.to_string(), format!("{name:?}")] {
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
    let (parent, last) = name.split();
    match parent {
        Some(parent) => {
            let parent = Name::new(parent.to_vec()).expect("a folder of an accepted name is accepted");
            assert_eq!(parent.join(last).as_ref(), Ok(name), "split and joined");
        }
        None => assert_eq!(last.as_bytes(), bytes),
    }
}
