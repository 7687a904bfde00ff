//! Tests of the limit of the rate.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const TRAIN: u64 = 50 * 1472;

/// Measures the bytes of data and of trains that pass while trains are requested as fast as possible, and the time.
/// That time is a second, or until data has passed.
fn flooded(rate: Rate, streams: usize) -> (u64, u64, Span) {
    let clock = Clock::start();
    let limit = RateLimit::new(Some(rate), clock);
    let (data, over, mut trains) = (AtomicU64::new(0), AtomicBool::new(false), 0);
    let began = clock.now();
    let send = || {
        let chunk = limit.burst().min(64 << 10) as u64;
        while !over.load(Relaxed) {
            limit.take(chunk);
            if !over.load(Relaxed) {
                data.fetch_add(chunk, Relaxed);
            }
        }
    };
    let mut took = Span::ZERO;
    std::thread::scope(|threads| {
        for _ in 0..streams {
            threads.spawn(send);
        }
        let goes_on =
            |took| took < Span::from_secs(1) || (data.load(Relaxed) == 0 && took < Span::from_secs(20));
        while goes_on(clock.now().since(began)) {
            trains += TRAIN * u64::from(limit.take_for_train(TRAIN));
            std::thread::yield_now();
        }
        over.store(true, Relaxed);
        took = clock.now().since(began);
        limit.close();
    });
    (data.load(Relaxed), trains, took)
}

#[test]
fn data_and_a_flood_of_trains_together_stay_below_the_rate() {
    for (rate, streams) in [(1_000_000, 1), (1_000_000, 4), (400_000_000, 3)] {
        let rate = Rate::from_bps(rate);
        let (data, trains, took) = flooded(rate, streams);
        // At most one train is ahead of the rate, one was requested while that one was owed, and the bucket was
        // full.
        let most = rate.volume(took + DEPTH).get() + 2 * TRAIN;
        assert!(data + trains <= most, "{rate}: {data} of data, {trains} of trains, at most {most}");
        assert!(trains > 0 && data > 0, "{rate}: {data} of data, {trains} of trains");
    }
}

#[test]
fn trains_are_sent_while_data_waits_for_the_rate() {
    let clock = Clock::start();
    let limit = RateLimit::new(Some(Rate::from_bps(8_000_000)), clock);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            // Each takes half a second.
            threads.spawn(|| limit.take(500_000));
        }
        let waiting = || locked(&limit.state).waiting > Span::from_millis(1900);
        while !waiting() {
            std::thread::yield_now();
        }
        assert!(limit.take_for_train(TRAIN), "what waits was not sent");
        limit.close();
    });
}

#[test]
fn a_train_makes_the_data_wait() {
    let clock = Clock::start();
    let limit = RateLimit::new(Some(Rate::from_bps(8_000_000)), clock);
    let began = clock.now();
    assert!(limit.take_for_train(TRAIN));
    limit.take(1000);
    // 73.6 kB pass at 1 MB/s, less the content of the bucket.
    assert!(clock.now().since(began) >= Span::from_millis(53), "{}", clock.now().since(began));
    assert!(RateLimit::new(None, clock).take_for_train(u64::MAX), "without a limit");
}

#[test]
fn what_passes_stays_below_the_rate() {
    let clock = Clock::start();
    let limit = RateLimit::new(Some(Rate::from_bps(80_000_000)), clock);
    let began = clock.now();
    for _ in 0..100 {
        limit.take(20_000);
    }
    // 2 MB at 10 MB/s are 200 ms, less the content of the bucket.
    assert!(clock.now().since(began) >= Span::from_millis(175), "{}", clock.now().since(began));
    assert!(limit.waited() > Span::ZERO, "all of that, unless the machine stalled");
}

#[test]
fn without_a_rate_nobody_waits_and_closing_frees_all() {
    let clock = Clock::start();
    RateLimit::new(None, clock).take(u64::MAX);
    let limit = RateLimit::new(Some(Rate::from_bps(8)), clock);
    std::thread::scope(|threads| {
        threads.spawn(|| limit.take(1_000_000));
        limit.close();
    });
}
