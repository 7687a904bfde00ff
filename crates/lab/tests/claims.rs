//! Claims: what holds, what fails, and that nothing passes by not being looked at.

use scenario::{Document, Drawn, FigureSpec};
use tightlink_lab::claims::{Claim, Judging, Tally, check, evidence, parse_claims};
use tightlink_lab::compare::{Answer, Task, tasks};
use tightlink_lab::figures::{figures, published_claims};
use tightlink_lab::record::{DelayStatistics, Engine, FlowSummary, Record, RttStatistics, Series, Summary};
use tightlink_lab::report::Verdict;
use tightlink_lab::search::Found;

const SCENARIO: &str = "title = 't'
duration = '2s'
[link]
rate = '100Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
[sweep]
'flow.socket_buffer' = ['100kB', 'max']
'link.queue.limit' = ['1 bdp', '2 bdp']
";

/// What an engine found: goodput in Mbit/s, mean RTT in ms, segments sent again.
fn record(engine: Engine, task: &Task, goodput: f64, rtt: f64, retransmits: Option<u64>) -> Record {
    let flow = FlowSummary {
        name: "flow".into(),
        goodput_bps: goodput * 1e6,
        loss_rate: Some(0.0),
        retransmits,
        marks: None,
        rtt_s: Some(RttStatistics { min: 0.02, mean: rtt / 1e3, p95: None }),
        completion_s: None,
        ..FlowSummary::default()
    };
    let summary = Summary {
        engine,
        scenario_hash: task.resolved.hash.clone(),
        seed: 1,
        measured_s: 2.0,
        packets_forwarded: None,
        packets_dropped: None,
        wall_s: 0.0,
        peak_rss_bytes: 0,
        utilization: Some(0.5),
        utilization_ci95: None,
        idle_fraction: Some(0.5),
        queue_empty_fraction: None,
        loss_rate: Some(0.01),
        loss_rate_ci95: None,
        mean_backlog_bytes: None,
        mean_occupancy: Some(0.5),
        queue_length_packets: None,
        queueing_delay_s: Some(DelayStatistics { mean: 0.01, p50: None, p95: None, p99: None, max: None }),
        sessions: Vec::new(),
        repeats: None,
        jain_index: None,
        jain_index_mean: None,
        convergence_s: None,
        links: Vec::new(),
        flows: vec![flow],
    };
    Record { summary, series: Series::default(), notes: Vec::new() }
}

/// Both engines at all four points: the simulator finds 40 Mbit/s and 21 ms at 100 kB, 90 Mbit/s, 30 ms and 5
/// segments sent again at the maximum; the model 2 Mbit/s more, the same RTT, and it does not know retransmissions
/// where there is loss.
fn answers() -> Vec<Answer> {
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    let answer = |task: Task| {
        let max = task.point[0].1 == "max";
        let (goodput, rtt, lost) = if max { (90.0, 30.0, 5) } else { (40.0, 21.0, 0) };
        let model = record(Engine::Model, &task, goodput + 2.0, rtt, (!max).then_some(0));
        let sim = record(Engine::Sim, &task, goodput, rtt, Some(lost));
        Answer {
            task,
            records: vec![model, sim],
            runs: Vec::new(),
            absent: vec!["live: no kernel has control \"x\"; mend".into()],
            found: None,
        }
    };
    tasks(&document).unwrap().into_iter().map(answer).collect()
}

fn claim(text: &str) -> Claim {
    let text = format!("[[claim]]\nfigure = 'f'\nsays = 'so'\n{text}");
    parse_claims("x.toml", &text).unwrap().remove(0)
}

fn verdict(text: &str) -> Verdict {
    check(&[claim(text)], &answers(), &Engine::ALL).remove(0)
}

#[track_caller]
fn held(text: &str) {
    let verdict = verdict(text);
    assert!(verdict.held, "{}", verdict.detail);
}

#[track_caller]
fn failed(text: &str, because: &str) {
    let verdict = verdict(text);
    assert!(!verdict.held && verdict.detail.contains(because), "{verdict:?}");
}

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
    failed(text, "live gave no answer: no kernel has control \"x\"; mend");
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
        "the capacity is no measure of the RTT",
    );
}

#[test]
fn a_claim_file_names_one_relation_and_enough_engines() {
    let refused = |claim: &str| {
        let text = format!("[[claim]]\nfigure = 'f'\nsays = 'so'\nquantity = 'rtt'\n{claim}");
        parse_claims("x.toml", &text).unwrap_err().to_string()
    };
    assert!(refused("engines = ['sim']").contains("claim \"so\": one of agree, within_factor, at_least"));
    assert!(refused("engines = ['sim']\nat_least = '1s'\nexceeds = {}").contains("one of agree"));
    assert!(refused("engines = []\nat_least = '1s'").contains("0 engines, at least 1 needed"));
    assert!(refused("engines = ['sim']\nagree = '1s'").contains("1 engines, at least 2 needed"));
    assert!(refused("engines = ['sim']\nwithin_factor = 2.0").contains("1 engines, at least 2 needed"));
    assert!(
        refused("engines = ['sim', 'live']\nwithin_factor = 0.5").contains("within_factor = 0.5, at least 1")
    );
    assert!(refused("engines = ['sim', 'live']\nwithin_factor = nan").contains("at least 1 needed"));
    let baseline = "engines = ['sim']\nbaseline = { limit = '1 bdp' }\n";
    assert!(refused(&format!("{baseline}at_most = '44ms'")).contains("a baseline with 44ms"));
    assert!(refused(&format!("{baseline}falls_with = 'limit'")).contains("a baseline with no bound"));
    let both = "baseline = { limit = '1 bdp' }\nof = 'goodput'\n";
    assert!(refused(&format!("engines = ['sim']\nat_most = '10%'\n{both}")).contains("of beside baseline"));
    assert!(refused("engines = ['sim']\nat_most = '3'\nof = 'goodput'").contains("a baseline with 3"));
    assert!(refused("engines = ['ns2']\nagree = '1s'").contains("x.toml: "));
    assert!(refused("engines = ['sim']\nat_least = '1s'\nbogus = 1").contains("bogus"));
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

/// Every task of a figure, and for one that searches every target, with something found.
fn asked(document: &Document) -> Vec<(Task, Option<Found>)> {
    let tasks = tasks(document).unwrap();
    let Some(FigureSpec { y: Drawn::Smallest(question), .. }) = document.figure().unwrap() else {
        return tasks.into_iter().map(|task| (task, None)).collect();
    };
    let with_targets = tasks.into_iter().flat_map(|task| {
        question.at_most.clone().into_iter().map(move |(typed, _)| {
            let summary = record(Engine::Sim, &task, 1.0, 50.0, Some(0)).summary;
            let found = Found {
                value: "7 packets".into(),
                written: None,
                metric: 0.0,
                half_width: 0.0,
                misses_above: Vec::new(),
                runs: 1,
                summary,
            };
            let mut task = task.clone();
            task.point.push(("target".into(), typed));
            (task, Some(found))
        })
    });
    with_targets.collect()
}

#[test]
fn every_published_claim_is_about_a_figure_and_selects_cases_of_it() {
    let figures = figures().unwrap();
    let claims = published_claims().unwrap();
    assert!(claims.len() >= 12);
    for claim in claims {
        let figure = figures.iter().find(|figure| figure.id == claim.figure);
        let figure = figure
            .unwrap_or_else(|| panic!("\"{}\" is about {}, which is no figure", claim.says, claim.figure));
        // Numbers that satisfy no one in particular; with and without loss, so that both kinds of case exist.
        let reasons = [0, 1].map(|retransmits| {
            let answer = |(task, found): (Task, Option<Found>)| {
                let records =
                    Engine::ALL.map(|engine| record(engine, &task, 1.0, 50.0, Some(retransmits))).into();
                Answer { task, records, runs: Vec::new(), absent: Vec::new(), found }
            };
            let answers: Vec<Answer> = asked(&figure.document).into_iter().map(answer).collect();
            check(std::slice::from_ref(&claim), &answers, &Engine::ALL).remove(0).detail
        });
        let judged = |reason: &String| {
            reason.contains("model ") || reason.contains("sim ") || reason.contains("live ")
        };
        assert!(reasons.iter().any(judged), "\"{}\" was not judged: {reasons:?}", claim.says);
    }
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
    let unswept = claim("engines = [\"sim\"]\nquantity = \"rtt\"\nfalls_with = \"count\"");
    assert!(
        !check(&[unswept], &with([3.0, 2.0, 1.0]), &Engine::ALL)[0].held,
        "a key that is not swept makes no trend"
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

/// What becomes of a claim on the goodput at 100 kB, where the model finds 42 and the simulator 40 Mbit/s, that is known not to
/// hold.
fn known(text: &str, band: &str) -> Verdict {
    let cases = "cases = { socket_buffer = '100kB', limit = '1 bdp' }";
    verdict(&format!(
        "quantity = 'goodput'\n{cases}\n{text}\n[claim.disagrees]\nreason = 'another unit'\n{band}\n"
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
            outside.failed() && outside.detail.contains("outside of what was found before"),
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
        assert!(verdict.failed() && verdict.detail.contains("it holds now"), "{verdict:?}");
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
fn a_disagreement_has_a_reason_and_a_band() {
    let refused = |relation: &str, known: &str| {
        let text = format!(
            "[[claim]]\nsays = 'so'\nquantity = 'goodput'\nengines = ['model', 'sim']\n{relation}\n[claim.disagrees]\n{known}"
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
    assert!(verdict(&format!("{nowhere}\n[claim.disagrees]\nreason = 'so'\nat_least = '0bit/s'")).failed());
}

#[test]
fn a_claim_is_judged_for_each_engine_that_was_asked_and_counts_once() {
    let judged = |text: &str, asked: &[Engine]| check(&[claim(text)], &answers(), asked).remove(0);
    let bound = "quantity = 'goodput'\nengines = ['sim', 'live']\nat_least = '41Mbit/s'\ncases = { socket_buffer = '100kB' }";
    let one = judged(bound, &[Engine::Model, Engine::Sim]);
    assert!(one.failed(), "it fails in sim, whatever the kernel would say: {one:?}");
    assert_eq!((&one.judged[..], &one.left_out[..]), (&[Engine::Sim][..], &[Engine::Live][..]));
    let none = judged(bound, &[Engine::Model]);
    assert!(none.is_left_out() && !none.failed() && !none.held && none.word() == "left out", "{none:?}");
    let between = "quantity = 'goodput'\nengines = ['model', 'sim', 'live']\nagree = '5%'";
    assert!(judged(between, &[Engine::Model, Engine::Sim]).held, "two are enough");
    assert!(judged(between, &[Engine::Sim]).is_left_out(), "one is not");
    let mut tally = Tally::default();
    let held = "quantity = 'goodput'\nengines = ['sim']\nat_least = '1Mbit/s'";
    let band = format!(
        "{held}\nat_most = '2Mbit/s'\n[claim.disagrees]\nreason = 'so'\nat_least = '1Mbit/s'\nat_most = '1Gbit/s'"
    );
    let asked = [Engine::Model, Engine::Sim];
    tally.add(&[bound, between, held, &band].map(|text| judged(text, &asked)));
    tally.add(
        &["live", "live"].map(|_| judged("quantity = 'rtt'\nengines = ['live']\nat_most = '1s'", &asked)),
    );
    assert_eq!(
        tally.to_string(),
        "claims: 2 held, 1 failed, 1 disagree; 4 judged (2 of them not by live), 2 left out, as too few engines were asked \
         (2 of live)"
    );
    assert!(!tally.is_good() && tally.judged() == 4);
}

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
    let known = |band: &str| of(&format!("at_least = '90Mbit/s'\n[claim.disagrees]\nreason = 'so'\n{band}"));
    assert_eq!(known("at_least = '85Mbit/s'\nat_most = '86Mbit/s'").word(), "disagrees");
    assert!(known("at_least = '85.5Mbit/s'").failed());
}

#[test]
fn runs_are_made_with_several_seeds_where_the_numbers_depend_on_them_and_only_valid_ones_count() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCENARIO.replace("'link.queue.limit' = ['1 bdp', '2 bdp']", "");
    let random = text.replace("[sweep]", "[[traffic]]\nkind = 'poisson'\nrate = '50Mbit/s'\n[sweep]");
    let of = |text: &str, claims: &[Claim]| {
        let judging = Judging {
            asked: &[Engine::Model, Engine::Sim],
            seeds: 4,
            live: None,
            jobs: 2,
            folder: folder.path(),
            progress: &|_, _| (),
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
    let mut goodputs: Vec<f64> = drawn.answers[0].runs.iter().map(|run| run.summary.goodput_bps()).collect();
    goodputs.sort_by(f64::total_cmp);
    let least = (goodputs[1] + goodputs[2]) / 2.0;
    let valid = claim(&format!(
        "validity = true\nquantity = 'goodput'\nengines = ['sim']\ncases = {{ socket_buffer = '100kB' }}\nat_least = '{}bit/s'",
        least as u64
    ));
    let counted = of(&random, &[bound.clone(), valid]);
    let (tried, valid) = counted.tried.unwrap();
    assert!(valid == 4 && tried > 4 && tried <= 40, "{valid} of {tried}");
    assert!(counted.answers[0].runs.iter().all(|run| run.summary.goodput_bps() >= least));
    let never = claim(
        "validity = true\nquantity = 'goodput'\nengines = ['sim']\ncases = { socket_buffer = '100kB' }\nat_least = '1Gbit/s'",
    );
    let none = of(&random, &[bound, never]);
    assert_eq!(none.tried, Some((40, 0)), "it ends");
    assert!(none.answers.is_empty() || none.answers[0].runs.is_empty());
}
