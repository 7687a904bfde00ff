//! Several links: in sequence, in a parking lot, with queues on the way back.

use crate::common::{link, plan};
use testkit::close;
use tightlink_sim::{FlowPlan, LinkPlan, NoRecorder, Outcome, Plan, Simulation, Topology};
use units::{Bytes, Span, Time};

const PAYLOAD: f64 = 1448.0 * 8.0;
const SEGMENT: f64 = 1500.0 * 8.0;

/// A minute over `links`, the first two seconds not measured.
fn network(links: Vec<LinkPlan>) -> Plan {
    Plan {
        topology: Topology::Network { links, tight: 0 },
        end: Some(Time::ZERO + Span::from_secs(60)),
        warmup: Time::ZERO + Span::from_secs(2),
        ..plan(1, 1)
    }
}

fn run(plan: Plan) -> Outcome<NoRecorder> {
    Simulation::new(plan.simplified(), NoRecorder).run()
}

/// A flow whose window is always `segments`.
fn windowed(name: &str, segments: u64, rtt_ms: u64, route: &[usize]) -> FlowPlan {
    FlowPlan {
        socket_buffer: Bytes::new(1448) * segments,
        route: route.to_vec(),
        ..FlowPlan::greedy(name, "fixed", Span::from_millis(rtt_ms))
    }
}

fn goodput(outcome: &Outcome<NoRecorder>, index: usize) -> f64 {
    outcome.flows[index].goodput().as_bps_f64()
}

#[test]
fn a_faster_link_behind_the_tight_one_never_queues() {
    for seconds in [(10, 50), (10, 11)] {
        let mut plan = network(vec![link("tight", seconds.0, 5, 40), link("fast", seconds.1, 10, 40)]);
        plan.flows = (0..3)
            .map(|index| FlowPlan {
                route: vec![0, 1],
                ..FlowPlan::greedy(&format!("flow-{index}"), "reno", Span::from_millis(40 + index * 7))
            })
            .collect();
        let outcome = run(plan);
        let [tight, fast] = &outcome.links[..] else { panic!("two links") };
        assert!(tight.utilization > 0.95 && tight.queue_drops > 0, "{tight:?}");
        assert_eq!((fast.mean_waiting_packets, fast.drops()), (0.0, 0));
        assert_eq!(fast.queueing_delay.max(), Span::ZERO);
        assert_eq!(outcome.link.forwarded, tight.forwarded);
    }
}

/// `[sobas:eq3]` with every link's serialization in T.
#[test]
fn a_window_limited_flow_gets_its_window_per_round_trip_over_all_links() {
    for rates in [&[10, 50][..], &[50, 10], &[20, 10, 40], &[20, 40, 10, 10]] {
        let links = rates.iter().map(|rate| link(&format!("{rate}"), *rate, 4, 500)).collect();
        let mut plan = network(links);
        let route: Vec<usize> = (0..rates.len()).collect();
        plan.flows = vec![windowed("target", 20, 45, &route)];
        let outcome = run(plan);
        let serialization: f64 = rates.iter().map(|rate| SEGMENT / (*rate as f64 * 1e6)).sum();
        close(goodput(&outcome, 0), 20.0 * PAYLOAD / (0.045 + serialization), 1e-3);
        let rtt = outcome.flows[0].rtt.mean().unwrap().as_secs_f64();
        close(rtt, 0.045 + serialization, 1e-4);
    }
}

/// Windows that always are full keep the links' queues at q, where what they send over their round-trip times is the
/// rate: W / (T + 2q) + w / (t + q) = C on each of two links alike.
#[test]
fn fixed_windows_in_a_parking_lot_get_the_shares_of_the_closed_form() {
    for (long, short) in [(100u64, 100u64), (60, 120), (200, 50)] {
        let mut plan = network(vec![link("a", 10, 5, 5000), link("b", 10, 5, 5000)]);
        plan.warmup = Time::ZERO + Span::from_secs(20);
        plan.flows = vec![
            windowed("long", long, 40, &[0, 1]),
            windowed("short-a", short, 23, &[0]),
            windowed("short-b", short, 23, &[1]),
        ];
        let outcome = run(plan);
        let serialization = SEGMENT / 10e6;
        let rates = |queue: f64| {
            let over = |window: u64, base: f64, links: f64| {
                window as f64 * SEGMENT / (base + links * (serialization + queue))
            };
            (over(long, 0.040, 2.0), over(short, 0.023, 1.0))
        };
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let (of_long, of_short) = rates(middle);
            if of_long + of_short > 10e6 { low = middle } else { high = middle }
        }
        let (of_long, of_short) = rates(low);
        close(goodput(&outcome, 0), of_long * PAYLOAD / SEGMENT, 0.03);
        close(goodput(&outcome, 1), of_short * PAYLOAD / SEGMENT, 0.03);
        close(goodput(&outcome, 2), of_short * PAYLOAD / SEGMENT, 0.03);
        for link in &outcome.links {
            assert!(link.utilization > 0.999, "{}", link.utilization);
            close(link.queueing_delay.mean().unwrap().as_secs_f64(), low, 0.05);
        }
    }
}

#[test]
fn reno_in_a_parking_lot_gets_less_the_more_links_it_crosses() {
    let mut shares = Vec::new();
    for links in [1usize, 2, 4] {
        let mut plan = network((0..links).map(|index| link(&format!("{index}"), 10, 2, 40)).collect());
        plan.end = Some(Time::ZERO + Span::from_secs(300));
        plan.warmup = Time::ZERO + Span::from_secs(20);
        // The same base RTT for all: what is lost is lost by the number of queues.
        let reno = |name: String, route: Vec<usize>| FlowPlan {
            send_jitter: Span::from_micros(500),
            route,
            ..FlowPlan::greedy(&name, "reno", Span::from_millis(40))
        };
        plan.flows = vec![reno("long".into(), (0..links).collect())];
        plan.flows.extend((0..links).map(|index| reno(format!("short-{index}"), vec![index])));
        let outcome = run(plan);
        assert!(outcome.links.iter().all(|link| link.utilization > 0.9));
        let long = goodput(&outcome, 0);
        let shorts: Vec<f64> = (1..=links).map(|index| goodput(&outcome, index)).collect();
        if links > 1 {
            assert!(shorts.iter().all(|short| long < 0.7 * short), "{links} links: {long}, {shorts:?}");
        }
        shares.push(long);
    }
    assert!(shares[0] > shares[1] && shares[1] > shares[2], "{shares:?}");
}

#[test]
fn thousands_of_flows_share_the_routes() {
    let mut plan = network(vec![link("a", 100, 5, 400), link("b", 100, 5, 400), link("back", 100, 5, 400)]);
    plan.end = Some(Time::ZERO + Span::from_secs(4));
    plan.flows = (0..5000)
        .map(|index| FlowPlan {
            start: Time::ZERO + Span::from_micros(200 * index),
            return_route: if index % 2 == 0 { vec![2] } else { Vec::new() },
            ..windowed(&format!("flow-{index}"), 2, 30 + index % 50, &[0, 1][..1 + index as usize % 2])
        })
        .collect();
    let outcome = run(plan);
    assert!(outcome.link.utilization > 0.99);
    assert!(outcome.flows.iter().filter(|flow| flow.delivered > Bytes::ZERO).count() > 2500);
}
