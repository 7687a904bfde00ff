//! `queue` of a cell: as that of a link, but without limits that depend on a rate, and with rules that move the limit.

use super::queue::{NO_ROOM, POLICY, Queue, policy};
use crate::cursor::{TypedQuantity, ValueAt};
use crate::limit;
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, Keys};
use crate::table::{keys, table};
use crate::values::Limit;
use serde::Serialize;
use units::{Fraction, Span, TextError};

/// The access point's queue: that of a link with a limit in packets or bytes, and the rule that moves the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellQueue {
    /// Policy, limit and settings.
    #[serde(flatten)]
    pub queue: Queue,
    /// The rule that moves the limit; absent: it stays.
    pub sizing: Option<Sizing>,
    /// Airtime queue limits; absent: one frame below the queue.
    pub airtime_limits: Option<AirtimeLimits>,
}

/// `sizing = { … }`: the rule that moves the limit of a queue, up to the queue's own limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizing {
    /// eBDP, which follows the mean service time.
    Ebdp(Ebdp),
    /// ALT, which follows the share of time for which the queue is empty.
    Alt(Alt),
    /// A*: the lesser of both.
    Lesser(Ebdp, Alt),
}

/// `queue = { … }` of a cell: the keys of a link's queue, and the rule that moves its limit.
pub(crate) const CELL_QUEUE: Keys = &[MOVING, POLICY];

keys! {
    /// The keys that a link's queue lacks.
    pub(crate) MOVING from KEY;

    /// limit of the waiting data; with `sizing` the most packets that the rule may grant. The cell has no
    /// rate of its own, so that a time and a share of the bandwidth-delay product (`bdp`) have no meaning
    /// here
    key limit => {
        kind: "packets or a size",
        default: Required(r#"the room for waiting packets, such as "338 packets""#),
        engines: "model sim", refused_by: "live",
    }
    /// moves the limit while the cell runs; `limit` is then the most, in packets
    key sizing => {
        kind: "table", default: Words("none: the limit stays"),
        engines: "model sim", refused_by: "live", within: SIZING,
    }
    /// Linux's airtime queue limits (AQL): packets leave the queue for the device as long as less than a
    /// limit of airtime is pending there
    key airtime_limits => {
        kind: "table with `low`, `high`, `threshold`", default: Words("none: one frame below the queue"),
        engines: "sim", refused_by: "live", within: AIRTIME,
    }
}

/// `sizing = { … }`.
pub(crate) const SIZING: Keys = &[SIZING_RULE, EBDP, ALT];

keys! {
    pub(crate) SIZING_RULE from KEY;


    /// `"ebdp"`: what is served in `target`, and `extra` packets (Li, Leith and Malone 2011). `"alt"`: grows
    /// while the queue is empty, falls while it is not. `"a*"`: the lesser of the two. `"fixed"`: the limit
    /// stays, for sweeps
    key rule => {
        kind: r#"`"fixed"`, `"ebdp"`, `"alt"`, `"a*"`"#,
        default: Required(r#"a rule: "fixed", "ebdp", "alt", "a*""#),
        engines: "model sim", refused_by: "live",
    }
}

table! {
    /// eBDP: Q = min(T/T_serv + a, the queue's limit).
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Ebdp {}
    read EbdpRead |at, read, _context: ()|;
    keys EBDP_KEYS = [EBDP];

    group EBDP from KEY;

    /// T, the queueing delay aimed at
    pub target: Span = at.above_zero("ms", "a target of zero: no packet could wait") => {
        kind: "time above zero", default: Written(r#""200ms""#),
        engines: "model sim", refused_by: "live", kinds: "ebdp a*",
        why: "as printed", from: "P4",
    }
    /// a, packets more than that, for service times that vary. P4 prints 40. The authors of eBDP used 5, by our memory
    pub extra: u64 = at.integer(0..=MOST_PACKETS) => {
        kind: "whole number, 0 to 1000000", default: Written("40"),
        engines: "model sim", refused_by: "live", kinds: "ebdp a*",
        why: "as P4 prints it; the originals are remembered with 5", from: "P4",
    }
    /// weight of the newest service time in the mean
    pub weight: Fraction = at.share_above_zero() => {
        kind: "share above zero", default: Written("0.001"),
        engines: "sim", refused_by: "live", kinds: "ebdp a*",
        why: "a mean over 1000 service times", from: "P4",
    }
}

table! {
    /// ALT: the limit grows while the queue is empty, and falls while it is not.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Alt {}
    read AltRead |at, read, limit: Option<Limit>|;
    keys ALT_KEYS = [ALT];

    group ALT from KEY;

    /// interval at which the limit of ALT moves
    pub interval: Span = at.above_zero("s", "an interval of zero") => {
        kind: "time above zero", default: Written(r#""1s""#),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "the source's time between updates", from: "Li, Leith and Malone 2011, from memory",
    }
    /// a1, packets per second that the queue is empty
    pub increase: f64 = per_second(at) => {
        kind: "number above zero", default: Written("10"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "with `decrease` the queue is empty for 1/11 of the time",
        from: "Li, Leith and Malone 2011, from memory",
    }
    /// b1, packets per second that it is not. Where it settles, nothing waits and nothing is being sent for
    /// b1/(a1+b1) of the time; `queue_empty_fraction`, which leaves out what is being sent, is larger
    pub decrease: f64 = per_second(at) => {
        kind: "number above zero", default: Written("1"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "with `increase` the queue is empty for 1/11 of the time",
        from: "Li, Leith and Malone 2011, from memory",
    }
    /// the fewest packets that ALT grants
    pub fewest: u64 = fewest(at, limit) => {
        kind: "whole number, 1 to 1000000", default: Written("5"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "fewer packets leave no room for a burst", from: "Li, Leith and Malone 2011, from memory",
    }
}

table! {
    /// `airtime_limits = { … }`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub struct AirtimeLimits {}
    read AirtimeLimitsRead |at, read, _context: ()|;
    keys AIRTIME = [PENDING];

    group PENDING from KEY;

    /// airtime that a station and category may have pending while the whole device has `threshold` or more
    pub low: Span = airtime(at) => {
        kind: "time above zero", default: Written(r#""5ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's limit", from: "Linux `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`",
    }
    /// the same limit while the device has less than `threshold`
    pub high: Span = airtime(at) => {
        kind: "time, at least `low`", default: Written(r#""12ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's limit", from: "Linux `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`",
    }
    /// pending airtime of the whole device at or above which `low` applies
    pub threshold: Span = airtime(at) => {
        kind: "time above zero", default: Written(r#""24ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's threshold", from: "Linux `IEEE80211_AQL_THRESHOLD`",
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Fixed,
    Ebdp,
    Alt,
    Lesser,
}

const RULES: &[(&str, Rule)] =
    &[("fixed", Rule::Fixed), ("ebdp", Rule::Ebdp), ("alt", Rule::Alt), ("a*", Rule::Lesser)];

/// A limit at a queue of the cell. The forms that depend on a rate can be read, so that the fault gives the reason why
/// they are refused.
#[derive(Clone, Copy, PartialEq)]
struct Room(Limit);

const ACCEPTED: &str = "packets or a size, such as \"338 packets\" or \"512kB\"";

impl TypedQuantity for Room {
    const UNITS: &'static [&'static str] = &["packets", "kB", "MB", "GB", "B", "KiB", "MiB"];
    const ZERO: Self = Self(Limit::ZERO);
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse().map(Self).map_err(|error: TextError| match error.accepted == limit::ACCEPTED {
            true => TextError { accepted: ACCEPTED.to_owned(), ..error },
            false => error,
        })
    }
}

/// Reads the limit of a queue of the cell, in packets or bytes. `side` is the direction in words.
pub(crate) fn limit(at: &ValueAt<'_>, side: &str) -> Option<Limit> {
    let Room(limit) = at.above_zero(" packets", NO_ROOM)?;
    let what = match limit {
        Limit::Packets(_) | Limit::Bytes(_) => return Some(limit),
        Limit::Time(_) => "a time",
        Limit::Bdp(_) => "a share of the bandwidth-delay product",
    };
    let found = format!(
        "{what}: {side} of a cell has no rate of its own, because the rate depends on the other stations"
    );
    let help = "write packets; a limit in time that follows the rate is queue.sizing = { rule = \"ebdp\" }"
        .to_owned();
    at.fault(found, ACCEPTED, Some(help));
    None
}

fn threshold(at: &ValueAt<'_>) -> Option<Limit> {
    let Room(threshold) = at.quantity(" packets")?;
    if matches!(threshold, Limit::Time(_) | Limit::Bdp(_)) {
        let found = "a threshold by time: the downlink of a cell has no rate of its own";
        at.fault(found, "mean packets, packets, a size or a share of the limit", None);
        return None;
    }
    Some(threshold)
}

/// Reads the access point's queue.
pub(crate) fn queue(at: &ValueAt<'_>) -> Option<CellQueue> {
    let (keys, kind, settings) = policy(at, CELL_QUEUE, threshold)?;
    let limit = keys.read("limit", |at| limit(at, "the downlink"));
    let sizing = keys.optional("sizing", |at| sizing(at, limit));
    let airtime_limits = keys.optional("airtime_limits", airtime_limits);
    let queue = Queue { kind: kind?, limit: limit?, settings: settings? };
    Some(CellQueue { queue, sizing: sizing?.flatten(), airtime_limits: airtime_limits? })
}

/// Reads the rule that moves the limit. Keys of other rules are allowed, so that a sweep can vary the rule.
fn sizing(at: &ValueAt<'_>, limit: Option<Limit>) -> Option<Option<Sizing>> {
    let keys = at.keys(SIZING)?;
    let rule = keys.read("rule", |at| at.word_among(RULES));
    let (ebdp, alt) = (EbdpRead::read(&keys, ()).whole(), AltRead::read(&keys, limit).whole());
    let (rule, ebdp, alt) = (rule?, ebdp?, alt?);
    if rule != Rule::Fixed && matches!(limit, Some(Limit::Bytes(_))) {
        let found = "a limit that moves, of a queue whose room is in bytes";
        at.fault(
            found,
            "packets: they are the most that may wait",
            Some("write limit = \"400 packets\"".into()),
        );
        return None;
    }
    Some(match rule {
        Rule::Fixed => None,
        Rule::Ebdp => Some(Sizing::Ebdp(ebdp)),
        Rule::Alt => Some(Sizing::Alt(alt)),
        Rule::Lesser => Some(Sizing::Lesser(ebdp, alt)),
    })
}

/// The largest number of packets. Larger ones are mistakes.
const MOST_PACKETS: u64 = 1_000_000;

fn per_second(at: &ValueAt<'_>) -> Option<f64> {
    let number = at.number()?;
    if number <= 0.0 {
        at.fault(format!("{number} packets per second"), "a number above zero", None);
        return None;
    }
    Some(number)
}

fn fewest(at: &ValueAt<'_>, limit: Option<Limit>) -> Option<u64> {
    let fewest = at.integer(1..=MOST_PACKETS)?;
    if let Some(Limit::Packets(most)) = limit.filter(|_| at.key.is_some())
        && fewest > most
    {
        at.fault(format!("{fewest} packets at least, and a limit of {most}"), format!("1 to {most}"), None);
        return None;
    }
    Some(fewest)
}

fn airtime(at: &ValueAt<'_>) -> Option<Span> {
    at.above_zero("ms", "no airtime at all: nothing would leave")
}

fn airtime_limits(at: &ValueAt<'_>) -> Option<AirtimeLimits> {
    let keys = at.keys(AIRTIME)?;
    let limits = AirtimeLimitsRead::read(&keys, ()).whole()?;
    let AirtimeLimits { low, high, .. } = limits;
    if high < low {
        let found = format!("{high}, less than low, which is {low}");
        keys.near("high").fault(found, format!("\"{low}\" or more"), None);
        return None;
    }
    Some(limits)
}
