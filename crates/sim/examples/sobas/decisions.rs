//! How often SOBAS decides rightly, over a grid of simulated paths, for several values of each threshold: the tables by
//! which SOBAS's thresholds are chosen. What is right is known from the path: how much of it is free, and whether it loses
//! packets by itself.

use crate::path::{Cross, Path, Run, runs};
use sizing::sobas::Thresholds;
use units::{Span, Time};

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for (rate, rtts) in [(10, &[10, 40, 200][..]), (97, &[10, 40]), (400, &[10])] {
        for rtt in rtts {
            for buffer in [0.05, 0.1, 0.25, 0.5, 1.0] {
                let path = |cross, loss| Path {
                    rate: rate * 1_000_000,
                    rtt: Span::from_millis(*rtt),
                    buffer,
                    cross,
                    loss,
                    control: "reno",
                    taken: 0.5,
                    // Start-up, and some segments of the transfer.
                    seconds: (rtt * 150 / 1000).max(6),
                    start: Time::ZERO,
                    seed: 1,
                };
                for cross in [Cross::None, Cross::Cbr, Cross::Poisson, Cross::OnOff, Cross::Tcp] {
                    paths.push(path(cross, 0.0));
                }
                for loss in [0.001, 0.01] {
                    paths.push(path(Cross::None, loss));
                }
            }
        }
    }
    paths
}

/// A share, as "12/80".
fn share(count: usize, of: usize) -> String {
    format!("{count}/{of}")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One row: what was decided on all paths with these thresholds.
fn row(name: &str, thresholds: Thresholds, paths: &[Path], maximum: &[Run]) {
    let results = runs(paths, Some(thresholds));
    let all = || paths.iter().zip(&results).zip(maximum);
    let (clean, lossy): (Vec<_>, Vec<_>) = all().partition(|((path, _), _)| path.loss == 0.0);
    // A window that leaves a tenth of the path unused is decided too early.
    let fills = |window: f64| window >= 0.9;
    let decided = |of: &dyn Fn(&Run) -> Option<f64>| {
        let windows: Vec<f64> = clean.iter().filter_map(|((_, run), _)| of(run)).collect();
        let right = windows.iter().filter(|window| fills(**window)).count();
        share(right, windows.len())
    };
    let flat_lossy = lossy.iter().filter(|((_, run), _)| run.flat.is_some() || run.dropped.is_some()).count();
    let released = lossy.iter().filter(|((_, run), _)| run.opened.is_some_and(|at| at <= 5.0)).count();
    let falsely = clean.iter().filter(|((_, run), _)| run.opened.is_some()).count();
    let gain = |of: &[((&Path, &Run), &Run)]| {
        let mut gains: Vec<f64> =
            of.iter().map(|((_, run), maximum)| run.goodput / maximum.goodput).collect();
        gains.sort_by(f64::total_cmp);
        (gains[gains.len() / 10], median(gains))
    };
    let ((low, middle), (low_lossy, middle_lossy)) = (gain(&clean), gain(&lossy));
    let rtt = median(clean.iter().map(|((_, run), _)| run.rtt).collect());
    let quiet = clean.iter().filter(|((_, run), _)| run.retransmits == 0).count();
    println!(
        "| {name} | {} | {} | {} | {} | {} | {low:.2} / {middle:.2} | {low_lossy:.2} / {middle_lossy:.2} | {rtt:.2} | {} |",
        decided(&|run| run.flat),
        decided(&|run| run.dropped),
        share(flat_lossy, lossy.len()),
        share(released, lossy.len()),
        share(falsely, clean.len()),
        share(quiet, clean.len()),
    );
}

pub fn print() {
    let paths = paths();
    let maximum = runs(&paths, None);
    let rtt = median(
        paths.iter().zip(&maximum).filter(|(path, _)| path.loss == 0.0).map(|(_, run)| run.rtt).collect(),
    );
    let quiet = paths.iter().zip(&maximum).filter(|(path, run)| path.loss == 0.0 && run.retransmits == 0);
    println!(
        "{} paths. The maximum window on those without loss: median RTT {rtt:.2} of the base, {} runs without a loss.\n",
        paths.len(),
        quiet.count()
    );
    println!(
        "| | flat-rate: right | drop or loss: right | decided on a lossy path | released in 5 s | released without loss | goodput / maximum, 10 % and median | the same, lossy | median RTT / base | no loss at all |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let defaults = Thresholds::default();
    row("defaults", defaults, &paths, &maximum);
    for nearly_equal in [0.02, 0.1] {
        let name = format!("nearly equal {} %", nearly_equal * 100.0);
        row(&name, Thresholds { nearly_equal, ..defaults }, &paths, &maximum);
    }
    for rise_share in [0.02, 0.1] {
        let name = format!("RTT rise {} %", rise_share * 100.0);
        row(&name, Thresholds { rise_share, ..defaults }, &paths, &maximum);
    }
    for hint_share in [0.005, 0.03, 0.05] {
        let name = format!("hint {} %", hint_share * 100.0);
        row(&name, Thresholds { hint_share, ..defaults }, &paths, &maximum);
    }
    for dropped in [0.5, 0.9] {
        let name = format!("drop below {} %", dropped * 100.0);
        row(&name, Thresholds { dropped, ..defaults }, &paths, &maximum);
    }
    row("5 samples in start-up", Thresholds { flat_starting: 5, ..defaults }, &paths, &maximum);
    for losses_held in [2, 5] {
        row(&format!("{losses_held} losses held"), Thresholds { losses_held, ..defaults }, &paths, &maximum);
    }
}
