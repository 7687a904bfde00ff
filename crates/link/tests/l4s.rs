//! The statements of RFC 9332 about DualPI2, with senders that respond: Reno's law on drops, and the law of scalable
//! flows on marks. Neither has slow start or timeouts.

mod common;

use common::{Fate, Probe, TestLink, millis, plain};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tightlink_link::queue::{Context, DualPi2, DualPi2Parameters};
use tightlink_link::{Ecn, Limit};
use units::random::Stream;
use units::{Rate, Span, Time};

/// The bytes of a packet, in bits.
const BITS: u64 = 12_000;
const WARM_UP: Time = Time::from_nanos(20_000_000_000);
const END: Time = Time::from_nanos(60_000_000_000);

/// A sender whose acknowledgements arrive a base round trip after its packets have left.
#[derive(Clone)]
struct Sender {
    scalable: bool,
    window: f64,
    in_flight: u64,
    halved: Time,
    /// Waits of its packets after the warm-up, in ms.
    waits: Vec<f64>,
}

impl Sender {
    fn new(scalable: bool) -> Self {
        Self { scalable, window: 2.0, in_flight: 0, halved: Time::ZERO, waits: Vec::new() }
    }

    /// Takes the news of one packet.
    fn hear(&mut self, now: Time, congested: bool, round: Span) {
        self.in_flight -= 1;
        match (congested, self.scalable) {
            (false, _) => self.window += 1.0 / self.window,
            // Half a packet per mark (Prague, and RFC 8257 for a steady share of marks).
            (true, true) => self.window = (self.window - 0.5).max(2.0),
            (true, false) if now.since(self.halved) > round => {
                (self.window, self.halved) = ((self.window / 2.0).max(2.0), now);
            }
            (true, false) => {}
        }
    }
}

/// Runs the senders over a link of `megabits` with a base RTT of `rtt_ms`.
fn run(megabits: u64, rtt_ms: u64, mut senders: Vec<Sender>) -> Vec<Sender> {
    let rate = Rate::from_bps(megabits * 1_000_000);
    let context = Context::new(Limit::Packets(10_000), rate, Stream::new(7, "queue"));
    let (service, rtt) = (Span::from_nanos(BITS * 1000 / megabits), Span::from_millis(rtt_ms));
    let mut bench = TestLink::new(DualPi2::new(DualPi2Parameters::default(), context), service);
    let mut owners = Vec::new();
    let mut news = BinaryHeap::new();
    let (mut now, mut seen) = (Time::ZERO, 0);
    while now < END {
        now += service;
        bench.advance(now);
        for (time, packet, fate) in &bench.fates[seen..] {
            let owner: usize = owners[packet.id as usize];
            let congested = match fate {
                Fate::Sent(wait) if *time >= WARM_UP => {
                    senders[owner].waits.push(wait.as_millis_f64());
                    packet.ecn == Ecn::Marked
                }
                Fate::Sent(_) => packet.ecn == Ecn::Marked,
                Fate::Dropped(_) => true,
            };
            news.push(Reverse((*time + service + rtt, owner, congested)));
        }
        seen = bench.fates.len();
        while news.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            if let Some(Reverse((_, owner, congested))) = news.pop() {
                senders[owner].hear(now, congested, rtt);
            }
        }
        for (owner, sender) in senders.iter_mut().enumerate() {
            while sender.in_flight < sender.window as u64 {
                sender.in_flight += 1;
                let ecn = if sender.scalable { Ecn::Scalable } else { Ecn::NotCapable };
                let id = owners.len() as u64;
                owners.push(owner);
                bench.arrive(now, Probe { ecn, ..plain(id) });
            }
        }
    }
    senders
}

/// The sorted waits of one class, in ms.
fn waits(senders: &[Sender], scalable: bool) -> Vec<f64> {
    let of = senders.iter().filter(|sender| sender.scalable == scalable);
    let mut waits: Vec<f64> = of.flat_map(|sender| sender.waits.iter().copied()).collect();
    waits.sort_unstable_by(f64::total_cmp);
    waits
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * q) as usize]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn scalable_flows_hardly_wait_and_classic_ones_wait_as_behind_pi2() {
    for megabits in [40, 100] {
        for rtt in [10, 30] {
            for (scalable, classic) in [(1, 1), (3, 1), (2, 6)] {
                let cell = format!("{megabits} Mbit/s, {rtt} ms, {scalable} scalable, {classic} classic");
                let mut senders = vec![Sender::new(true); scalable];
                senders.extend(vec![Sender::new(false); classic]);
                let mixed = run(megabits, rtt, senders);
                let low = waits(&mixed, true);
                let (median, p99) = (quantile(&low, 0.5), quantile(&low, 0.99));
                assert!(median < 1.0 && p99 < 2.0, "{cell}: {median} and {p99} ms");
                let high = waits(&mixed, false);
                // Without scalable flows it is PI2: the same number of classic ones.
                let alone = waits(&run(megabits, rtt, vec![Sender::new(false); scalable + classic]), false);
                let (delay, pi2) = (mean(&high), mean(&alone));
                println!("{cell}: L {median:.2} {p99:.2}, C {delay:.1}, PI2 {pi2:.1}");
                // One classic flow with half the link has a longer sawtooth, and waits less.
                let less = if classic > 1 { 1.0 } else { pi2 };
                assert!((pi2 - less..pi2 + 1.0).contains(&delay), "{cell}: {delay} ms, {pi2} ms behind PI2");
                // The link is full, and a flow of one kind has what one of the other has, within its longer RTT.
                let sent = (low.len() + high.len()) as u64 * BITS;
                let utilization = sent as f64 / (megabits as f64 * 1e6 * END.since(WARM_UP).as_secs_f64());
                let ratio = (low.len() / scalable) as f64 / (high.len() / classic) as f64;
                let longer = (rtt as f64 + delay) / rtt as f64;
                println!("{utilization:.3}, ratio {ratio:.2}, {longer:.2}");
                assert!(utilization > 0.95, "{cell}: {utilization}");
                assert!((0.4 * longer..2.0 * longer).contains(&ratio), "{cell}: {ratio} for {longer}");
            }
        }
    }
}

#[test]
fn a_classic_packet_waits_for_few_turns_of_a_scalable_flood() {
    // Two packets a millisecond of flows that do not respond, and a classic packet every 30 ms. One leaves a ms.
    let mut bench = TestLink::new(
        DualPi2::new(DualPi2Parameters::default(), common::context(1000, 12)),
        Span::from_millis(1),
    );
    for tick in 0..60_000u64 {
        let classic = (tick % 30 == 0).then_some(Ecn::NotCapable);
        for ecn in [Ecn::Scalable, Ecn::Scalable].into_iter().chain(classic) {
            let id = bench.arrivals();
            bench.arrive(millis(tick), Probe { ecn, ..plain(id) });
        }
    }
    let waits: Vec<Span> = (bench.fates.iter())
        .filter(|(_, packet, _)| packet.ecn == Ecn::NotCapable)
        .filter_map(|(_, _, fate)| if let Fate::Sent(wait) = fate { Some(*wait) } else { None })
        .collect();
    // The share of 10 % is a turn after ten packets of the flood at most, and one is being sent. Half are dropped.
    let longest = waits.iter().max().expect("some");
    assert!(waits.len() > 700 && *longest <= Span::from_millis(11), "{}, {longest}", waits.len());
}
