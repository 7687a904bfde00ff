//! Tests of the intervals that come from batches.

use super::*;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Makes the readings of ten batches of a second each; batch i is busy for `busy[i]` ms and drops `drops[i]` of 100
/// packets.
fn readings(busy: [u64; 10], drops: [u64; 10]) -> Vec<Reading> {
    let mut readings =
        vec![Reading { at: at(5000), busy: Span::ZERO, possible: Span::ZERO, arrivals: 70, drops: 7 }];
    for (index, (busy, drops)) in (1..).zip(busy.iter().zip(drops)) {
        let last = *readings.last().unwrap();
        readings.push(Reading {
            at: at(5000 + index * 1000),
            busy: last.busy + Span::from_millis(*busy),
            possible: last.possible + Span::from_millis(1000),
            arrivals: last.arrivals + 100,
            drops: last.drops + drops,
        });
    }
    readings
}

#[test]
fn half_widths_are_students_t_over_ten_means() {
    let steady = half_widths(&readings([900; 10], [3; 10]));
    assert!(steady.utilization.unwrap() < 1e-12 && steady.loss_rate.unwrap() < 1e-12);
    // Five means of 0.8 and five of 1: a standard deviation of 0.1 sqrt(10/9), times 2.262 / sqrt(10).
    let saw = half_widths(&readings(
        [800, 1000].repeat(5).try_into().unwrap(),
        [0, 10].repeat(5).try_into().unwrap(),
    ));
    let exact = 2.262 * 0.1 / 3.0;
    assert!((saw.utilization.unwrap() - exact).abs() < 1e-12, "{saw:?}");
    assert!((saw.loss_rate.unwrap() - exact / 2.0).abs() < 1e-12, "{saw:?}");
}

#[test]
fn what_rises_beyond_chance_is_a_trend_and_a_saw_is_none() {
    let saw = half_widths(&readings(
        [800, 1000].repeat(5).try_into().unwrap(),
        [0, 10].repeat(5).try_into().unwrap(),
    ));
    assert_eq!(saw.trend, None);
    let rising = half_widths(&readings([900; 10], [1, 2, 1, 2, 1, 8, 9, 8, 9, 9]));
    let loss = rising.trend.unwrap();
    assert!(loss.utilization.is_none() && (loss.loss_rate.unwrap() - 0.072).abs() < 1e-9, "{loss:?}");
    let falling = half_widths(&readings([990, 991, 992, 991, 990, 950, 951, 950, 952, 951], [0; 10]));
    assert!(falling.trend.unwrap().utilization.unwrap() < -0.03);
}

#[test]
fn no_interval_comes_from_missing_batches_or_loss_without_arrivals() {
    let all = readings([900; 10], [3; 10]);
    assert_eq!(half_widths(&all[..10]), HalfWidths::default());
    let mut silent = all;
    silent.iter_mut().for_each(|reading| (reading.arrivals, reading.drops) = (0, 0));
    assert!(half_widths(&silent).utilization.is_some() && half_widths(&silent).loss_rate.is_none());
}

#[cfg(feature = "kernel")]
#[test]
fn samples_next_to_the_ends_of_batches_stand_for_them_if_near_enough() {
    let sample = |millis| {
        let busy = Span::from_millis(millis);
        Reading { at: at(millis), busy, possible: busy, arrivals: 0, drops: 0 }
    };
    let samples: Vec<Reading> = (0..1000).map(|index| sample(7 + 20 * index)).collect();
    let chosen = nearest(&samples, at(5000), at(15_000));
    assert_eq!(
        chosen.iter().map(|reading| reading.at).collect::<Vec<_>>(),
        (0..=10).map(|i| at(5007 + i * 1000)).collect::<Vec<_>>()
    );
    let sparse: Vec<Reading> = (0..100).map(|index| sample(800 * index)).collect();
    assert!(nearest(&sparse, at(5000), at(15_000)).is_empty());
}
