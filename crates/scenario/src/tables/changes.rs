//! The tables of a link that changes: `rate = { … }`, `delay = { … }`, `loss = { … }`, `outage = { … }`.

use super::spread::uniform;
use crate::changes::{GilbertElliott, Loss, Outage, OverTime, PacketNumbers};
use crate::cursor::{Keys, ValueAt};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{self, KEY, Key, OWN};
use crate::table::keys;
use crate::tree::Value;
use crate::values::Spread;
use std::fmt::Display;
use units::{Fraction, Rate, Span};

/// A key of a link that changes, which `model` refuses.
const CHANGING: Key = Key { engines: "sim live", refused_by: "model", ..KEY };
const STEPS: &str = "list of pairs of a time and a value";
const EVERY: &str = "time above the last step's";

keys! {
    /// Values over time.
    VALUES from CHANGING;

    /// values and the times from which they hold. The times begin at 0 s and rise
    key steps => { kind: STEPS, }
    /// the time after which the values repeat
    key every => {
        kind: EVERY, default: Words("never: the last value holds for ever"),
        why: "a list says nothing about the time after it", from: OWN,
    }
}

keys! {
    /// A file with a rate over time.
    RATE_TRACE from CHANGING;

    /// a file with the rate, relative to the scenario's folder: opportunities as in mahimahi's traces, or CSV with
    /// time and rate. See [rates that change](../guide/changing-links.md)
    key trace => { kind: "text", }
    /// the opportunities begin anew at the last one; `false`: the link ends there
    key repeat => {
        kind: "`true`, `false`", default: Written("true"),
        why: "mahimahi repeats its traces", from: "mahimahi `link_queue.cc`",
    }
}

keys! {
    /// A file with values over time.
    TRACE from CHANGING;

    /// a file with the values, relative to the scenario's folder: CSV with a time and a value
    key trace => { kind: "text", }
}

keys! {
    /// Reordering by a delay that falls.
    REORDER from CHANGING;

    /// a packet may overtake those before it when the delay falls. If not, it arrives no earlier than they do
    key reorder => {
        kind: "`true`, `false`", default: Written("false"),
        why: "cellular links deliver in order", from: "RFC 3366 (3.1)",
    }
}

keys! {
    /// Losses that are not independent.
    BURSTS from CHANGING;

    /// losses in bursts: a state that is good or bad, and can change before each packet
    key gilbert_elliott => {
        kind: "table with `to_bad`, `to_good`, `bad_loss`, `good_loss`", within: GILBERT_ELLIOTT,
    }
    /// the numbers of the packets to lose, in rising order; the first packet that arrives has number 1. Or
    /// `{ trace = "lost.txt" }`, a file with one number in each line
    key packets => { kind: "list of whole numbers, or a table with `trace`", within: PACKETS, }
}

keys! {
    /// `gilbert_elliott = { … }`.
    pub(crate) table GILBERT_ELLIOTT from CHANGING;

    /// probability that a good state turns bad
    key to_bad => { kind: "share above zero", default: Required("a share such as 0.01"), }
    /// probability that a bad state turns good. Its inverse is the mean length of a burst, in packets
    key to_good => { kind: "share above zero", default: Required("a share such as 0.3"), }
    /// probability that a packet is lost in the bad state
    key bad_loss => {
        kind: "share", default: Written("1"),
        why: "a bad state loses everything in the simplest form", from: "Gilbert 1960",
    }
    /// probability that a packet is lost in the good state
    key good_loss => {
        kind: "share", default: Written("0"),
        why: "a good state loses nothing", from: "Gilbert 1960",
    }
}

keys! {
    /// `packets = { trace = … }`.
    pub(crate) table PACKETS from CHANGING;

    /// a file with one number in each line, relative to the scenario's folder
    key trace => { kind: "text", default: Required(r#"the path of a file, such as "lost.txt""#), }
}

keys! {
    /// `outage = { … }`.
    pub(crate) table OUTAGE from CHANGING;

    /// from the start of one to the start of the next
    key every => { kind: "time above zero", default: Required(r#"a time such as "15s""#), }
    /// the time without service, below `every`; drawn anew for each, if it is `{ uniform = ["20ms", "120ms"] }`
    key length => {
        kind: "time, or a table with `uniform`",
        default: Required(r#"a time such as "80ms" or { uniform = ["20ms", "120ms"] }"#), within: LENGTH,
    }
    /// start of the first
    key first => {
        kind: "time", default: Words("`every`"),
        why: "a run begins with service", from: OWN,
    }
}

keys! {
    /// `length = { … }` of an outage.
    pub(crate) table LENGTH from CHANGING;

    /// uniform between the two
    key uniform => { kind: "list of the least and the greatest", default: Required(r#"["20ms", "120ms"]"#), }
}

/// The keys of `rate = { … }`.
pub(crate) const RATE_OVER_TIME: schema::Keys = &[RATE_TRACE, VALUES];
/// The keys of `delay = { … }`.
pub(crate) const DELAY_OVER_TIME: schema::Keys = &[TRACE, VALUES, REORDER];
/// The keys of `loss = { … }`.
pub(crate) const LOSS: schema::Keys = &[TRACE, VALUES, BURSTS];

/// The words for the rates that a link accepts.
const RATES: &str = "a rate such as \"100Mbit/s\", { trace = \"lte.down\" } or \
                     { steps = [[\"0s\", \"20Mbit/s\"], [\"10s\", \"5Mbit/s\"]] }";
const DELAYS: &str = "a time such as \"20ms\", { trace = \"delay.csv\" } or \
                      { steps = [[\"0s\", \"20ms\"], [\"10s\", \"60ms\"]] }";
const LOSSES: &str = "a share such as \"0.5%\", { gilbert_elliott = { to_bad = 0.01, to_good = 0.3 } }, \
                      { trace = \"loss.csv\" }, { packets = [5, 17] } or { steps = [[\"0s\", 0.01], [\"10s\", 0]] }";

/// Reads the rate of a link.
pub(crate) fn rate(at: &ValueAt<'_>) -> Option<OverTime<Rate>> {
    let one = |at: &ValueAt<'_>| at.above_zero("Mbit/s", "a rate of zero: nothing would pass");
    let rate = over_time(at, RATE_OVER_TIME, RATES, one, |at| at.quantity("Mbit/s"))?;
    if let OverTime::Steps { steps, .. } = &rate
        && steps.iter().all(|(_, rate)| *rate == Rate::ZERO)
    {
        at.fault("a rate of zero throughout: nothing would pass", "a rate above zero in one step", None);
        return None;
    }
    Some(rate)
}

/// Reads the delay of a link.
pub(crate) fn delay(at: &ValueAt<'_>) -> Option<OverTime<Span>> {
    let one = |at: &ValueAt<'_>| at.quantity("ms");
    over_time(at, DELAY_OVER_TIME, DELAYS, one, one)
}

/// Reads the loss of a link.
pub(crate) fn loss(at: &ValueAt<'_>) -> Option<Loss> {
    let Value::Table(_) = &at.node.value else {
        return over_time(at, LOSS, LOSSES, share, share).map(Loss::Independent);
    };
    let keys = at.keys(LOSS)?;
    let kinds = ["steps", "trace", "gilbert_elliott", "packets"];
    match given(at, &keys, &kinds, LOSSES)? {
        "gilbert_elliott" => gilbert_elliott(&keys.get("gilbert_elliott")?),
        "packets" => packets(&keys.get("packets")?).map(|packets| Loss::Packets { packets }),
        _ => {
            let loss = over_time(at, LOSS, LOSSES, share, fraction)?;
            if let OverTime::Steps { steps, .. } = &loss
                && steps.iter().all(|(_, share)| *share == Fraction::ONE)
            {
                at.fault(
                    "a loss of 100% throughout: nothing would pass",
                    "a share below 1 in one step",
                    None,
                );
                return None;
            }
            Some(Loss::Independent(loss))
        }
    }
}

fn fraction(at: &ValueAt<'_>) -> Option<Fraction> {
    at.fraction()
}

fn share(at: &ValueAt<'_>) -> Option<Fraction> {
    let loss = at.fraction()?;
    if loss == Fraction::ONE {
        at.fault("a loss of 100%: nothing would pass", "a share below 1, such as \"0.5%\"", None);
        return None;
    }
    Some(loss)
}

/// Returns the only one of `kinds` that a table has.
fn given(at: &ValueAt<'_>, keys: &Keys<'_>, kinds: &[&'static str], accepted: &str) -> Option<&'static str> {
    let given: Vec<&'static str> = kinds.iter().copied().filter(|kind| keys.get(kind).is_some()).collect();
    match given[..] {
        [one] => Some(one),
        [] => {
            at.fault(format!("a table without {}", kinds.join(" or ")), accepted, None);
            None
        }
        _ => {
            at.fault(format!("{} at once", given.join(" and ")), "one of them", None);
            None
        }
    }
}

/// Reads one value by `one`, or a table of the `known` keys with values by `each`.
fn over_time<T: Copy + PartialEq + Display>(
    at: &ValueAt<'_>,
    known: schema::Keys,
    accepted: &str,
    one: impl Fn(&ValueAt<'_>) -> Option<T>,
    each: impl Fn(&ValueAt<'_>) -> Option<T>,
) -> Option<OverTime<T>> {
    match &at.node.value {
        Value::Table(_) => {}
        Value::List(_) => {
            let help = "values over time are { steps = [[\"0s\", …], [\"10s\", …]] }";
            at.fault(at.node.described(), accepted, Some(help.into()));
            return None;
        }
        Value::String(text) if names_a_file(text) => {
            at.fault(at.node.described(), accepted, Some(format!("write {{ trace = \"{}\" }}", text.trim())));
            return None;
        }
        _ => return one(at).map(OverTime::Constant),
    }
    let keys = at.keys(known)?;
    let kind = given(at, &keys, &["steps", "trace"], accepted)?;
    let flag = |name| {
        if schema::find(known, name).is_some() { keys.optional(name, ValueAt::boolean) } else { Some(None) }
    };
    let (repeat, reorder) = (flag("repeat"), flag("reorder"));
    let every = keys.optional("every", |at| at.above_zero("s", "a period of zero"));
    if kind == "trace" {
        let trace = keys.get("trace")?.text();
        let (repeat, every, reorder) = (repeat?, every?, reorder?.unwrap_or_default());
        return Some(OverTime::Trace { trace: trace?, repeat, every, reorder });
    }
    if keys.get("repeat").is_some() {
        let help = "steps repeat by every = \"20s\"";
        keys.near("repeat").fault("steps do not have repeat", "steps, every", Some(help.into()));
    }
    let steps = steps(&keys.get("steps")?, each)?;
    let (every, reorder) = (every?, reorder?.unwrap_or_default());
    repeat?;
    if let (Some(every), Some((last, _))) = (every, steps.last())
        && *last >= every
    {
        let found = format!("a period of {every}, and a step at {last}");
        keys.near("every").fault(found, format!("a time above {last}"), None);
        return None;
    }
    Some(OverTime::Steps { steps, every, reorder })
}

/// Returns true for a text that ends as the name of a file does, and not as a unit.
fn names_a_file(text: &str) -> bool {
    let ending = text.trim().rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_unit = ["bit", "bps"].iter().any(|unit| ending.to_ascii_lowercase().contains(unit));
    ending.len() > 1 && ending.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_unit
}

/// The most steps in a scenario's text. More of them belong into a file.
const MOST_STEPS: usize = 10_000;

/// Reads pairs of a time and a value. The times begin at zero and rise.
fn steps<T>(at: &ValueAt<'_>, each: impl Fn(&ValueAt<'_>) -> Option<T>) -> Option<Vec<(Span, T)>> {
    let items = at.items();
    if items.is_empty() || items.len() > MOST_STEPS {
        let found = if items.is_empty() { at.node.described() } else { format!("{} steps", items.len()) };
        let help = (!items.is_empty()).then(|| "put them into a file: { trace = \"steps.csv\" }".to_owned());
        at.fault(found, format!("a list of up to {MOST_STEPS} pairs of a time and a value"), help);
        return None;
    }
    let mut steps: Vec<(Span, T)> = Vec::new();
    for item in &items {
        let pair = item.items();
        let [time, value] = &pair[..] else {
            item.fault(item.node.described(), "a pair of a time and a value, such as [\"10s\", …]", None);
            return None;
        };
        let (start, value): (Option<Span>, _) = (time.quantity("s"), each(value));
        let (start, value) = (start?, value?);
        let fault = match steps.last() {
            None if start > Span::ZERO => {
                Some((format!("a first step at {start}"), "0s: the value from the start on".into()))
            }
            Some((before, _)) if start <= *before => {
                Some((format!("a step at {start} after one at {before}"), format!("a time above {before}")))
            }
            _ => None,
        };
        if let Some((found, accepted)) = fault {
            time.fault(found, accepted, None);
            return None;
        }
        steps.push((start, value));
    }
    Some(steps)
}

fn gilbert_elliott(at: &ValueAt<'_>) -> Option<Loss> {
    let keys = at.keys(GILBERT_ELLIOTT)?;
    let to_bad = keys.read("to_bad", ValueAt::share_above_zero);
    let to_good = keys.read("to_good", ValueAt::share_above_zero);
    let bad_loss = keys.read("bad_loss", ValueAt::fraction);
    let good_loss = keys.read("good_loss", ValueAt::fraction);
    let states =
        GilbertElliott { to_bad: to_bad?, to_good: to_good?, bad_loss: bad_loss?, good_loss: good_loss? };
    if (states.bad_loss, states.good_loss) == (Fraction::ONE, Fraction::ONE) {
        at.fault("a loss of 100% in both states: nothing would pass", "a share below 1 in one state", None);
        return None;
    }
    Some(Loss::Bursts { gilbert_elliott: states })
}

fn packets(at: &ValueAt<'_>) -> Option<PacketNumbers> {
    if let Value::Table(_) = &at.node.value {
        let trace = at.keys(PACKETS)?.read("trace", ValueAt::text)?;
        return Some(PacketNumbers::Trace { trace });
    }
    let items = at.items();
    if items.is_empty() {
        at.fault(at.node.described(), "a list of numbers such as [5, 17], or { trace = \"lost.txt\" }", None);
        return None;
    }
    let mut numbers: Vec<u64> = Vec::new();
    for item in items {
        let number = item.positive("number 0: the first packet has number 1")?;
        if let Some(before) = numbers.last().filter(|before| number <= **before) {
            item.fault(format!("{number} after {before}"), "numbers that rise", None);
            return None;
        }
        numbers.push(number);
    }
    Some(PacketNumbers::Listed(numbers))
}

/// Reads the outages of a link.
pub(crate) fn outage(at: &ValueAt<'_>) -> Option<Outage> {
    let keys = at.keys(OUTAGE)?;
    let every: Option<Span> = keys.read("every", |at| at.above_zero("s", "a period of zero"));
    let length = keys.read("length", |at| match &at.node.value {
        Value::Table(_) => uniform(&at.keys(LENGTH)?.near("uniform"), "ms"),
        _ => at.above_zero("ms", "a length of zero: there would be no outage").map(Spread::All),
    });
    let first = match every {
        Some(every) => keys.or("first", every, |at| at.quantity("s")),
        None => keys.optional("first", |at| at.quantity("s")).flatten(),
    };
    let outage = Outage { every: every?, length: length?, first: first? };
    let (_, longest) = outage.bounds();
    if longest >= outage.every || longest == Span::ZERO {
        let found = format!("a length of {longest} every {}", outage.every);
        keys.near("length").fault(found, format!("a time above 0s and below {}", outage.every), None);
        return None;
    }
    Some(outage)
}
