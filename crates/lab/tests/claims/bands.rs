//! Claims that are known not to hold: the reason, and the band of what is found instead.

use crate::common::verdict;
use tightlink_lab::study::claims::Verdict;
use tightlink_lab::study::claims::parse_claims;

/// What becomes of a claim on the goodput at 100 kB, where the model finds 42 and the simulator 40 Mbit/s, that is known not to
/// hold.
fn known(text: &str, band: &str) -> Verdict {
    let cases = "cases = { socket_buffer = '100kB', limit = '1 bdp' }";
    verdict(&format!(
        "quantity = 'goodput'\n{cases}\n{text}\n[[claim.disagrees]]\nreason = 'another unit'\n{band}\n"
    ))
}

#[test]
fn a_known_disagreement_is_no_failure_while_the_value_lies_in_its_band() {
    let both = "engines = ['model', 'sim']";
    for (claim, within, outside) in [
        ("at_least = '50Mbit/s'", "at_least = '39Mbit/s'", "at_least = '41Mbit/s'"),
        ("at_most = '30Mbit/s'", "at_most = '42Mbit/s'", "at_most = '41Mbit/s'"),
        (
            "at_least = '50Mbit/s'",
            "at_least = '39Mbit/s'\nat_most = '43Mbit/s'",
            "at_least = '39Mbit/s'\nat_most = '41Mbit/s'",
        ),
        (
            "at_least = '1Mbit/s'\nat_most = '2Mbit/s'",
            "at_least = '39Mbit/s'\nat_most = '43Mbit/s'",
            "at_least = '1Mbit/s'\nat_most = '9Mbit/s'",
        ),
        ("agree = '1Mbit/s'", "at_most = '3Mbit/s'", "at_most = '1.5Mbit/s'"),
        ("within_factor = 1.01", "at_most = '1.1'", "at_most = '1.02'"),
        ("exceeds = { socket_buffer = 'max' }", "at_least = '40%'", "at_least = '46%'"),
        ("at_least = '90%'\nbaseline = { socket_buffer = 'max' }", "at_least = '40%'", "at_least = '46%'"),
        ("at_least = '110%'\nof = 'flows.flow.goodput_bps'", "at_least = '99%'", "at_least = '101%'"),
    ] {
        let claim = format!("{both}\n{claim}");
        let inside = known(&claim, within);
        assert!(!inside.held && !inside.failed() && inside.word() == "disagrees", "{claim}: {inside:?}");
        assert_eq!(inside.disagrees.as_deref(), Some("another unit"));
        let outside = known(&claim, outside);
        assert!(
            outside.failed() && outside.detail.contains("outside the band that was found before"),
            "{claim}: {outside:?}"
        );
    }
}

#[test]
fn a_disagreement_that_has_begun_to_hold_is_a_failure() {
    for claim in ["at_least = '40Mbit/s'", "at_most = '42Mbit/s'", "agree = '2Mbit/s'"] {
        let verdict = known(
            &format!("engines = ['model', 'sim']\n{claim}"),
            "at_least = '0Mbit/s'\nat_most = '1Gbit/s'",
        );
        assert!(
            verdict.failed() && verdict.detail.contains("it holds now, so remove its `disagrees`"),
            "{verdict:?}"
        );
    }
}

#[test]
fn one_engine_may_disagree_where_another_one_must_not() {
    let band = "engines = ['sim']\nat_least = '39Mbit/s'";
    let both = |bound: &str| known(&format!("engines = ['model', 'sim']\nat_least = '{bound}'"), band);
    let verdict = both("41Mbit/s");
    assert_eq!(verdict.word(), "disagrees", "{verdict:?}");
    let verdict = both("43Mbit/s");
    assert!(verdict.failed() && verdict.disagrees.is_none(), "the model must hold: {verdict:?}");
    assert!(both("39.5Mbit/s").failed(), "it holds in both");
}

#[test]
fn one_case_may_disagree_where_another_one_must_not() {
    // 40 Mbit/s at 100 kB, 90 at the maximum.
    let known = |bound: &str, known: &str| {
        verdict(&format!(
            "quantity = 'goodput'\nengines = ['sim']\nat_least = '{bound}'\n[[claim.disagrees]]\nreason = 'small'\n{known}"
        ))
    };
    let small = "cases = { socket_buffer = '100*' }\nat_least = '39Mbit/s'";
    let verdict = known("80Mbit/s", small);
    assert_eq!((verdict.word(), verdict.disagrees.as_deref()), ("disagrees", Some("small")), "{verdict:?}");
    assert!(known("95Mbit/s", small).failed(), "the other case must hold");
    assert!(known("39Mbit/s", small).failed(), "it holds in both");
    let nowhere = known("80Mbit/s", "cases = { socket_buffer = '9kB' }\nat_least = '39Mbit/s'");
    assert!(nowhere.failed() && nowhere.detail.contains("no case fits `disagrees`"), "{nowhere:?}");
    // Each disagreement has its own band.
    let both =
        format!("{small}\n[[claim.disagrees]]\nreason = 'large'\ncases = {{ socket_buffer = 'max' }}\n");
    let within = known("95Mbit/s", &format!("{both}at_least = '85Mbit/s'"));
    assert_eq!(within.disagrees.as_deref(), Some("small large"), "{within:?}");
    assert!(known("95Mbit/s", &format!("{both}at_least = '92Mbit/s'")).failed());
}

#[test]
fn a_disagreement_has_a_reason_and_a_band() {
    let refused = |relation: &str, known: &str| {
        let text = format!(
            "[[claim]]\nsays = 'so'\nquantity = 'goodput'\nengines = ['model', 'sim']\n{relation}\n[[claim.disagrees]]\n{known}"
        );
        parse_claims("x.toml", &text).unwrap_err().to_string()
    };
    for (relation, known, words) in [
        ("at_least = '1bit/s'", "reason = ' '\nat_least = '0bit/s'", "without a reason"),
        ("at_least = '1bit/s'", "reason = 'so'", "without a band"),
        ("at_least = '1bit/s'", "reason = 'so'\nat_most = '0bit/s'", "without a band"),
        ("at_most = '1bit/s'", "reason = 'so'\nat_least = '0bit/s'", "without a band"),
        ("at_least = '1bit/s'\nat_most = '2bit/s'", "reason = 'so'\nat_most = '9bit/s'", "without a band"),
        ("agree = '1%'", "reason = 'so'\nat_least = '2%'", "without a band"),
        ("rises_with = 'limit'", "reason = 'so'\nat_least = '2%'", "disagrees on a trend"),
        (
            "at_least = '1bit/s'",
            "reason = 'so'\nat_least = '0bit/s'\nengines = ['live']",
            "disagrees on live",
        ),
    ] {
        let found = refused(relation, known);
        assert!(found.contains(words), "{relation}, {known}: {found}");
    }
    // What cannot be judged disagrees with nothing.
    let nowhere = "quantity = 'goodput'\nengines = ['sim']\ncases = { nowhere = '1' }\nat_least = '1bit/s'";
    assert!(verdict(&format!("{nowhere}\n[[claim.disagrees]]\nreason = 'so'\nat_least = '0bit/s'")).failed());
}

#[test]
fn a_share_of_a_number_with_a_unit_is_of_the_larger_one() {
    // The engines are between 1.5 and 3 of some 42 Mbit/s apart.
    let apart = |bound: &str| {
        verdict(&format!(
            "quantity = 'flows.flow.goodput_bps'\nengines = ['model', 'sim']\ncases = {{ socket_buffer = '100*' }}\n{bound}"
        ))
    };
    assert!(apart("agree = '10%'").held && !apart("agree = '1%'").held);
    let alone = apart("at_least = '90%'");
    assert!(alone.failed() && alone.detail.contains("of what?"), "{alone:?}");
}
