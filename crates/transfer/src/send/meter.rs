//! [`Meter`]: what the kernel says of the data connections. Where their ends are the limit, and not the path, it raises
//! the send buffers, and asks for more connections once no larger buffer is to be had.

use super::lanes::{Lane, Wanted};
use super::transfer::Transfer;
use crate::limits::{LimitTimes, SenderTimes};
use crate::wire::control::{Report, StreamReport};
use estimate::limits::{Account, LimitedTimes, Reading};
use host::{TcpInfo, options};
use std::sync::atomic::Ordering::Relaxed;
use units::{Bytes, Rate, Span, Time};

/// A send buffer is raised to this many windows. A writer is woken when a third is free, and the kernel counts its
/// bookkeeping in.
const WINDOWS: u64 = 4;
/// It is raised when it is smaller than this many windows. Two thirds of a buffer are payload, and of these two thirds
/// are left when a writer is woken: a buffer of 2.25 windows is just not the limit.
const TIGHT: u64 = 3;
/// No send buffer is raised above this: room for 1 Gbit/s over 350 ms.
const MOST_BUFFER: Bytes = Bytes::new(64 << 20);
/// Data connections are asked for in these steps.
const STEPS: [u16; 2] = [8, 16];
/// The ends limit a connection if they hold it back for this share of the time.
const MOSTLY: f64 = 0.5;
/// For so long, and a round trip, before more connections are asked for.
const PATIENCE: Span = Span::from_millis(200);
/// More connections need some round trips to start. They are worth it if the rest takes so long at the present rate.
const WORTH: Span = Span::from_secs(3);
/// And on a path of a longer round trip than this. On a shorter one the programs are the limit, or a disk.
const LONG: Span = Span::from_millis(10);
/// The path is the limit if the smoothed round trip exceeds the least by this part of it and by [`QUEUE`].
const QUEUE_PART: u64 = 8;
const QUEUE: Span = Span::from_millis(2);

/// Reads, and keeps account.
#[derive(Debug, Default)]
pub(super) struct Meter {
    gauges: Vec<Gauge>,
    read: Time,
    /// The greatest send buffer that autotuning makes.
    autotuned: Option<Bytes>,
    /// The ends have limited all connections since then.
    limited: Option<Time>,
    steps: usize,
}

/// One data connection.
#[derive(Debug, Default)]
struct Gauge {
    account: Account,
    waited: Span,
    acknowledged: Bytes,
    retransmits: u32,
    /// A larger send buffer is not to be had.
    largest: bool,
    buffer: Bytes,
}

/// What the interval since the last reading was like, over all connections.
#[derive(Debug, Default)]
struct Interval {
    /// Held back by the send buffer, or by the receive buffer.
    ends: Span,
    length: Span,
    moved: Bytes,
    peer_windows: Bytes,
    round_trip: Span,
    /// No queue stands, and nothing was lost.
    free: bool,
    largest: bool,
}

impl Meter {
    /// What the kernel says of each data connection, what limited them, and what their threads waited for.
    pub(super) fn read(
        &mut self,
        transfer: &Transfer,
        window: Option<u64>,
    ) -> (Report, LimitTimes, Option<Wanted>) {
        let lanes = transfer.lanes();
        self.gauges.resize_with(lanes.len(), Gauge::default);
        let rate_based = lanes
            .first()
            .and_then(|lane| options::congestion_control(lane.channel.tcp()).ok())
            .is_some_and(|control| options::is_rate_based(&control));
        let autotuned = *self
            .autotuned
            .get_or_insert_with(|| options::autotuned_send_buffer().map_or(Bytes::ZERO, |[_, _, most]| most));
        let now = transfer.clock.now();
        let length = now.since(std::mem::replace(&mut self.read, now));
        let mut all = Interval { free: true, largest: true, ..Interval::default() };
        let mut limits = LimitTimes::default();
        let mut reports = Vec::with_capacity(lanes.len());
        let sized = window.map(Bytes::new);
        for (gauge, lane) in self.gauges.iter_mut().zip(&lanes) {
            let Ok(info) = TcpInfo::of(lane.channel.tcp()) else {
                reports.push(StreamReport::default());
                continue;
            };
            let waited = lane.channel.waited_to_send();
            let waiting = lane.channel.is_held() || waited.saturating_sub(gauge.waited) > length / 3;
            gauge.waited = waited;
            let before = gauge.account.times();
            gauge.account.observe(reading(&info, now, lane, rate_based, waiting));
            gauge.raise_buffer(&info, lane, autotuned);
            let times = gauge.account.times();
            all.add(gauge, &info, before, times, length);
            add(&mut limits, times, now.since(lane.since));
            reports.push(stream_report(&info));
        }
        let wanted = self.widen(transfer, &all, sized, now);
        (Report { streams: reports, rate_based, times: sender_times(transfer, &lanes) }, limits, wanted)
    }

    /// More data connections, where the ends limit those that are there.
    fn widen(
        &mut self,
        transfer: &Transfer,
        all: &Interval,
        sized: Option<Bytes>,
        now: Time,
    ) -> Option<Wanted> {
        let count = self.gauges.len();
        let share = all.ends.as_secs_f64() / (all.length.as_secs_f64() * count as f64).max(1e-9);
        // A receive window that is held small on purpose limits as it should.
        let on_purpose = sized.is_some_and(|sized| sized <= all.peer_windows + all.peer_windows / 2)
            && self.gauges.iter().all(|gauge| gauge.buffer > sized.unwrap_or_default() / count as u64 * 2);
        if share < MOSTLY || on_purpose || !all.free || !all.largest || all.round_trip < LONG {
            self.limited = None;
            return None;
        }
        let since = *self.limited.get_or_insert(now);
        let &streams = STEPS.get(self.steps)?;
        let rate = Rate::of(all.moved, all.length);
        let left = Bytes::new(transfer.queue.bulk());
        if now.since(since) < PATIENCE + all.round_trip || rate.volume(WORTH) > left {
            return None;
        }
        self.steps += 1;
        self.limited = None;
        if usize::from(streams) <= count || transfer.opener.is_none() {
            return None;
        }
        let each = if count == 1 { "one connection" } else { "these connections" };
        let why = format!("the buffers of {each} carry {} over {}", rate.rounded(), all.round_trip.rounded());
        Some(Wanted { streams, why })
    }
}

impl Gauge {
    /// Raises the send buffer if it has too little room for the window.
    fn raise_buffer(&mut self, info: &TcpInfo, lane: &Lane, autotuned: Bytes) {
        let socket = lane.channel.tcp();
        let Ok(buffer) = options::send_buffer(socket) else { return };
        self.buffer = buffer;
        let window = info.send_window();
        // Below its greatest size autotuning does it.
        if buffer < autotuned - autotuned / 10 || window * TIGHT <= buffer || self.largest {
            return;
        }
        let wanted = (window * WINDOWS).min(MOST_BUFFER);
        self.buffer = options::raise_send_buffer(socket, wanted).unwrap_or(buffer);
        self.largest = self.buffer < wanted || self.buffer >= MOST_BUFFER;
    }
}

impl Interval {
    fn add(
        &mut self,
        gauge: &mut Gauge,
        info: &TcpInfo,
        before: LimitedTimes,
        now: LimitedTimes,
        length: Span,
    ) {
        let grown = |now: Span, before: Span| now.saturating_sub(before);
        self.ends += grown(now.send_buffer, before.send_buffer);
        self.ends += grown(now.receive_window, before.receive_window);
        self.length = length;
        self.moved += info.bytes_acked.saturating_sub(gauge.acknowledged);
        gauge.acknowledged = info.bytes_acked;
        let lost = std::mem::replace(&mut gauge.retransmits, info.total_retrans) != info.total_retrans;
        let (least, now_rtt) = (info.min_rtt.unwrap_or_default(), info.rtt.unwrap_or_default());
        self.free &= !lost && now_rtt <= least + QUEUE.max(least / QUEUE_PART);
        self.peer_windows += info.snd_wnd.unwrap_or_default();
        self.round_trip = self.round_trip.max(info.min_rtt.unwrap_or_default());
        self.largest &= gauge.largest || now.receive_window > before.receive_window;
    }
}

/// For the account.
fn reading(info: &TcpInfo, at: Time, lane: &Lane, rate_based: bool, waiting: bool) -> Reading {
    Reading {
        at,
        busy: info.busy_time.unwrap_or_default(),
        window_limited: info.rwnd_limited.unwrap_or_default(),
        buffer_limited: info.sndbuf_limited.unwrap_or_default(),
        acknowledged: info.bytes_acked,
        retransmits: info.total_retrans.into(),
        round_trip: info.rtt.unwrap_or_default(),
        segment: info.snd_mss,
        congestion_window: info.congestion_window(),
        peer_window: info.snd_wnd,
        in_flight: info.in_flight(),
        unsent: info.notsent_bytes,
        ran_dry: info.app_limited,
        rate_based,
        paced: lane.channel.is_paced(),
        waiting,
    }
}

/// For the receiver.
fn stream_report(info: &TcpInfo) -> StreamReport {
    let nanos = |span: Option<Span>| span.map_or(0, Span::as_nanos);
    StreamReport {
        busy: nanos(info.busy_time),
        window_limited: nanos(info.rwnd_limited),
        buffer_limited: nanos(info.sndbuf_limited),
        retransmits: info.total_retrans.into(),
        rtt: nanos(info.rtt),
        min_rtt: nanos(info.min_rtt),
        congestion_window: info.congestion_window().get(),
        acknowledged: info.bytes_acked.get(),
        segment: info.snd_mss.get(),
    }
}

fn add(limits: &mut LimitTimes, times: LimitedTimes, lived: Span) {
    let add = |sum: &mut u64, span: Span| *sum = sum.saturating_add(span.as_nanos());
    add(&mut limits.lived, lived);
    add(&mut limits.slow_start, times.slow_start);
    add(&mut limits.window, times.receive_window);
    add(&mut limits.buffer, times.send_buffer);
    add(&mut limits.congestion, times.congestion_window);
}

/// What the threads of the data connections waited for.
fn sender_times(transfer: &Transfer, lanes: &[Lane]) -> SenderTimes {
    // What was handed over last has still to arrive, and to be stored; all data connections wait for that.
    let (idle, at_the_end) = transfer.waits();
    let to_send: Span = lanes.iter().map(|lane| lane.channel.waited_to_send()).sum();
    SenderTimes {
        network: (to_send + at_the_end).as_nanos(),
        disk: transfer.disk.load(Relaxed),
        limit: transfer.limit.waited().as_nanos(),
        idle: idle.as_nanos(),
    }
}
