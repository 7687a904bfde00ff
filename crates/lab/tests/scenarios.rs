//! The scenarios that come with the program resolve, at every point of their sweeps, and an engine can answer them.

use scenario::Document;
use std::fs;
use std::path::PathBuf;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::curves::engines;
use tightlink_lab::study::figures::{claims, figures};
#[cfg(feature = "kernel")]
use tightlink_lab::study::task::can_answer;
use tightlink_lab::study::task::{check, hopeless, tasks};

fn documents() -> Vec<Document> {
    let files = testkit::files(&testkit::repository().join("scenarios"), "toml");
    let parse =
        |path: &PathBuf| Document::parse(&path.display().to_string(), &fs::read_to_string(path).unwrap());
    files.iter().map(|path| parse(path).unwrap_or_else(|faults| panic!("{faults}"))).collect()
}

#[test]
fn every_scenario_resolves_at_every_point() {
    let documents = documents();
    assert!(documents.len() >= 3);
    for document in documents {
        let tasks = tasks(&document).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(hopeless(&tasks, &Engine::ALL), None, "{}", document.name());
    }
}

#[cfg(feature = "kernel")]
#[test]
fn every_figure_suits_the_engines_its_claims_ask() {
    let figures = figures().unwrap();
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert!(ids.contains(&"sobas:fig1-4") && ids.contains(&"sobas:fig5-6"), "{ids:?}");
    let mut once = ids.clone();
    once.dedup();
    assert_eq!(once, ids, "ids are unique");
    for figure in &figures {
        let tasks = tasks(&figure.document).unwrap();
        for claim in claims(&figure.id).unwrap() {
            let asked: Vec<_> = tasks.iter().filter(|task| claim.concerns(task)).cloned().collect();
            for engine in &claim.engines {
                check(&asked, &[*engine]).unwrap_or_else(|faults| panic!("{faults}"));
            }
            if let Some(spec) = figure.document.figure().unwrap() {
                let drawn = engines(&spec);
                assert!(claim.engines.iter().all(|engine| drawn.contains(engine)), "{}", claim.says);
                check(&tasks, &drawn).unwrap_or_else(|faults| panic!("{faults}"));
            }
        }
    }
}

#[cfg(feature = "kernel")]
#[test]
fn what_an_engine_is_not_made_for_is_a_fault_at_its_place() {
    let text = "title = 't'\nduration = '1s'\n[link]\nrate = '1Mbit/s'\ndelay = '5ms'\nqueue.limit = '9 packets'\n\
                [[flow]]\nsocket_buffer = '9kB'\n[[flow]]\nname = 'two'\ncount = 3\nrtt = ['20ms', '30ms', '40ms']\n\
                segment = '1000B'\n";
    let document = Document::parse("x.toml", text).unwrap();
    let tasks = tasks(&document).unwrap();
    let fault = |engine| check(&tasks, &[engine]).unwrap_err().to_string();
    assert!(
        fault(Engine::Live).starts_with("x.toml:13:11: flow[1].segment: segments of 1.5kB and 1kB"),
        "{}",
        fault(Engine::Live)
    );
    assert!(
        fault(Engine::Model).starts_with("x.toml:7:1: flow[0].count: 4 flows"),
        "{}",
        fault(Engine::Model)
    );
    assert!(check(&tasks, &[Engine::Sim]).is_ok());
    assert_eq!(hopeless(&tasks, &[Engine::Live]).map(|reasons| reasons.len()), Some(1));
    // Under assumptions a theory answers all the same.
    assert_eq!(hopeless(&tasks, &[Engine::Model, Engine::Live]), None);
    assert!(can_answer(&tasks, &[Engine::Model]).is_ok());
}

#[cfg(feature = "kernel")]
#[test]
fn the_kernel_takes_flows_of_different_rtts_and_as_many_as_there_are_ports() {
    let text = |count: u32| {
        format!(
            "title = 't'\nduration = '1s'\n[link]\nrate = '1Mbit/s'\ndelay = '5ms'\nqueue.limit = '9 packets'\n\
             [[flow]]\nrtt = '90ms'\n[[flow]]\nname = 'drawn'\ncount = {count}\nrtt = {{ uniform = ['20ms', '40ms'] }}\n"
        )
    };
    let live = |count| {
        let document = Document::parse("x.toml", &text(count)).unwrap();
        check(&tasks(&document).unwrap(), &[Engine::Live]).map_err(|faults| faults.to_string())
    };
    assert_eq!(live(3), Ok(()));
    let refused = live(65_000).unwrap_err();
    assert!(refused.contains("65001 flows in all, and each needs a port of its own"), "{refused}");
}
