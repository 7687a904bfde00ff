//! One direction of a connection: data that go one way, and acknowledgements that come back.
//!
//! Reading order: `sequence.rs`, `halves.rs` and `slots.rs`, then `data.rs`, `repeats.rs` and `acknowledgements.rs`, which
//! take packets; `scale.rs` and `rate.rs`, which infer; `finish.rs`, which makes the evidence.

mod acknowledgements;
mod data;
mod finish;
mod halves;
mod rate;
mod repeats;
mod scale;
mod sequence;
mod slots;

use crate::connections::segment::Segment;
use crate::connections::statistics::Counts;
use estimate::diagnosis::LossEpisode;
use halves::Halves;
use rate::{RateMeter, Trains};
use repeats::Repeats;
use scale::Scale;
pub(super) use scale::Scaling;
use sequence::Ranges;
use slots::{SenderState, Slots};
use std::collections::VecDeque;

/// The size above which a packet of unknown segments is a super-packet.
const ORDINARY: u32 = 1600;
/// The payload from which rates are measured: less has no plateau.
const METERED: u64 = 150_000;
/// The most records of what was sent, and of acknowledgements under way to the sender. Beyond, every second is left out.
const MOST_RECORDS: usize = 1024;

/// The time at which data were seen.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: u64,
    /// The identification of its IP packet.
    id: u16,
    /// True if some of it was sent again, so that its acknowledgement is ambiguous (Karn).
    repeated: bool,
}

/// Sequence numbers that were passed over.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
    /// The time, stamp and identification of the packet behind it.
    at: u64,
    stamp: Option<u32>,
    id: u16,
}

/// Data that the capture has not shown before their acknowledgement. They are missing, or follow at once.
#[derive(Clone, Copy, Debug, Default)]
struct Unseen {
    start: u64,
    end: u64,
    /// The time of the last acknowledgement.
    at: u64,
}

/// The content of an acknowledgement that reaches the sender.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    at: u64,
    stamp: Option<u32>,
    acknowledged: u64,
    window: u32,
    sacked: u64,
}

/// A packet of old data as it was captured, to recognize it if it was captured twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    sequence: u32,
    payload: u32,
    id: u16,
    at: u64,
}

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) counts: Counts,
    /// The largest payload by the handshake.
    announced: Option<u32>,
    /// The largest payload that two ordinary packets had, and the last of those that are larger.
    ordinary: u32,
    larger: [u32; 4],
    /// The length of the headers.
    headers: u32,
    /// The end of what was sent, and of what was acknowledged.
    next: u64,
    acked: u64,
    /// The end of the sender's data, if its FIN has come: that takes a number, too.
    fin: Option<u64>,
    heard: bool,
    holes: VecDeque<Hole>,
    unseen: Unseen,
    /// The last hole that an acknowledgement closed.
    closed: Unseen,
    sent: VecDeque<Sent>,
    sacked: Ranges,
    /// Acknowledgements that the sender does not know yet, and the last that it knows.
    acks: VecDeque<Ack>,
    known: Ack,
    /// Time stamps of acknowledgements that have not been echoed, each with the time of the first that had it.
    stamps: VecDeque<(u32, u64)>,
    echo: Option<u32>,
    dry: bool,
    last_data: u64,
    marks: [Mark; 4],
    repeats: Repeats,
    episodes: Vec<LossEpisode>,
    halves: Halves,
    growths: Growths,
    scale: Scale,
    zero_since: Option<u64>,
    /// The time of the receiver's last packet, and the retransmissions since then without new data.
    unheard: (u64, u32),
    largest_window: u32,
    slots: Slots,
    rates: Option<Box<Rates>>,
    trains: Option<Box<Trains>>,
    /// Data so far, and data that were acknowledged, both with headers.
    came: (u64, u64),
    burst: (u64, u64),
    hops: (u8, u8),
}

/// The largest growth of the round trip in the present period of a round trip, and in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Growths {
    since: u64,
    present: u64,
    before: u64,
}

impl Growths {
    fn observe(&mut self, at: u64, growth: u64, period: u64) {
        if at.saturating_sub(self.since) > period {
            (self.since, self.before, self.present) = (at, self.present, 0);
        }
        self.present = self.present.max(growth);
    }

    fn largest(&self) -> u64 {
        self.present.max(self.before)
    }
}

/// The rates at which data pass here, and at which they are acknowledged.
#[derive(Debug, Default)]
struct Rates {
    data: RateMeter,
    acknowledgements: RateMeter,
}

/// The facts that the handshake states about one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// The largest payload that the receiver accepts.
    pub largest_segment: Option<u16>,
    /// The scale of the receiver's windows.
    pub scaling: Scaling,
    /// The halves of the round trip, in nanoseconds.
    pub receiver_half: Option<u64>,
    pub sender_half: Option<u64>,
}

impl Flow {
    /// Makes a flow whose first data are in `segment`.
    pub(super) fn new(segment: &Segment, handshake: &Handshake, intervals: usize) -> Self {
        let start = sequence::first(segment.sequence);
        let mut flow = Self {
            counts: Counts::default(),
            announced: None,
            ordinary: 0,
            larger: [0; 4],
            headers: segment.headers.into(),
            next: start,
            acked: start,
            fin: None,
            heard: false,
            holes: VecDeque::new(),
            unseen: Unseen::default(),
            closed: Unseen::default(),
            sent: VecDeque::new(),
            sacked: Ranges::default(),
            acks: VecDeque::new(),
            known: Ack { acknowledged: start, ..Ack::default() },
            stamps: VecDeque::new(),
            echo: None,
            dry: false,
            last_data: segment.at,
            marks: [Mark::default(); 4],
            repeats: Repeats::default(),
            episodes: Vec::new(),
            halves: Halves::default(),
            growths: Growths::default(),
            scale: Scale::default(),
            zero_since: None,
            unheard: (segment.at, 0),
            largest_window: 0,
            slots: Slots::new(segment.at, intervals),
            rates: None,
            trains: None,
            came: (0, 0),
            burst: (segment.at, 0),
            hops: (segment.hops, 0),
        };
        // TCP's options reduce the largest payload (RFC 9293, 3.7.1), and the IP header has no options.
        let tcp = if segment.source.address.is_ipv4() { 20 } else { 40 };
        let tcp = u32::from(segment.headers).saturating_sub(tcp);
        flow.announced =
            handshake.largest_segment.map(|size| u32::from(size).saturating_sub(tcp.saturating_sub(20)));
        flow.announced = flow.announced.filter(|size| *size > 0);
        flow.scale.state(handshake.scaling);
        handshake.receiver_half.inspect(|&half| flow.halves.receiver.observe(half, true));
        handshake.sender_half.inspect(|&half| flow.halves.sender.observe(half, true));
        flow
    }

    /// Takes the window of a handshake, which is not scaled: the first that the sender knows.
    pub(super) fn first_window(&mut self, window: u16) {
        self.known.window = u32::from(window) >> self.scale.value();
        self.scale.known(self.known.acknowledged, self.known.window);
    }

    /// Returns the number of intervals.
    pub(super) const fn intervals(&self) -> usize {
        self.slots.len()
    }

    /// Sets the largest number of intervals.
    pub(super) fn limit_intervals(&mut self, most: usize) {
        self.slots.limit(most);
    }

    /// Returns the time of the last data.
    pub(super) const fn last_data(&self) -> u64 {
        self.last_data
    }

    /// Returns the payload of a full segment.
    fn full(&self) -> u32 {
        let usual = 1500u32.saturating_sub(self.headers).max(1);
        let seen = if self.ordinary >= 536 { self.ordinary } else { usual };
        self.announced
            .map_or(seen, |announced| if self.ordinary >= 536 { announced.min(seen) } else { announced })
    }

    /// Returns the payload of each segment of a packet: that of a full segment if it is a super-packet.
    fn unit(&self, payload: u32, size: u32) -> u32 {
        if size <= ORDINARY || self.announced.is_some_and(|announced| payload <= announced) {
            return payload.max(1);
        }
        let usual = 1500u32.saturating_sub(size - payload).max(1);
        let announced = self.announced.unwrap_or(usual);
        let smaller = self.ordinary >= 536 && self.ordinary < announced;
        if !payload.is_multiple_of(announced) && smaller && payload.is_multiple_of(self.ordinary) {
            self.ordinary
        } else {
            announced
        }
    }

    /// Returns the bytes that are in flight as the sender knows.
    fn flight(&self) -> u64 {
        self.next.saturating_sub(self.known.acknowledged).saturating_sub(self.known.sacked)
    }

    fn state(&self) -> SenderState {
        let flight = if self.heard { self.flight() } else { 0 };
        let window = u64::from(self.known.window) << self.scale.value();
        let closed = self.heard && window < u64::from(self.full());
        SenderState { flight, idle: self.heard && flight == 0 && !closed, dry: self.dry }
    }

    /// Passes time up to `at`, and lets the sender know what reaches it until then.
    fn pass(&mut self, at: u64) {
        let mut way = self.halves.sender_delay();
        if self.echo.is_some() && way > 0 {
            // Time stamps say more exactly what it knows, so this is for the time when it sends nothing.
            way = way.saturating_add(way / 4 + 1_000_000);
        }
        while let Some(ack) = self.acks.front().copied().filter(|ack| ack.at.saturating_add(way) <= at) {
            let known = ack.at.saturating_add(way);
            self.slots.advance(known, self.state());
            self.acks.pop_front();
            self.learn(ack, known);
        }
        self.slots.advance(at, self.state());
    }

    /// Lets the sender know the acknowledgements that the echoed time stamp of its data proves.
    fn learn_by_echo(&mut self, echo: u32, at: u64) {
        while let Some(ack) = self.acks.front().copied() {
            let Some(stamp) =
                ack.stamp.filter(|&stamp| stamp == echo || sequence::stamped_before(stamp, echo))
            else {
                return;
            };
            if stamp == echo && ack.at.saturating_add(self.halves.sender_delay()) > at {
                return;
            }
            self.acks.pop_front();
            self.learn(ack, at);
        }
    }

    fn learn(&mut self, ack: Ack, at: u64) {
        if ack.acknowledged >= self.known.acknowledged {
            self.known = Ack { at, ..ack };
            self.scale.known(ack.acknowledged, ack.window);
            self.slots.at(at).see_window(ack.window);
        }
        self.known.at = at;
    }
}

/// Returns a count of segments in the short form of an interval's sums.
fn short(segments: u64) -> u32 {
    segments.try_into().unwrap_or(u32::MAX)
}

/// Leaves out every second record.
fn thin_out<T>(records: &mut VecDeque<T>) {
    let mut kept = false;
    records.retain(|_| {
        kept = !kept;
        kept
    });
}
