//! The headers of a simulated connection's segments.

use crate::run::resolve::{Resolved, ResolvedFlow};
use capture::written::{Flags, Options, Segment};
use link::Ecn;
use sim::{AckFeedback, EcnMode, PacketView, PathEnd, SegmentView};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};
use units::{Bytes, Span, Time};

/// The time of a run's beginning in a capture, seconds since 1970: 2001-09-09 01:46:40 UTC. A handshake may precede it.
pub(super) const EPOCH_S: u64 = 1_000_000_000;
/// The address and the port of all receivers. The address is from the range for tests of networks [rfc2544:C.2.2].
const RECEIVER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 1), 5001);
/// The first and the last port of senders; each connection of a user has the next one.
const PORTS: [u16; 2] = [49_152, 65_535];
/// The largest window field, and the largest shift of it [rfc7323:2.3].
const LARGEST_WINDOW: u64 = 65_535;
const LARGEST_SHIFT: u8 = 14;

/// The parts of a connection's headers that do not follow from a single segment.
#[derive(Debug)]
pub(super) struct Connection {
    sender: SocketAddrV4,
    /// True until a user's first connection.
    fresh: bool,
    /// True if the simulator shows its handshake.
    shows_handshake: bool,
    base_rtt: Span,
    payload: u64,
    timestamps: bool,
    sack: bool,
    ecn: EcnMode,
    shift: u8,
    /// The IP identifications of both ends.
    identification: [u16; 2],
    /// The value of the receiver's clock that the sender saw last.
    seen: u32,
    /// The answer to the SYN that the receiver sent last: when the SYN left, and the receiver's clock.
    answered: (Time, u32),
    /// The window that the receiver advertised last.
    window: u16,
    /// Segments under way, in the order in which they left.
    data: VecDeque<(Bytes, Time, Under)>,
    /// Acknowledgements under way.
    acks: VecDeque<(Bytes, Time, Under)>,
}

/// The fields of a packet that are the same at both ends of the path.
#[derive(Clone, Copy, Debug, Default)]
struct Under {
    identification: u16,
    echo: u32,
}

impl Connection {
    /// Creates the connection of the flow number `index`; `user`: it is a user's.
    pub(super) fn new(index: u32, flow: &ResolvedFlow, user: bool, resolved: &Resolved) -> Self {
        let [_, a, b, c] = (index + 1).to_be_bytes();
        let shift = shift(flow.socket_buffer);
        let handshake = if user {
            resolved.sessions.iter().any(|sessions| sessions.entry == flow.entry && sessions.handshake)
        } else {
            flow.handshake
        };
        Self {
            sender: SocketAddrV4::new(Ipv4Addr::new(10, a, b, c), PORTS[0]),
            fresh: true,
            shows_handshake: handshake,
            base_rtt: flow.base_rtt,
            payload: flow.payload.get(),
            timestamps: flow.transport.timestamps,
            sack: flow.transport.sack,
            ecn: flow.transport.ecn,
            shift,
            identification: [0; 2],
            seen: 0,
            answered: (Time::ZERO, 0),
            window: scaled(flow.socket_buffer, 0),
            data: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }

    /// Begins a user's next connection, which has a port of its own. Returns true if the simulator does not show its
    /// handshake.
    pub(super) fn renew(&mut self) -> bool {
        if !std::mem::replace(&mut self.fresh, false) {
            let port = self.sender.port();
            let next = if port == PORTS[1] { PORTS[0] } else { port + 1 };
            self.sender.set_port(next);
            self.data.clear();
            self.acks.clear();
        }
        !self.shows_handshake
    }

    /// Returns the packets of a handshake that ends at `start`, nanoseconds: where and when each is seen.
    pub(super) fn handshake(&mut self, start: u64) -> Vec<(PathEnd, u64, Segment)> {
        let round = self.base_rtt.as_nanos();
        let (begin, middle) = (start.saturating_sub(round), start.saturating_sub(round / 2));
        let ms = |nanos: u64| (nanos / 1_000_000) as u32;
        let request = Segment { identification: self.next(0), ..self.syn(ms(begin), None) };
        let answer = Segment { identification: self.next(1), ..self.syn(ms(middle), Some(ms(begin))) };
        self.seen = ms(middle);
        vec![
            (PathEnd::Sender, begin, request.clone()),
            (PathEnd::Receiver, middle, request),
            (PathEnd::Receiver, middle, answer.clone()),
            (PathEnd::Sender, start, answer),
        ]
    }

    /// Returns the headers of a packet.
    pub(super) fn segment(&mut self, packet: &PacketView) -> Segment {
        match &packet.segment {
            SegmentView::Syn { answer: false, sent } => self.syn(clock(*sent), None),
            SegmentView::Syn { answer: true, sent } => {
                if packet.end == PathEnd::Receiver {
                    self.answered = (*sent, clock(packet.at));
                } else {
                    self.seen = self.answered.1;
                }
                let own = if self.answered.0 == *sent { self.answered.1 } else { clock(packet.at) };
                self.syn(own, Some(clock(*sent)))
            }
            SegmentView::Data { start, payload, sent, pushed, ecn, reduced } => {
                let under = if packet.end == PathEnd::Sender {
                    let under = Under { identification: self.next(0), echo: self.seen };
                    self.data.push_back((*start, *sent, under));
                    under
                } else {
                    arrived(&mut self.data, *start, *sent)
                };
                let flags = Flags { ack: true, psh: *pushed, cwr: *reduced, ..Flags::default() };
                Segment {
                    identification: under.identification,
                    // RFC 3168, section 5: ECT(0) is 2, CE is 3.
                    ecn: match ecn {
                        Ecn::NotCapable => 0,
                        Ecn::Scalable => 1,
                        Ecn::Capable => 2,
                        Ecn::Marked => 3,
                    },
                    sequence: sequence(*start),
                    acknowledgment: 1,
                    window: scaled(Bytes::new(LARGEST_WINDOW), self.shift),
                    flags,
                    options: self.options(clock(*sent), under.echo),
                    payload: u16::try_from(payload.get()).unwrap_or(u16::MAX),
                    ..Segment::new(self.sender, RECEIVER)
                }
            }
            SegmentView::Ack { acked, blocks, window, sent, echo, feedback } => {
                let under = if packet.end == PathEnd::Receiver {
                    let under = Under { identification: self.next(1), echo: 0 };
                    self.acks.push_back((*acked, *sent, under));
                    under
                } else {
                    self.seen = clock(*sent);
                    arrived(&mut self.acks, *acked, *sent)
                };
                let blocks = blocks.iter().map(|(from, to)| (sequence(*from), sequence(*to))).collect();
                Segment {
                    identification: under.identification,
                    sequence: 1,
                    acknowledgment: sequence(*acked),
                    window: scaled(*window, self.shift),
                    flags: acknowledging(*feedback),
                    options: Options { blocks, ..self.options(clock(*sent), clock(*echo)) },
                    ..Segment::new(RECEIVER, self.sender)
                }
            }
        }
    }

    /// Returns the request of a connection at the time `own` of its sender's clock, or the answer that echoes `echo`.
    fn syn(&self, own: u32, echo: Option<u32>) -> Segment {
        let (source, destination) = match echo {
            None => (self.sender, RECEIVER),
            Some(_) => (RECEIVER, self.sender),
        };
        // A full segment has time stamps, and the option counts segments without options [rfc9293:3.7.1].
        let largest = self.payload + if self.timestamps { 12 } else { 0 };
        Segment {
            acknowledgment: u32::from(echo.is_some()),
            window: self.window,
            flags: Flags { syn: true, ack: echo.is_some(), ..asking(self.ecn, echo.is_some()) },
            options: Options {
                largest_segment: Some(u16::try_from(largest).unwrap_or(u16::MAX)),
                sack_permitted: self.sack,
                window_scale: Some(self.shift),
                ..self.options(own, echo.unwrap_or(0))
            },
            ..Segment::new(source, destination)
        }
    }

    fn options(&self, own: u32, echo: u32) -> Options {
        Options { timestamps: self.timestamps.then_some((own, echo)), ..Options::default() }
    }

    /// Returns the next IP identification of an end.
    fn next(&mut self, end: usize) -> u16 {
        self.identification[end] = self.identification[end].wrapping_add(1);
        self.identification[end]
    }
}

/// Returns the flags by which a SYN asks for feedback of congestion marks, or those of its answer [rfc3168:6.1.1]
/// [rfc9768:3.1.1]. The SYN of accurate ECN arrives without ECT.
fn asking(ecn: EcnMode, answer: bool) -> Flags {
    let (ae, cwr, ece) = match (ecn, answer) {
        (EcnMode::Off, _) => (false, false, false),
        (EcnMode::Classic, false) => (false, true, true),
        (EcnMode::Classic, true) => (false, false, true),
        (EcnMode::Accurate, false) => (true, true, true),
        (EcnMode::Accurate, true) => (false, true, false),
    };
    Flags { ae, cwr, ece, ..Flags::default() }
}

/// Returns the flags of an acknowledgement.
fn acknowledging(feedback: AckFeedback) -> Flags {
    let (ae, cwr, ece) = match feedback {
        AckFeedback::Echo(on) => (false, false, on),
        AckFeedback::Counters { ace, .. } => (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0),
    };
    Flags { ack: true, ae, cwr, ece, ..Flags::default() }
}

/// Returns what the packet had when it left, and forgets those that left before it: a queue keeps a flow's packets in
/// order, so they were dropped.
fn arrived(under_way: &mut VecDeque<(Bytes, Time, Under)>, place: Bytes, sent: Time) -> Under {
    let found = under_way.iter().position(|(of, at, _)| *of == place && *at == sent);
    let Some(found) = found else { return Under::default() };
    under_way.drain(..=found).next_back().map_or_else(Under::default, |(_, _, under)| under)
}

/// Returns a time of the run as in the capture, nanoseconds since 1970.
pub(super) fn nanos(at: Time) -> u64 {
    (EPOCH_S * 1_000_000_000).saturating_add(at.since(Time::ZERO).as_nanos())
}

/// Returns a clock's value in milliseconds, which wraps round.
fn clock(at: Time) -> u32 {
    (nanos(at) / 1_000_000) as u32
}

/// Returns the sequence number of a byte of the stream; the SYN has number 0.
fn sequence(place: Bytes) -> u32 {
    (place.get() as u32).wrapping_add(1)
}

/// Returns the window field for `window`.
fn scaled(window: Bytes, shift: u8) -> u16 {
    (window.get() >> shift).min(LARGEST_WINDOW) as u16
}

/// Returns the least shift that can express `window`, or the largest one.
fn shift(window: Bytes) -> u8 {
    (0..LARGEST_SHIFT).find(|shift| window.get() >> shift <= LARGEST_WINDOW).unwrap_or(LARGEST_SHIFT)
}
