//! `send` and `receive` from outside: what they print, how they end.

use crate::place::{Ended, Place, SOON, end, root, within};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use testkit::tries::{in_one_of_five, in_time};

/// A receiver under way, and its ticket.
pub struct Receiving {
    pub child: Child,
    pub ticket: String,
    out: BufReader<std::process::ChildStdout>,
}

impl Receiving {
    /// Starts `tightlink receive` with `arguments` on loopback.
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.program(&[&["receive", "--listen", "127.0.0.1:0"], arguments].concat()))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut ticket = String::new();
        out.read_line(&mut ticket).unwrap();
        if ticket.is_empty() {
            let output = child.wait_with_output().unwrap();
            panic!("no ticket: {}", String::from_utf8_lossy(&output.stderr));
        }
        Self { child, ticket: ticket.trim().to_owned(), out }
    }

    /// What became of it: what it printed behind the ticket.
    pub fn ended(mut self) -> Ended {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let mut ended = Ended::from(self.child.wait_with_output().unwrap());
        ended.out = rest;
        ended
    }
}

/// Without one, a test that fails would leave a receiver behind.
impl Receiving {
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_file_goes_from_one_process_to_the_other() {
    let place = Place::small();
    let receiving = Receiving::start(&place, &["there", "--json"]);
    let ticket: Value = serde_json::from_str(&receiving.ticket).unwrap();
    let sent = place.run(&["send", "small.toml", ticket["ticket"].as_str().unwrap(), "--json"]).well();
    let summary = &sent.json()[0];
    assert_eq!(summary["entries"], 1);
    assert_eq!(summary["bytes"], fs::metadata(place.path().join("small.toml")).unwrap().len());
    let received = receiving.ended().well();
    assert_eq!(received.json()[0]["entries"], 1);
    let here = fs::read(place.path().join("small.toml")).unwrap();
    assert_eq!(fs::read(place.path().join("there/small.toml")).unwrap(), here);
    assert_eq!(fs::read_dir(place.path().join("there")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn people_read_what_happened_on_stderr_and_the_ticket_alone_is_data() {
    let place = Place::small();
    let receiving = Receiving::start(&place, &["there"]);
    assert!(receiving.ticket.starts_with("tl1") && !receiving.ticket.contains(' '));
    // From standard input, where `ps` does not show it.
    fs::write(place.path().join("ticket"), format!("{}\n", receiving.ticket)).unwrap();
    let sent = end(place.shell("exec $TIGHTLINK send small.toml - < ticket")).well();
    assert_eq!(sent.out, "", "no data without --json");
    let size = fs::metadata(place.path().join("small.toml")).unwrap().len();
    assert!(
        sent.err.contains(&format!("sent {size} B in "))
            && sent.err.contains(&format!(". 1 entry with {size} B is there. ")),
        "{}",
        sent.err
    );
    assert!(!sent.err.contains(&receiving.ticket), "{}", sent.err);
    let received = receiving.ended().well();
    assert_eq!(received.out, "");
    assert!(received.err.contains(" 1 entry with "), "{}", received.err);
}

#[test]
fn slips_of_the_hand_are_told_before_anything_is_connected() {
    let place = Place::small();
    let receiving = Receiving::start(&place, &["there"]);
    let ticket = receiving.ticket.as_str();
    place
        .run(&["send", "nowhere", ticket])
        .failed(2, &["nowhere: No such file", "accepted: files and folders"]);
    place.run(&["send", "small.toml", "small.toml", ticket]).failed(2, &["would both be small.toml"]);
    place.run(&["send", "small.toml", "hello"]).failed(2, &["not a ticket", "tightlink receive"]);
    let cut = &ticket[..ticket.len() - 3];
    place.run(&["send", "small.toml", cut]).failed(2, &["checksum", "copy it again"]);
    place.run(&["send", "small.toml", ticket, "--limit", "0bit/s"]).failed(2, &["--limit 0"]);
    place.run(&["send", "small.toml", ticket, "--control", "warp"]).failed(2, &["\"warp\"", "accepted: "]);
    for (option, value) in [("--streams", "0"), ("--streams", "65"), ("--limit", "-1"), ("--limit", "fast")] {
        let ended = place.run(&["send", "small.toml", ticket, option, value]);
        assert_eq!(ended.code, Some(2), "{option} {value}: {}", ended.err);
    }
    place.run(&["send", "small.toml", ticket, "--limit", "100MB/s"]).failed(2, &["100MB/s is \"800Mbit/s\""]);
    for (listen, write) in
        [("127.0.0.1", "write 127.0.0.1:4711"), ("::1", "write [::1]:4711"), ("here", "write 192.0.2.7:4711")]
    {
        place
            .run(&["receive", "elsewhere", "--listen", listen])
            .failed(2, &["an IP address and a port", write]);
    }
    let ended = place.run(&["receive", "elsewhere", "--window", "huge"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("sobas, max"), "{}", ended.err);
    // -r, as of other programs: folders are always sent whole.
    place.run(&["send", "-r", "small.toml", ticket]).well();
    receiving.ended().well();
}

#[test]
fn two_receivers_do_not_share_a_folder() {
    let place = Place::new();
    let receiving = Receiving::start(&place, &["there"]);
    place.run(&["receive", "there"]).failed(3, &["there: another `tightlink receive` is at work"]);
    receiving.kill();
}

#[test]
fn the_key_and_the_secret_are_for_their_user_alone() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    let receiving = Receiving::start(&place, &["there"]);
    let own = place.path().join("there/.tightlink");
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(own.join("session")).unwrap().mode() & 0o777, 0o600);
    receiving.kill();
}

#[test]
fn a_receiver_that_was_killed_takes_its_session_up_with_the_same_ticket() {
    let place = Place::small();
    let first = Receiving::start(&place, &["there"]);
    let ticket = first.ticket.clone();
    first.kill();
    let ended = place.run(&["send", "small.toml", &ticket]);
    ended.failed(5, &["no receiver at 127.0.0.1:", "is `tightlink receive` still running"]);
    let second = Receiving::start(&place, &["there"]);
    assert_eq!(second.ticket, ticket);
    place.run(&["send", "small.toml", &ticket]).well();
    let ended = second.ended().well();
    assert!(ended.err.contains("interrupted session"), "{}", ended.err);
    // Replayed.
    place.run(&["send", "small.toml", &ticket]).failed(5, &["ends when its session is finished"]);
    // A new session on purpose.
    let third = Receiving::start(&place, &["there"]);
    assert_ne!(third.ticket, ticket);
    third.kill();
    let fourth = Receiving::start(&place, &["there", "--new"]);
    fourth.kill();
}

#[test]
fn a_full_disk_ends_both_and_keeps_what_has_arrived() {
    if root() {
        let place = Place::new();
        let content: Vec<u8> = (0..24_000_000u32).map(|index| (index % 251) as u8).collect();
        place.write("large", &content);
        fs::create_dir(place.path().join("full")).unwrap();
        // The mount goes with its namespace; within it room is made, and the session goes on.
        let script = "mount -t tmpfs -o size=12m tmpfs full && mkfifo go
            $TIGHTLINK receive full --listen 127.0.0.1:0; echo code $?
            $TIGHTLINK receive full --yes; echo code $?; read line < go
            mount -o remount,size=64m full && $TIGHTLINK receive full; echo code $?; cmp large full/large && echo same";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]);
        let mut receiving = Receiving::of(place.here(command));
        // It is known before anything is written that there is no room.
        let send = |words: &[&str]| place.run(&["send", "large", &receiving.ticket]).failed(7, words);
        send(&["the receiver's disk stops the transfer: \"24 MB are announced, and "]);
        let mut next = |word: &str| {
            let mut line = String::new();
            while !line.starts_with(word) {
                line.clear();
                assert!(receiving.out.read_line(&mut line).unwrap() > 0, "no {word:?} comes");
            }
            line.trim().to_owned()
        };
        assert_eq!(next("code"), "code 7");
        assert_eq!(next("tl1"), receiving.ticket, "the session goes on");
        // With --yes it is tried.
        send(&["cannot write it: No space left"]);
        assert_eq!(next("code"), "code 7");
        fs::write(place.path().join("go"), "on\n").unwrap();
        assert_eq!(next("tl1"), receiving.ticket, "the session goes on");
        let sent = place.run(&["send", "large", &receiving.ticket, "--json"]).well().json().remove(0);
        assert!(sent["sent"].as_u64().unwrap() < 20_000_000, "what had arrived is kept: {sent}");
        let ended = receiving.ended();
        assert!(ended.out.ends_with("code 0\nsame\n"), "{}{}", ended.out, ended.err);
        for words in ["error: full/large: cannot write it", "free some room", "try anyway with --yes"] {
            assert!(ended.err.contains(words), "{words:?} is not in {}", ended.err);
        }
    }
}

#[test]
fn what_may_not_be_read_or_written_is_told_and_the_rest_arrives() {
    if root() {
        let place = Place::small();
        fs::create_dir_all(place.path().join("tree/closed")).unwrap();
        fs::write(place.path().join("tree/file"), "content").unwrap();
        fs::create_dir_all(place.path().join("there/tree/closed")).unwrap();
        fs::write(place.path().join("tree/closed/secret"), "content").unwrap();
        let nobody = |line: &str| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", line]);
            place.here(command)
        };
        use std::os::unix::fs::PermissionsExt;
        let open = |path: &str, mode| {
            fs::set_permissions(place.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        open(".", 0o777);
        open("there", 0o777);
        open("there/tree", 0o777);
        open("tree/closed", 0o700);
        for name in ["tree/one", "tree/two"] {
            fs::write(place.path().join(name), "content").unwrap();
            open(name, 0o000);
        }
        // The sender may not read one folder and two files.
        let receiving = Receiving::start(&place, &["other"]);
        let ended = end(nobody(&format!("exec $TIGHTLINK send tree {}", receiving.ticket)));
        assert_eq!(ended.code, Some(4), "{}", ended.err);
        for name in ["closed", "one", "two"] {
            assert!(ended.err.contains(&format!("tree/{name}: Permission denied")), "{}", ended.err);
        }
        assert_eq!(receiving.ended().code, Some(4), "the receiver knows that something is missing");
        assert_eq!(fs::read(place.path().join("other/tree/file")).unwrap(), b"content");
        // The receiver may not write one folder: it is another user's.
        let receiving = Receiving::of(nobody("exec $TIGHTLINK receive there --listen 127.0.0.1:0"));
        let ended = place.run(&["send", "tree", &receiving.ticket]);
        assert_eq!(ended.code, Some(4), "{}", ended.err);
        assert!(ended.err.contains("tree/closed") && ended.err.contains("denied"), "{}", ended.err);
        assert_eq!(receiving.ended().code, Some(4));
        assert_eq!(fs::read(place.path().join("there/tree/file")).unwrap(), b"content");
    }
}

#[test]
fn a_folder_that_nobody_may_enter_arrives_and_is_not_opened_again() {
    if root() {
        let place = Place::new();
        fs::create_dir_all(place.path().join("tree/closed")).unwrap();
        fs::write(place.path().join("tree/closed/file"), "content").unwrap();
        use std::os::unix::fs::PermissionsExt;
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(place.path().join("tree/closed"), none).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        // The second time it is there, and keeps its mode: what is in it cannot be compared.
        for code in [0, 4] {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.args([env!("CARGO_BIN_EXE_tightlink"), "receive", "there", "--listen", "127.0.0.1:0"]);
            let receiving = Receiving::of(place.here(command));
            let sent = place.run(&["send", "tree", &receiving.ticket]);
            assert_eq!((sent.code, receiving.ended().code), (Some(code), Some(code)), "{}", sent.err);
            let there = fs::metadata(place.path().join("there/tree/closed")).unwrap();
            assert_eq!(there.permissions().mode() & 0o777, 0);
            let _ = fs::remove_dir_all(place.path().join("there/.tightlink"));
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_told() {
    let place = Place::small();
    place.run(&["receive", "small.toml"]).failed(3, &["small.toml: cannot make the folder"]);
    place.run(&["receive", "/proc/there"]).failed(3, &["/proc/there: cannot make the folder"]);
    place.run(&["receive", "there", "--listen", "192.0.2.1:1"]).failed(3, &["cannot listen on 192.0.2.1:1"]);
}

#[test]
fn a_report_goes_through_no_link_that_is_planted_in_its_folder() {
    let place = Place::new();
    place.write("file", "data");
    place.write("victim", "precious");
    for link in ["here.under-way", "here.html"] {
        std::os::unix::fs::symlink("victim", place.path().join(link)).expect("a link");
    }
    let receiving = Receiving::start(&place, &["there"]);
    place.run(&["send", "file", &receiving.ticket, "--report", "here.html"]).well();
    receiving.ended().well();
    let read = |name: &str| fs::read_to_string(place.path().join(name)).expect("text");
    assert!(read("here.html").contains("All numbers of the transfer"));
    assert_eq!(read("victim"), "precious");
}

#[test]
fn a_limit_is_kept_and_said_to_be_what_limited_the_transfer() {
    in_one_of_five(|| {
        let place = Place::new();
        place.write("file", vec![7; 2_500_000]);
        let receiving = Receiving::start(&place, &["there", "--report", "there.html"]);
        let limited = ["--limit", "20Mbit/s", "--streams", "2", "--json", "--report", "here.html"];
        let arguments = [&["send", "file", &receiving.ticket][..], &limited].concat();
        let summary = place.run(&arguments).well().json().remove(0);
        let elapsed = summary["elapsed_s"].as_f64().unwrap();
        assert!(elapsed >= 0.95, "2.5 MB at 20 Mbit/s take a second, not {elapsed} s");
        assert!(within(SOON, || place.path().join("there/file").exists()));
        let received = receiving.ended().well();
        // A machine that stalls may be what limits it.
        in_time(summary["limits"]["limited_by"] == "limit", summary)?;
        let sentence = "It was limited by --limit";
        assert!(received.err.contains(sentence), "{}", received.err);
        for page in ["here.html", "there.html"] {
            let page = fs::read_to_string(place.path().join(page)).unwrap();
            assert!(page.contains(sentence) && page.contains("Goodput") && page.contains("plotly"));
        }
        Ok(())
    });
}
