//! The keys of a `[[flow]]` over QUIC: the values that other bounds hold for, and the keys that only TCP has.

use crate::cursor::{Keys, ValueAt};
use crate::values::Carrier;
use units::{Bytes, Span};

/// The least packet, IP header included: QUIC's datagrams carry at least 1200 bytes [rfc9000:14.1].
const LEAST_PACKET: Bytes = Bytes::new(1228);
/// The most packets that the extension of acknowledgement frequency lets the receiver acknowledge together.
const MOST_TOGETHER: u64 = 100;
/// The bounds of the delay of an acknowledgement; QUIC has none of 2^14 ms or more [rfc9000:18.2].
const ACK_DELAY: [Span; 2] = [Span::from_millis(1), Span::from_millis((1 << 14) - 1)];

/// The keys that a flow over QUIC refuses, and the reasons.
const REFUSED: [(&str, &str); 16] = [
    ("timestamps", "its packets carry no TCP time stamps"),
    ("sack", "its acknowledgements always name what arrived"),
    ("recovery", "only TCP has a rule for the data that fast recovery sends"),
    ("loss_detection", "it finds losses by RFC 9002"),
    ("ecn", "this version asks for no marks there"),
    ("pacing", "its departures are those of the control"),
    ("min_rto", "its timeouts are those of RFC 9002"),
    ("initial_rto", "its timeouts are those of RFC 9002"),
    ("undo_timeouts", "only TCP has timeouts that the kernel undoes"),
    ("tso", "only TCP leaves in super-packets of the kernel"),
    ("gro", "each packet reaches the receiver by itself"),
    ("quick_ack", "the number of packets per acknowledgement is asked of the receiver"),
    ("quick_growth", "the number of packets per acknowledgement is asked of the receiver"),
    ("sack_compression", "only TCP's acknowledgements beyond a hole wait"),
    ("send_buffer", "its sender has no buffer of the kernel"),
    ("access_rate", "its sender has no line of its own"),
];

/// Records a fault for each written key that a flow over QUIC refuses. Defaults of a `host` are no faults.
pub(crate) fn refuse(keys: &Keys<'_>) {
    for (name, reason) in REFUSED {
        if let Some(at) = keys.get(name) {
            let found = format!("{name} of a flow over QUIC: {reason}");
            let help = format!("leave {name} out, or write transport = \"tcp\"");
            at.fault(found, format!("no {name} with transport = \"quic\""), Some(help));
        }
    }
}

const OR_TCP: &str = "write such a value, or transport = \"tcp\"";

/// Reads the number of segments or packets per acknowledgement.
pub(super) fn delayed_ack(at: &ValueAt<'_>, carrier: Carrier) -> Option<u64> {
    if carrier == Carrier::Tcp {
        return at.count("an acknowledgement for every zero segments");
    }
    at.integer(1..=MOST_TOGETHER)
}

/// Reads the longest delay of an acknowledgement.
pub(super) fn delayed_ack_timeout(at: &ValueAt<'_>, carrier: Carrier) -> Option<Span> {
    let timeout: Span = at.quantity("ms")?;
    let [least, most] = ACK_DELAY;
    if carrier == Carrier::Quic && !(least..=most).contains(&timeout) {
        let found = format!("an acknowledgement over QUIC that waits for up to {timeout}");
        at.fault(found, format!("a time from {least} to {most}"), Some(OR_TCP.into()));
        return None;
    }
    Some(timeout)
}

/// Checks a packet's length, IP header included.
pub(super) fn segment(at: &ValueAt<'_>, segment: Bytes, longest: Bytes) -> Option<Bytes> {
    if (LEAST_PACKET..=longest).contains(&segment) {
        return Some(segment);
    }
    let found = format!("packets of {segment} over QUIC, whose datagrams carry 1200 bytes or more");
    let accepted = format!("a size on the wire from \"{}B\" to \"{}B\"", LEAST_PACKET.get(), longest.get());
    at.fault(found, accepted, Some(OR_TCP.into()));
    None
}
