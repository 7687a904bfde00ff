//! Receiving: a folder, a ticket, and whoever holds it.
//!
//! Reading order: `state.rs` (what of a session outlives the process), `gate.rs` (who is let in), `visit.rs` (one sender's
//! control connection), `stream.rs` (one data connection), `landing.rs` (what becomes of entries and bytes).

mod gate;
mod incoming;
mod keeper;
mod landing;
mod state;
mod stream;
mod visit;

use crate::error::TransferError;
use crate::keys::{Key, receiver_tls};
use crate::progress::Observer;
use crate::summary::Summary;
use crate::ticket::Ticket;
use crate::window::WindowChoice;
use landing::Landing;
use live::Clock;
use state::State;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

/// How to receive.
#[derive(Clone, Debug, Default)]
pub struct ReceiveOptions {
    /// Where to listen; `None`: on every address, any free port.
    pub listen: Option<SocketAddr>,
    /// Addresses to put into the ticket; none: this machine's.
    pub addresses: Vec<IpAddr>,
    /// The receive window.
    pub window: WindowChoice,
    /// Begin a new session although an earlier one is not finished.
    pub new: bool,
}

/// A receiver that listens.
#[derive(Debug)]
pub struct Receiver {
    state: State,
    listener: TcpListener,
    landing: Landing,
    tls: Arc<rustls::ServerConfig>,
    ticket: Ticket,
    window: WindowChoice,
    clock: Clock,
    resumed: bool,
}

impl Receiver {
    /// Listens, for files to be put into `folder`, which is made if need be. If a session there was interrupted, this
    /// takes it up: the same ticket holds.
    ///
    /// # Errors
    /// The folder cannot be used, or the address not be listened on.
    pub fn open(folder: &Path, options: &ReceiveOptions, clock: &Clock) -> Result<Self, TransferError> {
        let (mut state, resumed) = State::open(folder, options.new)?;
        // The ticket of an interrupted session must lead here again.
        let before = state.listen();
        let asked = match (options.listen, before) {
            (Some(asked), Some(before)) if asked.port() == 0 => {
                Some(SocketAddr::new(asked.ip(), before.port()))
            }
            (asked, before) => asked.or(before),
        };
        let listener = gate::listen(asked)?;
        let address = listener.local_addr().map_err(TransferError::system("read the address listened on"))?;
        let key = Key::new(state.seed());
        let same =
            options.listen.is_none() || options.listen.map(|asked| asked.ip()) == before.map(|was| was.ip());
        let addresses = match (&options.addresses[..], address.ip()) {
            ([], _) if same && !state.addresses().is_empty() => state.addresses().to_vec(),
            ([], ip) if ip.is_unspecified() => gate::own_addresses(),
            ([], ip) => vec![ip],
            (given, _) => given.to_vec(),
        };
        state.keep(address, &addresses)?;
        let secret = state.secret();
        let ticket = Ticket { addresses, port: address.port(), fingerprint: key.fingerprint(), secret };
        let tls = receiver_tls(&key, &ticket.secret);
        let landing = Landing::open(folder, state.journal()?, *clock)?;
        Ok(Self { state, listener, landing, tls, ticket, window: options.window, clock: *clock, resumed })
    }

    /// What the sender needs.
    #[must_use]
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Whether this takes up a session that was interrupted.
    #[must_use]
    pub const fn resumed(&self) -> bool {
        self.resumed
    }

    /// Receives until the session is finished, and then forgets it: its ticket is of no use any more. A sender that goes
    /// away is waited for.
    ///
    /// # Errors
    /// What ends a session before it is finished; the same call on the same folder goes on with it then.
    pub fn run(self, observer: &dyn Observer) -> Result<Summary, TransferError> {
        let received = gate::serve(&self, observer)?;
        drop(self.listener);
        self.state.finish()?;
        Ok(received)
    }
}
