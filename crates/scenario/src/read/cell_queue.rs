//! `queue` of a cell: as that of a link, without the forms of a limit that need a rate, and with what moves the limit.

use super::link;
use crate::cursor::Quantity;
use crate::cursor::{At, Keys};
use crate::spec::{AirtimeLimits, Alt, CellQueue, Ebdp, Limit, Queue, Sizing};
use crate::{limit, tables};
use units::{Span, TextError};

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Fixed,
    Ebdp,
    Alt,
    Lesser,
}

const RULES: &[(&str, Rule)] =
    &[("fixed", Rule::Fixed), ("ebdp", Rule::Ebdp), ("alt", Rule::Alt), ("a*", Rule::Lesser)];

/// A limit as a queue of the cell may have it. The forms that need a rate can be read, so that the fault says why
/// they are refused.
#[derive(Clone, Copy, PartialEq)]
struct Room(Limit);

const ACCEPTED: &str = "packets or a size, such as \"338 packets\" or \"512kB\"";

impl Quantity for Room {
    const UNITS: &'static [&'static str] = &["packets", "kB", "MB", "GB", "B", "KiB", "MiB"];
    const ZERO: Self = Self(Limit::ZERO);
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse().map(Self).map_err(|error: TextError| match error.accepted == limit::ACCEPTED {
            true => TextError { accepted: ACCEPTED.to_owned(), ..error },
            false => error,
        })
    }
}

/// Reads the room in a queue of the cell, in packets or bytes. `side` is the direction in words.
pub(super) fn limit(at: &At<'_>, side: &str) -> Option<Limit> {
    let Room(limit) = at.above_zero(" packets", link::NO_ROOM)?;
    let what = match limit {
        Limit::Packets(_) | Limit::Bytes(_) => return Some(limit),
        Limit::Time(_) => "a time",
        Limit::Bdp(_) => "a share of the bandwidth-delay product",
    };
    let found = format!(
        "{what}: {side} of a cell has no rate of its own, it depends on what the other stations send"
    );
    let help = "write packets; a limit in time that follows the rate is queue.sizing = { rule = \"ebdp\" }"
        .to_owned();
    at.fault(found, ACCEPTED, Some(help));
    None
}

fn threshold(at: &At<'_>) -> Option<Limit> {
    let Room(threshold) = at.quantity(" packets")?;
    if matches!(threshold, Limit::Time(_) | Limit::Bdp(_)) {
        let found = "a threshold by time: the downlink of a cell has no rate of its own";
        at.fault(found, "mean packets, packets, a size or a share of the limit", None);
        return None;
    }
    Some(threshold)
}

/// Reads the access point's queue.
pub(super) fn queue(at: &At<'_>) -> Option<CellQueue> {
    let (keys, kind, settings) = link::policy(at, tables::CELL_QUEUE, threshold)?;
    let limit = keys.read("limit", |at| limit(at, "the downlink"));
    let sizing = keys.optional("sizing", |at| sizing(at, limit));
    let airtime_limits = keys.optional("airtime_limits", airtime_limits);
    let queue = Queue { kind: kind?, limit: limit?, settings: settings? };
    Some(CellQueue { queue, sizing: sizing?.flatten(), airtime_limits: airtime_limits? })
}

/// Reads what moves the limit. Keys of the other rules may stand there, so that a sweep can vary the rule.
fn sizing(at: &At<'_>, limit: Option<Limit>) -> Option<Option<Sizing>> {
    let keys = at.keys(tables::SIZING)?;
    let rule = keys.read("rule", |at| at.word_among(RULES));
    let (ebdp, alt) = (ebdp(&keys), alt(&keys, limit));
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

fn ebdp(keys: &Keys<'_>) -> Option<Ebdp> {
    let target = keys.read("target", |at| at.above_zero("ms", "a target of zero: no packet could wait"));
    let extra = keys.read("extra", |at| at.integer(0..=MOST_PACKETS));
    let weight = keys.read("weight", super::settings::share_above_zero);
    Some(Ebdp { target: target?, extra: extra?, weight: weight? })
}

/// More packets than anybody means.
const MOST_PACKETS: u64 = 1_000_000;

fn alt(keys: &Keys<'_>, limit: Option<Limit>) -> Option<Alt> {
    let interval = keys.read("interval", |at| at.above_zero("s", "an interval of zero"));
    let above_zero = |name| {
        keys.read(name, |at| {
            let number = at.number()?;
            if number <= 0.0 {
                at.fault(format!("{number} packets per second"), "a number above zero", None);
                return None;
            }
            Some(number)
        })
    };
    let (increase, decrease) = (above_zero("increase"), above_zero("decrease"));
    let fewest = keys.read("fewest", |at| {
        let fewest = at.integer(1..=MOST_PACKETS)?;
        if let Some(Limit::Packets(most)) = limit.filter(|_| keys.get("fewest").is_some())
            && fewest > most
        {
            let found = format!("{fewest} packets at least, and a limit of {most}");
            at.fault(found, format!("1 to {most}"), None);
            return None;
        }
        Some(fewest)
    });
    Some(Alt { interval: interval?, increase: increase?, decrease: decrease?, fewest: fewest? })
}

fn airtime_limits(at: &At<'_>) -> Option<AirtimeLimits> {
    let keys = at.keys(tables::AIRTIME)?;
    let time =
        |name| keys.read(name, |at| at.above_zero::<Span>("ms", "no airtime at all: nothing would leave"));
    let (low, high, threshold) = (time("low"), time("high"), time("threshold"));
    let (low, high, threshold) = (low?, high?, threshold?);
    if high < low {
        keys.near("high").fault(
            format!("{high}, less than low, which is {low}"),
            format!("\"{low}\" or more"),
            None,
        );
        return None;
    }
    Some(AirtimeLimits { low, high, threshold })
}
