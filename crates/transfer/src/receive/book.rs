//! [`Book`]: the address book of a receiver, which all its threads share: who is trying to get in, whose turn it is, and
//! how it ended. What a session knows is its own thread's (`session.rs`).

use super::Receiver;
use super::consent::Spent;
use super::listen::{Standing, Unproved};
use super::session::Event;
use super::windows::Echo;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::keys::fill_random;
use crate::lock::locked;
use crate::progress::Observer;
use crate::summary::Summary;
use host::Wake;
use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use units::Time;

/// Lines per second about those who try to get in.
const MOST_LINES: u32 = 5;
/// More data connections than this are of no use to anybody.
pub(super) const MOST_STREAMS: u16 = 64;
/// From this version of the protocol on, more data connections may come than were announced.
const JOINING: u16 = 3;

/// How connections reach a session.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) peer: SocketAddr,
    pub(super) token: [u8; 16],
    /// Of the protocol, as the sender speaks it.
    pub(super) version: u16,
    /// Data connections that were announced.
    pub(super) streams: u16,
    /// Where probes are echoed.
    pub(super) echo: Option<Echo>,
    pub(super) events: Sender<Event>,
    /// The rule by which it keeps its place when another sender comes.
    pub(super) standing: Standing,
}

impl Link {
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

/// All is stored, and a sender was told so; its last word has not come yet.
#[derive(Debug)]
pub(super) struct Complete {
    /// It is waited for so long.
    pub(super) until: Time,
    pub(super) result: Result<Summary, TransferError>,
}

/// The sender that is there.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) link: Arc<Link>,
    /// Its data connections.
    streams: Vec<Arc<Channel>>,
    /// No more of them are let in.
    closing: bool,
}

impl Present {
    pub(super) const fn new(link: Arc<Link>) -> Self {
        Self { link, streams: Vec::new(), closing: false }
    }
}

/// The entries of the book.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) sender: Option<Present>,
    /// Senders that wait for their turn.
    pub(super) waiting: usize,
    /// Since when no sender is there.
    pub(super) alone_since: Time,
    pub(super) complete: Option<Complete>,
    pub(super) result: Option<Result<Summary, TransferError>>,
    pub(super) unproved: Unproved,
    /// To end what waits when all is done.
    pub(super) sockets: HashMap<u64, Arc<TcpStream>>,
    pub(super) next: u64,
    /// What the limit of `--accept`, or a person's answer, has been spent on.
    spent: Spent,
    /// The second in which lines were written last, and how many.
    lines: (u64, u32),
}

/// The book.
pub(super) struct Book<'a> {
    pub(super) receiver: &'a Receiver,
    pub(super) observer: &'a dyn Observer,
    entries: Mutex<Entries>,
    /// A sender or a data connection has left, or all is done.
    left: Condvar,
    /// The listener has to look at the book.
    pub(super) wake: Wake,
}

impl<'a> Book<'a> {
    pub(super) fn new(receiver: &'a Receiver, observer: &'a dyn Observer) -> Result<Self, TransferError> {
        let spent = match receiver.accept.limit {
            Some(_) => Spent::on(receiver.assembly.present()),
            None => Spent::default(),
        };
        let entries = Entries {
            sender: None,
            waiting: 0,
            alone_since: receiver.clock.now(),
            complete: None,
            result: None,
            unproved: Unproved::default(),
            sockets: HashMap::new(),
            next: 0,
            spent,
            lines: (0, 0),
        };
        let wake = Wake::new().map_err(TransferError::system("make an event descriptor"))?;
        Ok(Self { receiver, observer, entries: Mutex::new(entries), left: Condvar::new(), wake })
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Entries> {
        locked(&self.entries)
    }

    /// Waits for `span` at most, and while `waiting` says so, for somebody to leave.
    pub(super) fn wait_while<'g>(
        &self,
        entries: MutexGuard<'g, Entries>,
        span: std::time::Duration,
        waiting: impl FnMut(&mut Entries) -> bool,
    ) -> MutexGuard<'g, Entries> {
        self.left.wait_timeout_while(entries, span, waiting).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Somebody has left.
    pub(super) fn changed(&self) {
        self.left.notify_all();
        self.wake.wake();
    }

    /// Ends the receiver; the first result counts.
    pub(super) fn finish(&self, result: Result<Summary, TransferError>) {
        self.open().result.get_or_insert(result);
        self.changed();
    }

    pub(super) fn is_done(&self) -> bool {
        self.open().result.is_some()
    }

    /// Closes all connections, and returns the result.
    pub(super) fn close(&self) {
        let mut entries = self.open();
        entries.unproved.close();
        for socket in entries.sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(entries);
        self.changed();
    }

    /// The result of a receiver that is done.
    pub(super) fn take_result(&self) -> Option<Result<Summary, TransferError>> {
        self.open().result.take()
    }

    /// Lets a data connection of the sender with this token in; `None` if there is none, or there are enough.
    pub(super) fn join(&self, token: &[u8; 16], channel: &Arc<Channel>) -> Option<Arc<Link>> {
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

    /// A data connection has left.
    pub(super) fn leave(&self, channel: &Arc<Channel>) {
        if let Some(present) = &mut self.open().sender {
            present.streams.retain(|other| !Arc::ptr_eq(other, channel));
        }
        self.left.notify_all();
    }

    /// Ends all data connections of the sender that is there, and waits until their threads have left. Numbers of files
    /// begin anew with the next sender: nobody may be left who has old ones.
    pub(super) fn close_streams(&self) {
        let mut entries = self.open();
        if let Some(present) = &mut entries.sender {
            present.closing = true;
            present.streams.iter().for_each(|channel| channel.cut());
        }
        let there =
            |entries: &mut Entries| entries.sender.as_ref().is_some_and(|one| !one.streams.is_empty());
        let _left = self.left.wait_while(entries, there);
    }

    /// What the limit of `--accept`, or a person's answer, has been spent on.
    pub(super) fn take_spent(&self) -> Spent {
        std::mem::take(&mut self.open().spent)
    }

    pub(super) fn give_spent(&self, spent: Spent) {
        self.open().spent = spent;
    }

    /// Says that a connection has been closed, and why.
    pub(super) fn turned_away(&self, peer: SocketAddr, reason: &str) {
        self.limited(&format!("turned away {}: {reason}", host::plain(peer)));
    }

    /// Says something that strangers can cause, up to a number of lines per second.
    pub(super) fn limited(&self, line: &str) {
        let second = self.receiver.clock.now().since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut entries = self.open();
        let before = entries.lines;
        if before.0 != second {
            entries.lines = (second, 0);
        }
        entries.lines.1 += 1;
        let shown = entries.lines.1 <= MOST_LINES;
        drop(entries);
        if before.0 != second && before.1 > MOST_LINES {
            self.observer.say(&format!("and {} more like this", before.1 - MOST_LINES));
        }
        if shown {
            self.observer.say(line);
        }
    }
}
