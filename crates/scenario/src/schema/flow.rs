//! `[[flow]]`. `schema/ends.rs` has the keys of the two ends, `schema/values.rs` the tables that a value may be.

use super::DefaultValue::{Hosts, Words, Written};
use super::ends::ENDS;
use super::values::{SIZER, SPREAD};
use super::{KEY, Key, Keys};

/// The name of the flow.
pub(super) const NAME: &[Key] = &[Key {
    name: "name",
    kind: "text",
    default: Words(r#"`"flow"`, then `"flow-2"`, …"#),
    meaning: "names the flow in results and its random streams. With `count` over 1: `name-1`, `name-2`, …",
    ..KEY
}];

/// What only a transfer has, and a user of a population does not.
pub(super) const AMOUNT: &[Key] = &[
    Key {
        name: "count",
        kind: "whole number, 0 to 1000000",
        default: Written("1"),
        meaning: "number of transfers alike; 0, for sweeps, where another `[[flow]]` has some",
        ..KEY
    },
    Key {
        name: "size",
        kind: "size above zero",
        default: Words("none: greedy"),
        meaning: "payload to move",
        ..KEY
    },
    Key {
        name: "handshake",
        kind: "`true`, `false`",
        default: Written("true"),
        engines: "sim",
        meaning: "a SYN of 40 bytes and its answer cross the path, with its queues, before the data. They give the \
             first round-trip sample. A lost SYN is sent again after `initial_rto`, then twice that, and so on (RFC \
             6298). `false`: the connection is there at `start`, as in sources without a handshake (ns-2's one-way \
             TCP, fluid models). `completion_s` leaves the handshake out, and `handshake_s` has its time. `live`: \
             the kernel's connections always have one",
        ..KEY
    },
    Key {
        name: "stop",
        kind: "time after every `start`",
        default: Words("stays"),
        engines: "sim",
        refused_by: "model live",
        meaning: "when the transfer leaves: it sends nothing new from then on. What it has sent is still \
             delivered, and repaired where it was lost; its goodput is over the time until all of it is acknowledged",
        ..KEY
    },
];

/// When it starts, and its base RTT.
pub(super) const PATH: &[Key] = &[
    Key {
        name: "start",
        kind: "[spread](../guide/scenario.md#spreads) of times",
        default: Written(r#""0s""#),
        engines: "sim live",
        within: SPREAD,
        meaning: "when the transfer starts; `model` has its steady state",
        ..KEY
    },
    Key {
        name: "rtt",
        kind: "[spread](../guide/scenario.md#spreads) of times",
        default: Words("twice the `delay` of its links"),
        within: SPREAD,
        meaning: "the whole base RTT. What the links' delay does not cover lies on the flow's own access lines. \
             Less than twice the links' delay is an error. `live`: the least base RTT is the emulated \
             path's; what a flow has beyond it is added on its way back",
        ..KEY
    },
];

/// The links that packets cross.
pub(super) const WAY: &[Key] = &[
    Key {
        name: "path",
        kind: "list of link names",
        default: Words("all links"),
        meaning: "what it crosses, in the order of the file; see [several \
             links](../guide/scenario.md#several-links)",
        ..KEY
    },
    Key {
        name: "direction",
        kind: r#"`"forward"`, `"reverse"`"#,
        default: Written(r#""forward""#),
        engines: "sim",
        meaning: "which way its data go. `reverse` needs links that have one",
        ..KEY
    },
];

/// The way of a flow in a cell.
pub(super) const CELL_WAY: &[Key] = &[
    Key {
        name: "station",
        kind: "text, or a list of them",
        default: Words("required in a cell"),
        engines: "model sim",
        refused_by: "live",
        meaning: "the station at one end, in a [cell](../guide/scenario.md#wlan) only. With a `*` at its end all whose names begin \
             so, and of a list all that it names: the transfers of `count` are dealt out to them in turn",
        ..KEY
    },
    Key {
        name: "direction",
        kind: "`\"forward\"`, `\"reverse\"`, or in a cell `\"down\"`, `\"up\"`",
        default: Words("`\"forward\"`; in a cell `\"down\"`"),
        engines: "sim",
        meaning: "which way its data go. `reverse` needs links that have one; `down` is to the station",
        ..KEY
    },
    Key {
        name: "category",
        kind: "`\"be\"`, `\"bk\"`, `\"vi\"`, `\"vo\"`, in a cell",
        default: Words("`\"be\"`"),
        engines: "model sim",
        refused_by: "live",
        meaning: "access category of its data",
        ..KEY
    },
    Key {
        name: "ack_category",
        kind: "`\"be\"`, `\"bk\"`, `\"vi\"`, `\"vo\"`, in a cell",
        default: Words("that of its data"),
        engines: "model sim",
        refused_by: "live",
        meaning: "access category of its acknowledgements",
        ..KEY
    },
];

/// Segments and the receiver.
pub(crate) const SEGMENTS: &[Key] = &[
    Key {
        name: "segment",
        kind: "size, 53 B to 65535 B",
        default: Written(r#""1500B""#),
        meaning: "a full segment on the wire; 52 bytes of it are headers (IPv4 20, TCP 20, time stamps 12). \
             `live`: 576 B or more, the same for all flows",
        ..KEY
    },
    Key {
        name: "timestamps",
        kind: "`true`, `false`",
        default: Written("true"),
        meaning: "segments carry TCP time stamps, so that every acknowledgement gives a round-trip sample. \
             Without them headers take 40 bytes, and the least `segment` is 41 B. `live`: the same for all \
             flows",
        ..KEY
    },
    Key {
        name: "sack",
        kind: "`true`, `false`",
        default: Written("true"),
        engines: "sim live",
        meaning: "acknowledgements name what arrived out of order (RFC 2018); without, NewReno repairs losses \
             (RFC 6582), one per round trip; [what that \
             costs](../guide/scenario.md#without-selective-acknowledgements). `live`: the same for all \
             flows; `live.stack = \"classic\"` turns it off, too",
        ..KEY
    },
    Key {
        name: "delayed_ack",
        kind: "whole number, 1 to 1000000",
        default: Hosts { rfc: "1", linux: "2", with: None, source: "`__tcp_ack_snd_check`" },
        engines: "model sim",
        meaning: "number of segments per acknowledgement. RFC 5681 allows 2. Linux has 2 in the long \
             run, and 1 while the receive window still grows ([Simulation and \
             kernel](../papers/kernel.md)). The kernel has its own rule, and `model` needs one only with \
             `byte_counting = 0` ([ADR 7](../adr/0007-pftk-full-and-byte-counting.md))",
        ..KEY
    },
    Key {
        name: "delayed_ack_timeout",
        kind: "time",
        default: Hosts { rfc: r#""100ms""#, linux: r#""40ms""#, with: None, source: "`TCP_DELACK_MIN`" },
        engines: "sim",
        meaning: "a withheld acknowledgement leaves after this at the latest",
        ..KEY
    },
    Key {
        name: "socket_buffer",
        kind: "`\"max\"`, `\"autotuned\"`, a size of at least one payload, or a \
               [sizer](../guide/scenario.md#sizers)",
        default: Hosts { rfc: r#""max""#, linux: r#""autotuned""#, with: None, source: "`tcp_rmem`" },
        within: SIZER,
        meaning: "the receive window: at most this much payload unacknowledged. `\"autotuned\"`: the kernel's own \
             sizing. In `sim` that is the sizer `drs` up to 22282240 B: 170/256 of the 32 MiB of `tcp_rmem` (Linux \
             6.16 and later). Behind a TUN device, as `live` has it, that part of the memory is payload; behind a \
             network card it is 229/256. A sizer moves the receive window while the flow runs",
        ..KEY
    },
    Key {
        name: "send_buffer",
        kind: "`\"unlimited\"`, `\"autotuned\"`, or a size of at least one payload",
        default: Hosts { rfc: r#""unlimited""#, linux: r#""autotuned""#, with: None, source: "`tcp_wmem`" },
        meaning: "memory for what the sending program has written and the receiver has not acknowledged. \
             `\"autotuned\"` is 4194304 B, where Linux's `tcp_wmem` ends; a size is another end. 98.2 % of it are \
             payload. The program fills it, and fills it again when a third is free, as a burst \
             (`sk_stream_is_writeable`). So two thirds to all of it are in flight, in bursts. Two bursts \
             leave in a round trip, so `model` takes two thirds as the window. A program that writes small blocks after `poll` \
             stays near two thirds, too",
        ..KEY
    },
];

/// The control and the windows.
pub(crate) const WINDOWS: &[Key] = &[
    Key {
        name: "control",
        kind: "text",
        default: Written(r#""reno""#),
        meaning: "congestion control, one of `tightlink list controls`. `model` has `fixed` and `reno`, and for ten \
             flows or more `highspeed`, `scalable` and `cubic`. `sim` has all of them ([how each was \
             checked](../papers/controllers.md)). `live` has the kernel's `reno`, `cubic`, `bbr`. `fixed` needs a \
             `socket_buffer`",
        ..KEY
    },
    Key {
        name: "initial_window",
        kind: "whole number, 1 to 1000000",
        default: Written("10"),
        engines: "sim",
        meaning: "congestion window at the start, in segments; the kernel's is 10",
        ..KEY
    },
    Key {
        name: "initial_ssthresh",
        kind: r#"`"unlimited"` or a size"#,
        default: Written(r#""unlimited""#),
        engines: "sim",
        meaning: "slow-start threshold at the start",
        ..KEY
    },
    Key {
        name: "slow_start",
        kind: "text",
        default: Hosts {
            rfc: r#""standard""#,
            linux: r#""hystart""#,
            with: Some("cubic"),
            source: "`tcp_cubic.c`",
        },
        engines: "sim",
        refused_by: "live",
        meaning: "slow-start variant. `standard` is that of RFC 5681. `hystart` (Ha and Rhee 2011, Linux's CUBIC) ends \
             when a round's acknowledgements span half the RTT, or the delay rises. `limited` (RFC 3742) adds no \
             more than half of `max_ssthresh` per round trip above it. `hystart++` (RFC 9406) slows down when the \
             delay rises, and leaves slow start if the rise lasts. `live` refuses all but `standard` and, with \
             `cubic`, `hystart`: the kernel has its own. `model` describes what comes after",
        ..KEY
    },
    Key {
        name: "max_ssthresh",
        kind: "whole number, 1 to 1000000",
        default: Written("100"),
        engines: "sim",
        meaning: r#"where `slow_start = "limited"` begins to be slower, in segments; an error with any other"#,
        ..KEY
    },
    Key {
        name: "fast_alpha",
        kind: "whole number, 1 to 1000000",
        default: Words("by the flow's own throughput"),
        engines: "sim",
        meaning: "packets that `control = \"fast\"` keeps in the queue; no other control reads it. P3 sets it \
             for a path: twice the largest throughput there in packets per millisecond, 8 at least. Flows \
             with different values have unequal shares",
        ..KEY
    },
    Key {
        name: "byte_counting",
        kind: "whole number, 0 to 1000",
        default: Hosts {
            rfc: "1",
            linux: "1000",
            with: None,
            source: "`tcp_slow_start` counts all that is acknowledged",
        },
        engines: "model sim",
        refused_by: "live",
        meaning: "how many segments one acknowledgement may count for in slow start, the L of RFC 3465; after a \
             timeout it is 1. RFC 3465 tries 2, RFC 9406 recommends 8 with `hystart++`. It matters with \
             `delayed_ack` above 1. With 0, acknowledgements are counted instead of bytes, in slow start and in \
             congestion avoidance (RFC 2581, ns-2). `model` then takes `delayed_ack` into account. `live` refuses \
             all but 1 and the value of `host = \"linux\"`",
        ..KEY
    },
    Key {
        name: "pacing",
        kind: "`true`, `false`",
        default: Written("false"),
        engines: "sim",
        refused_by: "live",
        meaning: "packets leave spaced, at the controller's rate if it has one. Otherwise the rate is `ratio` x window \
             / smoothed RTT. The ratio is 2 below half the slow-start threshold and 1.2 above, as in Linux. \
             Before the first RTT sample nothing is held back. A controller with a rate is always paced. Two \
             packets leave together, or one below 1.2 Mbit/s: the least of BBR's drafts and of Linux. A \
             controller or a sizer that places departures sends single packets",
        ..KEY
    },
    Key {
        name: "send_jitter",
        kind: "time",
        default: Hosts { rfc: r#""0s""#, linux: r#""50us""#, with: None, source: "ours to choose" },
        engines: "sim",
        refused_by: "live",
        meaning: "each packet leaves later by a uniform random share of this; breaks phase effects. \
             `live` refuses all values but zero and that of `host = \"linux\"`",
        ..KEY
    },
];

/// Losses and timeouts.
pub(crate) const LOSSES: &[Key] = &[
    Key {
        name: "recovery",
        kind: r#"`"rfc6675"`, `"prr"`, `"sack1"`, `"reno"`"#,
        default: Hosts {
            rfc: r#""rfc6675""#,
            linux: r#""prr""#,
            with: None,
            source: "RFC 9937; `tcp_input.c` has no other",
        },
        engines: "sim",
        meaning: "how much fast recovery sends. `rfc6675` sends as much as the window has room for. `prr` sends in \
             proportion to delivered data (RFC 9937). `sack1` is ns-2's \
             Sack1: lost segments count as in flight until they are acknowledged. That one is for comparisons \
             with ns-2, and needs `sack`; where more than a window is lost it waits for a timeout. `reno` needs \
             `sack = false`. Its recovery ends with the first acknowledgement of new data (RFC 2581), with no \
             second one for the same window, as in ns-2's Reno. So two losses of a window mostly wait for a \
             timeout. Linux always has `\"prr\"`",
        ..KEY
    },
    Key {
        name: "loss_detection",
        kind: r#"`"dupack"`, `"rack"`"#,
        default: Hosts {
            rfc: r#""dupack""#,
            linux: r#""rack""#,
            with: None,
            source: "RFC 8985; `tcp_recovery` = 1",
        },
        engines: "sim",
        meaning: "how losses are found. `dupack` waits for three duplicate or selective acknowledgements. `rack` goes \
             by time (RACK-TLP, RFC 8985), and finds lost retransmissions and lost tails without a timeout. \
             `\"rack\"` needs `sack`. The kernel has RACK unless `live.stack = \"classic\"`, which refuses \
             `\"rack\"`. Best with `recovery = \"prr\"`: alone it may reduce the window twice after an overshoot",
        ..KEY
    },
    Key {
        name: "ecn",
        kind: "`true`, `false`",
        default: Written("false"),
        engines: "sim",
        refused_by: "live",
        meaning: "queues that can mark (`drop-tail` and `drop-head` only with `queue.mark_above`) mark the flow's \
             packets instead of dropping them (RFC 3168). The sender reduces its window once per round trip. \
             Retransmissions cannot be marked",
        ..KEY
    },
    Key {
        name: "min_rto",
        kind: "time",
        default: Written(r#""200ms""#),
        engines: "model sim",
        meaning: "least retransmission timeout. `model` and `sim`; the kernel's is 200 ms",
        ..KEY
    },
    Key {
        name: "initial_rto",
        kind: "time above zero",
        default: Written(r#""1s""#),
        engines: "sim",
        meaning: "retransmission timeout before the first round-trip sample (RFC 6298; RFC 2988 had 3 s)",
        ..KEY
    },
];

/// What a flow moves, and where.
pub(crate) const MOVES: Keys = &[NAME, AMOUNT, PATH, CELL_WAY, WAY];
/// `[[flow]]`.
pub(crate) const FLOW: Keys = &[NAME, AMOUNT, PATH, CELL_WAY, WAY, SEGMENTS, ENDS, WINDOWS, LOSSES];
