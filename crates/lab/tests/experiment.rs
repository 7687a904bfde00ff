//! Experiments as other programs make them: without the command line, watched, and stopped.

#[cfg(feature = "kernel")]
use host::Clock;
use scenario::Document;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
#[cfg(feature = "kernel")]
use testkit::could_not_judge;
#[cfg(feature = "kernel")]
use tightlink_lab::run::engine::EngineError;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::claims::parse_claims;
#[cfg(feature = "kernel")]
use tightlink_lab::study::experiment::shortened;
use tightlink_lab::study::experiment::{Experiment, ExperimentError};
use tightlink_lab::study::search::{Bound, Target};
use tightlink_lab::study::watch::{Event, Unwatched, Watch, Work};
#[cfg(feature = "kernel")]
use units::{Span, Time};

const SCENARIO: &str = "title = 't'
duration = '2s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
name = 'target'
[sweep]
'link.queue.limit' = ['10 packets', '30 packets']
";

/// The second point takes longer than anybody would wait for.
const ENDLESS: &str = "title = 't'
duration = '1s'
[link]
rate = '1Gbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
[record]
columns = []
[sweep]
duration = ['1s', '1000000s']
";

fn experiment(text: &str, engines: &[Engine], folder: &Path) -> Experiment {
    let document = Document::parse("t.toml", text).unwrap();
    let mut experiment = Experiment::new(&document, folder).unwrap();
    (experiment.engines, experiment.jobs) = (engines.to_vec(), 1);
    experiment
}

/// Stops as soon as a run has got this far.
#[derive(Default)]
struct StopsAfter {
    /// Seconds of the scenario.
    passed: f64,
    answered: usize,
    begun: Vec<Work>,
}

impl Watch for StopsAfter {
    fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Running { passed, .. } if passed > self.passed => return ControlFlow::Break(()),
            Event::Answered(_) => self.answered += 1,
            Event::Begun(work) => self.begun.push(work),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn folders(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
}

#[test]
fn a_comparison_needs_no_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = experiment(SCENARIO, &[Engine::Sim], folder.path());
    asked.repeat = Some(2);
    assert_eq!(asked.page_name(), "t.html");
    asked.page = Some(folder.path().join(asked.page_name()));
    let claim = "[[claim]]\nsays = 'so'\nquantity = 'goodput'\nengines = ['sim']\nat_least = '1Mbit/s'\n";
    let claims = parse_claims("c.toml", claim).unwrap();
    let mut watch = StopsAfter { passed: f64::INFINITY, ..StopsAfter::default() };
    let compared = asked.compare(&claims, &mut watch).unwrap();
    assert_eq!((compared.answers.len(), watch.answered, watch.begun), (2, 2, vec![Work::Runs]));
    assert!(compared.answers.iter().all(|answer| answer.runs(Engine::Sim).len() == 2));
    assert!(compared.verdicts.iter().all(|verdict| verdict.held) && compared.drawn.is_none());
    asked.write_page("<html>").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("t.html")).unwrap(), "<html>");
    assert_eq!(folders(folder.path()), 4, "each run has its folder");
}

#[cfg(feature = "kernel")]
#[test]
fn a_figure_is_drawn_with_a_headline() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{SCENARIO}[figure]\nx = 'link.queue.limit'\ny = ['utilization']\n");
    let compared = experiment(&text, &Engine::ALL, folder.path()).figure(&[], &mut Unwatched).unwrap();
    let drawn = compared.drawn.expect("a figure");
    assert_eq!(drawn.curves.charts[0].curves[0].points.len(), 2);
    assert!(drawn.headline.starts_with("2 points simulated"), "{}", drawn.headline);
    let kernel = experiment(&text, &[Engine::Live], folder.path()).compare(&[], &mut Unwatched).unwrap_err();
    assert!(matches!(kernel, ExperimentError::NothingDrawn(_)), "{kernel}");
}

#[test]
fn a_result_may_be_drawn_against_another_and_must_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let figure = |x: &str| {
        let text = format!("{SCENARIO}[figure]\nx = '{x}'\ny = ['utilization']\n");
        experiment(&text, &[Engine::Sim], folder.path()).figure(&[], &mut Unwatched)
    };
    let chart = figure("queueing_delay_s.mean").unwrap().drawn.expect("a figure").curves.charts.remove(0);
    assert_eq!((chart.x.label.as_str(), chart.x.unit.as_str()), ("mean queueing delay", "ms"));
    assert_eq!(chart.along.as_deref(), Some("buffer"));
    let at: Vec<&str> = chart.curves[0].points.iter().filter_map(|point| point.at.as_deref()).collect();
    assert_eq!(at, ["10 packets", "30 packets"]);
    assert!(chart.curves[0].points[0].x < chart.curves[0].points[1].x, "a larger queue waits longer");
    let refused = figure("queueing_delay_s.men").unwrap_err().to_string();
    for word in [
        "figure.x",
        "neither a swept key nor a number of the summary",
        "did you mean",
        "tightlink list metrics",
    ] {
        assert!(refused.contains(word), "{refused}");
    }
}

#[test]
fn a_search_tells_what_it_tries() {
    struct Tried(Vec<String>);
    impl Watch for Tried {
        fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()> {
            if let Event::Tried { value, .. } = event {
                self.0.push(value.to_owned());
            }
            ControlFlow::Continue(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let target = Target { metric: "idle_fraction".into(), bound: Bound::AtMost(0.2) };
    let text = &SCENARIO[..SCENARIO.find("[sweep]").unwrap()];
    let mut tried = Tried(Vec::new());
    let asked = experiment(text, &[Engine::Sim], folder.path());
    let found = asked.search("link.queue.limit", &target, &mut tried).unwrap();
    assert!(tried.0.contains(&found[0].1.value), "{:?}", tried.0);
    let swept = experiment(SCENARIO, &[Engine::Sim], folder.path());
    let refused = swept.search("link.queue.limit", &target, &mut Unwatched).unwrap_err();
    assert!(matches!(refused, ExperimentError::Varied(_)), "{refused}");
}

#[test]
fn a_watch_stops_a_simulation_half_way_and_what_is_finished_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = StopsAfter { passed: 2.0, ..StopsAfter::default() };
    let stopped = experiment(ENDLESS, &[Engine::Sim], folder.path()).run(&mut watch).unwrap_err();
    assert!(matches!(stopped, ExperimentError::Stopped { done: 1, all: 2, .. }), "{stopped}");
    assert!(stopped.to_string().contains(&folder.path().display().to_string()));
    assert_eq!((watch.answered, folders(folder.path())), (1, 1));
}

#[test]
fn a_watch_stops_a_sweep_and_what_is_finished_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = StopsAfter { passed: 2.0, ..StopsAfter::default() };
    let swept = experiment(ENDLESS, &[], folder.path());
    let stopped = swept.sweep(Engine::Sim, &mut watch).unwrap_err();
    assert!(matches!(stopped, ExperimentError::Stopped { done: 1, all: 2, .. }), "{stopped}");
    assert_eq!(fs::read_dir(folder.path().join("points/sim")).unwrap().count(), 1);
}

#[test]
fn no_engine_begins_a_run_that_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for engine in [Engine::Model, Engine::Sim] {
        let mut watch = StopsAfter { passed: -1.0, ..StopsAfter::default() };
        let stopped = experiment(SCENARIO, &[engine], folder.path()).run(&mut watch).unwrap_err();
        assert!(matches!(stopped, ExperimentError::Stopped { done: 0, all: 2, .. }), "{engine}: {stopped}");
    }
    assert_eq!(folders(folder.path()), 0);
}

/// Needs root, or nothing is judged.
#[cfg(feature = "kernel")]
#[test]
fn a_watch_stops_a_run_of_the_kernel_at_once_and_nothing_of_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let hour = SCENARIO[..SCENARIO.find("[sweep]").unwrap()].replace("'2s'", "'1h'");
    let mut watch = StopsAfter { passed: 0.5, ..StopsAfter::default() };
    let clock = Clock::start();
    let stopped = experiment(&hour, &[Engine::Live], folder.path()).run(&mut watch).unwrap_err();
    if let ExperimentError::Engine(EngineError::Emulator(lacks)) = &stopped {
        return could_not_judge(lacks);
    }
    assert!(matches!(stopped, ExperimentError::Stopped { done: 0, all: 1, .. }), "{stopped}");
    assert_eq!((watch.answered, folders(folder.path())), (0, 0));
    let took = clock.now().since(Time::ZERO);
    assert!(took < Span::from_secs(60), "of an hour it ran {took}");
}

#[cfg(feature = "kernel")]
#[test]
fn a_kernel_that_nobody_asked_for_measures_a_short_interval() {
    let long = "title = 'long'\nduration = '60s'\nwarmup = '5s'\n[link]\nrate = '10Mbit/s'\n\
                queue = { limit = '1 bdp' }\n[[flow]]\nrtt = '40ms'\n";
    let shorter = |text: &str| shortened(&Document::parse("x.toml", text).unwrap()).unwrap();
    let (document, own) = shorter(long).expect("60 s are long");
    assert_eq!((document.value("duration").unwrap(), own), ("20s".into(), Span::from_secs(55)));
    let untouched = [
        long.replace("60s", "20s"),
        format!("{long}start = '6s'\n"),
        format!("{long}[sweep]\nduration = ['60s', '90s']\n"),
        format!("{long}control = 'highspeed'\n"),
    ];
    for text in untouched {
        assert!(shorter(&text).is_none(), "{text}");
    }
}
