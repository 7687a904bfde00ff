//! [`Prober`]: probes the path to an echoer, on the data receiver's side.

use crate::echoes::Echoes;
use crate::error::ProbeError;
use crate::key::ProbeKey;
use crate::socket::Datagrams;
use crate::train::{HEADERS, PACKET, PACKETS, TrainArrivals};
use crate::wire::{LENGTH, Message};
use estimate::TRAINS_APART;
use host::Clock;
use host::options::any_address;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use units::{Bytes, Span, Time};

/// Echoes are waited for this many probes long: ten seconds at one each 10 ms.
const REMEMBERED: usize = 1000;
/// More losses at once are not told one by one: the sizer has decided on them by then.
const LOSSES_TOLD: u64 = 100;
/// A train, or its request, is lost if nothing came for this long; a train whose last packet came waits for those
/// that it overtook.
const TRAIN_SILENCE: Span = Span::from_secs(1);
const TRAIN_BROKEN: Span = Span::from_millis(50);
const TRAIN_OVERTAKEN: Span = Span::from_millis(5);
/// The time between requests for a cookie while a train waits for one. A cookie is used for half of the time for
/// which it is sure to hold.
const COOKIE_EVERY: Span = Span::from_millis(50);
const COOKIE_FRESH: Span = Span::from_secs(5);

/// What a prober has found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeEvent {
    /// A probe was echoed. The round trip is from our sending to the kernel's stamp of the echo. The time that the
    /// echoer held the probe and the time in which the path stood still are subtracted.
    Echo(Span),
    /// A probe that had reached the echoer was lost on its way back: the way of the data.
    Lost,
    /// A train that was asked for has come as far as it will.
    Train(TrainArrivals),
}

/// What became of the probes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Sent.
    pub sent: u64,
    /// Echoes that came.
    pub echoed: u64,
    /// Lost on the way of the data, after the echoer had counted them.
    pub lost_with_data: u64,
    /// Lost on the way of the acknowledgements: never counted by the echoer, as far as its latest echo tells.
    pub lost_with_acks: u64,
    /// Datagrams that were no message of this key and session, or came again.
    pub ignored: u64,
    /// Datagrams the kernel did not send, or said it could not deliver.
    pub refused: u64,
}

/// When a datagram came: by the run's clock, in real time, and by the kernel's stamp alone.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Time,
    at: Time,
    stamp: Time,
}

/// A train on its way.
#[derive(Debug)]
struct Awaited {
    number: u64,
    /// Packets that were asked for.
    packets: u16,
    /// When it was asked for, or its latest packet came.
    moved: Time,
    arrivals: Vec<(u16, Time)>,
}

/// Probes one path. Its owner polls it when its socket is readable, and at [`Prober::wakeup`].
#[derive(Debug)]
pub struct Prober {
    socket: Datagrams,
    key: ProbeKey,
    session: u64,
    interval: Option<Span>,
    next_probe: Time,
    /// Probes without an echo, oldest first: number and real time of sending.
    unanswered: VecDeque<(u64, Time)>,
    echoes: Echoes,
    /// The latest one, and when it came.
    cookie: Option<(u64, Time)>,
    /// Packets of the trains that are to be asked for.
    trains_wanted: VecDeque<u16>,
    trains_asked: u64,
    next_train: Time,
    /// Trains on their way, oldest first.
    awaited: VecDeque<Awaited>,
    /// Payload of a train's packets.
    train_length: u16,
    counts: ProbeCounts,
}

impl Prober {
    /// For the path to the echoer at `echoer`, from the current thread's network namespace. It is silent until an
    /// interval is set or a train asked for.
    ///
    /// # Errors
    /// [`ProbeError::Socket`].
    pub fn connect(echoer: SocketAddr, key: &ProbeKey, session: u64) -> Result<Self, ProbeError> {
        Self::connect_from(any_address(echoer, 0), echoer, key, session)
    }

    /// The same from one of this machine's addresses, for an echoer that answers this address alone, or from a port.
    /// Port 0 takes a free one.
    ///
    /// # Errors
    /// As [`Prober::connect`].
    pub fn connect_from(
        local: SocketAddr,
        echoer: SocketAddr,
        key: &ProbeKey,
        session: u64,
    ) -> Result<Self, ProbeError> {
        let headers = HEADERS[usize::from(echoer.is_ipv6())];
        Ok(Self {
            socket: Datagrams::bind(local, Some(echoer))?,
            key: key.clone(),
            session,
            interval: None,
            next_probe: Time::NEVER,
            unanswered: VecDeque::new(),
            echoes: Echoes::default(),
            cookie: None,
            trains_wanted: VecDeque::new(),
            trains_asked: 0,
            next_train: Time::ZERO,
            awaited: VecDeque::new(),
            train_length: PACKET - headers,
            counts: ProbeCounts::default(),
        })
    }

    /// Probes every `interval` from `now` on; `None`: no longer.
    pub fn set_interval(&mut self, interval: Option<Span>, now: Time) {
        if interval != self.interval {
            self.interval = interval;
            self.next_probe = if interval.is_some() { now } else { Time::NEVER };
        }
    }

    /// Asks for one more train, of `packets` but not more than an echoer sends, a little after the one before. Poll soon.
    pub fn ask_train(&mut self, packets: usize) {
        self.trains_wanted.push_back(packets.clamp(1, PACKETS.into()) as u16);
        if self.cookie.is_none() && self.interval.is_none() {
            self.next_probe = Time::ZERO;
        }
    }

    /// Reads what has arrived, sends what is due. What it found out, in order.
    pub fn poll(&mut self, clock: &Clock) -> Vec<ProbeEvent> {
        let mut events = Vec::new();
        let now = clock.now();
        while let Some(received) = self.socket.receive(clock) {
            let arrival = Arrival { now, at: received.at, stamp: received.stamp };
            let message = Message::decode(&self.key, received.bytes);
            let ours = message.is_some_and(|(session, message)| {
                session == self.session && self.hear(message, arrival, clock, &mut events)
            });
            self.counts.ignored += u64::from(!ours);
        }
        self.end_trains(now, &mut events);
        if now >= self.next_probe {
            self.send_probe(clock);
            // Missed times are left out, the rhythm is kept.
            let interval = self.interval.unwrap_or(COOKIE_EVERY).max(Span::from_nanos(1));
            let missed = now.since(self.next_probe).as_nanos() / interval.as_nanos();
            self.next_probe += interval * (missed + 1);
        }
        self.start_train(clock);
        self.counts.refused = self.socket.refused;
        events
    }

    /// When to poll next, though nothing arrives.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        let came = self.awaited.iter().map(|awaited| awaited.moved + patience(awaited)).min();
        // Without a cookie the next probe brings it.
        let asks = !self.trains_wanted.is_empty() && self.cookie.is_some();
        let train = if asks { self.next_train } else { Time::NEVER };
        self.next_probe.min(train).min(came.unwrap_or(Time::NEVER))
    }

    /// What became of the probes.
    #[must_use]
    pub const fn counts(&self) -> ProbeCounts {
        self.counts
    }

    /// Whether the message was one we wait for.
    fn hear(
        &mut self,
        message: Message,
        arrival: Arrival,
        clock: &Clock,
        events: &mut Vec<ProbeEvent>,
    ) -> bool {
        match message {
            Message::Echo { number, count, cookie, held } => {
                let Some(lost) = self.echoes.observe(count) else { return false };
                self.cookie = Some((cookie, arrival.now));
                self.counts.echoed += 1;
                self.counts.lost_with_data += lost;
                self.counts.lost_with_acks = self.counts.lost_with_acks.max(number.saturating_sub(count));
                // In the order of sending: what is missing came before.
                events.extend((0..lost.min(LOSSES_TOLD)).map(|_| ProbeEvent::Lost));
                let place = self.unanswered.iter().position(|(unanswered, _)| *unanswered == number);
                if let Some((_, sent)) = place.and_then(|place| self.unanswered.remove(place)) {
                    // The path may have stood still while the echo was held; that counts once.
                    let stood = clock.stood(sent, arrival.at);
                    events.push(ProbeEvent::Echo(arrival.at.since(sent).saturating_sub(held.max(stood))));
                }
                true
            }
            Message::Train { number, place, packets, length } => {
                let awaited = self.awaited.iter_mut().find(|awaited| awaited.number == number);
                let Some(awaited) = awaited else { return false };
                let new = awaited.arrivals.iter().all(|(came, _)| *came != place);
                if length != self.train_length || packets != awaited.packets || place >= packets || !new {
                    return false;
                }
                awaited.moved = arrival.now;
                // As if the path had not stood still.
                awaited.arrivals.push((place, arrival.stamp - clock.behind(arrival.at)));
                true
            }
            _ => false,
        }
    }

    fn send_probe(&mut self, clock: &Clock) {
        self.counts.sent += 1;
        let number = self.counts.sent;
        let probe = Message::Probe { number }.encode(&self.key, self.session);
        if self.unanswered.len() == REMEMBERED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back((number, clock.real()));
        self.socket.send(&probe, None);
    }

    fn start_train(&mut self, clock: &Clock) {
        let Some(&packets) = self.trains_wanted.front() else { return };
        let now = clock.now();
        if self.cookie.is_some_and(|(_, at)| now.since(at) > COOKIE_FRESH) {
            self.cookie = None;
        }
        let Some((cookie, _)) = self.cookie else {
            // The next echo brings one.
            self.next_probe = self.next_probe.min(now + COOKIE_EVERY);
            return;
        };
        if self.interval.is_none() {
            self.next_probe = Time::NEVER;
        }
        if now < self.next_train {
            return;
        }
        self.trains_wanted.pop_front();
        self.trains_asked += 1;
        let number = self.trains_asked;
        let request = Message::TrainRequest { number, packets, length: self.train_length, cookie };
        let arrivals = Vec::with_capacity(packets.into());
        self.awaited.push_back(Awaited { number, packets, moved: now, arrivals });
        // Echoers refuse what comes sooner for long: see `TrainLimits`.
        self.next_train = now + TRAINS_APART;
        self.socket.send(&request.encode(&self.key, self.session), None);
    }

    /// Lets trains go that are whole, or have been waited for long enough.
    fn end_trains(&mut self, now: Time, events: &mut Vec<ProbeEvent>) {
        let packet = Bytes::new(PACKET.into());
        self.awaited.retain_mut(|awaited| {
            let over = now.since(awaited.moved) >= patience(awaited);
            if over {
                let arrivals = std::mem::take(&mut awaited.arrivals);
                events.push(ProbeEvent::Train(TrainArrivals { packets: awaited.packets, packet, arrivals }));
            }
            !over
        });
    }
}

/// How long after its latest packet a train is waited for.
fn patience(awaited: &Awaited) -> Span {
    match awaited.arrivals.last() {
        None => TRAIN_SILENCE,
        Some(_) if awaited.arrivals.len() == usize::from(awaited.packets) => Span::ZERO,
        Some((place, _)) if place + 1 == awaited.packets => TRAIN_OVERTAKEN,
        Some(_) => TRAIN_BROKEN,
    }
}

impl AsFd for Prober {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

// Trains of a length that no echoer sends would never come.
const _: () = assert!(PACKET as usize - 48 >= LENGTH);
