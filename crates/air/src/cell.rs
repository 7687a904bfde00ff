//! The cell as a machine: [`Cell::push`], [`Cell::poll`], [`Cell::wakeup`].
//!
//! Between two transmissions nothing is done slot by slot. The next one begins when the first backoff counter ends.
//! Then the counters of the others move by the boundaries that have passed.

mod account;
mod function;

pub use account::{Airtime, FunctionReport};

use crate::access::Category;
use crate::config::{AfterCollision, CellConfig};
use crate::frame::{ExchangeTime, Sizes};
use crate::phy::Phy;
use account::{Account, MediumUse};
use function::{Function, FunctionParts};
use std::ops::Range;
use units::random::Stream;
use units::{Bytes, Complaint, Rate, Span, Time};

/// A frame to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The caller's name for the frame. A saturated function counts from 0.
    pub id: u64,
    /// The payload of the frame, without LLC header and MAC header.
    pub payload: Bytes,
    /// The index of the station that it is for.
    pub to: usize,
}

/// The id of an access function of one station, from [`Cell::function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(usize);

impl FunctionId {
    /// Returns its place among all functions of the cell: those of the first station come first, each station's as
    /// configured.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The time at which the sender knows the outcome: the end of the acknowledgement or of the collision, or the
    /// instant of an internal collision.
    pub at: Time,
    /// The function that sent it.
    pub function: FunctionId,
    /// The frame.
    pub frame: Frame,
    /// The number of attempts of this frame so far.
    pub attempts: u32,
    /// The way in which it ended.
    pub fate: Fate,
}

/// The way in which an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// An acknowledgement has arrived. The receiver got the frame earlier, by SIFS and the duration of the
    /// acknowledgement.
    Delivered {
        /// The service time, from the head of the queue to the end of the acknowledgement.
        service: Span,
    },
    /// A collision, after which the frame is tried again.
    Retried,
    /// A collision at the retry limit.
    Dropped {
        /// The service time, from the head of the queue to the end of the collision.
        service: Span,
    },
}

/// The state of the medium.
#[derive(Clone, Copy, Debug)]
enum Medium {
    Idle,
    /// A data frame that nobody disturbs, up to the end of its acknowledgement.
    Exchange {
        holder: usize,
        /// The time at which the data frame ends.
        received: Time,
        airtime: Span,
        txop_end: Time,
    },
    /// The SIFS after an acknowledgement, inside a TXOP.
    Between {
        holder: usize,
        since: Time,
        txop_end: Time,
    },
    Collision,
}

/// The medium and all functions that contend for it.
#[derive(Debug)]
pub struct Cell {
    phy: Phy,
    sizes: Sizes,
    control_rate: Rate,
    /// The rate of each station.
    rates: Vec<Option<Rate>>,
    /// The wait after a collision beyond AIFS.
    wait: Span,
    ack_timeout: Option<Span>,
    functions: Vec<Function>,
    /// The range of each station's functions in `functions`.
    of_station: Vec<Range<usize>>,
    medium: Medium,
    /// The time at which the medium next changes, or may change.
    next: Time,
    /// The functions that collide, and the time at which the data frame of each ends.
    senders: Vec<(usize, Time)>,
    account: Account,
}

impl Cell {
    /// Creates a cell at time zero, with the medium idle since then.
    ///
    /// # Errors
    /// Returns the errors of [`CellConfig::check`].
    pub fn new(config: &CellConfig) -> Result<Self, Complaint> {
        config.check()?;
        let (mut functions, mut of_station) = (Vec::new(), Vec::new());
        for (station, settings) in config.stations.iter().enumerate() {
            let first = functions.len();
            functions.extend(settings.functions.iter().map(|function| {
                let stream = format!("backoff {} {}", settings.name, function.category.name());
                Function::new(FunctionParts {
                    station,
                    category: function.category,
                    access: function.access,
                    slot: config.phy.slot,
                    sifs: config.phy.sifs,
                    saturated: function.saturated,
                    draws: Stream::new(config.seed, &stream),
                })
            }));
            of_station.push(first..functions.len());
        }
        let mut cell = Self {
            phy: config.phy,
            sizes: config.sizes,
            control_rate: config.control_rate,
            rates: config.stations.iter().map(|station| station.rate).collect(),
            wait: match config.after_collision {
                AfterCollision::Difs => Span::ZERO,
                AfterCollision::Eifs => config.phy.eifs_less_difs(config.sizes.acknowledgement),
                AfterCollision::Wait(wait) => wait,
            },
            ack_timeout: config.ack_timeout,
            functions,
            of_station,
            medium: Medium::Idle,
            next: Time::NEVER,
            senders: Vec::new(),
            account: Account::default(),
        };
        cell.next = cell.next_ready();
        Ok(cell)
    }

    /// Returns the function of `category` in station number `station`, if it has one.
    #[must_use]
    pub fn function(&self, station: usize, category: Category) -> Option<FunctionId> {
        let mut range = self.of_station.get(station)?.clone();
        range.find(|index| self.functions[*index].category == category).map(FunctionId)
    }

    /// Returns the station and the category of a function.
    #[must_use]
    pub fn owner(&self, function: FunctionId) -> (usize, Category) {
        let function = &self.functions[function.0];
        (function.station, function.category)
    }

    /// Hands `frame` to a function, which keeps its frames in order and without a limit. Everything up to `now` must
    /// have been polled.
    ///
    /// # Panics
    /// If the function is saturated, if the destination does not exist, or if neither end has a rate.
    pub fn push(&mut self, now: Time, function: FunctionId, frame: Frame) {
        let index = function.0;
        let from = self.functions[index].station;
        assert!(self.rates[from].or(self.rates[frame.to]).is_some(), "one end of a frame has a rate");
        assert!(!self.functions[index].is_saturated(), "a saturated function makes its frames itself");
        let idle = matches!(self.medium, Medium::Idle);
        let holds = matches!(self.medium, Medium::Between { holder, .. } if holder == index);
        self.functions[index].enqueue(now, frame, idle, holds);
        if idle {
            self.next = self.next.min(self.functions[index].ready);
        }
    }

    /// Returns the number of frames that a function holds, the one being tried included.
    #[must_use]
    pub fn waiting(&self, function: FunctionId) -> usize {
        self.functions[function.0].waiting()
    }

    /// Returns the time of the next event: [`Time::NEVER`] if nobody has a frame.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.next
    }

    /// Does everything that is due by `now`, and adds the outcomes of attempts to `outcomes`. A caller that refills a
    /// function as its frames leave must poll at each [`Cell::wakeup`]. A TXOP continues if a frame is pushed at the
    /// time of the previous outcome.
    pub fn poll(&mut self, now: Time, outcomes: &mut Vec<Outcome>) {
        while self.next <= now && self.next != Time::NEVER {
            let at = self.next;
            match self.medium {
                Medium::Idle => self.begin(at, outcomes),
                Medium::Exchange { holder, airtime, txop_end, .. } => {
                    self.acknowledged(at, holder, airtime, txop_end, outcomes);
                }
                Medium::Between { holder, since, txop_end } => self.go_on(at, holder, since, txop_end),
                Medium::Collision => self.collided(at, outcomes),
            }
        }
    }

    /// Returns the sender of a frame that is transmitted undisturbed, and the time at which the receiver has all of it.
    /// The outcome follows after SIFS and the acknowledgement.
    #[must_use]
    pub fn receiving(&self) -> Option<(FunctionId, Time)> {
        match self.medium {
            Medium::Exchange { holder, received, .. } => Some((FunctionId(holder), received)),
            _ => None,
        }
    }

    /// Returns the report of a function up to the last event.
    #[must_use]
    pub fn report(&self, function: FunctionId) -> FunctionReport {
        self.functions[function.0].report
    }

    /// Returns the medium's time up to `now`, up to which everything must have been polled.
    #[must_use]
    pub fn airtime(&self, now: Time) -> Airtime {
        let current = match self.medium {
            Medium::Idle | Medium::Between { .. } => MediumUse::Idle,
            Medium::Exchange { .. } => MediumUse::Exchange,
            Medium::Collision => MediumUse::Collision,
        };
        self.account.at(now, current)
    }

    fn next_ready(&self) -> Time {
        self.functions.iter().map(|function| function.ready).min().unwrap_or(Time::NEVER)
    }

    /// Returns the airtime of the frame that a function tries.
    fn exchange(&mut self, index: usize) -> ExchangeTime {
        let function = &mut self.functions[index];
        let Frame { payload, to, .. } = *function.head().expect("who transmits has a frame");
        if let Some((known, whither, time)) = function.last_exchange
            && (known, whither) == (payload, to)
        {
            return time;
        }
        let rate = self.rates[function.station].or(self.rates[to]).expect("checked as it came");
        let time = ExchangeTime::new(&self.phy, &self.sizes, payload, rate, self.control_rate);
        function.last_exchange = Some((payload, to, time));
        time
    }

    /// Begins the transmissions of the functions whose counters end first, at `at`. The others freeze.
    fn begin(&mut self, at: Time, outcomes: &mut Vec<Outcome>) {
        self.account.charge(at, MediumUse::Idle);
        self.senders.clear();
        // A station senses a transmission that began at least a slot before its own boundary, because the slot time is
        // made for that (10.3.7). Only transmissions that begin less than a slot apart collide. If boundaries are a
        // whole number of slots apart, these begin at the same instant.
        let heard = at + self.phy.slot;
        for station in 0..self.of_station.len() {
            let range = self.of_station[station].clone();
            let due = range.clone().filter(|index| self.functions[*index].ready < heard);
            let sender = due.min_by_key(|index| {
                let function = &self.functions[*index];
                (function.ready, std::cmp::Reverse(function.category))
            });
            let ready = sender.map(|index| self.functions[index].ready);
            for index in range {
                if Some(index) == sender {
                    self.senders.push((index, self.functions[index].ready));
                } else if ready == Some(self.functions[index].ready) {
                    self.functions[index].report.internal_collisions += 1;
                    self.fail(at, index, outcomes);
                } else {
                    self.functions[index].freeze(at);
                }
            }
        }
        if let [(holder, start)] = self.senders[..] {
            self.transmit(start, holder, start + self.functions[holder].access.txop);
            return;
        }
        self.medium = Medium::Collision;
        self.next = at;
        for nth in 0..self.senders.len() {
            let (index, start) = self.senders[nth];
            let data = self.exchange(index).data;
            let report = &mut self.functions[index].report;
            report.attempts += 1;
            report.collisions += 1;
            report.collided += data;
            self.senders[nth].1 = start + data;
            self.next = self.next.max(start + data);
        }
    }

    fn transmit(&mut self, at: Time, holder: usize, txop_end: Time) {
        let ExchangeTime { data, whole: airtime, .. } = self.exchange(holder);
        self.functions[holder].report.attempts += 1;
        self.medium = Medium::Exchange { holder, received: at + data, airtime, txop_end };
        self.next = at + airtime;
    }

    fn acknowledged(
        &mut self,
        at: Time,
        holder: usize,
        airtime: Span,
        txop_end: Time,
        outcomes: &mut Vec<Outcome>,
    ) {
        self.account.charge(at, MediumUse::Exchange);
        let function = &mut self.functions[holder];
        function.report.airtime += airtime;
        let (frame, service, attempts) = function.acknowledge(at);
        let fate = Fate::Delivered { service };
        outcomes.push(Outcome { at, function: FunctionId(holder), frame, attempts, fate });
        let after = at + self.phy.sifs;
        if after < txop_end {
            self.medium = Medium::Between { holder, since: at, txop_end };
            self.next = after;
        } else {
            self.functions[holder].draw();
            self.resume(at);
        }
    }

    /// Goes on after SIFS: sends the next frame if its exchange fits into the TXOP (10.23.2.8), or ends the TXOP.
    fn go_on(&mut self, at: Time, holder: usize, since: Time, txop_end: Time) {
        if self.functions[holder].head().is_some() && at + self.exchange(holder).whole <= txop_end {
            self.account.charge(at, MediumUse::Exchange);
            self.functions[holder].report.airtime += at.since(since);
            self.transmit(at, holder, txop_end);
        } else {
            self.functions[holder].draw();
            self.resume(since);
        }
    }

    fn collided(&mut self, at: Time, outcomes: &mut Vec<Outcome>) {
        self.account.charge(at, MediumUse::Collision);
        for nth in 0..self.senders.len() {
            self.fail(at, self.senders[nth].0, outcomes);
        }
        self.resume(at + self.wait);
        let Some(timeout) = self.ack_timeout else { return };
        for (index, end) in &self.senders {
            // The whole station was deaf while it sent, so its other functions wait as the sender does.
            let station = self.of_station[self.functions[*index].station].clone();
            for function in &mut self.functions[station] {
                function.resume(at.max(*end + timeout));
            }
        }
        self.next = self.next_ready();
    }

    fn fail(&mut self, at: Time, index: usize, outcomes: &mut Vec<Outcome>) {
        let (frame, attempts, service) = self.functions[index].fail(at);
        let fate = service.map_or(Fate::Retried, |service| Fate::Dropped { service });
        outcomes.push(Outcome { at, function: FunctionId(index), frame, attempts, fate });
    }

    /// Sets the medium to idle, as it has been since `since`.
    fn resume(&mut self, since: Time) {
        self.medium = Medium::Idle;
        for function in &mut self.functions {
            function.resume(since);
        }
        self.next = self.next_ready();
    }
}
