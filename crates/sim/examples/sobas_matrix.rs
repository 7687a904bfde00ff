//! SOBAS against the maximum window in the simulator: every control, every buffer, every kind of cross traffic.
//!
//! ```text
//! cargo run --release -p tightlink-sim --example sobas_matrix [WORDS]
//! ```
//!
//! With words, only cells that have all of them, and what SOBAS said of each.

#[path = "sobas/path.rs"]
mod path;

use path::{Cross, Path, runs};
use sizing::sobas::Thresholds;
use units::{Span, Time};

/// Name, Mbit/s, RTT in ms, cross traffic, its share of the capacity.
const PATHS: [(&str, u64, u64, Cross, f64); 9] = [
    ("alone", 97, 40, Cross::None, 0.0),
    ("unresponsive", 97, 40, Cross::Poisson, 0.5),
    ("tcp", 97, 40, Cross::Tcp, 0.5),
    ("fig9", 970, 20, Cross::None, 0.0),
    ("fig11", 970, 20, Cross::Poisson, 0.41),
    ("fig14", 970, 20, Cross::Tcp, 0.515),
    ("fig18", 620, 60, Cross::Poisson, 0.274),
    ("fig22", 97, 40, Cross::Poisson, 0.175),
    ("fig24", 97, 120, Cross::Poisson, 0.588),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut cells = Vec::new();
    for (name, rate, rtt, cross, taken) in PATHS {
        let buffers = if name.starts_with("fig") { &[0.25][..] } else { &[0.05, 0.1, 0.25, 0.5, 1.0] };
        for control in ["reno", "cubic", "bbr"] {
            for buffer in buffers {
                let label = format!("{name} {control} {buffer}");
                let path = Path {
                    rate: rate * 1_000_000,
                    rtt: Span::from_millis(rtt),
                    buffer: *buffer,
                    cross,
                    loss: 0.0,
                    control,
                    taken,
                    seconds: 12,
                    start: Time::ZERO + Span::from_secs(1),
                };
                if words.iter().all(|word| label.split(' ').any(|part| part == word)) {
                    cells.push((label, path));
                }
            }
        }
    }
    let paths: Vec<Path> = cells.iter().map(|(_, path)| *path).collect();
    let maximum = runs(&paths, None);
    let sobas = runs(&paths, Some(Thresholds::default()));
    for (((label, _), maximum), sobas) in cells.iter().zip(&maximum).zip(&sobas) {
        let ratio = sobas.goodput / maximum.goodput;
        let mark = if ratio < 0.95 { "<" } else { "" };
        println!(
            "{label:24} {:6.1} / {:6.1} Mbit/s = {ratio:.3}{mark:1}  RTT {:.2} / {:.2}  sent again {} / {}",
            sobas.goodput / 1e6,
            maximum.goodput / 1e6,
            sobas.rtt,
            maximum.rtt,
            sobas.retransmits,
            maximum.retransmits,
        );
        if !words.is_empty() {
            sobas.told.iter().for_each(|line| println!("    {line}"));
        }
    }
}
