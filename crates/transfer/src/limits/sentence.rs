//! The sentences that say what limited a transfer and, where possible, how to change that.

use super::Limits;
use estimate::limits::{Advice, LimitedBy, advice};
use std::fmt;
use units::{Bytes, Rate};

/// The beginning of the setting `net.ipv4.tcp_wmem` with Linux's defaults. The greatest size follows it.
const WRITE_SIZES: &str = "net.ipv4.tcp_wmem=\"4096 16384";
/// The beginning of the setting `net.ipv4.tcp_rmem` with Linux's defaults. The greatest size follows it.
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
#[path = "../../tests/within/sentence.rs"]
mod tests;
