//! The load in one direction, and its measurements.

use super::probes::Mark;
use super::{PATIENCE, Tester};
use crate::error::TransferError;
use crate::load::Gauge;
use crate::lock::locked;
use crate::path_report::{capacity, steadiness, with_headers};
use crate::progress::Snapshot;
use crate::wire::test::{
    Ended, LatencyResults, LoadSample, ReceiverAccount, SenderAccount, ToTested, ToTester, TrainRate, Way,
    WayResults,
};
use estimate::{LatencySamples, buffer_in_front, responsiveness};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use units::{Bytes, Rate, Span, Time};

/// The time between two readings of the kernel's state.
const READING: Span = Span::from_millis(50);
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

/// The course of a load.
#[derive(Debug, Default)]
struct Course {
    /// Bytes of load that had arrived, by the time since the load began.
    received: Vec<(Span, u64)>,
    /// The times at which the sender had sent more segments again.
    losses: Vec<Time>,
    retransmits: u64,
    latencies: LatencySamples,
    sender: SenderAccount,
    receiver: ReceiverAccount,
}

impl Course {
    fn lost(&mut self, at: Time, retransmits: u64) {
        if retransmits > self.retransmits {
            self.losses.push(at);
        }
        self.retransmits = self.retransmits.max(retransmits);
    }
}

impl Tester<'_> {
    /// Runs a load in the direction `way` for `span`. `idle` are the moments between which probes ran without load.
    pub(super) fn load(
        &mut self,
        way: Way,
        span: Span,
        trains: TrainRate,
        idle: (Mark, Mark),
    ) -> Result<WayResults, TransferError> {
        // A far end may claim any rate.
        let rate = trains.bps.map(Rate::from_bps).filter(|&rate| rate >= SLOWEST);
        if let Some(rate) = rate {
            self.log.fit(rate);
        }
        let name = if way == Way::Up { "up" } else { "down" };
        let shown = rate.map_or_else(|| "unknown".to_owned(), Rate::rounded);
        self.observer.say(&format!("{name}: rate by packet trains {shown}; load for {span}"));
        if way == Way::Down {
            // The load may overtake the answer, which goes over another connection.
            self.loads.iter().for_each(|load| load.accept(span + PATIENCE, u64::MAX));
        }
        self.send(&ToTested::Begin { way, bps: trains.bps })?;
        let ToTester::Began = self.next()? else {
            return Err(self.reader.protocol("no answer to the beginning of a load"));
        };
        let from = self.log.mark();
        let began = self.clock.now();
        let (course, to) = self.follow(way, span, began, rate)?;
        let marks = (from, to);
        let (idle, loaded) = (self.log.results(idle, way), self.log.results(marks, way));
        let [(elapsed, received), (late, received_late)] = progress(&course.received, span);
        let arrived = with_headers(Rate::of(Bytes::new(received_late), late), course.sender.segment);
        let base = [idle.least, loaded.least].into_iter().filter(|&rtt| rtt > 0).min();
        let buffer = base.zip(capacity(trains.bps, arrived)).and_then(|(base, rate)| {
            let base = Span::from_nanos(base);
            buffer_in_front(&self.log.echoes(marks), &course.losses, base, rate)
        });
        let latencies = responsiveness(&course.latencies, span).map(|found| LatencyResults {
            tcp: found.latencies.tcp.as_nanos(),
            tls: found.latencies.tls.as_nanos(),
            request: found.latencies.request.as_nanos(),
            loaded: found.latencies.loaded.as_nanos(),
            steadiness: steadiness(found.steadiness),
        });
        Ok(WayResults {
            streams: self.loads.len() as u16,
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
            receiver: course.receiver,
        })
    }

    /// Follows a load from its beginning until nothing of it is on its way. Also returns the moment of its end.
    fn follow(
        &mut self,
        way: Way,
        span: Span,
        began: Time,
        rate: Option<Rate>,
    ) -> Result<(Course, Mark), TransferError> {
        let (clock, opener, until) = (*self.clock, self.opener, began + span);
        let every =
            rate.map_or(EVERY[1], |rate| rate.scale(SHARE).serialization(REQUESTS).clamp(EVERY[0], SELDOM));
        let over = AtomicBool::new(false);
        let separate: Mutex<Vec<(Span, [Span; 3])>> = Mutex::default();
        let mut course = Course::default();
        let mark = std::thread::scope(|threads| {
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
            match way {
                Way::Up => self.fill(&mut course, until, rate, every),
                Way::Down => self.drain(&mut course, began, span, every),
            }
        })?;
        let separate = std::mem::take(&mut *locked(&separate));
        let latencies = &mut course.latencies;
        for (at, [tcp, tls, request]) in separate {
            latencies.tcp.push((at, tcp));
            latencies.tls.push((at, tls));
            latencies.request.push((at, request));
        }
        for load in self.loads {
            let times = load.take_latencies();
            latencies.loaded.extend(times.into_iter().map(|(at, latency)| (at.since(began), latency)));
        }
        Ok((course, mark))
    }

    /// Sends the load.
    fn fill(
        &mut self,
        course: &mut Course,
        until: Time,
        rate: Option<Rate>,
        every: Span,
    ) -> Result<Mark, TransferError> {
        let mut gauge = Gauge::new(self.loads, *self.clock);
        for load in self.loads {
            load.fill(until, rate, u64::MAX)?;
        }
        self.until(until, every, |now, sample| {
            match sample {
                Some(sample) => course.received.push((Span::from_nanos(sample.elapsed), sample.received)),
                None => course.lost(now, gauge.read()),
            }
            course.received.last().copied()
        })?;
        course.sender = gauge.account();
        let mark = self.log.mark();
        self.send(&ToTested::End)?;
        let ToTester::Ended(Ended::Receiver(account)) = self.next()? else {
            return Err(self.reader.protocol("no account of a received load"));
        };
        course.receiver = account;
        let drained = self.clock.now() + DRAIN;
        while !gauge.is_drained() && self.clock.now() < drained {
            self.control.pause(self.clock.now() + READING)?;
        }
        Ok(mark)
    }

    /// Receives the load.
    fn drain(
        &mut self,
        course: &mut Course,
        began: Time,
        span: Span,
        every: Span,
    ) -> Result<Mark, TransferError> {
        let loads = self.loads;
        let received = || loads.iter().map(|load| load.received()).sum::<u64>();
        let waited = || loads.iter().map(|load| load.channel.waited_to_receive()).sum::<Span>();
        let before = waited();
        self.until(began + span, every, |now, sample: Option<LoadSample>| {
            match sample {
                Some(sample) => course.lost(began + Span::from_nanos(sample.elapsed), sample.retransmits),
                None => course.received.push((now.since(began), received())),
            }
            course.received.last().copied()
        })?;
        let waited = waited().saturating_sub(before).min(span * loads.len() as u64);
        course.receiver = ReceiverAccount { waited: waited.as_nanos() };
        let mark = self.log.mark();
        self.send(&ToTested::End)?;
        let ToTester::Ended(Ended::Sender(account)) = self.next()? else {
            return Err(self.reader.protocol("no account of a sent load"));
        };
        course.sender = account;
        Ok(mark)
    }

    /// Hands each sample of the receiver, and each moment for a reading, to `take` until `until`. Sends requests among
    /// the load.
    fn until(
        &mut self,
        until: Time,
        every: Span,
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
                self.loads[turn % self.loads.len()].request();
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
