//! [`Ledger`]: the library's callbacks about packets in, the events of room `cc` out.
//!
//! Two properties make the callbacks sufficient:
//! 1. The time of sending is the packet's name, because the owner gives each packet a time of its own. The library
//!    returns that time when the packet is acknowledged.
//! 2. Both loss rules of RFC 9002 are monotone: everything sent up to the newest lost packet that is not acknowledged
//!    is lost. At each event the ledger compares the bytes that it finds in this way with the library's sum.
//!
//! Within one ACK frame the library reports each acknowledged packet before it looks for losses. So nothing goes to the
//! controller from inside a callback. The owner calls [`Ledger::flush`] after the library has handled a datagram or a
//! timer. Then the controller gets congestion, losses and one acknowledgement, in the order of room `sim`.

use cc::{Ack, Congestion, CongestionControl, CongestionKind, LostSegment, RateSample, RttView, Wants};
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// Smaller datagrams are acknowledgements and other control frames, which do not count.
pub(crate) const LEAST_DATA: u64 = 200;

/// The number of control packets that are remembered. A bulk sender's are rare.
const MOST_CONTROL_PACKETS: usize = 1 << 16;

/// The record of a packet, until it is acknowledged or lost.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    /// The time of sending, which is the packet's name.
    at: Time,
    /// The time of the departure as the controller was given it: both packets of a pair have one.
    departed: Time,
    size: u64,
    /// The bytes that are neither acknowledged nor lost.
    left: u64,
    /// The time at which the first packet of its flight was sent (`P.first_sent_time`).
    first_sent: Time,
    /// The bytes delivered when it was sent (`P.delivered`).
    delivered: u64,
    /// The time at which the last of them was delivered (`P.delivered_time`).
    delivered_at: Time,
    lost: u64,
    in_flight: u64,
    application_limited: bool,
}

/// The counts of a ledger since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerCounts {
    /// Packets of data sent.
    pub sent: u64,
    /// Packets of data found lost.
    pub lost: u64,
    /// The bytes of these.
    pub lost_bytes: u64,
    /// UDP payload delivered.
    pub delivered: u64,
    /// Signs of congestion that the controller got.
    pub congestions: u64,
    /// Events at which the library's lost bytes differ from the ledger's.
    pub differences: u64,
    /// Acknowledged packets that the ledger did not know.
    pub unknown: u64,
}

/// The state of the acknowledgement or timer at hand, until [`Ledger::flush`].
#[derive(Debug, Default)]
struct Pending {
    acked: u64,
    /// The bytes in flight before the event.
    outstanding: Option<u64>,
    newest: Option<SentPacket>,
    /// The number of the oldest packet acknowledged.
    oldest: Option<u64>,
    newly_lost: u64,
    congestion: Option<CongestionKind>,
}

/// The records of the packets under way, and the controller.
#[derive(Debug)]
pub struct Ledger {
    control: Box<dyn CongestionControl>,
    wants: Wants,
    recording: bool,
    packets: VecDeque<SentPacket>,
    /// The number of the first packet in `packets`; packets are numbered as they are sent.
    first: u64,
    in_flight: u64,
    delivered_at: Time,
    first_sent: Time,
    /// The bytes delivered from which on samples are no longer limited by a sender without data; zero: no such limit.
    limited_until: u64,
    /// Packets with lower numbers were sent before the window was last found full.
    window_limited_below: u64,
    departs: Option<Time>,
    smoothed: Option<Span>,
    latest: Option<Span>,
    min_rtt: Span,
    /// The begin of the last recovery episode.
    recovery: Option<Time>,
    round: u64,
    round_end: u64,
    pending: Pending,
    /// The latest packets of control frames, by name and size.
    control_packets: VecDeque<(Time, u64)>,
    losses: Vec<LostSegment>,
    counts: LedgerCounts,
}

impl Ledger {
    /// Makes a ledger that records nothing before [`begin`](Self::begin).
    #[must_use]
    pub fn new(control: Box<dyn CongestionControl>) -> Self {
        let wants = control.wants();
        Self {
            control,
            wants,
            recording: false,
            packets: VecDeque::new(),
            first: 0,
            in_flight: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            limited_until: 0,
            window_limited_below: 0,
            departs: None,
            smoothed: None,
            latest: None,
            min_rtt: Span::MAX,
            recovery: None,
            round: 0,
            round_end: 0,
            pending: Pending::default(),
            control_packets: VecDeque::new(),
            losses: Vec::new(),
            counts: LedgerCounts::default(),
        }
    }

    /// Begins to record at `now`. The handshake's round trip is `rtt`, unless it is unknown.
    pub fn begin(&mut self, now: Time, rtt: Option<Span>) {
        (self.recording, self.first_sent, self.delivered_at) = (true, now, now);
        if let Some(rtt) = rtt {
            self.observe(rtt);
            self.control.on_established(now, rtt);
        }
    }

    /// Returns the controller.
    #[must_use]
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// Returns the controller, which places a departure.
    pub(crate) fn control_mut(&mut self) -> &mut dyn CongestionControl {
        &mut *self.control
    }

    /// Returns true if the controller places each departure.
    pub(crate) const fn places_departures(&self) -> bool {
        self.wants.departures
    }

    /// Returns the bytes in flight: the sum over the records.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the counts so far.
    #[must_use]
    pub const fn counts(&self) -> LedgerCounts {
        self.counts
    }

    /// Returns the smoothed round-trip time, and the least one; `None` before the first sample.
    #[must_use]
    pub fn rtt(&self) -> Option<(Span, Span)> {
        self.smoothed.map(|smoothed| (smoothed, self.min_rtt))
    }

    /// Returns the last sample of the round-trip time since the last call.
    pub fn take_latest(&mut self) -> Option<Span> {
        self.latest.take()
    }

    /// Records that nothing is left to send.
    pub fn on_out_of_data(&mut self) {
        self.limited_until = (self.counts.delivered + self.in_flight).max(1);
    }

    /// Records that the window has no room for another packet.
    pub fn on_window_full(&mut self) {
        self.window_limited_below = self.first + self.packets.len() as u64;
    }

    /// Sets the time of the next packet's departure as the controller is given it.
    pub(crate) fn departs(&mut self, at: Time) {
        self.departs = Some(at);
    }

    /// Records that a packet of `size` leaves, named `at`. Names grow.
    pub fn on_sent(&mut self, at: Time, size: u64) {
        if !self.recording || size < LEAST_DATA {
            self.on_control_sent(at, size);
            return;
        }
        if self.in_flight == 0 {
            (self.first_sent, self.delivered_at) = (at, at);
        }
        self.in_flight += size;
        self.counts.sent += 1;
        let departed = self.departs.take().unwrap_or(at);
        self.packets.push_back(SentPacket {
            at,
            departed,
            size,
            left: size,
            first_sent: self.first_sent,
            delivered: self.counts.delivered,
            delivered_at: self.delivered_at,
            lost: self.counts.lost_bytes,
            in_flight: self.in_flight,
            application_limited: self.limited_until > 0,
        });
        self.control.on_sent(departed, Bytes::new(size), Bytes::new(self.in_flight));
    }

    fn on_control_sent(&mut self, at: Time, size: u64) {
        if self.control_packets.len() == MOST_CONTROL_PACKETS {
            self.control_packets.pop_front();
        }
        self.control_packets.push_back((at, size));
    }

    /// Records that the packet sent last, named `at`, belongs to the handshake, of which a part may be repeated when
    /// the data have begun. It may be dropped with its keys, without another word, so it is not in flight.
    pub fn withdraw(&mut self, at: Time) {
        while let Some(&packet) = self.packets.back().filter(|packet| packet.at == at) {
            self.packets.pop_back();
            self.in_flight -= packet.left;
            self.counts.sent -= 1;
            self.on_control_sent(at, packet.size);
        }
    }

    /// Records that `bytes` of the packet named `at` are acknowledged at `now`.
    pub fn on_acked(&mut self, now: Time, at: Time, bytes: u64) {
        let Ok(place) = self.packets.binary_search_by_key(&at, |packet| packet.at) else {
            let is_control = self.control_packets.binary_search_by_key(&at, |(at, _)| *at).is_ok();
            self.counts.unknown += u64::from(self.recording && bytes >= LEAST_DATA && !is_control);
            return;
        };
        self.pending.outstanding.get_or_insert(self.in_flight);
        let packet = &mut self.packets[place];
        let settled = packet.left.min(bytes);
        packet.left -= settled;
        let packet = *packet;
        self.in_flight -= settled;
        self.pending.acked += settled;
        self.counts.delivered += settled;
        self.delivered_at = now;
        let number = self.first + place as u64;
        self.pending.oldest = Some(self.pending.oldest.map_or(number, |oldest| oldest.min(number)));
        let newer = |newest: SentPacket| (packet.delivered, packet.at) >= (newest.delivered, newest.at);
        if self.pending.newest.is_none_or(newer) {
            self.pending.newest = Some(packet);
        }
    }

    /// Records that all packets up to the one named `until` are lost, except for the acknowledged ones. By the
    /// library's count these are `bytes`.
    pub fn on_lost(&mut self, now: Time, until: Time, is_persistent: bool, bytes: u64) {
        if !self.recording {
            return;
        }
        // Lost control packets are in the library's sum alone, which may have at most those that are still known.
        let mut control = 0;
        while let Some(&(_, size)) = self.control_packets.front().filter(|(at, _)| *at <= until) {
            control += size;
            self.control_packets.pop_front();
        }
        let found =
            self.packets.iter().take_while(|packet| packet.at <= until).map(|packet| packet.left).sum();
        if bytes < found && bytes <= control {
            // A packet of the handshake, whose loss says nothing about the data that were sent before it.
            return;
        }
        self.counts.differences += u64::from(bytes < found || bytes > found + control);
        self.pending.outstanding.get_or_insert(self.in_flight);
        for packet in self.packets.iter_mut().take_while(|packet| packet.at <= until) {
            let left = std::mem::take(&mut packet.left);
            if left == 0 {
                continue;
            }
            self.in_flight -= left;
            self.counts.lost += 1;
            self.counts.lost_bytes += left;
            if self.wants.deliveries || self.wants.rate {
                self.losses.push(LostSegment {
                    size: Bytes::new(packet.size),
                    sent_in_flight: Bytes::new(packet.in_flight),
                    lost: Bytes::new(self.counts.lost_bytes - packet.lost),
                });
            }
        }
        self.pending.newly_lost += found;
        if found == 0 {
            return;
        }
        // A loss of a packet that was sent after the last episode began is a new episode [rfc9002:7.3.2].
        if is_persistent || self.recovery.is_none_or(|since| until > since) {
            self.recovery = Some(now);
            let kind = if is_persistent { CongestionKind::PersistentLoss } else { CongestionKind::Loss };
            self.pending.congestion = Some(kind);
        }
    }

    /// Gives the controller all that happened in the datagram or timer that the library has handled at `now`.
    pub fn flush(&mut self, now: Time) {
        let pending = std::mem::take(&mut self.pending);
        let outstanding = pending.outstanding.unwrap_or(self.in_flight);
        if let Some(kind) = pending.congestion {
            self.counts.congestions += 1;
            self.control.on_congestion(&Congestion {
                now,
                kind,
                lost: Bytes::new(pending.newly_lost),
                in_flight: Bytes::new(outstanding),
            });
        }
        for lost in self.losses.drain(..) {
            self.control.on_lost(&lost);
        }
        if let Some(newest) = pending.newest {
            self.acknowledge(now, &pending, newest);
        }
        while self.packets.front().is_some_and(|packet| packet.left == 0) {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Informs the controller that it waits for nothing: all that was in flight is lost. TCP has a timeout then; QUIC
    /// has none without packets in flight.
    pub(crate) fn time_out(&mut self, now: Time) {
        self.counts.congestions += 1;
        let (kind, lost, in_flight) = (CongestionKind::Timeout, Bytes::ZERO, Bytes::ZERO);
        self.control.on_congestion(&Congestion { now, kind, lost, in_flight });
    }

    fn acknowledge(&mut self, now: Time, pending: &Pending, newest: SentPacket) {
        let rtt = now.since(newest.at);
        self.observe(rtt);
        let delivered = self.counts.delivered;
        if self.limited_until > 0 && delivered > self.limited_until {
            self.limited_until = 0;
        }
        if newest.delivered >= self.round_end {
            self.round += 1;
            self.round_end = delivered;
        }
        let rate = self.wants.rate.then(|| self.sample(pending, &newest));
        self.first_sent = newest.at;
        let ack = Ack {
            now,
            acked: Bytes::new(pending.acked),
            delivered: Bytes::new(pending.acked),
            newest_sent: newest.departed,
            in_flight: Bytes::new(self.in_flight),
            rtt: RttView { latest: Some(rtt), smoothed: self.smoothed.unwrap_or(rtt), min: self.min_rtt },
            rate,
            window_limited: pending.oldest.is_some_and(|oldest| oldest < self.window_limited_below),
            paced: self.control.allowance().pacing.is_some(),
            recovering: self.recovery.is_some_and(|since| newest.at <= since),
            round: self.round,
        };
        self.control.on_ack(&ack);
    }

    /// Returns the delivery rate of the packet `newest`, which the acknowledgement at hand delivers
    /// [draft-cheng-iccrg-delivery-rate-estimation].
    fn sample(&self, pending: &Pending, newest: &SentPacket) -> RateSample {
        let delivered = self.counts.delivered;
        let sending = newest.at.since(newest.first_sent);
        let interval = sending.max(self.delivered_at.since(newest.delivered_at));
        RateSample {
            delivered: Bytes::new(delivered - newest.delivered),
            interval: if interval < self.min_rtt { Span::ZERO } else { interval },
            application_limited: newest.application_limited,
            delivered_before: Bytes::new(newest.delivered),
            delivered_total: Bytes::new(delivered),
            newly_delivered: Bytes::new(pending.acked),
            newly_lost: Bytes::new(pending.newly_lost),
            lost: Bytes::new(self.counts.lost_bytes - newest.lost),
            sent_in_flight: Bytes::new(newest.in_flight),
        }
    }

    fn observe(&mut self, rtt: Span) {
        self.smoothed = Some(self.smoothed.map_or(rtt, |smoothed| (smoothed * 7 + rtt) / 8));
        self.latest = Some(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
    }
}
