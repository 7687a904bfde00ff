//! [`Limits`]: where a transfer's time went on both sides, and what limited it. The verdict is reached in
//! `estimate/src/limits.rs`; `limits/sentence.rs` puts it into words.

mod sentence;

use estimate::limits::{
    ConnectionShares, LimitedBy, Measured, ReceiverShares, SenderShares, limit_of_transfer,
};
use serde::{Deserialize, Serialize, Serializer};
use units::Span;

/// The shortest transfer for which a verdict is given.
const SHORT: Span = Span::from_millis(200);

/// The time of the sender's data connections by activity, in nanoseconds, summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderTimes {
    /// Time spent waiting until the network took more data, and at the end until the receiver had stored everything.
    pub network: u64,
    /// Time spent reading files.
    pub disk: u64,
    /// Time spent waiting because of `--limit`.
    pub limit: u64,
    /// Time without anything to send.
    pub idle: u64,
}

/// The time of the receiver's data connections by activity, in nanoseconds, summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverTimes {
    /// Time spent waiting until the network brought more data.
    pub network: u64,
    /// Time spent writing files, and at the end until all of them were on the disk.
    pub disk: u64,
}

/// Times in which the sender saw its data connections limited, by cause, in nanoseconds, summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitTimes {
    /// The connections' lifetime.
    pub lived: u64,
    /// Time limited by slow start.
    pub slow_start: u64,
    /// Time limited by the receive window.
    pub window: u64,
    /// Time limited by the send buffer.
    pub buffer: u64,
    /// Time limited by the congestion window.
    pub congestion: u64,
}

/// Times of the data connections according to the sender's kernel, in nanoseconds, summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTimes {
    /// Time with data in flight or waiting.
    pub busy: u64,
    /// The part of `busy` limited by the receive window.
    pub window: u64,
    /// The part of `busy` limited by the send buffer.
    pub buffer: u64,
}

/// The measurements on which a verdict rests, as shares of the transfer's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// The verdict.
    #[serde(serialize_with = "name")]
    pub limited_by: LimitedBy,
    /// The share of time for which the verdict holds.
    pub share: f64,
    /// The sender's wait for the network.
    pub sender_network: f64,
    /// The sender's wait for its disk.
    pub sender_disk: f64,
    /// The sender's wait because of `--limit`.
    pub sender_limit: f64,
    /// The sender's time without anything to send.
    pub sender_idle: f64,
    /// The receiver's wait for the network.
    pub receiver_network: f64,
    /// The receiver's wait for its disk.
    pub receiver_disk: f64,
    /// Time in which the connections had data in flight or waiting.
    pub busy: f64,
    /// Time in slow start.
    pub slow_start: f64,
    /// Time in which the receive window limited the connections.
    pub receive_window: f64,
    /// Time in which the send buffer limited the connections.
    pub send_buffer: f64,
    /// Time in which the congestion window, or the rate that congestion control measures, limited the connections.
    pub congestion_window: f64,
    /// The share of the time with a limited receive window in which the congestion window was not smaller than that
    /// window. In that time the receive window or its pace limited the sender, not congestion control.
    pub window_below_congestion: f64,
    /// The number of retransmitted segments.
    pub retransmits: u64,
    /// True if SOBAS or a fixed size limits the receive window on purpose.
    #[serde(skip)]
    pub sized: bool,
    /// Further measurements that the sentence quotes.
    #[serde(skip)]
    pub measured: Measured,
}

/// The times that both sides report of a transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) sender: SenderTimes,
    pub(crate) receiver: ReceiverTimes,
    pub(crate) kernel: KernelTimes,
    /// The sender's own account, if it keeps one.
    pub(crate) limits: Option<LimitTimes>,
    /// As in [`History::window_below_congestion`](crate::History::window_below_congestion).
    pub(crate) window_below_congestion: f64,
    /// True if the receive window is kept below the kernel's maximum on purpose.
    pub(crate) sized: bool,
}

impl Limits {
    /// Computes the verdict on a transfer that took `elapsed`.
    pub(crate) fn new(elapsed: Span, times: &Times, measured: Measured) -> Self {
        let Times { sender, receiver, kernel, limits: account, window_below_congestion: below, sized } =
            *times;
        let every = elapsed.as_nanos() as f64 * measured.streams.max(1) as f64;
        let whole = account.map_or(every, |account| account.lived as f64);
        let share = |nanos: u64| if whole > 0.0 { (nanos as f64 / whole).min(1.0) } else { 0.0 };
        let (busy, window, buffer) = (share(kernel.busy), share(kernel.window), share(kernel.buffer));
        let connection = account.map_or_else(
            || ConnectionShares::of_clocks(busy, window, buffer, below),
            |account| ConnectionShares {
                slow_start: share(account.slow_start),
                receive_window: share(account.window),
                send_buffer: share(account.buffer),
                congestion_window: share(account.congestion),
            },
        );
        let sender_shares = SenderShares {
            network: share(sender.network),
            disk: share(sender.disk),
            limit: share(sender.limit),
            idle: share(sender.idle),
        };
        let receiver_shares = ReceiverShares { network: share(receiver.network), disk: share(receiver.disk) };
        let (limited_by, part) = if elapsed >= SHORT {
            limit_of_transfer(sender_shares, receiver_shares, connection)
        } else {
            (LimitedBy::TooShort, 1.0)
        };
        Self {
            limited_by,
            share: part,
            sender_network: sender_shares.network,
            sender_disk: sender_shares.disk,
            sender_limit: sender_shares.limit,
            sender_idle: sender_shares.idle,
            receiver_network: receiver_shares.network,
            receiver_disk: receiver_shares.disk,
            busy,
            slow_start: connection.slow_start,
            receive_window: connection.receive_window,
            send_buffer: connection.send_buffer,
            congestion_window: connection.congestion_window,
            window_below_congestion: below,
            retransmits: measured.retransmits,
            sized,
            measured,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn name<S: Serializer>(limit: &LimitedBy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(limit.name())
}
