//! Claims that are judged by several runs, and which runs count.

use crate::common::{SCENARIO, answers, claim, record};
use scenario::Document;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::claims::{Claim, ClaimSettings, check, doubted, evidence};
use tightlink_lab::study::sweep::Runner;
use tightlink_lab::study::task::{Answer, tasks};
use tightlink_lab::study::watch::SharedWatch;

/// The simulator's answers with ten runs each: at the maximum 81 to 90 Mbit/s, otherwise always 40.
fn repeated() -> Vec<Answer> {
    let mut answers = answers();
    for answer in &mut answers {
        let max = answer.task.point[0].1 == "max";
        let run = |seed: u32| {
            let goodput = if max { 80.0 + f64::from(seed) } else { 40.0 };
            record(Engine::Sim, &answer.task, goodput, 30.0, Some(0))
        };
        answer.runs = (1..=10).map(run).collect();
    }
    answers
}

#[test]
fn of_several_runs_nine_of_ten_must_hold_or_the_share_that_the_claim_says() {
    let of = |text: &str| {
        let text =
            format!("quantity = 'goodput'\nengines = ['sim']\ncases = {{ socket_buffer = 'max' }}\n{text}");
        check(&[claim(&text)], &repeated(), &[Engine::Sim]).remove(0)
    };
    assert!(of("at_least = '82Mbit/s'").held, "in nine of ten");
    let eight = of("at_least = '83Mbit/s'");
    assert!(eight.failed(), "in eight of ten");
    assert!(
        eight.detail.contains("81.0 Mbit/s to 90.0 Mbit/s in 10 runs, in 8 of them it holds"),
        "{}",
        eight.detail
    );
    assert!(
        of("at_least = '83Mbit/s'\nshare = '80%'").held && !of("at_least = '82Mbit/s'\nshare = '100%'").held
    );
    // Run by run against another case, and against another quantity of the same run.
    assert!(of("at_least = '205%'\nbaseline = { socket_buffer = '100kB' }").held);
    assert!(of("at_least = '208%'\nbaseline = { socket_buffer = '100kB' }").failed());
    assert!(of("exceeds = { socket_buffer = '100kB' }").held);
    assert!(of("at_least = '100%'\nat_most = '100%'\nof = 'flows.flow.goodput_bps'\nshare = '100%'").held);
    // The band is for the median.
    let known =
        |band: &str| of(&format!("at_least = '90Mbit/s'\n[[claim.disagrees]]\nreason = 'so'\n{band}"));
    assert_eq!(known("at_least = '85Mbit/s'\nat_most = '86Mbit/s'").word(), "disagrees");
    assert!(known("at_least = '85.5Mbit/s'").failed());
}

#[test]
fn runs_are_made_with_several_seeds_where_the_numbers_depend_on_them_and_only_valid_ones_count() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCENARIO.replace("'link.queue.limit' = ['1 bdp', '2 bdp']", "");
    let random = text.replace("[sweep]", "[[traffic]]\nkind = 'poisson'\nrate = '50Mbit/s'\n[sweep]");
    let of = |text: &str, claims: &[Claim]| {
        let judging = ClaimSettings {
            asked: &[Engine::Model, Engine::Sim],
            run: &[Engine::Model, Engine::Sim],
            seeds: 4,
            live: None,
            runner: Runner { jobs: 2, folder: Some(folder.path()), watched: &SharedWatch::by_nobody() },
        };
        evidence(&Document::parse("x.toml", text).unwrap(), claims, &judging).unwrap()
    };
    let bound = claim(
        "quantity = 'goodput'\nengines = ['sim', 'live']\ncases = { socket_buffer = '100kB' }\nat_least = '1bit/s'",
    );
    let same = of(&text, std::slice::from_ref(&bound));
    assert_eq!((same.answers.len(), same.answers[0].records.len(), same.answers[0].runs.len()), (1, 1, 0));
    let drawn = of(&random, std::slice::from_ref(&bound));
    let seeds: Vec<u64> = drawn.answers[0].runs.iter().map(|run| run.summary.seed).collect();
    assert_eq!((seeds, drawn.tried), (vec![1, 2, 3, 4], None));
    // Of about half of the runs.
    let mut goodputs: Vec<f64> =
        drawn.answers[0].runs.iter().map(|run| run.summary.flows[0].goodput_bps).collect();
    goodputs.sort_by(f64::total_cmp);
    let least = (goodputs[1] + goodputs[2]) / 2.0;
    let valid = claim(&format!(
        "validity = true\nquantity = 'goodput'\nengines = ['sim']\ncases = {{ socket_buffer = '100kB' }}\nat_least = '{}bit/s'",
        least as u64
    ));
    let counted = of(&random, &[bound.clone(), valid]);
    let (tried, valid) = counted.tried.unwrap();
    assert!(valid == 4 && tried > 4 && tried <= 40, "{valid} of {tried}");
    assert!(counted.answers[0].runs.iter().all(|run| run.summary.flows[0].goodput_bps >= least));
    // A figure shows the first run that counts, and is judged by all.
    let document = Document::parse("x.toml", &random).unwrap();
    let task = tasks(&document).unwrap().remove(0);
    let shown = counted.first(task.clone()).unwrap();
    assert_eq!(shown.resolved.seed, counted.answers[0].runs[0].summary.seed);
    let single = Answer { task: shown, runs: Vec::new(), ..counted.answers[0].clone() };
    assert_eq!(counted.with_all_runs(&[single])[0].runs(Engine::Sim).len(), 4);
    let never = claim(
        "validity = true\nquantity = 'goodput'\nengines = ['sim']\ncases = { socket_buffer = '100kB' }\nat_least = '1Gbit/s'",
    );
    let none = of(&random, &[bound, never]);
    assert_eq!(none.tried, Some((40, 0)), "it ends");
    assert!(none.answers.is_empty() || none.answers[0].runs.is_empty());
}

/// Answers of the simulator and of the kernel. At 100 kB the simulator has 40 Mbit/s and the kernel 50; at the maximum both have
/// 90. The kernel ran each case once, and the last one twice.
fn live() -> Vec<Answer> {
    let mut answers = answers();
    for (place, answer) in answers.iter_mut().enumerate() {
        let max = answer.task.point[0].1 == "max";
        let once = record(Engine::Live, &answer.task, if max { 90.0 } else { 50.0 }, 30.0, Some(0));
        if place == 3 {
            answer.runs = vec![once.clone(), once.clone()];
        }
        answer.records.push(once);
    }
    answers
}

#[test]
fn cases_in_which_one_run_of_the_kernel_does_not_bear_a_claim_out_are_to_be_run_again() {
    let of = |text: &str| {
        let claim = claim(&format!("quantity = 'goodput'\nengines = ['sim', 'live']\n{text}"));
        let mut cases = Vec::new();
        for narrowed in doubted(&claim, &live(), &[Engine::Sim, Engine::Live]) {
            let case =
                (narrowed.cases["flow.socket_buffer"].clone(), narrowed.cases["link.queue.limit"].clone());
            cases.push(case);
        }
        cases
    };
    let case = |buffer: &str, limit: &str| (buffer.to_owned(), limit.to_owned());
    assert_eq!(of("at_least = '60Mbit/s'"), [case("100kB", "1 bdp"), case("100kB", "2 bdp")]);
    assert_eq!(of("at_least = '45Mbit/s'"), [], "it is the simulator that does not bear this out");
    assert_eq!(
        of("at_least = '95Mbit/s'\ncases = { socket_buffer = 'max' }"),
        [case("max", "1 bdp")],
        "once"
    );
    assert_eq!(of("agree = '5Mbit/s'"), [case("100kB", "1 bdp"), case("100kB", "2 bdp")]);
    let known = "at_least = '60Mbit/s'\n[[claim.disagrees]]\nreason = 'so'\ncases = { socket_buffer = '100kB', limit = '1 bdp' }\nat_least = '45Mbit/s'\nat_most = '55Mbit/s'";
    assert_eq!(of(known), [case("100kB", "2 bdp")], "the other is known");
}

#[test]
fn of_several_runs_of_the_kernel_the_median_must_hold() {
    let mut answers = live();
    for answer in &mut answers {
        let run = |goodput| record(Engine::Live, &answer.task, goodput, 30.0, Some(0));
        answer.runs = [50.0, 61.0, 70.0].map(run).into();
    }
    let of = |bound: &str| {
        let claim = claim(&format!("quantity = 'goodput'\nengines = ['live']\nat_least = '{bound}'"));
        check(&[claim], &answers, &[Engine::Live]).remove(0).held
    };
    assert!(of("61Mbit/s") && !of("62Mbit/s"));
}

#[test]
fn what_holds_in_some_runs_only_is_no_failure_either_way_within_its_band() {
    let of = |bound: &str, known: &str| {
        let claim = claim(&format!(
            "quantity = 'goodput'\nengines = ['live']\ncases = {{ socket_buffer = '100kB' }}\nat_least = '{bound}'\n\
             [[claim.disagrees]]\nreason = 'so'\n{known}"
        ));
        check(&[claim], &live(), &[Engine::Live]).remove(0).word()
    };
    let band = "at_least = '48Mbit/s'\nat_most = '52Mbit/s'";
    assert_eq!((of("51Mbit/s", band), of("49Mbit/s", band)), ("disagrees", "failed"));
    let sometimes = format!("{band}\nsometimes = true");
    assert_eq!((of("51Mbit/s", &sometimes), of("49Mbit/s", &sometimes)), ("disagrees", "disagrees"));
    assert_eq!(of("49Mbit/s", "at_least = '51Mbit/s'\nsometimes = true"), "failed");
}
