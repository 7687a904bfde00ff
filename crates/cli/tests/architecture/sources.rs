//! Rules for each source file: its length and name, no tests or harness in it, and what it may not write.

use crate::sources;

/// The longest source file there may be.
const MOST_LINES: usize = 450;
/// The most lines of an inline module of tests.
const MOST_TEST_LINES: usize = 40;

#[test]
fn source_files_are_short_and_none_is_called_mod_rs() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            let folder = path.parent().expect("it has one").display();
            wrong.push(format!("{}: write {folder}.rs beside the folder", path.display()));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines, at most {MOST_LINES}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the lines of each inline module that only tests or fuzzing compile.
fn harness(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |at: &usize| {
        let is_excluded = ["#[cfg(test)]", "#[cfg(fuzzing)]"].contains(&lines[*at]);
        let next = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        is_excluded && next.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    let ends = |at: usize| lines[at..].iter().position(|line| *line == "}").expect("the module ends") + 1;
    (0..lines.len()).filter(begins).map(ends).collect()
}

#[test]
fn long_tests_and_harness_are_not_in_src() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let shown = path.display();
        for lines in harness(&text).into_iter().filter(|lines| *lines > MOST_TEST_LINES) {
            wrong.push(format!("{shown}: {lines} lines of tests, at most {MOST_TEST_LINES}: tests/within/"));
        }
        if ["tests", "fuzzing"].iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            wrong.push(format!("{shown}: a file of tests or harness belongs into tests/within/ or fuzzing/"));
        }
        // A module in a file of its own, which no `#[path]` leads out of `src`.
        for excluded in ["#[cfg(test)]\nmod ", "#[cfg(fuzzing)]\nmod ", "#[cfg(fuzzing)]\npub mod "] {
            let names = text.split(excluded).skip(1).filter_map(|rest| rest.split('\n').next());
            wrong.extend(names.filter(|name| name.ends_with(';')).map(|name| format!("{shown}: mod {name}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn inline_tests_are_measured_and_modules_elsewhere_are_not() {
    let inline = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {\n}\n";
    assert_eq!(harness(inline), [5]);
    assert_eq!(harness("#[cfg(test)]\n#[path = \"../tests/within/a.rs\"]\nmod tests;\n"), [0; 0]);
    assert_eq!(harness("#[cfg(test)]\nfn a() {\n}\n"), [0; 0]);
}

#[test]
fn what_is_accepted_and_what_helps_are_fields_and_no_part_of_a_text() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let prints_them = path.ends_with("units/src/complaint.rs");
        for (number, line) in text.lines().enumerate().filter(|_| !prints_them) {
            if ["accepted", "help"].iter().any(|field| line.contains(&format!("\\n  {field}:"))) {
                wrong.push(format!("{}:{}: use units::Complaint", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `pre_exec` demands a promise of its caller. A function that passes a closure on must demand the same promise.
#[test]
fn a_function_that_hands_a_closure_to_pre_exec_is_unsafe_itself() {
    for (path, text) in sources() {
        for (before, _) in text.match_indices(".pre_exec(").map(|(at, _)| text.split_at(at)) {
            let function = before.lines().rev().find(|line| line.contains("fn ")).expect("inside a function");
            assert!(function.contains("unsafe fn "), "{}: {function}", path.display());
        }
    }
}
