//! Amounts for people, places of hosts, and commands to paste.

use super::{Case, End};
use estimate::diagnosis::{HostSettings, Vantage};
use units::{Bytes, Rate, Span};

/// Buffers are proposed in multiples of this.
const STEP: u64 = 128 << 10;
/// The largest value of these settings: the kernel has them as signed numbers of 32 bits.
const LARGEST_VALUE: u64 = i32::MAX as u64;
/// The defaults of Linux for the largest buffers, below which no host should go. From 6.16 on the first is 32 MiB.
const RECEIVE_DEFAULT: Bytes = Bytes::new(6 << 20);
const SEND_DEFAULT: Bytes = Bytes::new(4 << 20);

/// Returns a rate in bits per second with three digits.
pub(super) fn rate(bps: f64) -> String {
    Rate::from_bps_f64(bps).rounded()
}

/// Returns a time in seconds with two digits; below a tenth of a millisecond it is "under 0.1 ms".
pub(super) fn delay(seconds: f64) -> String {
    if seconds < 1e-4 {
        return "under 0.1 ms".to_owned();
    }
    let digits = libm::pow(10.0, libm::log10(seconds).floor() - 1.0);
    Span::from_secs_f64((seconds / digits).round() * digits).rounded()
}

impl Case<'_> {
    /// Returns true if the proposal is read at this end.
    fn is_at(&self, end: End) -> bool {
        match (self.subject.here, self.evidence.vantage) {
            (Some(here), _) => here == end,
            (None, Vantage::SenderSocket) => end == End::Sender,
            (None, Vantage::ReceiverSocket) => end == End::Receiver,
            (None, _) => false,
        }
    }

    /// Returns the place of the receiver: "here", or its address.
    pub(super) fn receiver(&self) -> String {
        if self.is_at(End::Receiver) {
            return "here".to_owned();
        }
        format!("at the receiver {}", self.evidence.direction.destination.ip())
    }

    /// Returns the place of the sender: "here", or its address.
    pub(super) fn sender(&self) -> String {
        if self.is_at(End::Sender) {
            return "here".to_owned();
        }
        format!("at the sender {}", self.evidence.direction.source.ip())
    }

    /// Returns the settings of the receiver, if its socket was watched.
    pub(super) fn receiver_settings(&self) -> Option<HostSettings> {
        // At a sender's socket, only a receiver on the same host shows what sizes its window.
        let seen = match self.evidence.vantage {
            Vantage::SenderSocket => self.subject.here.is_none() && self.evidence.sizing.is_some(),
            vantage => vantage == Vantage::ReceiverSocket,
        };
        self.evidence.host.filter(|_| seen)
    }

    /// Returns the settings of the sender, if its socket was watched.
    pub(super) fn sender_settings(&self) -> Option<HostSettings> {
        self.evidence.host.filter(|_| self.evidence.vantage == Vantage::SenderSocket)
    }

    /// Returns the command that sizes the window of the receiving program.
    pub(super) fn tune(&self) -> String {
        let pid = self
            .subject
            .pid
            .filter(|_| self.is_at(End::Receiver))
            .map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
        format!("tightlink tune --pid {pid}")
    }

    /// Returns "100 Mbit/s over 80 ms".
    pub(super) fn over(&self, rate: Rate) -> String {
        format!("{} over {}", rate.rounded(), self.path.round_trip.rounded())
    }
}

/// Returns the command for a setting.
pub(super) fn set(setting: &str) -> String {
    format!("sysctl -w {setting}")
}

/// Returns the setting that lets the kernel's receive buffers grow to `size`, or to Linux's default if that is more. Its
/// other numbers stay.
pub(super) fn receive_memory(size: Bytes, settings: Option<&HostSettings>) -> String {
    let usual = [Bytes::new(4096), Bytes::new(131_072), RECEIVE_DEFAULT];
    let now = settings.map_or(usual, |settings| settings.receive_memory);
    format!("net.ipv4.tcp_rmem=\"{}\"", memory(size.max(RECEIVE_DEFAULT), now))
}

/// Returns the setting that lets the kernel's send buffers grow to `size`, or to Linux's default if that is more. Its
/// other numbers stay.
pub(super) fn send_memory(size: Bytes, settings: Option<&HostSettings>) -> String {
    let usual = [Bytes::new(4096), Bytes::new(16_384), SEND_DEFAULT];
    let now = settings.map_or(usual, |settings| settings.send_memory);
    format!("net.ipv4.tcp_wmem=\"{}\"", memory(size.max(SEND_DEFAULT), now))
}

/// Returns the three numbers of a setting whose largest becomes `size`.
fn memory(size: Bytes, [least, first, largest]: [Bytes; 3]) -> String {
    format!("{} {} {}", least.get(), first.get(), in_steps(size).max(largest.get()))
}

/// Rounds a buffer up to a whole number of steps.
pub(super) fn in_steps(size: Bytes) -> u64 {
    (size.get().div_ceil(STEP) * STEP).min(LARGEST_VALUE)
}
