//! Tests of evidence that travels: it means the same at the other end, and joins that of both.

use super::*;

impl Observation {
    /// Returns the longest observation that has `count` intervals and episodes.
    pub(crate) fn largest(control: String, count: usize) -> Self {
        let (most, some) = (u64::MAX, Some(u64::MAX));
        let end = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535".parse().unwrap();
        let loss = ObservedLoss { at: most, segments: most, queueing: some, by_timeout: true };
        let interval = ObservedInterval {
            length: most,
            delivered: most,
            sent: some,
            flight: some,
            peak_flight: some,
            receive_window: some,
            least_window: some,
            congestion_window: some,
            unsent: some,
            buffer_full: Some(true),
            unread: some,
            segments: some,
            round_trip: some,
            idle: most,
            kernel: Some((most, most, most)),
            retransmitted: most,
            out_of_order: most,
            marked: most,
            ran_dry: true,
        };
        Self {
            source: end,
            destination: end,
            of_sender: true,
            window_scale: Some(255),
            segment: most,
            base: some,
            control,
            scaling_off: false,
            sizing: Some(ObservedSizing::Kernel),
            capacity: some,
            buffer: Some((most, true)),
            needless: most,
            timeouts: most,
            connections: u16::MAX,
            alike: u16::MAX,
            episodes: vec![loss; count],
            intervals: vec![interval; count],
        }
    }
}

fn evidence(vantage: Vantage, intervals: Vec<Interval>) -> Evidence {
    let [source, destination] = ["192.0.2.1:5001", "192.0.2.9:40000"].map(|end| end.parse().unwrap());
    Evidence { intervals, bulk: true, ..Evidence::new(Direction { source, destination }, vantage) }
}

/// Returns `count` intervals of 20 ms from 1 s on, with so many bytes each.
fn intervals(count: u64, delivered: u64) -> Vec<Interval> {
    let length = Span::from_millis(20);
    let interval = |at: u64| Interval {
        from: Time::ZERO + Span::from_secs(1) + length * at,
        length,
        delivered: Bytes::new(delivered),
        receive_window: Some(Bytes::new(65_536 + at)),
        unread: Some(Bytes::new(at)),
        round_trip: Some(Span::from_micros(40_001)),
        kernel: Some(KernelClocks { busy: length, ..KernelClocks::default() }),
        ..Interval::default()
    };
    (0..count).map(interval).collect()
}

#[test]
fn evidence_means_the_same_at_the_other_end_and_begins_with_the_load() {
    let mut before = evidence(Vantage::SenderSocket, intervals(50, 30_000));
    let pause =
        Interval { length: Span::from_millis(500), idle: Span::from_millis(500), ..Interval::default() };
    before.intervals.insert(0, pause);
    before.episodes = vec![LossEpisode {
        at: Time::ZERO + Span::from_millis(1200),
        segments: 3,
        queueing: Some(Span::from_millis(30)),
        by_timeout: false,
    }];
    before.base_round_trip = Some(Span::from_micros(39_999));
    before.control = Some("cubic".into());
    let after = Observation::from(before.clone()).evidence();
    assert_eq!(after.episodes[0].at, Time::ZERO + Span::from_millis(200), "since the load began");
    for (old, new) in before.intervals[1..].iter().zip(&after.intervals) {
        assert_eq!(new.from, old.from - Span::from_secs(1));
        assert_eq!(Interval { from: old.from, ..*new }, *old);
    }
    let apart = (&after.base_round_trip, &after.control, after.intervals.len(), after.vantage);
    assert_eq!(apart, (&before.base_round_trip, &before.control, 50, Vantage::SenderSocket));
}

#[test]
fn a_long_load_has_longer_intervals_and_loses_no_byte() {
    let after = Observation::from(evidence(Vantage::SenderSocket, intervals(15_001, 7))).evidence();
    assert!((MOST_OBSERVED / 2..=MOST_OBSERVED).contains(&after.intervals.len()));
    assert_eq!(after.delivered(), Bytes::new(15_001 * 7));
    assert_eq!(after.observed(), Span::from_millis(20) * 15_001);
}

#[test]
fn the_receiver_adds_what_only_it_knows() {
    let mut received = evidence(Vantage::ReceiverSocket, intervals(10, 30_000));
    received.sizing = Some(WindowSizing::Program);
    let mut sent = evidence(Vantage::SenderSocket, intervals(10, 30_000));
    sent.intervals.iter_mut().for_each(|interval| interval.unread = None);
    let [sent, received] = [sent, received].map(|one| Some(Observation::from(one)));
    let both = Observation::joined(sent.clone(), received.clone()).unwrap().evidence();
    assert_eq!((both.vantage, both.sizing), (Vantage::SenderSocket, Some(WindowSizing::Program)));
    assert_eq!(both.intervals[7].unread, Some(Bytes::new(7)));
    let alone = Observation::joined(None, received).unwrap();
    assert!(!alone.of_sender, "one end is better than none");
    assert_eq!(Observation::joined(sent.clone(), None), sent);
}

#[test]
fn the_connection_with_most_data_stands_for_all() {
    let [small, large] =
        [10_000, 30_000].map(|delivered| evidence(Vantage::SenderSocket, intervals(100, delivered)));
    let mut other = intervals(100, 20_000);
    for interval in &mut other {
        interval.kernel = Some(KernelClocks { window_limited: interval.length, ..KernelClocks::default() });
    }
    let other = evidence(Vantage::SenderSocket, other);
    let chosen = Observation::of(vec![small, large, other]).unwrap();
    assert_eq!(chosen.evidence().delivered(), Bytes::new(3_000_000));
    assert_eq!((chosen.connections, chosen.alike), (3, 2), "a window limits the last one");
    assert_eq!(Observation::of(Vec::new()), None);
}
