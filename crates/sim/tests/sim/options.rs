//! What a flow may turn on, from outside: every combination carries every transfer to its end.

use crate::common::{plan, run};
use proptest::prelude::*;
use tightlink_sim::{EcnMode, FlowPlan, FlowReport, LossDetection, NoRecorder, Outcome, Recovery, Transport};
use units::{Bytes, Fraction, Span, Time};

/// The feedbacks of marks, with controls that may have them.
const MARKS: &[(EcnMode, &str)] = &[
    (EcnMode::Off, "reno"),
    (EcnMode::Classic, "reno"),
    (EcnMode::Accurate, "cubic"),
    (EcnMode::Classic, "dctcp"),
    (EcnMode::Accurate, "dctcp"),
    (EcnMode::Accurate, "prague"),
];

/// Flows alike with one combination of options.
fn combined(flow: FlowPlan, options: (bool, bool, bool, EcnMode, bool, bool)) -> FlowPlan {
    let (prr, rack, sack, ecn, pacing, timestamps) = options;
    let transport = Transport {
        recovery: if prr { Recovery::Prr } else { Recovery::Rfc6675 },
        loss_detection: if rack { LossDetection::Rack } else { LossDetection::DupAck },
        sack,
        ecn,
        pacing,
        timestamps,
        ..flow.transport
    };
    FlowPlan { transport, ..flow }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_completes_whatever_is_on(
        (prr, rack, sack, pacing, timestamps) in any::<(bool, bool, bool, bool, bool)>(),
        (ecn, control) in prop::sample::select(MARKS),
        queue in prop::sample::select(link::queue::POLICIES),
        packets in 1u64..80,
        loss in prop_oneof![Just(0.0), 0.0f64..0.2],
        segments in 1u64..800,
        delayed_ack in 1u64..3,
        jitter_us in prop_oneof![Just(0u64), 1u64..500],
        seed in any::<u64>(),
    ) {
        let options = (prr, rack, sack, ecn, pacing, timestamps);
        let mut plan = plan(10_000_000, packets);
        plan.topology.links_mut()[0].queue = queue.name.into();
        plan.topology.links_mut()[0].config.loss = Fraction::new(loss).unwrap();
        plan.seed = seed;
        plan.flows = (0..3u64)
            .map(|index| FlowPlan {
                size: Some(Bytes::new(1448 * segments - index)),
                start: Time::ZERO + Span::from_millis(1 + 7 * index),
                delayed_ack,
                send_jitter: Span::from_micros(jitter_us),
                ..combined(FlowPlan::greedy(&format!("flow-{index}"), control, Span::from_millis(20 + 9 * index)), options)
            })
            .collect();
        let outcome = run(plan);
        let kept = outcome.link.conservation;
        prop_assert_eq!(kept.arrived, kept.forwarded + kept.dropped + kept.held);
        let sent: u64 = outcome.flows.iter().map(|flow| flow.sent).sum();
        prop_assert_eq!(sent, kept.arrived);
        for (index, flow) in outcome.flows.iter().enumerate() {
            prop_assert_eq!(flow.delivered, Bytes::new(1448 * segments - index as u64));
            prop_assert!(flow.completion.is_some());
            prop_assert_eq!(flow.sent, segments + flow.retransmits);
            prop_assert!(ecn.is_on() || flow.marks == 0, "marks without ecn");
        }
    }
}

/// One flow over 20 Mbit/s and 20 ms with random losses.
fn lossy(loss: f64, rack: bool) -> FlowReport {
    let mut plan = plan(20_000_000, 200);
    plan.topology.links_mut()[0].config.loss = Fraction::new(loss).unwrap();
    plan.end = Some(Time::ZERO + Span::from_secs(200));
    plan.flows = vec![combined(
        FlowPlan::greedy("target", "reno", Span::from_millis(20)),
        (false, rack, true, EcnMode::Off, false, true),
    )];
    run(plan).flows.remove(0)
}

/// What counting leaves to the timer, time finds a round trip later.
#[test]
fn lost_retransmissions_and_tails_need_far_fewer_timeouts_with_rack() {
    for loss in [0.02, 0.1] {
        let (counted, timed) = (lossy(loss, false), lossy(loss, true));
        assert!(counted.timeouts > 20, "{}", counted.timeouts);
        assert!(timed.timeouts * 2 < counted.timeouts, "{} {}", timed.timeouts, counted.timeouts);
        assert!(timed.goodput() > counted.goodput(), "{} {}", timed.goodput(), counted.goodput());
    }
}

/// A queue that marks takes what it would drop otherwise, and the window comes down as it would have.
#[test]
fn marks_replace_drops() {
    let queues = ["red", "codel", "pie", "fq-codel", "fq-pie", "dualpi2"];
    for (queue, mode) in queues
        .map(|queue| (queue, EcnMode::Classic))
        .into_iter()
        .chain(queues.map(|queue| (queue, EcnMode::Accurate)))
    {
        let outcome = |ecn| {
            let mut plan = plan(20_000_000, 200);
            plan.topology.links_mut()[0].queue = queue.into();
            plan.end = Some(Time::ZERO + Span::from_secs(60));
            plan.warmup = Time::ZERO + Span::from_secs(10);
            plan.flows = (0..4)
                .map(|index| {
                    let flow = FlowPlan::greedy(&format!("flow-{index}"), "reno", Span::from_millis(30));
                    combined(flow, (false, false, true, ecn, false, true))
                })
                .collect();
            run(plan)
        };
        let (marking, dropping) = (outcome(mode), outcome(EcnMode::Off));
        let of =
            |outcome: &Outcome<_>, what: fn(&FlowReport) -> u64| outcome.flows.iter().map(what).sum::<u64>();
        let marks = of(&marking, |flow| flow.marks);
        let (kept, lost) = (of(&marking, |flow| flow.dropped), of(&dropping, |flow| flow.dropped));
        assert!(marks > 50 && kept * 5 < lost, "{queue}: {marks} marks, {kept} drops for {lost}");
        assert_eq!(of(&dropping, |flow| flow.marks), 0);
        assert!(marking.link.utilization > 0.9, "{queue}: {}", marking.link.utilization);
        // Each mark asks for a smaller window as a loss does: about as many as there were losses, since the queue
        // is held to the same length.
        assert!(marks < lost * 4 && lost < marks * 4, "{queue}: {marks} marks, {lost} losses");
    }
}

/// Where nothing marks, a flow that could be marked is a flow that cannot.
#[test]
fn capability_alone_changes_nothing() {
    let outcome = |ecn| {
        let mut plan = plan(20_000_000, 30);
        plan.end = Some(Time::ZERO + Span::from_secs(30));
        plan.flows = vec![combined(
            FlowPlan::greedy("target", "reno", Span::from_millis(30)),
            (false, false, true, ecn, false, true),
        )];
        let outcome = run(plan);
        (outcome.flows[0].delivered, outcome.flows[0].sent, outcome.link.queue_drops)
    };
    assert_eq!(outcome(EcnMode::Classic), outcome(EcnMode::Off));
    assert_eq!(outcome(EcnMode::Accurate), outcome(EcnMode::Off));
}

/// Pacing takes the bursts out: a window that fits the path queues nothing but a packet or two.
#[test]
fn a_paced_window_needs_no_queue() {
    let longest = |pacing| {
        let mut plan = plan(20_000_000, 500);
        plan.end = Some(Time::ZERO + Span::from_secs(20));
        plan.flows = vec![FlowPlan {
            // 80 % of the bandwidth-delay product.
            socket_buffer: Bytes::new(1448 * 53),
            ..combined(
                FlowPlan::greedy("target", "reno", Span::from_millis(40)),
                (false, false, true, EcnMode::Off, pacing, true),
            )
        }];
        let outcome = run(plan);
        assert!(outcome.link.utilization > 0.75, "{}", outcome.link.utilization);
        outcome.link.queueing_delay.max()
    };
    // 0.6 ms each packet. The first ten leave at once: there is no round-trip time yet. After that slow start sends
    // two at a time for each acknowledgement.
    assert!(longest(true) < Span::from_millis(6), "{}", longest(true));
    assert!(longest(false) > Span::from_millis(8), "{}", longest(false));
}

/// A drop-tail queue has no early sign of its own; with a step to mark above it need not overflow.
#[test]
fn a_drop_tail_queue_marks_above_its_step() {
    let outcome = |step| {
        let mut plan = plan(20_000_000, 200);
        plan.topology.links_mut()[0].queue.settings.mark_above = step;
        plan.end = Some(Time::ZERO + Span::from_secs(30));
        plan.warmup = Time::ZERO + Span::from_secs(5);
        plan.flows = vec![combined(
            FlowPlan::greedy("target", "reno", Span::from_millis(30)),
            (false, false, true, EcnMode::Classic, false, true),
        )];
        run(plan)
    };
    let (never, step) = (outcome(None), outcome(Some(60.0)));
    assert_eq!(never.flows[0].marks, 0);
    assert!(never.link.queue_drops > 0);
    assert!(step.flows[0].marks > 5 && step.link.queue_drops == 0, "{}", step.flows[0].marks);
    // 50 packets are the bandwidth-delay product: half of 110 keeps the link busy.
    assert!(step.link.utilization > 0.99, "{}", step.link.utilization);
    let waiting = |outcome: &Outcome<NoRecorder>| outcome.link.mean_waiting_packets;
    assert!(waiting(&step) * 2.0 < waiting(&never), "{} {}", waiting(&step), waiting(&never));
}
