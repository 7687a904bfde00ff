//! [`Lanes`]: the data connections of a transfer. More may join while it runs: a thread opens them when they are asked
//! for ([`Wanted`]).

use super::transfer::Transfer;
use crate::channel::Channel;
use crate::lock::locked;
use crate::progress::Observer;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use units::Time;

/// A data connection.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) channel: Arc<Channel>,
    /// It is there since then.
    pub(super) since: Time,
}

/// All data connections.
#[derive(Debug)]
pub(super) struct Lanes {
    all: Vec<Lane>,
    over: bool,
}

impl Lanes {
    pub(super) fn new(channels: Vec<Channel>, since: Time) -> Self {
        let lane = |channel| Lane { channel: Arc::new(channel), since };
        Self { all: channels.into_iter().map(lane).collect(), over: false }
    }

    pub(super) fn all(&self) -> &[Lane] {
        &self.all
    }

    /// One more, unless all were cut.
    pub(super) fn join(&mut self, channel: Channel, now: Time) -> Option<Arc<Channel>> {
        let channel = Arc::new(channel);
        if self.over {
            channel.cut();
            return None;
        }
        self.all.push(Lane { channel: Arc::clone(&channel), since: now });
        Some(channel)
    }

    /// Ends them at once, and whoever still joins.
    pub(super) fn cut(&mut self) {
        self.over = true;
        for lane in &self.all {
            lane.channel.cut();
        }
    }
}

/// How many data connections there shall be, and why more than before.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    state: Mutex<Asked>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Asked {
    streams: u16,
    why: String,
    over: bool,
}

impl Wanted {
    /// Asks for `streams` in all.
    pub(super) fn ask(&self, streams: u16, why: String) {
        let mut state = locked(&self.state);
        (state.streams, state.why) = (streams, why);
        drop(state);
        self.changed.notify_all();
    }

    /// No more are to be opened.
    pub(super) fn close(&self) {
        locked(&self.state).over = true;
        self.changed.notify_all();
    }

    /// Waits until more than `there` are asked for: how many, and why. `None` at the end.
    fn more_than(&self, there: u16) -> Option<(u16, String)> {
        let waits = |asked: &mut Asked| asked.streams <= there && !asked.over;
        let state = self.changed.wait_while(locked(&self.state), waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.over).then(|| (state.streams, state.why.clone()))
    }
}

/// Opens data connections that are asked for, and has each served, until the transfer ends.
pub(super) fn widen(transfer: &Transfer, observer: &dyn Observer, serve: impl Fn(Arc<Channel>)) {
    let Some(opener) = &transfer.opener else { return };
    let mut there = transfer.channels().len() as u16;
    while let Some((streams, why)) = transfer.wanted.more_than(there) {
        let opened = opener.open_more(there..streams);
        // Those that a receiver or a firewall does not let in are not asked for again.
        there = streams;
        if opened.is_empty() {
            continue;
        }
        let more = opened.len();
        opened.into_iter().filter_map(|channel| transfer.join(channel)).for_each(&serve);
        observer.say(&format!("{more} more TCP connections: {why}"));
    }
}
