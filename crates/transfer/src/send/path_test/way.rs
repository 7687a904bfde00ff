//! The load in one direction, or in both at once, and its measurements.

use super::probes::Mark;
use super::{PATIENCE, Tester};
use crate::error::TransferError;
use crate::load::{Gauge, LoadConnection};
use crate::lock::locked;
use crate::path_report::{capacity, steadiness, with_headers};
use crate::progress::Snapshot;
use crate::wire::observation::Observation;
use crate::wire::test::{
    Ended, LatencyResults, LoadSample, SenderAccount, ToTested, ToTester, TrainRate, Way, WayResults,
};
use estimate::diagnosis::Vantage;
use estimate::{LatencySamples, buffer_in_front, responsiveness};
use live::watch::USUAL_INTERVAL;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use units::{Bytes, Rate, Span, Time};

/// The time between two readings of the kernel's state.
const READING: Span = USUAL_INTERVAL;
/// The time for the rest of a load to arrive.
const DRAIN: Span = Span::from_secs(10);
/// The bytes of a request on a connection of its own and of one among the load, by the draft.
const REQUESTS: Bytes = Bytes::new(6000);
/// The share of the path that requests may take, by the draft.
const SHARE: f64 = 0.05;
/// The least time between two requests of a kind, and the time on a path of unknown rate.
const EVERY: [Span; 2] = [Span::from_millis(50), Span::from_millis(200)];
/// The greatest number of requests on connections of their own at a time.
const MOST_SEPARATE: usize = 16;

/// The slowest path whose rate is believed. On a slower one, requests and probes keep the pace of an unknown rate.
const SLOWEST: Rate = Rate::from_bps(10_000);
/// The longest time between two requests of a kind.
const SELDOM: Span = Span::from_secs(1);

/// Ends the threads of a load's requests when it is dropped, even by a panic: their scope waits for them.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The course of a load in one direction.
#[derive(Debug, Default)]
struct Course {
    /// Bytes of load that had arrived, by the time since the load began.
    received: Vec<(Span, u64)>,
    /// The times at which the sender had sent more segments again.
    losses: Vec<Time>,
    retransmits: u64,
    latencies: LatencySamples,
    sender: SenderAccount,
    evidence: Option<Observation>,
}

impl Course {
    fn lost(&mut self, at: Time, retransmits: u64) {
        if retransmits > self.retransmits {
            self.losses.push(at);
        }
        self.retransmits = self.retransmits.max(retransmits);
    }
}

/// The connections of a load.
#[derive(Clone, Copy)]
struct Loads<'a> {
    up: &'a [Arc<LoadConnection>],
    down: &'a [Arc<LoadConnection>],
}

impl Loads<'_> {
    /// Sends a request among the load of each direction, over one of its connections.
    fn request(&self, turn: usize) {
        for loads in [self.up, self.down] {
            if let Some(load) = loads.get(turn % loads.len().max(1)) {
                load.request();
            }
        }
    }
}

impl Tester<'_> {
    /// Runs a load in the direction `way` for `span`. `trains` are the rates up and down, and `idle` the moments between
    /// which probes ran without load. Returns the results up and down.
    pub(super) fn load(
        &mut self,
        way: Way,
        span: Span,
        trains: [TrainRate; 2],
        idle: (Mark, Mark),
    ) -> Result<[Option<WayResults>; 2], TransferError> {
        // A far end may claim any rate.
        let known = |trains: TrainRate| trains.bps.map(Rate::from_bps).filter(|&rate| rate >= SLOWEST);
        let (up, down) = (known(trains[0]), known(trains[1]));
        let (name, rate) = match way {
            Way::Up => ("up", up),
            Way::Down => ("down", down),
            Way::Both => ("both at once", up.zip(down).map(|(up, down)| up.min(down))),
        };
        if let Some(rate) = rate {
            self.log.fit(rate);
        }
        let shown = rate.map_or_else(|| "unknown".to_owned(), Rate::rounded);
        self.observer.say(&format!("{name}: rate by packet trains {shown}; load for {span}"));
        let [all_up, all_down] = self.loads;
        let loads = Loads {
            up: if way.is_up() { all_up } else { &[] },
            down: if way.is_down() { all_down } else { &[] },
        };
        // The load may overtake the answer, which goes over another connection.
        loads.down.iter().for_each(|load| load.accept(span + PATIENCE, u64::MAX));
        // The gauges list the kernel's connections, which takes a moment.
        let gauge = |loads: &[Arc<LoadConnection>], vantage| {
            (!loads.is_empty()).then(|| Gauge::new(loads, vantage, Time::NEVER, *self.clock))
        };
        let gauges = [gauge(loads.up, Vantage::SenderSocket), gauge(loads.down, Vantage::ReceiverSocket)];
        self.send(&ToTested::Begin { way, bps: trains[1].bps })?;
        let ToTester::Began = self.next()? else {
            return Err(self.reader.protocol("no answer to the beginning of a load"));
        };
        let from = self.log.mark();
        let (courses, to) = self.follow(loads, gauges, span, (up, rate))?;
        let [course_up, course_down] = courses;
        let marks = [idle, (from, to)];
        let up = (!loads.up.is_empty()).then(|| self.results(true, course_up, (span, trains[0]), marks));
        let down =
            (!loads.down.is_empty()).then(|| self.results(false, course_down, (span, trains[1]), marks));
        Ok([up, down])
    }

    /// Returns the results of one direction. `marks` are the moments without load, and those with it.
    fn results(
        &self,
        up: bool,
        course: Course,
        (span, trains): (Span, TrainRate),
        marks: [(Mark, Mark); 2],
    ) -> WayResults {
        let [idle, loaded] = marks.map(|marks| self.log.results(marks, up));
        let [(elapsed, received), (late, received_late)] = progress(&course.received, span);
        let arrived = with_headers(Rate::of(Bytes::new(received_late), late), course.sender.segment);
        let base = [idle.least, loaded.least].into_iter().filter(|&rtt| rtt > 0).min();
        let buffer = base.zip(capacity(trains.bps, arrived)).and_then(|(base, rate)| {
            let base = Span::from_nanos(base);
            buffer_in_front(&self.log.echoes(marks[1]), &course.losses, base, rate)
        });
        let latencies = responsiveness(&course.latencies, span).map(|found| LatencyResults {
            tcp: found.latencies.tcp.as_nanos(),
            tls: found.latencies.tls.as_nanos(),
            request: found.latencies.request.as_nanos(),
            loaded: found.latencies.loaded.as_nanos(),
            steadiness: steadiness(found.steadiness),
        });
        WayResults {
            streams: self.loads[usize::from(!up)].len() as u16,
            elapsed: elapsed.as_nanos(),
            received,
            late: late.as_nanos(),
            received_late,
            trains,
            idle,
            loaded,
            buffer: buffer.map(|buffer| (buffer.size.get(), buffer.at_least)),
            latencies,
            sender: course.sender,
            evidence: course.evidence,
        }
    }

    /// Follows a load from its beginning until nothing of it is on its way, in each direction. Also returns the moment
    /// of its end. `up` is the rate of the path up, and `rate` that of the slower direction with a load.
    fn follow(
        &mut self,
        loads: Loads<'_>,
        gauges: [Option<Gauge>; 2],
        span: Span,
        (up, rate): (Option<Rate>, Option<Rate>),
    ) -> Result<([Course; 2], Mark), TransferError> {
        let (clock, opener, began) = (*self.clock, self.opener, self.clock.now());
        let until = began + span;
        let every =
            rate.map_or(EVERY[1], |rate| rate.scale(SHARE).serialization(REQUESTS).clamp(EVERY[0], SELDOM));
        let over = AtomicBool::new(false);
        let separate: Mutex<Vec<(Span, [Span; 3])>> = Mutex::default();
        let (mut courses, mark) = std::thread::scope(|threads| {
            threads.spawn(|| {
                let running = AtomicUsize::new(0);
                std::thread::scope(|requests| {
                    while !over.load(Relaxed) && clock.now() < until {
                        if running.fetch_add(1, Relaxed) < MOST_SEPARATE {
                            requests.spawn(|| {
                                if let Ok(times) = opener.separate_request() {
                                    locked(&separate).push((clock.now().since(began), times));
                                }
                                running.fetch_sub(1, Relaxed);
                            });
                        } else {
                            running.fetch_sub(1, Relaxed);
                        }
                        std::thread::park_timeout(Duration::from_nanos(every.as_nanos()));
                    }
                });
            });
            let _ends = Ending(&over);
            self.carry(loads, gauges, (began, until), (up, every))
        })?;
        let separate = std::mem::take(&mut *locked(&separate));
        for (course, loads) in courses.iter_mut().zip([loads.up, loads.down]) {
            let latencies = &mut course.latencies;
            for &(at, [tcp, tls, request]) in &separate {
                latencies.tcp.push((at, tcp));
                latencies.tls.push((at, tls));
                latencies.request.push((at, request));
            }
            for load in loads {
                let times = load.take_latencies();
                latencies.loaded.extend(times.into_iter().map(|(at, latency)| (at.since(began), latency)));
            }
        }
        Ok((courses, mark))
    }

    /// Sends the load up, and receives the one down. Returns the course of each.
    fn carry(
        &mut self,
        loads: Loads<'_>,
        [mut sending, mut receiving]: [Option<Gauge>; 2],
        (began, until): (Time, Time),
        (rate, every): (Option<Rate>, Span),
    ) -> Result<([Course; 2], Mark), TransferError> {
        for load in loads.up {
            load.fill(until, rate, u64::MAX)?;
        }
        let arrived = |now: Time| {
            let received: u64 = loads.down.iter().map(|load| load.received()).sum();
            (now.since(began), received)
        };
        let before = arrived(began).1;
        let (mut up, mut down) = (Course::default(), Course::default());
        self.until(until, every, loads, |now, sample: Option<LoadSample>| {
            match (&sample, &mut sending) {
                (Some(sample), Some(_)) => {
                    up.received.push((Span::from_nanos(sample.elapsed), sample.received));
                }
                (None, Some(gauge)) => up.lost(now, gauge.read()),
                _ => {}
            }
            match (sample, &mut receiving) {
                (Some(sample), Some(_)) => {
                    down.lost(began + Span::from_nanos(sample.elapsed), sample.retransmits);
                }
                (None, Some(gauge)) => {
                    gauge.read();
                    let (at, received) = arrived(now);
                    down.received.push((at, received - before));
                }
                _ => {}
            }
            let lasts = [&up, &down].into_iter().filter_map(|course| course.received.last().copied());
            lasts.reduce(|one, other| (one.0.max(other.0), one.1.saturating_add(other.1)))
        })?;
        up.sender = sending.as_ref().map(Gauge::account).unwrap_or_default();
        let mark = self.log.mark();
        self.send(&ToTested::End)?;
        let ToTester::Ended(ended) = self.next()? else {
            return Err(self.reader.protocol("no account of a load"));
        };
        let Ended { sent, sending: theirs, receiving: at_receiver } = *ended;
        if let Some(gauge) = sending {
            let drained = self.clock.now() + DRAIN;
            while !gauge.is_drained() && self.clock.now() < drained {
                self.control.pause(self.clock.now() + READING)?;
            }
            up.evidence = Observation::joined(gauge.observation(), at_receiver);
        }
        if let Some(gauge) = receiving {
            down.sender = sent.ok_or_else(|| self.reader.protocol("no account of the load that it sent"))?;
            down.evidence = Observation::joined(theirs, gauge.observation());
        }
        Ok(([up, down], mark))
    }

    /// Hands each sample of the receiver, and each moment for a reading, to `take` until `until`. Sends requests among
    /// the load.
    fn until(
        &mut self,
        until: Time,
        every: Span,
        loads: Loads<'_>,
        mut take: impl FnMut(Time, Option<LoadSample>) -> Option<(Span, u64)>,
    ) -> Result<(), TransferError> {
        let (mut asked, mut shown) = (self.clock.now(), self.clock.now());
        let mut turn = 0;
        let mut before = (Span::ZERO, 0);
        let mut read = self.clock.now();
        let mut sampled = Time::ZERO;
        loop {
            let now = self.clock.now();
            if now >= until {
                return Ok(());
            }
            if now >= asked {
                asked += every;
                turn += 1;
                loads.request(turn);
            }
            if now >= read {
                read = now + READING;
                let last = take(now, None);
                if let Some(last) = last
                    && now.since(shown) >= Span::from_millis(500)
                {
                    shown = now;
                    self.show(last, std::mem::replace(&mut before, last));
                }
            }
            match self.message(until.min(asked).min(read))? {
                Some(ToTester::Sample(sample)) => {
                    let now = self.clock.now();
                    // More samples than the far end's readings say nothing, and would fill the memory.
                    if now.since(sampled) >= READING / 10 {
                        sampled = now;
                        let _ = take(now, Some(sample));
                    }
                }
                Some(_) => return Err(self.reader.protocol("a message out of turn")),
                None => {}
            }
        }
    }

    fn show(&self, now: (Span, u64), before: (Span, u64)) {
        let rate = Rate::of(Bytes::new(now.1.saturating_sub(before.1)), now.0.saturating_sub(before.0));
        self.observer.progress(&Snapshot {
            elapsed: now.0,
            bytes: now.1,
            rate_bps: rate.as_bps_f64(),
            rtt: self.log.latest(),
            ..Snapshot::default()
        });
    }
}

/// Returns the time and the bytes from the first reading to the last one within `span`, and from the middle to it.
fn progress(received: &[(Span, u64)], span: Span) -> [(Span, u64); 2] {
    let within: Vec<&(Span, u64)> = received.iter().filter(|(at, _)| *at <= span).collect();
    let (Some(first), Some(last)) = (within.first(), within.last()) else { return [(Span::ZERO, 0); 2] };
    let middle = within.iter().find(|(at, _)| *at >= span / 2).unwrap_or(last);
    [first, middle].map(|from| (last.0.saturating_sub(from.0), last.1.saturating_sub(from.1)))
}
