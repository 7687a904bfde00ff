//! Results of another program, drawn with the engines' curves: a table of them, read and checked.

use super::{Curves, median, place, quantity};
use scenario::{Document, Fault, FigureNumbers, FigureSpec, Point};

/// The results of another program at points of a sweep.
#[derive(Clone, Debug)]
pub struct Reference {
    name: String,
    rows: Vec<Row>,
    /// A key that was set and that the table has no values of.
    set: Option<String>,
}

/// One of the results.
#[derive(Clone, Debug)]
struct Row {
    /// The swept values, as the document's points have them.
    point: Point,
    /// Numbers of the summary, by their keys and in its units.
    values: Vec<(String, f64)>,
}

/// The columns that the header names.
struct Columns<'a> {
    swept: Vec<(&'a str, usize)>,
    drawn: Vec<(&'a str, usize)>,
    count: usize,
}

impl Reference {
    /// Reads the table in `text`, which is called `shown` in faults, for the figure `spec` of `document`. Its rows are
    /// points of the sweep as the file has it; rows that an override leaves out are not kept.
    ///
    /// # Errors
    /// If a line does not belong to such a table.
    pub fn parse(document: &Document, spec: &FigureSpec, shown: &str, text: &str) -> Result<Self, Fault> {
        let fault = |line: usize, found: String, accepted: String| {
            document.fault("figure.reference.file", format!("{shown}:{line}: {found}"), accepted, None)
        };
        // Overrides are left out here, so that a key that is set and no longer swept still selects the rows that count.
        let written = Document::parse(document.name(), document.text()).and_then(|file| file.sweep());
        let all: Vec<Point> = written.map(|sweep| sweep.points().collect()).unwrap_or_default();
        let keys: Vec<&str> = all.first().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let FigureNumbers::Numbers(numbers) = &spec.y else { return Ok(Self::empty(spec)) };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (at, header) = lines.next().unwrap_or((0, ""));
        let columns = Columns::of(header, &keys, numbers).map_err(|missing| {
            let accepted =
                [keys.as_slice(), &numbers.iter().map(String::as_str).collect::<Vec<_>>()].concat();
            fault(at + 1, format!("no column {missing}"), format!("columns {}", accepted.join(", ")))
        })?;
        let mut rows = Vec::new();
        for (at, line) in lines {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if cells.len() != columns.count {
                let found = format!("{} cells", cells.len());
                return Err(fault(at + 1, found, format!("as many as columns: {}", columns.count)));
            }
            let own = |key: &str, column: usize| (key.to_owned(), cells[column].to_owned());
            let point: Point = columns.swept.iter().map(|(key, column)| own(key, *column)).collect();
            if !all.contains(&point) {
                let cells: Vec<String> =
                    point.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                return Err(fault(
                    at + 1,
                    cells.join(", "),
                    "values that [sweep] has, as it writes them".into(),
                ));
            }
            let mut values = Vec::new();
            for (key, column) in columns.drawn.iter().filter(|(_, column)| !cells[*column].is_empty()) {
                let number = cells[*column].parse::<f64>().ok().filter(|number| number.is_finite());
                let wrong =
                    || fault(at + 1, format!("{key}: \"{}\"", cells[*column]), "a number, or nothing".into());
                values.push(((*key).to_owned(), number.ok_or_else(wrong)?));
            }
            rows.push(Row { point, values });
        }
        let swept: Vec<String> = match document.sweep() {
            Ok(sweep) => sweep.axes().iter().map(|axis| axis.key.clone()).collect(),
            Err(_) => Vec::new(),
        };
        let holds = |(key, value): &(String, String)| {
            swept.contains(key) || document.value(key).is_ok_and(|now| now == *value)
        };
        rows.retain(|row: &Row| row.point.iter().all(holds));
        rows.iter_mut().for_each(|row| row.point.retain(|(key, _)| swept.contains(key)));
        let set = document.overrides().iter().map(|(key, _)| key);
        let set = set.filter(|key| *key != "seed" && !keys.contains(&key.as_str())).min().cloned();
        Ok(Self { rows, set, ..Self::empty(spec) })
    }

    fn empty(spec: &FigureSpec) -> Self {
        let name = spec.reference.as_ref().map(|reference| reference.name.clone()).unwrap_or_default();
        Self { name, rows: Vec::new(), set: None }
    }

    /// Draws the results into the charts of the figure `spec`. Returns a sentence about that, with a space behind it.
    #[must_use]
    pub fn draw(&self, spec: &FigureSpec, curves: &mut Curves) -> String {
        if let Some(key) = &self.set {
            return format!("{} is not drawn, because it was not run with {key} as set. ", self.name);
        }
        let FigureNumbers::Numbers(keys) = &spec.y else { return String::new() };
        let mut points: Vec<&Point> = Vec::new();
        for row in &self.rows {
            if !points.contains(&&row.point) {
                points.push(&row.point);
            }
        }
        for (key, chart) in keys.iter().zip(&mut curves.charts) {
            let (_, factor) = quantity(key);
            let are_names = chart.has_names();
            for point in &points {
                let rows = self.rows.iter().filter(|row| row.point == **point).flat_map(|row| &row.values);
                let values = rows.filter(|(of, _)| of == key).map(|(_, value)| value * factor);
                if let Some(found) = median(values.collect()) {
                    place(&mut chart.curves, spec, are_names, point, self.name.clone(), &found);
                }
            }
            chart.curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
        }
        format!("Next to them, {} at {} points, {} results. ", self.name, points.len(), self.rows.len())
    }
}

impl<'a> Columns<'a> {
    /// Finds the columns of the swept `keys` and of the `numbers` in `header`.
    ///
    /// # Errors
    /// The name of a column that is missing.
    fn of(header: &'a str, keys: &[&str], numbers: &[String]) -> Result<Self, String> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let find = |key: &str| {
            let column = names.iter().position(|name| *name == key).ok_or_else(|| key.to_owned())?;
            Ok((names[column], column))
        };
        Ok(Self {
            swept: keys.iter().map(|key| find(key)).collect::<Result<_, String>>()?,
            drawn: numbers.iter().map(|key| find(key)).collect::<Result<_, String>>()?,
            count: names.len(),
        })
    }
}
