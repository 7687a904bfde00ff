//! Packet trains: through a simulated link, with and without other traffic, and of arrivals at given times.

use link::queue::DROP_TAIL;
use link::traffic::{Pattern, Source, TrafficConfig};
use link::{Datagram, Limit, Link, LinkConfig};
use tightlink_estimate::{Capacity, Estimator, LONG_TRAIN_PACKETS, TRAIN_PACKETS, Train, TrainPacket};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

const PACKET: Bytes = Bytes::new(1500);

/// A packet of a train, or of cross traffic.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: Option<usize>,
    length: Bytes,
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.length
    }
    fn flow_key(&self) -> u64 {
        u64::from(self.number.is_some())
    }
}

/// One train that leaves an access line of `access` at a time between packets of cross traffic; what it is dispersed to.
fn dispersed(
    capacity: Rate,
    access: Rate,
    limit: u64,
    cross: Option<(Pattern, f64)>,
    seed: u64,
) -> Option<Rate> {
    let config = LinkConfig::constant(capacity, Span::from_millis(5));
    let mut link: Link<Packet> =
        Link::make(&config, DROP_TAIL, Limit::Packets(limit), Stream::new(seed, "link")).expect("a link");
    let mut source = cross.map(|(pattern, share)| {
        let config = TrafficConfig {
            pattern,
            rate: capacity.scale(share),
            packet: PACKET,
            start: Time::ZERO,
            stop: Time::NEVER,
        };
        Source::new(config, Stream::new(seed, "cross"))
    });
    let begins = Time::ZERO + Span::from_millis(200);
    let gap = access.serialization(PACKET);
    let (mut sent, mut train) = (0, Train::new(TRAIN_PACKETS));
    let end = begins + Span::from_secs(2);
    loop {
        let next_train = if sent < TRAIN_PACKETS { begins + gap * sent as u64 } else { Time::NEVER };
        let next_cross = source.as_ref().and_then(Source::wakeup).unwrap_or(Time::NEVER);
        let next_link = link.wakeup().unwrap_or(Time::NEVER);
        let now = next_train.min(next_cross).min(next_link);
        if now > end {
            return train.estimate();
        }
        if now == next_link {
            while let Some(packet) = link.poll(now, &mut |_, _| {}) {
                if let Some(number) = packet.number {
                    train.observe(now, TrainPacket { number, at: now, length: packet.length });
                }
            }
        } else if now == next_train {
            link.push(now, Packet { number: Some(sent), length: PACKET }, &mut |_, _| {});
            sent += 1;
        } else if let Some(source) = &mut source {
            link.push(now, Packet { number: None, length: source.emit() }, &mut |_, _| {});
        }
    }
}

/// C' of five trains.
fn capacity(rate: u64, access: u64, cross: Option<&(Pattern, f64)>, seed: u64) -> f64 {
    let mut capacity = Capacity::new();
    for train in 0..5 {
        let rate =
            dispersed(Rate::from_bps(rate), Rate::from_bps(access), 1000, cross.cloned(), seed * 5 + train);
        capacity.observe(Time::ZERO, rate);
    }
    assert_eq!(capacity.lost(), 0);
    capacity.estimate().expect("whole trains").as_bps_f64()
}

#[test]
fn alone_the_dispersion_is_the_capacity_within_a_thousandth() {
    for rate in [10_000_000, 97_000_000, 622_000_000, 970_000_000] {
        let found = capacity(rate, 10_000_000_000, None, 1) / rate as f64;
        assert!((found - 1.0).abs() < 1e-3, "{rate}: {found}");
    }
}

#[test]
fn with_cross_traffic_it_lies_between_the_available_bandwidth_and_the_capacity() {
    let rate = 97_000_000;
    for share in [0.2, 0.4, 0.6] {
        for pattern in [Pattern::Cbr, Pattern::Poisson] {
            for access in [100_000_000, 1_000_000_000] {
                let found = capacity(rate, access, Some(&(pattern.clone(), share)), 2) / rate as f64;
                assert!(
                    (1.0 - share - 0.05..=1.001).contains(&found),
                    "{share} of {pattern:?}, access {access}: {found}"
                );
            }
        }
    }
}

/// A train as fast as the link shares it with what comes between its packets: C' = C L/(L + X). One that comes
/// much faster is through before much comes.
#[test]
fn a_fast_access_line_brings_it_near_the_capacity_and_a_slow_one_near_what_is_shared() {
    let share = Some((Pattern::Cbr, 0.4));
    let fast = capacity(97_000_000, 10_000_000_000, share.as_ref(), 3) / 97e6;
    assert!(fast > 0.97, "{fast}");
    let slow = capacity(97_000_000, 97_000_000, share.as_ref(), 3) / 97e6;
    assert!((slow - 1.0 / 1.4).abs() < 0.03, "{slow}");
}

#[test]
fn a_buffer_that_does_not_hold_the_train_gives_no_rate() {
    let (rate, access) = (Rate::from_bps(97_000_000), Rate::from_bps(1_000_000_000));
    assert_eq!(dispersed(rate, access, 10, None, 1), None);
    assert!(dispersed(rate, access, 50, None, 1).is_some());
}

fn train(arrivals_us: &[u64]) -> Train {
    let mut train = Train::new(arrivals_us.len());
    for (number, us) in arrivals_us.iter().enumerate() {
        let at = Time::from_nanos(us * 1000);
        train.observe(at, TrainPacket { number, at, length: Bytes::new(1500) });
    }
    train
}

#[test]
fn even_gaps_give_the_rate_and_a_few_disturbed_ones_do_not_matter() {
    // 12000 bits every 120 us: 100 Mb/s.
    let mut arrivals: Vec<u64> = (0..50).map(|number| 1000 + number * 120).collect();
    assert_eq!(train(&arrivals).dispersion(), Some(Rate::from_bps(100_000_000)));
    // The head arrives faster, and one packet is read late, directly before its follower.
    (0..5).for_each(|number| arrivals[number] = 1480 - (5 - number as u64) * 12);
    arrivals[30] += 110;
    assert_eq!(train(&arrivals).dispersion(), Some(Rate::from_bps(100_000_000)));
}

/// Makes a train that a host takes every 118 us, of packets that arrive every 12 us: nine or ten at once.
fn in_lumps(packets: u64, offset: u64) -> Train {
    train(&(0..packets).map(|number| (1000 + number * 12 + offset).div_ceil(118) * 118).collect::<Vec<_>>())
}

#[test]
fn of_packets_that_come_in_lumps_the_last_of_each_counts() {
    for offset in 0..118 {
        let rate = in_lumps(LONG_TRAIN_PACKETS as u64, offset).dispersion().unwrap().as_bps_f64();
        assert!((rate / 1e9 - 1.0).abs() < 0.04, "{rate} after {offset} us");
    }
    // A short train has two lumps, which show only that the path is fast.
    for offset in 0..118 {
        let rate = in_lumps(TRAIN_PACKETS as u64, offset).dispersion().unwrap().as_bps_f64();
        assert!((0.6e9..1.7e9).contains(&rate), "{rate} after {offset} us");
    }
}

#[test]
fn of_five_trains_one_may_have_been_held_up() {
    let mut capacity = Capacity::new();
    for (mbps, spread) in [(970, 0.0), (971, 1.0 / 970.5), (600, 371.0 / 970.0), (968, 371.0 / 969.0)] {
        capacity.observe(Time::ZERO, Some(Rate::from_bps(mbps * 1_000_000)));
        assert!((capacity.spread().unwrap() - spread).abs() < 1e-9, "{mbps}: {:?}", capacity.spread());
    }
    capacity.observe(Time::ZERO, Some(Rate::from_bps(969_000_000)));
    assert_eq!(capacity.spread(), Some(2.0 / 969.0), "the middle three of five");
}

#[test]
fn what_a_full_buffer_left_of_a_train_still_has_the_links_gaps() {
    // 16 packets fit; while they leave, 120 us each, three more find room.
    let mut train = Train::new(50);
    for (index, number) in (0..16).chain([24, 33, 42]).enumerate() {
        let at = Time::from_nanos(1_000_000 + index as u64 * 120_000);
        train.observe(at, TrainPacket { number, at, length: Bytes::new(1500) });
    }
    assert_eq!((train.dispersion(), train.remains()), (None, Some(Rate::from_bps(100_000_000))));
    let mut capacity = Capacity::new();
    capacity.observe_remains(Rate::from_bps(100_000_000));
    assert_eq!((capacity.estimate(), capacity.lost()), (Some(Rate::from_bps(100_000_000)), 1));
    capacity.observe(Time::ZERO, Some(Rate::from_bps(97_000_000)));
    assert_eq!(capacity.estimate(), Some(Rate::from_bps(97_000_000)), "a whole train is better");
}

#[test]
fn a_train_with_loss_or_out_of_order_says_nothing() {
    let packet = |number| TrainPacket { number, at: Time::from_nanos(1), length: Bytes::new(1500) };
    let mut missing = Train::new(10);
    (0..9).for_each(|number| missing.observe(Time::ZERO, packet(number)));
    assert_eq!((missing.is_whole(), missing.dispersion()), (false, None));
    let mut swapped = Train::new(10);
    [0, 1, 2, 4, 3, 5, 6, 7, 8, 9].iter().for_each(|number| swapped.observe(Time::ZERO, packet(*number)));
    assert_eq!((swapped.is_whole(), swapped.dispersion()), (true, None));
    assert_eq!(train(&[1, 2, 3]).dispersion(), None, "too short");
    assert_eq!(train(&[5; 50]).dispersion(), None, "all at once: a clock too coarse");
}

#[test]
fn capacity_is_the_median_of_the_whole_trains() {
    let mut capacity = Capacity::new();
    assert_eq!(capacity.estimate(), None);
    for rate in [Some(97), None, Some(60), Some(99)] {
        capacity.observe(Time::ZERO, rate.map(|mbps| Rate::from_bps(mbps * 1_000_000)));
    }
    assert_eq!(capacity.estimate(), Some(Rate::from_bps(97_000_000)));
    assert_eq!((capacity.whole(), capacity.lost()), (3, 1));
}
