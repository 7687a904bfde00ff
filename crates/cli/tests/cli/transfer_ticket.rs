//! Where `send` takes its ticket from, and what `--dry-run` and `verify` print.

use crate::place::{Ended, Place, SOON, end, root, within};
use crate::transfer::Receiving;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// A receiver, and what a sender with `arguments` and `variable` for its ticket comes to. `@` stands for the ticket.
fn sent(place: &Place, arguments: &[&str], variable: Option<&str>) -> Ended {
    let receiving = Receiving::start(place, &["there"]);
    let ticket = receiving.ticket.clone();
    fs::write(place.path().join("ticket"), format!("{ticket}\n")).unwrap();
    fs::set_permissions(place.path().join("ticket"), Permissions::from_mode(0o600)).unwrap();
    let filled: Vec<&str> = arguments.iter().map(|word| if *word == "@" { &ticket } else { *word }).collect();
    let mut command = place.program(&filled);
    if let Some(variable) = variable {
        command.env("TIGHTLINK_TICKET", variable.replace('@', &ticket));
    }
    let ended = end(command);
    if ended.code == Some(0) {
        receiving.ended().well();
        let here = fs::read(place.path().join("small.toml")).unwrap();
        assert_eq!(fs::read(place.path().join("there/small.toml")).unwrap(), here);
        fs::remove_dir_all(place.path().join("there")).unwrap();
    } else {
        receiving.kill();
    }
    assert!(!ended.err.contains(&ticket) && !ended.out.contains(&ticket), "{}{}", ended.out, ended.err);
    ended
}

#[test]
fn the_ticket_comes_from_a_file_or_the_environment_or_the_last_word() {
    let place = Place::small();
    let quiet = sent(&place, &["send", "small.toml", "--ticket-file", "ticket"], None).well();
    assert!(!quiet.err.contains("warning"), "{}", quiet.err);
    sent(&place, &["send", "small.toml"], Some("@")).well();
    sent(&place, &["send", "small.toml"], Some(" @\n")).well();
    sent(&place, &["send", "small.toml", "@"], None).well();
    sent(&place, &["send", "small.toml", "--ticket-file", "ticket"], Some("tl1abcde")).well();
}

/// Another user has put a file into the folder. Its name must not choose the receiver of `tightlink send *`.
#[test]
fn a_file_that_is_named_like_a_ticket_chooses_no_receiver() {
    let place = Place::small();
    let evil = Receiving::start(&place, &["evil"]);
    place.write(&evil.ticket, "");
    for variable in [None, Some("@")] {
        sent(&place, &["send", "small.toml", &evil.ticket], variable)
            .failed(2, &["a file here has that name", "./ before the name"]);
    }
    let name = evil.ticket.clone();
    evil.kill();
    assert!(!place.path().join("evil/small.toml").exists());
    // With the ticket in a file it is a path like any other.
    let listed = place.run(&["send", "--dry-run", "small.toml", &format!("./{name}")]).well();
    assert!(listed.out.contains(&name), "{}", listed.out);
}

#[test]
fn a_ticket_that_is_missing_wrong_or_given_twice_is_told() {
    let place = Place::small();
    sent(&place, &["send", "small.toml", "@", "--ticket-file", "ticket"], None)
        .failed(2, &["given twice: as the last word, and by --ticket-file"]);
    sent(&place, &["send", "small.toml", "@"], Some("@"))
        .failed(2, &["given twice: as the last word, and by TIGHTLINK"]);
    sent(&place, &["send", "small.toml"], Some("tl1abcde"))
        .failed(2, &["TIGHTLINK_TICKET: the ticket was changed"]);
    sent(&place, &["send", "@"], None).failed(2, &["nothing to send"]);
    sent(&place, &["send", "small.toml", "--ticket-file", "nowhere"], None)
        .failed(2, &["nowhere: No such file", "a file that begins with the ticket"]);
    sent(&place, &["send", "gone", "small.toml"], None).failed(2, &["gone: No such file"]);
    sent(&place, &["send", "tl1xyz"], None).failed(2, &["the ticket was changed or cut"]);
    let mut alone = Command::new("setsid");
    alone.args(["--wait", env!("CARGO_BIN_EXE_tightlink"), "send", "small.toml"]);
    end(place.here(alone)).failed(2, &["no terminal is there to ask for it", "--ticket-file FILE"]);
}

#[test]
fn a_ticket_file_that_others_may_read_is_used_with_a_warning() {
    let place = Place::small();
    let receiving = Receiving::start(&place, &["there"]);
    place.write("open", &receiving.ticket);
    fs::set_permissions(place.path().join("open"), Permissions::from_mode(0o644)).unwrap();
    let ended = place.run(&["send", "small.toml", "--ticket-file", "open"]).well();
    assert!(ended.err.contains("warning: open: other users of this machine may read"), "{}", ended.err);
    receiving.ended().well();
}

#[test]
fn a_ticket_that_is_typed_at_the_terminal_is_not_shown() {
    let place = Place::small();
    let receiving = Receiving::start(&place, &["there"]);
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", "exec $TIGHTLINK send small.toml", "/dev/null"]);
    let mut command = place.here(command);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script of util-linux");
    let (mut out, mut shown) = (child.stdout.take().unwrap(), Vec::new());
    while !String::from_utf8_lossy(&shown).contains("it is not shown): ") {
        let mut byte = [0];
        assert_eq!(out.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
        shown.push(byte[0]);
    }
    let mut keys = child.stdin.take().unwrap();
    // A slip, taken back key by key and as a whole.
    writeln!(keys, "wrong\x15x\x7f{}", receiving.ticket).unwrap();
    out.read_to_end(&mut shown).unwrap();
    drop(keys);
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(child.wait().unwrap().success(), "{shown}");
    assert!(shown.contains("1 entry with ") && !shown.contains(&receiving.ticket[..20]), "{shown}");
    receiving.ended().well();
}

#[test]
fn a_dump_of_a_sender_or_receiver_would_hold_no_ticket() {
    if root() {
        let place = Place::small();
        fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
        // The kernel gives what it would not dump to root.
        for arguments in [["send", "small.toml", "-"], ["receive", "there", "--new"]] {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(env!("CARGO_BIN_EXE_tightlink")).args(arguments);
            let mut command = place.here(command);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let own = format!("/proc/{}", child.id());
            let runs =
                || fs::read_to_string(format!("{own}/comm")).is_ok_and(|name| name.trim() == "tightlink");
            let owner = || fs::metadata(format!("{own}/mem")).unwrap().uid();
            assert!(within(SOON, || runs() && owner() == 0), "{arguments:?}");
            assert!(child.try_wait().unwrap().is_none(), "it runs");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn a_dry_run_lists_what_would_be_sent_and_needs_no_receiver() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("tree/in")).unwrap();
    place.write("tree/in/file", [7; 1500]);
    place.write("tree/odd\n\x1b[2J", "");
    symlink("in/file", place.path().join("tree/link")).unwrap();
    fs::create_dir(place.path().join("tree/.tightlink")).unwrap();
    let listed = place.run(&["send", "--dry-run", "tree"]).well();
    let mut lines: Vec<&str> = listed.out.lines().map(str::trim).collect();
    lines.sort_unstable();
    let expected =
        [r"0 B  'tree/odd\n\u{1b}[2J'", "1.50 kB  tree/in/file", "tree/", "tree/in/", "tree/link -> in/file"];
    assert_eq!(lines, expected);
    assert!(listed.err.contains("would send 5 entries, 1.50 kB"), "{}", listed.err);
    assert!(
        listed.err.contains("tree/.tightlink: this name belongs to tightlink; left out"),
        "{}",
        listed.err
    );
    // With a ticket it is the same.
    let json = place.run(&["send", "--dry-run", "--json", "tree", "-"]).well().json();
    let of = |kind: &str| json.iter().filter(|one| one["kind"] == kind).count();
    assert_eq!((of("file"), of("folder"), of("link"), json.len()), (2, 2, 1, 6));
    let file = json.iter().find(|one| one["name"] == "tree/in/file").unwrap();
    assert_eq!(file["bytes"], 1500);
    assert_eq!(
        (&json[5]["entries"], &json[5]["bytes"], &json[5]["failed"]),
        (&5.into(), &1500.into(), &0.into())
    );
    place.run(&["send", "--dry-run", "nowhere"]).failed(2, &["nowhere: No such file"]);
}

#[test]
fn verbose_senders_say_what_became_of_each_entry() {
    let place = Place::small();
    fs::create_dir(place.path().join("there")).unwrap();
    let (here, there) = (place.path().join("small.toml"), place.path().join("there/small.toml"));
    fs::copy(&here, &there).unwrap();
    let time = fs::metadata(&here).unwrap().modified().unwrap();
    fs::File::options().write(true).open(&there).unwrap().set_modified(time).unwrap();
    place.write("new", "content");
    let receiving = Receiving::start(&place, &["there"]);
    let ended = place.run(&["send", "-v", "small.toml", "new", &receiving.ticket]).well();
    receiving.ended().well();
    let lines: Vec<&str> = ended.err.lines().collect();
    assert!(lines.contains(&"new") && lines.contains(&"small.toml (was there)"), "{}", ended.err);
}

#[test]
fn what_was_received_is_verified_against_its_digests() {
    let place = Place::small();
    fs::create_dir(place.path().join("tree")).unwrap();
    place.write("tree/file", "content");
    let odd = std::ffi::OsStr::from_bytes(b"tree/odd\n\xff");
    fs::write(place.path().join(odd), "odd").unwrap();
    let receiving = Receiving::start(&place, &["there", "--digests", "sums"]);
    place.run(&["send", "tree", "small.toml", &receiving.ticket]).well();
    receiving.ended().well();
    let verify = |more: &[&str]| place.run(&[&["verify", "sums", "--dir", "there"], more].concat());
    let good = verify(&[]).well();
    assert_eq!((good.out.as_str(), good.err.trim()), ("", "3 files are unchanged"));
    assert_eq!(verify(&["-v"]).well().out.lines().filter(|line| line.ends_with(": ok")).count(), 3);
    place.write("there/tree/file", "Content");
    fs::remove_file(place.path().join("there/small.toml")).unwrap();
    let bad = verify(&[]);
    assert_eq!(bad.code, Some(1), "{}", bad.err);
    let mut lines: Vec<&str> = bad.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["small.toml: missing", "tree/file: FAILED"]);
    assert!(bad.err.contains("1 of 3 files are unchanged: 1 differs, 1 is missing"), "{}", bad.err);
    let json = verify(&["--json", "-v"]).json();
    assert!(json.iter().any(|one| one["name"] == "tree/file" && one["result"] == "differs"), "{json:?}");
    assert_eq!(
        (&json[3]["same"], &json[3]["differ"], &json[3]["missing"]),
        (&1.into(), &1.into(), &1.into())
    );
    // What leads elsewhere is not looked at, and what is no file of digests is told.
    place.write("evil", format!("{}  ../small.toml\nnonsense\n", "a".repeat(64)));
    let evil = place.run(&["verify", "evil", "--dir", "there"]);
    assert_eq!(evil.code, Some(1));
    assert!(
        evil.out.contains("line 1: FAILED (the name has a part") && evil.out.contains("line 2: FAILED"),
        "{}",
        evil.out
    );
    place.run(&["verify", "nowhere"]).failed(3, &["nowhere: cannot read the digests"]);
    place.run(&["verify", "sums", "--dir", "nowhere"]).failed(3, &["nowhere: cannot open the folder"]);
    let taken = place.run(&["receive", "other", "--digests", "sums"]);
    taken.failed(2, &["sums: exists, and digests are never written over something"]);
    let inside = place.run(&["receive", "there", "--digests", "there/new-sums"]);
    inside.failed(2, &["there/new-sums: lies in the folder that is received into"]);
}
