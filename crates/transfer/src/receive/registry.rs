//! [`Registry`]: the state that all threads of a receiver share: the connections that try to get in, the sender whose
//! turn it is, and the result. The state of a session belongs to its own thread (`session.rs`).

use super::Receiver;
use super::consent::ConsentAmounts;
use super::listen::Standing;
use super::listen::door::Door;
use super::session::Event;
use super::windows::Echo;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::keys::fill_random;
use crate::lock::locked;
use crate::progress::Observer;
use crate::summary::Summary;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use units::Time;

/// The greatest number of data connections; more are useless.
pub(super) const MOST_STREAMS: u16 = 64;
/// The first version of the protocol in which more data connections may come than were announced.
const JOINING: u16 = 3;

/// The part of a session that its connections can reach.
#[derive(Debug)]
pub(super) struct SessionHandle {
    pub(super) peer: SocketAddr,
    pub(super) token: [u8; 16],
    /// The version of the protocol that the sender speaks.
    pub(super) version: u16,
    /// The number of data connections announced.
    pub(super) streams: u16,
    /// The place at which probes are echoed.
    pub(super) echo: Option<Echo>,
    pub(super) events: Sender<Event>,
    /// The rule by which the sender keeps its place when another one comes.
    pub(super) standing: Standing,
}

impl SessionHandle {
    pub(super) fn new(
        peer: SocketAddr,
        (version, streams): (u16, u16),
        echo: Option<Echo>,
        events: Sender<Event>,
        standing: Standing,
    ) -> Self {
        let mut token = [0; 16];
        fill_random(&mut token);
        Self { peer, token, version, streams: streams.clamp(1, MOST_STREAMS), echo, events, standing }
    }
}

/// The result of a session that is stored in full. The sender knows it, but the sender's last message has not come yet.
#[derive(Debug)]
pub(super) struct CompletedSession {
    /// The time until which the receiver waits for that message.
    pub(super) until: Time,
    pub(super) result: Result<Summary, TransferError>,
}

/// The sender whose turn it is.
#[derive(Debug)]
pub(super) struct CurrentSender {
    pub(super) link: Arc<SessionHandle>,
    /// The sender's data connections.
    streams: Vec<Arc<Channel>>,
    /// True if no more data connections are accepted.
    closing: bool,
}

impl CurrentSender {
    pub(super) const fn new(link: Arc<SessionHandle>) -> Self {
        Self { link, streams: Vec::new(), closing: false }
    }
}

/// The state of the registry.
#[derive(Debug)]
pub(super) struct RegistryState {
    pub(super) sender: Option<CurrentSender>,
    /// The number of senders that wait for their turn.
    pub(super) waiting: usize,
    /// The time since which no sender is present.
    pub(super) alone_since: Time,
    pub(super) complete: Option<CompletedSession>,
    pub(super) result: Option<Result<Summary, TransferError>>,
    /// The amounts that senders have offered under the limit of `--accept`, or that a person has accepted.
    spent: ConsentAmounts,
}

/// The shared state of a receiver.
pub(super) struct Registry<'a> {
    pub(super) receiver: &'a Receiver,
    pub(super) observer: &'a dyn Observer,
    entries: Mutex<RegistryState>,
    /// Signals that a sender or a data connection has left, or that the receiver is done.
    left: Condvar,
    pub(super) door: Door<'a>,
}

impl<'a> Registry<'a> {
    pub(super) fn new(receiver: &'a Receiver, observer: &'a dyn Observer) -> Result<Self, TransferError> {
        let spent = match receiver.accept.limit {
            Some(_) => ConsentAmounts::on(receiver.assembly.present()),
            None => ConsentAmounts::default(),
        };
        let entries = RegistryState {
            sender: None,
            waiting: 0,
            alone_since: receiver.clock.now(),
            complete: None,
            result: None,
            spent,
        };
        let door = Door::new(&receiver.listener, &receiver.tls, receiver.clock, observer)?;
        Ok(Self { receiver, observer, entries: Mutex::new(entries), left: Condvar::new(), door })
    }

    pub(super) fn open(&self) -> MutexGuard<'_, RegistryState> {
        locked(&self.entries)
    }

    /// Waits until a connection leaves and `waiting` is false, but for `span` at most.
    pub(super) fn wait_while<'g>(
        &self,
        entries: MutexGuard<'g, RegistryState>,
        span: std::time::Duration,
        waiting: impl FnMut(&mut RegistryState) -> bool,
    ) -> MutexGuard<'g, RegistryState> {
        self.left.wait_timeout_while(entries, span, waiting).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Signals that a connection has left or the result has come.
    pub(super) fn changed(&self) {
        self.left.notify_all();
        self.door.wake.wake();
    }

    /// Ends the receiver. The first result counts.
    pub(super) fn finish(&self, result: Result<Summary, TransferError>) {
        self.open().result.get_or_insert(result);
        self.changed();
    }

    /// Takes the result of a receiver that is done.
    pub(super) fn take_result(&self) -> Option<Result<Summary, TransferError>> {
        self.open().result.take()
    }

    /// Lets in a data connection of the sender with this token. Returns `None` for any other token,
    /// or if the sender has all its connections.
    pub(super) fn join(&self, token: &[u8; 16], channel: &Arc<Channel>) -> Option<Arc<SessionHandle>> {
        let mut entries = self.open();
        let present = entries.sender.as_mut()?;
        let most = if present.link.version >= JOINING { MOST_STREAMS } else { present.link.streams };
        let room = present.streams.len() < usize::from(most) && !present.closing;
        if !room || blake3::hash(&present.link.token) != blake3::hash(token) {
            return None;
        }
        present.streams.push(Arc::clone(channel));
        Some(Arc::clone(&present.link))
    }

    /// Removes a data connection that has left.
    pub(super) fn leave(&self, channel: &Arc<Channel>) {
        if let Some(present) = &mut self.open().sender {
            present.streams.retain(|other| !Arc::ptr_eq(other, channel));
        }
        self.left.notify_all();
    }

    /// Ends all data connections of the present sender, and waits until their threads have left. The next sender
    /// numbers its files anew, so no thread with old numbers may remain.
    pub(super) fn close_streams(&self) {
        let mut entries = self.open();
        if let Some(present) = &mut entries.sender {
            present.closing = true;
            present.streams.iter().for_each(|channel| channel.cut());
        }
        let there =
            |entries: &mut RegistryState| entries.sender.as_ref().is_some_and(|one| !one.streams.is_empty());
        let _left = self.left.wait_while(entries, there);
    }

    /// Takes the amounts that senders have offered under the limit of `--accept`, or that a person has accepted.
    pub(super) fn take_spent(&self) -> ConsentAmounts {
        std::mem::take(&mut self.open().spent)
    }

    pub(super) fn give_spent(&self, spent: ConsentAmounts) {
        self.open().spent = spent;
    }
}
