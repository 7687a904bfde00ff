//! Sending: paths and a ticket.
//!
//! Reading order: `sources.rs` (the entries and their names), `root.rs` and `tree.rs` (how they are found),
//! `count.rs` (their number and size), `connect.rs`. Then come the threads of a transfer. `offer.rs` offers entries,
//! and `control.rs` hears the answers. `stream.rs` (one thread per data connection) sends wanted bytes, and compares
//! the receiver's. Between them `transfer.rs` (what they share), `queue.rs` (what is to be sent), `outgoing.rs` (one
//! file) and `rate_limit.rs` (how fast). `meter.rs` reads what the kernel says of the data connections, raises their
//! send buffers and asks for more connections, which `lanes.rs` has and opens. `echo.rs` answers the receiver's probes. `retry.rs` says when a connection
//! that broke is made again. `listing.rs` lists what would be sent.

mod connect;
mod control;
mod count;
mod echo;
#[cfg(fuzzing)]
#[path = "../fuzzing/send/harness.rs"]
pub(crate) mod fuzzing;
mod lanes;
mod listing;
mod meter;
mod offer;
mod outgoing;
mod queue;
mod rate_limit;
mod retry;
mod root;
mod sources;
mod stream;
#[cfg(test)]
#[path = "../tests/within/send.rs"]
mod tests;
mod transfer;
mod tree;

use crate::channel::Channel;
use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::ticket::Ticket;
use control::Control;
use host::Clock;
pub use listing::{Listed, Shape, Totals, list};
use retry::{Earlier, Retry};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use transfer::Transfer;
use units::{Rate, Span};

/// How to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// Parallel data connections; 0: one, and more where buffers and windows of one do not fill the path.
    pub streams: u16,
    /// The congestion control; `None`: the kernel's choice.
    pub control: Option<String>,
    /// No faster than this, over all data connections.
    pub limit: Option<Rate>,
    /// For how long without progress a connection that broke is made again; zero: not at all.
    pub retry: Span,
}

/// Sends files and trees to the receiver that gave out `ticket`.
///
/// # Errors
/// [`TransferError::Incomplete`] if some entries could not be sent or stored, and the others were; what a transfer
/// cannot begin or go on with otherwise. The same call goes on where an interrupted one ended.
pub fn send(
    paths: &[PathBuf],
    ticket: &Ticket,
    options: &SendOptions,
    clock: &Clock,
    observer: &dyn Observer,
) -> Result<Summary, TransferError> {
    let sources = sources::sources(paths)?;
    count::counting(&sources, clock, |count| {
        let task = Task { sources: &sources, count, ticket, options, clock, observer };
        let mut retry = Retry::new(options.retry, *clock);
        let mut earlier = Earlier::new(clock.now());
        loop {
            let error = match task.attempt(&mut retry, &mut earlier) {
                Ok(summary) => return Ok(summary),
                Err(error) => error,
            };
            let Some(pause) = retry.pause(&error) else { return Err(error) };
            observer.say(&format!("{}; connecting again in {pause}", retry::why(&error)));
            connect::wait(clock, pause);
        }
    })
}

/// What is to be sent, where, and how.
struct Task<'a> {
    sources: &'a [sources::Source],
    count: &'a count::Count,
    ticket: &'a Ticket,
    options: &'a SendOptions,
    clock: &'a Clock,
    observer: &'a dyn Observer,
}

impl Task<'_> {
    /// Sends until all is there or the connection breaks.
    fn attempt(&self, retry: &mut Retry, earlier: &mut Earlier) -> Result<Summary, TransferError> {
        let Self { sources, count, ticket, options, clock, observer } = *self;
        // As many as it came to before.
        let streams = options.streams.max(earlier.streams);
        let mut connections = connect::connect(ticket, options, streams, clock, observer, retry.is_first())?;
        retry.reached();
        let echoer = connections.echoer.take();
        let transfer = Transfer::new(connections, options, clock, earlier)?;
        let history = std::mem::take(&mut earlier.history);
        let told = std::thread::scope(|threads| {
            let transfer = &transfer;
            let serve = move |channel: Arc<Channel>| {
                threads.spawn(move || transfer.guard_other(|| stream::serve(transfer, &channel, observer)));
            };
            transfer.channels().into_iter().for_each(serve);
            let (wants, wanted) = channel();
            threads.spawn(move || lanes::widen(transfer, &wanted, observer, serve));
            if let Some(echoer) = echoer {
                threads.spawn(|| echo::serve(transfer, echoer));
            }
            threads.spawn(|| transfer.guard_other(|| offer::serve(transfer, count, sources, observer)));
            let mut control = Control::new(transfer, count, observer, history, wants);
            transfer.guard(|| control.run());
            transfer.close();
            control.into_told()
        });
        transfer.unsaid().iter().for_each(|line| observer.say(line));
        if transfer.not_shown() > 0 {
            observer.say(&format!("and {} more that the receiver could not store", transfer.not_shown()));
        }
        retry.got(&told.progress, (transfer.queue.offers(), count.so_far().bytes));
        transfer.result(told, earlier)
    }
}
