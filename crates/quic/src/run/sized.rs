//! [`SizedWindow`]: a sizer at a connection's window.

use crate::receiving_end::ReceivingEnd;
use crate::session::{FlowConfig, OVERHEAD};
use host::{Clock, options};
use live::{LiveError, SideChannel, SizerChoice};
use probe::{ProbeEvent, Prober};
use sizing::{Driver, Input};
use std::net::SocketAddr;
use units::{Bytes, Rate, Span, Time};

/// The least time between two measurements.
const OFTEN: Span = Span::from_millis(1);
/// The greatest time between two measurements.
const SELDOM: Span = Span::from_millis(10);
/// Measurements in each round trip.
const PER_ROUND_TRIP: u64 = 8;

/// A sizer, the prober of its path, and the measurements that it has got.
#[derive(Debug)]
pub(super) struct SizedWindow {
    pub(super) driver: Driver,
    pub(super) prober: Option<Prober>,
    delivered: Bytes,
    jumps: u64,
    due: Time,
    round_trip: Option<Span>,
    round_trip_reported: Time,
}

impl SizedWindow {
    /// Makes the sizer `choice` of flow `id` at `now`, whose probes go to the echoer of `side_channel`.
    pub(super) fn new(
        choice: &SizerChoice,
        flow: &FlowConfig,
        id: usize,
        now: Time,
        side_channel: Option<&SideChannel>,
    ) -> Result<Self, LiveError> {
        let sizer = choice.build_for(flow.common.segment, OVERHEAD)?;
        let connect = |(echoer, key): (SocketAddr, _)| {
            let local = options::any_address(echoer, flow.probe_port.unwrap_or(0));
            Prober::connect_from(local, echoer, key, id as u64)
        };
        let prober = side_channel.and_then(SideChannel::echo).map(connect).transpose()?;
        let mut driver = Driver::new(sizer, now);
        driver.note_phase(now);
        if options::is_rate_based(&flow.control.name) {
            driver.tell(now, Input::RateBased);
        }
        Ok(Self {
            driver,
            prober,
            delivered: Bytes::ZERO,
            jumps: 0,
            due: now,
            round_trip: None,
            round_trip_reported: now,
        })
    }

    /// Measures if that is due, lets the prober work and the sizer decide, and sets the window. Returns another cap on
    /// the sender's pacing rate if the sizer wants one; `Some(None)` removes the cap.
    pub(super) fn poll(
        &mut self,
        end: &mut ReceivingEnd,
        clock: &Clock,
        id: usize,
        side_channel: Option<&SideChannel>,
    ) -> Option<Option<Rate>> {
        let now = clock.now();
        if let Some(report) = side_channel.and_then(|side_channel| side_channel.take_report(id)) {
            self.driver.handle(now, Input::Sender(report));
        }
        if now >= self.due {
            self.observe(end, now);
            let pause = self.round_trip.map_or(OFTEN, |time| (time / PER_ROUND_TRIP).max(OFTEN).min(SELDOM));
            self.due = now + pause;
        }
        self.driver.follow(now);
        let demands = self.driver.take_demands();
        for _ in 0..demands.trains {
            match &mut self.prober {
                Some(prober) => prober.ask_train(demands.packets),
                None => drop(self.driver.tell(now, Input::Train(None))),
            }
        }
        if let Some(prober) = &mut self.prober {
            prober.set_interval(self.driver.sizer().probe_interval(), now);
            for event in prober.poll(clock) {
                self.driver.tell(now, input(&event));
            }
        }
        self.driver.note_phase(now);
        if let Some(window) = self.driver.window()
            && window != end.window()
        {
            end.set_window(window);
        }
        demands.pace
    }

    fn observe(&mut self, end: &ReceivingEnd, now: Time) {
        // The round trip goes first, because a delivery may end a period that is counted in round trips.
        if let Some(round_trip) = end.round_trip() {
            let due = self.round_trip.is_none() || now.since(self.round_trip_reported) >= round_trip;
            self.round_trip = Some(round_trip);
            if due {
                self.round_trip_reported = now;
                self.driver.handle(now, Input::RoundTrip(round_trip));
            }
        }
        let jumps = end.jumps();
        if jumps > self.jumps {
            self.driver.handle(now, Input::OutOfOrder(jumps - self.jumps));
            self.jumps = jumps;
        }
        let gained = end.payload().saturating_sub(self.delivered);
        if gained > Bytes::ZERO {
            self.driver.handle(now, Input::Delivered(gained));
            self.delivered = end.payload();
        }
    }

    /// Returns true while the sizer measures the path without data.
    pub(super) fn wants_quiet(&self) -> bool {
        self.prober.is_some() && self.driver.sizer().wants_quiet()
    }

    /// Returns the time of the next poll.
    pub(super) fn wakeup(&self) -> Time {
        let prober = self.prober.as_ref().map_or(Time::NEVER, Prober::wakeup);
        self.driver.sizer().wakeup().unwrap_or(Time::NEVER).min(self.due).min(prober)
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
