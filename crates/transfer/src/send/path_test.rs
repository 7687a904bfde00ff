//! [`test_path`]: a test of the path to a receiver that was started for tests.
//!
//! The sender leads: it asks for packet trains and loads, and both ends measure. Probes go from here to the receiver
//! all the time. At the end the receiver gets the measurements, so that both users see the same report.
//! `path_test/probes.rs` has the probes, `path_test/way.rs` one direction's load and its measurements.

mod probes;
mod way;

use super::SendOptions;
use super::connect::{self, Connections, Opener};
use crate::channel::{Channel, Message, MessageReader};
use crate::error::TransferError;
use crate::load::{LoadConnection, PROBE_SESSION, rate_by_trains};
use crate::path_report::PathReport;
use crate::progress::Observer;
use crate::ticket::Ticket;
use crate::wire::test::{Plan, Results, ToTested, ToTester, TrainRate, Way};
use crate::wire::{PROBE_KEY, TEST, frame};
use host::{Clock, PollFd, PollFlags, Waker};
use probe::{Echoer, ProbeKey, Prober};
use probes::ProbeLog;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use units::{Span, Time};

/// The time for an answer of the receiver.
const PATIENCE: Span = Span::from_secs(30);
/// The shortest time of probes before the first load, and the longest.
const IDLE: [Span; 2] = [Span::from_secs(1), Span::from_secs(2)];

/// A test of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTest {
    /// The time of each load.
    pub load: Span,
    /// True if there is a load to the receiver.
    pub up: bool,
    /// True if there is a load from the receiver.
    pub down: bool,
    /// True if there are also loads in both directions at once. It needs `up` and `down`.
    pub together: bool,
    /// The number of connections with a load in each direction; one for 0.
    pub streams: u16,
    /// The congestion control of both ends; `None` for each kernel's choice.
    pub control: Option<String>,
}

/// Tests the path to the receiver that gave out `ticket`. The directions follow each other, and then run at once.
///
/// # Errors
/// If the receiver is not there, does not test, or leaves before the end.
pub fn test_path(
    ticket: &Ticket,
    test: &PathTest,
    clock: &Clock,
    observer: &dyn Observer,
) -> Result<PathReport, TransferError> {
    tested(ticket, test, clock, observer).map_err(|error| match error {
        // The error of a transfer tells of data that has arrived, and a test keeps none.
        TransferError::PeerGone { reason } => TransferError::TestEnded { reason },
        other => other,
    })
}

fn tested(
    ticket: &Ticket,
    test: &PathTest,
    clock: &Clock,
    observer: &dyn Observer,
) -> Result<PathReport, TransferError> {
    let each = test.streams.max(1);
    let ways = u16::from(test.up) + u16::from(test.down);
    let options = SendOptions { control: test.control.clone(), ..SendOptions::default() };
    let streams = each.saturating_mul(ways);
    let connections = connect::connect(ticket, &options, (TEST, streams), clock, observer, true)?;
    let Connections { control, data, opener, mut echoer } = connections;
    let loads: Vec<Arc<LoadConnection>> =
        data.into_iter().map(|channel| Arc::new(LoadConnection::new(Arc::new(channel), *clock))).collect();
    let over = Over { flag: AtomicBool::new(false), wake: Waker::new().map_err(TransferError::gone)? };
    let key = ProbeKey::from_secret(&control.exporter(PROBE_KEY)?);
    let ended = std::thread::scope(|threads| {
        for load in &loads {
            threads.spawn(|| load.run(LoadConnection::write));
            threads.spawn(|| load.run(LoadConnection::read));
        }
        if let Some(echoer) = &mut echoer {
            threads.spawn(|| echo(echoer, &over, clock));
        }
        let opener = opener.as_ref().expect("a receiver that was reached");
        let split = loads.len() * usize::from(test.up) / usize::from(ways.max(1));
        let (up, down) = loads.split_at(split);
        let ended = Tester::new(&control, [up, down], opener, clock, observer).run(test, &key, &over);
        over.now();
        loads.iter().for_each(|load| load.end());
        ended
    });
    control.finish();
    ended
}

/// The end of a test, as threads that wait for sockets see it.
struct Over {
    flag: AtomicBool,
    wake: Waker,
}

impl Over {
    fn now(&self) {
        self.flag.store(true, Relaxed);
        self.wake.wake();
    }

    fn is(&self) -> bool {
        self.flag.load(Relaxed)
    }
}

/// Answers the receiver's requests for trains until the end.
fn echo(echoer: &mut Echoer, over: &Over, clock: &Clock) {
    while !over.is() {
        let mut sockets = [PollFd::new(&*echoer, PollFlags::IN), PollFd::new(&over.wake, PollFlags::IN)];
        // An interruption does no harm, because the echoer reads whatever has arrived.
        let _ = host::wait(&mut sockets, None);
        echoer.poll(clock);
    }
}

/// The leading end of a test.
struct Tester<'a> {
    control: &'a Channel,
    reader: MessageReader<'a>,
    /// The connections with a load: up, down.
    loads: [&'a [Arc<LoadConnection>]; 2],
    opener: &'a Opener,
    clock: &'a Clock,
    observer: &'a dyn Observer,
    log: ProbeLog,
}

impl<'a> Tester<'a> {
    fn new(
        control: &'a Channel,
        loads: [&'a [Arc<LoadConnection>]; 2],
        opener: &'a Opener,
        clock: &'a Clock,
        observer: &'a dyn Observer,
    ) -> Self {
        let reader = MessageReader::new(control);
        Self { control, reader, loads, opener, clock, observer, log: ProbeLog::default() }
    }

    fn run(mut self, test: &PathTest, key: &ProbeKey, over: &Over) -> Result<PathReport, TransferError> {
        let control = test.control.clone().unwrap_or_default();
        let [up, down] = self.loads.map(|loads| loads.len() as u16);
        let load = test.load.as_nanos();
        self.send(&ToTested::Plan(Plan { load, up, down, together: test.together, control }))?;
        let ToTester::Agreed { echo } = self.next()? else {
            return Err(self.reader.protocol("no answer to the plan"));
        };
        let here = self.control.tcp().local_addr().map_err(TransferError::gone)?;
        let there = (echo != 0).then(|| SocketAddr::new(self.control.peer().ip(), echo));
        let prober = there.and_then(|there| {
            Prober::connect_from(SocketAddr::new(here.ip(), 0), there, key, PROBE_SESSION).ok()
        });
        let (clock, log) = (*self.clock, self.log.clone());
        std::thread::scope(|threads| {
            if let Some(prober) = prober {
                threads.spawn(move || probes::probe(prober, &log, &clock, &|| over.is()));
            }
            let results = self.measure(test, here, there, key);
            over.now();
            let results = results?;
            let report = PathReport::new(&results);
            self.send(&ToTested::Results(Box::new(results)))?;
            match self.next()? {
                ToTester::Bye => Ok(report),
                _ => Err(self.reader.protocol("no answer to the results")),
            }
        })
    }

    /// Measures without load, then with a load in each direction, then with both.
    fn measure(
        &mut self,
        test: &PathTest,
        here: SocketAddr,
        there: Option<SocketAddr>,
        key: &ProbeKey,
    ) -> Result<Results, TransferError> {
        let idle_from = self.log.mark();
        let idle = (test.load / 5).clamp(IDLE[0], IDLE[1]);
        self.control.pause(self.clock.now() + idle)?;
        let idle_to = self.log.mark();
        let mut results = Results::default();
        let (mut up, mut down) = (TrainRate::default(), TrainRate::default());
        if test.up {
            self.send(&ToTested::Trains)?;
            let ToTester::Trains(trains) = self.next()? else {
                return Err(self.reader.protocol("no answer to the request for trains"));
            };
            up = trains;
        }
        if test.down {
            down = there.map(|there| rate_by_trains(here, there, key, self.clock)).unwrap_or_default();
        }
        let (trains, idle) = ([up, down], (idle_from, idle_to));
        if test.up {
            [results.up, _] = self.load(Way::Up, test.load, trains, idle)?;
        }
        if test.down {
            [_, results.down] = self.load(Way::Down, test.load, trains, idle)?;
        }
        if test.together {
            let [up, down] = self.load(Way::Both, test.load, trains, idle)?;
            results.together = up.zip(down);
        }
        Ok(results)
    }

    fn send(&self, message: &ToTested) -> Result<(), TransferError> {
        let mut out = Vec::new();
        frame::append(&mut out, message);
        self.control.write(&out)
    }

    /// Waits for the next message that is not a sample.
    fn next(&mut self) -> Result<ToTester, TransferError> {
        let until = self.clock.now() + PATIENCE;
        loop {
            match self.message(until)? {
                Some(ToTester::Sample(_)) if self.clock.now() < until => {}
                Some(message) if !matches!(message, ToTester::Sample(_)) => return Ok(message),
                _ => return Err(TransferError::gone("the receiver does not answer")),
            }
        }
    }

    /// Waits for a message until `until`.
    fn message(&mut self, until: Time) -> Result<Option<ToTester>, TransferError> {
        if let Some(error) = self.loads.iter().copied().flatten().find_map(|load| load.take_error()) {
            return Err(error);
        }
        match self.reader.message(until)? {
            Message::Is(ToTester::Abort { reason }) => Err(TransferError::Refused(reason)),
            Message::Is(message) => Ok(Some(message)),
            Message::Nothing => Ok(None),
            Message::End => Err(TransferError::gone("the receiver left")),
        }
    }
}
