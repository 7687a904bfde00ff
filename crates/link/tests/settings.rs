//! Settings reach their policy, and what is wrong with them is said in words.

mod common;

use common::{Probe, context};
use tightlink_link::queue::{
    self, AdaptiveRedParameters, BuildError, POLICIES, RedParameters, Settings, StepThreshold,
};
use tightlink_link::{Limit, Queue};
use units::{Bytes, Span};

fn made(name: &str, settings: &Settings) -> Result<Box<dyn Queue<Probe>>, BuildError> {
    queue::build_with(name, settings, context(100, 10))
}

fn refused(name: &str, settings: &Settings) -> String {
    match made(name, settings) {
        Ok(_) => panic!("{name} accepts {settings:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_policy_takes_its_own_settings_and_no_others() {
    let all = Settings {
        target: Some(Span::from_millis(7)),
        interval: Some(Span::from_millis(70)),
        burst: Some(Span::from_millis(50)),
        derandomize: Some(false),
        min_threshold: Some(5.0),
        max_threshold: Some(15.0),
        max_probability: Some(0.2),
        weight: Some(0.01),
        gentle: Some(false),
        wait: Some(true),
        by_bytes: Some(true),
        quantum: Some(Bytes::new(300)),
        flows: Some(16),
        ecn: Some(false),
        mark_above: Some(20.0),
        alpha: Some(0.2),
        beta: Some(2.0),
        ecn_probability: Some(0.2),
        coupling: Some(3),
        step_threshold: Some(StepThreshold::Packets(5)),
        step_queue: Some(2),
        classic_protection: Some(0.2),
        drop_on_overload: Some(false),
        rtt: Some(Span::from_millis(30)),
        isolation: Some(queue::Isolation::Hosts),
        tins: Some(queue::Tins::BestEffort),
    };
    // `given` knows all keys, and every key belongs to some policy.
    let keys: Vec<_> = all.given().collect();
    assert_eq!(keys.len(), 26);
    assert!(keys.iter().all(|key| POLICIES.iter().any(|policy| policy.settings.contains(key))));
    for policy in POLICIES {
        assert!(policy.settings.iter().all(|key| keys.contains(key)), "{}", policy.name);
        assert!(made(policy.name, &Settings::default()).is_ok());
        assert!(refused(policy.name, &all).starts_with(&format!("queue policy {} has no", policy.name)));
    }
}

#[test]
fn refusals_name_what_was_found_and_what_is_accepted() {
    let none = Settings::default();
    let target = Settings { target: Some(Span::from_millis(5)), ..none };
    assert_eq!(
        refused("drop-tail", &target),
        "queue policy drop-tail has no setting \"target\"; it has mark_above"
    );
    let said = refused("red", &target);
    assert!(said.starts_with("queue policy red has no setting \"target\"; it has min_threshold,"), "{said}");
    assert!(
        refused("rod", &none).starts_with("unknown queue policy \"rod\"; there are drop-tail, drop-head,")
    );
    let zero = Settings { interval: Some(Span::ZERO), ..none };
    assert!(
        refused("codel", &zero)
            .starts_with("queue setting interval is 0ns; it must be 1us or more: a shorter")
    );
    let crossed = Settings { min_threshold: Some(9.0), max_threshold: Some(9.0), ..none };
    assert_eq!(refused("red", &crossed), "queue setting max_threshold is 9; it must be above min_threshold");
    let step = Settings { mark_above: Some(-1.0), ..none };
    assert_eq!(
        refused("drop-tail", &step),
        "queue setting mark_above is -1; it must be zero or more packets"
    );
    for probability in [0.0, -0.1, 1.1, f64::NAN] {
        let settings = Settings { max_probability: Some(probability), ..none };
        assert!(refused("red", &settings).contains("it must be above 0, at most 1"));
    }
    for (name, settings) in [
        ("red", Settings { min_threshold: Some(f64::NAN), ..none }),
        ("red", Settings { max_threshold: Some(f64::INFINITY), ..none }),
        ("fq-codel", Settings { flows: Some(0), ..none }),
        ("fq-codel", Settings { quantum: Some(Bytes::ZERO), ..none }),
        ("fq-pie", Settings { flows: Some(65_537), ..none }),
        ("fq-pie", Settings { alpha: Some(0.0), ..none }),
        ("pie", Settings { beta: Some(f64::INFINITY), ..none }),
        ("pie", Settings { alpha: Some(f64::NAN), ..none }),
        ("pie", Settings { ecn_probability: Some(1.1), ..none }),
        ("dualpi2", Settings { coupling: Some(0), ..none }),
        ("dualpi2", Settings { coupling: Some(256), ..none }),
        ("dualpi2", Settings { classic_protection: Some(-0.1), ..none }),
        ("dualpi2", Settings { classic_protection: Some(f64::NAN), ..none }),
        ("cake", Settings { rtt: Some(Span::from_micros(19)), ..none }),
    ] {
        assert!(made(name, &settings).is_err(), "{name} {settings:?}");
    }
    for policy in POLICIES.iter().filter(|policy| policy.settings.contains(&"interval")) {
        let every = |nanos| Settings { interval: Some(Span::from_nanos(nanos)), ..none };
        assert!(
            [0, 1, 999].iter().all(|nanos| made(policy.name, &every(*nanos)).is_err()),
            "{}",
            policy.name
        );
        assert!(made(policy.name, &every(1000)).is_ok(), "{}", policy.name);
    }
}

#[test]
fn default_thresholds_follow_limit_and_rate() {
    // 12 Mbit/s is 1000 packets/s: 100 packets in the reference round trip of 100 ms.
    let red = |limit| RedParameters::defaults(&context(limit, 12));
    assert_eq!((red(50).min_threshold, red(50).max_threshold), (20.0, 50.0));
    assert_eq!((red(500).min_threshold, red(500).max_threshold), (40.0, 100.0));
    assert_eq!((red(0).min_threshold, red(0).max_threshold), (0.4, 1.0));

    let adaptive = |limit, rate, target| {
        let red = AdaptiveRedParameters::defaults(&context(limit, rate), Span::from_millis(target)).red;
        (red.min_threshold, red.max_threshold, red.weight)
    };
    // [ared01:5]: at least 5 packets; else half the target; three times that; one second's memory.
    let weight = |rate: f64| 1.0 - libm::exp(-1.0 / rate);
    assert_eq!(adaptive(1000, 12, 5), (5.0, 15.0, weight(1000.0)));
    assert_eq!(adaptive(1000, 120, 5), (25.0, 75.0, weight(10_000.0)));
    assert_eq!(adaptive(1000, 12, 40), (20.0, 60.0, weight(1000.0)));
    assert_eq!(adaptive(9, 12, 5), (3.0, 9.0, weight(1000.0)));
}

#[test]
fn limits_count_in_mean_packets() {
    assert_eq!(Limit::Bytes(Bytes::new(4500)).in_packets(Bytes::new(1500)), 3.0);
    assert_eq!(Limit::Packets(7).in_packets(Bytes::new(1500)), 7.0);
}

#[test]
fn a_dualpi2_that_must_not_mark_is_refused_with_what_there_is_instead() {
    let ecn = |ecn| Settings { ecn: Some(ecn), ..Settings::default() };
    assert!(made("dualpi2", &ecn(true)).is_ok());
    assert_eq!(
        refused("dualpi2", &ecn(false)),
        "queue setting ecn is false; it must be true, because scalable flows need marks; kind = \"pie\" has ecn = false"
    );
}
