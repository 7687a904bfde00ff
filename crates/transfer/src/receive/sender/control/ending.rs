//! How a sender session ends: everything is on the disk, and the sender knows.

use super::{Control, QUIET_CHECK, STATE_CHECK};
use crate::channel::{Inlet, Message};
use crate::error::TransferError;
use crate::lock::locked;
use crate::receive::assembly::Counts;
use crate::receive::sender::{EXIT_POLL, LINGER};
use crate::summary::{Said, Side, Summary};
use crate::wire::control::{Finished, ToReceiver, ToSender};
use crate::wire::frame;
use units::Time;

impl Control<'_> {
    /// All is there. The session is over when the sender knows, or had time to ask again.
    pub(super) fn finish(
        &mut self,
        inlet: &mut Inlet<'_>,
        failed: u64,
    ) -> Result<Option<Summary>, TransferError> {
        let (assembly, clock) = (&self.shared.receiver.assembly, &self.shared.receiver.clock);
        self.tell()?;
        let streams = self.sender.streams();
        let faults = std::thread::scope(|threads| {
            let finishing = std::thread::Builder::new()
                .spawn_scoped(threads, move || assembly.finish(streams))
                .map_err(TransferError::system("start a thread"))?;
            #[cfg(fuzzing)]
            while !finishing.is_finished() {
                std::thread::yield_now();
            }
            // A slow disk may take minutes, and a sender that hears nothing leaves.
            while !finishing.is_finished() {
                match inlet.message(clock.now() + QUIET_CHECK)? {
                    Message::Is(message) => self.hear(message, inlet)?,
                    Message::Nothing => {}
                    Message::End => return Err(TransferError::gone("it left before the last word")),
                }
                if clock.now().since(self.told) >= STATE_CHECK * 4 {
                    self.sender.standing.touch();
                    self.tell()?;
                }
            }
            finishing.join().expect("it does not panic")
        })?;
        locked(&self.sender.lost).extend(faults.lost);
        for fault in faults.folders {
            self.lost(fault);
        }
        self.tell()?;
        let ended = clock.now();
        let counts = assembly.counts();
        let finished = Finished {
            entries: counts.entries,
            bytes: counts.bytes,
            failed: counts.failed.saturating_add(failed),
        };
        frame::append(&mut self.out, &ToSender::Finished(finished));
        self.flush()?;
        let result = self.result(finished, ended, counts);
        let until = self.shared.complete(self.sender, result);
        while !self.sender.standing.is_replaced() && clock.now() < until {
            match inlet.message::<ToReceiver>(until.min(clock.now() + STATE_CHECK))? {
                Message::Is(ToReceiver::Bye) => return self.shared.confirmed(),
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
        let said = Said { progress, report, limits: *locked(&self.sender.limits) };
        Ok(Summary {
            side: Side::Received,
            entries: counts.entries,
            bytes: counts.bytes,
            skipped: self.skipped,
            streams: self.sender.streams(),
            ..Summary::new(ended.since(self.began), counts.came, &said, std::mem::take(&mut self.history))
        })
    }

    /// What a dead sender's kernel had sent is taken in before the next one begins.
    pub(in crate::receive::sender) fn linger(&self) {
        let clock = &self.shared.receiver.clock;
        let until = clock.now() + LINGER;
        while clock.now() < until && !locked(&self.sender.data).is_empty() {
            std::thread::park_timeout(EXIT_POLL);
        }
    }
}
