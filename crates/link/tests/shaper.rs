//! A shaper in front of a link: its rate is exact, packets wait in it and not behind it, and all is measured.

mod common;

use common::{Fate, Probe, at, drive, plain};
use proptest::prelude::*;
use tightlink_link::queue::{BuildError, Settings};
use tightlink_link::{
    Cells, Conservation, DropReason, Framing, Limit, Link, LinkConfig, LinkReport, ShaperConfig,
};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// A byte takes 1 us on the link.
const LINK: u64 = 8_000_000;

fn shaped(share: f64, policy: &str, limit: Limit, framing: Framing) -> LinkConfig {
    let rate = Rate::from_bps(LINK);
    let shaper = ShaperConfig { rate: rate.scale(share), framing, queue: policy.into(), limit };
    LinkConfig { shaper: Some(Box::new(shaper)), ..LinkConfig::constant(rate, Span::ZERO) }
}

fn link(config: &LinkConfig, modem: Limit) -> Link<Probe> {
    Link::make_with(config, &"drop-tail".into(), modem, Stream::new(5, "loss")).expect("registered")
}

fn run(config: &LinkConfig, modem: Limit, arrivals: &[(Time, Probe)]) -> (Vec<(Time, Probe)>, LinkReport) {
    let mut link = link(config, modem);
    link.begin_measuring(at(0));
    let (out, _) = drive(&mut link, arrivals);
    let end = out.last().expect("packets left").0;
    (out, link.report(end))
}

/// Packets of 1000 bytes, one each `micros` microseconds.
fn paced(packets: u64, micros: u64) -> Vec<(Time, Probe)> {
    let packet = |id| (at(id * micros * 1000), Probe { flow: id % 5, length: 1000, ..plain(id) });
    (0..packets).map(packet).collect()
}

#[test]
fn packets_wait_in_the_shaper_and_the_queue_behind_it_stays_empty() {
    let config = shaped(0.95, "fq-codel", Limit::Packets(1000), Framing::default());
    let (out, report) = run(&config, Limit::Packets(1000), &paced(20_000, 900));
    let stages = report.shaper.clone().expect("a shaper");
    assert!(stages.queue_length.mean().expect("measured") > 1.0);
    assert_eq!(stages.link_queue_length.max(), 0);
    assert_eq!((stages.drops, report.queue_drops), (report.drops(), 0));
    assert!(stages.drops > 0);
    // A packet each 1000 us / 0.95, once the shaper is busy.
    let (first, last) = (out[10].0, out[out.len() - 1].0);
    let gap = last.since(first).as_nanos() as f64 / (out.len() - 11) as f64;
    assert!((gap - 1_000_000.0 / 0.95).abs() < 0.01, "{gap}");
    assert!((report.utilization - 0.95).abs() < 1e-3, "{}", report.utilization);
}

#[test]
fn a_shaper_above_the_rate_leaves_the_queue_to_the_link() {
    let config = shaped(1.05, "cake", Limit::Packets(1000), Framing::default());
    let (_, report) = run(&config, Limit::Packets(40), &paced(20_000, 900));
    let stages = report.shaper.clone().expect("a shaper");
    assert!(
        stages.link_queue_length.quantile(0.5) >= Some(39),
        "{:?}",
        stages.link_queue_length.quantile(0.5)
    );
    assert!(report.queue_drops > 500);
}

#[test]
fn the_shaper_counts_what_the_medium_adds() {
    // A packet of 1000 bytes and 40 of overhead fills 22 cells of 53 bytes.
    let framing = Framing { overhead: Bytes::new(40), least: Bytes::ZERO, cells: Cells::Atm };
    let config = shaped(1.0, "drop-tail", Limit::Packets(9999), framing);
    let (out, report) = run(&config, Limit::Packets(100), &paced(2000, 1000));
    let gap = out[1999].0.since(out[1000].0).as_nanos() as f64 / 999.0;
    assert!((gap - 22.0 * 53.0 * 1000.0).abs() < 1.0, "{gap}");
    assert_eq!(report.shaper.expect("a shaper").link_queue_length.max(), 0);
}

#[test]
fn a_shaper_that_was_idle_saves_nothing_up() {
    let config = shaped(0.5, "drop-tail", Limit::Packets(100), Framing::default());
    let mut arrivals = paced(1, 1);
    arrivals.extend((1..4).map(|id| (at(1_000_000_000), Probe { length: 1000, ..plain(id) })));
    let out: Vec<u64> =
        run(&config, Limit::Packets(9), &arrivals).0.iter().map(|(at, _)| at.as_nanos()).collect();
    // The first goes straight through. Then one each 2 ms, which the link sends in 1 ms.
    assert_eq!(out, [1_000_000, 1_001_000_000, 1_003_000_000, 1_005_000_000]);
}

#[test]
fn an_unknown_policy_of_a_shaper_is_refused() {
    let config = shaped(0.95, "rod", Limit::Packets(9), Framing::default());
    let made =
        Link::<Bytes>::make_with(&config, &"drop-tail".into(), Limit::Packets(9), Stream::new(1, "loss"));
    assert!(matches!(made, Err(BuildError::UnknownPolicy { name }) if name == "rod"));
    let mut shaper = *shaped(0.95, "cake", Limit::Packets(9), Framing::default()).shaper.expect("a shaper");
    assert!(shaper.check().is_ok());
    shaper.queue.settings = Settings { weight: Some(0.5), ..Settings::default() };
    assert!(shaper.check().is_err());
}

proptest! {
    #[test]
    fn every_packet_is_measured_from_its_arrival_to_the_wire(
        packets in prop::collection::vec((0..1_500_000u64, 40..1500u64, 0..5u64), 1..250),
        share in 0.3f64..1.5,
        limits in (1u64..60, 1u64..30),
        policy in prop::sample::select(vec!["drop-tail", "codel", "fq-codel", "cobalt", "cake", "pie", "red"]),
    ) {
        let mut now = 0;
        let arrivals: Vec<(Time, Probe)> = (0..).zip(packets).map(|(id, (gap, length, flow))| {
            now += gap;
            (at(now), Probe { flow, length, host: flow / 2, ..plain(id) })
        }).collect();
        let config = shaped(share, policy, Limit::Packets(limits.0), Framing::default());
        let mut link = link(&config, Limit::Packets(limits.1));
        link.begin_measuring(at(0));
        let (out, dropped) = drive(&mut link, &arrivals);
        let end = out.iter().map(|(time, _)| *time).chain(dropped.iter().map(|(time, ..)| *time)).max();
        let end = end.expect("something happened").max(at(now));
        let report = link.report(end);
        let inside = Conservation {
            arrived: arrivals.len() as u64, forwarded: out.len() as u64, dropped: dropped.len() as u64, held: 0,
        };
        prop_assert_eq!(report.conservation, inside);
        prop_assert!(dropped.iter().all(|(.., fate)| *fate != Fate::Dropped(DropReason::RandomLoss)));
        let waits = out.iter().map(|(time, packet)| {
            time.as_nanos() - packet.length * 1000 - arrivals[packet.id as usize].0.as_nanos()
        });
        prop_assert_eq!(report.queueing_delay.max(), Span::from_nanos(waits.max().unwrap_or(0)));
        // The two queues together are the waiting packets.
        let stages = report.shaper.clone().expect("a shaper");
        let both = stages.queue_length.packet_nanos() + stages.link_queue_length.packet_nanos();
        prop_assert_eq!(both, report.queue_length.packet_nanos());
        prop_assert!(stages.queue_length.max() <= limits.0 && stages.link_queue_length.max() <= limits.1);
        prop_assert!(stages.drops <= report.drops());
        // Nothing goes on faster than the shaper's rate.
        for pair in out.windows(2) {
            let starts = |(time, packet): &(Time, Probe)| time.as_nanos() - packet.length * 1000;
            let least = (pair[0].1.length as f64 * 1000.0 / share).floor() as u64;
            prop_assert!(share > 1.0 || starts(&pair[1]) + 2 >= starts(&pair[0]) + least);
        }
    }
}
