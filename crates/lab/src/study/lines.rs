//! What commands print as JSON: one object per line, whose keys say what it is. A result has the same shape from
//! every command, `{"point": {…}, "engine": "sim", "summary": {…}}`. A drawn or judged result has its one key,
//! `chart`, `map` or `verdict`.

use crate::run::record::{Engine, Summary};
use crate::study::claims::Verdict;
use crate::study::curves::{CurveChart, Curves, HeatMap};
use crate::study::sweep::PointResult;
use crate::study::task::{Answer, Found};
use scenario::Point;
use serde::{Serialize, Serializer};

/// What one engine found at one point.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResultLine<'a> {
    /// The swept keys and their values as written.
    #[serde(serialize_with = "as_object")]
    point: &'a [(String, String)],
    /// The engine.
    engine: Engine,
    /// The numbers.
    summary: &'a Summary,
    /// Numbers over those of the point's baseline.
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_object")]
    ratio: &'a [(String, f64)],
    /// What a search found at the point, where one was asked for: the summary is of a run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a Found>,
}

/// A line that is no result.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherLine<'a> {
    /// A chart of a figure.
    Chart(&'a CurveChart),
    /// A heat map of a figure.
    Map(&'a HeatMap),
    /// A claim, judged.
    Verdict(&'a Verdict),
}

fn as_object<T: Serialize, S: Serializer>(pairs: &&[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

impl<'a> ResultLine<'a> {
    /// What was found at a point.
    #[must_use]
    pub fn new(point: &'a Point, summary: &'a Summary) -> Self {
        Self { point, engine: summary.engine, summary, ratio: &[], found: None }
    }

    /// Returns the line of a sweep's point.
    #[must_use]
    pub fn swept(result: &'a PointResult) -> Self {
        Self { ratio: &result.ratios, ..Self::new(&result.point, &result.summary) }
    }

    /// What a search found at a point.
    #[must_use]
    pub fn found(point: &'a Point, found: &'a Found) -> Self {
        Self { found: Some(found), ..Self::new(point, &found.summary) }
    }
}

/// A line for each engine that answered.
pub fn results(answer: &Answer) -> impl Iterator<Item = ResultLine<'_>> {
    let Answer { task, records, found, .. } = answer;
    // A figure's searches have their target at the end of their point.
    let swept = if found.is_some() { task.point.len() - 1 } else { task.point.len() };
    records.iter().map(move |record| ResultLine {
        point: &task.point[..swept],
        engine: record.summary.engine,
        summary: &record.summary,
        ratio: &[],
        found: found.as_ref(),
    })
}

/// A line for each chart and map.
pub fn drawn(curves: &Curves) -> impl Iterator<Item = OtherLine<'_>> {
    curves.charts.iter().map(OtherLine::Chart).chain(curves.maps.iter().map(OtherLine::Map))
}
