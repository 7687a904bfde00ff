//! The end of a session: everything is on the disk and its sender knows, or its sender gets the reason.

use super::{Event, Session, Stage};
use crate::error::{Ending, TransferError};
use crate::receive::assembly::{Counts, Faults};
use crate::summary::{LastReports, Side, Summary};
use crate::wire::control::{FailureKind, Finished, ToReceiver, ToSender};
use crate::wire::{TAKEN_OVER, frame};
use std::sync::mpsc::Receiver as Events;
use std::time::Duration;
use units::{Span, Time};

/// The time for the bytes of a sender that has left to arrive, and for a sender to get the last message.
const LINGER: Span = Span::from_secs(2);

impl Session<'_> {
    /// Brings everything to the disk. That may take minutes. The sender gets reports meanwhile, because it would leave
    /// without them.
    pub(super) fn store(&mut self, failed: u64) -> Result<(), TransferError> {
        self.send_progress()?;
        self.stage = Stage::Storing;
        self.complete = Some(failed);
        self.jobs.store(self.streams);
        Ok(())
    }

    /// Sends the result of a session that is on the disk in full. The session ends when the sender has confirmed the
    /// result, or the time for that is over.
    pub(super) fn stored(&mut self, faults: Faults) -> Result<(), TransferError> {
        self.lost.extend(faults.lost);
        for fault in faults.folders {
            self.lose(fault);
        }
        self.send_progress()?;
        let (ended, counts) = (self.clock.now(), self.assembly.counts());
        let finished = Finished {
            entries: counts.entries,
            bytes: counts.bytes,
            failed: counts.failed.saturating_add(self.complete.unwrap_or_default()),
        };
        frame::append(&mut self.out, &ToSender::Finished(finished));
        self.flush()?;
        let result = self.result(finished, ended, counts);
        self.stage = Stage::Told(self.registry.complete(self.link, result));
        Ok(())
    }

    /// Takes the sender's last message, if it has come.
    pub(super) fn read_the_last_message(&mut self) -> Result<(), TransferError> {
        if self.pending.drain(..).any(|message| matches!(message, ToReceiver::Bye)) {
            self.ended = Some(self.registry.confirmed());
        }
        self.ask_for_more();
        Ok(())
    }

    /// Returns the error with which the session ends when the control connection has ended with `error`.
    pub(super) fn left(&self, error: TransferError) -> TransferError {
        match (self.stage, error) {
            (Stage::Storing | Stage::Told(_), TransferError::PeerGone { .. }) => {
                TransferError::gone("it left before the last message")
            }
            (_, error) => error,
        }
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
        let reports = LastReports { progress, report, limits: self.limits };
        Ok(Summary {
            side: Side::Received,
            entries: counts.entries,
            bytes: counts.bytes,
            skipped: self.skipped,
            streams: self.streams,
            ..Summary::new(ended.since(self.began), counts.came, &reports, std::mem::take(&mut self.history))
        })
    }

    /// Takes in the data that a dead sender's kernel had sent, before the next sender begins. A sender that is still
    /// present gets the reason for the end.
    pub(in crate::receive) fn take_leave(&mut self, error: &TransferError, events: &Events<Event>) {
        let gone = matches!(error, TransferError::PeerGone { .. }) && !self.replaced;
        if !gone {
            // Messages that wait to be sent do not matter any more.
            self.out.clear();
            let last = self.last_word(error);
            frame::append(&mut self.out, &last);
            let _ = self.flush();
            self.channel.finish();
        }
        self.ask_for_more();
        let until = self.clock.now() + LINGER;
        // The rest of the data is read, because closing the connection with unread data would reset it and lose the
        // reason.
        let mut received_all = false;
        while if gone { !self.data.is_empty() } else { !received_all } {
            let left = until.since(self.clock.now());
            let Ok(event) = events.recv_timeout(Duration::from_nanos(left.as_nanos())) else { return };
            match event {
                Event::Messages(_) => drop(self.more.try_send(())),
                Event::SenderLeft(_) => received_all = true,
                Event::StreamBegan(channel) => self.data.push(channel),
                Event::StreamEnded(channel, _) => {
                    self.data.retain(|other| !std::sync::Arc::ptr_eq(other, &channel));
                }
                _ => {}
            }
        }
    }

    /// Returns the last message to the sender when the session ends by `error`.
    fn last_word(&self, error: &TransferError) -> ToSender {
        match error {
            _ if self.replaced => ToSender::Abort { reason: TAKEN_OVER.to_owned() },
            TransferError::NotAccepted(reason) if self.link.version >= 2 => {
                ToSender::GivesUp { why: FailureKind::Declined, reason: reason.clone() }
            }
            full if full.ending() == Ending::Disk && self.link.version >= 2 => {
                ToSender::GivesUp { why: FailureKind::Disk, reason: full.for_the_other_side() }
            }
            other => ToSender::Abort { reason: other.for_the_other_side() },
        }
    }

    /// Hands back the amounts that were offered and accepted, for the next sender.
    pub(in crate::receive) fn end(self) {
        self.registry.give_spent(self.consent.into_spent());
    }
}
