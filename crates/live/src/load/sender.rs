//! The sending side: one loop over all flows, non-blocking sockets, zeros as payload.
//!
//! A flow waits for its start, connects, sends, and (if sized) drains until its last byte is acknowledged:
//!
//! | phase | waits for | then |
//! |---|---|---|
//! | waiting | its start | connecting |
//! | connecting | the handshake, at most 20 s | sending; holding if its receiver has a sizer |
//! | holding | the receiver's sizer, at most 3 s, while it measures the path without the data | sending |
//! | sending | room in the send buffer, or by the pace that a sizer asks for | draining when all is written; done at the stop |
//! | draining | the last acknowledgement | done |

mod outgoing;

use crate::error::LiveError;
use crate::load::results::{RttStatistics, SentFlow};
use crate::load::sample_times::{STOP_CHECK, SampleTimes};
use crate::load::session::{CONNECT_WITHIN, SessionConfig};
use crate::load::side_channel::SideChannel;
use host::Clock;
use host::TcpInfo;
use host::options;
use host::{Interest, Poller};
use outgoing::{HOLD_CHECK, Outgoing, Phase};
use probe::Echoer;
use sizing::SenderReport;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{Bytes, Span, Time};

/// The most bytes that one write offers.
const WRITE_SIZE: usize = 1 << 18;
/// The writes that a flow gets before the next flow's turn.
const WRITES_AT_ONCE: u32 = 16;
/// The time between two checks of a draining flow whose last byte has been sent.
const DRAIN_CHECK: Span = Span::from_millis(1);
/// The time between two checks of a draining flow with data in the send buffer that have not been sent yet.
const DRAIN_CHECK_UNSENT: Span = Span::from_millis(5);
/// The echoer's token; those of flows are small.
const ECHOER: u64 = u64::MAX;
/// The time between two reports to a receiver with a sizer: a few in the shortest round trip worth sizing for.
const REPORT_EVERY: Span = Span::from_millis(5);
/// The time around the session's `end` within which a reset is not a failure, because the receiver closes at the same
/// `end` by the same clock.
const END_TOLERANCE: Span = Span::from_millis(20);

/// The loop of the sending side.
pub(crate) struct SendLoop<'a> {
    config: &'a SessionConfig,
    server: SocketAddr,
    clock: Clock,
    side_channel: Option<&'a SideChannel>,
    /// The echoer that answers the receiver's probes.
    echoer: Option<Echoer>,
    /// The time of the next report to the receivers with sizers; [`Time::NEVER`] if no receiver has one.
    report: Time,
    poller: Poller,
    flows: Vec<Outgoing<'a>>,
    zeros: Vec<u8>,
}

impl<'a> SendLoop<'a> {
    pub(crate) fn new(
        config: &'a SessionConfig,
        server: SocketAddr,
        clock: Clock,
        side_channel: Option<&'a SideChannel>,
    ) -> Result<Self, LiveError> {
        let flows = config.flows.iter().zip(0u16..).map(|(flow, id)| Outgoing::new(flow, id)).collect();
        let sized = side_channel.is_some() && config.flows.iter().any(|flow| flow.sizer.is_some());
        let report = if sized { clock.now() } else { Time::NEVER };
        let (poller, zeros) = (Poller::new()?, vec![0; WRITE_SIZE]);
        let echoer = side_channel.and_then(SideChannel::take_echoer);
        if let Some(echoer) = &echoer {
            poller.add(echoer, ECHOER, Interest::IN)?;
        }
        Ok(Self { config, server, clock, side_channel, echoer, report, poller, flows, zeros })
    }

    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), LiveError> {
        let end = self.config.end.map_or(Time::NEVER, |end| Time::ZERO + end);
        let mut sample_times = SampleTimes::new(self.config.every, self.config.warmup, self.clock.now());
        loop {
            let now = self.clock.now();
            let over = now >= end || self.flows.iter().all(|flow| flow.phase == Phase::Done);
            if over || stop.load(Ordering::Relaxed) {
                break;
            }
            if sample_times.take(now) {
                self.sample_all(now)?;
            }
            if now >= self.report {
                self.confer()?;
                self.report = now + REPORT_EVERY;
            }
            for flow in 0..self.flows.len() {
                let outcome = self.step(flow, now);
                self.settle(flow, outcome, end, stop)?;
            }
            let due = end.min(sample_times.due()).min(self.report);
            let wake = self.flows.iter().map(Outgoing::wakeup).fold(due, Time::min);
            for (flow, ready) in self.wait(wake)? {
                if let (ECHOER, Some(echoer)) = (flow, &mut self.echoer) {
                    echoer.poll(&self.clock);
                    continue;
                }
                let outcome = self.ready(flow as usize, ready);
                self.settle(flow as usize, outcome, end, stop)?;
            }
        }
        for flow in 0..self.flows.len() {
            self.finish(flow, None)?;
        }
        Ok(())
    }

    /// Ends a flow whose connection breaks at the end of the session or after a stop; passes other outcomes on.
    fn settle(
        &mut self,
        id: usize,
        outcome: Result<(), LiveError>,
        end: Time,
        stop: &AtomicBool,
    ) -> Result<(), LiveError> {
        let over = || stop.load(Ordering::Relaxed) || self.clock.now() >= end - END_TOLERANCE;
        match outcome {
            Err(LiveError::Broken { .. }) if over() => self.finish(id, None),
            outcome => outcome,
        }
    }

    /// Returns the tokens that become ready by `wake`.
    fn wait(&self, wake: Time) -> Result<Vec<(u64, Interest)>, LiveError> {
        let now = self.clock.now();
        Ok(self.poller.wait(now, wake.min(now + STOP_CHECK))?)
    }

    pub(crate) fn into_results(self) -> Vec<SentFlow> {
        self.flows.into_iter().map(|flow| flow.result).collect()
    }

    /// Takes the step of flow `id` that its phase makes due at `now`.
    fn step(&mut self, id: usize, now: Time) -> Result<(), LiveError> {
        let flow = &mut self.flows[id];
        if now < flow.wakeup() {
            return Ok(());
        }
        match flow.phase {
            Phase::Waiting => {
                let socket = flow.connect(self.server)?;
                self.poller.add(&socket, id as u64, Interest::OUT)?;
                flow.socket = Some(socket);
                flow.phase = Phase::Connecting { deadline: now + CONNECT_WITHIN };
                Ok(())
            }
            Phase::Connecting { .. } => {
                Err(flow.cannot_connect(self.server, format!("no answer within {CONNECT_WITHIN}")))
            }
            Phase::Holding { deadline, .. } => {
                let free = self.side_channel.is_none_or(|side_channel| side_channel.is_released(id));
                if !free && now < deadline {
                    flow.phase = Phase::Holding { check: now + HOLD_CHECK, deadline };
                    return Ok(());
                }
                if let Some(socket) = &flow.socket {
                    self.poller.change(socket, id as u64, flow.interest())?;
                }
                flow.phase = Phase::Sending;
                // The pace is taken over before the first write, because data written without it would leave as fast as
                // acknowledgements arrive.
                self.take_pace(id)?;
                self.write(id)
            }
            Phase::Sending if now >= flow.stop() => self.finish(id, None),
            Phase::Sending => self.write(id),
            Phase::Draining { .. } => self.drain(id),
            Phase::Done => Ok(()),
        }
    }

    /// Sends the senders' reports to the receivers with sizers, and carries out what these receivers request.
    fn confer(&mut self) -> Result<(), LiveError> {
        let Some(side_channel) = self.side_channel else { return Ok(()) };
        for id in 0..self.flows.len() {
            let flow = &self.flows[id];
            let (Some(socket), Some(_), Phase::Holding { .. } | Phase::Sending | Phase::Draining { .. }) =
                (&flow.socket, &flow.config.sizer, flow.phase)
            else {
                continue;
            };
            let info = TcpInfo::of(socket)?;
            if let (Some(busy), Some(window_limited)) = (info.busy_time, info.rwnd_limited) {
                let retransmits = u64::from(info.total_retrans);
                side_channel.report(id, SenderReport { busy, window_limited, retransmits });
            }
            self.take_pace(id)?;
        }
        Ok(())
    }

    /// Takes over the pace that the receiver requested last.
    fn take_pace(&mut self, id: usize) -> Result<(), LiveError> {
        let flow = &mut self.flows[id];
        let (Some(socket), Some(rate)) =
            (&flow.socket, self.side_channel.and_then(|side_channel| side_channel.take_pace(id)))
        else {
            return Ok(());
        };
        flow.pace.set(self.clock.now(), rate);
        options::set_unsent_limit(socket, flow.pace.unsent())?;
        if flow.phase == Phase::Sending {
            self.poller.change(socket, id as u64, flow.interest())?;
        }
        Ok(())
    }

    /// Takes the step of flow `id` for which its socket has become ready.
    fn ready(&mut self, id: usize, ready: Interest) -> Result<(), LiveError> {
        match self.flows[id].phase {
            Phase::Connecting { .. } => {
                let now = self.clock.now();
                let flow = &mut self.flows[id];
                let held = self.side_channel.is_some_and(|side_channel| !side_channel.is_released(id))
                    && flow.config.sizer.is_some();
                flow.connected(self.server, now, held)?;
                if let (Some(socket), true) = (&flow.socket, held) {
                    // The socket is always writable, so waiting for that would return at once.
                    self.poller.change(socket, id as u64, Interest::empty())?;
                }
                self.write(id)
            }
            Phase::Holding { .. } => {
                let flow = &self.flows[id];
                let error = flow.socket.as_ref().and_then(|socket| socket.take_error().ok().flatten());
                Err(flow.broken(error.unwrap_or_else(|| io::ErrorKind::ConnectionReset.into())))
            }
            Phase::Sending => self.write(id),
            Phase::Draining { .. } => {
                if ready.intersects(Interest::RDHUP | Interest::HUP | Interest::ERR) {
                    // The socket would stay ready from now on, so the poller drops it. The clock makes the further
                    // checks due.
                    if let Some(socket) = &self.flows[id].socket {
                        self.poller.remove(socket)?;
                    }
                }
                self.drain(id)
            }
            Phase::Waiting | Phase::Done => Ok(()),
        }
    }

    fn write(&mut self, id: usize) -> Result<(), LiveError> {
        let flow = &mut self.flows[id];
        let Some(socket) = &flow.socket else { return Ok(()) };
        for _ in 0..WRITES_AT_ONCE {
            let now = self.clock.now();
            let room = flow.pace.room(now).min(WRITE_SIZE);
            if room == 0 {
                break;
            }
            if flow.pace.is_full(socket)? {
                flow.pace.wrote(now, 0, true);
                break;
            }
            if flow.written == flow.goal {
                // The receiver closes when it has read everything, which shows within one round trip that all data
                // arrived.
                socket.shutdown(Shutdown::Write).map_err(|error| flow.broken(error))?;
                self.poller.change(socket, id as u64, Interest::RDHUP)?;
                flow.phase = Phase::Draining { check: self.clock.now() + DRAIN_CHECK };
                break;
            }
            let head = &flow.preamble[flow.preamble.len().min(flow.written as usize)..];
            let held = matches!(flow.phase, Phase::Holding { .. });
            if held && head.is_empty() {
                break;
            }
            let body = flow.goal - flow.written - head.len() as u64;
            let body = if held { 0 } else { body.min(room as u64) as usize };
            let parts = [IoSlice::new(head), IoSlice::new(&self.zeros[..body])];
            match socket.send_vectored_with_flags(&parts, libc::MSG_NOSIGNAL) {
                Ok(count) => {
                    flow.written += count as u64;
                    flow.pace.wrote(now, count, count < head.len() + body);
                }
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
                {
                    flow.pace.wrote(now, 0, true);
                    break;
                }
                Err(error) => return Err(flow.broken(error)),
            }
        }
        Ok(())
    }

    /// Finishes the flow if its last byte has been acknowledged.
    fn drain(&mut self, id: usize) -> Result<(), LiveError> {
        let flow = &mut self.flows[id];
        let Some(socket) = &flow.socket else { return Ok(()) };
        let info = TcpInfo::of(socket)?;
        let now = self.clock.now();
        if flow.acked(&info) >= flow.config.size.unwrap_or(Bytes::MAX) {
            return self.finish(id, Some(now));
        }
        if let Some(error) = socket.take_error().map_err(LiveError::system("read SO_ERROR"))? {
            return Err(flow.broken(error));
        }
        let unsent = info.notsent_bytes > Bytes::ZERO;
        flow.phase = Phase::Draining { check: now + if unsent { DRAIN_CHECK_UNSENT } else { DRAIN_CHECK } };
        Ok(())
    }

    fn sample_all(&mut self, now: Time) -> Result<(), LiveError> {
        let warmup = Time::ZERO + self.config.warmup;
        self.flows.iter_mut().try_for_each(|flow| flow.sample(&self.clock, now, warmup))
    }

    /// Takes the last sample, then resets the connection of an unfinished flow.
    fn finish(&mut self, id: usize, completed: Option<Time>) -> Result<(), LiveError> {
        let (now, warmup) = (self.clock.now(), Time::ZERO + self.config.warmup);
        let flow = &mut self.flows[id];
        if flow.phase == Phase::Done {
            return Ok(());
        }
        flow.sample(&self.clock, completed.unwrap_or(now), warmup)?;
        let connected = flow.result.connected;
        flow.result.handshake = connected.map(|at| at.since(Time::ZERO + flow.config.start));
        flow.result.completion = completed.zip(connected).map(|(at, from)| at.since(from));
        flow.result.rtt = RttStatistics::of(&flow.result.samples, warmup);
        if let Some(socket) = flow.socket.take()
            && completed.is_none()
        {
            // Closing discards the unsent data and informs the receiver by RST.
            socket.set_linger(Some(Duration::ZERO)).map_err(LiveError::system("set SO_LINGER"))?;
        }
        flow.phase = Phase::Done;
        Ok(())
    }
}
