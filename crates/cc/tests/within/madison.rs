//! The stages of a flow, against sections 4.2 and 4.3 of the paper.

use super::*;
use crate::RttView;

const SEGMENT: Bytes = Bytes::new(1500);
const BASE: Span = Span::from_millis(50);

fn start() -> Start {
    Start { segment: SEGMENT, window: SEGMENT * 10, threshold: Bytes::MAX }
}

fn ack(now: Time, newest_sent: Time, round: u64) -> Ack {
    let rtt = now.since(newest_sent);
    Ack {
        now,
        acked: SEGMENT,
        delivered: SEGMENT,
        newest_sent,
        in_flight: SEGMENT,
        rtt: RttView { latest: Some(rtt), smoothed: BASE, min: BASE },
        rate: None,
        window_limited: false,
        paced: false,
        recovering: false,
        round,
    }
}

fn stage(madison: &Madison) -> &'static str {
    match madison.stage {
        Stage::StartUp(_) => "start-up",
        Stage::Starting => "starting",
        Stage::Later => "later",
    }
}

/// Sends start-up over an idle path with that service time; acknowledges the first `acknowledged` of its packets.
fn started(service: Span, acknowledged: usize) -> Madison {
    started_with(Parameters::default(), service, acknowledged)
}

fn started_with(parameters: Parameters, service: Span, acknowledged: usize) -> Madison {
    let mut madison = Madison::with(start(), parameters);
    let (mut now, mut sent) = (Time::ZERO, Vec::new());
    for _ in 0..12 {
        sent.push(now);
        let gap = madison.gap_after(now).expect("a script");
        now = if gap == Span::MAX { now } else { now + gap };
    }
    let (mut arrived, mut free) = (Vec::new(), Time::ZERO);
    for sent in &sent {
        free = free.max(*sent) + service;
        arrived.push(free + BASE - service);
    }
    for (sent, arrived) in sent.into_iter().zip(arrived).take(acknowledged) {
        madison.on_ack(&ack(arrived, sent, 1));
    }
    madison
}

#[test]
fn start_up_starts_a_flow_at_the_rate_of_its_target() {
    assert_eq!(stage(&started(Span::from_micros(120), 11)), "start-up");
    let madison = started(Span::from_micros(120), 12);
    assert_eq!(stage(&madison), "starting");
    // x = 2b/(1 + 2b) (1 - u0), b = 5.085, of a link that eight probes found idle: u0 = 1/10.
    let share = madison.sending.rate() * 120e-6;
    assert!((share - 0.9 * 0.9105).abs() < 1e-4, "{share}");
}

#[test]
fn as_printed_the_first_four_probes_do_unless_15_ms_are_less_than_20_service_times() {
    let after = |service, acknowledged| stage(&started_with(Parameters::printed(), service, acknowledged));
    let (fast, slow) = (Span::from_micros(120), Span::from_millis(1));
    assert_eq!((after(fast, 5), after(fast, 6)), ("start-up", "starting"));
    assert_eq!((after(slow, 11), after(slow, 12)), ("start-up", "starting"));
}

#[test]
fn probes_are_32_service_times_apart_within_15_and_100_ms() {
    for (service, spacing) in [(120, 0.015), (1000, 0.032), (6000, 0.1)] {
        let madison = started(Span::from_micros(service), 12);
        assert!((madison.schedule.spacing() - spacing).abs() < 1e-9, "{service}: {madison:?}");
    }
}

#[test]
fn a_pair_is_wanted_once_per_round_trip_until_there_have_been_twenty() {
    let mut madison = started(Span::from_micros(120), 12);
    let mut now = Time::ZERO + Span::from_secs(1);
    // No packet left until now, so the pace begins anew.
    assert_eq!(madison.gap_after(now), Some(Span::ZERO));
    let (mut pairs, mut second) = (Vec::new(), false);
    while now < Time::ZERO + Span::from_secs(3) {
        let gap = madison.gap_after(now).expect("a pace");
        let round = now.as_nanos() / BASE.as_nanos();
        let behind = if second { Span::from_micros(120) } else { Span::ZERO };
        madison.on_ack(&ack(now + BASE + behind, now, round));
        second = gap == Span::ZERO;
        if second {
            pairs.push(round);
        }
        now += gap;
    }
    // Start-up has sent two more.
    assert_eq!((2 + pairs.len(), madison.path.pairs()), (PAIRS, PAIRS));
    assert!(pairs.windows(2).all(|two| two[0] < two[1]), "{pairs:?}");
}

#[test]
fn a_missing_acknowledgement_quiets_the_sender_until_the_next_comes() {
    let mut madison = started(Span::from_micros(120), 12);
    // The window holds the data that its rate sends within a round trip and 100 ms.
    let most = madison.sending.rate() * 0.15 + 2.0;
    assert_eq!(madison.allowance().window, SEGMENT.scale(most));
    let now = Time::ZERO + Span::from_secs(1);
    let (lost, in_flight) = (SEGMENT, SEGMENT * 100);
    madison.on_congestion(&Congestion { now, kind: CongestionKind::Timeout, lost, in_flight });
    assert_eq!(madison.allowance().window, SEGMENT);
    madison.on_ack(&ack(now + BASE, now, 2));
    assert_eq!(madison.allowance().window, SEGMENT.scale(most));
}

mod averaged {
    use super::super::Probe;
    use super::super::averaged::*;
    use model::bottleneck::{Measures, utilization};
    use units::{Span, Time};

    /// The service time at 100 Mbit/s, seconds.
    const SERVICE: f64 = 120e-6;

    /// Feeds windows in which `waiting` packets wait to a flow with the share `own`; returns the share that it wants
    /// then.
    fn wanted(waiting: &[f64], own: f64, target: f64) -> f64 {
        let mut rules = Averaged::default();
        rules.send_at(Time::ZERO, own / SERVICE);
        let mut share = own;
        let mut now = Time::ZERO;
        for waiting in waiting {
            let decision = loop {
                let decision = rules.on_probe(&Probe {
                    now,
                    sent: now,
                    rtt: Span::from_secs_f64(0.05 + waiting * SERVICE),
                    least: 0.05,
                    service: SERVICE,
                    measures: Measures::default(),
                    target,
                    starting: false,
                    other_loss: false,
                    period: Span::from_millis(200),
                });
                now += Span::from_millis(40);
                if let Some(decision) = decision {
                    break decision;
                }
            };
            share = decision.share.expect("a window is full");
        }
        share
    }

    #[test]
    fn who_has_the_target_keeps_its_rate() {
        // Three flows with 5 packets each: 15 wait, U = 30/31, and x = 2b (1 - U) = 10/31.
        let share = wanted(&[15.0; 8], 10.0 / 31.0, 5.0);
        assert!((share - 10.0 / 31.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn who_has_more_than_its_part_gives_it_up_and_who_has_less_takes() {
        let (more, less) = (wanted(&[15.0; 8], 0.5, 5.0), wanted(&[15.0; 8], 0.1, 5.0));
        // X - (nD - 1) S would be below zero: the whole link is for the flows that adapt [madison:eq14].
        assert!((more - 10.0 / (1.0 + 10.0 * 90.0 / 31.0)).abs() < 1e-9, "{more}");
        // 1/(1 + 2b nD) of the way.
        assert!((less - (0.1 + (10.0 / 31.0 - 0.1) / 30.0)).abs() < 0.001, "{less}");
    }

    #[test]
    fn a_queue_that_grows_is_answered_by_at_least_what_it_grows_by() {
        let own = 10.0 / 31.0;
        let mut waiting = [15.0; 9];
        waiting[8] = 25.0;
        let mean = 15.0 + 10.0 / 9.0;
        let adapting = utilization(mean) * mean / 5.0;
        // The queue grows by 10 packets in 240 ms, 2000 service times, and the last two windows are above the mean.
        let off = 0.005 + 2.0 / (2.0_f64 * mean + 1.0).powi(2) * (20.0 - mean);
        let expected = 10.0 / (1.0 + 10.0 * adapting) - own * off;
        let share = wanted(&waiting, own, 5.0);
        assert!((share - expected).abs() < 1e-9, "{share} {expected}");
    }

    #[test]
    fn where_no_probe_met_a_queue_there_is_room() {
        let share = wanted(&[15.0, 15.0, 0.5, 0.5], 0.2, 5.0);
        assert!(share > 0.3, "{share}");
    }
}

mod schedule {
    use super::super::schedule::*;
    use units::{Span, Time};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn start_up_is_a_pair_and_four_probes_and_the_same_again_15_ms_apart() {
        let mut schedule = Schedule::new(1.0);
        let mut now = Time::ZERO;
        let mut left = Vec::new();
        while !schedule.is_held() {
            left.push(now.since(Time::ZERO).as_nanos() / 1_000_000);
            let gap = schedule.left(now);
            now = if gap == Span::MAX { now } else { now + gap };
        }
        assert_eq!(left, [0, 0, 15, 30, 45, 60, 75, 75, 90, 105, 120, 135]);
        let probes: Vec<u64> = [0, 15, 30, 45, 60, 75, 90, 105, 120, 135]
            .into_iter()
            .filter(|sent| schedule.on_ack(ms(500 + sent), ms(*sent), 1.0).0)
            .collect();
        assert_eq!(probes, [15, 30, 45, 60, 90, 105, 120, 135]);
    }

    /// Returns the times at which packets left within `seconds`, and those of the probes among them.
    fn departures(randomness: f64, gap: f64, spacing: f64, seconds: u64) -> (Vec<Time>, Vec<Time>) {
        let mut schedule = Schedule::new(randomness);
        schedule.begin(Time::ZERO, spacing);
        schedule.set_gap(gap);
        let (mut all, mut probes, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
        while now < ms(1000 * seconds) {
            all.push(now);
            now += schedule.left(now);
            let probe = schedule.replies.last_probe();
            if probe.is_some() && probe.as_ref() != probes.last() {
                probes.extend(probe);
            }
        }
        (all, probes)
    }

    /// Returns the mean of the gaps, and the square of their coefficient of variation.
    fn spread(times: &[Time]) -> (f64, f64) {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, squares / mean.powi(2))
    }

    #[test]
    fn probes_are_exponentially_spaced_among_even_packets_whose_rate_they_do_not_change() {
        let (all, probes) = departures(0.0, 0.001, 0.02, 200);
        let (mean, _) = spread(&all);
        assert!((mean / 0.001 - 1.0).abs() < 0.01, "{mean}");
        let (mean, variation) = spread(&probes);
        // A probe takes a place of the pace, so the next one is up to a gap later than drawn.
        assert!((mean / 0.02 - 1.0).abs() < 0.06, "{mean}");
        assert!((variation - 1.0).abs() < 0.1, "{variation}");
    }

    #[test]
    fn with_random_spacing_all_packets_are_a_poisson_process() {
        let (all, _) = departures(1.0, 0.001, 0.02, 200);
        let (mean, variation) = spread(&all);
        assert!((mean / 0.001 - 1.0).abs() < 0.01, "{mean}");
        assert!((variation - 1.0).abs() < 0.05, "{variation}");
    }
}

mod loss_rate {
    use super::super::Losses;
    use super::super::loss_rate::*;

    fn after(rate: &mut LossRate, packets: f64, lost: u32) -> f64 {
        rate.on_delivered(packets);
        for _ in 0..lost {
            rate.on_lost();
        }
        rate.recompute();
        rate.value()
    }

    #[test]
    fn a_loss_after_as_many_packets_as_expected_changes_nothing() {
        let mut rate = LossRate::new(1e-4, 2.55e-5, Losses::Packets);
        assert!((after(&mut rate, 9_999.0, 1) - 1e-4).abs() < 1e-12);
        // A sooner loss raises the rate, a later one lowers it.
        assert!((after(&mut rate, 2_499.0, 1) - 2.0 / 12_500.0).abs() < 1e-12);
        assert!(after(&mut rate, 50_000.0, 1) < 1e-4);
    }

    #[test]
    fn ten_times_as_many_packets_without_loss_say_that_the_path_is_better() {
        let mut rate = LossRate::new(1e-3, 2.55e-5, Losses::Packets);
        assert!((after(&mut rate, 10_000.0, 0) - 1e-3).abs() < 1e-12);
        assert!((after(&mut rate, 1.0, 0) - 1.0 / 10_001.0).abs() < 1e-12);
        assert!((after(&mut rate, 1e9, 0) - 2.55e-5).abs() < 1e-12);
        assert!(!rate.recompute(), "the least rate is not news again");
    }

    #[test]
    fn losses_of_one_round_trip_are_three_packets_or_one_event() {
        let seen = |counts| {
            let mut rate = LossRate::new(1e-4, 1e-6, counts);
            rate.on_delivered(9_997.0);
            (0..3).for_each(|_| rate.on_lost());
            rate.on_event();
            rate.recompute();
            rate.value()
        };
        assert!((seen(Losses::Packets) - 4.0 / 20_000.0).abs() < 1e-12);
        assert!((seen(Losses::Events) - 2.0 / 20_000.0).abs() < 1e-12);
    }
}
