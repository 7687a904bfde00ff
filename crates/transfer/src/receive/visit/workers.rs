//! What is done beside a visit's control connection, so that it goes on speaking meanwhile: reading what is there, giving
//! names to whole files, asking the receiver's user.

use super::{Jobs, Visit};
#[cfg(fuzzing)]
use crate::channel::Channel;
use crate::error::TransferError;
use crate::progress::Question;
use crate::receive::gate::{House, locked};
use crate::receive::landing::{Examination, Trouble};
use crate::wire::control::Verdict;
use std::sync::{MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use units::Span;

/// Whole files wait no longer for their names.
const NAMING: Span = Span::from_secs(5);
/// Between looks at whether they are many.
const LOOK: Duration = Duration::from_millis(200);

/// Runs `control` with the workers beside it.
///
/// # Errors
/// What `control` ends with; [`TransferError::System`] if the system gives no threads.
pub(super) fn beside<T>(
    house: &House<'_>,
    visit: &Visit,
    control: impl FnOnce() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let workers: [fn(&House<'_>, &Visit); 3] = [examine, name, ask];
    // There the script says whose turn it is.
    let workers = &workers[if cfg!(fuzzing) { 3 } else { 0 }..];
    std::thread::scope(|threads| {
        let ended = workers
            .iter()
            .try_for_each(|&work| Builder::new().spawn_scoped(threads, move || work(house, visit)).map(drop))
            .map_err(TransferError::system("start a thread"))
            .and_then(|()| control());
        locked(&visit.jobs).over = true;
        house.receiver.landing.stop();
        visit.nudge.notify_all();
        ended
    })
}

/// Answers the offers for which something has to be read.
fn examine(house: &House<'_>, visit: &Visit) {
    loop {
        let mut jobs = wait(visit, |jobs| jobs.examinations.is_empty());
        let Some(examination) = jobs.examinations.pop_front() else { return };
        if jobs.over {
            return;
        }
        drop(jobs);
        examine_one(house, visit, examination);
    }
}

fn examine_one(house: &House<'_>, visit: &Visit, examination: Box<Examination>) {
    let id = examination.id();
    match house.receiver.landing.examine(*examination) {
        Ok(verdict) => locked(&visit.answers).push((id, verdict)),
        Err(Trouble::File(reason)) => locked(&visit.answers).push((id, Verdict::Refused(reason))),
        Err(trouble) => visit.trouble(trouble, id),
    }
}

/// Gives names to whole files, some seconds after they came.
fn name(house: &House<'_>, visit: &Visit) {
    let (landing, clock) = (&house.receiver.landing, &house.receiver.clock);
    let mut named = clock.now();
    loop {
        let jobs = locked(&visit.jobs);
        let (jobs, _) = visit.nudge.wait_timeout(jobs, LOOK).unwrap_or_else(PoisonError::into_inner);
        if jobs.over {
            return;
        }
        drop(jobs);
        if clock.now().since(named) < NAMING && !landing.is_full() {
            continue;
        }
        name_all(house, visit);
        named = clock.now();
    }
}

pub(in crate::receive) fn name_all(house: &House<'_>, visit: &Visit) {
    match house.receiver.landing.name_waiting() {
        Ok(lost) => lost.into_iter().for_each(|(id, reason)| visit.trouble(Trouble::File(reason), id)),
        Err(error) => visit.trouble(Trouble::Session(error), 0),
    }
}

/// Asks the receiver's user.
fn ask(house: &House<'_>, visit: &Visit) {
    loop {
        let mut jobs = wait(visit, |jobs| jobs.question.is_none());
        let Some(question) = jobs.question.take() else { return };
        drop(jobs);
        answer(house, visit, &question);
    }
}

fn answer(house: &House<'_>, visit: &Visit, question: &Question) {
    let answer = house.observer.accept(question, &|| locked(&visit.jobs).over);
    locked(&visit.jobs).answer = Some(answer);
}

/// What the script of the control connection says to be done beside it: a data connection, whose bytes come so many at a
/// time; names; time passes; an answer; an examination.
#[cfg(fuzzing)]
pub(super) fn turn(house: &House<'_>, visit: &Visit, control: &Channel) {
    use crate::channel::script::Segment;
    let Some((kind, about)) = control.turn() else { return };
    let first = about.first().copied().unwrap_or_default();
    match kind {
        0 => {
            let pieces =
                about.get(1..).unwrap_or_default().chunks(if first == 0 { 4096 } else { first.into() });
            let data = Channel::scripted(pieces.map(|piece| Segment::Bytes(piece.to_vec())));
            crate::receive::stream::serve(house, visit, &std::sync::Arc::new(data));
        }
        2 => name_all(house, visit),
        3 => crate::fuzzing::pass(Span::from_millis(60 << first.min(9))),
        4 => {
            let question = locked(&visit.jobs).question.take();
            question.into_iter().for_each(|question| answer(house, visit, &question));
        }
        _ => {
            let examination = locked(&visit.jobs).examinations.pop_front();
            examination.into_iter().for_each(|examination| examine_one(house, visit, examination));
        }
    }
}

/// Waits until `nothing` is to be done no more, or the visit is over.
fn wait(visit: &Visit, nothing: impl Fn(&Jobs) -> bool) -> MutexGuard<'_, Jobs> {
    visit
        .nudge
        .wait_while(locked(&visit.jobs), |jobs| nothing(jobs) && !jobs.over)
        .unwrap_or_else(PoisonError::into_inner)
}
