//! A folder to work in, the program, and what became of it.

pub use testkit::{needs, now, within};

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Two seconds of one transfer and some Poisson traffic: milliseconds in the simulator.
pub const SMALL: &str = r#"title = "small"
duration = "2s"
warmup = "500ms"

[link]
rate = "10Mbit/s"
delay = "5ms"
queue = { kind = "drop-tail", limit = "1 bdp" }

[[flow]]
name = "target"
control = "reno"
socket_buffer = "20kB"

[[traffic]]
name = "cross"
kind = "poisson"
rate = "2Mbit/s"
"#;

/// Two points for [`SMALL`].
pub const SWEEP: &str = "\n[sweep]\n\"link.queue.limit\" = [\"1 bdp\", \"2 bdp\"]\n";

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// The run, which must have gone well.
    #[track_caller]
    pub fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// The JSON objects on stdout, one per line.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// The summaries of the results on stdout.
    #[track_caller]
    pub fn summaries(&self) -> Vec<Value> {
        self.json().iter().map(|line| line["summary"].clone()).filter(|summary| !summary.is_null()).collect()
    }

    /// The run failed with `code`, said so in one screen on stderr with all of `words`, and nothing on stdout.
    #[track_caller]
    pub fn failed(&self, code: i32, words: &[&str]) {
        let err = &self.err;
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{err}", self.out);
        assert_eq!(self.out, "", "data of a run that failed");
        assert!(err.starts_with("error: "), "{err}");
        assert!(err.lines().count() <= 24, "more than a screen:\n{err}");
        assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
        for word in words {
            assert!(err.contains(word), "{word:?} is not in:\n{err}");
        }
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes text");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A folder of its own, in which the program runs.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with `small.toml`.
    pub fn small() -> Self {
        let place = Self::new();
        place.write("small.toml", SMALL);
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).expect("room in the temporary folder");
    }

    /// The program, to be run here.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tightlink"));
        command.args(arguments);
        self.here(command)
    }

    /// A line for the shell, to be run here; `$TIGHTLINK` is the program.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.here(command)
    }

    /// `command`, to be run here.
    pub fn here(&self, mut command: Command) -> Command {
        command.current_dir(self.path()).stdin(Stdio::null()).env("RUST_BACKTRACE", "1");
        command.env("TIGHTLINK", env!("CARGO_BIN_EXE_tightlink"));
        // The tests may run under sudo, which must not decide as whom programs run.
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        command
    }

    /// Runs the program here and waits.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        end(self.program(arguments))
    }

    /// Starts the program here, its output piped, with SIGINT as a terminal has it: a script that runs these tests in the
    /// background ignores it, and so would all below it.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_tightlink")]).args(arguments);
        let mut command = self.here(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Every file below here, by path from here.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        collect(self.path(), &mut files);
        files.iter().map(|file| file.strip_prefix(self.path()).expect("below").to_owned()).collect()
    }
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            collect(&entry, files);
        } else {
            files.insert(entry);
        }
    }
}

/// Runs `command` and waits.
pub fn end(mut command: Command) -> Ended {
    command.output().expect("the program starts").into()
}

/// Held by tests that measure time or run the emulator: one at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process may mount, make namespaces and become others. If not, the test could not judge.
#[track_caller]
pub fn root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let tun = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok();
    needs(root && tun, "root and /dev/net/tun")
}

/// What is not there by then will not come: a stalling machine takes many times as long as a quiet one.
pub const SOON: Duration = Duration::from_secs(20);
