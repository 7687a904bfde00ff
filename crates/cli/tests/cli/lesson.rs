//! The lesson in `docs/lab`: every command of the sheet and of its answers runs as an ordinary user, and prints the lines
//! below it. In such a line `18.4 ± 0.3` is a number with its tolerance, and `…` is any text.

use crate::place::{Ended, Place, alone, end, needs};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::sync::Mutex;
use testkit::{could_not_judge, repository};

const PAGES: [&str; 2] = ["docs/lab/index.md", "docs/lab/answers.md"];
/// Tries of a command of the kernel, whose numbers a busy machine disturbs.
const TRIES: usize = 4;
/// Parts of the sheet whose kernel commands run at the same time: 5 Mbit/s leave a core idle nearly all the time.
const AT_ONCE: usize = 3;

/// A file that the reader writes, or a command with the lines that it must print.
#[derive(Debug)]
enum Step {
    File { name: String, content: String },
    Command { line: String, shown: Vec<String> },
}

/// Returns the steps of a part of a page, in order.
fn steps(part: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in part.split("```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').expect("a block has lines");
        if kind == "console" {
            for line in text.replace("\\\n", " ").lines() {
                match (line.strip_prefix("$ "), steps.last_mut()) {
                    (Some(line), _) => steps.push(Step::Command { line: line.to_owned(), shown: Vec::new() }),
                    (None, Some(Step::Command { shown, .. })) => shown.push(line.to_owned()),
                    (None, _) => panic!("output of no command: {line}"),
                }
            }
        } else if let Some(name) = text.lines().next().and_then(|first| first.strip_prefix("# ")) {
            steps.push(Step::File { name: name.to_owned(), content: text.to_owned() });
        }
    }
    steps
}

/// Returns true if the command needs user namespaces and the TUN device.
fn uses_kernel(line: &str) -> bool {
    line.contains("emulate")
        || line.contains("live")
        || (line.contains("compare") && !line.contains("--engines"))
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Any,
    Number { value: f64, tolerance: f64 },
}

fn flat(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len())]
}

/// Returns the pieces of a shown line.
fn pieces(shown: &str) -> Vec<Piece> {
    let shown = flat(shown);
    let text = |text: &str| {
        let parts = text.split('…').flat_map(|part| [Piece::Any, Piece::Text(part.to_owned())]);
        parts.skip(1).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    let mut rest = &shown[..];
    while let Some((before, after)) = rest.split_once(" ± ") {
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        all.extend(text(&before[..start]));
        let tolerance = digits(after);
        let parsed = |number: &str| number.parse().unwrap_or_else(|_| panic!("no number in {shown:?}"));
        all.push(Piece::Number { value: parsed(&before[start..]), tolerance: parsed(tolerance) });
        rest = &after[tolerance.len()..];
    }
    all.extend(text(rest));
    // Spaces at `…` do not count.
    for index in 0..all.len() {
        if all[index] == Piece::Any {
            if let Some(Piece::Text(before)) = index.checked_sub(1).map(|before| &mut all[before]) {
                *before = before.trim_end().to_owned();
            }
            if let Some(Piece::Text(after)) = all.get_mut(index + 1) {
                *after = after.trim_start().to_owned();
            }
        }
    }
    all
}

/// Returns true if `printed`, from `at` on, is what the pieces say.
fn fits(pieces: &[Piece], printed: &str, at: usize) -> bool {
    let text = &printed[at..];
    match pieces.split_first() {
        None => text.is_empty(),
        Some((Piece::Text(shown), rest)) => {
            text.starts_with(&**shown) && fits(rest, printed, at + shown.len())
        }
        Some((Piece::Any, rest)) => {
            let mut ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
            ends.any(|end| fits(rest, printed, at + end))
        }
        Some((Piece::Number { value, tolerance }, rest)) => {
            let number = digits(text);
            let whole = !printed[..at].ends_with(|c: char| c.is_ascii_digit() || c == '.');
            let near = number.parse::<f64>().is_ok_and(|found| (found - value).abs() <= tolerance + 1e-9);
            // A table of the program has the confidence interval behind the number.
            let behind = text[number.len()..].strip_prefix(" ± ").map(digits);
            let interval = behind.map_or(0, |digits| " ± ".len() + digits.len());
            whole && near && fits(rest, printed, at + number.len() + interval)
        }
    }
}

/// Returns the first shown line that is not printed behind the ones before it.
fn missing<'a>(shown: &'a [String], printed: &str) -> Option<&'a String> {
    let mut lines = printed.lines().map(flat);
    shown.iter().find(|shown| {
        let pieces = pieces(shown);
        !lines.any(|line| fits(&pieces, &line, 0))
    })
}

/// A folder of an ordinary user, with the program on the path.
struct Home {
    place: Place,
    root: bool,
}

impl Home {
    fn new(root: bool) -> Self {
        let place = Place::new();
        let everybody =
            |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
        everybody(place.path().to_owned(), 0o777);
        fs::create_dir(place.path().join("bin")).expect("a folder of ours");
        let program = place.path().join("bin/tightlink");
        fs::copy(env!("CARGO_BIN_EXE_tightlink"), &program).expect("room for a copy");
        everybody(program, 0o755);
        if root {
            // Machines differ in whom they let open the device.
            end(place.shell("mknod -m 666 bin/tun c 10 200"));
        }
        Self { place, root }
    }

    /// Runs a line as its user types it. Both outputs come as one.
    fn run(&self, line: &str) -> Ended {
        let typed = "sh -c 'exec 2>&1; eval \"$1\"' sh \"$1\"";
        let path = "PATH=\"$PWD/bin:/usr/local/bin:/usr/bin:/bin\" HOME=\"$PWD\"";
        let user = format!("exec env -i {path} {typed}");
        let mut command = if self.root {
            let other =
                user.replace("exec env", "exec setpriv --reuid=65534 --regid=65534 --clear-groups env");
            let mut command = Command::new("unshare");
            // Without such a device the commands that do not need it run all the same.
            let tun = "if [ -e /dev/net/tun ] && [ -e bin/tun ]; then mount --bind bin/tun /dev/net/tun; fi";
            command.args(["--mount", "sh", "-c", &format!("{tun}; {other}")]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", &user]);
            command
        };
        command.args(["sh", line]);
        end(self.place.here(command))
    }

    /// Returns the complaint about a command, and true if the machine was too busy for it.
    fn judge(&self, line: &str, shown: &[String]) -> Result<(), (String, bool)> {
        let ended = self.run(line);
        let signs = ["the machine was too busy", "nothing listens at the far end after"];
        let busy = signs.iter().any(|sign| ended.out.contains(sign));
        if ended.code != Some(0) {
            return Err((format!("$ {line}\nended with {:?}:\n{}", ended.code, ended.out), busy));
        }
        let Some(lacks) = missing(shown, &ended.out) else { return Ok(()) };
        Err((format!("$ {line}\n{}\nhas no line\n{lacks}", ended.out), busy))
    }
}

/// Parts of both pages, which begin with a heading.
fn parts() -> Vec<String> {
    let pages = PAGES.map(|page| fs::read_to_string(repository().join(page)).expect("a page of the lesson"));
    pages.iter().flat_map(|page| page.split("\n## ")).map(str::to_owned).collect()
}

type Asked = (String, Vec<String>);

/// Runs the kernel's commands, some parts at once, and returns the complaints about those whose numbers were off.
fn first_try(home: &Home, parts: Vec<Vec<Asked>>) -> Vec<(Asked, String, bool)> {
    let (parts, complaints) = (Mutex::new(parts), Mutex::new(Vec::new()));
    let next = || parts.lock().expect("no panic").pop();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(part) = next() {
                    for (line, shown) in part {
                        if let Err((complaint, busy)) = home.judge(&line, &shown) {
                            complaints.lock().expect("no panic").push(((line, shown), complaint, busy));
                        }
                    }
                }
            });
        }
    });
    complaints.into_inner().expect("no panic")
}

#[test]
fn every_command_of_the_lesson_prints_the_numbers_of_the_sheet() {
    let _alone = alone();
    // Without root, the user who runs the tests is the ordinary one.
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let home = Home::new(root);
    let mut kernels: Vec<Vec<Asked>> = Vec::new();
    let mut wrong = Vec::new();
    for part in parts() {
        let mut of_part = Vec::new();
        for step in steps(&part) {
            match step {
                Step::File { name, content } => home.place.write(&name, content),
                Step::Command { line, shown } if uses_kernel(&line) => of_part.push((line, shown)),
                Step::Command { line, shown } => {
                    wrong.extend(home.judge(&line, &shown).err().map(|(complaint, _)| complaint));
                }
            }
        }
        kernels.push(of_part);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let asked = "tightlink emulate --rate 5Mbit/s -- true";
    let allowed = home.run(asked).code == Some(0) && home.run("command -v ping curl python3").code == Some(0);
    if !needs(allowed, "user namespaces and /dev/net/tun for an ordinary user; ping, curl and python3") {
        return;
    }
    for ((line, shown), mut complaint, mut all_busy) in first_try(&home, kernels) {
        let mut held = false;
        for _ in 1..TRIES {
            match home.judge(&line, &shown) {
                Ok(()) => held = true,
                Err((again, busy)) => (complaint, all_busy) = (again, all_busy && busy),
            }
            if held {
                break;
            }
        }
        match (held, all_busy) {
            (true, _) => {}
            (false, true) => could_not_judge(format_args!("the machine was too busy each time: {complaint}")),
            (false, false) => wrong.push(complaint),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_number_outside_its_tolerance_is_not_in_the_output() {
    let printed = "  engine  goodput Mbit/s\n  sim   18.42   48.31  95.43 ± 0.20  7.64\nrtt = 40.2/61.5/90";
    let holds = |shown: &str| missing(&[shown.to_owned()], printed).is_none();
    for shown in
        ["sim 18.4 ± 0.1 …", "sim … 95.4 ± 0.1 7.6 ± 0.1", "rtt = …/60 ± 2/…", "rtt = 40.2/…", "engine …"]
    {
        assert!(holds(shown), "{shown}");
    }
    for shown in [
        "sim 18.4 ± 0.01 …",
        "sim 18.4 ± 0.1",
        "…/1.5 ± 0/…",
        "rtt = …/64 ± 2/…",
        "sim … 95.4 ± 0.01 …",
        "live …",
    ] {
        assert!(!holds(shown), "{shown}");
    }
    let twice = ["rtt = …".to_owned(), "sim …".to_owned()];
    assert_eq!(missing(&twice, printed), Some(&twice[1]), "lines stand in the order of the output");
}

#[test]
fn the_lesson_takes_two_hours_and_says_what_each_task_needs() {
    let sheet = fs::read_to_string(repository().join(PAGES[0])).expect("the sheet");
    let rows: Vec<Vec<&str>> = sheet
        .lines()
        .filter(|line| line.starts_with("| ["))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let minutes = |row: &Vec<&str>| row[2].parse::<u32>().expect("minutes");
    assert_eq!(rows.iter().map(minutes).sum::<u32>(), 120);
    let tasks: Vec<&str> = sheet.split("\n## ").skip(1).collect();
    assert_eq!(tasks.len(), rows.len());
    let (mut commands, mut numbers) = (0, 0);
    for (task, row) in tasks.iter().zip(&rows) {
        let title = task.lines().next().expect("a heading");
        assert!(row[1].starts_with(&format!("[{title}]")), "{title}: {row:?}");
        assert!(
            task.contains(&format!("\n*{} minutes. ", minutes(row))),
            "{title}: the minutes of the table"
        );
        assert!(task.contains("**In short.** "), "{title}: the sentence of the slide");
        let (mut kernel, mut all) = (0, 0);
        for step in steps(task) {
            if let Step::Command { line, shown } = step {
                all += 1;
                kernel += u32::from(uses_kernel(&line));
                let words = shown.iter().flat_map(|line| line.split_whitespace());
                numbers += words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
            }
        }
        let needs = row[4];
        assert_eq!(kernel > 0, needs.starts_with("a kernel"), "{title}: {needs}");
        assert_eq!(kernel == 1, needs.ends_with("one command"), "{title}: {needs}");
        commands += all;
    }
    assert!(commands >= 25 && numbers >= 50, "{commands} commands, {numbers} numbers");
}
