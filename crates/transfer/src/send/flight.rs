//! [`Flight`]: what the threads of a transfer share, and how one that fails ends the others.

use super::connect::Link;
use super::limit::Limit;
use super::outgoing::Outgoing;
use super::queue::Queue;
use super::{SendOptions, Sent};
use crate::channel::Channel;
use crate::error::TransferError;
use crate::wire::control::Finished;
use live::Clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Time;

/// A transfer under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) control: Channel,
    pub(super) data: Vec<Channel>,
    pub(super) queue: Queue,
    pub(super) limit: Limit,
    pub(super) clock: Clock,
    pub(super) began: Time,
    /// The receiver knew parts of this session.
    pub(super) resumed: bool,
    /// Bytes of files handed to the network.
    pub(super) sent: AtomicU64,
    /// Entries that the receiver had.
    pub(super) skipped: AtomicU64,
    /// Nanoseconds spent in reading files.
    pub(super) disk: AtomicU64,
    /// Nanoseconds in which a data connection had nothing to send.
    pub(super) idle: AtomicU64,
    /// Files that were wanted and could not be read.
    pub(super) unreadable: AtomicU64,
    lost: Mutex<Vec<String>>,
    ended: Mutex<Option<Result<Finished, TransferError>>>,
}

impl Flight {
    pub(super) fn new(link: Link, options: &SendOptions, clock: Clock, began: Time) -> Self {
        Self {
            control: link.control,
            data: link.data,
            queue: Queue::default(),
            limit: Limit::new(options.limit, clock),
            clock,
            began,
            resumed: link.resumed,
            sent: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            disk: AtomicU64::new(0),
            idle: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            lost: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    /// Runs one thread's work; if it fails, everything ends, and the first reason counts.
    pub(super) fn guard(&self, work: impl FnOnce() -> Result<(), TransferError>) {
        if let Err(error) = work() {
            locked(&self.ended).get_or_insert(Err(error));
            self.close();
            self.control.cut();
            for channel in &self.data {
                channel.cut();
            }
        }
    }

    /// Nothing more is to be sent.
    pub(super) fn close(&self) {
        self.queue.close();
        self.limit.close();
    }

    /// The receiver has said its last word.
    pub(super) fn finished(&self, finished: Finished) {
        locked(&self.ended).get_or_insert(Ok(finished));
    }

    /// An entry cannot be had.
    pub(super) fn lost(&self, reason: String) {
        locked(&self.lost).push(reason);
    }

    /// A file that was wanted cannot be read.
    pub(super) fn lost_file(&self, file: &Outgoing, reason: String) {
        self.unreadable.fetch_add(1, Relaxed);
        self.lost(reason);
        self.queue.end(file.id);
    }

    pub(super) fn result(self) -> Result<Sent, TransferError> {
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let finished = ended.unwrap_or_else(|| Err(TransferError::gone("it ended early")))?;
        let lost = self.lost.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = lost.into_iter().next() {
            let all = finished.entries + finished.failed;
            return Err(TransferError::Incomplete { failed: finished.failed.max(1), all, first });
        }
        Ok(Sent {
            entries: finished.entries,
            bytes: finished.bytes,
            sent: self.sent.load(Relaxed),
            skipped: self.skipped.load(Relaxed),
            elapsed: self.clock.now().since(self.began),
        })
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
