//! [`Gauge`]: the kernel's state of the connections with a load, at the end that sends it or the one that receives it.

use super::LoadConnection;
use crate::wire::observation::Observation;
use crate::wire::test::SenderAccount;
use estimate::diagnosis::{Evidence, Vantage};
use host::{Clock, TcpInfo, options, plain};
use live::watch::SocketWatch;
use std::sync::Arc;
use units::{Bytes, Time};

/// The reader of the kernel's state during one load.
#[derive(Debug)]
pub(crate) struct Gauge {
    streams: Vec<StreamGauge>,
    /// The readings that show the limits; `None` if the kernel does not list its connections.
    watch: Option<SocketWatch>,
    vantage: Vantage,
    /// The end of the load, after which only retransmissions count.
    until: Time,
    clock: Clock,
}

/// The account of one connection.
#[derive(Debug)]
struct StreamGauge {
    load: Arc<LoadConnection>,
    first: Option<TcpInfo>,
    last: Option<TcpInfo>,
    /// The sum of the bytes in flight over all readings, and their number.
    in_flight: (u64, u64),
    window: u64,
}

impl Gauge {
    /// Makes the gauge of a load that begins now, at the end `vantage`.
    pub(crate) fn new(loads: &[Arc<LoadConnection>], vantage: Vantage, until: Time, clock: Clock) -> Self {
        let ends = loads.iter().filter_map(|load| {
            let socket = load.channel.tcp();
            Some((plain(socket.local_addr().ok()?), plain(socket.peer_addr().ok()?)))
        });
        let watch = SocketWatch::begin(&ends.collect::<Vec<_>>(), &clock).ok();
        let streams = loads.iter().map(|load| {
            let first = TcpInfo::of(load.channel.tcp()).ok();
            StreamGauge { load: Arc::clone(load), first, last: first, in_flight: (0, 0), window: 0 }
        });
        Self { streams: streams.collect(), watch, vantage, until, clock }
    }

    /// Reads the kernel's state. Returns the number of segments sent again since the load began.
    pub(crate) fn read(&mut self) -> u64 {
        let in_time = self.clock.now() < self.until;
        if in_time && let Some(watch) = &mut self.watch {
            // Without further readings the evidence ends here.
            let _ = watch.read(&self.clock);
        }
        self.streams.iter_mut().map(|stream| stream.read(in_time)).sum()
    }

    /// Returns true if the other end has acknowledged everything.
    pub(crate) fn is_drained(&self) -> bool {
        self.streams.iter().all(|stream| {
            TcpInfo::of(stream.load.channel.tcp())
                .is_ok_and(|info| info.unacked == 0 && info.notsent_bytes.get() == 0)
        })
    }

    /// Returns the sums over all connections.
    pub(crate) fn account(&self) -> SenderAccount {
        let mut account = SenderAccount::default();
        for stream in &self.streams {
            account.receive_window += stream.window;
            account.in_flight += stream.in_flight.0.checked_div(stream.in_flight.1).unwrap_or(0);
            account.send_buffer += options::send_buffer(stream.load.channel.tcp()).map_or(0, Bytes::get);
            let (Some(first), Some(last)) = (stream.first, stream.last) else { continue };
            let grown = |of: fn(&TcpInfo) -> u32| u64::from(of(&last).saturating_sub(of(&first)));
            account.segments += grown(|info| info.data_segs_out);
            account.retransmits += grown(|info| info.total_retrans);
            account.segment = account.segment.max(last.snd_mss.get());
        }
        account
    }

    /// Ends the readings. Returns the evidence about the connection with most data.
    pub(crate) fn observation(self) -> Option<Observation> {
        let vantage = self.vantage;
        let connections = self.watch?.finish().into_iter();
        let carried = connections.flat_map(|one| one.evidence).filter(|one| one.vantage == vantage);
        Observation::of(carried.map(|one| Evidence { bulk: true, ..one }).collect())
    }
}

impl StreamGauge {
    /// Takes a reading. Returns the number of segments sent again since the load began.
    fn read(&mut self, in_time: bool) -> u64 {
        let Ok(info) = TcpInfo::of(self.load.channel.tcp()) else { return 0 };
        if in_time {
            self.in_flight = (self.in_flight.0 + info.in_flight().get(), self.in_flight.1 + 1);
            self.window = self.window.max(info.snd_wnd.map_or(0, Bytes::get));
            self.last = Some(info);
        }
        let before = self.first.map_or(0, |first| first.total_retrans);
        u64::from(info.total_retrans.saturating_sub(before))
    }
}
