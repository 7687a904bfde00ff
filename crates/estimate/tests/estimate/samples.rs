//! Goodput, round-trip times and the windows of probes, from samples at given times.

mod goodput {
    use tightlink_estimate::*;
    use units::{Bytes, Rate, Span, Time};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn lumps_of_any_size_give_the_rate_over_the_time_that_passed() {
        // 12 Mb/s, seen in lumps at uneven times.
        let mut goodput = Goodput::new(Span::from_millis(80));
        let mut samples = Vec::new();
        let mut before = 0;
        for step in 0..100u64 {
            let now = step * 17_000 + (step * 7919) % 9_000;
            let bytes = Bytes::new((now - before) * 12 / 8);
            before = now;
            samples.extend(goodput.sample(at(now), bytes));
        }
        assert!(samples.len() > 15, "{}", samples.len());
        for sample in &samples {
            assert!(sample.to.since(sample.from) >= Span::from_millis(80));
            let rate = sample.rate().as_bps_f64();
            assert!((rate / 12e6 - 1.0).abs() < 1e-4, "{rate}");
        }
        assert_eq!(goodput.estimate(), samples.last().map(GoodputSample::rate));
    }

    #[test]
    fn after_a_restart_in_the_future_what_comes_before_does_not_count() {
        let mut goodput = Goodput::new(Span::from_millis(10));
        goodput.restart(at(50_000));
        let deliveries = [10_000, 40_000, 55_000, 60_000, 65_000];
        let samples: Vec<_> =
            deliveries.into_iter().map(|us| goodput.sample(at(us), Bytes::new(100))).collect();
        let sample = samples[4].expect("10 ms after the first that counts");
        assert_eq!((sample.from, sample.bytes), (at(55_000), Bytes::new(200)));
        assert!(samples[..4].iter().all(Option::is_none));
    }

    #[test]
    fn the_last_of_a_growing_rate_is_more_than_its_window() {
        // A delivery per millisecond, each of 100 bytes more than the one before.
        let mut goodput = Goodput::new(Span::from_millis(80));
        let mut last = None;
        for ms in 0..100u64 {
            last = goodput.sample(at(ms * 1000), Bytes::new(ms * 100)).or(last);
        }
        let recent = goodput.recent(Span::from_millis(20)).expect("a hundred milliseconds");
        assert!((20..=25).contains(&(recent.to.since(recent.from).as_nanos() / 1_000_000)), "{recent:?}");
        let from = recent.from.as_nanos() / 1_000_000;
        assert_eq!(recent.bytes, Bytes::new((from + 1..100).map(|ms| ms * 100).sum()));
        assert!(recent.rate() > last.expect("a window is over").rate().scale(2.0));
        assert_eq!(goodput.recent(Span::from_millis(90)), None, "more than a window's length ago");
        assert_eq!(Goodput::new(Span::from_millis(80)).recent(Span::ZERO), None);
    }

    #[test]
    fn nothing_is_said_before_a_window_has_a_length() {
        let mut goodput = Goodput::default();
        goodput.observe(at(0), Bytes::new(1000));
        goodput.observe(at(1_000_000), Bytes::new(1000));
        assert_eq!(goodput.estimate(), None);
        goodput.set_length(Span::from_millis(10));
        goodput.observe(at(2_000_000), Bytes::new(1000));
        assert_eq!(goodput.estimate(), Some(Rate::from_bps(8000)));
    }
}

mod round_trip {
    use tightlink_estimate::*;
    use units::{Span, Time};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }
    const fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn base_exogenous_and_average_are_told_apart() {
        let mut rtt = RoundTrip::new();
        assert_eq!(rtt.estimate(), None);
        for (when, sample) in [(0, 42), (10, 41), (20, 40), (30, 41), (40, 60)] {
            rtt.observe(at(when), ms(sample));
        }
        rtt.begin_transfer();
        for when in 5..25 {
            rtt.observe(at(when * 10), ms(50));
        }
        let times = rtt.estimate().unwrap();
        assert_eq!((times.base, times.exogenous), (ms(40), ms(41)));
        // (42 + 41 + 40 + 41 + 60 + 20 x 50) / 25.
        assert_eq!(times.average, Span::from_micros(48_960));
    }

    #[test]
    fn a_stretch_of_time_has_its_own_least_and_greatest() {
        let mut rtt = RoundTrip::new();
        for (when, sample) in [(0, 40), (10, 45), (20, 47), (30, 44)] {
            rtt.observe(at(when), ms(sample));
        }
        let waits = rtt.since(at(10)).unwrap();
        assert_eq!((waits.least, waits.greatest, waits.count), (ms(44), ms(47), 3));
        assert_eq!(rtt.median_since(at(10)), Some(ms(45)));
        assert_eq!(rtt.since(at(31)), None);
    }

    #[test]
    fn a_new_base_takes_the_place_of_the_old() {
        let mut rtt = RoundTrip::new();
        rtt.observe(at(0), ms(40));
        rtt.begin_transfer();
        rtt.rebase(ms(60));
        let times = rtt.estimate().unwrap();
        assert_eq!((times.base, times.exogenous), (ms(60), ms(60)));
        rtt.observe(at(100), ms(55));
        assert_eq!(rtt.estimate().unwrap().base, ms(55), "a lower sample still counts");
    }
}

mod windows {
    use tightlink_estimate::*;
    use units::{Span, Time};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_window_is_full_after_six_probes_and_the_period() {
        let mut windows = ProbeWindows::default();
        let period = Span::from_millis(200);
        let rtt = Span::from_millis(51);
        let full: Vec<u64> = (0..12)
            .map(|probe| 40 * probe)
            .filter(|ms| windows.observe(at(*ms), rtt, 0.05, period))
            .collect();
        // Six probes take 200 ms here; the next window begins with the next probe.
        assert_eq!(full, [200, 440]);
        let full: Vec<u64> = (12..24)
            .map(|probe| 100 * probe)
            .filter(|ms| windows.observe(at(*ms), rtt, 0.05, period))
            .collect();
        assert_eq!(full, [1700, 2300], "six, however long they take");
        assert!((windows.delay().unwrap() - 0.001).abs() < 1e-12);
    }

    #[test]
    fn growth_and_the_own_rate_are_those_of_when_the_probes_left() {
        let mut windows = ProbeWindows::default();
        windows.send_at(at(0), 1000.0);
        windows.send_at(at(240), 3000.0);
        for probe in 0..12 {
            // A tenth of a millisecond more per millisecond from the second window on.
            let more = 100 * 40 * u64::from(probe >= 6) * (probe - u64::from(probe >= 6) * 5);
            windows.observe(at(40 * probe), Span::from_micros(50_000 + more), 0.05, Span::from_millis(200));
        }
        assert_eq!((windows.newest_own(), windows.own_rate()), (Some(3000.0), Some(2000.0)));
        // The mean of 4, 8 ... 24 ms, compared with a mean of zero 240 ms before.
        assert!((windows.growth().unwrap() - 0.014 / 0.24).abs() < 1e-9, "{:?}", windows.growth());
        assert!((windows.newest_delay().unwrap() - 0.014).abs() < 1e-9);
        assert!((windows.most_delay().unwrap() - 0.024).abs() < 1e-9);
        assert!((windows.delay().unwrap() - 0.007).abs() < 1e-9);
    }
}
