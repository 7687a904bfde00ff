//! [`Evidence`]: one direction of one connection, as an observer saw it.

use std::net::SocketAddr;
use units::{Bytes, Rate, Span, Time};

/// The largest receive window without window scaling [rfc7323:2.1].
pub const UNSCALED: Bytes = Bytes::new(0xffff);

/// The place from which a connection is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// The socket of the host that sends the data.
    SenderSocket,
    /// The socket of the host that receives the data.
    ReceiverSocket,
    /// A capture at the sender: acknowledgements come a round trip after the data.
    SenderCapture,
    /// A capture between both hosts.
    MiddleCapture,
    /// A capture at the receiver: acknowledgements follow the data at once.
    ReceiverCapture,
}

/// The ends of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Direction {
    /// The address that sends the data.
    pub source: SocketAddr,
    /// The address that receives them.
    pub destination: SocketAddr,
}

impl Direction {
    /// Returns the headers of a segment with time stamps: IP's 20 or 40 bytes, TCP's 20 and 12.
    #[must_use]
    pub const fn headers(&self) -> Bytes {
        Bytes::new(if self.source.is_ipv4() { 52 } else { 72 })
    }
}

/// The clocks of the sender's kernel, of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelClocks {
    /// The time with data outstanding or waiting.
    pub busy: Span,
    /// The part of `busy` in which the receive window was the limit.
    pub window_limited: Span,
    /// The part of `busy` in which the send buffer was the limit.
    pub buffer_limited: Span,
}

/// One interval of an observation. Sums are those of the interval alone. A field is `None` if the observer cannot know
/// it from its vantage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The start of the interval.
    pub from: Time,
    /// The length of the interval.
    pub length: Span,
    /// Payload that arrived in order at the receiver, or that was acknowledged.
    pub delivered: Bytes,
    /// Payload sent, retransmissions included.
    pub sent: Option<Bytes>,
    /// The mean of the payload in flight: sent, and not acknowledged at the vantage.
    pub flight: Option<Bytes>,
    /// The largest payload in flight.
    pub peak_flight: Option<Bytes>,
    /// The receive window that the sender knew last.
    pub receive_window: Option<Bytes>,
    /// The least receive window of the interval.
    pub least_window: Option<Bytes>,
    /// The congestion window in payload bytes: read, or inferred.
    pub congestion_window: Option<Bytes>,
    /// Bytes that the sending program had written, and that were not sent yet.
    pub unsent: Option<Bytes>,
    /// True if the send buffer accepted no more data, so that a program with data had to wait. Together with `unsent` near
    /// zero and room in both windows, the send buffer is the limit, which the kernel's clock often misses.
    pub buffer_full: Option<bool>,
    /// Bytes that had arrived, and that the receiving program had not read.
    pub unread: Option<Bytes>,
    /// Payload that went the other way: requests, or the messages of a window of the program's own.
    pub returned: Option<Bytes>,
    /// Segments with payload: sent, or arrived.
    pub segments: Option<u64>,
    /// The mean of the round-trip times that were sampled.
    pub round_trip: Option<Span>,
    /// The time with nothing in flight and nothing to send.
    pub idle: Span,
    /// The clocks of the sender's kernel.
    pub kernel: Option<KernelClocks>,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Segments out of order at the receiver.
    pub out_of_order: u64,
    /// Segments, or acknowledgements of segments, with a mark of congestion (ECN).
    pub marked: u64,
    /// True if the sending kernel measured its delivery rate while the program had written too little.
    pub ran_dry: bool,
}

/// Losses that belong to one event: within one round trip of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEpisode {
    /// The time of its first loss.
    pub at: Time,
    /// The segments lost.
    pub segments: u64,
    /// The growth of the round trip over its least value when the episode began; `None` without a sample.
    pub queueing: Option<Span>,
    /// True if a retransmission timeout repaired it.
    pub by_timeout: bool,
}

/// The buffer in front of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferEstimate {
    /// The largest growth of the round trip times the bottleneck's rate.
    pub size: Bytes,
    /// True if the buffer never overflowed, so that it may be larger.
    pub at_least: bool,
}

/// The owner of the decision on the size of a receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSizing {
    /// The receiving kernel (autotuning).
    Kernel,
    /// The receiving program, by `SO_RCVBUF`.
    Program,
    /// Nobody: the program leaves it to the kernel, in which autotuning is off (`net.ipv4.tcp_moderate_rcvbuf`).
    AutotuningOff,
}

impl WindowSizing {
    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Program => "program",
            Self::AutotuningOff => "autotuning-off",
        }
    }
}

/// The settings of a host that decide on windows and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// True if the kernel sizes receive windows (`net.ipv4.tcp_moderate_rcvbuf`).
    pub autotunes: bool,
    /// True if new connections may have window scaling (`net.ipv4.tcp_window_scaling`).
    pub scales: bool,
    /// The least, first and largest receive buffer that the kernel chooses (`net.ipv4.tcp_rmem`).
    pub receive_memory: [Bytes; 3],
    /// The least, first and largest send buffer that the kernel chooses (`net.ipv4.tcp_wmem`).
    pub send_memory: [Bytes; 3],
    /// The largest receive buffer that a program may request (`net.core.rmem_max`).
    pub requested: Bytes,
}

impl Default for HostSettings {
    /// Returns the defaults of Linux up to 6.15.
    fn default() -> Self {
        let sizes = |first: u64, largest: u64| [Bytes::new(4096), Bytes::new(first), Bytes::new(largest)];
        Self {
            autotunes: true,
            scales: true,
            receive_memory: sizes(131_072, 6 << 20),
            send_memory: sizes(16_384, 4 << 20),
            requested: Bytes::new(212_992),
        }
    }
}

/// One direction of one connection, as an observer saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The ends.
    pub direction: Direction,
    /// The place of the observer.
    pub vantage: Vantage,
    /// The scale of the receiver's window; `None` if it is unknown or the connection has none.
    pub window_scale: Option<u8>,
    /// True if the connection has no window scaling, so that its windows have [`UNSCALED`] bytes at most.
    pub scaling_off: bool,
    /// True if a receive window of this connection is not exact: its scale was inferred.
    pub inferred_scale: bool,
    /// Payload of a full segment.
    pub segment: Bytes,
    /// The least round-trip time.
    pub base_round_trip: Option<Span>,
    /// The name of the sender's congestion control, if it is known.
    pub control: Option<String>,
    /// The owner of the decision on the receive window's size; `None` if unknown.
    pub sizing: Option<WindowSizing>,
    /// The settings of the host whose socket was watched; `None` of a capture.
    pub host: Option<HostSettings>,
    /// True if the sending program is known to have more data at all times, of which it gives the kernel a little at a
    /// time (`TCP_NOTSENT_LOWAT`).
    pub bulk: bool,
    /// The bottleneck's rate of payload with its headers, at the IP layer.
    pub capacity: Option<Rate>,
    /// The buffer in front of the bottleneck.
    pub buffer: Option<BufferEstimate>,
    /// Episodes of loss, in order.
    pub episodes: Vec<LossEpisode>,
    /// The number of later episodes, whose losses count as those of the last in `episodes`.
    pub more_episodes: u64,
    /// Retransmissions of segments that had arrived.
    pub needless: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The intervals, in order; none overlaps another.
    pub intervals: Vec<Interval>,
}

impl Evidence {
    /// Makes evidence without intervals.
    #[must_use]
    pub const fn new(direction: Direction, vantage: Vantage) -> Self {
        Self {
            direction,
            vantage,
            window_scale: None,
            scaling_off: false,
            inferred_scale: false,
            segment: Bytes::new(1448),
            base_round_trip: None,
            control: None,
            sizing: None,
            host: None,
            bulk: false,
            capacity: None,
            buffer: None,
            episodes: Vec::new(),
            more_episodes: 0,
            needless: 0,
            timeouts: 0,
            intervals: Vec::new(),
        }
    }

    /// Returns the number of episodes of loss.
    #[must_use]
    pub fn episode_count(&self) -> u64 {
        self.episodes.len() as u64 + self.more_episodes
    }

    /// Returns the time that the intervals cover.
    #[must_use]
    pub fn observed(&self) -> Span {
        self.intervals.iter().fold(Span::ZERO, |sum, interval| sum + interval.length)
    }

    /// Returns the payload delivered.
    #[must_use]
    pub fn delivered(&self) -> Bytes {
        self.intervals.iter().fold(Bytes::ZERO, |sum, interval| sum + interval.delivered)
    }

    /// Returns the mean goodput.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        let observed = self.observed();
        if observed == Span::ZERO { Rate::ZERO } else { Rate::of(self.delivered(), observed) }
    }
}
