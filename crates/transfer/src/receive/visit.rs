//! One sender's control connection, from its greeting to its end.

use super::gate::{House, Standing, locked};
use super::keeper::{Echo, WindowState};
use super::landing::{Counts, Trouble};
use crate::channel::{Channel, Inlet, Message};
use crate::error::TransferError;
use crate::history::History;
use crate::keys::fill_random;
use crate::measure::ReceiverTimes;
use crate::progress::Snapshot;
use crate::summary::{Side, Summary, sample};
use crate::wire::control::{Finished, Id, Kind, Progress, Report, ToReceiver, ToSender, Verdict};
use crate::wire::{TAKEN_OVER, frame};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use units::{Bytes, Span, Time};

/// A sender says something at least this often, or it is gone.
const SILENCE: Span = Span::from_secs(30);
/// Between looks at what is to be said.
const TICK: Span = Span::from_millis(50);
/// The data waits no longer than this for the path to be measured without it.
const QUIET: Span = Span::from_secs(2);
/// And not at all if there is no more than this of it: at 300 Mbit/s a tenth of a second.
const QUIET_WORTH: u64 = 4_000_000;
/// While the path is measured, or all is brought to the disk, it is looked whether that is over.
const QUIET_TICK: Span = Span::from_millis(5);
/// Answers are gathered up to so much.
const GATHER: usize = 32 << 10;
/// Data that a dead sender had sent may still arrive.
const LINGER: Span = Span::from_secs(2);
/// More data connections than this are of no use to anybody.
const MOST_STREAMS: u16 = 64;
/// Between looks at whether threads have left.
const BREATH: Duration = Duration::from_millis(5);
/// What the connections of one sender share.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) peer: SocketAddr,
    token: [u8; 16],
    streams: u16,
    closed: AtomicBool,
    /// Why the session cannot go on.
    fatal: Mutex<Option<TransferError>>,
    /// Entries that cannot be had, to be told.
    lost: Mutex<Vec<(Id, String)>>,
    data: Mutex<Vec<Arc<Channel>>>,
    /// What the sender said of its connections last.
    pub(super) report: Mutex<Report>,
    /// Over all data connections.
    pub(super) window: Mutex<WindowState>,
    /// The path is being measured without the data: answers that would let it flow wait.
    quiet: AtomicBool,
    /// Where probes are echoed.
    pub(super) echo: Option<Echo>,
    /// Nanoseconds that data connections which have ended waited for the network.
    waited: AtomicU64,
    /// Whether it keeps its place when another sender comes.
    pub(super) standing: Standing,
}

impl Visit {
    pub(super) fn new(peer: SocketAddr, streams: u16, echo: Option<Echo>, standing: Standing) -> Self {
        let mut token = [0; 16];
        fill_random(&mut token);
        Self {
            peer,
            token,
            streams: streams.clamp(1, MOST_STREAMS),
            closed: AtomicBool::new(false),
            fatal: Mutex::default(),
            lost: Mutex::default(),
            data: Mutex::default(),
            report: Mutex::default(),
            window: Mutex::default(),
            quiet: AtomicBool::new(false),
            echo,
            waited: AtomicU64::new(0),
            standing,
        }
    }

    /// From now on answers wait, for [`QUIET`] at most.
    pub(super) fn begin_quiet(&self) {
        self.quiet.store(true, Ordering::Release);
    }

    /// The data may flow.
    pub(super) fn end_quiet(&self) {
        self.quiet.store(false, Ordering::Release);
    }

    /// The data connections, so far as they have come.
    pub(super) fn channels(&self) -> Vec<Arc<Channel>> {
        locked(&self.data).clone()
    }

    pub(super) const fn streams(&self) -> u16 {
        self.streams
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Nanoseconds that all data connections waited for the network.
    fn waited(&self) -> u64 {
        let open: u64 = locked(&self.data).iter().map(|channel| channel.waited_to_receive().as_nanos()).sum();
        open + self.waited.load(Ordering::Relaxed)
    }

    pub(super) fn is(&self, token: &[u8; 16]) -> bool {
        blake3::hash(&self.token) == blake3::hash(token) && !self.closed.load(Ordering::Acquire)
    }

    /// One more data connection; false if there are enough.
    pub(super) fn join(&self, channel: &Arc<Channel>) -> bool {
        let mut data = locked(&self.data);
        let room = data.len() < usize::from(self.streams) && !self.closed.load(Ordering::Acquire);
        if room {
            data.push(Arc::clone(channel));
        }
        room
    }

    /// A data connection has ended.
    pub(super) fn leave(&self, channel: &Arc<Channel>) {
        self.waited.fetch_add(channel.waited_to_receive().as_nanos(), Ordering::Relaxed);
        locked(&self.data).retain(|other| !Arc::ptr_eq(other, channel));
    }

    /// Ends all data connections, and waits until their threads have left.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        for channel in locked(&self.data).iter() {
            channel.cut();
        }
        while !locked(&self.data).is_empty() {
            std::thread::park_timeout(BREATH);
        }
    }

    /// What a data connection ran into.
    pub(super) fn trouble(&self, trouble: Trouble, id: Id) {
        match trouble {
            Trouble::File(reason) => locked(&self.lost).push((id, reason)),
            Trouble::Session(error) => {
                locked(&self.fatal).get_or_insert(error);
            }
            Trouble::Protocol(reason) => {
                let error = TransferError::Protocol { peer: self.peer, reason };
                locked(&self.fatal).get_or_insert(error);
            }
        }
    }
}

/// Says that it cannot be now, and gives the sender until then to read it.
pub(super) fn turn_away(channel: &Channel, reason: String, until: Time) {
    let mut out = Vec::new();
    frame::append(&mut out, &ToSender::Busy(reason));
    let _ = channel.write(&out);
    channel.finish();
    channel.drain(until);
}

/// The visit as its control connection sees it.
struct Control<'a> {
    house: &'a House<'a>,
    visit: &'a Visit,
    channel: &'a Channel,
    out: Vec<u8>,
    began: Time,
    heard: Time,
    told: Time,
    told_bytes: u64,
    totals: Option<(u64, u64)>,
    /// Offers made and entries that failed at the sender, once it has said all.
    complete: Option<u64>,
    rate_bps: f64,
    history: History,
    last: (Progress, Report),
    skipped: u64,
    first_lost: Option<String>,
}

/// Serves a sender until its session is finished (what was received), or it leaves before that.
pub(super) fn serve(
    house: &House<'_>,
    visit: &Visit,
    channel: &Channel,
) -> Result<Option<Summary>, TransferError> {
    let now = house.receiver.clock.now();
    let resumed = house.receiver.landing.begin();
    let word = if resumed { "goes on with the session" } else { "begins" };
    house.observer.say(&format!("{} {word}", visit.peer));
    let mut control = Control {
        house,
        visit,
        channel,
        out: Vec::new(),
        began: now,
        heard: now,
        told: now,
        told_bytes: 0,
        totals: None,
        complete: None,
        rate_bps: 0.0,
        history: History::default(),
        last: Default::default(),
        skipped: 0,
        first_lost: None,
    };
    frame::append(&mut control.out, &ToSender::Welcome { token: visit.token, resumed });
    let ended = control.flush().and_then(|()| control.run());
    if let Err(error) = &ended {
        match error {
            TransferError::PeerGone { .. } if !visit.standing.is_replaced() => control.linger(),
            other => {
                let replaced = visit.standing.is_replaced();
                let reason = if replaced { TAKEN_OVER.to_owned() } else { other.to_string() };
                frame::append(&mut control.out, &ToSender::Abort { reason });
                let _ = channel.write(&control.out);
                channel.finish();
                // Closed with something unread, the connection would be reset, and the reason lost.
                channel.drain(house.receiver.clock.now() + LINGER);
            }
        }
    }
    house.receiver.landing.checkpoint()?;
    ended
}

impl Control<'_> {
    fn run(&mut self) -> Result<Option<Summary>, TransferError> {
        let (landing, clock) = (&self.house.receiver.landing, &self.house.receiver.clock);
        let mut inlet = Inlet::new(self.channel);
        loop {
            if let Some(error) = locked(&self.visit.fatal).take() {
                return Err(error);
            }
            if self.visit.standing.is_replaced() {
                return Err(TransferError::gone(TAKEN_OVER));
            }
            if let Some(failed) = self.complete
                && landing.is_settled()
            {
                return self.finish(&mut inlet, failed);
            }
            let quiet = self.is_quiet();
            if !quiet && (inlet.held().is_empty() || self.out.len() >= GATHER) {
                self.flush()?;
            }
            let tick = if quiet { QUIET_TICK } else { TICK };
            match inlet.message::<ToReceiver>(clock.now() + tick)? {
                Message::Is(message) => {
                    self.heard = clock.now();
                    self.hear(message, &inlet)?;
                }
                Message::Nothing if clock.now().since(self.heard) > SILENCE => {
                    return Err(TransferError::gone(format!("it said nothing for {SILENCE}")));
                }
                Message::Nothing => {}
                Message::End => return Err(TransferError::gone("it left before the end")),
            }
            if !quiet && clock.now().since(self.told) >= TICK * 4 {
                self.tell()?;
            }
        }
    }

    fn hear(&mut self, message: ToReceiver, inlet: &Inlet<'_>) -> Result<(), TransferError> {
        match message {
            ToReceiver::Offer { id, entry } => {
                let is_file = matches!(entry.kind, Kind::File { .. });
                let verdict = match self.house.receiver.landing.offer(id, entry) {
                    Ok(verdict) => verdict,
                    Err(Trouble::Session(error)) => return Err(error),
                    Err(Trouble::Protocol(reason)) => return Err(inlet.protocol(reason)),
                    Err(Trouble::File(reason)) => Verdict::Refused(reason),
                };
                match &verdict {
                    Verdict::Refused(reason) => self.lost(reason.clone()),
                    Verdict::Have if is_file => self.skipped += 1,
                    Verdict::Want | Verdict::Rest(_) => self.house.goes_on(),
                    _ => {}
                }
                frame::append(&mut self.out, &ToSender::Answer { id, verdict });
            }
            ToReceiver::Totals { entries, bytes } => self.totals = Some((entries, bytes)),
            ToReceiver::Counted(counted) => {
                if counted.complete {
                    self.totals = Some((counted.entries, counted.bytes));
                }
            }
            ToReceiver::Report(report) => *locked(&self.visit.report) = report,
            ToReceiver::Complete { failed, .. } => self.complete = Some(failed),
            ToReceiver::Bye => {}
            ToReceiver::Abort { reason } => return Err(TransferError::Aborted(reason)),
        }
        Ok(())
    }

    /// Whether what lets the data flow must still wait. What is over sooner than the measurement does not.
    fn is_quiet(&self) -> bool {
        self.visit.quiet.load(Ordering::Acquire)
            && self.totals.is_none_or(|(_, bytes)| bytes > QUIET_WORTH)
            && self.house.receiver.clock.now().since(self.began) < QUIET
    }

    fn lost(&mut self, reason: String) {
        self.house.observer.say(&reason);
        self.first_lost.get_or_insert(reason);
    }

    /// A few times a second: the journal, what was lost, how far it is.
    fn tell(&mut self) -> Result<(), TransferError> {
        let (landing, now) = (&self.house.receiver.landing, self.house.receiver.clock.now());
        landing.checkpoint()?;
        for (id, reason) in std::mem::take(&mut *locked(&self.visit.lost)) {
            frame::append(&mut self.out, &ToSender::Failed { id, reason: reason.clone() });
            self.lost(reason);
        }
        let counts = landing.counts();
        let passed = now.since(self.told).as_secs_f64().max(1e-3);
        let shown = counts.bytes + counts.arriving;
        self.visit.standing.counted(counts.entries, shown);
        let last = shown.saturating_sub(self.told_bytes) as f64 * 8.0 / passed;
        // Half of it within two looks: steady enough to read.
        self.rate_bps = (self.rate_bps + last) / 2.0;
        (self.told, self.told_bytes) = (now, shown);
        let progress = self.progress(counts);
        let report = locked(&self.visit.report).clone();
        let elapsed = now.since(self.began);
        let rtt = report.streams.first().map(|stream| Span::from_nanos(stream.rtt));
        self.history.add(now, sample(elapsed, &progress, &report));
        self.history.entered(&progress.entered);
        self.house.observer.progress(&Snapshot {
            elapsed,
            entries: counts.entries,
            bytes: shown,
            all_entries: self.totals.map(|totals| totals.0),
            all_bytes: self.totals.map(|totals| totals.1),
            rate_bps: self.rate_bps,
            rtt: rtt.filter(|&rtt| rtt > Span::ZERO),
            window: progress.window.map(Bytes::new),
            phase: progress.phase.clone(),
            reason: progress.reason.clone(),
        });
        self.last = (progress.clone(), report);
        frame::append(&mut self.out, &ToSender::Progress(progress));
        self.flush()
    }

    fn progress(&self, counts: Counts) -> Progress {
        let (state, entered) = {
            let mut state = locked(&self.visit.window);
            let entered = std::mem::take(&mut state.entered);
            (state.clone(), entered)
        };
        let window = state.window.map(Bytes::get);
        let times = ReceiverTimes { network: self.visit.waited(), disk: counts.disk.as_nanos() };
        Progress {
            entries: counts.entries,
            bytes: counts.bytes + counts.arriving,
            window,
            phase: state.phase,
            reason: state.reason,
            entered,
            sized: window.is_some(),
            times,
        }
    }

    fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.channel.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    /// All is there. The session is over when the sender knows, or had time to ask again.
    fn finish(&mut self, inlet: &mut Inlet<'_>, failed: u64) -> Result<Option<Summary>, TransferError> {
        let (landing, clock) = (&self.house.receiver.landing, &self.house.receiver.clock);
        self.tell()?;
        let streams = self.visit.streams;
        let faults = std::thread::scope(|threads| {
            let finishing = threads.spawn(move || landing.finish(streams));
            // A slow disk may take minutes, and a sender that hears nothing leaves.
            while !finishing.is_finished() {
                match inlet.message(clock.now() + QUIET_TICK)? {
                    Message::Is(message) => self.hear(message, inlet)?,
                    Message::Nothing => {}
                    Message::End => return Err(TransferError::gone("it left before the last word")),
                }
                if clock.now().since(self.told) >= TICK * 4 {
                    self.tell()?;
                }
            }
            finishing.join().expect("it does not panic")
        })?;
        for fault in faults {
            self.lost(fault);
        }
        self.tell()?;
        let ended = clock.now();
        let counts = landing.counts();
        let finished = Finished {
            entries: counts.entries,
            bytes: counts.bytes,
            failed: counts.failed.saturating_add(failed),
        };
        frame::append(&mut self.out, &ToSender::Finished(finished));
        self.flush()?;
        let result = self.result(finished, ended, counts);
        let until = self.house.complete(self.visit, result);
        while !self.visit.standing.is_replaced() && clock.now() < until {
            match inlet.message::<ToReceiver>(until.min(clock.now() + TICK))? {
                Message::Is(ToReceiver::Bye) => return self.house.confirmed(),
                Message::Is(_) | Message::Nothing => {}
                Message::End => break,
            }
        }
        Err(TransferError::gone("it left before the last word"))
    }

    fn result(&mut self, finished: Finished, ended: Time, counts: Counts) -> Result<Summary, TransferError> {
        if finished.failed > 0 {
            return Err(TransferError::Incomplete {
                failed: finished.failed,
                all: counts.entries.saturating_add(finished.failed),
                first: self.first_lost.take().unwrap_or_else(|| "the sender could not read it".into()),
            });
        }
        let (progress, report) = &self.last;
        Ok(Summary {
            side: Side::Received,
            entries: counts.entries,
            bytes: counts.bytes,
            skipped: self.skipped,
            streams: self.visit.streams,
            ..Summary::new(
                ended.since(self.began),
                counts.came,
                progress,
                report,
                std::mem::take(&mut self.history),
            )
        })
    }

    /// What a dead sender's kernel had sent is taken in before the next one begins.
    fn linger(&self) {
        let clock = &self.house.receiver.clock;
        let until = clock.now() + LINGER;
        while clock.now() < until && !locked(&self.visit.data).is_empty() {
            std::thread::park_timeout(BREATH);
        }
    }
}
