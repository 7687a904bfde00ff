//! The only list of the words for keys on axes and in tables. Files and options keep the keys.

use super::ROOT;
use crate::path::split;
use crate::schema::follow;

/// The words of some keys. Every other key is shown by its name, with spaces in place of underscores.
const WORDS: [(&str, &str); 7] = [
    ("limit", "buffer"),
    ("rtt", "RTT"),
    ("count", "number"),
    ("aifsn", "AIFSN"),
    ("txop", "TXOP"),
    ("cw_min", "CWmin"),
    ("cw_max", "CWmax"),
];

/// Returns the words for the unit of a key's value, for axes and tables.
#[must_use]
pub fn unit_words(unit: &str) -> &str {
    if unit == "bdp" { "BDP" } else { unit }
}

/// Returns the words for a key path: "buffer" for `link.queue.limit`, "RTT of bbr" for `flow.bbr.rtt`.
#[must_use]
pub fn key_words(path: &str) -> String {
    let Ok(segments) = split(path) else { return path.to_owned() };
    let name = segments.last().map_or(path, String::as_str);
    let words = WORDS.iter().find(|(key, _)| *key == name);
    let words = words.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned());
    // A path that the schema does not follow has the name or index of a table as its second segment.
    match &segments[..] {
        [section, table, _, ..] if follow(ROOT, &segments).is_err() => {
            let number = table.starts_with(|c: char| c.is_ascii_digit());
            let table = if number { format!("{section} {table}") } else { table.clone() };
            format!("{words} of {table}")
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_words_and_named_tables_their_name() {
        let words = |path| key_words(path);
        assert_eq!(words("link.queue.limit"), "buffer");
        assert_eq!(words("link.loss"), "loss");
        assert_eq!(words("flow.socket_buffer"), "socket buffer");
        assert_eq!(words("flow.bbr.rtt"), "RTT of bbr");
        assert_eq!(words("flow.0.count"), "number of flow 0");
        assert_eq!(words("wlan.ac.bk.aifsn"), "AIFSN");
        assert_eq!(words("a..b"), "a..b");
        assert_eq!(unit_words("bdp"), "BDP");
        assert_eq!(unit_words("ms"), "ms");
    }
}
