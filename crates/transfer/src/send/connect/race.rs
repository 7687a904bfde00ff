//! The race between all hosts that a ticket names; the first one that proves to be the receiver wins.
//!
//! An attempt begins 250 ms after the one before, or at once when one fails. IPv6 and IPv4 take turns [rfc8305:5]. An
//! attempt succeeds when the other end has proved the ticket's key in the TLS handshake. Any other program that answers
//! at one of the addresses is passed over.

use super::{Failure, HANDSHAKE, dial, handshake};
use crate::channel::Channel;
use crate::error::TransferError;
use crate::ticket::{Host, Ticket};
use host::Clock;
use rustls::ClientConfig;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;
use units::{Span, Time};

/// The interval between the beginnings of two attempts [rfc8305:5].
const STEP: Span = Span::from_millis(250);
/// The time for the name service to answer.
const RESOLVE: Span = Span::from_secs(5);
/// The greatest number of attempts, because a name may have any number of addresses.
const MOST: usize = 32;

/// An event of a race's threads.
enum Event {
    /// The addresses of a host's name.
    Known(String, io::Result<Vec<SocketAddr>>),
    /// The socket of an attempt.
    Dialed(SocketAddr, Arc<TcpStream>),
    /// The end of an attempt.
    Ended(SocketAddr, Result<Box<Channel>, TransferError>),
}

struct Race<'a> {
    tls: &'a Arc<ClientConfig>,
    clock: Clock,
    sockets: Vec<(SocketAddr, Arc<TcpStream>)>,
    events: Sender<Event>,
    /// Addresses to try.
    waiting: VecDeque<SocketAddr>,
    started: Vec<SocketAddr>,
    running: usize,
    /// Names whose addresses are not known yet.
    unknown: Vec<String>,
    failed: Vec<(String, TransferError)>,
}

/// Connects to the first host that proves to be the ticket's receiver.
pub(super) fn race(
    ticket: &Ticket,
    tls: &Arc<ClientConfig>,
    clock: &Clock,
) -> Result<(Channel, SocketAddr), Failure> {
    let (events, received) = channel();
    let mut race = Race {
        tls,
        clock: *clock,
        sockets: Vec::new(),
        events,
        waiting: interleaved(ticket.sockets().collect()),
        started: Vec::new(),
        running: 0,
        unknown: Vec::new(),
        failed: Vec::new(),
    };
    for host in &ticket.addresses {
        if let Host::Name(name) = host {
            race.look_up(name.as_str(), ticket.port);
        }
    }
    // If the best host is a name, other addresses wait a moment until the name is resolved.
    let name_first = matches!(ticket.addresses.first(), Some(Host::Name(_)));
    let winner = race.run(&received, name_first);
    race.end(&received, winner.as_ref().map(|(_, address)| *address));
    winner.ok_or_else(|| race.failure())
}

impl Race<'_> {
    fn run(&mut self, received: &Receiver<Event>, name_first: bool) -> Option<(Channel, SocketAddr)> {
        let began = self.clock.now();
        let mut due = if name_first { began + STEP } else { began };
        loop {
            let now = self.clock.now();
            if now >= began + RESOLVE {
                for name in std::mem::take(&mut self.unknown) {
                    let slow = TransferError::gone(format!("the name service did not answer for {RESOLVE}"));
                    self.failed.push((name, slow));
                }
            }
            if now >= due
                && let Some(address) = self.waiting.pop_front()
            {
                self.start(address);
                due = now + STEP;
            }
            if self.running == 0 && self.unknown.is_empty() && self.waiting.is_empty() {
                return None;
            }
            let next = if self.waiting.is_empty() { Time::NEVER } else { due };
            let resolved = if self.unknown.is_empty() { Time::NEVER } else { began + RESOLVE };
            // Every attempt has its own limit and reports its end.
            let wait = next.min(resolved).since(self.clock.now()).min(RESOLVE);
            match received.recv_timeout(Duration::from_nanos(wait.as_nanos())) {
                Ok(Event::Dialed(address, socket)) => self.sockets.push((address, socket)),
                Ok(Event::Ended(address, Ok(channel))) => return Some((*channel, address)),
                Ok(Event::Ended(address, Err(error))) => {
                    self.running -= 1;
                    self.failed.push((address.to_string(), error));
                    due = self.clock.now();
                }
                Ok(Event::Known(name, found)) => {
                    let Some(at) = self.unknown.iter().position(|unknown| *unknown == name) else { continue };
                    self.unknown.remove(at);
                    match found {
                        Ok(addresses) => self.add(addresses),
                        Err(error) => self.failed.push((name, TransferError::gone(error))),
                    }
                    if self.running == 0 {
                        due = self.clock.now();
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Closes all sockets except the winner's.
    fn end(&mut self, received: &Receiver<Event>, winner: Option<SocketAddr>) {
        let late = received.try_iter().filter_map(|event| match event {
            Event::Dialed(address, socket) => Some((address, socket)),
            _ => None,
        });
        for (address, socket) in self.sockets.drain(..).chain(late) {
            if Some(address) != winner {
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
    }

    fn add(&mut self, addresses: Vec<SocketAddr>) {
        let mut all: Vec<SocketAddr> = self.waiting.drain(..).chain(addresses).collect();
        let mut seen = self.started.clone();
        all.retain(|address| {
            let new = !seen.contains(address);
            seen.push(*address);
            new
        });
        all.truncate(MOST.saturating_sub(self.started.len()));
        self.waiting = interleaved(all);
    }

    /// Looks a name up in a thread of its own. The thread may outlive the race, because the system does not limit the
    /// time of a look-up.
    fn look_up(&mut self, name: &str, port: u16) {
        let (events, text) = (self.events.clone(), name.to_owned());
        let looking = Builder::new().spawn(move || {
            let found = (&*text, port).to_socket_addrs().map(Iterator::collect);
            let _ = events.send(Event::Known(text, found));
        });
        match looking {
            Ok(_) => self.unknown.push(name.to_owned()),
            Err(error) => self.failed.push((name.to_owned(), TransferError::gone(error))),
        }
    }

    fn start(&mut self, address: SocketAddr) {
        self.started.push(address);
        let (events, tls, clock) = (self.events.clone(), Arc::clone(self.tls), self.clock);
        let trying = Builder::new().spawn(move || {
            let _ = events.send(Event::Ended(address, attempt(address, &tls, &clock, &events).map(Box::new)));
        });
        match trying {
            Ok(_) => self.running += 1,
            Err(error) => self.failed.push((address.to_string(), TransferError::gone(error))),
        }
    }

    /// Returns the reason for which nobody won.
    fn failure(self) -> Failure {
        // A receiver closes connections like this when unauthenticated peers hold too many.
        let closed =
            |error: &TransferError| matches!(error, TransferError::PeerGone { reason } if reason == CLOSED);
        let early = self.failed.iter().any(|(_, error)| closed(error));
        let other =
            |(_, error): &(String, TransferError)| matches!(error, TransferError::OtherReceiver { .. });
        let error = if !self.failed.is_empty() && self.failed.iter().all(other) {
            self.failed.into_iter().next().expect("it is not empty").1
        } else {
            let tried: Vec<String> =
                self.failed.iter().map(|(place, error)| format!("{place} ({})", why(error))).collect();
            TransferError::Unreachable { tried: tried.join(", ") }
        };
        Failure { error, early }
    }
}

/// The reason of an attempt that was closed during the handshake.
const CLOSED: &str = "it closed the connection before it proved its key";

fn attempt(
    address: SocketAddr,
    tls: &Arc<ClientConfig>,
    clock: &Clock,
    events: &Sender<Event>,
) -> Result<Channel, TransferError> {
    let socket = Arc::new(dial(address).map_err(TransferError::gone)?);
    if events.send(Event::Dialed(address, Arc::clone(&socket))).is_err() {
        return Err(TransferError::gone("another address was sooner"));
    }
    let began = clock.now();
    handshake(socket, tls, address, clock).map_err(|error| match error {
        TransferError::PeerGone { .. } if clock.now().since(began) < HANDSHAKE => TransferError::gone(CLOSED),
        other => other,
    })
}

/// Describes an error for a list of addresses.
fn why(error: &TransferError) -> String {
    match error {
        TransferError::PeerGone { reason } => reason.clone(),
        TransferError::OtherReceiver { .. } => "it has another key than the ticket says".into(),
        TransferError::Tls { source, .. } => format!("it does not follow tightlink's protocol: {source}"),
        other => other.complaint().head().to_string(),
    }
}

/// Orders addresses so that IPv4 and IPv6 take turns, beginning with the first address's family [rfc8305:4]. Within a
/// family the order stays.
fn interleaved(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let first_is_six = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_six);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut turns = VecDeque::new();
    loop {
        let pair = [first.next(), second.next()];
        if pair == [None, None] {
            return turns;
        }
        turns.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_take_turns_and_the_first_address_stays_first() {
        let order = |texts: &[&str]| -> Vec<String> {
            let sockets = texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 1)).collect();
            interleaved(sockets).iter().map(|socket| socket.ip().to_string()).collect()
        };
        let four = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
        assert_eq!(order(&[&four[..], &["::1"]].concat()), ["192.0.2.1", "::1", "192.0.2.2", "192.0.2.3"]);
        assert_eq!(order(&["::1", "::2", "192.0.2.1"]), ["::1", "192.0.2.1", "::2"]);
        assert!(order(&[]).is_empty());
    }
}
