//! The documents: files that they name exist, links lead somewhere, lists are complete, and sentences stay short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::{files, repository};

/// A sentence has at most this many words.
const MOST_WORDS: usize = 30;
/// The numbers of longer sentences, by document. A number changes only for the better.
const LONG: [(&str, usize); 12] = [
    ("README.md", 0),
    ("ARCHITECTURE.md", 0),
    ("CONTRIBUTING.md", 0),
    ("GLOSSARY.md", 0),
    ("docs/guide", 3),
    ("docs/lab", 0),
    ("docs/concepts", 0),
    ("docs/reference", 0),
    ("docs/papers", 0),
    ("docs/adr", 0),
    ("crates", 0),
    ("crates/cli/src/args", 0),
];
/// Where a path in backticks begins that is one of this repository.
const FOLDERS: [&str; 7] = ["crates", "docs", "scenarios", "tests", "scripts", "python", "fuzz"];
/// The kinds of files that are looked for.
const KINDS: [&str; 8] = ["rs", "toml", "md", "py", "js", "css", "csv", "tcl"];
/// Files that a guide has its reader write.
const TO_BE_WRITTEN: [&str; 1] = ["crates/cc/src/controls/sqrt.rs"];

fn read(path: &Path) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder whose names end so.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join(folder)).expect("the folder is there") {
        let path = folder.join(entry.expect("readable").file_name());
        if repository().join(&path).is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The Markdown files of the repository that people read.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"].map(PathBuf::from).to_vec();
    found.extend(files_below(Path::new("docs"), ".md"));
    found
}

/// The folders of the rooms, by name.
fn rooms() -> Vec<String> {
    let rooms = fs::read_dir(repository().join("crates")).expect("the rooms");
    rooms.map(|room| room.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

/// The text without blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn every_file_named_in_backticks_exists() {
    let rooms = rooms();
    let mut missing = Vec::new();
    for document in documents() {
        for named in prose(&read(&document)).split('`').skip(1).step_by(2) {
            let named = named.split(':').next().unwrap_or(named);
            let kind = Path::new(named).extension().map(|kind| kind.to_string_lossy().into_owned());
            let is_file = named.ends_with('/') || kind.is_some_and(|kind| KINDS.contains(&&*kind));
            if !is_file || named.contains(|c: char| c.is_whitespace() || "<>{}*…".contains(c)) {
                continue;
            }
            let first = named.split('/').next().unwrap_or_default();
            let of_a_room = |room: &String| repository().join("crates").join(room).join(named).exists();
            let here = repository().join(named).exists()
                || repository().join("crates").join(named).exists()
                || named.starts_with("tests/") && rooms.iter().any(of_a_room)
                || TO_BE_WRITTEN.contains(&named);
            let known = FOLDERS.contains(&first)
                || (rooms.iter().any(|room| room == first) && named.contains("/src"));
            if known && named.contains('/') && !here {
                missing.push(format!("{}: {named}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "files that do not exist:\n{}", missing.join("\n"));
}

/// The anchors of a page: its headings as GitHub and its `id` attributes name them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    let ids = text.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.map(anchor).chain(ids).collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_its_heading() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = read(&document);
        for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = document.parent().unwrap_or(Path::new(""));
            let target = if path.is_empty() { document.clone() } else { folder.join(path) };
            let leads = repository().join(&target).exists()
                && (anchor.is_empty() || anchors(&read(&target)).iter().any(|known| known == anchor));
            if !leads {
                missing.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "links that lead nowhere:\n{}", missing.join("\n"));
}

/// What people read in a file, in paragraphs. Code and headings are no sentences. Each cell of a table, and each item of a
/// list, is a paragraph.
fn paragraphs(path: &Path) -> Vec<String> {
    let text = read(path);
    let text = match path.extension().is_some_and(|kind| kind == "rs") {
        false => text,
        true => {
            // Of the arguments the words of the help, of a crate its own.
            let mark = if path.ends_with("lib.rs") { "//!" } else { "///" };
            let doc = |line: &str| line.trim().strip_prefix(mark).unwrap_or("\n").trim_start().to_owned();
            text.lines().map(doc).collect::<Vec<_>>().join("\n")
        }
    };
    let mut paragraphs = vec![String::new()];
    for line in prose(&text).lines().map(str::trim) {
        let numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if line.is_empty() || line.starts_with(['#', '!']) {
            paragraphs.push(String::new());
        } else if line.starts_with('|') {
            paragraphs.extend(line.split('|').map(str::to_owned));
            paragraphs.push(String::new());
        } else {
            if numbered || line.starts_with("- ") || line.starts_with("* ") {
                paragraphs.push(String::new());
            }
            let line = line.trim_start_matches(['-', '*']);
            let paragraph = paragraphs.last_mut().expect("one at least");
            *paragraph += " ";
            *paragraph += line;
        }
    }
    paragraphs
}

/// The sentences of a paragraph that have too many words.
fn long(paragraph: &str) -> Vec<String> {
    let mut long = Vec::new();
    let mut sentence: Vec<&str> = Vec::new();
    for word in paragraph.split_whitespace().chain(["."]) {
        sentence.push(word);
        let ends = word.trim_end_matches(['*', ')', '"', '`', '_']).ends_with(['.', '?', '!']);
        if ends && !["e.g.", "i.e."].contains(&word.trim_start_matches('(')) {
            if sentence.iter().filter(|word| word.contains(char::is_alphanumeric)).count() > MOST_WORDS {
                long.push(sentence.join(" "));
            }
            sentence.clear();
        }
    }
    long
}

/// What people read: the documents, the crates' own docs, the words of `--help`.
fn read_by_people() -> Vec<PathBuf> {
    let crates = rooms().into_iter().map(|room| Path::new("crates").join(room).join("src/lib.rs"));
    let mut all: Vec<PathBuf> = documents();
    all.extend(crates.filter(|path| repository().join(path).exists()));
    all.push("crates/cli/src/args.rs".into());
    all.extend(files_below(Path::new("crates/cli/src/args"), ".rs"));
    all
}

#[test]
fn sentences_are_short_where_people_read() {
    let mut found = vec![Vec::new(); LONG.len()];
    for path in read_by_people() {
        let name = path.to_string_lossy().into_owned();
        let place = LONG.iter().rposition(|(part, _)| name.starts_with(part));
        let Some(place) = place else { continue };
        let sentences = paragraphs(&path).iter().flat_map(|paragraph| long(paragraph)).collect::<Vec<_>>();
        found[place].extend(sentences.into_iter().map(|sentence| format!("{name}: {sentence}")));
    }
    let mut wrong = Vec::new();
    for ((part, allowed), found) in LONG.iter().zip(&found) {
        if found.len() > *allowed {
            let all = found.join("\n");
            wrong.push(format!(
                "{part}: {} sentences over {MOST_WORDS} words, {allowed} allowed:\n{all}",
                found.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn long_sentences_are_found_and_short_ones_are_not() {
    let short = "one two three ".repeat(10);
    assert_eq!(long(&format!("{short}. {short}.")), Vec::<String>::new());
    assert_eq!(long(&format!("{short}; {short}.")).len(), 1);
    assert_eq!(
        anchors("# Which engine to believe\n\n### `--set`: keys"),
        ["which-engine-to-believe", "--set-keys"]
    );
}

/// Rows of the table look like `` | `emu/src/tun.rs` | what for | ``.
#[test]
fn architecture_md_lists_the_files_with_unsafe_code() {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let section = text.split("\n## Unsafe code\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let listed: BTreeSet<PathBuf> = section
        .lines()
        .filter_map(|line| Some(PathBuf::from(line.strip_prefix("| `")?.split_once('`')?.0)))
        .collect();
    let crates = repository().join("crates");
    let sources = rooms().into_iter().flat_map(|room| files(&crates.join(room).join("src"), "rs"));
    let used: BTreeSet<PathBuf> = sources
        .filter(|path| fs::read_to_string(path).expect("text").contains("(unsafe_code"))
        .map(|path| path.strip_prefix(&crates).expect("below crates/").to_owned())
        .collect();
    assert_eq!(listed, used, "ARCHITECTURE.md, then the source files");
}

/// Paths of the table of tasks, below `crates/` or below the root.
#[test]
fn files_that_a_task_begins_with_exist() {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (_, rest) = text.split_once("| you want to | open |").expect("the table of tasks");
    let rows: Vec<&str> = rest.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 20, "{} tasks", rows.len());
    let mut missing = Vec::new();
    for row in rows {
        let files = row.rsplit('|').nth(1).expect("a second column");
        let mut named = files.split('`').skip(1).step_by(2).peekable();
        assert!(named.peek().is_some(), "no file in {row}");
        missing.extend(named.filter(|path| {
            !repository().join("crates").join(path).exists() && !repository().join(path).exists()
        }));
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that do not exist: {missing:?}");
}
