//! Tables on stdout: aligned columns, numbers to the right.

use crate::print;
use crate::problem::Problem;
use lab::run::metric::{COLUMNS, FLOW, LINK, Metric, MetricReader, TRAFFIC, of_run, value};
use lab::run::record::{FlowSummary, LinkSummary, Record, SessionsSummary, TrafficSummary, WlanSummary};
use lab::study::claims::Tally;
use lab::study::claims::Verdict;
use lab::study::curves::{Axis, CurveChart, Curves, HeatMap};
use lab::study::ratio::RatioGroup;
use lab::study::task::{Answer, setting};
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};
use units::one_line;

/// The numbers of flows at which each flow has its own row.
const FLOW_ROWS: RangeInclusive<usize> = 2..=12;

/// Returns "engine", and each column's words and unit; counts have no unit.
fn head() -> Vec<String> {
    let title = |metric: &Metric| match metric.whole {
        true => metric.short.to_owned(),
        false => format!("{} {}", metric.short, metric.unit.shown()),
    };
    let columns = COLUMNS.iter().map(|key| title(&of_run(key).metric));
    ["engine".to_owned()].into_iter().chain(columns).collect()
}

/// Prints the numbers of each answer, a block per case.
pub(crate) fn print_answers(answers: &[Answer]) -> Result<(), Problem> {
    let mut rows = vec![head()];
    let mut titles = vec![None];
    for answer in answers {
        let label = answer.task.label();
        for (index, record) in answer.records.iter().enumerate() {
            titles.push((index == 0 && !label.is_empty()).then(|| label.clone()));
            rows.push(row(record));
            if FLOW_ROWS.contains(&record.summary.flows.len()) {
                for flow in &record.summary.flows {
                    titles.push(None);
                    rows.push(flow_row(flow));
                }
            }
            for traffic in &record.summary.traffic {
                titles.push(None);
                rows.push(part_row(&traffic.name, TRAFFIC, traffic));
            }
            for link in &record.summary.links {
                titles.push(None);
                rows.push(link_row(link));
            }
        }
    }
    print_aligned(&rows, &titles)?;
    for answer in answers {
        for sessions in answer.records.iter().flat_map(|record| &record.summary.sessions) {
            print::data(users(&answer.task.label(), sessions))?;
        }
        for record in &answer.records {
            // The lines about traffic are printed only for a single case.
            for traffic in record.summary.traffic.iter().filter(|_| answers.len() == 1) {
                print::data(packets(record, traffic))?;
            }
            if let Some(shaper) = &record.summary.shaper {
                let label = answer.task.label();
                let case = if label.is_empty() { String::new() } else { format!("{label}: ") };
                print::data(format_args!("{case}{} shaper: {shaper}", record.summary.engine))?;
            }
            if let Some(wlan) = &record.summary.wlan {
                print::data(air(&answer.task.label(), record, wlan))?;
            }
        }
    }
    print_assumptions(answers)?;
    let mut printed = Vec::new();
    for absent in answers.iter().flat_map(|answer| &answer.absent) {
        if !printed.contains(&absent) {
            print::talk(format_args!("no answer from {absent}"));
            printed.push(absent);
        }
    }
    Ok(())
}

/// Prints quantiles of the ratios to a sweep's baseline, a block for each group of points.
pub(crate) fn print_ratios(baseline: &[(String, String)], groups: &[RatioGroup]) -> Result<(), Problem> {
    if groups.is_empty() {
        return Ok(());
    }
    let of: Vec<String> = baseline.iter().map(setting).collect();
    let head = ["points", "least", "p10", "median", "p90"].map(str::to_owned);
    let mut rows = vec![[format!("ratio to {}", of.join(", "))].into_iter().chain(head).collect::<Vec<_>>()];
    let mut titles = vec![None];
    for group in groups {
        for (index, (words, ratio)) in group.lines.iter().enumerate() {
            titles.push((index == 0).then(|| group.label.clone()));
            let numbers =
                [ratio.least, ratio.p10, ratio.median, ratio.p90].map(|ratio| format!("{ratio:.3}"));
            rows.push([words.clone(), ratio.points.to_string()].into_iter().chain(numbers).collect());
        }
    }
    print_aligned(&rows, &titles)
}

/// Prints each assumption that the scenario breaks, once.
fn print_assumptions(answers: &[Answer]) -> Result<(), Problem> {
    let records = || answers.iter().flat_map(|answer| &answer.records);
    let mut printed = Vec::new();
    for assumption in records().flat_map(|record| &record.summary.assumptions) {
        if printed.is_empty() {
            print::data("* under assumptions that the scenario breaks:")?;
        }
        if !printed.contains(&assumption) {
            print::data(format_args!("  {assumption}"))?;
            printed.push(assumption);
        }
    }
    Ok(())
}

/// Returns a source's line below the table, with the one-way delay of its packets.
fn packets(record: &Record, traffic: &TrafficSummary) -> String {
    let shown = |key: &str, what: &str| {
        let known = TRAFFIC.iter().find(|known| known.metric.key == key);
        known
            .and_then(|known| Some(format!(", {what}{}", known.metric.with_unit((known.get)(traffic)?))))
            .unwrap_or_default()
    };
    let name = &traffic.name;
    if traffic.packets == 0 {
        return format!("{} {name}: no packets in the measured time", record.summary.engine);
    }
    format!(
        "{} {name}: one-way delay {}{}{}{}{}",
        record.summary.engine,
        shown("delay_s.mean", "mean ").trim_start_matches(", "),
        shown("delay_s.p95", "p95 "),
        shown("delay_s.p99", "p99 "),
        shown("jitter_s", "jitter "),
        shown("loss_rate", "loss "),
    )
}

/// Returns a population's line below the table.
fn users(case: &str, sessions: &SessionsSummary) -> String {
    let (name, users, active) = (&sessions.name, sessions.users, sessions.mean_active);
    let took = sessions.completion_s.map_or_else(String::new, |took| {
        format!(", mean {:.3} s, p95 {:.3} s", took.mean, took.percentiles.p95.unwrap_or(took.mean))
    });
    let case = if case.is_empty() { String::new() } else { format!("{case}: ") };
    format!("{case}{name}: {active:.1} of {users} users active; {} sessions ended{took}", sessions.completed)
}

/// Returns a wireless cell's line below the table.
fn air(case: &str, record: &Record, wlan: &WlanSummary) -> String {
    let case = if case.is_empty() { String::new() } else { format!("{case}: ") };
    let shown = |key: &str, what: &str| {
        let known = of_run(key);
        (known.get)(&record.summary)
            .map_or_else(String::new, |found| format!(", {what} {}", known.metric.with_unit(found)))
    };
    format!(
        "{case}{} over the air: {:.3} Mbit/s{}{}{}",
        record.summary.engine,
        wlan.throughput_bps / 1e6,
        shown("wlan.collision_probability", "collisions"),
        shown("wlan.idle_share", "idle"),
        shown("wlan.mean_limit_packets", "mean limit"),
    )
}

/// Returns the run's numbers. Half the width of its confidence interval follows the utilization, if there is one. A
/// star behind the engine means that the scenario breaks an assumption of the answer.
fn row(record: &Record) -> Vec<String> {
    let summary = &record.summary;
    let cell = |key: &str| {
        let half_width = value(summary, &format!("{key}_ci95")).filter(|_| key == "utilization");
        let MetricReader { metric, get } = of_run(key);
        let half_width = half_width.map_or_else(String::new, |half| format!(" ± {}", metric.shown(half)));
        get(summary).map_or_else(|| "–".to_owned(), |value| metric.shown(value) + &half_width)
    };
    let broken = if summary.is_exact() { "" } else { "*" };
    [format!("{}{broken}", summary.engine)].into_iter().chain(COLUMNS.map(cell)).collect()
}

/// Returns the row of one of several links under its engine.
fn link_row(link: &LinkSummary) -> Vec<String> {
    let tight = if link.tight { " (tight)" } else { "" };
    let back = if link.direction == "reverse" { " reverse" } else { "" };
    part_row(&format!("{}{back}{tight}", link.name), LINK, link)
}

/// Returns the row of one of several flows under its engine.
fn flow_row(flow: &FlowSummary) -> Vec<String> {
    part_row(&flow.name, FLOW, flow)
}

/// Returns the row of a part of a run. Columns for which the part has no number stay empty.
fn part_row<T>(name: &str, numbers: &[MetricReader<T>], part: &T) -> Vec<String> {
    let cell = |key: &str| {
        let known = numbers.iter().find(|known| known.metric.key == key);
        known.and_then(|known| Some(known.metric.shown((known.get)(part)?))).unwrap_or_default()
    };
    [format!("  {name}")].into_iter().chain(COLUMNS.map(cell)).collect()
}

fn number(value: Option<f64>, scale: f64, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.digits$}", value * scale))
}

/// Prints the first column to the left and the others to the right. A title has its own line before its row. On a
/// terminal that is too narrow, the columns stand in several blocks, each with the first column.
pub(crate) fn print_aligned(rows: &[Vec<String>], titles: &[Option<String>]) -> Result<(), Problem> {
    aligned(rows, titles, print::terminal_width()).into_iter().try_for_each(print::data)
}

/// Returns the lines of a table with at most `most` letters each, if the columns allow it.
fn aligned(rows: &[Vec<String>], titles: &[Option<String>], most: Option<usize>) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut lines = Vec::new();
    for block in blocks(&widths, most.unwrap_or(usize::MAX)) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        for (row, title) in rows.iter().zip(titles) {
            lines.extend(title.clone());
            let mut line = format!("  {:<first$}", row[0], first = widths[0]);
            for column in block.clone() {
                let _ = write!(line, "  {:>width$}", row[column], width = widths[column]);
            }
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// Divides the columns after the first one into blocks that have, with the first one, at most `most` letters.
fn blocks(widths: &[usize], most: usize) -> Vec<Range<usize>> {
    let first = 2 + widths[0];
    let (mut blocks, mut begin, mut used) = (Vec::new(), 1, first);
    for (column, width) in widths.iter().enumerate().skip(1) {
        if column > begin && used + 2 + width > most {
            blocks.push(begin..column);
            (begin, used) = (column, first);
        }
        used += 2 + width;
    }
    blocks.push(begin..widths.len());
    blocks
}

/// Prints the numbers of a figure: a row per x, a column per curve.
pub(crate) fn print_curves(curves: &Curves) -> Result<(), Problem> {
    for chart in &curves.charts {
        let unit =
            |axis: &Axis| if axis.unit.is_empty() { String::new() } else { format!(" ({})", axis.unit) };
        print::data(format_args!("{}{} against {}", chart.y.label, unit(&chart.y), chart.x.label))?;
        if let Some(along) = &chart.along {
            print_along(chart, along)?;
            continue;
        }
        let mut head = vec![format!("{}{}", chart.x.label, unit(&chart.x))];
        head.extend(
            chart
                .curves
                .iter()
                .map(|curve| if curve.name.is_empty() { chart.y.label.clone() } else { curve.name.clone() }),
        );
        let mut rows = vec![head];
        for (x, name) in chart.rows() {
            let mut row = vec![name];
            row.extend(chart.curves.iter().map(|curve| {
                let point = curve.points.iter().find(|point| point.x == x);
                let half = |half: f64| format!(" ± {half:.3}");
                let extent = |(least, most)| format!(" ({least:.3} to {most:.3})");
                point.map_or_else(
                    || "–".to_owned(),
                    |point| {
                        let half = point.half_width.map_or_else(String::new, half);
                        format!("{:.3}{half}{}", point.y, point.extent.map_or_else(String::new, extent))
                    },
                )
            }));
            rows.push(row);
        }
        let titles = vec![None; rows.len()];
        print_aligned(&rows, &titles)?;
    }
    curves.maps.iter().try_for_each(print_map)
}

/// Prints one number against another: a row per point, with the value of the swept key and then both numbers.
fn print_along(chart: &CurveChart, along: &str) -> Result<(), Problem> {
    let several = chart.curves.len() > 1;
    let titled = |axis: &Axis| {
        if axis.unit.is_empty() { axis.label.clone() } else { format!("{} ({})", axis.label, axis.unit) }
    };
    let mut rows = vec![vec![along.to_owned(), titled(&chart.x), titled(&chart.y)]];
    if several {
        rows[0].insert(0, "curve".to_owned());
    }
    for (curve, point) in chart.curves.iter().flat_map(|curve| curve.points.iter().map(move |at| (curve, at)))
    {
        let at = point.at.clone().unwrap_or_default();
        let mut row = vec![at, format!("{:.3}", point.x), format!("{:.3}", point.y)];
        if several {
            row.insert(0, curve.name.clone());
        }
        rows.push(row);
    }
    print_aligned(&rows, &vec![None; rows.len()])
}

/// Prints a heat map as a table, each row's mean behind it.
fn print_map(map: &HeatMap) -> Result<(), Problem> {
    let unit = if map.z.unit.is_empty() { String::new() } else { format!(" ({})", map.z.unit) };
    let name = if map.name.is_empty() { String::new() } else { format!(", {}", map.name) };
    print::data(format_args!("{}{unit}: {} against {}{name}", map.z.label, map.rows, map.x))?;
    let most = map.values().fold(0.0, |most: f64, value| most.max(value.abs()));
    let digits = if most >= 10.0 { 1 } else { 3 };
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(map.columns.iter().cloned().chain(["mean".to_owned()]));
    for of in &map.cells {
        let cells = of.values.iter().map(|value| number(*value, 1.0, digits));
        let cells = cells.chain([number(of.mean(), 1.0, digits)]);
        rows.push([of.name.clone()].into_iter().chain(cells).collect());
    }
    print_aligned(&rows, &vec![None; rows.len()])
}

/// Prints verdicts and their tally; returns true if none failed.
pub(crate) fn print_verdicts(verdicts: &[Verdict]) -> Result<bool, Problem> {
    print_each(verdicts)?;
    let mut tally = Tally::default();
    tally.add(verdicts);
    print::data(&tally)?;
    Ok(tally.is_good())
}

/// Prints the verdicts except those that were left out.
pub(crate) fn print_each(verdicts: &[Verdict]) -> Result<(), Problem> {
    for verdict in verdicts.iter().filter(|verdict| !verdict.is_left_out()) {
        let word = if verdict.failed() { "FAILED" } else { verdict.word() };
        print::data(format_args!("{word:<6}  {}", one_line(&verdict.claim)))?;
        for detail in verdict.detail.split("; ") {
            print::data(format_args!("          {}", one_line(detail)))?;
        }
        if let Some(reason) = &verdict.disagrees {
            print::data(format_args!("          why: {}", one_line(reason)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
    }

    #[test]
    fn a_table_is_whole_where_it_fits_and_in_blocks_where_it_does_not() {
        let rows = rows(&[&["engine", "loss %", "queue ms"], &["sim", "0.02 ± 0.01", "7.6"]]);
        let titles = [None, Some("limit = 1 bdp".to_owned())];
        let whole = ["  engine       loss %  queue ms", "limit = 1 bdp", "  sim     0.02 ± 0.01       7.6"];
        assert_eq!(aligned(&rows, &titles, None), whole);
        assert_eq!(aligned(&rows, &titles, Some(31)), whole);
        let blocks = aligned(&rows, &titles, Some(30));
        let lines = [
            "  engine       loss %",
            "limit = 1 bdp",
            "  sim     0.02 ± 0.01",
            "",
            "  engine  queue ms",
            "limit = 1 bdp",
            "  sim          7.6",
        ];
        assert_eq!(blocks, lines);
        // A column that does not fit at all stands alone.
        assert_eq!(aligned(&rows, &titles, Some(3)), lines);
        assert_eq!(aligned(&[vec!["alone".into()]], &[None], Some(3)), ["  alone"]);
    }
}
