#!/bin/sh
# A Mahimahi trace made by netem-trace loses an outage at its end, so that the mean rate of an on-off link doubles.
#
# Guess: 12 Mbit/s for 500 ms, then nothing for 500 ms, is a file that repeats every second, 6 Mbit/s on average.
# Seen with netem-trace 0.5.0 (crates.io, the trace library of rattan): mahimahi(1 s) gives 500 lines, the last of which is
# 500. A trace repeats at its last line, so it is read as 12 Mbit/s without a pause, also by the crate's own
# load_mahimahi_trace(). With the outage first the file has the same 500 lines, ends at 1000 and keeps 6 Mbit/s.
# Source: the format has only times of opportunities; src/mahimahi.rs writes no line for time without one.
# A user turns the pattern so that it ends with an opportunity, and lets the outage begin it. Needs cargo and the network.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'T'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
netem-trace = { version = "=0.5.0", features = ["full"] }
[workspace]
T
cat >"$folder/src/main.rs" <<'T'
use netem_trace::model::{BwTraceConfig, RepeatedBwPatternConfig, StaticBwConfig};
use netem_trace::{load_mahimahi_trace, Bandwidth, BwTrace, Duration, Mahimahi};

fn half(mbps: u64) -> Box<dyn BwTraceConfig> {
    Box::new(StaticBwConfig::new().bw(Bandwidth::from_mbps(mbps)).duration(Duration::from_millis(500)))
}

fn main() {
    for (name, pattern) in [("on, off", vec![half(12), half(0)]), ("off, on", vec![half(0), half(12)])] {
        let config = RepeatedBwPatternConfig::new().pattern(pattern).count(1);
        let lines = config.build().mahimahi(&Duration::from_secs(1));
        let mut read = load_mahimahi_trace(lines.clone(), Some(1)).unwrap().build();
        let (mut time, mut bits) = (0.0, 0.0);
        while let Some((rate, span)) = read.next_bw() {
            time += span.as_secs_f64();
            bits += rate.as_gbps_f64() * 1e9 * span.as_secs_f64();
        }
        println!("{name}: {} lines to {} ms, {:.1} Mbit/s", lines.len(), lines.last().unwrap(), bits / time / 1e6);
    }
}
T
seen=$(cd "$folder" && cargo run --quiet)
echo "$seen"
[ "$seen" = "on, off: 500 lines to 500 ms, 12.0 Mbit/s
off, on: 500 lines to 1000 ms, 6.0 Mbit/s" ]
