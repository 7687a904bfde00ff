//! Tables on stdout: aligned columns, numbers to the right.

use crate::print;
use crate::problem::Problem;
use lab::run::record::{LinkSummary, Record, SessionsSummary, Summary};
use lab::study::claims::Tally;
use lab::study::claims::Verdict;
use lab::study::curves::{Axis, Curves, HeatMap};
use lab::study::task::Answer;

const HEAD: [&str; 7] =
    ["engine", "goodput Mbit/s", "mean RTT ms", "loss %", "retransmits", "utilization %", "backlog kB"];

/// Prints the numbers of each answer, a block per case.
pub(crate) fn print_answers(answers: &[Answer]) -> Result<(), Problem> {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    let mut titles = vec![None];
    for answer in answers {
        let label = answer.task.label();
        for (index, record) in answer.records.iter().enumerate() {
            titles.push((index == 0 && !label.is_empty()).then(|| label.clone()));
            rows.push(row(record));
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
    }
    let mut told = Vec::new();
    for absent in answers.iter().flat_map(|answer| &answer.absent) {
        if !told.contains(&absent) {
            print::talk(format_args!("no answer from {absent}"));
            told.push(absent);
        }
    }
    Ok(())
}

/// A population's line below the table.
fn users(case: &str, sessions: &SessionsSummary) -> String {
    let (name, users, active) = (&sessions.name, sessions.users, sessions.mean_active);
    let took = sessions.completion_s.map_or_else(String::new, |took| {
        format!(", mean {:.3} s, p95 {:.3} s", took.mean, took.percentiles.p95.unwrap_or(took.mean))
    });
    let case = if case.is_empty() { String::new() } else { format!("{case}: ") };
    format!("{case}{name}: {active:.1} of {users} users active; {} sessions ended{took}", sessions.completed)
}

/// The first flow's numbers, or the sum and mean of several.
fn row(record: &Record) -> Vec<String> {
    let summary = &record.summary;
    let rtts: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.rtt_s.map(|rtt| rtt.mean)).collect();
    let rtt = (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64);
    let retransmits = summary.retransmits();
    vec![
        summary.engine.to_string(),
        number(Some(summary.goodput_bps()), 1e-6, 2),
        number(rtt, 1e3, 2),
        number(summary.loss_rate, 1e2, 4),
        retransmits.map_or_else(|| "–".to_owned(), |count| count.to_string()),
        utilization(summary),
        number(summary.mean_backlog_bytes, 1e-3, 1),
    ]
}

/// With the half width of its confidence interval, where there is one.
fn utilization(summary: &Summary) -> String {
    let Some(mean) = summary.utilization else { return "–".into() };
    let half_width =
        summary.utilization_ci95.map_or_else(String::new, |width| format!(" ± {:.2}", width * 1e2));
    format!("{:.2}{half_width}", mean * 1e2)
}

/// One of several links under its engine: what a link has no part in is left empty.
fn link_row(link: &LinkSummary) -> Vec<String> {
    let tight = if link.tight { " (tight)" } else { "" };
    let back = if link.direction == "reverse" { " reverse" } else { "" };
    vec![
        format!("  {}{back}{tight}", link.name),
        String::new(),
        String::new(),
        number(Some(link.loss_rate), 1e2, 4),
        String::new(),
        number(Some(link.utilization), 1e2, 2),
        number(Some(link.mean_backlog_bytes), 1e-3, 1),
    ]
}

fn number(value: Option<f64>, scale: f64, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.digits$}", value * scale))
}

/// The first column to the left, the others to the right; a title stands on a line of its own before its row.
fn print_aligned(rows: &[Vec<String>], titles: &[Option<String>]) -> Result<(), Problem> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for (row, title) in rows.iter().zip(titles) {
        if let Some(title) = title {
            print::data(title)?;
        }
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 { format!("  {cell}{pad}") } else { format!("{pad}{cell}") }
        });
        print::data(cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}

/// Prints the numbers of a figure: a row per x, a column per curve.
pub(crate) fn print_curves(curves: &Curves) -> Result<(), Problem> {
    for chart in &curves.charts {
        let unit =
            |axis: &Axis| if axis.unit.is_empty() { String::new() } else { format!(" ({})", axis.unit) };
        print::data(format_args!("{}{} against {}", chart.y.label, unit(&chart.y), chart.x.label))?;
        let mut head = vec![format!("{}{}", chart.x.label, unit(&chart.x))];
        head.extend(
            chart
                .curves
                .iter()
                .map(|curve| if curve.name.is_empty() { chart.y.label.clone() } else { curve.name.clone() }),
        );
        let mut rows = vec![head];
        let mut xs: Vec<f64> =
            chart.curves.iter().flat_map(|curve| curve.points.iter().map(|p| p.x)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        for x in xs {
            let mut row = vec![x.to_string()];
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

/// Prints verdicts, and what they come to; true if none failed.
pub(crate) fn print_verdicts(verdicts: &[Verdict]) -> Result<bool, Problem> {
    print_each(verdicts)?;
    let mut tally = Tally::default();
    tally.add(verdicts);
    print::data(&tally)?;
    Ok(tally.is_good())
}

/// Prints those verdicts that were judged.
pub(crate) fn print_each(verdicts: &[Verdict]) -> Result<(), Problem> {
    for verdict in verdicts.iter().filter(|verdict| !verdict.is_left_out()) {
        let word = if verdict.failed() { "FAILED" } else { verdict.word() };
        print::data(format_args!("{word:<6}  {}", verdict.claim))?;
        for detail in verdict.detail.split("; ") {
            print::data(format_args!("          {detail}"))?;
        }
        if let Some(reason) = &verdict.disagrees {
            print::data(format_args!("          why: {reason}"))?;
        }
    }
    Ok(())
}
