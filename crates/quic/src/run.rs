//! The entry points of a session: [`Receiver::bind`] and [`receive`] on one side, [`send`] on the other.
//!
//! Each side is one thread with a socket for each flow. Packets leave by the clock: the thread sleeps until shortly
//! before the next departure, and then looks at the clock and the sockets in turn.

mod receiving;
mod sending;
mod sized;

use crate::keys::Keys;
use crate::port::Port;
use crate::session::SessionConfig;
use host::{Clock, Interest, Poller, port_owner};
use live::{LiveError, ReceivedFlow, SentFlow, SideChannel};
use receiving::ReceiveLoop;
use sending::SendLoop;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Span, Time};

/// The time before a departure from which on the thread does not sleep. A wake-up of an ordinary machine is later by
/// 50 us in the median.
const SPIN: Span = Span::from_micros(60);

/// The receiving end's sockets, bound before the sender starts.
#[derive(Debug)]
pub struct Receiver {
    ports: Vec<Port>,
    keys: Keys,
}

impl Receiver {
    /// Binds a UDP socket for each flow on its port at `address`, in the calling thread's namespace.
    ///
    /// # Errors
    /// [`LiveError::Config`] for wrong settings; [`LiveError::PortInUse`], [`LiveError::Listen`].
    pub fn bind(config: &SessionConfig, address: IpAddr, keys: &Keys) -> Result<Self, LiveError> {
        config.check()?;
        let bind = |port| {
            let address = SocketAddr::new(address, port);
            let port = Port::bind(address).map_err(|source| {
                if source.kind() == io::ErrorKind::AddrInUse {
                    LiveError::PortInUse { address, holder: port_owner::of_port(port) }
                } else {
                    LiveError::Listen { address, source }
                }
            })?;
            port.enlarge().map(|()| port)
        };
        let ports = config.flows.iter().map(|flow| bind(flow.common.port.unwrap_or(0)));
        Ok(Self { ports: ports.collect::<Result<_, _>>()?, keys: keys.clone() })
    }

    /// Returns the addresses of the sockets, in the order of the flows.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(Port::address).collect()
    }
}

/// Runs the receiving end until every flow has ended, `end` has passed, or `stop` is set. A stop takes effect within
/// 100 ms. Call it on the thread that bound `receiver`, or on one in the same namespace.
///
/// # Errors
/// [`LiveError::Config`] for wrong settings; [`LiveError::Host`] if the machine refuses. A failure sets `stop`, so that
/// the other side does not wait.
pub fn receive(
    config: &SessionConfig,
    receiver: Receiver,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<ReceivedFlow>, LiveError> {
    let run = || {
        config.check()?;
        let mut receiving = ReceiveLoop::new(config, receiver, clock, side_channel)?;
        receiving.run(stop)?;
        Ok(receiving.into_results())
    };
    run().inspect_err(|_: &LiveError| stop.store(true, Ordering::Relaxed))
}

/// Runs the sending end until every flow has finished, `end` has passed, or `stop` is set. Each flow connects from its
/// own port to its address in `servers`, which are those of [`Receiver::addresses`]. Sockets are made in the calling
/// thread's namespace.
///
/// # Errors
/// [`LiveError::Config`] for wrong settings; [`LiveError::Connect`], [`LiveError::Broken`] naming the flow. A failure
/// sets `stop`, so that the other side does not wait.
pub fn send(
    config: &SessionConfig,
    servers: &[SocketAddr],
    keys: &Keys,
    clock: Clock,
    stop: &AtomicBool,
    side_channel: Option<&SideChannel>,
) -> Result<Vec<SentFlow>, LiveError> {
    let run = || {
        config.check()?;
        let mut sending = SendLoop::new(config, servers, keys, clock, side_channel)?;
        sending.run(stop)?;
        Ok(sending.into_results())
    };
    run().inspect_err(|_: &LiveError| stop.store(true, Ordering::Relaxed))
}

/// Returns the tokens that become ready by the real time `wake`. If a packet is due then, the thread is awake before it.
fn wait(
    poller: &Poller,
    clock: Clock,
    wake: Time,
    is_departure: bool,
) -> Result<Vec<(u64, Interest)>, LiveError> {
    let now = clock.real();
    if !is_departure {
        return Ok(poller.wait(now, wake)?);
    }
    if now < wake - SPIN {
        let ready = poller.wait(now, wake - SPIN)?;
        if !ready.is_empty() {
            return Ok(ready);
        }
    }
    loop {
        let now = clock.real();
        if now >= wake {
            return Ok(Vec::new());
        }
        let ready = poller.wait(now, now)?;
        if !ready.is_empty() {
            return Ok(ready);
        }
        std::hint::spin_loop();
    }
}

/// The two times of a run at one moment. The library and the controllers live in real time, as the kernel's do, because
/// a clock that follows a path can make a time between two events too short. The session's own times are the path's.
#[derive(Clone, Copy, Debug)]
struct Moment {
    real: Time,
    path: Time,
}

impl Moment {
    fn now(clock: Clock) -> Self {
        Self { real: clock.real(), path: clock.now() }
    }

    /// Returns the real time at which the path's time will be `at`, if the path does not stand still until then.
    fn real_at(self, at: Time) -> Time {
        if at == Time::NEVER { Time::NEVER } else { self.real + at.since(self.path) }
    }
}
