//! [`Gauge`]: the kernel's state of the connections that send a load, and the account of what limits them.

use super::LoadConnection;
use crate::limits::SenderTimes;
use crate::reading::{add, reading};
use crate::wire::test::SenderAccount;
use estimate::limits::Account;
use host::{Clock, TcpInfo, options};
use std::sync::Arc;
use units::{Bytes, Span, Time};

/// The reader of the kernel's state during one load.
#[derive(Debug)]
pub(crate) struct Gauge {
    streams: Vec<StreamGauge>,
    began: Time,
    read: Time,
    clock: Clock,
    rate_based: bool,
}

/// The account of one connection.
#[derive(Debug)]
struct StreamGauge {
    load: Arc<LoadConnection>,
    account: Account,
    first: Option<TcpInfo>,
    last: Option<TcpInfo>,
    /// The time waited before the load, and at the last reading.
    waited: [Span; 2],
    /// The sum of the bytes in flight over all readings, and their number.
    in_flight: (u64, u64),
    window: u64,
}

impl Gauge {
    /// Makes the gauge of a load that begins now.
    pub(crate) fn new(loads: &[Arc<LoadConnection>], clock: Clock) -> Self {
        let streams = loads.iter().map(|load| {
            let (waited, first) = (load.channel.waited_to_send(), TcpInfo::of(load.channel.tcp()).ok());
            StreamGauge {
                load: Arc::clone(load),
                account: Account::default(),
                first,
                last: first,
                waited: [waited; 2],
                in_flight: (0, 0),
                window: 0,
            }
        });
        let control = loads.first().and_then(|load| options::congestion_control(load.channel.tcp()).ok());
        let (began, rate_based) = (clock.now(), control.is_some_and(|name| options::is_rate_based(&name)));
        Self { streams: streams.collect(), began, read: began, clock, rate_based }
    }

    /// Reads the kernel's state. Returns the number of segments sent again since the load began.
    pub(crate) fn read(&mut self) -> u64 {
        let now = self.clock.now();
        let length = now.since(std::mem::replace(&mut self.read, now));
        let rate_based = self.rate_based;
        self.streams.iter_mut().map(|stream| stream.read(now, length, rate_based)).sum()
    }

    /// Returns true if the other end has acknowledged everything.
    pub(crate) fn is_drained(&self) -> bool {
        self.streams.iter().all(|stream| {
            TcpInfo::of(stream.load.channel.tcp())
                .is_ok_and(|info| info.unacked == 0 && info.notsent_bytes.get() == 0)
        })
    }

    /// Returns the account so far.
    pub(crate) fn account(&self) -> SenderAccount {
        let mut account = SenderAccount { rate_based: self.rate_based, ..SenderAccount::default() };
        let (lived, mut waited) = (self.read.since(self.began), Span::ZERO);
        for stream in &self.streams {
            add(&mut account.limits, stream.account.times(), lived);
            waited += stream.waited[1].saturating_sub(stream.waited[0]);
            account.receive_window += stream.window;
            account.in_flight += stream.in_flight.0.checked_div(stream.in_flight.1).unwrap_or(0);
            account.send_buffer += options::send_buffer(stream.load.channel.tcp()).map_or(0, Bytes::get);
            let (Some(first), Some(last)) = (stream.first, stream.last) else { continue };
            let grown = |of: fn(&TcpInfo) -> u64| of(&last).saturating_sub(of(&first));
            let span = |span: Option<Span>| span.map_or(0, Span::as_nanos);
            account.segments += grown(|info| info.data_segs_out.into());
            account.retransmits += grown(|info| info.total_retrans.into());
            account.busy += span(last.busy_time).saturating_sub(span(first.busy_time));
            account.window_limited += span(last.rwnd_limited).saturating_sub(span(first.rwnd_limited));
            account.buffer_limited += span(last.sndbuf_limited).saturating_sub(span(first.sndbuf_limited));
            account.segment = account.segment.max(last.snd_mss.get());
        }
        account.times = SenderTimes { network: waited.as_nanos(), ..SenderTimes::default() };
        account
    }
}

impl StreamGauge {
    /// Takes a reading. Returns the number of segments sent again since the load began.
    fn read(&mut self, now: Time, length: Span, rate_based: bool) -> u64 {
        let channel = &self.load.channel;
        if let Ok(info) = TcpInfo::of(channel.tcp()) {
            let waited = channel.waited_to_send();
            let waiting = channel.is_held() || waited.saturating_sub(self.waited[1]) > length / 3;
            self.waited[1] = waited;
            let mut reading = reading(&info, now, channel.is_paced(), rate_based, waiting);
            if let Some(first) = self.first {
                // Answers to requests went this way before the load.
                let past = |span: Option<Span>| span.unwrap_or_default();
                reading.busy = reading.busy.saturating_sub(past(first.busy_time));
                reading.window_limited = reading.window_limited.saturating_sub(past(first.rwnd_limited));
                reading.buffer_limited = reading.buffer_limited.saturating_sub(past(first.sndbuf_limited));
                reading.retransmits = reading.retransmits.saturating_sub(first.total_retrans.into());
            }
            self.account.observe(reading);
            self.in_flight = (self.in_flight.0 + info.in_flight().get(), self.in_flight.1 + 1);
            self.window = self.window.max(info.snd_wnd.map_or(0, Bytes::get));
            self.last = Some(info);
        }
        let again = |info: Option<TcpInfo>| info.map_or(0, |info| u64::from(info.total_retrans));
        again(self.last).saturating_sub(again(self.first))
    }
}
