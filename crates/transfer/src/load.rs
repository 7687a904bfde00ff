//! [`LoadConnection`]: a data connection of a test, at either end. It carries load in one direction or none, and
//! requests with their answers between the parts of the load.
//!
//! Nothing that arrives is kept. An end accepts load only while it has agreed to, and sends load only until a time of
//! its own. `load/gauge.rs` has the account of the end that sends, `load/trains.rs` the rate by packet trains.

mod gauge;
mod trains;

pub(crate) use gauge::Gauge;
pub(crate) use trains::{TRAIN_SESSION, rate_by_trains};

use crate::channel::{Channel, Message, MessageReader, ReadOutcome};
use crate::error::TransferError;
use crate::lock::locked;
use crate::wire::frame;
use crate::wire::test::{LONGEST_FILL, Load};
use host::Clock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use units::{Bytes, Rate, Span, Time};

/// The session of the probes that measure round trips.
pub(crate) const PROBE_SESSION: u64 = 1;
/// All sessions of probes.
pub(crate) const SESSIONS: [u64; 2] = [TRAIN_SESSION, PROBE_SESSION];
/// The time for which unsent data waits in the kernel. The draft on responsiveness has 5 ms; a busy machine needs more
/// to keep the path full.
const UNSENT: Span = Span::from_millis(10);
/// The least and the greatest size of the unsent data.
const UNSENT_SIZES: [u64; 2] = [32 << 10, 1 << 20];
/// The time that one part of a load takes.
const PART: Span = Span::from_millis(4);
/// The least size of a part.
const LEAST_PART: u64 = 8 << 10;
/// The time after the agreed end of a load for which more of it may arrive.
pub(crate) const GRACE: Span = Span::from_secs(10);
/// The greatest number of requests that wait for their answers.
const MOST_REQUESTS: usize = 64;

/// A data connection of a test.
#[derive(Debug)]
pub(crate) struct LoadConnection {
    pub(crate) channel: Arc<Channel>,
    clock: Clock,
    /// Bytes of load that have arrived.
    received: AtomicU64,
    /// Bytes of load that may still arrive.
    room: AtomicU64,
    /// The time until which load is accepted, in nanoseconds.
    accepts: AtomicU64,
    todo: Mutex<ToWrite>,
    changed: Condvar,
    failed: Mutex<Option<TransferError>>,
}

/// The work of the writing thread.
#[derive(Debug, Default)]
struct ToWrite {
    /// The time until which it sends load.
    until: Time,
    /// The bytes of load that it may still send.
    room: u64,
    /// The size of a part of the load.
    part: usize,
    /// Requests of the other end to answer.
    answers: VecDeque<u64>,
    /// Requests to send.
    requests: VecDeque<u64>,
    /// The number of requests so far.
    asked: u64,
    /// Requests without an answer, with their times.
    open: Vec<(u64, Time)>,
    /// Times at which answers came, each with the latency of its request.
    latencies: Vec<(Time, Span)>,
    over: bool,
}

impl LoadConnection {
    pub(crate) fn new(channel: Arc<Channel>, clock: Clock) -> Self {
        let (received, room, accepts) = Default::default();
        let (todo, changed, failed) = Default::default();
        Self { channel, clock, received, room, accepts, todo, changed, failed }
    }

    /// Accepts load for `span` and a little longer, and at most `room` bytes of it.
    pub(crate) fn accept(&self, span: Span, room: u64) {
        self.room.store(room, Relaxed);
        self.accepts.store((self.clock.now() + span + GRACE).as_nanos(), Relaxed);
    }

    /// Sends load until `until`, and at most `room` bytes of it, to a path with the rate `rate`.
    ///
    /// # Errors
    /// If the kernel refuses a limit on unsent data.
    pub(crate) fn fill(&self, until: Time, rate: Option<Rate>, room: u64) -> Result<(), TransferError> {
        let size =
            |span, least, most: u64| rate.map_or(most, |rate| rate.volume(span).get().clamp(least, most));
        let unsent = Bytes::new(size(UNSENT, UNSENT_SIZES[0], UNSENT_SIZES[1]));
        host::options::set_unsent_limit(self.channel.tcp(), unsent)?;
        let mut todo = self.todo();
        (todo.until, todo.room) = (until, room);
        todo.part = size(PART, LEAST_PART, LONGEST_FILL as u64) as usize;
        drop(todo);
        self.changed.notify_all();
        Ok(())
    }

    /// Sends a request among the load.
    pub(crate) fn request(&self) {
        let mut todo = self.todo();
        if todo.open.len() >= MOST_REQUESTS {
            return;
        }
        todo.asked += 1;
        let (number, now) = (todo.asked, self.clock.now());
        todo.open.push((number, now));
        todo.requests.push_back(number);
        drop(todo);
        self.changed.notify_all();
    }

    /// Takes the latencies of the requests, with the times at which the answers came.
    pub(crate) fn take_latencies(&self) -> Vec<(Time, Span)> {
        std::mem::take(&mut self.todo().latencies)
    }

    /// Returns the bytes of load that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Relaxed)
    }

    /// Runs one of the two threads of the connection. A connection that breaks ends both.
    pub(crate) fn run(&self, work: fn(&Self) -> Result<(), TransferError>) {
        if let Err(error) = work(self)
            && !self.todo().over
        {
            locked(&self.failed).get_or_insert(error);
        }
        self.end();
    }

    /// Takes the error that ended the connection.
    pub(crate) fn take_error(&self) -> Option<TransferError> {
        locked(&self.failed).take()
    }

    /// Ends the connection and both its threads.
    pub(crate) fn end(&self) {
        self.todo().over = true;
        self.changed.notify_all();
        self.channel.cut();
    }

    fn todo(&self) -> MutexGuard<'_, ToWrite> {
        locked(&self.todo)
    }

    /// Writes what there is to write, until the connection ends.
    pub(crate) fn write(&self) -> Result<(), TransferError> {
        let mut out = Vec::with_capacity(LONGEST_FILL + 1024);
        loop {
            out.clear();
            if !self.next(&mut out) {
                return Ok(());
            }
            self.channel.write(&out)?;
        }
    }

    /// Puts the next bytes into `out`. Returns false at the end.
    fn next(&self, out: &mut Vec<u8>) -> bool {
        let mut todo = self.todo();
        loop {
            if todo.over {
                return false;
            }
            let fills = self.clock.now() < todo.until && todo.room >= todo.part as u64;
            if fills || !todo.answers.is_empty() || !todo.requests.is_empty() {
                todo.answers.drain(..).for_each(|number| frame::append(out, &Load::Answer(number)));
                todo.requests.drain(..).for_each(|number| frame::append(out, &Load::Request(number)));
                if fills {
                    todo.room -= todo.part as u64;
                    frame::append(out, &Load::Fill(todo.part as u32));
                    out.resize(out.len() + todo.part, 0);
                }
                return true;
            }
            todo = self.changed.wait(todo).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads until the connection ends, and discards the load.
    pub(crate) fn read(&self) -> Result<(), TransferError> {
        let mut reader = MessageReader::new(&self.channel);
        loop {
            match reader.message::<Load>(Time::NEVER)? {
                Message::Is(Load::Fill(length)) => self.take(&mut reader, length as usize)?,
                Message::Is(Load::Request(number)) => {
                    let mut todo = self.todo();
                    if todo.answers.len() >= MOST_REQUESTS {
                        return Err(reader.protocol("more requests than may wait"));
                    }
                    todo.answers.push_back(number);
                    drop(todo);
                    self.changed.notify_all();
                }
                Message::Is(Load::Answer(number)) => {
                    let (mut todo, now) = (self.todo(), self.clock.now());
                    let Some(place) = todo.open.iter().position(|(asked, _)| *asked == number) else {
                        return Err(reader.protocol("an answer without a request"));
                    };
                    let (_, asked) = todo.open.remove(place);
                    todo.latencies.push((now, now.since(asked)));
                }
                Message::Nothing | Message::End => return Ok(()),
            }
        }
    }

    fn take(&self, reader: &mut MessageReader<'_>, length: usize) -> Result<(), TransferError> {
        let room = self.room.load(Relaxed);
        if length > LONGEST_FILL
            || length as u64 > room
            || self.clock.now().as_nanos() > self.accepts.load(Relaxed)
        {
            return Err(reader.protocol("more load than was agreed on"));
        }
        self.room.store(room - length as u64, Relaxed);
        let mut left = length;
        while left > 0 {
            let held = reader.held().len().min(left);
            reader.consume(held);
            left -= held;
            self.received.fetch_add(held as u64, Relaxed);
            if left > 0 && reader.more(Time::NEVER)? == ReadOutcome::End {
                return Err(TransferError::gone("closed within the load"));
            }
        }
        Ok(())
    }
}
