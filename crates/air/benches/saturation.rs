//! How many times faster than real time a saturated cell is: 300 s, 11 stations at 54 Mbit/s, the caller polling at each event.

use std::time::Instant;
use tightlink_air::Cell;
use tightlink_air::access::{Access, Category};
use tightlink_air::config::{CellConfig, StationConfig};
use tightlink_air::phy::IEEE_80211G;
use units::{Bytes, Rate, Span, Time};

const SECONDS: u64 = 300;
const STATIONS: usize = 11;

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn main() {
    let mut config = CellConfig::new(IEEE_80211G);
    config.stations.push(StationConfig::access_point("ap"));
    let access = Access::default_of(&IEEE_80211G, Category::BestEffort);
    for index in 1..=STATIONS {
        let station = StationConfig::new(format!("station-{index}"), Rate::from_bps(54_000_000));
        config.stations.push(station.saturated(Category::BestEffort, access, Bytes::new(1500), 0));
    }
    let end = Time::ZERO + Span::from_secs(SECONDS);
    for _ in 0..3 {
        let start = Instant::now();
        let mut cell = Cell::new(&config).expect("the parameters are the standard's");
        let (mut outcomes, mut count) = (Vec::new(), 0);
        while cell.wakeup() <= end {
            cell.poll(cell.wakeup(), &mut outcomes);
            count += outcomes.len();
            outcomes.clear();
        }
        let took = start.elapsed().as_secs_f64();
        let speed = SECONDS as f64 / took;
        println!(
            "{SECONDS} s, {STATIONS} stations: {took:.3} s, {speed:.0} times real time, {count} attempts"
        );
    }
}
