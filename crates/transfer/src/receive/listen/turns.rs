//! The order of senders, one at a time, and the time for which a receiver waits for one.

use super::standing::Standing;
use super::why;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::receive::registry::{CompletedSession, CurrentSender, Registry, RegistryState, SessionHandle};
use crate::receive::session::Event;
use crate::receive::windows::Echo;
use crate::summary::Summary;
use crate::wire::{ANOTHER_SENDER, PROBE_KEY};
use probe::ProbeKey;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;
use units::Time;

/// The time for which a sender waits until the present one has left. The present one may be an earlier process of the
/// same user, killed.
const TURNOVER: Duration = Duration::from_secs(5);
/// The greatest number of senders that wait for their turn.
const MOST_WAITING: usize = 8;

/// The reason for which a sender is not let in.
pub(super) struct Busy {
    pub(super) reason: String,
    /// True if too many senders wait, so that this one gets no time to read the reason.
    pub(super) crowded: bool,
}

impl Busy {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), crowded: false }
    }
}

impl Registry<'_> {
    /// Begins the session of a sender that holds the ticket, once the one before has left.
    pub(super) fn begin(
        &self,
        channel: &Arc<Channel>,
        (version, streams, echo): (u16, u16, u16),
        events: Sender<Event>,
    ) -> Result<Arc<SessionHandle>, Busy> {
        if (crate::wire::OLDEST_TEST..=crate::wire::TEST).contains(&version) {
            return Err(Busy::new(
                "this receiver takes files; for a test of the path run `tightlink receive --test` there",
            ));
        }
        let known = crate::wire::OLDEST..=crate::wire::VERSION;
        if !known.contains(&version) {
            let (oldest, latest) = known.into_inner();
            return Err(Busy::new(format!(
                "the sender speaks version {version} of the protocol, this receiver {oldest} to {latest}; use the same \
                 tightlink"
            )));
        }
        if self.is_expired() {
            return Err(Busy::new("the ticket has expired"));
        }
        let mut entries = self.open();
        let crowded = entries.waiting >= MOST_WAITING;
        if crowded {
            return Err(Busy { reason: ANOTHER_SENDER.into(), crowded });
        }
        entries.waiting += 1;
        let mut entries = self.turn(entries);
        entries.waiting -= 1;
        if entries.sender.is_some() || entries.result.is_some() {
            return Err(Busy::new(ANOTHER_SENDER));
        }
        let echo = channel.exporter(PROBE_KEY).ok().filter(|_| echo != 0).map(|secret| Echo {
            address: SocketAddr::new(channel.peer().ip(), echo),
            key: ProbeKey::from_secret(&secret),
        });
        let standing = Standing::new(Arc::clone(channel), self.receiver.clock);
        let peer = host::plain(channel.peer());
        let link = Arc::new(SessionHandle::new(peer, (version, streams), echo, events, standing));
        entries.sender = Some(CurrentSender::new(Arc::clone(&link)));
        Ok(link)
    }

    /// Waits until no other sender is present. A sender that makes no progress, or whose last message alone is missing,
    /// has to give up its place.
    fn turn<'g>(&self, entries: MutexGuard<'g, RegistryState>) -> MutexGuard<'g, RegistryState> {
        let mut entries = self.wait_for_turn(entries);
        let yields = |present: &&CurrentSender| present.link.standing.yields(self.receiver.patience);
        let link = entries.sender.as_ref().filter(yields).map(|present| Arc::clone(&present.link));
        if let Some(link) = link {
            let _ = link.events.send(Event::Replaced);
            entries = self.wait_for_turn(entries);
            if entries.sender.as_ref().is_some_and(|still| Arc::ptr_eq(&still.link, &link)) {
                // The present sender's thread hangs in a system call, so its connection is cut.
                link.standing.cut();
                entries = self.wait_for_turn(entries);
            }
        }
        entries
    }

    fn wait_for_turn<'g>(&self, entries: MutexGuard<'g, RegistryState>) -> MutexGuard<'g, RegistryState> {
        self.wait_while(entries, TURNOVER, |entries| entries.sender.is_some() && entries.result.is_none())
    }

    /// Handles the end of a sender's session. The receiver continues to listen if the sender may come back.
    pub(in crate::receive) fn end(
        &self,
        link: &SessionHandle,
        replaced: bool,
        ended: Result<Option<Summary>, TransferError>,
    ) {
        self.close_streams();
        match ended {
            Ok(Some(received)) => self.finish(Ok(received)),
            Ok(None) => {}
            Err(error) if replaced => self.observer.say(&format!("{}: {}", link.peer, why(&error))),
            // The sender or the network caused it, so the sender may come back.
            Err(
                error @ (TransferError::PeerGone { .. }
                | TransferError::Tls { .. }
                | TransferError::Protocol { .. }
                | TransferError::Aborted(_)),
            ) => {
                let line = format!("{}: {}; waiting for it to come back", link.peer, why(&error));
                self.observer.say(&line);
            }
            Err(error) => self.finish(Err(error)),
        }
        let mut entries = self.open();
        entries.alone_since = self.receiver.clock.now();
        entries.sender = None;
        drop(entries);
        self.changed();
    }

    /// Ends the wait for a sender when its time is over. Returns the time at which to look again if nothing happens.
    pub(super) fn look_for_senders(&self) -> Time {
        let now = self.receiver.clock.now();
        let mut entries = self.open();
        if entries.sender.is_some() || entries.result.is_some() {
            return Time::NEVER;
        }
        let result = if let Some(over) = entries.complete.take_if(|complete| now >= complete.until) {
            self.observer.say("everything is stored; the sender did not confirm the end");
            over.result
        } else if let Some(complete) = &entries.complete {
            // The sender may still come back to confirm the end.
            return complete.until;
        } else if self.is_expired() {
            Err(TransferError::Expired("no sender finished its transfer in time".into()))
        } else {
            let expires = now + self.receiver.state.expires().since(self.receiver.clock.since_1970());
            match self.receiver.wait {
                Some(wait) if now.since(entries.alone_since) >= wait => {
                    Err(TransferError::NobodyCame { wait })
                }
                Some(wait) => return expires.min(entries.alone_since + wait),
                None => return expires,
            }
        };
        drop(entries);
        self.finish(result);
        now
    }

    /// Records that everything is stored, and that `result` was sent to the sender. Returns the end of the wait for the
    /// sender's last message.
    pub(in crate::receive) fn complete(
        &self,
        link: &SessionHandle,
        result: Result<Summary, TransferError>,
    ) -> Time {
        let until = self.receiver.clock.now() + self.receiver.patience;
        self.open().complete = Some(CompletedSession { until, result });
        link.standing.finish();
        until
    }

    /// Takes the result when the sender's last message has come.
    pub(in crate::receive) fn confirmed(&self) -> Result<Option<Summary>, TransferError> {
        self.open().complete.take().map(|complete| complete.result).transpose()
    }

    /// Marks the session as incomplete again, because a sender has an entry that is not stored.
    pub(in crate::receive) fn goes_on(&self) {
        self.open().complete.take();
    }

    fn is_expired(&self) -> bool {
        self.receiver.clock.since_1970() >= self.receiver.state.expires()
    }
}
