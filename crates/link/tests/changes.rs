//! Links whose capacity, delay and losses change.

mod common;

use common::Probe;
use proptest::prelude::*;
use std::sync::Arc;
use tightlink_link::changes::{
    Capacity, Changes, ExtraDelay, GilbertElliott, LossModel, Opportunities, OpportunitiesError, Outage,
    Steps, StepsError,
};
use tightlink_link::{DropReason, Limit, Link, LinkConfig, LinkReport};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn share(value: f64) -> Fraction {
    Fraction::new(value).expect("a share")
}

fn opportunities(times: &[u64], repeat: bool) -> Opportunities {
    let mut all = Opportunities::default();
    for time in times {
        all.push(*time).expect("rising times");
    }
    all.finish(repeat).expect("a trace")
}

fn by_trace(times: &[u64], repeat: bool) -> Changes {
    let capacity = Some(Capacity::Opportunities(Arc::new(opportunities(times, repeat))));
    Changes { capacity, ..Changes::default() }
}

fn by_steps(steps: &[(u64, u64)], every: Option<u64>) -> Changes {
    let values = steps.iter().map(|(ms, bps)| (Span::from_millis(*ms), Rate::from_bps(*bps))).collect();
    let rates = Steps::new(values, every.map(Span::from_millis)).expect("steps");
    Changes { capacity: Some(Capacity::Rates(Arc::new(rates))), ..Changes::default() }
}

fn link(changes: Changes, policy: &str, limit: u64) -> Link<Probe> {
    let rate = changes.capacity.as_ref().map_or(Rate::from_bps(8_000_000), Capacity::mean);
    let config = LinkConfig { changes, ..LinkConfig::constant(rate, Span::ZERO) };
    Link::make(&config, policy, Limit::Packets(limit), Stream::new(7, "link")).expect("a policy")
}

/// Sends packets of these lengths at these times; returns the arrivals, the drops, and the report at `end`.
fn drive(
    mut link: Link<Probe>,
    arrivals: &[(Time, u64)],
    end: Time,
) -> (Vec<(Time, u64)>, Vec<u64>, LinkReport) {
    let (mut out, mut dropped) = (Vec::new(), Vec::new());
    link.begin_measuring(Time::ZERO);
    let mut poll = |link: &mut Link<Probe>, until: Time, dropped: &mut Vec<u64>| {
        while let Some(at) = link.wakeup().filter(|at| *at <= until) {
            while let Some(packet) = link.poll(at, &mut |packet: Probe, _| dropped.push(packet.id)) {
                out.push((at, packet.id));
            }
        }
    };
    for (id, (at, length)) in arrivals.iter().enumerate() {
        poll(&mut link, *at, &mut dropped);
        let packet = Probe { length: *length, ..common::plain(id as u64) };
        link.push(*at, packet, &mut |packet, _| dropped.push(packet.id));
    }
    poll(&mut link, end, &mut dropped);
    let report = link.report(end);
    (out, dropped, report)
}

/// The departures of packets over a mahimahi trace, walked one opportunity after the other as its link does.
fn walked(
    times: &[u64],
    repeat: bool,
    arrivals: &[(Time, u64)],
    limit: usize,
    end: Time,
) -> Vec<(Time, u64)> {
    let (mut waiting, mut in_transit) = (std::collections::VecDeque::new(), None::<(u64, u64)>);
    let (mut out, mut arriving) = (Vec::new(), arrivals.iter().enumerate().peekable());
    let period = times.last().copied().unwrap_or(1);
    let cycles = if repeat { end.as_nanos() / 1_000_000 / period + 1 } else { 1 };
    for cycle in 0..cycles {
        for time in times {
            let opportunity = at_ms(cycle * period + time);
            // A packet that arrives at the very time of an opportunity has missed it.
            while let Some((id, (_, length))) = arriving.next_if(|(_, (at, _))| *at < opportunity) {
                if waiting.len() < limit {
                    waiting.push_back((id as u64, length + 4));
                }
            }
            let mut bytes = 1504;
            while bytes > 0 {
                let Some((id, left)) = in_transit.take().or_else(|| waiting.pop_front()) else { break };
                let used = left.min(bytes);
                bytes -= used;
                if left > used {
                    in_transit = Some((id, left - used));
                } else if opportunity <= end {
                    out.push((opportunity, id));
                }
            }
        }
    }
    out
}

fn arrivals() -> impl Strategy<Value = Vec<(Time, u64)>> {
    prop::collection::vec((0u64..4_000_000, 1u64..1501), 1..120).prop_map(|all| {
        let mut now = 0;
        all.into_iter()
            .map(|(gap, length)| {
                now += gap / 3 * 2;
                (Time::from_nanos(now), length)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn packets_leave_at_the_opportunities_of_a_trace_as_in_mahimahi(
        gaps in prop::collection::vec(0u64..12, 1..40),
        arrivals in arrivals(),
        limit in 1u64..30,
        repeat: bool,
    ) {
        let mut now = 0;
        let mut times: Vec<u64> = gaps.iter().map(|gap| { now += gap; now }).collect();
        times.push(now + 1);
        let end = at_ms(600);
        let expected = walked(&times, repeat, &arrivals, limit as usize, end);
        for policy in ["drop-tail", "drop-tail held"] {
            let link = match policy {
                "drop-tail" => link(by_trace(&times, repeat), policy, limit),
                _ => held(by_trace(&times, repeat), limit),
            };
            let (out, _, report) = drive(link, &arrivals, end);
            prop_assert_eq!(&out, &expected, "{}", policy);
            let taken: u64 = out.iter().map(|(_, id)| arrivals[*id as usize].1 + 4).sum();
            let offered = report.changing.as_ref().expect("a changing rate").offered.get();
            prop_assert!((report.utilization - taken as f64 / offered as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn one_rate_as_a_step_is_the_same_as_a_constant_rate(rate in 100_000u64..20_000_000, arrivals in arrivals(), limit in 1u64..30) {
        let constant = LinkConfig::constant(Rate::from_bps(rate), Span::ZERO);
        let constant = Link::make(&constant, "drop-tail", Limit::Packets(limit), Stream::new(7, "link")).expect("a policy");
        let end = at_ms(100_000);
        let (out, dropped, _) = drive(constant, &arrivals, end);
        let stepped = by_steps(&[(0, rate), (13, rate)], Some(26));
        prop_assert_eq!(drive(link(stepped.clone(), "drop-tail", limit), &arrivals, end).0, out.clone());
        let (held_out, held_dropped, _) = drive(held(stepped, limit), &arrivals, end);
        prop_assert_eq!(held_out, out);
        prop_assert_eq!(held_dropped, dropped);
    }

    #[test]
    fn a_queue_that_knows_departures_equals_one_that_holds_packets(
        steps in prop::collection::vec((1u64..50, prop_oneof![Just(0u64), 100_000u64..50_000_000]), 1..8),
        arrivals in arrivals(),
        limit in 1u64..30,
        outage in prop::option::of((1u64..40, 0u64..40)),
    ) {
        let mut now = 0;
        let steps: Vec<_> = steps.into_iter().map(|(length, rate)| { let from = now; now += length; (from, rate) }).collect();
        prop_assume!(steps.iter().any(|(_, rate)| *rate > 0));
        let outage = outage.map(|(first, length)| Outage {
            first: Span::from_millis(first),
            every: Span::from_millis(45),
            length: (Span::ZERO, Span::from_millis(length)),
        });
        let changes = Changes { outage, ..by_steps(&steps, Some(now)) };
        let end = at_ms(2_000);
        let (out, dropped, report) = drive(link(changes.clone(), "drop-tail", limit), &arrivals, end);
        let (held_out, held_dropped, held_report) = drive(held(changes, limit), &arrivals, end);
        prop_assert_eq!(out, held_out);
        prop_assert_eq!(dropped, held_dropped);
        prop_assert_eq!(report.utilization, held_report.utilization);
        prop_assert_eq!(report.mean_waiting_bytes, held_report.mean_waiting_bytes);
        prop_assert_eq!(report.queueing_delay.quantile(0.95), held_report.queueing_delay.quantile(0.95));
        prop_assert_eq!(report.mean_waiting_packets, held_report.mean_waiting_packets);
    }
}

/// A drop-tail link that holds its packets: it marks only when full, and no packet here can be marked.
fn held(changes: Changes, limit: u64) -> Link<Probe> {
    let rate = changes.capacity.as_ref().map_or(Rate::from_bps(8_000_000), Capacity::mean);
    let config = LinkConfig { changes, ..LinkConfig::constant(rate, Span::ZERO) };
    let queue = tightlink_link::queue::DropTail::new(Limit::Packets(limit));
    Link::queued(&config, Box::new(queue), Stream::new(7, "link"))
}

#[test]
fn a_saturated_trace_delivers_exactly_its_opportunities_in_each_second() {
    let times = [0, 1, 1, 1, 7, 400, 400, 999, 1300];
    let arrivals: Vec<_> = (0..60).map(|_| (Time::from_nanos(0), 1500)).collect();
    let (out, dropped, report) =
        drive(link(by_trace(&times, true), "drop-tail", 1000), &arrivals, at_ms(5199));
    assert!(dropped.is_empty());
    // The opportunity at time zero passed as the packets came. The last one comes at 5200 ms.
    assert_eq!(out.len(), 4 * 9 - 2);
    assert_eq!(
        report.changing.expect("a changing rate").offered,
        Bytes::new((4 * 9 - 2) * 1504),
        "from the start of measuring on"
    );
    assert_eq!(report.utilization, 1.0);
    let in_second =
        |second: u64| out.iter().filter(|(at, _)| at.as_nanos() / 1_000_000_000 == second).count();
    assert_eq!((0..5).map(in_second).collect::<Vec<_>>(), [7, 8, 7, 9, 3]);
}

#[test]
fn a_trace_that_does_not_repeat_ends_the_link() {
    let arrivals: Vec<_> = (0..5).map(|at| (at_ms(at), 1500)).collect();
    let mut link = link(by_trace(&[10, 20, 20], false), "codel", 100);
    for (at, length) in &arrivals {
        let packet = Probe { length: *length, ..common::plain(0) };
        link.push(*at, packet, &mut |_, _| panic!("there is room"));
    }
    let mut out = 0;
    while let Some(at) = link.wakeup() {
        while link.poll(at, &mut |_, _| panic!("no drops")).is_some() {
            out += 1;
        }
    }
    assert_eq!(out, 3);
    let report = link.report(at_ms(1_000));
    assert_eq!(report.conservation.held, 2);
    assert_eq!(report.utilization, 1.0);
}

#[test]
fn a_rate_of_zero_for_minutes_only_makes_packets_wait() {
    let changes = by_steps(&[(0, 8_000_000), (1_000, 0), (301_000, 8_000_000)], Some(302_000));
    for policy in ["drop-tail", "codel", "fq-codel", "pie", "red"] {
        let arrivals = [(at_ms(999), 1000), (at_ms(1_500), 1000), (at_ms(150_000), 1000)];
        let (out, dropped, report) = drive(link(changes.clone(), policy, 100), &arrivals, at_ms(320_000));
        let times: Vec<_> = out.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
        assert_eq!(times.len() + dropped.len(), 3, "{policy}");
        assert_eq!(times[0], 1_000, "{policy}: the packet was sent in the last millisecond");
        assert!(times[1..].iter().all(|ms| (301_001..=301_002).contains(ms)), "{policy}: {times:?}");
        assert!(report.utilization.is_finite() && report.utilization < 0.01, "{policy}");
    }
}

#[test]
fn an_outage_holds_packets_and_takes_opportunities() {
    let outage = Outage {
        first: Span::from_millis(10),
        every: Span::from_millis(100),
        length: (Span::from_millis(50), Span::from_millis(50)),
    };
    let changes = Changes { outage: Some(outage), ..by_trace(&[5, 30, 70, 100], true) };
    let arrivals: Vec<_> = (0..4).map(|_| (Time::ZERO, 1500)).collect();
    let (out, _, report) = drive(link(changes, "drop-tail", 10), &arrivals, at_ms(200));
    let times: Vec<_> = out.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [5, 70, 100, 105]);
    assert_eq!(report.changing.expect("a changing rate").offered, Bytes::new(6 * 1504));
}

#[test]
fn packets_overtake_only_if_the_scenario_lets_them() {
    let arrive = |reorder: bool| {
        let steps = vec![(Span::ZERO, Span::from_millis(50)), (Span::from_millis(10), Span::ZERO)];
        let delay = ExtraDelay { steps: Arc::new(Steps::new(steps, None).expect("steps")), reorder };
        let changes = Changes { delay: Some(delay), ..Changes::default() };
        let arrivals = [(at_ms(0), 1000), (at_ms(20), 1000), (at_ms(70), 1000)];
        drive(link(changes, "drop-tail", 10), &arrivals, at_ms(1_000)).0
    };
    assert_eq!(arrive(false), [(at_ms(51), 0), (at_ms(51), 1), (at_ms(71), 2)]);
    assert_eq!(arrive(true), [(at_ms(21), 1), (at_ms(51), 0), (at_ms(71), 2)]);
}

/// The numbers of the packets that a link with this model loses, of 100 000.
fn lost(model: LossModel) -> Vec<u64> {
    let changes = Changes { loss: Some(model), ..Changes::default() };
    let mut link = link(changes, "drop-tail", 1_000_000);
    let mut lost = Vec::new();
    for number in 0..100_000 {
        link.push(Time::from_nanos(number * 2_000_000), common::plain(number), &mut |packet, reason| {
            assert_eq!(reason, DropReason::RandomLoss);
            lost.push(packet.id);
        });
    }
    lost
}

#[test]
fn losses_follow_their_model() {
    assert_eq!(lost(LossModel::Packets([3, 4, 70_000].into())), [2, 3, 69_999]);

    let of = GilbertElliott {
        to_bad: share(0.01),
        to_good: share(0.2),
        good_loss: Fraction::ZERO,
        bad_loss: Fraction::ONE,
    };
    let losses = lost(LossModel::GilbertElliott(of));
    assert!((losses.len() as f64 / 1e5 - of.mean()).abs() < 0.004, "{} of 100 000", losses.len());
    let bursts = 1 + losses.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
    let length = losses.len() as f64 / bursts as f64;
    assert!((4.6..5.4).contains(&length), "a burst has 1/0.2 packets in the mean: {length}");

    let steps = vec![(Span::ZERO, Fraction::ZERO), (Span::from_secs(100), share(0.5))];
    let steps = Steps::new(steps, Some(Span::from_secs(200))).expect("steps");
    let losses = lost(LossModel::Shares(Arc::new(steps)));
    assert!((24_500..25_500).contains(&losses.len()));
    assert!(
        losses.iter().all(|number| number * 2 / 1000 % 200 >= 100),
        "only in the second half of each period"
    );
}

#[test]
fn times_that_are_no_trace_are_refused() {
    let push = |times: &[u64]| {
        let mut all = Opportunities::default();
        times.iter().try_for_each(|time| all.push(*time)).and_then(|()| all.finish(true)).map(|_| ())
    };
    assert_eq!(push(&[]), Err(OpportunitiesError::Empty));
    assert_eq!(push(&[0, 0]), Err(OpportunitiesError::NoLength));
    assert_eq!(push(&[5, 4]), Err(OpportunitiesError::Descends { before: 5 }));
    assert_eq!(push(&[u64::MAX]), Err(OpportunitiesError::Distant));
    assert_eq!(push(&[0, 70_000_000]), Ok(()), "a gap of 19 hours");

    let secs = Span::from_secs;
    assert_eq!(Steps::<u64>::new(vec![], None), Err(StepsError::Empty));
    assert_eq!(Steps::new(vec![(secs(1), 1)], None), Err(StepsError::LateStart));
    assert_eq!(Steps::new(vec![(secs(0), 1), (secs(0), 2)], None), Err(StepsError::NotRising(1)));
    assert_eq!(Steps::new(vec![(secs(0), 1), (secs(5), 2)], Some(secs(5))), Err(StepsError::BeyondPeriod(1)));
}

#[test]
fn a_gap_or_a_number_beyond_sixteen_bits_counts_whole() {
    let mut times = vec![200_000; 70_000];
    times.push(400_001);
    let of = opportunities(&times, true);
    assert_eq!((of.count(), of.period()), (70_001, Span::from_millis(400_001)));
    let arrivals: Vec<_> = (0..70_001).map(|_| (Time::ZERO, 1500)).collect();
    let (out, ..) = drive(link(by_trace(&times, true), "drop-tail", 100_000), &arrivals, at_ms(500_000));
    assert!(out[..70_000].iter().all(|(at, _)| *at == at_ms(200_000)));
    assert_eq!(out[70_000].0, at_ms(400_001));
}

#[test]
fn changes_begin_again_when_a_run_begins() {
    for policy in ["drop-tail", "codel"] {
        let mut link = link(by_trace(&[10, 20, 40], true), policy, 10);
        link.begin_changes(at_ms(1_003));
        link.begin_measuring(at_ms(1_003));
        for id in 0..3 {
            link.push(at_ms(1_004), common::plain(id), &mut |_, _| panic!("there is room"));
        }
        let mut out = Vec::new();
        while let Some(at) = link.wakeup() {
            out.extend(link.poll(at, &mut |_, _| panic!("no drops")).map(|_| at.as_nanos() / 1_000_000));
        }
        assert_eq!(out, [1_013, 1_023, 1_043], "{policy}");
        assert_eq!(link.report(at_ms(1_043)).utilization, 1.0);
    }
}

#[test]
fn the_self_inflicted_delay_is_the_age_beyond_that_of_a_sender_that_knew_the_trace() {
    // Every 20 ms one packet can leave. Two packets that wait for 100 ms each, one after the other, are that old.
    let times: Vec<u64> = (1..=50).map(|number| number * 20).collect();
    let saturated: Vec<_> = (0..250).map(|number| (at_ms(number * 20 + 10), 1500)).collect();
    let report = drive(link(by_trace(&times, true), "drop-tail", 100), &saturated, at_ms(5_000)).2;
    let changing = report.changing.expect("a changing rate");
    // The age grows from 0 to 20 ms for a sender that knew, and from 10 ms to 30 ms for this one.
    let close = |span: Option<Span>, ms: f64| (span.expect("packets left").as_millis_f64() - ms).abs() < 0.6;
    assert!(close(changing.least_ages.quantile(0.95), 19.0), "{:?}", changing.least_ages.quantile(0.95));
    assert!(close(changing.ages.quantile(0.95), 29.0), "{:?}", changing.ages.quantile(0.95));
    assert!(close(changing.self_inflicted(0.95), 10.0));

    let bursts: Vec<_> = (0..250).map(|number| (at_ms(number / 6 * 120 + 10), 1500)).collect();
    let report = drive(link(by_trace(&times, true), "drop-tail", 100), &bursts, at_ms(5_000)).2;
    let delay = report.changing.expect("a changing rate").self_inflicted(0.95).expect("packets left");
    assert!((90.0..110.0).contains(&delay.as_millis_f64()), "a burst of six waits for 110 ms: {delay:?}");
}

#[test]
fn a_sender_that_knows_the_rate_has_packets_of_one_to_two_transmission_times() {
    // 1500 bytes take 10 ms, and the link stands still for 2 s of each 10 s.
    let changes = by_steps(&[(0, 1_200_000), (8_000, 0)], Some(10_000));
    let report = drive(link(changes, "drop-tail", 10), &[(at_ms(0), 1500)], at_ms(100_000)).2;
    let least = report.changing.expect("a changing rate").least_ages;
    let close = |q: f64, ms: f64| {
        let found = least.quantile(q).expect("time passed").as_millis_f64();
        assert!((found - ms).abs() < 1.0, "{q}: {found}");
    };
    close(0.4, 15.0);
    close(0.8, 20.0);
    close(0.9, 1_010.0);
}

#[test]
fn outages_that_cover_all_capacity_end_the_link_at_once() {
    let outage = Outage {
        first: Span::ZERO,
        every: Span::from_millis(2),
        length: (Span::from_millis(1), Span::from_millis(1)),
    };
    let changes = Changes { outage: Some(outage), ..by_steps(&[(0, 8_000_000), (1, 0)], Some(2)) };
    for policy in ["drop-tail", "codel"] {
        let (out, dropped, report) =
            drive(link(changes.clone(), policy, 10), &[(at_ms(0), 1500), (at_ms(50), 1500)], at_ms(1_000));
        assert!(out.is_empty() && dropped.is_empty(), "{policy}");
        assert_eq!((report.utilization, report.conservation.held), (0.0, 2), "{policy}");
    }
}

#[test]
fn rates_of_a_few_bits_do_not_make_a_report_slow() {
    let slow: Vec<_> = (0..10_000).map(|ms| (ms, 1 + ms % 2)).collect();
    let report = drive(link(by_steps(&slow, Some(10_000)), "drop-tail", 10), &[], at_ms(10_000)).2;
    let least = report.changing.expect("a changing rate").least_ages;
    assert_eq!(least.max(), Span::from_micros(9_999_500), "no packet can leave in this time");
}
