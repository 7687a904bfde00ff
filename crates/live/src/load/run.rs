//! The two entry points of a session: [`receive`] on one side, [`send`] on the other.

use crate::error::LiveError;
use crate::load::receiver::{ReceiveLoop, Receiver};
use crate::load::results::{ReceivedFlow, SentFlow};
use crate::load::sender::SendLoop;
use crate::load::session::SessionConfig;
use crate::load::side_channel::SideChannel;
use host::Clock;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the receiving side until every flow has ended, `end` has passed, or `stop` is set. A stop takes effect within
/// 100 ms, and the bytes received until then are returned. Call it on the thread that bound `listener`, or on one in
/// the same namespace.
///
/// # Errors
/// [`LiveError::Config`] for wrong settings; [`LiveError::Stalled`], [`LiveError::Broken`] naming the flow;
/// [`LiveError::Host`] if the kernel refuses a window. A failure sets `stop`, so that the other side does not wait.
pub fn receive(
    config: &SessionConfig,
    listener: Receiver,
    clock: Clock,
    stop: &AtomicBool,
) -> Result<Vec<ReceivedFlow>, LiveError> {
    receive_with(config, listener, clock, stop, None)
}

/// Runs the receiving side as [`receive`] does, and exchanges messages with the sender over `side_channel`.
///
/// # Errors
/// As for [`receive`].
pub fn receive_with(
    config: &SessionConfig,
    listener: Receiver,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<ReceivedFlow>, LiveError> {
    let run = || {
        config.check()?;
        let mut receiving = ReceiveLoop::new(config, listener, clock, side_channel)?;
        // `stop` is set before the sockets close. Otherwise the sender would take the reset for the cause of the
        // failure.
        receiving.run(stop).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        Ok(receiving.into_results())
    };
    run().inspect_err(|_: &LiveError| stop.store(true, Ordering::Relaxed))
}

/// Runs the sending side until every flow has finished, `end` has passed, or `stop` is set. A stop takes effect within
/// 100 ms, and the bytes sent until then are returned. Sockets are made in the calling thread's namespace.
///
/// # Errors
/// [`LiveError::Config`] for wrong settings; [`LiveError::Host`] for an unknown congestion control;
/// [`LiveError::Connect`], [`LiveError::Stalled`], [`LiveError::Broken`] naming the flow. A failure sets `stop`, so
/// that the other side does not wait.
pub fn send(
    config: &SessionConfig,
    server: SocketAddr,
    clock: Clock,
    stop: &AtomicBool,
) -> Result<Vec<SentFlow>, LiveError> {
    send_with(config, server, clock, stop, None)
}

/// Runs the sending side as [`send`] does, and exchanges messages with the receiver over `side_channel`.
///
/// # Errors
/// As for [`send`].
pub fn send_with(
    config: &SessionConfig,
    server: SocketAddr,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<SentFlow>, LiveError> {
    let run = || {
        config.check()?;
        let mut sending = SendLoop::new(config, server, clock, side_channel)?;
        sending.run(stop)?;
        Ok(sending.into_results())
    };
    run().inspect_err(|_: &LiveError| stop.store(true, Ordering::Relaxed))
}
