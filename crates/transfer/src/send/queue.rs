//! [`Queue`]: what the receiver wants and is not sent yet, and how many offers are open.

use super::flight::locked;
use super::outgoing::Outgoing;
use crate::wire::control::Id;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Offers without an end: enough to fill a long path with small files, few enough to keep in memory.
const MOST_OPEN: usize = 16 << 10;

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

#[derive(Debug, Default)]
struct State {
    /// Offered, and neither sent nor given up.
    open: HashMap<Id, Arc<Outgoing>>,
    wanted: VecDeque<Arc<Outgoing>>,
    /// Files to be offered once more.
    again: Vec<Arc<Outgoing>>,
    closed: bool,
}

/// The meeting point of the walker, the control connection and the data connections.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Something is wanted.
    work: Condvar,
    /// Something has ended.
    room: Condvar,
}

impl Queue {
    /// A file is about to be offered. Waits while too many are open; false if all is over.
    pub(super) fn open(&self, file: &Arc<Outgoing>) -> bool {
        let mut state = self
            .room
            .wait_while(locked(&self.state), |state| state.open.len() >= MOST_OPEN && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.open.insert(file.id, Arc::clone(file));
        !state.closed
    }

    /// Whether another file may be offered without waiting.
    pub(super) fn has_room(&self) -> bool {
        locked(&self.state).open.len() < MOST_OPEN
    }

    /// The receiver wants it.
    pub(super) fn want(&self, id: Id) -> Option<Arc<Outgoing>> {
        let mut state = locked(&self.state);
        let file = state.open.get(&id).map(Arc::clone)?;
        state.wanted.push_back(Arc::clone(&file));
        // A file in chunks is work for all.
        self.work.notify_all();
        Some(file)
    }

    pub(super) fn find(&self, id: Id) -> Option<Arc<Outgoing>> {
        locked(&self.state).open.get(&id).map(Arc::clone)
    }

    /// Nothing more is to be done about it.
    pub(super) fn end(&self, id: Id) -> Option<Arc<Outgoing>> {
        let ended = locked(&self.state).open.remove(&id);
        self.room.notify_all();
        ended
    }

    /// It changed while it was sent: it will be offered again, under a new number.
    pub(super) fn again(&self, file: &Arc<Outgoing>) {
        let mut state = locked(&self.state);
        state.open.remove(&file.id);
        state.again.push(Arc::clone(file));
        self.room.notify_all();
    }

    /// What is to be offered again; waits until there is something, and is empty when nothing is open any more.
    pub(super) fn rest(&self) -> Vec<Arc<Outgoing>> {
        let mut state = self
            .room
            .wait_while(locked(&self.state), |state| {
                state.again.is_empty() && !state.open.is_empty() && !state.closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.again)
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
    loop {
        let file = state.wanted.front()?;
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
}
