//! Receiving: a folder, a ticket, and the sender that holds it.
//!
//! Reading order: `state.rs` (the part of a session that outlives the process), `listen.rs` (admission of
//! connections), `registry.rs` (the state that all threads share). Then `session.rs` (one sender's session, and the one
//! thread that owns it), `stream.rs` (one data connection) and `assembly.rs` (the storing of entries and bytes).
//! `path_test.rs` is the far end of tests, which stores nothing.

mod assembly;
mod consent;
#[cfg(fuzzing)]
#[path = "../fuzzing/receive/harness.rs"]
pub(crate) mod fuzzing;
mod incoming;
mod listen;
mod path_test;
mod registry;
mod session;
mod state;
mod stream;
mod windows;

use crate::digests;
use crate::error::TransferError;
use crate::keys::{Key, receiver_tls};
use crate::progress::Observer;
use crate::store::Store;
use crate::summary::Summary;
use crate::ticket::{Host, Ticket};
use crate::window::WindowChoice;
use assembly::{Assembly, Rules};
use host::Clock;
pub use path_test::{PathTestOptions, PathTestReceiver};
use state::{Origins, State};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Bytes, Span};

/// The treatment of an entry whose name belongs to a file or link that this session did not store. In any case, a file
/// counts as present if the file of its name has the same content, or the same size and time. A link counts as present
/// if the link of its name has the same target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// The entry is refused.
    #[default]
    Refuse,
    /// The entry gets a number after its name.
    Rename,
    /// The entry replaces it if the entry's time is later; otherwise the entry is left out.
    Update,
    /// The entry replaces it.
    Replace,
}

/// The amount that is accepted, and the party that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accept {
    /// True if the observer is asked about an announcement; otherwise the ticket is the consent.
    pub ask: bool,
    /// True if every announcement is accepted without a question.
    pub all: bool,
    /// The number of bytes in files that is accepted without a question. If there are more, the observer is asked, or
    /// without `ask` the sender is refused.
    pub limit: Option<Bytes>,
}

/// The options of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// The address to listen on; `None` for every address and any free port.
    pub listen: Option<SocketAddr>,
    /// Addresses and host names for the ticket; if empty, this machine's addresses.
    pub addresses: Vec<Host>,
    /// The receive window.
    pub window: WindowChoice,
    /// True to begin a new session although an earlier one is not finished.
    pub new: bool,
    /// The treatment of names that are taken.
    pub existing: Existing,
    /// True if the sender's permission bits are kept unchanged; otherwise the umask removes its bits from them.
    pub preserve_mode: bool,
    /// True if links that point outside the tree that they came with are stored, too.
    pub outside_links: bool,
    /// The amount that is accepted.
    pub accept: Accept,
    /// The time for which the ticket admits a sender, whether it comes for the first time or comes back.
    pub expire: Span,
    /// The time to wait without a sender; with `None`, the wait ends when the ticket expires.
    pub wait: Option<Span>,
    /// A new file for the BLAKE3 digests of the received files.
    pub digests: Option<PathBuf>,
    /// The time for which the receiver waits for the sender to confirm the end, and for which a sender without progress
    /// keeps its place. Tests change it.
    #[doc(hidden)]
    pub patience: Span,
}

const PATIENCE: Span = Span::from_secs(60);

/// A day, so that the holder of an evening's ticket can send in the morning.
const EXPIRE: Span = Span::from_secs(24 * 3600);

impl Default for ReceiveOptions {
    fn default() -> Self {
        Self {
            listen: None,
            addresses: Vec::new(),
            window: WindowChoice::default(),
            new: false,
            existing: Existing::default(),
            preserve_mode: false,
            outside_links: false,
            accept: Accept::default(),
            expire: EXPIRE,
            wait: None,
            digests: None,
            patience: PATIENCE,
        }
    }
}

/// A receiver that listens.
#[derive(Debug)]
pub struct Receiver {
    state: State,
    listener: TcpListener,
    assembly: Assembly,
    tls: Arc<rustls::ServerConfig>,
    ticket: Ticket,
    window: WindowChoice,
    accept: Accept,
    digests: Option<PathBuf>,
    clock: Clock,
    origins: Origins,
    wait: Option<Span>,
    patience: Span,
}

impl Receiver {
    /// Listens for a sender of files, which will be put into `folder`. The folder is created if necessary. If a session
    /// there was interrupted, this resumes it with the same ticket.
    ///
    /// # Errors
    /// If the folder cannot be used, or the address cannot be listened on.
    pub fn open(folder: &Path, options: &ReceiveOptions, clock: &Clock) -> Result<Self, TransferError> {
        options.digests.as_deref().map_or(Ok(()), digests::is_free)?;
        let (mut state, origins) = State::open(folder, options.new, clock.since_1970(), options.expire)?;
        options.digests.as_deref().map_or(Ok(()), |file| digests::is_outside(file, folder))?;
        // The ticket of an interrupted session names its port, so the receiver listens there again unless the user
        // chose another.
        let before = state.listen();
        let asked = match (options.listen, before) {
            (Some(asked), Some(before)) if asked.port() == 0 => {
                Some(SocketAddr::new(asked.ip(), before.port()))
            }
            (asked, before) => asked.or(before),
        };
        let listener = listen::bind(asked)?;
        let address = listener.local_addr().map_err(TransferError::system("read the address listened on"))?;
        let key = Key::new(state.seed());
        let same =
            options.listen.is_none() || options.listen.map(|asked| asked.ip()) == before.map(|was| was.ip());
        let addresses = match (&options.addresses[..], address.ip()) {
            ([], _) if same && !state.addresses().is_empty() => state.addresses().to_vec(),
            ([], ip) if ip.is_unspecified() => listen::own_addresses().into_iter().map(Host::Ip).collect(),
            ([], ip) => vec![Host::Ip(ip)],
            (given, _) => given.to_vec(),
        };
        state.keep(address, &addresses)?;
        let secret = state.secret();
        let ticket = Ticket { addresses, port: address.port(), fingerprint: key.fingerprint(), secret };
        let tls = receiver_tls(&key, &ticket.secret);
        let (top, own) = state.folders();
        let store = Store::open(folder, top, own, options.preserve_mode)?;
        let rules = Rules {
            existing: options.existing,
            outside_links: options.outside_links,
            listed: options.digests.is_some(),
        };
        let assembly = Assembly::open(store, state.journal()?, rules, *clock);
        Ok(Self {
            state,
            listener,
            assembly,
            tls,
            ticket,
            window: options.window,
            accept: options.accept,
            digests: options.digests.clone(),
            clock: *clock,
            origins,
            wait: options.wait,
            patience: options.patience,
        })
    }

    /// Returns the ticket that the sender needs.
    #[must_use]
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Returns true if this resumes an interrupted session.
    #[must_use]
    pub fn resumed(&self) -> bool {
        self.origins != Origins::New
    }

    /// Returns true if the session's earlier ticket has expired and this one is new.
    #[must_use]
    pub fn renewed(&self) -> bool {
        self.origins == Origins::Renewed
    }

    /// Receives until the session is finished, and then forgets it, so that its ticket is useless. If a sender leaves,
    /// waits until one comes back.
    ///
    /// # Errors
    /// Returns the error that ends a session before it is finished. The same call on the same folder then continues it.
    pub fn run(self, observer: &dyn Observer) -> Result<Summary, TransferError> {
        let received = match listen::serve(&self, observer) {
            Err(error @ TransferError::NotAccepted(_)) if self.assembly.is_untouched() => {
                // The ticket's holder was rejected, and the session has stored nothing that could be continued. So the
                // session is forgotten.
                self.state.finish()?;
                return Err(error);
            }
            // The session is kept, so that the missing entries can follow. All others are stored, so their digests are
            // written.
            Err(error @ TransferError::Incomplete { .. }) => {
                write_digests(&self.assembly, self.digests.as_deref())?;
                return Err(error);
            }
            received => received?,
        };
        drop(self.listener);
        self.state.finish()?;
        write_digests(&self.assembly, self.digests.as_deref())?;
        Ok(received)
    }
}

fn write_digests(assembly: &Assembly, file: Option<&Path>) -> Result<(), TransferError> {
    let Some(file) = file else { return Ok(()) };
    digests::write(assembly.store().top(), assembly.take_listed().iter(), file).map(drop)
}
