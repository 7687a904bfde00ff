//! [`Door`]: accepts connections, and has each prove in a thread of its own that it holds the ticket.

use super::pending::{PATIENCE, PendingConnection, PendingConnections};
use super::why;
use crate::channel::{Channel, Message, MessageReader};
use crate::error::TransferError;
use crate::lock::locked;
use crate::progress::Observer;
use crate::wire::Greeting;
use host::{Clock, PollFd, PollFlags, Waker};
use rustls::{ServerConfig, ServerConnection};
use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope};
use std::time::Duration;
use units::{Span, Time};

/// The number of connections accepted before the present ones are served again.
const AT_ONCE: usize = 16;
/// The pause of the listener when no more sockets can be opened.
const SCARCITY: Duration = Duration::from_millis(50);
/// The greatest number of lines per second about connections that try to get in.
const MOST_LINES: u32 = 5;

/// The program behind a door.
pub(in crate::receive) trait Behind: Sync {
    fn door(&self) -> &Door<'_>;
    /// Returns true if no connection is served any more.
    fn is_done(&self) -> bool;
    /// Looks at what is due, and returns the time at which to look again if nothing happens.
    fn look(&self) -> Time;
    /// Serves a connection that holds the ticket, from its first message to its end.
    fn serve_peer(&self, channel: &Arc<Channel>, greeting: Greeting);
}

/// The way in for connections.
#[derive(Debug)]
pub(in crate::receive) struct Door<'a> {
    listener: &'a TcpListener,
    tls: &'a Arc<ServerConfig>,
    clock: Clock,
    observer: Talk<'a>,
    state: Mutex<DoorState>,
    /// The event that wakes the listener.
    pub(in crate::receive) wake: Waker,
}

/// An observer, with a `Debug` of its own.
#[derive(Clone, Copy)]
struct Talk<'a>(&'a dyn Observer);

impl std::fmt::Debug for Talk<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Observer")
    }
}

#[derive(Debug, Default)]
struct DoorState {
    pending: PendingConnections,
    /// The sockets of all connections, which are shut down at the end.
    sockets: HashMap<u64, Arc<TcpStream>>,
    next: u64,
    /// The second in which the last lines were shown, and their number.
    lines: (u64, u32),
}

impl<'a> Door<'a> {
    pub(in crate::receive) fn new(
        listener: &'a TcpListener,
        tls: &'a Arc<ServerConfig>,
        clock: Clock,
        observer: &'a dyn Observer,
    ) -> Result<Self, TransferError> {
        let wake = Waker::new().map_err(TransferError::system("make an event descriptor"))?;
        Ok(Self { listener, tls, clock, observer: Talk(observer), state: Mutex::default(), wake })
    }

    /// Closes all connections.
    pub(in crate::receive) fn close(&self) {
        let mut state = locked(&self.state);
        state.pending.close();
        for socket in state.sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Reports that a connection has been closed, and the reason.
    pub(in crate::receive) fn turned_away(&self, peer: SocketAddr, reason: &str) {
        self.limited(&format!("turned away {}: {reason}", host::plain(peer)));
    }

    /// Reports an event that anyone on the network can cause, in at most [`MOST_LINES`] lines per second.
    pub(in crate::receive) fn limited(&self, line: &str) {
        let second = self.clock.now().since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut state = locked(&self.state);
        let before = state.lines;
        if before.0 != second {
            state.lines = (second, 0);
        }
        state.lines.1 += 1;
        let shown = state.lines.1 <= MOST_LINES;
        drop(state);
        if before.0 != second && before.1 > MOST_LINES {
            self.observer.0.say(&format!("and {} more like this", before.1 - MOST_LINES));
        }
        if shown {
            self.observer.0.say(line);
        }
    }

    /// Waits until `due` for a new connection, a connection's first bytes, or a departure.
    fn wait(&self, due: Time) {
        let (silent, due) = {
            let state = locked(&self.state);
            (state.pending.silent(), due.min(state.pending.due()))
        };
        let mut sockets =
            vec![PollFd::new(self.listener, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
        sockets.extend(silent.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        let limit = (due != Time::NEVER).then(|| due.since(self.clock.now()));
        // An interruption does no harm, because the caller looks at all of them again.
        let _ = host::wait(&mut sockets, limit);
        self.wake.clear();
    }

    /// Accepts the waiting connections.
    fn accept(&self) {
        for _ in 0..AT_ONCE {
            let (socket, peer) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if is_scarcity(&error) => {
                    self.limited(&format!("a connection cannot be accepted: {error}"));
                    let closed = locked(&self.state).pending.give_way();
                    if let Some(closed) = closed {
                        self.turned_away(closed, "its place is needed");
                    }
                    // Pauses, because the connection still waits and the listener would be ready again at once.
                    std::thread::park_timeout(SCARCITY);
                    return;
                }
                Err(_) => return,
            };
            let now = self.clock.now();
            let closed = {
                let mut state = locked(&self.state);
                state.next += 1;
                let number = state.next;
                state.pending.admit(number, Arc::new(socket), peer, now)
            };
            if let Some(closed) = closed {
                self.turned_away(closed, "too many connections are trying at once");
            }
        }
    }

    /// Performs the handshake, in which the connection proves that it holds the ticket, and reads the first message.
    fn authenticate(
        &self,
        socket: Arc<TcpStream>,
        since: Time,
    ) -> Result<(Channel, Greeting), TransferError> {
        let until = since + PATIENCE;
        let tls = ServerConnection::new(Arc::clone(self.tls)).expect("the configuration is whole");
        let channel = Channel::establish(socket, tls, self.clock, until)?;
        let greeting = greeting(&channel, until)?;
        Ok((channel, greeting))
    }
}

/// Lets connections in until `behind` is done.
pub(in crate::receive) fn serve(behind: &impl Behind) {
    let door = behind.door();
    std::thread::scope(|threads| {
        while !behind.is_done() {
            let due = behind.look();
            door.wait(due);
            read_greetings(behind, threads);
            door.accept();
        }
        door.close();
    });
}

/// Starts a thread for each connection that has sent something.
fn read_greetings<'s>(behind: &'s impl Behind, threads: &'s Scope<'s, '_>) {
    let door = behind.door();
    let changes = locked(&door.state).pending.changes(door.clock.now());
    for (peer, reason) in changes.closed {
        door.turned_away(peer, reason);
    }
    for newcomer in changes.speaking {
        let (number, peer) = (newcomer.number, newcomer.peer);
        if let Err(error) = Builder::new().spawn_scoped(threads, move || serve_connection(behind, newcomer)) {
            locked(&door.state).pending.leave(number);
            door.turned_away(peer, &format!("no thread can be started: {error}"));
        }
    }
}

/// Serves a connection from the handshake to its end.
fn serve_connection(behind: &impl Behind, newcomer: PendingConnection) {
    let door = behind.door();
    let PendingConnection { number, peer, since, socket, .. } = newcomer;
    locked(&door.state).sockets.insert(number, Arc::clone(&socket));
    let known = door.authenticate(socket, since);
    // A connection that was closed to make room has been reported already.
    let was_there = locked(&door.state).pending.leave(number);
    match known {
        Ok((channel, greeting)) => behind.serve_peer(&Arc::new(channel), greeting),
        Err(_) if behind.is_done() || !was_there => {}
        Err(error) => door.turned_away(peer, &why(&error)),
    }
    locked(&door.state).sockets.remove(&number);
}

/// Reads the first message, and leaves it for the next reader.
pub(in crate::receive) fn greeting(channel: &Channel, until: Time) -> Result<Greeting, TransferError> {
    let mut reader = MessageReader::new(channel);
    let greeting = match reader.message(until)? {
        Message::Is(greeting) => greeting,
        Message::Nothing => return Err(TransferError::gone("no greeting in time")),
        Message::End => return Err(TransferError::gone("it left without a greeting")),
    };
    reader.put_back();
    Ok(greeting)
}

/// Writes a reason for which a sender is not let in. The connection stays open for `patience`, so that it can read it.
pub(in crate::receive) fn refuse(control: &Channel, reason: String, now: Time, patience: Span) {
    let mut out = Vec::new();
    crate::wire::frame::append(&mut out, &crate::wire::control::ToSender::Busy(reason));
    let _ = control.write(&out);
    control.finish();
    control.drain(now + patience);
}

/// Returns true if an error means that this machine or process has no room for another socket.
fn is_scarcity(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let scarce = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    scarce.iter().any(|scarce| error.raw_os_error() == Some(scarce.raw_os_error()))
}
