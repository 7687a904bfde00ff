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

    /// Returns the same counters, counted from `earlier` on.
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
mod tests {
    use super::*;
    use std::net::UdpSocket;

    /// The file of Linux 6.18, shortened.
    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 2 64\n\
        Tcp: RtoAlgorithm RtoMin RtoMax MaxConn\nTcp: 1 200 120000 -1\n\
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors\n\
        Udp: 92 1 1120 1200 1108 3 7 0 5\n\
        UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdpLite: 0 0 9 0 9 9\n";
    const SNMP6: &str = "Ip6InReceives                   \t4\nUdp6InErrors                    \t20\n\
        Udp6RcvbufErrors                \t18\nUdp6SndbufErrors                \t2\nUdpLite6RcvbufErrors            \t9\n";
    const NETSTAT: &str = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPBacklogDrop TCPRcvQDrop TCPOFODrop\n\
        TcpExt: 0 11 14 6 4 1\nIpExt: InNoRoutes ListenDrops\nIpExt: 0 99\n";

    #[test]
    fn the_counters_of_both_families_are_summed_and_none_is_counted_twice() {
        let read = HostLosses::read(SNMP, SNMP6, NETSTAT);
        let right = HostLosses {
            udp_rcvbuf_errors: 1108 + 18,
            udp_sndbuf_errors: 5,
            udp_other_errors: 12 + 2,
            listen_overflows: 11,
            listen_drops: 3,
            tcp_backlog_drops: 6,
            tcp_rcvbuf_drops: 5,
        };
        assert_eq!(read, right);
        let earlier = HostLosses { udp_rcvbuf_errors: 26, listen_drops: 9, ..HostLosses::default() };
        let since = read.since(earlier);
        assert_eq!(
            (since.udp_rcvbuf_errors, since.listen_drops),
            (1100, 0),
            "a counter does not go below zero"
        );
    }

    #[test]
    fn other_columns_and_missing_files_are_no_losses() {
        assert_eq!(HostLosses::read("", "", ""), HostLosses::default());
        // An old kernel has fewer columns, in another order.
        let old = HostLosses::read(
            "Udp: RcvbufErrors InErrors\nUdp: 2 3\n",
            "",
            "TcpExt: ListenDrops\nTcpExt: 8\n",
        );
        assert_eq!((old.udp_rcvbuf_errors, old.udp_other_errors, old.listen_drops), (2, 1, 8));
        for text in
            ["Udp: RcvbufErrors\n", "Udp: RcvbufErrors\nTcp: 4\n", "Udp RcvbufErrors\nUdp 4\n", "\n\n\n"]
        {
            assert_eq!(HostLosses::read(text, text, text), HostLosses::default(), "{text:?}");
        }
    }

    #[test]
    fn a_datagram_for_a_full_socket_is_counted() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let before = HostLosses::here().expect("/proc is there");
        // Ten times the data that the default buffer holds.
        for _ in 0..2000 {
            sender.send_to(&[0; 1400], receiver.local_addr().expect("bound")).expect("loopback takes it");
        }
        let since = HostLosses::here().expect("/proc is there").since(before);
        assert!(since.udp_rcvbuf_errors > 100, "{since:?}");
    }
}
