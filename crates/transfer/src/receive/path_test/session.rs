//! One test, as its far end serves it. The sender decides what comes next, and this end bounds the time and the bytes.

use crate::channel::{Channel, Message, MessageReader};
use crate::error::TransferError;
use crate::keys::fill_random;
use crate::load::{Gauge, LoadConnection, rate_by_trains};
use crate::lock::locked;
use crate::path_report::PathReport;
use crate::wire::control::ToSender;
use crate::wire::test::{Ended, Load, LoadSample, Plan, Results, ToTested, ToTester, Way};
use crate::wire::{PROBE_KEY, frame};
use estimate::diagnosis::Vantage;
use host::{Clock, PollFd, PollFlags};
use live::watch::USUAL_INTERVAL;
use probe::{Echoer, ProbeKey, TrainLimits};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use units::{Bytes, Rate, Span, Time};

/// The greatest time of a load.
const LONGEST: Span = Span::from_secs(300);
/// The greatest number of connections with a load, in both directions together.
const MOST_STREAMS: u16 = 128;
/// The greatest number of connections for one request at a time.
const MOST_SEPARATE: u32 = 32;
/// The time for the next message of a sender, and for its connections to join.
const PATIENCE: Span = Span::from_secs(30);
/// The time that a test may take besides its loads.
const BESIDES: Span = Span::from_secs(60);
/// The time between two readings of the kernel's state.
const READING: Span = USUAL_INTERVAL;
/// The number of readings after which the sender gets a sample.
const SAMPLED: u32 = 5;
/// The time for the rest of a load to arrive.
const DRAIN: Span = Span::from_secs(10);

/// A sender that tests, as all its connections know it.
#[derive(Debug)]
pub(super) struct Tester {
    token: [u8; 16],
    streams: u16,
    loads: Mutex<Vec<(u16, Arc<LoadConnection>)>>,
    separate: AtomicU32,
    over: AtomicBool,
}

impl Tester {
    pub(super) fn new(streams: u16) -> Self {
        let mut token = [0; 16];
        fill_random(&mut token);
        let (loads, separate, over) = Default::default();
        Self { token, streams: streams.clamp(1, MOST_STREAMS), loads, separate, over }
    }

    /// Returns true if `token` is this sender's.
    pub(super) fn has(&self, token: &[u8; 16]) -> bool {
        blake3::hash(&self.token) == blake3::hash(token)
    }

    /// Adds a connection for load. Returns false if the test is over, or has this connection already.
    pub(super) fn join(&self, stream: u16, load: &Arc<LoadConnection>) -> bool {
        let mut loads = locked(&self.loads);
        let new = stream < self.streams && loads.iter().all(|(other, _)| *other != stream);
        if new && !self.over.load(Relaxed) {
            loads.push((stream, Arc::clone(load)));
            return true;
        }
        false
    }

    /// Ends all connections with load.
    pub(super) fn end(&self) {
        self.over.store(true, Relaxed);
        locked(&self.loads).drain(..).for_each(|(_, load)| load.end());
    }

    /// Returns the connections with a load, by their numbers.
    fn loads(&self) -> Vec<Arc<LoadConnection>> {
        let mut loads = locked(&self.loads).clone();
        loads.sort_by_key(|(stream, _)| *stream);
        loads.into_iter().map(|(_, load)| load).collect()
    }
}

/// Answers the one request of a connection of its own.
pub(super) fn answer_once(tester: &Tester, channel: &Channel, clock: &Clock) {
    let present = tester.separate.fetch_add(1, Relaxed);
    if present < MOST_SEPARATE && !tester.over.load(Relaxed) {
        let mut reader = MessageReader::new(channel);
        if let Ok(Message::Is(Load::Request(number))) = reader.message(clock.now() + PATIENCE) {
            let mut out = Vec::new();
            frame::append(&mut out, &Load::Answer(number));
            let _ = channel.write(&out);
        }
        channel.finish();
    }
    tester.separate.fetch_sub(1, Relaxed);
}

/// Serves a test until its sender has sent the results, and hands the report to `take`.
pub(super) fn serve(
    tester: &Tester,
    control: &Channel,
    echo: u16,
    clock: &Clock,
    most: Bytes,
    take: &dyn Fn(&PathReport),
) -> Result<(), TransferError> {
    let mut out = Vec::new();
    frame::append(&mut out, &ToSender::Welcome { token: tester.token, resumed: false });
    control.write(&out)?;
    let reader = MessageReader::new(control);
    let mut session = Session { tester, control, reader, clock, most, until: clock.now() + BESIDES };
    let ended = session.run(echo).and_then(|results| {
        // The sender may end this program as soon as it has the last message, so the report comes before it.
        take(&PathReport::new(&results));
        session.send(&ToTester::Bye)
    });
    if let Err(error) = &ended {
        let _ = session.send(&ToTester::Abort { reason: error.for_the_other_side() });
    }
    ended
}

struct Session<'a> {
    tester: &'a Tester,
    control: &'a Channel,
    reader: MessageReader<'a>,
    clock: &'a Clock,
    most: Bytes,
    /// The time at which the test is ended.
    until: Time,
}

impl Session<'_> {
    fn run(&mut self, echo: u16) -> Result<Results, TransferError> {
        let ToTested::Plan(plan) = self.next(PATIENCE)? else {
            return Err(self.reader.protocol("it did not say what to test"));
        };
        let load = self.agreed(&plan)?;
        let count = [plan.up > 0, plan.down > 0, plan.together].into_iter().filter(|&one| one).count();
        self.until = self.clock.now() + load * count as u64 + BESIDES;
        self.wait_for_loads(&plan)?;
        let secret = self.control.exporter(PROBE_KEY)?;
        let key = ProbeKey::from_secret(&secret);
        let mut echoer = self.echoer(&key);
        let port = echoer.as_ref().and_then(|echoer| echoer.address().ok()).map_or(0, |at| at.port());
        let over = AtomicBool::new(false);
        let clock = *self.clock;
        std::thread::scope(|threads| {
            if let Some(echoer) = &mut echoer {
                threads.spawn(|| echo_until(echoer, &over, &clock));
            }
            let ended = self.send(&ToTester::Agreed { echo: port }).and_then(|()| {
                let echoer = (echo != 0).then(|| SocketAddr::new(self.control.peer().ip(), echo));
                self.answer(&plan, load, echoer, &key)
            });
            over.store(true, Relaxed);
            ended
        })
    }

    /// Checks the plan. Returns the time of each load.
    fn agreed(&self, plan: &Plan) -> Result<Span, TransferError> {
        let load = Span::from_nanos(plan.load);
        if load == Span::ZERO || load > LONGEST {
            return Err(TransferError::NotAccepted(format!(
                "a test of {load}; at most {LONGEST} are accepted"
            )));
        }
        let (streams, Plan { up, down, together, .. }) = (self.tester.streams, plan);
        if up.saturating_add(*down) != streams || (*together && (*up == 0 || *down == 0)) {
            let both = if *together { ", and both at once" } else { "" };
            return Err(TransferError::NotAccepted(format!(
                "a test over {up} connections up and {down} down{both}; all {streams} of its connections are accepted, \
                 and some in each direction that has a load"
            )));
        }
        Ok(load)
    }

    /// Waits until all connections for load have joined.
    fn wait_for_loads(&self, plan: &Plan) -> Result<(), TransferError> {
        let until = self.clock.now() + PATIENCE;
        while self.tester.loads().len() < usize::from(self.tester.streams) {
            if self.clock.now() >= until {
                return Err(TransferError::gone("its connections for the load did not come"));
            }
            self.control.pause(self.clock.now() + READING)?;
        }
        if !plan.control.is_empty() {
            for load in self.tester.loads() {
                host::options::set_congestion_control(load.channel.tcp(), &plan.control)?;
            }
        }
        Ok(())
    }

    /// Makes an echoer for the sender's probes, at the port of the ticket if it is free.
    fn echoer(&self, key: &ProbeKey) -> Option<Echoer> {
        let here = self.control.tcp().local_addr().ok()?;
        let bind = |port| {
            Echoer::bind(SocketAddr::new(here.ip(), port), key, crate::load::SESSIONS, TrainLimits::default())
        };
        let echoer = bind(here.port()).or_else(|_| bind(0)).ok()?;
        Some(echoer.only_from(self.control.tcp().peer_addr().ok()?.ip()))
    }

    /// Answers the sender's messages until the results come.
    fn answer(
        &mut self,
        plan: &Plan,
        load: Span,
        echoer: Option<SocketAddr>,
        key: &ProbeKey,
    ) -> Result<Results, TransferError> {
        let mut left = Vec::new();
        left.extend((plan.up > 0).then_some(Way::Up));
        left.extend((plan.down > 0).then_some(Way::Down));
        left.extend(plan.together.then_some(Way::Both));
        loop {
            match self.next(PATIENCE)? {
                ToTested::Trains => {
                    let here = self.control.tcp().local_addr().map_err(TransferError::gone)?;
                    let trains =
                        echoer.map(|at| rate_by_trains(here, at, key, self.clock)).unwrap_or_default();
                    self.send(&ToTester::Trains(trains))?;
                }
                ToTested::Begin { way, bps } if left.contains(&way) => {
                    left.retain(|other| *other != way);
                    self.load(plan, way, load, bps.map(Rate::from_bps))?;
                }
                ToTested::Results(results) => return Ok(*results),
                _ => return Err(self.reader.protocol("a message out of turn")),
            }
        }
    }

    /// Receives a load, or sends one for `span`, or both, until the sender says that it has ended.
    fn load(&mut self, plan: &Plan, way: Way, span: Span, rate: Option<Rate>) -> Result<(), TransferError> {
        let all = self.tester.loads();
        let (up, down) = all.split_at(usize::from(plan.up).min(all.len()));
        let up = if way.is_up() { up } else { &[] };
        let down = if way.is_down() { down } else { &[] };
        // A direction that has two loads has a half of the bytes for each.
        let most = self.most.get() / (1 + u64::from(plan.together));
        let each = |loads: &[Arc<LoadConnection>]| most / loads.len().max(1) as u64;
        let clock = *self.clock;
        let gauge = |loads: &[Arc<LoadConnection>], vantage, until| {
            (!loads.is_empty()).then(|| Gauge::new(loads, vantage, until, clock))
        };
        let mut receiving = gauge(up, Vantage::ReceiverSocket, Time::NEVER);
        let mut sending = gauge(down, Vantage::SenderSocket, clock.now() + span);
        let received = || up.iter().map(|load| load.received()).sum::<u64>();
        let before = received();
        up.iter().for_each(|load| load.accept(span, each(up)));
        self.send(&ToTester::Began)?;
        let until = clock.now() + span;
        for load in down {
            load.fill(until, rate, each(down))?;
        }
        self.until_end(span, |elapsed| {
            if let Some(gauge) = &mut receiving {
                gauge.read();
            }
            let retransmits = sending.as_mut().map_or(0, Gauge::read);
            LoadSample { elapsed, received: received() - before, retransmits }
        })?;
        let sent = sending.as_ref().map(Gauge::account);
        let drained = clock.now() + DRAIN;
        while sending.as_ref().is_some_and(|gauge| !gauge.is_drained()) && clock.now() < drained {
            self.control.pause(clock.now() + READING)?;
        }
        let ended = Ended {
            sent,
            sending: sending.and_then(Gauge::observation),
            receiving: receiving.and_then(Gauge::observation),
        };
        self.send(&ToTester::Ended(Box::new(ended)))
    }

    /// Sends samples until the sender says that the load has ended.
    fn until_end(
        &mut self,
        span: Span,
        mut sample: impl FnMut(u64) -> LoadSample,
    ) -> Result<(), TransferError> {
        let began = self.clock.now();
        let latest = began + span + PATIENCE;
        let mut readings = 0;
        loop {
            let elapsed = self.clock.now().since(began);
            let sample = sample(elapsed.as_nanos());
            readings += 1;
            // The kernel is read more often than the sender hears of it.
            if readings % SAMPLED == 1 {
                self.send(&ToTester::Sample(sample))?;
            }
            match self.message(self.clock.now() + READING)? {
                Some(ToTested::End) => return Ok(()),
                Some(_) => return Err(self.reader.protocol("a message out of turn")),
                None if self.clock.now() > latest => {
                    return Err(TransferError::gone("it did not end the load"));
                }
                None => {}
            }
        }
    }

    fn send(&self, message: &ToTester) -> Result<(), TransferError> {
        let mut out = Vec::new();
        frame::append(&mut out, message);
        self.control.write(&out)
    }

    /// Waits for the next message for `patience`.
    fn next(&mut self, patience: Span) -> Result<ToTested, TransferError> {
        let until = self.clock.now() + patience;
        loop {
            if let Some(message) = self.message(until.min(self.clock.now() + READING))? {
                return Ok(message);
            }
            if self.clock.now() >= until {
                return Err(TransferError::gone("it sent nothing for a long time"));
            }
        }
    }

    /// Waits for a message until `until`.
    fn message(&mut self, until: Time) -> Result<Option<ToTested>, TransferError> {
        if let Some(error) = self.tester.loads().iter().find_map(|load| load.take_error()) {
            return Err(error);
        }
        if self.clock.now() > self.until {
            return Err(TransferError::gone("it takes longer than it said"));
        }
        match self.reader.message(until)? {
            Message::Is(message) => Ok(Some(message)),
            Message::Nothing => Ok(None),
            Message::End => Err(TransferError::gone("it left before the end")),
        }
    }
}

/// Answers probes until `over`.
fn echo_until(echoer: &mut Echoer, over: &AtomicBool, clock: &Clock) {
    while !over.load(Relaxed) {
        // The wait is short, because nothing wakes this thread at the end.
        let _ = host::wait(&mut [PollFd::new(&*echoer, PollFlags::IN)], Some(READING));
        echoer.poll(clock);
    }
}
