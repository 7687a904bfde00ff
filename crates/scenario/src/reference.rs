//! The reference of scenario keys: `tightlink keys` and `docs/reference/scenario.md`, both from the schema.
//!
//! [`rows`] lists every key in the order of the page, [`look_up`] finds keys by a word, and [`page`] writes the page.
//! [`defaults`] lists the default of each key, with its reason and source.

mod defaults;
mod page;

pub use defaults::{Default, defaults, reasons_without_default};
pub use page::page;

use crate::near;
use crate::schema::{self, Key, Keys};
use crate::tables;

/// A key with its path from the top of the file, such as `link.queue.limit`.
#[derive(Clone, Debug)]
pub struct Row {
    /// The path, without the name or index that picks one of several tables.
    pub path: String,
    /// The schema's entry of the key.
    pub key: &'static Key,
}

/// The result of a search for a word.
#[derive(Clone, Debug)]
pub enum KeyMatch {
    /// The word means this key.
    Key(Row),
    /// The word is a part of these paths.
    Parts(Vec<Row>),
    /// The word is not a key; the hint names a similar one, if there is one.
    Nothing(Option<String>),
}

impl Row {
    fn new(table: &str, key: &'static Key) -> Self {
        let path = if table.is_empty() { key.name.to_owned() } else { format!("{table}.{}", key.name) };
        Self { path, key }
    }
}

impl Key {
    /// Returns the names of the keys within a table.
    pub fn holds(&self) -> impl Iterator<Item = &'static str> {
        schema::names(self.within)
    }
}

/// A table of the file, as the reference shows it.
struct Section {
    heading: &'static str,
    /// The path of the table; empty for the file.
    table: &'static str,
    /// Markdown before the keys.
    intro: &'static str,
    /// Titles, which may be empty, with the keys under them.
    groups: &'static [(&'static str, Keys)],
}

/// Tables in the order of the page. A table that may stand in several places is listed at the first of them.
const SECTIONS: &[Section] = &[
    Section { heading: "Top level", table: "", intro: "", groups: &[("", tables::ROOT)] },
    Section { heading: "`[link]`", table: "link", intro: "", groups: &[("", tables::LINK)] },
    Section {
        heading: "`queue` of a link",
        table: "link.queue",
        intro: "A policy that does not have a setting refuses it.",
        groups: &[("", tables::QUEUE)],
    },
    Section {
        heading: "`shaper` of a link",
        table: "link.shaper",
        intro: "",
        groups: &[("", tables::SHAPER)],
    },
    Section {
        heading: "`reverse` of a link",
        table: "link.reverse",
        intro: "",
        groups: &[("", tables::REVERSE)],
    },
    Section { heading: "`[wlan]`", table: "wlan", intro: "", groups: &[("", tables::WLAN)] },
    Section { heading: "`ac` of a cell", table: "wlan.ac", intro: "", groups: &[("", tables::CATEGORIES)] },
    Section {
        heading: "Access categories",
        table: "wlan.ac.be",
        intro: "The defaults are those of IEEE 802.11-2020, table 9-155.",
        groups: &[("", tables::ACCESS)],
    },
    Section {
        heading: "`access_point` of a cell",
        table: "wlan.access_point",
        intro: "",
        groups: &[("", tables::ACCESS_POINT)],
    },
    Section {
        heading: "`queue` of a cell",
        table: "wlan.queue",
        intro: "Besides `kind` and the settings of [a link's queue](#queue-of-a-link):",
        groups: &[("", &[tables::cell_queue::MOVING])],
    },
    Section {
        heading: "`sizing` of a cell's queue",
        table: "wlan.queue.sizing",
        intro: "Keys of another rule than `rule` have no effect.",
        groups: &[("", tables::SIZING)],
    },
    Section {
        heading: "`airtime_limits` of a cell's queue",
        table: "wlan.queue.airtime_limits",
        intro: "The defaults are Linux's.",
        groups: &[("", tables::AIRTIME)],
    },
    Section {
        heading: "`backhaul` of a cell",
        table: "wlan.backhaul",
        intro: "",
        groups: &[("", tables::BACKHAUL)],
    },
    Section { heading: "`[[station]]`", table: "station", intro: "", groups: &[("", tables::STATION)] },
    Section {
        heading: "`queue` of a station",
        table: "station.queue",
        intro: "",
        groups: &[("", tables::STATION_QUEUE)],
    },
    Section {
        heading: "`[[flow]]`",
        table: "flow",
        intro: "The defaults are those of `host = \"rfc\"`; [hosts](#hosts) has the others.",
        groups: &[
            ("Data and route", tables::flow::MOVES),
            ("Segments and the receiver", &[tables::flow::SEGMENTS]),
            ("The two ends", &[tables::ends::ENDS]),
            ("Windows", &[tables::flow::WINDOWS]),
            ("Losses and timeouts", &[tables::flow::LOSSES]),
            ("Hosts and class", &[tables::marking::MARKING]),
        ],
    },
    Section {
        heading: "Spreads",
        table: "flow.rtt",
        intro: "A table in the place of one value: `rtt` and `start` of a flow, `session` and `think` of users.",
        groups: &[("", tables::SPREAD)],
    },
    Section { heading: "Pareto", table: "flow.rtt.pareto", intro: "", groups: &[("", tables::PARETO)] },
    Section { heading: "Sizers", table: "flow.socket_buffer", intro: "", groups: &[("", tables::SIZER)] },
    Section {
        heading: "`[[traffic]]`",
        table: "traffic",
        intro: "With `kind = \"engset\"` all keys of [`[[flow]]`](#flow) but `count`, `size` and `stop` may stand there, too.",
        groups: &[("", tables::traffic::ALL_KINDS)],
    },
    Section { heading: "`[model]`", table: "model", intro: "", groups: &[("", tables::MODEL)] },
    Section { heading: "`[live]`", table: "live", intro: "", groups: &[("", tables::LIVE)] },
    Section { heading: "`[record]`", table: "record", intro: "", groups: &[("", tables::RECORD)] },
    Section { heading: "`[figure]`", table: "figure", intro: "", groups: &[("", tables::FIGURE)] },
    Section {
        heading: "`smallest` of a figure",
        table: "figure.smallest",
        intro: "",
        groups: &[("", tables::SMALLEST)],
    },
    Section {
        heading: "`reference` of a figure",
        table: "figure.reference",
        intro: "",
        groups: &[("", tables::REFERENCE)],
    },
];

/// Returns every key, table by table. The keys of a table that may stand in several places appear once.
#[must_use]
pub fn rows() -> Vec<Row> {
    let keys = |section: &'static Section| section.groups.iter().flat_map(|(_, keys)| schema::each(keys));
    SECTIONS.iter().flat_map(|section| keys(section).map(|key| Row::new(section.table, key))).collect()
}

/// Returns the key whose path is `word`, or the only one whose name it is; otherwise all keys with `word` in the path.
#[must_use]
pub fn look_up(word: &str) -> KeyMatch {
    if let Ok(Some(key)) = schema::follow(tables::ROOT, word.split('.')) {
        return KeyMatch::Key(Row { path: word.to_owned(), key });
    }
    let mut rows = rows();
    let named: Vec<&Row> = rows.iter().filter(|row| row.key.name == word).collect();
    if let [row] = named[..] {
        return KeyMatch::Key(row.clone());
    }
    let words = rows.iter().flat_map(|row| [row.key.name, row.path.as_str()]);
    let help = near::did_you_mean(word, words);
    rows.retain(|row| row.path.contains(word));
    if rows.is_empty() { KeyMatch::Nothing(help) } else { KeyMatch::Parts(rows) }
}

/// Returns Markdown as plain text: links keep their words only, and code loses its backquotes.
#[must_use]
pub fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let (words, target_end) = (before.rfind('['), after.find(')'));
        let (Some(words), Some(end)) = (words, target_end) else { break };
        text.push_str(&before[..words]);
        text.push_str(&before[words + 1..]);
        rest = &after[end + 1..];
    }
    text.push_str(rest);
    text.replace('`', "")
}
