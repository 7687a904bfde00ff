//! What the two ends of a flow do with segments that are close together: part of `[[flow]]`.

use super::DefaultValue::{Hosts, Written};
use super::{KEY, Key};

/// What the two ends do with segments that are close together.
pub(crate) const ENDS: &[Key] = &[
    Key {
        name: "host",
        kind: r#"`"rfc"`, `"linux"`"#,
        default: Written(r#""rfc""#),
        meaning: "sets other defaults for the keys of this flow, see [hosts](#hosts). A key that is written comes first",
        ..KEY
    },
    Key {
        name: "bbr_variant",
        kind: r#"`"draft"`, `"linux"`"#,
        default: Hosts { rfc: r#""draft""#, linux: r#""linux""#, with: None, source: "`tcp_bbr.c`" },
        engines: "sim",
        meaning: "which BBR `control = \"bbr\"` is: the draft's, or Linux's. Linux's paces 1 % below the rate \
             that it aims at (`bbr_pacing_margin_percent`), so that a standing queue drains. An RTT equal \
             to the least one does not put off its next probe for the RTT. It has an even number of segments in \
             flight, and two more while it probes for bandwidth (`bbr_quantization_budget`). Its window has room \
             for what acknowledgements report together (`bbr_update_ack_aggregation`). It paces from \
             the tenth segment on (`tcp_update_skb_after_send`). No other control reads the key",
        ..KEY
    },
    Key {
        name: "cubic_variant",
        kind: r#"`"rfc"`, `"linux"`"#,
        default: Hosts { rfc: r#""rfc""#, linux: r#""linux""#, with: None, source: "`tcp_cubic.c`" },
        engines: "sim",
        meaning: "which CUBIC `control = \"cubic\"` is: RFC 9438's, or Linux's. The RFC's estimate of Reno grows by a \
             segment per round trip once it is back at the window before the loss. Linux's always grows by 0.53 \
             segments per round trip. No other control reads the key",
        ..KEY
    },
    Key {
        name: "window_variant",
        kind: "`\"rfc\"`, `\"linux\"`",
        default: Hosts {
            rfc: r#""rfc""#,
            linux: r#""linux""#,
            with: None,
            source: "`tcp_init_cwnd_reduction`, `tcp_cong_control`, `tcp_fastretrans_alert`",
        },
        engines: "sim",
        meaning: "how the window of a control that goes by losses moves: by RFC 5681, or as in Linux. By the RFC a loss \
             leaves a share of what was in flight. The acknowledgement that ends fast recovery does not count. In \
             Linux a loss leaves a share of the window, in whole segments. The acknowledgement that ends fast \
             recovery counts for what it delivers. With `loss_detection = \"rack\"` a lost retransmission is no \
             second sign of congestion, and the timer takes samples from selective acknowledgements. The timer \
             waits for `min_rto` beyond the smoothed round trip (`__tcp_set_rto`)",
        ..KEY
    },
    Key {
        name: "tso",
        kind: "`true`, `false`",
        default: Hosts {
            rfc: "false",
            linux: "true",
            with: None,
            source: "`tcp_tso_autosize`, `tcp_tso_should_defer`",
        },
        engines: "sim",
        meaning: "segments leave in super-packets, as with segmentation offload. A super-packet has the segments that \
             the pacing rate sends in 1/1024 s, at least two and at most 64 kB (`tcp_tso_autosize`). With an RTT \
             of some milliseconds it has more. If less than a third of the window could leave, and the next \
             acknowledgement is expected within 1 ms, the sender waits for it (`tcp_tso_should_defer`). A control \
             that places departures (`madison`) sends segment by segment. The last segment of a super-packet with several \
             is acknowledged at once: it has the PSH flag (`__tcp_transmit_skb`, `tcp_measure_rcv_mss`)",
        ..KEY
    },
    Key {
        name: "gro",
        kind: "time up to 10 ms",
        default: Hosts {
            rfc: r#""0s""#,
            linux: r#""50us""#,
            with: None,
            source: "ours to choose: interrupt moderation of common cards",
        },
        engines: "sim",
        meaning: "the receiver merges neighbouring segments that arrive within this time, up to 64 kB, and \
             acknowledges them once. Receive offload and interrupt moderation do so",
        ..KEY
    },
    Key {
        name: "quick_ack",
        kind: "whole number, 0 to 1000000",
        default: Hosts { rfc: "0", linux: "16", with: None, source: "`TCP_MAX_QUICKACKS`" },
        engines: "sim",
        meaning: "number of acknowledgements that are sent at once before `delayed_ack` holds, and again after a \
             segment that had arrived before",
        ..KEY
    },
    Key {
        name: "quick_growth",
        kind: "`true`, `false`",
        default: Hosts { rfc: "false", linux: "true", with: None, source: "`tcp_grow_window`" },
        engines: "sim",
        meaning: "segments are acknowledged one by one while the receive window grows. It begins at 64 kB and grows \
             by two segments for each that arrives, up to `socket_buffer`, as Linux has it (`tcp_grow_window`). \
             With `\"autotuned\"` that limit moves through slow start, so all of it is acknowledged one by one. A \
             buffer that is forced to 64 MB, as `live` does for `\"max\"`, takes 23 000 segments for that",
        ..KEY
    },
    Key {
        name: "sack_compression",
        kind: "time up to 10 ms",
        default: Hosts { rfc: r#""0s""#, linux: r#""1ms""#, with: None, source: "`tcp_comp_sack_delay_ns`" },
        engines: "sim",
        meaning: "beyond a hole, the acknowledgements after the third wait for the lesser of this time and a twentieth \
             of the RTT. One is then sent for all (`tcp_comp_sack_delay_ns`)",
        ..KEY
    },
    Key {
        name: "pause",
        kind: "time up to 10 ms",
        default: Hosts {
            rfc: r#""0s""#,
            linux: r#""1ms""#,
            with: None,
            source: "gaps between acknowledgements of a virtual machine's kernel ([Simulation and \
 kernel](../papers/kernel.md#pauses-of-a-host))",
        },
        engines: "sim",
        meaning: "how long the receiver's processor is away at a time: for other work, or for another virtual \
             machine. The mean of an exponential distribution. One acknowledgement speaks for what arrived \
             meanwhile, and its sender answers with a burst",
        ..KEY
    },
    Key {
        name: "pause_interval",
        kind: "time above zero",
        default: Hosts {
            rfc: r#""500ms""#,
            linux: r#""200ms""#,
            with: None,
            source: "gaps between acknowledgements of a virtual machine's kernel ([Simulation and \
 kernel](../papers/kernel.md#pauses-of-a-host))",
        },
        engines: "sim",
        meaning: "mean time between two pauses, exponential; without a `pause` it has no effect",
        ..KEY
    },
    Key {
        name: "wake_up",
        kind: "time up to 10 ms",
        default: Hosts {
            rfc: r#""0s""#,
            linux: r#""350us""#,
            with: None,
            source: "clumps of acknowledgements of the same kernel ([the same](../papers/kernel.md#clumps-after-an-idle-time))",
        },
        engines: "sim",
        meaning: "time that the receiver's processor takes to wake up after 200 us or more without work. Linux lets a \
             virtual processor poll for 200 us before it halts (`guest_halt_poll_ns`). What arrives meanwhile is \
             taken together. The sender's part belongs to it, too: acknowledgements are not gathered a second \
             time. Each flow has a processor of its own: `\"0s\"` for flows that share one which they keep awake",
        ..KEY
    },
    Key {
        name: "access_rate",
        kind: r#"`"unlimited"` or a rate above zero"#,
        default: Hosts {
            rfc: r#""unlimited""#,
            linux: r#""10Gbit/s""#,
            with: None,
            source: "ours to choose: a common card",
        },
        engines: "sim",
        refused_by: "live",
        meaning: "rate of the sender's own line to the first link, on the wire. The host holds segments back \
             while the line is busy. Without a limit a window that opens at once arrives at the link as one \
             lump. A segment's own time on the line belongs to `rtt`. `live` refuses all rates but that of \
             `host = \"linux\"`: there the line is the machine's memory",
        ..KEY
    },
];
