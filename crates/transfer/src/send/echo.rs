//! Echoes of the receiver's probes, and the packet trains that it asks for, as far as `--limit` allows.

use super::rate_limit::RateLimit;
use super::transfer::Transfer;
use host::{Clock, PollFd, PollFlags};
use probe::Echoer;

/// Answers until the transfer ends.
pub(super) fn serve(transfer: &Transfer, mut echoer: Echoer) {
    while !transfer.queue.is_closed() {
        let mut sockets = [PollFd::new(&echoer, PollFlags::IN), PollFd::new(&transfer.over, PollFlags::IN)];
        // An interruption does no harm, because the echoer reads whatever has arrived.
        let _ = host::wait(&mut sockets, None);
        answer(&mut echoer, &transfer.limit, &transfer.clock);
    }
}

/// Answers the probes that have arrived. Trains count towards the limit, as data does.
fn answer(echoer: &mut Echoer, limit: &RateLimit, clock: &Clock) {
    echoer.poll_allowing(clock, |train| limit.take_for_train(train.get()));
}

#[cfg(test)]
#[path = "../../tests/within/echo.rs"]
mod tests;
