//! The threads of a session other than its own, each with a queue of jobs. One reads the control connection, one
//! examines existing files, one brings complete files to the disk and gives them their names, and one asks the
//! receiver's user. Each reports its results to the session.

use super::Event;
use crate::channel::{Channel, MessageReader};
use crate::error::TransferError;
use crate::progress::{Observer, Question};
use crate::receive::assembly::{Assembly, Examination};
use crate::receive::registry::{Registry, SessionHandle};
use crate::receive::windows::{Note, Notes, Windows};
use crate::wire::control::ToReceiver;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel as queue, sync_channel};
use units::Time;

/// The number of readings whose messages may wait for the session.
pub(in crate::receive) const AHEAD: usize = 2;

/// A job of bringing data to the disk.
#[derive(Clone, Copy, Debug)]
pub(in crate::receive) enum Storing {
    /// The complete files that wait for their names.
    Names,
    /// Everything, at the end of the session. This number of data connections waits for it.
    All(u16),
}

/// The session's ends of the queues. Dropping them ends the workers.
#[derive(Debug)]
pub(in crate::receive) struct Jobs {
    examine: Sender<Box<Examination>>,
    store: Sender<Storing>,
    ask: Sender<Question>,
    windows: Notes,
    over: Arc<AtomicBool>,
}

/// The ends of the queues that the threads of a session hold.
#[derive(Debug)]
pub(in crate::receive) struct WorkerEnds<'a> {
    pub(in crate::receive) examine: Receiver<Box<Examination>>,
    pub(in crate::receive) store: Receiver<Storing>,
    pub(in crate::receive) ask: Receiver<Question>,
    /// True once the session is over, so that nobody waits for an answer any more.
    pub(in crate::receive) over: Arc<AtomicBool>,
    /// The session's requests for more messages.
    pub(in crate::receive) asked: Receiver<()>,
    pub(in crate::receive) windows: Windows<'a>,
}

/// Makes the queues between a session and its threads.
pub(super) fn queues<'a>(
    registry: &Registry<'a>,
    link: &'a SessionHandle,
    channel: &'a Channel,
) -> Result<(Jobs, SyncSender<()>, WorkerEnds<'a>), TransferError> {
    let ((examine, to_examine), (store, to_store), (ask, to_ask)) = (queue(), queue(), queue());
    let (more, asked) = sync_channel(AHEAD);
    // One request is made in advance, so that the reader may be one reading ahead.
    let _ = more.send(());
    let (windows, notes) = Notes::new()?;
    let holder = Windows::new(
        (registry.receiver.window, link),
        channel,
        &registry.receiver.clock,
        (notes, windows.wake()),
    );
    let over = Arc::new(AtomicBool::new(false));
    let ends = WorkerEnds {
        examine: to_examine,
        store: to_store,
        ask: to_ask,
        over: Arc::clone(&over),
        asked,
        windows: holder,
    };
    Ok((Jobs { examine, store, ask, windows, over }, more, ends))
}

impl Jobs {
    pub(super) fn examine(&self, examination: Box<Examination>) {
        let _ = self.examine.send(examination);
    }

    pub(super) fn name(&self) {
        let _ = self.store.send(Storing::Names);
    }

    pub(super) fn store(&self, streams: u16) {
        let _ = self.store.send(Storing::All(streams));
    }

    pub(super) fn ask(&self, question: Question) {
        let _ = self.ask.send(question);
    }

    pub(super) fn notify_windows(&self, note: Note) {
        self.windows.send(note);
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}

/// Reads the control connection. After each reading it waits until the session asks for more.
pub(super) fn read(channel: &Channel, more: &Receiver<()>, events: &Sender<Event>) {
    let mut reader = MessageReader::new(channel);
    let error = loop {
        match reader.messages::<ToReceiver>(Time::NEVER) {
            Ok(Some(messages)) => drop(events.send(Event::Messages(messages))),
            Ok(None) => break TransferError::gone("it left before the end"),
            Err(error) => break error,
        }
        if more.recv().is_err() {
            return;
        }
    };
    let _ = events.send(Event::SenderLeft(error));
}

/// Answers the offers for which existing data has to be read.
pub(super) fn examine(assembly: &Assembly, jobs: &Receiver<Box<Examination>>, events: &Sender<Event>) {
    for examination in jobs {
        let id = examination.id();
        let _ = events.send(Event::Examined(id, assembly.examine(*examination)));
    }
}

/// Brings complete files to the disk and gives them their names.
pub(super) fn store(assembly: &Assembly, jobs: &Receiver<Storing>, events: &Sender<Event>) {
    for storing in jobs {
        match storing {
            Storing::Names => name(assembly, events),
            Storing::All(streams) => drop(events.send(Event::Stored(assembly.finish(streams)))),
        }
    }
}

/// Gives the waiting complete files their names.
pub(in crate::receive) fn name(assembly: &Assembly, events: &Sender<Event>) {
    match assembly.name_waiting() {
        Ok(lost) => {
            for (id, reason) in lost {
                let _ = events.send(Event::FileLost(id, reason));
            }
        }
        Err(error) => drop(events.send(Event::Broke(error))),
    }
}

/// Asks the receiver's user.
pub(super) fn ask(
    observer: &dyn Observer,
    questions: &Receiver<Question>,
    over: &AtomicBool,
    events: &Sender<Event>,
) {
    for question in questions {
        let yes = observer.accept(&question, &|| over.load(Ordering::Acquire));
        let _ = events.send(Event::Answer(yes));
    }
}
