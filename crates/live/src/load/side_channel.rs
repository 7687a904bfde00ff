//! [`SideChannel`]: messages between the two sides of a session in addition to the data, where both run in one process.
//!
//! A sender on another machine would send the same messages over a separate connection. Probes are real packets in both
//! cases: the side channel only gives the echoer's address and key.

use crate::error::LiveError;
use probe::{Echoer, ProbeKey, TrainLimits};
use sizing::SenderReport;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use units::Rate;

/// The messages of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Messages {
    /// The sender's newest report, until the receiver fetches it.
    report: Option<SenderReport>,
    /// The receiver's newest request for a pacing rate, until the sender fetches it.
    pace: Option<Option<Rate>>,
    /// True if the receiver does not need the sender to be quiet, or no longer needs it.
    released: bool,
}

/// Messages between the sides of a session, with a place for each flow. Only the newest message of a kind is kept,
/// because each one has totals since the start or replaces the one before.
#[derive(Debug)]
pub struct SideChannel {
    flows: Vec<Mutex<Messages>>,
    echo: Option<Echo>,
}

/// The address at which the receiver's probes are echoed, and the echoer itself.
#[derive(Debug)]
struct Echo {
    address: SocketAddr,
    key: ProbeKey,
    /// The echoer, until the sender's thread takes it.
    echoer: Mutex<Option<Echoer>>,
}

impl SideChannel {
    /// Makes a side channel for a session of `flows` flows, without an echoer.
    #[must_use]
    pub fn new(flows: usize) -> Self {
        Self { flows: (0..flows).map(|_| Mutex::default()).collect(), echo: None }
    }

    /// Makes a side channel with an echoer at `address` (port 0: any) in the calling thread's namespace, which is the
    /// sender's. The sending side of the session runs the echoer; the receiver's flows with sizers send it their
    /// probes.
    ///
    /// # Errors
    /// [`LiveError::Probe`].
    pub fn with_echoer(flows: usize, address: SocketAddr) -> Result<Self, LiveError> {
        let key = ProbeKey::random()?;
        let echoer = Echoer::bind(address, &key, 0..flows as u64, TrainLimits::default())?;
        let echo = Echo { address: echoer.address()?, key, echoer: Mutex::new(Some(echoer)) };
        Ok(Self { echo: Some(echo), ..Self::new(flows) })
    }

    /// Returns the address at which probes are echoed, and their key; the index of a flow in the session is the session
    /// number of its probes.
    #[must_use]
    pub fn echo(&self) -> Option<(SocketAddr, &ProbeKey)> {
        self.echo.as_ref().map(|echo| (echo.address, &echo.key))
    }

    /// Returns the echoer, for the thread that runs it.
    #[must_use]
    pub fn take_echoer(&self) -> Option<Echoer> {
        self.echo.as_ref()?.echoer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores what the sender knows about `flow`. A flow that the session does not have is ignored.
    pub fn report(&self, flow: usize, report: SenderReport) {
        self.with(flow, |messages| messages.report = Some(report));
    }

    /// Returns the sender's report, if there is a new one since the last call.
    #[must_use]
    pub fn take_report(&self, flow: usize) -> Option<SenderReport> {
        self.with(flow, |messages| messages.report.take()).flatten()
    }

    /// Lets the data of `flow` begin, because the receiver has measured the path without data, or does not need to.
    pub fn release(&self, flow: usize) {
        self.with(flow, |messages| messages.released = true);
    }

    /// Returns true if the data may begin.
    #[must_use]
    pub fn is_released(&self, flow: usize) -> bool {
        self.with(flow, |messages| messages.released).unwrap_or(true)
    }

    /// Asks the sender for another pacing rate.
    pub fn pace(&self, flow: usize, rate: Option<Rate>) {
        self.with(flow, |messages| messages.pace = Some(rate));
    }

    /// Returns the pacing rate that the receiver requested since the last call; `Some(None)`: the sender removes its
    /// cap.
    #[must_use]
    pub fn take_pace(&self, flow: usize) -> Option<Option<Rate>> {
        self.with(flow, |messages| messages.pace.take()).flatten()
    }

    fn with<T>(&self, flow: usize, act: impl FnOnce(&mut Messages) -> T) -> Option<T> {
        // A poisoned lock is used nevertheless: the messages are plain values, which a thread that panicked cannot have
        // left half written.
        Some(act(&mut self.flows.get(flow)?.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_message_is_fetched_once() {
        let side_channel = SideChannel::new(2);
        assert_eq!(side_channel.take_report(0), None);
        for retransmits in [1, 2] {
            side_channel.report(0, SenderReport { retransmits, ..SenderReport::default() });
        }
        assert_eq!(side_channel.take_report(1), None, "another flow's place");
        assert_eq!(side_channel.take_report(0).map(|report| report.retransmits), Some(2));
        assert_eq!(side_channel.take_report(0), None);
        side_channel.pace(1, None);
        assert_eq!(side_channel.take_pace(1), Some(None), "asked to take the cap away");
        assert_eq!(side_channel.take_pace(1), None);
        assert!(!side_channel.is_released(0));
        side_channel.release(0);
        assert!(side_channel.is_released(0) && !side_channel.is_released(1) && side_channel.is_released(7));
        side_channel.report(7, SenderReport::default());
        assert_eq!(side_channel.take_report(7), None, "no such flow");
    }
}
