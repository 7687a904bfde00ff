//! The page `docs/reference/scenario.md`.

use super::{SECTIONS, defaults};
use crate::schema::{self, DefaultValue, Key, Keys};
use crate::tables;
use std::fmt::Write;

const HEAD: &str = "# Scenario keys

Every key of a scenario file. [The scenario file](../guide/scenario.md) explains them, with examples. `tightlink keys KEY` prints
the entry of a key. [Why these defaults](#why-these-defaults) is the last section; [defaults of options](defaults.md) are elsewhere.

This page is made from `crates/scenario/src/tables/`: change the key there, then run
`TIGHTLINK_WRITE=1 cargo test -p tightlink-scenario --test reference`.

An engine that is not named ignores the key. An engine that refuses a key refuses each scenario in which the key has another value than
the default. If `model` refuses, `run` and `compare` still show an estimate, with an
[assumption](commands.md#assumptions) in place of the key.
";

/// Returns the page as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for section in SECTIONS {
        let level = if section.table.contains('.') { "###" } else { "##" };
        line(&mut page, format_args!("\n{level} {}\n", section.heading));
        if !section.intro.is_empty() {
            line(&mut page, format_args!("{}\n", section.intro));
        }
        for (at, (title, keys)) in section.groups.iter().enumerate() {
            if at > 0 {
                page.push('\n');
            }
            if !title.is_empty() {
                line(&mut page, format_args!("**{title}**\n"));
            }
            table(&mut page, keys);
        }
    }
    hosts(&mut page);
    reasons(&mut page);
    page
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = writeln!(page, "{text}");
}

/// Adds the keys of a group as a table. Only groups whose keys depend on the kind have a column for it.
fn table(page: &mut String, keys: Keys) {
    let kinds = schema::each(keys).any(|key| !key.kinds.is_empty());
    let (head, rule) = if kinds { (" kind |", "---|") } else { ("", "") };
    line(
        page,
        format_args!("| key |{head} type | default | engines | meaning |\n|---|{rule}---|---|---|---|"),
    );
    for key in schema::each(keys) {
        let kinds = match key.kinds {
            _ if !kinds => String::new(),
            "" => " all |".to_owned(),
            kinds => format!(" {} |", quoted(kinds)),
        };
        let (name, kind, default, engines) = (key.name, key.kind, default(key), engines(key));
        line(page, format_args!("| `{name}` |{kinds} {kind} | {default} | {engines} | {} |", key.meaning));
    }
}

fn default(key: &Key) -> String {
    match key.default {
        DefaultValue::Required(_) => "required".to_owned(),
        DefaultValue::Written(text) | DefaultValue::Hosts { rfc: text, .. } => format!("`{text}`"),
        DefaultValue::Words(words) => words.to_owned(),
    }
}

fn engines(key: &Key) -> String {
    let read = match key.engines {
        "model sim live" => "all".to_owned(),
        engines => quoted(engines),
    };
    match key.refused_by {
        "" => read,
        refusing if refusing.contains(' ') => format!("{read}; {} refuse it", quoted(refusing)),
        refusing => format!("{read}; {} refuses it", quoted(refusing)),
    }
}

/// Turns `codel pie` into `` `codel`, `pie` ``.
fn quoted(names: &str) -> String {
    names.split(' ').map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Adds the section on `host = "linux"`, with the defaults that it changes.
fn hosts(page: &mut String) {
    line(page, format_args!("\n## Hosts\n"));
    line(
        page,
        format_args!(
            "The values that `host` sets, unless the key itself is written. `\"linux\"` is Linux 6.18 with the settings that it ships \
             with; names in the last column are the kernel's.\n\n| key | `\"rfc\"` | `\"linux\"` | source |\n|---|---|---|---|"
        ),
    );
    for key in schema::all(tables::FLOW) {
        if let DefaultValue::Hosts { rfc, linux, with, source } = key.default {
            let with = with.map_or_else(String::new, |control| format!(" with `{control}`"));
            line(page, format_args!("| `{}`{with} | `{rfc}` | `{linux}` | {source} |", key.name));
        }
    }
}

/// Adds the section with the reason for each default.
fn reasons(page: &mut String) {
    line(
        page,
        format_args!(
            "\n## Why these defaults\n\n\"This project\" is a decision of ours.\n\n\
             | key | default | reason | source |\n|---|---|---|---|"
        ),
    );
    for default in defaults() {
        let (why, from) = default.reason.unwrap_or_default();
        line(page, format_args!("| `{}` | {} | {why} | {from} |", default.path, default.value));
    }
}
