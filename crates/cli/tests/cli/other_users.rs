//! Attacks by other users, by their programs and by their files on the user who runs the program.

use crate::place::{Ended, Place, SOON, alone, end, root, within};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::process::{Child, Command, Stdio};

const NOBODY: u32 = 65_534;

/// A folder whose subfolder `theirs` is another user's; `root` is for root alone and has a page.
fn shared() -> Place {
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for folder in ["theirs", "theirs/pages", "root"] {
        fs::create_dir(place.path().join(folder)).unwrap();
    }
    for folder in ["theirs", "theirs/pages"] {
        chown(place.path().join(folder), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(place.path().join("root"), fs::Permissions::from_mode(0o700)).unwrap();
    place.write("root/index.html", "precious");
    place
}

/// A run behind a link with a page, in `theirs`, as `sudo` called by that user would start it.
fn with_a_page(place: &Place, page: &str, command: &str) -> Ended {
    let arguments =
        ["emulate", "--rate", "10Mbit/s", "--delay", "1ms", "--report", page, "--", "sh", "-c", command];
    let mut program = place.program(&arguments);
    program.current_dir(place.path().join("theirs"));
    program.env("SUDO_UID", NOBODY.to_string()).env("SUDO_GID", NOBODY.to_string());
    end(program)
}

#[test]
fn under_sudo_the_page_is_written_with_the_rights_of_the_user() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = shared();
    let ended = with_a_page(&place, "pages/index.html", "true").well();
    assert!(ended.err.contains("report: pages/index.html"), "{}", ended.err);
    let page = fs::metadata(place.path().join("theirs/pages/index.html")).unwrap();
    assert_eq!((page.uid(), page.gid()), (NOBODY, NOBODY), "and is the user's");
    // The command turns the folder, or one on the way, into a link.
    for (page, swap) in [
        ("pages/index.html", "rm -rf pages; ln -s ../root pages"),
        ("pages/root/index.html", "rm -rf pages; ln -s .. pages"),
        // A folder of root's that lies in the user's.
        ("pages/index.html", "rm -rf pages; mv roots pages"),
    ] {
        let place = shared();
        fs::create_dir(place.path().join("theirs/roots")).unwrap();
        fs::create_dir(place.path().join("theirs/pages/root")).unwrap();
        chown(place.path().join("theirs/pages/root"), Some(NOBODY), Some(NOBODY)).unwrap();
        let ended = with_a_page(&place, page, swap);
        assert_eq!(ended.code, Some(3), "{}", ended.err);
        assert!(
            ended.err.contains("cannot write the report") && ended.err.contains("nobody"),
            "{}",
            ended.err
        );
        assert_eq!(fs::read(place.path().join("root/index.html")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(place.path().join("root")).unwrap().count(), 1, "nothing else is left there");
        let roots = ["roots", "pages"].map(|name| fs::read_dir(place.path().join("theirs").join(name)));
        let roots: usize = roots.into_iter().flatten().map(Iterator::count).sum();
        assert!(swap.contains("ln") || roots == 0, "nothing is written there");
    }
}

#[test]
fn root_keeps_results_with_the_rights_of_who_owns_the_folder() {
    if !root() {
        return;
    }
    let place = shared();
    place.write("theirs/small.toml", crate::place::SMALL);
    let run = |place: &Place, sudo: bool| {
        let mut program = place.program(&["run", "small.toml"]);
        program.current_dir(place.path().join("theirs"));
        if sudo {
            program.env("SUDO_UID", NOBODY.to_string());
        }
        end(program)
    };
    for sudo in [false, true] {
        run(&place, sudo).well();
        let results = place.path().join("theirs/results");
        let hash = fs::read_dir(&results).unwrap().next().unwrap().unwrap().path();
        for path in [&results, &hash, &hash.join("sim"), &hash.join("manifest.json")] {
            assert_eq!(fs::metadata(path).unwrap().uid(), NOBODY, "{}", path.display());
        }
        fs::remove_dir_all(results).unwrap();
    }
    // A folder of root's own there is root's, unless a program of the user's may have put it there.
    fs::create_dir(place.path().join("theirs/results")).unwrap();
    run(&place, false).well();
    assert_eq!(fs::metadata(place.path().join("theirs/results")).unwrap().uid(), 0);
    run(&place, true).failed(3, &["ermission denied", "for nobody", "theirs: root writes"]);
    fs::remove_dir_all(place.path().join("theirs/results")).unwrap();
    symlink("../root", place.path().join("theirs/results")).unwrap();
    lchown(place.path().join("theirs/results"), Some(NOBODY), Some(NOBODY)).unwrap();
    run(&place, false)
        .failed(3, &["ermission denied", "for nobody (uid 65534), who owns /", ": root writes", "--out"]);
    assert_eq!(fs::read_dir(place.path().join("root")).unwrap().count(), 1);
}

#[test]
fn links_of_other_users_on_the_way_are_not_followed() {
    if !root() {
        return;
    }
    // A folder that everybody may write to can hold these. The user who reads it here is not root.
    let place = shared();
    let theirs = place.path().join("theirs");
    fs::write(theirs.join("small.toml"), crate::place::SMALL).unwrap();
    fs::create_dir(theirs.join("elsewhere")).unwrap();
    chown(theirs.join("elsewhere"), Some(NOBODY), Some(NOBODY)).unwrap();
    let link = theirs.join("results");
    symlink("elsewhere", &link).unwrap();
    let run = || {
        let mut program = Command::new("setpriv");
        program.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_tightlink")]);
        let mut program = place.here(program);
        program.args(["run", "small.toml"]).current_dir(&theirs);
        end(program)
    };
    if run().code.is_none_or(|code| code >= 126) {
        testkit::could_not_judge(format_args!("nobody may not run the program"));
        return;
    }
    // Root's own link is followed, and so is one's own.
    lchown(&link, Some(NOBODY), Some(NOBODY)).unwrap();
    run().well();
    lchown(&link, Some(4711), Some(4711)).unwrap();
    let before = fs::read_dir(theirs.join("elsewhere")).unwrap().count();
    run().failed(3, &["results is a link that another user made (uid 4711)"]);
    assert_eq!(fs::read_dir(theirs.join("elsewhere")).unwrap().count(), before);
}

#[test]
fn programs_in_process_namespaces_of_their_own_do_not_end_each_others_runs() {
    if !root() {
        return;
    }
    let place = Place::new();
    let seeds: Vec<String> = (1..=400).map(|seed| seed.to_string()).collect();
    place.write("many.toml", format!("{}[sweep]\nseed = [{}]\n", crate::place::SMALL, seeds.join(", ")));
    place.write("one.toml", format!("{}[sweep]\nseed = [1000, 1001]\n", crate::place::SMALL));
    // The numbers of the two are two and one: neither namespace has a process with the other's number.
    let start = |line: &str| {
        let mut command = Command::new("unshare");
        command.args(["-pf", "--mount-proc", "sh", "-c", line]);
        place.here(command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("unshare")
    };
    let many = start("\"$TIGHTLINK\" sweep many.toml --jobs 1 || exit");
    while !has_ended(&many) {
        let one = start("exec \"$TIGHTLINK\" sweep one.toml --jobs 1");
        Ended::from(one.wait_with_output().unwrap()).well();
    }
    Ended::from(many.wait_with_output().unwrap()).well();
}

/// Returns true if the process has ended. The exit status is not collected.
fn has_ended(child: &Child) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", child.id())).is_ok_and(|stat| stat.contains(") Z "))
}

/// The line of `--server` ends by itself; its number is given to a program of somebody else, in a namespace in which
/// that can be arranged. The first argument is the program.
const BYSTANDER: &str = r#"
( while [ ! -s server ]; do sleep 0.05; done; number=$(cat server); tries=0
  while [ -e /proc/$number ] && [ $tries -lt 40 ]; do sleep 0.05; tries=$((tries+1)); done
  for try in 1 2 3 4 5 6 7 8 9; do
    echo $((number-1)) > /proc/sys/kernel/ns_last_pid
    setsid sh -c 'echo $$ > bystander; trap "" TERM; exec sleep 30' & sleep 0.2
    [ "$(cat bystander)" = "$number" ] && break
    [ $try = 9 ] || kill -9 "$(cat bystander)"
  done ) &
"$1" emulate --rate 10Mbit/s --delay 1ms --server 'echo $$ > server; exit 0' -- sleep 5 || exit 1
sleep 0.5
grep -q '^State:.[SR]' /proc/$(cat bystander)/status && echo lives
"#;

#[test]
fn who_has_the_number_of_an_ended_server_lives_on() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let mut command = Command::new("unshare");
    command.args(["-pf", "--mount-proc", "sh", "-c", BYSTANDER, "sh", env!("CARGO_BIN_EXE_tightlink")]);
    let ended = end(place.here(command)).well();
    assert_eq!(ended.out, "lives\n", "{}", ended.err);
}

/// The children of a process that have ended and were not collected.
fn zombies(parent: u32) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let ended = |stat: &String| {
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        fields.first() == Some(&"Z") && fields.get(1) == Some(&&*parent.to_string())
    };
    stats.filter(ended).count()
}

const DAEMONS: &str = "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep 0.05 > /dev/null 2>&1 &); done; sleep 1; echo; exec sleep 60";

#[test]
fn all_that_a_tuned_command_leaves_behind_is_collected() {
    if !root() {
        return;
    }
    let place = Place::new();
    let mut child = place.start(&["tune", "--", "sh", "-c", DAEMONS]);
    let mut line = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
    let left = within(SOON, || zombies(child.id()) == 0);
    let count = zombies(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(left, "{count} are left");
}

#[test]
fn the_first_process_of_a_container_collects_what_emulates_command_leaves() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let count = "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep 0.05 > /dev/null 2>&1 &); done; sleep 1.5; \
                 grep -l '^State:.Z' /proc/[0-9]*/status | wc -l";
    let mut command = Command::new("unshare");
    command.args(["-pf", "--mount-proc", env!("CARGO_BIN_EXE_tightlink"), "emulate"]);
    command.args(["--rate", "10Mbit/s", "--delay", "1ms", "--server", "exit 0", "--", "sh", "-c", count]);
    let ended = end(place.here(command)).well();
    // The server's line stays until the end, so that its number is its own.
    assert_eq!(ended.out, "1\n", "{}", ended.err);
}

#[test]
fn where_sigchld_was_ignored_the_end_of_the_command_is_seen() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let line = "trap '' CHLD; exec \"$TIGHTLINK\" emulate --rate 10Mbit/s --delay 1ms --server 'exit 0' -- sh -c 'exit 7'";
    let mut command = Command::new("bash");
    command.args(["-c", line]);
    let ended = end(place.here(command));
    assert_eq!(ended.code, Some(7), "{}", ended.err);
}

#[test]
fn a_queue_of_any_size_ends_the_run_before_the_memory_ends() {
    let place = Place::new();
    // Each packet of a byte stays in the queue for seconds.
    place.write(
        "large.toml",
        "title = 'x'\nduration = '1000s'\nwarmup = '0s'\n[link]\nrate = '1kbit/s'\ndelay = '10ms'\n\
         queue.limit = '1000000000 packets'\n[[flow]]\n[[traffic]]\nkind = 'cbr'\nrate = '1Tbit/s'\npacket = '1B'\n",
    );
    let mut command = Command::new("prlimit");
    command.args(["--as=2000000000", env!("CARGO_BIN_EXE_tightlink"), "run", "large.toml"]);
    let ended = end(place.here(command));
    ended.failed(2, &["the run takes ", " MB of memory at ", "accepted: up to 1000 MB", "a smaller queue"]);
}
