//! What is known of a key: [`Key`], and groups of keys. `tables/` has the keys themselves.
//!
//! Texts are Markdown; links in them are relative to `docs/reference/`.

use crate::values::Host;

/// A key of the file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name within its table.
    pub name: &'static str,
    /// What it may hold, in words.
    pub kind: &'static str,
    /// What holds where it is not written.
    pub default: DefaultValue,
    /// The engines that follow it, such as "model sim live". The others do without it.
    pub engines: &'static str,
    /// The engines that refuse a scenario where it would make their answer wrong, such as "model live".
    pub refused_by: &'static str,
    /// The queue policies or the kinds of traffic that have it, such as "codel pie"; empty: all.
    pub kinds: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Why its default is what it is; empty without a default.
    pub why: &'static str,
    /// Where the default is from.
    pub from: &'static str,
    /// For a table, the keys within.
    pub(crate) within: Keys,
}

/// The keys of a table, in groups that tables may share. A name that is there twice means the first.
pub(crate) type Keys = &'static [&'static [Key]];

/// What holds where a key is not written.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// The key must be there; what is accepted, for the fault.
    Required(&'static str),
    /// The value as one would write it. The reader reads this text.
    Written(&'static str),
    /// A value for each [`Host`], as one would write it.
    Hosts {
        /// On `host = "rfc"`.
        rfc: &'static str,
        /// On `host = "linux"`.
        linux: &'static str,
        /// The only `control` with which Linux differs; `None`: any.
        with: Option<&'static str>,
        /// Where Linux's value is from.
        source: &'static str,
    },
    /// No single value: words.
    Words(&'static str),
}

impl DefaultValue {
    /// The value on `host` for a flow with `control`, as one would write it.
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

/// The source of a default that no document has.
pub(crate) const OWN: &str = "this project";

/// A default for each host, whatever the control.
pub(crate) const fn by_host(rfc: &'static str, linux: &'static str, source: &'static str) -> DefaultValue {
    DefaultValue::Hosts { rfc, linux, with: None, source }
}

/// The kind of the keys that limit a queue.
pub(crate) const ROOM: &str = "room above zero";
/// What a rate is asked for with.
pub(crate) const RATE: &str = "a rate such as \"100Mbit/s\"";
/// Every way to write an amount of data that is drawn anew each time.
pub(crate) const VOLUME: &str = "an amount of data such as \"200 packets\" or \"100kB\", \
                                 { uniform = [\"1 packets\", \"200 packets\"] }, \
                                 { pareto = { shape = 1.2, mean = \"100kB\" } } or { exponential = \"100kB\" }";

/// The key called `name`.
pub(crate) fn find(keys: Keys, name: &str) -> Option<&'static Key> {
    all(keys).find(|key| key.name == name)
}

/// The keys of all groups; some names may be there twice.
pub(crate) fn all(keys: Keys) -> impl Iterator<Item = &'static Key> + Clone {
    keys.iter().flat_map(|group| group.iter())
}

/// The keys of all groups, of each name the first.
pub(crate) fn each(keys: Keys) -> impl Iterator<Item = &'static Key> + Clone {
    let first = move |place: usize, name: &str| all(keys).position(|key| key.name == name) == Some(place);
    all(keys).enumerate().filter(move |(place, key)| first(*place, key.name)).map(|(_, key)| key)
}

/// The names of `keys`, each once.
pub(crate) fn names(keys: Keys) -> impl Iterator<Item = &'static str> + Clone {
    each(keys).map(|key| key.name)
}

/// The names of `keys` for a fault: `rate, delay, queue, loss`.
pub(crate) fn listed(keys: Keys) -> String {
    names(keys).collect::<Vec<_>>().join(", ")
}

/// Follows `path` down to a key; on failure the first segment that is none, and the keys it could be.
/// Below a key that is no table nothing exists.
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

/// The key called `name` in another table of the file whose keys are `root`, as a path such as `link.rate`: for a key
/// that stands where it is unknown.
pub(crate) fn elsewhere(root: Keys, name: &str) -> Option<String> {
    ["link", "link.queue", "flow", "traffic", "record", ""].into_iter().find_map(|table| {
        let keys = follow(root, table.split_terminator('.')).ok()?.map_or(root, |key| key.within);
        find(keys, name)?;
        Some(if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") })
    })
}

/// True for what is left out of a hash.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
