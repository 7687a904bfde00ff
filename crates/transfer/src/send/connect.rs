//! The way from a ticket to connections that have proved themselves.

mod race;
mod separate;

use super::SendOptions;
use crate::channel::{Channel, Message, MessageReader};
use crate::error::TransferError;
use crate::keys::{sender_tls, server_name};
use crate::progress::Observer;
use crate::ticket::Ticket;
use crate::wire::control::ToSender;
use crate::wire::{Greeting, PROBE_KEY, TEST, frame};
use host::Clock;
use probe::{Echoer, ProbeKey, TrainLimits};
use rustls::{AlertDescription, ClientConfig, ClientConnection, Error as TlsError};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{Rate, Span};

/// The number of data connections that are opened together.
const AT_ONCE: usize = 8;
/// The greatest number of data connections that a receiver accepts; of a test, in each direction.
const MOST_STREAMS: u16 = 64;
/// The time for which a connection is tried again if the receiver closes it during the handshake.
const INSIST: Span = Span::from_secs(15);
/// The pause before the second attempt; it doubles before each further one.
const FIRST_PAUSE: Span = Span::from_millis(100);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Span = Span::from_secs(2);
/// The time for a TCP connection to be established.
const CONNECT: Duration = Duration::from_secs(5);
/// The time for the handshake.
const HANDSHAKE: Span = Span::from_secs(10);
/// The time for the receiver to end the session of an earlier sender.
const PATIENCE: Span = Span::from_secs(20);

/// Connections to a receiver that let this sender in.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) control: Channel,
    pub(super) data: Vec<Channel>,
    /// A factory of more data connections; `None` without a receiver.
    pub(super) opener: Option<Opener>,
    /// The echoer of the receiver's probes; `None` if it could not be made. The window is then found without probes.
    pub(super) echoer: Option<Echoer>,
}

/// Connects, proves the sender's key, and opens the data connections. With `insist`, a control connection that the
/// receiver closes during the handshake is tried again.
pub(super) fn connect(
    ticket: &Ticket,
    options: &SendOptions,
    (version, streams): (u16, u16),
    clock: &Clock,
    observer: &dyn Observer,
    insist: bool,
) -> Result<Connections, TransferError> {
    let tls = sender_tls(&ticket.secret, ticket.fingerprint);
    let most = if version == TEST { 2 * MOST_STREAMS } else { MOST_STREAMS };
    let streams = streams.clamp(1, most);
    let persistence = HandshakeRetry::new(clock, observer);
    let span = if insist { INSIST } else { Span::ZERO };
    let (control, address, echoer, first) = persistence.insist(span, || {
        let (control, address) = race::race(ticket, &tls, clock)?;
        let echoer = echoer(&control);
        let echo = echoer.as_ref().and_then(|echoer| echoer.address().ok()).map_or(0, |at| at.port());
        send_greeting(&control, &Greeting::Control { version, streams, echo })?;
        let mut reader = MessageReader::new(&control);
        // The receiver's first message also shows whether it accepted this sender's key.
        let first = reader.message(clock.now() + PATIENCE).map_err(|error| refused(error, address))?;
        reader.put_back();
        Ok((control, address, echoer, first))
    })?;
    let (token, resumed) = match first {
        Message::Is(ToSender::Welcome { token, resumed }) => (token, resumed),
        Message::Is(ToSender::Busy(reason)) => return Err(TransferError::Refused(reason)),
        Message::Is(other) => {
            let reason = format!("{other:?} for a welcome");
            return Err(TransferError::Protocol { peer: address, reason });
        }
        Message::Nothing => return Err(TransferError::gone("no answer to the greeting")),
        Message::End => return Err(TransferError::gone("it left without an answer")),
    };
    let share = options.limit.map(|limit| Rate::from_bps((limit.as_bps() / u64::from(streams)).max(1)));
    let opener =
        Opener { tls, address, token, control: options.control.clone(), limit: share, clock: *clock };
    let (open, persistence) = (&opener, &persistence);
    // Opens several together, because each takes two round trips. A receiver has room for 16 unproved connections of
    // one address.
    let mut data = Vec::with_capacity(streams.into());
    for first in (0..streams).step_by(AT_ONCE) {
        let some = first..streams.min(first + AT_ONCE as u16);
        let opened: Vec<Result<Channel, TransferError>> = std::thread::scope(|threads| {
            let opening: Vec<_> = some
                .map(|stream| threads.spawn(move || persistence.insist(INSIST, || open.open(stream))))
                .collect();
            opening.into_iter().map(|one| one.join().expect("opening a connection does not panic")).collect()
        });
        for channel in opened {
            data.push(channel?);
        }
    }
    if resumed {
        observer.say("an earlier transfer was interrupted: going on with it");
    }
    Ok(Connections { control, data, opener: Some(opener), echoer })
}

/// A factory of data connections to a receiver that let this sender in.
#[derive(Debug)]
pub(super) struct Opener {
    tls: Arc<ClientConfig>,
    address: SocketAddr,
    token: [u8; 16],
    control: Option<String>,
    /// The share of `--limit` for each data connection.
    limit: Option<Rate>,
    clock: Clock,
}

impl Opener {
    fn open(&self, stream: u16) -> Result<Channel, Failure> {
        let gone = |error| Failure { error: TransferError::gone(error), early: false };
        let socket = dial(self.address).map_err(gone)?;
        if let Some(control) = &self.control {
            host::options::set_congestion_control(&socket, control)?;
        }
        if let Some(limit) = self.limit {
            host::options::set_max_pacing_rate(&socket, limit)?;
        }
        let channel = handshake(socket, &self.tls, self.address, &self.clock)?;
        send_greeting(&channel, &Greeting::Data { token: self.token, stream })?;
        Ok(channel)
    }

    /// Opens the data connections with these numbers at the same time. Those that fail are left out.
    pub(super) fn open_more(&self, streams: Range<u16>) -> Vec<Channel> {
        std::thread::scope(|threads| {
            let opening: Vec<_> = streams.map(|stream| threads.spawn(move || self.open(stream))).collect();
            opening.into_iter().filter_map(|one| one.join().ok()?.ok()).collect()
        })
    }
}

/// The reason for which a connection could not be made.
#[derive(Debug)]
struct Failure {
    error: TransferError,
    /// True if the other end closed the connection before the handshake ended.
    early: bool,
}

impl<E: Into<TransferError>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let early = matches!(error, TransferError::PeerGone { .. });
        Self { error, early }
    }
}

/// A policy that tries again if the receiver closes a connection during the handshake. A receiver closes some
/// connections when unauthenticated peers hold too many.
struct HandshakeRetry<'a> {
    clock: &'a Clock,
    observer: &'a dyn Observer,
    reported: AtomicBool,
}

impl<'a> HandshakeRetry<'a> {
    const fn new(clock: &'a Clock, observer: &'a dyn Observer) -> Self {
        Self { clock, observer, reported: AtomicBool::new(false) }
    }

    fn insist<T>(&self, span: Span, attempt: impl Fn() -> Result<T, Failure>) -> Result<T, TransferError> {
        let until = self.clock.now() + span;
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt() {
                Err(Failure { early: true, .. }) if self.clock.now() + pause < until => {}
                other => return other.map_err(|failure| failure.error),
            }
            if !self.reported.swap(true, Ordering::Relaxed) {
                self.observer.say(
                    "the receiver closed the connection: it seems busy with unauthenticated connections; trying again",
                );
            }
            wait(self.clock, pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Waits for `pause`.
pub(super) fn wait(clock: &Clock, pause: Span) {
    let until = clock.now() + pause;
    while clock.now() < until {
        std::thread::park_timeout(Duration::from_nanos(until.since(clock.now()).as_nanos()));
    }
}

/// The session of a receiver's probes: one for all data connections.
const PROBES: u64 = 0;

/// Makes an echoer at the address from which the receiver is reached, so that its probes go the way of the data. It
/// answers nobody else.
fn echoer(control: &Channel) -> Option<Echoer> {
    let key = ProbeKey::from_secret(&control.exporter(PROBE_KEY).ok()?);
    let here = SocketAddr::new(control.tcp().local_addr().ok()?.ip(), 0);
    let peer = control.tcp().peer_addr().ok()?.ip();
    Some(Echoer::bind(here, &key, [PROBES], TrainLimits::default()).ok()?.only_from(peer))
}

fn dial(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.connect_timeout(&address.into(), CONNECT)?;
    Ok(socket.into())
}

fn handshake(
    socket: impl Into<Arc<TcpStream>>,
    tls: &Arc<ClientConfig>,
    address: SocketAddr,
    clock: &Clock,
) -> Result<Channel, TransferError> {
    let tls = ClientConnection::new(Arc::clone(tls), server_name()).expect("the configuration is whole");
    Channel::establish(socket, tls, *clock, clock.now() + HANDSHAKE).map_err(|error| match error {
        TransferError::Tls { source: TlsError::InvalidCertificate(_), .. } => {
            TransferError::OtherReceiver { address }
        }
        other => refused(other, address),
    })
}

fn send_greeting(channel: &Channel, greeting: &Greeting) -> Result<(), TransferError> {
    let mut out = Vec::new();
    frame::append(&mut out, greeting);
    channel.write(&out)
}

/// Turns the receiver's alert about this sender's key into the error for a refused ticket.
fn refused(error: TransferError, address: SocketAddr) -> TransferError {
    use AlertDescription as Alert;
    match error {
        TransferError::Tls {
            source:
                TlsError::AlertReceived(
                    Alert::AccessDenied
                    | Alert::BadCertificate
                    | Alert::CertificateUnknown
                    | Alert::CertificateRequired
                    | Alert::UnknownCA
                    | Alert::DecryptError,
                ),
            ..
        } => TransferError::TicketRefused { address },
        other => other,
    }
}
