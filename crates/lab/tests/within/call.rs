//! Tests of the advice for a link with calls.

use super::*;
use units::Fraction;

/// A row with a utilization, its confidence interval and the wait of a call in milliseconds.
fn row(question: &Question, queue: &str, utilization: f64, half: f64, wait: f64) -> Policy {
    let point = Point { utilization, utilization_ci95: Some(half), ..Point::at(question, 129) };
    let call = Call { queueing_delay_p95_s: wait / 1e3, loss_rate: 0.0 };
    Policy { queue: queue.into(), point, best: true, call: Some(call) }
}

fn question() -> Question {
    Question { target: Fraction::new(0.99).unwrap(), ..Question::of(Rate::from_bps(100_000_000)) }
}

/// Returns the name of the policy to advise, and the advice.
fn advised(rows: &[Policy], shaped: Option<(Point, Call)>) -> (Option<String>, String) {
    let question = question();
    let recommended = rows[0].point;
    let best = best(&question, &recommended, rows);
    let advice = advice(&question, &recommended, rows, best, shaped).unwrap();
    (best.map(|best| best.queue.clone()), advice)
}

#[test]
fn the_shortest_wait_of_those_that_keep_the_target_is_advised() {
    let question = question();
    let own = row(&question, "drop-tail", 1.0, 0.0, 15.2);
    let rows = [
        own.clone(),
        row(&question, "codel", 0.995, 0.001, 9.0),
        row(&question, "pie", 0.999, 0.0, 17.0),
        row(&question, "fq-codel", 0.985, 0.01, 1.31),
    ];
    let (queue, text) = advised(&rows, None);
    assert_eq!(queue.as_deref(), Some("fq-codel"));
    assert_eq!(
        text,
        "FQ-CoDel keeps a call under 1.4 ms, with 98.5 % of utilization; drop-tail of 129 packets costs it 15 ms"
    );
    // Its interval lies below the target, so the next one is advised.
    let rows = [own.clone(), rows[1].clone(), row(&question, "fq-codel", 0.9, 0.01, 1.31)];
    assert_eq!(advised(&rows, None).0.as_deref(), Some("codel"));
    let (queue, text) = advised(&[own.clone(), rows[2].clone()], None);
    assert_eq!(queue.as_deref(), Some("fq-codel"));
    assert!(
        text.contains("but has only 90.0 %") && text.contains("has 100.0 %, and costs it 15 ms"),
        "{text}"
    );
    let (queue, text) = advised(&[own, row(&question, "pie", 1.0, 0.0, 15.2)], None);
    assert_eq!((queue, text.as_str()), (None, "Drop-tail of 129 packets keeps a call under 16 ms"));
}

#[test]
fn behind_a_shaper_the_utilization_is_that_of_the_link() {
    let question = question();
    let rows = [row(&question, "drop-tail", 1.0, 0.0, 15.2), row(&question, "fq-codel", 1.0, 0.0, 1.31)];
    let point = Point { utilization: 0.99, ..rows[1].point };
    let call = Call { queueing_delay_p95_s: 0.002_000_1, loss_rate: 0.0 };
    let (_, text) = advised(&rows, Some((point, call)));
    // 99 % of 95 %.
    assert!(
        text.starts_with("FQ-CoDel behind a shaper at 95 % keeps a call under 2.1 ms, with 94.0 % of"),
        "{text}"
    );
}

#[test]
fn without_a_call_there_is_no_advice_and_slow_links_have_no_call() {
    let question = question();
    let mut own = row(&question, "drop-tail", 1.0, 0.0, 15.2);
    own.call = None;
    assert_eq!(advice(&question, &own.point, &[own.clone()], None, None), None);
    assert!(fits(Rate::from_bps(1_999_999)).unwrap_err().contains("4 %"));
    assert_eq!(fits(Rate::from_bps(2_000_000)), Ok(()));
}

#[test]
fn a_wait_has_two_digits() {
    let shown: Vec<String> = [0.0, 20e-6, 99.9e-6, 1e-4, 2e-3, 2.01e-3, 0.0153, 0.25].map(above).to_vec();
    assert_eq!(shown, ["0 us", "20 us", "100 us", "0.1 ms", "2 ms", "2.1 ms", "16 ms", "250 ms"]);
    assert_eq!(near(0.0153), "15 ms");
}
