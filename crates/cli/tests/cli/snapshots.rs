//! The output and the exit codes of each command's common cases: `snapshots/` has one file for each command.
//!
//! `INSTA_UPDATE=always cargo test -p tightlink --test cli snapshots` writes them; look at the difference before a commit.

use crate::place::{Ended, Place, end};
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The cases by the file of their snapshot: lines for the shell, in which `tightlink` is the program.
const CASES: &[(&str, &[&str])] = &[
    ("program", &["tightlink", "tightlink --help", "tightlink rum small.toml"]),
    (
        "run",
        &[
            "tightlink run small.toml",
            "tightlink run --help",
            "tightlink run small.toml --engine model --out none",
            "tightlink run small.toml --set link.queue.limit=2bdp --repeat 2 --out none",
            "tightlink run two.toml --out none",
            "tightlink run missing.toml",
            "tightlink run small.toml --set link.rat=5Mbit/s",
            "tightlink run small.toml --set link.rate=5MB/s",
            "tightlink run small.toml --seed -1",
            "tightlink run small.toml --set flow.target.control=cubik",
        ],
    ),
    (
        "compare",
        &[
            "tightlink compare small.toml --engines model,sim",
            "tightlink compare small.toml --engines sim --claims missing.toml",
        ],
    ),
    (
        "sweep",
        &[
            "tightlink sweep sweep.toml",
            "tightlink sweep small.toml --target 'utilization>=20%' --over link.queue.limit",
            "tightlink sweep small.toml --target 'utilisation>=90%' --over link.queue.limit",
            "tightlink sweep small.toml --target 'utilization>=90%'",
        ],
    ),
    (
        "size",
        &[
            "tightlink size --rate 100Mbit/s --flows 10 --quick",
            "tightlink size --rate 100Mbit/s --control cubik --quick",
        ],
    ),
    ("figure", &["tightlink figure fig1-4"]),
    ("check", &["tightlink check nobody"]),
    ("new", &["tightlink new", "tightlink new list", "tightlink new quik"]),
    ("list", &["tightlink list queues", "tightlink list sizers"]),
    ("keys", &["tightlink keys flow.rtt", "tightlink keys _ack", "tightlink keys delayed_akc"]),
    ("tune", &["tightlink tune", "tightlink tune --window large -- true"]),
    (
        "emulate",
        &[
            "tightlink emulate -- true",
            "tightlink emulate --rate 5Mbit/s --queue coddle -- true",
            "tightlink emulate --help",
        ],
    ),
    ("receive", &["tightlink receive inbox --window large"]),
    (
        "send",
        &[
            "tightlink send small.toml tl10nonsense",
            "tightlink send missing.txt --dry-run",
            "tightlink send folder --dry-run",
        ],
    ),
    (
        "transfer",
        &["tightlink receive inbox --listen 127.0.0.1:0 --yes --ticket-file ticket > received 2>&1 & \
         while ! test -s ticket; do sleep 0.05; done; \
         tightlink send folder --ticket-file ticket; wait; cat received"],
    ),
    (
        "verify",
        &[
            "b3='af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  empty'; echo \"$b3\" > sums; \
      touch empty; tightlink verify sums --verbose",
            "b3='af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  small.toml'; echo \"$b3\" > sums; \
      tightlink verify sums",
        ],
    ),
    ("completions", &["tightlink completions tcsh"]),
];

/// Two flows, for rows of their own.
const TWO: &str = "\n[[flow]]\nname = \"other\"\ncontrol = \"cubic\"\n";

/// A number that differs between runs stands as its kind. Progress is left out.
fn filtered(text: &str) -> String {
    let kept = text.lines().filter(|line| {
        ![" % searched: ", " points, ", " runs, "].iter().any(|progress| line.contains(progress))
    });
    kept.map(|line| filtered_line(line) + "\n").collect()
}

fn filtered_line(line: &str) -> String {
    // The list of figures grows.
    let figures = "  accepted: list, all, ";
    if line.starts_with(figures) {
        return figures.to_owned() + "[…]";
    }
    // What limited a short transfer differs.
    let (line, limit) = line.split_once(" It was ").map_or((line, ""), |(line, _)| (line, " It was […]"));
    let transfer = line.starts_with("sent ") || line.starts_with("received ");
    let mut out = String::new();
    for word in line.split_inclusive([' ', '/', '.', ':']) {
        let bare = word.trim_end_matches([' ', '/', '.', ':']);
        let is_hash = bare.len() == 16 && bare.chars().all(|c| c.is_ascii_hexdigit());
        out += &if is_hash { word.replace(bare, "<hash>") } else { word.to_owned() };
    }
    if transfer {
        out = measured(&out);
    }
    port(&out) + limit
}

/// The time and rate of a transfer's closing sentence: "sent 5 B in 0.02 s: 2.0 kbit/s. …".
fn measured(line: &str) -> String {
    let parts = line.split_once(" in ").and_then(|(moved, rest)| Some((moved, rest.split_once(". ")?.1)));
    let (moved, rest) = parts.unwrap_or((line, ""));
    format!("{moved} in <time>: <rate>. {rest}")
}

/// The port after the loopback address.
fn port(line: &str) -> String {
    let Some((before, rest)) = line.split_once("127.0.0.1:") else { return line.to_owned() };
    format!("{before}127.0.0.1:<port>{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn shown(line: &str, ended: &Ended) -> String {
    let code = ended.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
    format!(
        "$ {line}\nexit code: {code}\n----- stdout -----\n{}----- stderr -----\n{}",
        filtered(&ended.out),
        filtered(&ended.err)
    )
}

/// Runs a line in a folder of its own, and returns what it printed and its exit code.
fn run(line: &str) -> String {
    let place = Place::small();
    let small = fs::read_to_string(place.path().join("small.toml")).unwrap();
    place.write("sweep.toml", format!("{small}{}", crate::place::SWEEP));
    place.write("two.toml", format!("{small}{TWO}"));
    fs::create_dir(place.path().join("folder")).unwrap();
    place.write("folder/a.txt", "hello");
    let mut shell = place.shell(&format!("tightlink() {{ \"$TIGHTLINK\" \"$@\"; }}; {line}"));
    shell.env("COLUMNS", "100").env("RAYON_NUM_THREADS", "2").env_remove("TIGHTLINK_TICKET");
    shown(line, &end(shell))
}

#[test]
fn snapshots_are_what_the_commands_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut wrong = Vec::new();
    for (name, lines) in CASES {
        let text: String = lines.iter().map(|line| run(line)).collect::<Vec<_>>().join("\n");
        // All files are compared before the test ends.
        let compare = || settings.bind(|| insta::assert_snapshot!(*name, text));
        let compared = catch_unwind(AssertUnwindSafe(compare));
        if compared.is_err() {
            wrong.push(*name);
        }
    }
    assert!(wrong.is_empty(), "other output than the snapshots of {wrong:?}");
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|name| name.ends_with(".snap")).collect();
    let cases: BTreeSet<String> = CASES.iter().map(|(name, _)| format!("{name}.snap")).collect();
    assert_eq!(files, cases, "a file without a case, or a case without a file");
}
