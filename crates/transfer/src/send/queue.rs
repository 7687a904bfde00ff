//! [`Queue`]: the offers that have not ended yet, those that the receiver wants, and the limits of open ones.

use super::outgoing::Outgoing;
use crate::chunks::Digest;
use crate::lock::locked;
use crate::name::Name;
use crate::wire::control::Id;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The greatest number of offers without an end: enough to fill a long path with small files, few enough for memory.
const MOST_OPEN: usize = 16 << 10;
/// The greatest size of such offers' messages, in bytes. It matters because names may be long.
const MOST_BYTES: usize = 8 << 20;

/// A data connection's next job.
#[derive(Debug)]
pub(super) enum Job {
    /// A whole file in one message.
    Small(Arc<Outgoing>),
    /// One chunk of a file.
    Chunk(Arc<Outgoing>, u32),
    /// The end of a file of which the receiver has all chunks.
    End(Arc<Outgoing>),
}

/// An offer.
#[derive(Clone, Debug)]
pub(super) enum QueuedOffer {
    /// An offer of a file.
    File(Arc<Outgoing>),
    /// An offer of a folder or link, which the receiver makes from the offer alone.
    Made(Name),
}

impl QueuedOffer {
    pub(super) fn name(&self) -> &Name {
        match self {
            Self::File(file) => &file.name,
            Self::Made(name) => name,
        }
    }
}

#[derive(Debug)]
struct Open {
    offered: QueuedOffer,
    bytes: usize,
    /// True if the receiver has answered that it wants the entry.
    wanted: bool,
}

#[derive(Debug, Default)]
struct State {
    /// True once the receiver knows the amount to be sent.
    begun: bool,
    /// The number of offers made.
    offers: u64,
    /// Offers that have neither ended nor been given up.
    open: HashMap<Id, Open>,
    /// The size of the open offers' messages in bytes.
    bytes: usize,
    wanted: VecDeque<Arc<Outgoing>>,
    /// Files to be offered once more.
    again: Vec<Arc<Outgoing>>,
    closed: bool,
}

impl State {
    /// Returns true if an offer of `bytes` bytes must wait. An offer does not wait if it is the only one.
    fn is_full(&self, bytes: usize) -> bool {
        self.open.len() >= MOST_OPEN || (!self.open.is_empty() && self.bytes + bytes > MOST_BYTES)
    }

    /// Returns true while an offer is open and no file is to be offered again.
    fn is_busy(&self) -> bool {
        self.again.is_empty() && !self.open.is_empty() && !self.closed
    }

    fn remove(&mut self, id: Id) -> Option<QueuedOffer> {
        let open = self.open.remove(&id)?;
        self.bytes -= open.bytes;
        Some(open.offered)
    }

    /// Finds the offer that an answer is for, if it is still open. A second answer is an error.
    fn answered(&mut self, id: Id) -> Result<Option<&mut Open>, String> {
        match self.open.get_mut(&id) {
            Some(open) if open.wanted => Err(format!("a second answer to offer {id}")),
            open => Ok(open),
        }
    }

    /// Finds the offer of a file that an answer wants, and marks it as wanted.
    fn wanted(&mut self, id: Id) -> Result<Option<Arc<Outgoing>>, String> {
        let Some(open) = self.answered(id)? else { return Ok(None) };
        let QueuedOffer::File(file) = &open.offered else {
            return Err(format!("offer {id} is not a file, but is requested like one"));
        };
        open.wanted = true;
        Ok(Some(Arc::clone(file)))
    }
}

/// The meeting point of the walker, the control connection and the data connections.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Signals that something is wanted.
    work: Condvar,
    /// Signals that an offer has ended, or that offers may begin.
    room: Condvar,
}

impl Queue {
    /// Allows offers from now on.
    pub(super) fn begin(&self) {
        locked(&self.state).begun = true;
        self.room.notify_all();
    }

    /// Waits until offers may be made. Returns false if the transfer is over.
    pub(super) fn wait_for_begin(&self) -> bool {
        let waiting = |state: &mut State| !state.begun && !state.closed;
        let state = self.room.wait_while(locked(&self.state), waiting);
        !state.unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Adds an offer that is about to be made in a message of `bytes` bytes. Waits while too many are open.
    pub(super) fn open(&self, id: Id, offered: QueuedOffer, bytes: usize) {
        let mut state = self
            .room
            .wait_while(locked(&self.state), |state| state.is_full(bytes) && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.offers += 1;
        state.bytes += bytes;
        state.open.insert(id, Open { offered, bytes, wanted: false });
    }

    /// Returns true if an offer in a message of `bytes` bytes may be made without waiting.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        !locked(&self.state).is_full(bytes)
    }

    /// Returns the number of offers made so far.
    pub(super) fn offers(&self) -> u64 {
        locked(&self.state).offers
    }

    /// Records that the receiver wants a file, and has these chunks of it. Does nothing if the offer is not open any
    /// more.
    ///
    /// # Errors
    /// Returns the violation if the answer does not follow the protocol.
    pub(super) fn want(&self, id: Id, there: Vec<(u32, Digest)>) -> Result<(), String> {
        let mut state = locked(&self.state);
        let Some(file) = state.wanted(id)? else { return Ok(()) };
        let ascending = there.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascending || there.last().is_some_and(|last| last.0 >= file.chunks.count()) {
            return Err(format!("chunks of offer {id} that it does not have, or not in order"));
        }
        file.there(there);
        state.wanted.push_back(file);
        // A file in chunks is work for all threads.
        self.work.notify_all();
        Ok(())
    }

    /// Removes an offer of which the receiver needs nothing.
    ///
    /// # Errors
    /// Returns the violation if the answer does not follow the protocol.
    pub(super) fn settle(&self, id: Id) -> Result<Option<QueuedOffer>, String> {
        let mut state = locked(&self.state);
        if state.answered(id)?.is_none() {
            return Ok(None);
        }
        let settled = state.remove(id);
        drop(state);
        self.room.notify_all();
        Ok(settled)
    }

    /// Removes an offer that needs nothing more.
    pub(super) fn end(&self, id: Id) -> Option<QueuedOffer> {
        let ended = locked(&self.state).remove(id);
        self.room.notify_all();
        ended
    }

    /// Removes a file that changed while it was sent. It will be offered again, under a new number.
    pub(super) fn again(&self, file: &Arc<Outgoing>) {
        let mut state = locked(&self.state);
        state.remove(file.id);
        state.again.push(Arc::clone(file));
        self.room.notify_all();
    }

    /// Waits until a file is to be offered again, or no offer is open any more.
    pub(super) fn wait_for_rest(&self) {
        let _state = self.room.wait_while(locked(&self.state), |state| state.is_busy());
    }

    /// Takes the files to be offered again. The list is empty if no offer is open any more. Returns `None` while offers
    /// are open and no file is to be offered again.
    pub(super) fn rest(&self) -> Option<Vec<Arc<Outgoing>>> {
        let mut state = locked(&self.state);
        (!state.is_busy()).then(|| std::mem::take(&mut state.again))
    }

    /// Returns a lower bound of the bytes that no data connection has taken yet, in wanted files that are sent in
    /// chunks.
    pub(super) fn bulk(&self) -> u64 {
        locked(&self.state).wanted.iter().map(|file| file.left()).sum()
    }

    /// Takes the next job, if there is one.
    pub(super) fn take_now(&self) -> Option<Job> {
        take(&mut locked(&self.state))
    }

    /// Waits for the next job and takes it. Returns `None` if no more will come.
    pub(super) fn take(&self) -> Option<Job> {
        let mut state = locked(&self.state);
        loop {
            if let Some(job) = take(&mut state) {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the queue, so that no job comes and no thread waits any more.
    pub(super) fn close(&self) {
        locked(&self.state).closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        locked(&self.state).closed
    }
}

fn take(state: &mut State) -> Option<Job> {
    if state.closed {
        return None;
    }
    while let Some(file) = state.wanted.front() {
        let job = if file.is_small() {
            Job::Small(Arc::clone(file))
        } else {
            match file.next_chunk() {
                Some((index, last)) => {
                    let job = Job::Chunk(Arc::clone(file), index);
                    if last {
                        state.wanted.pop_front();
                    }
                    return Some(job);
                }
                None if file.is_given_up() => {
                    state.wanted.pop_front();
                    continue;
                }
                None => Job::End(Arc::clone(file)),
            }
        };
        state.wanted.pop_front();
        return Some(job);
    }
    None
}
