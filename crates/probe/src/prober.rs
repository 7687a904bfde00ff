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

/// The number of probes for which echoes are awaited: ten seconds at one each 10 ms.
const REMEMBERED: usize = 1000;
/// The most losses that one echo reports. The sizer needs no more of them to decide.
const LOSSES_TOLD: u64 = 100;
/// The time without a packet after which a train is over if no packet has arrived.
const TRAIN_SILENCE: Span = Span::from_secs(1);
/// The time without a packet after which a train is over if some packets have arrived.
const TRAIN_BROKEN: Span = Span::from_millis(50);
/// The time without a packet after which a train is over if its last packet has arrived. Only packets that the last one
/// overtook can still arrive then.
const TRAIN_OVERTAKEN: Span = Span::from_millis(5);
/// The time between requests for a cookie while a train waits for one.
const COOKIE_EVERY: Span = Span::from_millis(50);
/// The time for which a cookie is used: half of the time for which it is sure to be valid.
const COOKIE_FRESH: Span = Span::from_secs(5);

/// A finding of a prober.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeEvent {
    /// A probe was echoed, with this round trip from our sending to the kernel's stamp of the echo. The longer of two
    /// times is subtracted: the time that the echoer held the probe, and the time for which the path stood still.
    Echo(Span),
    /// A probe that had reached the echoer was lost on its way back, in the direction of the data.
    Lost,
    /// A requested train is over, with the packets that have arrived.
    Train(TrainArrivals),
}

/// The counts of the probes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Probes sent.
    pub sent: u64,
    /// Echoes that arrived.
    pub echoed: u64,
    /// Probes lost in the direction of the data, after the echoer had counted them.
    pub lost_with_data: u64,
    /// Probes lost in the direction of the acknowledgements: never counted by the echoer, as its latest echo shows.
    pub lost_with_acks: u64,
    /// Datagrams that were not a message of this key and session, or were repeated.
    pub ignored: u64,
    /// Datagrams that the kernel did not send, or reported as undeliverable.
    pub refused: u64,
}

/// The time of a datagram's arrival: by the run's clock, in real time, and by the kernel's stamp alone.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Time,
    at: Time,
    stamp: Time,
}

/// A train that has been requested.
#[derive(Debug)]
struct PendingTrain {
    number: u64,
    /// The number of packets requested.
    packets: u16,
    /// The time of the request, or of the latest packet.
    moved: Time,
    arrivals: Vec<(u16, Time)>,
}

/// A prober of one path. Its owner polls it when its socket is readable, and at [`Prober::wakeup`].
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
    /// The latest cookie, and the time of its arrival.
    cookie: Option<(u64, Time)>,
    /// The number of packets of each train that is still to be requested.
    trains_wanted: VecDeque<u16>,
    trains_asked: u64,
    next_train: Time,
    /// The requested trains that are not over, oldest first.
    awaited: VecDeque<PendingTrain>,
    /// Payload of a train's packets.
    train_length: u16,
    counts: ProbeCounts,
}

impl Prober {
    /// Makes a prober of the path to the echoer at `echoer`, from the current thread's network namespace. It is silent
    /// until an interval is set or a train is requested.
    ///
    /// # Errors
    /// [`ProbeError::Socket`].
    pub fn connect(echoer: SocketAddr, key: &ProbeKey, session: u64) -> Result<Self, ProbeError> {
        Self::connect_from(any_address(echoer, 0), echoer, key, session)
    }

    /// Makes a prober that sends from `local`, one of this machine's addresses, for an echoer that answers this address
    /// alone. Port 0 takes a free port.
    ///
    /// # Errors
    /// As for [`Prober::connect`].
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

    /// Sets the interval of probes from `now` on; `None` stops them.
    pub fn set_interval(&mut self, interval: Option<Span>, now: Time) {
        if interval != self.interval {
            self.interval = interval;
            self.next_probe = if interval.is_some() { now } else { Time::NEVER };
        }
    }

    /// Requests one more train of `packets` packets, but not more than an echoer sends. A later [`poll`](Self::poll)
    /// sends the request, shortly after the request before.
    pub fn ask_train(&mut self, packets: usize) {
        self.trains_wanted.push_back(packets.clamp(1, PACKETS.into()) as u16);
        if self.cookie.is_none() && self.interval.is_none() {
            self.next_probe = Time::ZERO;
        }
    }

    /// Reads the datagrams that have arrived, and sends those that are due. Returns the findings in order.
    pub fn poll(&mut self, clock: &Clock) -> Vec<ProbeEvent> {
        let mut events = Vec::new();
        let now = clock.now();
        while let Some(received) = self.socket.receive(clock) {
            let arrival = Arrival { now, at: received.at, stamp: received.stamp };
            let message = Message::decode(&self.key, received.bytes);
            let ours = message.is_some_and(|(session, message)| {
                session == self.session && self.handle_message(message, arrival, clock, &mut events)
            });
            self.counts.ignored += u64::from(!ours);
        }
        self.end_trains(now, &mut events);
        if now >= self.next_probe {
            self.send_probe(clock);
            // Missed probes are left out, and the rhythm is kept.
            let interval = self.interval.unwrap_or(COOKIE_EVERY).max(Span::from_nanos(1));
            let missed = now.since(self.next_probe).as_nanos() / interval.as_nanos();
            self.next_probe += interval * (missed + 1);
        }
        self.start_train(clock);
        self.counts.refused = self.socket.refused;
        events
    }

    /// Returns the time of the next poll, if nothing arrives before.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        let came = self.awaited.iter().map(|awaited| awaited.moved + patience(awaited)).min();
        // Without a cookie, the next probe brings one.
        let asks = !self.trains_wanted.is_empty() && self.cookie.is_some();
        let train = if asks { self.next_train } else { Time::NEVER };
        self.next_probe.min(train).min(came.unwrap_or(Time::NEVER))
    }

    /// Returns the counts of the probes.
    #[must_use]
    pub const fn counts(&self) -> ProbeCounts {
        self.counts
    }

    /// Takes a message. Returns true if it was expected.
    fn handle_message(
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
                // The losses come before this echo, because the missing probes were sent before this one.
                events.extend((0..lost.min(LOSSES_TOLD)).map(|_| ProbeEvent::Lost));
                let place = self.unanswered.iter().position(|(unanswered, _)| *unanswered == number);
                if let Some((_, sent)) = place.and_then(|place| self.unanswered.remove(place)) {
                    // The path may have stood still while the echo was held, so only the longer of the two times is
                    // subtracted.
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
                // Records the time at which the packet would have arrived if the path had not stood still.
                awaited.arrivals.push((place, arrival.stamp - clock.lag(arrival.at)));
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
        self.awaited.push_back(PendingTrain { number, packets, moved: now, arrivals });
        // Echoers refuse more frequent requests in the long run: see `TrainLimits`.
        self.next_train = now + TRAINS_APART;
        self.socket.send(&request.encode(&self.key, self.session), None);
    }

    /// Ends trains that are whole, or have been awaited for long enough.
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

/// Returns the time for which a train is awaited after its latest packet.
fn patience(awaited: &PendingTrain) -> Span {
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

// A train whose packets are shorter than a message would never arrive.
const _: () = assert!(PACKET as usize - 48 >= LENGTH);
