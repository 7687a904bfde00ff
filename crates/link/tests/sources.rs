//! Packets by their source: hand values, conservation, and the same whatever carries the queue.

use proptest::prelude::*;
use tightlink_link::queue::{POLICIES, PolicyConfig};
use tightlink_link::{Datagram, Ecn, Limit, Link, LinkConfig, SourceReport, SourcesReport};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

/// A packet of a source; `None`: it is not cross traffic.
#[derive(Clone, Copy, Debug)]
struct Packet(u64, Option<usize>);

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(self.0)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }
    fn flow_key(&self) -> u64 {
        self.1.map_or(0, |source| 1 + source as u64)
    }
    fn source(&self) -> Option<usize> {
        self.1
    }
}

fn micros(micros: u64) -> Time {
    Time::from_nanos(1000 * micros)
}

/// 12 Mbit/s, so that 1500 bytes take 1 ms, and 10 ms to the far end; 5 ms more behind it.
fn link(policy: &str, limit: Limit, loss: f64, jitter: Span) -> Link<Packet> {
    let (rate, delay) = (Rate::from_bps(12_000_000), Span::from_millis(10));
    let config = LinkConfig {
        loss: Fraction::new(loss).expect("a share"),
        jitter,
        ..LinkConfig::constant(rate, delay)
    };
    let mut link = Link::make(&config, policy, limit, Stream::new(3, "link")).expect("a policy");
    link.meter_sources(2, Span::from_millis(5));
    link
}

/// What is reported at `end` if packets arrive at these times and measuring begins at `from`.
fn carried(mut link: Link<Packet>, packets: &[(Time, Packet)], from: Time, end: Time) -> SourcesReport {
    let mut begun = false;
    for (at, packet) in packets {
        if *at >= from && !begun {
            begun = true;
            link.begin_measuring(from);
        }
        while link.poll(*at, &mut |_, _| ()).is_some() {}
        link.push(*at, *packet, &mut |_, _| ());
    }
    if !begun {
        link.begin_measuring(from);
    }
    while link.poll(end, &mut |_, _| ()).is_some() {}
    link.report(end).sources.expect("it counts by source")
}

#[test]
fn delay_jitter_and_loss_of_each_source_are_those_worked_out_by_hand() {
    // A download's packet of 1 ms is being sent and another waits when two packets of a call (0.1 ms) come. The second
    // finds no room. A third comes to an empty link.
    let (download, call) = (Packet(1500, None), Packet(150, Some(1)));
    let packets = [(0, download), (100, download), (200, call), (300, call), (5000, call)]
        .map(|(at, packet)| (micros(at), packet));
    for policy in ["drop-tail", "codel"] {
        let limit = Limit::Packets(2);
        let report = carried(link(policy, limit, 0.0, Span::ZERO), &packets, Time::ZERO, micros(100_000));
        let [silent, call] = &report.cross[..] else { panic!("two sources: {report:?}") };
        assert_eq!((silent.packets, silent.delivered(), silent.jitter), (0, 0, None));
        assert_eq!(silent.loss_rate(), None);
        assert_eq!((call.packets, call.bytes, call.drops), (3, Bytes::new(450), 1), "{policy}");
        assert_eq!((call.delivered(), call.delivered_bytes), (2, Bytes::new(300)));
        assert_eq!(call.loss_rate(), Some(1.0 / 3.0));
        // The first waits from 0.2 to 2 ms, and takes 0.1, 10 and 5 ms; the last waits for nothing.
        assert_eq!(call.queueing.max(), Span::from_micros(1800));
        assert_eq!(call.queueing.mean(), Some(Span::from_micros(900)));
        assert_eq!(call.delay.max(), Span::from_micros(16_900));
        assert_eq!(call.delay.mean(), Some(Span::from_micros(16_000)));
        assert_eq!(call.jitter, Some(Span::from_micros(1800)));
        assert_eq!((report.other.packets, report.other.delivered(), report.other.drops), (2, 2, 0));
        assert_eq!(report.other.queueing.max(), Span::from_micros(900));
    }
}

#[test]
fn packets_that_came_before_the_measured_interval_or_are_under_way_at_its_end_have_no_delay() {
    let packets = [0u64, 900, 2000, 80_000].map(|at| (micros(at), Packet(1500, Some(0))));
    let end = micros(90_000);
    for policy in ["drop-tail", "codel"] {
        let limit = Limit::Packets(9);
        let report = carried(link(policy, limit, 0.0, Span::ZERO), &packets, micros(1000), end);
        let source = &report.cross[0];
        assert_eq!((source.packets, source.delivered(), source.drops), (2, 1, 0), "{policy}");
        // The third arrives as the second leaves, and the last is under way.
        assert_eq!(source.queueing.max(), Span::ZERO);
    }
}

#[test]
fn a_call_behind_fq_codel_waits_for_two_packets_of_a_download_at_most() {
    let mut packets = Vec::new();
    for number in 0..2000u64 {
        packets.push((micros(900 * number), Packet(1500, None)));
        if number % 20 == 0 {
            packets.push((micros(900 * number), Packet(150, Some(0))));
        }
    }
    let run = |policy| {
        let link = link(policy, Limit::Packets(500), 0.0, Span::ZERO);
        carried(link, &packets, Time::ZERO, micros(5_000_000))
    };
    let (alone, together) = (run("fq-codel"), run("drop-tail"));
    let worst = |report: &SourcesReport| report.cross[0].queueing.max();
    // The one being sent, and the download's turn where the call's queue has not left the old ones yet [rfc8290:4.2].
    assert!(worst(&alone) <= Span::from_millis(2), "{:?}", worst(&alone));
    assert!(alone.other.queueing.max() > Span::from_millis(5), "{:?}", alone.other.queueing.max());
    assert!(worst(&together) > Span::from_millis(100), "{:?}", worst(&together));
}

fn numbers(report: &SourceReport) -> impl PartialEq + std::fmt::Debug + use<> {
    let (queueing, delay) = (&report.queueing, &report.delay);
    let of = |histogram: &tightlink_link::Histogram| {
        (histogram.count(), histogram.mean(), histogram.quantile(0.95), histogram.max())
    };
    let counts = (report.packets, report.bytes, report.drops, report.delivered_bytes, report.marks);
    (counts, of(queueing), of(delay), report.jitter)
}

/// Packets of up to three owners: gaps in microseconds, sizes, owners.
fn arrivals() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    let packet = (0..3000u64, 40..1501u64, 0..3usize);
    prop::collection::vec(packet, 1..200).prop_map(|packets| {
        let mut at = Time::ZERO;
        let next = |(gap, length, owner): (u64, u64, usize)| {
            at += Span::from_micros(gap);
            (at, Packet(length, owner.checked_sub(1)))
        };
        packets.into_iter().map(next).collect()
    })
}

proptest! {
    #[test]
    fn every_packet_of_every_source_is_delivered_or_dropped_under_every_policy(
        arrivals in arrivals(), limit in 1..20u64, loss in 0.0..0.2, jitter in 0..2000u64
    ) {
        for policy in POLICIES {
            let link = link(policy.name, Limit::Packets(limit), loss, Span::from_micros(jitter));
            let sources = carried(link, &arrivals, Time::ZERO, micros(3_000_000));
            let mut packets = 0;
            for report in sources.cross.iter().chain([&sources.other]) {
                prop_assert_eq!(report.packets, report.delivered() + report.drops, "{}", policy.name);
                prop_assert!(report.delivered_bytes <= report.bytes);
                prop_assert!(report.queueing.max() <= report.delay.max());
                prop_assert!(report.jitter.is_none_or(|jitter| jitter <= report.delay.max()));
                packets += report.packets;
            }
            prop_assert_eq!(packets, arrivals.len() as u64);
        }
    }

    #[test]
    fn a_drop_tail_queue_that_is_served_by_events_reports_the_same(
        arrivals in arrivals(), limit in 1..20u64, from in 0..100_000u64
    ) {
        let (rate, delay) = (Rate::from_bps(12_000_000), Span::from_millis(10));
        let config = LinkConfig::constant(rate, delay);
        let limit = Limit::Packets(limit);
        let settings = PolicyConfig::from("drop-tail");
        let context = settings.context(limit, rate, Stream::new(1, "queue"));
        let queue = tightlink_link::queue::build_with(&settings.policy, &settings.settings, context);
        let mut events = Link::queued(&config, queue.expect("a policy"), Stream::new(3, "link"));
        events.meter_sources(2, Span::from_millis(5));
        let end = micros(100_000 + from);
        let one = carried(link("drop-tail", limit, 0.0, Span::ZERO), &arrivals, micros(from), end);
        let other = carried(events, &arrivals, micros(from), end);
        for (one, other) in one.cross.iter().chain([&one.other]).zip(other.cross.iter().chain([&other.other])) {
            prop_assert_eq!(numbers(one), numbers(other));
        }
    }
}
