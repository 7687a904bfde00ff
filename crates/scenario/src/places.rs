//! The places in a file that a key path means, and the names of the file's flows, links, traffic and stations.

use crate::near;
use crate::path::{Step, nowhere};
use crate::schema::{self, Keys};
use crate::tree::{Node, Value};
use std::collections::{HashMap, HashSet};
use units::Complaint;

/// Returns the places that a path means in a file with the `known` keys. For `link`, `flow`, `traffic` and `station`
/// these are in all tables, or in one by index or name. A `*` means the tables whose names begin with the text before
/// it.
pub(crate) fn targets(known: Keys, root: &Node, segments: &[String]) -> Result<Vec<Vec<Step>>, Complaint> {
    let key = |segment: &String| Step::Key(segment.clone());
    let (section, rest) = match segments {
        [section, rest @ ..] if !rest.is_empty() && keys(known, section).is_some() => (section, rest),
        _ => return Ok(vec![segments.iter().map(key).collect()]),
    };
    let tables = tables(root, section);
    if tables.is_empty() {
        let header = if section == "link" { "[link]" } else { &format!("[[{section}]]") };
        return Err(nowhere(format!("the scenario has no {header}"), format!("a file with a {header}")));
    }
    let (chosen, rest) = match rest {
        [name, rest @ ..] if !rest.is_empty() => match pick(known, section, name, &tables)? {
            Some(picked) => (picked, rest),
            None => ((0..tables.len()).collect(), segments.get(1..).unwrap_or_default()),
        },
        _ => ((0..tables.len()).collect(), rest),
    };
    let chosen: Vec<usize> = chosen;
    let steps = |index| [key(section), Step::Index(index)].into_iter().chain(rest.iter().map(key)).collect();
    Ok(chosen.into_iter().map(steps).collect())
}

/// Returns true if the second segment of a path picks links, flows, traffic or stations by name or index.
pub(crate) fn picks(known: Keys, root: &Node, segments: &[String]) -> bool {
    match segments {
        [section, name, _, ..] if keys(known, section).is_some() => {
            matches!(pick(known, section, name, &tables(root, section)), Ok(Some(_)))
        }
        _ => false,
    }
}

/// Returns the tables that `name` picks by index, by name or by the beginning of their names. `None` if `name` is a key
/// and so means every table.
fn pick(known: Keys, section: &str, name: &str, tables: &[&Node]) -> Result<Option<Vec<usize>>, Complaint> {
    let names = names(section, tables);
    if let Some(index) = names.iter().position(|known| known == name) {
        return Ok(Some(vec![index]));
    }
    if let Some(beginning) = name.strip_suffix('*') {
        let begins = |index: &usize| names[*index].starts_with(beginning);
        let picked: Vec<usize> = (0..names.len()).filter(begins).collect();
        if !picked.is_empty() {
            return Ok(Some(picked));
        }
    }
    if let Ok(index) = name.parse::<usize>() {
        let most = tables.len() - 1;
        let found = format!("no {section} {index}: there are {}, counted from 0", tables.len());
        return if index <= most {
            Ok(Some(vec![index]))
        } else {
            Err(nowhere(found, format!("0 to {most}")))
        };
    }
    if section == "link" || keys(known, section).is_some_and(|keys| schema::find(keys, name).is_some()) {
        return Ok(None);
    }
    let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    Err(Complaint {
        place: String::new(),
        found: format!("no {section} is named \"{name}\""),
        accepted: format!("{}{more}, or an index from 0", shown.join(", ")),
        help: near::did_you_mean(name, names.iter().map(String::as_str)),
    })
}

/// Returns the keys of a section whose tables may repeat, among the `known` ones of the file.
fn keys(known: Keys, section: &str) -> Option<Keys> {
    let repeats = ["link", "flow", "traffic", "station"].contains(&section);
    schema::find(known, section).filter(|_| repeats).map(|key| key.within)
}

/// Returns the items of `[[section]]`, or the one `[section]`.
fn tables<'a>(root: &'a Node, section: &str) -> Vec<&'a Node> {
    let Value::Table(table) = &root.value else {
        return Vec::new();
    };
    match table.get(section) {
        Some(Node { value: Value::List(items), .. }) => items.iter().collect(),
        Some(node @ Node { value: Value::Table(_), .. }) => vec![node],
        _ => Vec::new(),
    }
}

/// Returns the names of the tables of `[[link]]`, `[[flow]]`, `[[traffic]]` or `[[station]]`. A link without a name
/// is named by its place: `link-1`, `link-2`, …. A flow or station is named `flow` or `station`, and traffic by its
/// kind. If that name is taken, -2, -3, … follows it.
pub(crate) fn names(section: &str, tables: &[&Node]) -> Vec<String> {
    let text = |node: &Node, key: &str| match &node.value {
        Value::Table(table) => match &table.get(key)?.value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    let given: Vec<Option<String>> = tables.iter().map(|node| text(node, "name")).collect();
    let mut taken: HashSet<String> = given.iter().flatten().cloned().collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    let name = |(place, (node, given)): (usize, (&&Node, Option<String>))| {
        given.unwrap_or_else(|| {
            if section == "link" {
                return format!("link-{}", place + 1);
            }
            let base = match section {
                "traffic" => text(node, "kind").unwrap_or_else(|| section.to_owned()),
                _ => section.to_owned(),
            };
            let number = next.entry(base.clone()).or_insert(1);
            loop {
                let name = if *number == 1 { base.clone() } else { format!("{base}-{number}") };
                *number += 1;
                if taken.insert(name.clone()) {
                    return name;
                }
            }
        })
    };
    tables.iter().zip(given).enumerate().map(name).collect()
}
