//! [`DataConnections`]: the data connections of a transfer. More may join while it runs: a thread opens them on request
//! ([`ConnectionRequest`]).

use super::transfer::Transfer;
use crate::channel::Channel;
use crate::progress::Observer;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use units::Time;

/// A data connection.
#[derive(Clone, Debug)]
pub(super) struct DataConnection {
    pub(super) channel: Arc<Channel>,
    /// The time at which it joined.
    pub(super) since: Time,
    /// True if something was sent on it.
    pub(super) used: bool,
}

/// All data connections.
#[derive(Debug)]
pub(super) struct DataConnections {
    all: Vec<DataConnection>,
    over: bool,
}

impl DataConnections {
    pub(super) fn new(channels: Vec<Channel>, since: Time) -> Self {
        let lane = |channel| DataConnection { channel: Arc::new(channel), since, used: false };
        Self { all: channels.into_iter().map(lane).collect(), over: false }
    }

    pub(super) fn all(&self) -> &[DataConnection] {
        &self.all
    }

    /// Adds a data connection, unless all were cut.
    pub(super) fn join(&mut self, channel: Channel, now: Time) -> Option<Arc<Channel>> {
        let channel = Arc::new(channel);
        if self.over {
            channel.cut();
            return None;
        }
        self.all.push(DataConnection { channel: Arc::clone(&channel), since: now, used: false });
        Some(channel)
    }

    /// Marks the data connection as one on which something is about to be sent.
    pub(super) fn uses(&mut self, channel: &Channel) {
        let lane = self.all.iter_mut().find(|lane| std::ptr::eq(&*lane.channel, channel));
        lane.into_iter().for_each(|lane| lane.used = true);
    }

    /// Ends all data connections at once, and lets no more join.
    pub(super) fn cut(&mut self) {
        self.over = true;
        for lane in &self.all {
            lane.channel.cut();
        }
    }
}

/// A request for more data connections: the number wanted in all, and the reason.
#[derive(Debug)]
pub(super) struct ConnectionRequest {
    pub(super) streams: u16,
    pub(super) why: String,
}

/// Opens requested data connections, and has each served, until the transfer ends.
pub(super) fn widen(
    transfer: &Transfer,
    wanted: &Receiver<ConnectionRequest>,
    observer: &dyn Observer,
    serve: impl Fn(Arc<Channel>),
) {
    let Some(opener) = &transfer.opener else { return };
    let mut there = transfer.channels().len() as u16;
    for ConnectionRequest { streams, why } in wanted {
        if streams <= there || transfer.queue.is_closed() {
            continue;
        }
        let opened = opener.open_more(there..streams);
        // Connections that a receiver or a firewall does not let in are not tried again.
        there = streams;
        if opened.is_empty() {
            continue;
        }
        let more = opened.len();
        opened.into_iter().filter_map(|channel| transfer.join(channel)).for_each(&serve);
        observer.say(&format!("{more} more TCP connections: {why}"));
    }
}
