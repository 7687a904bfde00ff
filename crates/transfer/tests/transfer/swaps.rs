//! Trees that somebody changes while they are sent: nothing from outside of them may arrive.

use crate::bench::{TestTransfer, noise};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tightlink_transfer::{SendOptions, SilentObserver, send};

/// Every file below `top`.
fn files(top: &Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut rest) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                rest.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files
}

/// Sends `pad` and `tree` slowly, while `act` goes on.
fn slowly(bench: &TestTransfer, act: impl Fn(&AtomicBool) + Send + Sync) -> crate::bench::Transfer {
    let slow = SendOptions { limit: Some(units::Rate::from_bps(16_000_000)), ..SendOptions::default() };
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| act(&over));
        let transfer = bench.transfer(&[bench.from().join("pad"), bench.from().join("tree")], &slow);
        over.store(true, Relaxed);
        transfer
    })
}

/// The secret files beside the tree, which have the names and sizes of those in the tree.
fn outside(bench: &TestTransfer) {
    for index in 0..100 {
        bench.write(&format!("outside/small {index}"), "secret".repeat(3000));
        bench.write(&format!("tree/d/small {index}"), "inside".repeat(3000));
    }
    bench.write("outside/large", noise(3 << 20, 66));
    bench.write("tree/d/large", noise(3 << 20, 67));
    bench.write("pad", noise(1 << 20, 68));
}

/// `pad` is under way by then, and the small tree behind it has been offered.
fn until_all_is_offered(bench: &TestTransfer, over: &AtomicBool) {
    let begun =
        || fs::read_dir(bench.to().join(".tightlink/partial")).is_ok_and(|mut files| files.next().is_some());
    while !begun() && !over.load(Relaxed) {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    std::thread::park_timeout(Duration::from_millis(100));
}

#[track_caller]
fn nothing_from_outside(bench: &TestTransfer) {
    let secret = noise(3 << 20, 66);
    for file in files(&bench.to()) {
        let content = fs::read(&file).unwrap();
        assert!(!content.starts_with(b"secret") && content != secret, "{} came from outside", file.display());
    }
}

#[test]
fn a_folder_that_becomes_a_link_during_the_transfer_leads_nobody_out() {
    let bench = TestTransfer::new();
    outside(&bench);
    let transfer = slowly(&bench, |over| {
        until_all_is_offered(&bench, over);
        fs::rename(bench.from().join("tree/d"), bench.from().join("aside")).unwrap();
        symlink("../outside", bench.from().join("tree/d")).unwrap();
    });
    let error = transfer.sent.unwrap_err().to_string();
    let heard = transfer.here.heard();
    assert!(heard.contains("a folder on its way became a link; left out"), "{heard}{error}");
    nothing_from_outside(&bench);
    assert!(fs::read(bench.to().join("pad")).unwrap() == noise(1 << 20, 68), "the rest arrives");
}

#[test]
fn a_folder_swapped_for_a_link_again_and_again_leads_nobody_out() {
    let bench = TestTransfer::new();
    outside(&bench);
    // It would keep the small ones waiting.
    fs::remove_file(bench.from().join("tree/d/large")).unwrap();
    symlink("../outside", bench.from().join("link")).unwrap();
    let transfer = slowly(&bench, |over| {
        until_all_is_offered(&bench, over);
        while !over.load(Relaxed) {
            let (folder, link) = (bench.from().join("tree/d"), bench.from().join("link"));
            renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
            std::thread::park_timeout(Duration::from_millis(30));
        }
    });
    drop(transfer);
    nothing_from_outside(&bench);
}

#[test]
fn deep_trees_arrive_and_names_that_are_too_long_are_told() {
    let bench = TestTransfer::new();
    let mut path = bench.from().join("tree");
    let mut last = None;
    // 4200 bytes in all, more than a name may have.
    for depth in 0..300 {
        let name = format!("{depth:013}");
        let result = fs::create_dir_all(&path).and_then(|()| fs::write(path.join("file"), &name));
        if result.is_err() {
            break;
        }
        last = Some((path.strip_prefix(bench.from()).unwrap().join("file"), name.clone()));
        path.push(name);
    }
    let (deepest, content) = last.unwrap();
    assert!(deepest.components().count() > 200, "{deepest:?}");
    // The path from the top is too long; from the folder itself it goes on.
    let folder = fs::File::open(bench.from().join(deepest.parent().unwrap())).unwrap();
    let long = "x".repeat(250);
    let mut at: std::os::fd::OwnedFd = folder.into();
    for _ in 0..2 {
        rustix::fs::mkdirat(&at, &long, rustix::fs::Mode::RWXU).unwrap();
        at = rustix::fs::openat(
            &at,
            &long,
            rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    let transfer = bench.transfer(&[bench.from().join("tree")], &SendOptions::default());
    let error = transfer.sent.unwrap_err().to_string();
    assert!(error.contains("the name is longer than 4095 bytes"), "{error}");
    assert_eq!(fs::read_to_string(bench.to().join(deepest)).unwrap(), content);
    // Deeper than what the temporary folder's own end can remove.
    let removed = std::process::Command::new("rm").arg("-rf").arg(bench.from()).arg(bench.to()).status();
    assert!(removed.unwrap().success());
}

#[test]
fn the_command_lines_own_path_may_lead_through_links() {
    let bench = TestTransfer::new();
    bench.write("real/tree/file", "content");
    bench.write("real/one", "one");
    symlink("real", bench.from().join("way")).unwrap();
    symlink("real/tree", bench.from().join("tree link")).unwrap();
    let way = bench.from().join("way");
    let slash = bench.from().join("tree link/");
    let paths = [way.join("tree"), way.join("one"), slash, bench.from().join("way")];
    bench.transfer(&paths, &SendOptions::default()).sent.unwrap();
    let to = |name: &str| bench.to().join(name);
    assert_eq!(fs::read(to("tree/file")).unwrap(), b"content");
    assert_eq!(fs::read(to("one")).unwrap(), b"one");
    assert_eq!(fs::read(to("tree link/file")).unwrap(), b"content", "the slash means the folder");
    assert_eq!(fs::read_link(to("way")).unwrap(), Path::new("real"), "without one it is the link");
}

#[test]
fn files_of_tightlinks_own_name_are_left_out_and_told() {
    let bench = TestTransfer::new();
    bench.write("tree/a/.tightlink/notes", "of somebody's own");
    bench.write("tree/b/.TightLink/session", "on a file system that does not tell capitals");
    bench.write("tree/c/.tightlink", "a file");
    bench.write("tree/c/file", "content");
    let transfer = bench.transfer(&[bench.from().join("tree")], &SendOptions::default());
    assert_eq!(transfer.sent.unwrap().entries, 5);
    let heard = transfer.here.heard();
    assert_eq!(heard.matches(": this name belongs to tightlink; left out").count(), 3, "{heard}");
    for name in ["a/.tightlink", "b/.TightLink", "c/.tightlink"] {
        assert!(heard.contains(&format!("tree/{name}: this name")), "{heard}");
        assert!(!bench.to().join("tree").join(name).exists());
    }
    let named = [bench.from().join("tree/b/.TightLink")];
    let error =
        send(&named, &transfer.ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap_err();
    assert!(error.to_string().contains("belongs to tightlink"), "{error}");
}
