//! `tightlink size`: the buffer that a link needs.

use crate::args::{EngineName, SizeOptions};
use crate::folder::Folder;
use crate::pictures;
use crate::print;
use crate::problem::Problem;
use crate::progress::Bars;
use crate::source;
use crate::table::print_aligned;
use lab::files::{make_folder, replace, try_replace};
use lab::run::record::Engine;
use lab::study::experiment::ExperimentError;
use lab::study::size::{Call, PLACES, Point, Question, Sizing, Study, from_theory};
use std::path::Path;
use std::process::ExitCode;
use units::Complaint;

/// The report's file name in the results folder.
const PAGE: &str = "size.html";

pub(crate) fn run(options: &SizeOptions) -> Result<ExitCode, Problem> {
    let engine = if options.quick { Engine::Model } else { Engine::from(options.engine) };
    let folder = Folder::of(&options.out)?;
    let study = study(options, folder.path())?;
    study.check(engine).map_err(Problem::usage)?;
    let default = (engine != Engine::Model && folder.keeps()).then(|| folder.path().join(PAGE));
    let page = options.report.clone().or(default);
    with(page.as_deref(), try_replace)?;
    pictures::check(&options.pictures)?;
    let mut sizing = match engine {
        Engine::Model => from_theory(&study.question),
        Engine::Sim | Engine::Live => bars(options).watch(|watch| study.simulate(watch))?,
    };
    if engine == Engine::Live {
        bars(options).watch(|watch| study.prove(&mut sizing, watch))?;
    }
    let html = report::size::html(&sizing, &source::command_line());
    with(page.as_deref(), |page| replace(page, html.as_bytes()))?;
    if options.json {
        print::json(&sizing)?;
    } else {
        show(&sizing)?;
    }
    if let Some(page) = page {
        print::talk(format_args!("report: {}", page.display()));
    }
    pictures::write(&options.pictures, || report::size::pictures(&sizing))?;
    Ok(ExitCode::SUCCESS)
}

fn bars(options: &SizeOptions) -> Bars {
    if options.json && options.engine != EngineName::Live { Bars::silent() } else { Bars::default() }
}

fn study(options: &SizeOptions, folder: &Path) -> Result<Study, Problem> {
    let mut study = match (&options.file, options.rate) {
        (Some(file), _) => Study::of_scenario(&source::document(file, &options.changes)?, folder.to_owned())?,
        (None, rate) => {
            if let Some(change) = options.changes.set.first() {
                return Err(Problem::usage(
                    Complaint::new(format!("--set {change}"), "no scenario is given whose key could be set")
                        .accepted("--set together with a scenario file")
                        .help("give a scenario file, or use --rate, --rtt, --flows and so on"),
                ));
            }
            let place =
                PLACES.iter().find(|(name, _)| *name == options.place).map_or(PLACES[0].1, |place| place.1);
            let wishes = Question {
                rtt: options.rtt,
                flows: options.flows.unwrap_or(place),
                mix: options.control.clone(),
                packet: options.packet,
                queue: options.queue.clone(),
                ..Question::of(rate.unwrap_or_default())
            };
            let question = match &options.trace {
                Some(trace) => Question::of_trace(trace, wishes).map_err(Problem::usage)?,
                None => wishes,
            };
            Study::of(question, folder.to_owned())
        }
    };
    study.question.target = options.target_utilization;
    study.question.max_delay = options.max_delay;
    study.question.max_loss = options.max_loss;
    study.seed = options.changes.seed.unwrap_or(study.seed);
    Ok(study)
}

fn with(page: Option<&Path>, act: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), Problem> {
    let Some(page) = page else { return Ok(()) };
    if let Some(folder) = page.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder).map_err(|source| unwritable(folder, &source))?;
    }
    act(page).map_err(|source| unwritable(page, &source))
}

fn unwritable(page: &Path, source: &std::io::Error) -> Problem {
    ExperimentError::page(page, source).into()
}

const HEAD: [&str; 9] =
    ["", "packets", "kB", "ms", "BDP", "utilization %", "mean delay ms", "p95 delay ms", "loss %"];
/// The columns of limits of a link that changes. Delays are long there, and lines have at most 80 letters.
const CHANGING: [&str; 8] = ["", "packets", "kB", "ms", "used %", "p95 ms", "self ms", "loss %"];

/// The kinds of tables.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    /// A table of a link that stays as it is.
    Full,
    /// A table of limits of a link that changes.
    Changing,
    /// A table of a link that changes, without the size of each limit.
    Effects,
}

fn row(name: &str, point: &Point, table: Table) -> Vec<String> {
    let half = point.utilization_ci95.map_or_else(String::new, |half| format!(" ± {:.2}", half * 100.0));
    let utilization = format!("{:.2}{half}", point.utilization * 100.0);
    let (packets, kilobytes) = (point.packets.to_string(), point.bytes as f64 / 1e3);
    if table != Table::Full {
        let doubt = if point.doubt().is_empty() { "" } else { " (?)" };
        let inflicted = point.self_inflicted_delay_s;
        let sizes = [format!("{kilobytes:.0}"), format!("{:.0}", point.ms)];
        let effects = [
            utilization,
            format!("{:.0}", point.queueing_delay_s.p95 * 1e3),
            inflicted.map_or_else(|| "–".to_owned(), |delay| format!("{:.0}", delay * 1e3)),
            format!("{:.2}", point.loss_rate * 100.0),
        ];
        let sizes = sizes.into_iter().filter(|_| table == Table::Changing);
        return [format!("{name}{doubt}"), packets].into_iter().chain(sizes).chain(effects).collect();
    }
    let name = match (name, point.doubt()) {
        (name, "") => name.to_owned(),
        ("", doubt) => format!("({doubt})"),
        (name, doubt) => format!("{name} ({doubt})"),
    };
    vec![
        name,
        packets,
        format!("{kilobytes:.1}"),
        format!("{:.3}", point.ms),
        point.bdp.map_or_else(|| "–".to_owned(), |bdp| format!("{bdp:.4}")),
        utilization,
        format!("{:.3}", point.queueing_delay_s.mean * 1e3),
        format!("{:.3}", point.queueing_delay_s.p95 * 1e3),
        format!("{:.4}", point.loss_rate * 100.0),
    ]
}

fn points(title: &str, points: &[(&str, &Point)], table: Table) -> Result<(), Problem> {
    points_with_calls(title, points, &[], table)
}

/// Prints a table of points, with a column for the wait of a call if there was one.
fn points_with_calls(
    title: &str,
    points: &[(&str, &Point)],
    calls: &[Option<Call>],
    table: Table,
) -> Result<(), Problem> {
    if points.is_empty() {
        return Ok(());
    }
    let doubts = table != Table::Full && points.iter().any(|(_, point)| !point.doubt().is_empty());
    print::data(format_args!("{title}{}", if doubts { " (?: undecided)" } else { "" }))?;
    let head: Vec<&str> = match table {
        Table::Full => HEAD.to_vec(),
        Table::Changing => CHANGING.to_vec(),
        Table::Effects => CHANGING.into_iter().filter(|name| !["kB", "ms"].contains(name)).collect(),
    };
    let mut rows = vec![head.into_iter().map(str::to_owned).collect()];
    rows.extend(points.iter().map(|(name, point)| row(name, point, table)));
    if calls.iter().any(Option::is_some) {
        let digits = if table == Table::Full { 3 } else { 0 };
        let wait = |call: &Option<Call>| {
            call.map_or_else(
                || "–".to_owned(),
                |call| format!("{:.digits$}", call.queueing_delay_p95_s * 1e3),
            )
        };
        rows[0].push(if table == Table::Full { "call p95 ms" } else { "call ms" }.to_owned());
        rows.iter_mut().skip(1).zip(calls).for_each(|(row, call)| row.push(wait(call)));
    }
    if points.iter().any(|(_, point)| point.l4s.is_some()) {
        rows[0].extend(["L4S %".to_owned(), "L4S p95 ms".to_owned()]);
        rows.iter_mut().skip(1).zip(points).for_each(|(row, (_, point))| row.extend(l4s(point)));
    }
    let titles = vec![None; rows.len()];
    print_aligned(&rows, &titles)
}

/// Returns the share of L4S flows, in percent, and the wait of their packets, in milliseconds.
fn l4s(point: &Point) -> [String; 2] {
    let share = point.l4s.map(|l4s| format!("{:.1}", l4s.goodput_share * 100.0));
    let wait = point.l4s.and_then(|l4s| Some(format!("{:.3}", l4s.queueing_delay_p95_s? * 1e3)));
    [share, wait].map(|cell| cell.unwrap_or_else(|| "–".to_owned()))
}

fn show(sizing: &Sizing) -> Result<(), Problem> {
    let asked = &sizing.asked;
    let changing = asked.changing.is_some();
    let (limits, effects) =
        if changing { (Table::Changing, Table::Effects) } else { (Table::Full, Table::Full) };
    if let Some(advice) = &sizing.advice {
        print::data(advice)?;
    }
    let by = if sizing.engine == Engine::Model { "by theory" } else { "simulated" };
    let target = percent(asked.target_utilization);
    let of = match (asked.bdp_packets, sizing.best_bps) {
        (Some(bdp), _) if changing => {
            format!("of the capacity, {by}; mean {:.2} Mbit/s, BDP {bdp:.0} packets", asked.rate_bps / 1e6)
        }
        (Some(bdp), _) => format!("utilization, {by}; the bandwidth-delay product is {bdp:.0} packets"),
        (None, best) => format!(
            "of the largest goodput of the downloads behind any limit, {:.3} Mbit/s, {by}",
            best.unwrap_or_default() / 1e6
        ),
    };
    points(
        &format!("limits for {target} {of}"),
        &[("least", &sizing.least), ("recommended", &sizing.recommended), ("most", &sizing.most)],
        limits,
    )?;
    if let Some(trade_off) = &sizing.trade_off {
        print::data(format_args!("no limit meets every target: {}", trade_off.says))?;
    }
    if let Some(preferred) = &sizing.preferred {
        print::data(format_args!("{}", preferred.says))?;
    }
    sizing.remarks.iter().try_for_each(|remark| print::data(format_args!("note: {remark}")))?;
    if let Some(proof) = &sizing.proof {
        let word = match proof.held {
            Some(true) => "held",
            Some(false) => "NOT held",
            None => "not judged: the machine was busy",
        };
        points(&format!("on the kernel: {word}"), &[("recommended", &proof.point)], limits)?;
        proof.notes.iter().try_for_each(|note| print::data(format_args!("  {note}")))?;
    }
    if !sizing.rules.is_empty() {
        rules(sizing)?;
    }
    let curve: Vec<(&str, &Point)> = sizing
        .curve
        .iter()
        .map(|point| (if Some(point.packets) == sizing.knee { "knee" } else { "" }, point))
        .collect();
    // On a link that changes, the last table has the curve, too.
    points(&format!("the curve, {by}"), if changing { &[] } else { &curve }, limits)?;
    let variants: Vec<(&str, &Point)> =
        sizing.sensitivity.iter().map(|variant| (variant.what.as_str(), &variant.point)).collect();
    points("the recommended limit with", &variants, effects)?;
    let starred = |policy: &lab::study::size::Policy| {
        format!("{}{}", policy.queue, if policy.best { " *" } else { "" })
    };
    let names: Vec<String> = sizing.pareto.iter().map(starred).collect();
    let policies: Vec<(&str, &Point)> =
        names.iter().map(String::as_str).zip(sizing.pareto.iter().map(|policy| &policy.point)).collect();
    let calls: Vec<Option<Call>> = sizing.pareto.iter().map(|policy| policy.call).collect();
    points_with_calls(
        "utilization against delay (*: no other row has more utilization and less delay)",
        &policies,
        &calls,
        effects,
    )?;
    let none = if sizing.lines.is_empty() { ": none is known for this queue" } else { "" };
    print::data(format_args!("lines to paste, per queue{none}"))?;
    for line in &sizing.lines {
        let says = if line.says.is_empty() { String::new() } else { format!(" {}", line.says) };
        print::data(format_args!("  {}:{says}", line.system))?;
        line.line.lines().try_for_each(|line| print::data(format_args!("    {line}")))?;
    }
    print::data("taken for granted")?;
    sizing.assumptions.iter().try_for_each(|assumption| print::data(format_args!("  {assumption}")))
}

fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

fn rules(sizing: &Sizing) -> Result<(), Problem> {
    print::data("packets by rule (*: made for this question), and the assumptions of each")?;
    let width = sizing.rules.iter().map(|rule| rule.name.chars().count()).max().unwrap_or(0) + 2;
    for rule in &sizing.rules {
        let name = format!("{}{}", rule.name, if rule.fits { " *" } else { "" });
        let packets = rule.packets.map_or_else(|| "–".to_owned(), |packets| packets.to_string());
        print::data(format_args!("  {name:<width$}  {packets:>9}  {} ({})", rule.because, rule.source))?;
    }
    Ok(())
}
