//! [`Transfer`]: the state that the threads of a transfer share. A thread that fails ends the others through it.

use super::SendOptions;
use super::connect::{Connections, Opener};
use super::control::ReportHistory;
use super::data_connections::{DataConnection, DataConnections};
use super::outgoing::Outgoing;
use super::queue::Queue;
use super::rate_limit::RateLimit;
use super::retry::EarlierAttempts;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::lock::locked;
use crate::summary::{LastReports, Side, Summary};
use crate::wire::control::Finished;
use host::{Clock, Waker};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use units::{Bytes, Rate, Span, Time};

/// The time for the receiver's own reason to arrive.
const BETTER_REASON: Duration = Duration::from_millis(1500);

/// The greatest number of the receiver's lines about lost entries that are shown.
const MOST_LINES: u64 = 1000;

/// A transfer under way.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) control: Channel,
    /// Opens more data connections.
    pub(super) opener: Option<Opener>,
    pub(super) queue: Queue,
    pub(super) limit: RateLimit,
    pub(super) clock: Clock,
    /// The time at which the first attempt began.
    pub(super) began: Time,
    /// The time at which this attempt was connected.
    connected: Time,
    /// Signals the end of the transfer to threads that wait for descriptors.
    pub(super) over: Waker,
    /// The number of bytes in files handed to the network.
    pub(super) sent: AtomicU64,
    /// The number of entries that the receiver had already.
    pub(super) skipped: AtomicU64,
    /// The time spent reading files, in nanoseconds.
    pub(super) disk: AtomicU64,
    /// The time at which everything had been handed to the network.
    pub(super) handed_over: OnceLock<Time>,
    /// The number of files that were wanted and could not be read.
    pub(super) unreadable: AtomicU64,
    shared: Mutex<Shared>,
    ended: Condvar,
}

/// The state that all threads of a transfer change.
#[derive(Debug)]
struct Shared {
    /// The data connections, each with the time at which it joined.
    data_connections: DataConnections,
    /// Data connections that have nothing to send.
    idle: IdleTime,
    lost: LostEntries,
    /// Entries that cannot be read and were not reported yet.
    unshown_lines: Vec<String>,
    ended: Option<Result<Finished, TransferError>>,
}

/// The lost entries. The receiver may report such entries without end, so only the first reason is kept.
#[derive(Debug, Default)]
struct LostEntries {
    first: Option<String>,
    /// The number of the receiver's lines.
    lines: u64,
}

impl LostEntries {
    /// Adds a lost entry that the receiver reports. Returns true if its line is shown.
    fn add(&mut self, reason: String) -> bool {
        self.first.get_or_insert(reason);
        self.lines = self.lines.saturating_add(1);
        self.lines <= MOST_LINES
    }

    const fn not_shown(&self) -> u64 {
        self.lines.saturating_sub(MOST_LINES)
    }
}

/// The time for which data connections had nothing to send, summed over all of them.
#[derive(Debug, Default)]
pub(super) struct IdleTime {
    past: Span,
    /// The times at which the present waits began.
    since: Vec<Time>,
}

impl IdleTime {
    /// Returns the total up to `now`.
    fn total(&self, now: Time) -> Span {
        self.since.iter().fold(self.past, |sum, began| sum + now.since(*began))
    }
}

impl Transfer {
    pub(super) fn new(
        connections: Connections,
        options: &SendOptions,
        clock: &Clock,
        earlier: &EarlierAttempts,
    ) -> Result<Self, TransferError> {
        let connected = clock.now();
        // The meter measures this attempt only, so its data connections count from now if an earlier attempt has sent
        // data.
        let since = if earlier.sent == 0 { earlier.began } else { connected };
        let shared = Shared {
            data_connections: DataConnections::new(connections.data, since),
            idle: IdleTime::default(),
            lost: LostEntries { first: None, lines: earlier.lines },
            unshown_lines: Vec::new(),
            ended: None,
        };
        Ok(Self {
            control: connections.control,
            opener: connections.opener.filter(|_| options.streams == 0 && options.limit.is_none()),
            queue: Queue::default(),
            limit: RateLimit::new(options.limit, *clock),
            clock: *clock,
            began: earlier.began,
            connected,
            over: Waker::new().map_err(TransferError::system("make an event descriptor"))?,
            sent: AtomicU64::new(earlier.sent),
            skipped: AtomicU64::new(0),
            disk: AtomicU64::new(0),
            handed_over: OnceLock::new(),
            unreadable: AtomicU64::new(0),
            shared: Mutex::new(shared),
            ended: Condvar::new(),
        })
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        locked(&self.shared)
    }

    /// Runs the control connection's work. If that fails, everything ends, and the first reason counts.
    pub(super) fn guard(&self, work: impl FnOnce() -> Result<(), TransferError>) {
        self.guard_for(Duration::ZERO, work);
    }

    /// Runs another thread's work likewise. If its connection broke, it waits a moment for a better reason: the
    /// receiver's own, on the control connection.
    pub(super) fn guard_other(&self, work: impl FnOnce() -> Result<(), TransferError>) {
        self.guard_for(BETTER_REASON, work);
    }

    fn guard_for(&self, patience: Duration, work: impl FnOnce() -> Result<(), TransferError>) {
        let Err(error) = work() else { return };
        self.close();
        let patience =
            if matches!(error, TransferError::PeerGone { .. }) { patience } else { Duration::ZERO };
        let (mut shared, _) = self
            .ended
            .wait_timeout_while(self.shared(), patience, |shared| shared.ended.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        shared.ended.get_or_insert(Err(error));
        shared.data_connections.cut();
        drop(shared);
        self.ended.notify_all();
        self.control.cut();
    }

    /// Returns the data connections.
    pub(super) fn channels(&self) -> Vec<Arc<Channel>> {
        self.data_connections().into_iter().map(|lane| lane.channel).collect()
    }

    /// Returns the data connections, each with the time at which it joined.
    pub(super) fn data_connections(&self) -> Vec<DataConnection> {
        self.shared().data_connections.all().to_vec()
    }

    /// Checks whether a data connection has ended. Its thread may be waiting for a job, and no thread reads from it.
    /// While there are others, a connection that the receiver closed to make room, before it was used, is not an error.
    ///
    /// # Errors
    /// If a data connection that was used has ended, or all have.
    pub(super) fn look_after_lanes(&self) -> Result<(), TransferError> {
        let now = self.clock.now();
        let mut alive = 0;
        let mut ended = None;
        for lane in self.data_connections() {
            match lane.channel.pause(now) {
                Ok(()) => alive += 1,
                Err(error) if lane.used => return Err(broke(error)),
                Err(error) => ended = Some(error),
            }
        }
        match ended {
            Some(error) if alive == 0 => Err(broke(error)),
            _ => Ok(()),
        }
    }

    /// Marks a data connection as one on which something is about to be sent for the first time.
    pub(super) fn uses(&self, channel: &Channel) {
        self.shared().data_connections.uses(channel);
    }

    /// Adds a data connection, unless the transfer has ended.
    pub(super) fn join(&self, channel: Channel) -> Option<Arc<Channel>> {
        self.shared().data_connections.join(channel, self.clock.now())
    }

    /// Runs `wait`, which waits for something to send, and counts its time as idle.
    pub(super) fn idle_for<T>(&self, wait: impl FnOnce() -> T) -> T {
        let began = self.clock.now();
        self.shared().idle.since.push(began);
        let result = wait();
        let idle = &mut self.shared().idle;
        idle.past += self.clock.now().since(began);
        let at = idle.since.iter().position(|since| *since == began).expect("it was put there");
        idle.since.swap_remove(at);
        result
    }

    /// Returns the time without anything to send, and the wait at the end until the receiver has stored everything,
    /// both summed over all data connections.
    pub(super) fn waits(&self) -> (Span, Span) {
        let now = self.clock.now();
        let at_the_end = self.handed_over.get().map_or(Span::ZERO, |then| now.since(*then));
        let shared = self.shared();
        (shared.idle.total(now - at_the_end), at_the_end * shared.data_connections.all().len() as u64)
    }

    /// Ends the sending.
    pub(super) fn close(&self) {
        self.queue.close();
        self.limit.close();
        self.over.wake();
    }

    /// Records the receiver's last message.
    pub(super) fn finished(&self, finished: Finished) {
        self.shared().ended.get_or_insert(Ok(finished));
        self.ended.notify_all();
    }

    /// Records an entry that cannot be sent.
    pub(super) fn lost(&self, reason: String) {
        self.shared().lost.first.get_or_insert(reason);
    }

    /// Records an entry that the receiver reports as lost. Returns true if the report is shown.
    pub(super) fn lost_there(&self, reason: String) -> bool {
        self.shared().lost.add(reason)
    }

    /// Returns the number of the receiver's lines about lost entries that were not shown.
    pub(super) fn not_shown(&self) -> u64 {
        self.shared().lost.not_shown()
    }

    /// Records a wanted file that cannot be read.
    pub(super) fn lost_file(&self, file: &Outgoing, reason: String) {
        self.unreadable.fetch_add(1, Relaxed);
        self.shared().unshown_lines.push(reason.clone());
        self.lost(reason);
        self.queue.end(file.id);
    }

    /// Takes the losses that were not reported yet.
    pub(super) fn unshown_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.shared().unshown_lines)
    }

    /// Returns the result of this attempt, and leaves in `earlier` the state that the next one needs.
    pub(super) fn result(
        self,
        reports: ReportHistory,
        earlier: &mut EarlierAttempts,
    ) -> Result<Summary, TransferError> {
        let sent = self.sent.load(Relaxed);
        let ReportHistory { progress, report, limits, history } = reports;
        let Shared { data_connections, lost, ended, .. } =
            self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let streams = data_connections.all().len() as u16;
        let finished = match ended {
            Some(Ok(finished)) => finished,
            failed => {
                (earlier.sent, earlier.history) = (sent, history);
                earlier.streams = streams;
                earlier.lines = lost.lines;
                return Err(failed
                    .and_then(Result::err)
                    .unwrap_or_else(|| TransferError::gone("it ended early")));
            }
        };
        if let Some(first) = lost.first {
            let all = finished.entries.saturating_add(finished.failed);
            return Err(TransferError::Incomplete { failed: finished.failed.max(1), all, first });
        }
        if finished.failed > 0 {
            let all = finished.entries.saturating_add(finished.failed);
            let first = "the receiver did not say which".to_owned();
            return Err(TransferError::Incomplete { failed: finished.failed, all, first });
        }
        let now = self.clock.now();
        let elapsed = now.since(self.began);
        let last = LastReports { progress: &progress, report: &report, limits: Some(limits) };
        let limited = if earlier.sent == 0 { elapsed } else { now.since(self.connected) };
        Ok(Summary {
            side: Side::Sent,
            entries: finished.entries,
            bytes: finished.bytes,
            sent: Some(sent),
            skipped: self.skipped.load(Relaxed),
            streams,
            elapsed,
            goodput_bps: Rate::of(Bytes::new(sent), elapsed).as_bps_f64(),
            ..Summary::new(limited, sent, &last, history)
        })
    }
}

fn broke(error: TransferError) -> TransferError {
    match error {
        TransferError::PeerGone { reason } => {
            TransferError::gone(format!("a data connection broke: {reason}"))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_says_failed_without_an_end_fills_neither_memory_nor_screen() {
        let lost = Mutex::new(LostEntries::default());
        let shown = (0..5 * MOST_LINES).filter(|line| locked(&lost).add(line.to_string())).count();
        assert_eq!(shown as u64, MOST_LINES);
        let lost = lost.into_inner().unwrap();
        assert_eq!((lost.first.as_deref(), lost.not_shown()), (Some("0"), 4 * MOST_LINES));
    }
}
