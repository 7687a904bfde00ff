//! Tests of the choice of a limit from a curve.

use super::*;
use crate::study::size::answer::Delay;
use units::{Fraction, Rate, Span};

/// Returns 100 Mbit/s and 50 ms: 416.7 packets of product, 0.12 ms a packet.
fn question() -> Question {
    Question::of(Rate::from_bps(100_000_000))
}

/// Makes points of limit, utilization and half its interval. Packets wait for the whole limit; at a limit of 1000 one
/// of 1000 packets is lost.
fn curve(points: &[(u64, f64, f64)]) -> Vec<Point> {
    let question = question();
    let point = |&(packets, utilization, half): &(u64, f64, f64)| {
        let point = Point::at(&question, packets);
        let delay = point.ms / 1e3;
        Point {
            utilization,
            utilization_ci95: Some(half),
            queueing_delay_s: Delay { mean: delay / 2.0, p95: delay },
            loss_rate: 1.0 / packets as f64,
            ..point
        }
    };
    points.iter().map(point).collect()
}

/// Finds a limit's effects; between the points those of the next larger one apply.
fn at(curve: &[Point]) -> impl Fn(u64) -> Point {
    let curve = curve.to_vec();
    move |packets| Point { packets, ..*curve.iter().find(|point| point.packets >= packets).unwrap() }
}

const RISING: [(u64, f64, f64); 6] = [
    (20, 0.9, 0.01),
    (40, 0.96, 0.01),
    (80, 0.991, 0.003),
    (160, 0.996, 0.002),
    (320, 1.0, 0.0),
    (640, 1.0, 0.0),
];

#[test]
fn the_least_meets_the_target_and_the_recommended_one_surely() {
    let choice = choice(&question(), &curve(&RISING));
    assert_eq!((choice.least, choice.recommended, choice.most), (80, 240, 320));
    assert_eq!(choice.conflict, None);
}

#[test]
fn a_limit_below_one_that_surely_misses_does_not_count() {
    let dip =
        [(20, 0.995, 0.001), (40, 0.98, 0.005), (80, 0.989, 0.003), (160, 0.996, 0.002), (320, 1.0, 0.0)];
    // The limit 40 surely misses; 80 may meet, so the limits above 40 count.
    let choice = choice(&question(), &curve(&dip));
    assert_eq!((choice.least, choice.recommended), (160, 240));
}

#[test]
fn a_delay_that_utilization_cannot_have_is_a_trade_off_with_numbers() {
    let question = Question { max_delay: Some(Span::from_millis(6)), ..question() };
    let curve = curve(&RISING);
    let choice = choice(&question, &curve);
    // 6 ms are 50 packets; 99 % need 80.
    assert_eq!((choice.least, choice.recommended, choice.most), (50, 50, 50));
    let conflict = choice.conflict.unwrap();
    assert_eq!((conflict.utilization, conflict.delay), (Some(80), Some(50)));
    let described = trade_off(&question, &conflict, &curve, at(&curve));
    assert!(
        described.says.contains("99% needs 80 packets, with a p95 delay of 9.600 ms"),
        "{}",
        described.says
    );
    assert_eq!(described.keeps_utilization.unwrap().packets, 80);
}

#[test]
fn a_delay_that_can_be_had_bounds_what_is_recommended() {
    let question = Question { max_delay: Some(Span::from_millis(12)), ..question() };
    let choice = choice(&question, &curve(&RISING));
    assert_eq!((choice.least, choice.recommended, choice.most), (80, 100, 100));
    assert_eq!(choice.conflict, None);
}

#[test]
fn a_loss_bound_raises_the_least() {
    let of = |percent: f64| Question { max_loss: Fraction::new(percent / 100.0), ..question() };
    let choice_of = |percent| choice(&of(percent), &curve(&RISING));
    assert_eq!(choice_of(0.4).least, 320);
    assert!(choice_of(0.4).recommended >= 320);
    // No limit that was tried loses so little.
    let none = choice_of(0.1).conflict.unwrap();
    let described = trade_off(&of(0.1), &none, &curve(&RISING), at(&curve(&RISING)));
    assert!(described.says.contains("the least is 0.16 %"), "{}", described.says);
}

#[test]
fn a_target_that_no_limit_reaches_is_said_so() {
    let low = [(20, 0.90, 0.001), (80, 0.96, 0.001), (320, 0.97, 0.001), (640, 0.9705, 0.001)];
    let choice = choice(&question(), &curve(&low));
    assert_eq!(choice.least, 320);
    let described = trade_off(&question(), &choice.conflict.unwrap(), &curve(&low), at(&curve(&low)));
    assert!(
        described.says.contains("no limit up to 640 packets has a utilization of 99%"),
        "{}",
        described.says
    );
}

#[test]
fn a_new_flow_s_first_window_finds_room() {
    let choice = choice(&question(), &curve(&[(2, 0.999, 0.0), (4, 0.9995, 0.0), (100, 1.0, 0.0)]));
    // 2 ms of 100 Mbit/s are 17 packets; on a slower link ten decide.
    assert_eq!((choice.least, choice.recommended), (2, 17));
    let slow = Question::of(Rate::from_bps(10_000_000));
    let choice = super::choice(&slow, &curve(&[(2, 0.999, 0.0), (4, 0.9995, 0.0), (100, 1.0, 0.0)]));
    assert_eq!((choice.least, choice.recommended), (2, FLOOR));
}

#[test]
fn the_recommended_limit_holds_clumps_of_flows_that_share_a_machine() {
    let low = curve(&[(8, 0.95, 0.0), (20, 0.995, 0.0), (40, 0.999, 0.0), (4000, 1.0, 0.0)]);
    let fast =
        |rtt| Question { rtt: super::super::Ends::at(rtt), ..Question::of(Rate::from_bps(1_000_000_000)) };
    let far = choice(&fast(Span::from_millis(40)), &low);
    assert_eq!((far.least, far.recommended), (20, 167), "2 ms");
    assert_eq!(far.most, 40, "more than that gains less than 0.1 points, whatever is recommended");
    let near = fast(Span::from_micros(600));
    let chosen = choice(&near, &low);
    assert_eq!(chosen.recommended, 50, "no more than a bandwidth-delay product");
    assert!(clumps(&near, 50).unwrap().contains("a bandwidth-delay product"));
    assert_eq!(clumps(&near, 60), None, "more was needed anyway");
    let asked = Question { max_delay: Some(Span::from_micros(120)), ..near };
    let delayed = choice(&asked, &low);
    assert!(delayed.recommended < 50, "a wished delay comes first: {}", delayed.recommended);
}

#[test]
fn the_knee_is_where_the_curve_bends() {
    assert_eq!(knee(&curve(&RISING)), Some(80));
    assert_eq!(knee(&curve(&[(10, 1.0, 0.0), (100, 1.0, 0.0)])), None);
}

#[test]
fn what_another_point_excels_in_both_is_not_best() {
    let question = Question::of(Rate::from_bps(10_000_000));
    let point = |utilization, p95| Point {
        utilization,
        queueing_delay_s: Delay { mean: p95, p95 },
        ..Point::at(&question, 10)
    };
    let slow = Point { unsettled: true, ..point(0.999, 0.001) };
    let found = pareto(vec![
        ("a", point(0.9, 0.01)),
        ("b", point(0.95, 0.005)),
        ("c", point(0.99, 0.02)),
        ("d", slow),
    ]);
    let best: Vec<bool> = found.iter().map(|policy| policy.best).collect();
    assert_eq!(best, [false, true, true, false]);
}
