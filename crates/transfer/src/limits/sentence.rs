//! The sentences that say what limited a transfer and, where possible, how to change that.

use super::Limits;
use estimate::limits::{Advice, LimitedBy, advice};
use std::fmt;
use units::{Bytes, Rate};

/// The settings `net.ipv4.tcp_wmem` and `net.ipv4.tcp_rmem` up to their greatest size, with Linux's defaults.
const WRITE_SIZES: &str = "net.ipv4.tcp_wmem=\"4096 16384";
const READ_SIZES: &str = "net.ipv4.tcp_rmem=\"4096 131072";
/// Advice on how a setting survives a restart.
const LASTS: &str = "a file in /etc/sysctl.d with that setting makes it last";

/// The verdict as one sentence for a person, and the advice.
impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.share * 100.0).round();
        let lost = match self.retransmits {
            0 => "nothing was sent again".to_owned(),
            1 => "1 segment was sent again".to_owned(),
            count => format!("{count} segments were sent again"),
        };
        let way_out = advice(self.limited_by, &self.measured);
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
            LimitedBy::SlowStart => {
                let round_trip = self.measured.least_rtt.rounded();
                let until = if self.retransmits > 0 { "" } else { ", and nothing was lost" };
                let need = match way_out {
                    Advice::Rounds(rounds) if self.measured.streams == 1 => {
                        let all = self.measured.bytes.rounded();
                        format!(" From ten segments on, {all} need {rounds} round trips of {round_trip}.")
                    }
                    _ => String::new(),
                };
                write!(
                    formatter,
                    "It was limited by slow start, not by the path: {percent} % of the time the window still grew{until}.{need}"
                )
            }
            LimitedBy::ReceiveWindow if self.sized => write!(
                formatter,
                "It was limited by the receive window, as intended when the window fits the path: {percent} % of the time; \
                 {lost}."
            ),
            LimitedBy::ReceiveWindow => write!(
                formatter,
                "It was limited by the largest receive window that the receiver's kernel grants: {percent} % of the time.{}",
                AdviceText(way_out)
            ),
            LimitedBy::SendBuffer => {
                write!(
                    formatter,
                    "It was limited by the send buffer: {percent} % of the time.{}",
                    AdviceText(way_out)
                )
            }
            LimitedBy::CongestionWindow => self.path(formatter, way_out, percent, &lost),
        }
    }
}

impl Limits {
    /// Writes the verdict for the congestion window: whether the path limited it depends on losses and on the queue.
    fn path(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        way_out: Advice,
        percent: f64,
        lost: &str,
    ) -> fmt::Result {
        let known = self.measured.mean_rtt.min(self.measured.least_rtt) > units::Span::ZERO;
        let queue = if known {
            let (least, mean) = (self.measured.least_rtt.rounded(), self.measured.mean_rtt.rounded());
            format!("; the RTT was {mean} in the mean, {least} at least")
        } else {
            String::new()
        };
        match way_out {
            _ if self.measured.rate_based => {
                let lost = if self.retransmits > 0 {
                    format!("{lost}, which does not reduce the rate of this congestion control")
                } else {
                    lost.to_owned()
                };
                write!(
                    formatter,
                    "It was limited by the path, at the rate that congestion control measured: {percent} % of the time; \
                     {lost}."
                )
            }
            Advice::OtherControl => write!(
                formatter,
                "It was limited by the congestion window, which losses reduce: {percent} % of the time; {lost} though no \
                 queue stood. --control bbr, where the kernel has it, is not reduced by each loss."
            ),
            Advice::Room => write!(
                formatter,
                "It was limited by the congestion window: {percent} % of the time; {lost}, and no queue stood, so the path \
                 had room."
            ),
            _ if self.retransmits > 0 => write!(
                formatter,
                "It was limited by the path, through the congestion window, which losses reduce: {percent} % of the time; \
                 {lost}{queue}."
            ),
            _ => write!(
                formatter,
                "It was limited by the path, through the congestion window: {percent} % of the time; {lost}{queue}."
            ),
        }
    }
}

/// The advice, as further sentences.
struct AdviceText(Advice);

impl fmt::Display for AdviceText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Advice::Streams(streams, rate, buffer) => {
                let (rate, buffer): (Rate, Bytes) = (rate, buffer);
                write!(
                    formatter,
                    " --streams {streams} would have up to {}, if the path has as much. For one stream raise it at the \
                     sender: sysctl -w {WRITE_SIZES} {}\"; {LASTS}.",
                    rate.rounded(),
                    buffer.get()
                )
            }
            Advice::ReceiveBuffer(buffer) => write!(
                formatter,
                " Raise it at the receiver: sysctl -w {READ_SIZES} {}\"; {LASTS}.",
                buffer.get()
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::*;
    use units::Rate;

    const SECOND: u64 = 1_000_000_000;

    fn times(limits: LimitTimes) -> Times {
        Times {
            sender: SenderTimes { network: 40 * SECOND, ..SenderTimes::default() },
            receiver: ReceiverTimes { network: 40 * SECOND, disk: SECOND },
            kernel: KernelTimes { busy: 40 * SECOND, window: 30 * SECOND, buffer: 0 },
            limits: Some(LimitTimes { lived: 40 * SECOND, ..limits }),
            window_below_congestion: 0.0,
            sized: true,
        }
    }

    fn measured() -> Measured {
        Measured {
            bytes: units::Bytes::new(400_000_000),
            goodput: Rate::from_bps(120_000_000),
            streams: 1,
            least_rtt: Span::from_millis(150),
            mean_rtt: Span::from_millis(151),
            segment: units::Bytes::new(1448),
            ..Measured::default()
        }
    }

    fn sentence_of(limits: LimitTimes, measured: Measured) -> String {
        Limits::new(Span::from_secs(40), &times(limits), measured).to_string()
    }

    #[test]
    fn shares_are_of_all_connections_and_the_sentence_says_them() {
        let four = Measured { streams: 4, ..measured() };
        let limits =
            Limits::new(Span::from_secs(10), &Times { limits: None, ..times(LimitTimes::default()) }, four);
        assert_eq!((limits.receive_window, limits.sender_network), (0.75, 1.0));
        let json = serde_json::to_value(limits).unwrap();
        assert_eq!(json["limited_by"], "receive-window");
        let text = limits.to_string();
        assert!(text.contains("receive window, as intended") && text.contains("75 %"), "{text}");
    }

    #[test]
    fn a_moment_says_nothing() {
        let limits = Limits::new(Span::from_millis(50), &Times::default(), Measured::default());
        assert_eq!(limits.limited_by, LimitedBy::TooShort);
    }

    #[test]
    fn slow_start_is_not_the_path() {
        let ten = Measured { bytes: units::Bytes::new(10_000_000), ..measured() };
        let text = sentence_of(LimitTimes { slow_start: 30 * SECOND, ..LimitTimes::default() }, ten);
        assert!(text.contains("by slow start, not by the path: 75 %"), "{text}");
        assert!(text.contains("10 MB need 10 round trips of 150 ms"), "{text}");
    }

    #[test]
    fn a_full_send_buffer_comes_with_streams_and_a_setting() {
        let text = sentence_of(LimitTimes { buffer: 30 * SECOND, ..LimitTimes::default() }, measured());
        for words in [
            "--streams 8 would have up to 960 Mbit/s",
            "net.ipv4.tcp_wmem=\"4096 16384 67108864\"",
            "/etc/sysctl.d",
        ] {
            assert!(text.contains(words), "{words:?}: {text}");
        }
    }

    #[test]
    fn losses_do_not_reduce_a_rate_based_control_and_reduce_others() {
        let path = LimitTimes { congestion: 30 * SECOND, ..LimitTimes::default() };
        let lossy = Measured { retransmits: 3, ..measured() };
        let bbr = sentence_of(path, Measured { rate_based: true, ..lossy });
        assert!(
            bbr.contains("3 segments were sent again, which does not reduce") && !bbr.contains("--control"),
            "{bbr}"
        );
        let random = sentence_of(path, lossy);
        assert!(random.contains("losses reduce") && random.contains("--control bbr"), "{random}");
        let full = sentence_of(path, Measured { mean_rtt: Span::from_millis(190), ..lossy });
        assert!(
            full.contains("by the path") && full.contains("3 segments") && full.contains("190 ms"),
            "{full}"
        );
        let idle = sentence_of(path, measured());
        assert!(idle.contains("the path had room") && !idle.contains("by the path"), "{idle}");
    }
}
