//! `emulate --live` and `tune --live` on a pseudo terminal, and without a terminal.

use crate::place::{Place, SOON, alone, end, root, within};
use crate::tune::Stream;
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The sequences that begin and end a screen.
const BEGIN: &str = "\x1b[?1049h";
const END: &str = "\x1b[?1049l";

/// Waits for traffic to the far end that a shell can make: a datagram each hundredth of a second for a second.
const TRAFFIC: &str =
    "for n in $(seq 100); do echo > /dev/udp/$TIGHTLINK_FAR/9; sleep 0.01; done 2> /dev/null";

/// A line for the shell on a pseudo terminal, which script(1) of util-linux makes.
pub struct Terminal {
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Terminal {
    /// Starts `line` on a terminal of 80 columns and 24 rows.
    pub fn start(place: &Place, line: &str) -> Self {
        Self::prepared(place, line, |_| ())
    }

    pub fn prepared(place: &Place, line: &str, prepare: impl Fn(&mut Command)) -> Self {
        // A script that runs these tests in the background ignores signals, and so would all below it.
        let mut command = Command::new("env");
        command.args([
            "--default-signal=INT,QUIT,HUP",
            "script",
            "-qec",
            &format!("stty rows 24 cols 80; {line}"),
            "/dev/null",
        ]);
        let mut command = place.here(command);
        command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("SHELL", "/bin/sh");
        for name in ["LC_ALL", "LC_CTYPE", "NO_COLOR"] {
            command.env_remove(name);
        }
        prepare(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script of util-linux is on every Debian");
        let mut output = child.stdout.take().expect("piped");
        let shown: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&shown);
        let reading = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                sink.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, shown, reading }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    #[track_caller]
    pub fn shows(&self, word: &str) {
        assert!(within(SOON, || self.text().contains(word)), "{word:?} is not in:\n{}", self.text());
    }

    pub fn types(&mut self, keys: &str) {
        self.child.stdin.as_mut().expect("piped").write_all(keys.as_bytes()).expect("script reads");
    }

    /// Waits for the end. Returns all that was shown.
    pub fn ends(mut self) -> String {
        let status = self.child.wait().expect("ours");
        self.reading.join().expect("no panic");
        let bytes = self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(status.success(), "{status}:\n{text}");
        text
    }
}

/// A line that reports the exit code of `command`, and whether the terminal has the settings from before.
fn reported(command: &str) -> String {
    format!(
        "before=$(stty -g); \"$TIGHTLINK\" {command}; echo \"code $?\"; \
         [ \"$before\" = \"$(stty -g)\" ] && echo \"settings as before\"; true"
    )
}

/// The text after the screen has ended; the screen must have begun once and ended once.
#[track_caller]
fn after_screen(text: &str) -> &str {
    assert_eq!((text.matches(BEGIN).count(), text.matches(END).count()), (1, 1), "{text}");
    let after = text.split_once(END).expect("counted").1;
    assert!(after.contains("settings as before"), "{text}");
    after
}

const LINK: &str = "emulate --rate 20Mbit/s --delay 20ms --live";

#[test]
fn a_chart_appears_and_the_terminal_output_and_exit_code_are_as_without_it() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let line = format!("{LINK} -- bash -c '{TRAFFIC}; echo word of the command; exit 7'");
        let terminal = Terminal::start(&place, &reported(&line));
        for word in [BEGIN, "rate", "queue", "RTT", "40.0", "output"] {
            terminal.shows(word);
        }
        let text = terminal.ends();
        let after = after_screen(&text);
        for word in ["word of the command\r\n", "to the far end:   ", "code 7\r\n"] {
            assert!(after.contains(word), "{word:?} is not in:\n{after}");
        }
    }
}

#[test]
fn the_key_q_and_ctrl_c_interrupt_the_command_and_its_children() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        for (key, code) in [("q", 130), ("\x03", 130), ("\x1c", 131)] {
            // The shell waits for its child, so only a signal to both ends it soon. A child that is not `sleep` yet would
            // catch the signal with the shell's handler, and go on.
            let inner = ": > ready; exec sleep 1000";
            let mut terminal = Terminal::start(
                &place,
                &reported(&format!("{LINK} -- sh -c 'ulimit -c 0; sh -c \"{inner}\"; true'")),
            );
            terminal.shows("RTT");
            let ready = place.path().join("ready");
            assert!(within(SOON, || ready.exists()), "the command has not begun");
            fs::remove_file(&ready).unwrap();
            terminal.types(key);
            let text = terminal.ends();
            assert!(after_screen(&text).contains(&format!("code {code}\r\n")), "{text}");
        }
    }
}

#[test]
fn signals_restore_the_terminal() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
            // The command sends the signal to its parent, which passes it back.
            let command =
                format!("{LINK} -- sh -c 'ulimit -c 0; sleep 0.3; kill -{name} $PPID; exec sleep 1000'");
            let text = Terminal::start(&place, &reported(&command)).ends();
            assert!(after_screen(&text).contains(&format!("code {code}\r\n")), "{name}: {text}");
        }
    }
}

#[test]
fn a_stop_gives_the_terminal_back_and_the_chart_goes_on_after_it() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        // The command is stopped as well, so that it does not run while the path stands still.
        let command =
            format!("{LINK} -- sh -c 'echo $PPID > parent; while [ ! -e go ]; do sleep 0.05; done; exit 6'");
        let terminal = Terminal::start(&place, &reported(&command));
        terminal.shows("RTT");
        let parent = place.path().join("parent");
        let process = || fs::read_to_string(&parent).ok().and_then(|text| text.trim().parse::<i32>().ok());
        assert!(within(SOON, || process().is_some()), "no process");
        let process = process().expect("written");
        let signal = |name: &str| {
            let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
            assert!(sent.expect("kill").success());
        };
        let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        signal("TSTP");
        terminal.shows(END);
        assert!(within(SOON, || state().contains(") T ")), "{}", state());
        // Long enough to be seen by the path, which has a sample for the chart each tenth of a second.
        testkit::wait_until(testkit::now() + Duration::from_millis(400));
        signal("CONT");
        assert!(within(SOON, || terminal.text().matches(BEGIN).count() == 2), "{}", terminal.text());
        fs::write(place.path().join("go"), "").expect("room");
        let text = terminal.ends();
        assert_eq!((text.matches(BEGIN).count(), text.matches(END).count()), (2, 2), "{text}");
        for word in ["code 6\r\n", "settings as before"] {
            assert!(text.rsplit(END).next().expect("counted").contains(word), "{word:?} is not in:\n{text}");
        }
        assert!(text.contains("this process was stopped for "), "{text}");
    }
}

#[test]
fn a_command_that_does_not_start_leaves_the_terminal_as_it_was() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let text = Terminal::start(&place, &reported(&format!("{LINK} -- no-such-program"))).ends();
        let after = after_screen(&text);
        assert!(after.contains("the command no-such-program") && after.contains("code 3\r\n"), "{after}");
    }
}

#[test]
fn the_commands_control_sequences_do_not_reach_the_screen() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let line = format!("{LINK} -- printf '\\033[31mred\\033[0m \\033]0;title\\007end\\n'");
        let text = Terminal::start(&place, &reported(&line)).ends();
        assert!(after_screen(&text).contains("red end\r\n"), "{text}");
        assert!(!text.contains("\x1b]0;title") && !text.contains("\x1b[31m"), "{text}");
    }
}

#[test]
fn no_color_is_respected_and_output_goes_to_a_file() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let line = format!("{LINK} --output out.txt -- bash -c '{TRAFFIC}; echo kept; echo as well >&2'");
        let terminal = Terminal::prepared(&place, &reported(&line), |command| {
            command.env("NO_COLOR", "1");
        });
        terminal.shows("RTT");
        let text = terminal.ends();
        let after = after_screen(&text);
        assert!(!after.contains("kept"), "{after}");
        for colour in ["36m", "33m", "90m"] {
            assert!(!text.contains(colour), "{colour}: {text}");
        }
        assert_eq!(fs::read_to_string(place.path().join("out.txt")).expect("written"), "kept\nas well\n");
    }
}

#[test]
fn without_a_terminal_there_is_a_line_each_second_and_no_sequence() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let command = format!("{TRAFFIC}; {TRAFFIC}; echo done");
        let arguments: Vec<&str> = LINK.split(' ').chain(["--", "bash", "-c", &command]).collect();
        let ended = place.run(&arguments).well();
        assert_eq!(ended.out, "done\n");
        let lines: Vec<&str> = ended.err.lines().filter(|line| line.contains("; RTT ")).collect();
        assert!(!lines.is_empty(), "{}", ended.err);
        assert!(
            lines[0].starts_with("1 s: rate to far ") && lines[0].contains(" Mbit/s; queue to far "),
            "{lines:?}"
        );
        assert!(!ended.err.contains('\x1b'), "{}", ended.err);
    }
}

#[test]
fn a_shell_cannot_share_the_terminal_with_a_chart() {
    let place = Place::new();
    let text = Terminal::start(&place, &format!("\"$TIGHTLINK\" {LINK} -- bash; echo code $?")).ends();
    for word in ["--live: bash needs the terminal for itself", "tightlink enter --live", "code 2"] {
        assert!(text.contains(word), "{text}");
    }
    let ended = place.run(&LINK.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, Some(2), "--live without a command: {}", ended.err);
}

#[test]
fn tune_shows_its_connections_and_restores_the_terminal() {
    if root() {
        let stream = Stream::new();
        let place = Place::new();
        let line = format!("tune --pid {} --port {} --live", std::process::id(), stream.port());
        let mut terminal = Terminal::start(&place, &reported(&line));
        for word in ["tune: process", "window", "#1", "kB"] {
            terminal.shows(word);
        }
        terminal.types("q");
        let text = terminal.ends();
        let after = after_screen(&text);
        assert!(after.contains("given back to the kernel") && after.contains("code 0\r\n"), "{after}");
    }
}

#[test]
fn tune_keeps_the_exit_code_of_its_command() {
    let place = Place::new();
    let text =
        Terminal::start(&place, &reported("tune --live -- sh -c 'echo said; sleep 0.5; exit 9'")).ends();
    let after = after_screen(&text);
    assert!(after.contains("said\r\n") && after.contains("code 9\r\n"), "{after}");
    let own = std::process::id().to_string();
    end(place.program(&["tune", "--live", "--output", "x", "--pid", &own])).failed(2, &["--output", "--pid"]);
}
