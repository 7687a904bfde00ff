//! Tests of the counters of `/proc/net`.

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
    assert_eq!((since.udp_rcvbuf_errors, since.listen_drops), (1100, 0), "a counter does not go below zero");
}

#[test]
fn other_columns_and_missing_files_are_no_losses() {
    assert_eq!(HostLosses::read("", "", ""), HostLosses::default());
    // An old kernel has fewer columns, in another order.
    let old =
        HostLosses::read("Udp: RcvbufErrors InErrors\nUdp: 2 3\n", "", "TcpExt: ListenDrops\nTcpExt: 8\n");
    assert_eq!((old.udp_rcvbuf_errors, old.udp_other_errors, old.listen_drops), (2, 1, 8));
    for text in ["Udp: RcvbufErrors\n", "Udp: RcvbufErrors\nTcp: 4\n", "Udp RcvbufErrors\nUdp 4\n", "\n\n\n"]
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
