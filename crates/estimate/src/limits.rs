//! [`LimitedBy`]: the limit of a transfer, found from the use of its time.
//!
//! The sender's and the receiver's program know what their threads waited for: the network, a disk, a limit, or work.
//! If they waited for the network, the sender's kernel knows the cause (`TCP_INFO`). The cause is slow start, the
//! receive window, the sender's own send buffer, or else the congestion window ([`Account`]). So the search goes from
//! the outside in: the sender's program, the receiver's program, the connection. `advice.rs` has the remedies.

mod account;
mod advice;

pub use account::{Account, LimitedTimes, Reading};
pub use advice::{Advice, Measured, advice, slow_start_rounds};
use units::Bytes;

/// The share of the time below which a side's wait for the network means that the side itself was the slower part.
const SELDOM: f64 = 0.3;

/// The limit of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// An unknown limit: the transfer was too short.
    TooShort,
    /// The requested rate.
    RateLimit,
    /// Reading files.
    SendingDisk,
    /// The sender's own work: encrypting, hashing.
    SendingApplication,
    /// Nothing to send: the sender looked for files, or waited for answers.
    Idle,
    /// Writing files.
    ReceivingDisk,
    /// The receiver's own work: decrypting, verifying.
    ReceivingApplication,
    /// Slow start: the transfer ended before the path could be the limit.
    SlowStart,
    /// The receive window.
    ReceiveWindow,
    /// The send buffer.
    SendBuffer,
    /// The congestion window: the path's rate, and losses.
    CongestionWindow,
}

impl LimitedBy {
    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too-short",
            Self::RateLimit => "limit",
            Self::SendingDisk => "sending-disk",
            Self::SendingApplication => "sending-application",
            Self::Idle => "idle",
            Self::ReceivingDisk => "receiving-disk",
            Self::ReceivingApplication => "receiving-application",
            Self::SlowStart => "slow-start",
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::CongestionWindow => "congestion-window",
        }
    }
}

/// Shares of the time that the sender's program spent waiting; the rest is its own work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderShares {
    /// Waiting for the network.
    pub network: f64,
    /// Waiting for its disk.
    pub disk: f64,
    /// Waiting for a limit on its rate.
    pub limit: f64,
    /// Waiting for something to send.
    pub idle: f64,
}

/// Shares of the time that the receiver's program spent waiting; the rest is its own work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReceiverShares {
    /// Waiting for the network.
    pub network: f64,
    /// Waiting for its disk.
    pub disk: f64,
}

/// Shares of the time by the limit of the connection's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConnectionShares {
    /// Slow start.
    pub slow_start: f64,
    /// Limited by the receive window.
    pub receive_window: f64,
    /// Limited by the send buffer.
    pub send_buffer: f64,
    /// Limited by the congestion window.
    pub congestion_window: f64,
}

impl ConnectionShares {
    /// Computes the shares from the kernel's clocks alone. The receive window gets the share `below` of the rest of
    /// `busy` ([`window_below_congestion`]), because the kernel counts a paced sender's pauses as no limit.
    #[must_use]
    pub fn of_clocks(busy: f64, receive_window: f64, send_buffer: f64, below: f64) -> Self {
        let rest = (busy - receive_window - send_buffer).max(0.0);
        Self {
            slow_start: 0.0,
            receive_window: receive_window + rest * below,
            send_buffer,
            congestion_window: rest * (1.0 - below),
        }
    }
}

/// Finds the limit of a transfer between these programs over this connection, and its share of the time.
#[must_use]
pub fn limit_of_transfer(
    sender: SenderShares,
    receiver: ReceiverShares,
    connection: ConnectionShares,
) -> (LimitedBy, f64) {
    let rest = |waits: f64| (1.0 - waits).max(0.0);
    if sender.network < SELDOM {
        largest(&[
            (LimitedBy::RateLimit, sender.limit),
            (LimitedBy::SendingDisk, sender.disk),
            (LimitedBy::Idle, sender.idle),
            (LimitedBy::SendingApplication, rest(sender.network + sender.disk + sender.limit + sender.idle)),
        ])
    } else if receiver.network < SELDOM {
        largest(&[
            (LimitedBy::ReceivingDisk, receiver.disk),
            (LimitedBy::ReceivingApplication, rest(receiver.network + receiver.disk)),
        ])
    } else {
        limit_of_connection(connection)
    }
}

/// Finds the limit of a connection whose programs were not the limit, and its share of the time.
#[must_use]
pub fn limit_of_connection(connection: ConnectionShares) -> (LimitedBy, f64) {
    largest(&[
        (LimitedBy::CongestionWindow, connection.congestion_window),
        (LimitedBy::SlowStart, connection.slow_start),
        (LimitedBy::ReceiveWindow, connection.receive_window),
        (LimitedBy::SendBuffer, connection.send_buffer),
    ])
}

/// Returns the share of the moments with a limited receive window in which the congestion window was no smaller.
/// Congestion control did not limit the sender in those moments. A moment is the limit of the receive window, `None`
/// without one, and the congestion window, zero if it is unknown. Returns zero if no moment has both.
#[must_use]
pub fn window_below_congestion(moments: impl IntoIterator<Item = (Option<Bytes>, Bytes)>) -> f64 {
    let (mut below, mut limited) = (0_u64, 0_u64);
    for (window, congestion) in moments {
        let Some(window) = window.filter(|_| congestion > Bytes::ZERO) else { continue };
        limited += 1;
        below += u64::from(congestion >= window);
    }
    if limited == 0 { 0.0 } else { below as f64 / limited as f64 }
}

/// Returns the largest part; of equal parts the first.
fn largest<const N: usize>(parts: &[(LimitedBy, f64); N]) -> (LimitedBy, f64) {
    const { assert!(N > 0) };
    parts[1..].iter().fold(parts[0], |a, &b| if b.1 > a.1 { b } else { a })
}
