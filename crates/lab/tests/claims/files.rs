//! Claim files: what is refused, and that each published claim is about a figure.

use crate::common::record;
use scenario::{Document, FigureNumbers, FigureSpec};
use tightlink_lab::run::record::{Engine, FlowSummary};
use tightlink_lab::study::claims::{check, parse_claims};
use tightlink_lab::study::figures::{figures, published_claims};
use tightlink_lab::study::task::{Answer, Bound, Goal, SearchResult, Target, Task, tasks};

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
    assert!(
        refused(&format!("engines = ['sim']\nat_most = '10%'\n{both}")).contains("of together with baseline")
    );
    assert!(refused("engines = ['sim']\nat_most = '3'\nof = 'goodput'").contains("a baseline with 3"));
    assert!(refused("engines = ['ns2']\nagree = '1s'").contains("x.toml: "));
    assert!(refused("engines = ['sim']\nat_least = '1s'\nbogus = 1").contains("bogus"));
}

/// Every task of a figure, and for one that searches every target, with something found.
fn asked(document: &Document) -> Vec<(Task, Option<SearchResult>)> {
    let tasks = tasks(document).unwrap();
    let Some(FigureSpec { y: FigureNumbers::Smallest(question), .. }) = document.figure().unwrap() else {
        return tasks.into_iter().map(|task| (task, None)).collect();
    };
    let question = &question;
    let with_targets = tasks.into_iter().flat_map(|task| {
        question.at_most.clone().into_iter().map(move |(typed, _)| {
            let summary = record(Engine::Sim, &task, 1.0, 50.0, Some(0)).summary;
            let found = SearchResult {
                over: question.over.clone(),
                target: Target { metric: question.metric.clone(), bound: Bound::AtMost(0.0) },
                sought: Goal::Smallest,
                value: "7 packets".into(),
                written: None,
                room: None,
                metric: 0.0,
                half_width: 0.0,
                decided: true,
                sure: None,
                misses_above: Vec::new(),
                misses_below: Vec::new(),
                runs: 1,
                runs_without_value: 0,
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
            let answer = |(task, found): (Task, Option<SearchResult>)| {
                let found_by = |engine| {
                    let mut record = record(engine, &task, 1.0, 50.0, Some(retransmits));
                    // A `*` in a claim asks for flows by their names.
                    let first = record.summary.flows.remove(0);
                    let named = |name: &String| FlowSummary { name: name.clone(), ..first.clone() };
                    let names = task.resolved.flows.iter().map(|flow| &flow.name);
                    record.summary.flows.extend(names.map(named));
                    record
                };
                let records = Engine::ALL.map(found_by).into();
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

/// [madison:5.1]: Reno and Madison at both ends of a series.
#[test]
fn a_series_of_fig_8_or_9_counts_only_if_both_its_ends_agree_within_10_percent() {
    let claims = published_claims().unwrap();
    for figure in ["fig8a", "fig8b", "fig8c", "fig9a", "fig9b"].map(|figure| format!("madison:{figure}")) {
        let valid = |control: &str| {
            let goodput = |which: u32| format!("flows.{control}-{which}.goodput_bps").into();
            claims.iter().any(|claim| {
                (claim.figure == figure && claim.validity && claim.quantity == goodput(2))
                    && claim.of == Some(goodput(1))
                    && claim.at_least.as_deref() == Some("90%")
                    && claim.at_most.as_deref() == Some("110%")
            })
        };
        assert!(valid("reno") && valid("madison"), "{figure}");
    }
}
