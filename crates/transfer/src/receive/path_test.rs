//! [`PathTestReceiver`]: the far end of tests of a path. It stores nothing: its key and its sessions are in memory.
//!
//! One sender at a time may test. A sender that holds the ticket may test again and again until the ticket expires.
//! `path_test/session.rs` has one test.

mod session;

use super::listen::door::{self, Behind, Door};
use super::listen::{self, LAST_WORD, bind, own_addresses};
use crate::channel::Channel;
use crate::error::TransferError;
use crate::keys::{Key, fill_random, receiver_tls};
use crate::load::LoadConnection;
use crate::lock::locked;
use crate::path_report::PathReport;
use crate::progress::Observer;
use crate::ticket::{Host, Secret, Ticket};
use crate::wire::test::SEPARATE;
use crate::wire::{ANOTHER_SENDER, Greeting, OLDEST_TEST, TEST};
use host::Clock;
use session::Tester;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use units::{Bytes, Span, Time};
use zeroize::Zeroizing;

/// The options of the far end of tests.
#[derive(Clone, Debug)]
pub struct PathTestOptions {
    /// The address to listen on; `None` for every address and any free port.
    pub listen: Option<SocketAddr>,
    /// Addresses and host names for the ticket; if empty, this machine's addresses.
    pub addresses: Vec<Host>,
    /// The time for which the ticket admits senders.
    pub expire: Span,
    /// The time to wait without a sender; with `None`, the wait ends when the ticket expires.
    pub wait: Option<Span>,
    /// The greatest number of bytes of load in each direction of a test.
    pub most: Bytes,
}

/// The far end of tests, which listens.
#[derive(Debug)]
pub struct PathTestReceiver {
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    ticket: Ticket,
    clock: Clock,
    expires: Time,
    wait: Option<Span>,
    most: Bytes,
}

impl PathTestReceiver {
    /// Listens for senders that test the path.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn open(options: &PathTestOptions, clock: &Clock) -> Result<Self, TransferError> {
        let listener = bind(options.listen)?;
        let address = listener.local_addr().map_err(TransferError::system("read the address listened on"))?;
        let mut seed = Zeroizing::new([0; 32]);
        fill_random(&mut *seed);
        let key = Key::new(&seed);
        let mut secret = Secret([0; 16]);
        fill_random(&mut secret.0);
        let addresses = match (&options.addresses[..], address.ip()) {
            ([], ip) if ip.is_unspecified() => own_addresses().into_iter().map(Host::Ip).collect(),
            ([], ip) => vec![Host::Ip(ip)],
            (given, _) => given.to_vec(),
        };
        let ticket = Ticket { addresses, port: address.port(), fingerprint: key.fingerprint(), secret };
        Ok(Self {
            listener,
            tls: receiver_tls(&key, &ticket.secret),
            ticket,
            clock: *clock,
            expires: clock.now() + options.expire,
            wait: options.wait,
            most: options.most,
        })
    }

    /// Returns the ticket that senders need.
    #[must_use]
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Serves tests, one after the other, until the ticket expires or no sender comes any more. Each report goes to
    /// `take`. Returns the number of tests.
    ///
    /// # Errors
    /// [`TransferError::Expired`] or [`TransferError::NobodyCame`] if no test came to its end.
    pub fn run(
        &self,
        observer: &dyn Observer,
        take: &(dyn Fn(&PathReport) + Sync),
    ) -> Result<u64, TransferError> {
        let door = Door::new(&self.listener, &self.tls, self.clock, observer)?;
        let state = DeskState { tester: None, alone_since: self.clock.now(), tests: 0, ended: None };
        let desk = Desk { receiver: self, observer, take, door, state: Mutex::new(state) };
        door::serve(&desk);
        let state = desk.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match state.ended {
            Some(error) if state.tests == 0 => Err(error),
            _ => Ok(state.tests),
        }
    }
}

/// The shared state of all connections.
struct Desk<'a> {
    receiver: &'a PathTestReceiver,
    observer: &'a dyn Observer,
    take: &'a (dyn Fn(&PathReport) + Sync),
    door: Door<'a>,
    state: Mutex<DeskState>,
}

#[derive(Debug)]
struct DeskState {
    /// The sender that tests now.
    tester: Option<Arc<Tester>>,
    /// The time since which no sender is present.
    alone_since: Time,
    /// The number of tests that came to their end.
    tests: u64,
    ended: Option<TransferError>,
}

impl Behind for Desk<'_> {
    fn door(&self) -> &Door<'_> {
        &self.door
    }

    fn is_done(&self) -> bool {
        locked(&self.state).ended.is_some()
    }

    fn look(&self) -> Time {
        let now = self.receiver.clock.now();
        let mut state = locked(&self.state);
        if state.tester.is_some() {
            return Time::NEVER;
        }
        let expires = self.receiver.expires;
        let waits = self.receiver.wait.map_or(Time::NEVER, |wait| state.alone_since + wait);
        if now >= expires {
            state.ended = Some(TransferError::Expired("no sender has tested the path".into()));
        } else if now >= waits {
            state.ended = Some(TransferError::NobodyCame { wait: self.receiver.wait.unwrap_or_default() });
        } else {
            return expires.min(waits);
        }
        now
    }

    fn serve_peer(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => self.control(channel, version, streams, echo),
            Greeting::Data { token, stream } => {
                let tester = locked(&self.state).tester.clone();
                match tester.filter(|tester| tester.has(&token)) {
                    Some(tester) if stream == SEPARATE => {
                        session::answer_once(&tester, channel, &self.receiver.clock);
                    }
                    Some(tester) => self.load(&tester, channel, stream),
                    None => self.door.turned_away(channel.peer(), "its control connection has ended"),
                }
            }
        }
    }
}

impl Desk<'_> {
    /// Serves the control connection of a sender.
    fn control(&self, channel: &Arc<Channel>, version: u16, streams: u16, echo: u16) {
        let clock = self.receiver.clock;
        let refusal = if version < OLDEST_TEST {
            Some(
                "this receiver only tests the path and stores nothing; to send files run `tightlink receive DIR` there"
                    .to_owned(),
            )
        } else if version != TEST {
            Some(format!(
                "the sender tests by version {version}, this receiver by {TEST}; use the same tightlink"
            ))
        } else if clock.now() >= self.receiver.expires {
            Some("the ticket has expired".to_owned())
        } else {
            None
        };
        let tester = Arc::new(Tester::new(streams));
        let refusal = refusal.or_else(|| {
            let mut state = locked(&self.state);
            if state.tester.is_some() {
                return Some(ANOTHER_SENDER.to_owned());
            }
            state.tester = Some(Arc::clone(&tester));
            None
        });
        if let Some(reason) = refusal {
            self.door.limited(&format!("{} is refused: {reason}", host::plain(channel.peer())));
            return door::refuse(channel, reason, clock.now(), LAST_WORD);
        }
        let peer = host::plain(channel.peer());
        self.observer.say(&format!("{peer} begins a test"));
        let ended = session::serve(&tester, channel, echo, &clock, self.receiver.most, self.take);
        tester.end();
        channel.finish();
        let mut state = locked(&self.state);
        state.tester = None;
        state.alone_since = clock.now();
        state.tests += u64::from(ended.is_ok());
        drop(state);
        self.door.wake.wake();
        if let Err(error) = ended {
            self.observer.say(&format!("{peer}: {}; waiting for another test", listen::why(&error)));
        }
        // The connection stays open for a while, so that the sender can read the last message.
        channel.drain(clock.now() + LAST_WORD);
    }

    /// Serves a connection for load until it ends.
    fn load(&self, tester: &Tester, channel: &Arc<Channel>, stream: u16) {
        let load = Arc::new(LoadConnection::new(Arc::clone(channel), self.receiver.clock));
        if !tester.join(stream, &load) {
            return self.door.turned_away(channel.peer(), "its test has this connection already");
        }
        std::thread::scope(|threads| {
            threads.spawn(|| load.run(LoadConnection::write));
            load.run(LoadConnection::read);
        });
    }
}

#[cfg(test)]
#[path = "../../tests/within/path_test.rs"]
mod tests;
