//! Test harness: random events of a path for two copies of a controller, which must give the same answers. One of them
//! takes its fast path where it can, the other never does.

use crate::{Ack, Congestion, CongestionControl, CongestionKind, LostSegment, RateSample, RttView, Start};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

const SEGMENT: u64 = 1448;

pub(crate) fn start() -> Start {
    Start { segment: Bytes::new(SEGMENT), window: Bytes::new(10 * SEGMENT), threshold: Bytes::MAX }
}

/// A rough path and a transfer over it. Acknowledged data follows the window. The rate and the round-trip time jump.
/// Losses, marks, timeouts, false alarms and pauses come at random.
struct Path {
    stream: Stream,
    now: Time,
    /// The rate in bit/s, and the least round trip in seconds.
    rate: f64,
    base: f64,
    /// The probability that an acknowledgement reveals losses.
    loss: f64,
    /// Delivered bytes, and their number at which a recovery ends.
    delivered: u64,
    recovered_at: Option<u64>,
}

impl Path {
    fn new(seed: u64) -> Self {
        let mut stream = Stream::new(seed, "life");
        let loss = [0.0, 0.001, 0.02][stream.integer(0, 2) as usize];
        Self { stream, now: Time::ZERO, rate: 2e7, base: 0.04, loss, delivered: 0, recovered_at: None }
    }

    /// Draws the next events of a window of `window` bytes: those before an acknowledgement, and the acknowledgement.
    fn next(&mut self, window: Bytes) -> (Vec<Event>, Ack) {
        if self.stream.chance(0.001) {
            self.rate = libm::pow(10f64, self.stream.uniform_in(6.0, 9.0));
        }
        if self.stream.chance(0.0005) {
            self.base = self.stream.uniform_in(0.005, 0.2);
        }
        if self.stream.chance(0.0005) {
            let pause = self.stream.uniform_in(0.0, 12.0);
            self.now += Span::from_secs_f64(pause);
        }
        let share = if self.stream.chance(0.7) { 1.0 } else { self.stream.uniform_in(0.1, 1.2) };
        let in_flight = ((window.get() as f64 * share) as u64).clamp(SEGMENT, 1 << 40);
        let full = in_flight as f64 * 8.0 / self.rate;
        let rtt = Span::from_secs_f64(self.base.max(full) * self.stream.uniform_in(1.0, 1.05));
        let newly = SEGMENT * self.stream.integer(1, 3);
        let apart = newly as f64 * 8.0 / self.rate * self.stream.uniform_in(0.5, 1.5);
        self.now += Span::from_secs_f64(apart);
        let before = self.delivered;
        self.delivered += newly;
        let mut events = Vec::new();
        let lost = if self.stream.chance(self.loss) { SEGMENT * self.stream.integer(1, 4) } else { 0 };
        for _ in 0..lost / SEGMENT {
            let lost = Bytes::new(self.stream.integer(1, 8) * SEGMENT);
            events.push(Event::Lost(LostSegment {
                size: Bytes::new(SEGMENT),
                sent_in_flight: Bytes::new(in_flight),
                lost,
            }));
        }
        let congestion = |now, kind| {
            let (lost, in_flight) = (Bytes::new(lost), Bytes::new(in_flight));
            Event::Congestion(Congestion { now, kind, lost, in_flight })
        };
        if lost > 0 && self.recovered_at.is_none() {
            self.recovered_at = Some(self.delivered + in_flight);
            events.push(congestion(self.now, CongestionKind::Loss));
        }
        for (kind, probability) in [
            (CongestionKind::EcnMark, 0.001),
            (CongestionKind::Timeout, 0.0003),
            (CongestionKind::PersistentLoss, 0.0001),
        ] {
            if self.stream.chance(probability) {
                events.push(congestion(self.now, kind));
            }
        }
        if self.stream.chance(0.0003) {
            events.push(Event::Spurious);
        }
        let sent = before.saturating_sub(in_flight);
        if self.recovered_at.is_some_and(|at| sent >= at) {
            self.recovered_at = None;
        }
        let interval =
            if self.stream.chance(0.02) { Span::ZERO } else { rtt.scale(self.stream.uniform_in(0.95, 1.3)) };
        let sample = RateSample {
            delivered: Bytes::new(self.delivered - sent),
            interval,
            application_limited: self.stream.chance(0.02),
            delivered_before: Bytes::new(sent),
            delivered_total: Bytes::new(self.delivered),
            newly_delivered: Bytes::new(newly),
            newly_lost: Bytes::new(lost),
            lost: Bytes::new(lost),
            sent_in_flight: Bytes::new(in_flight),
        };
        let latest = (!self.stream.chance(0.02)).then_some(rtt);
        let ack = Ack {
            now: self.now,
            acked: Bytes::new(newly),
            delivered: Bytes::new(newly),
            newest_sent: self.now,
            in_flight: Bytes::new(in_flight.saturating_sub(newly)),
            rtt: RttView { latest, smoothed: rtt, min: Span::from_secs_f64(self.base) },
            rate: (!self.stream.chance(0.01)).then_some(sample),
            window_limited: share >= 1.0,
            paced: false,
            recovering: self.recovered_at.is_some(),
            round: 0,
        };
        (events, ack)
    }
}

enum Event {
    Lost(LostSegment),
    Congestion(Congestion),
    Spurious,
}

/// Gives the events of a hundred paths to two controllers made by `make`, one unchanged and one with `looks_always`.
/// Asserts that every answer of the two is the same. Returns the share of acknowledgements for which the first took its
/// fast path.
pub(crate) fn compare_with_fast_path<C: CongestionControl>(
    make: impl Fn() -> C,
    looks_always: impl Fn(&mut C),
    is_on_fast_path: impl Fn(&C, &Ack, &RateSample) -> bool,
) -> f64 {
    let (mut fast, mut acks) = (0, 0);
    for seed in 0..100 {
        let mut path = Path::new(seed);
        let (mut one, mut other) = (make(), make());
        looks_always(&mut other);
        for step in 0..5_000 {
            let (events, ack) = path.next(one.allowance().window);
            for event in events {
                for control in [&mut one, &mut other] {
                    match &event {
                        Event::Lost(lost) => control.on_lost(lost),
                        Event::Congestion(congestion) => control.on_congestion(congestion),
                        Event::Spurious => control.on_spurious(),
                    }
                }
            }
            acks += 1;
            fast += u32::from(ack.rate.is_some_and(|sample| is_on_fast_path(&one, &ack, &sample)));
            one.on_ack(&ack);
            other.on_ack(&ack);
            assert_eq!(answers(&one), answers(&other), "path {seed}, step {step}: {ack:?}");
        }
    }
    f64::from(fast) / f64::from(acks)
}

fn answers(control: &impl CongestionControl) -> (Bytes, Option<Rate>, String, Vec<(&'static str, u64)>) {
    let (allowance, mut measures) = (control.allowance(), Vec::new());
    control.measures(&mut |name, value| measures.push((name, value.to_bits())));
    (allowance.window, allowance.pacing, format!("{:?}", control.state()), measures)
}
