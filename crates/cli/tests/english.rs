//! The grammar of comments: a count for each room, which only gets better. CONTRIBUTING.md has the rules.
//!
//! `cargo test --test english -- --nocapture` prints the counts, and with `TIGHTLINK_LIST=ROOM` each place in a room.

use std::fmt;
use std::fs;
use std::path::Path;
use testkit::{files, repository};

/// A room may have at most this many of each, and at least this share of verbs.
#[derive(Clone, Copy)]
struct Limits {
    /// The share of function docs that begin with a verb, percent.
    verbs: usize,
    /// Docs that begin with a question word: "What", "Whether", "How many".
    questions: usize,
    /// Sentences that are only a clause, without a main verb.
    clauses: usize,
    /// Uses of a phrase of [`PHRASES`].
    phrases: usize,
    /// Sentences of more than [`MOST_WORDS`] words.
    long: usize,
}

const fn limits(verbs: usize, questions: usize, clauses: usize, phrases: usize, long: usize) -> Limits {
    Limits { verbs, questions, clauses, phrases, long }
}

/// The limits of each room. A number changes only for the better.
const ROOMS: [(&str, Limits); 21] = [
    ("air", limits(98, 0, 0, 0, 0)),
    ("capture", limits(100, 0, 0, 0, 0)),
    ("cc", limits(96, 0, 0, 0, 0)),
    ("cli", limits(100, 0, 0, 0, 0)),
    ("emu", limits(99, 0, 0, 0, 0)),
    ("estimate", limits(100, 0, 0, 0, 0)),
    ("host", limits(98, 0, 0, 0, 0)),
    ("lab", limits(100, 0, 0, 0, 0)),
    ("link", limits(97, 0, 0, 0, 0)),
    ("live", limits(98, 0, 0, 0, 0)),
    ("model", limits(100, 0, 0, 0, 0)),
    ("probe", limits(93, 0, 0, 0, 0)),
    ("py", limits(100, 0, 0, 0, 0)),
    ("quic", limits(100, 0, 0, 0, 0)),
    ("report", limits(100, 0, 0, 0, 0)),
    ("scenario", limits(100, 0, 0, 0, 0)),
    ("sim", limits(98, 0, 0, 0, 0)),
    ("sizing", limits(98, 0, 0, 0, 0)),
    ("transfer", limits(99, 0, 0, 0, 0)),
    ("transport", limits(100, 0, 0, 0, 0)),
    ("units", limits(91, 0, 0, 0, 0)),
];

/// A sentence has at most this many words.
const MOST_WORDS: usize = 30;

/// A doc that begins so names no actor and no thing.
const QUESTIONS: [&str; 12] =
    ["What", "Whether", "Who", "Whose", "How", "When", "Why", "Where", "Of", "So many", "So much", "If"];

/// Phrases that have to be read twice.
const PHRASES: [&str; 8] =
    ["is none", "is no", "told", "beside", "it comes to", "it is looked", "it is waited", "it is asked"];

/// Words at the head of a function's doc that end like a verb and are none. Add what the list of a room shows.
const NOT_VERBS: [&str; 46] = [
    "Access",
    "Address",
    "Always",
    "As",
    "Axis",
    "Bits",
    "Bytes",
    "Chunks",
    "Class",
    "Columns",
    "Connections",
    "Flows",
    "Frames",
    "Has",
    "Is",
    "Its",
    "Keys",
    "Less",
    "Lines",
    "Links",
    "Loss",
    "Losses",
    "Means",
    "Names",
    "Nanoseconds",
    "Notes",
    "Others",
    "Packets",
    "Plus",
    "Points",
    "Progress",
    "Rows",
    "Samples",
    "Seconds",
    "Segments",
    "Series",
    "Success",
    "Theirs",
    "This",
    "Thus",
    "Times",
    "Unless",
    "Us",
    "Users",
    "Values",
    "Was",
];

/// The item that a comment describes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    OtherItem,
    Module,
    Remark,
}

/// A comment: its place, the item below it, and its lines without the marks.
struct Comment {
    line: usize,
    kind: Kind,
    lines: Vec<String>,
}

/// Returns the comments of a source file, in order.
fn comments(source: &str) -> Vec<Comment> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(mark) = mark(lines[at]) else {
            at += 1;
            continue;
        };
        let first = at;
        while at < lines.len() && self::mark(lines[at]) == Some(mark) {
            at += 1;
        }
        let item = lines[at..].iter().find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        let kind = match mark {
            "//!" => Kind::Module,
            "//" => Kind::Remark,
            _ if item.is_some_and(|item| is_function(item)) => Kind::Function,
            _ => Kind::OtherItem,
        };
        let text = lines[first..at].iter().map(|line| line[mark.len()..].trim().to_owned()).collect();
        found.push(Comment { line: first + 1, kind, lines: text });
    }
    found
}

/// Returns the mark that a line's comment begins with, if the line is a comment.
fn mark(line: &str) -> Option<&'static str> {
    ["///", "//!", "//"].into_iter().find(|mark| line.starts_with(mark))
}

/// Returns true if a line declares a function.
fn is_function(line: &str) -> bool {
    const BEFORE: [&str; 5] = ["const", "unsafe", "async", "extern", "\"C\""];
    let mut words = line.split_whitespace();
    words.find(|word| !word.starts_with("pub") && !BEFORE.contains(word)) == Some("fn")
}

/// Returns the sentences of a comment. Code, tables and headings are left out, and code in backticks counts as a word.
fn sentences(lines: &[String]) -> Vec<String> {
    let mut text = String::new();
    let mut is_code = false;
    for line in lines {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.is_empty() || line.starts_with(['|', '#']) {
            text += ". ";
        } else {
            let start = if line.starts_with("- ") { ". " } else { "" };
            text += start;
            text += line.trim_start_matches("- ");
            text += " ";
        }
    }
    let text: String =
        text.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "X" }).collect();
    let mut found = Vec::new();
    let mut sentence = String::new();
    for word in text.split_whitespace() {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence += word;
        let ends = word.ends_with(['.', '!', '?']) || word.ends_with(".)");
        if ends && !["e.g.", "i.e.", "etc."].contains(&word.trim_start_matches('(')) {
            found.push(std::mem::take(&mut sentence));
        }
    }
    found.push(sentence);
    found.retain(|sentence| sentence.contains(char::is_alphanumeric));
    found
}

/// Returns true if `sentence` begins with one of `words`.
fn begins_with(sentence: &str, words: &[&str]) -> bool {
    let is_whole = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    words.iter().any(|word| sentence.strip_prefix(word).is_some_and(is_whole))
}

/// Returns true if `sentence` is a clause that no main sentence follows.
fn is_clause(sentence: &str) -> bool {
    const CLAUSES: [&str; 8] = ["What", "Whether", "Who", "Whose", "How", "When", "Why", "Where"];
    const SUBJECTS: [&str; 15] = [
        "the", "a", "an", "it", "this", "they", "nothing", "we", "its", "each", "no", "all", "that", "every",
        "X",
    ];
    // "When the queue is full, the packet is lost." has a main sentence behind the comma.
    let has_main = sentence.split(", ").skip(1).any(|part| begins_with(part, &SUBJECTS));
    begins_with(sentence, &CLAUSES) && !has_main && !sentence.ends_with('?')
}

/// Returns true if the first word of a function's doc looks like a verb in the third person.
fn begins_with_a_verb(sentence: &str) -> bool {
    let word: String = sentence.chars().take_while(|c| c.is_alphabetic() || *c == '-').collect();
    word.ends_with('s') && word.starts_with(char::is_uppercase) && !NOT_VERBS.contains(&word.as_str())
}

/// The counts of a room.
#[derive(Default)]
struct Counts {
    functions: usize,
    verbs: usize,
    questions: usize,
    clauses: usize,
    phrases: usize,
    long: usize,
    places: Vec<String>,
}

impl Counts {
    /// Returns the share of function docs that begin with a verb, percent, rounded down.
    fn share(&self) -> usize {
        (self.verbs * 100).checked_div(self.functions).unwrap_or(100)
    }

    fn add(&mut self, path: &Path, comment: &Comment) {
        let sentences = sentences(&comment.lines);
        let Some(first) = sentences.first() else { return };
        let mut note = |what: &str, sentence: &str| {
            self.places.push(format!("{}:{}: {what}: {sentence}", path.display(), comment.line));
        };
        if comment.kind == Kind::Function {
            self.functions += 1;
            if begins_with_a_verb(first) { self.verbs += 1 } else { note("no verb", first) }
        }
        if comment.kind != Kind::Remark && begins_with(first, &QUESTIONS) {
            self.questions += 1;
            note("begins", first);
        }
        for sentence in &sentences {
            let lower = format!(" {} ", sentence.to_lowercase().replace(['.', ',', ';', ':', ')', '('], " "));
            if is_clause(sentence) {
                self.clauses += 1;
                note("clause", sentence);
            }
            if sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
                > MOST_WORDS
            {
                self.long += 1;
                note("long", sentence);
            }
            for phrase in PHRASES.iter().filter(|phrase| lower.contains(&format!(" {phrase} "))) {
                self.phrases += 1;
                note(phrase, sentence);
            }
        }
    }

    /// Returns the counts that miss their limit.
    fn faults(&self, limits: Limits) -> Vec<String> {
        let counts = [
            ("docs that begin with a question word", self.questions, limits.questions),
            ("sentences that are only a clause", self.clauses, limits.clauses),
            ("uses of a phrase to avoid", self.phrases, limits.phrases),
            ("sentences over 30 words", self.long, limits.long),
        ];
        let over = counts.into_iter().filter(|(_, found, allowed)| found > allowed);
        let mut faults: Vec<String> =
            over.map(|(what, found, allowed)| format!("{found} {what}, {allowed} allowed")).collect();
        if self.share() < limits.verbs {
            let share = self.share();
            faults.push(format!("{share} % of function docs begin with a verb, {} % wanted", limits.verbs));
        }
        faults
    }
}

/// Prints a row of `ROOMS`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { questions, clauses, phrases, long, .. } = self;
        write!(f, "limits({}, {questions}, {clauses}, {phrases}, {long})", self.share())
    }
}

/// Returns the counts of a room.
fn counts(room: &str) -> Counts {
    let mut counts = Counts::default();
    for path in files(&repository().join("crates").join(room).join("src"), "rs") {
        let source = fs::read_to_string(&path).expect("text");
        let shown = path.strip_prefix(repository()).unwrap_or(&path).to_owned();
        comments(&source).iter().for_each(|comment| counts.add(&shown, comment));
    }
    counts
}

#[test]
fn comments_of_each_room_keep_to_the_grammar() {
    let mut rooms: Vec<String> = fs::read_dir(repository().join("crates"))
        .expect("the rooms")
        .map(|room| room.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    rooms.sort();
    let listed = std::env::var("TIGHTLINK_LIST").unwrap_or_default();
    let mut faults = Vec::new();
    let (mut functions, mut verbs) = (0, 0);
    for room in &rooms {
        let counts = counts(room);
        println!("    (\"{room}\", {counts}),");
        (functions, verbs) = (functions + counts.functions, verbs + counts.verbs);
        if *room == listed {
            counts.places.iter().for_each(|place| println!("{place}"));
        }
        match ROOMS.iter().find(|(name, _)| name == room) {
            Some((_, limits)) => {
                faults.extend(counts.faults(*limits).iter().map(|fault| format!("{room}: {fault}")));
            }
            None => faults.push(format!("{room}: no limits; add the row that this test prints")),
        }
    }
    println!("{} % of {functions} function docs begin with a verb", verbs * 100 / functions.max(1));
    let help = "places: TIGHTLINK_LIST=ROOM cargo test --workspace --test english -- --nocapture";
    assert!(faults.is_empty(), "{}\n{help}", faults.join("\n"));
}

#[test]
fn the_grammar_knows_good_docs_from_bad_ones() {
    let source = "\
/// What the sender said last. It is told so. The queue drops it.
fn bad() {}

/// Returns the sender's last report, which names `what` it has. When it has none, the field is absent.
#[must_use]
pub(crate) const fn good() {}

/// The report.
field: u8,
// Whether it is.
";
    let found = comments(source);
    let kinds: Vec<bool> = found.iter().map(|comment| comment.kind == Kind::Function).collect();
    assert_eq!(kinds, [true, true, false, false]);
    let mut counts = [Counts::default(), Counts::default(), Counts::default(), Counts::default()];
    for (count, comment) in counts.iter_mut().zip(&found) {
        count.add(Path::new("x.rs"), comment);
    }
    let numbers = counts.each_ref().map(|count| (count.verbs, count.questions, count.clauses, count.phrases));
    assert_eq!(numbers, [(0, 1, 1, 1), (1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 1, 0)]);
    assert!(!begins_with_a_verb("Bytes that wait."));
    assert!(!counts[0].faults(limits(50, 0, 0, 0, 0)).is_empty());
    assert!(counts[1].faults(limits(100, 0, 0, 0, 0)).is_empty());
}
