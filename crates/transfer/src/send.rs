//! Sending: paths and a ticket.
//!
//! Reading order: `sources.rs` (what is sent under which name), `root.rs` and `tree.rs` (how it is found), `count.rs` (how
//! much it is), `connect.rs`, then the threads of a transfer: `walk.rs` offers entries, `control.rs` hears the answers,
//! `stream.rs` (one thread per data connection) sends what is wanted, and compares what the receiver has. Between them
//! `flight.rs` (what they share), `queue.rs` (what is to be sent), `outgoing.rs` (one file) and `limit.rs` (how fast).
//! `echo.rs` answers the receiver's probes.

mod connect;
mod control;
mod count;
mod echo;
mod flight;
mod limit;
mod outgoing;
mod queue;
mod root;
mod sources;
mod stream;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::ticket::Ticket;
use flight::Flight;
use live::Clock;
use std::path::PathBuf;
use units::{Rate, Span};

/// How to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// Parallel data connections; 0 stands for 1.
    pub streams: u16,
    /// The congestion control; `None`: the kernel's choice.
    pub control: Option<String>,
    /// No faster than this, over all data connections.
    pub limit: Option<Rate>,
    /// For how long a connection that broke is tried again; zero: not at all.
    pub retry: Span,
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
) -> Result<Summary, TransferError> {
    let sources = sources::sources(paths)?;
    count::counting(&sources, clock, |count| attempt(ticket, options, clock, observer, &sources, count))
}

/// One connection's work.
fn attempt(
    ticket: &Ticket,
    options: &SendOptions,
    clock: &Clock,
    observer: &dyn Observer,
    sources: &[sources::Source],
    count: &count::Count,
) -> Result<Summary, TransferError> {
    let began = clock.now();
    let link = connect::connect(ticket, options, clock, observer)?;
    let flight = Flight::new(link, options, clock, began);
    std::thread::scope(|threads| {
        for stream in 0..flight.data.len() {
            let flight = &flight;
            threads.spawn(move || flight.guard_other(|| stream::serve(flight, stream, observer)));
        }
        threads.spawn(|| echo::serve(&flight));
        threads.spawn(|| flight.guard_other(|| walk::offer(&flight, count, sources, observer)));
        flight.guard(|| control::serve(&flight, count, observer));
        flight.close();
    });
    flight.unsaid().iter().for_each(|line| observer.say(line));
    if flight.not_shown() > 0 {
        observer.say(&format!("and {} more that the receiver could not store", flight.not_shown()));
    }
    flight.result()
}
