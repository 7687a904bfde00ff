//! Saturated cells beside the tables of another simulator, by theory and by simulation.
//!
//! ns-3 validates its Wi-Fi by tables of saturation throughput in Mbit/s (src/wifi/examples/wifi-bianchi.cc), for 5, 10 to 50 stations. Its
//! stations have DCF, no retry limit, and 34 bytes around a payload of 1500; with 802.11b 36. 802.11a and 802.11g have the same tables.

use scenario::Document;
use tightlink_lab::run::engine::{UNWATCHED, run};
use tightlink_lab::run::record::Engine;
use tightlink_lab::run::resolve::resolve_document;

const DSSS: &[&str] = &["802.11b"];
const OFDM: &[&str] = &["802.11a", "802.11g"];

/// PHYs, rate in Mbit/s, wait after a collision, throughput.
type Row = (&'static [&'static str], &'static str, &'static str, [f64; 10]);

#[rustfmt::skip]
const TABLES: &[Row] = &[
    (DSSS, "1", "eifs", [0.8418, 0.7831, 0.7460, 0.7186, 0.6973, 0.6802, 0.6639, 0.6501, 0.6386, 0.6285]),
    (DSSS, "2", "eifs", [1.6170, 1.5075, 1.4371, 1.3849, 1.3442, 1.3115, 1.2803, 1.2538, 1.2317, 1.2124]),
    (DSSS, "5.5", "eifs", [3.8565, 3.6170, 3.4554, 3.3339, 3.2385, 3.1613, 3.0878, 3.0249, 2.9725, 2.9266]),
    (DSSS, "11", "eifs", [6.3821, 6.0269, 5.7718, 5.5765, 5.4217, 5.2958, 5.1755, 5.0722, 4.9860, 4.9103]),
    (OFDM, "6", "eifs", [4.6899, 4.3197, 4.1107, 3.9589, 3.8478, 3.7490, 3.6618, 3.5927, 3.5358, 3.4711]),
    (OFDM, "9", "eifs", [6.8188, 6.2885, 5.9874, 5.7680, 5.6073, 5.4642, 5.3378, 5.2376, 5.1551, 5.0612]),
    (OFDM, "12", "eifs", [8.8972, 8.2154, 7.8259, 7.5415, 7.3329, 7.1469, 6.9825, 6.8521, 6.7447, 6.6225]),
    (OFDM, "18", "eifs", [12.6719, 11.7273, 11.1814, 10.7810, 10.4866, 10.2237, 9.9910, 9.8061, 9.6538, 9.4804]),
    (OFDM, "24", "eifs", [16.0836, 14.9153, 14.2327, 13.7300, 13.3595, 13.0281, 12.7343, 12.5008, 12.3083, 12.0889]),
    (OFDM, "36", "eifs", [22.0092, 20.4836, 19.5743, 18.8997, 18.4002, 17.9524, 17.5545, 17.2377, 16.9760, 16.6777]),
    (OFDM, "48", "eifs", [26.8382, 25.0509, 23.9672, 23.1581, 22.5568, 22.0165, 21.5355, 21.1519, 20.8348, 20.4729]),
    (OFDM, "54", "eifs", [29.2861, 27.3763, 26.2078, 25.3325, 24.6808, 24.0944, 23.5719, 23.1549, 22.8100, 22.4162]),
    (DSSS, "1", "difs", [0.8437, 0.7861, 0.7496, 0.7226, 0.7016, 0.6847, 0.6686, 0.6549, 0.6435, 0.6336]),
    (DSSS, "2", "difs", [1.6228, 1.5168, 1.4482, 1.3972, 1.3574, 1.3253, 1.2947, 1.2687, 1.2469, 1.2279]),
    (DSSS, "5.5", "difs", [3.8896, 3.6707, 3.5203, 3.4063, 3.3161, 3.2429, 3.1729, 3.1128, 3.0625, 3.0184]),
    (DSSS, "11", "difs", [6.4734, 6.1774, 5.9553, 5.7819, 5.6429, 5.5289, 5.4191, 5.3243, 5.2446, 5.1745]),
    (OFDM, "6", "difs", [4.7087, 4.3453, 4.1397, 3.9899, 3.8802, 3.7824, 3.6961, 3.6276, 3.5712, 3.5071]),
    (OFDM, "9", "difs", [6.8586, 6.3431, 6.0489, 5.8340, 5.6762, 5.5355, 5.4110, 5.3122, 5.2307, 5.1380]),
    (OFDM, "12", "difs", [8.9515, 8.2901, 7.9102, 7.6319, 7.4274, 7.2447, 7.0829, 6.9544, 6.8485, 6.7278]),
    (OFDM, "18", "difs", [12.7822, 11.8801, 11.3543, 10.9668, 10.6809, 10.4249, 10.1978, 10.0171, 9.8679, 9.6978]),
    (OFDM, "24", "difs", [16.2470, 15.1426, 14.4904, 14.0072, 13.6496, 13.3288, 13.0436, 12.8164, 12.6286, 12.4144]),
    (OFDM, "36", "difs", [22.3164, 20.9147, 20.0649, 19.4289, 18.9552, 18.5284, 18.1476, 17.8434, 17.5915, 17.3036]),
    (OFDM, "48", "difs", [27.2963, 25.6987, 24.7069, 23.9578, 23.3965, 22.8891, 22.4350, 22.0713, 21.7696, 21.4243]),
    (OFDM, "54", "difs", [29.8324, 28.1519, 27.0948, 26.2925, 25.6896, 25.1434, 24.6539, 24.2613, 23.9353, 23.5618]),
];

/// A number of the tables.
struct Entry {
    phy: &'static str,
    rate: &'static str,
    after: &'static str,
    stations: usize,
    expected: f64,
}

fn entries() -> impl Iterator<Item = Entry> {
    TABLES.iter().flat_map(|(phys, rate, after, expected)| {
        phys.iter().flat_map(move |phy| {
            (5..).step_by(5).zip(expected).map(move |(stations, expected)| Entry {
                phy,
                rate,
                after,
                stations,
                expected: *expected,
            })
        })
    })
}

impl Entry {
    /// How far `engine` is from the table, as a share; a simulation lasts for about `frames` frames.
    fn apart(&self, engine: Engine, frames: f64, seed: u64) -> f64 {
        let Entry { phy, rate, after, stations, expected } = self;
        let (control, header) = if *phy == "802.11b" { ("2Mbit/s", 36) } else { ("24Mbit/s", 34) };
        let seconds = (frames * 12e-3 / expected).ceil();
        let text = format!(
            "title = 't'\nduration = '{seconds}s'\nseed = {seed}\n[wlan]\nphy = '{phy}'\nrate = '{rate}Mbit/s'\n\
             control_rate = '{control}'\nafter_collision = '{after}'\nheader = '{header}B'\nllc = '0B'\n\
             ac.be = {{ aifsn = 2, retry_limit = 65535 }}\n[[station]]\ncount = {stations}\nsaturated = '1500B'\n\
             [record]\ncolumns = []\n"
        );
        let resolved = Document::parse("x.toml", &text).and_then(|document| resolve_document(&document));
        let record = run(engine, &resolved.unwrap_or_else(|faults| panic!("{faults}")), UNWATCHED);
        record.unwrap().summary.wlan.unwrap().throughput_bps / 1e6 / expected - 1.0
    }

    fn judge(&self, engine: Engine, apart: f64) {
        let Entry { phy, rate, after, stations, .. } = self;
        let percent = apart * 100.0;
        assert!(
            percent.abs() < 1.5,
            "{engine:?}, {phy}, {rate} Mbit/s, {after}, {stations} stations: {percent:+.2} %"
        );
    }
}

#[test]
fn published_tables_of_saturation_are_met_within_one_and_a_half_percent() {
    assert_eq!(entries().count(), 400);
    for entry in entries() {
        entry.judge(Engine::Model, entry.apart(Engine::Model, 1.0, 1));
        entry.judge(Engine::Sim, entry.apart(Engine::Sim, 50_000.0, 1));
    }
}

/// Prints a table for each row: mean of five seeds and its 95 % confidence interval.
#[test]
#[ignore = "two thousand runs, minutes: part of `make soak`"]
fn five_seeds_of_every_published_number() {
    let seeds = 1..=5;
    let (mut largest, mut widest) = (0.0_f64, 0.0_f64);
    for entry in entries() {
        if entry.stations == 5 {
            print!("\n{} {} {}:", entry.phy, entry.rate, entry.after);
        }
        let found: Vec<f64> = seeds.clone().map(|seed| entry.apart(Engine::Sim, 200_000.0, seed)).collect();
        let mean = found.iter().sum::<f64>() / 5.0;
        let variance = found.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 4.0;
        // Student's t, four degrees of freedom.
        let confidence = 2.776 * (variance / 5.0).sqrt();
        print!(" {:+.2}±{:.2}", mean * 100.0, confidence * 100.0);
        (largest, widest) = (largest.max(mean.abs()), widest.max(confidence));
        entry.judge(Engine::Sim, mean);
        assert!(confidence < 0.005, "{confidence}");
    }
    println!("\nlargest difference {:.2} %, widest interval {:.2} %", largest * 100.0, widest * 100.0);
}
