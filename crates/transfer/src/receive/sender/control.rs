//! A sender session's control connection: offers and their answers, how far it is, the end.

mod ending;

use super::SenderSession;
use crate::channel::{Channel, Inlet, Message};
use crate::error::TransferError;
use crate::history::History;
use crate::limits::ReceiverTimes;
use crate::lock::locked;
use crate::progress::{PathRate, Snapshot};
use crate::receive::assembly::{Counts, MOST_HELD, Offered, Trouble, weight};
use crate::receive::consent::{Admission, Consent, Spent, Step, patience_is_over};
use crate::receive::shared::Shared;
use crate::summary::{Summary, sample};
use crate::wire::control::{Counted, Entry, Id, Kind, Progress, Report, ToReceiver, ToSender, Verdict};
use crate::wire::{TAKEN_OVER, frame};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use units::{Bytes, Span, Time};

/// A sender says something at least this often, or it is gone.
const SILENCE: Span = Span::from_secs(30);
/// Between checks for something to tell the sender.
const STATE_CHECK: Span = Span::from_millis(50);
/// The data waits no longer than this for the path to be measured without it.
const QUIET: Span = Span::from_secs(2);
/// And not at all if there is no more than this of it: at 300 Mbit/s a tenth of a second.
const QUIET_WORTH: u64 = 4_000_000;
/// Between checks whether the path has been measured, or all is on the disk.
const QUIET_CHECK: Span = Span::from_millis(5);
/// Answers are gathered up to this many bytes.
const GATHER: usize = 32 << 10;
/// Lines about one sender.
const MOST_LINES: u64 = 1000;
/// What the sender's user is told while the receiver's is asked.
const ASKING: &str = "asking";

/// The sender session as its control connection sees it.
pub(super) struct Control<'a> {
    shared: &'a Shared<'a>,
    sender: &'a SenderSession,
    channel: &'a Channel,
    pub(super) out: Vec<u8>,
    began: Time,
    heard: Time,
    told: Time,
    consent: Consent,
    resumed: bool,
    /// Offers that wait for an announcement or an answer, and the memory that they take.
    held: VecDeque<(Id, Entry)>,
    held_weight: usize,
    /// Offers that have come.
    offers: u64,
    /// Entries that failed at the sender, once it has said all.
    complete: Option<u64>,
    /// Bytes that have come on the data connections.
    came: PathRate,
    history: History,
    last: (Progress, Report),
    skipped: u64,
    first_lost: Option<String>,
    /// Lines about what the sender does.
    lines: u64,
}

impl<'a> Control<'a> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        sender: &'a SenderSession,
        channel: &'a Channel,
        consent: Consent,
        resumed: bool,
        now: Time,
    ) -> Self {
        Self {
            shared,
            sender,
            channel,
            out: Vec::new(),
            began: now,
            heard: now,
            told: now,
            consent,
            resumed,
            held: VecDeque::new(),
            held_weight: 0,
            offers: 0,
            complete: None,
            came: PathRate::default(),
            history: History::default(),
            last: Default::default(),
            skipped: 0,
            first_lost: None,
            lines: 0,
        }
    }

    pub(super) fn run(&mut self) -> Result<Option<Summary>, TransferError> {
        let (assembly, clock) = (&self.shared.receiver.assembly, &self.shared.receiver.clock);
        let mut inlet = Inlet::new(self.channel);
        loop {
            #[cfg(fuzzing)]
            super::workers::turn(self.shared, self.sender, self.channel);
            if let Some(error) = locked(&self.sender.fatal).take() {
                return Err(error);
            }
            if self.sender.standing.is_replaced() {
                return Err(TransferError::gone(TAKEN_OVER));
            }
            self.catch_up()?;
            if let Some(failed) = self.complete
                && self.held.is_empty()
                && assembly.is_settled()
            {
                return self.finish(&mut inlet, failed);
            }
            let quiet = self.is_quiet();
            let crowded = assembly.is_crowded();
            if !quiet && (crowded || inlet.held().is_empty() || self.out.len() >= GATHER) {
                self.flush()?;
            }
            let tick = if quiet { QUIET_CHECK } else { STATE_CHECK };
            if crowded {
                // The sender's next offers wait in the connection until files have come.
                self.channel.pause(clock.now() + tick)?;
                self.heard = clock.now();
                self.tell_if_due(quiet)?;
                continue;
            }
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
            self.tell_if_due(quiet)?;
        }
    }

    fn tell_if_due(&mut self, quiet: bool) -> Result<(), TransferError> {
        let due = self.shared.receiver.clock.now().since(self.told) >= STATE_CHECK * 4;
        if due && !quiet { self.tell() } else { Ok(()) }
    }

    fn hear(&mut self, message: ToReceiver, inlet: &Inlet<'_>) -> Result<(), TransferError> {
        match message {
            ToReceiver::Offer { id, entry } => {
                self.offers += 1;
                let waits = if self.held.is_empty() { self.admit(id, entry)? } else { Some(entry) };
                let Some(entry) = waits else { return Ok(()) };
                self.held_weight += weight(&entry);
                if self.held_weight > MOST_HELD {
                    return Err(inlet.protocol("more offers than may be open"));
                }
                self.held.push_back((id, entry));
            }
            ToReceiver::Totals { entries, bytes } => {
                self.announced(Counted { entries, bytes, disk: bytes, complete: true })?;
            }
            ToReceiver::Counted(counted) => self.announced(counted)?,
            ToReceiver::Report(report) => *locked(&self.sender.report) = report,
            ToReceiver::Limits(limits) => *locked(&self.sender.limits) = Some(limits),
            ToReceiver::Complete { offers, failed } => {
                if offers != self.offers {
                    let reason = format!("it says that it made {offers} offers, and {} came", self.offers);
                    return Err(inlet.protocol(reason));
                }
                self.complete = Some(failed);
            }
            ToReceiver::Bye => {}
            ToReceiver::Abort { reason } => return Err(TransferError::Aborted(reason)),
        }
        Ok(())
    }

    fn announced(&mut self, counted: Counted) -> Result<(), TransferError> {
        let assembly = &self.shared.receiver.assembly;
        let step = self.consent.announce(counted, assembly.free(), self.resumed, assembly.store().path());
        self.step(step)
    }

    fn step(&mut self, step: Step) -> Result<(), TransferError> {
        match step {
            Step::None => {}
            Step::Say(line) => self.say(&line),
            Step::Ask(question) => {
                locked(&self.sender.jobs).question = Some(question);
                self.sender.nudge.notify_all();
            }
            Step::Refuse(error) => return Err(error),
        }
        Ok(())
    }

    /// Looks at an offer, or refuses it. It comes back if it has to wait.
    fn admit(&mut self, id: Id, entry: Entry) -> Result<Option<Entry>, TransferError> {
        match self.consent.admit(&entry) {
            Admission::Yes => self.offer(id, entry)?,
            Admission::Wait => return Ok(Some(entry)),
            Admission::No(reason) => {
                let reason = self.shared.receiver.assembly.refuse(&entry.name, reason);
                self.answer(id, Verdict::Refused(reason), false);
            }
        }
        Ok(None)
    }

    fn offer(&mut self, id: Id, entry: Entry) -> Result<(), TransferError> {
        let is_file = matches!(entry.kind, Kind::File { .. });
        let verdict = match self.shared.receiver.assembly.offer(id, entry) {
            Ok(Offered::Now(verdict)) => verdict,
            Ok(Offered::Later(examination)) => {
                locked(&self.sender.jobs).examinations.push_back(examination);
                self.sender.nudge.notify_all();
                return Ok(());
            }
            Err(Trouble::Session(error)) => return Err(error),
            Err(Trouble::Protocol(reason)) => {
                return Err(TransferError::Protocol { peer: self.sender.peer, reason });
            }
            Err(Trouble::File(reason)) => Verdict::Refused(reason),
        };
        self.answer(id, verdict, is_file);
        Ok(())
    }

    fn answer(&mut self, id: Id, verdict: Verdict, is_file: bool) {
        match &verdict {
            Verdict::Refused(reason) => self.lost(reason.clone()),
            Verdict::Have | Verdict::Kept if is_file => self.skipped += 1,
            Verdict::Want | Verdict::Rest(_) => self.shared.goes_on(),
            _ => {}
        }
        // A sender of version 1 knows of nothing that is kept.
        let verdict =
            if verdict == Verdict::Kept && self.sender.version < 2 { Verdict::Have } else { verdict };
        frame::append(&mut self.out, &ToSender::Answer { id, verdict });
    }

    /// What others found out meanwhile: answers of the receiver's user, and of what was read.
    fn catch_up(&mut self) -> Result<(), TransferError> {
        let answer = locked(&self.sender.jobs).answer.take();
        if let Some(answer) = answer {
            let step = self.consent.answered(answer);
            self.step(step)?;
        }
        let answers = std::mem::take(&mut *locked(&self.sender.answers));
        for (id, verdict) in answers {
            self.answer(id, verdict, true);
        }
        while !self.shared.receiver.assembly.is_crowded()
            && let Some((id, entry)) = self.held.pop_front()
        {
            let held = weight(&entry);
            if let Some(entry) = self.admit(id, entry)? {
                self.held.push_front((id, entry));
                break;
            }
            self.held_weight -= held;
        }
        // A sender of version 1 announces late, and has announced what it offers until then.
        if self.sender.version < 2
            && !self.held.is_empty()
            && patience_is_over(self.began, self.shared.receiver.clock.now())
        {
            let size = |entry: &Entry| if let Kind::File { size, .. } = entry.kind { size } else { 0 };
            let bytes = self.held.iter().map(|(_, entry)| size(entry)).fold(0, u64::saturating_add);
            if let Some(known) = self.consent.unannounced((self.held.len() as u64, bytes)) {
                self.announced(known)?;
            }
        }
        Ok(())
    }

    /// What the limit or a person's answer has been spent on.
    pub(super) fn into_spent(self) -> Spent {
        self.consent.into_spent()
    }

    /// Whether what lets the data flow must still wait. What is over sooner than the measurement does not.
    fn is_quiet(&self) -> bool {
        self.sender.quiet.load(Ordering::Acquire)
            && self.all().is_none_or(|all| all.bytes > QUIET_WORTH)
            && !self.consent.is_asking()
            && self.shared.receiver.clock.now().since(self.began) < QUIET
    }

    /// All that there is, once the sender has counted it.
    fn all(&self) -> Option<Counted> {
        self.consent.announced().filter(|counted| counted.complete)
    }

    fn lost(&mut self, reason: String) {
        self.say(&reason);
        self.first_lost.get_or_insert(reason);
    }

    /// A line about what the sender does: it could do so without an end.
    fn say(&mut self, line: &str) {
        self.lines += 1;
        match self.lines {
            ..=MOST_LINES => self.shared.observer.say(line),
            line if line == MOST_LINES + 1 => {
                self.shared.observer.say("further lines about this sender are not shown");
            }
            _ => {}
        }
    }

    /// A few times a second: the journal, what was lost, how far it is.
    fn tell(&mut self) -> Result<(), TransferError> {
        let (assembly, now) = (&self.shared.receiver.assembly, self.shared.receiver.clock.now());
        assembly.checkpoint()?;
        for (id, reason) in std::mem::take(&mut *locked(&self.sender.lost)) {
            frame::append(&mut self.out, &ToSender::Failed { id, reason: reason.clone() });
            self.lost(reason);
        }
        for (name, fate) in assembly.news() {
            self.shared.observer.moved(&name, fate);
        }
        let counts = assembly.counts();
        let shown = counts.bytes + counts.arriving;
        self.sender.standing.counted(counts.entries, counts.came.wrapping_add(counts.read));
        if self.consent.is_asking() {
            self.sender.standing.touch();
        }
        // Files that were there before are no progress.
        let rate_bps = self.came.observe(now, self.sender.received());
        self.told = now;
        let progress = self.progress(counts);
        let report = locked(&self.sender.report).clone();
        let elapsed = now.since(self.began);
        let rtt = report.streams.first().map(|stream| Span::from_nanos(stream.rtt));
        self.history.add(now, sample(elapsed, &progress, &report));
        self.history.entered(&progress.entered);
        self.shared.observer.progress(&Snapshot {
            elapsed,
            entries: counts.entries,
            bytes: shown,
            all_entries: self.all().map(|all| all.entries),
            all_bytes: self.all().map(|all| all.bytes),
            rate_bps,
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
            let mut state = locked(&self.sender.window);
            let entered = std::mem::take(&mut state.entered);
            (state.clone(), entered)
        };
        let window = state.window.map(Bytes::get);
        let (phase, reason) = if self.consent.is_asking() {
            (ASKING.to_owned(), "waiting for the receiver's user to accept".to_owned())
        } else {
            (state.phase, state.reason)
        };
        let times = ReceiverTimes { network: self.sender.waited(), disk: counts.disk.as_nanos() };
        Progress {
            entries: counts.entries,
            bytes: counts.bytes + counts.arriving,
            window,
            phase,
            reason,
            entered,
            sized: window.is_some(),
            times,
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.channel.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}
