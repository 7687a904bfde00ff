//! A path made of three numbers.

use estimate::{TRAIN_PACKETS, train_bytes};
use std::collections::VecDeque;
use tightlink_sizing::{Action, BufferSizer, Input, Regret, SizerConfig, Sobas};
use units::{Bytes, Rate, Span, Time};

pub const SEGMENT: f64 = 1448.0;

/// A fluid path with a sender in slow start, then Reno, behind it. All in payload bytes and seconds.
pub struct Fluid {
    pub sizer: Box<dyn BufferSizer>,
    /// What the sender was asked to pace at last.
    pub pace: Option<Rate>,
    pub now: f64,
    pub capacity: f64,
    pub base: f64,
    pub buffer: f64,
    /// Seconds from one loss to the next that no queue causes.
    pub random_loss: Option<f64>,
    /// Another transfer: what it has in flight, its socket buffer, and what an overflow leaves it.
    pub other: f64,
    pub other_most: f64,
    pub other_keeps: f64,
    pub probes: bool,
    pub trains: bool,
    pub look_every: f64,
    pub cwnd: f64,
    pub threshold: f64,
    pub window: f64,
    /// Windows under way to the sender.
    pub advertised: VecDeque<(f64, f64)>,
    pub queue: f64,
    pub unread: f64,
    pub next_look: f64,
    pub next_probe: f64,
    pub next_random: f64,
    pub trains_due: VecDeque<f64>,
    pub trains_came: usize,
    /// Which of them lose a packet, whatever the queue.
    pub trains_broken: Vec<usize>,
    pub lost: u64,
    pub recovers: f64,
    pub delivered: f64,
    pub waited: f64,
}

impl Fluid {
    pub fn new(mbps: f64, base_ms: f64, buffer_bdp: f64, config: impl FnOnce(&mut SizerConfig)) -> Self {
        let mut settings = SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000));
        config(&mut settings);
        let (capacity, base) = (mbps * 1e6 / 8.0, base_ms / 1e3);
        Self {
            sizer: match settings.regret {
                Some(_) => Box::new(Regret::new(settings)),
                None => Box::new(Sobas::new(settings)),
            },
            pace: None,
            now: 0.0,
            capacity,
            base,
            buffer: buffer_bdp * capacity * base,
            random_loss: None,
            other: 0.0,
            other_most: 0.0,
            other_keeps: 1.0,
            probes: true,
            trains: settings.trains > 0,
            look_every: 0.01,
            cwnd: 10.0 * SEGMENT,
            threshold: f64::INFINITY,
            window: 0.0,
            advertised: VecDeque::new(),
            queue: 0.0,
            unread: 0.0,
            next_look: 0.0,
            next_probe: 0.0,
            next_random: 0.0,
            trains_due: VecDeque::new(),
            trains_came: 0,
            trains_broken: Vec::new(),
            lost: 0,
            recovers: 0.0,
            delivered: 0.0,
            waited: 0.0,
        }
    }

    /// With another transfer on the path, limited to `share` of it, that keeps `keeps` of its window at an overflow.
    pub fn beside(mut self, share: f64, keeps: f64) -> Self {
        self.other_most = share * self.capacity * self.base;
        (self.other, self.other_keeps) = (self.other_most, keeps);
        self
    }

    pub fn at(&self) -> Time {
        Time::from_nanos((self.now * 1e9) as u64)
    }

    pub fn tell(&mut self, input: Input) {
        self.sizer.handle(self.at(), input);
    }

    pub fn lose(&mut self) {
        self.lost += 1;
        if self.now >= self.recovers {
            self.recovers = self.now + self.base;
            self.threshold = (self.cwnd.min(self.window) / 2.0).max(2.0 * SEGMENT);
            self.cwnd = self.threshold;
            self.other *= self.other_keeps;
            self.tell(Input::OutOfOrder(3));
        }
    }

    /// Runs for `seconds` in steps of a millisecond.
    pub fn run(&mut self, seconds: f64) -> &mut Self {
        let end = self.now + seconds;
        let step = 1e-3;
        while self.now < end {
            self.now += step;
            while self.advertised.front().is_some_and(|(at, _)| *at <= self.now) {
                self.window = self.advertised.pop_front().map_or(0.0, |(_, window)| window);
            }
            let in_flight = self.cwnd.min(self.window);
            let wait = self.base + self.queue / self.capacity;
            let rate = (in_flight / wait).min(self.capacity * in_flight / (in_flight + self.other));
            self.queue = (in_flight + self.other - self.capacity * self.base).max(0.0);
            self.other = (self.other + SEGMENT * step / wait).min(self.other_most);
            if self.queue > self.buffer {
                self.queue = self.buffer;
                self.lose();
            }
            if let Some(every) = self.random_loss
                && self.now >= self.next_random
            {
                self.next_random = self.now + every;
                self.lose();
            }
            if in_flight >= self.cwnd {
                let acked = rate * step;
                self.cwnd += if self.cwnd < self.threshold { acked } else { acked * SEGMENT / self.cwnd };
            }
            self.unread += rate * step;
            self.delivered += rate * step;
            self.waited += rate * step * wait;
            if self.probes && self.now >= self.next_probe {
                self.next_probe = self.now + 0.01;
                self.tell(Input::Probe(Some(Span::from_secs_f64(wait))));
            }
            while self.trains_due.front().is_some_and(|due| self.now >= *due) {
                self.trains_due.pop_front();
                self.trains_came += 1;
                let broken = self.trains_broken.contains(&self.trains_came);
                let fits = (train_bytes(TRAIN_PACKETS).get() as f64) < self.buffer + 10_000.0 && !broken;
                let wire = self.capacity * 8.0 * 1500.0 / SEGMENT;
                let rate = Rate::from_bps_f64(wire);
                self.tell(if fits { Input::Train(Some(rate)) } else { Input::TrainRemains(rate) });
            }
            if self.now >= self.next_look {
                self.next_look = self.now + self.look_every;
                let bytes = Bytes::new(std::mem::take(&mut self.unread) as u64);
                self.tell(Input::Delivered(bytes));
                // As the kernel's: once per round trip, in whole milliseconds.
                if !self.probes && self.now >= self.next_probe {
                    self.next_probe = self.now + wait;
                    self.tell(Input::RoundTrip(Span::from_millis((wait * 1e3).round() as u64)));
                }
            }
            let now = self.at();
            while let Some(action) = self.sizer.poll(now) {
                match action {
                    Action::Window(window) => {
                        self.advertised.push_back((self.now + self.base / 2.0, window.get() as f64));
                    }
                    Action::Pace(pace) => self.pace = pace,
                    Action::Train(_) if self.trains => self.trains_due.push_back(self.now + self.base),
                    Action::Train(_) => {}
                }
            }
        }
        self
    }

    pub fn phase(&self) -> &'static str {
        self.sizer.state().phase
    }

    /// Over the next `seconds`: goodput over capacity, mean RTT over base RTT, losses.
    pub fn measure(&mut self, seconds: f64) -> (f64, f64, u64) {
        (self.delivered, self.waited, self.lost) = (0.0, 0.0, 0);
        self.run(seconds);
        (self.delivered / seconds / self.capacity, self.waited / self.delivered / self.base, self.lost)
    }
}
