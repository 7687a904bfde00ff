//! The meters of a link: the queueing delay weighted by time, and losses that flows share.

use tightlink_link::{Admission, Limit, Link, LinkConfig, QueueingDelay};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// Drop-tail, a microsecond per byte, nothing lost.
fn link() -> Link<Bytes> {
    let config = LinkConfig::constant(Rate::from_bps(8_000_000), Span::ZERO);
    Link::drop_tail(&config, Limit::Packets(u64::MAX), Stream::new(1, "loss"))
}

#[test]
fn a_wait_counts_for_as_long_as_its_packet_is_being_sent() {
    let mut link = link();
    link.begin_measuring(Time::ZERO);
    // Sent 0-1000, 1000-1100 and 1100-1600 us; then nothing until 2000 us. Waits of 0, 1000 and 1100 us.
    for length in [1000, 100, 500] {
        link.admit(Time::ZERO, Bytes::new(length));
    }
    let delay = link.report(Time::from_nanos(2_000_000)).queueing_delay;
    assert_eq!(delay.mean(), Some(Span::from_micros((1000 * 100 + 1100 * 500) / 2000)));
    assert_eq!(delay.max(), Span::from_micros(1100));
    // Each packet once would have a median of 1000 us.
    assert_eq!(delay.quantile(0.7), Some(Span::ZERO));
    let near =
        |q, micros: f64| (delay.quantile(q).unwrap().as_secs_f64() / (micros * 1e-6) - 1.0).abs() < 0.001;
    assert!(near(0.701, 1000.0) && near(0.75, 1000.0), "{:?}", delay.quantile(0.75));
    assert!(near(0.751, 1100.0) && near(1.0, 1100.0), "{:?}", delay.quantile(1.0));
}

/// The share of packets of an M/D/1 queue at load `rho` that wait for at most `t` service times (Erlang 1909).
fn waits_at_most(t: f64, rho: f64) -> f64 {
    let mut factorial = 1.0;
    let term = |k: u32| {
        factorial *= f64::from(k.max(1));
        let x = rho * (f64::from(k) - t);
        x.powi(k as i32) / factorial * libm::exp(-x)
    };
    (1.0 - rho) * (0..=t.floor() as u32).map(term).sum::<f64>()
}

#[test]
fn of_an_m_d_1_queue_it_has_the_closed_form() {
    let rho = 0.7;
    let (mut link, mut arrivals) = (link(), Stream::new(9, "arrivals"));
    let service = Span::from_millis(1);
    let (mut now, end) = (0.0, 2000.0);
    link.begin_measuring(Time::ZERO);
    loop {
        now += arrivals.exponential(service.as_secs_f64() / rho);
        if now >= end {
            break;
        }
        let at = Time::ZERO + Span::from_secs_f64(now);
        assert!(matches!(link.admit(at, Bytes::new(1000)), Admission::Departs(_)));
    }
    let report = link.report(Time::ZERO + Span::from_secs_f64(end));
    let delay = report.queueing_delay;
    // Idle, or one packet in service whose wait is that of any packet.
    let distribution = |t: f64| 1.0 - rho + rho * waits_at_most(t, rho);
    for t in [0.5f64, 1.0, 2.0, 4.0, 8.0] {
        let q = distribution(t);
        let found = delay.quantile(q).unwrap().as_secs_f64() / service.as_secs_f64();
        assert!((found / t - 1.0).abs() < 0.03, "at {q:.4} the delay is {found:.4} service times, not {t}");
    }
    // Pollaczek and Khinchine: rho/(2(1 - rho)) service times per packet, and packets are in service for rho of the time.
    let mean = delay.mean().unwrap().as_secs_f64() / service.as_secs_f64();
    assert!((mean / (rho * rho / (2.0 * (1.0 - rho))) - 1.0).abs() < 0.02, "{mean}");
    // Little: a byte a microsecond.
    assert!((mean * 1000.0 / report.mean_waiting_bytes - 1.0).abs() < 1e-6, "{}", report.mean_waiting_bytes);
}

fn span(nanos: u64) -> Span {
    Span::from_nanos(nanos)
}

#[test]
fn every_delay_weighs_by_the_time_it_lasted() {
    let mut delay = QueueingDelay::default();
    assert_eq!((delay.mean(), delay.quantile(0.5), delay.max()), (None, None, Span::ZERO));
    delay.held(Span::ZERO, span(50));
    delay.held(span(900), span(15));
    delay.held(span(10), span(30));
    delay.held(span(20), span(5));
    assert_eq!(delay.total(), span(100));
    assert_eq!((delay.mean(), delay.max()), (Some(span(139)), span(900)));
    let quantiles = [0.0, 0.5, 0.51, 0.8, 0.81, 0.85, 0.86, 1.0].map(|q| delay.quantile(q).unwrap());
    assert_eq!(quantiles.map(Span::as_nanos), [0, 0, 10, 10, 20, 20, 900, 900]);
}

#[test]
fn quantiles_of_a_smooth_distribution_are_closer_than_a_bucket() {
    let mut delay = QueueingDelay::default();
    for nanos in 1..=1_000_000u64 {
        delay.held(span(nanos), span(7));
    }
    for q in [0.0001, 0.01, 0.5, 0.95, 0.99, 1.0] {
        let (found, exact) = (delay.quantile(q).unwrap().as_nanos() as f64, q * 1e6);
        assert!((found / exact - 1.0).abs() < 2e-4, "{q}: {found}");
    }
}

#[test]
fn a_delay_that_always_was_the_same_is_found_to_within_a_tenth_of_a_percent() {
    for nanos in [1025, 1_000_003, 20_000_000, 7_654_321_987] {
        let mut delay = QueueingDelay::default();
        delay.held(span(nanos), span(1000));
        delay.held(span(2 * nanos), span(1));
        for q in [0.001, 0.3, 0.99] {
            let found = delay.quantile(q).unwrap().as_nanos() as f64;
            assert!((found / nanos as f64 - 1.0).abs() < 0.001, "{nanos} at {q}: {found}");
        }
    }
}

mod loss_episodes {
    use tightlink_link::*;
    use units::{Span, Time};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Watches `flows` flows with a base RTT of 40 ms, present from the beginning.
    fn watching(flows: usize) -> LossEpisodes {
        let mut episodes = LossEpisodes::new(Span::from_millis(40));
        (0..flows).for_each(|flow| episodes.watch(flow, Time::ZERO));
        episodes
    }

    fn counts(episodes: u64, synchronized: u64) -> SynchronizedLosses {
        SynchronizedLosses { episodes, synchronized }
    }

    /// Counts drops at (ms, flow) behind a queue of 10 ms.
    fn after(mut episodes: LossEpisodes, drops: &[(u64, usize)]) -> SynchronizedLosses {
        for (ms, flow) in drops {
            episodes.observe(at(*ms), *flow, || Span::from_millis(10));
        }
        episodes.counts()
    }

    #[test]
    fn an_episode_lasts_one_round_trip_with_the_queue_as_it_was() {
        assert_eq!(after(watching(2), &[(0, 0), (49, 1)]), counts(1, 1));
        assert_eq!(after(watching(2), &[(0, 0), (50, 1)]), counts(2, 0));
        assert_eq!(after(watching(2), &[(0, 0), (40, 0), (80, 1)]), counts(2, 0), "drops do not prolong it");
    }

    #[test]
    fn an_episode_is_common_if_more_than_half_of_the_flows_lost_however_much() {
        assert_eq!(after(watching(4), &[(0, 0), (1, 1), (2, 1), (3, 0)]), counts(1, 0), "two of four");
        assert_eq!(after(watching(4), &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 2)]), counts(1, 1));
        assert_eq!(after(watching(3), &[(0, 0), (1, 2), (60, 1), (61, 1)]), counts(2, 1));
    }

    #[test]
    fn flows_count_from_their_start_until_they_leave_and_a_lone_one_not_at_all() {
        let mut episodes = LossEpisodes::new(Span::from_millis(40));
        episodes.watch(3, at(1000));
        (0..=3).for_each(|flow| episodes.watch(flow, Time::ZERO));
        episodes.leave(0, at(2000));
        episodes.leave(1, at(2000));
        episodes.leave(2, at(2000));
        assert_eq!(after(episodes.clone(), &[(999, 0), (999, 1)]), counts(1, 1), "two of three");
        assert_eq!(after(episodes.clone(), &[(1000, 0), (1000, 1)]), counts(1, 0), "two of four");
        assert_eq!(after(episodes.clone(), &[(2000, 3)]), counts(0, 0), "a lone flow");
        assert_eq!(after(episodes, &[(0, 7), (0, u32::MAX as usize)]), counts(0, 0), "not watched");
    }

    #[test]
    fn a_share_takes_ten_episodes_of_the_measured_interval() {
        let mut episodes = watching(2);
        episodes.observe(at(0), 0, || Span::ZERO);
        episodes.begin_measuring();
        episodes.observe(at(1), 0, || Span::ZERO);
        episodes.observe(at(1), 1, || Span::ZERO);
        assert_eq!(episodes.counts(), counts(1, 1), "what came before the interval is no part of it");
        assert_eq!(counts(9, 9).share(), None);
        assert_eq!(counts(10, 9).share(), Some(0.9));
    }
}
