//! Makes the traces of links that the program carries, in `traces/`: `cargo run -p tightlink-lab --example make_traces`.
//!
//! The models and their sources are in `traces/README.md`. The same program makes the same bytes on every machine.

use std::fmt::Write as _;
use std::path::Path;
use units::random::Stream;

/// The length of each trace, seconds.
const LENGTH: u64 = 60;
/// The seed of the random streams. Of five that we tried, its cellular link has the most typical outages.
const SEED: u64 = 3;

/// The time between two changes of a cellular link's rate, seconds.
const TICK: f64 = 0.02;
/// The standard deviation of the change in a second, packets a second. Sprout's model has 200, with which the rate is
/// near zero for half of the time.
const WANDERS: f64 = 120.0;
/// The highest rate of the cellular link, packets of 1500 bytes a second: 9.6 Mbit/s.
const HIGHEST: f64 = 800.0;
/// The rate at which an outage ends, per second.
const RECOVERS: f64 = 1.0;
/// The bounds of the rate after an outage, packets a second.
const AFTER: (f64, f64) = (100.0, 500.0);

/// The seconds after each minute at which a satellite network assigns new satellites.
const HANDOVERS: [u64; 4] = [12, 27, 42, 57];

/// The rates of IEEE 802.11n with two streams, 20 MHz and the long guard interval, Mbit/s.
const WIFI: [f64; 8] = [13.0, 26.0, 39.0, 52.0, 78.0, 104.0, 117.0, 130.0];
/// The share of such a rate that packets get, with aggregation and without other stations.
const PACKETS: f64 = 0.7;

/// Returns the name and the content of each file.
pub fn traces() -> [(&'static str, String); 3] {
    [("lte.down", lte()), ("starlink.csv", starlink()), ("wifi.csv", wifi())]
}

/// Makes opportunities of a cellular link, by the model of Sprout: a Poisson process whose rate does a Brownian motion.
/// When the rate reaches zero, it stays there until the outage ends, and begins anew.
fn lte() -> String {
    let (mut motion, mut arrivals) = (Stream::new(SEED, "lte motion"), Stream::new(SEED, "lte arrivals"));
    let (mut rate, mut out, mut lines) = (HIGHEST / 2.0, false, String::new());
    let ticks = (LENGTH as f64 / TICK) as u64;
    let mut last = 0;
    for tick in 0..ticks {
        let from = tick as f64 * TICK;
        if out {
            out = !motion.chance(RECOVERS * TICK);
            rate = motion.uniform_in(AFTER.0, AFTER.1);
        } else {
            rate += WANDERS * TICK.sqrt() * normal(&mut motion);
            rate = if rate > HIGHEST { 2.0 * HIGHEST - rate } else { rate };
            out = rate <= 0.0;
        }
        if out {
            continue;
        }
        let mut at = from + arrivals.exponential(1.0 / rate);
        while at < from + TICK {
            last = (at * 1e3) as u64;
            let _ = writeln!(lines, "{last}");
            at += arrivals.exponential(1.0 / rate);
        }
    }
    // The last time is the period.
    if last < LENGTH * 1000 {
        let _ = writeln!(lines, "{}", LENGTH * 1000);
    }
    lines
}

/// Makes rates of a satellite network: another level after each handover, which varies by the second.
fn starlink() -> String {
    let (mut levels, mut noise) = (Stream::new(SEED, "starlink levels"), Stream::new(SEED, "starlink noise"));
    let first = levels.uniform_in(80.0, 220.0);
    let (mut level, mut lines) = (first, String::from("time_s,rate_mbps\n"));
    for second in 0..LENGTH {
        if HANDOVERS.contains(&second) {
            // The level before the first handover of a minute is that after the last one.
            level = if second == HANDOVERS[3] { first } else { levels.uniform_in(80.0, 220.0) };
        }
        let _ = writeln!(lines, "{second},{:.1}", level * noise.uniform_in(0.7, 1.1));
    }
    lines
}

/// Makes rates of a Wi-Fi station: a walk over the rates of its standard, which holds each for a second in the mean.
fn wifi() -> String {
    let mut stream = Stream::new(SEED, "wifi");
    let (mut at, mut place, mut lines) = (0.0, WIFI.len() - 1, String::from("time_s,rate_mbps\n"));
    while at < LENGTH as f64 {
        let _ = writeln!(lines, "{at:.2},{:.1}", WIFI[place] * PACKETS);
        at += stream.exponential(1.0).max(0.1);
        let steps = if stream.chance(0.2) { 2 } else { 1 };
        // A step beyond an end goes the other way.
        place = match (stream.chance(0.5), place) {
            (true, place) if place + steps < WIFI.len() => place + steps,
            (false, place) if place >= steps => place - steps,
            (true, place) => place - steps,
            (false, place) => place + steps,
        };
    }
    lines
}

/// Draws from a normal distribution, as the sum of twelve uniform numbers.
fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0
}

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    for (name, content) in traces() {
        std::fs::write(folder.join(name), content)?;
    }
    Ok(())
}
