//! Echoing the receiver's probes, and sending it the packet trains it asks for.

use super::flight::{Flight, locked};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The end of the transfer is looked for this often.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Answers until the transfer ends.
pub(super) fn serve(flight: &Flight) {
    let Some(mut echoer) = locked(&flight.echoer).take() else { return };
    while !flight.queue.is_closed() {
        // Interrupted or not: it is looked again.
        let _ = poll(&mut [PollFd::new(&echoer, PollFlags::IN)], Some(&LOOK));
        echoer.poll(&flight.clock);
    }
}
