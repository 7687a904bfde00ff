//! [`Queue`]: what is offered and not ended yet, what of it the receiver wants, and how much may be open at a time.

use super::outgoing::Outgoing;
use crate::chunks::Digest;
use crate::lock::locked;
use crate::name::Name;
use crate::wire::control::Id;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Offers without an end: enough to fill a long path with small files, few enough to keep in memory.
const MOST_OPEN: usize = 16 << 10;
/// The same in bytes of their messages: names may be long.
const MOST_BYTES: usize = 8 << 20;

/// What a data connection does next.
#[derive(Debug)]
pub(super) enum Job {
    /// A whole file in one message.
    Small(Arc<Outgoing>),
    /// One chunk of a file.
    Chunk(Arc<Outgoing>, u32),
    /// The receiver has all of the file's chunks.
    End(Arc<Outgoing>),
}

/// An offer.
#[derive(Clone, Debug)]
pub(super) enum Offered {
    /// Of a file.
    File(Arc<Outgoing>),
    /// Of a folder or link, which is made by its offer.
    Made(Name),
}

impl Offered {
    pub(super) fn name(&self) -> &Name {
        match self {
            Self::File(file) => &file.name,
            Self::Made(name) => name,
        }
    }
}

#[derive(Debug)]
struct Open {
    offered: Offered,
    bytes: usize,
    /// The receiver has answered that it wants it.
    wanted: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The receiver knows how much there is.
    begun: bool,
    /// Offers made.
    offers: u64,
    /// Offered, and neither ended nor given up.
    open: HashMap<Id, Open>,
    /// Bytes of their messages.
    bytes: usize,
    wanted: VecDeque<Arc<Outgoing>>,
    /// Files to be offered once more.
    again: Vec<Arc<Outgoing>>,
    closed: bool,
}

impl State {
    /// Whether an offer of `bytes` bytes must wait. One alone never does.
    fn is_full(&self, bytes: usize) -> bool {
        self.open.len() >= MOST_OPEN || (!self.open.is_empty() && self.bytes + bytes > MOST_BYTES)
    }

    /// Something is open, and nothing is to be offered again.
    fn is_busy(&self) -> bool {
        self.again.is_empty() && !self.open.is_empty() && !self.closed
    }

    fn remove(&mut self, id: Id) -> Option<Offered> {
        let open = self.open.remove(&id)?;
        self.bytes -= open.bytes;
        Some(open.offered)
    }

    /// The offer that an answer is for, if it is still open. An answer comes once.
    fn answered(&mut self, id: Id) -> Result<Option<&mut Open>, String> {
        match self.open.get_mut(&id) {
            Some(open) if open.wanted => Err(format!("a second answer to offer {id}")),
            open => Ok(open),
        }
    }

    /// The same for an answer that only a file can have: it is wanted.
    fn wanted(&mut self, id: Id) -> Result<Option<Arc<Outgoing>>, String> {
        let Some(open) = self.answered(id)? else { return Ok(None) };
        let Offered::File(file) = &open.offered else {
            return Err(format!("offer {id} is no file, and is wanted like one"));
        };
        open.wanted = true;
        Ok(Some(Arc::clone(file)))
    }
}

/// The meeting point of the walker, the control connection and the data connections.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Something is wanted.
    work: Condvar,
    /// Something has ended, or all may begin.
    room: Condvar,
}

impl Queue {
    /// Offers may be made from now on.
    pub(super) fn begin(&self) {
        locked(&self.state).begun = true;
        self.room.notify_all();
    }

    /// Waits until offers may be made; false if all is over.
    pub(super) fn wait_for_begin(&self) -> bool {
        let waiting = |state: &mut State| !state.begun && !state.closed;
        let state = self.room.wait_while(locked(&self.state), waiting);
        !state.unwrap_or_else(PoisonError::into_inner).closed
    }

    /// An offer in a message of `bytes` bytes is about to be made. Waits while too much is open.
    pub(super) fn open(&self, id: Id, offered: Offered, bytes: usize) {
        let mut state = self
            .room
            .wait_while(locked(&self.state), |state| state.is_full(bytes) && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.offers += 1;
        state.bytes += bytes;
        state.open.insert(id, Open { offered, bytes, wanted: false });
    }

    /// Whether an offer in a message of `bytes` bytes may be made without waiting.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        !locked(&self.state).is_full(bytes)
    }

    /// Offers made so far.
    pub(super) fn offers(&self) -> u64 {
        locked(&self.state).offers
    }

    /// The receiver wants a file, and has these chunks of it. Nothing happens if the offer is not open any more.
    ///
    /// # Errors
    /// How the answer breaks the protocol.
    pub(super) fn want(&self, id: Id, there: Vec<(u32, Digest)>) -> Result<(), String> {
        let mut state = locked(&self.state);
        let Some(file) = state.wanted(id)? else { return Ok(()) };
        let ascending = there.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascending || there.last().is_some_and(|last| last.0 >= file.chunks.count()) {
            return Err(format!("chunks of offer {id} that it does not have, or not in order"));
        }
        file.there(there);
        state.wanted.push_back(file);
        // A file in chunks is work for all.
        self.work.notify_all();
        Ok(())
    }

    /// The receiver needs nothing of it.
    ///
    /// # Errors
    /// How the answer breaks the protocol.
    pub(super) fn settle(&self, id: Id) -> Result<Option<Offered>, String> {
        let mut state = locked(&self.state);
        if state.answered(id)?.is_none() {
            return Ok(None);
        }
        let settled = state.remove(id);
        drop(state);
        self.room.notify_all();
        Ok(settled)
    }

    /// Nothing more is to be done about it.
    pub(super) fn end(&self, id: Id) -> Option<Offered> {
        let ended = locked(&self.state).remove(id);
        self.room.notify_all();
        ended
    }

    /// It changed while it was sent: it will be offered again, under a new number.
    pub(super) fn again(&self, file: &Arc<Outgoing>) {
        let mut state = locked(&self.state);
        state.remove(file.id);
        state.again.push(Arc::clone(file));
        self.room.notify_all();
    }

    /// Waits until something is to be offered again, or nothing is open any more.
    pub(super) fn wait_for_rest(&self) {
        let _state = self.room.wait_while(locked(&self.state), |state| state.is_busy());
    }

    /// What is to be offered again; empty when nothing is open any more, and `None` while neither is so.
    pub(super) fn rest(&self) -> Option<Vec<Arc<Outgoing>>> {
        let mut state = locked(&self.state);
        (!state.is_busy()).then(|| std::mem::take(&mut state.again))
    }

    /// Bytes of the files that are wanted and sent in chunks, at least: as far as they were not given out.
    pub(super) fn bulk(&self) -> u64 {
        locked(&self.state).wanted.iter().map(|file| file.left()).sum()
    }

    /// What to do next, if there is something.
    pub(super) fn take_now(&self) -> Option<Job> {
        take(&mut locked(&self.state))
    }

    /// What to do next; waits for it. `None`: nothing more will come.
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

    /// Nothing more will come, and nobody waits any more.
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
