//! What `send` and `receive` leave behind of what others must not see, and of what the umask says.

use crate::place::{Place, SOON, root, within};
use crate::transfer::Receiving;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

/// Whether the kernel would write a core dump of process `pid`, which runs as an ordinary user: the files of one of which
/// it would not belong to root.
fn may_be_dumped(pid: u32) -> bool {
    fs::metadata(format!("/proc/{pid}/status")).unwrap().uid() != 0
}

#[test]
fn no_core_dump_can_hold_a_ticket() {
    if root() {
        let place = Place::new();
        place.write("file", vec![7; 4_000_000]);
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let nobody = |arguments: &[&str]| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(env!("CARGO_BIN_EXE_tightlink")).args(arguments);
            place.here(command)
        };
        let receiving = Receiving::of(nobody(&["receive", "there", "--listen", "127.0.0.1:0"]));
        assert!(!may_be_dumped(receiving.child.id()));
        let limit = ["send", "file", &receiving.ticket, "--limit", "10Mbit/s"];
        let mut sending = nobody(&limit).spawn().unwrap();
        let started = within(SOON, || {
            place
                .path()
                .join("there/.tightlink/partial")
                .read_dir()
                .is_ok_and(|mut files| files.next().is_some())
        });
        assert!(started && !may_be_dumped(sending.id()));
        // Another program of this user can be dumped: the check tells them apart.
        let mut other = place.here(Command::new("setpriv"));
        let mut other =
            other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "60"]).spawn().unwrap();
        assert!(within(SOON, || may_be_dumped(other.id())));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(sending.wait().unwrap().success());
        receiving.ended().well();
    }
}

#[test]
fn a_ticket_stays_neither_in_the_list_of_processes_nor_in_an_environment() {
    for variable in [false, true] {
        let place = Place::new();
        place.write("file", vec![7; 4_000_000]);
        let receiving = Receiving::of(place.program(&["receive", "there", "--listen", "127.0.0.1:0"]));
        let ticket = receiving.ticket.clone();
        let mut command = if variable {
            let mut command = place.program(&["send", "file", "--limit", "10Mbit/s"]);
            command.env("TIGHTLINK_TICKET", &ticket);
            command
        } else {
            place.program(&["send", "file", &ticket, "--limit", "10Mbit/s"])
        };
        let mut sending = command.spawn().unwrap();
        let own = format!("/proc/{}", sending.id());
        let partial = place.path().join("there/.tightlink/partial");
        assert!(within(SOON, || partial.read_dir().is_ok_and(|mut files| files.next().is_some())));
        let line = fs::read_to_string(format!("{own}/cmdline")).unwrap();
        assert!(line.contains("--limit") && !line.contains(&ticket), "{line}");
        // Root alone may read the environment of a program that cannot be dumped.
        if let Ok(environment) = fs::read(format!("{own}/environ")) {
            assert!(!String::from_utf8_lossy(&environment).contains(&ticket));
        }
        assert!(sending.wait().unwrap().success());
        receiving.ended().well();
    }
}

#[test]
fn modes_go_through_the_umask_unless_they_are_to_be_preserved() {
    let place = Place::new();
    fs::create_dir(place.path().join("tree")).unwrap();
    fs::write(place.path().join("tree/file"), "content").unwrap();
    for (name, mode) in [("tree/file", 0o666), ("tree", 0o777)] {
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (option, file, folder) in [("", 0o600, 0o700), ("--preserve-mode", 0o666, 0o777)] {
        let line = format!("umask 077; exec $TIGHTLINK receive there --listen 127.0.0.1:0 {option}");
        let receiving = Receiving::of(place.shell(&line));
        place.run(&["send", "tree", &receiving.ticket]).well();
        receiving.ended().well();
        let mode = |name: &str| fs::metadata(place.path().join("there").join(name)).unwrap().mode() & 0o7777;
        assert_eq!((mode("tree/file"), mode("tree")), (file, folder), "{option}");
        fs::remove_dir_all(place.path().join("there")).unwrap();
    }
}
