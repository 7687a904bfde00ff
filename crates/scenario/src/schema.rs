//! The keys that exist, table by table. What each may hold is said by its reader in `read/`.

/// A key of the file and, for a table, the keys within.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) within: &'static [Key],
}

const fn leaf(name: &'static str) -> Key {
    Key { name, within: &[] }
}
const fn table(name: &'static str, within: &'static [Key]) -> Key {
    Key { name, within }
}

/// The file.
pub(crate) const ROOT: &[Key] = &[
    leaf("title"),
    leaf("source"),
    leaf("seed"),
    leaf("duration"),
    leaf("warmup"),
    table("link", LINK),
    table("flow", FLOW),
    table("traffic", TRAFFIC),
    table("live", LIVE),
    table("record", RECORD),
    leaf("sweep"),
    table("figure", FIGURE),
];
/// `[link]`.
pub(crate) const LINK: &[Key] = &[
    leaf("name"),
    leaf("rate"),
    leaf("delay"),
    table("queue", QUEUE),
    leaf("loss"),
    leaf("assist"),
    table("reverse", REVERSE),
];
/// `reverse = { … }` of a link.
pub(crate) const REVERSE: &[Key] = &[leaf("rate"), table("queue", QUEUE), leaf("loss")];
/// `[link.queue]`.
pub(crate) const QUEUE: &[Key] = &[
    leaf("kind"),
    leaf("limit"),
    leaf("target"),
    leaf("interval"),
    leaf("burst"),
    leaf("derandomize"),
    leaf("min_threshold"),
    leaf("max_threshold"),
    leaf("max_probability"),
    leaf("weight"),
    leaf("gentle"),
    leaf("wait"),
    leaf("by_bytes"),
    leaf("quantum"),
    leaf("flows"),
    leaf("ecn"),
    leaf("mark_above"),
];
/// `[[flow]]`.
pub(crate) const FLOW: &[Key] = &[
    leaf("name"),
    leaf("count"),
    leaf("control"),
    leaf("size"),
    table("rtt", SPREAD),
    leaf("segment"),
    leaf("delayed_ack"),
    leaf("delayed_ack_timeout"),
    table("socket_buffer", SIZER),
    table("start", SPREAD),
    leaf("stop"),
    leaf("send_jitter"),
    leaf("initial_window"),
    leaf("initial_ssthresh"),
    leaf("slow_start"),
    leaf("max_ssthresh"),
    leaf("fast_alpha"),
    leaf("byte_counting"),
    leaf("min_rto"),
    leaf("initial_rto"),
    leaf("timestamps"),
    leaf("sack"),
    leaf("recovery"),
    leaf("loss_detection"),
    leaf("ecn"),
    leaf("pacing"),
    leaf("host"),
    leaf("bbr_variant"),
    leaf("tso"),
    leaf("gro"),
    leaf("quick_ack"),
    leaf("sack_compression"),
    leaf("pause"),
    leaf("pause_interval"),
    leaf("wake_up"),
    leaf("access_rate"),
    leaf("path"),
    leaf("direction"),
];
/// `socket_buffer = { … }`.
pub(crate) const SIZER: &[Key] = &[leaf("sizer"), leaf("max")];
/// A distribution.
pub(crate) const SPREAD: &[Key] = &[leaf("uniform"), table("pareto", PARETO), leaf("exponential")];
/// `pareto = { … }`.
pub(crate) const PARETO: &[Key] = &[leaf("shape"), leaf("mean"), leaf("draw")];
/// `[[traffic]]` of kind "cbr" or "poisson".
pub(crate) const STEADY: &[Key] = &[
    leaf("name"),
    leaf("kind"),
    leaf("rate"),
    leaf("packet"),
    leaf("start"),
    leaf("stop"),
    leaf("path"),
    leaf("direction"),
];
/// `[[traffic]]` of kind "on-off".
pub(crate) const ON_OFF: &[Key] =
    &joined::<{ STEADY.len() + 3 }>(STEADY, &[leaf("peak"), leaf("burst"), leaf("shape")]);
/// `[[traffic]]` of kind "replay".
pub(crate) const REPLAY: &[Key] = &[
    leaf("name"),
    leaf("kind"),
    leaf("file"),
    leaf("repeat"),
    leaf("start"),
    leaf("stop"),
    leaf("path"),
    leaf("direction"),
];
/// What a population of users has beside the keys of a flow, and the keys of a flow that it does not have.
const USERS: &[Key] = &[
    leaf("name"),
    leaf("kind"),
    leaf("users"),
    table("session", SPREAD),
    table("think", SPREAD),
    leaf("handshake"),
];
const NOT_USERS: &[Key] = &[leaf("count"), leaf("size"), leaf("stop")];
/// `[[traffic]]` of kind "engset".
pub(crate) const ENGSET: &[Key] = &joined::<{ joined_len(USERS, TRANSPORT) }>(USERS, TRANSPORT);
/// `[[flow]]` without what only it has.
const TRANSPORT: &[Key] = &without::<{ FLOW.len() - NOT_USERS.len() }>(FLOW, NOT_USERS);
/// `[[traffic]]` of any kind.
pub(crate) const TRAFFIC: &[Key] = &{
    const PACKETS: &[Key] = &joined::<{ joined_len(ON_OFF, REPLAY) }>(ON_OFF, REPLAY);
    joined::<{ joined_len(PACKETS, ENGSET) }>(PACKETS, ENGSET)
};
/// `[live]`.
pub(crate) const LIVE: &[Key] = &[leaf("stack")];
/// `[record]`.
pub(crate) const RECORD: &[Key] = &[leaf("every"), leaf("columns"), leaf("flows"), leaf("fairness")];

/// `[figure]`.
pub(crate) const FIGURE: &[Key] = &[
    leaf("x"),
    leaf("rows"),
    leaf("y"),
    table("smallest", SMALLEST),
    leaf("published"),
    leaf("engines"),
    leaf("repeat"),
];
/// `smallest = { … }`.
pub(crate) const SMALLEST: &[Key] = &[leaf("over"), leaf("metric"), leaf("at_most")];
const fn has(keys: &[Key], name: &str) -> bool {
    let mut at = 0;
    while at < keys.len() {
        let (one, other) = (keys[at].name.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < one.len() && same < other.len() && one[same] == other[same] {
            same += 1;
        }
        if same == one.len() && same == other.len() {
            return true;
        }
        at += 1;
    }
    false
}

/// How many keys [`joined`] has.
const fn joined_len(first: &[Key], second: &[Key]) -> usize {
    let (mut len, mut at) = (first.len(), 0);
    while at < second.len() {
        len += !has(first, second[at].name) as usize;
        at += 1;
    }
    len
}

/// `first`, then what `second` has beyond it.
const fn joined<const N: usize>(first: &[Key], second: &[Key]) -> [Key; N] {
    let mut all = [leaf(""); N];
    let (mut len, mut at) = (0, 0);
    while at < first.len() + second.len() {
        let key = if at < first.len() { first[at] } else { second[at - first.len()] };
        if at < first.len() || !has(first, key.name) {
            all[len] = key;
            len += 1;
        }
        at += 1;
    }
    all
}

/// `keys` without those that `out` names.
const fn without<const N: usize>(keys: &[Key], out: &[Key]) -> [Key; N] {
    let mut left = [leaf(""); N];
    let (mut len, mut at) = (0, 0);
    while at < keys.len() {
        if !has(out, keys[at].name) {
            left[len] = keys[at];
            len += 1;
        }
        at += 1;
    }
    left
}

/// The names of `keys`.
pub(crate) fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> + Clone {
    keys.iter().map(|key| key.name)
}

/// The names of `keys` for a fault: `rate, delay, queue, loss`.
pub(crate) fn listed(keys: &'static [Key]) -> String {
    names(keys).collect::<Vec<_>>().join(", ")
}

/// Follows `path` down from `keys`; on failure the first segment that is no key, and the keys it could be.
/// Below a key that is no table nothing exists.
pub(crate) fn follow(
    mut keys: &'static [Key],
    path: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<(), (String, &'static [Key])> {
    for segment in path {
        match keys.iter().find(|key| key.name == segment.as_ref()) {
            Some(key) => keys = key.within,
            None => return Err((segment.as_ref().to_owned(), keys)),
        }
    }
    Ok(())
}
