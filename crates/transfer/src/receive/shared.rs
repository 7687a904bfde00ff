//! What the threads of a receiver share.

use super::Receiver;
use super::consent::Spent;
use super::listen::{Complete, Unproved};
use super::sender::SenderSession;
use crate::error::TransferError;
use crate::lock::locked;
use crate::progress::Observer;
use crate::summary::Summary;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use units::Time;

/// Lines per second about strangers.
const MOST_LINES: u32 = 5;

/// What the threads of a receiver share.
pub(super) struct Shared<'a> {
    pub(super) receiver: &'a Receiver,
    pub(super) observer: &'a dyn Observer,
    pub(super) sender: Mutex<Option<Arc<SenderSession>>>,
    pub(super) left: Condvar,
    /// Senders that wait for their turn.
    pub(super) waiting: AtomicUsize,
    /// Since when no sender is there.
    pub(super) alone_since: Mutex<Time>,
    pub(super) complete: Mutex<Option<Complete>>,
    pub(super) result: Mutex<Option<Result<Summary, TransferError>>>,
    pub(super) done: AtomicBool,
    pub(super) unproved: Unproved,
    /// To end what waits when all is done.
    pub(super) sockets: Mutex<HashMap<u64, Arc<TcpStream>>>,
    pub(super) next: AtomicU64,
    /// What the limit of `--accept`, or a person's answer, has been spent on.
    pub(super) spent: Mutex<Spent>,
    /// The second in which lines were written last, and how many.
    pub(super) lines: Mutex<(u64, u32)>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(receiver: &'a Receiver, observer: &'a dyn Observer) -> Self {
        let spent = match receiver.accept.limit {
            Some(_) => Spent::on(receiver.assembly.present()),
            None => Spent::default(),
        };
        Self {
            receiver,
            observer,
            sender: Mutex::default(),
            left: Condvar::new(),
            waiting: AtomicUsize::new(0),
            alone_since: Mutex::new(receiver.clock.now()),
            complete: Mutex::default(),
            result: Mutex::default(),
            done: AtomicBool::new(false),
            unproved: Unproved::default(),
            sockets: Mutex::default(),
            next: AtomicU64::new(0),
            spent: Mutex::new(spent),
            lines: Mutex::default(),
        }
    }
}

impl Shared<'_> {
    /// The receiver is done; the first result counts.
    pub(super) fn finish(&self, result: Result<Summary, TransferError>) {
        locked(&self.result).get_or_insert(result);
        self.done.store(true, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Says that a connection has been closed, and why.
    pub(super) fn turned_away(&self, peer: SocketAddr, reason: &str) {
        self.limited(&format!("turned away {}: {reason}", host::plain(peer)));
    }

    /// Says something that strangers can cause, up to a number of lines per second.
    pub(super) fn limited(&self, line: &str) {
        let second = self.receiver.clock.now().since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut lines = locked(&self.lines);
        if lines.0 != second {
            if lines.1 > MOST_LINES {
                self.observer.say(&format!("and {} more like this", lines.1 - MOST_LINES));
            }
            *lines = (second, 0);
        }
        lines.1 += 1;
        if lines.1 <= MOST_LINES {
            self.observer.say(line);
        }
    }
}
