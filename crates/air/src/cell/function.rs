//! One access function: its queue, its contention window and its backoff counter (10.23.2.2, 10.3.4.3).

use super::Frame;
use super::account::FunctionReport;
use crate::access::{Access, Category, Countdown};
use crate::frame::ExchangeTime;
use std::collections::VecDeque;
use units::random::Stream;
use units::{Bytes, Span, Time};

#[derive(Debug)]
pub(super) struct Function {
    pub station: usize,
    pub category: Category,
    pub access: Access,
    slot: Span,
    aifs: Span,
    /// Payload and destination, if it always has a frame.
    saturated: Option<(Bytes, usize)>,
    /// The waiting frames; the first one is being tried.
    queue: VecDeque<Frame>,
    /// The time at which that frame became the first.
    head_since: Time,
    window: u32,
    /// The number of failed attempts of the first frame.
    failures: u32,
    count: u32,
    /// The first slot boundary of the current idle time; while the medium is busy, that of the last idle time.
    first_boundary: Time,
    /// The time at which it transmits if the medium stays idle.
    pub ready: Time,
    draws: Stream,
    pub report: FunctionReport,
    /// The airtime of the last payload and destination, because most frames are like the one before.
    pub last_exchange: Option<(Bytes, usize, ExchangeTime)>,
}

/// The parts of a function.
pub(super) struct FunctionParts {
    pub station: usize,
    pub category: Category,
    pub access: Access,
    pub slot: Span,
    pub sifs: Span,
    pub saturated: Option<(Bytes, usize)>,
    pub draws: Stream,
}

impl Function {
    pub fn new(parts: FunctionParts) -> Self {
        let FunctionParts { station, category, access, slot, sifs, saturated, draws } = parts;
        let mut function = Self {
            station,
            category,
            access,
            slot,
            aifs: sifs + slot * u64::from(access.aifsn),
            saturated,
            queue: VecDeque::new(),
            head_since: Time::ZERO,
            window: access.cw_min,
            failures: 0,
            count: 0,
            first_boundary: Time::ZERO,
            ready: Time::NEVER,
            draws,
            report: FunctionReport::default(),
            last_exchange: None,
        };
        if let Some((payload, to)) = saturated {
            function.queue.push_back(Frame { id: 0, payload, to });
            function.draw();
        }
        function.resume(Time::ZERO);
        function
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn head(&self) -> Option<&Frame> {
        self.queue.front()
    }

    pub fn is_saturated(&self) -> bool {
        self.saturated.is_some()
    }

    /// Draws a counter from the whole contention window.
    pub fn draw(&mut self) {
        self.count = self.draws.integer(0, u64::from(self.window)) as u32;
    }

    /// Notes that the medium has been idle since `since`.
    pub fn resume(&mut self, since: Time) {
        self.first_boundary = since + self.aifs;
        self.ready = if self.queue.is_empty() { Time::NEVER } else { self.end_of_backoff() };
    }

    fn end_of_backoff(&self) -> Time {
        self.first_boundary + self.slot * u64::from(self.count)
    }

    /// Freezes the counter as another function begins to transmit at `at`.
    pub fn freeze(&mut self, at: Time) {
        if at < self.first_boundary {
            return;
        }
        let slots = at.since(self.first_boundary).as_nanos() / self.slot.as_nanos();
        let passed = match self.access.countdown {
            Countdown::EveryBoundary => slots + 1,
            Countdown::IdleSlots => slots,
        };
        self.count = self.count.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
    }

    /// Takes a frame. `idle` is true if the medium is idle, and `holder` if this function holds a TXOP.
    pub fn enqueue(&mut self, now: Time, frame: Frame, idle: bool, holder: bool) {
        self.queue.push_back(frame);
        if self.queue.len() > 1 {
            return;
        }
        self.head_since = now;
        if idle {
            self.ready = self.access_at(now);
        } else if self.count == 0 && !holder {
            // 10.23.2.2 a): a frame that finds the medium busy and the counter at 0 draws a counter.
            self.draw();
        }
    }

    /// Returns the time at which a frame that comes at `now`, while the medium is idle, is transmitted.
    fn access_at(&self, now: Time) -> Time {
        let end = self.end_of_backoff();
        if now <= end {
            return end;
        }
        match self.access.countdown {
            Countdown::EveryBoundary => {
                let slots = now.since(self.first_boundary).as_nanos().div_ceil(self.slot.as_nanos());
                self.first_boundary + self.slot * slots
            }
            // 10.3.4.2: the medium has been idle for DIFS and no backoff is left, so the frame is sent at once.
            Countdown::IdleSlots => now,
        }
    }

    /// Takes out the first frame, and returns it with its service time.
    fn pop(&mut self, now: Time) -> (Frame, Span) {
        let frame = self.queue.pop_front().expect("who transmits has a frame");
        let service = now.since(self.head_since);
        self.report.service += service;
        self.head_since = now;
        if let Some((payload, to)) = self.saturated {
            self.queue.push_back(Frame { id: frame.id + 1, payload, to });
        }
        (frame, service)
    }

    /// Takes out the first frame, which is acknowledged. Returns the frame, its service time and the number of
    /// attempts.
    pub fn acknowledge(&mut self, now: Time) -> (Frame, Span, u32) {
        let (frame, service) = self.pop(now);
        self.report.delivered += 1;
        self.report.payload += frame.payload;
        let attempts = self.failures + 1;
        self.failures = 0;
        self.window = self.access.cw_min;
        (frame, service, attempts)
    }

    /// Counts a failed attempt, and draws the counter again (10.23.2.2). Returns the frame, the attempts so far, and
    /// the service time if this was the last attempt and the frame is dropped.
    pub fn fail(&mut self, now: Time) -> (Frame, u32, Option<Span>) {
        self.failures += 1;
        let attempts = self.failures;
        let dropped = attempts >= self.access.retry_limit;
        let (frame, service) = if dropped {
            let (frame, service) = self.pop(now);
            self.report.dropped += 1;
            self.failures = 0;
            self.window = self.access.cw_min;
            (frame, Some(service))
        } else {
            self.window = (2 * self.window + 1).min(self.access.cw_max);
            (*self.head().expect("who transmits has a frame"), None)
        };
        self.draw();
        (frame, attempts, service)
    }
}
