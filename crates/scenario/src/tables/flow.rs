//! `[[flow]]`. `tables/ends.rs` has the keys of the two ends; `tables/spread.rs` and `tables/buffer.rs` have the tables
//! that may be values.

use super::buffer::{SIZER, send_buffer, socket_buffer};
use super::draft::FlowDraft;
use super::ends::ENDS;
use super::losses::{loss_detection, recovery};
use super::marking::{MARKING, Marking};
use super::marks::{ByShare, ecn};
use super::prague;
use super::quic;
use super::segments::{max_ssthresh, segment, ssthresh};
use super::spread::{SPREAD, spread};
use super::wlan::CellWay;
use crate::schema::DefaultValue::{Hosts, Words, Written};
use crate::schema::{KEY, Keys, OWN, by_host};
use crate::table::table;
use crate::values::{Carrier, Direction, RttScaling, SocketBuffer, Spread};
use transport::Transport;
use units::{Bytes, Rate, Span};

table! {
    /// One `[[flow]]`: `count` equal transfers.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Flow {
        /// The rules by which its two ends send, acknowledge and repair losses.
        pub transport: Transport = Transport::default(),
        /// The protocol that carries its data.
        pub carrier: Carrier = Carrier::default(),
        /// The rate of the sender's own line, on the wire; absent: without limit.
        pub access_rate: Option<Rate>,
        /// The hosts and the class of its packets.
        pub marking: Marking = Marking::default(),
        /// Its way in a cell, instead of `path` and `direction`.
        pub cell: Option<CellWay>,
    }
    read FlowRead |at, read, context: &FlowContext|;
    draft FlowDraft;
    keys FLOW = [NAME, AMOUNT, PATH, CELL_WAY, WAY, SEGMENTS, ENDS, WINDOWS, LOSSES, MARKING];

    /// The name of the flow.
    group NAME from KEY;

    /// names the flow in results and its random streams. With `count` over 1: `name-1`, `name-2`, …
    pub name: String => {
        kind: "text", default: Words(r#"`"flow"`, then `"flow-2"`, …"#),
        why: "a single flow needs no name", from: OWN,
    }
    /// The keys of a transfer that a user of a population lacks.
    group AMOUNT from KEY;

    /// number of transfers alike; 0, for sweeps, where another `[[flow]]` has some
    pub count: u64 = at.integer(0..=MOST_FLOWS) => {
        kind: "whole number, 0 to 1000000", default: Written("1"),
        why: "one table is one transfer", from: OWN,
    }
    /// protocol that carries the data. `quic` puts each control of `tightlink list controls` that needs no
    /// router on real packets: `live` sends UDP packets from a program of ours. [Flows over
    /// QUIC](../guide/scenario.md#flows-over-quic) has the meaning of the other keys then, and the keys that are
    /// refused. `model` answers as for TCP, and `sim` as for TCP with RACK and PRR
    key transport => {
        kind: r#"`"tcp"`, `"quic"`"#, default: Written(r#""tcp""#),
        engines: "sim live",
        why: "the transport of the theories, and of most transfers", from: OWN,
    }
    /// payload to move
    opt size: Bytes = at.above_zero("B", "a size of zero: nothing to send") => {
        kind: "size above zero", default: Words("none: greedy"),
        why: "the question is about the steady state", from: OWN,
    }
    /// a SYN of 40 bytes and its answer cross the path, with its queues, before the data. They give the first
    /// round-trip sample. A lost SYN is sent again after `initial_rto`, then twice that, and so on (RFC
    /// 6298). `false`: the connection is there at `start`, as in sources without a handshake (ns-2's one-way
    /// TCP, fluid models). `completion_s` leaves the handshake out, and `handshake_s` has its time. `live`:
    /// the kernel's connections always have one
    pub handshake: bool = at.boolean() => {
        kind: "`true`, `false`", default: Written("true"),
        engines: "sim",
        why: "every TCP connection begins with one", from: "RFC 9293 (3.5)",
    }
    /// time from which the transfer sends nothing new. Data sent before are still delivered, and repaired if
    /// they were lost. The goodput is over the time until all of them are acknowledged. `live`: only without a
    /// `size`; the connection ends then, and losses of its last packets stay
    opt stop: Span = at.quantity("s") => {
        kind: "time after every `start`", default: Words("stays"),
        engines: "sim live", refused_by: "model",
        why: "a transfer stays to the end", from: OWN,
    }
    /// Its start time and its base RTT.
    group PATH from KEY;

    /// start of the transfer; `model` has its steady state
    pub start: Spread<Span> = spread(at, "s", context.count) => {
        kind: "[spread](../guide/scenario.md#spreads) of times", default: Written(r#""0s""#),
        engines: "sim live", within: SPREAD,
        why: "all transfers start together", from: OWN,
    }
    /// the whole base RTT. The part that the links' delay does not cover is on the flow's own access lines.
    /// Less than twice the links' delay is an error. `live`: the emulated path has the least base RTT; the
    /// rest of a longer one is added on the flow's way back
    opt rtt: Spread<Span> = spread(at, "ms", context.count) => {
        kind: "[spread](../guide/scenario.md#spreads) of times",
        default: Words("twice the `delay` of its links"),
        within: SPREAD,
        why: "acknowledgements take as long as data", from: OWN,
    }
    /// The way of a flow in a cell.
    group CELL_WAY from KEY;

    /// the station at one end, in a [cell](../guide/scenario.md#wlan) only. A name with a `*` at its end
    /// means all stations whose names begin so, and a list means all that it names. The transfers of `count`
    /// are assigned to them in turn
    key station => {
        kind: "text, or a list of them", default: Words("required in a cell"),
        engines: "model sim", refused_by: "live",
    }
    /// direction of its data. `reverse` needs links that have one; `down` is to the station
    row direction => {
        kind: r#"`"forward"`, `"reverse"`, or in a cell `"down"`, `"up"`"#,
        default: Words(r#"`"forward"`; in a cell `"down"`"#),
        engines: "sim",
        why: "a transfer is sent over the link that is described; most transfers in a cell are downloads",
        from: OWN,
    }
    /// access category of its data
    key category => {
        kind: r#"`"be"`, `"bk"`, `"vi"`, `"vo"`, in a cell"#, default: Words(r#"`"be"`"#),
        engines: "model sim", refused_by: "live",
        why: "applications that say nothing have best effort", from: "IEEE 802.11-2020 (10.2.3.2)",
    }
    /// access category of its acknowledgements
    key ack_category => {
        kind: r#"`"be"`, `"bk"`, `"vi"`, `"vo"`, in a cell"#, default: Words("that of its data"),
        engines: "model sim", refused_by: "live",
        why: "hosts copy the category of a connection", from: OWN,
    }
    /// The links that packets cross.
    group WAY from KEY;

    /// links that it crosses, in the order of the file; see [several
    /// links](../guide/scenario.md#several-links)
    pub path: Vec<String> => {
        kind: "list of link names", default: Words("all links"),
        why: "a single link is the whole path", from: OWN,
    }
    /// direction of its data. `reverse` needs links that have one
    pub direction: Direction => {
        kind: r#"`"forward"`, `"reverse"`"#, default: Written(r#""forward""#),
        engines: "sim",
        why: "traffic shares the link with the transfers", from: OWN,
    }
    /// Segments and the receiver.
    group SEGMENTS from KEY;

    /// a full segment on the wire; 52 bytes of it are headers (IPv4 20, TCP 20, time stamps 12). `live`: 576
    /// B or more, the same for all flows
    pub segment: Bytes = segment(at, context.header, context.carrier) => {
        kind: "size, 53 B to 65535 B", default: Written(r#""1500B""#),
        why: "Ethernet's MTU", from: "IEEE 802.3",
    }
    /// segments carry TCP time stamps, so that every acknowledgement gives a round-trip sample. Without them
    /// headers take 40 bytes, and the least `segment` is 41 B. `live`: the same for all flows
    in transport: timestamps = at.boolean() => {
        kind: "`true`, `false`", default: Written("true"),
        why: "Linux has them", from: "RFC 7323, Linux `tcp_timestamps`",
    }
    /// acknowledgements name what arrived out of order (RFC 2018); without, NewReno repairs losses (RFC
    /// 6582), one per round trip; [what that costs](../guide/scenario.md#without-selective-acknowledgements).
    /// `live`: the same for all flows; `live.stack = "classic"` turns it off, too
    in transport: sack = at.boolean() => {
        kind: "`true`, `false`", default: Written("true"),
        engines: "sim live",
        why: "every host of today has it", from: "RFC 2018, Linux `tcp_sack`",
    }
    /// number of segments per acknowledgement. RFC 5681 allows 2. Linux has 2 in the long run, and 1 while
    /// the receive window still grows ([Simulation and kernel](../papers/kernel.md)). The kernel has its own
    /// rule, and `model` needs one only with `byte_counting = 0` ([ADR
    /// 7](../adr/0007-pftk-full-and-byte-counting.md))
    pub delayed_ack: u64 = quic::delayed_ack(at, context.carrier) => {
        kind: "whole number, 1 to 1000000",
        default: by_host("1", "2", "`__tcp_ack_snd_check`"),
        engines: "model sim",
        why: "each segment acknowledged: the window grows as the theories have it",
        from: "RFC 5681 (4.2) allows 2",
    }
    /// a withheld acknowledgement leaves after this at the latest
    pub delayed_ack_timeout: Span = quic::delayed_ack_timeout(at, context.carrier) => {
        kind: "time",
        default: by_host(r#""100ms""#, r#""40ms""#, "`TCP_DELACK_MIN`"),
        engines: "sim",
        why: "RFC 5681 allows 500 ms; hosts wait for less", from: "RFC 5681 (4.2)",
    }
    /// the receive window: at most this much payload unacknowledged. `"autotuned"`: the kernel's own sizing.
    /// In `sim` that is the sizer `drs` up to 22282240 B: 170/256 of the 32 MiB of `tcp_rmem` (Linux 6.16 and
    /// later). Behind a TUN device, as `live` has it, that part of the memory is payload; behind a network
    /// card it is 229/256. A sizer moves the receive window while the flow runs
    pub socket_buffer: SocketBuffer = socket_buffer(at, read.segment, context.header) => {
        kind: r#"`"max"`, `"autotuned"`, a size of at least one payload, or a [sizer](../guide/scenario.md#sizers)"#,
        default: by_host(r#""max""#, r#""autotuned""#, "`tcp_rmem`"),
        within: SIZER,
        why: "the congestion window is the limit, as theories have it", from: OWN,
    }
    /// memory for what the sending program has written and the receiver has not acknowledged. `"autotuned"` is 4194304
    /// B, the maximum in Linux's `tcp_wmem`; a size is another maximum. 98.2 % of it are payload. The program fills it,
    /// and fills it again when a third is free, as a burst (`sk_stream_is_writeable`). So two thirds to all of it are
    /// in flight, in bursts. Two bursts leave in a round trip, so `model` takes two thirds as the window. A program
    /// that writes small blocks after `poll` stays near two thirds, too
    in transport.host: send_buffer = send_buffer(at, read.segment, context.header) => {
        kind: r#"`"unlimited"`, `"autotuned"`, or a size of at least one payload"#,
        default: by_host(r#""unlimited""#, r#""autotuned""#, "`tcp_wmem`"),
        why: "the congestion window is the limit, as theories have it", from: OWN,
    }
    /// The control and the windows.
    group WINDOWS from KEY;

    /// congestion control, one of `tightlink list controls`. `model` has `fixed` and `reno`, and for ten
    /// flows or more `highspeed`, `scalable` and `cubic`. `sim` has all of them ([how each was
    /// checked](../papers/controllers.md)). `live` has the kernel's `reno`, `cubic`, `bbr`, and with `transport =
    /// "quic"` all that need no router. `fixed` needs a `socket_buffer`
    pub control: String => {
        kind: "text", default: Written(r#""reno""#),
        why: "the reference of the standards, and of most theories", from: "RFC 5681",
    }
    /// congestion window at the start, in segments; the kernel's is 10
    pub initial_window: u64 = at.count("an initial window of zero: nothing could start") => {
        kind: "whole number, 1 to 1000000", default: Written("10"),
        engines: "sim",
        why: "the experimental standard that hosts have", from: "RFC 6928, Linux `TCP_INIT_CWND`",
    }
    /// slow-start threshold at the start
    pub initial_ssthresh: Option<Bytes> = ssthresh(at) => {
        kind: r#"`"unlimited"` or a size"#, default: Written(r#""unlimited""#),
        engines: "sim",
        why: "arbitrarily high", from: "RFC 5681 (3.1)",
    }
    /// slow-start variant. `standard` is that of RFC 5681. `hystart` (Ha and Rhee 2011, Linux's CUBIC) ends
    /// when a round's acknowledgements span half the RTT, or the delay rises. `limited` (RFC 3742) adds no
    /// more than half of `max_ssthresh` per round trip above it. `hystart++` (RFC 9406) slows down when the
    /// delay rises, and leaves slow start if the rise lasts. `live` refuses all but `standard` and, with
    /// `cubic`, `hystart`: the kernel has its own. `model` describes what comes after
    pub slow_start: String = at.text() => {
        kind: "text",
        default: Hosts { rfc: r#""standard""#, linux: r#""hystart""#, with: Some("cubic"), source: "`tcp_cubic.c`" },
        engines: "sim", refused_by: "live",
        why: "one segment per acknowledged segment", from: "RFC 5681 (3.1)",
    }
    /// window from which `slow_start = "limited"` grows more slowly, in segments; an error with any other
    /// slow start
    pub max_ssthresh: u64 = max_ssthresh(at, read.slow_start.as_deref()) => {
        kind: "whole number, 1 to 1000000", default: Written("100"),
        engines: "sim",
        why: "the recommended value", from: "RFC 3742 (2)",
    }
    /// packets that `control = "fast"` keeps in the queue; no other control reads it. P3 sets it for a path:
    /// twice the largest throughput there in packets per millisecond, 8 at least. Flows with different values
    /// have unequal shares
    opt fast_alpha: u64 = at.count("a backlog of zero packets: no throughput at all") => {
        kind: "whole number, 1 to 1000000", default: Words("by the flow's own throughput"),
        engines: "sim",
        why: "the rule that the comparison with Madison uses", from: "madison 5.1",
    }
    /// dependence of `control = "prague"` on the RTT; an error with any other control. `rate`: flows with an RTT up to
    /// `prague_rtt_target` have one rate. `none`: a window grows by a segment per round trip at any RTT, as DCTCP's
    /// does. The other two values of Linux's parameter of this name are not modelled. `live` refuses `none`
    pub prague_rtt_scaling: RttScaling = prague::scaling(at, context.control.as_deref()) => {
        kind: r#"`"rate"`, `"none"`"#, default: Written(r#""rate""#),
        engines: "sim", refused_by: "live",
        why: "the implementation's own", from: "L4STeam Linux, `tcp_prague` 0.6",
    }
    /// RTT up to which `prague_rtt_scaling = "rate"` holds: flows with a shorter one grow and reduce as if they had it
    pub prague_rtt_target: Span = prague::target(at, context.control.as_deref(), read.prague_rtt_scaling) => {
        kind: "time above zero up to 1 s", default: Written(r#""25ms""#),
        engines: "sim", refused_by: "live",
        why: "the implementation's own", from: "L4STeam Linux, `tcp_prague` 0.6",
    }
    /// round trips after slow start from which `prague_rtt_scaling = "rate"` holds, so that short transfers are fast
    pub prague_rtt_transition: u64 = prague::transition(at, context.control.as_deref(), read.prague_rtt_scaling) => {
        kind: "whole number, 0 to 1000000", default: Written("500"),
        engines: "sim", refused_by: "live",
        why: "the implementation's own", from: "L4STeam Linux, `tcp_prague` 0.6",
    }
    /// number of segments for which one acknowledgement may count in slow start, the L of RFC 3465; after a
    /// timeout it is 1. RFC 3465 tries 2, RFC 9406 recommends 8 with `hystart++`. It matters with
    /// `delayed_ack` above
    /// 1. With 0, acknowledgements are counted instead of bytes, in slow start and in congestion avoidance
    /// (RFC 2581, ns-2). `model` then takes `delayed_ack` into account. `live` refuses all but 1 and the
    /// value of `host = "linux"`
    pub byte_counting: u64 = at.integer(0..=MOST_COUNTED) => {
        kind: "whole number, 0 to 1000",
        default: by_host("1", "1000", "`tcp_slow_start` counts all that is acknowledged"),
        engines: "model sim", refused_by: "live",
        why: "as RFC 5681 recommends", from: "RFC 3465 (2.2), RFC 5681 (3.1)",
    }
    /// packets leave spaced, at the controller's rate if it has one. Otherwise the rate is `ratio` x window /
    /// smoothed RTT. The ratio is 2 below half the slow-start threshold and 1.2 above, as in Linux. Before
    /// the first RTT sample nothing is held back. A controller with a rate is always paced. Two packets leave
    /// together, or one below 1.2 Mbit/s: the least of BBR's drafts and of Linux. A controller or a sizer
    /// that places departures sends single packets
    in transport: pacing = at.boolean() => {
        kind: "`true`, `false`", default: Written("false"),
        engines: "sim", refused_by: "live",
        why: "RFC 5681 sends as acknowledgements come", from: "RFC 5681",
    }
    /// each packet leaves later by a uniform random share of this; breaks phase effects. `live` refuses all
    /// values but zero and that of `host = "linux"`
    pub send_jitter: Span = at.quantity("us") => {
        kind: "time",
        default: by_host(r#""0s""#, r#""50us""#, "ours to choose"),
        engines: "sim", refused_by: "live",
        why: "the same plan gives the same packets without noise", from: OWN,
    }
    /// Losses and timeouts.
    group LOSSES from KEY;

    /// rule for the data that fast recovery sends. `rfc6675` sends as much as the window has room for. `prr`
    /// sends in proportion to delivered data (RFC 9937). `sack1` is ns-2's Sack1: lost segments count as in
    /// flight until they are acknowledged. It is for comparisons with ns-2, and needs `sack`. If more than a
    /// window is lost, it waits for a timeout. `reno` needs `sack = false`. Its recovery ends with the first
    /// acknowledgement of new data (RFC 2581), and no second recovery follows for the same window, as in
    /// ns-2's Reno. So two losses of a window mostly wait for a timeout. Linux always has `"prr"`
    in transport: recovery = recovery(at, context.sack) => {
        kind: r#"`"rfc6675"`, `"prr"`, `"sack1"`, `"reno"`"#,
        default: by_host(r#""rfc6675""#, r#""prr""#, "RFC 9937; `tcp_input.c` has no other"),
        engines: "sim",
        why: "the standard with selective acknowledgements", from: "RFC 6675",
    }
    /// rule by which losses are found. `dupack` waits for three duplicate or selective acknowledgements.
    /// `rack` goes by time (RACK-TLP, RFC 8985), and finds lost retransmissions and lost tails without a
    /// timeout. `"rack"` needs `sack`. The kernel has RACK unless `live.stack = "classic"`, which refuses
    /// `"rack"`. It works best with `recovery = "prr"`, because alone it may reduce the window twice after an
    /// overshoot
    in transport: loss_detection = loss_detection(at, context.sack) => {
        kind: r#"`"dupack"`, `"rack"`"#,
        default: by_host(r#""dupack""#, r#""rack""#, "RFC 8985; `tcp_recovery` = 1"),
        engines: "sim",
        why: "three duplicates, as RFC 5681 and RFC 6675 have it", from: "RFC 5681 (3.2)",
    }
    /// feedback of congestion marks. With `classic` (or `true`; RFC 3168) and `accecn` (RFC 9768), queues that
    /// can mark (`drop-tail` and `drop-head` only with `queue.mark_above`) mark the flow's packets instead of
    /// dropping them. With both, `reno`, `cubic` and their like reduce their window once per round trip. `dctcp`
    /// and `prague` answer the share of marks, and turn on the feedback that they need. For `dctcp` this is
    /// `classic` with RFC 8257's receiver. For `prague` it is `accecn`, and its packets have ECT(1). They
    /// refuse `off`, and `prague` refuses `classic`. Behind a queue that never marks they are Reno. BBR
    /// ignores marks. Retransmissions cannot be marked. `live` asks the kernel for it, and refuses `accecn` if
    /// the kernel does, as Linux 6.18 does
    in transport: ecn = ecn(at, context.by_share) => {
        kind: r#"`"off"`, `"classic"`, `"accecn"`; `false`, `true`"#, default: Written("false"),
        engines: "sim live",
        why: "Linux clients do not ask for it", from: "Linux `tcp_ecn`",
    }
    /// least retransmission timeout. `model` and `sim`; the kernel's is 200 ms
    in transport: min_rto = at.quantity("ms") => {
        kind: "time", default: Written(r#""200ms""#),
        engines: "model sim",
        why: "hosts wait for less than the 1 s of RFC 6298", from: "Linux `TCP_RTO_MIN`",
    }
    /// retransmission timeout before the first round-trip sample (RFC 6298; RFC 2988 had 3 s)
    in transport: initial_rto = at.above_zero("s", "a timeout of zero: every segment would be sent twice") => {
        kind: "time above zero", default: Written(r#""1s""#),
        engines: "sim",
        why: "the standard's", from: "RFC 6298 (2.1)",
    }
}

/// The keys for the amount of data, the time and the way of a flow.
pub(crate) const MOVES: Keys = &[NAME, AMOUNT, PATH, CELL_WAY, WAY];

/// The facts that reading a flow requires in advance.
pub(crate) struct FlowContext {
    /// The number of transfers, if it could be read.
    pub(crate) count: Option<u64>,
    /// True if the receiver sends selective acknowledgements.
    pub(crate) sack: bool,
    /// Headers around a segment's payload.
    pub(crate) header: Bytes,
    /// The protocol that carries the data.
    pub(crate) carrier: Carrier,
    /// The control's name, if it could be read.
    pub(crate) control: Option<String>,
    /// The control, if it answers the share of congestion marks.
    pub(crate) by_share: Option<ByShare>,
}

impl Flow {
    /// Returns the headers of a segment: IPv4 20, TCP 20, time stamps 12 [rfc791:3.1] [rfc9293:3.1] [rfc7323:3.2].
    #[must_use]
    pub const fn header(timestamps: bool) -> Bytes {
        Bytes::new(if timestamps { 52 } else { 40 })
    }

    /// Returns the useful data in a full segment.
    #[must_use]
    pub const fn payload(&self) -> Bytes {
        self.segment.saturating_sub(Self::header(self.transport.timestamps))
    }
}

/// The most segments for which one acknowledgement may count. A stretch acknowledgement after a repaired hole may cover
/// any number, but a burst of more than this is a mistake.
const MOST_COUNTED: u64 = 1000;

/// The most flows and users, in one table and in all. More are a mistake.
pub(crate) const MOST_FLOWS: u64 = 1_000_000;
