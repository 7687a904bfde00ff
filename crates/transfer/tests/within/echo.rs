//! Tests of the trains that the sender answers: they count in its limit.

use super::*;
use estimate::LONG_TRAIN_PACKETS;
use probe::{EchoCounts, ProbeKey, Prober, TrainLimits};
use units::{Rate, Span};

/// Requests twenty trains in half a second, or until `enough` returns true, and returns the counts and the time.
fn twenty_trains(limit: Option<Rate>, enough: fn(EchoCounts) -> bool) -> (EchoCounts, Span) {
    let (clock, key) = (Clock::start(), ProbeKey::random().unwrap());
    let limit = RateLimit::new(limit, clock);
    let here = "127.0.0.1:0".parse().unwrap();
    let mut echoer = Echoer::bind(here, &key, [0], TrainLimits::default()).unwrap();
    let mut prober = Prober::connect(echoer.address().unwrap(), &key, 0).unwrap();
    (0..20).for_each(|_| prober.ask_train(LONG_TRAIN_PACKETS));
    let began = clock.now();
    loop {
        prober.poll(&clock);
        answer(&mut echoer, &limit, &clock);
        let took = clock.now().since(began);
        let over = took > Span::from_millis(500) && enough(echoer.counts());
        if over || took > Span::from_secs(20) {
            return (echoer.counts(), took);
        }
        std::thread::yield_now();
    }
}

#[test]
fn trains_count_in_the_limit() {
    let rate = Rate::from_bps(1_000_000);
    let (counts, took) = twenty_trains(Some(rate), |counts| counts.trains_refused > 0);
    let limits = TrainLimits::default();
    let train = u64::from(limits.packets) * u64::from(limits.length);
    let passes = rate.volume(took + Span::from_millis(20)).get();
    assert!(counts.trains_refused > 0, "{counts:?}");
    assert!(counts.trains * train <= passes + 2 * train, "{counts:?} in {took}");
}

#[test]
fn without_a_limit_every_train_is_sent_that_a_prober_asks_for() {
    let (counts, _) = twenty_trains(None, |counts| counts.trains == 20);
    assert_eq!((counts.trains, counts.trains_refused), (20, 0));
}
