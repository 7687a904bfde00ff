//! A chart of a figure in sentences: the ends of each curve, and the place by which most of its change has happened.

use crate::text::{capitalized, short};
use lab::study::curves::{Axis, Curve, CurveChart, CurvePoint};

/// The most curves that are described; more are left to the eye.
const MOST_CURVES: usize = 6;
/// The sentence calls a curve steady if its range is at most this share of its greatest value.
const STILL: f64 = 0.02;
/// The sentence gives the place by which this share of the change has happened.
const MOST_OF_IT: f64 = 0.9;

/// Writes a sentence per curve; empty for more than [`MOST_CURVES`] curves.
pub(super) fn story(chart: &CurveChart) -> String {
    if chart.curves.len() > MOST_CURVES {
        return String::new();
    }
    chart.curves.iter().filter_map(|curve| sentence(chart, curve)).collect::<Vec<_>>().join(" ")
}

/// Writes "With codel, utilization rises from 81 % at 3.2 ms to 99.9 % at 70 ms; nine tenths of that by 22 ms."
fn sentence(chart: &CurveChart, curve: &Curve) -> Option<String> {
    let (first, last) = (curve.points.first()?, curve.points.last()?);
    let least = curve.points.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let most = curve.points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
    if curve.points.len() < 2 || !(least.is_finite() && most.is_finite()) {
        return None;
    }
    let place = |point: &CurvePoint| match &point.at {
        Some(at) => at.clone(),
        None => with_unit(point.x, &chart.x),
    };
    let what = if curve.name.is_empty() {
        capitalized(&chart.y.label)
    } else {
        format!("With {}, {}", curve.name, chart.y.label)
    };
    let (from, to) = (with_unit(first.y, &chart.y), with_unit(last.y, &chart.y));
    let (span, change) = (most - least, last.y - first.y);
    if span <= STILL * most.abs() {
        let (least, most) = (with_unit(least, &chart.y), with_unit(most, &chart.y));
        return Some(format!("{what} stays between {least} and {most}."));
    }
    if chart.has_names() {
        let at = |y: f64| curve.points.iter().find(|point| point.y == y).map(place);
        let (least, most) =
            ((at(least)?, with_unit(least, &chart.y)), (at(most)?, with_unit(most, &chart.y)));
        return Some(format!(
            "{what} is least at {}, {}, and greatest at {}, {}.",
            least.0, least.1, most.0, most.1
        ));
    }
    // A curve that turns is described by its ends and its extreme.
    if change.abs() < MOST_OF_IT * span {
        let low = (first.y.min(last.y) - least) > (most - first.y.max(last.y));
        let extreme = curve.points.iter().find(|point| point.y == if low { least } else { most })?;
        let (word, value) = (if low { "least" } else { "greatest" }, with_unit(extreme.y, &chart.y));
        let (start, end) = (place(first), place(last));
        return Some(format!(
            "{what} is {from} at {start} and {to} at {end}; the {word} is {value} at {}.",
            place(extreme)
        ));
    }
    let verb = if change > 0.0 { "rises" } else { "falls" };
    let most_of_it = |point: &&CurvePoint| (point.y - first.y) / change >= MOST_OF_IT;
    let by = curve.points.iter().find(most_of_it).filter(|point| place(point) != place(last));
    let by = by.map_or_else(String::new, |point| format!("; nine tenths of that by {}", place(point)));
    Some(format!("{what} {verb} from {from} at {} to {to} at {}{by}.", place(first), place(last)))
}

fn with_unit(value: f64, axis: &Axis) -> String {
    if axis.unit.is_empty() { short(value) } else { format!("{} {}", short(value), axis.unit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story_of(ys: &[f64], names: &[&str]) -> String {
        let axis = |label: &str, unit: &str| Axis { label: label.into(), unit: unit.into() };
        let point = |(i, y): (usize, &f64)| CurvePoint {
            x: i as f64,
            at: names.get(i).map(|name| (*name).to_owned()),
            y: *y,
            half_width: None,
            extent: None,
        };
        let curve = Curve { name: "codel".into(), points: ys.iter().enumerate().map(point).collect() };
        let (x, y) = (axis("buffer", "BDP"), axis("idle time", "%"));
        story(&CurveChart { x, along: None, y, curves: vec![curve] })
    }

    #[test]
    fn a_curve_is_told_by_where_it_goes_and_by_when() {
        assert_eq!(
            story_of(&[20.0, 5.0, 1.0, 0.5], &[]),
            "With codel, idle time falls from 20 % at 0 BDP to 0.5 % at 3 BDP; nine tenths of that by 2 BDP."
        );
        let still = "With codel, idle time stays between 20 % and 20.1 %.";
        assert_eq!(story_of(&[20.0, 20.1, 20.0], &[]), still);
        assert_eq!(story_of(&[20.0, 20.1], &["reno", "cubic"]), still);
        assert_eq!(
            story_of(&[20.0, 2.0, 18.0], &[]),
            "With codel, idle time is 20 % at 0 BDP and 18 % at 2 BDP; the least is 2 % at 1 BDP."
        );
        assert_eq!(
            story_of(&[20.0, 2.0, 18.0], &["reno", "cubic", "bbr"]),
            "With codel, idle time is least at cubic, 2 %, and greatest at reno, 20 %."
        );
        assert_eq!(story_of(&[1.0], &[]), "");
    }
}
