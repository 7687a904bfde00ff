//! What docs/adr/0013-names-that-stay.md promises.

use crate::place::Place;
use std::fs;

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/adr/0013-names-that-stay.md");
    fs::read_to_string(page).expect("the page")
}

/// The text of the page's block in this language.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("```").expect("its end").0.to_owned()
}

/// The words in backticks of the sentence that begins with `head`.
fn names(page: &str, head: &str) -> Vec<String> {
    let (_, rest) = page.split_once(head).expect("the sentence");
    let sentence = rest.split_once(". ").expect("its end").0;
    sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn promised_commands_exist() {
    let place = Place::new();
    let names = names(&page(), "**Commands:**");
    assert_eq!(names.len(), 10, "{names:?}");
    for name in names {
        place.run(&[&name, "--help"]).well();
    }
}

#[test]
fn promised_keys_are_read_and_promised_numbers_are_there() {
    let (place, page) = (Place::new(), page());
    place.write("names.toml", block(&page, "toml"));
    let lines = place.run(&["run", "names.toml", "--json"]).well().json();
    assert_eq!(lines.len(), 2, "one object per point of the sweep");
    for line in lines {
        let summary = line.get("summary").unwrap_or(&line);
        for path in block(&page, "text").split_whitespace() {
            let found = path.split('.').try_fold(summary, |value, key| {
                let value = value.get(key)?;
                if key == "flows" { value.get(0) } else { Some(value) }
            });
            assert!(found.is_some(), "{path} is not in {summary}");
        }
    }
}
