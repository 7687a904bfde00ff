//! Names that are taken: nothing is replaced unasked.

use crate::bench::{TestTransfer, Transfer};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use tightlink_transfer::{Ending, Existing, ReceiveOptions, SendOptions};

const EARLY: u64 = 1_000_000_000;
const LATE: u64 = 1_500_000_000;

fn at(path: &Path, seconds: u64) {
    let file = fs::File::open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

/// A sender with a tree `x`, and a receiver that has some of its names.
fn taken() -> TestTransfer {
    let bench = TestTransfer::new();
    for side in [bench.from(), bench.to()] {
        fs::create_dir_all(side.join("x")).unwrap();
        fs::write(side.join("x/same content"), "the same").unwrap();
        fs::write(side.join("x/same size"), if side == bench.from() { "1234" } else { "abcd" }).unwrap();
        fs::write(side.join("x/later.txt"), if side == bench.from() { "later here" } else { "old" }).unwrap();
        fs::write(side.join("x/earlier"), if side == bench.from() { "early" } else { "later there" })
            .unwrap();
        symlink(if side == bench.from() { "a" } else { "b" }, side.join("x/link")).unwrap();
    }
    bench.write("x/new", "new");
    for (name, here, there) in [
        ("same content", LATE, EARLY),
        ("same size", EARLY, LATE),
        ("later.txt", LATE, EARLY),
        ("earlier", EARLY, LATE),
    ] {
        at(&bench.from().join("x").join(name), here);
        at(&bench.to().join("x").join(name), there);
    }
    bench
}

fn transfer(bench: &TestTransfer, existing: Existing) -> Transfer {
    let options = ReceiveOptions { existing, ..TestTransfer::options() };
    bench.transfer_to(&options, &[bench.from().join("x")], &SendOptions::default())
}

fn there(bench: &TestTransfer, name: &str) -> String {
    fs::read_to_string(bench.to().join("x").join(name)).unwrap_or_default()
}

fn link(bench: &TestTransfer, name: &str) -> String {
    fs::read_link(bench.to().join("x").join(name)).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn by_default_other_content_is_refused_and_the_same_content_is_there() {
    let bench = taken();
    let transfer = transfer(&bench, Existing::default());
    let error = transfer.sent.unwrap_err();
    assert_eq!(error.ending(), Ending::Partial);
    let heard = transfer.here.heard();
    for name in ["same size", "later.txt", "earlier", "link"] {
        let shown = if name.contains(' ') { format!("'x/{name}'") } else { format!("x/{name}") };
        assert!(heard.contains(&format!("{shown}: a different file has this name")), "{name}: {heard}");
    }
    assert!(error.to_string().contains("4 of 7"), "{error}");
    assert!(!heard.contains("same content"), "{heard}");
    assert_eq!(
        [there(&bench, "same size"), there(&bench, "later.txt"), there(&bench, "new")],
        ["abcd", "old", "new"]
    );
    assert_eq!(link(&bench, "link"), "b");
    assert_eq!(fs::metadata(bench.to().join("x/same content")).unwrap().mtime(), EARLY as i64, "untouched");
}

#[test]
fn the_same_size_and_time_count_as_there_without_a_look_at_the_content() {
    let bench = TestTransfer::new();
    let path = bench.write("file", "1234");
    fs::create_dir_all(bench.to()).unwrap();
    fs::write(bench.to().join("file"), "abcd").unwrap();
    at(&path, EARLY);
    at(&bench.to().join("file"), EARLY);
    let sent = bench.transfer(&[path], &SendOptions::default()).sent.unwrap();
    assert_eq!((sent.entries, sent.skipped, sent.sent), (1, 1, Some(0)));
}

#[test]
fn renamed_ones_get_a_number_and_what_is_there_stays() {
    let bench = taken();
    let sent = transfer(&bench, Existing::Rename).sent.unwrap();
    assert_eq!(sent.entries, 7);
    assert_eq!([there(&bench, "same size"), there(&bench, "same size (1)")], ["abcd", "1234"]);
    assert_eq!([there(&bench, "later.txt"), there(&bench, "later (1).txt")], ["old", "later here"]);
    assert_eq!([link(&bench, "link"), link(&bench, "link (1)")], ["b", "a"]);
    assert!(!bench.to().join("x/same content (1)").exists(), "it was there");
}

#[test]
fn an_update_keeps_the_later_one() {
    let bench = taken();
    let sent = transfer(&bench, Existing::Update).sent.unwrap();
    assert_eq!(
        [there(&bench, "same size"), there(&bench, "later.txt"), there(&bench, "earlier")],
        ["abcd", "later here", "later there"]
    );
    assert!(sent.skipped >= 2, "{}", sent.skipped);
}

#[test]
fn replacing_replaces() {
    let bench = taken();
    transfer(&bench, Existing::Replace).sent.unwrap();
    assert_eq!(
        [there(&bench, "same size"), there(&bench, "later.txt"), there(&bench, "earlier")],
        ["1234", "later here", "early"]
    );
    assert_eq!(link(&bench, "link"), "a");
}

#[test]
fn folders_that_were_there_keep_their_mode_and_time() {
    let bench = TestTransfer::new();
    bench.write("home/.ssh/id", "key");
    fs::set_permissions(bench.from().join("home/.ssh"), Permissions::from_mode(0o777)).unwrap();
    fs::create_dir_all(bench.to().join("home/.ssh")).unwrap();
    fs::set_permissions(bench.to().join("home/.ssh"), Permissions::from_mode(0o700)).unwrap();
    at(&bench.to().join("home/.ssh"), EARLY);
    bench.transfer(&[bench.from().join("home")], &SendOptions::default()).sent.unwrap();
    let folder = fs::metadata(bench.to().join("home/.ssh")).unwrap();
    assert_eq!((folder.mode() & 0o7777, folder.mtime()), (0o700, EARLY as i64));
    assert_eq!(fs::read(bench.to().join("home/.ssh/id")).unwrap(), b"key");
}

#[test]
fn links_that_lead_out_of_their_tree_are_refused_unless_asked_for() {
    let bench = TestTransfer::new();
    bench.write("x/inner/file", "content");
    for (name, target) in [("inner/good", "../inner/file"), ("absolute", "/etc/passwd"), ("up", "../other")] {
        symlink(target, bench.from().join("x").join(name)).unwrap();
    }
    let transfer = bench.transfer(&[bench.from().join("x")], &SendOptions::default());
    assert!(transfer.sent.unwrap_err().to_string().contains("2 of 6"));
    let heard = transfer.here.heard();
    for name in ["absolute", "up"] {
        assert!(heard.contains(&format!("x/{name}: the link points outside")), "{heard}");
        assert!(fs::symlink_metadata(bench.to().join("x").join(name)).is_err());
    }
    assert_eq!(link(&bench, "inner/good"), "../inner/file");
    let options = ReceiveOptions { outside_links: true, ..TestTransfer::options() };
    bench.transfer_to(&options, &[bench.from().join("x")], &SendOptions::default()).sent.unwrap();
    assert_eq!(link(&bench, "absolute"), "/etc/passwd");
}
