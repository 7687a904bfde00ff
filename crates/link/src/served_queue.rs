//! A queue whose packets a server sends: the policy, a moving limit, and the meter of both.
//!
//! A [`Link`](crate::Link) knows the transmission time of a packet. Here the server reports the end of each packet, as
//! an access function of a wireless station does. The server sends in the order in which it was handed packets. It may
//! be handed several: the first is being sent, and those behind it wait without taking room in the queue.

use crate::link::HeldPacket;
use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::moving_limit::MovingLimit;
use crate::queue::{self, BuildError, PolicyConfig};
use crate::{Backlog, Datagram, DropReason, Limit, Queue};
use std::collections::VecDeque;
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// The share of the newest packet in the rate that [`ServedQueue::state`] shows: a memory of a hundred packets.
const WEIGHT: f64 = 0.01;

/// One queue in front of a server, or several queues of one policy. The server may take packets from any of them.
pub struct ServedQueue<P> {
    queues: Vec<Box<dyn Queue<HeldPacket<P>>>>,
    /// For each queue, true if the server has asked it in vain for a packet since the last arrival.
    dry: Vec<bool>,
    moving: Option<MovingLimitState>,
    /// The backlog of all queues.
    backlog: Backlog,
    /// Packets with the server; the first is being sent.
    handed: VecDeque<PacketInService>,
    handed_bytes: Bytes,
    /// The time at which the server last finished a packet.
    free_since: Time,
    meter: Meter,
    /// The start of measuring.
    measured_since: Time,
    /// The time for which the server had a packet, up to the end of the last one. The packet being sent is not
    /// included.
    busy: Span,
    rate: Rate,
    /// Means over the last packets: their bytes, and the seconds that the server took for each.
    newest: Option<(f64, f64)>,
}

/// A packet with the server.
#[derive(Clone, Copy, Debug)]
struct PacketInService {
    arrived: Time,
    handed: Time,
    length: Bytes,
    marked: bool,
}

/// A limit that moves, and its mean.
#[derive(Clone, Debug)]
struct MovingLimitState {
    limit: MovingLimit,
    /// Packets times nanoseconds since the start of measuring, up to `until`.
    packet_nanos: u128,
    until: Time,
}

impl MovingLimitState {
    fn packets(&mut self, now: Time) -> u64 {
        let packets = self.limit.packets(now);
        self.packet_nanos += u128::from(packets) * u128::from(now.since(self.until).as_nanos());
        self.until = now;
        packets
    }
}

impl<P: Datagram + Send + 'static> ServedQueue<P> {
    /// Makes `queues` empty queues of a policy, each with room for `limit`. The policy assumes that packets leave at
    /// `rate`, the highest possible one. Its random numbers come from `stream`.
    ///
    /// # Errors
    /// If the registry does not have the policy, or the policy does not accept a setting.
    pub fn make(
        queues: usize,
        policy: &PolicyConfig,
        limit: Limit,
        rate: Rate,
        mut stream: Stream,
    ) -> Result<Self, BuildError> {
        let build = |_| {
            let seed = stream.integer(0, u64::MAX);
            let context = policy.context(limit, rate, Stream::new(seed, "queue"));
            queue::build_with(&policy.policy, &policy.settings, context)
        };
        Ok(Self {
            queues: (0..queues).map(build).collect::<Result<_, _>>()?,
            dry: vec![true; queues],
            moving: None,
            backlog: Backlog::default(),
            handed: VecDeque::new(),
            handed_bytes: Bytes::ZERO,
            free_since: Time::ZERO,
            meter: Meter::default(),
            measured_since: Time::ZERO,
            busy: Span::ZERO,
            rate,
            newest: None,
        })
    }

    /// Adds a moving limit to the queues' own limits. It applies to all queues together, and counts packets that the
    /// server has not taken yet.
    #[must_use]
    pub fn limited(self, limit: MovingLimit) -> Self {
        Self { moving: Some(MovingLimitState { limit, packet_nanos: 0, until: Time::ZERO }), ..self }
    }

    /// Takes a packet that arrives at queue number `queue`. If nothing waits and the server has nothing, it goes
    /// straight to the server, and is returned; it takes no room then.
    ///
    /// # Panics
    /// If the queue does not exist. The other methods with a `queue` panic, too.
    pub fn offer(
        &mut self,
        now: Time,
        queue: usize,
        packet: P,
        drops: &mut dyn FnMut(P, DropReason),
    ) -> Option<P> {
        self.meter.arrived();
        self.dry[queue] = false;
        let held = HeldPacket::new(now, packet);
        let idle = self.handed.is_empty() && self.backlog.packets == 0;
        let full = self.moving.as_mut().is_some_and(|moving| self.backlog.packets >= moving.packets(now));
        let meter = &mut self.meter;
        let mut log = |held: HeldPacket<P>, reason| {
            meter.dropped(reason);
            drops(held.packet, reason);
        };
        if idle {
            let held = self.queues[queue].pass(now, held, &mut log)?;
            return Some(self.hand(now, held));
        }
        if full {
            log(held, DropReason::QueueFull);
            return None;
        }
        let (before, waiting) = (self.queues[queue].backlog(), self.waiting());
        let meter = &mut self.meter;
        self.queues[queue].enqueue(now, held, &mut |held, reason| {
            meter.dropped(reason);
            drops(held.packet, reason);
        });
        self.meter.waiting(waiting, now);
        self.note(queue, before);
        None
    }

    /// Hands the next packet of queue number `queue` to the server.
    pub fn next(&mut self, now: Time, queue: usize, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let (before, waiting) = (self.queues[queue].backlog(), self.waiting());
        let meter = &mut self.meter;
        let next = self.queues[queue].dequeue(now, &mut |held, reason| {
            meter.dropped(reason);
            drops(held.packet, reason);
        });
        self.meter.waiting(waiting, now);
        self.note(queue, before);
        match next {
            Some(held) => Some(self.hand(now, held)),
            None => {
                self.dry[queue] = true;
                self.report_if_empty(now);
                None
            }
        }
    }

    /// Notes that the server has sent the first packet that it holds.
    ///
    /// # Panics
    /// If the server holds no packet, as [`given_up`](Self::given_up) does.
    pub fn sent(&mut self, now: Time) {
        let (service, marked) = self.done(now);
        self.meter.served(&service);
        if marked {
            self.meter.marked();
        }
        let took = now.since(service.starts);
        let (bytes, seconds) = (service.length.get() as f64, took.as_secs_f64());
        let (mean_bytes, mean_seconds) = self.newest.get_or_insert((bytes, seconds));
        *mean_bytes += WEIGHT * (bytes - *mean_bytes);
        *mean_seconds += WEIGHT * (seconds - *mean_seconds);
        if let Some(moving) = &mut self.moving {
            moving.packets(now);
            moving.limit.served(took);
        }
        self.report_if_empty(now);
    }

    /// Notes that the server has given up the first packet that it holds. It counts as lost by the link.
    pub fn given_up(&mut self, now: Time) {
        let (service, _) = self.done(now);
        self.meter.sending(&service, now);
        self.meter.dropped(DropReason::RandomLoss);
        self.report_if_empty(now);
    }

    /// Returns true if queue number `queue` is empty and has been asked for a packet since. Its policy then knows that
    /// the server would take more.
    #[must_use]
    pub fn is_dry(&self, queue: usize) -> bool {
        self.dry[queue]
    }

    /// Returns the moving limit, if there is one.
    pub fn moving_limit(&mut self, now: Time) -> Option<u64> {
        self.moving.as_mut().map(|moving| moving.packets(now))
    }

    /// Returns the time average of the moving limit since the start of measuring, if there is one.
    pub fn mean_moving_limit(&mut self, now: Time) -> Option<f64> {
        self.moving_limit(now)?;
        let span = now.since(self.measured_since).as_nanos();
        let moving = self.moving.as_ref()?;
        (span > 0).then(|| moving.packet_nanos as f64 / span as f64)
    }

    /// Starts the measured interval.
    pub fn begin_measuring(&mut self, now: Time) {
        self.meter.waiting(self.waiting(), now);
        self.meter.begin(now);
        self.moving_limit(now);
        if let Some(moving) = &mut self.moving {
            moving.packet_nanos = 0;
        }
        (self.measured_since, self.busy) = (now, Span::ZERO);
    }

    /// Returns the backlog, the arrivals, the drops, and the time for which the server had a packet. The rate is the
    /// mean rate at which the server sent the last packets.
    #[must_use]
    pub fn state(&self, now: Time) -> LinkState {
        let rate = match self.newest {
            Some((bytes, seconds)) if seconds > 0.0 => Rate::from_bps((8.0 * bytes / seconds) as u64),
            _ => self.rate,
        };
        let state = self.meter.state(now, self.waiting(), None, self.rate);
        LinkState { busy: self.busy_until(now), rate, ..state }
    }

    /// Returns the measurements from the start of measuring to `end`. The utilization is the share of time in which the
    /// server had a packet.
    #[must_use]
    pub fn report(&self, end: Time) -> LinkReport {
        let mut meter = self.meter.clone();
        meter.waiting(self.waiting(), end);
        if let Some(first) = self.handed.front() {
            meter.sending(&self.service(first, end), end);
        }
        let held = self.backlog.packets + self.handed.len() as u64;
        meter.report_of(end, held, self.busy_until(end).as_nanos() as f64)
    }

    /// Returns the packets that wait: in the queues, and behind the first with the server.
    fn waiting(&self) -> Backlog {
        let first = self.handed.front().map_or(Bytes::ZERO, |first| first.length);
        Backlog {
            packets: self.backlog.packets + self.handed.len().saturating_sub(1) as u64,
            bytes: self.backlog.bytes + (self.handed_bytes - first),
        }
    }

    fn note(&mut self, queue: usize, before: Backlog) {
        let after = self.queues[queue].backlog();
        self.backlog.packets = self.backlog.packets - before.packets + after.packets;
        self.backlog.bytes = self.backlog.bytes - before.bytes + after.bytes;
    }

    fn hand(&mut self, now: Time, held: HeldPacket<P>) -> P {
        let HeldPacket { arrived, marked, packet, .. } = held;
        let length = packet.wire_len();
        self.meter.waiting(self.waiting(), now);
        if self.handed.is_empty()
            && let Some(moving) = &mut self.moving
        {
            moving.limit.set_empty(now, false);
        }
        self.handed.push_back(PacketInService { arrived, handed: now, length, marked });
        self.handed_bytes += length;
        packet
    }

    fn service(&self, packet: &PacketInService, departs: Time) -> Service {
        let starts = packet.handed.max(self.free_since);
        Service { arrived: packet.arrived, starts, departs, length: packet.length }
    }

    /// Takes the first packet from the server.
    fn done(&mut self, now: Time) -> (Service, bool) {
        self.meter.waiting(self.waiting(), now);
        let first = self.handed.pop_front().expect("the server holds a packet");
        let service = self.service(&first, now);
        self.handed_bytes -= first.length;
        self.busy += now.since(service.starts.max(self.measured_since));
        self.free_since = now;
        (service, first.marked)
    }

    fn report_if_empty(&mut self, now: Time) {
        if self.handed.is_empty()
            && self.backlog.packets == 0
            && let Some(moving) = &mut self.moving
        {
            moving.limit.set_empty(now, true);
        }
    }

    fn busy_until(&self, now: Time) -> Span {
        let current = self.handed.front().map_or(Span::ZERO, |first| {
            now.since(first.handed.max(self.free_since).max(self.measured_since))
        });
        self.busy + current
    }
}
