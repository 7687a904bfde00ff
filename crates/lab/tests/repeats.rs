//! Several runs of one point: what is reported, what is said of the others, and what a figure draws of them.

use scenario::Document;
use std::fs;
use tightlink_lab::run::record::{Engine, Note, Record};
use tightlink_lab::study::curves::{CurvesError, draw, engines, steps};
use tightlink_lab::study::repeat::{median, record, repeats, runs, too_busy};
use tightlink_lab::study::sweep::Runner;
use tightlink_lab::study::task::{Answer, Task, check, shown, tasks};
use tightlink_lab::study::watch::SharedWatch;

const TOP: &str = "title = 't'
seed = 7
duration = '2s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '20 packets'
[[flow]]
name = 'target'
control = 'reno'
[[traffic]]
kind = 'poisson'
rate = '3Mbit/s'
[record]
columns = []
";

fn document(rest: &str) -> Document {
    Document::parse("x.toml", &format!("{TOP}{rest}")).unwrap()
}

fn only(document: &Document) -> Task {
    tasks(document).unwrap().remove(0)
}

fn simulated(task: &Task) -> Record {
    record(task, Engine::Sim, &SharedWatch::by_nobody()).unwrap()
}

#[test]
fn repetitions_differ_in_their_seed_alone() {
    let document = document("[sweep]\n'link.rate' = ['10Mbit/s', '20Mbit/s']\n");
    let task = tasks(&document).unwrap().remove(1);
    let all = repeats(&task, 3).unwrap();
    assert_eq!(all.iter().map(|task| task.resolved.seed).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(all[0].point, task.point, "the first is the scenario itself");
    assert_eq!(all[2].point, [("link.rate".into(), "20Mbit/s".into()), ("seed".into(), "9".to_owned())]);
    let again = document.at(&all[2].point).unwrap().scenario().unwrap();
    assert_eq!(again.hash(), all[2].resolved.hash, "what is kept can be run again");
    assert!(all.iter().all(|task| task.resolved.link.rate == all[0].resolved.link.rate));
    assert_eq!([Engine::Model, Engine::Sim, Engine::Live].map(|engine| runs(engine, 5)), [1, 5, 5]);
}

#[test]
fn a_seed_that_cannot_be_is_a_fault() {
    let text = TOP.replace("seed = 7", &format!("seed = {}", u64::MAX));
    let document = Document::parse("x.toml", &text).unwrap();
    assert!(repeats(&only(&document), 2).is_err());
}

#[test]
fn the_run_with_the_median_goodput_is_reported_with_what_the_others_found() {
    let document = document("");
    let task = only(&document);
    let records: Vec<Record> = repeats(&task, 5).unwrap().iter().map(simulated).collect();
    let mut goodputs: Vec<f64> = records.iter().map(|record| record.summary.flows[0].goodput_bps).collect();
    goodputs.sort_by(f64::total_cmp);
    assert!(goodputs[0] < goodputs[4], "seeds make a difference");
    let chosen = median(records.clone()).unwrap();
    assert_eq!(chosen.summary.flows[0].goodput_bps, goodputs[2]);
    let spread = chosen.summary.repeats.clone().unwrap();
    assert_eq!((spread.runs, spread.seeds), (5, vec![7, 8, 9, 10, 11]));
    let goodput = spread.goodput_bps.unwrap();
    assert_eq!((goodput.least, goodput.most), (goodputs[0], goodputs[4]));
    let retransmits = records.iter().filter_map(|record| record.summary.flows[0].retransmits);
    assert_eq!(spread.retransmits.unwrap().most, retransmits.max().unwrap() as f64);
    assert!(
        chosen.notes[0]
            .text()
            .starts_with("of 5 runs (seeds 7, 8, 9, 10, 11) the one with the median goodput")
    );
    assert!(!too_busy(&chosen));

    // Of two the lower; one is left as it is.
    let two = median(records[..2].to_vec()).unwrap();
    let lower =
        records[..2].iter().map(|record| record.summary.flows[0].goodput_bps).fold(f64::MAX, f64::min);
    assert_eq!(two.summary.flows[0].goodput_bps, lower);
    assert_eq!(median(records[..1].to_vec()).unwrap(), records[0]);
    assert!(median(Vec::new()).is_none());
}

#[test]
fn a_run_that_the_machine_disturbed_is_told_whichever_is_shown() {
    let document = document("");
    let mut records: Vec<Record> = repeats(&only(&document), 3).unwrap().iter().map(simulated).collect();
    records.sort_by(|a, b| a.summary.flows[0].goodput_bps.total_cmp(&b.summary.flows[0].goodput_bps));
    records[0].notes.push(Note::Busy("the machine was too busy: 9 % of the time".into()));
    let chosen = median(records).unwrap();
    assert_eq!(chosen.notes[1].text(), "the machine was too busy in 1 of the 3 runs");
    assert!(!too_busy(&chosen), "it was another run");
}

const FIGURE: &str = "[sweep]
'flow.target.control' = ['reno', 'vegas']
'link.queue.limit' = ['10 packets', '40 packets']
'flow.target.socket_buffer' = ['max', { sizer = 'drs' }]
[figure]
x = 'link.queue.limit'
y = ['flows.target.goodput_bps']
repeat = 3
";

#[test]
fn a_figure_draws_the_median_of_its_runs_from_the_least_to_the_most() {
    let document = document(&FIGURE.replace("['reno', 'vegas']", "['reno']"));
    let spec = document.figure().unwrap().unwrap();
    let tasks = tasks(&document).unwrap();
    assert_eq!(steps(&spec, &tasks), 12);
    let folder = tempfile::tempdir().unwrap();
    let watched = SharedWatch::by_nobody();
    let runner = |jobs| Runner { jobs, folder: Some(folder.path()), watched: &watched };
    let (curves, answers) = draw(&spec, &tasks, &runner(2)).unwrap();
    let chart = &curves.charts[0];
    assert_eq!((chart.y.label.as_str(), chart.y.unit.as_str()), ("goodput of target", "Mbit/s"));
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["reno, max", "reno, drs"]);
    for (curve, point) in chart.curves.iter().flat_map(|curve| curve.points.iter().map(move |at| (curve, at)))
    {
        let (least, most) = point.extent.unwrap();
        assert!(least <= point.y && point.y <= most && least < most, "{curve:?}");
        assert_eq!(point.half_width, None);
    }
    let of = |answer: &Answer| answer.records[0].summary.repeats.as_ref().map(|spread| spread.runs);
    assert!(answers.iter().all(|answer| of(answer) == Some(3)));
    assert_eq!(fs::read_dir(folder.path().join("points/sim")).unwrap().count(), 12, "every run is kept");
    let (again, _) = draw(&spec, &tasks, &runner(1)).unwrap();
    assert_eq!(format!("{again:?}"), format!("{curves:?}"), "what is kept is what was found");
}

#[test]
fn a_figure_leaves_out_the_points_an_engine_is_not_made_for_but_none_by_all() {
    let document = document(FIGURE);
    let mut spec = document.figure().unwrap().unwrap();
    let tasks = tasks(&document).unwrap();
    assert_eq!(steps(&spec, &tasks), 24);
    // Vegas is the simulator's.
    spec.engines = vec![scenario::FigureEngine::Live];
    assert_eq!(steps(&spec, &tasks), 12);
    let refused = check(&tasks, &engines(&spec)).unwrap_err().to_string();
    assert!(refused.contains("this kernel has no control \"vegas\""), "{refused}");
    let mut both = spec.clone();
    both.engines.push(scenario::FigureEngine::Sim);
    check(&tasks, &engines(&both)).unwrap();
    assert_eq!(steps(&both, &tasks), 12 + 24);
}

#[test]
fn an_unknown_number_is_told_what_there_is_of_a_flow() {
    let document =
        document(&FIGURE.replace("['reno', 'vegas']", "['reno']").replace("flows.target.", "flows.tarot."));
    let (spec, tasks) = (document.figure().unwrap().unwrap(), tasks(&document).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let unknown = draw(
        &spec,
        &tasks[..1],
        &Runner { jobs: 1, folder: Some(folder.path()), watched: &SharedWatch::by_nobody() },
    )
    .unwrap_err();
    assert!(matches!(unknown, CurvesError::Unknown(_)), "{unknown}");
    assert!(unknown.to_string().contains("flows.target.rtt_s.p95"), "{unknown}");
}

#[test]
fn a_sizer_without_settings_is_shown_by_its_name() {
    assert_eq!(shown("{ sizer = \"sobas\" }"), "sobas");
    assert_eq!(shown("{sizer='drs'}"), "drs");
    for other in ["max", "{ sizer = \"drs\", max = \"6MB\" }", "{ sizer = sobas }", "{}"] {
        assert_eq!(shown(other), other);
    }
}
