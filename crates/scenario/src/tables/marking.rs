//! The hosts and the class of packets, which some queues look at: keys of `[[flow]]` and `[[traffic]]`.

use super::draft::FlowDraft;
use crate::cursor::ValueAt;
use crate::schema::DefaultValue::{Words, Written};
use crate::schema::{KEY, OWN};
use crate::table::table;
use crate::tree::Value;
use serde::Serialize;

table! {
    /// The hosts and the class of a flow's packets.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Marking {}
    read MarkingRead |at, read, _context: ()|;
    draft FlowDraft;
    keys MARKING_KEYS = [MARKING];

    /// The hosts and the class of packets, which some queues look at.
    group MARKING from KEY;

    /// name of the host that sends, which a queue with `isolation` looks at. Flows and traffic with the same name come
    /// from the same host. The transfers of `count` share it. `live` has one host at each end
    opt sending_host: String [serde(skip_serializing_if = "Option::is_none")] = at.name() => {
        kind: "text, at most 255 names in all", default: Words("a host of its own"),
        engines: "sim", refused_by: "live",
        why: "flows are independent unless they are said to share something", from: OWN,
    }
    /// name of the host that receives, as `sending_host`
    opt receiving_host: String [serde(skip_serializing_if = "Option::is_none")] = at.name() => {
        kind: "text, at most 255 names in all", default: Words("a host of its own"),
        engines: "sim", refused_by: "live",
        why: "flows are independent unless they are said to share something", from: OWN,
    }
    /// class of its packets (DSCP), which a queue with `tins` looks at: a number, or one of `cs0` to `cs7`, `af11` to
    /// `af43`, `ef`, `va`, `le`. `live` sets it by `IP_TOS`
    pub dscp: u64 = dscp(at) => {
        kind: "DSCP: 0 to 63, or a name such as `\"ef\"`", default: Written("0"),
        engines: "sim live",
        why: "applications that say nothing have best effort", from: "RFC 2474 (4.1)",
    }
}

/// The names of code points: RFC 2474 (4.2.2), RFC 2597 (6), RFC 3246 (2.4), RFC 5865 (2.3), RFC 8622.
const NAMES: &[(&str, u64)] = &[
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("va", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

fn dscp(at: &ValueAt<'_>) -> Option<u64> {
    match &at.node.value {
        Value::String(name) if !name.trim().starts_with(|c: char| c.is_ascii_digit()) => at.word_among(NAMES),
        _ => at.integer(0..=63),
    }
}
