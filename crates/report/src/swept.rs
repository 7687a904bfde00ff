//! A chart of a number against a swept key or another number, with the decisions about its axes. The pages' script and
//! the pictures draw it.

use lab::study::curves::{CurveChart, CurvePoint};
use serde::Serialize;

/// The ratio of the greatest to the least x above which the horizontal axis is logarithmic.
const WIDE: f64 = 25.0;
/// The percentage above which a chart of shares does not begin at 0, because all its curves would lie at the ceiling.
const HIGH: f64 = 50.0;
/// The room above and below such curves, as a share of their range, which counts as half a percent at least.
const ROOM: f64 = 0.08;
const LEAST_RANGE: f64 = 0.5;

/// The data that `figure.js` draws.
#[derive(Debug, Serialize)]
pub(super) struct SweptCharts {
    pub(super) charts: Vec<SweptChart>,
}

/// A chart, with limits marked in it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SweptChart {
    #[serde(flatten)]
    pub(super) chart: CurveChart,
    /// The limits, if the chart is over the limit.
    pub(super) marks: Vec<Mark>,
    /// The least value of a logarithmic axis, at which smaller values are drawn, too. `None`: the axis is linear.
    pub(super) foot: Option<f64>,
    /// True if the horizontal axis is logarithmic.
    pub(super) x_log: bool,
    /// The values of x, each of which has a tick if they stand apart. Empty if they were measured, because none of them
    /// is then a round number.
    pub(super) values: Vec<f64>,
    /// The names of these values, each of which has a tick; empty if x is a number.
    pub(super) names: Vec<String>,
    /// The ends of a linear vertical axis; `None` for one that begins at zero.
    pub(super) y_range: Option<[f64; 2]>,
}

/// A vertical line.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) label: &'static str,
}

impl SweptChart {
    /// Decides about the axes of `chart`. `measured` is true if the values of x were measured.
    pub(super) fn new(chart: CurveChart, marks: Vec<Mark>, foot: Option<f64>, measured: bool) -> Self {
        let points = || chart.curves.iter().flat_map(|curve| &curve.points);
        let mut values: Vec<f64> = points().map(|point| point.x).filter(|x| x.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut names = Vec::new();
        if chart.has_names() {
            (values, names) = chart.rows().into_iter().unzip();
        }
        let wide = |(least, most): (&f64, &f64)| *least > 0.0 && most / least > WIDE;
        let x_log = names.is_empty() && values.first().zip(values.last()).is_some_and(wide);
        if measured || chart.along.is_some() {
            values.clear();
        }
        let y_range = if foot.is_some() || chart.y.unit != "%" { None } else { high(points()) };
        Self { chart, marks, foot, x_log, values, names, y_range }
    }

    /// Returns the vertical axis' value of `y`. A logarithmic axis has a foot, at which zero and what is less stand.
    pub(super) fn on_axis(&self, y: f64) -> f64 {
        self.foot.map_or(y, |foot| y.max(foot))
    }
}

/// Returns the ends of an axis of percentages that are all high.
fn high<'a>(points: impl Iterator<Item = &'a CurvePoint>) -> Option<[f64; 2]> {
    let ends = points.flat_map(|point| match point.extent {
        Some((least, most)) => [least, most],
        None => [point.y - point.half_width.unwrap_or(0.0), point.y],
    });
    let (least, most) = ends
        .filter(|y| y.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), y| (least.min(y), most.max(y)));
    if !(least > HIGH && most.is_finite()) {
        return None;
    }
    let room = ROOM * (most - least).max(LEAST_RANGE);
    let top = if most > 100.0 { most + room } else { (most + room).min(100.0 + room / 4.0) };
    Some([(least - room).max(0.0), top])
}
