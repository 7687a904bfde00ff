//! The loop of the sending side.

use super::{Moment, wait};
use crate::batch::Batch;
use crate::keys::Keys;
use crate::ledger::LedgerCounts;
use crate::port::{Buffers, Port};
use crate::sending_end::{SendingEnd, SendingPhase};
use crate::session::{FlowConfig, SessionConfig};
use host::{Clock, Interest, Poller, TcpOptions, options};
use live::{
    LiveError, RttStatistics, STOP_CHECK, SampleTimes, SendCounts, SenderSample, SentFlow, SideChannel,
};
use probe::Echoer;
use sizing::SenderReport;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Span, Time};

/// The echoer's token; those of flows are small.
const ECHOER: u64 = u64::MAX;
/// The time between two reports to a receiver with a sizer.
const REPORT_EVERY: Span = Span::from_millis(5);
/// The longest time for which data waits while the receiver measures the path.
const HOLD_AT_MOST: Span = Span::from_secs(3);
/// The time between two checks of whether the data may begin.
const HOLD_CHECK: Span = Span::from_millis(1);
/// The calls that receive for a flow before the next flow's turn.
const CALLS_AT_ONCE: u32 = 8;
/// The batches that a flow sends before the sockets are looked at again.
const BATCHES_AT_ONCE: u32 = 16;
/// The time around the session's `end` within which a lost connection is not a failure, because the receiver closes at
/// the same `end` by the same clock.
const END_TOLERANCE: Span = Span::from_millis(20);

/// One flow at its sender.
struct Outgoing<'a> {
    config: &'a FlowConfig,
    server: SocketAddr,
    port: Option<Port>,
    end: Option<SendingEnd>,
    is_done: bool,
    /// The next time at which the flow has something to do, and true if a packet is due then.
    wakeup: (Time, bool),
    warm_counts: Option<SendCounts>,
    result: SentFlow,
}

/// The loop of the sending side.
pub(super) struct SendLoop<'a> {
    config: &'a SessionConfig,
    keys: &'a Keys,
    clock: Clock,
    side_channel: Option<&'a SideChannel>,
    echoer: Option<Echoer>,
    /// The time of the next report to the receivers with sizers; [`Time::NEVER`] if no receiver has one.
    report: Time,
    poller: Poller,
    flows: Vec<Outgoing<'a>>,
    buffers: Buffers,
    batch: Batch,
}

impl<'a> SendLoop<'a> {
    pub(super) fn new(
        config: &'a SessionConfig,
        servers: &[SocketAddr],
        keys: &'a Keys,
        clock: Clock,
        side_channel: Option<&'a SideChannel>,
    ) -> Result<Self, LiveError> {
        let flows: Vec<_> =
            config.flows.iter().zip(servers).map(|(flow, server)| Outgoing::new(flow, *server)).collect();
        assert_eq!(flows.len(), config.flows.len(), "an address for each flow");
        let sized = side_channel.is_some() && config.flows.iter().any(|flow| flow.common.sizer.is_some());
        let report = if sized { clock.now() } else { Time::NEVER };
        let poller = Poller::new()?;
        let echoer = side_channel.and_then(SideChannel::take_echoer);
        if let Some(echoer) = &echoer {
            poller.add(echoer, ECHOER, Interest::IN)?;
        }
        let (buffers, batch) = (Buffers::new(), Batch::new());
        Ok(Self { config, keys, clock, side_channel, echoer, report, poller, flows, buffers, batch })
    }

    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), LiveError> {
        host::run_ahead();
        let end = self.config.end.map_or(Time::NEVER, |end| Time::ZERO + end);
        let warmup = Time::ZERO + self.config.warmup;
        let mut sample_times = SampleTimes::new(self.config.every, self.config.warmup, self.clock.now());
        loop {
            let moment = Moment::now(self.clock);
            let now = moment.path;
            let over = now >= end || self.flows.iter().all(|flow| flow.is_done);
            if over || stop.load(Ordering::Relaxed) {
                break;
            }
            if sample_times.take(now) {
                self.flows.iter_mut().for_each(|flow| flow.sample(self.clock, moment, warmup));
            }
            if now >= self.report {
                self.confer(moment);
                self.report = now + REPORT_EVERY;
            }
            for id in 0..self.flows.len() {
                if self.flows[id].wakeup.0 <= moment.real {
                    let outcome = self.step(id);
                    self.settle(id, outcome, end, stop)?;
                }
            }
            let due = end.min(sample_times.due()).min(self.report).min(now + STOP_CHECK);
            let due = moment.real_at(due);
            let first = self.flows.iter().map(|flow| flow.wakeup).min_by_key(|(at, _)| *at);
            let (at, is_departure) = first.filter(|(at, _)| *at < due).unwrap_or((due, false));
            for (token, _) in wait(&self.poller, self.clock, at, is_departure)? {
                if let (ECHOER, Some(echoer)) = (token, &mut self.echoer) {
                    echoer.poll(&self.clock);
                    continue;
                }
                let id = token as usize;
                let outcome = self.receive(id).and_then(|()| self.step(id));
                self.settle(id, outcome, end, stop)?;
            }
        }
        for id in 0..self.flows.len() {
            self.finish(id);
        }
        Ok(())
    }

    pub(super) fn into_results(self) -> Vec<SentFlow> {
        self.flows.into_iter().map(|flow| flow.result).collect()
    }

    /// Ends a flow whose connection breaks at the end of the session or after a stop; passes other outcomes on.
    fn settle(
        &mut self,
        id: usize,
        outcome: Result<(), LiveError>,
        end: Time,
        stop: &AtomicBool,
    ) -> Result<(), LiveError> {
        let now = self.clock.now();
        match outcome {
            Err(LiveError::Broken { .. }) if stop.load(Ordering::Relaxed) || now >= end - END_TOLERANCE => {
                self.finish(id);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Sends the senders' reports to the receivers with sizers, and carries out what these receivers request.
    fn confer(&mut self, moment: Moment) {
        let Some(side_channel) = self.side_channel else { return };
        for (id, flow) in self.flows.iter_mut().enumerate() {
            let (Some(end), Some(_)) = (&mut flow.end, &flow.config.common.sizer) else { continue };
            let (busy, window_limited) = end.busy(moment.real);
            side_channel.report(id, SenderReport { busy, window_limited, retransmits: end.counts().lost });
            if let Some(rate) = side_channel.take_pace(id) {
                end.set_cap(rate);
                flow.wakeup = (moment.real, false);
            }
        }
    }

    /// Lets flow `id` do all that is due now.
    fn step(&mut self, id: usize) -> Result<(), LiveError> {
        let moment = Moment::now(self.clock);
        let now = moment.path;
        let flow = &mut self.flows[id];
        if flow.is_done {
            return Ok(());
        }
        let start = Time::ZERO + flow.config.common.start;
        if flow.end.is_none() {
            if now < start {
                flow.wakeup = (moment.real_at(start), false);
                return Ok(());
            }
            flow.connect(self.keys, self.clock)?;
            if let Some(port) = &flow.port {
                self.poller.add(port, id as u64, Interest::IN)?;
            }
        }
        let (Some(end), Some(port)) = (&mut flow.end, &mut flow.port) else { return Ok(()) };
        end.turn(moment.real)?;
        if let (None, (Some(_), _)) = (flow.result.connected, end.times()) {
            flow.result.connected = Some(now);
        }
        let mut check = Time::NEVER;
        if end.phase() == SendingPhase::Connected {
            let held = flow.config.common.sizer.is_some()
                && self.side_channel.is_some_and(|side_channel| !side_channel.is_released(id))
                && flow.result.connected.is_some_and(|connected| now.since(connected) < HOLD_AT_MOST);
            if held {
                check = now + HOLD_CHECK;
            } else {
                if let Some(rate) = self.side_channel.and_then(|side_channel| side_channel.take_pace(id)) {
                    end.set_cap(rate);
                }
                end.release();
            }
        }
        let stop = flow.config.common.stop.filter(|_| flow.config.common.size.is_none());
        let stop = stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        if now >= stop {
            self.finish(id);
            return Ok(());
        }
        let mut is_busy = false;
        for sent in 0..=BATCHES_AT_ONCE {
            end.output(self.clock.real(), &mut self.batch);
            if self.batch.is_empty() {
                break;
            }
            port.send(&self.batch);
            is_busy = sent == BATCHES_AT_ONCE;
        }
        if end.phase() == SendingPhase::Done {
            self.finish(id);
            return Ok(());
        }
        let wakeup = end.wakeup();
        let (at, is_departure) =
            if is_busy { (moment.real, false) } else { (wakeup.at, wakeup.is_departure) };
        let earlier = moment.real_at(check.min(stop));
        flow.wakeup = if earlier < at { (earlier, false) } else { (at, is_departure) };
        Ok(())
    }

    /// Handles the datagrams that have arrived for flow `id`.
    fn receive(&mut self, id: usize) -> Result<(), LiveError> {
        let Outgoing { port: Some(port), end: Some(end), is_done: false, .. } = &mut self.flows[id] else {
            return Ok(());
        };
        for _ in 0..CALLS_AT_ONCE {
            let clock = self.clock;
            if !port.receive(&mut self.buffers, |from, datagram| end.handle(clock.real(), from, datagram))? {
                break;
            }
        }
        Ok(())
    }

    /// Takes the last sample of flow `id`, and informs the receiver of its end.
    fn finish(&mut self, id: usize) {
        let (moment, warmup) = (Moment::now(self.clock), Time::ZERO + self.config.warmup);
        let flow = &mut self.flows[id];
        if flow.is_done {
            return;
        }
        flow.is_done = true;
        flow.wakeup = (Time::NEVER, false);
        flow.sample(self.clock, moment, warmup);
        let (Some(mut end), Some(mut port)) = (flow.end.take(), flow.port.take()) else { return };
        end.close(moment.real);
        loop {
            end.output(moment.real, &mut self.batch);
            if self.batch.is_empty() {
                break;
            }
            port.send(&self.batch);
        }
        flow.conclude(&end, &port, self.clock, warmup);
    }
}

impl<'a> Outgoing<'a> {
    fn new(config: &'a FlowConfig, server: SocketAddr) -> Self {
        let result = SentFlow {
            name: config.common.name.clone(),
            connected: None,
            completion: None,
            handshake: None,
            acked: Bytes::ZERO,
            whole: SendCounts::default(),
            measured: SendCounts::default(),
            rtt: None,
            min_rtt: None,
            segment_payload: config.control.start.segment,
            options: TcpOptions::default(),
            measures: Vec::new(),
            lateness: None,
            samples: Vec::new(),
            notes: Vec::new(),
        };
        let wakeup = (Time::ZERO, false);
        Self { config, server, port: None, end: None, is_done: false, wakeup, warm_counts: None, result }
    }

    fn connect(&mut self, keys: &Keys, clock: Clock) -> Result<(), LiveError> {
        let local = options::any_address(self.server, self.config.common.port.unwrap_or(0));
        let port = Port::bind(local).map_err(|error| LiveError::Connect {
            flow: self.result.name.clone(),
            server: self.server,
            reason: format!("port {} of its own: {error}", local.port()),
        })?;
        port.enlarge()?;
        let begin = (clock.instant(Time::ZERO), clock.real());
        self.end = Some(SendingEnd::connect(self.config, keys, self.server, begin, None)?);
        self.port = Some(port);
        Ok(())
    }

    fn sample(&mut self, clock: Clock, moment: Moment, warmup: Time) {
        let Some(end) = &mut self.end else { return };
        let (Some(connected), now) = (self.result.connected, moment.path) else { return };
        let counts = end.counts();
        let whole = send_counts(&counts);
        self.result.acked = Bytes::new(counts.delivered);
        self.result.whole = whole;
        if now >= warmup {
            if self.warm_counts.is_none() {
                let late = connected >= warmup;
                self.warm_counts = Some(if late { SendCounts::default() } else { whole });
                if !late {
                    end.begin_measuring();
                }
            }
            self.result.measured = whole.since(self.warm_counts.unwrap_or_default());
        }
        let (_, credit_limited) = end.busy(moment.real);
        // The machine's clock continues while the path stands still.
        let real = moment.real;
        let moving =
            |rtt: Span| rtt.saturating_sub(clock.stood(real - rtt.min(real.since(Time::ZERO)), real));
        let sample = end.with_ledger(|ledger| {
            let (state, allowance) = (ledger.control().state(), ledger.control().allowance());
            SenderSample {
                at: now,
                acked: Bytes::new(counts.delivered),
                rtt: ledger.rtt().map(|(smoothed, _)| moving(smoothed)),
                min_rtt: ledger.rtt().map(|(_, least)| least),
                congestion_window: state.window,
                slow_start_threshold: state.threshold,
                peer_window: None,
                send_window: allowance.window,
                in_flight: Bytes::new(ledger.in_flight()),
                delivery_rate: allowance.pacing,
                lost: 0,
                retransmits: u32::try_from(counts.lost).unwrap_or(u32::MAX),
                rwnd_limited: Some(credit_limited),
                sndbuf_limited: None,
            }
        });
        self.result.min_rtt = sample.min_rtt;
        self.result.samples.push(sample);
    }

    /// Fills in what is known at the end.
    fn conclude(&mut self, end: &SendingEnd, port: &Port, clock: Clock, warmup: Time) {
        let (connected, completed) = end.times();
        let result = &mut self.result;
        result.handshake = result.connected.map(|at| at.since(Time::ZERO + self.config.common.start));
        let moving = |from: Time, to: Time| to.since(from).saturating_sub(clock.stood(from, to));
        result.completion = completed.zip(connected).map(|(at, from)| moving(from, at));
        result.rtt = RttStatistics::of(&result.samples, warmup);
        result.lateness = end.lateness();
        end.with_ledger(|ledger| {
            ledger.control().measures(&mut |name, value| result.measures.push((name, value)));
        });
        let differences = end.counts().differences;
        if differences > 0 {
            result.notes.push(format!(
                "at {differences} events the library found other losses than this program, so the controller may have \
                 seen wrong ones"
            ));
        }
        if port.unsent > 0 {
            result.notes.push(format!("{} batches of packets could not be sent", port.unsent));
        }
    }
}

/// Returns `counts` in the form of a kernel flow's: a lost packet's data are sent again.
fn send_counts(counts: &LedgerCounts) -> SendCounts {
    SendCounts {
        segments: counts.sent,
        retransmits: counts.lost,
        retransmitted: Some(Bytes::new(counts.lost_bytes)),
        timeouts: None,
    }
}
