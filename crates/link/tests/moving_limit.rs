//! Limits that move: eBDP, ALT, A*.

use proptest::prelude::*;
use tightlink_link::moving_limit::{Alt, AltParameters, Ebdp, EbdpParameters, MovingLimit};
use units::{Span, Time};

const fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

#[test]
fn ebdp_is_the_target_over_the_mean_service_time_and_some_packets() {
    let mut ebdp = Ebdp::new(EbdpParameters::default());
    assert_eq!(ebdp.packets(), 400, "before the first service time");
    ebdp.served(Span::from_millis(4));
    assert_eq!(ebdp.packets(), 50 + 40);
    // 0.999 x 4 ms + 0.001 x 14 ms = 4.01 ms.
    ebdp.served(Span::from_millis(14));
    assert_eq!(ebdp.mean_service(), Some(Span::from_micros(4_010)));
    assert_eq!(ebdp.packets(), 49 + 40);
    let mut fast = Ebdp::new(EbdpParameters::default());
    fast.served(Span::from_micros(100));
    assert_eq!(fast.packets(), 400, "Qmax");
    let mut none = Ebdp::new(EbdpParameters { most: u64::MAX, ..EbdpParameters::default() });
    none.served(Span::ZERO);
    assert_eq!(none.packets(), u64::MAX);
}

#[test]
fn ebdp_follows_another_service_time_in_a_few_thousand_packets() {
    let mut ebdp = Ebdp::new(EbdpParameters { extra: 5, ..EbdpParameters::default() });
    ebdp.served(Span::from_millis(1));
    for _ in 0..5_000 {
        ebdp.served(Span::from_millis(10));
    }
    // 10 - 9 x 0.999^5000 = 9.94 ms.
    assert_eq!(ebdp.packets(), 20 + 5);
}

#[test]
fn alt_moves_once_per_interval_by_the_time_that_the_queue_was_empty() {
    let mut alt = Alt::new(AltParameters::default(), 100);
    assert_eq!(alt.packets(at(999)), 100);
    assert_eq!(alt.packets(at(1000)), 110);
    alt.set_empty(at(1500), false);
    alt.set_empty(at(1750), true);
    // 10 x 0.75 - 0.25 = 7.25
    assert_eq!(alt.packets(at(2100)), 117);
    alt.set_empty(at(3000), false);
    assert_eq!(alt.packets(at(3000)), 127);
    assert_eq!(alt.packets(at(10_000)), 120);
    assert_eq!(alt.packets(at(10_000_000)), 5, "the fewest");
    alt.set_empty(at(10_000_000), true);
    assert_eq!(alt.packets(at(20_000_000)), 1600, "the most");
}

#[test]
fn the_lesser_limit_is_a_star() {
    let mut ebdp = Ebdp::new(EbdpParameters::default());
    ebdp.served(Span::from_millis(4));
    let mut both = MovingLimit::Lesser(ebdp, Alt::new(AltParameters::default(), 20));
    assert_eq!(both.packets(at(0)), 20);
    assert_eq!(both.packets(at(6_000)), 80);
    assert_eq!(both.packets(at(60_000)), 90);
    both.served(Span::from_millis(4));
    assert_eq!(both.packets(at(60_000)), 90);
    assert_eq!(MovingLimit::Ebdp(ebdp).packets(at(0)), 90);
}

/// Drives a queue that is empty more often the shorter its limit is: for `empty(limit)` of each period, in one piece.
fn settle(parameters: AltParameters, period: Span, scale: f64) -> f64 {
    let mut alt = Alt::new(parameters, 300);
    let (mut now, mut empty_time, mut counted) = (Time::ZERO, 0.0, 0.0);
    let end = Time::ZERO + Span::from_secs(20_000);
    while now < end {
        let limit = alt.packets(now) as f64 + 0.5;
        let empty = period.scale(1.0 / (1.0 + limit / scale));
        alt.set_empty(now, true);
        alt.set_empty(now + empty, false);
        now += period;
        if now > at(10_000_000) {
            empty_time += empty.as_secs_f64();
            counted += period.as_secs_f64();
        }
    }
    empty_time / counted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn where_alt_settles_the_queue_is_empty_for_b1_of_a1_plus_b1(
        // Slower ones settle later than is waited for.
        increase in 5.0f64..20.0,
        share in 0.1f64..0.5,
        period in 20u64..400,
        scale in 20.0f64..60.0,
    ) {
        let decrease = increase * share / (1.0 - share);
        let parameters = AltParameters { increase, decrease, fewest: 0, ..AltParameters::default() };
        let settled = settle(parameters, Span::from_millis(period), scale);
        prop_assert!((settled - share).abs() < 0.1 * share, "{settled} for {share}");
    }

    #[test]
    fn alt_depends_on_how_long_the_queue_was_empty_and_not_on_when_it_is_asked(
        times in proptest::collection::vec((1u64..2_000_000_000, any::<bool>(), any::<bool>()), 1..50),
    ) {
        let (mut asked, mut left) = (Alt::new(AltParameters::default(), 50), Alt::new(AltParameters::default(), 50));
        let mut now = Time::ZERO;
        for (wait, empty, ask) in times {
            now += Span::from_nanos(wait);
            if ask {
                asked.packets(now);
            }
            asked.set_empty(now, empty);
            left.set_empty(now, empty);
            let limit = left.packets(now);
            prop_assert_eq!(asked.packets(now), limit);
            prop_assert!((5..=1600).contains(&limit));
        }
    }

    #[test]
    fn ebdp_stays_between_its_extra_and_its_most(
        services in proptest::collection::vec(0u64..1_000_000_000, 1..100),
        extra in 0u64..100,
    ) {
        let mut ebdp = Ebdp::new(EbdpParameters { extra, ..EbdpParameters::default() });
        for service in services {
            ebdp.served(Span::from_nanos(service));
            prop_assert!((extra..=400).contains(&ebdp.packets()));
        }
    }
}
