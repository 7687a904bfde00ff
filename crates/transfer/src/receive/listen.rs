//! Listening, and which senders are let in.
//!
//! Whoever connects has [`PATIENCE`] to prove that it holds the ticket. How many may be trying, and which of them are
//! closed when there are more, is [`Unproved`]'s to decide. Each that is turned away leaves one line, up to a number per
//! second.

mod socket;
mod standing;
#[cfg(test)]
mod tests;
mod turns;
mod unproved;

pub(super) use socket::{bind, own_addresses};
pub(super) use standing::Standing;

use super::Receiver;
use super::sender;
use super::shared::Shared;
use super::stream;
use super::windows::{self, Windows};
use crate::channel::{Channel, Inlet, Message};
use crate::error::TransferError;
use crate::lock::locked;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::wire::Greeting;
use host::{PollFd, PollFlags};
use rustls::ServerConnection;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, Scope};
use std::time::Duration;
use turns::Busy;
pub(super) use turns::Complete;
use units::{Span, Time};
pub(super) use unproved::Unproved;
use unproved::{PATIENCE, Stranger};

/// For a sender that is turned away to read why.
const LAST_WORD: Span = Span::from_secs(2);
/// Connections accepted before it is looked at those that are there.
const AT_ONCE: usize = 16;
/// When no more sockets can be opened, the listener waits so long before it tries again.
const SCARCITY: Duration = Duration::from_millis(50);
/// The listener checks this often whether it is done.
const END_CHECK: Span = Span::from_millis(50);

/// Lets senders in, one after the other, until the session is finished or cannot go on.
pub(super) fn serve(receiver: &Receiver, observer: &dyn Observer) -> Result<Summary, TransferError> {
    let shared = Shared::new(receiver, observer);
    std::thread::scope(|threads| {
        while !shared.is_done() {
            shared.wait();
            shared.hear_strangers(threads);
            shared.accept();
            shared.look();
        }
        shared.unproved.close();
        for socket in locked(&shared.sockets).values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        shared.left.notify_all();
    });
    locked(&shared.result).take().expect("a receiver that is done has a result")
}

impl Shared<'_> {
    /// Until somebody connects, or says the first word, or it is time to look around.
    fn wait(&self) {
        let silent = self.unproved.silent();
        let mut sockets = vec![PollFd::new(&self.receiver.listener, PollFlags::IN)];
        sockets.extend(silent.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        // Interrupted or not: it is looked again.
        let _ = host::wait(&mut sockets, Some(END_CHECK));
    }

    /// Accepts the connections that wait.
    fn accept(&self) {
        for _ in 0..AT_ONCE {
            let (socket, peer) = match self.receiver.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if is_scarcity(&error) => {
                    self.limited(&format!("a connection cannot be accepted: {error}"));
                    if let Some(closed) = self.unproved.give_way() {
                        self.turned_away(closed, "its place is needed");
                    }
                    // The connection still waits, and the listener would be ready at once.
                    std::thread::park_timeout(SCARCITY);
                    return;
                }
                Err(_) => return,
            };
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let now = self.receiver.clock.now();
            if let Some(closed) = self.unproved.admit(number, Arc::new(socket), peer, now) {
                self.turned_away(closed, "too many connections are trying at once");
            }
        }
    }

    /// A thread for each connection that has sent something.
    fn hear_strangers<'s>(&'s self, threads: &'s Scope<'s, '_>) {
        let changes = self.unproved.changes(self.receiver.clock.now());
        for (peer, reason) in changes.closed {
            self.turned_away(peer, reason);
        }
        for stranger in changes.speaking {
            let (number, peer) = (stranger.number, stranger.peer);
            if let Err(error) = Builder::new().spawn_scoped(threads, move || self.serve_stranger(stranger)) {
                self.unproved.leave(number);
                self.turned_away(peer, &format!("no thread can be started: {error}"));
            }
        }
    }

    /// From the handshake to the end of a connection.
    fn serve_stranger(&self, stranger: Stranger) {
        let Stranger { number, peer, since, socket, .. } = stranger;
        locked(&self.sockets).insert(number, Arc::clone(&socket));
        let known = self.authenticate(socket, since);
        // One that was closed to make room has its line already.
        let was_there = self.unproved.leave(number);
        match known {
            Ok((channel, greeting)) => self.serve_peer(&Arc::new(channel), greeting),
            Err(_) if self.is_done() || !was_there => {}
            Err(error) => self.turned_away(peer, &why(&error)),
        }
        locked(&self.sockets).remove(&number);
    }

    /// The handshake, in which it proves that it holds the ticket, and the first message.
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

    /// The first message.
    pub(super) fn greeting(&self, channel: &Channel, until: Time) -> Result<Greeting, TransferError> {
        let mut inlet = Inlet::new(channel);
        let greeting = match inlet.message(until)? {
            Message::Is(greeting) => greeting,
            Message::Nothing => return Err(TransferError::gone("no greeting in time")),
            Message::End => return Err(TransferError::gone("it left without a greeting")),
        };
        inlet.put_back();
        Ok(greeting)
    }

    /// Serves a sender that holds the ticket: a control connection, or one for data.
    pub(super) fn serve_peer(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => match self.begin(channel, version, streams, echo)
            {
                // Without a thread for the windows: there is no path, and no second thread.
                Ok(sender) if cfg!(fuzzing) => self.end(&sender, sender::serve(self, &sender, channel)),
                Ok(sender) => std::thread::scope(|threads| {
                    let (choice, clock) = (self.receiver.window, &self.receiver.clock);
                    if windows::wants_quiet(&sender, choice) {
                        sender.begin_quiet();
                    }
                    let windows = Windows { sender: &sender, control: channel, clock };
                    if let Err(error) = Builder::new().spawn_scoped(threads, move || windows.hold(choice)) {
                        sender.end_quiet();
                        self.observer.say(&format!("the window is left to the kernel: {error}"));
                    }
                    let ended = sender::serve(self, &sender, channel);
                    self.end(&sender, ended);
                }),
                Err(Busy { reason, crowded }) => {
                    self.limited(&format!("{} must wait: {reason}", host::plain(channel.peer())));
                    let patience = if crowded { Span::ZERO } else { LAST_WORD };
                    sender::turn_away(channel, reason, self.receiver.clock.now() + patience);
                }
            },
            Greeting::Data { token, .. } => {
                let sender = locked(&self.sender).clone().filter(|sender| sender.is(&token));
                match sender {
                    Some(sender) => stream::serve(self, &sender, channel),
                    None => self.turned_away(channel.peer(), "its control connection has ended"),
                }
            }
        }
    }
}

/// Whether an error says that this machine or process has no room for another socket.
fn is_scarcity(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let scarce = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    scarce.iter().any(|scarce| error.raw_os_error() == Some(scarce.raw_os_error()))
}

/// In words for the log.
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
