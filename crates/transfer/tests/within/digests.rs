//! Files of digests: written as `b3sum` writes them, and read from arbitrary bytes.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

fn name(bytes: &[u8]) -> Name {
    Name::new(bytes.to_vec()).unwrap()
}

/// Checks `text` in `folder`, and returns all results.
fn checked(folder: &Path, text: &[u8]) -> (Vec<(String, Checked)>, Report) {
    let (mut all, file) = (Vec::new(), folder.join("the digests"));
    fs::write(&file, text).unwrap();
    let each = &mut |name: &[u8], found| all.push((String::from_utf8_lossy(name).into_owned(), found));
    let report = check(&file, folder, each).unwrap();
    (all, report)
}

#[test]
fn lines_are_those_of_b3sum() {
    let bench = tempfile::tempdir().unwrap();
    let names: [&[u8]; 5] = [b"plain", b"a/in a folder", b"two\nlines", b"back\\slash\r", b"\xff"];
    fs::create_dir(bench.path().join("a")).unwrap();
    for one in names {
        fs::write(bench.path().join(name(one).path()), "content").unwrap();
    }
    let (top, file) = (File::open(bench.path()).unwrap().into(), bench.path().join("sums"));
    let names = names.map(name);
    assert_eq!(write(&top, names.iter(), &file).unwrap(), 5);
    // `b3sum` 1.2.0 printed this digest of "content".
    let digest = "3fba5250be9ac259c56e7250c526bc83bacb4be825f2799d3d59e5b4878dd74e";
    let expected = [
        &format!("{digest}  plain\n{digest}  a/in a folder\n\\{digest}  two\\nlines\n").into_bytes()[..],
        &format!("\\{digest}  back\\\\slash\\r\n{digest}  ").into_bytes(),
        b"\xff\n",
    ];
    assert_eq!(fs::read(&file).unwrap(), expected.concat());
    let report = check(&file, bench.path(), &mut |_, found| assert_eq!(found, Checked::Same)).unwrap();
    assert!(report.same == 5 && report.is_good(), "{report:?}");
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 6, "nothing temporary is left");
}

#[test]
fn digests_are_never_written_over_something() {
    let bench = tempfile::tempdir().unwrap();
    fs::write(bench.path().join("one"), "content").unwrap();
    let top = File::open(bench.path()).unwrap().into();
    fs::write(bench.path().join("precious"), "mine").unwrap();
    symlink("nowhere", bench.path().join("link")).unwrap();
    for taken in ["precious", "link"] {
        let error = write(&top, [name(b"one")].iter(), &bench.path().join(taken)).unwrap_err();
        assert!(error.to_string().contains("never written over"), "{error}");
    }
    assert_eq!(fs::read(bench.path().join("precious")).unwrap(), b"mine");
    assert!(!bench.path().join("nowhere").exists());
    // A file that cannot be read does not cost others their digests.
    let sums = bench.path().join("sums");
    let error = write(&top, [name(b"missing"), name(b"one")].iter(), &sums).unwrap_err();
    assert!(
        error.to_string().contains("1 of 2") && error.to_string().contains("missing: cannot be read"),
        "{error}"
    );
    assert!(fs::read_to_string(&sums).unwrap().ends_with("  one\n"));
    fs::remove_file(&sums).unwrap();
    // The name is taken while the files are hashed.
    let temporary = Temporary::new(&bench.path().join("later")).unwrap();
    fs::write(bench.path().join("later"), "mine").unwrap();
    assert!(temporary.keep(&bench.path().join("later")).unwrap_err().to_string().contains("never written"));
    assert_eq!(fs::read(bench.path().join("later")).unwrap(), b"mine");
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 4, "nothing half is left");
}

#[test]
fn what_changed_went_or_leads_out_is_told() {
    let bench = tempfile::tempdir().unwrap();
    let folder = bench.path().join("folder");
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::write(bench.path().join("outside"), "content").unwrap();
    fs::write(folder.join("same"), "content").unwrap();
    fs::write(folder.join("other"), "Content").unwrap();
    symlink("../outside", folder.join("link")).unwrap();
    symlink("..", folder.join("way")).unwrap();
    let digest = blake3::hash(b"content").to_hex();
    let (upper, outside) = (digest.to_uppercase(), bench.path().join("outside"));
    let text = format!(
        "{digest}  same\n{upper}  ./same\r\n{digest}  other\n{digest}  a/gone\n{digest}  link\n{digest}  way/outside\n\
         {digest}  ../outside\n{digest}  {}\n{digest}  a\n{digest} *same\nnonsense\n\n\\{digest}  sa\\me\n{digest}  same",
        outside.display()
    );
    let (all, report) = checked(&folder, text.as_bytes());
    let failed = |found: &Checked, word: &str| matches!(found, Checked::Failed(why) if why.contains(word));
    let [same, upper, other, gone, link, way, up, absolute, a_folder, binary, nonsense, empty, escape, last] =
        &all[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!(same, &("same".into(), Checked::Same));
    assert_eq!(upper, &("same".into(), Checked::Same));
    assert_eq!(other, &("other".into(), Checked::Differs));
    assert_eq!(gone, &("a/gone".into(), Checked::Missing));
    assert!(failed(&link.1, "links are not followed") && failed(&way.1, "links are not followed"), "{all:?}");
    assert!(up.0 == "line 7" && failed(&up.1, "leads elsewhere"), "{up:?}");
    assert!(failed(&absolute.1, "below the folder"), "{absolute:?}");
    assert!(failed(&a_folder.1, "not a file"), "{a_folder:?}");
    for bad in [binary, nonsense, empty] {
        assert!(failed(&bad.1, "64 hexadecimal digits"), "{bad:?}");
    }
    assert!(failed(&escape.1, "backslash"), "{escape:?}");
    assert_eq!(last, &("same".into(), Checked::Same), "without an end of its line");
    assert_eq!(report, Report { same: 3, differ: 1, missing: 1, failed: 9 });
    assert!(!report.is_good());
}

#[test]
fn a_line_without_an_end_takes_no_memory() {
    let bench = tempfile::tempdir().unwrap();
    fs::write(bench.path().join("same"), "content").unwrap();
    let digest = blake3::hash(b"content").to_hex();
    let longest = format!("{digest}  {}same", "./");
    for length in [LONGEST - 1, LONGEST, LONGEST + 1, 5 * LONGEST] {
        let text = format!("{}\n{longest}\n", "a".repeat(length));
        let (all, report) = checked(bench.path(), text.as_bytes());
        assert_eq!((all.len(), report.same, report.failed), (2, 1, 1), "{length}: {all:?}");
    }
    let (all, _) = checked(bench.path(), &vec![b'a'; 3 * LONGEST]);
    assert_eq!(all.len(), 1);
}

proptest! {
    #[test]
    fn every_name_is_read_as_it_was_written(bytes in prop::collection::vec(prop_oneof![Just(b'\\'), Just(b'\n'), Just(b'\r'), Just(b'n'), any::<u8>()], 1..40)) {
        if let Ok(name) = Name::new(bytes) {
            let digest = blake3::hash(name.bytes());
            let written = line(&digest, name.bytes());
            prop_assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1);
            prop_assert_eq!(parse(&written[..written.len() - 1]), Ok((digest, name)));
        }
    }

    #[test]
    fn no_line_makes_the_parser_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&line);
        let _ = parse(&[&b"\\"[..], &[b'a'; 64], b"  ", &line].concat());
    }
}
