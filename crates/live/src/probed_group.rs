//! [`ProbedGroup`]: a group of connections under one sizer, and the prober of their path.

use crate::error::LiveError;
use crate::sized_group::SizedGroup;
use host::Clock;
use probe::{ProbeEvent, Prober};
use sizing::Input;
use std::os::fd::AsFd;
use units::{Rate, Time};

/// A group of connections under one sizer, and a prober if there is an echoer at the sender's side. The caller lends
/// the sockets for each call, in the order in which they joined the group.
#[derive(Debug)]
pub struct ProbedGroup {
    /// The connections.
    pub group: SizedGroup,
    prober: Option<Prober>,
}

impl ProbedGroup {
    /// Adds probing to `group`, whose path `prober` probes. Without a prober, a train that the sizer requests counts
    /// as lost.
    #[must_use]
    pub const fn new(group: SizedGroup, prober: Option<Prober>) -> Self {
        Self { group, prober }
    }

    /// Lets the group measure, the prober read and send what is due, and the sizer decide. Returns another cap on the
    /// sender's pacing rate if the sizer wants one; `Some(None)` removes the cap.
    ///
    /// # Errors
    /// [`LiveError::Host`] if the kernel refuses a window.
    pub fn poll<S: AsFd>(&mut self, sockets: &[S], clock: &Clock) -> Result<Option<Option<Rate>>, LiveError> {
        let now = clock.now();
        self.group.poll(sockets, now)?;
        let demands = self.group.take_demands();
        for _ in 0..demands.trains {
            match &mut self.prober {
                Some(prober) => prober.ask_train(demands.packets),
                // Without a prober no train can be sent.
                None => self.group.tell(sockets, now, Input::Train(None))?,
            }
        }
        if let Some(prober) = &mut self.prober {
            prober.set_interval(self.group.sizer().probe_interval(), now);
            for event in prober.poll(clock) {
                self.group.tell(sockets, now, input(&event))?;
            }
        }
        Ok(demands.pace)
    }

    /// Returns the time of the next poll. A poll is also due when the prober's socket is readable.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.group.wakeup().min(self.prober.as_ref().map_or(Time::NEVER, Prober::wakeup))
    }

    /// Returns true while the sizer measures the path without data; the sender should hold its data back for so long.
    /// Only with a prober.
    #[must_use]
    pub fn wants_quiet(&self) -> bool {
        self.prober.is_some() && self.group.sizer().wants_quiet()
    }

    /// Returns the prober, so that the caller can wait for its socket.
    #[must_use]
    pub const fn prober(&self) -> Option<&Prober> {
        self.prober.as_ref()
    }
}

/// Converts `event` to the sizer's input.
fn input(event: &ProbeEvent) -> Input {
    match event {
        ProbeEvent::Echo(round_trip) => Input::Probe(Some(*round_trip)),
        ProbeEvent::Lost => Input::Probe(None),
        ProbeEvent::Train(train) => {
            train.remains().map_or_else(|| Input::Train(train.rate()), Input::TrainRemains)
        }
    }
}
