//! The door: listening, and who is let in.
//!
//! Whoever connects has [`PATIENCE`] to prove that it holds the ticket. How many may be trying, and which of them are
//! closed when there are more, is [`Unproved`]'s to decide. Each that is turned away leaves one line, up to a number per
//! second.

mod listen;
mod standing;
#[cfg(test)]
mod tests;
mod turns;
mod unproved;

pub(super) use listen::{listen, own_addresses};
pub(super) use standing::Standing;

use super::Receiver;
use super::consent::Spent;
use super::keeper::{self, Keeper};
use super::stream;
use super::visit::{self, Visit};
use crate::channel::{Channel, Inlet, Message, STUCK};
use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::wire::Greeting;
use host::{PollFd, PollFlags};
use rustix::net::sockopt::set_tcp_user_timeout;
use rustls::ServerConnection;
use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;
use turns::{Busy, Complete};
use units::{Span, Time};
use unproved::{PATIENCE, Stranger, Unproved};

/// Lines per second about strangers.
const MOST_LINES: u32 = 5;
/// For a sender that is turned away to read why.
const LAST_WORD: Span = Span::from_secs(2);
/// Connections accepted before it is looked at those that are there.
const AT_ONCE: usize = 16;
/// When no more sockets can be opened, the listener waits so long before it tries again.
const SCARCITY: Duration = Duration::from_millis(50);
/// How often the listener looks whether it is done.
const LOOK: Span = Span::from_millis(50);

/// What the threads of a receiver share.
pub(super) struct House<'a> {
    pub(super) receiver: &'a Receiver,
    pub(super) observer: &'a dyn Observer,
    visit: Mutex<Option<Arc<Visit>>>,
    left: Condvar,
    /// Senders that wait for their turn.
    waiting: AtomicUsize,
    /// Since when no sender is there.
    alone_since: Mutex<Time>,
    complete: Mutex<Option<Complete>>,
    result: Mutex<Option<Result<Summary, TransferError>>>,
    done: AtomicBool,
    unproved: Unproved,
    /// To end what waits when all is done.
    sockets: Mutex<HashMap<u64, Arc<TcpStream>>>,
    next: AtomicU64,
    /// What the limit of `--accept` has been spent on.
    pub(super) spent: Mutex<Spent>,
    /// The second in which lines were written last, and how many.
    lines: Mutex<(u64, u32)>,
}

/// Lets senders in, one after the other, until the session is finished or cannot go on.
pub(super) fn serve(receiver: &Receiver, observer: &dyn Observer) -> Result<Summary, TransferError> {
    let house = House::new(receiver, observer);
    std::thread::scope(|threads| {
        while !house.is_done() {
            house.wait();
            house.hear_strangers(threads);
            house.accept();
            house.look();
        }
        house.unproved.close();
        for socket in locked(&house.sockets).values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        house.left.notify_all();
    });
    locked(&house.result).take().expect("a receiver that is done has a result")
}

impl<'a> House<'a> {
    pub(super) fn new(receiver: &'a Receiver, observer: &'a dyn Observer) -> Self {
        Self {
            receiver,
            observer,
            visit: Mutex::default(),
            left: Condvar::new(),
            waiting: AtomicUsize::new(0),
            alone_since: Mutex::new(receiver.clock.now()),
            complete: Mutex::default(),
            result: Mutex::default(),
            done: AtomicBool::new(false),
            unproved: Unproved::default(),
            sockets: Mutex::default(),
            next: AtomicU64::new(0),
            spent: Mutex::default(),
            lines: Mutex::default(),
        }
    }
}

impl House<'_> {
    /// Until somebody connects, or says the first word, or it is time to look around.
    fn wait(&self) {
        let silent = self.unproved.silent();
        let mut sockets = vec![PollFd::new(&self.receiver.listener, PollFlags::IN)];
        sockets.extend(silent.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        // Interrupted or not: it is looked again.
        let _ = host::wait(&mut sockets, Some(LOOK));
    }

    /// Takes in those who wait at the door.
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
            // As at the sender's end: a path that is cut shows.
            let _ = set_tcp_user_timeout(&socket, STUCK.as_nanos() as u32 / 1_000_000);
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
            if let Err(error) = Builder::new().spawn_scoped(threads, move || self.enter(stranger)) {
                self.unproved.leave(number);
                self.turned_away(peer, &format!("no thread can be started: {error}"));
            }
        }
    }

    fn enter(&self, stranger: Stranger) {
        let Stranger { number, peer, since, socket, .. } = stranger;
        locked(&self.sockets).insert(number, Arc::clone(&socket));
        let known = self.greet(socket, since);
        // One that was closed to make room has its line already.
        let was_there = self.unproved.leave(number);
        match known {
            Ok((channel, greeting)) => self.welcome(&Arc::new(channel), greeting),
            Err(_) if self.is_done() || !was_there => {}
            Err(error) => self.turned_away(peer, &why(&error)),
        }
        locked(&self.sockets).remove(&number);
    }

    /// Who is it?
    fn greet(&self, socket: Arc<TcpStream>, since: Time) -> Result<(Channel, Greeting), TransferError> {
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

    pub(super) fn welcome(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => match self.begin(channel, version, streams, echo)
            {
                // Without a keeper: there is no path, and no second thread.
                Ok(visit) if cfg!(fuzzing) => self.end(&visit, visit::serve(self, &visit, channel)),
                Ok(visit) => std::thread::scope(|threads| {
                    let (choice, clock) = (self.receiver.window, &self.receiver.clock);
                    if keeper::wants_quiet(&visit, choice) {
                        visit.begin_quiet();
                    }
                    let keeper = Keeper { visit: &visit, control: channel, clock };
                    if let Err(error) = Builder::new().spawn_scoped(threads, move || keeper.keep(choice)) {
                        visit.end_quiet();
                        self.observer.say(&format!("the window is left to the kernel: {error}"));
                    }
                    let ended = visit::serve(self, &visit, channel);
                    self.end(&visit, ended);
                }),
                Err(Busy { reason, crowded }) => {
                    self.limited(&format!("{} must wait: {reason}", channel.peer()));
                    let patience = if crowded { Span::ZERO } else { LAST_WORD };
                    visit::turn_away(channel, reason, self.receiver.clock.now() + patience);
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

    fn finish(&self, result: Result<Summary, TransferError>) {
        locked(&self.result).get_or_insert(result);
        self.done.store(true, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn turned_away(&self, peer: SocketAddr, reason: &str) {
        self.limited(&format!("turned away {peer}: {reason}"));
    }

    /// Says something that strangers can cause, up to a number of lines per second.
    fn limited(&self, line: &str) {
        let second = self.receiver.clock.now().since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut lines = locked(&self.lines);
        if lines.0 != second {
            if lines.1 > MOST_LINES {
                self.observer.say(&format!("and {} more like this", lines.1 - MOST_LINES));
            }
            *lines = (second, 0);
        }
        lines.1 += 1;
        if lines.1 <= MOST_LINES {
            self.observer.say(line);
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
