//! SOBAS against the maximum window: every control, every buffer, every kind of cross traffic. With words, only cells that
//! have all of them, and what SOBAS said of each. A word like `30s` is how long each run lasts, one like
//! `20seeds` how many there are of each.

use crate::path::{Cross, Path, Run, runs};
use sizing::sobas::Thresholds;
use units::{Span, Time};

/// Name, Mbit/s, RTT in ms, cross traffic, its share of the capacity, share of packets lost at random, seconds: beside others
/// at 97 Mbit/s about what the source's 200 MB take.
const PATHS: [(&str, u64, u64, Cross, f64, f64, u64); 12] = [
    ("alone", 97, 40, Cross::None, 0.0, 0.0, 12),
    ("unresponsive", 97, 40, Cross::Poisson, 0.5, 0.0, 30),
    ("tcp", 97, 40, Cross::Tcp, 0.5, 0.0, 30),
    ("loss-0.1%", 97, 40, Cross::None, 0.0, 0.001, 60),
    ("loss-0.3%", 97, 40, Cross::None, 0.0, 0.003, 60),
    ("loss-1%", 97, 40, Cross::None, 0.0, 0.01, 60),
    ("fig9", 970, 20, Cross::None, 0.0, 0.0, 12),
    ("fig11", 970, 20, Cross::Poisson, 0.41, 0.0, 12),
    ("fig14", 970, 20, Cross::Tcp, 0.515, 0.0, 12),
    ("fig18", 620, 60, Cross::Poisson, 0.274, 0.0, 12),
    ("fig22", 97, 40, Cross::Poisson, 0.175, 0.0, 22),
    ("fig24", 97, 120, Cross::Poisson, 0.588, 0.0, 48),
];

pub fn print(words: &[String]) {
    let duration = words.iter().find_map(|word| word.strip_suffix('s')?.parse().ok());
    let asked = words.iter().find_map(|word| word.strip_suffix("seeds")?.parse().ok());
    let words: Vec<_> = words
        .iter()
        .filter(|word| !word.starts_with(char::is_numeric) || word.parse::<f64>().is_ok())
        .collect();
    let mut cells = Vec::new();
    for (name, rate, rtt, cross, taken, loss, seconds) in PATHS {
        let buffers: &[f64] = match name {
            _ if name.starts_with("fig") => &[0.25],
            _ if name.starts_with("loss") => &[0.5],
            _ => &[0.05, 0.1, 0.25, 0.5, 1.0],
        };
        for control in ["reno", "cubic", "bbr"] {
            for buffer in buffers {
                let label = format!("{name} {control} {buffer}");
                let path = Path {
                    rate: rate * 1_000_000,
                    rtt: Span::from_millis(rtt),
                    buffer: *buffer,
                    cross,
                    loss,
                    control,
                    taken,
                    seconds: duration.unwrap_or(seconds),
                    start: Time::ZERO + Span::from_secs(1),
                    seed: 1,
                };
                if words.iter().all(|word| label.split(' ').any(|part| part == *word)) {
                    // What is lost at random, and what others send, differs from seed to seed more than the windows do.
                    let usual = match cross {
                        _ if loss > 0.0 => 30,
                        // Beside Poisson traffic BBR's goodput differs by a third from seed to seed.
                        Cross::Poisson if control == "bbr" => 20,
                        Cross::None => 1,
                        _ => 5,
                    };
                    let seeds = asked.unwrap_or(usual);
                    // How two transfers meet is chance, and beside a TCP transfer nothing else is.
                    let starts = |seed| path.start + Span::from_micros(7_300) * (seed - 1);
                    cells.extend(
                        (1..=seeds).map(|seed| (label.clone(), Path { seed, start: starts(seed), ..path })),
                    );
                }
            }
        }
    }
    let paths: Vec<Path> = cells.iter().map(|(_, path)| *path).collect();
    let maximum = runs(&paths, None);
    let sobas = runs(&paths, Some(Thresholds::default()));
    let mut at = 0;
    for cell in cells.chunk_by(|(one, _), (other, _)| one == other) {
        let (label, range) = (&cell[0].0, at..at + cell.len());
        at = range.end;
        let (sobas, maximum) = (&sobas[range.clone()], &maximum[range]);
        let mean =
            |runs: &[Run], of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let mbps = |runs: &[Run]| mean(runs, &|run| run.goodput) / 1e6;
        let rtt = |runs: &[Run]| mean(runs, &|run| run.rtt);
        let again = |runs: &[Run]| mean(runs, &|run| run.retransmits as f64);
        let ratio = mbps(sobas) / mbps(maximum);
        let mark = if ratio < 0.95 { "<" } else { "" };
        println!(
            "{label:24} {:6.1} / {:6.1} Mbit/s = {ratio:.3}{mark:1}  RTT {:.2} / {:.2}  sent again {:.0} / {:.0}",
            mbps(sobas),
            mbps(maximum),
            rtt(sobas),
            rtt(maximum),
            again(sobas),
            again(maximum),
        );
        if !words.is_empty() {
            let each = |runs: &[Run]| runs.iter().map(|run| (run.goodput / 1e6, run.rtt)).collect::<Vec<_>>();
            println!("    Mbit/s and RTT of each: {:.2?} / {:.2?}", each(sobas), each(maximum));
            sobas[0].told.iter().for_each(|line| println!("    {line}"));
        }
    }
}
