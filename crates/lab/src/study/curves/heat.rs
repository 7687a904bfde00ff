//! Heat maps: a number of the summary over two swept keys, a map for each combination of the others.

use super::points::PointRuns;
use super::{Axis, CurvesError, last, quantity};
use crate::run::metric::{numbers, value};
use crate::study::task::shown;
use scenario::{FigureSpec, Point, key_words};
use serde::Serialize;
use std::borrow::Cow;

/// One map.
#[derive(Clone, Debug, Serialize)]
pub struct HeatMap {
    /// The words for the swept key of the columns.
    pub x: String,
    /// The words for the swept key of the rows.
    pub rows: String,
    /// The number that is drawn.
    pub z: Axis,
    /// The words that distinguish it from the other maps of the same number; empty if there is one.
    pub name: String,
    /// The values of `x`, in the sweep's order.
    pub columns: Vec<String>,
    /// The rows, in the sweep's order.
    pub cells: Vec<HeatRow>,
    /// True if the colours have their middle at 50 %, because the number is a flow's share of the goodput.
    pub middle: bool,
}

/// One row of a map.
#[derive(Clone, Debug, Serialize)]
pub struct HeatRow {
    /// The value of the rows' key.
    pub name: String,
    /// One value per column, in the axis' unit; `None` where it is not known.
    pub values: Vec<Option<f64>>,
}

impl HeatRow {
    /// Returns the mean of the known values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let known = self.values.iter().flatten();
        let (count, sum) = known.fold((0u64, 0.0), |(count, sum), value| (count + 1, sum + value));
        (count > 0).then(|| sum / count as f64)
    }
}

/// Makes the maps of the number `key`.
///
/// # Errors
/// [`CurvesError::Unknown`] if no point has such a number.
pub(super) fn maps(
    spec: &FigureSpec,
    rows: &str,
    key: &str,
    points: &[PointRuns],
) -> Result<Vec<HeatMap>, CurvesError> {
    let (z, factor) = quantity(key);
    let mut maps: Vec<HeatMap> = Vec::new();
    for point in points {
        let at = &point.task.point;
        let (Some(column), Some(row)) = (value_of(at, &spec.x), value_of(at, rows)) else { continue };
        for (engine, summaries) in point.summaries() {
            let mut values: Vec<f64> = summaries
                .iter()
                .filter_map(|summary| value(summary, key))
                .map(|value| value * factor)
                .collect();
            values.sort_by(f64::total_cmp);
            // More than half of the runs must have the number, because a median of fewer would misrepresent the others.
            let found = (2 * values.len() > summaries.len()).then(|| values[(values.len() - 1) / 2]);
            let asked = (spec.engines.len() > 1).then(|| engine.to_string());
            let others = at.iter().filter(|(other, _)| *other != spec.x && other != rows);
            let named = others.map(|(other, value)| format!("{} = {}", last(other), shown(value)));
            let name = asked.into_iter().chain(named).collect::<Vec<_>>().join(", ");
            let index = maps.iter().position(|map| map.name == name).unwrap_or_else(|| {
                maps.push(HeatMap {
                    x: key_words(&spec.x),
                    rows: key_words(rows),
                    z: z.clone(),
                    name,
                    columns: Vec::new(),
                    cells: Vec::new(),
                    middle: key.ends_with("goodput_share"),
                });
                maps.len() - 1
            });
            maps[index].put(&column, &row, found);
        }
    }
    if maps.iter().all(|map| map.values().next().is_none()) {
        let first = points.first().and_then(|point| point.summaries().next());
        let known = first.and_then(|(_, of)| Some(numbers(of.first()?))).unwrap_or_default();
        return Err(CurvesError::unknown("y", key, &known));
    }
    Ok(maps)
}

impl HeatMap {
    fn put(&mut self, column: &str, row: &str, value: Option<f64>) {
        if !self.columns.iter().any(|name| name == column) {
            self.columns.push(column.to_owned());
        }
        if !self.cells.iter().any(|of| of.name == row) {
            self.cells.push(HeatRow { name: row.to_owned(), values: Vec::new() });
        }
        let at = self.columns.iter().position(|name| name == column).unwrap_or_default();
        let width = self.columns.len();
        for of in &mut self.cells {
            of.values.resize(width, None);
            if of.name == row {
                of.values[at] = value;
            }
        }
    }

    /// Returns all known values.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flat_map(|row| row.values.iter().flatten().copied())
    }
}

fn value_of<'a>(point: &'a Point, key: &str) -> Option<Cow<'a, str>> {
    point.iter().find(|(other, _)| other == key).map(|(_, value)| shown(value))
}
