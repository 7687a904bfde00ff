//! `shaper` of a link: a queue of its own in front of the link's, from which packets go on at a lower rate.

use super::queue::{QUEUE, Queue, limit, policy};
use crate::cursor::ValueAt;
use crate::lines::{Lines, Written};
use crate::schema::DefaultValue::{Required, Words, Written as ByDefault};
use crate::schema::{KEY, OWN};
use crate::table::{Table, table};
use crate::tree::Value;
use crate::values::{Framing, Limit, ShaperRate};
use serde::Serialize;
use units::{Bytes, Fraction, Rate};

/// The policy of a shaper's queue unless one is written.
const CAKE: &str = "cake";
/// The room in a shaper's queue unless it is written: the least that Linux's CAKE gives itself.
const ROOM: Limit = Limit::Bytes(Bytes::new(4 << 20));
/// The most bytes that a medium adds to a packet, and the largest least packet: the range of Linux's `tc`.
const MOST_ADDED: Bytes = Bytes::new(256);

table! {
    /// `[link.shaper]`: a shaper in front of the link's queue.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Shaper {}
    read ShaperRead |at, read, _context: ()|;
    keys SHAPER = [SHAPED];

    group SHAPED from KEY;

    /// rate at which packets go on to the link's queue: a rate, or a share of the link's. The rate counts bytes on the
    /// medium, with `overhead` and `framing`. Nothing passes in bursts
    pub rate: ShaperRate = rate(at) => {
        kind: "rate above zero, or a share of the link's above zero",
        default: Required("a rate such as \"95Mbit/s\", or a share of the link's such as \"95%\""),
        engines: "sim live", refused_by: "model",
    }
    /// the shaper's queue: its keys are those of [a link's queue](#queue-of-a-link), where `kind` is `cake` and `limit`
    /// is 4 MiB unless written. Times and `bdp` are those of the shaper's rate
    pub queue: Queue => {
        kind: "table", default: Words("`cake` with room for 4 MiB"),
        engines: "sim live", refused_by: "model", within: QUEUE,
        why: "the usual shaper of home routers; its least room", from: "Linux `sch_cake`",
    }
    /// bytes that the medium adds to each packet, such as 44 for PPPoE over VDSL2 with a VLAN tag
    pub overhead: Bytes = added(at) => {
        kind: "size, 0 B to 256 B", default: ByDefault(r#""0B""#),
        engines: "sim live", refused_by: "model",
        why: "a link of this project counts at the IP layer", from: OWN,
    }
    /// least length of a packet with its overhead
    pub mpu: Bytes = added(at) => {
        kind: "size, 0 B to 256 B", default: ByDefault(r#""0B""#),
        engines: "sim live", refused_by: "model",
        why: "a link of this project counts at the IP layer", from: OWN,
    }
    /// code of the medium. `atm` has cells of 53 bytes with 48 of data, `ptm` adds a byte for each 64
    pub framing: Framing = at.word() => {
        kind: r#"`"none"`, `"atm"`, `"ptm"`"#, default: ByDefault(r#""none""#),
        engines: "sim live", refused_by: "model",
        why: "most media carry bytes as they are", from: "Linux `sch_cake`",
    }
}

/// Reads a shaper.
pub(super) fn shaper(at: &ValueAt<'_>) -> Option<Shaper> {
    let keys = at.keys(SHAPER)?;
    let mut read = ShaperRead::read(&keys, ());
    read.queue = match keys.get("queue") {
        None => Some(Queue { kind: CAKE.into(), limit: ROOM, settings: Default::default() }),
        Some(at) => queue(&at),
    };
    read.whole()
}

/// Reads the queue of a shaper, whose policy and limit have defaults of their own.
fn queue(at: &ValueAt<'_>) -> Option<Queue> {
    let (keys, kind, settings) = policy(at, QUEUE, |at| at.quantity(" packets"))?;
    let kind = if keys.get("kind").is_some() { kind } else { Some(CAKE.into()) };
    let limit = keys.or("limit", ROOM, limit);
    Some(Queue { kind: kind?, limit: limit?, settings: settings? })
}

fn rate(at: &ValueAt<'_>) -> Option<ShaperRate> {
    match &at.node.value {
        Value::String(text) if text.trim_end().ends_with('%') => match text.trim().parse::<Fraction>() {
            Ok(share) if share > Fraction::ZERO => Some(ShaperRate::Share(share)),
            _ => {
                let accepted = "a share above 0% and at most 100%, or a rate such as \"95Mbit/s\"";
                at.fault(format!("{} of the link's rate", text.trim()), accepted, None);
                None
            }
        },
        _ => {
            let rate: Rate = at.above_zero("Mbit/s", "a rate of zero: no packet would pass")?;
            Some(ShaperRate::Rate(rate))
        }
    }
}

fn added(at: &ValueAt<'_>) -> Option<Bytes> {
    let bytes: Bytes = at.quantity("B")?;
    if bytes > MOST_ADDED {
        at.fault(format!("{bytes}"), format!("a size from \"0B\" to \"{MOST_ADDED}\""), None);
        return None;
    }
    Some(bytes)
}

impl Written for Shaper {
    fn written(&self) -> String {
        let mut lines = Lines::default();
        let usual = Self {
            rate: self.rate,
            queue: self.queue.clone(),
            overhead: Bytes::ZERO,
            mpu: Bytes::ZERO,
            framing: Framing::None,
        };
        self.write(&usual, &mut lines);
        let mut queue = Lines::default();
        queue.differs("kind", &self.queue.kind, &CAKE.to_owned());
        queue.differs("limit", &self.queue.limit, &ROOM);
        self.queue.settings.write(&Default::default(), &mut queue);
        lines.table("queue", &queue);
        lines.inline()
    }
}
