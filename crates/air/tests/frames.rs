//! Frame times against hand values.

use tightlink_air::Cell;
use tightlink_air::access::{Access, Category};
use tightlink_air::config::{CellConfig, StationConfig};
use tightlink_air::frame::{ExchangeTime, Sizes};
use tightlink_air::phy::{IEEE_80211A, IEEE_80211B, IEEE_80211G, Phy};
use units::{Bytes, Rate, Span};

const fn megabits(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

fn micros(phy: &Phy, bytes: u64, rate: Rate) -> u64 {
    let time = phy.frame_time(Bytes::new(bytes), rate).as_nanos();
    assert_eq!(time % 1000, 0);
    time / 1000
}

#[test]
fn ofdm_frames_are_whole_symbols_behind_the_preamble() {
    // 16 + 8 x 1538 + 6 = 12 326 bits: 57.06 symbols of 216 bits, 513.6 of 24.
    assert_eq!(micros(&IEEE_80211A, 1538, megabits(54)), 20 + 58 * 4);
    assert_eq!(micros(&IEEE_80211A, 1538, megabits(6)), 20 + 514 * 4);
    // Acknowledgements: 134 bits are 5.6, 1.4 and 0.6 symbols.
    assert_eq!(micros(&IEEE_80211A, 14, megabits(6)), 44);
    assert_eq!(micros(&IEEE_80211A, 14, megabits(24)), 28);
    assert_eq!(micros(&IEEE_80211A, 14, megabits(54)), 24);
    // 22 bits and 24 bytes fit into one symbol of 216 bits, 25 bytes do not.
    assert_eq!(micros(&IEEE_80211A, 24, megabits(54)), 24);
    assert_eq!(micros(&IEEE_80211A, 25, megabits(54)), 28);
}

#[test]
fn a_frame_of_802_11g_ends_with_the_signal_extension() {
    for bytes in [14, 100, 1538] {
        let extended = micros(&IEEE_80211G, bytes, megabits(54));
        assert_eq!(extended, micros(&IEEE_80211A, bytes, megabits(54)) + 6);
    }
}

#[test]
fn frames_of_802_11b_are_whole_microseconds_behind_a_long_or_a_short_preamble() {
    let half = Rate::from_bps(5_500_000);
    assert_eq!(micros(&IEEE_80211B, 14, megabits(1)), 192 + 112);
    // 8 x 1538 / 11 = 1118.5, 8 x 1538 / 5.5 = 2237.1.
    assert_eq!(micros(&IEEE_80211B, 1538, megabits(11)), 192 + 1119);
    assert_eq!(micros(&IEEE_80211B, 1538, half), 192 + 2238);
    let short = IEEE_80211B.with_short_preamble().unwrap();
    assert_eq!(micros(&short, 1538, megabits(11)), 96 + 1119);
    assert_eq!(micros(&short, 14, megabits(1)), 192 + 112, "1 Mbit/s always has the long preamble");
    assert!(IEEE_80211G.with_short_preamble().is_err());
}

#[test]
fn acknowledgements_are_never_faster_than_what_they_acknowledge() {
    let rate = |data, control| IEEE_80211A.acknowledgement_rate(megabits(data), megabits(control));
    assert_eq!(rate(54, 24), megabits(24));
    assert_eq!(rate(24, 24), megabits(24));
    assert_eq!(rate(18, 24), megabits(12));
    assert_eq!(rate(9, 24), megabits(6));
    assert_eq!(rate(54, 54), megabits(54));
    let time =
        ExchangeTime::new(&IEEE_80211A, &Sizes::default(), Bytes::new(1500), megabits(54), megabits(24));
    assert_eq!(time.whole, Span::from_micros(252 + 16 + 28));
}

#[test]
fn interframe_spaces_follow_from_the_phy() {
    assert_eq!(IEEE_80211A.eifs_less_difs(Bytes::new(14)), Span::from_micros(16 + 44));
    // 802.11g has the rates of 802.11b, whose lowest is mandatory.
    assert_eq!(IEEE_80211G.eifs_less_difs(Bytes::new(14)), Span::from_micros(10 + 304));
    assert_eq!(IEEE_80211B.eifs_less_difs(Bytes::new(14)), Span::from_micros(10 + 304));
    assert_eq!(IEEE_80211A.ack_timeout(), Span::from_micros(16 + 9 + 20));
}

#[test]
fn default_parameters_are_those_of_the_standard() {
    let of = |phy: &Phy, category| {
        let access = Access::default_of(phy, category);
        (access.aifsn, access.cw_min, access.cw_max, access.txop.as_nanos() / 1000)
    };
    assert_eq!(of(&IEEE_80211G, Category::Background), (7, 15, 1023, 0));
    assert_eq!(of(&IEEE_80211G, Category::BestEffort), (3, 15, 1023, 0));
    assert_eq!(of(&IEEE_80211G, Category::Video), (2, 7, 15, 3008));
    assert_eq!(of(&IEEE_80211G, Category::Voice), (2, 3, 7, 1504));
    assert_eq!(of(&IEEE_80211B, Category::Video), (2, 15, 31, 6016));
    assert_eq!(of(&IEEE_80211B, Category::Voice), (2, 7, 15, 3264));
}

#[test]
fn every_phy_is_found_by_its_name_and_has_its_mandatory_rates() {
    for phy in Phy::ALL {
        assert_eq!(Phy::named(phy.name).unwrap(), phy);
        assert!(phy.mandatory.iter().all(|rate| phy.rates.contains(rate)));
        assert!(phy.rates.is_sorted());
    }
    let complaint = Phy::named("802.11z").unwrap_err();
    assert_eq!(complaint.accepted, "802.11a, 802.11b, 802.11g");
}

#[test]
fn what_is_not_right_is_said_with_its_place() {
    let (phy, category) = (IEEE_80211A, Category::BestEffort);
    let access = Access::default_of(&phy, category);
    let told = |station: StationConfig| {
        let mut config = CellConfig::new(phy);
        config.stations = vec![station, StationConfig::access_point("ap")];
        Cell::new(&config).unwrap_err().to_string()
    };
    let with = |access| StationConfig::new("one", megabits(54)).function(category, access);
    let rate = told(StationConfig::new("one", megabits(11)));
    assert!(rate.starts_with("station \"one\": rate: 802.11a has no rate of 11Mbit/s"), "{rate}");
    assert!(rate.contains("accepted: 6Mbit/s, 9Mbit/s"), "{rate}");
    let window = told(with(Access { cw_min: 31, cw_max: 15, ..access }));
    assert!(window.starts_with("station \"one\": ac.be.cw_min: 31, above cw_max, which is 15"), "{window}");
    let aifsn = told(with(Access { aifsn: 0, ..access }));
    assert!(aifsn.contains("ac.be.aifsn: 0\n  accepted: 1 to 15"), "{aifsn}");
    let limit = told(with(Access { retry_limit: 0, ..access }));
    assert!(limit.contains("retry_limit: 0"), "{limit}");
    let twice = told(with(access).function(category, access));
    assert!(twice.contains("a second function of this category"), "{twice}");
    let nowhere = told(StationConfig::new("one", megabits(54)).saturated(category, access, Bytes::new(1), 7));
    assert!(nowhere.contains("sends to station number 7"), "{nowhere}");
    let name = told(StationConfig::new("ap", megabits(54)));
    assert!(name.contains("a second station of this name"), "{name}");
}
