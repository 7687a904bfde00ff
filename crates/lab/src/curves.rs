//! A figure over a sweep: numbers of the summary against a swept key, or the smallest value of a key that meets a
//! target. What the scenario's `[figure]` asks, computed on all cores and resumable as any sweep.

use crate::compare::{Answer, Task};
use crate::record::{Engine, Record, Series, Summary};
use crate::search::{Found, SearchError, Target, metric, numbers, smallest};
use crate::sweep::{SweepError, sweep};
use scenario::{Document, Drawn, FigureSpec, Point, Smallest};
use serde::Serialize;
use std::path::Path;
use units::split_quantity;

/// The charts of one figure.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// What the source says.
    pub published: Option<String>,
    /// One per number drawn.
    pub charts: Vec<CurveChart>,
}

/// One chart: a number against the swept key.
#[derive(Clone, Debug, Serialize)]
pub struct CurveChart {
    /// What the horizontal axis is: the swept key.
    pub x: Axis,
    /// What the vertical axis is.
    pub y: Axis,
    /// One per combination of the other swept keys, or per target of a search.
    pub curves: Vec<Curve>,
}

/// An axis: what, in which unit, and the factor from the record's unit to it.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// "idle time".
    pub label: String,
    /// "%"; empty for a pure number.
    pub unit: String,
}

/// One curve.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// What tells it from the others; empty if there is one.
    pub name: String,
    /// From the least x to the greatest.
    pub points: Vec<CurvePoint>,
}

/// One point of a curve, in the axes' units.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CurvePoint {
    /// The swept value.
    pub x: f64,
    /// What was found.
    pub y: f64,
    /// Half the 95 % confidence interval, where one is known.
    pub half_width: Option<f64>,
}

/// Why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum CurvesError {
    /// A point of the sweep failed; finished points are kept.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The summary does not have what is to be drawn.
    #[error("[figure] y = \"{key}\": the summary has no such number\n  accepted: {accepted}")]
    Unknown {
        /// What was asked.
        key: String,
        /// What there is.
        accepted: String,
    },
}

/// How many steps [`draw`] takes.
#[must_use]
pub fn steps(spec: &FigureSpec, tasks: &[Task]) -> usize {
    match &spec.y {
        Drawn::Numbers(_) => tasks.len(),
        Drawn::Smallest(question) => tasks.len() * question.at_most.len(),
    }
}

/// Runs what the figure needs with `jobs` threads, keeping finished points in `folder`. Tells `progress` how many
/// of the [`steps`] are done. Gives the charts, and an answer per point for claims to be checked against.
///
/// # Errors
/// [`CurvesError`].
pub fn draw(
    document: &Document,
    spec: &FigureSpec,
    tasks: &[Task],
    jobs: usize,
    folder: &Path,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<(Curves, Vec<Answer>), CurvesError> {
    let (charts, answers) = match &spec.y {
        Drawn::Numbers(keys) => {
            let results = sweep(tasks, Engine::Sim, jobs, folder, progress)?;
            let answers: Vec<Answer> = (tasks.iter().zip(results))
                .map(|(task, result)| answer(task.clone(), result.summary, None))
                .collect();
            let charts = keys.iter().map(|key| number_chart(spec, key, &answers));
            (charts.collect::<Result<Vec<_>, _>>()?, answers)
        }
        Drawn::Smallest(question) => {
            let answers = search(document, question, tasks, jobs, folder, progress)?;
            (vec![smallest_chart(spec, question, &answers)], answers)
        }
    };
    Ok((Curves { published: spec.published.clone(), charts }, answers))
}

fn answer(task: Task, summary: Summary, found: Option<Found>) -> Answer {
    let record = Record { summary, series: Series::default(), notes: Vec::new() };
    Answer { task, records: vec![record], absent: Vec::new(), found }
}

/// Every point with every target.
fn search(
    document: &Document,
    question: &Smallest,
    tasks: &[Task],
    jobs: usize,
    folder: &Path,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Answer>, CurvesError> {
    let mut answers = Vec::new();
    for task in tasks {
        for (typed, at_most) in &question.at_most {
            let target = Target { metric: question.metric.clone(), at_most: *at_most };
            let found = smallest(document, &task.point, &question.over, &target, jobs, folder, &|_, _| ())?;
            let mut task = task.clone();
            task.point.push(("target".into(), typed.clone()));
            answers.push(answer(task, found.summary.clone(), Some(found)));
            progress(answers.len());
        }
    }
    Ok(answers)
}

fn number_chart(spec: &FigureSpec, key: &str, answers: &[Answer]) -> Result<CurveChart, CurvesError> {
    let (y, factor) = quantity(key);
    let mut curves = Vec::new();
    for answer in answers {
        let summary = &answer.records[0].summary;
        let value = metric(summary, key).ok_or_else(|| CurvesError::Unknown {
            key: key.to_owned(),
            accepted: numbers(summary).join(", "),
        })?;
        let half_width = metric(summary, &format!("{key}_ci95")).map(|half| half * factor);
        place(&mut curves, spec, &answer.task.point, value * factor, half_width);
    }
    Ok(CurveChart { x: x_axis(spec, answers), y, curves: sorted(curves) })
}

fn smallest_chart(spec: &FigureSpec, question: &Smallest, answers: &[Answer]) -> CurveChart {
    let mut curves = Vec::new();
    let mut unit = String::new();
    for answer in answers {
        let Some(found) = &answer.found else { continue };
        let Ok(typed) = split_quantity(&found.value, "a number") else { continue };
        unit = typed.unit.to_owned();
        place(&mut curves, spec, &answer.task.point, typed.value(), None);
    }
    let (constrained, _) = quantity(&question.metric);
    let label = format!("smallest {} for the {}", last(&question.over), constrained.label);
    CurveChart { x: x_axis(spec, answers), y: Axis { label, unit }, curves: sorted(curves) }
}

/// Puts a value on the curve of its point.
fn place(curves: &mut Vec<Curve>, spec: &FigureSpec, point: &Point, y: f64, half_width: Option<f64>) {
    let Some((_, typed)) = point.iter().find(|(key, _)| *key == spec.x) else { return };
    // A value without a number, such as a control's name, has no place on an axis: it is numbered.
    let x = split_quantity(typed, "a number").map_or(f64::NAN, |quantity| quantity.value());
    let others = point.iter().filter(|(key, _)| *key != spec.x);
    let name = others.map(|(key, value)| format!("{} = {value}", last(key))).collect::<Vec<_>>().join(", ");
    let index = curves.iter().position(|curve| curve.name == name).unwrap_or_else(|| {
        curves.push(Curve { name, points: Vec::new() });
        curves.len() - 1
    });
    let points = &mut curves[index].points;
    let x = if x.is_nan() { points.len() as f64 + 1.0 } else { x };
    points.push(CurvePoint { x, y, half_width });
}

fn sorted(mut curves: Vec<Curve>) -> Vec<Curve> {
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    curves
}

fn x_axis(spec: &FigureSpec, answers: &[Answer]) -> Axis {
    let typed = |answer: &Answer| {
        let found = answer.task.point.iter().find(|(key, _)| *key == spec.x)?;
        Some(split_quantity(&found.1, "a number").ok()?.unit.to_owned())
    };
    Axis { label: spec.x.clone(), unit: answers.first().and_then(typed).unwrap_or_default() }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// How a number of the summary is shown: in words, in a reader's unit, and the factor to it.
fn quantity(key: &str) -> (Axis, f64) {
    let (words, unit, factor) = match key {
        "idle_fraction" => ("idle time".to_owned(), "%", 100.0),
        "queue_empty_fraction" => ("time without a packet waiting".to_owned(), "%", 100.0),
        "loss_rate" => ("packets dropped".to_owned(), "%", 100.0),
        "mean_occupancy" => ("mean occupancy of the buffer".to_owned(), "%", 100.0),
        "utilization" => ("utilization".to_owned(), "%", 100.0),
        _ => {
            let words = key.replace(['_', '.'], " ");
            if key.contains("_s.") || key.ends_with("_s") {
                (words.replace(" s ", " "), "ms", 1e3)
            } else if key.ends_with("_bytes") {
                (words, "kB", 1e-3)
            } else {
                (words, "", 1.0)
            }
        }
    };
    (Axis { label: words, unit: unit.into() }, factor)
}
