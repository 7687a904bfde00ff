//! [`Side`]: one direction of one connection, from readings of its socket.

use crate::window::advertisable;
use estimate::diagnosis::{Direction, Evidence, Interval, KernelClocks, LossEpisode, Vantage, bottleneck};
use host::TcpConnection;
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

/// The number of earlier readings that a receiver keeps, to know the data that arrived within a round trip.
const MOST_PAST: usize = 64;

/// The most episodes of loss in memory. The losses of later ones count as those of the last.
const MOST_EPISODES: usize = 512;
/// The round trips, and the least time, over which a receiver counts data: it arrives in bursts.
const COUNTED_ROUND_TRIPS: u64 = 4;
const COUNTED: Span = Span::from_millis(100);
/// The share of a send buffer from which it is full. The kernel wakes a writer when a third is free
/// (`sk_stream_is_writeable`), so that the buffer of a program that waits has two thirds at least.
const BUFFER_FULL: f64 = 0.66;

/// A reading of a connection, with its time.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) at: Time,
    pub(super) connection: TcpConnection,
}

/// The rest of a kernel's clock. The clocks have steps of some milliseconds, so that an interval seems to have more
/// time than it is long, and the next one less. The rest goes to the next interval.
#[derive(Clone, Copy, Debug, Default)]
struct ClockRest(Span);

impl ClockRest {
    /// Returns the time that belongs to an interval of `length`, in which the clock advanced by `step`.
    fn take(&mut self, step: Span, length: Span) -> Span {
        let all = self.0 + step;
        let taken = all.min(length);
        self.0 = all - taken;
        taken
    }
}

/// One direction of a connection: its intervals so far.
#[derive(Debug)]
pub(super) struct Side {
    vantage: Vantage,
    intervals: Vec<Interval>,
    episodes: Vec<LossEpisode>,
    /// The number of episodes that are not in memory.
    more_episodes: u64,
    /// The time of the last retransmission.
    lost: Option<Time>,
    least_round_trip: Option<Span>,
    busy: ClockRest,
    window_limited: ClockRest,
    buffer_limited: ClockRest,
    /// Bytes received at past times; of a receiver.
    past: VecDeque<(Time, Bytes)>,
}

impl Side {
    pub(super) fn new(vantage: Vantage) -> Self {
        Self {
            vantage,
            intervals: Vec::new(),
            episodes: Vec::new(),
            more_episodes: 0,
            lost: None,
            least_round_trip: None,
            busy: ClockRest::default(),
            window_limited: ClockRest::default(),
            buffer_limited: ClockRest::default(),
            past: VecDeque::new(),
        }
    }

    /// Returns the intervals in memory.
    pub(super) const fn intervals(&mut self) -> &mut Vec<Interval> {
        &mut self.intervals
    }

    /// Adds the interval between two readings. `first` is the time of the connection's first reading.
    pub(super) fn observe(&mut self, first: Time, before: &Reading, after: &Reading) {
        let interval = match self.vantage {
            Vantage::SenderSocket => self.sent(before, after),
            _ => self.received(before, after),
        };
        let moves = interval.delivered > Bytes::ZERO
            || interval.peak_flight.is_some_and(|flight| flight > Bytes::ZERO)
            || interval.unread.is_some_and(|unread| unread > Bytes::ZERO);
        if self.intervals.is_empty() {
            if !moves {
                return;
            }
            // The connection was idle until now.
            let idle = before.at.since(first);
            if idle > Span::ZERO {
                self.intervals.push(Interval { from: first, length: idle, idle, ..Interval::default() });
            }
        }
        match self.intervals.last_mut() {
            Some(last) if is_pause(last) && is_pause(&interval) => *last = last.joined(interval),
            _ => self.intervals.push(interval),
        }
    }

    /// Makes the interval of a sender.
    fn sent(&mut self, before: &Reading, after: &Reading) -> Interval {
        let (old, new) = (&before.connection.info, &after.connection.info);
        let length = after.at.since(before.at);
        let delivered = new.bytes_acked.saturating_sub(old.bytes_acked);
        let (first, last) = (before.connection.in_flight(), after.connection.in_flight());
        let clock = |rest: &mut ClockRest, new: Option<Span>, old: Option<Span>| {
            Some(rest.take(new?.saturating_sub(old?), length))
        };
        let busy = clock(&mut self.busy, new.busy_time, old.busy_time);
        let window_limited = clock(&mut self.window_limited, new.rwnd_limited, old.rwnd_limited);
        let buffer_limited = clock(&mut self.buffer_limited, new.sndbuf_limited, old.sndbuf_limited);
        let is_empty = first == Bytes::ZERO && last == Bytes::ZERO && delivered == Bytes::ZERO;
        let idle = match busy {
            Some(busy) => length - busy,
            None if is_empty => length,
            None => Span::ZERO,
        };
        let retransmitted = u64::from(new.total_retrans.saturating_sub(old.total_retrans));
        if retransmitted > 0 {
            self.lose(before, after, retransmitted);
        }
        if let Some(round_trip) = new.min_rtt.or(new.rtt) {
            self.least_round_trip =
                Some(self.least_round_trip.map_or(round_trip, |least| least.min(round_trip)));
        }
        Interval {
            from: before.at,
            length,
            delivered,
            sent: new.bytes_sent.zip(old.bytes_sent).map(|(new, old)| new.saturating_sub(old)),
            flight: Some((first + last).scale(0.5)),
            peak_flight: Some(first.max(last)),
            receive_window: new.snd_wnd,
            least_window: new.snd_wnd.zip(old.snd_wnd).map(|(new, old)| new.min(old)),
            congestion_window: Some(new.congestion_window()),
            unsent: Some(new.notsent_bytes),
            buffer_full: after
                .connection
                .memory
                .map(|memory| memory.queued.get() as f64 >= BUFFER_FULL * memory.send_buffer.get() as f64),
            unread: None,
            returned: Some(new.stream_received().saturating_sub(old.stream_received())),
            segments: Some(u64::from(new.data_segs_out.saturating_sub(old.data_segs_out))),
            round_trip: new.rtt.filter(|_| delivered > Bytes::ZERO),
            idle,
            kernel: busy.zip(window_limited).zip(buffer_limited).map(
                |((busy, window_limited), buffer_limited)| KernelClocks {
                    busy,
                    window_limited,
                    buffer_limited,
                },
            ),
            retransmitted,
            out_of_order: 0,
            marked: difference(new.delivered_ce, old.delivered_ce),
            ran_dry: new.app_limited,
        }
    }

    /// Counts losses: a new episode, or more of the last one.
    fn lose(&mut self, before: &Reading, after: &Reading, segments: u64) {
        let (old, new) = (&before.connection.info, &after.connection.info);
        let by_timeout = new.timeouts > old.timeouts;
        let apart = self.lost.map(|last| before.at.since(last));
        self.lost = Some(after.at);
        let (is_more, count) = (apart > new.rtt, self.episodes.len());
        match self.episodes.last_mut() {
            Some(last) if !is_more || count == MOST_EPISODES => {
                last.segments += segments;
                last.by_timeout |= by_timeout;
                self.more_episodes += u64::from(is_more);
            }
            _ => self.episodes.push(LossEpisode {
                at: before.at,
                segments,
                queueing: old.rtt.zip(old.min_rtt).map(|(rtt, least)| rtt.saturating_sub(least)),
                by_timeout,
            }),
        }
    }

    /// Makes the interval of a receiver.
    fn received(&mut self, before: &Reading, after: &Reading) -> Interval {
        let (old, new) = (&before.connection.info, &after.connection.info);
        let length = after.at.since(before.at);
        let delivered = new.stream_received().saturating_sub(old.stream_received());
        if self.past.is_empty() {
            self.past.push_back((before.at, old.stream_received()));
        }
        self.past.push_back((after.at, new.stream_received()));
        if self.past.len() > MOST_PAST {
            self.past.pop_front();
        }
        if let Some(round_trip) = new.rcv_rtt {
            self.least_round_trip =
                Some(self.least_round_trip.map_or(round_trip, |least| least.min(round_trip)));
        }
        let window = |connection: &TcpConnection| {
            let info = &connection.info;
            info.rcv_wnd.unwrap_or(info.rcv_ssthresh).min(advertisable(info))
        };
        let (first, last) = (window(&before.connection), window(&after.connection));
        Interval {
            from: before.at,
            length,
            delivered,
            sent: None,
            flight: new.rcv_rtt.and_then(|round_trip| self.within(round_trip)),
            peak_flight: None,
            receive_window: Some(last),
            least_window: Some(first.min(last)),
            congestion_window: None,
            unsent: None,
            buffer_full: None,
            unread: Some(after.connection.unread),
            returned: Some(new.bytes_acked.saturating_sub(old.bytes_acked)),
            segments: Some(u64::from(new.data_segs_in.saturating_sub(old.data_segs_in))),
            round_trip: of_arrivals(new.rcv_rtt, new.min_rtt).filter(|_| delivered > Bytes::ZERO),
            idle: quiet(after, delivered, length),
            kernel: None,
            retransmitted: 0,
            out_of_order: difference(new.rcv_ooopack, old.rcv_ooopack),
            marked: 0,
            ran_dry: false,
        }
    }

    /// Returns the mean of the bytes that arrived within a `round_trip` lately.
    fn within(&self, round_trip: Span) -> Option<Bytes> {
        let &(end, last) = self.past.back()?;
        let begin = end - (round_trip * COUNTED_ROUND_TRIPS).max(COUNTED);
        let at = self.past.partition_point(|&(time, _)| time <= begin).saturating_sub(1);
        let &(start, earlier) = self.past.get(at)?;
        let rate = Rate::of(last.saturating_sub(earlier), end.since(start).max(Span::from_nanos(1)));
        Some(rate.volume(round_trip))
    }

    /// Makes the evidence; `None` if nothing moved and nothing waited.
    pub(super) fn evidence(
        self,
        direction: Direction,
        first: &TcpConnection,
        last: &TcpConnection,
    ) -> Option<Evidence> {
        if self.intervals.is_empty() {
            return None;
        }
        let (before, info) = (&first.info, &last.info);
        let is_sender = self.vantage == Vantage::SenderSocket;
        let (segment, scale, least) = match self.vantage {
            Vantage::SenderSocket => (info.snd_mss, info.snd_wscale, self.least_round_trip),
            // The least round trip of its own segments has no steps of a millisecond, and no wait of the sender.
            _ => (info.rcv_mss, info.rcv_wscale, info.min_rtt.or(self.least_round_trip)),
        };
        let mut evidence = Evidence {
            window_scale: info.options.window_scaling.then_some(scale),
            scaling_off: !info.options.window_scaling,
            segment,
            base_round_trip: least,
            control: first.control.clone().filter(|_| is_sender),
            episodes: self.episodes,
            more_episodes: self.more_episodes,
            needless: if is_sender { difference(info.dsack_dups, before.dsack_dups) } else { 0 },
            timeouts: u64::from(info.timeouts.unwrap_or(0).saturating_sub(before.timeouts.unwrap_or(0))),
            intervals: self.intervals,
            ..Evidence::new(direction, self.vantage)
        };
        (evidence.capacity, evidence.buffer) = bottleneck(&evidence);
        Some(evidence)
    }
}

/// Returns the round trip that a receiver measures by its arrivals. Their time stamps have steps of a millisecond
/// [rfc7323:4], so `measured` may lie below the `least` round trip of the receiver's own segments, which has none.
fn of_arrivals(measured: Option<Span>, least: Option<Span>) -> Option<Span> {
    measured.map(|measured| measured.max(least.unwrap_or_default()))
}

/// Returns the part of an interval in which no data was on its way to the receiver, as far as the receiver can know.
fn quiet(after: &Reading, delivered: Bytes, length: Span) -> Span {
    let info = &after.connection.info;
    let is_closed = info.rcv_wnd.is_some_and(|window| window < info.rcv_mss * 2);
    if delivered > Bytes::ZERO || after.connection.unread > Bytes::ZERO || is_closed {
        return Span::ZERO;
    }
    // A sender with data is silent for a round trip at most: until acknowledgements arrive. The least round trip counts,
    // because the receiver's estimate has the pauses of the sender in it.
    let round_trip = info.min_rtt.or(info.rcv_rtt).unwrap_or_default();
    info.last_data_recv.saturating_sub(round_trip).min(length)
}

/// Returns true for an interval without any data.
fn is_pause(interval: &Interval) -> bool {
    interval.idle == interval.length && interval.delivered == Bytes::ZERO
}

/// Returns the growth of a count that the kernel may not report.
fn difference(new: Option<u32>, old: Option<u32>) -> u64 {
    new.zip(old).map_or(0, |(new, old)| u64::from(new.saturating_sub(old)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_in_whole_milliseconds_is_not_below_the_least() {
        let (measured, least) = (Span::from_millis(40), Span::from_micros(40_468));
        assert_eq!(of_arrivals(Some(measured), Some(least)), Some(least));
        assert_eq!(of_arrivals(Some(Span::from_millis(55)), Some(least)), Some(Span::from_millis(55)));
        assert_eq!(
            (of_arrivals(Some(measured), None), of_arrivals(None, Some(least))),
            (Some(measured), None)
        );
    }

    #[test]
    fn steps_of_a_clock_are_shared_among_the_intervals() {
        let (mut rest, length) = (ClockRest::default(), Span::from_millis(20));
        let steps = [16, 24, 16, 24, 20, 0];
        let taken: Vec<f64> =
            steps.map(|step| rest.take(Span::from_millis(step), length).as_millis_f64()).to_vec();
        assert_eq!(taken, [16.0, 20.0, 20.0, 20.0, 20.0, 4.0], "the sum is that of the clock");
    }
}
