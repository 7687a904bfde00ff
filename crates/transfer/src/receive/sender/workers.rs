//! Work of a sender session that runs apart from its control connection, which goes on speaking meanwhile. The work
//! is to read existing files, to give names to whole files, and to ask the receiver's user.

use super::{Jobs, SenderSession};
#[cfg(fuzzing)]
use crate::channel::Channel;
use crate::error::TransferError;
use crate::lock::locked;
use crate::progress::Question;
use crate::receive::assembly::{Examination, Trouble};
use crate::receive::shared::Shared;
use crate::wire::control::Verdict;
use std::sync::{MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use units::Span;

/// Whole files wait no longer for their names.
const NAMING: Span = Span::from_secs(5);
/// Between checks whether many wait for their names.
const NAMING_CHECK: Duration = Duration::from_millis(200);

/// Runs `control` with the workers beside it.
///
/// # Errors
/// What `control` ends with; [`TransferError::System`] if the system gives no threads.
pub(super) fn beside<T>(
    shared: &Shared<'_>,
    sender: &SenderSession,
    control: impl FnOnce() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let workers: [fn(&Shared<'_>, &SenderSession); 3] = [examine, name, ask];
    // There the script says whose turn it is.
    let workers = &workers[if cfg!(fuzzing) { 3 } else { 0 }..];
    std::thread::scope(|threads| {
        let ended = workers
            .iter()
            .try_for_each(|&work| {
                Builder::new().spawn_scoped(threads, move || work(shared, sender)).map(drop)
            })
            .map_err(TransferError::system("start a thread"))
            .and_then(|()| control());
        locked(&sender.jobs).over = true;
        shared.receiver.assembly.stop();
        sender.nudge.notify_all();
        ended
    })
}

/// Answers the offers for which something has to be read.
fn examine(shared: &Shared<'_>, sender: &SenderSession) {
    loop {
        let mut jobs = wait(sender, |jobs| jobs.examinations.is_empty());
        let Some(examination) = jobs.examinations.pop_front() else { return };
        if jobs.over {
            return;
        }
        drop(jobs);
        examine_one(shared, sender, examination);
    }
}

fn examine_one(shared: &Shared<'_>, sender: &SenderSession, examination: Box<Examination>) {
    let id = examination.id();
    match shared.receiver.assembly.examine(*examination) {
        Ok(verdict) => locked(&sender.answers).push((id, verdict)),
        Err(Trouble::File(reason)) => locked(&sender.answers).push((id, Verdict::Refused(reason))),
        Err(trouble) => sender.trouble(trouble, id),
    }
}

/// Gives names to whole files, some seconds after they came.
fn name(shared: &Shared<'_>, sender: &SenderSession) {
    let (assembly, clock) = (&shared.receiver.assembly, &shared.receiver.clock);
    let mut named = clock.now();
    loop {
        let jobs = locked(&sender.jobs);
        let (jobs, _) = sender.nudge.wait_timeout(jobs, NAMING_CHECK).unwrap_or_else(PoisonError::into_inner);
        if jobs.over {
            return;
        }
        drop(jobs);
        if clock.now().since(named) < NAMING && !assembly.is_full() {
            continue;
        }
        name_all(shared, sender);
        named = clock.now();
    }
}

pub(in crate::receive) fn name_all(shared: &Shared<'_>, sender: &SenderSession) {
    match shared.receiver.assembly.name_waiting() {
        Ok(lost) => lost.into_iter().for_each(|(id, reason)| sender.trouble(Trouble::File(reason), id)),
        Err(error) => sender.trouble(Trouble::Session(error), 0),
    }
}

/// Asks the receiver's user.
fn ask(shared: &Shared<'_>, sender: &SenderSession) {
    loop {
        let mut jobs = wait(sender, |jobs| jobs.question.is_none());
        let Some(question) = jobs.question.take() else { return };
        drop(jobs);
        answer(shared, sender, &question);
    }
}

fn answer(shared: &Shared<'_>, sender: &SenderSession, question: &Question) {
    let answer = shared.observer.accept(question, &|| locked(&sender.jobs).over);
    locked(&sender.jobs).answer = Some(answer);
}

/// Work that the script of the control connection runs apart from it. It is a data connection, whose bytes come in
/// parts of a given size, or names, passing time, an answer, or an examination.
#[cfg(fuzzing)]
pub(super) fn turn(shared: &Shared<'_>, sender: &SenderSession, control: &Channel) {
    use crate::channel::script::Segment;
    let Some((kind, about)) = control.turn() else { return };
    let first = about.first().copied().unwrap_or_default();
    match kind {
        0 => {
            let pieces =
                about.get(1..).unwrap_or_default().chunks(if first == 0 { 4096 } else { first.into() });
            let data = Channel::scripted(pieces.map(|piece| Segment::Bytes(piece.to_vec())));
            crate::receive::stream::serve(shared, sender, &std::sync::Arc::new(data));
        }
        2 => name_all(shared, sender),
        3 => crate::fuzzing::pass(Span::from_millis(60 << first.min(9))),
        4 => {
            let question = locked(&sender.jobs).question.take();
            question.into_iter().for_each(|question| answer(shared, sender, &question));
        }
        _ => {
            let examination = locked(&sender.jobs).examinations.pop_front();
            examination.into_iter().for_each(|examination| examine_one(shared, sender, examination));
        }
    }
}

/// Waits until `nothing` is to be done no more, or the sender session is over.
fn wait(sender: &SenderSession, nothing: impl Fn(&Jobs) -> bool) -> MutexGuard<'_, Jobs> {
    sender
        .nudge
        .wait_while(locked(&sender.jobs), |jobs| nothing(jobs) && !jobs.over)
        .unwrap_or_else(PoisonError::into_inner)
}
