//! The hosts at the ends of an emulated path: packets lost outside the queues, and time spent waiting for a processor.

#[cfg(feature = "kernel")]
use emu::{HostReport, PathReport};
use serde::{Deserialize, Serialize};

/// The hosts at both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hosts {
    /// The host of the program of `emulate`, and of the senders of `live`.
    pub near: HostSummary,
    /// The host of the server of `emulate`, and of the receivers of `live`.
    pub far: HostSummary,
}

/// One end over the whole run, warm-up included. The counters are the kernel's and cover all programs there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSummary {
    /// The share of time for which the longest-waiting thread waited for a processor; `None` where no program was
    /// watched.
    pub waited_share: Option<f64>,
    /// Datagrams lost in receiving sockets' buffers (`RcvbufErrors`).
    pub udp_rcvbuf_errors: u64,
    /// Calls that could not send a datagram (`SndbufErrors`).
    pub udp_sndbuf_errors: u64,
    /// Other datagrams that were not delivered (`InErrors` less `RcvbufErrors`).
    pub udp_other_errors: u64,
    /// Connections that found a listening socket's queue full (`ListenOverflows`).
    pub listen_overflows: u64,
    /// Other connections that a listening socket did not take (`ListenDrops` less `ListenOverflows`).
    pub listen_drops: u64,
    /// TCP segments lost while a program held the socket (`TCPBacklogDrop`).
    pub tcp_backlog_drops: u64,
    /// TCP segments without room in the receive buffer (`TCPRcvQDrop`, `TCPOFODrop`, `TCPZeroWindowDrop`).
    pub tcp_rcvbuf_drops: u64,
}

#[cfg(feature = "kernel")]
impl Hosts {
    /// Summarizes the ends of the path that made `report`.
    pub(crate) fn of(report: &PathReport) -> Self {
        let [near, far] = &report.hosts;
        Self { near: HostSummary::of(near), far: HostSummary::of(far) }
    }
}

impl HostSummary {
    #[cfg(feature = "kernel")]
    fn of(host: &HostReport) -> Self {
        let losses = &host.losses;
        Self {
            waited_share: host.waited_share(),
            udp_rcvbuf_errors: losses.udp_rcvbuf_errors,
            udp_sndbuf_errors: losses.udp_sndbuf_errors,
            udp_other_errors: losses.udp_other_errors,
            listen_overflows: losses.listen_overflows,
            listen_drops: losses.listen_drops,
            tcp_backlog_drops: losses.tcp_backlog_drops,
            tcp_rcvbuf_drops: losses.tcp_rcvbuf_drops,
        }
    }

    /// Returns the number of packets that the host lost, as opposed to a queue of the path.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.udp_rcvbuf_errors + self.udp_other_errors + self.tcp_backlog_drops + self.tcp_rcvbuf_drops
    }
}
