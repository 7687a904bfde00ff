//! The control connection: the receiver's answers, and reports to it.

use super::count::Count;
use super::data_connections::ConnectionRequest;
use super::meter::Meter;
use super::queue::QueuedOffer;
use super::transfer::Transfer;
use crate::channel::{Message, MessageReader};
use crate::error::TransferError;
use crate::history::History;
use crate::limits::LimitTimes;
use crate::progress::{EntryOutcome, Observer, PathRate, Snapshot};
use crate::summary::sample;
use crate::wire::control::{Counted, FailureKind, Id, Progress, Report, ToReceiver, ToSender, Verdict};
use crate::wire::frame;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use units::{Bytes, Foreign, Rate, Span, Time};

/// The interval between reports.
const REPORT_INTERVAL: Span = Span::from_millis(100);
/// The interval between reports while files are still counted.
const FIRST_REPORTS_INTERVAL: Span = Span::from_millis(10);
/// The time for a receiver that gives up to send its reason.
const LAST_WORD: Span = Span::from_secs(1);
/// The interval between announcements of the count.
const COUNT_INTERVAL: Span = Span::from_secs(1);
/// The time after which a silent receiver is gone.
const SILENCE: Span = Span::from_secs(30);
/// The least pace of a data connection. No receiver of ours asks for a lower one, which would only stop the sender.
const LEAST_PACE: Rate = Rate::from_bps(8_000);

/// The control connection at work. Its thread owns the reports of both sides.
pub(super) struct Control<'a> {
    transfer: &'a Transfer,
    observer: &'a dyn Observer,
    count: &'a Count,
    last_received: Time,
    /// The number of entries that the receiver has refused, or failed to store.
    failures: u64,
    /// The last announcement, and its time.
    last_count: (Counted, Time),
    /// The numbers of entries and bytes, once everything is counted.
    all: Option<(u64, u64)>,
    /// The rate at which the receiver's kernel acknowledges bytes. The receiver's own count is not a rate of the path:
    /// it includes files that existed before, and its disk may take much at once.
    there: PathRate,
    rate_bps: f64,
    meter: Meter,
    /// The way to request more data connections.
    wanted: Sender<ConnectionRequest>,
    reports: ReportHistory,
}

/// The last reports of both sides on a transfer, and its course.
#[derive(Debug, Default)]
pub(super) struct ReportHistory {
    pub(super) progress: Progress,
    pub(super) report: Report,
    pub(super) limits: LimitTimes,
    pub(super) history: History,
}

impl<'a> Control<'a> {
    pub(super) fn new(
        transfer: &'a Transfer,
        count: &'a Count,
        observer: &'a dyn Observer,
        history: History,
        wanted: Sender<ConnectionRequest>,
    ) -> Self {
        let now = transfer.clock.now();
        Self {
            transfer,
            observer,
            count,
            last_received: now,
            failures: 0,
            last_count: (Counted::default(), now),
            all: None,
            there: PathRate::default(),
            rate_bps: 0.0,
            meter: Meter::default(),
            wanted,
            reports: ReportHistory { history, ..ReportHistory::default() },
        }
    }

    /// Announces the amount to send, and handles the receiver's messages until its last one.
    pub(super) fn run(&mut self) -> Result<(), TransferError> {
        let transfer = self.transfer;
        let mut reader = MessageReader::new(&transfer.control);
        // The error of a failed write. It is kept for a while, because a reason that the receiver sent before may still
        // be read.
        let mut broken: Option<TransferError> = None;
        let mut due = transfer.clock.now();
        if let Err(error) = self.announce() {
            (broken, due) = (Some(error), transfer.clock.now() + LAST_WORD);
        }
        loop {
            let message = match (reader.message(due), broken.take()) {
                (Err(_) | Ok(Message::Nothing | Message::End), Some(broken)) => return Err(broken),
                (message, was) => {
                    broken = was;
                    message?
                }
            };
            match message {
                Message::Is(message) => {
                    if self.handle_message(message)? {
                        return Ok(());
                    }
                }
                Message::Nothing => {}
                Message::End => return Err(TransferError::gone("the receiver left before the end")),
            }
            if transfer.clock.now() >= due {
                // Reports are more frequent until everything is counted, because the receiver may be waiting for the
                // totals.
                due = transfer.clock.now()
                    + if self.all.is_none() { FIRST_REPORTS_INTERVAL } else { REPORT_INTERVAL };
                if broken.is_none()
                    && let Err(error) = self.look_around()
                {
                    (broken, due) = (Some(error), transfer.clock.now() + LAST_WORD);
                }
            }
        }
    }

    /// Reports losses and the state of the connections, a few times a second.
    pub(super) fn look_around(&mut self) -> Result<(), TransferError> {
        self.transfer.unshown_lines().iter().for_each(|line| self.observer.say(line));
        if self.transfer.clock.now().since(self.last_received) > SILENCE {
            return Err(TransferError::gone(format!("the receiver sent nothing for {SILENCE}")));
        }
        self.send_report()?;
        self.transfer.look_after_lanes()
    }

    pub(super) fn into_told(self) -> ReportHistory {
        self.reports
    }

    /// Sends the first message, before any offer: the amount to send.
    pub(super) fn announce(&mut self) -> Result<(), TransferError> {
        let mut out = Vec::new();
        self.announced(self.count.at_first(), &mut out);
        let written = self.transfer.control.write(&out);
        self.transfer.queue.begin();
        written
    }

    fn announced(&mut self, counted: Counted, out: &mut Vec<u8>) {
        self.all = counted.complete.then_some((counted.entries, counted.bytes));
        self.last_count = (counted, self.transfer.clock.now());
        frame::append(out, &ToReceiver::Counted(counted));
    }

    /// Reads the kernel's state of the data connections, and keeps it.
    fn read(&mut self) -> (Report, LimitTimes) {
        let (report, limits, wanted) = self.meter.read(self.transfer, self.reports.progress.window);
        if let Some(wanted) = wanted {
            let _ = self.wanted.send(wanted);
        }
        let now = self.transfer.clock.now();
        let there = report.streams.iter().map(|stream| stream.acknowledged).fold(0, u64::saturating_add);
        self.rate_bps = self.there.observe(now, there);
        (self.reports.report, self.reports.limits) = (report.clone(), limits);
        (report, limits)
    }

    /// Reports a new count and the state of the data connections.
    fn send_report(&mut self) -> Result<(), TransferError> {
        let mut out = Vec::new();
        if self.all.is_none() {
            let counted = self.count.so_far();
            let due = self.transfer.clock.now().since(self.last_count.1) >= COUNT_INTERVAL;
            if counted.complete || due && counted != self.last_count.0 {
                self.announced(counted, &mut out);
            }
        }
        let (report, limits) = self.read();
        frame::append(&mut out, &ToReceiver::Report(report));
        frame::append(&mut out, &ToReceiver::Limits(limits));
        self.transfer.control.write(&out)
    }

    /// Handles a message. Returns true if it was the last one.
    pub(super) fn handle_message(&mut self, message: ToSender) -> Result<bool, TransferError> {
        self.last_received = self.transfer.clock.now();
        match message {
            ToSender::Welcome { .. } | ToSender::Busy(_) => return Err(self.protocol("a second welcome")),
            ToSender::Answer { id, verdict } => {
                self.answer(id, verdict).map_err(|reason| self.protocol(reason))?;
            }
            ToSender::Failed { id, reason } => {
                if let Some(QueuedOffer::File(file)) = self.transfer.queue.end(id) {
                    file.give_up();
                }
                self.lost(&reason).map_err(|reason| self.protocol(reason))?;
            }
            ToSender::Progress(progress) => self.progress(progress),
            ToSender::Pace { stream, bps } => self.pace(stream, bps.map(Rate::from_bps)),
            ToSender::Finished(mut finished) => {
                self.at_most_all(&mut finished.entries, &mut finished.bytes);
                self.read();
                self.transfer.finished(finished);
                let mut out = Vec::new();
                frame::append(&mut out, &ToReceiver::Bye);
                self.transfer.control.write(&out)?;
                self.transfer.control.finish();
                return Ok(true);
            }
            ToSender::Abort { reason } => return Err(TransferError::Aborted(reason)),
            ToSender::GivesUp { why: FailureKind::Declined, reason } => {
                return Err(TransferError::Declined(reason));
            }
            ToSender::GivesUp { why: FailureKind::Disk, reason } => {
                return Err(TransferError::ReceiversDisk(reason));
            }
        }
        Ok(false)
    }

    /// Makes the error for a violation of the protocol by the receiver.
    fn protocol(&self, reason: impl Into<String>) -> TransferError {
        TransferError::Protocol { peer: self.transfer.control.peer(), reason: reason.into() }
    }

    /// Does what an answer demands. Answers to offers that are no longer open have no effect.
    ///
    /// # Errors
    /// Returns the violation if the answer does not follow the protocol.
    fn answer(&mut self, id: Id, verdict: Verdict) -> Result<(), String> {
        let queue = &self.transfer.queue;
        match verdict {
            Verdict::Want => queue.want(id, Vec::new()),
            Verdict::Rest(there) => queue.want(id, there),
            Verdict::Have => {
                self.settled(queue.settle(id)?, EntryOutcome::There);
                Ok(())
            }
            Verdict::Kept => {
                self.settled(queue.settle(id)?, EntryOutcome::Kept);
                Ok(())
            }
            Verdict::Refused(reason) => {
                queue.settle(id)?;
                self.lost(&reason)
            }
        }
    }

    /// Reports the outcome of an entry of which the receiver needs nothing more.
    fn settled(&self, offered: Option<QueuedOffer>, fate: EntryOutcome) {
        let Some(offered) = offered else { return };
        // If the receiver has just made a folder or link, the entry counts as sent, not as one that was there.
        let fate = match (&offered, fate) {
            (QueuedOffer::Made(_), EntryOutcome::There) => EntryOutcome::Sent,
            _ => {
                self.transfer.skipped.fetch_add(1, Relaxed);
                fate
            }
        };
        self.observer.moved(offered.name(), fate);
    }

    /// Paces one data connection. In addition, the kernel keeps the connection to its share of `--limit`.
    fn pace(&self, stream: u16, rate: Option<Rate>) {
        if let Some(channel) = self.transfer.channels().get(usize::from(stream)) {
            channel.pace(rate.map(|rate| rate.max(LEAST_PACE)));
        }
    }

    /// Records that an entry is lost for a reason that the receiver gives. Each offer can be lost only once.
    fn lost(&mut self, reason: &str) -> Result<(), String> {
        self.failures += 1;
        if self.failures > self.transfer.queue.offers() {
            return Err("more failures than offers".into());
        }
        let line = format!("the receiver says {:#}", Foreign::new(reason));
        if self.transfer.lost_there(line.clone()) {
            self.observer.say(&line);
        }
        Ok(())
    }

    /// Reduces the counts that a receiver reports to the entries and bytes that exist.
    fn at_most_all(&self, entries: &mut u64, bytes: &mut u64) {
        let all = self.count.so_far();
        *entries = (*entries).min(all.entries.max(self.transfer.queue.offers()));
        *bytes = (*bytes).min(all.bytes);
    }

    fn progress(&mut self, mut progress: Progress) {
        self.at_most_all(&mut progress.entries, &mut progress.bytes);
        // The other side's words are made safe to show, because they are shown and kept.
        let shown = |text: &mut String| *text = Foreign::new(text).to_string();
        shown(&mut progress.phase);
        shown(&mut progress.reason);
        for entry in &mut progress.entered {
            shown(&mut entry.phase);
            shown(&mut entry.reason);
        }
        let now = self.transfer.clock.now();
        let rtt = self.reports.report.streams.first().map(|stream| Span::from_nanos(stream.rtt));
        let elapsed = now.since(self.transfer.began);
        self.reports.history.add(now, sample(elapsed, &progress, &self.reports.report));
        self.reports.history.entered(&progress.entered);
        self.reports.progress = progress.clone();
        self.observer.progress(&Snapshot {
            elapsed,
            entries: progress.entries,
            bytes: progress.bytes,
            all_entries: self.all.map(|all| all.0),
            all_bytes: self.all.map(|all| all.1),
            rate_bps: self.rate_bps,
            rtt: rtt.filter(|&rtt| rtt > Span::ZERO),
            window: progress.window.map(Bytes::new),
            phase: progress.phase,
            reason: progress.reason,
        });
    }
}
