//! `socket_buffer`: a word, a size, or a sizer; `send_buffer`: a word or a size.

use crate::cursor::{Keys, ValueAt};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::KEY;
use crate::table::keys;
use crate::tree::Value;
use crate::values::{SendBuffer, SocketBuffer};
use units::Bytes;

keys! {
    /// `socket_buffer = { … }`.
    pub(crate) table SIZER from KEY;

    /// one of `tightlink list sizers`. `sobas`: the window that fills the path without a standing queue. It
    /// is found while the flow runs, and follows changes of the path
    /// ([reasons](../adr/0009-sobas-reconstructed.md)). `wad`: capacity times base RTT, measured once.
    /// `maximum`: always `max`. `drs`: dynamic right-sizing by Linux's rules. Once per round trip the window
    /// becomes twice what was delivered in it, with room to grow; it begins with 65535 B and never shrinks
    key sizer => {
        kind: "text", default: Required(r#"the name of a sizer, such as "drs""#),
    }
    /// the largest window, in payload. Linux limits a buffer's memory (`tcp_rmem`, 6 MiB unless set), about
    /// half of which is payload
    key max => {
        kind: "size of at least one payload", default: Written(r#""6MB""#),
        why: "half of the memory that Linux allows a connection", from: "Linux `tcp_rmem`",
    }
    /// with `sobas`: the share of goodput that the window may cost against a window without limit. The sizer
    /// then compares the two in turns while the flow runs, and keeps the better one
    /// ([how](../papers/sobas.md#with-a-bound))
    key regret => {
        kind: "share above 0", default: Words("no bound"),
        why: "the paper's SOBAS has none", from: "sobas:III",
    }
}

pub(crate) fn socket_buffer(at: &ValueAt<'_>, segment: Option<Bytes>, header: Bytes) -> Option<SocketBuffer> {
    if at.node.typed() == "max" {
        return Some(SocketBuffer::Max);
    }
    if at.node.typed() == "autotuned" {
        return Some(SocketBuffer::Autotuned);
    }
    if let Value::Table(_) = &at.node.value {
        return sizer(&at.keys(SIZER)?, segment, header);
    }
    let accepted = "\"max\", \"autotuned\", a size such as \"400kB\", or a sizer such as { sizer = \"drs\", max = \"6MB\" }";
    let size = at.sized(accepted)?;
    holds_one(at, size, accepted, segment, header).then_some(SocketBuffer::Fixed(size))
}

pub(crate) fn send_buffer(at: &ValueAt<'_>, segment: Option<Bytes>, header: Bytes) -> Option<SendBuffer> {
    match at.node.typed() {
        "unlimited" => return Some(SendBuffer::Unlimited),
        "autotuned" => return Some(SendBuffer::Autotuned),
        _ => {}
    }
    let accepted = "\"unlimited\", \"autotuned\", or a size such as \"4MB\"";
    let size = at.sized(accepted)?;
    holds_one(at, size, accepted, segment, header).then_some(SendBuffer::AtMost(size))
}

fn sizer(keys: &Keys<'_>, segment: Option<Bytes>, header: Bytes) -> Option<SocketBuffer> {
    let name = keys.read("sizer", ValueAt::text);
    let max = keys.read("max", |at| {
        let max: Bytes = at.quantity("B")?;
        holds_one(at, max, "a size such as \"6MB\"", segment, header).then_some(max)
    });
    let regret = keys.optional("regret", ValueAt::share_above_zero);
    Some(SocketBuffer::Sized { sizer: name?, max: max?, regret: regret? })
}

/// Returns true if the buffer holds one segment's payload; notes a fault if not.
fn holds_one(at: &ValueAt<'_>, size: Bytes, accepted: &str, segment: Option<Bytes>, header: Bytes) -> bool {
    let Some(payload) =
        segment.map(|segment| segment.saturating_sub(header)).filter(|payload| size < *payload)
    else {
        return true;
    };
    let found = format!("{size}, less than the {payload} of data in one segment: nothing could be sent");
    at.fault(found, accepted, None);
    false
}
