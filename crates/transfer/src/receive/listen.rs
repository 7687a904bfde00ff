//! Listening, and the admission of senders.
//!
//! A new connection has [`PATIENCE`] to prove that it holds the ticket. [`PendingConnections`] limits the number of
//! such connections, and decides which of them are closed when there are more. Each rejected connection is reported in
//! one line, up to a number of lines per second.

mod pending;
mod socket;
mod standing;
#[cfg(test)]
#[path = "../../tests/within/listen.rs"]
mod tests;
mod turns;

pub(super) use socket::{bind, own_addresses};
pub(super) use standing::Standing;

use super::Receiver;
use super::registry::{Registry, SessionHandle};
use super::session::{self, Event};
use super::stream;
use crate::channel::{Channel, Message, MessageReader};
use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::wire::control::ToSender;
use crate::wire::{Greeting, frame};
use host::{PollFd, PollFlags};
pub(super) use pending::PendingConnections;
use pending::{PATIENCE, PendingConnection};
use rustls::ServerConnection;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Events, channel};
use std::thread::{Builder, Scope};
use std::time::Duration;
use turns::Busy;
use units::{Span, Time};

/// The time for a rejected sender to read the reason.
const LAST_WORD: Span = Span::from_secs(2);
/// The number of connections accepted before the present ones are served again.
const AT_ONCE: usize = 16;
/// The pause of the listener when no more sockets can be opened.
const SCARCITY: Duration = Duration::from_millis(50);

/// Lets senders in, one after the other, until the session is finished or cannot go on.
pub(super) fn serve(receiver: &Receiver, observer: &dyn Observer) -> Result<Summary, TransferError> {
    let registry = Registry::new(receiver, observer)?;
    std::thread::scope(|threads| {
        while !registry.is_done() {
            let due = registry.look();
            registry.wait(due);
            registry.read_greetings(threads);
            registry.accept();
        }
        registry.close();
    });
    registry.take_result().expect("a receiver that is done has a result")
}

impl Registry<'_> {
    /// Waits until `due` for a new connection, a connection's first bytes, or a departure.
    fn wait(&self, due: Time) {
        let (silent, due) = {
            let entries = self.open();
            (entries.pending.silent(), due.min(entries.pending.due()))
        };
        let mut sockets =
            vec![PollFd::new(&self.receiver.listener, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
        sockets.extend(silent.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        let limit = (due != Time::NEVER).then(|| due.since(self.receiver.clock.now()));
        // An interruption does no harm, because the caller looks at all of them again.
        let _ = host::wait(&mut sockets, limit);
        self.wake.clear();
    }

    /// Accepts the waiting connections.
    fn accept(&self) {
        for _ in 0..AT_ONCE {
            let (socket, peer) = match self.receiver.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if is_scarcity(&error) => {
                    self.limited(&format!("a connection cannot be accepted: {error}"));
                    let closed = self.open().pending.give_way();
                    if let Some(closed) = closed {
                        self.turned_away(closed, "its place is needed");
                    }
                    // Pauses, because the connection still waits and the listener would be ready again at once.
                    std::thread::park_timeout(SCARCITY);
                    return;
                }
                Err(_) => return,
            };
            let now = self.receiver.clock.now();
            let closed = {
                let mut entries = self.open();
                entries.next += 1;
                let number = entries.next;
                entries.pending.admit(number, Arc::new(socket), peer, now)
            };
            if let Some(closed) = closed {
                self.turned_away(closed, "too many connections are trying at once");
            }
        }
    }

    /// Starts a thread for each connection that has sent something.
    fn read_greetings<'s>(&'s self, threads: &'s Scope<'s, '_>) {
        let changes = self.open().pending.changes(self.receiver.clock.now());
        for (peer, reason) in changes.closed {
            self.turned_away(peer, reason);
        }
        for newcomer in changes.speaking {
            let (number, peer) = (newcomer.number, newcomer.peer);
            if let Err(error) = Builder::new().spawn_scoped(threads, move || self.serve_connection(newcomer))
            {
                self.open().pending.leave(number);
                self.turned_away(peer, &format!("no thread can be started: {error}"));
            }
        }
    }

    /// Serves a connection from the handshake to its end.
    fn serve_connection(&self, newcomer: PendingConnection) {
        let PendingConnection { number, peer, since, socket, .. } = newcomer;
        self.open().sockets.insert(number, Arc::clone(&socket));
        let known = self.authenticate(socket, since);
        // A connection that was closed to make room has been reported already.
        let was_there = self.open().pending.leave(number);
        match known {
            Ok((channel, greeting)) => self.serve_peer(&Arc::new(channel), greeting),
            Err(_) if self.is_done() || !was_there => {}
            Err(error) => self.turned_away(peer, &why(&error)),
        }
        self.open().sockets.remove(&number);
    }

    /// Performs the handshake, in which the connection proves that it holds the ticket, and reads the first message.
    fn authenticate(
        &self,
        socket: Arc<TcpStream>,
        since: Time,
    ) -> Result<(Channel, Greeting), TransferError> {
        let clock = &self.receiver.clock;
        let until = since + PATIENCE;
        let tls = ServerConnection::new(Arc::clone(&self.receiver.tls)).expect("the configuration is whole");
        let channel = Channel::establish(socket, tls, *clock, until)?;
        let greeting = self.greeting(&channel, until)?;
        Ok((channel, greeting))
    }

    /// Reads the first message, and leaves it for the next reader.
    pub(super) fn greeting(&self, channel: &Channel, until: Time) -> Result<Greeting, TransferError> {
        let mut reader = MessageReader::new(channel);
        let greeting = match reader.message(until)? {
            Message::Is(greeting) => greeting,
            Message::Nothing => return Err(TransferError::gone("no greeting in time")),
            Message::End => return Err(TransferError::gone("it left without a greeting")),
        };
        reader.put_back();
        Ok(greeting)
    }

    /// Serves a sender that holds the ticket: a control connection, or one for data.
    fn serve_peer(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => {
                if let Some((link, events)) = self.admit(channel, version, streams, echo) {
                    let (replaced, ended) = session::serve(self, &link, channel, &events);
                    self.end(&link, replaced, ended);
                }
            }
            Greeting::Data { token, .. } => match self.join(&token, channel) {
                Some(link) => {
                    stream::serve(&self.receiver.assembly, &link.events, channel);
                    self.leave(channel);
                }
                None => self.turned_away(channel.peer(), "its control connection has ended"),
            },
        }
    }

    /// Lets a sender in when it is its turn, or sends it the reason for not doing so.
    pub(super) fn admit(
        &self,
        control: &Arc<Channel>,
        version: u16,
        streams: u16,
        echo: u16,
    ) -> Option<(Arc<SessionHandle>, Events<Event>)> {
        let (sender, events) = channel();
        match self.begin(control, (version, streams, echo), sender) {
            Ok(link) => Some((link, events)),
            Err(Busy { reason, crowded }) => {
                self.limited(&format!("{} must wait: {reason}", host::plain(control.peer())));
                let patience = if crowded { Span::ZERO } else { LAST_WORD };
                let mut out = Vec::new();
                frame::append(&mut out, &ToSender::Busy(reason));
                let _ = control.write(&out);
                control.finish();
                // The connection stays open for a while, so that the sender can read the reason.
                control.drain(self.receiver.clock.now() + patience);
                None
            }
        }
    }
}

/// Returns true if an error means that this machine or process has no room for another socket.
fn is_scarcity(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let scarce = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    scarce.iter().any(|scarce| error.raw_os_error() == Some(scarce.raw_os_error()))
}

/// Describes an error for the log.
fn why(error: &TransferError) -> String {
    match error {
        TransferError::Tls { source: rustls::Error::InvalidCertificate(_), .. } => {
            "it does not hold this session's ticket".into()
        }
        TransferError::Tls { source: rustls::Error::NoCertificatesPresented, .. } => {
            "it presented no key, so it is not tightlink".into()
        }
        TransferError::Tls { source, .. } => format!("it does not follow tightlink's protocol ({source})"),
        TransferError::PeerGone { reason } => reason.clone(),
        other => other.complaint().head().to_string(),
    }
}
