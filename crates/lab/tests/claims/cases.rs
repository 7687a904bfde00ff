//! Which cases and numbers a claim looks at, and that none passes by not being looked at.

use crate::common::{SCENARIO, answers, claim, failed, held};
use scenario::Document;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::claims::check;
use tightlink_lab::study::task::tasks;

#[test]
fn a_claim_concerns_its_cases_and_what_they_are_compared_with() {
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    let concerned = |text: &str| -> Vec<bool> {
        let claim = claim(&format!("quantity = 'goodput'\nengines = ['sim']\n{text}"));
        tasks(&document).unwrap().iter().map(|task| claim.concerns(task)).collect()
    };
    // 100 kB and the maximum, each at 1 and 2 BDP.
    assert_eq!(concerned("at_least = '1bit/s'"), [true; 4]);
    assert_eq!(concerned("at_least = '1bit/s'\ncases = { loss = 'none' }"), [true; 4]);
    let one = "cases = { socket_buffer = 'max', limit = '2 bdp' }\n";
    assert_eq!(concerned(&format!("{one}at_least = '1bit/s'")), [false, false, false, true]);
    let compared = format!("{one}at_least = '95%'\nbaseline = {{ socket_buffer = '100kB' }}");
    assert_eq!(concerned(&compared), [false, true, false, true]);
    assert_eq!(concerned(&format!("{one}exceeds = {{ limit = '1 bdp' }}")), [false, false, true, true]);
}

#[test]
fn loss_selects_cases_by_what_happened() {
    held("quantity = 'retransmits'\nengines = ['sim']\ncases = { loss = 'some' }\nat_least = '5'");
    held("quantity = 'retransmits'\nengines = ['sim']\ncases = { loss = 'none' }\nat_most = '0'");
    held("quantity = 'rtt'\nengines = ['sim']\ncases = { loss = 'none', limit = '2 bdp' }\nat_most = '21ms'");
}

#[test]
fn a_claim_that_fits_no_case_has_failed() {
    failed(
        "quantity = 'rtt'\nengines = ['sim']\ncases = { socket_buffer = '7kB' }\nat_most = '1s'",
        "no case fits",
    );
    failed(
        "quantity = 'rtt'\nengines = ['sim']\ncases = { rate = '1Gbit/s' }\nat_most = '1s'",
        "no case fits",
    );
    let claim = claim("quantity = 'rtt'\nengines = ['sim']\nat_most = '1s'");
    assert!(!check(&[claim], &[], &Engine::ALL)[0].held);
}

#[test]
fn an_engine_that_did_not_answer_fails_the_claim_with_its_reason() {
    let text = "quantity = 'rtt'\nengines = ['sim', 'live']\nagree = '1s'";
    failed(text, "live gave no answer: no kernel has control \"x\"; help");
    let mut answers = answers();
    answers.iter_mut().for_each(|answer| answer.absent.clear());
    let verdict = check(&[claim(text)], &answers, &Engine::ALL).remove(0);
    assert_eq!((verdict.held, verdict.detail.as_str()), (false, "live gave no answer: it was not asked"));
}

#[test]
fn a_quantity_an_engine_does_not_know_fails_the_claim() {
    failed(
        "quantity = 'retransmits'\nengines = ['model']\nat_most = '9'",
        "model does not know the retransmissions",
    );
    failed("quantity = 'occupancy'\nengines = ['sim']\nat_most = '100%'", "sim does not know the occupancy");
}

#[test]
fn no_claim_holds_by_a_number_that_is_none() {
    let mut answers = answers();
    for record in answers.iter_mut().flat_map(|answer| &mut answer.records) {
        record.summary.flows[0].goodput_bps = f64::NAN;
    }
    for relation in [
        "agree = '1%'",
        "within_factor = 9.0",
        "at_least = '0Mbit/s'",
        "at_most = '1Gbit/s'",
        "exceeds = { socket_buffer = 'max' }",
    ] {
        let claim = claim(&format!("quantity = 'goodput'\nengines = ['model', 'sim']\n{relation}"));
        assert!(!check(&[claim], &answers, &Engine::ALL)[0].held, "{relation}");
    }
}

#[test]
fn a_bound_in_the_wrong_unit_fails_the_claim() {
    failed("quantity = 'goodput'\nengines = ['sim']\nat_least = '40ms'", "unknown unit");
    failed(
        "quantity = 'rtt'\nengines = ['model', 'sim']\nagree = '4% of capacity'",
        "the capacity is not a measure of the RTT",
    );
}

#[test]
fn any_number_of_the_summary_can_be_claimed() {
    let answers = answers();
    let asked = |quantity: &str, bound: &str| {
        let text = format!("engines = [\"sim\"]\nquantity = \"{quantity}\"\nat_most = \"{bound}\"");
        check(&[claim(&text)], &answers, &Engine::ALL)[0].clone()
    };
    assert!(asked("measured_s", "1000").held);
    let unknown = asked("no_such_number", "1");
    assert!(!unknown.held && unknown.detail.contains("does not know"), "{}", unknown.detail);
    assert!(!asked("smallest", "1").held, "nothing was searched");
}

#[test]
fn every_flow_that_a_name_stands_for_is_judged() {
    let mut answers = answers();
    for answer in &mut answers {
        for record in &mut answer.records {
            let mut second = record.summary.flows[0].clone();
            record.summary.flows[0].name = "web-1".into();
            (second.name, second.goodput_bps) = ("web-2".into(), 1e6);
            record.summary.flows.push(second);
        }
    }
    let judged = |flow: &str, bound: &str| {
        let quantity =
            format!("quantity = 'flows.{flow}.goodput_bps'\nengines = ['sim']\nat_least = '{bound}'");
        check(&[claim(&quantity)], &answers, &Engine::ALL).remove(0)
    };
    assert!(judged("web-1", "39Mbit/s").held);
    assert!(judged("web-*", "1Mbit/s").held);
    let second = judged("web-*", "39Mbit/s");
    assert!(second.failed() && second.detail.contains("sim web-2 1.00 Mbit/s"), "{second:?}");
    let nobody = judged("mail-*", "1Mbit/s");
    assert!(nobody.failed() && nobody.detail.contains("no flow is named mail-*"), "{nobody:?}");
}
