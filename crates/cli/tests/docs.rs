//! The documents: files that they name exist, links lead somewhere, and sentences stay short.

use std::fs;
use std::path::{Path, PathBuf};

/// A sentence has at most this many words.
const MOST_WORDS: usize = 30;
/// The numbers of longer sentences, by document. A number changes only for the better.
const LONG: [(&str, usize); 11] = [
    ("README.md", 0),
    ("ARCHITECTURE.md", 0),
    ("CONTRIBUTING.md", 0),
    ("GLOSSARY.md", 0),
    ("docs/guide", 3),
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder whose names end so.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).expect("the folder is there") {
        let path = folder.join(entry.expect("readable").file_name());
        if root().join(&path).is_dir() {
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
    let rooms = fs::read_dir(root().join("crates")).expect("the rooms");
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
            let of_a_room = |room: &String| root().join("crates").join(room).join(named).exists();
            let here = root().join(named).exists()
                || root().join("crates").join(named).exists()
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
            let leads = root().join(&target).exists()
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
    all.extend(crates.filter(|path| root().join(path).exists()));
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
