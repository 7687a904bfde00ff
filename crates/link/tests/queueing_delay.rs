//! The queueing delay weighted by time, against a hand-worked queue and a closed form.

use tightlink_link::{Admission, Limit, Link, LinkConfig};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

/// Drop-tail, a microsecond per byte, nothing lost.
fn link() -> Link<Bytes> {
    let config = LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Span::ZERO,
        loss: Fraction::ZERO,
        jitter: Span::ZERO,
    };
    Link::drop_tail(config, Limit::Packets(u64::MAX), Stream::new(1, "loss"))
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
