//! `socket_buffer`: a word, a size, or a sizer; `send_buffer`: a word or a size.

use super::settings::share_above_zero;
use crate::cursor::{At, Keys};
use crate::spec::{SendBuffer, SocketBuffer};
use crate::tables;
use crate::tree::Value;
use units::Bytes;

pub(super) fn socket_buffer(at: &At<'_>, segment: Option<Bytes>, header: Bytes) -> Option<SocketBuffer> {
    if at.node.typed() == "max" {
        return Some(SocketBuffer::Max);
    }
    if at.node.typed() == "autotuned" {
        return Some(SocketBuffer::Autotuned);
    }
    if let Value::Table(_) = &at.node.value {
        return sizer(&at.keys(tables::SIZER)?, segment, header);
    }
    let accepted = "\"max\", \"autotuned\", a size such as \"400kB\", or a sizer such as { sizer = \"drs\", max = \"6MB\" }";
    let size = at.sized(accepted)?;
    holds_one(at, size, accepted, segment, header).then_some(SocketBuffer::Fixed(size))
}

pub(super) fn send_buffer(at: &At<'_>, segment: Option<Bytes>, header: Bytes) -> Option<SendBuffer> {
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
    let name = keys.read("sizer", At::text);
    let max = keys.read("max", |at| {
        let max: Bytes = at.quantity("B")?;
        holds_one(at, max, "a size such as \"6MB\"", segment, header).then_some(max)
    });
    let regret = keys.optional("regret", share_above_zero);
    Some(SocketBuffer::Sized { sizer: name?, max: max?, regret: regret? })
}

/// Notes a buffer of less than one segment's payload.
fn holds_one(at: &At<'_>, size: Bytes, accepted: &str, segment: Option<Bytes>, header: Bytes) -> bool {
    let Some(payload) =
        segment.map(|segment| segment.saturating_sub(header)).filter(|payload| size < *payload)
    else {
        return true;
    };
    let found = format!("{size}, less than the {payload} of data in one segment: nothing could be sent");
    at.fault(found, accepted, None);
    false
}
