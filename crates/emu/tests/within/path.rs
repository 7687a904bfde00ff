//! Tests of a path: its settings, its time, and the report.

mod config {
    use super::super::config::*;
    use link::Limit;
    use link::queue::PolicyConfig;
    use link::queue::Settings;
    use std::collections::HashMap;
    use units::{Bytes, Rate, Span};

    fn path(rate: &str) -> PathConfig {
        let rate = rate.parse().expect("a rate");
        PathConfig::new(rate, Span::from_millis(10), Limit::Packets(100))
    }

    #[test]
    fn a_rate_out_of_reach_is_refused_with_the_range_and_a_way_out() {
        let failed = |path: PathConfig| path.check().expect_err("too fast").complaint();
        let complaint = failed(path("40Gbit/s"));
        assert_eq!((&*complaint.place, &*complaint.found), ("rate", "40Gbit/s"));
        assert_eq!(complaint.accepted, "1bit/s to 7Gbit/s");
        assert_eq!(complaint.help.as_deref(), Some("simulate this rate instead: tightlink run --engine sim"));
        let complaint = failed(PathConfig { offload: false, ..path("5Gbit/s") });
        assert_eq!(complaint.accepted, "1bit/s to 1.32Gbit/s");
        let help = "turn segmentation offload on, or simulate it: tightlink run --engine sim";
        assert_eq!(complaint.help.as_deref(), Some(help));
    }

    #[test]
    fn both_directions_share_one_core() {
        let both = path("5Gbit/s").mirrored();
        assert_eq!(both.reachable_rate(), Rate::from_bps(3_500_000_000));
        let error = both.check().expect_err("too fast").to_string();
        assert!(error.ends_with("reaches twice this rate: --one-way"), "{error}");
    }

    #[test]
    fn a_limited_way_back_has_one_delay() {
        let extra_delays = HashMap::from([(1024, Span::from_millis(40))]);
        let free = PathConfig { extra_delays, ..path("1Gbit/s") };
        assert!(free.check().is_ok());
        let error = free.mirrored().check().expect_err("one delay").to_string();
        assert!(error.starts_with("extra delays: 1 of them, together with a limited way back"), "{error}");
    }

    #[test]
    fn other_impossible_settings_are_refused() {
        assert!(path("1Gbit/s").check().is_ok());
        assert!(PathConfig { mtu: 100, ..path("1Gbit/s") }.check().is_err());
        assert!(PathConfig { limit: Limit::Bytes(Bytes::MAX), ..path("1Gbit/s") }.check().is_err());
        let unknown = PathConfig { queue: "first-come".into(), ..path("1Gbit/s") };
        let complaint = unknown.check().expect_err("not in the registry").complaint();
        assert_eq!((&*complaint.place, &*complaint.found), ("queue kind", "\"first-come\""));
        assert!(complaint.accepted.starts_with("drop-tail, "), "{complaint}");
        let settings = Settings { quantum: Some(Bytes::new(1500)), ..Settings::default() };
        let queue = PolicyConfig { settings, .."codel".into() };
        let error = PathConfig { queue, ..path("1Gbit/s") }.check().expect_err("no such setting").to_string();
        assert!(error.contains("queue policy codel has no setting \"quantum\""), "{error}");
    }
}

mod time {
    use super::super::time::*;
    use host::Clock;
    use host::PathLag as _;
    use units::{Span, Time};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_stall_stops_the_path_and_nothing_else_does() {
        let mut time = PathTime::new(Clock::start());
        assert_eq!(time.woken(ms(5), Some(ms(5))), ms(5), "on time");
        assert_eq!(time.woken(ms(9), Some(ms(20))), ms(9), "a packet came before");
        assert_eq!(time.woken(ms(400), None), ms(400), "nothing was due");
        let slow = ms(401) + Span::from_micros(400);
        assert_eq!(time.woken(slow, Some(ms(401))), slow, "a slow wake-up is no stall");
        assert_eq!(time.stalls(), Stalls::default());
        assert_eq!(time.woken(ms(420), Some(ms(410))), ms(410), "late by 10 ms");
        assert_eq!(time.stalls().count, 1);
        assert_eq!(time.stalls().longest, Span::from_millis(10));
        assert_eq!(time.lag().now(), Span::from_millis(10));
    }

    #[test]
    fn a_stall_in_the_middle_of_work_is_seen() {
        let mut time = PathTime::new(Clock::start());
        time.woken(ms(1), None);
        assert_eq!(time.at_work(ms(31)), ms(1));
        assert_eq!(time.stalls().total, Span::from_millis(30));
    }

    #[test]
    fn what_was_lost_is_regained_slowly_and_time_never_goes_back() {
        let mut time = PathTime::new(Clock::start());
        time.at_work(ms(0));
        time.at_work(ms(10));
        let mut before = Time::ZERO;
        for tick in 11..=2_200 {
            let now = time.woken(ms(tick), Some(ms(tick)));
            let step = now.since(before);
            assert!(tick == 11 || step >= Span::from_millis(1), "never slower than the clock");
            assert!(tick == 11 || step <= Span::from_micros(1_005), "at most a 200th faster");
            before = now;
        }
        assert_eq!(before, ms(2_200), "10 ms are regained within 2 s");
        assert_eq!(time.lag().now(), Span::ZERO);
    }

    #[test]
    fn a_stop_of_the_process_is_no_stall_whichever_is_known_first() {
        for known_late in [false, true] {
            let mut time = PathTime::new(Clock::start());
            time.note_stops(3);
            time.begin_measuring();
            time.woken(ms(10), Some(ms(6)));
            let path = time.woken(ms(2_000), Some(ms(30)));
            assert_eq!(path, ms(26) + Span::from_micros(100), "20 ms and what it regains of the 4 ms");
            if known_late {
                time.woken(ms(2_100), Some(ms(2_099)));
            }
            time.note_stops(4);
            assert_eq!(time.stopped(), Span::from_millis(1_970));
            assert_eq!(time.stalls().total, Span::from_millis(if known_late { 5 } else { 4 }));
            assert_eq!(time.stalls().longest, Span::from_millis(4));
            // The same signal again, or one without a standstill, changes nothing.
            time.note_stops(4);
            time.note_stops(5);
            assert_eq!(time.stopped(), Span::from_millis(1_970));
        }
        let mut time = PathTime::new(Clock::start());
        time.woken(ms(200), Some(ms(100)));
        time.woken(ms(1_300), None);
        time.note_stops(1);
        assert_eq!((time.stopped(), time.stalls().count), (Span::ZERO, 1), "a stall of long ago stays one");
    }

    #[test]
    fn a_run_counts_from_its_own_beginning() {
        let mut time = PathTime::new(Clock::start());
        time.at_work(ms(50));
        let now = time.at_work(ms(50));
        assert_eq!(time.begin(now), ms(50), "on the real clock");
        assert_eq!(time.lag().now(), Span::ZERO);
        time.at_work(ms(57));
        assert_eq!(time.lag().now(), Span::from_millis(7));
    }
}

mod report {
    use super::super::report::*;
    use super::super::*;
    use link::{Limit, Link, LinkConfig, LinkReport, SynchronizedLosses};
    use units::random::Stream;
    use units::{Bytes, Rate, Span, Time};

    const RATE: Rate = Rate::from_bps(100_000_000);

    /// Makes a report of 100 Mbit/s times `share` in the path's time, which is `measured` ms, of the machine's
    /// `elapsed` ms.
    fn report(share: f64, measured: u64, elapsed: u64, stalled: u64) -> PathReport {
        let config = LinkConfig::constant(RATE, Span::ZERO);
        let mut link: Link<Bytes> =
            Link::make(&config, "drop-tail", Limit::Packets(1), Stream::new(1, "loss")).expect("a policy");
        let measured = Span::from_millis(measured);
        let link = LinkReport {
            measured,
            forwarded_bytes: RATE.volume(measured).scale(share),
            ..link.report(Time::ZERO)
        };
        PathReport {
            began: Time::ZERO,
            link,
            reverse: None,
            samples: Vec::new(),
            back_samples: Vec::new(),
            flows: Vec::new(),
            losses: SynchronizedLosses::default(),
            lateness: Lateness::default(),
            elapsed: Span::from_millis(elapsed),
            stalls: Stalls {
                count: 1,
                total: Span::from_millis(stalled),
                longest: Span::from_millis(stalled),
            },
            stopped: Span::ZERO,
            hosts: HostReport::BOTH,
            lost_before_link: 0,
            refused: 0,
            reverse_packets: 0,
            cpu: Span::ZERO,
            lived: measured,
            notes: Vec::new(),
        }
    }

    fn judged(share: f64, measured: u64, elapsed: u64, stalled: u64) -> RateVerdict {
        report(share, measured, elapsed, stalled).real_rate(RATE, 0.005)
    }

    #[test]
    fn a_rate_on_the_machines_clock_is_held_missed_or_not_judged() {
        assert_eq!(judged(1.0, 4000, 4000, 0), RateVerdict::Held);
        assert_eq!(judged(1.0, 3985, 4000, 15), RateVerdict::Held, "a stall within the tolerance");
        assert_eq!(
            judged(1.0, 3900, 4000, 110),
            RateVerdict::NotJudged("the host stalled 110 ms of 4.00 s".into()),
            "10 ms were regained"
        );
        assert_eq!(judged(0.99, 4000, 4000, 0), RateVerdict::Missed, "wrong by both clocks");
        assert_eq!(
            judged(0.99, 3900, 4000, 100),
            RateVerdict::Missed,
            "stalls do not excuse the path's own time"
        );
        assert_eq!(judged(1.0, 3900, 4000, 0), RateVerdict::Missed, "time was lost and nothing stalled");
        assert_eq!(judged(1.0, 3800, 4000, 100), RateVerdict::Missed, "more was lost than stalled");
        assert_eq!(judged(1.0, 4100, 4000, 100), RateVerdict::Missed, "too fast");
        assert_eq!(
            judged(1.0001, 4020, 4000, 0),
            RateVerdict::NotJudged("the path regained 20 ms of earlier stalls of the host in 4.00 s".into())
        );
    }

    #[test]
    fn a_share_of_the_machines_time_is_at_most_all_of_it() {
        let base_rtt = Span::from_millis(40);
        assert_eq!(report(1.0, 5_000, 100_000, 95_000).doubts(base_rtt), [Doubt::Stalled(0.95)]);
        assert_eq!(report(1.0, 3_600, 4_000, 400).doubts(base_rtt), [], "a tenth is not more than a tenth");
        assert_eq!(report(1.0, 3_560, 4_000, 440).doubts(base_rtt), [Doubt::Stalled(0.11)]);
    }

    #[test]
    fn the_real_rate_counts_the_time_in_which_the_path_stood_still() {
        let report = report(1.0, 3800, 4000, 200);
        assert!((report.forwarded_bps() / 100e6 - 1.0).abs() < 1e-6);
        assert!((report.real_bps() / 95e6 - 1.0).abs() < 1e-6);
        let failed = report.stalled().expect("5 %");
        assert!(
            failed.ends_with("the link sent 95.00 Mbit/s by the machine's clock, 100.00 by the path's"),
            "{failed}"
        );
    }
}
