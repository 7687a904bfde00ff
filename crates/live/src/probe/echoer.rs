//! [`Echoer`]: answers probes and sends packet trains, on the data sender's side.

use super::cookie::Cookies;
use super::key::ProbeKey;
use super::replay::ReplayWindow;
use super::socket::Datagrams;
use super::wire::{LENGTH, LONGEST, Message};
use crate::clock::Clock;
use crate::error::LiveError;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use units::{Span, Time};

/// So many datagrams are looked at before others get their turn: a flood must not hold up a transfer.
const AT_ONCE: u32 = 256;

/// How many trains an echoer sends at most, all sessions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainLimits {
    /// Packets of one train.
    pub packets: u16,
    /// The least time from one train to the next.
    pub apart: Span,
    /// Trains in all.
    pub total: u64,
}

impl Default for TrainLimits {
    /// 100 packets, 5 ms apart, 1000 in all: five for each of 200 decisions [sobas:IV].
    fn default() -> Self {
        Self { packets: 100, apart: Span::from_millis(5), total: 1000 }
    }
}

/// What an echoer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoCounts {
    /// Probes echoed.
    pub echoed: u64,
    /// Trains sent.
    pub trains: u64,
    /// Trains that were asked for and not sent: over a limit, or without a cookie that holds.
    pub trains_refused: u64,
    /// Datagrams that were no message of this key and session, or came again.
    pub ignored: u64,
}

/// One prober, as its echoer knows it.
#[derive(Debug, Default)]
struct Session {
    probes: ReplayWindow,
    requests: ReplayWindow,
    echoed: u64,
}

/// Echoes probes and sends trains for the sessions it was made for.
#[derive(Debug)]
pub struct Echoer {
    socket: Datagrams,
    key: ProbeKey,
    cookies: Cookies,
    sessions: HashMap<u64, Session>,
    limits: TrainLimits,
    last_train: Option<Time>,
    counts: EchoCounts,
}

impl Echoer {
    /// Listens on `address` (port 0: any) in the current thread's network namespace, for probers that have `key` and one
    /// of `sessions`.
    ///
    /// # Errors
    /// [`LiveError::Probe`], or [`LiveError::System`] without random numbers.
    pub fn bind(
        address: SocketAddr,
        key: &ProbeKey,
        sessions: impl IntoIterator<Item = u64>,
        limits: TrainLimits,
    ) -> Result<Self, LiveError> {
        Ok(Self {
            socket: Datagrams::bind(address, None)?,
            key: key.clone(),
            cookies: Cookies::new()?,
            sessions: sessions.into_iter().map(|session| (session, Session::default())).collect(),
            limits,
            last_train: None,
            counts: EchoCounts::default(),
        })
    }

    /// Where it listens, the port filled in.
    ///
    /// # Errors
    /// [`LiveError::System`].
    pub fn address(&self) -> Result<SocketAddr, LiveError> {
        self.socket.local()
    }

    /// Answers what has arrived. Call it whenever the socket is readable: what waits longer than about a second in the
    /// socket is echoed with a round trip that is too long.
    pub fn poll(&mut self, clock: &Clock) {
        for _ in 0..AT_ONCE {
            let Some(received) = self.socket.receive(clock) else { return };
            let (from, at) = (received.from, received.at);
            let message = Message::decode(&self.key, received.bytes);
            self.counts.ignored += u64::from(!self.answer(message, from, at, clock));
        }
    }

    /// What it has done so far.
    #[must_use]
    pub const fn counts(&self) -> EchoCounts {
        self.counts
    }

    /// Whether the message was for us, and new.
    fn answer(&mut self, message: Option<(u64, Message)>, from: SocketAddr, at: Time, clock: &Clock) -> bool {
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
                    && (LENGTH..=LONGEST).contains(&usize::from(length));
                // By when they came: a machine that stood still looks at several at once.
                let early = self.last_train.is_some_and(|last| at.since(last) < self.limits.apart);
                if known && fits && !early && self.counts.trains < self.limits.total {
                    self.last_train = Some(at);
                    self.counts.trains += 1;
                    self.send_train(id, number, packets, length, from);
                } else {
                    self.counts.trains_refused += 1;
                }
                true
            }
            _ => false,
        }
    }

    fn send_train(&mut self, session: u64, number: u64, packets: u16, length: u16, to: SocketAddr) {
        // All of it is ready before the first packet leaves.
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
