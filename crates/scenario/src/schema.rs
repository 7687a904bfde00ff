//! The description of a key: [`Key`], and groups of keys. `tables/` has the keys themselves.
//!
//! Texts are Markdown; links in them are relative to `docs/reference/`.

use crate::values::Host;

/// A key of the file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name within its table.
    pub name: &'static str,
    /// The values that it may hold, in words.
    pub kind: &'static str,
    /// The value if the key is not written.
    pub default: DefaultValue,
    /// The engines that follow it, such as "model sim live". The others ignore it.
    pub engines: &'static str,
    /// The engines that refuse a scenario in which it would make their answer wrong, such as "model live".
    pub refused_by: &'static str,
    /// The queue policies or the kinds of traffic that have it, such as "codel pie"; empty: all.
    pub kinds: &'static str,
    /// The meaning of the key.
    pub meaning: &'static str,
    /// The reason for the default; empty without a default.
    pub why: &'static str,
    /// The source of the default.
    pub from: &'static str,
    /// For a table, the keys within.
    pub(crate) within: Keys,
}

/// The keys of a table, in groups that tables may share. A name that occurs twice means the first key.
pub(crate) type Keys = &'static [&'static [Key]];

/// The value of a key that is not written.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// None, because the key is required. The text has the accepted values, for the fault.
    Required(&'static str),
    /// The value as a person would write it. The reader reads this text.
    Written(&'static str),
    /// A value for each [`Host`], as a person would write it.
    Hosts {
        /// The value on `host = "rfc"`.
        rfc: &'static str,
        /// The value on `host = "linux"`.
        linux: &'static str,
        /// The only `control` with which Linux differs; `None`: every one.
        with: Option<&'static str>,
        /// The source of Linux's value.
        source: &'static str,
    },
    /// Words in place of a single value.
    Words(&'static str),
}

impl DefaultValue {
    /// Returns the value on `host` for a flow with `control`, as a person would write it.
    pub(crate) fn on(self, host: Host, control: &str) -> Option<&'static str> {
        match self {
            Self::Written(text) => Some(text),
            Self::Hosts { linux, with, .. }
                if host == Host::Linux && with.is_none_or(|only| only == control) =>
            {
                Some(linux)
            }
            Self::Hosts { rfc, .. } => Some(rfc),
            Self::Required(_) | Self::Words(_) => None,
        }
    }
}

/// A key that every engine follows and that may be absent.
pub(crate) const KEY: Key = Key {
    name: "",
    kind: "",
    default: DefaultValue::Words("none"),
    engines: "model sim live",
    refused_by: "",
    kinds: "",
    meaning: "",
    why: "",
    from: "",
    within: &[],
};

/// The source of a default that does not come from a document.
pub(crate) const OWN: &str = "this project";

/// Returns a default for each host that does not depend on the control.
pub(crate) const fn by_host(rfc: &'static str, linux: &'static str, source: &'static str) -> DefaultValue {
    DefaultValue::Hosts { rfc, linux, with: None, source }
}

/// The kind of the keys that limit a queue.
pub(crate) const ROOM: &str = "room above zero";
/// The words for an accepted rate.
pub(crate) const RATE: &str = "a rate such as \"100Mbit/s\"";
/// The words for an accepted amount of data, which may be drawn anew each time.
pub(crate) const VOLUME: &str = "an amount of data such as \"200 packets\" or \"100kB\", \
                                 { uniform = [\"1 packets\", \"200 packets\"] }, \
                                 { pareto = { shape = 1.2, mean = \"100kB\" } } or { exponential = \"100kB\" }";

/// Returns the key called `name`.
pub(crate) fn find(keys: Keys, name: &str) -> Option<&'static Key> {
    all(keys).find(|key| key.name == name)
}

/// Returns the keys of all groups; a name may occur twice.
pub(crate) fn all(keys: Keys) -> impl Iterator<Item = &'static Key> + Clone {
    keys.iter().flat_map(|group| group.iter())
}

/// Returns the first key of each name, over all groups.
pub(crate) fn each(keys: Keys) -> impl Iterator<Item = &'static Key> + Clone {
    let first = move |place: usize, name: &str| all(keys).position(|key| key.name == name) == Some(place);
    all(keys).enumerate().filter(move |(place, key)| first(*place, key.name)).map(|(_, key)| key)
}

/// Returns the names of `keys`, each once.
pub(crate) fn names(keys: Keys) -> impl Iterator<Item = &'static str> + Clone {
    each(keys).map(|key| key.name)
}

/// Lists the names of `keys` for a fault: `rate, delay, queue, loss`.
pub(crate) fn listed(keys: Keys) -> String {
    names(keys).collect::<Vec<_>>().join(", ")
}

/// Follows `path` down to a key. The error has the first unknown segment, and the keys that exist at its place: none
/// below a key that is not a table.
pub(crate) fn follow(
    mut keys: Keys,
    path: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<Option<&'static Key>, (String, Keys)> {
    let mut key = None;
    for segment in path {
        let found = find(keys, segment.as_ref()).ok_or_else(|| (segment.as_ref().to_owned(), keys))?;
        (key, keys) = (Some(found), found.within);
    }
    Ok(key)
}

/// Returns the path, such as `link.rate`, of a key called `name` in any table of the file whose keys are `root`, as
/// help for a key in the wrong table.
pub(crate) fn elsewhere(root: Keys, name: &str) -> Option<String> {
    ["link", "link.queue", "flow", "traffic", "record", ""].into_iter().find_map(|table| {
        let keys = follow(root, table.split_terminator('.')).ok()?.map_or(root, |key| key.within);
        find(keys, name)?;
        Some(if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") })
    })
}

/// Returns true for a value that a hash leaves out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
