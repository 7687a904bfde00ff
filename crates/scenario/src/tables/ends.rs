//! The keys of `[[flow]]` for the behaviour of its two ends, most of them for batches: segmentation offload, coalesced
//! arrivals, delayed and compressed acknowledgements.

use super::draft::FlowDraft;
use crate::cursor::ValueAt;
use crate::schema::DefaultValue::Written;
use crate::schema::{KEY, OWN, by_host};
use crate::table::table;
use units::{Rate, Span};

table! {
    /// The behaviour of the two ends of a flow.
    pub struct Ends {
        /// The values for the connection.
        pub host: transport::Host = transport::Host::default(),
    }
    read EndsRead |at, read, _context: ()|;
    draft FlowDraft;
    keys ENDS_KEYS = [ENDS];

    /// The behaviour of the two ends with segments that are close together.
    group ENDS from KEY;

    /// sets other defaults for the keys of this flow, see [hosts](#hosts). A key that is written comes first
    key host => {
        kind: r#"`"rfc"`, `"linux"`"#, default: Written(r#""rfc""#),
        why: "results follow from documents, and not from one kernel", from: OWN,
    }
    /// variant of BBR that `control = "bbr"` means: the draft's, or Linux's. Linux's paces 1 % below the rate
    /// that it aims at (`bbr_pacing_margin_percent`), so that a standing queue drains. An RTT equal to the
    /// least one does not put off its next probe for the RTT. It has an even number of segments in flight,
    /// and two more while it probes for bandwidth (`bbr_quantization_budget`). Its window has room for what
    /// acknowledgements report together (`bbr_update_ack_aggregation`). It paces from the tenth segment on
    /// (`tcp_update_skb_after_send`). No other control reads the key
    in host: bbr_variant = at.word() => {
        kind: r#"`"draft"`, `"linux"`"#,
        default: by_host(r#""draft""#, r#""linux""#, "`tcp_bbr.c`"),
        engines: "sim",
        why: "the draft is the specification", from: "draft-cardwell-iccrg-bbr-congestion-control-00",
    }
    /// variant of CUBIC that `control = "cubic"` means: RFC 9438's, or Linux's. The RFC's estimate of Reno
    /// grows by a segment per round trip once it is back at the window before the loss. Linux's always grows
    /// by 0.53 segments per round trip. No other control reads the key
    in host: cubic_variant = at.word() => {
        kind: r#"`"rfc"`, `"linux"`"#,
        default: by_host(r#""rfc""#, r#""linux""#, "`tcp_cubic.c`"),
        engines: "sim",
        why: "the RFC is the specification", from: "RFC 9438 (4.3)",
    }
    /// rules for the window of a loss-based control: RFC 5681's, or Linux's. By the RFC a loss leaves a share of the
    /// data in flight. The window does not grow for the acknowledgement that ends fast recovery. In Linux a loss leaves
    /// a share of the window, in whole segments. The window also grows for the data that the acknowledgement delivers
    /// which ends fast recovery. With `loss_detection = "rack"` a lost retransmission does not count as a second sign
    /// of congestion, and the timer takes samples from selective acknowledgements. The timer waits for `min_rto` beyond
    /// the smoothed round trip (`__tcp_set_rto`)
    in host: window_variant = at.word() => {
        kind: r#"`"rfc"`, `"linux"`"#,
        default: by_host(r#""rfc""#, r#""linux""#, "`tcp_init_cwnd_reduction`, `tcp_cong_control`, `tcp_fastretrans_alert`"),
        engines: "sim",
        why: "the RFC is the specification", from: "RFC 5681 (3.1, 3.2)",
    }
    /// a retransmission timeout is undone if the data were only late, as behind a link that stood still. An
    /// acknowledgement shows this if it echoes a time stamp from before the first retransmission (RFC 3522). With
    /// `loss_detection = "rack"` the arrival of a segment that was not sent again shows it, too (F-RTO, RFC 5682).
    /// Nothing then counts as lost, and the window is that before the timeout (RFC 4015). It needs `sack`; without it
    /// the key has no effect
    in host: undo_timeouts = at.boolean() => {
        kind: "`true`, `false`",
        default: by_host("false", "true", "`tcp_try_undo_loss`, `tcp_frto`"),
        engines: "sim",
        why: "RFC 5681 and RFC 6298 do not undo a timeout", from: "RFC 5681 (3.1)",
    }
    /// segments leave in super-packets, as with segmentation offload. A super-packet has the segments that
    /// the pacing rate sends in 1/1024 s, at least two and at most 64 kB (`tcp_tso_autosize`). With an RTT of
    /// some milliseconds it has more. If less than a third of the window could leave, and the next
    /// acknowledgement is expected within 1 ms, the sender waits for it (`tcp_tso_should_defer`). A control
    /// that places departures (`madison`) sends segment by segment. The last segment of a super-packet with
    /// several is acknowledged at once: it has the PSH flag (`__tcp_transmit_skb`, `tcp_measure_rcv_mss`)
    in host: tso = at.boolean() => {
        kind: "`true`, `false`",
        default: by_host("false", "true", "`tcp_tso_autosize`, `tcp_tso_should_defer`"),
        engines: "sim",
        why: "one segment is one packet", from: OWN,
    }
    /// the receiver merges neighbouring segments that arrive within this time, up to 64 kB, and acknowledges
    /// them once. This happens by receive offload and interrupt moderation
    in host: gro = gathering(at, "us") => {
        kind: "time up to 10 ms",
        default: by_host(r#""0s""#, r#""50us""#, "ours to choose: interrupt moderation of common cards"),
        engines: "sim",
        why: "each segment is acknowledged by itself", from: OWN,
    }
    /// number of acknowledgements that are sent at once before `delayed_ack` holds, and again after a segment
    /// that had arrived before
    in host: quick_ack = at.integer(0..=MOST_QUICK) => {
        kind: "whole number, 0 to 1000000",
        default: by_host("0", "16", "`TCP_MAX_QUICKACKS`"),
        engines: "sim",
        why: "no phase of its own before delayed acknowledgements", from: "RFC 5681 (4.2)",
    }
    /// segments are acknowledged one by one while the receive window grows. It begins at 64 kB and grows by
    /// two segments for each that arrives, up to `socket_buffer`, as Linux has it (`tcp_grow_window`). With
    /// `"autotuned"` that limit moves through slow start, so all of it is acknowledged one by one. A buffer
    /// that is forced to 64 MB, as `live` does for `"max"`, takes 23 000 segments for that
    in host: quick_growth = at.boolean() => {
        kind: "`true`, `false`",
        default: by_host("false", "true", "`tcp_grow_window`"),
        engines: "sim",
        why: "the receive window has grown before", from: OWN,
    }
    /// beyond a hole, the acknowledgements after the third wait for the lesser of this time and a twentieth
    /// of the RTT. One is then sent for all (`tcp_comp_sack_delay_ns`)
    in host: sack_compression = gathering(at, "ms") => {
        kind: "time up to 10 ms",
        default: by_host(r#""0s""#, r#""1ms""#, "`tcp_comp_sack_delay_ns`"),
        engines: "sim",
        why: "an acknowledgement leaves at once beyond a hole", from: "RFC 5681 (4.2)",
    }
    /// mean time for which the receiver's processor is away, for other work or for another virtual machine.
    /// The times have an exponential distribution. One acknowledgement covers all segments that arrived
    /// meanwhile, and the sender answers it with a burst
    in host: pause = gathering(at, "ms") => {
        kind: "time up to 10 ms",
        default: by_host(r#""0s""#, r#""1ms""#, "gaps between acknowledgements of a virtual machine's kernel ([Simulation and kernel](../papers/kernel.md#pauses-of-a-host))"),
        engines: "sim",
        why: "the receiver's processor is always there", from: OWN,
    }
    /// mean time between two pauses, exponential; without a `pause` it has no effect
    in host: pause_interval = at.above_zero("s", "no time between two pauses: nothing would ever be received") => {
        kind: "time above zero",
        default: by_host(r#""500ms""#, r#""200ms""#, "gaps between acknowledgements of a virtual machine's kernel ([Simulation and kernel](../papers/kernel.md#pauses-of-a-host))"),
        engines: "sim",
        why: "without a `pause` it has no effect", from: OWN,
    }
    /// time that the receiver's processor takes to wake up after 200 us or more without work. Linux lets a virtual
    /// processor poll for 200 us before it halts (`guest_halt_poll_ns`). Packets that arrive meanwhile are handled
    /// together. It also stands for the wake-up of the sender's processor, where acknowledgements are not gathered a
    /// second time. Each flow has a processor of its own: `"0s"` for flows that share one which they keep awake
    in host: wake_up = gathering(at, "us") => {
        kind: "time up to 10 ms",
        default: by_host(r#""0s""#, r#""350us""#, "clumps of acknowledgements of the same kernel ([the same](../papers/kernel.md#clumps-after-an-idle-time))"),
        engines: "sim",
        why: "the receiver's processor never sleeps", from: OWN,
    }
    /// rate of the sender's own line to the first link, on the wire. The host holds segments back while the
    /// line is busy. Without a limit a window that opens at once arrives at the link as one lump. A segment's
    /// own time on the line belongs to `rtt`. `live` refuses all rates but that of `host = "linux"`: there
    /// the line is the machine's memory
    key access_rate => {
        kind: r#"`"unlimited"` or a rate above zero"#,
        default: by_host(r#""unlimited""#, r#""10Gbit/s""#, "ours to choose: a common card"),
        engines: "sim", refused_by: "live",
        why: "the sender is not the bottleneck", from: OWN,
    }
}

/// The most quick acknowledgements: more than the segments by which a receive window grows. Linux sends them no longer
/// than that.
const MOST_QUICK: u64 = 1_000_000;

/// The longest time for which a host may gather segments or acknowledgements: more is not coalescing but a delay.
const LONGEST_GATHERING: Span = Span::from_millis(10);

/// Reads the time for which a host gathers arrivals.
fn gathering(at: &ValueAt<'_>, unit: &str) -> Option<Span> {
    let time: Span = at.quantity(unit)?;
    if time > LONGEST_GATHERING {
        at.fault(format!("{time}"), format!("a time up to {LONGEST_GATHERING}"), None);
        return None;
    }
    Some(time)
}

pub(crate) fn access_rate(at: &ValueAt<'_>) -> Option<Option<Rate>> {
    if at.node.typed() == "unlimited" {
        return Some(None);
    }
    at.above_zero("Mbit/s", "a line of zero: nothing could be sent").map(Some)
}
