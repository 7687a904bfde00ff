//! `draw` and `baseline` of `[sweep]`.

mod common;

use common::{SCENARIO, says};
use proptest::prelude::*;
use tightlink_scenario::{Document, Limit, Sweep};
use units::{Rate, Span};

const DRAW: &str = "draw = { count = 40, seed = 7, \"link.rate\" = { log_uniform = ['1Mbit/s', '200Mbit/s'] }, \
                    \"link.queue.limit\" = { uniform = ['0.05 bdp', '2 bdp'] }, \
                    \"flow.control\" = { choice = ['cubic', 'cubic', 'reno'] }, \"flow.count\" = { uniform = [2, 5] } }";

fn document(sweep: &str) -> Document {
    Document::parse("x.toml", &format!("{SCENARIO}[sweep]\n{sweep}\n")).unwrap()
}

fn sweep(text: &str) -> Sweep {
    document(text).sweep().unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    says(&document(text).sweep().expect_err("a fault").to_string(), words);
}

#[test]
fn drawn_values_are_in_their_ranges_and_every_point_is_a_scenario() {
    let document = document(DRAW);
    let sweep = document.sweep().unwrap();
    let keys: Vec<&str> = sweep.keys().collect();
    assert_eq!(keys, ["link.rate", "link.queue.limit", "flow.control", "flow.count"]);
    let (mut slow, mut counts, mut renos) = (0, [0; 6], 0);
    for point in sweep.points() {
        let scenario = document.at(&point).unwrap().scenario().unwrap_or_else(|faults| panic!("{faults}"));
        let rate = scenario.links[0].rate.constant().unwrap();
        assert!(rate >= Rate::from_bps(1_000_000) && rate <= Rate::from_bps(200_000_000), "{rate}");
        slow += u32::from(rate < Rate::from_bps(14_142_000));
        let Limit::Bdp(bdp) = scenario.links[0].queue.limit else { panic!("{:?}", scenario.links[0].queue) };
        assert!((0.05..=2.0).contains(&bdp), "{bdp}");
        counts[scenario.flows[0].count as usize] += 1;
        renos += u32::from(scenario.flows[0].control == "reno");
    }
    // Half of the logarithms are below the geometric mean, and a third of the controls are Reno.
    assert!((12..=28).contains(&slow) && (5..=22).contains(&renos), "{slow} {renos}");
    assert!(counts[..2] == [0, 0] && counts[2..].iter().all(|count| *count > 2), "{counts:?}");
}

#[test]
fn a_draw_is_crossed_with_the_axes_and_is_the_same_at_each_of_their_values() {
    let sweep = sweep(&format!("{DRAW}\n\"flow.socket_buffer\" = ['max', '100kB']"));
    assert_eq!(sweep.len(), 80);
    let points: Vec<_> = sweep.points().collect();
    for pair in points.chunks(2) {
        assert_eq!((&pair[0][..4], pair[0].len()), (&pair[1][..4], 5));
        assert_eq!((pair[0][4].1.as_str(), pair[1][4].1.as_str()), ("max", "100kB"));
    }
    assert_ne!(points[0][..4], points[2][..4]);
}

#[test]
fn more_points_begin_with_the_fewer_and_a_further_key_leaves_the_others() {
    let points = |text: &str| sweep(text).points().collect::<Vec<_>>();
    let all = points(DRAW);
    assert_eq!(points(&DRAW.replace("count = 40", "count = 7")), all[..7]);
    let rates = |points: &[tightlink_scenario::Point]| -> Vec<String> {
        points.iter().map(|point| point[0].1.clone()).collect()
    };
    let alone = "draw = { count = 40, seed = 7, link.rate = { log_uniform = ['1Mbit/s', '200Mbit/s'] } }";
    assert_eq!(rates(&points(alone)), rates(&all));
    assert_ne!(rates(&points(&alone.replace("seed = 7", "seed = 8"))), rates(&all));
    // The same draw on every machine and in every version.
    assert_eq!(all[0][0].1, "9.813Mbit/s");
}

#[test]
fn ends_in_different_units_of_one_kind_are_drawn_in_the_lower_ones_unit() {
    let text = "draw = { count = 20, link.delay = { log_uniform = ['500us', '0.1s'] } }";
    let document = document(text);
    for point in document.sweep().unwrap().points() {
        let (key, typed) = &point[0];
        assert!(key == "link.delay" && typed.ends_with("us"), "{typed}");
        let delay = document.at(&point).unwrap().scenario().unwrap().links[0].delay.constant().unwrap();
        assert!(delay >= Span::from_micros(500) && delay <= Span::from_millis(100), "{delay}");
    }
    refused(
        "draw = { count = 2, link.queue.limit = { uniform = ['1 bdp', '9 packets'] } }",
        &[
            "x.toml:10:",
            "sweep.draw.\"link.queue.limit\": \"9 packets\" after \"1 bdp\"",
            "accepted: two ends of one unit",
        ],
    );
}

#[test]
fn wrong_draws_say_where_and_what_is_accepted() {
    let of = |key: &str| format!("draw = {{ count = 3, {key} }}");
    for (text, words) in [
        ("draw = 3".to_owned(), &["x.toml:10:8: sweep.draw: the integer 3", "log_uniform"][..]),
        (
            "draw = { seed = 1, link.rate = { uniform = ['1Mbit/s', '2Mbit/s'] } }".into(),
            &["sweep.draw.count: no value", "a whole number from 1"],
        ),
        (
            "draw = { count = 0, link.rate = { uniform = ['1Mbit/s', '2Mbit/s'] } }".into(),
            &["sweep.draw.count: the integer 0"],
        ),
        (
            "draw = { count = 200000, link.rate = { uniform = ['1Mbit/s', '2Mbit/s'] } }".into(),
            &["sweep.draw.count: 200000 rows", "at most 100000 points"],
        ),
        (
            "draw = { count = 3, seed = 'x', link.rate = { uniform = ['1Mbit/s', '2Mbit/s'] } }".into(),
            &["sweep.draw.seed: \"x\""],
        ),
        ("draw = { count = 3 }".into(), &["sweep.draw: no key to draw", "\"link.rate\" = {"]),
        (
            of("link.rate = { uniform = ['1Mbit/s'] }"),
            &["sweep.draw.\"link.rate\": a list of 1", "a lower and an upper end"],
        ),
        (
            of("link.rate = { uniform = ['2Mbit/s', '1Mbit/s'] }"),
            &["\"1Mbit/s\"", "an upper end above the lower one"],
        ),
        (of("link.loss = { log_uniform = [0, 0.1] }"), &["the integer 0", "above zero"]),
        (
            of("link.queue.limit = { uniform = ['1.2 packets', '1.8 packets'] }"),
            &["\"1.8 packets\"", "a whole number between them"],
        ),
        (of("link.delay = { uniform = ['5ms', 6] }"), &["the integer 6", "written as the lower one is"]),
        (of("link.rate = { uniform = ['fast', 'slow'] }"), &["\"fast\"", "a number or a quantity"]),
        (
            of("link.rate = { gaussian = ['1Mbit/s', '2Mbit/s'] }"),
            &["no distribution \"gaussian\"", "{ uniform = [LOW, HIGH] }"],
        ),
        (
            of("link.rate = ['1Mbit/s', '2Mbit/s']"),
            &["sweep.draw.\"link\": no distribution \"rate\"", "{ choice = [VALUE, ...] }"],
        ),
        (of("link.rate = { choice = [] }"), &["an empty list"]),
        (
            of("link.rat = { choice = ['1Mbit/s'] }"),
            &["sweep.draw.\"link.rat\": unknown key \"rat\"", "did you mean \"rate\"?"],
        ),
        (of("flow.x.rtt = { choice = ['1ms'] }"), &["no flow is named \"x\""]),
        (
            format!("{}\nlink.rate = ['1Mbit/s']", of("link.rate = { choice = ['2Mbit/s'] }")),
            &["what \"link.rate\" varies"],
        ),
        (
            format!("{DRAW}\nseed = [{}]", (0..3000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
            &["40 x 3000 = 120000 points"],
        ),
    ] {
        refused(&text, words);
    }
}

#[test]
fn a_fault_in_a_drawn_value_points_at_its_distribution() {
    let document = document("draw = { count = 1, link.rate = { uniform = ['1bdp', '2bdp'] } }");
    let point = document.sweep().unwrap().points().next().unwrap();
    let faults = document.at(&point).unwrap().scenario().unwrap_err().to_string();
    says(&faults, &["x.toml:10:33: link.rate: unknown unit \"bdp\"", "{ uniform = ['1bdp', '2bdp'] }"]);
}

#[test]
fn what_is_set_is_no_longer_drawn() {
    let mut document = document(&format!(
        "{DRAW}\nflow.socket_buffer = ['max', '9kB']\nbaseline = {{ flow.socket_buffer = 'max' }}"
    ));
    document.set("link.rate", "3Mbit/s").unwrap();
    document.set("sweep.draw.count", "5").unwrap();
    let sweep = document.sweep().unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((sweep.len(), sweep.keys().next()), (10, Some("link.queue.limit")));
    document.set("flow.socket_buffer", "8kB").unwrap();
    let sweep = document.sweep().unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((sweep.len(), sweep.baseline()), (5, &[][..]));
    for (key, value) in [("link.queue.limit", "9 packets"), ("flow.control", "reno"), ("flow.count", "1")] {
        document.set(key, value).unwrap();
    }
    assert_eq!(document.sweep().unwrap().len(), 1);
}

#[test]
fn a_drawn_point_has_a_text_of_its_own() {
    let document = document(DRAW);
    for point in document.sweep().unwrap().points().take(5) {
        let alone = document.text_at(&point);
        let alone =
            Document::parse("alone.toml", &alone).unwrap_or_else(|faults| panic!("{faults}\n{alone}"));
        assert_eq!(alone.sweep().unwrap().len(), 1);
        assert_eq!(alone.scenario().unwrap(), document.at(&point).unwrap().scenario().unwrap());
    }
}

#[test]
fn a_baseline_is_one_of_the_swept_values() {
    let axis = "\"flow.socket_buffer\" = ['max', { sizer = 'sobas' }]\n";
    let of = |baseline: &str| sweep(&format!("{axis}baseline = {{ {baseline} }}"));
    let key = "flow.socket_buffer".to_owned();
    assert_eq!(of("\"flow.socket_buffer\" = 'max'").baseline(), [(key.clone(), "max".to_owned())]);
    assert_eq!(
        of("flow.socket_buffer = { sizer = 'sobas' }").baseline(),
        [(key, "{ sizer = 'sobas' }".to_owned())]
    );
    for (text, words) in [
        ("baseline = 'max'", &["sweep.baseline: \"max\"", "a table of swept keys"][..]),
        (
            "baseline = { flow.socket_buffer = 'most' }",
            &["sweep.baseline.\"flow.socket_buffer\": \"most\"", "one of its swept values: max, { sizer"],
        ),
        (
            "baseline = { flow.rtt = '1ms' }",
            &["sweep.baseline.\"flow.rtt\": a key without a list of values", "accepted: flow.socket_buffer"],
        ),
    ] {
        refused(&format!("{axis}{text}"), words);
    }
}

#[test]
fn a_figure_draws_no_drawn_points() {
    let text = format!(
        "{SCENARIO}[sweep]\n{DRAW}\nlink.delay = ['1ms', '2ms']\n[figure]\nx = 'link.delay'\ny = ['utilization']\n"
    );
    let refused = Document::parse("x.toml", &text).unwrap().figure().expect_err("a fault").to_string();
    says(&refused, &["figure: a sweep with `draw`", "leave [figure] or sweep.draw out"]);
}

proptest! {
    #[test]
    fn no_draw_panics_and_what_is_read_stays_in_its_range(
        low in prop_oneof![Just(0.0), 1e-6..1e9f64], high in 1e-6..1e9f64,
        law in prop_oneof![Just("uniform"), Just("log_uniform")], whole in any::<bool>(), seed in any::<u32>(),
    ) {
        let end = |value: f64| if whole { format!("{}", value as u64) } else { format!("{value:?}") };
        let text = format!(
            "draw = {{ count = 9, seed = {seed}, flow.count = {{ {law} = [{}, {}] }} }}", end(low), end(high)
        );
        if let Ok(sweep) = document(&text).sweep() {
            let (low, high): (f64, f64) = (end(low).parse().unwrap(), end(high).parse().unwrap());
            for point in sweep.points() {
                let value: f64 = point[0].1.parse().unwrap();
                prop_assert!(low <= value && value <= high, "{} in {text}", point[0].1);
                prop_assert!(!whole || value.fract() == 0.0);
            }
        }
    }
}
