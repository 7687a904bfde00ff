//! The door: listening, and who is let in.
//!
//! Whoever connects has [`PATIENCE`] to prove that it holds the ticket, and no more than [`MOST_UNKNOWN`] connections may
//! be trying; further ones are closed at once. Each that is turned away leaves one line, up to a number per second.

use super::Receiver;
use super::keeper::{self, Echo, Keeper};
use super::stream;
use super::visit::{self, Visit};
use crate::channel::{Channel, Inlet, Message};
use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::wire::{Greeting, PROBE_KEY};
use live::probe::ProbeKey;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ServerConnection;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use units::{Span, Time};

/// To prove oneself, in all: a handshake takes two round trips.
const PATIENCE: Span = Span::from_secs(10);
/// Connections that have not proved themselves.
const MOST_UNKNOWN: usize = 16;
/// Lines per second about strangers.
const MOST_LINES: u32 = 5;
/// A sender that comes while another one is there waits so long for its end: it may be the same one, killed.
const TURNOVER: Duration = Duration::from_secs(5);
/// How often the listener looks whether it is done.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Listens where `asked`, or on every address and any free port.
pub(super) fn listen(asked: Option<SocketAddr>) -> Result<TcpListener, TransferError> {
    let listener = match asked {
        Some(address) => TcpListener::bind(address).map_err(|error| (address, error)),
        None => {
            let four = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
            // IPv6 takes IPv4 in as well, where there is IPv6.
            TcpListener::bind(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0))
                .or_else(|_| TcpListener::bind(four))
                .map_err(|error| (four, error))
        }
    };
    let listener = listener.map_err(|(address, source)| live::LiveError::Listen { address, source })?;
    listener.set_nonblocking(true).map_err(TransferError::system("make a socket non-blocking"))?;
    Ok(listener)
}

/// This machine's addresses, for a ticket: IPv4 first, loopback only if there is no other.
pub(super) fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let up = interfaces.filter(|interface| {
        let flags = interface.flags;
        flags.contains(nix::net::if_::InterfaceFlags::IFF_UP)
            && !flags.contains(nix::net::if_::InterfaceFlags::IFF_LOOPBACK)
    });
    let mut addresses: Vec<IpAddr> = up
        .filter_map(|interface| {
            let address = interface.address?;
            let four = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
            four.or_else(|| {
                // Link-local ones mean nothing without an interface's name.
                let six = address.as_sockaddr_in6()?.ip();
                (!six.is_unicast_link_local()).then_some(IpAddr::V6(six))
            })
        })
        .collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.dedup();
    addresses.truncate(4);
    if addresses.is_empty() {
        addresses.push(Ipv4Addr::LOCALHOST.into());
    }
    addresses
}

/// What the threads of a receiver share.
pub(super) struct House<'a> {
    pub(super) receiver: &'a Receiver,
    pub(super) observer: &'a dyn Observer,
    visit: Mutex<Option<Arc<Visit>>>,
    left: Condvar,
    result: Mutex<Option<Result<Summary, TransferError>>>,
    done: AtomicBool,
    unknown: AtomicUsize,
    /// To end what waits when all is done.
    sockets: Mutex<HashMap<u64, TcpStream>>,
    next: AtomicU64,
    /// The second in which lines were written last, and how many.
    lines: Mutex<(u64, u32)>,
}

/// Lets senders in, one after the other, until the session is finished or cannot go on.
pub(super) fn serve(receiver: &Receiver, observer: &dyn Observer) -> Result<Summary, TransferError> {
    let house = House {
        receiver,
        observer,
        visit: Mutex::default(),
        left: Condvar::new(),
        result: Mutex::default(),
        done: AtomicBool::new(false),
        unknown: AtomicUsize::new(0),
        sockets: Mutex::default(),
        next: AtomicU64::new(0),
        lines: Mutex::default(),
    };
    std::thread::scope(|threads| {
        while !house.is_done() {
            let ready = poll(&mut [PollFd::new(&receiver.listener, PollFlags::IN)], Some(&LOOK));
            if ready.is_ok_and(|ready| ready == 0) {
                continue;
            }
            let Ok((socket, peer)) = receiver.listener.accept() else { continue };
            if house.unknown.fetch_add(1, Ordering::Relaxed) >= MOST_UNKNOWN {
                house.unknown.fetch_sub(1, Ordering::Relaxed);
                house.turned_away(peer, "too many connections are trying at once");
                continue;
            }
            let house = &house;
            threads.spawn(move || house.enter(socket, peer));
        }
        for socket in locked(&house.sockets).values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        house.left.notify_all();
    });
    locked(&house.result).take().expect("a receiver that is done has a result")
}

impl House<'_> {
    fn enter(&self, socket: TcpStream, peer: SocketAddr) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if let Ok(twin) = socket.try_clone() {
            locked(&self.sockets).insert(number, twin);
        }
        let known = self.greet(socket);
        self.unknown.fetch_sub(1, Ordering::Relaxed);
        match known {
            Ok((channel, greeting)) => self.welcome(&Arc::new(channel), greeting),
            Err(_) if self.is_done() => {}
            Err(error) => self.turned_away(peer, &why(&error)),
        }
        locked(&self.sockets).remove(&number);
    }

    /// Who is it?
    fn greet(&self, socket: TcpStream) -> Result<(Channel, Greeting), TransferError> {
        let clock = &self.receiver.clock;
        let until = clock.now() + PATIENCE;
        let tls = ServerConnection::new(Arc::clone(&self.receiver.tls)).expect("the configuration is whole");
        let channel = Channel::establish(socket, tls, *clock, until)?;
        let mut inlet = Inlet::new(&channel);
        let greeting = match inlet.message(until)? {
            Message::Is(greeting) => greeting,
            Message::Nothing => return Err(TransferError::gone("no greeting in time")),
            Message::End => return Err(TransferError::gone("it left without a greeting")),
        };
        inlet.put_back();
        Ok((channel, greeting))
    }

    fn welcome(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => match self.begin(channel, version, streams, echo)
            {
                Ok(visit) => std::thread::scope(|threads| {
                    let (choice, clock) = (self.receiver.window, &self.receiver.clock);
                    if keeper::wants_quiet(&visit, choice) {
                        visit.begin_quiet();
                    }
                    let keeper = Keeper { visit: &visit, control: channel, clock };
                    threads.spawn(move || keeper.keep(choice));
                    let ended = visit::serve(self, &visit, channel);
                    self.end(&visit, ended);
                }),
                Err(reason) => {
                    self.observer.say(&format!("{} must wait: {reason}", channel.peer()));
                    visit::turn_away(channel, reason, self.receiver.clock.now());
                }
            },
            Greeting::Data { token, .. } => {
                let visit = locked(&self.visit).clone().filter(|visit| visit.is(&token));
                match visit {
                    Some(visit) => stream::serve(self, &visit, channel),
                    None => self.turned_away(channel.peer(), "its control connection has ended"),
                }
            }
        }
    }

    /// A sender that holds the ticket begins, once the one before has left.
    fn begin(&self, channel: &Channel, version: u16, streams: u16, echo: u16) -> Result<Arc<Visit>, String> {
        let known = crate::wire::OLDEST..=crate::wire::VERSION;
        if !known.contains(&version) {
            let (oldest, latest) = known.into_inner();
            return Err(format!(
                "the sender speaks version {version} of the protocol, this receiver {oldest} to {latest}; use the same \
                 tightlink"
            ));
        }
        let guard = locked(&self.visit);
        let (mut guard, _) = self
            .left
            .wait_timeout_while(guard, TURNOVER, |visit| visit.is_some() && !self.is_done())
            .unwrap_or_else(PoisonError::into_inner);
        if guard.is_some() || self.is_done() {
            return Err("another sender is using this ticket".into());
        }
        let echo = channel.exporter(PROBE_KEY).ok().filter(|_| echo != 0).map(|secret| Echo {
            address: SocketAddr::new(channel.peer().ip(), echo),
            key: ProbeKey::from_secret(&secret),
        });
        let visit = Arc::new(Visit::new(channel.peer(), version, streams, echo));
        *guard = Some(Arc::clone(&visit));
        Ok(visit)
    }

    fn end(&self, visit: &Visit, ended: Result<Option<Summary>, TransferError>) {
        // Numbers of files begin anew with the next sender: nobody may be left who has old ones.
        visit.close();
        match ended {
            Ok(Some(received)) => self.finish(Ok(received)),
            Ok(None) => {}
            // The sender's doing, or the network's: it may come back.
            Err(
                error @ (TransferError::PeerGone { .. }
                | TransferError::Tls { .. }
                | TransferError::Protocol { .. }
                | TransferError::Aborted(_)),
            ) => {
                let line = format!("{}: {}; waiting for it to come back", visit.peer, why(&error));
                self.observer.say(&line);
            }
            Err(error) => self.finish(Err(error)),
        }
        *locked(&self.visit) = None;
        self.left.notify_all();
    }

    fn finish(&self, result: Result<Summary, TransferError>) {
        locked(&self.result).get_or_insert(result);
        self.done.store(true, Ordering::Release);
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn turned_away(&self, peer: SocketAddr, reason: &str) {
        let second = self.receiver.clock.now().since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut lines = locked(&self.lines);
        if lines.0 != second {
            if lines.1 > MOST_LINES {
                self.observer.say(&format!("turned away {} more", lines.1 - MOST_LINES));
            }
            *lines = (second, 0);
        }
        lines.1 += 1;
        if lines.1 <= MOST_LINES {
            self.observer.say(&format!("turned away {peer}: {reason}"));
        }
    }
}

/// In words for the log.
fn why(error: &TransferError) -> String {
    match error {
        TransferError::Tls { source: rustls::Error::InvalidCertificate(_), .. } => {
            "it does not hold this session's ticket".into()
        }
        TransferError::Tls { source: rustls::Error::NoCertificatesPresented, .. } => {
            "it showed no key, as no tightlink does".into()
        }
        TransferError::Tls { source, .. } => format!("it does not speak as a tightlink does ({source})"),
        TransferError::PeerGone { reason } => reason.clone(),
        other => other.to_string(),
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
