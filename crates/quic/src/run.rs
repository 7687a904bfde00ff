//! The entry points of a session: [`Receiver::bind`] and [`receive`] on one side, [`send`] on the other.

use crate::keys::Keys;
use crate::session::SessionConfig;
use host::Clock;
use live::{LiveError, ReceivedFlow, SentFlow, SideChannel};
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

/// The receiving end's sockets, bound before the sender starts.
#[derive(Debug)]
pub struct Receiver {
    address: IpAddr,
}

impl Receiver {
    /// Binds a UDP socket for each flow on its port at `address`, in the calling thread's namespace.
    ///
    /// # Errors
    /// [`LiveError::Config`] for wrong settings; [`LiveError::PortInUse`], [`LiveError::Listen`].
    pub fn bind(config: &SessionConfig, address: IpAddr, keys: &Keys) -> Result<Self, LiveError> {
        let _ = (config, keys);
        Ok(Self { address })
    }
}

/// Runs the receiving end until every flow has ended, `end` has passed, or `stop` is set.
///
/// # Errors
/// As [`live::receive`].
pub fn receive(
    config: &SessionConfig,
    receiver: Receiver,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<ReceivedFlow>, LiveError> {
    let _ = (config, receiver.address, clock, stop, side_channel);
    todo!()
}

/// Runs the sending end until every flow has finished, `end` has passed, or `stop` is set. Sockets are made in the
/// calling thread's namespace; each flow sends from its own port to the same port of `server`.
///
/// # Errors
/// As [`live::send`].
pub fn send(
    config: &SessionConfig,
    server: IpAddr,
    keys: &Keys,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<SentFlow>, LiveError> {
    let _ = (config, server, keys, clock, stop, side_channel);
    todo!()
}
