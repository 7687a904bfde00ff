//! [`Transfer`]: what the threads of a transfer share, and how one that fails ends the others.

use super::SendOptions;
use super::connect::{Connections, Opener};
use super::lanes::{Lane, Lanes, Wanted};
use super::outgoing::Outgoing;
use super::queue::Queue;
use super::rate_limit::RateLimit;
use super::retry::Earlier;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::history::History;
use crate::limits::LimitTimes;
use crate::lock::locked;
use crate::summary::{Said, Side, Summary};
use crate::wire::control::{Finished, Progress, Report};
use host::Clock;
use probe::Echoer;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
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
    /// The data connections, and since when each is there.
    lanes: Mutex<Lanes>,
    /// Opens more of them.
    pub(super) opener: Option<Opener>,
    /// How many there shall be.
    pub(super) wanted: Wanted,
    pub(super) queue: Queue,
    pub(super) limit: RateLimit,
    pub(super) clock: Clock,
    /// When the first attempt began.
    pub(super) began: Time,
    /// When this one did.
    connected: Time,
    pub(super) echoer: Mutex<Option<Echoer>>,
    /// Bytes of files handed to the network.
    pub(super) sent: AtomicU64,
    /// Entries that the receiver had.
    pub(super) skipped: AtomicU64,
    /// Nanoseconds spent in reading files.
    pub(super) disk: AtomicU64,
    /// Data connections that have nothing to send.
    pub(super) idle: Mutex<Idle>,
    /// When everything had been handed to the network.
    pub(super) handed_over: OnceLock<Time>,
    /// Files that were wanted and could not be read.
    pub(super) unreadable: AtomicU64,
    pub(super) history: Mutex<History>,
    /// What the receiver and this side said last.
    pub(super) last: Mutex<(Progress, Report, LimitTimes)>,
    told: Condvar,
    lost: Mutex<Lost>,
    /// Entries of `lost` that were not reported yet.
    unsaid: Mutex<Vec<String>>,
    ended: Mutex<Option<Result<Finished, TransferError>>>,
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
        earlier: &mut Earlier,
    ) -> Self {
        let connected = clock.now();
        // What limited it is known of this attempt only.
        let since = if earlier.sent == 0 { earlier.began } else { connected };
        Self {
            control: connections.control,
            lanes: Mutex::new(Lanes::new(connections.data, since)),
            opener: connections.opener.filter(|_| options.streams == 0 && options.limit.is_none()),
            wanted: Wanted::default(),
            queue: Queue::default(),
            limit: RateLimit::new(options.limit, *clock),
            clock: *clock,
            began: earlier.began,
            connected,
            echoer: Mutex::new(connections.echoer),
            history: Mutex::new(std::mem::take(&mut earlier.history)),
            last: Mutex::default(),
            sent: AtomicU64::new(earlier.sent),
            skipped: AtomicU64::new(0),
            disk: AtomicU64::new(0),
            idle: Mutex::default(),
            handed_over: OnceLock::new(),
            unreadable: AtomicU64::new(0),
            told: Condvar::new(),
            lost: Mutex::new(Lost { first: None, lines: earlier.lines }),
            unsaid: Mutex::default(),
            ended: Mutex::default(),
        }
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
        let (mut ended, _) = self
            .told
            .wait_timeout_while(locked(&self.ended), patience, |ended| ended.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        ended.get_or_insert(Err(error));
        drop(ended);
        self.told.notify_all();
        self.control.cut();
        locked(&self.lanes).cut();
    }

    /// The data connections.
    pub(super) fn channels(&self) -> Vec<Arc<Channel>> {
        self.lanes().into_iter().map(|lane| lane.channel).collect()
    }

    /// The data connections, and since when each is there.
    pub(super) fn lanes(&self) -> Vec<Lane> {
        locked(&self.lanes).all().to_vec()
    }

    /// Looks whether a data connection has ended. Its thread may be waiting for something to send, and nobody reads
    /// from it.
    ///
    /// # Errors
    /// A data connection has ended.
    pub(super) fn look_after_lanes(&self) -> Result<(), TransferError> {
        let now = self.clock.now();
        self.channels().iter().try_for_each(|channel| channel.pause(now)).map_err(|error| match error {
            TransferError::PeerGone { reason } => {
                TransferError::gone(format!("a data connection broke: {reason}"))
            }
            other => other,
        })
    }

    /// One more data connection, unless the transfer has ended.
    pub(super) fn join(&self, channel: Channel) -> Option<Arc<Channel>> {
        locked(&self.lanes).join(channel, self.clock.now())
    }

    /// `wait`, for something to send.
    pub(super) fn idle_for<T>(&self, wait: impl FnOnce() -> T) -> T {
        let began = self.clock.now();
        locked(&self.idle).since.push(began);
        let result = wait();
        let mut idle = locked(&self.idle);
        idle.past += self.clock.now().since(began);
        let at = idle.since.iter().position(|since| *since == began).expect("it was put there");
        idle.since.swap_remove(at);
        result
    }

    /// How long data connections had nothing to send, and how long they wait for the receiver to have stored all.
    pub(super) fn waits(&self) -> (Span, Span) {
        let now = self.clock.now();
        let at_the_end = self.handed_over.get().map_or(Span::ZERO, |then| now.since(*then));
        let idle = locked(&self.idle).total(now - at_the_end);
        (idle, at_the_end * locked(&self.lanes).all().len() as u64)
    }

    /// Nothing more is to be sent.
    pub(super) fn close(&self) {
        self.queue.close();
        self.wanted.close();
        self.limit.close();
    }

    /// The receiver has said its last word.
    pub(super) fn finished(&self, finished: Finished) {
        locked(&self.ended).get_or_insert(Ok(finished));
        self.told.notify_all();
    }

    /// An entry cannot be had.
    pub(super) fn lost(&self, reason: String) {
        locked(&self.lost).first.get_or_insert(reason);
    }

    /// An entry cannot be had, as the receiver says; whether that is shown.
    pub(super) fn lost_there(&self, reason: String) -> bool {
        locked(&self.lost).add(reason)
    }

    /// Lines of the receiver's about lost entries that were not shown.
    pub(super) fn not_shown(&self) -> u64 {
        locked(&self.lost).not_shown()
    }

    /// A file that was wanted cannot be read.
    pub(super) fn lost_file(&self, file: &Outgoing, reason: String) {
        self.unreadable.fetch_add(1, Relaxed);
        locked(&self.unsaid).push(reason.clone());
        self.lost(reason);
        self.queue.end(file.id);
    }

    /// What was lost since this was asked last, and is still to be told.
    pub(super) fn unsaid(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.unsaid))
    }

    /// How this attempt ended; the next one finds in `earlier` what it needs to know of it.
    pub(super) fn result(self, earlier: &mut Earlier) -> Result<Summary, TransferError> {
        let sent = self.sent.load(Relaxed);
        let streams = locked(&self.lanes).all().len() as u16;
        let history = self.history.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lost = self.lost.into_inner().unwrap_or_else(PoisonError::into_inner);
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
        let (progress, report, limits) = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
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
