//! Trees: names, rights, times, links, holes, emptiness.

use crate::bench::{TestTransfer, noise};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tightlink_transfer::{Existing, ReceiveOptions, SendOptions};

/// Everything below `top` that a transfer keeps: kind, rights, time, content or target.
fn picture(top: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut picture = BTreeMap::new();
    let mut rest = vec![top.to_owned()];
    while let Some(path) = rest.pop() {
        let there = fs::symlink_metadata(&path).unwrap();
        let content = if there.is_dir() {
            rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if there.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else {
            fs::read(&path).unwrap()
        };
        let mode = if there.is_symlink() { 0 } else { there.mode() };
        let key = path.strip_prefix(top).unwrap().to_owned();
        picture.insert(key, (mode, there.mtime(), there.mtime_nsec(), content));
    }
    picture
}

fn set_time(path: &Path, seconds: i64, nanos: i64) {
    let time = Timespec { tv_sec: seconds, tv_nsec: nanos as _ };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

fn make_pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
}

#[test]
fn a_tree_arrives_with_names_rights_times_links_and_empty_things() {
    let bench = TestTransfer::new();
    let tree = bench.from().join("tree");
    bench.write("tree/a/b/c/deep.txt", "deep");
    bench.write("tree/empty", "");
    bench.write("tree/large", noise(3_000_000, 2));
    bench.write("tree/just a chunk", noise(1 << 20, 3));
    bench.write("tree/-rf", "a name like an option");
    bench.write("tree/.hidden", "hidden");
    fs::create_dir(tree.join("nothing inside")).unwrap();
    let odd = tree.join(OsStr::from_bytes(b"not utf-8 \xff\xfe\n"));
    fs::write(&odd, "odd").unwrap();
    symlink("a/b/c/deep.txt", tree.join("link")).unwrap();
    symlink("/nowhere/at all", tree.join("dangling")).unwrap();
    symlink("..", tree.join("a/up")).unwrap();
    fs::set_permissions(tree.join("a/b/c/deep.txt"), Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(tree.join("large"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(tree.join("nothing inside"), Permissions::from_mode(0o1777)).unwrap();
    set_time(&tree.join("link"), 1_000_000_000, 123_456_789);
    set_time(&tree.join("large"), -5, 7);
    set_time(&odd, 4_000_000_000, 999_999_999);
    // A folder in which nothing could be made any more.
    fs::set_permissions(tree.join("a/b"), Permissions::from_mode(0o555)).unwrap();
    for folder in ["a/b/c", "a/b", "a", "nothing inside", ""] {
        set_time(&tree.join(folder), 1_200_000_000, 5);
    }
    let before = picture(&tree);
    for streams in [1, 3] {
        let as_it_is = ReceiveOptions { preserve_mode: true, outside_links: true, ..TestTransfer::options() };
        let options = SendOptions { streams, ..SendOptions::default() };
        let transfer = bench.transfer_to(&as_it_is, std::slice::from_ref(&tree), &options);
        assert_eq!(transfer.sent.unwrap().entries, before.len() as u64);
        transfer.received.unwrap();
        let after = picture(&bench.to().join("tree"));
        for (name, was) in &before {
            assert!(
                after.get(name) == Some(was),
                "{name:?}: {:?}",
                after.get(name).map(|is| (is.0, is.1, is.2))
            );
        }
        assert_eq!(after.len(), before.len());
        fs::set_permissions(bench.to().join("tree/a/b"), Permissions::from_mode(0o755)).unwrap();
        fs::remove_dir_all(bench.to()).unwrap();
    }
}

#[test]
fn holes_stay_holes() {
    let bench = TestTransfer::new();
    let path = bench.from().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len(3 << 30).unwrap();
    file.write_all_at(&noise(100_000, 4), 5_000_001).unwrap();
    file.write_all_at(b"end", (3 << 30) - 3).unwrap();
    let small = bench.from().join("small hole");
    fs::File::create(&small).unwrap().set_len(10_000).unwrap();
    let before = file.metadata().unwrap();
    assert!(before.blocks() * 512 < 1 << 20, "this file system has no holes");
    let transfer = bench.transfer(&[path, small], &SendOptions::default());
    let sent = transfer.sent.unwrap();
    assert_eq!(sent.bytes, (3 << 30) + 10_000);
    assert!(sent.sent < Some(1 << 20), "{:?} bytes of a file that is hollow", sent.sent);
    let received = transfer.received.unwrap();
    let moved = received.goodput_bps * received.elapsed.as_secs_f64() / 8.0;
    assert!(moved < f64::from(1 << 20), "the receiver says that {moved} bytes came");
    let arrived = fs::File::open(bench.to().join("sparse")).unwrap();
    let after = arrived.metadata().unwrap();
    assert_eq!(after.len(), before.len());
    assert!(after.blocks() * 512 < 2 << 20, "{} blocks", after.blocks());
    let mut part = vec![0; 100_003];
    arrived.read_exact_at(&mut part, 4_999_999).unwrap();
    assert!(part[2..100_002] == noise(100_000, 4) && part[..2] == [0, 0] && part[100_002] == 0);
    arrived.read_exact_at(&mut part[..4], (3 << 30) - 4).unwrap();
    assert_eq!(&part[..4], b"\0end");
    assert_eq!(fs::metadata(bench.to().join("small hole")).unwrap().len(), 10_000);
}

#[test]
fn files_are_replaced_but_no_folders_and_pipes() {
    let bench = TestTransfer::new();
    bench.write("x/file", "new");
    bench.write("x/taken", "new");
    fs::create_dir_all(bench.to().join("x/taken")).unwrap();
    fs::write(bench.to().join("x/file"), "old and longer").unwrap();
    fs::write(bench.to().join("x/other"), "stays").unwrap();
    bench.write("x/pipe", "new");
    make_pipe(&bench.to().join("x/pipe"));
    let replacing = ReceiveOptions { existing: Existing::Replace, ..TestTransfer::options() };
    let transfer = bench.transfer_to(&replacing, &[bench.from().join("x")], &SendOptions::default());
    assert!(transfer.sent.unwrap_err().to_string().contains("2 of 4"));
    let heard = transfer.here.heard();
    for line in [
        "x/taken: the receiver cannot store it: a folder has",
        "x/pipe: the receiver cannot store it: a device",
    ] {
        assert!(heard.contains(line), "{heard}");
    }
    assert!(transfer.received.is_err());
    assert_eq!(fs::read(bench.to().join("x/file")).unwrap(), b"new");
    assert_eq!(fs::read(bench.to().join("x/other")).unwrap(), b"stays");
    assert!(bench.to().join(".tightlink/session").exists(), "it can be tried again");
}

#[test]
fn a_link_at_the_receiver_leads_nobody_out() {
    let bench = TestTransfer::new();
    let outside = tempfile::tempdir().unwrap();
    bench.write("x/inner/file", "content");
    fs::create_dir_all(bench.to().join("x")).unwrap();
    symlink(outside.path(), bench.to().join("x/inner")).unwrap();
    let transfer = bench.transfer(&[bench.from().join("x")], &SendOptions::default());
    assert!(transfer.sent.unwrap_err().to_string().contains("x/inner"));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "nothing got out");
}

#[test]
fn set_user_id_does_not_travel() {
    let bench = TestTransfer::new();
    let path = bench.write("program", "#!");
    fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
    bench.transfer(&[path], &SendOptions::default()).sent.unwrap();
    let mode = fs::metadata(bench.to().join("program")).unwrap().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn devices_and_pipes_are_left_out_and_told() {
    let bench = TestTransfer::new();
    bench.write("x/file", "content");
    let pipe = bench.from().join("x/pipe");
    make_pipe(&pipe);
    let transfer = bench.transfer(&[bench.from().join("x")], &SendOptions::default());
    assert_eq!(transfer.sent.unwrap().entries, 2);
    assert!(transfer.here.heard().contains("pipe: a device, socket or pipe; left out"));
}

#[test]
fn many_small_files_arrive_over_several_connections() {
    let bench = TestTransfer::new();
    for index in 0..5000u64 {
        bench.write(&format!("many/{}/{index}", index % 50), noise((index % 700) as usize, index));
    }
    let transfer =
        bench.transfer(&[bench.from().join("many")], &SendOptions { streams: 2, ..SendOptions::default() });
    assert_eq!(transfer.sent.unwrap().entries, 5051);
    assert!(picture(&bench.from().join("many")) == picture(&bench.to().join("many")));
}
