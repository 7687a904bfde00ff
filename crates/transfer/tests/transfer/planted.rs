//! State that somebody else put into a folder: a receiver that is started there believes none of it.

use crate::bench::{Ear, TestTransfer, noise};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tightlink_transfer::{Receiver, SendOptions, SilentObserver, TransferError, send};

/// A folder with `.tightlink` in it, closed to others, as a receiver makes it.
fn with_own(bench: &TestTransfer) -> PathBuf {
    let own = bench.to().join(".tightlink");
    fs::create_dir_all(bench.to()).unwrap();
    DirBuilder::new().mode(0o700).create(&own).unwrap();
    own
}

fn private(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

#[track_caller]
fn refused(bench: &TestTransfer, words: &str) {
    let error = Receiver::open(&bench.to(), &TestTransfer::options(), &bench.clock).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

/// A session that another receiver began, as its file says it.
fn session_of_another() -> String {
    let bench = TestTransfer::new();
    let receiver = bench.receiver();
    let session = fs::read_to_string(bench.to().join(".tightlink/session")).unwrap();
    drop(receiver);
    session
}

#[test]
fn a_session_that_was_begun_in_another_folder_does_not_hold() {
    let bench = TestTransfer::new();
    private(&with_own(&bench).join("session"), &session_of_another());
    refused(&bench, "the session there was begun in another folder");
    let mut options = TestTransfer::options();
    options.new = true;
    let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    assert!(!receiver.resumed());
}

#[test]
fn a_copy_of_a_session_does_not_hold() {
    let bench = TestTransfer::new();
    let receiver = bench.receiver();
    let copy = bench.to().with_extension("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(bench.to()).arg(&copy).status().unwrap();
    assert!(copied.success());
    drop(receiver);
    let error = Receiver::open(&copy, &TestTransfer::options(), &bench.clock).unwrap_err().to_string();
    assert!(error.contains("begun in another folder"), "{error}");
    // A folder that is moved is the same folder.
    let moved = bench.to().with_extension("moved");
    fs::rename(bench.to(), &moved).unwrap();
    assert!(Receiver::open(&moved, &TestTransfer::options(), &bench.clock).unwrap().resumed());
}

#[test]
fn links_in_place_of_state_lead_nowhere() {
    for name in ["session", "session-under-way", "journal", "lock", "partial"] {
        let bench = TestTransfer::new();
        let victim = bench.write("victim", "precious");
        symlink(&victim, with_own(&bench).join(name)).unwrap();
        let opened = Receiver::open(&bench.to(), &TestTransfer::options(), &bench.clock);
        if let Err(error) = opened {
            assert!(error.to_string().contains("not a regular file"), "{name}: {error}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
        assert_eq!(fs::metadata(&victim).unwrap().mode() & 0o777, 0o644);
    }
    // A link that leads to nothing makes nothing.
    let bench = TestTransfer::new();
    let nothing = bench.from().join("nothing");
    for name in ["session-under-way", "journal", "lock"] {
        let own = bench.to().join(".tightlink");
        let _ = fs::remove_dir_all(&own);
        symlink(&nothing, with_own(&bench).join(name)).unwrap();
        drop(Receiver::open(&bench.to(), &TestTransfer::options(), &bench.clock));
        assert!(fs::symlink_metadata(&nothing).is_err(), "{name}");
    }
}

#[test]
fn a_second_name_of_a_state_file_is_refused() {
    let bench = TestTransfer::new();
    let victim = bench.write("victim", "precious");
    fs::set_permissions(&victim, Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(&victim, with_own(&bench).join("lock")).unwrap();
    refused(&bench, "it has 2 names");
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_link_in_place_of_the_state_folder_is_refused() {
    let bench = TestTransfer::new();
    fs::create_dir_all(bench.to()).unwrap();
    let elsewhere = bench.from().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, bench.to().join(".tightlink")).unwrap();
    refused(&bench, "not a folder");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn state_that_others_may_use_is_refused() {
    let bench = TestTransfer::new();
    let own = with_own(&bench);
    fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
    refused(&bench, "others may use it (mode 0777)");
    fs::set_permissions(&own, Permissions::from_mode(0o700)).unwrap();
    private(&own.join("session"), &session_of_another());
    fs::set_permissions(own.join("session"), Permissions::from_mode(0o644)).unwrap();
    refused(&bench, "session: others may use it (mode 0644)");
}

#[test]
fn state_of_another_user_is_refused_and_its_owner_named() {
    if !rustix::process::geteuid().is_root() {
        return testkit::could_not_judge("only root can make another user's folder");
    }
    let bench = TestTransfer::new();
    let own = with_own(&bench);
    std::os::unix::fs::chown(&own, Some(65534), Some(65534)).unwrap();
    refused(&bench, "it belongs to user 65534");
    std::os::unix::fs::chown(&own, Some(0), Some(0)).unwrap();
    private(&own.join("session"), &session_of_another());
    std::os::unix::fs::chown(own.join("session"), Some(65534), None).unwrap();
    refused(&bench, "session: it belongs to user 65534");
}

#[test]
fn a_damaged_session_is_told_and_nothing_is_lost() {
    let bench = TestTransfer::new();
    let own = with_own(&bench);
    private(&own.join("session"), "{}");
    private(&own.join("journal"), "something");
    refused(&bench, "not a session of this version");
    assert_eq!(fs::read(own.join("journal")).unwrap(), b"something");
}

#[test]
fn nothing_of_a_finished_session_comes_back() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(300_000, 1));
    let receiver = bench.receiver();
    let ticket = receiver.ticket().clone();
    let ear = Ear::default();
    let error = std::thread::scope(|threads| {
        let receiving = threads.spawn(|| receiver.run(&ear));
        send(std::slice::from_ref(&path), &ticket, &SendOptions::default(), &bench.clock, &SilentObserver)
            .unwrap();
        receiving.join().unwrap().unwrap();
        send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap_err()
    });
    assert!(matches!(error, TransferError::Unreachable { .. }), "{error}");
    assert_eq!(fs::read_dir(bench.to()).unwrap().count(), 1);
}
