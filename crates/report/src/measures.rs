//! The measurements of controllers, each quantity a chart of its own. The unit is part of the quantity's name. The
//! charts have no level lines: a set value is a further quantity in a chart of its own.

use super::Case;
use super::chart::{Chart, MAX_FLOWS, MAX_POINTS, curve_name, finish, trace};
use super::decimate::envelope;
use super::flows::{FlowQuantity, curves};
use lab::run::metric::Unit;
use lab::run::record::{FlowSeries, measure_names, measure_values};

/// Returns title and unit of a quantity by its name: `queueing_delay_s` is "Queueing delay", in ms.
fn words(name: &str) -> (String, Unit) {
    let (stem, unit) = Unit::of_name(name);
    let mut title = stem.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    (title, unit)
}

/// Makes a chart per quantity.
pub(super) fn measure_charts(case: &Case) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for name in case.records.iter().flat_map(|record| measure_names(&record.series.flows)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| chart(case, name)).collect()
}

fn chart(case: &Case, name: &str) -> Chart {
    let (title, unit) = words(name);
    let quantity =
        FlowQuantity { of: &|flow: &FlowSeries| measure_values(flow, name), spread: None, additive: false };
    let mut traces = Vec::new();
    for record in &case.records {
        let engine = record.summary.engine;
        for curve in curves(&record.series, &quantity, MAX_FLOWS) {
            let thin = envelope(&curve.t, &curve.y, MAX_POINTS);
            traces.push(trace(
                engine,
                Some(curve.role),
                curve_name(&curve.name, engine),
                &thin,
                unit.scale(),
            ));
        }
    }
    finish(name, &title, unit.shown(), format!("{name}, as the controllers measure it"), traces, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_drawn_and_in_which_unit() {
        assert_eq!(words("queueing_delay_s"), ("Queueing delay".into(), Unit::Delay));
        assert_eq!(words("utilization"), ("Utilization".into(), Unit::Number));
    }
}
