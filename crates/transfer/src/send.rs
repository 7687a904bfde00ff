//! Sending: paths and a ticket.
//!
//! Reading order: `sources.rs` (what is sent under which name), `connect.rs`, then the threads of a transfer: `walk.rs`
//! offers entries, `control.rs` hears the answers, `stream.rs` (one thread per data connection) sends what is wanted.
//! Between them `flight.rs` (what they share), `queue.rs` (what is to be sent), `outgoing.rs` (one file) and `limit.rs`
//! (how fast).

mod connect;
mod control;
mod flight;
mod limit;
mod outgoing;
mod queue;
mod sources;
mod stream;
mod walk;

use crate::error::TransferError;
use crate::progress::Observer;
use crate::ticket::Ticket;
use flight::Flight;
use live::Clock;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use units::{Bytes, Rate, Span};

/// How to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// Parallel data connections; 0 stands for 1.
    pub streams: u16,
    /// The congestion control; `None`: the kernel's choice.
    pub control: Option<String>,
    /// No faster than this, over all data connections.
    pub limit: Option<Rate>,
}

/// How a transfer ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sent {
    /// Entries at the receiver.
    pub entries: u64,
    /// Bytes of files at the receiver.
    pub bytes: u64,
    /// Bytes of files that this run sent, holes left out.
    pub sent: u64,
    /// Entries that were at the receiver before, from an interrupted run.
    pub skipped: u64,
    /// From the first connection to the receiver's last word.
    #[serde(rename = "elapsed_s", serialize_with = "seconds")]
    pub elapsed: Span,
}

fn seconds<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_secs_f64())
}

impl fmt::Display for Sent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "sent {} entries, {}, in {:.2} s",
            self.entries,
            Bytes::new(self.bytes),
            self.elapsed.as_secs_f64()
        )
    }
}

/// Sends files and trees to the receiver that gave out `ticket`.
///
/// # Errors
/// [`TransferError::Incomplete`] if some entries could not be sent or stored, and the others were; what a transfer cannot
/// begin or go on with otherwise. The same call goes on where an interrupted one ended.
pub fn send(
    paths: &[PathBuf],
    ticket: &Ticket,
    options: &SendOptions,
    clock: &Clock,
    observer: &dyn Observer,
) -> Result<Sent, TransferError> {
    let sources = sources::sources(paths)?;
    let began = clock.now();
    let link = connect::connect(ticket, options, clock, observer)?;
    let flight = Flight::new(link, options, clock, began);
    std::thread::scope(|threads| {
        for stream in 0..flight.data.len() {
            let flight = &flight;
            threads.spawn(move || flight.guard_other(|| stream::serve(flight, stream)));
        }
        threads.spawn(|| flight.guard_other(|| walk::offer(&flight, &sources, observer)));
        flight.guard(|| control::serve(&flight, &sources, observer));
        flight.close();
    });
    flight.result()
}
