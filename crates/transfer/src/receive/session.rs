//! [`Session`]: one sender's session, from its greeting to its end.
//!
//! One thread owns a session. It takes each [`Event`] from a channel, in the order of arrival. Connections, workers and
//! the holder of the windows can only send events into that channel. So a session makes all its decisions in this
//! thread. `session/offers.rs` answers offers, `session/messages.rs` reports to both users, and `session/ending.rs` has
//! the end. `session/workers.rs` has the other threads of a session.

mod ending;
mod messages;
mod offers;
pub(super) mod workers;

use super::assembly::{Assembly, Faults, ReceiveError};
use super::consent::Consent;
use super::registry::{Registry, SessionHandle};
use super::windows::{self, Note, WindowState};
use crate::channel::Channel;
use crate::error::TransferError;
use crate::history::History;
use crate::limits::LimitTimes;
use crate::progress::PathRate;
use crate::summary::Summary;
use crate::wire::control::{Entry, Id, Progress, Report, ToReceiver, ToSender, Verdict};
use crate::wire::{TAKEN_OVER, frame};
use host::Clock;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Events, SyncSender};
use std::thread::{Builder, Scope};
use std::time::Duration;
use units::{Rate, Span, Time};
use workers::{Jobs, WorkerEnds};

/// The time after which a silent sender is gone.
const SILENCE: Span = Span::from_secs(30);
/// The interval at which both users get a report, and the kernel gets the journal.
const TELLING: Span = Span::from_millis(200);
/// The longest time for which complete files wait for their names.
const NAMING: Span = Span::from_secs(5);
/// The longest time for which data waits while the path is measured without it.
const QUIET: Span = Span::from_secs(2);
/// The size of a transfer, in bytes, up to which its data does not wait: at 300 Mbit/s a tenth of a second.
const QUIET_WORTH: u64 = 4_000_000;
/// The size up to which answers are gathered, in bytes.
const GATHER: usize = 32 << 10;

/// An event of a session.
#[derive(Debug)]
pub(super) enum Event {
    /// The sender's messages on its control connection. Their reader waits until the session asks for more.
    Messages(Vec<ToReceiver>),
    /// The end of the control connection.
    SenderLeft(TransferError),
    /// The beginning of a data connection.
    StreamBegan(Arc<Channel>),
    /// The end of a data connection.
    StreamEnded(Arc<Channel>, Result<(), ReceiveError>),
    /// A chunk or a file has arrived, and no requested file is missing.
    ChunkDone,
    /// A file that cannot be received, and the reason.
    FileLost(Id, String),
    /// The answer to an offer for which existing data was read.
    Examined(Id, Result<Verdict, ReceiveError>),
    /// An error with which the session cannot go on.
    Broke(TransferError),
    /// The result of bringing everything to the disk.
    Stored(Result<Faults, TransferError>),
    /// The answer of the receiver's user.
    Answer(bool),
    /// A change of the windows of the data connections, or of their phase.
    WindowChanged(WindowState),
    /// The path was measured without the data, which may flow now.
    PathMeasured,
    /// A new pace for all data connections together.
    Pace(Option<Rate>),
    /// Another sender takes the place of this one.
    Replaced,
    /// No event has come in time.
    Tick,
}

/// The stage of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Entries are offered, and files arrive.
    Open,
    /// All data has arrived, and is brought to the disk.
    Storing,
    /// The sender knows that everything is stored. The session waits for its last message until this time.
    Told(Time),
}

/// Serves a sender until its session is finished, or it leaves before that. Returns true if another sender took its
/// place, and the summary of a finished session.
pub(super) fn serve(
    registry: &Registry<'_>,
    link: &SessionHandle,
    channel: &Channel,
    events: &Events<Event>,
) -> (bool, Result<Option<Summary>, TransferError>) {
    let mut replaced = false;
    let ended = serve_until(registry, link, channel, events, &mut replaced);
    (replaced, ended)
}

fn serve_until(
    registry: &Registry<'_>,
    link: &SessionHandle,
    channel: &Channel,
    events: &Events<Event>,
    replaced: &mut bool,
) -> Result<Option<Summary>, TransferError> {
    let (assembly, observer, last_report) = (&registry.receiver.assembly, registry.observer, &link.events);
    let (mut session, ends) = Session::begin(registry, link, channel)?;
    let WorkerEnds { examine, store, ask, over, asked, windows } = ends;
    let ended = std::thread::scope(|threads| {
        let started = start(threads, move || workers::read(channel, &asked, last_report))
            .and_then(|()| start(threads, move || workers::examine(assembly, &examine, last_report)))
            .and_then(|()| start(threads, move || workers::store(assembly, &store, last_report)))
            .and_then(|()| start(threads, move || workers::ask(observer, &ask, &over, last_report)))
            .and_then(|()| start(threads, move || windows.hold()))
            .map_err(TransferError::system("start a thread"));
        let ended = started.and_then(|()| session.run(events));
        if let Err(error) = &ended {
            session.take_leave(error, events);
        }
        *replaced = session.replaced;
        assembly.stop();
        channel.cut();
        session.end();
        ended
    });
    // Complete files get their names even if an error ended the session.
    let named = assembly.name_waiting();
    assembly.checkpoint()?;
    let ended = ended?;
    named?;
    Ok(ended)
}

fn start<'s>(threads: &'s Scope<'s, '_>, work: impl FnOnce() + Send + 's) -> io::Result<()> {
    Builder::new().spawn_scoped(threads, work).map(drop)
}

/// One sender's session.
pub(super) struct Session<'a> {
    registry: &'a Registry<'a>,
    assembly: &'a Assembly,
    clock: &'a Clock,
    link: &'a SessionHandle,
    channel: &'a Channel,
    jobs: Jobs,
    /// The way to ask the reader of the control connection for more messages.
    more: SyncSender<()>,
    /// Received messages that were not handled yet.
    pending: VecDeque<ToReceiver>,
    /// True while the reader waits to be asked for more.
    wants_more: bool,
    stage: Stage,
    out: Vec<u8>,
    began: Time,
    last_received: Time,
    last_report: Time,
    named: Time,
    consent: Consent,
    resumed: bool,
    /// Offers that wait for an announcement, an answer or room.
    held: VecDeque<(Id, Entry)>,
    /// The memory that the offers in `held` take, in bytes.
    held_weight: usize,
    /// The number of offers received.
    offers: u64,
    /// The number of offers that are being examined.
    examined: u64,
    /// The number of entries that failed at the sender, once it has sent everything.
    complete: Option<u64>,
    /// Entries that cannot be received and were not reported yet.
    lost: Vec<(Id, String)>,
    first_lost: Option<String>,
    skipped: u64,
    /// The present data connections.
    data: Vec<Arc<Channel>>,
    /// The largest number of data connections present or announced.
    streams: u16,
    /// The time that ended data connections waited for bytes, in nanoseconds.
    past_waited: u64,
    /// The bytes that ended data connections received.
    past_received: u64,
    came: PathRate,
    report: Report,
    limits: Option<LimitTimes>,
    window: WindowState,
    /// True while answers that let data flow are held back, because the path is being measured without data.
    quiet: bool,
    history: History,
    last: (Progress, Report),
    /// The number of lines about the sender's actions.
    lines: u64,
    replaced: bool,
    /// The result of the session.
    ended: Option<Result<Option<Summary>, TransferError>>,
}

impl<'a> Session<'a> {
    /// Begins the session of an admitted sender. Also returns the parts that the session's other threads need.
    pub(super) fn begin(
        registry: &'a Registry<'a>,
        link: &'a SessionHandle,
        channel: &'a Channel,
    ) -> Result<(Self, WorkerEnds<'a>), TransferError> {
        let resumed = registry.receiver.assembly.begin()?;
        let word = if resumed { "goes on with the session" } else { "begins" };
        registry.observer.say(&format!("{} {word}", link.peer));
        let (jobs, more, ends) = workers::queues(registry, link, channel)?;
        let quiet = windows::wants_quiet(link, registry.receiver.window);
        let receiver = registry.receiver;
        let now = receiver.clock.now();
        let consent = Consent::new(receiver.accept, link.peer, registry.take_spent());
        let mut session = Self {
            registry,
            assembly: &receiver.assembly,
            clock: &receiver.clock,
            link,
            channel,
            jobs,
            more,
            pending: VecDeque::new(),
            wants_more: false,
            stage: Stage::Open,
            out: Vec::new(),
            began: now,
            last_received: now,
            last_report: now,
            named: now,
            consent,
            resumed,
            held: VecDeque::new(),
            held_weight: 0,
            offers: 0,
            examined: 0,
            complete: None,
            lost: Vec::new(),
            first_lost: None,
            skipped: 0,
            data: Vec::new(),
            streams: link.streams,
            past_waited: 0,
            past_received: 0,
            came: PathRate::default(),
            report: Report::default(),
            limits: None,
            window: WindowState::default(),
            quiet,
            history: History::default(),
            last: Default::default(),
            lines: 0,
            replaced: false,
            ended: None,
        };
        frame::append(&mut session.out, &ToSender::Welcome { token: link.token, resumed });
        session.flush()?;
        Ok((session, ends))
    }

    /// Handles events until the session is finished or its sender has left.
    pub(super) fn run(&mut self, events: &Events<Event>) -> Result<Option<Summary>, TransferError> {
        loop {
            self.proceed()?;
            if let Some(ended) = self.ended() {
                return ended;
            }
            let wait = Duration::from_nanos(self.due().since(self.clock.now()).as_nanos());
            self.handle(events.recv_timeout(wait).unwrap_or(Event::Tick))?;
        }
    }

    /// Takes the result of the session, which it returns once.
    pub(super) fn ended(&mut self) -> Option<Result<Option<Summary>, TransferError>> {
        self.ended.take()
    }

    /// Returns the time at which the session acts even without an event.
    fn due(&self) -> Time {
        match self.stage {
            Stage::Told(until) => until,
            _ if self.is_quiet() => self.began + QUIET,
            _ => self.last_report + TELLING,
        }
    }

    /// Handles an event.
    pub(super) fn handle(&mut self, event: Event) -> Result<(), TransferError> {
        match event {
            Event::Messages(messages) => {
                self.last_received = self.clock.now();
                self.pending.extend(messages);
                self.wants_more = true;
            }
            Event::SenderLeft(error) => return Err(self.left(error)),
            Event::StreamBegan(channel) => {
                self.jobs.notify_windows(Note::Began(Arc::clone(&channel)));
                self.data.push(channel);
                self.streams = self.streams.max(self.data.len() as u16);
                self.jobs.notify_windows(Note::Streams(self.streams));
            }
            Event::StreamEnded(channel, ended) => {
                self.past_waited += channel.waited_to_receive().as_nanos();
                self.past_received += messages::came(&channel);
                self.data.retain(|other| !Arc::ptr_eq(other, &channel));
                self.jobs.notify_windows(Note::Ended(channel));
                if self.stage == Stage::Open {
                    ended.map_err(|trouble| self.fault(trouble))?;
                }
            }
            Event::ChunkDone => {}
            // No message waits, and the reader of the control connection was asked for more, so the sender is silent.
            Event::Tick
                if !self.wants_more
                    && !matches!(self.stage, Stage::Told(_))
                    && self.clock.now().since(self.last_received) > SILENCE =>
            {
                return Err(TransferError::gone(format!("it sent nothing for {SILENCE}")));
            }
            Event::Tick => {}
            Event::FileLost(id, reason) => self.lost.push((id, reason)),
            Event::Examined(id, verdict) => {
                self.examined -= 1;
                match verdict {
                    Ok(verdict) => self.answer(id, verdict, true),
                    Err(ReceiveError::File(reason)) => self.answer(id, Verdict::Refused(reason), true),
                    Err(trouble) => return Err(self.fault(trouble)),
                }
            }
            Event::Broke(error) => return Err(error),
            Event::Stored(faults) => self.stored(faults?)?,
            Event::Answer(yes) => {
                let step = self.consent.answered(yes);
                self.step(step)?;
            }
            Event::WindowChanged(state) => self.window.change_to(state, self.clock.now().since(self.began)),
            Event::PathMeasured => self.quiet = false,
            Event::Pace(rate) => self.pace(rate)?,
            Event::Replaced => {
                self.replaced = true;
                return Err(TransferError::gone(TAKEN_OVER));
            }
        }
        Ok(())
    }

    /// Performs the actions that are possible now.
    pub(super) fn proceed(&mut self) -> Result<(), TransferError> {
        let now = self.clock.now();
        if let Stage::Told(until) = self.stage {
            self.read_the_last_message()?;
            if now >= until && self.ended.is_none() {
                return Err(TransferError::gone("it left before the last message"));
            }
            return Ok(());
        }
        self.handle_all()?;
        let quiet = self.is_quiet();
        if !quiet {
            self.flush()?;
        }
        if now.since(self.last_report) >= TELLING && !quiet {
            if self.stage == Stage::Storing {
                self.link.standing.touch();
            }
            self.send_progress()?;
        }
        if now.since(self.named) >= NAMING {
            self.named = now;
            self.jobs.name();
        }
        if let Some(failed) = self.complete
            && self.stage == Stage::Open
            && self.held.is_empty()
            && self.examined == 0
            && self.assembly.is_settled()
        {
            self.store(failed)?;
        }
        Ok(())
    }

    /// Turns the trouble of a connection or worker into the session's error.
    fn fault(&self, trouble: ReceiveError) -> TransferError {
        match trouble {
            ReceiveError::Session(error) => error,
            ReceiveError::Protocol(reason) => self.protocol(reason),
            ReceiveError::File(reason) => unreachable!("it ends a file only: {reason}"),
        }
    }

    /// Makes the error for a violation of the protocol by the sender.
    fn protocol(&self, reason: impl Into<String>) -> TransferError {
        TransferError::Protocol { peer: self.link.peer, reason: reason.into() }
    }

    /// Asks the sender to pace, each connection at its part.
    fn pace(&mut self, rate: Option<Rate>) -> Result<(), TransferError> {
        let bps = rate.map(|rate| (rate.as_bps() / u64::from(self.streams)).max(1));
        for stream in 0..self.streams {
            frame::append(&mut self.out, &ToSender::Pace { stream, bps });
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.channel.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}
