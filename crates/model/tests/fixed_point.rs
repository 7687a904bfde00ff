//! The fixed point against the published case, chains worked out by hand, limits, and what must hold for any flows.

use proptest::prelude::*;
use testkit::close;
use tightlink_model::fixed_point::{Bottleneck, FixedPoint, Flow, NoFixedPoint, Queue, fixed_point};
use tightlink_model::red::Red;
use tightlink_model::response::Protocol;
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// Ten flows with base RTTs evenly spaced from `least` to `largest` microseconds, and packets of 1 kB.
fn ten(protocol: Protocol, least: u64, largest: u64) -> Vec<Flow> {
    let flow = |index: u64| Flow {
        count: 1,
        protocol,
        base_rtt: Span::from_micros(least + (largest - least) * index / 9),
        packet: Bytes::new(1000),
        max_window: f64::INFINITY,
    };
    (0..10).map(flow).collect()
}

fn drop_tail(mbps: u64, packets: u64) -> Bottleneck {
    Bottleneck {
        capacity: Rate::from_bps(mbps * 1_000_000),
        unresponsive: Rate::ZERO,
        loss: Fraction::ZERO,
        packets,
        queue: Queue::DropTail,
    }
}

/// The paper's case 1.
fn case_1(protocol: Protocol, packets: u64) -> FixedPoint {
    fixed_point(&drop_tail(1000, packets), &ten(protocol, 115_500, 124_500)).unwrap()
}

/// `count` flows whose window is one packet, so that the load is theirs alone.
fn one_packet_each(count: u32, base_rtt: Span, packet: u64) -> Flow {
    Flow { count, protocol: Protocol::Reno, base_rtt, packet: Bytes::new(packet), max_window: 1.0 }
}

#[test]
fn case_1_has_the_utilization_of_the_paper_on_router_buffers() {
    let published = [(62, 0.863), (125, 0.934), (250, 0.969), (625, 0.989), (1250, 0.995), (2500, 0.998)];
    for (packets, expected) in published {
        let found = case_1(Protocol::HighSpeed, packets);
        assert!((found.utilization - expected).abs() < 0.002, "{packets}: {}", found.utilization);
        assert!(found.residual.abs() < 1e-9, "{packets}: {:e}", found.residual);
    }
}

/// The known limit: the point says nearly the same of Reno.
#[test]
fn at_a_tenth_of_the_product_renos_point_is_nearly_highspeeds() {
    let [reno, highspeed] = [Protocol::Reno, Protocol::HighSpeed].map(|protocol| case_1(protocol, 1250));
    close(reno.utilization, 0.9925, 1e-4);
    close(highspeed.utilization, 0.9952, 1e-4);
    // RFC 3649 at 1500 segments: 1.2e-5.
    close(highspeed.loss, 1.2e-5, 0.05);
}

/// M/M/1/1: p = rho / (1 + rho), and nobody waits. 100 packets in 100 ms at 1000 packets/s: rho = 1.
#[test]
fn a_system_of_one_packet_loses_rho_of_one_plus_rho() {
    for (count, rho) in [(100, 1.0), (25, 0.25), (400, 4.0)] {
        let flow = one_packet_each(count, Span::from_millis(100), 1000);
        let found = fixed_point(&drop_tail(8, 1), &[flow]).unwrap();
        close(found.load, rho, 1e-9);
        close(found.loss, rho / (1.0 + rho), 1e-9);
        close(found.utilization, rho / (1.0 + rho), 1e-9);
        assert_eq!((found.waiting, found.queueing_delay), (0.0, Span::ZERO));
    }
}

/// At rho = 1 all of the K + 1 lengths are as likely: p = 1/6 for K = 5, and an admitted packet finds 2 on average. They take 2 ms, so
/// 98 ms and 2 ms make 100 packets in 100 ms.
#[test]
fn at_a_load_of_one_every_length_is_as_likely() {
    let flow = one_packet_each(100, Span::from_millis(98), 1000);
    let found = fixed_point(&drop_tail(8, 5), &[flow]).unwrap();
    close(found.load, 1.0, 1e-9);
    close(found.loss, 1.0 / 6.0, 1e-9);
    close(found.utilization, 5.0 / 6.0, 1e-9);
    close(found.waiting, 5.0 / 3.0, 1e-9);
    close(found.lengths.none_waits(), 2.0 / 6.0, 1e-9);
    assert_eq!(found.queueing_delay, Span::from_millis(2));
    assert_eq!(found.flows[0].rtt, Span::from_millis(100));
    // 10 packets/s each, of which one in six is lost; to whole bits per second.
    assert_eq!(found.flows[0].throughput, Rate::from_bps(66_667));
}

/// K = 2, p(1) = 0.5 * 1/2: at rho = 1 the lengths have 1, 1 and 0.75 of 2.75. An admitted packet finds 0.75/1.75 = 3/7 packets of 7 ms.
#[test]
fn reds_chain_of_three_lengths_matches_a_hand_value() {
    let red = Red { min_threshold: 0.0, max_threshold: 2.0, max_probability: 0.5 };
    for held in [2, 50] {
        let bottleneck = Bottleneck { queue: Queue::Red(red), ..drop_tail(8, held) };
        let found = fixed_point(&bottleneck, &[one_packet_each(100, Span::from_millis(697), 7000)]).unwrap();
        close(found.load, 1.0, 1e-9);
        close(found.loss, 1.0 / 2.75, 1e-9);
        close(found.utilization, 1.75 / 2.75, 1e-9);
        close(found.lengths.none_waits(), 2.0 / 2.75, 1e-9);
        assert_eq!(found.queueing_delay, Span::from_millis(3));
    }
}

/// RED that drops nothing before the system is full.
#[test]
fn red_with_thresholds_beyond_the_buffer_is_drop_tail() {
    let red = Red { min_threshold: 1e6, max_threshold: 2e6, max_probability: 0.1 };
    for packets in [1, 62, 1250, 20_000] {
        let flows = ten(Protocol::HighSpeed, 115_500, 124_500);
        let plain = drop_tail(1000, packets);
        let by_sum = fixed_point(&Bottleneck { queue: Queue::Red(red), ..plain }, &flows).unwrap();
        let closed = fixed_point(&plain, &flows).unwrap();
        close(by_sum.utilization, closed.utilization, 1e-9);
        close(by_sum.loss, closed.loss, 1e-6);
        close(by_sum.waiting, closed.waiting, 1e-6);
    }
}

/// The paper's thresholds, 0.4 of the buffer and all of it: fewer packets wait than behind drop-tail, and less is used.
#[test]
fn red_uses_less_of_the_same_buffer() {
    for packets in [62, 125, 250, 625, 1250, 2500] {
        let held = packets as f64;
        let red = Red { min_threshold: 0.4 * held, max_threshold: held, max_probability: 0.1 };
        let flows = ten(Protocol::HighSpeed, 115_500, 124_500);
        let found = fixed_point(&Bottleneck { queue: Queue::Red(red), ..drop_tail(1000, packets) }, &flows);
        let (found, behind_drop_tail) = (found.unwrap(), case_1(Protocol::HighSpeed, packets));
        assert!(found.waiting < behind_drop_tail.waiting);
        assert!(found.utilization < behind_drop_tail.utilization);
        assert!(found.utilization > 0.5 && found.loss > 0.0);
    }
}

/// Without delay, K = 1: windows of one packet in 100 and 50 ms give 10 and 20 packets/s, of 1500 and 500 bytes: 833 on average.
#[test]
fn the_mean_packet_is_that_of_those_sent() {
    let flows =
        [one_packet_each(1, Span::from_millis(100), 1500), one_packet_each(1, Span::from_millis(50), 500)];
    let found = fixed_point(&drop_tail(8, 1), &flows).unwrap();
    close(found.mean_packet, 25_000.0 / 30.0, 1e-9);
    close(found.load, 25_000.0 / 1e6, 1e-9);
}

#[test]
fn two_alike_are_one_with_a_count_of_two() {
    let flow = ten(Protocol::Cubic, 20_000, 40_000)[3];
    let twice = fixed_point(&drop_tail(100, 50), &[flow, flow]).unwrap();
    let counted = fixed_point(&drop_tail(100, 50), &[Flow { count: 2, ..flow }]).unwrap();
    close(twice.load, counted.load, 1e-12);
    close(twice.loss, counted.loss, 1e-9);
}

/// What does not answer takes its part first: half of the link is a link of half the capacity, but for the packets' time on it.
#[test]
fn unresponsive_traffic_is_a_part_of_the_load() {
    let flows = ten(Protocol::Reno, 20_000, 40_000);
    let half = Bottleneck { unresponsive: Rate::from_bps(50_000_000), ..drop_tail(100, 100) };
    let found = fixed_point(&half, &flows).unwrap();
    let carried: f64 = found.flows.iter().map(|flow| flow.throughput.as_bps_f64()).sum();
    close((carried + 50e6 * (1.0 - found.loss)) / 100e6, found.utilization, 1e-6);
    assert!(found.utilization > 0.9);
}

/// A loss of 1 % before the queue is what Reno's windows of 12 packets go by: ten flows in 40 ms have 36 Mbit/s, and no queue.
#[test]
fn loss_before_the_queue_counts_for_windows() {
    let flow = Flow {
        count: 10,
        base_rtt: Span::from_millis(40),
        packet: Bytes::new(1500),
        ..ten(Protocol::Reno, 1, 1)[0]
    };
    let lossy = Bottleneck { loss: Fraction::new(0.01).unwrap(), ..drop_tail(1000, 1000) };
    let found = fixed_point(&lossy, &[flow]).unwrap();
    close(found.path_loss, 0.01, 1e-9);
    close(found.flows[0].throughput.as_bps_f64(), 12.0 * 12_000.0 / 0.04 * 0.99, 1e-3);
    close(found.utilization, 0.036 * 0.99, 1e-3);
    assert!(found.loss < 1e-9);
}

/// At rho = 1 the six lengths of K = 5 have a sixth of the time each: 0 and 1 packets leave none waiting.
#[test]
fn lengths_have_the_quantiles_of_their_chain() {
    let behind = |queue| Bottleneck { queue, ..drop_tail(8, 5) };
    let red = Red { min_threshold: 6.0, max_threshold: 7.0, max_probability: 0.1 };
    for bottleneck in [behind(Queue::DropTail), behind(Queue::Red(red))] {
        let flow = one_packet_each(100, Span::from_millis(98), 1000);
        let lengths = fixed_point(&bottleneck, &[flow]).unwrap().lengths;
        for (share, waiting) in [(0.0, 0), (0.3, 0), (0.49, 1), (0.66, 2), (0.8, 3), (0.99, 4), (1.0, 4)] {
            assert_eq!(lengths.waiting(Fraction::new(share).unwrap()), waiting, "{share}");
        }
    }
    // Five times as much as the link carries, K = 2: about 1/31, 5/31 and 25/31 of the time. The delay, 5/6 packets, lowers the load.
    let crowd = one_packet_each(500, Span::from_millis(100), 1000);
    let found = fixed_point(&drop_tail(8, 2), &[crowd]).unwrap();
    let waiting = |share| found.lengths.waiting(Fraction::new(share).unwrap());
    assert_eq!((waiting(0.19), waiting(0.21)), (0, 1));
}

#[test]
fn of_a_mix_each_flow_has_what_its_response_function_gives() {
    let [reno, highspeed, scalable, cubic] =
        [Protocol::Reno, Protocol::HighSpeed, Protocol::Scalable, Protocol::Cubic].map(|protocol| Flow {
            count: 2,
            protocol,
            base_rtt: Span::from_millis(100),
            packet: Bytes::new(1500),
            max_window: f64::INFINITY,
        });
    let found = fixed_point(&drop_tail(1000, 800), &[reno, highspeed, scalable, cubic]).unwrap();
    let loss = Fraction::new(found.path_loss).unwrap();
    for (flow, share) in [reno, highspeed, scalable, cubic].iter().zip(&found.flows) {
        close(share.window, flow.protocol.window(loss, share.rtt).unwrap(), 1e-6);
    }
    // At a loss of about 4e-6 the order is that of the exponents.
    let of = |index: usize| found.flows[index].throughput;
    assert!(of(0) < of(3) && of(3) < of(1) && of(1) < of(2), "{found:?}");
}

#[test]
fn a_million_packets_and_loads_on_both_sides_of_one_are_no_trouble() {
    for (packets, protocol) in
        [(1_000_000, Protocol::HighSpeed), (1_000_000, Protocol::Reno), (1 << 53, Protocol::Scalable)]
    {
        let found = case_1(protocol, packets);
        assert!(found.residual.abs() < 1e-6 && found.load > 0.999, "{found:?}");
        assert!(found.utilization <= 1.0 && found.waiting < packets as f64);
    }
    // 2000 flows that send a packet per 10 ms at the least: more than the link carries, whatever is lost.
    let crowd = Flow { count: 2000, base_rtt: Span::from_millis(10), ..ten(Protocol::Reno, 1, 1)[0] };
    for packets in [1, 20, 1000, 1_000_000] {
        let found = fixed_point(&drop_tail(10, packets), &[crowd]).unwrap();
        assert!(found.load > 1.0 && found.loss > 0.0 && found.loss < 1.0, "{found:?}");
        close(found.utilization, found.load * (1.0 - found.loss), 1e-6);
    }
}

/// More than the answer: a million lengths are summed some forty times.
#[test]
fn red_with_a_million_packets_is_summed() {
    let red = Red { min_threshold: 4e5, max_threshold: 1e6, max_probability: 0.1 };
    let bottleneck = Bottleneck { queue: Queue::Red(red), ..drop_tail(1000, 1_000_000) };
    let found = fixed_point(&bottleneck, &ten(Protocol::HighSpeed, 115_500, 124_500)).unwrap();
    assert!(found.residual.abs() < 1e-6, "{found:?}");
    assert!(found.load > 0.999 && found.utilization <= 1.0);
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    let good = ten(Protocol::Reno, 20_000, 40_000);
    let link = drop_tail(100, 100);
    let red = Red { min_threshold: 10.0, max_threshold: 50.0, max_probability: 0.1 };
    let behind = |red: Red| Bottleneck { queue: Queue::Red(red), ..link };
    let with = |change: fn(&mut Flow)| {
        let mut flows = good.clone();
        change(&mut flows[2]);
        flows
    };
    let cases = [
        (Bottleneck { capacity: Rate::ZERO, ..link }, good.clone(), "above 0"),
        (Bottleneck { unresponsive: link.capacity, ..link }, good.clone(), "below the capacity"),
        (Bottleneck { loss: Fraction::ONE, ..link }, good.clone(), "below 100%"),
        (Bottleneck { packets: 0, ..link }, good.clone(), "from 1 to 2^53"),
        (Bottleneck { packets: u64::MAX, ..link }, good.clone(), "from 1 to 2^53"),
        (Bottleneck { packets: 1_000_001, ..behind(red) }, good.clone(), "from 1 to 10^6 (RED)"),
        (behind(Red { min_threshold: -1.0, ..red }), good.clone(), "0 or more"),
        (behind(Red { min_threshold: f64::NAN, ..red }), good.clone(), "0 or more"),
        (behind(Red { max_threshold: 10.0, ..red }), good.clone(), "above min_threshold"),
        (behind(Red { max_probability: 0.0, ..red }), good.clone(), "above 0, and 1 at most"),
        (link, Vec::new(), "1 or more"),
        (link, with(|flow| flow.count = 0), "from 1 to 10^9"),
        (link, with(|flow| flow.base_rtt = Span::ZERO), "above 0"),
        (link, with(|flow| flow.packet = Bytes::ZERO), "at least one byte"),
        (link, with(|flow| flow.max_window = f64::NAN), "above 0 packets"),
    ];
    for (bottleneck, flows, accepted) in cases {
        let error = fixed_point(&bottleneck, &flows).unwrap_err();
        let NoFixedPoint::OutOfRange(range) = &error else { panic!("{error}") };
        assert_eq!(range.accepted, accepted, "{error}");
        assert!(error.to_string().ends_with(accepted));
        assert_eq!(Complaint::from(range.clone()).accepted, accepted);
    }
}

#[test]
fn a_protocol_without_a_response_function_is_named() {
    let error = fixed_point(&drop_tail(100, 100), &ten(Protocol::Bbr, 20_000, 40_000)).unwrap_err();
    assert_eq!(error, NoFixedPoint::NoResponse(Protocol::Bbr));
    assert!(error.to_string().starts_with("bbr has no response function"));
}

fn any_flow() -> impl Strategy<Value = Flow> {
    (1u32..2000, 0usize..4, 1u64..1_000_000, 40u64..9000, prop_oneof![Just(f64::INFINITY), 0.1f64..1e4])
        .prop_map(|(count, protocol, micros, bytes, max_window)| Flow {
            count,
            protocol: Protocol::ALL[protocol],
            base_rtt: Span::from_micros(micros),
            packet: Bytes::new(bytes),
            max_window,
        })
}

fn any_bottleneck() -> impl Strategy<Value = Bottleneck> {
    let queue = prop_oneof![
        Just(Queue::DropTail),
        (0.0f64..100.0, 0.1f64..1000.0, 0.001f64..1.0).prop_map(|(min_threshold, more, max_probability)| {
            Queue::Red(Red { min_threshold, max_threshold: min_threshold + more, max_probability })
        }),
    ];
    let loss = prop_oneof![Just(0.0), 1e-9f64..0.5];
    (4.0f64..11.5, 0.0f64..0.9, loss, 1u64..3000, queue).prop_map(
        |(magnitude, unresponsive, loss, packets, queue)| {
            let capacity = Rate::from_bps_f64(libm::pow(10f64, magnitude));
            let (unresponsive, loss) = (capacity.scale(unresponsive), Fraction::new(loss).unwrap());
            Bottleneck { capacity, unresponsive, loss, packets, queue }
        },
    )
}

proptest! {
    #[test]
    fn any_flows_have_a_point_that_agrees_with_itself(
        bottleneck in any_bottleneck(), flows in prop::collection::vec(any_flow(), 1..6)
    ) {
        let found = fixed_point(&bottleneck, &flows).unwrap();
        prop_assert!((0.0..=1.0).contains(&found.utilization), "{found:?}");
        prop_assert!((0.0..=1.0).contains(&found.loss) && found.path_loss >= found.loss, "{found:?}");
        // The mean lies below what the largest quantiles allow, and quantiles rise.
        let quantiles = [0.0, 0.05, 0.5, 0.95, 1.0].map(|share| found.lengths.waiting(Fraction::new(share).unwrap()));
        prop_assert!(quantiles.is_sorted() && found.waiting <= quantiles[4] as f64 + 1e-9, "{quantiles:?} {found:?}");
        prop_assert!(found.load > 0.0 && found.load.is_finite() && found.residual.abs() < 1e-6, "{found:?}");
        prop_assert!((found.load * (1.0 - found.loss) - found.utilization).abs() < 1e-6, "{found:?}");
        prop_assert!(found.waiting >= 0.0 && found.waiting <= bottleneck.packets as f64 - 1.0, "{found:?}");
        let carried: f64 = flows.iter().zip(&found.flows)
            .map(|(flow, share)| f64::from(flow.count) * share.throughput.as_bps_f64()).sum();
        let expected = found.utilization * bottleneck.capacity.as_bps_f64()
            - bottleneck.unresponsive.as_bps_f64() * (1.0 - found.loss);
        // A rate is in whole bits per second.
        let rounding = flows.iter().map(|flow| f64::from(flow.count)).sum::<f64>();
        prop_assert!((carried - expected).abs() <= rounding + 1e-6 * bottleneck.capacity.as_bps_f64(), "{found:?}");
        for (flow, share) in flows.iter().zip(&found.flows) {
            prop_assert!(share.window > 0.0 && share.window <= flow.max_window * (1.0 + 1e-12));
            prop_assert!(share.rtt >= flow.base_rtt);
        }
        // Waiting by the delay's packets and by Little's law.
        let rate = found.utilization * bottleneck.capacity.as_bps_f64() / (8.0 * found.mean_packet);
        let by_little = rate * found.queueing_delay.as_secs_f64();
        prop_assert!((by_little - found.waiting).abs() <= 1e-6 * found.waiting + rate * 1e-9, "{found:?}");
    }

    #[test]
    fn one_more_flow_is_more_load(mut flows in prop::collection::vec(any_flow(), 2..6), packets in 1u64..3000) {
        // Alike packets: a flow of long ones would delay those of short ones.
        flows.iter_mut().for_each(|flow| flow.packet = Bytes::new(1500));
        let link = drop_tail(100, packets);
        let (all, fewer) = (fixed_point(&link, &flows).unwrap(), fixed_point(&link, &flows[1..]).unwrap());
        prop_assert!(all.load >= fewer.load * (1.0 - 1e-9));
        prop_assert!(all.loss >= fewer.loss * (1.0 - 1e-6));
    }
}
