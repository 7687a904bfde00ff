//! [`Echoer`]: answers probes and sends packet trains, on the data sender's side.

use crate::cookie::Cookies;
use crate::error::ProbeError;
use crate::key::ProbeKey;
use crate::replay::ReplayWindow;
use crate::socket::Datagrams;
use crate::train::{HEADERS, PACKET, PACKETS};
use crate::wire::{LENGTH, Message};
use estimate::{TRAINS, TRAINS_APART};
use host::Clock;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use units::{Bytes, Span, Time};

/// The number of datagrams handled before others get their turn: a flood must not hold up a transfer.
const AT_ONCE: u32 = 256;

/// The limits on the number and size of an echoer's trains.
///
/// A prober sends no request sooner than [`TRAINS_APART`] after its last one. Its requests may still arrive closer
/// together, if a machine or the path delays some and then releases them. So each session has a bucket of trains, which
/// fills at the rate of a prober's requests. A session that keeps to that rate is never refused, and no session gets a
/// higher rate for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainLimits {
    /// Packets of one train.
    pub packets: u16,
    /// Payload of each packet.
    pub length: u16,
    /// The least average time between two trains of a session.
    pub apart: Span,
    /// The number of trains of a session that may be requested at once; at least one.
    pub at_once: u64,
    /// The number of trains in all, all sessions together.
    pub total: u64,
}

impl Default for TrainLimits {
    /// Returns limits that suffice for a prober of this project [sobas:IV]: trains of up to 100 packets of Ethernet's
    /// size, 15 ms apart. The five trains of a decision may be requested at once if they were delayed. 200 decisions
    /// need 1000 in all.
    fn default() -> Self {
        let (length, at_once) = (PACKET - HEADERS[0], TRAINS as u64);
        Self { packets: PACKETS, length, apart: TRAINS_APART, at_once, total: 1000 }
    }
}

/// The counts of an echoer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoCounts {
    /// Probes echoed.
    pub echoed: u64,
    /// Trains sent.
    pub trains: u64,
    /// Trains that were requested and not sent: over a limit, not allowed, or without a valid cookie.
    pub trains_refused: u64,
    /// Datagrams that were not a message of this key and session, were repeated, or came from another address than the
    /// only one accepted.
    pub ignored: u64,
}

/// One prober, as its echoer knows it.
#[derive(Debug, Default)]
struct Session {
    probes: ReplayWindow,
    requests: ReplayWindow,
    echoed: u64,
    /// The time at which the bucket of trains will be full again.
    full: Time,
}

impl Session {
    /// Returns the time at which the bucket will be full again after a train at `at`; `None` if the bucket is empty.
    fn train(&self, at: Time, limits: &TrainLimits) -> Option<Time> {
        let full = self.full.max(at);
        (full.since(at) <= limits.apart * limits.at_once.saturating_sub(1)).then_some(full + limits.apart)
    }
}

/// An echoer, which answers probes and sends trains for the sessions that it was made for.
#[derive(Debug)]
pub struct Echoer {
    socket: Datagrams,
    key: ProbeKey,
    cookies: Cookies,
    sessions: HashMap<u64, Session>,
    limits: TrainLimits,
    only_from: Option<IpAddr>,
    counts: EchoCounts,
}

impl Echoer {
    /// Listens on `address` (port 0: any) in the current thread's network namespace, for probers that have `key` and
    /// one of `sessions`.
    ///
    /// # Errors
    /// [`ProbeError::Socket`], or [`ProbeError::Host`] without random numbers.
    pub fn bind(
        address: SocketAddr,
        key: &ProbeKey,
        sessions: impl IntoIterator<Item = u64>,
        limits: TrainLimits,
    ) -> Result<Self, ProbeError> {
        Ok(Self {
            socket: Datagrams::bind(address, None)?,
            key: key.clone(),
            cookies: Cookies::new()?,
            sessions: sessions.into_iter().map(|session| (session, Session::default())).collect(),
            limits,
            only_from: None,
            counts: EchoCounts::default(),
        })
    }

    /// Restricts the echoer to datagrams from `address`, an IPv4 address also in its IPv6 form.
    #[must_use]
    pub fn only_from(self, address: IpAddr) -> Self {
        Self { only_from: Some(address.to_canonical()), ..self }
    }

    /// Returns the address of the socket, with the port that was taken.
    ///
    /// # Errors
    /// [`ProbeError::Host`].
    pub fn address(&self) -> Result<SocketAddr, ProbeError> {
        self.socket.local()
    }

    /// Answers the datagrams that have arrived. Call it whenever the socket is readable. A probe that waits longer than
    /// about a second in the socket is echoed with a round trip that is too long.
    pub fn poll(&mut self, clock: &Clock) {
        self.poll_allowing(clock, |_| true);
    }

    /// Answers the datagrams that have arrived, for an owner with a rate limit of its own. `allow` gets the payload of
    /// each train right before the train is sent. It counts the payload and returns true, or refuses the train.
    pub fn poll_allowing(&mut self, clock: &Clock, mut allow: impl FnMut(Bytes) -> bool) {
        for _ in 0..AT_ONCE {
            let Some(received) = self.socket.receive(clock) else { return };
            let (from, at) = (received.from, received.at);
            let heard = self.only_from.is_none_or(|only| from.ip().to_canonical() == only);
            let message = heard.then(|| Message::decode(&self.key, received.bytes)).flatten();
            self.counts.ignored += u64::from(!self.answer(message, from, at, clock, &mut allow));
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub const fn counts(&self) -> EchoCounts {
        self.counts
    }

    /// Answers the message. Returns true if it was for this echoer, and new.
    fn answer(
        &mut self,
        message: Option<(u64, Message)>,
        from: SocketAddr,
        at: Time,
        clock: &Clock,
        allow: &mut impl FnMut(Bytes) -> bool,
    ) -> bool {
        let Some((id, message)) = message else { return false };
        let Some(session) = self.sessions.get_mut(&id) else { return false };
        match message {
            Message::Probe { number } if session.probes.accept(number) => {
                session.echoed += 1;
                self.counts.echoed += 1;
                let cookie = self.cookies.bake(from, at);
                let (count, now) = (session.echoed, clock.real());
                let echo = Message::Echo { number, count, cookie, held: now.since(at) };
                self.socket.send(&echo.encode(&self.key, id), Some(from));
                true
            }
            Message::TrainRequest { number, packets, length, cookie } if session.requests.accept(number) => {
                let now = clock.real();
                let known = self.cookies.holds(cookie, from, now);
                let fits = (1..=self.limits.packets).contains(&packets)
                    && (LENGTH as u16..=self.limits.length).contains(&length);
                let few = self.counts.trains < self.limits.total;
                // The limit applies to the times of arrival, because a machine that stood still reads several requests
                // at once.
                let full = session.train(at, &self.limits).filter(|_| known && fits && few);
                let payload = Bytes::new(u64::from(packets) * u64::from(length));
                match full.filter(|_| allow(payload)) {
                    Some(full) => {
                        session.full = full;
                        self.counts.trains += 1;
                        self.send_train(id, number, packets, length, from);
                    }
                    None => self.counts.trains_refused += 1,
                }
                true
            }
            _ => false,
        }
    }

    fn send_train(&mut self, session: u64, number: u64, packets: u16, length: u16, to: SocketAddr) {
        // The whole train is ready before its first packet leaves.
        let mut train = vec![0; usize::from(packets) * usize::from(length)];
        for (place, datagram) in (0..).zip(train.chunks_exact_mut(usize::from(length))) {
            let head = Message::Train { number, place, packets, length }.encode(&self.key, session);
            datagram[..LENGTH].copy_from_slice(&head);
        }
        self.socket.send_train(&train, length, to);
    }
}

impl AsFd for Echoer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
#[path = "../tests/within/echoer.rs"]
mod tests;
