//! Where a transfer's time went on both sides, and the sentence that says what limited it. The verdict is in
//! `estimate/src/limits.rs`.

use estimate::limits::{ConnectionShares, LimitedBy, ReceiverShares, SenderShares, limit_of_transfer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
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

/// Where the data connections spent their time according to the sender's kernel, nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTimes {
    /// With data in flight or waiting.
    pub busy: u64,
    /// Of that, held back by the receive window.
    pub window: u64,
    /// Of that, held back by the send buffer.
    pub buffer: u64,
    /// Segments sent again.
    pub retransmits: u64,
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
    /// The receive window held them back.
    pub receive_window: f64,
    /// The send buffer did.
    pub send_buffer: f64,
    /// Of the time with a limited receive window, the share in which the congestion window was no smaller. In that
    /// time the receive window or its pace limited the sender, not congestion control.
    pub window_below_congestion: f64,
    /// Segments sent again.
    pub retransmits: u64,
    /// SOBAS or a fixed size limits the receive window on purpose.
    #[serde(skip)]
    pub sized: bool,
}

impl Limits {
    /// The verdict on a transfer over `streams` data connections that took `elapsed`. `sized` means that the receive
    /// window is kept below the kernel's maximum on purpose. `window_below_congestion` is as in
    /// [`History::window_below_congestion`](crate::History::window_below_congestion).
    #[must_use]
    pub fn new(
        elapsed: Span,
        streams: usize,
        sender: SenderTimes,
        receiver: ReceiverTimes,
        kernel: KernelTimes,
        sized: bool,
        window_below_congestion: f64,
    ) -> Self {
        let whole = elapsed.as_nanos() as f64 * streams.max(1) as f64;
        let share = |nanos: u64| if whole > 0.0 { (nanos as f64 / whole).min(1.0) } else { 0.0 };
        let mut limits = Self {
            limited_by: LimitedBy::TooShort,
            share: 1.0,
            sender_network: share(sender.network),
            sender_disk: share(sender.disk),
            sender_limit: share(sender.limit),
            sender_idle: share(sender.idle),
            receiver_network: share(receiver.network),
            receiver_disk: share(receiver.disk),
            busy: share(kernel.busy),
            receive_window: share(kernel.window),
            send_buffer: share(kernel.buffer),
            window_below_congestion,
            retransmits: kernel.retransmits,
            sized,
        };
        if elapsed >= SHORT {
            (limits.limited_by, limits.share) = limits.verdict();
        }
        limits
    }

    fn verdict(&self) -> (LimitedBy, f64) {
        let sender = SenderShares {
            network: self.sender_network,
            disk: self.sender_disk,
            limit: self.sender_limit,
            idle: self.sender_idle,
        };
        let receiver = ReceiverShares { network: self.receiver_network, disk: self.receiver_disk };
        let connection = ConnectionShares {
            busy: self.busy,
            receive_window: self.receive_window,
            send_buffer: self.send_buffer,
            window_below_congestion: self.window_below_congestion,
        };
        limit_of_transfer(sender, receiver, connection)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn name<S: Serializer>(limit: &LimitedBy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(limit.name())
}

/// One sentence for a person.
impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.share * 100.0).round();
        let lost = match self.retransmits {
            0 => "nothing was sent again".to_owned(),
            1 => "1 segment was sent again".to_owned(),
            count => format!("{count} segments were sent again"),
        };
        match self.limited_by {
            LimitedBy::TooShort => write!(formatter, "It was over too soon to say what limited it."),
            LimitedBy::RateLimit => {
                write!(formatter, "It was limited by --limit: {percent} % of the time the sender kept to it.")
            }
            LimitedBy::SendingDisk => write!(
                formatter,
                "It was limited by the sender's disk: reading took {percent} % of the time."
            ),
            LimitedBy::Idle => write!(
                formatter,
                "It was limited by finding files and by the receiver's answers: {percent} % of the time there was nothing \
                 to send."
            ),
            LimitedBy::SendingApplication => write!(
                formatter,
                "It was limited by the sender's processor: hashing, encrypting and handing over took {percent} % of the \
                 time."
            ),
            LimitedBy::ReceivingDisk => write!(
                formatter,
                "It was limited by the receiver's disk: writing took {percent} % of the time."
            ),
            LimitedBy::ReceivingApplication => write!(
                formatter,
                "It was limited by the receiver's processor: decrypting and verifying took {percent} % of the time."
            ),
            LimitedBy::ReceiveWindow if self.sized => write!(
                formatter,
                "It was limited by the receive window, as intended when the window fits the path: {percent} % of the time; \
                 {lost}."
            ),
            LimitedBy::ReceiveWindow => write!(
                formatter,
                "It was limited by the largest receive window this kernel grants: {percent} % of the time; raise \
                 net.ipv4.tcp_rmem at the receiver."
            ),
            LimitedBy::SendBuffer => write!(
                formatter,
                "It was limited by the send buffer: {percent} % of the time; raise net.ipv4.tcp_wmem at the sender."
            ),
            LimitedBy::CongestionWindow if self.retransmits > 0 => write!(
                formatter,
                "It was limited by the congestion window, which losses reduce: {percent} % of the time; {lost}."
            ),
            LimitedBy::CongestionWindow => write!(
                formatter,
                "It was limited by the path, through the congestion window: {percent} % of the time; {lost}."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn shares_are_of_all_connections_and_the_sentence_says_them() {
        let sender = SenderTimes { network: 40 * SECOND, ..SenderTimes::default() };
        let receiver = ReceiverTimes { network: 40 * SECOND, disk: SECOND };
        let kernel = KernelTimes { busy: 40 * SECOND, window: 30 * SECOND, buffer: 0, retransmits: 0 };
        let limits = Limits::new(Span::from_secs(10), 4, sender, receiver, kernel, true, 0.0);
        assert_eq!((limits.receive_window, limits.sender_network), (0.75, 1.0));
        let json = serde_json::to_value(limits).unwrap();
        assert_eq!(json["limited_by"], "receive-window");
        assert!(
            limits.to_string().contains("receive window, as intended") && limits.to_string().contains("75 %")
        );
        let kernel = KernelTimes { window: 0, retransmits: 3, ..kernel };
        let lossy = Limits::new(Span::from_secs(10), 4, sender, receiver, kernel, true, 0.0).to_string();
        assert!(lossy.contains("losses") && lossy.contains("3 segments"), "{lossy}");
    }

    #[test]
    fn a_moment_says_nothing() {
        let kernel = KernelTimes::default();
        let limits = Limits::new(
            Span::from_millis(50),
            1,
            SenderTimes::default(),
            ReceiverTimes::default(),
            kernel,
            true,
            0.0,
        );
        assert_eq!(limits.limited_by, LimitedBy::TooShort);
    }
}
