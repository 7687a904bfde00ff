//! README and guide show what the program prints: each of their lines `$ tightlink …` whose output is the same on every
//! machine is run. References are made from the options. `TIGHTLINK_WRITE=1` writes outputs that are shown whole, and references.

use crate::place::Place;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What stands for lines that are left out.
const LEFT_OUT: &str = "[…]";

const PAGES: [&str; 2] = ["README.md", "docs/reference/commands.md"];

/// Whether a command gives the same everywhere, in seconds, from what is at hand.
fn is_run(command: &str) -> bool {
    let known = [
        "first.toml",
        "scenarios/presets/parking-lot.toml",
        "scenarios/drawn/sizers.toml",
        "tightlink list",
        "tightlink keys",
    ];
    let figure = command.starts_with("tightlink figure") && command.contains("--engines model,sim");
    (figure || known.iter().any(|known| command.contains(known)))
        && !["live", "emulate", "|"].iter().any(|word| command.contains(word))
}

/// What a slow machine says now and then.
fn is_progress(line: &str) -> bool {
    line.contains(" % searched: ") || line.contains(" points, ") || line.contains(" runs, ")
}

/// The words of a line, in double quotes or not.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.skip(1).collect()
}

/// Text in which neither the layout of columns nor the folding of lines counts.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether what is shown is what is printed; where lines are left out, whether each part of it is printed.
fn shows(printed: &str, shown: &str) -> bool {
    let printed = flat(printed);
    let parts: Vec<String> = shown.split(LEFT_OUT).map(flat).filter(|part| !part.is_empty()).collect();
    if shown.contains(LEFT_OUT) {
        parts.iter().all(|part| printed.contains(part))
    } else {
        flat(shown) == printed
    }
}

#[test]
fn what_readme_and_guide_print_is_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, first) = readme.split_once("```toml\n").expect("first.toml");
    let (first, _) = first.split_once("```").expect("its end");
    let writes = std::env::var_os("TIGHTLINK_WRITE").is_some();
    let (mut wrong, mut run) = (Vec::new(), 0);
    for page in PAGES {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let mut corrected = text.clone();
        for block in
            text.split("```text\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block)
        {
            for example in block.split("$ ").skip(1) {
                let (command, shown) = example.split_once('\n').expect("a line");
                if !is_run(command) {
                    continue;
                }
                run += 1;
                let place = Place::new();
                place.write("first.toml", first);
                symlink(root.join("scenarios"), place.path().join("scenarios")).unwrap();
                let words = words(command);
                let ended = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
                // A headline comes first and the report's path last; what is said in between is talk.
                let (report, out): (Vec<&str>, Vec<&str>) =
                    ended.out.lines().partition(|line| line.starts_with("report: "));
                let (head, talk): (Vec<&str>, Vec<&str>) = ended
                    .err
                    .lines()
                    .filter(|line| !is_progress(line))
                    .partition(|line| command.contains("figure") && line.contains(":fig"));
                let lines: Vec<&str> = head.into_iter().chain(out).chain(talk).chain(report).collect();
                let printed = lines.join("\n") + "\n";
                if !shows(&printed, shown) {
                    wrong.push(format!("{page}: $ {command}\n{printed}is not\n{shown}"));
                    if !shown.contains(LEFT_OUT) {
                        let gap = if shown.ends_with("\n\n") { "\n" } else { "" };
                        corrected = corrected.replace(example, &format!("{command}\n{printed}{gap}"));
                    }
                }
            }
        }
        if writes && corrected != text {
            fs::write(root.join(page), corrected).unwrap();
        }
    }
    assert!(run >= 10, "{run} commands are run");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn references_are_made_from_the_options_and_every_default_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (what, page) in [("cli", "docs/reference/cli.md"), ("defaults", "docs/reference/defaults.md")] {
        let made = Place::new().run(&["docs", what]).well().out;
        if std::env::var_os("TIGHTLINK_WRITE").is_some() {
            fs::write(root.join(page), &made).unwrap();
        }
        let written = fs::read_to_string(root.join(page)).unwrap_or_default();
        assert!(
            written == made,
            "{page} is not that of the options\n  help: TIGHTLINK_WRITE=1 cargo test -p tightlink --test cli references"
        );
        let silent: Vec<&str> =
            made.lines().filter(|line| what == "defaults" && line.contains("|  |")).collect();
        assert!(silent.is_empty(), "no reason for:\n{}", silent.join("\n"));
    }
}

#[test]
fn manual_and_completions_name_every_command() {
    let place = Place::new();
    let script = place.run(&["completions", "bash"]).well().out;
    place.run(&["docs", "man", "pages"]).well();
    let page = fs::read_to_string(place.path().join("pages/tightlink.1")).unwrap();
    for command in ["run", "compare", "sweep", "size", "emulate", "tune", "receive", "send", "verify"] {
        assert!(
            script.contains(&format!("tightlink__{command}"))
                || script.contains(&format!("tightlink,{command}")),
            "{command}"
        );
        assert!(page.contains(&format!("tightlink\\-{command}(1)")), "{command}: {page}");
        assert!(place.path().join(format!("pages/tightlink-{command}.1")).exists(), "{command}");
    }
}
