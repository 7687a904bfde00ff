//! Figures over a sweep: numbers of the summary against a swept key, or the smallest value of a key that meets a
//! target. The scenario's `[figure]` asks for them. They are computed on all cores, and resumable as any sweep.

mod heat;
mod horizontal;
mod points;
mod reference;

pub use heat::{HeatMap, HeatRow};
pub use horizontal::figure;
pub use reference::Reference;

use crate::run::metric::{described, numbers, value};
use crate::run::record::{Engine, Record, Series, Summary};
use crate::study::search::{Bound, SearchError, Target, search as search_for};
use crate::study::sweep::{Runner, SweepError};
use crate::study::task::{Answer, Task, setting, shown};
use points::{PointRuns, run_points};
use scenario::{Faults, FigureNumbers, FigureSpec, Point, Smallest, key_words, unit_words};
use serde::Serialize;
use units::{Complaint, split_quantity};

/// The charts of one figure.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// The statement of the source.
    pub published: Option<String>,
    /// One chart per number drawn.
    pub charts: Vec<CurveChart>,
    /// The maps in place of charts, where rows are asked for. Each number has one per combination of the keys that are
    /// neither x nor rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<HeatMap>,
}

/// One chart: a number against the swept key.
#[derive(Clone, Debug, Serialize)]
pub struct CurveChart {
    /// The horizontal axis: the words for the swept key, or for a number of the summary.
    pub x: Axis,
    /// The words for the swept key along which a curve goes, if x is a number of the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<String>,
    /// The vertical axis.
    pub y: Axis,
    /// One curve per combination of the other swept keys, or per target of a search.
    pub curves: Vec<Curve>,
}

/// An axis: its quantity and its unit.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The quantity: "idle time".
    pub label: String,
    /// The unit: "%"; empty for a pure number.
    pub unit: String,
}

/// One curve.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The words that distinguish it from the other curves; empty if there is one.
    pub name: String,
    /// Its points, from the least x to the greatest; along a swept key in the order of the sweep.
    pub points: Vec<CurvePoint>,
}

/// One point of a curve, in the axes' units.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    /// The swept value, or the place of its name, from 1 on; for a number of the summary the median of several runs.
    pub x: f64,
    /// The swept value as typed, if x is not that number: the name on the horizontal axis, or the value of the key that
    /// the curve goes along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The number found; the median of several runs.
    pub y: f64,
    /// Half the 95 % confidence interval, where one is known.
    pub half_width: Option<f64>,
    /// The least and the greatest of several runs.
    pub extent: Option<(f64, f64)>,
}

impl CurveChart {
    /// Returns true if the horizontal axis has names, such as those of queue policies, in the order of the sweep.
    #[must_use]
    pub fn has_names(&self) -> bool {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        self.along.is_none() && points.any(|point| point.at.is_some())
    }

    /// Returns each x of a chart over a swept key, from the least to the greatest, and its name or number.
    #[must_use]
    pub fn rows(&self) -> Vec<(f64, String)> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let named = |point: &CurvePoint| point.at.clone().unwrap_or_else(|| point.x.to_string());
        let mut rows: Vec<(f64, String)> = points.map(|point| (point.x, named(point))).collect();
        rows.sort_by(|one, other| one.0.total_cmp(&other.0));
        rows.dedup_by(|one, other| one.0 == other.0);
        rows
    }
}

/// The reasons for which a figure cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CurvesError {
    /// A point of the sweep failed; finished points are kept.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The scenario has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// The summary does not have a number that is to be drawn.
    #[error(transparent)]
    Unknown(Complaint),
}

impl CurvesError {
    /// Returns the error for an `axis` that should show `key`, but can show only the numbers `known`.
    fn unknown(axis: &str, key: &str, known: &[String]) -> Self {
        let place = format!("[figure] {axis} = \"{key}\"");
        let complaint = Complaint::new(place, "the summary has no such number");
        Self::Unknown(complaint.accepted(known.join(", ")))
    }
}

/// Returns the engines that a figure is drawn from, in the order reports show them.
#[must_use]
pub fn engines(spec: &FigureSpec) -> Vec<Engine> {
    let asked: Vec<Engine> = spec.engines.iter().map(|engine| Engine::from(*engine)).collect();
    Engine::ALL.into_iter().filter(|engine| asked.contains(engine)).collect()
}

/// Returns the number of steps that [`draw`] takes.
#[must_use]
pub fn steps(spec: &FigureSpec, tasks: &[Task]) -> usize {
    match &spec.y {
        FigureNumbers::Numbers(_) => points::count(&engines(spec), spec.repeat, tasks),
        FigureNumbers::Smallest(question) => tasks.len() * question.at_most.len(),
    }
}

/// Makes the runs that the figure needs, in [`steps`] steps, and keeps finished points. Returns the charts, and an
/// answer per point by which claims can be checked.
///
/// # Errors
/// [`CurvesError`].
pub fn draw(
    spec: &FigureSpec,
    tasks: &[Task],
    runner: &Runner<'_, '_>,
) -> Result<(Curves, Vec<Answer>), CurvesError> {
    runner.watched.need(steps(spec, tasks));
    let mut maps = Vec::new();
    let (charts, answers) = match &spec.y {
        FigureNumbers::Numbers(keys) => {
            let points = run_points(&engines(spec), spec.repeat, tasks, runner)?;
            let charts = if let Some(rows) = &spec.rows {
                for key in keys {
                    maps.extend(heat::maps(spec, rows, key, &points)?);
                }
                Vec::new()
            } else {
                keys.iter().map(|key| number_chart(spec, key, &points)).collect::<Result<Vec<_>, _>>()?
            };
            (charts, points.iter().map(PointRuns::answer).collect())
        }
        FigureNumbers::Smallest(question) => {
            let answers = search(question, tasks, runner)?;
            (vec![smallest_chart(spec, question, &answers)], answers)
        }
    };
    Ok((Curves { published: spec.published.clone(), charts, maps }, answers))
}

/// Searches at every point for every target.
fn search(question: &Smallest, tasks: &[Task], runner: &Runner<'_, '_>) -> Result<Vec<Answer>, CurvesError> {
    let mut answers = Vec::new();
    for task in tasks {
        for (typed, at_most) in &question.at_most {
            let target = Target { metric: question.metric.clone(), bound: Bound::AtMost(*at_most) };
            let found = search_for(task, &question.over, &target, runner)?;
            let mut task = task.clone();
            task.point.push(("target".into(), typed.clone()));
            let record =
                Record { summary: found.summary.clone(), series: Series::default(), notes: Vec::new() };
            answers.push(Answer { found: Some(found), ..Answer::of(task, vec![record]) });
            runner.watched.finish(1);
        }
    }
    Ok(answers)
}

fn number_chart(spec: &FigureSpec, key: &str, points: &[PointRuns]) -> Result<CurveChart, CurvesError> {
    let (y, factor) = quantity(key);
    let result = spec.along.as_ref().map(|_| {
        if spec.baseline.is_empty() {
            (spec.x.as_str(), quantity(&spec.x))
        } else {
            let settings: Vec<String> = spec.baseline.iter().map(setting).collect();
            let label = format!("{} with {}", y.label, settings.join(", "));
            (key, (Axis { label, unit: y.unit.clone() }, factor))
        }
    });
    let are_names = are_names(spec, points.iter().map(|point| &point.task.point));
    let mut curves = Vec::new();
    let mut missing = None;
    for point in points {
        // The point whose results are on the horizontal axis: the point itself, or its baseline.
        let Some(across) = across(spec, point, points) else { continue };
        for (engine, summaries) in point.summaries() {
            let known = |summaries: &[&Summary], axis: &'static str, key: &str, factor: f64| {
                let of = |summary: &&Summary| {
                    let unknown = || CurvesError::unknown(axis, key, &numbers(summary));
                    Ok(value(summary, key).ok_or_else(unknown)? * factor)
                };
                summaries.iter().map(of).collect::<Result<Vec<f64>, CurvesError>>()
            };
            let x = match &result {
                Some((x, (_, factor))) => {
                    let Some((_, others)) = across.summaries().find(|(of, _)| *of == engine) else {
                        continue;
                    };
                    known(&others, "x", x, *factor).map(Some)
                }
                None => Ok(None),
            };
            // An engine that does not know a number is left out: theory, for example, has no limit that moves.
            let (values, x) = match (known(&summaries, "y", key, factor), x) {
                (Ok(values), Ok(x)) => (values, x.and_then(median).map_or(f64::NAN, |found| found.y)),
                (Err(error), _) | (_, Err(error)) => {
                    missing.get_or_insert(error);
                    continue;
                }
            };
            let half_width = match summaries[..] {
                [summary] => value(summary, &format!("{key}_ci95")).map(|half| half * factor),
                _ => None,
            };
            let Some(found) = median(values) else { continue };
            let several = spec.engines.len() > 1 || spec.reference.is_some();
            let asked = if several { engine.to_string() } else { String::new() };
            let found = CurvePoint { x, half_width, ..found };
            place(&mut curves, spec, are_names, &point.task.point, asked, &found);
        }
    }
    if let Some(error) = missing.filter(|_| curves.is_empty()) {
        return Err(error);
    }
    let first = points.first().map(|point| &point.task.point);
    Ok(match result {
        Some((_, (x, _))) => {
            let curves = if spec.baseline.is_empty() { curves } else { sorted(curves) };
            CurveChart { x, along: spec.along.as_deref().map(key_words), y, curves }
        }
        None => CurveChart { x: x_axis(spec, are_names, first), along: None, y, curves: sorted(curves) },
    })
}

/// Returns the point whose results are on the horizontal axis for `point`: itself, or its baseline. Returns `None` for
/// a point that is a baseline itself.
fn across<'a>(spec: &FigureSpec, point: &'a PointRuns, points: &'a [PointRuns]) -> Option<&'a PointRuns> {
    if spec.baseline.is_empty() {
        return Some(point);
    }
    let mut base = point.task.point.clone();
    for (key, value) in &mut base {
        if let Some((_, instead)) = spec.baseline.iter().find(|(of, _)| of == key) {
            value.clone_from(instead);
        }
    }
    points.iter().find(|other| other.task.point == base && base != point.task.point)
}

fn smallest_chart(spec: &FigureSpec, question: &Smallest, answers: &[Answer]) -> CurveChart {
    let are_names = are_names(spec, answers.iter().map(|answer| &answer.task.point));
    let mut curves = Vec::new();
    let mut unit = String::new();
    for answer in answers {
        let Some(found) = &answer.found else { continue };
        let Ok(typed) = split_quantity(&found.value, "a number") else { continue };
        unit = unit_words(typed.unit).to_owned();
        let found = CurvePoint { x: f64::NAN, at: None, y: typed.value(), half_width: None, extent: None };
        place(&mut curves, spec, are_names, &answer.task.point, String::new(), &found);
    }
    let (constrained, _) = quantity(&question.metric);
    let label = format!("smallest {} for the {}", key_words(&question.over), constrained.label);
    CurveChart {
        x: x_axis(spec, are_names, answers.first().map(|answer| &answer.task.point)),
        along: None,
        y: Axis { label, unit },
        curves: sorted(curves),
    }
}

/// Returns the median of the values, with the least and the greatest; it has no x yet.
fn median(mut values: Vec<f64>) -> Option<CurvePoint> {
    values.sort_by(f64::total_cmp);
    let (least, most) = (*values.first()?, *values.last()?);
    let extent = (values.len() > 1).then_some((least, most));
    Some(CurvePoint { x: f64::NAN, at: None, y: values[(values.len() - 1) / 2], half_width: None, extent })
}

/// Returns true if the swept values of the horizontal axis are names there: if one is not a number, such as a queue's
/// kind, or if their units differ.
fn are_names<'a>(spec: &FigureSpec, mut points: impl Iterator<Item = &'a Point>) -> bool {
    let mut unit = None;
    spec.along.is_none()
        && points.any(|point| {
            let typed = point.iter().find(|(key, _)| *key == spec.x);
            let Some(quantity) = typed.map(|(_, typed)| split_quantity(typed, "a number")) else {
                return false;
            };
            let Ok(quantity) = quantity else { return true };
            // "1 packet" and "2 packets" have one unit, and so has a zero without any.
            let own = quantity.unit.strip_suffix('s').filter(|one| one.len() > 3).unwrap_or(quantity.unit);
            (quantity.value() != 0.0 || !own.is_empty()) && *unit.get_or_insert(own) != own
        })
}

/// Puts a result on the curve of its point and, where several engines were asked, of its engine. If the values of x
/// `are_names`, a new one gets the next place.
fn place(
    curves: &mut Vec<Curve>,
    spec: &FigureSpec,
    are_names: bool,
    point: &Point,
    engine: String,
    found: &CurvePoint,
) {
    let swept = spec.swept_key();
    let Some((_, typed)) = point.iter().find(|(key, _)| key == swept) else { return };
    let at = (are_names || spec.along.is_some()).then(|| shown(typed).into_owned());
    let x = if spec.along.is_some() {
        found.x
    } else if are_names {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let last = points().map(|point| point.x).fold(0.0, f64::max);
        points().find(|point| point.at == at).map_or(last + 1.0, |point| point.x)
    } else {
        split_quantity(typed, "a number").map_or(f64::NAN, |quantity| quantity.value())
    };
    let others = point.iter().filter(|(key, _)| key != swept);
    // A word needs no key before it; a number does.
    let named = others.map(|(key, value)| match shown(value) {
        word if word.starts_with(|c: char| c.is_ascii_alphabetic()) => word.into_owned(),
        number => format!("{} = {number}", last(key)),
    });
    let parts: Vec<String> = (!engine.is_empty()).then_some(engine).into_iter().chain(named).collect();
    let name = parts.join(", ");
    let index = curves.iter().position(|curve| curve.name == name).unwrap_or_else(|| {
        curves.push(Curve { name, points: Vec::new() });
        curves.len() - 1
    });
    let CurvePoint { y, half_width, extent, .. } = *found;
    curves[index].points.push(CurvePoint { x, at, y, half_width, extent });
}

fn sorted(mut curves: Vec<Curve>) -> Vec<Curve> {
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    curves
}

fn x_axis(spec: &FigureSpec, are_names: bool, first: Option<&Point>) -> Axis {
    let typed = |point: &Point| {
        let found = point.iter().find(|(key, _)| *key == spec.x)?;
        Some(unit_words(split_quantity(&found.1, "a number").ok()?.unit).to_owned())
    };
    let unit = first.filter(|_| !are_names).and_then(typed);
    Axis { label: key_words(&spec.x), unit: unit.unwrap_or_default() }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Returns the axis of a number of the summary, in words and a reader's unit, and the factor to that unit.
fn quantity(key: &str) -> (Axis, f64) {
    let Some((metric, of)) = described(key) else {
        // The key is refused as soon as there is a summary without it.
        return (Axis { label: key.to_owned(), unit: String::new() }, 1.0);
    };
    let label = of.map_or_else(|| metric.words.to_owned(), |name| format!("{} of {name}", metric.words));
    (Axis { label, unit: metric.unit.shown().to_owned() }, metric.unit.scale())
}
