//! [`HostLosses`]: losses of the hosts of a network namespace, which are not drops by a queue of a path.
//!
//! The kernel counts these losses for a namespace, not for a socket. `ss` and `iperf3` do not show them.

use std::collections::HashMap;
use std::fs;
use std::io;

/// Counters of one network namespace since it was made, by the kernel's names (`nstat -az` prints them).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostLosses {
    /// Datagrams that found the receiving socket's buffer full: `RcvbufErrors` of UDP, over IPv4 and IPv6.
    pub udp_rcvbuf_errors: u64,
    /// Calls that could not send a datagram, because the socket's send buffer or the device's queue was full:
    /// `SndbufErrors` of UDP. A program that waits and repeats the call has lost nothing.
    pub udp_sndbuf_errors: u64,
    /// Other datagrams that were not delivered, because memory was lacking or the checksum was wrong: `InErrors` of UDP
    /// less `RcvbufErrors`.
    pub udp_other_errors: u64,
    /// Connections that found the queue of a listening socket full: `ListenOverflows`.
    pub listen_overflows: u64,
    /// Connections that a listening socket did not accept for any other reason: `ListenDrops` less `ListenOverflows`.
    pub listen_drops: u64,
    /// TCP segments that arrived while the program held the socket, and found its backlog full: `TCPBacklogDrop`.
    pub tcp_backlog_drops: u64,
    /// TCP segments for which the receive buffer had no room: `TCPRcvQDrop`, `TCPOFODrop`, `TCPZeroWindowDrop`.
    pub tcp_rcvbuf_drops: u64,
}

impl HostLosses {
    /// Counters without any loss.
    pub const NONE: Self = Self {
        udp_rcvbuf_errors: 0,
        udp_sndbuf_errors: 0,
        udp_other_errors: 0,
        listen_overflows: 0,
        listen_drops: 0,
        tcp_backlog_drops: 0,
        tcp_rcvbuf_drops: 0,
    };

    /// Reads the counters of the calling thread's namespace.
    ///
    /// # Errors
    /// If `/proc` does not have them. A kernel without IPv6 has no counters of it, which is not an error.
    pub fn here() -> io::Result<Self> {
        let file = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
        Ok(Self::read(&file("snmp")?, &file("snmp6").unwrap_or_default(), &file("netstat")?))
    }

    /// Reads the counters in the texts of `/proc/net/snmp`, `snmp6` and `netstat`. A missing counter is zero.
    fn read(snmp: &str, snmp6: &str, netstat: &str) -> Self {
        let (snmp, netstat, six) = (tables(snmp), tables(netstat), list(snmp6));
        let udp = |name: &str| {
            let four = snmp.get(&("Udp", name)).copied().unwrap_or_default();
            four + six.get(format!("Udp6{name}").as_str()).copied().unwrap_or_default()
        };
        let tcp = |name: &str| netstat.get(&("TcpExt", name)).copied().unwrap_or_default();
        let full = udp("RcvbufErrors");
        let overflows = tcp("ListenOverflows");
        Self {
            udp_rcvbuf_errors: full,
            udp_sndbuf_errors: udp("SndbufErrors"),
            udp_other_errors: udp("InErrors").saturating_sub(full),
            listen_overflows: overflows,
            listen_drops: tcp("ListenDrops").saturating_sub(overflows),
            tcp_backlog_drops: tcp("TCPBacklogDrop"),
            tcp_rcvbuf_drops: tcp("TCPRcvQDrop") + tcp("TCPOFODrop") + tcp("TCPZeroWindowDrop"),
        }
    }

    /// Returns the increase of each counter since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let less = u64::saturating_sub;
        Self {
            udp_rcvbuf_errors: less(self.udp_rcvbuf_errors, earlier.udp_rcvbuf_errors),
            udp_sndbuf_errors: less(self.udp_sndbuf_errors, earlier.udp_sndbuf_errors),
            udp_other_errors: less(self.udp_other_errors, earlier.udp_other_errors),
            listen_overflows: less(self.listen_overflows, earlier.listen_overflows),
            listen_drops: less(self.listen_drops, earlier.listen_drops),
            tcp_backlog_drops: less(self.tcp_backlog_drops, earlier.tcp_backlog_drops),
            tcp_rcvbuf_drops: less(self.tcp_rcvbuf_drops, earlier.tcp_rcvbuf_drops),
        }
    }
}

/// Reads numbers by the names of their line and column: each line of names is followed by one of numbers.
fn tables(text: &str) -> HashMap<(&str, &str), u64> {
    let mut found = HashMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let (Some((table, names)), Some((other, numbers))) = (names.split_once(':'), numbers.split_once(':'))
        else {
            continue;
        };
        if table != other {
            continue;
        }
        for (name, number) in names.split_whitespace().zip(numbers.split_whitespace()) {
            // MaxConn of Tcp is -1.
            found.extend(number.parse().ok().map(|number| ((table, name), number)));
        }
    }
    found
}

/// Reads numbers by name, one on each line.
fn list(text: &str) -> HashMap<&str, u64> {
    let line = |line| {
        let (name, number) = str::split_once(line, char::is_whitespace)?;
        Some((name, number.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
#[path = "../tests/within/losses.rs"]
mod tests;
