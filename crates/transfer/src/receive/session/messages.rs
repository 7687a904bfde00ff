//! The reports to both users: progress and lost entries.

use super::Session;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::limits::ReceiverTimes;
use crate::progress::Snapshot;
use crate::receive::assembly::Counts;
use crate::summary::sample;
use crate::wire::control::{Progress, ToSender};
use crate::wire::frame;
use host::TcpInfo;
use units::{Bytes, Span};

/// The greatest number of lines about one sender.
const MOST_LINES: u64 = 1000;
/// The phase that the sender's user sees while the receiver's user is asked.
const ASKING: &str = "asking";

impl Session<'_> {
    /// Flushes the journal and reports losses and progress, a few times a second.
    pub(super) fn send_progress(&mut self) -> Result<(), TransferError> {
        let now = self.clock.now();
        self.last_report = now;
        self.assembly.checkpoint()?;
        for (id, reason) in std::mem::take(&mut self.lost) {
            frame::append(&mut self.out, &ToSender::Failed { id, reason: reason.clone() });
            self.lose(reason);
        }
        for (name, fate) in self.assembly.news() {
            self.registry.observer.moved(&name, fate);
        }
        let counts = self.assembly.counts();
        self.link.standing.counted(counts.entries, counts.came.wrapping_add(counts.read));
        if self.consent.is_asking() {
            self.link.standing.touch();
        }
        // Files that existed before are not progress.
        let came = self.data.iter().map(|channel| came(channel)).sum::<u64>() + self.past_received;
        let rate_bps = self.came.observe(now, came);
        let progress = self.progress(counts);
        let elapsed = now.since(self.began);
        let rtt = self.report.streams.first().map(|stream| Span::from_nanos(stream.rtt));
        self.history.add(now, sample(elapsed, &progress, &self.report));
        self.history.entered(&progress.entered);
        self.registry.observer.progress(&Snapshot {
            elapsed,
            entries: counts.entries,
            bytes: progress.bytes,
            all_entries: self.all().map(|all| all.entries),
            all_bytes: self.all().map(|all| all.bytes),
            rate_bps,
            rtt: rtt.filter(|&rtt| rtt > Span::ZERO),
            window: progress.window.map(Bytes::new),
            phase: progress.phase.clone(),
            reason: progress.reason.clone(),
        });
        self.last = (progress.clone(), self.report.clone());
        frame::append(&mut self.out, &ToSender::Progress(progress));
        self.flush()
    }

    fn progress(&mut self, counts: Counts) -> Progress {
        let entered = std::mem::take(&mut self.window.entered);
        let window = self.window.window.map(Bytes::get);
        let (phase, reason) = if self.consent.is_asking() {
            (ASKING.to_owned(), "waiting for the receiver's user to accept".to_owned())
        } else {
            (self.window.phase.clone(), self.window.reason.clone())
        };
        let waits: u64 = self.data.iter().map(|channel| channel.waited_to_receive().as_nanos()).sum();
        let times = ReceiverTimes { network: waits + self.past_waited, disk: counts.disk.as_nanos() };
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

    /// Reports to the receiver's user that an entry cannot be received.
    pub(super) fn lose(&mut self, reason: String) {
        self.say(&reason);
        self.first_lost.get_or_insert(reason);
    }

    /// Shows a line about the sender's actions, but at most [`MOST_LINES`] of them, because a sender could cause them
    /// without end.
    pub(super) fn say(&mut self, line: &str) {
        self.lines += 1;
        match self.lines {
            ..=MOST_LINES => self.registry.observer.say(line),
            line if line == MOST_LINES + 1 => {
                self.registry.observer.say("further lines about this sender are not shown");
            }
            _ => {}
        }
    }
}

/// Returns the bytes that came on a connection, according to the kernel.
pub(super) fn came(channel: &Channel) -> u64 {
    TcpInfo::of(channel).map_or(0, |info| info.bytes_received.get())
}
