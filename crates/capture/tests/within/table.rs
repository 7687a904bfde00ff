//! The limits of the table of connections.

use super::*;

/// Returns a packet of a host to another with 100 bytes of payload.
fn segment(host: u32, round: u32) -> Segment {
    let end = |address: u32, port| End { address: std::net::Ipv4Addr::from(address).into(), port };
    Segment {
        at: u64::from(round) * 20_500_000 + u64::from(host) * 100,
        interface: 0,
        source: end(host, 1000),
        destination: end(u32::MAX, 80),
        size: 140,
        payload: 100,
        headers: 40,
        sequence: 1 + round * 100,
        acknowledgement: Some(1),
        window: 512,
        syn: false,
        fin: false,
        rst: false,
        echo: false,
        marked: false,
        id: 0,
        hops: 64,
        largest_segment: None,
        scale: None,
        stamps: None,
        blocks: [None; 4],
    }
}

#[test]
fn intervals_stay_within_their_limit_with_many_small_flows() {
    let mut table = Table::new();
    // Beyond the limit all intervals of all directions would be looked through for each packet.
    for round in 0..=FEW_INTERVALS as u32 {
        for host in 0..MOST_FLOWS as u32 {
            table.take(&segment(host, round));
            assert!(table.intervals <= ALL_INTERVALS, "{}", table.intervals);
        }
    }
    assert_eq!(table.flows, MOST_FLOWS);
}
