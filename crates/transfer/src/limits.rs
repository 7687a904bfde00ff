//! Where a transfer's time went on both sides, and the sentence that says what limited it. The verdict is in
//! `estimate/src/limits.rs`, `limits/sentence.rs` has the words.

mod sentence;

use estimate::limits::{
    ConnectionShares, LimitedBy, Measured, ReceiverShares, SenderShares, limit_of_transfer,
};
use serde::{Deserialize, Serialize, Serializer};
use units::Span;

/// Below this nothing can be said.
const SHORT: Span = Span::from_millis(200);

/// Where the sender's data connections spent their time, nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderTimes {
    /// Until the network took more, and at the end until the receiver had stored all.
    pub network: u64,
    /// In reading files.
    pub disk: u64,
    /// For what `--limit` allows.
    pub limit: u64,
    /// Without anything to send.
    pub idle: u64,
}

/// Where the receiver's data connections spent their time, nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverTimes {
    /// Until the network brought more.
    pub network: u64,
    /// In writing files, and at the end until all of them lay on the disk.
    pub disk: u64,
}

/// What limited the data connections according to their sender, nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitTimes {
    /// For how long they were there.
    pub lived: u64,
    /// Slow start.
    pub slow_start: u64,
    /// The receive window.
    pub window: u64,
    /// The send buffer.
    pub buffer: u64,
    /// The congestion window.
    pub congestion: u64,
}

/// Where the data connections spent their time according to the sender's kernel, nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTimes {
    /// With data in flight or waiting.
    pub busy: u64,
    /// Of that, held back by the receive window.
    pub window: u64,
    /// Of that, held back by the send buffer.
    pub buffer: u64,
}

/// The measurements a verdict rests on, as shares of the transfer's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// The verdict.
    #[serde(serialize_with = "name")]
    pub limited_by: LimitedBy,
    /// Its share.
    pub share: f64,
    /// The sender waited for the network.
    pub sender_network: f64,
    /// It waited for its disk.
    pub sender_disk: f64,
    /// It kept to a limit.
    pub sender_limit: f64,
    /// It had nothing to send.
    pub sender_idle: f64,
    /// The receiver waited for the network.
    pub receiver_network: f64,
    /// It waited for its disk.
    pub receiver_disk: f64,
    /// The connections had data in flight or waiting.
    pub busy: f64,
    /// Slow start went on.
    pub slow_start: f64,
    /// The receive window held them back.
    pub receive_window: f64,
    /// The send buffer did.
    pub send_buffer: f64,
    /// The congestion window did, or the rate that congestion control measures.
    pub congestion_window: f64,
    /// Of the time with a limited receive window, the share in which the congestion window was no smaller. In that
    /// time the receive window or its pace limited the sender, not congestion control.
    pub window_below_congestion: f64,
    /// Segments sent again.
    pub retransmits: u64,
    /// SOBAS or a fixed size limits the receive window on purpose.
    #[serde(skip)]
    pub sized: bool,
    /// What the sentence needs besides.
    #[serde(skip)]
    pub measured: Measured,
}

/// What both sides say of a transfer's time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) sender: SenderTimes,
    pub(crate) receiver: ReceiverTimes,
    pub(crate) kernel: KernelTimes,
    /// From a sender that keeps account.
    pub(crate) limits: Option<LimitTimes>,
    /// As in [`History::window_below_congestion`](crate::History::window_below_congestion).
    pub(crate) window_below_congestion: f64,
    /// The receive window is kept below the kernel's maximum on purpose.
    pub(crate) sized: bool,
}

impl Limits {
    /// The verdict on a transfer that took `elapsed`.
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
