//! The relations that a claim may state.

use crate::common::{SCENARIO, answers, claim, failed, held, record, verdict};
use scenario::Document;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::claims::{check, parse_claims};
use tightlink_lab::study::task::{Answer, Task, tasks};

#[test]
fn engines_agree_within_a_band_of_the_capacity_of_the_value_or_of_the_unit() {
    let both = "quantity = 'goodput'\nengines = ['model', 'sim']\n";
    held(&format!("{both}agree = '2% of capacity'"));
    failed(&format!("{both}agree = '1.9% of capacity'"), "apart 2.0 Mbit/s, allowed 1.9% of capacity");
    held(&format!("{both}agree = '2Mbit/s'"));
    held(&format!("{both}agree = '5%'\ncases = {{ socket_buffer = 'max' }}"));
    failed(&format!("{both}agree = '4%'"), "model 42.0 Mbit/s, sim 40.0 Mbit/s");
    held("quantity = 'rtt'\nengines = ['model', 'sim']\nagree = '0.1ms'");
}

#[test]
fn of_two_distances_the_larger_is_allowed() {
    let both = "quantity = 'rtt'\nengines = ['model', 'sim']\n";
    held(&format!("{both}agree = '1% or 0.1ms'"));
    let both = "quantity = 'goodput'\nengines = ['model', 'sim']\n";
    held(&format!("{both}agree = '0.1% or 2Mbit/s'"));
    failed(&format!("{both}agree = '0.1% or 1.9Mbit/s'"), "apart 2.0 Mbit/s");
}

#[test]
fn a_claim_may_hold_in_a_share_of_its_cases() {
    // 40 Mbit/s in two cases of four, 90 in the others.
    let bound = "quantity = 'goodput'\nengines = ['sim']\nat_least = '50Mbit/s'\n";
    held(&format!("{bound}of_cases = '50%'"));
    failed(&format!("{bound}of_cases = '51%'"), "it holds in 2 of 4 cases, at least 51% of them needed");
    for (bad, found) in [("'120%'", "of_cases"), ("'no'", "of_cases = no")] {
        let text = format!("[[claim]]\nfigure = 'f'\nsays = 'so'\n{bound}of_cases = {bad}");
        let error = parse_claims("x.toml", &text).expect_err(bad).to_string();
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn a_case_may_have_one_of_several_values() {
    let both = "quantity = 'goodput'\nengines = ['sim']\nat_least = '50Mbit/s'\n";
    held(&format!("{both}cases = {{ socket_buffer = 'max' }}"));
    failed(&format!("{both}cases = {{ socket_buffer = 'max or 100kB' }}"), "40.0 Mbit/s");
}

#[test]
fn engines_lie_within_a_factor_of_each_other() {
    let both = "quantity = 'goodput'\nengines = ['model', 'sim']\n";
    held(&format!("{both}within_factor = 1.05"));
    failed(&format!("{both}within_factor = 1.04"), "sim 40.0 Mbit/s, a factor of 1.05 apart, allowed 1.04");
    held(&format!("{both}cases = {{ socket_buffer = 'max' }}\nwithin_factor = 1.03"));
    let retransmits = |model: u64, sim: u64| {
        let mut answers = answers();
        for answer in &mut answers {
            answer.records[0].summary.flows[0].retransmits = Some(model);
            answer.records[1].summary.flows[0].retransmits = Some(sim);
        }
        let both = claim("quantity = 'retransmits'\nengines = ['model', 'sim']\nwithin_factor = 1.5");
        check(&[both], &answers, &Engine::ALL).remove(0).held
    };
    assert!(retransmits(2, 3) && retransmits(3, 2), "whichever is larger");
    assert!(!retransmits(0, 1) && !retransmits(1, 0), "no multiple of nothing is something");
    assert!(retransmits(0, 0), "nothing and nothing are equal");
}

#[test]
fn bounds_hold_at_the_bound() {
    held("quantity = 'goodput'\nengines = ['sim']\nat_least = '40Mbit/s'");
    held("quantity = 'goodput'\nengines = ['sim']\nat_most = '90Mbit/s'");
    failed("quantity = 'goodput'\nengines = ['sim']\nat_least = '41Mbit/s'", "at least 41Mbit/s");
    failed("quantity = 'rtt'\nengines = ['model', 'sim']\nat_most = '29ms'", "30.00 ms");
    held("quantity = 'utilization'\nengines = ['sim']\nat_most = '50%'");
}

#[test]
fn one_case_that_breaks_a_claim_breaks_it() {
    let verdict = verdict("quantity = 'goodput'\nengines = ['sim']\nat_least = '50Mbit/s'");
    assert!(!verdict.held);
    assert_eq!(verdict.detail.split("; ").count(), 4, "every case is shown: {}", verdict.detail);
}

#[test]
fn a_case_exceeds_the_one_that_differs_only_in_what_is_named() {
    let text = "quantity = 'goodput'\nengines = ['model', 'sim']\ncases = { socket_buffer = 'max' }\n";
    held(&format!("{text}exceeds = {{ socket_buffer = '100kB' }}"));
    failed(&format!("{text}exceeds = {{ limit = '1 bdp' }}"), "against 92.0 Mbit/s");
    failed(&format!("{text}exceeds = {{ socket_buffer = '7kB' }}"), "no case");
}

#[test]
fn a_bound_may_be_a_share_of_what_the_same_engine_finds_in_another_case() {
    let text = "engines = ['model', 'sim']\ncases = { socket_buffer = 'max' }\n\
                baseline = { socket_buffer = '100kB' }\nquantity = ";
    held(&format!("{text}'goodput'\nat_least = '219%'"));
    failed(
        &format!("{text}'goodput'\nat_least = '220%'"),
        "sim 90.0 Mbit/s, at least 220% of 40.0 Mbit/s with",
    );
    held(&format!("{text}'rtt'\nat_most = '143%'"));
    failed(&format!("{text}'rtt'\nat_most = '142%'"), "30.00 ms");
    let limit = "engines = ['sim']\nquantity = 'goodput'\nat_least = '95%'\nbaseline = { limit = '9 bdp' }";
    failed(limit, "no case");
}

#[test]
fn a_bound_may_be_a_share_of_another_quantity_of_the_same_case() {
    let claim = |bound: &str| {
        let text = format!(
            "[[claim]]\nsays = 'so'\nquantity = 'flows.flow.goodput_bps'\nengines = ['sim']\n\
             cases = {{ socket_buffer = 'max' }}\n{bound}\nof = 'goodput'\n"
        );
        check(&parse_claims("x.toml", &text).unwrap(), &answers(), &Engine::ALL).remove(0)
    };
    let held = claim("at_least = '99%'");
    assert!(held.held && held.detail.contains("at least 99% of 90.0 Mbit/s, goodput"), "{}", held.detail);
    assert!(!claim("at_least = '101%'").held && claim("at_most = '100%'").held);
}

#[test]
fn trends_are_judged_step_by_step() {
    let (head, _) = SCENARIO.split_once("[sweep]").unwrap();
    let text = format!("{head}[sweep]\n'link.queue.limit' = ['1 bdp', '2 bdp', '3 bdp']\n");
    let document = Document::parse("x.toml", &text).unwrap();
    let with = |rtts: [f64; 3]| -> Vec<Answer> {
        let one = |(task, rtt): (Task, f64)| Answer {
            records: vec![record(Engine::Sim, &task, 40.0, rtt, Some(0))],
            task,
            runs: Vec::new(),
            absent: Vec::new(),
            found: None,
        };
        tasks(&document).unwrap().into_iter().zip(rtts).map(one).collect()
    };
    let holds = |relation: &str, rtts: [f64; 3]| {
        let claim = claim(&format!("engines = [\"sim\"]\nquantity = \"rtt\"\n{relation} = \"limit\""));
        check(&[claim], &with(rtts), &Engine::ALL)[0].held
    };
    assert!(holds("rises_with", [20.0, 21.0, 21.0]));
    assert!(!holds("rises_with", [20.0, 23.0, 22.0]), "it falls in between");
    assert!(!holds("rises_with", [20.0, 20.0, 20.0]), "it does not rise at all");
    assert!(holds("falls_with", [23.0, 22.0, 20.0]));
    assert!(!holds("falls_with", [20.0, 22.0, 23.0]));
    let mut several = with([20.0, 21.0, 20.5]);
    for rtt in [20.5, 23.5] {
        let run = record(Engine::Sim, &several[2].task, 40.0, rtt, Some(0));
        several[2].runs.push(run);
    }
    let rises = claim("engines = [\"sim\"]\nquantity = \"rtt\"\nrises_with = \"limit\"");
    assert!(check(&[rises], &several, &Engine::ALL)[0].held, "the mean of a case's runs counts");
    let unswept = claim("engines = [\"sim\"]\nquantity = \"rtt\"\nfalls_with = \"count\"");
    assert!(
        !check(&[unswept], &with([3.0, 2.0, 1.0]), &Engine::ALL)[0].held,
        "a key that is not swept makes no trend"
    );
}
