//! [`Liaison`]: what the two sides of a session tell each other beside the data, where both run in one process.
//!
//! A sender on another machine would send the same over a connection of its own. Probes are real packets either way:
//! the liaison only says where the echoer is and which key it has.

use crate::error::LiveError;
use probe::{Echoer, ProbeKey, TrainLimits};
use sizing::SenderReport;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use units::Rate;

/// One flow's part.
#[derive(Clone, Copy, Debug, Default)]
struct Messages {
    /// The sender's newest report, until it is fetched.
    report: Option<SenderReport>,
    /// The receiver's newest wish for the pacing rate, until it is fetched.
    pace: Option<Option<Rate>>,
    /// The receiver has no need of quiet, or no longer.
    released: bool,
}

/// Messages between the sides of a session, a place for each flow. Only the newest of a kind waits: all of them count
/// from the beginning or replace what was said before.
#[derive(Debug)]
pub struct Liaison {
    flows: Vec<Mutex<Messages>>,
    echo: Option<Echo>,
}

/// Where the receiver's probes are echoed.
#[derive(Debug)]
struct Echo {
    address: SocketAddr,
    key: ProbeKey,
    /// Waits for the sender's thread.
    echoer: Mutex<Option<Echoer>>,
}

impl Liaison {
    /// For a session of `flows` flows.
    #[must_use]
    pub fn new(flows: usize) -> Self {
        Self { flows: (0..flows).map(|_| Mutex::default()).collect(), echo: None }
    }

    /// The same with an echoer at `address` (port 0: any), in the calling thread's namespace: the sender's. The sending
    /// side of the session runs it; the receiver's flows with sizers probe by it.
    ///
    /// # Errors
    /// [`LiveError::Probe`].
    pub fn with_echoer(flows: usize, address: SocketAddr) -> Result<Self, LiveError> {
        let key = ProbeKey::random()?;
        let echoer = Echoer::bind(address, &key, 0..flows as u64, TrainLimits::default())?;
        let echo = Echo { address: echoer.address()?, key, echoer: Mutex::new(Some(echoer)) };
        Ok(Self { echo: Some(echo), ..Self::new(flows) })
    }

    /// Where probes are echoed, and the key for them; a flow's place is its session.
    #[must_use]
    pub fn echo(&self) -> Option<(SocketAddr, &ProbeKey)> {
        self.echo.as_ref().map(|echo| (echo.address, &echo.key))
    }

    /// The echoer, for the thread that runs it.
    pub(crate) fn take_echoer(&self) -> Option<Echoer> {
        self.echo.as_ref()?.echoer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Says what the sender knows of `flow`. Flows the session does not have are ignored.
    pub fn report(&self, flow: usize, report: SenderReport) {
        self.with(flow, |messages| messages.report = Some(report));
    }

    /// What the sender has said since this was asked last.
    #[must_use]
    pub fn take_report(&self, flow: usize) -> Option<SenderReport> {
        self.with(flow, |messages| messages.report.take()).flatten()
    }

    /// Lets the data of `flow` begin: the receiver has measured the path without it, or does not want to.
    pub fn release(&self, flow: usize) {
        self.with(flow, |messages| messages.released = true);
    }

    /// Whether the data may begin.
    #[must_use]
    pub fn is_released(&self, flow: usize) -> bool {
        self.with(flow, |messages| messages.released).unwrap_or(true)
    }

    /// Asks for another pacing rate.
    pub fn pace(&self, flow: usize, rate: Option<Rate>) {
        self.with(flow, |messages| messages.pace = Some(rate));
    }

    /// The pacing rate asked for since this was asked last; `Some(None)`: the cap is to be taken away.
    #[must_use]
    pub fn take_pace(&self, flow: usize) -> Option<Option<Rate>> {
        self.with(flow, |messages| messages.pace.take()).flatten()
    }

    fn with<T>(&self, flow: usize, act: impl FnOnce(&mut Messages) -> T) -> Option<T> {
        // Plain values: a thread that panicked while it held them left them whole.
        Some(act(&mut self.flows.get(flow)?.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_message_is_fetched_once() {
        let liaison = Liaison::new(2);
        assert_eq!(liaison.take_report(0), None);
        for retransmits in [1, 2] {
            liaison.report(0, SenderReport { retransmits, ..SenderReport::default() });
        }
        assert_eq!(liaison.take_report(1), None, "another flow's place");
        assert_eq!(liaison.take_report(0).map(|report| report.retransmits), Some(2));
        assert_eq!(liaison.take_report(0), None);
        liaison.pace(1, None);
        assert_eq!(liaison.take_pace(1), Some(None), "asked to take the cap away");
        assert_eq!(liaison.take_pace(1), None);
        assert!(!liaison.is_released(0));
        liaison.release(0);
        assert!(liaison.is_released(0) && !liaison.is_released(1) && liaison.is_released(7));
        liaison.report(7, SenderReport::default());
        assert_eq!(liaison.take_report(7), None, "no such flow");
    }
}
