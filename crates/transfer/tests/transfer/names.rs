//! Names of files and folders: which are refused, and how the others show.

use proptest::prelude::*;
use std::ffi::OsStr;
use tightlink_transfer::name::*;

fn name(text: &str) -> Result<Name, NameError> {
    Name::new(text.as_bytes().to_vec())
}

#[test]
fn names_that_lead_out_are_refused() {
    for text in ["", "/", "/etc/passwd", "a//b", "a/", ".", "./a", "a/.", "a/./b"] {
        assert!(name(text).is_err(), "{text:?}");
    }
    for text in ["..", "../a", "a/..", "a/../../b"] {
        assert_eq!(name(text), Err(NameError::Leads("..")), "{text:?}");
    }
    assert_eq!(name("a\0b"), Err(NameError::Nul));
    assert_eq!(name(&"a".repeat(256)), Err(NameError::Long));
    assert_eq!(name(&"a/".repeat(2048)), Err(NameError::Long));
}

#[test]
fn the_receivers_own_folder_is_out_of_reach_at_every_depth_and_in_every_spelling() {
    assert_eq!(name(".tightlink"), Err(NameError::Reserved));
    assert_eq!(name(".tightlink/session"), Err(NameError::Reserved));
    for part in [
        ".tightlink",
        ".TIGHTLINK",
        ".TightLink",
        ".tightlin\u{212a}",
        ".tight\u{200c}link",
        ".tightlink. .",
        ".tightlink:x",
        "TIGHTL~1",
    ] {
        for text in [part.to_owned(), format!("a/{part}"), format!("a/b/{part}/session"), format!("{part}/x")]
        {
            assert_eq!(name(&text), Err(NameError::Reserved), "{text:?}");
        }
    }
    for text in [".tightlinks", "tightlink", "x.tightlink", "a/tightl~x", "tightl~1x"] {
        assert!(name(text).is_ok(), "{text:?}");
    }
}

#[test]
fn odd_names_are_names() {
    for bytes in [&b"..."[..], b"..a", b"a/..b", b"\xff\xfe/\n", b"-rf", b" "] {
        assert!(Name::new(bytes.to_vec()).is_ok(), "{bytes:?}");
    }
    let odd = Name::new(b"a\xff\n/b".to_vec()).unwrap();
    assert_eq!(odd.to_string(), r"'a\xff\n/b'");
    assert_eq!(odd.split(), (Some(&b"a\xff\n"[..]), OsStr::new("b")));
}

#[test]
fn a_name_that_reads_like_a_sentence_stands_in_quotes() {
    for text in ["photos/2026-11/straße_1.jpg", "a+b=c,d~", "日本語"] {
        assert_eq!(name(text).unwrap().to_string(), text);
    }
    for text in ["all: verified", "it's", "received 3 files", "(x)", "a\u{202e}b"] {
        let shown = name(text).unwrap().to_string();
        assert!(shown.starts_with('\'') && shown.ends_with('\''), "{shown}");
    }
    assert_eq!(name("it's").unwrap().to_string(), r"'it\'s'");
}

#[test]
fn a_number_stands_before_the_extension() {
    for (text, numbered) in
        [("a/photo.jpg", "a/photo (2).jpg"), ("b.c/file", "b.c/file (2)"), (".profile", ".profile (2)")]
    {
        assert_eq!(name(text).unwrap().numbered(2), name(numbered));
    }
    assert_eq!(name(&"a".repeat(255)).unwrap().numbered(1), Err(NameError::Long));
}

#[test]
fn links_that_may_lead_out_of_their_tree_are_known() {
    let out = |link: &str, target: &str| name(link).unwrap().leads_out(target.as_bytes());
    for (link, target) in [
        ("l", "x"),
        ("t/l", "x/y"),
        ("t/a/l", ".."),
        ("t/a/l", "../b"),
        ("t/a/b/l", "../../c"),
        ("t/l", "./x//y"),
    ] {
        assert!(!out(link, target), "{link} -> {target}");
    }
    for (link, target) in [
        ("l", "/etc"),
        ("l", ".."),
        ("t/l", ".."),
        ("t/l", "../x"),
        ("t/a/l", "../../x"),
        ("t/a/l", "b/../../../x"),
        ("t/a/l", "b/.."),
    ] {
        assert!(out(link, target), "{link} -> {target}");
    }
}

proptest! {
    #[test]
    fn every_accepted_name_stays_below(bytes in prop::collection::vec(prop_oneof![Just(b'.'), Just(b'/'), any::<u8>()], 0..40)) {
        if let Ok(name) = Name::new(bytes) {
            let parts: Vec<_> = name.path().components().collect();
            prop_assert!(!parts.is_empty());
            let normal = parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)));
            prop_assert!(normal);
        }
    }
}
