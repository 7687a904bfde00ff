//! A queue whose packets another machine sends.

mod common;

use common::{Probe, at, capable, millis, plain};
use proptest::prelude::*;
use tightlink_link::moving_limit::{Alt, AltParameters, Ebdp, EbdpParameters, MovingLimit};
use tightlink_link::queue::{PolicyConfig, build_with};
use tightlink_link::{Limit, Link, LinkConfig, LinkReport, Serializer, ServedQueue};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

const RATE: Rate = Rate::from_bps(8_000_000);

fn stream() -> Stream {
    Stream::new(3, "test")
}

fn queue(policy: &str, packets: u64) -> ServedQueue<Probe> {
    ServedQueue::make(1, &policy.into(), Limit::Packets(packets), RATE, stream()).expect("a known policy")
}

/// Arrivals at `times` at a queue whose server sends at `RATE`, measured from `from` to `end`.
fn served(policy: &str, limit: u64, times: &[(Time, Probe)], from: Time, end: Time) -> LinkReport {
    let mut queue = queue(policy, limit);
    let (mut serializer, mut free, mut begun) = (Serializer::new(RATE), Time::NEVER, false);
    let mut arrivals = times.iter().copied().peekable();
    let mut now = Time::ZERO;
    loop {
        let next = arrivals.peek().map_or(Time::NEVER, |(at, _)| *at);
        let event = next.min(free).min(if begun { end } else { from });
        assert!(event >= now, "time does not go back");
        now = event;
        // In the order of a link: what leaves, then what arrives, then who measures.
        let sent = if free == now {
            queue.sent(now);
            queue.next(now, 0, &mut |_, _| {})
        } else if next == now {
            let (_, packet) = arrivals.next().expect("peeked");
            let sent = queue.offer(now, 0, packet, &mut |_, _| {});
            if sent.is_none() {
                continue;
            }
            sent
        } else if begun {
            return queue.report(end);
        } else {
            queue.begin_measuring(now);
            begun = true;
            continue;
        };
        free = sent.map_or(Time::NEVER, |packet| serializer.send(now, Bytes::new(packet.length)));
    }
}

/// The same by a link.
fn linked(policy: &str, limit: u64, times: &[(Time, Probe)], from: Time, end: Time) -> LinkReport {
    let config = LinkConfig::constant(RATE, Span::ZERO);
    let policy = PolicyConfig::from(policy);
    let seed = stream().integer(0, u64::MAX);
    let context = policy.context(Limit::Packets(limit), RATE, Stream::new(seed, "queue"));
    let queue = build_with(&policy.policy, &policy.settings, context).expect("a known policy");
    let mut link = Link::queued(&config, queue, stream());
    let poll = |link: &mut Link<Probe>, now| while link.poll(now, &mut |_, _| {}).is_some() {};
    let mut begun = false;
    let mut begin = |link: &mut Link<Probe>, before: Time| {
        if !begun && before > from {
            poll(link, from);
            link.begin_measuring(from);
            begun = true;
        }
    };
    for (at, packet) in times.iter().filter(|(at, _)| *at <= end) {
        begin(&mut link, *at);
        link.push(*at, *packet, &mut |_, _| {});
    }
    begin(&mut link, Time::NEVER);
    poll(&mut link, end);
    link.report(end)
}

proptest! {
    /// Where the server takes the time of a link's wire, all is as with a link.
    #[test]
    fn it_measures_what_a_link_measures(
        policy in proptest::sample::select(vec!["drop-tail", "codel", "fq-codel", "red"]),
        limit in 1u64..40,
        arrivals in prop::collection::vec((0u64..6_000_000, 100u64..3000, 0u64..4, any::<bool>()), 1..300),
        from in 0u64..200_000_000,
        more in 1u64..800_000_000,
    ) {
        let mut now = 0;
        let times: Vec<(Time, Probe)> = (0..).zip(arrivals).map(|(id, (gap, length, flow, ecn))| {
            now += gap;
            let probe = if ecn { capable(id) } else { plain(id) };
            (at(now), Probe { length, flow, ..probe })
        }).collect();
        let (from, end) = (at(from), at(from + more));
        let [own, links] = [served, linked].map(|way| way(policy, limit, &times, from, end));
        prop_assert_eq!(own.conservation, links.conservation);
        prop_assert_eq!(own.arrivals, links.arrivals);
        prop_assert_eq!((own.queue_drops, own.early_drops, own.marks), (links.queue_drops, links.early_drops, links.marks));
        prop_assert_eq!(own.mean_waiting_bytes, links.mean_waiting_bytes);
        prop_assert_eq!(own.queue_length.shares(), links.queue_length.shares());
        prop_assert_eq!(own.queueing_delay.mean(), links.queueing_delay.mean());
        prop_assert_eq!(own.queueing_delay.quantile(0.9), links.queueing_delay.quantile(0.9));
        prop_assert!((own.utilization - links.utilization).abs() < 1e-6);
    }
}

#[test]
fn what_waits_behind_the_first_with_the_server_takes_no_room_but_waits() {
    let mut queue = queue("drop-tail", 2);
    let drops = &mut |_, _| panic!("there is room");
    assert_eq!(queue.offer(millis(0), 0, plain(0), drops).map(|packet| packet.id), Some(0));
    assert_eq!(queue.offer(millis(0), 0, plain(1), drops), None);
    assert_eq!(queue.next(millis(0), 0, drops).map(|packet| packet.id), Some(1));
    assert_eq!(queue.offer(millis(0), 0, plain(2), drops), None);
    assert_eq!(queue.offer(millis(0), 0, plain(3), drops), None);
    assert_eq!(waiting(&queue), 3);
    // The second is sent from 4 ms on, so it has waited for 4 ms, and the whole of the time is busy.
    queue.sent(millis(4));
    queue.sent(millis(10));
    let report = queue.report(millis(10));
    assert_eq!(report.queueing_delay.max(), Span::from_millis(4));
    assert_eq!((report.forwarded, report.conservation.held), (2, 2));
    assert!((report.utilization - 1.0).abs() < 1e-9 && (report.mean_waiting_packets - 2.4).abs() < 1e-9);
}

#[test]
fn a_packet_that_the_server_gives_up_is_lost_by_the_link() {
    let mut queue = queue("drop-tail", 2);
    assert!(queue.offer(millis(0), 0, plain(0), &mut |_, _| {}).is_some());
    queue.given_up(millis(3));
    let report = queue.report(millis(6));
    assert_eq!((report.random_losses, report.forwarded, report.conservation.dropped), (1, 0, 1));
    assert!((report.utilization - 0.5).abs() < 1e-9);
}

fn waiting(queue: &ServedQueue<Probe>) -> u64 {
    queue.state(Time::ZERO).backlog.packets
}

/// 10 ms each: 2 packets and one more.
#[test]
fn the_moving_limit_decides_what_may_wait() {
    let parameters =
        EbdpParameters { target: Span::from_millis(20), extra: 1, most: 4, ..EbdpParameters::default() };
    let mut queue = queue("drop-tail", 100).limited(MovingLimit::Ebdp(Ebdp::new(parameters)));
    let mut refused = 0;
    for id in 0..10 {
        let _ = queue.offer(millis(0), 0, plain(id), &mut |_, _| refused += 1);
    }
    assert_eq!((waiting(&queue), refused, queue.moving_limit(millis(0))), (4, 5, Some(4)));
    queue.sent(millis(10));
    assert_eq!(queue.moving_limit(millis(10)), Some(3));
    // 4 for 10 ms, then 3 for 30 ms.
    assert_eq!(queue.mean_moving_limit(millis(40)), Some(3.25));
    assert!(queue.next(millis(40), 0, &mut |_, _| {}).is_some());
    let mut refused = 0;
    let _ = queue.offer(millis(40), 0, plain(11), &mut |_, _| refused += 1);
    assert_eq!((waiting(&queue), refused), (3, 1));
}

/// It grows by 10 a second while there is nothing at all, and falls by 1 a second while there is a packet, waiting or being sent.
#[test]
fn a_packet_that_is_being_sent_leaves_the_queue_not_empty() {
    let alt = Alt::new(AltParameters::default(), 100);
    let mut queue = queue("drop-tail", 1000).limited(MovingLimit::Alt(alt));
    assert_eq!(queue.moving_limit(millis(2000)), Some(120));
    assert!(queue.offer(millis(2000), 0, plain(0), &mut |_, _| {}).is_some());
    assert_eq!(queue.moving_limit(millis(5000)), Some(117));
    queue.sent(millis(5000));
    assert!(queue.next(millis(5000), 0, &mut |_, _| {}).is_none());
    assert_eq!(queue.moving_limit(millis(6000)), Some(127));
}

#[test]
fn a_queue_is_dry_once_it_was_asked_and_had_nothing() {
    let mut queue = queue("fq-codel", 10);
    let drops = &mut |_, _| panic!("there is room");
    assert!(queue.is_dry(0));
    assert!(queue.offer(millis(0), 0, plain(0), drops).is_some());
    assert!(!queue.is_dry(0));
    assert!(queue.next(millis(0), 0, drops).is_none() && queue.is_dry(0));
    assert!(queue.offer(millis(1), 0, plain(1), drops).is_none());
    assert!(!queue.is_dry(0));
}
