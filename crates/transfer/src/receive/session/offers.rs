//! Offers and their answers.

use super::{GATHER, QUIET, QUIET_WORTH, Session, Stage};
use crate::error::TransferError;
use crate::receive::assembly::{MOST_HELD, Offered, ReceiveError, weight};
use crate::receive::consent::{Admission, Step, patience_is_over};
use crate::wire::control::{Counted, Entry, Id, Kind, ToReceiver, ToSender, Verdict};
use crate::wire::frame;

impl Session<'_> {
    /// Handles received messages as far as there is room for their requests, and then asks for more.
    pub(super) fn handle_all(&mut self) -> Result<(), TransferError> {
        self.admit_held()?;
        // While no more offers may be open, the sender's next ones wait in the connection until files have come.
        while !self.assembly.is_crowded()
            && let Some(message) = self.pending.pop_front()
        {
            self.handle_message(message)?;
            if self.out.len() >= GATHER && !self.is_quiet() {
                self.flush()?;
            }
        }
        self.announce_late()?;
        if self.pending.is_empty() {
            self.ask_for_more();
        }
        Ok(())
    }

    /// Asks the reader of the control connection for more messages, if it waits for that.
    pub(super) fn ask_for_more(&mut self) {
        if std::mem::take(&mut self.wants_more) {
            // Silence counts from now on. If the reader has ended, its end is the next event.
            self.last_received = self.clock.now();
            let _ = self.more.try_send(());
        }
    }

    fn handle_message(&mut self, message: ToReceiver) -> Result<(), TransferError> {
        match message {
            ToReceiver::Offer { id, entry } => {
                self.offers += 1;
                let waits = if self.held.is_empty() { self.admit(id, entry)? } else { Some(entry) };
                let Some(entry) = waits else { return Ok(()) };
                self.held_weight += weight(&entry);
                if self.held_weight > MOST_HELD {
                    return Err(self.protocol("more offers than may be open"));
                }
                self.held.push_back((id, entry));
            }
            ToReceiver::Totals { entries, bytes } => {
                self.announced(Counted { entries, bytes, disk: bytes, complete: true })?;
            }
            ToReceiver::Counted(counted) => self.announced(counted)?,
            ToReceiver::Report(report) => {
                self.jobs.notify_windows(crate::receive::windows::Note::Report(report.clone()));
                self.report = report;
            }
            ToReceiver::Limits(limits) => self.limits = Some(limits),
            ToReceiver::Complete { offers, failed } => {
                if offers != self.offers {
                    let reason = format!("it says that it made {offers} offers, and {} came", self.offers);
                    return Err(self.protocol(reason));
                }
                self.complete = Some(failed);
            }
            ToReceiver::Bye => {}
            ToReceiver::Abort { reason } => return Err(TransferError::Aborted(reason)),
        }
        Ok(())
    }

    fn announced(&mut self, counted: Counted) -> Result<(), TransferError> {
        let step =
            self.consent.announce(counted, self.assembly.free(), self.resumed, self.assembly.store().path());
        self.step(step)?;
        self.admit_held()
    }

    pub(super) fn step(&mut self, step: Step) -> Result<(), TransferError> {
        match step {
            Step::None => {}
            Step::Say(line) => self.say(&line),
            Step::Ask(question) => self.jobs.ask(question),
            Step::Refuse(error) => return Err(error),
        }
        Ok(())
    }

    /// Handles waiting offers in order, until one has to keep waiting.
    fn admit_held(&mut self) -> Result<(), TransferError> {
        while !self.assembly.is_crowded()
            && let Some((id, entry)) = self.held.pop_front()
        {
            let held = weight(&entry);
            if let Some(entry) = self.admit(id, entry)? {
                self.held.push_front((id, entry));
                break;
            }
            self.held_weight -= held;
        }
        Ok(())
    }

    /// Announces the waiting offers in place of a sender of version 1, which announces only later.
    fn announce_late(&mut self) -> Result<(), TransferError> {
        if self.link.version >= 2 || self.held.is_empty() || !patience_is_over(self.began, self.clock.now()) {
            return Ok(());
        }
        let size = |entry: &Entry| if let Kind::File { size, .. } = entry.kind { size } else { 0 };
        let bytes = self.held.iter().map(|(_, entry)| size(entry)).fold(0, u64::saturating_add);
        match self.consent.unannounced((self.held.len() as u64, bytes)) {
            Some(known) => self.announced(known),
            None => Ok(()),
        }
    }

    /// Handles an offer, or refuses it. Returns its entry if it has to wait.
    fn admit(&mut self, id: Id, entry: Entry) -> Result<Option<Entry>, TransferError> {
        match self.consent.admit(&entry) {
            Admission::Yes => self.offer(id, entry)?,
            Admission::Wait => return Ok(Some(entry)),
            Admission::No(reason) => {
                let reason = self.assembly.refuse(&entry.name, reason);
                self.answer(id, Verdict::Refused(reason), false);
            }
        }
        Ok(None)
    }

    fn offer(&mut self, id: Id, entry: Entry) -> Result<(), TransferError> {
        let is_file = matches!(entry.kind, Kind::File { .. });
        let verdict = match self.assembly.offer(id, entry) {
            Ok(Offered::Now(verdict)) => verdict,
            Ok(Offered::Later(examination)) => {
                self.examined += 1;
                self.jobs.examine(examination);
                return Ok(());
            }
            Err(ReceiveError::File(reason)) => Verdict::Refused(reason),
            Err(trouble) => return Err(self.fault(trouble)),
        };
        self.answer(id, verdict, is_file);
        Ok(())
    }

    pub(super) fn answer(&mut self, id: Id, verdict: Verdict, is_file: bool) {
        match &verdict {
            Verdict::Refused(reason) => self.lose(reason.clone()),
            Verdict::Have | Verdict::Kept if is_file => self.skipped += 1,
            Verdict::Want | Verdict::Rest(_) => self.registry.goes_on(),
            _ => {}
        }
        // A sender of version 1 does not know that an entry may be kept.
        let verdict = if verdict == Verdict::Kept && self.link.version < 2 { Verdict::Have } else { verdict };
        frame::append(&mut self.out, &ToSender::Answer { id, verdict });
    }

    /// Returns true while answers that let data flow are held back for the measurement of the path. A transfer so small
    /// that it would end sooner is not held back.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
            && self.stage == Stage::Open
            && self.all().is_none_or(|all| all.bytes > QUIET_WORTH)
            && !self.consent.is_asking()
            && self.clock.now().since(self.began) < QUIET
    }

    /// Returns the total amount, once the sender has counted it.
    pub(super) fn all(&self) -> Option<Counted> {
        self.consent.announced().filter(|counted| counted.complete)
    }
}
