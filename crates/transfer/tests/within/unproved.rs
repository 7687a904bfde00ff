//! Tests of the connections that have not proved that they know the ticket.

use super::*;
use std::io::Write;
use std::net::TcpListener;

/// A set of connections to a listener, with made-up addresses.
struct TestListener {
    listener: TcpListener,
    pending: PendingConnections,
    next: u64,
}

impl TestListener {
    fn new() -> Self {
        Self {
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            pending: PendingConnections::default(),
            next: 0,
        }
    }

    /// Opens one more connection, as if from `from`. Returns it with the address of the connection closed for it.
    fn connect(&mut self, from: &str, says: &[u8]) -> (TcpStream, Option<SocketAddr>) {
        let mut near = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        let (far, _) = self.listener.accept().unwrap();
        near.write_all(says).unwrap();
        while greeting_progress(&far) == GreetingProgress::Nothing && !says.is_empty() {
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        self.next += 1;
        let peer = SocketAddr::new(from.parse().unwrap(), self.next as u16);
        let closed = self.pending.admit(self.next, Arc::new(far), peer, Time::from_nanos(self.next));
        (near, closed)
    }
}

#[test]
fn the_oldest_silent_connection_of_the_newcomers_address_gives_way() {
    let mut bench = TestListener::new();
    let mut open = vec![bench.connect("192.0.2.1", b"first"), bench.connect("192.0.2.9", b"")];
    open.extend((1..SHARE).map(|_| bench.connect("192.0.2.1", b"")));
    assert!(open.iter().all(|(_, closed)| closed.is_none()));
    for number in 3..3 + 2 * SHARE as u16 {
        open.push(bench.connect("192.0.2.1", b""));
        let closed = open.last().unwrap().1.unwrap();
        assert_eq!((closed.ip().to_string(), closed.port()), ("192.0.2.1".into(), number));
    }
    assert_eq!(bench.pending.changes(Time::ZERO).speaking.len(), 1, "the first is there");
}

#[test]
fn when_the_room_is_full_the_address_with_the_most_gives_way() {
    let mut bench = TestListener::new();
    let mut open = vec![bench.connect("192.0.2.77", b"")];
    for address in 0..ROOM / SHARE {
        let most = if address == 2 { SHARE } else { SHARE - 1 };
        open.extend((0..most).map(|_| bench.connect(&format!("192.0.2.{address}"), b"x")));
    }
    while bench.pending.0.len() < ROOM {
        let other = format!("198.51.100.{}", bench.next);
        open.push(bench.connect(&other, b""));
    }
    let closed = bench.connect("203.0.113.1", b"").1.unwrap();
    assert_eq!(closed.ip().to_string(), "192.0.2.2", "although others were silent for longer");
    assert_eq!(bench.pending.0.len(), ROOM);
}

#[test]
fn a_random_one_gives_way_when_all_have_sent_something() {
    let mut bench = TestListener::new();
    let mut open: Vec<_> = (0..SHARE).map(|_| bench.connect("192.0.2.1", b"x")).collect();
    assert_eq!(bench.pending.changes(Time::ZERO).speaking.len(), SHARE);
    let mut ports = std::collections::HashSet::new();
    for _ in 0..20 {
        open.push(bench.connect("192.0.2.1", b"x"));
        bench.pending.changes(Time::ZERO);
        ports.insert(open.last().unwrap().1.unwrap().port());
    }
    let first_come: std::collections::HashSet<u16> = (1..=20).collect();
    assert!(ports != first_come, "they went in the order in which they came");
}

#[test]
fn addresses_of_one_ipv6_network_count_together_and_mapped_ones_as_ipv4() {
    let origin = |text: &str| origin(text.parse().unwrap());
    assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:1:2:3"));
    assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
    assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
    assert_ne!(origin("192.0.2.2"), origin("192.0.2.1"));
}

#[test]
fn who_says_nothing_is_closed_after_three_seconds() {
    let mut bench = TestListener::new();
    let (near, _) = bench.connect("192.0.2.1", b"");
    assert!(bench.pending.changes(Time::from_nanos(1) + FIRST_BYTE - Span::from_nanos(2)).closed.is_empty());
    let changes = bench.pending.changes(Time::from_nanos(1) + FIRST_BYTE);
    assert_eq!(changes.closed[0].1, "it said nothing");
    assert_eq!(greeting_progress(&near), GreetingProgress::End);
    let (near, _) = bench.connect("192.0.2.1", b"");
    drop(near);
    while bench.pending.changes(Time::ZERO).closed.is_empty() {}
    assert!(bench.pending.silent().is_empty());
}
