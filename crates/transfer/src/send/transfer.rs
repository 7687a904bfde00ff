//! [`Transfer`]: what the threads of a transfer share, and how one that fails ends the others.

use super::SendOptions;
use super::connect::{Connections, Opener};
use super::control::Told;
use super::lanes::{Lane, Lanes};
use super::outgoing::Outgoing;
use super::queue::Queue;
use super::rate_limit::RateLimit;
use super::retry::Earlier;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::lock::locked;
use crate::summary::{Said, Side, Summary};
use crate::wire::control::Finished;
use host::{Clock, Wake};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use units::{Bytes, Rate, Span, Time};

/// For the receiver's own reason to arrive.
const BETTER_REASON: Duration = Duration::from_millis(1500);

/// Lines that the receiver can have shown about lost entries.
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
    /// When the first attempt began.
    pub(super) began: Time,
    /// When this one did.
    connected: Time,
    /// The transfer has ended, for those who wait for descriptors.
    pub(super) over: Wake,
    /// Bytes of files handed to the network.
    pub(super) sent: AtomicU64,
    /// Entries that the receiver had.
    pub(super) skipped: AtomicU64,
    /// Nanoseconds spent in reading files.
    pub(super) disk: AtomicU64,
    /// When everything had been handed to the network.
    pub(super) handed_over: OnceLock<Time>,
    /// Files that were wanted and could not be read.
    pub(super) unreadable: AtomicU64,
    shared: Mutex<Shared>,
    ended: Condvar,
}

/// The state that all threads of a transfer change.
#[derive(Debug)]
struct Shared {
    /// The data connections, and since when each is there.
    lanes: Lanes,
    /// Data connections that have nothing to send.
    idle: Idle,
    lost: Lost,
    /// Entries that cannot be read and were not reported yet.
    unsaid: Vec<String>,
    ended: Option<Result<Finished, TransferError>>,
}

/// What cannot be had. The receiver may say without an end that entries are lost: only the first is kept.
#[derive(Debug, Default)]
struct Lost {
    first: Option<String>,
    /// Lines of the receiver's.
    lines: u64,
}

impl Lost {
    /// One that the receiver tells of; whether its line is shown.
    fn add(&mut self, reason: String) -> bool {
        self.first.get_or_insert(reason);
        self.lines = self.lines.saturating_add(1);
        self.lines <= MOST_LINES
    }

    const fn not_shown(&self) -> u64 {
        self.lines.saturating_sub(MOST_LINES)
    }
}

/// How long data connections had nothing to send, all together.
#[derive(Debug, Default)]
pub(super) struct Idle {
    past: Span,
    /// Since when some still wait.
    since: Vec<Time>,
}

impl Idle {
    /// Until `now`.
    fn total(&self, now: Time) -> Span {
        self.since.iter().fold(self.past, |sum, began| sum + now.since(*began))
    }
}

impl Transfer {
    pub(super) fn new(
        connections: Connections,
        options: &SendOptions,
        clock: &Clock,
        earlier: &Earlier,
    ) -> Result<Self, TransferError> {
        let connected = clock.now();
        // What limited it is known of this attempt only.
        let since = if earlier.sent == 0 { earlier.began } else { connected };
        let shared = Shared {
            lanes: Lanes::new(connections.data, since),
            idle: Idle::default(),
            lost: Lost { first: None, lines: earlier.lines },
            unsaid: Vec::new(),
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
            over: Wake::new().map_err(TransferError::system("make an event descriptor"))?,
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

    /// Runs the control connection's work; if it fails, everything ends, and the first reason counts.
    pub(super) fn guard(&self, work: impl FnOnce() -> Result<(), TransferError>) {
        self.guard_for(Duration::ZERO, work);
    }

    /// The same for another thread: if its connection broke, it waits a moment for a better reason, the receiver's own
    /// on the control connection.
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
        shared.lanes.cut();
        drop(shared);
        self.ended.notify_all();
        self.control.cut();
    }

    /// The data connections.
    pub(super) fn channels(&self) -> Vec<Arc<Channel>> {
        self.lanes().into_iter().map(|lane| lane.channel).collect()
    }

    /// The data connections, and since when each is there.
    pub(super) fn lanes(&self) -> Vec<Lane> {
        self.shared().lanes.all().to_vec()
    }

    /// Looks whether a data connection has ended. Its thread may be waiting for something to send, and nobody reads
    /// from it. One that a receiver has closed before it was used, to make room, is no loss while there are others.
    ///
    /// # Errors
    /// A data connection has ended that was used, or all have.
    pub(super) fn look_after_lanes(&self) -> Result<(), TransferError> {
        let now = self.clock.now();
        let mut alive = 0;
        let mut ended = None;
        for lane in self.lanes() {
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

    /// Something is about to be sent on a data connection for the first time.
    pub(super) fn uses(&self, channel: &Channel) {
        self.shared().lanes.uses(channel);
    }

    /// One more data connection, unless the transfer has ended.
    pub(super) fn join(&self, channel: Channel) -> Option<Arc<Channel>> {
        self.shared().lanes.join(channel, self.clock.now())
    }

    /// `wait`, for something to send.
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

    /// How long data connections had nothing to send, and how long they wait for the receiver to have stored all.
    pub(super) fn waits(&self) -> (Span, Span) {
        let now = self.clock.now();
        let at_the_end = self.handed_over.get().map_or(Span::ZERO, |then| now.since(*then));
        let shared = self.shared();
        (shared.idle.total(now - at_the_end), at_the_end * shared.lanes.all().len() as u64)
    }

    /// Nothing more is to be sent.
    pub(super) fn close(&self) {
        self.queue.close();
        self.limit.close();
        self.over.wake();
    }

    /// The receiver has said its last word.
    pub(super) fn finished(&self, finished: Finished) {
        self.shared().ended.get_or_insert(Ok(finished));
        self.ended.notify_all();
    }

    /// An entry cannot be had.
    pub(super) fn lost(&self, reason: String) {
        self.shared().lost.first.get_or_insert(reason);
    }

    /// An entry cannot be had, as the receiver says; whether that is shown.
    pub(super) fn lost_there(&self, reason: String) -> bool {
        self.shared().lost.add(reason)
    }

    /// Lines of the receiver's about lost entries that were not shown.
    pub(super) fn not_shown(&self) -> u64 {
        self.shared().lost.not_shown()
    }

    /// A file that was wanted cannot be read.
    pub(super) fn lost_file(&self, file: &Outgoing, reason: String) {
        self.unreadable.fetch_add(1, Relaxed);
        self.shared().unsaid.push(reason.clone());
        self.lost(reason);
        self.queue.end(file.id);
    }

    /// What was lost since this was asked last, and is still to be told.
    pub(super) fn unsaid(&self) -> Vec<String> {
        std::mem::take(&mut self.shared().unsaid)
    }

    /// How this attempt ended; the next one finds in `earlier` what it needs to know of it.
    pub(super) fn result(self, told: Told, earlier: &mut Earlier) -> Result<Summary, TransferError> {
        let sent = self.sent.load(Relaxed);
        let Told { progress, report, limits, history } = told;
        let Shared { lanes, lost, ended, .. } =
            self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let streams = lanes.all().len() as u16;
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
        let said = Said { progress: &progress, report: &report, limits: Some(limits) };
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
            ..Summary::new(limited, sent, &said, history)
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
        let lost = Mutex::new(Lost::default());
        let shown = (0..5 * MOST_LINES).filter(|line| locked(&lost).add(line.to_string())).count();
        assert_eq!(shown as u64, MOST_LINES);
        let lost = lost.into_inner().unwrap();
        assert_eq!((lost.first.as_deref(), lost.not_shown()), (Some("0"), 4 * MOST_LINES));
    }
}
