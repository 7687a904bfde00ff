//! Whose turn it is: one sender at a time, and until when a sender is waited for.

use super::standing::Standing;
use super::why;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::lock::locked;
use crate::receive::sender::SenderSession;
use crate::receive::shared::Shared;
use crate::receive::windows::Echo;
use crate::summary::Summary;
use crate::wire::{ANOTHER_SENDER, PROBE_KEY};
use probe::ProbeKey;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use units::Time;

/// A sender that comes while another one is there waits so long for its end: it may be the same one, killed.
const TURNOVER: Duration = Duration::from_secs(5);
/// Senders that wait for their turn.
const MOST_WAITING: usize = 8;

/// Why a sender is not let in.
pub(super) struct Busy {
    pub(super) reason: String,
    /// There are too many: nothing more is done for it.
    pub(super) crowded: bool,
}

impl Busy {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), crowded: false }
    }
}

/// All is stored, and a sender was told so; its last word has not come yet.
#[derive(Debug)]
pub(in crate::receive) struct Complete {
    /// It is waited for so long.
    until: Time,
    result: Result<Summary, TransferError>,
}

impl Shared<'_> {
    /// A sender that holds the ticket begins, once the one before has left.
    pub(super) fn begin(
        &self,
        channel: &Arc<Channel>,
        version: u16,
        streams: u16,
        echo: u16,
    ) -> Result<Arc<SenderSession>, Busy> {
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
        let crowded = self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING;
        let turn = if crowded { None } else { self.turn() };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let Some(mut turn) = turn else { return Err(Busy { reason: ANOTHER_SENDER.into(), crowded }) };
        let echo = channel.exporter(PROBE_KEY).ok().filter(|_| echo != 0).map(|secret| Echo {
            address: SocketAddr::new(channel.peer().ip(), echo),
            key: ProbeKey::from_secret(&secret),
        });
        let standing = Standing::new(Arc::clone(channel), self.receiver.clock);
        let sender =
            Arc::new(SenderSession::new(host::plain(channel.peer()), version, streams, echo, standing));
        *turn = Some(Arc::clone(&sender));
        Ok(sender)
    }

    /// Waits until no other sender is there. One that makes no progress, or whose last word alone is missing, has to give
    /// its place up. `None` if another one keeps it, or all is done.
    fn turn(&self) -> Option<MutexGuard<'_, Option<Arc<SenderSession>>>> {
        let mut sender = self.wait_for_turn(locked(&self.sender));
        let present =
            sender.as_ref().filter(|present| present.standing.yields(self.receiver.patience)).cloned();
        if let Some(present) = present {
            present.standing.replace();
            sender = self.wait_for_turn(sender);
            if sender.as_ref().is_some_and(|still| Arc::ptr_eq(still, &present)) {
                // Its thread hangs in a system call.
                present.standing.cut();
                sender = self.wait_for_turn(sender);
            }
        }
        (sender.is_none() && !self.is_done()).then_some(sender)
    }

    fn wait_for_turn<'g>(
        &self,
        sender: MutexGuard<'g, Option<Arc<SenderSession>>>,
    ) -> MutexGuard<'g, Option<Arc<SenderSession>>> {
        let turn =
            self.left.wait_timeout_while(sender, TURNOVER, |sender| sender.is_some() && !self.is_done());
        turn.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A sender's session has ended.
    pub(super) fn end(&self, sender: &SenderSession, ended: Result<Option<Summary>, TransferError>) {
        // Numbers of files begin anew with the next sender: nobody may be left who has old ones.
        sender.close();
        let mut present = locked(&self.sender);
        match ended {
            Ok(Some(received)) => self.finish(Ok(received)),
            Ok(None) => {}
            Err(error) if sender.standing.is_replaced() => {
                self.observer.say(&format!("{}: {}", sender.peer, why(&error)));
            }
            // The sender's doing, or the network's: it may come back.
            Err(
                error @ (TransferError::PeerGone { .. }
                | TransferError::Tls { .. }
                | TransferError::Protocol { .. }
                | TransferError::Aborted(_)),
            ) => {
                let line = format!("{}: {}; waiting for it to come back", sender.peer, why(&error));
                self.observer.say(&line);
            }
            Err(error) => self.finish(Err(error)),
        }
        *locked(&self.alone_since) = self.receiver.clock.now();
        *present = None;
        self.left.notify_all();
    }

    /// Ends the wait for a sender when its time is over.
    pub(super) fn look(&self) {
        let sender = locked(&self.sender);
        if sender.is_some() || self.is_done() {
            return;
        }
        let now = self.receiver.clock.now();
        let mut complete = locked(&self.complete);
        if let Some(over) = complete.take_if(|complete| now >= complete.until) {
            self.observer.say("everything is stored; the sender did not confirm the end");
            self.finish(over.result);
        } else if complete.is_some() {
            // Its sender may come back.
        } else if self.is_expired() {
            self.finish(Err(TransferError::Expired("no sender finished its transfer in time".into())));
        } else if let Some(wait) = self.receiver.wait
            && now.since(*locked(&self.alone_since)) >= wait
        {
            self.finish(Err(TransferError::NobodyCame { wait }));
        }
    }

    /// All is stored with this result, and the sender was told so. Until when its last word is waited for.
    pub(in crate::receive) fn complete(
        &self,
        sender: &SenderSession,
        result: Result<Summary, TransferError>,
    ) -> Time {
        let until = self.receiver.clock.now() + self.receiver.patience;
        *locked(&self.complete) = Some(Complete { until, result });
        sender.standing.finish();
        until
    }

    /// The sender's last word has come.
    pub(in crate::receive) fn confirmed(&self) -> Result<Option<Summary>, TransferError> {
        locked(&self.complete).take().map(|complete| complete.result).transpose()
    }

    /// A sender has something that is not there: the session is not complete any more.
    pub(in crate::receive) fn goes_on(&self) {
        locked(&self.complete).take();
    }

    fn is_expired(&self) -> bool {
        self.receiver.clock.since_1970() >= self.receiver.state.expires()
    }
}
