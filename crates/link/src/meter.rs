//! A link's measurements of itself, which are exact: time integrals come from each packet's own times, not from
//! sampling.

use crate::capacity::ChangingServer;
use crate::{Backlog, ClassDelays, DropReason, Occupancy, QueueingDelay, ShaperReport, SourcesReport};
use units::{Bytes, Rate, Span, Time};

/// The times of one packet that the link has sent or will send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    pub(crate) arrived: Time,
    pub(crate) starts: Time,
    pub(crate) departs: Time,
    pub(crate) length: Bytes,
}

/// Counters and integrals over the measured interval, which begins at [`Meter::begin`].
#[derive(Clone, Debug, Default)]
pub struct Meter {
    since: Time,
    drops: [u64; DropReason::COUNT],
    marks: u64,
    /// Bytes of packets sent wholly within the interval. Their time on the wire is exactly the bytes over the rate,
    /// while the nanoseconds of their departures are rounded.
    whole_bytes: u64,
    /// Bytes of packets that left within the interval and began before it.
    part_bytes: u64,
    /// Nanoseconds on the wire of packets of which a part was sent within the interval.
    part_nanos: u64,
    /// Integral of bytes waiting over time.
    byte_nanos: u128,
    occupancy: Occupancy,
    delay: QueueingDelay,
    /// Packets that arrived over the whole run.
    total_arrivals: u64,
    /// Packets dropped over the whole run.
    total_drops: u64,
    /// Packets sent over the whole run.
    total_forwarded: u64,
    /// The value of `total_arrivals` at the start of the interval.
    arrivals_before: u64,
    /// The value of `total_forwarded` at the start of the interval.
    forwarded_before: u64,
}

/// The measurements of a link between the start of measuring and the end of the run.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Length of the measured interval.
    pub measured: Span,
    /// Packets that arrived, dropped ones included.
    pub arrivals: u64,
    /// Packets dropped because the queue was full.
    pub queue_drops: u64,
    /// Packets active queue management dropped while there was room.
    pub early_drops: u64,
    /// Packets the link lost at random.
    pub random_losses: u64,
    /// Packets sent that the queue marked instead of dropping them. A packet that came marked does not count.
    pub marks: u64,
    /// Packets sent.
    pub forwarded: u64,
    /// Bytes sent.
    pub forwarded_bytes: Bytes,
    /// Share of time the link was sending. If its rate changes, it is the share of the offered bytes that were used.
    pub utilization: f64,
    /// One less the utilization: usually the share of time the queue was empty and the link not sending.
    pub idle_fraction: f64,
    /// Share of time no packet waited.
    pub queue_empty_fraction: f64,
    /// Time average of the packets waiting.
    pub mean_waiting_packets: f64,
    /// Time average of the bytes waiting.
    pub mean_waiting_bytes: f64,
    /// Time from arrival to the start of transmission of the packet being sent, weighted by time.
    pub queueing_delay: QueueingDelay,
    /// Packets waiting, weighted by time.
    pub queue_length: Occupancy,
    /// The packets in, out, dropped and still inside, over the whole run, warm-up included.
    pub conservation: Conservation,
    /// The part of the report that only a link has whose rate changes.
    pub changing: Option<ChangingReport>,
    /// The two queues of a link with a shaper; `None` without one.
    pub shaper: Option<ShaperReport>,
    /// The packets of each source of cross traffic, and all others; `None` if the link does not
    /// [count](crate::Link::meter_sources) by source.
    pub sources: Option<SourcesReport>,
    /// The queueing delays of classic and of scalable packets; `None` if the queue has no classes.
    pub classes: Option<ClassDelays>,
}

impl LinkReport {
    /// Returns the number of packets dropped, for any reason.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.queue_drops + self.early_drops + self.random_losses
    }

    /// Returns the mean rate that the link offered over the measured interval, bits per second, if its rate changes.
    #[must_use]
    pub fn offered_bps(&self) -> Option<f64> {
        let offered = self.changing.as_ref()?.offered.bits_f64();
        (self.measured > Span::ZERO).then(|| offered / self.measured.as_secs_f64())
    }

    /// Returns drops over arrivals; zero without arrivals.
    #[must_use]
    pub fn loss_rate(&self) -> f64 {
        self.drops() as f64 / (self.arrivals as f64).max(1.0)
    }

    /// Returns marks over arrivals; zero without arrivals.
    #[must_use]
    pub fn mark_rate(&self) -> f64 {
        self.marks as f64 / (self.arrivals as f64).max(1.0)
    }
}

/// The measurements that only a link has whose rate changes.
#[derive(Clone, Debug)]
pub struct ChangingReport {
    /// The bytes that could have left the link.
    pub offered: Bytes,
    /// The age over time: the time since the newest packet that has left arrived at the link.
    pub ages: QueueingDelay,
    /// The age of a sender that knew the capacity in advance, and whose packets never waited.
    pub least_ages: QueueingDelay,
}

impl ChangingReport {
    /// Returns the self-inflicted delay: how much the `q`-quantile of the age exceeds that of a sender that knew the
    /// capacity (Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 5.1). Returns `None` if no packet left.
    #[must_use]
    pub fn self_inflicted(&self, q: f64) -> Option<Span> {
        let least = self.least_ages.quantile(q).unwrap_or_default();
        Some(self.ages.quantile(q)?.saturating_sub(least))
    }
}

/// Packets over the whole run: `arrived = forwarded + dropped + held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets sent.
    pub forwarded: u64,
    /// Packets dropped, for any reason.
    pub dropped: u64,
    /// Packets still waiting or being sent.
    pub held: u64,
}

impl Meter {
    /// Starts the measured interval: events before `now` no longer count, and packets that straddle `now` count with
    /// the part after it.
    pub fn begin(&mut self, now: Time) {
        let Self { total_arrivals, total_drops, total_forwarded, mut occupancy, .. } = std::mem::take(self);
        occupancy.begin(now);
        *self = Self {
            since: now,
            total_arrivals,
            total_drops,
            total_forwarded,
            arrivals_before: total_arrivals,
            forwarded_before: total_forwarded,
            occupancy,
            ..Self::default()
        };
    }

    #[inline]
    pub(crate) fn arrived(&mut self) {
        self.total_arrivals += 1;
    }

    pub(crate) fn dropped(&mut self, reason: DropReason) {
        self.drops[reason as usize] += 1;
        self.total_drops += 1;
    }

    /// Returns the link's state at `now`, if `backlog` waits and `sending` is the packet being sent.
    pub(crate) fn state(
        &self,
        now: Time,
        backlog: Backlog,
        sending: Option<&Service>,
        rate: Rate,
    ) -> LinkState {
        let part = |packet: &Service| packet.departs.min(now).since(packet.starts.max(self.since));
        let busy = Span::from_nanos(self.busy_nanos(rate) as u64) + sending.map_or(Span::ZERO, part);
        let (drops, arrivals) = (self.total_drops, self.total_arrivals);
        LinkState { backlog, drops, arrivals, busy, rate, changing: None, shaped: None }
    }

    /// Counts a packet that has left. Calls come in the order of departure.
    #[inline(always)]
    pub(crate) fn served(&mut self, packet: &Service) {
        self.total_forwarded += 1;
        if packet.starts >= self.since {
            self.whole_bytes += packet.length.get();
            self.delay.held(packet.starts.since(packet.arrived), packet.departs.since(packet.starts));
        } else {
            self.part_bytes += packet.length.get();
            self.sending(packet, packet.departs);
        }
    }

    /// Counts a packet that has left `server`, whose rate changes. Calls come in the order of departure. A packet that
    /// began before measuring counts whole.
    pub(crate) fn served_by(&mut self, packet: &Service, server: &mut ChangingServer) {
        self.total_forwarded += 1;
        self.whole_bytes += packet.length.get();
        let counts = server.served(packet, packet.departs.since(packet.starts.max(self.since)));
        self.delay.held(packet.starts.since(packet.arrived), counts);
    }

    /// Returns the state at `now` of a link whose rate changes, as [`state`](Meter::state) does. The backlog
    /// `drains` in this time.
    pub(crate) fn changing_state(
        &self,
        now: Time,
        backlog: Backlog,
        drains: Span,
        server: &mut ChangingServer,
    ) -> LinkState {
        let (rate, (taken, offered)) = (server.mean_rate(), server.used(now));
        let time = |bytes: f64| Span::from_secs_f64(bytes * 8.0 / rate.as_bps_f64());
        let busy = time(taken);
        let changing = Some(Changing {
            offered: Bytes::new(offered as u64),
            used: Bytes::new(taken as u64),
            possible: time(offered),
            drains,
        });
        let (drops, arrivals) = (self.total_drops, self.total_arrivals);
        LinkState { backlog, drops, arrivals, busy, rate, changing, shaped: None }
    }

    /// Closes the measured interval at `end`, with `held` packets still inside, for a link whose rate changes.
    pub(crate) fn changing_report(&self, end: Time, held: u64, server: &mut ChangingServer) -> LinkReport {
        let (taken, offered) = server.used(end);
        let span = end.since(self.since).as_nanos() as f64;
        let report = self.report_of(end, held, if offered > 0.0 { span * taken / offered } else { 0.0 });
        let changing = ChangingReport {
            offered: Bytes::new(offered as u64),
            ages: server.ages().clone(),
            least_ages: server.least_ages(end),
        };
        LinkReport { changing: Some(changing), ..report }
    }

    /// Returns the time on the wire, in nanoseconds.
    fn busy_nanos(&self, rate: Rate) -> f64 {
        self.part_nanos as f64 + self.whole_bytes as f64 * 8e9 / rate.as_bps_f64()
    }

    /// Counts a mark on the packet that has just left.
    pub(crate) fn marked(&mut self) {
        self.marks += 1;
    }

    /// Counts the wire as busy with `packet` up to `until`. A packet whose transmission begins later does not count.
    pub(crate) fn sending(&mut self, packet: &Service, until: Time) {
        let sent = until.since(packet.starts.max(self.since));
        if sent > Span::ZERO {
            self.part_nanos += sent.as_nanos();
            self.delay.held(packet.starts.since(packet.arrived), sent);
        }
    }

    /// Counts the wait of a packet that was sent within the interval for this time more, in which a shaper sends nothing.
    pub(crate) fn kept_busy(&mut self, packet: &Service, more: Span) {
        if packet.starts >= self.since {
            self.delay.held(packet.starts.since(packet.arrived), more);
        }
    }

    /// Counts `packets` as waiting from the last call to `now`. Called just before the number changes, with the old
    /// number.
    #[inline]
    pub(crate) fn held(&mut self, packets: u64, now: Time) {
        self.occupancy.held(packets, now);
    }

    /// Counts the wait of a packet of a first-in, first-out queue, from its arrival to its start.
    #[inline]
    pub(crate) fn waited(&mut self, arrived: Time, starts: Time, length: Bytes) {
        let from = arrived.max(self.since);
        if starts > from {
            let wait = starts.since(from).as_nanos();
            self.byte_nanos += u128::from(wait) * u128::from(length.get());
        }
    }

    /// Counts `backlog` as waiting in any queue from the last call to `now`. Called just before the backlog changes,
    /// with the old backlog.
    pub(crate) fn waiting(&mut self, backlog: Backlog, now: Time) {
        let span = now.since(self.occupancy.until()).as_nanos();
        self.byte_nanos += u128::from(span) * u128::from(backlog.bytes.get());
        self.occupancy.held(backlog.packets, now);
    }

    /// Closes the measured interval at `end`, with `held` packets still inside.
    pub(crate) fn report(&self, end: Time, held: u64, rate: Rate) -> LinkReport {
        self.report_of(end, held, self.busy_nanos(rate))
    }

    /// Closes the interval as [`report`](Meter::report) does, with the time on the wire given as `busy_nanos`.
    pub(crate) fn report_of(&self, end: Time, held: u64, busy_nanos: f64) -> LinkReport {
        let mut meter = self.clone();
        let measured = end.since(meter.since);
        meter.delay.held(Span::ZERO, measured.saturating_sub(meter.delay.total()));
        let span = (measured.as_nanos() as f64).max(1.0);
        let utilization = (busy_nanos / span).min(1.0);
        let waiting = meter.occupancy.total().saturating_sub(meter.occupancy.time(0));
        LinkReport {
            measured,
            arrivals: meter.total_arrivals - meter.arrivals_before,
            queue_drops: meter.drops[DropReason::QueueFull as usize],
            early_drops: meter.drops[DropReason::Aqm as usize],
            marks: meter.marks,
            random_losses: meter.drops[DropReason::RandomLoss as usize],
            forwarded: meter.total_forwarded - meter.forwarded_before,
            forwarded_bytes: Bytes::new(meter.whole_bytes + meter.part_bytes),
            utilization,
            idle_fraction: 1.0 - utilization,
            queue_empty_fraction: 1.0 - waiting.as_nanos() as f64 / span,
            mean_waiting_packets: meter.occupancy.packet_nanos() as f64 / span,
            mean_waiting_bytes: meter.byte_nanos as f64 / span,
            queueing_delay: meter.delay,
            queue_length: meter.occupancy,
            conservation: Conservation {
                arrived: meter.total_arrivals,
                forwarded: meter.total_forwarded,
                dropped: meter.total_drops,
                held,
            },
            changing: None,
            shaper: None,
            sources: None,
            classes: None,
        }
    }
}

/// The state of a link while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The data that wait in the queue.
    pub backlog: Backlog,
    /// Drops since the start of the run.
    pub drops: u64,
    /// Packets that arrived since the start of the run, dropped ones included.
    pub arrivals: u64,
    /// Time the link was sending since the start of measurement. If its rate changes, it is the time that its mean rate
    /// takes for the bytes sent.
    pub busy: Span,
    /// The link's rate, or its mean rate.
    pub rate: Rate,
    /// The part of the state that only a link has whose rate changes.
    pub changing: Option<Changing>,
    /// The time that a shaper takes to send its backlog; `None` without one.
    pub shaped: Option<Span>,
}

/// The state of a link whose rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changing {
    /// The bytes that could have left since the start of measurement.
    pub offered: Bytes,
    /// The part of these bytes that was used by packets that have left.
    pub used: Bytes,
    /// The time for which the link could have been sending, counted as [`LinkState::busy`] is.
    pub possible: Span,
    /// The time that it takes to send the backlog.
    pub drains: Span,
}

impl LinkState {
    /// Returns the time that it takes to send the backlog.
    #[must_use]
    pub fn queueing_delay(&self) -> Span {
        let drains = self.changing.map(|changing| changing.drains);
        let drains = drains.unwrap_or_else(|| self.rate.serialization(self.backlog.bytes));
        self.shaped.map_or(drains, |shaped| drains.max(shaped))
    }
}
