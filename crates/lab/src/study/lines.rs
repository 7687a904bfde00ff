//! The JSON output of commands: one object per line, whose keys say its kind. A result has the same shape from every
//! command, `{"point": {…}, "engine": "sim", "summary": {…}}`. A point that failed has `failed`, with the reason, in
//! place of `summary`. Any other line has one key: `chart`, `map` or `verdict`.

use crate::run::record::{Engine, Summary};
use crate::study::claims::Verdict;
use crate::study::curves::{CurveChart, Curves, HeatMap};
use crate::study::sweep::{FailedPoint, PointResult};
use crate::study::task::{Answer, SearchResult};
use scenario::Point;
use serde::{Serialize, Serializer};

/// The result of one engine at one point.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResultLine<'a> {
    /// The swept keys and their values as written.
    #[serde(serialize_with = "as_object")]
    point: &'a [(String, String)],
    /// The engine.
    engine: Engine,
    /// The numbers.
    summary: &'a Summary,
    /// The ratios of its numbers to those of the point's baseline.
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_object")]
    ratio: &'a [(String, f64)],
    /// The result of a search at the point, if there was a search. `summary` is then that of one run at the value
    /// found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a SearchResult>,
}

/// A point without a result.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FailedLine<'a> {
    /// The swept keys and their values as written.
    #[serde(serialize_with = "as_object")]
    point: &'a [(String, String)],
    /// The engine.
    engine: Engine,
    /// The reason.
    failed: &'a str,
}

impl<'a> FailedLine<'a> {
    /// Creates the line of a point that failed on `engine`.
    #[must_use]
    pub fn new(point: &'a FailedPoint, engine: Engine) -> Self {
        Self { point: &point.point, engine, failed: &point.reason }
    }
}

/// A line that is not a result.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherLine<'a> {
    /// A chart of a figure.
    Chart(&'a CurveChart),
    /// A heat map of a figure.
    Map(&'a HeatMap),
    /// A judged claim.
    Verdict(&'a Verdict),
}

fn as_object<T: Serialize, S: Serializer>(pairs: &&[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

impl<'a> ResultLine<'a> {
    /// Creates the line of a result at `point`.
    #[must_use]
    pub fn new(point: &'a Point, summary: &'a Summary) -> Self {
        Self { point, engine: summary.engine, summary, ratio: &[], found: None }
    }

    /// Returns the line of a sweep's point.
    #[must_use]
    pub fn swept(result: &'a PointResult) -> Self {
        Self { ratio: &result.ratios, ..Self::new(&result.point, &result.summary) }
    }

    /// Creates the line of a search's result at `point`.
    #[must_use]
    pub fn found(point: &'a Point, found: &'a SearchResult) -> Self {
        Self { found: Some(found), ..Self::new(point, &found.summary) }
    }
}

/// Returns a line for each engine that answered.
pub fn results(answer: &Answer) -> impl Iterator<Item = ResultLine<'_>> {
    let Answer { task, records, found, .. } = answer;
    // The searches of a figure have their target at the end of their point.
    let swept = if found.is_some() { task.point.len() - 1 } else { task.point.len() };
    records.iter().map(move |record| ResultLine {
        point: &task.point[..swept],
        engine: record.summary.engine,
        summary: &record.summary,
        ratio: &[],
        found: found.as_ref(),
    })
}

/// Returns a line for each chart and map.
pub fn drawn(curves: &Curves) -> impl Iterator<Item = OtherLine<'_>> {
    curves.charts.iter().map(OtherLine::Chart).chain(curves.maps.iter().map(OtherLine::Map))
}
