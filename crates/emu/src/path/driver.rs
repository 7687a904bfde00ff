//! The emulator's thread: it reads both devices, lets virtual time follow the real clock, delivers what is due, and
//! sleeps in between.
//!
//! Time inside is the path's own ([`super::time`]) and never goes backwards. Events at set times (cross traffic,
//! samples, the start of measurement) happen in [`Driver::advance`], in order. They come before events from outside,
//! such as packets, that are later.

use super::hosts::HostReport;
use super::lane::{EASE_MAX, Lane, Store};
use super::line::Direction;
use super::report::{Lateness, LinkSample, PathReport, PathSample};
use super::stops;
use super::time::PathTime;
use crate::EmuError;
use crate::tun::Tun;
use host::{Clock, PollFd, PollFlags, WaitResult, clock};
use link::traffic::{Source, TrafficConfig};
use nix::sys::eventfd::EventFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::time::Instant;
use units::{Span, Time};

/// The packets read from one device before the thread checks for deliveries again.
const READS_AT_ONCE: u32 = 8;

/// The longest time between two updates of virtual time while cross traffic runs.
const CATCH_UP: Span = Span::from_millis(10);

/// The least time between two samples for a watcher, so that samples never take the thread's time.
const LEAST_WATCH: Span = Span::from_millis(1);

/// A command to the thread.
pub(super) enum Command {
    /// Makes now time zero, and measures from `warmup` to `end`, or until the path is stopped. The thread sends the
    /// instant of time zero to `origin`.
    Begin { warmup: Span, end: Option<Span>, origin: SyncSender<Instant> },
    /// Sends a sample to `watcher` every `every` from now on.
    Watch { every: Span, watcher: SyncSender<PathSample> },
    /// Ends the path and returns the report.
    Stop,
}

/// The sender's device, then the receiver's.
pub(super) type Devices = [Tun; 2];
const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// The thread's state.
pub(super) struct Driver {
    pub(super) devices: Devices,
    pub(super) commands: Receiver<Command>,
    pub(super) bell: Arc<EventFd>,
    pub(super) clock: Clock,
    pub(super) path_time: PathTime,
    pub(super) forward: Box<Lane>,
    pub(super) reverse: Direction,
    pub(super) store: Store,
    pub(super) traffic: Vec<(String, TrafficConfig)>,
    pub(super) seed: u64,
    pub(super) schedule: Schedule,
    /// The path's time zero, counted from 1970.
    pub(super) epoch: Time,
    pub(super) wakes: WakeUpDelay,
}

/// The delay of waking up, on an idle virtual machine 0.1 ms and more. The thread measures it with timers, whose time
/// is known. It sets timers for deliveries earlier by this delay. It assumes that a packet that woke it arrived this
/// much earlier.
#[derive(Debug, Default)]
pub(super) struct WakeUpDelay {
    /// The recent mean lateness of timers.
    ease: Span,
    /// The time to subtract from the clock for packets that are being read.
    skew: Span,
    /// The latest time used. Later times must not be earlier than this.
    latest: Time,
}

/// Events at set times.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The run's time zero.
    origin: Time,
    measure_at: Option<Time>,
    end_at: Option<Time>,
    /// The measurements, once the measured interval is over.
    ended: Option<Box<PathReport>>,
    /// The start of measurement on the machine's clock.
    measured_from: Time,
    sample_every: Option<Span>,
    next_sample: Option<Time>,
    watch: Option<Watch>,
    /// The samples of the direction from sender to receiver, and of the direction back if it has a link.
    samples: [Vec<LinkSample>; 2],
    /// The drops and arrivals of both directions before time zero, in the order of `samples`.
    before: [(u64, u64); 2],
}

/// A reader of samples while the path runs.
#[derive(Debug)]
struct Watch {
    every: Span,
    next: Time,
    watcher: SyncSender<PathSample>,
}

impl Driver {
    /// Runs until the path is stopped.
    pub(super) fn run(mut self) -> Result<PathReport, EmuError> {
        let mut notes = Vec::new();
        if !host::run_ahead() {
            notes.push(
                "the emulator runs at ordinary priority (SCHED_FIFO not permitted): deliveries may be late by \
                 milliseconds on a busy machine; run as root, or raise the limit: ulimit -r 10"
                    .into(),
            );
        }
        // Stops during an earlier path are not this one's.
        self.path_time.note_stops(stops::ended());
        let started = self.time();
        loop {
            match self.commands.try_recv() {
                Ok(Command::Begin { warmup, end, origin }) => {
                    let at = self.begin(warmup, end);
                    // Sending fails if the requester has given up. The path continues nevertheless.
                    let _ = origin.send(at);
                }
                Ok(Command::Watch { every, watcher }) => {
                    let every = every.max(LEAST_WATCH);
                    let next = self.time() + every;
                    self.schedule.watch = Some(Watch { every, next, watcher });
                }
                // A path that is dropped without being stopped closes the channel.
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {}
            }
            let now = self.time();
            self.advance(now);
            self.deliver(now)?;
            let read = self.read(SENDER)? + self.read(RECEIVER)?;
            self.wakes.skew = Span::ZERO;
            if read == 0 {
                self.sleep()?;
            }
        }
        let end = self.time();
        self.advance(end);
        Ok(self.report(started, end, notes))
    }

    /// Returns the path's time now, for the next event. It never goes back.
    fn time(&mut self) -> Time {
        let now = self.path_time.at_work(self.clock.now()) - self.wakes.skew;
        self.wakes.latest = self.wakes.latest.max(now);
        self.wakes.latest
    }

    fn begin(&mut self, warmup: Span, end: Option<Span>) -> Instant {
        let now = self.time();
        self.advance(now);
        let sources = self.traffic.iter().map(|(name, config)| {
            let mut config = config.clone();
            config.start = now + config.start.since(Time::ZERO);
            config.stop = now + config.stop.since(Time::ZERO);
            Source::named(config, self.seed, name)
        });
        self.forward.set_sources(sources.collect());
        self.forward.begin_changes(now);
        if let Some(lane) = self.reverse.lane() {
            lane.begin_changes(now);
        }
        let schedule = &mut self.schedule;
        schedule.origin = now;
        schedule.measure_at = Some(now + warmup);
        schedule.end_at = end.map(|end| now + end);
        schedule.ended = None;
        schedule.next_sample = schedule.sample_every.map(|every| now + every);
        if let Some(watch) = &mut schedule.watch {
            watch.next = now + watch.every;
        }
        schedule.samples = Default::default();
        let pool = &mut self.store.pool;
        let back = self.reverse.lane().map(|lane| lane.state(now, pool));
        schedule.before = [Some(self.forward.state(now, pool)), back]
            .map(|state| state.map_or((0, 0), |state| (state.drops, state.arrivals)));
        self.clock.instant(self.path_time.begin(now))
    }

    /// Processes all events up to `now` that need no packet from outside.
    fn advance(&mut self, now: Time) {
        while let Some(at) = self.schedule.next().filter(|at| *at <= now) {
            self.forward.advance(at, &mut self.store.pool);
            let schedule = &mut self.schedule;
            if schedule.measure_at == Some(at) {
                schedule.measure_at = None;
                schedule.measured_from = self.path_time.seen();
                self.forward.begin_measuring(at);
                if let Some(lane) = self.reverse.lane() {
                    lane.begin_measuring(at);
                }
                self.store.lateness.clear();
                self.path_time.begin_measuring();
            }
            if schedule.next_sample == Some(at) {
                let sample = self.sample(at);
                let schedule = &mut self.schedule;
                schedule.samples[0].push(sample.to_far);
                schedule.samples[1].extend(sample.from_far);
                schedule.next_sample = schedule.sample_every.map(|every| at + every);
            }
            if self.schedule.watch.as_ref().is_some_and(|watch| watch.next == at) {
                self.show(at);
            }
            let schedule = &mut self.schedule;
            if schedule.end_at == Some(at) {
                (schedule.end_at, schedule.next_sample) = (None, None);
                self.schedule.ended = Some(Box::new(self.measured(at)));
            }
        }
        self.forward.advance(now, &mut self.store.pool);
    }

    fn sample(&mut self, at: Time) -> PathSample {
        let Self { forward, reverse, schedule, store, .. } = self;
        let mut of = |lane: &mut Lane, direction: usize| {
            let (state, (drops, arrivals)) = (lane.state(at, &mut store.pool), schedule.before[direction]);
            LinkSample {
                at: Time::ZERO + at.since(schedule.origin),
                backlog: state.backlog,
                drops_total: state.drops - drops,
                arrivals_total: state.arrivals - arrivals,
                busy: state.busy,
                changing: state.changing,
            }
        };
        PathSample { to_far: of(forward, 0), from_far: reverse.lane().map(|lane| of(lane, 1)) }
    }

    /// Sends a sample to the watcher, which never waits in this thread: the channel has no lock, and a reader that is
    /// late misses the sample.
    fn show(&mut self, at: Time) {
        let sample = self.sample(at);
        let watch = self.schedule.watch.take();
        self.schedule.watch = watch.and_then(|watch| match watch.watcher.try_send(sample) {
            Ok(()) | Err(TrySendError::Full(_)) => Some(Watch { next: at + watch.every, ..watch }),
            Err(TrySendError::Disconnected(_)) => None,
        });
    }

    fn deliver(&mut self, now: Time) -> Result<(), EmuError> {
        let by = now + self.wakes.ease;
        if let Some(tap) = &mut self.store.tap {
            tap.delivers(now, true);
        }
        self.forward
            .deliver(now, by, &mut self.store, &self.devices[RECEIVER])
            .map_err(|error| gone("receiver", &error))?;
        if let Some(tap) = &mut self.store.tap {
            tap.delivers(now, false);
        }
        self.reverse
            .deliver(now, by, &mut self.store, &self.devices[SENDER])
            .map_err(|error| gone("sender", &error))
    }

    /// Reads some packets from a device, and returns their number.
    fn read(&mut self, device: usize) -> Result<u32, EmuError> {
        for count in 0..READS_AT_ONCE {
            let name = if device == SENDER { "sender" } else { "receiver" };
            let Some(frame) = self.store.read(&self.devices[device]).map_err(|error| gone(name, &error))?
            else {
                return Ok(count);
            };
            let now = self.time();
            self.advance(now);
            self.store.copy_read(now, device == RECEIVER, &frame);
            if device == SENDER {
                self.forward.arrive(now, &frame, &mut self.store);
            } else {
                self.reverse.arrive(now, &frame, &mut self.store);
            }
        }
        Ok(READS_AT_ONCE)
    }

    /// Sleeps until a device has a packet, a command arrives or something is due.
    fn sleep(&mut self) -> Result<(), EmuError> {
        let mut deadline =
            [self.forward.due(), self.reverse.due(), self.schedule.next()].into_iter().flatten().min();
        let real = self.clock.now();
        let now = self.path_time.at_work(real);
        if self.forward.has_sources() {
            let soon = now + CATCH_UP;
            deadline = Some(deadline.map_or(soon, |at| at.min(soon)));
        }
        let wait = deadline.map(|at| self.path_time.real(at.since(now)));
        let mut waited = [
            PollFd::new(&self.devices[SENDER], PollFlags::IN),
            PollFd::new(&self.devices[RECEIVER], PollFlags::IN),
            PollFd::new(&*self.bell, PollFlags::IN),
        ];
        let woken = host::wait(&mut waited, wait);
        let until = wait.map(|wait| real + wait);
        let awake = self.clock.now();
        self.path_time.woken(awake, until);
        self.path_time.note_stops(stops::ended());
        match woken {
            Ok(WaitResult::TimedOut) => {
                let late = until.map_or(Span::ZERO, |until| awake.since(until));
                // The mean over about the last sixteen timers. A rare long stall contributes at most `EASE_MAX`.
                let late = late.min(EASE_MAX);
                self.wakes.ease = (self.wakes.ease * 15 + late) / 16;
            }
            Ok(WaitResult::Ready) => self.wakes.skew = self.wakes.ease,
            Ok(WaitResult::Interrupted) => {}
            Err(error) => return Err(EmuError::os("waiting for packets (ppoll)", error)),
        }
        if !waited[2].revents().is_empty() {
            // Reading empties the eventfd. The command itself is in the channel.
            let _ = self.bell.read();
        }
        Ok(())
    }

    fn report(mut self, started: Time, end: Time, notes: Vec<String>) -> PathReport {
        let measured = self.schedule.ended.take().map_or_else(|| self.measured(end), |ended| *ended);
        let began = self.epoch + self.schedule.origin.since(Time::ZERO);
        let [samples, back_samples] = self.schedule.samples;
        let mut notes = notes;
        if measured.stopped > Span::ZERO {
            notes.push(format!(
                "this process was stopped for {}, as by Ctrl-Z; the path stood still meanwhile, and that time does not \
                 count",
                measured.stopped.rounded()
            ));
        }
        PathReport {
            began,
            samples,
            back_samples,
            refused: self.store.refused,
            cpu: clock::thread_cpu(),
            lived: end.since(started),
            notes,
            ..measured
        }
    }

    /// Returns the measurements up to `end`, which is now.
    fn measured(&mut self, end: Time) -> PathReport {
        self.path_time.note_stops(stops::ended());
        let (reverse, reverse_packets) = match &mut self.reverse {
            Direction::Limited(lane) => {
                let report = lane.report(end, &mut self.store.pool);
                let packets = report.conservation.arrived;
                (Some(report), packets)
            }
            Direction::Free(line) => (None, line.packets),
        };
        PathReport {
            began: Time::ZERO,
            link: self.forward.report(end, &mut self.store.pool),
            reverse,
            samples: Vec::new(),
            back_samples: Vec::new(),
            flows: self.forward.flows.seen(),
            losses: self.forward.flows.losses(),
            lateness: Lateness::of(&self.store.lateness),
            elapsed: self
                .path_time
                .seen()
                .since(self.schedule.measured_from)
                .saturating_sub(self.path_time.stopped()),
            stalls: self.path_time.stalls(),
            stopped: self.path_time.stopped(),
            hosts: HostReport::BOTH,
            lost_before_link: 0,
            refused: 0,
            reverse_packets,
            cpu: Span::ZERO,
            lived: Span::ZERO,
            notes: Vec::new(),
        }
    }
}

impl Schedule {
    pub(super) fn new(sample_every: Option<Span>) -> Self {
        Self { sample_every, ..Self::default() }
    }

    fn next(&self) -> Option<Time> {
        let watched = self.watch.as_ref().map(|watch| watch.next);
        [self.measure_at, self.end_at, self.next_sample, watched].into_iter().flatten().min()
    }
}

fn gone(end: &str, error: &std::io::Error) -> EmuError {
    EmuError::Ended(format!("the {end}'s device {} is gone or down ({error})", crate::tun::DEVICE))
}
