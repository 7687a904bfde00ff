//! The messages that the two sides exchange.
//!
//! A session is one control connection and one or more data connections, each TLS 1.3 with both keys proved
//! (`keys.rs`). They carry frames ([`frame`]): a length and a message in `postcard`'s form. [`control`] has the
//! messages of the control connection in both directions. [`data`] has those of the data connections, which go from
//! sender to receiver only and are followed by the file's bytes. [`test`] has those of a test, and [`observation`] the evidence in them. ADR 10 shows a
//! session.
//!
//! Every message is untrusted, and reading one never panics. A frame ([`frame::Framed`]), and the lists and texts in
//! it, have a greatest length for each kind of message.

pub(crate) mod bounded;
pub mod control;
pub mod data;
pub mod frame;
pub mod observation;
pub mod test;

use serde::{Deserialize, Serialize};

/// The label for which the control connection's exporter yields the probes' key.
pub(crate) const PROBE_KEY: &str = "EXPORTER-tightlink-probes";

/// The reason that a receiver gives if it rejects a sender because another one is present.
pub(crate) const ANOTHER_SENDER: &str = "another sender is using this ticket";
/// The reason that a receiver gives a sender if another one takes its place.
pub(crate) const TAKEN_OVER: &str = "another sender took over";

/// The version of the protocol that a sender of this program speaks; the first message of a control connection has it.
///
/// Version 2 added [`control::ToReceiver::Counted`], [`control::Verdict::Kept`] and [`control::ToSender::GivesUp`].
/// Version 3 added [`control::ToReceiver::Limits`], and data connections that join while data flows.
pub const VERSION: u16 = 3;
/// The oldest version that a receiver of this program accepts.
pub const OLDEST: u16 = 1;
/// The version that the greeting of a test has. Version 4 added [`test`], and left transfers as they were. Version 5
/// added loads in both directions at once, and the evidence of what limits a load.
pub const TEST: u16 = 5;
/// The oldest version that is a test's.
pub(crate) const OLDEST_TEST: u16 = 4;

/// The first message of every connection, from the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Greeting {
    /// The control connection of a sender.
    Control {
        /// [`VERSION`], or [`TEST`].
        version: u16,
        /// The number of data connections that will come at once.
        streams: u16,
        /// The UDP port at which probes are echoed, with the key derived from this connection; 0 without an echoer.
        echo: u16,
    },
    /// A data connection.
    Data {
        /// The token of `Welcome`, which names the control connection that this one belongs to.
        token: [u8; 16],
        /// The connection's number, from zero. Since version 3 more connections may join than were announced.
        stream: u16,
    },
}
