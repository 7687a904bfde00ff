//! `emulate` without a command, and `tightlink enter`.

use crate::live::Terminal;
use crate::place::{Ended, Place, SOON, alone, end, needs, root, within};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Child, Command, Stdio};

/// An ordinary user: nobody.
const NOBODY: u32 = 65_534;

/// A shell behind a link of 20 Mbit/s and 40 ms.
const SHELL: &str = "\"$TIGHTLINK\" emulate --rate 20Mbit/s --delay 20ms; echo \"code $?\"";
const PROMPT: &str = "[tightlink 20 Mbit/s, 40 ms] ";

/// A place with a home and a folder for sockets, for the user with this number.
fn place_of(user: u32) -> Place {
    let place = Place::new();
    for folder in ["home", "run"] {
        let folder = place.path().join(folder);
        fs::create_dir(&folder).expect("room");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("ours");
        chown(&folder, Some(user), Some(user)).expect("root");
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    place
}

/// Gives a command the home and the folder of `place`.
fn at_home(place: &Place, command: &mut Command) {
    command.env("HOME", place.path().join("home")).env("XDG_RUNTIME_DIR", place.path().join("run"));
    for name in ["ZDOTDIR", "XDG_CONFIG_HOME", "ENV", "PROMPT_COMMAND", "PS1"] {
        command.env_remove(name);
    }
}

/// The program as `user`, with these arguments.
fn program(place: &Place, user: u32, arguments: &[&str]) -> Command {
    // In a mount namespace of its own, /dev/net/tun is another file for the same device, which everybody may open. The
    // process stays the same.
    let device = "[ -e tun ] || { mknod tun c 10 200 && chmod 666 tun; } && mount --bind tun /dev/net/tun";
    let change = format!("exec setpriv --reuid={user} --regid={user} --clear-groups \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{device} && {change}")]);
    command.arg(env!("CARGO_BIN_EXE_tightlink")).args(arguments);
    let mut command = place.here(command);
    at_home(place, &mut command);
    command
}

/// A path that runs until it is dropped.
struct Running(Child);

impl Running {
    fn start(place: &Place, user: u32, options: &[&str]) -> Self {
        let link = ["emulate", "--rate", "20Mbit/s", "--delay", "20ms"];
        let arguments = [&link[..], options, &["--", "sleep", "1000"]].concat();
        let child = program(place, user, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let running = Self(child.expect("setpriv is on every Debian"));
        let socket = place.path().join(format!("run/tightlink/{}.socket", running.0.id()));
        assert!(within(SOON, || socket.exists()), "{} does not appear", socket.display());
        running
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.pid()]).status();
        let _ = self.0.wait();
    }
}

fn enter(place: &Place, user: u32, arguments: &[&str]) -> Ended {
    end(program(place, user, &[&["enter"], arguments].concat()))
}

/// Reads the environment, and the devices of the namespace, that a program finds.
const LOOK: [&str; 4] =
    ["--", "sh", "-c", "echo $TIGHTLINK_NEAR $TIGHTLINK_FAR $(grep -c tight /proc/net/dev)"];

#[test]
fn an_ordinary_user_enters_both_ends_and_nobody_elses() {
    let _alone = alone();
    if root() {
        let place = place_of(NOBODY);
        let running = Running::start(&place, NOBODY, &["--name", "dsl"]);
        let pid = running.pid();
        for named in [None, Some(pid.as_str()), Some("dsl")] {
            let arguments: Vec<&str> = named.into_iter().chain(LOOK).collect();
            let ended = enter(&place, NOBODY, &arguments).well();
            assert_eq!(ended.out, "100.64.77.1 100.64.77.2 1\n", "{}", ended.err);
        }
        // A SYN to a port at the far end's own address is answered there, without the link.
        let address = ["--far", "--", "bash", "-c", "cat /proc/net/fib_trie"];
        let ended = enter(&place, NOBODY, &address).well();
        let local = ended.out.lines().collect::<Vec<_>>();
        let place_of = local.iter().position(|line| line.contains("|-- 100.64.77.2")).expect("an address");
        assert!(local[place_of + 1].contains("/32 host LOCAL"), "{}", ended.out);
        assert_eq!(enter(&place, NOBODY, &["--", "sh", "-c", "exit 9"]).code, Some(9));
        // Root's folder is another one, and another user's sockets are not used even if the folder is the same.
        // A path of root's that has just ended, such as that of another test, may be there for a moment.
        assert!(within(SOON, || enter(&place, 0, &LOOK).code == Some(3)), "root sees a path");
        enter(&place, 0, &LOOK).failed(3, &["tightlink enter: you run no `tightlink emulate` now", "sudo"]);
        let other = ["echo", "entered"];
        enter(&place, NOBODY, &[&["another", "--"][..], &other].concat())
            .failed(2, &["no path of yours is called another", &format!("accepted: {pid} (dsl, ")]);
    }
}

#[test]
fn with_several_paths_one_is_asked_for_and_those_that_ended_are_not_listed() {
    let _alone = alone();
    if root() {
        let place = place_of(0);
        enter(&place, 0, &LOOK).failed(3, &["you run no `tightlink emulate` now"]);
        let (one, two) = (Running::start(&place, 0, &[]), Running::start(&place, 0, &["--name", "two"]));
        let (pid, other) = (one.pid(), two.pid());
        let words = ["you run 2 paths", &pid, &other, "two", "20 Mbit/s, 40 ms", " s old"];
        enter(&place, 0, &LOOK).failed(2, &words);
        enter(&place, 0, &[&["two"], &LOOK[..]].concat()).well();
        drop(two);
        enter(&place, 0, &LOOK).well();
        // A socket whose process was killed is removed.
        let mut one = one;
        one.0.kill().expect("ours");
        one.0.wait().expect("ours");
        let socket = place.path().join(format!("run/tightlink/{pid}.socket"));
        assert!(socket.exists());
        enter(&place, 0, &[&[&*pid], &LOOK[..]].concat()).failed(3, &["you run no"]);
        assert!(!socket.exists());
        assert_eq!(enter(&place, 0, &["--live", "--", "true"]).code, Some(2));
    }
}

#[test]
fn enter_live_shows_the_path_of_another_terminal_until_it_ends() {
    let _alone = alone();
    if root() {
        let place = place_of(0);
        let running = Running::start(&place, 0, &[]);
        let ended =
            |line: &str| format!("before=$(stty -g); {line}; [ \"$before\" = \"$(stty -g)\" ] && echo same");
        let line = ended("\"$TIGHTLINK\" enter --live; echo code $?");
        let mut terminal = Terminal::prepared(&place, &line, |command| at_home(&place, command));
        for word in ["20 Mbit/s, 40 ms, process", "queue", "RTT", "40.0"] {
            terminal.shows(word);
        }
        terminal.types("q");
        let text = terminal.ends();
        assert!(text.contains("code 0\r\n") && text.contains("same"), "{text}");
        let terminal = Terminal::prepared(&place, &line, |command| at_home(&place, command));
        terminal.shows("RTT");
        drop(running);
        let text = terminal.ends();
        assert!(text.contains("code 0\r\n") && text.contains("same"), "{text}");
    }
}

/// Types into a shell on a terminal behind a link, and returns what was shown.
fn in_shell(shell: &str, files: &[(&str, &str)]) -> String {
    let place = place_of(0);
    for (name, text) in files {
        let file = place.path().join("home").join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("room");
        fs::write(file, text).expect("room");
    }
    let line = format!("export SHELL={shell}; {SHELL}");
    let mut terminal = Terminal::prepared(&place, &line, |command| {
        at_home(&place, command);
        command.env("SHELL", "/bin/sh");
    });
    terminal.shows(PROMPT);
    terminal.types("echo at:$TIGHTLINK_FAR; echo $OWN\n");
    terminal.shows("at:100.64.77.2");
    terminal.types("exit 5\n");
    terminal.ends()
}

#[test]
fn without_a_command_there_is_a_shell_whose_prompt_says_where_it_is() {
    let _alone = alone();
    if root() {
        let files = [
            (".bashrc", "OWN=own-file; PS1='mine$ '"),
            (".zshrc", "OWN=own-file; PS1='mine%% '"),
            (".config/fish/config.fish", "set OWN own-file; function fish_prompt; echo -n 'mine> '; end"),
        ];
        for (shell, own) in [("bash", "mine$ "), ("zsh", "mine% "), ("fish", "mine> ")] {
            let program = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{shell}"));
            let found = program.iter().find(|file| fs::exists(file).unwrap_or(false));
            if !needs(found.is_some(), shell) {
                continue;
            }
            let text = in_shell(found.expect("needed"), &files);
            for word in ["behind the link (20 Mbit/s, 40 ms)", "ping $TIGHTLINK_FAR", "own-file", "code 5"] {
                assert!(text.contains(word), "{shell}: {word:?} is not in:\n{text}");
            }
            let prompt = text.contains(&format!("{PROMPT}{own}"));
            // fish draws the parts of its prompt apart.
            assert!(prompt || shell == "fish" && text.contains(own), "{shell}: {text}");
            assert!(
                text.contains("to the far end:   ") && !text.contains("no packet crossed"),
                "{shell}: {text}"
            );
        }
        let text = in_shell("/bin/sh", &[]);
        assert!(text.contains("[tightlink 20 Mbit/s, 40 ms] $ ") && text.contains("code 5"), "{text}");
    }
}

#[test]
fn a_shell_without_a_terminal_is_refused() {
    let ended = Place::new().run(&["emulate", "--rate", "20Mbit/s"]);
    ended.failed(2, &["CMD: none, and standard input is not a terminal", "-- CMD"]);
    let place = Place::new();
    let named = place.run(&["emulate", "--rate", "20Mbit/s", "--name", "12", "--", "true"]);
    named.failed(2, &["--name", "accepted: up to 40 letters"]);
}
