//! [`Meter`]: the kernel's state of the data connections. Where the buffers and windows of the two ends are the limit,
//! and not the path, it raises the send buffers. Once no larger buffer is available, it requests more connections.

use super::data_connections::{ConnectionRequest, DataConnection};
use super::transfer::Transfer;
use crate::limits::{LimitTimes, SenderTimes};
use crate::reading::{add, reading};
use crate::wire::control::{Report, StreamReport};
use estimate::limits::{Account, LimitedTimes};
use host::{TcpInfo, options};
use std::sync::atomic::Ordering::Relaxed;
use units::{Bytes, Rate, Span, Time};

/// The size to which a send buffer is raised, in windows. A writer is woken when a third of the buffer is free, and the
/// kernel counts its bookkeeping as part of the buffer.
const WINDOWS: u64 = 4;
/// The size below which a send buffer is raised, in windows. Two thirds of a buffer are payload, and two thirds of
/// these are left when a writer is woken. So a buffer of 2.25 windows is just not the limit.
const TIGHT: u64 = 3;
/// The size above which no send buffer is raised: room for 1 Gbit/s over 350 ms.
const MOST_BUFFER: Bytes = Bytes::new(64 << 20);
/// The numbers of data connections that are requested, step by step.
const STEPS: [u16; 2] = [8, 16];
/// The share of the time for which the ends' buffers and windows must limit a connection to count as its limit.
const MOSTLY: f64 = 0.5;
/// The time, in addition to a round trip, for which the ends must be the limit before more connections are requested.
const PATIENCE: Span = Span::from_millis(200);
/// The least remaining time, at the present rate, of a transfer that requests more connections. New connections need
/// some round trips to start.
const WORTH: Span = Span::from_secs(3);
/// The least round trip of a path on which more connections are requested. On a shorter one, the programs or a disk are
/// the limit.
const LONG: Span = Span::from_millis(10);
/// The divisor for the excess of the smoothed round trip over the least one. The path is the limit if the excess is
/// more than this part of the least round trip, and more than [`QUEUE`].
const QUEUE_PART: u64 = 8;
/// The least excess that shows that the path is the limit.
const QUEUE: Span = Span::from_millis(2);

/// The reader of the kernel's state, with its accounts.
#[derive(Debug, Default)]
pub(super) struct Meter {
    gauges: Vec<ConnectionAccount>,
    read: Time,
    /// The greatest send buffer that autotuning makes.
    autotuned: Option<Bytes>,
    /// The time since which the ends have limited all connections.
    limited: Option<Time>,
    steps: usize,
}

/// The account of one data connection.
#[derive(Debug, Default)]
struct ConnectionAccount {
    account: Account,
    waited: Span,
    acknowledged: Bytes,
    retransmits: u32,
    /// True if no larger send buffer is available.
    largest: bool,
    buffer: Bytes,
}

/// The interval since the last reading, over all connections.
#[derive(Debug, Default)]
struct Interval {
    /// The time limited by the send buffer, or by the receive buffer.
    ends: Span,
    length: Span,
    moved: Bytes,
    peer_windows: Bytes,
    round_trip: Span,
    /// True if no queue stands, and nothing was lost.
    free: bool,
    largest: bool,
}

impl Meter {
    /// Returns reports on the data connections, the times in which they were limited, and a request for more
    /// connections if they are needed.
    pub(super) fn read(
        &mut self,
        transfer: &Transfer,
        window: Option<u64>,
    ) -> (Report, LimitTimes, Option<ConnectionRequest>) {
        let data_connections = transfer.data_connections();
        self.gauges.resize_with(data_connections.len(), ConnectionAccount::default);
        let rate_based = data_connections
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
        let mut reports = Vec::with_capacity(data_connections.len());
        let sized = window.map(Bytes::new);
        for (gauge, lane) in self.gauges.iter_mut().zip(&data_connections) {
            let Ok(info) = TcpInfo::of(lane.channel.tcp()) else {
                reports.push(StreamReport::default());
                continue;
            };
            let waited = lane.channel.waited_to_send();
            let waiting = lane.channel.is_held() || waited.saturating_sub(gauge.waited) > length / 3;
            gauge.waited = waited;
            let before = gauge.account.times();
            gauge.account.observe(reading(&info, now, lane.channel.is_paced(), rate_based, waiting));
            gauge.raise_buffer(&info, lane, autotuned);
            let times = gauge.account.times();
            all.add(gauge, &info, before, times, length);
            add(&mut limits, times, now.since(lane.since));
            reports.push(stream_report(&info));
        }
        let wanted = self.widen(transfer, &all, sized, now);
        (
            Report { streams: reports, rate_based, times: sender_times(transfer, &data_connections) },
            limits,
            wanted,
        )
    }

    /// Requests more data connections if the ends' buffers and windows limit the present ones.
    fn widen(
        &mut self,
        transfer: &Transfer,
        all: &Interval,
        sized: Option<Bytes>,
        now: Time,
    ) -> Option<ConnectionRequest> {
        let count = self.gauges.len();
        let share = all.ends.as_secs_f64() / (all.length.as_secs_f64() * count as f64).max(1e-9);
        // A receive window that is kept small on purpose is meant to be the limit.
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
        Some(ConnectionRequest { streams, why })
    }
}

impl ConnectionAccount {
    /// Raises the send buffer if it has too little room for the window.
    fn raise_buffer(&mut self, info: &TcpInfo, lane: &DataConnection, autotuned: Bytes) {
        let socket = lane.channel.tcp();
        let Ok(buffer) = options::send_buffer(socket) else { return };
        self.buffer = buffer;
        let window = info.send_window();
        // A buffer below autotuning's greatest size is left to autotuning.
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
        gauge: &mut ConnectionAccount,
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

/// Makes a report for the receiver.
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

/// Returns the times that the threads of the data connections spent waiting.
fn sender_times(transfer: &Transfer, data_connections: &[DataConnection]) -> SenderTimes {
    // At the end, all data connections wait until the last data has arrived and is stored.
    let (idle, at_the_end) = transfer.waits();
    let to_send: Span = data_connections.iter().map(|lane| lane.channel.waited_to_send()).sum();
    SenderTimes {
        network: (to_send + at_the_end).as_nanos(),
        disk: transfer.disk.load(Relaxed),
        limit: transfer.limit.waited().as_nanos(),
        idle: idle.as_nanos(),
    }
}
