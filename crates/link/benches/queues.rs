//! The cost of a packet through a queue policy: under `valgrind --tool=callgrind` or `perf stat -e instructions:u`, the
//! instructions of a run over its packets.
//!
//! Arguments: names of policies (`fq-codel` and `cake` if none), `packets=N` (a million), and `flows=N` (16). A link of
//! 100 Mbit/s takes 1500-byte packets of all flows in turn, 2 % more than it sends, so that the policy also drops.

use std::hint::black_box;
use std::time::Instant;
use tightlink_link::queue::{self, Context};
use tightlink_link::{Datagram, Limit};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// A packet as large as the simulator's.
struct Packet {
    flow: u64,
    _rest: [u64; 3],
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(1500)
    }
    fn flow_key(&self) -> u64 {
        self.flow
    }
}

fn run(policy: &str, packets: u64, flows: u64) -> u64 {
    let rate = Rate::from_bps(100_000_000);
    let context = Context::new(Limit::Packets(1000), rate, Stream::new(1, "queue"));
    let mut queue = queue::make::<Packet>(policy, context).expect("a policy of the registry");
    let (service, gap) = (Span::from_micros(120), Span::from_nanos(117_647));
    let (mut now, mut free, mut sent) = (Time::ZERO, Time::ZERO, 0);
    for number in 0..packets {
        now += gap;
        while free <= now && queue.backlog().packets > 0 {
            sent += u64::from(black_box(queue.dequeue(free, &mut |_, _| ())).is_some());
            free += service;
        }
        queue.enqueue(now, Packet { flow: number % flows, _rest: [0; 3] }, &mut |_, _| ());
    }
    sent
}

#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
fn main() {
    let (mut packets, mut flows, mut policies) = (1_000_000, 16, Vec::new());
    for word in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
        match word.split_once('=') {
            Some(("packets", number)) => packets = number.parse().expect("packets=NUMBER"),
            Some(("flows", number)) => flows = number.parse().expect("flows=NUMBER"),
            _ => policies.push(word),
        }
    }
    if policies.is_empty() {
        policies = vec!["fq-codel".into(), "cake".into()];
    }
    for policy in policies {
        let start = Instant::now();
        let sent = run(&policy, packets, flows);
        let nanos = start.elapsed().as_nanos() as f64 / packets as f64;
        println!("{policy}: {packets} packets of {flows} flows, {sent} sent, {nanos:.0} ns each");
    }
}
