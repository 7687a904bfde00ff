//! The rooms and the arrows between them, as `ARCHITECTURE.md` draws them, held against the `Cargo.toml` files.
//!
//! The table here is the contract. A new room, or a new arrow, is added here and in `ARCHITECTURE.md` in the same
//! change; if it is not in the design either, it needs a reason.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::{files, repository};
use toml::{Table, Value};

/// One room: a folder under `crates/`.
struct Room {
    layer: u32,
    name: &'static str,
    /// Rooms it may use. They must stand above it in the table, so there can be no circle.
    may_use: &'static [&'static str],
    /// Rooms it may use although the design did not say so, and why.
    beyond: &'static [(&'static str, &'static str)],
}

const fn room(layer: u32, name: &'static str, may_use: &'static [&'static str]) -> Room {
    Room { layer, name, may_use, beyond: &[] }
}

/// Every room there may be, lower layers first. Some do not exist yet.
const ROOMS: &[Room] = &[
    room(0, "units", &[]),
    room(1, "model", &["units"]),
    room(1, "link", &["units"]),
    room(1, "air", &["units"]),
    room(1, "transport", &["units"]),
    room(1, "scenario", &["units", "transport"]),
    room(2, "estimate", &["units", "model"]),
    room(2, "capture", &["units", "link", "estimate"]),
    Room {
        layer: 2,
        name: "cc",
        may_use: &["units", "model"],
        beyond: &[("estimate", "Madison's measures of the bottleneck are those of the path measurement")],
    },
    room(2, "sizing", &["units", "model", "estimate"]),
    Room {
        layer: 3,
        name: "sim",
        may_use: &["units", "transport", "link", "air", "cc", "sizing"],
        beyond: &[(
            "estimate",
            "simulated probes and trains become what real ones do by the same estimators",
        )],
    },
    room(3, "host", &["units"]),
    room(3, "emu", &["units", "link", "host"]),
    room(3, "probe", &["units", "estimate", "host"]),
    room(3, "live", &["units", "cc", "estimate", "sizing", "host", "probe"]),
    room(3, "quic", &["units", "cc", "estimate", "sizing", "host", "probe", "live"]),
    room(3, "transfer", &["units", "estimate", "sizing", "host", "probe", "live"]),
    room(3, "bpf", &["units"]),
    room(
        4,
        "lab",
        &[
            "units",
            "transport",
            "model",
            "link",
            "capture",
            "air",
            "scenario",
            "cc",
            "estimate",
            "sizing",
            "sim",
            "host",
            "emu",
            "probe",
            "live",
            "quic",
            "bpf",
        ],
    ),
    room(4, "report", &["units", "estimate", "lab"]),
    Room {
        layer: 5,
        name: "cli",
        may_use: &["lab", "report"],
        beyond: &[
            ("units", "the command line reads quantities: --rate 20Mbit/s"),
            ("cc", "programs that call the library add controllers to its registry"),
            ("sizing", "programs that call the library add sizers to its registry"),
            ("scenario", "it opens scenario files, applies --set, and prints faults"),
            ("capture", "`diagnose` reads the connections of a capture, without a scenario"),
            ("estimate", "`diagnose` shows evidence and verdicts of connections, without a scenario"),
            ("host", "`tune` reads the clock, and commands wait for signals and answers"),
            ("emu", "`emulate` needs no scenario, so it does not pass through the lab"),
            ("link", "the configuration `emulate` hands to emu is made of link's types"),
            ("live", "`tune` and `diagnose` work on the sockets of programs, without a scenario"),
            ("transfer", "`send` and `receive` are no experiment, so they do not pass through the lab"),
        ],
    },
    room(5, "py", &["lab", "report", "cli"]),
    room(5, "serve", &["lab", "report"]),
];

fn toml_file(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders under `crates/` that hold a `Cargo.toml`.
fn existing() -> BTreeSet<String> {
    let folders = fs::read_dir(repository().join("crates")).expect("the workspace has crates/");
    folders
        .map(|entry| entry.expect("crates/ can be listed").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().expect("a folder's name").to_string_lossy().into_owned())
        .collect()
}

/// The room a dependency leads to, if it leads to one: by its own path, or by the workspace's.
fn leads_to(name: &str, dependency: &Value, workspace: &Table) -> Option<String> {
    let path_of = |value: &Value| Some(value.get("path")?.as_str()?.to_owned());
    let path = if dependency.get("workspace").is_some() {
        path_of(workspace.get(name)?)?
    } else {
        path_of(dependency)?
    };
    Some(Path::new(&path).file_name()?.to_string_lossy().into_owned())
}

/// The rooms that each room uses, outside of its tests.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let workspace = toml_file(&repository().join("Cargo.toml"));
    let shared = workspace["workspace"]["dependencies"].as_table().expect("[workspace.dependencies]").clone();
    let of_room = |room: String| {
        let manifest = toml_file(&repository().join("crates").join(&room).join("Cargo.toml"));
        let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
        let used = std::iter::once(&manifest)
            .chain(targets.filter_map(|(_, target)| target.as_table()))
            .flat_map(|table| ["dependencies", "build-dependencies"].map(|key| table.get(key)))
            .flatten()
            .filter_map(Value::as_table)
            .flatten()
            .filter_map(|(name, dependency)| leads_to(name, dependency, &shared))
            .collect();
        (room, used)
    };
    existing().into_iter().map(of_room).collect()
}

#[test]
fn every_room_is_known() {
    let known: BTreeSet<String> = ROOMS.iter().map(|room| room.name.to_owned()).collect();
    let strangers: Vec<_> = existing().difference(&known).cloned().collect();
    assert!(
        strangers.is_empty(),
        "rooms that the table does not know: {strangers:?}; add them with their layer"
    );
}

#[test]
fn every_arrow_is_in_the_table() {
    let mut wrong = Vec::new();
    for (name, used) in arrows() {
        let Some(room) = ROOMS.iter().find(|room| room.name == name) else { continue };
        for other in used {
            let allowed = room.may_use.contains(&other.as_str())
                || room.beyond.iter().any(|(beyond, why)| *beyond == other && !why.is_empty());
            if !allowed {
                wrong.push(format!("{name} -> {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that the table does not have: {wrong:?}");
}

#[test]
fn arrows_point_down_the_table() {
    for (index, room) in ROOMS.iter().enumerate() {
        for used in room.may_use.iter().chain(room.beyond.iter().map(|(used, _)| used)) {
            let at = ROOMS.iter().position(|other| other.name == *used);
            let at = at.unwrap_or_else(|| panic!("{} may use {used}, which is no room", room.name));
            assert!(at < index, "{} may use {used}, which stands below it", room.name);
            assert!(ROOMS[at].layer <= room.layer, "{} may use {used} of a higher layer", room.name);
        }
    }
}

/// Rows of the rooms' table look like `` | 3 | `sim` | what lives there | units, link, cc | ``.
#[test]
fn architecture_md_shows_the_rooms_as_they_are() {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows: BTreeMap<String, (String, BTreeSet<String>)> = text
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let [layer, name, _, uses, ..] = cells[..] else { return None };
            layer.parse::<u32>().ok()?;
            let uses = uses.split(',').map(str::trim).filter(|used| *used != "–" && !used.is_empty());
            let uses = uses.map(str::to_owned).collect();
            Some((name.trim_matches('`').to_owned(), (layer.to_owned(), uses)))
        })
        .collect();
    for (name, used) in arrows() {
        let Some((layer, shown)) = rows.get(&name) else { panic!("ARCHITECTURE.md has no row for {name}") };
        let room = ROOMS.iter().find(|room| room.name == name).expect("a known room");
        assert_eq!(*layer, room.layer.to_string(), "the layer of {name}");
        assert_eq!(*shown, used, "what {name} uses: ARCHITECTURE.md, then Cargo.toml");
    }
    for name in rows.keys() {
        assert!(existing().contains(name), "ARCHITECTURE.md has a row for {name}, which does not exist");
    }
}

/// Returns the source files of all rooms, by their paths below `crates/`, and their text.
fn sources() -> BTreeMap<PathBuf, String> {
    let crates = repository().join("crates");
    let files = existing().into_iter().flat_map(|room| files(&crates.join(room).join("src"), "rs"));
    let below = |path: &Path| path.strip_prefix(&crates).expect("below crates/").to_owned();
    files.map(|path| (below(&path), fs::read_to_string(&path).expect("a source file is text"))).collect()
}

/// A part of `lab`: `run/engine`, `study/claims`, `files`, `report`. Those of the files below it are its own.
fn part_of_lab(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').collect();
    match names[..] {
        [folder @ ("run" | "study"), part, ..] => Some(format!("{folder}/{part}")),
        ["run" | "study" | "lib"] => None,
        [part, ..] => Some(part.to_owned()),
        [] => None,
    }
}

/// Which parts of `lab` use which others, by `crate::` in their source files.
fn arrows_inside_lab() -> BTreeMap<String, BTreeSet<String>> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let Ok(path) = path.strip_prefix("lab/src") else { continue };
        let Some(part) = part_of_lab(&path.with_extension("").to_string_lossy()) else { continue };
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let named = code.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
            rest[..end].replace("::", "/")
        });
        let used = named.map(|named| {
            part_of_lab(&named)
                .unwrap_or_else(|| panic!("{}: name the part of crate::{named}", path.display()))
        });
        arrows.entry(part.clone()).or_default().extend(used.filter(|used| *used != part));
    }
    arrows
}

#[test]
fn a_run_knows_no_study_and_a_study_no_page() {
    let mut wrong = Vec::new();
    for (part, used) in arrows_inside_lab() {
        let may_use = |used: &str| match part.split('/').next() {
            Some("run") => used.starts_with("run/"),
            Some("study") => used.starts_with("run/") || used.starts_with("study/") || used == "files",
            _ => true,
        };
        wrong.extend(used.iter().filter(|used| !may_use(used)).map(|used| format!("{part} -> {used}")));
    }
    assert!(wrong.is_empty(), "arrows inside lab: {wrong:?}");
}

#[test]
fn no_part_of_run_or_study_uses_one_that_uses_it() {
    let mut left = arrows_inside_lab();
    left.retain(|part, _| part.contains('/'));
    assert!(left.contains_key("run/engine") && left.contains_key("study/claims"), "{left:?}");
    let left = in_circles(left);
    assert!(left.is_empty(), "parts of lab in a circle, or that use one: {left:?}");
}

/// Returns what is in a circle, or uses one: what uses nothing that is left is taken away.
fn in_circles(mut left: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    while let Some(free) = left.keys().find(|part| left[*part].iter().all(|used| !left.contains_key(used))) {
        let free = free.clone();
        left.remove(&free);
    }
    left
}

#[test]
fn no_file_of_size_uses_one_that_uses_it() {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let Ok(inner) = path.strip_prefix("lab/src/study/size") else { continue };
        let first = inner.components().next().expect("a name").as_os_str().to_string_lossy();
        let part = first.trim_end_matches(".rs").to_owned();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let named = code.flat_map(|line| {
            let by = ["super::", "study::size::"].into_iter().flat_map(|prefix| line.split(prefix).skip(1));
            by.map(|rest| rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default())
        });
        arrows
            .entry(part.clone())
            .or_default()
            .extend(named.filter(|named| *named != part).map(str::to_owned).collect::<Vec<_>>());
    }
    assert!(arrows["cell"].contains("trials") && arrows.len() > 10, "{arrows:?}");
    let left = in_circles(arrows);
    assert!(left.is_empty(), "files of size in a circle, or that use one: {left:?}");
}

/// The paths in a line of code that begin with `crate::` or `super::`, as parts: `crate::{a, b::C}` has two.
fn paths_in(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            // `super::super::a` is found at its beginning.
            if code[..at].ends_with("::") {
                continue;
            }
            let rest = &code[at..];
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let parts =
                |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            let first: Vec<String> = parts(&rest[..end]);
            match rest[end..].strip_prefix('{').and_then(|list| list.split_once('}')) {
                Some((list, _)) => paths.extend(list.split(',').map(|item| {
                    let item: Vec<String> = parts(item.trim());
                    [first.clone(), item].concat()
                })),
                None => paths.push(first),
            }
        }
    }
    paths
}

/// Which source files of a room use which others of it. A file that only names those below its own folder is their
/// facade, and not in a circle with them.
fn arrows_between_files(room: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (path, text) in sources() {
        let Ok(path) = path.strip_prefix(format!("{room}/src")) else { continue };
        let name = path.with_extension("").to_string_lossy().into_owned();
        let code = text.split("#[cfg(test)]").next().expect("a first part");
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        texts.insert(name, code.collect::<Vec<_>>().join(" "));
    }
    let file_of = |parts: &[String]| {
        (1..=parts.len()).rev().map(|end| parts[..end].join("/")).find(|name| texts.contains_key(name))
    };
    let uses = |(name, code): (&String, &String)| {
        let own: Vec<String> = name.split('/').map(str::to_owned).collect();
        let used = paths_in(code).into_iter().filter_map(|path| {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let base = if ups > 0 { &own[..own.len().saturating_sub(ups)] } else { &[] };
            file_of(&[base, &path[ups.max(1)..]].concat())
        });
        let used = used.filter(|used| used != name && !used.starts_with(&format!("{name}/")));
        (name.clone(), used.collect())
    };
    texts.iter().filter(|(name, _)| *name != "lib").map(uses).collect()
}

#[test]
fn no_file_of_scenario_uses_one_that_uses_it() {
    let mut left = arrows_between_files("scenario");
    assert!(
        left["tables/flow"].contains("tables/ends") && left["read/flow"].contains("tables/flow"),
        "{left:?}"
    );
    while let Some(free) = left.keys().find(|file| left[*file].iter().all(|used| !left.contains_key(used))) {
        let free = free.clone();
        left.remove(&free);
    }
    // Only the files of the circle remain, without those that use them.
    let used: BTreeSet<String> = left.values().flatten().cloned().collect();
    left.retain(|file, _| used.contains(file));
    assert!(left.is_empty(), "files of scenario in a circle, or between circles: {left:#?}");
}

#[test]
fn no_file_of_resolve_or_of_claims_uses_one_that_uses_it() {
    for folder in ["run/resolve/", "study/claims/"] {
        let mut files = arrows_between_files("lab");
        files.retain(|name, _| name.starts_with(folder));
        assert!(files.len() > 6 && files.values().any(|used| used.len() > 2), "{files:?}");
        let left = in_circles(files);
        assert!(left.is_empty(), "files of lab/src/{folder} in a circle, or that use one: {left:#?}");
    }
}
