//! The loop of the receiving side.

use super::sized::SizedWindow;
use super::{Moment, Receiver, wait};
use crate::batch::Batch;
use crate::port::{Buffers, Port};
use crate::receiving_end::ReceivingEnd;
use crate::session::{FlowConfig, LARGEST_WINDOW, SessionConfig};
use host::{Clock, Interest, Poller, TcpOptions};
use live::{
    LiveError, Measured, ReceivedFlow, ReceiverSample, STOP_CHECK, SampleTimes, SideChannel, WindowReading,
};
use probe::ProbeCounts;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Rate, Span, Time};

/// The first token of a prober: smaller tokens are flows.
const FIRST_PROBER: u64 = 1 << 31;
/// The silence after which a greedy flow past its stop counts as ended, because the path may have dropped the sender's
/// last packet.
const SILENT_AFTER_STOP: Span = Span::from_secs(1);
/// The calls that receive for a flow before the next flow's turn.
const CALLS_AT_ONCE: u32 = 8;

/// One flow at its receiver.
struct Incoming<'a> {
    config: &'a FlowConfig,
    port: Port,
    end: ReceivingEnd,
    sized: Option<SizedWindow>,
    /// The payload at the last sample, and the time of the last sample at which it had grown.
    seen: (Bytes, Time),
    /// The time at which measuring began, and the payload until that time.
    base: Option<(Time, Bytes)>,
    wakeup: Time,
    result: ReceivedFlow,
}

/// The loop of the receiving side.
pub(super) struct ReceiveLoop<'a> {
    config: &'a SessionConfig,
    clock: Clock,
    side_channel: Option<&'a SideChannel>,
    poller: Poller,
    flows: Vec<Incoming<'a>>,
    buffers: Buffers,
    batch: Batch,
}

impl<'a> ReceiveLoop<'a> {
    pub(super) fn new(
        config: &'a SessionConfig,
        receiver: Receiver,
        clock: Clock,
        side_channel: Option<&'a SideChannel>,
    ) -> Result<Self, LiveError> {
        let (poller, epoch) = (Poller::new()?, clock.instant(Time::ZERO));
        let mut flows = Vec::new();
        for ((id, config), port) in (0..).zip(&config.flows).zip(receiver.ports) {
            poller.add(&port, id, Interest::IN)?;
            let end = ReceivingEnd::listen(config, &receiver.keys, epoch, None)?;
            flows.push(Incoming::new(config, port, end));
        }
        Ok(Self { config, clock, side_channel, poller, flows, buffers: Buffers::new(), batch: Batch::new() })
    }

    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), LiveError> {
        host::run_ahead();
        let end = self.config.end.map_or(Time::NEVER, |end| Time::ZERO + end);
        let warmup = Time::ZERO + self.config.warmup;
        let mut sample_times = SampleTimes::new(self.config.every, self.config.warmup, self.clock.now());
        loop {
            let moment = Moment::now(self.clock);
            let now = moment.path;
            if now < end && sample_times.take(now) {
                self.flows.iter_mut().for_each(|flow| flow.sample(now, warmup));
            }
            let over = self.flows.iter().all(|flow| flow.result.ended.is_some());
            if over || now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            for id in 0..self.flows.len() {
                if self.flows[id].wakeup <= moment.real {
                    self.flows[id].end.turn(moment.real);
                    self.settle(id)?;
                }
            }
            let due = end.min(sample_times.due()).min(now + STOP_CHECK);
            let wake = self.flows.iter().map(|flow| flow.wakeup).fold(moment.real_at(due), Time::min);
            for (token, _) in wait(&self.poller, self.clock, wake, false)? {
                // A prober's socket is read as its sizer is polled.
                let id = (token % FIRST_PROBER) as usize;
                if token < FIRST_PROBER {
                    self.receive(id)?;
                }
                self.settle(id)?;
            }
        }
        let now = self.clock.now();
        for flow in &mut self.flows {
            flow.sample(now, warmup);
            flow.finish();
        }
        Ok(())
    }

    pub(super) fn into_results(self) -> Vec<ReceivedFlow> {
        self.flows.into_iter().map(|flow| flow.result).collect()
    }

    /// Handles the datagrams that have arrived for flow `id`, and answers each of them at once.
    fn receive(&mut self, id: usize) -> Result<(), LiveError> {
        let Incoming { port, end, .. } = &mut self.flows[id];
        for _ in 0..CALLS_AT_ONCE {
            let (clock, batch) = (self.clock, &mut self.batch);
            let mut unsent = Vec::new();
            let came = port.receive(&mut self.buffers, |from, datagram| {
                let now = clock.real();
                end.handle(now, from, datagram);
                loop {
                    end.output(now, batch);
                    if batch.is_empty() {
                        return Ok(());
                    }
                    unsent.push(std::mem::take(batch));
                }
            })?;
            for batch in &unsent {
                port.send(batch);
            }
            if !came {
                break;
            }
        }
        Ok(())
    }

    /// Lets the sizer of flow `id` decide, sends what is due, and notes the next wake-up.
    fn settle(&mut self, id: usize) -> Result<(), LiveError> {
        let flow = &mut self.flows[id];
        let moment = Moment::now(self.clock);
        let now = moment.path;
        if flow.result.accepted.is_none() && flow.end.peer().is_some() {
            flow.result.accepted = Some(now);
            flow.result.peer = flow.end.peer();
            flow.seen.1 = now;
            if let Some(choice) = &flow.config.common.sizer {
                let sized = SizedWindow::new(choice, flow.config, id, now, self.side_channel)?;
                if let Some(prober) = &sized.prober {
                    self.poller.add(prober, FIRST_PROBER + id as u64, Interest::IN)?;
                }
                flow.sized = Some(sized);
            }
        }
        if let Some(sized) = &mut flow.sized {
            let pace = sized.poll(&mut flow.end, &self.clock, id, self.side_channel);
            if let Some(side_channel) = self.side_channel {
                if let Some(rate) = pace {
                    side_channel.pace(id, rate);
                }
                if !sized.wants_quiet() {
                    side_channel.release(id);
                }
            }
        }
        loop {
            flow.end.output(moment.real, &mut self.batch);
            if self.batch.is_empty() {
                break;
            }
            flow.port.send(&self.batch);
        }
        if flow.end.has_ended() {
            flow.end_at(now);
        }
        let sizer = flow.sized.as_ref().map_or(Time::NEVER, SizedWindow::wakeup);
        flow.wakeup = flow.end.wakeup().min(moment.real_at(sizer));
        Ok(())
    }
}

impl<'a> Incoming<'a> {
    fn new(config: &'a FlowConfig, port: Port, end: ReceivingEnd) -> Self {
        let result = ReceivedFlow {
            name: config.common.name.clone(),
            peer: None,
            accepted: None,
            ended: None,
            payload: Bytes::ZERO,
            measured: Measured::default(),
            marks: None,
            options: TcpOptions::default(),
            window_scale: 0,
            buffer: None,
            window_overwritten: 0,
            phases: Vec::new(),
            final_window: None,
            probes: ProbeCounts::default(),
            samples: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            config,
            port,
            end,
            sized: None,
            seen: (Bytes::ZERO, Time::ZERO),
            base: None,
            wakeup: Time::NEVER,
            result,
        }
    }

    /// Ends the flow, which its sender has finished or stopped.
    fn end_at(&mut self, ended: Time) {
        self.result.ended.get_or_insert(ended);
    }

    /// Takes one reading at `now`.
    fn sample(&mut self, now: Time, warmup: Time) {
        let Some(accepted) = self.result.accepted else { return };
        let (payload, at) = (self.end.payload(), self.result.ended.unwrap_or(now));
        let before = self.result.samples.last().map_or(accepted, |sample| sample.at);
        if at <= before && !self.result.samples.is_empty() {
            return;
        }
        let gained = payload.saturating_sub(self.seen.0);
        if gained > Bytes::ZERO {
            self.seen.1 = at;
        }
        self.seen.0 = payload;
        let granted = self.end.window();
        let requested = Some(granted).filter(|window| *window < LARGEST_WINDOW);
        self.result.samples.push(ReceiverSample {
            at,
            payload,
            goodput: Rate::of(gained, at.since(before)),
            rcv_rtt: self.end.round_trip(),
            out_of_order: u32::try_from(self.end.jumps()).ok(),
            window: WindowReading { requested, granted, observed: Some(granted) },
        });
        self.result.payload = payload;
        if at >= warmup {
            let late = accepted >= warmup;
            let first = if late { (accepted, Bytes::ZERO) } else { (at, payload) };
            let (from, base) = *self.base.get_or_insert(first);
            self.result.measured = Measured { from, to: at, payload: payload.saturating_sub(base) };
        }
        let stop = self.config.common.stop.filter(|_| self.config.common.size.is_none());
        let is_silent = now.since(self.seen.1) > SILENT_AFTER_STOP;
        if is_silent && stop.is_some_and(|stop| now > Time::ZERO + stop) {
            self.end_at(self.seen.1);
        }
    }

    /// Keeps what the sizer and its prober leave, and adds the notes that a reader of the results needs.
    fn finish(&mut self) {
        if let Some(sized) = self.sized.take() {
            self.result.phases = sized.driver.changes().to_vec();
            self.result.final_window = sized.driver.window();
            if let Some(prober) = &sized.prober {
                self.result.probes = prober.counts();
            }
        }
        let result = &mut self.result;
        if let (Some(size), Some(ended)) = (self.config.common.size, result.ended)
            && result.payload < size
        {
            let (ended, got) = (ended.since(Time::ZERO).rounded(), result.payload.rounded());
            result.notes.push(format!("ended after {ended} with {got} of {}", size.rounded()));
        }
        if self.port.unsent > 0 {
            result.notes.push(format!("{} acknowledgements could not be sent", self.port.unsent));
        }
    }
}
