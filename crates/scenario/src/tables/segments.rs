//! Readers of a flow's segments and of its slow-start thresholds.

use super::quic;
use crate::cursor::ValueAt;
use crate::values::Carrier;
use units::Bytes;

/// The longest IPv4 packet [rfc791:3.1].
const LONGEST: Bytes = Bytes::new(65_535);

/// Reads the length of a full segment. `header` are the bytes around its payload.
pub(super) fn segment(at: &ValueAt<'_>, header: Bytes, carrier: Carrier) -> Option<Bytes> {
    let segment: Bytes = at.quantity("B")?;
    if carrier == Carrier::Quic {
        return quic::segment(at, segment, LONGEST);
    }
    let least = header.get() + 1;
    if segment <= header {
        let found = format!("a segment of {segment}, which its {header} of headers fill");
        at.fault(found, format!("a size on the wire from \"{least}B\" to \"65535B\""), None);
        return None;
    }
    if segment > LONGEST {
        at.fault(
            format!("a segment of {segment}"),
            format!("a size on the wire from \"{least}B\" to \"65535B\""),
            None,
        );
        return None;
    }
    Some(segment)
}

/// Reads the slow-start threshold at the start.
pub(super) fn ssthresh(at: &ValueAt<'_>) -> Option<Option<Bytes>> {
    if at.node.typed() == "unlimited" {
        return Some(None);
    }
    at.sized("\"unlimited\", or a size such as \"64kB\"").map(Some)
}

/// Reads the window above which limited slow start grows more slowly. Other slow starts refuse the key.
pub(super) fn max_ssthresh(at: &ValueAt<'_>, slow_start: Option<&str>) -> Option<u64> {
    let read = at.count("a max_ssthresh of zero: no growth at all")?;
    match (at.key, slow_start) {
        (Some(key), Some(slow_start)) if slow_start != "limited" => {
            let found = format!("this key belongs to slow_start = \"limited\", not to \"{slow_start}\"");
            let help = "leave it out, or write slow_start = \"limited\"".to_owned();
            at.fault_from(key, found, "no max_ssthresh here", Some(help));
            None
        }
        _ => Some(read),
    }
}
