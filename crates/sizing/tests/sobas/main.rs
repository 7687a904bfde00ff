//! SOBAS over a path made of three numbers: what it decides where, told as the sentences of its table.

mod bound;
mod fluid;
mod signs;

use fluid::{Fluid, SEGMENT};
use tightlink_sizing::{Action, BufferSizer, Fixed, Input, SizerConfig, Sobas};
use units::{Bytes, Rate, Span, Time};

/// Full, without a standing queue, without a loss.
#[track_caller]
fn assert_full(path: &mut Fluid, seconds: f64) {
    let (goodput, rtt, lost) = path.measure(seconds);
    let why = path.sizer.state();
    // A queue of twice what is aimed at may stand: 5 % of the base RTT, or two packets.
    let most = 1.0 + (0.08_f64).max(4.0 * 1500.0 / (path.capacity * path.base));
    assert!(
        goodput > 0.96 && rtt < most && lost == 0,
        "{goodput:.3} of C, {rtt:.3} of T, {lost} lost: {why:?}"
    );
    assert_eq!(why.phase, "hold", "{why:?}");
}

#[test]
fn on_a_path_alone_it_fills_the_path_and_never_loses() {
    for (mbps, base) in [(10.0, 40.0), (97.0, 40.0), (970.0, 20.0), (100.0, 200.0)] {
        for buffer in [0.25, 0.5, 1.0, 4.0] {
            let mut path = Fluid::new(mbps, base, buffer, |_| {});
            path.run(80.0 * base / 1e3 + 1.0);
            assert_eq!(path.lost, 0, "{mbps} Mb/s, {base} ms, {buffer} BDP: {:?}", path.sizer.state());
            assert_full(&mut path, 20.0);
        }
    }
}

#[test]
fn it_works_without_probes_trains_and_reports_and_when_looked_at_every_50_ms() {
    let mut path = Fluid::new(97.0, 40.0, 1.0, |config| config.trains = 0);
    (path.probes, path.look_every) = (false, 0.02);
    path.run(5.0);
    assert_full(&mut path, 20.0);
    let mut path = Fluid::new(97.0, 40.0, 2.0, |config| config.trains = 0);
    (path.probes, path.look_every) = (false, 0.05);
    path.run(5.0);
    assert_full(&mut path, 20.0);
}

#[test]
fn a_transfer_under_way_is_limited_once_its_rate_is_flat_and_its_queue_stands() {
    let mut path = Fluid::new(97.0, 40.0, 4.0, |config| config.running = Some(config.maximum));
    path.probes = false;
    path.run(0.2);
    assert_eq!((path.phase(), path.advertised.len()), ("open", 0));
    path.run(15.0);
    assert_full(&mut path, 20.0);
}

#[test]
fn random_loss_opens_the_window_and_it_stays_open() {
    for every in [0.05, 0.3, 1.0] {
        let mut path = Fluid::new(97.0, 40.0, 0.5, |_| {});
        path.random_loss = Some(every);
        path.run(5.0);
        assert_eq!(path.phase(), "open", "a loss every {every} s: {:?}", path.sizer.state());
        path.run(60.0);
        assert_eq!(path.phase(), "open", "a loss every {every} s: {:?}", path.sizer.state());
    }
}

#[test]
fn data_waits_for_one_whole_train_where_the_others_come_soon_and_else_for_all() {
    // A train takes 2.5 ms of the path's 40 in the first case, 24 in the second.
    for (mbps, least, most) in [(97.0, 0.04, 0.06), (10.0, 0.2, 0.35)] {
        let mut path = Fluid::new(mbps, 40.0, 4.0, |_| {});
        while path.sizer.wants_quiet() {
            assert!(path.now < 2.0, "{:?}", path.sizer.state());
            path.run(0.001);
        }
        assert!(
            (least..most).contains(&path.now),
            "{mbps} Mb/s: {:.3} s: {:?}",
            path.now,
            path.sizer.state()
        );
        assert_eq!(path.phase(), "grow");
    }
}

#[test]
fn a_packet_that_waits_for_another_is_no_queue() {
    let mut path = Fluid::new(15.0, 40.0, 1.0, |_| {});
    while path.phase() != "grow" {
        path.run(0.001);
    }
    path.run(0.05);
    path.probes = false;
    // A packet takes 0.8 ms here.
    for _ in 0..10 {
        path.tell(Input::Probe(Some(Span::from_micros(40_700))));
        path.run(0.004);
    }
    path.tell(Input::OutOfOrder(3));
    assert_eq!(path.phase(), "open", "{:?}", path.sizer.state());
}

/// Jitter, or others' queue. What comes late then seems lost, and must not fix the window of a transfer that has begun.
#[test]
fn round_trips_as_long_as_before_the_transfer_are_no_queue_of_ours() {
    let mut path = Fluid::new(97.0, 40.0, 1.0, |_| {});
    path.probes = false;
    for wait in [40, 44, 44, 44, 44, 44, 44, 44] {
        path.tell(Input::Probe(Some(Span::from_millis(wait))));
    }
    while path.phase() != "grow" {
        path.run(0.001);
    }
    path.run(0.1);
    for _ in 0..10 {
        path.tell(Input::Probe(Some(Span::from_millis(43))));
        path.run(0.004);
    }
    path.tell(Input::OutOfOrder(3));
    assert_ne!(path.phase(), "hold", "{:?}", path.sizer.state());
}

#[test]
fn what_is_lost_in_the_wake_of_an_overflow_is_no_other_loss() {
    let mut path = Fluid::new(97.0, 40.0, 0.25, |_| {});
    path.run(10.0);
    path.queue = 0.1 * path.capacity * path.base;
    for _ in 0..2 {
        for _ in 0..5 {
            path.tell(Input::Probe(Some(Span::from_millis(46))));
        }
        path.tell(Input::OutOfOrder(3));
        path.run(0.1);
    }
    path.run(3.0);
    path.tell(Input::OutOfOrder(3));
    path.run(1.0);
    assert_eq!(path.phase(), "hold", "{:?}", path.sizer.state());
}

#[test]
fn a_capacity_that_falls_is_followed_down() {
    let mut path = Fluid::new(97.0, 40.0, 4.0, |_| {});
    path.run(10.0);
    path.capacity /= 2.0;
    path.run(3.0);
    assert_full(&mut path, 10.0);
}

#[test]
fn a_capacity_that_rises_is_followed_up() {
    let mut path = Fluid::new(48.0, 40.0, 4.0, |_| {});
    path.run(10.0);
    path.capacity *= 2.0;
    path.run(10.0);
    assert_full(&mut path, 20.0);
}

/// Queues of S in round-trip times: before an overflow, from 3 to 5 s after it, and a minute later.
fn around_an_overflow(base_ms: f64) -> [f64; 3] {
    let mut path = Fluid::new(97.0, base_ms, 4.0, |_| {});
    path.run(20.0);
    let before = path.measure(2.0).1 - 1.0;
    let buffer = std::mem::replace(&mut path.buffer, 0.0);
    path.run(0.05);
    path.buffer = buffer;
    path.run(3.0);
    let after = path.measure(2.0).1 - 1.0;
    path.run(60.0);
    [before, after, path.measure(2.0).1 - 1.0]
}

#[test]
fn an_overflow_halves_the_queue_that_is_aimed_at() {
    let [before, after, _] = around_an_overflow(20.0);
    assert!(after < 0.8 * before, "{before} RTT, then {after}");
}

#[test]
fn segments_after_an_overflow_the_queue_is_as_long_as_before() {
    let [before, after, later] = around_an_overflow(40.0);
    assert!(after < 0.8 * before && later > 0.9 * before, "{before} RTT, then {after}, then {later}");
}

#[test]
fn a_longer_way_is_noticed_and_the_window_is_not_starved() {
    let mut path = Fluid::new(97.0, 40.0, 1.0, |_| {});
    path.run(10.0);
    path.base = 0.06;
    path.run(12.0);
    assert_full(&mut path, 20.0);
}

#[test]
fn behind_a_buffer_of_a_few_packets_it_has_no_less_than_an_open_window() {
    // Too little room for the growth to be noticed in time.
    let mut path = Fluid::new(97.0, 40.0, 0.05, |config| config.trains = 0);
    let mut open = Fluid::new(97.0, 40.0, 0.05, |_| {});
    open.sizer = Box::new(Fixed::new(Bytes::new(64_000_000)));
    let (held, open) = (path.measure(60.0), open.measure(60.0));
    assert!(held.0 > 0.98 * open.0 && held.2 <= open.2, "{held:?}, open {open:?}: {:?}", path.sizer.state());
}

#[test]
fn a_sender_that_is_ours_is_paced_and_with_s_in_force_by_all_of_the_path() {
    let paced = |mbps: f64, buffer: f64, can_pace: bool| {
        let mut path = Fluid::new(mbps, 40.0, buffer, |config| config.can_pace = can_pace);
        let mut paces = Vec::new();
        while path.phase() != "hold" {
            assert!(path.now < 10.0, "{:?}", path.sizer.state());
            path.run(0.01);
            paces.extend(path.pace);
        }
        (paces, path.pace)
    };
    assert_eq!(paced(97.0, 1.0, false), (Vec::new(), None));
    for (mbps, buffer) in [(20.0, 1.0), (97.0, 1.0), (97.0, 0.05)] {
        let (paces, last) = paced(mbps, buffer, true);
        let most = paces.iter().map(|pace| pace.as_bps_f64()).fold(0.0, f64::max);
        let capacity = mbps * 1e6 * 1500.0 / 1448.0;
        assert!(most > 0.5 * capacity && most <= 0.97 * capacity, "{mbps} Mb/s: at most {most}");
        let last = last.map(Rate::as_bps_f64);
        // A buffer that holds no growth may overflow before R is all of C'.
        let none = buffer < 1.0 && last.is_none();
        assert!(none || last >= Some(0.98 * mbps * 1e6), "{mbps} Mb/s: {last:?} with S in force");
    }
}

/// The probe interval of a sizer whose trains come at `bps`, and the packets of the trains that it asks for in ten seconds.
fn measures(bps: u64) -> (Span, Vec<usize>) {
    let mut sizer = Sobas::new(SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000)));
    let mut trains = Vec::new();
    for tick in 0..10_000 {
        let now = Time::ZERO + Span::from_millis(tick);
        if tick % 10 == 0 {
            sizer.handle(now, Input::Probe(Some(Span::from_millis(20))));
        }
        let mut asked = Vec::new();
        while let Some(action) = sizer.poll(now) {
            if let Action::Train(packets) = action {
                asked.push(packets);
            }
        }
        for _ in &asked {
            sizer.handle(now, Input::Train(Some(Rate::from_bps(bps))));
        }
        trains.extend(asked);
    }
    (sizer.probe_interval().expect("it probes"), trains)
}

#[test]
fn on_a_slow_path_what_it_measures_by_takes_little_of_it() {
    assert_eq!(measures(100_000_000), (Span::from_millis(10), vec![20; 5]), "as the source has it");
    // A probe of 100 bytes takes 0.8 ms, a train 0.24 s, and the next comes twice as much later.
    assert_eq!(measures(1_000_000), (Span::from_millis(80), vec![20; 2]));
    assert_eq!(measures(2_000_000), (Span::from_millis(40), vec![20; 4]));
    // 20 packets take 0.24 ms: one train shows that, and the five that count have 100.
    assert_eq!(measures(1_000_000_000), (Span::from_millis(10), vec![20, 100, 100, 100, 100, 100]));
}
