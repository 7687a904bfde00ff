//! Sending: paths and a ticket.
//!
//! Reading order: `sources.rs` (the entries and their names), `root.rs` and `tree.rs` (how they are found), `count.rs`
//! (their number and size), `connect.rs`. Then come the threads of a transfer. `offer.rs` offers entries, and
//! `control.rs` handles the answers. `stream.rs` (one thread per data connection) sends wanted bytes with their
//! digests. Between them are `transfer.rs` (the shared state), `queue.rs` (the entries to be sent), `outgoing.rs` (one
//! file) and `rate_limit.rs` (the rate). `meter.rs` reads the kernel's state of the data connections, raises their send
//! buffers and requests more connections, which `data_connections.rs` opens. `echo.rs` answers the receiver's probes.
//! `retry.rs` decides when a broken connection is made again. `listing.rs` lists the entries that would be sent, and
//! `path_test.rs` tests the path without any.

mod connect;
mod control;
mod count;
mod data_connections;
mod echo;
#[cfg(fuzzing)]
#[path = "../fuzzing/send/harness.rs"]
pub(crate) mod fuzzing;
mod listing;
mod meter;
mod offer;
mod outgoing;
mod path_test;
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
use crate::wire::VERSION;
use control::Control;
use host::Clock;
pub use listing::{EntryKind, ListedEntry, Totals, list};
pub use path_test::{PathTest, test_path};
use retry::{EarlierAttempts, Retry};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use transfer::Transfer;
use units::{Rate, Span};

/// The options of a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// The number of parallel data connections. With 0, the transfer begins with one, and opens more if its buffers and
    /// windows do not fill the path.
    pub streams: u16,
    /// The congestion control; `None` for the kernel's choice.
    pub control: Option<String>,
    /// The greatest rate over all data connections.
    pub limit: Option<Rate>,
    /// The time without progress after which a broken connection is given up; with zero it is given up at once.
    pub retry: Span,
}

/// Sends files and trees to the receiver that gave out `ticket`.
///
/// # Errors
/// Returns [`TransferError::Incomplete`] if some entries could not be sent or stored, and the others were. Any other
/// error means that the transfer could not begin or continue. The same call continues an interrupted one.
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
        let mut earlier = EarlierAttempts::new(clock.now());
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

/// A task of sending: sources, receiver and options.
struct Task<'a> {
    sources: &'a [sources::Source],
    count: &'a count::Count,
    ticket: &'a Ticket,
    options: &'a SendOptions,
    clock: &'a Clock,
    observer: &'a dyn Observer,
}

impl Task<'_> {
    /// Sends until everything is stored or the connection breaks.
    fn attempt(&self, retry: &mut Retry, earlier: &mut EarlierAttempts) -> Result<Summary, TransferError> {
        let Self { sources, count, ticket, options, clock, observer } = *self;
        // An earlier attempt may have opened more data connections than the options name.
        let streams = options.streams.max(earlier.streams);
        let mut connections =
            connect::connect(ticket, options, (VERSION, streams), clock, observer, retry.is_first())?;
        retry.reached();
        let echoer = connections.echoer.take();
        let transfer = Transfer::new(connections, options, clock, earlier)?;
        let history = std::mem::take(&mut earlier.history);
        let reports = std::thread::scope(|threads| {
            let transfer = &transfer;
            let serve = move |channel: Arc<Channel>| {
                threads.spawn(move || transfer.guard_other(|| stream::serve(transfer, &channel, observer)));
            };
            transfer.channels().into_iter().for_each(serve);
            let (wants, wanted) = channel();
            threads.spawn(move || data_connections::widen(transfer, &wanted, observer, serve));
            if let Some(echoer) = echoer {
                threads.spawn(|| echo::serve(transfer, echoer));
            }
            threads.spawn(|| transfer.guard_other(|| offer::serve(transfer, count, sources, observer)));
            let mut control = Control::new(transfer, count, observer, history, wants);
            transfer.guard(|| control.run());
            transfer.close();
            control.into_told()
        });
        transfer.unshown_lines().iter().for_each(|line| observer.say(line));
        if transfer.not_shown() > 0 {
            observer.say(&format!("and {} more that the receiver could not store", transfer.not_shown()));
        }
        retry.got(&reports.progress, (transfer.queue.offers(), count.so_far().bytes));
        transfer.result(reports, earlier)
    }
}
