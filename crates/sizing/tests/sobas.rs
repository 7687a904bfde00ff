//! SOBAS over a path made of three numbers: what it decides where, told as the sentences of its table.

use std::collections::VecDeque;
use tightlink_sizing::{Action, BufferSizer, Fixed, Input, Regret, SizerConfig, Sobas};
use units::{Bytes, Rate, Span, Time};

const SEGMENT: f64 = 1448.0;

/// A fluid path with a sender in slow start, then Reno, behind it. All in payload bytes and seconds.
struct Fluid {
    sizer: Box<dyn BufferSizer>,
    /// What the sender was asked to pace at last.
    pace: Option<Rate>,
    now: f64,
    capacity: f64,
    base: f64,
    buffer: f64,
    /// Every so many seconds a segment is lost, whatever the queue.
    random_loss: Option<f64>,
    /// Another transfer: what it has in flight, its socket buffer, and what an overflow leaves it.
    other: f64,
    other_most: f64,
    other_keeps: f64,
    probes: bool,
    trains: bool,
    look_every: f64,
    cwnd: f64,
    threshold: f64,
    window: f64,
    /// Windows under way to the sender.
    advertised: VecDeque<(f64, f64)>,
    queue: f64,
    unread: f64,
    next_look: f64,
    next_probe: f64,
    next_random: f64,
    trains_due: VecDeque<f64>,
    trains_came: usize,
    /// Which of them lose a packet, whatever the queue.
    trains_broken: Vec<usize>,
    lost: u64,
    recovers: f64,
    delivered: f64,
    waited: f64,
}

impl Fluid {
    fn new(mbps: f64, base_ms: f64, buffer_bdp: f64, config: impl FnOnce(&mut SizerConfig)) -> Self {
        let mut settings = SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000));
        config(&mut settings);
        let (capacity, base) = (mbps * 1e6 / 8.0, base_ms / 1e3);
        Self {
            sizer: match settings.regret {
                Some(_) => Box::new(Regret::new(settings)),
                None => Box::new(Sobas::new(settings)),
            },
            pace: None,
            now: 0.0,
            capacity,
            base,
            buffer: buffer_bdp * capacity * base,
            random_loss: None,
            other: 0.0,
            other_most: 0.0,
            other_keeps: 1.0,
            probes: true,
            trains: settings.trains > 0,
            look_every: 0.01,
            cwnd: 10.0 * SEGMENT,
            threshold: f64::INFINITY,
            window: 0.0,
            advertised: VecDeque::new(),
            queue: 0.0,
            unread: 0.0,
            next_look: 0.0,
            next_probe: 0.0,
            next_random: 0.0,
            trains_due: VecDeque::new(),
            trains_came: 0,
            trains_broken: Vec::new(),
            lost: 0,
            recovers: 0.0,
            delivered: 0.0,
            waited: 0.0,
        }
    }

    /// With another transfer on the path, limited to `share` of it, that keeps `keeps` of its window at an overflow.
    fn beside(mut self, share: f64, keeps: f64) -> Self {
        self.other_most = share * self.capacity * self.base;
        (self.other, self.other_keeps) = (self.other_most, keeps);
        self
    }

    fn at(&self) -> Time {
        Time::from_nanos((self.now * 1e9) as u64)
    }

    fn tell(&mut self, input: Input) {
        self.sizer.handle(self.at(), input);
    }

    fn lose(&mut self) {
        self.lost += 1;
        if self.now >= self.recovers {
            self.recovers = self.now + self.base;
            self.threshold = self.cwnd.min(self.window) / 2.0;
            self.cwnd = self.threshold;
            self.other *= self.other_keeps;
            self.tell(Input::OutOfOrder(3));
        }
    }

    /// Runs for `seconds` in steps of a millisecond.
    fn run(&mut self, seconds: f64) -> &mut Self {
        let end = self.now + seconds;
        let step = 1e-3;
        while self.now < end {
            self.now += step;
            while self.advertised.front().is_some_and(|(at, _)| *at <= self.now) {
                self.window = self.advertised.pop_front().map_or(0.0, |(_, window)| window);
            }
            let in_flight = self.cwnd.min(self.window);
            let wait = self.base + self.queue / self.capacity;
            let rate = (in_flight / wait).min(self.capacity * in_flight / (in_flight + self.other));
            self.queue = (in_flight + self.other - self.capacity * self.base).max(0.0);
            self.other = (self.other + SEGMENT * step / wait).min(self.other_most);
            if self.queue > self.buffer {
                self.queue = self.buffer;
                self.lose();
            }
            if let Some(every) = self.random_loss
                && self.now >= self.next_random
            {
                self.next_random = self.now + every;
                self.lose();
            }
            if in_flight >= self.cwnd {
                let acked = rate * step;
                self.cwnd += if self.cwnd < self.threshold { acked } else { acked * SEGMENT / self.cwnd };
            }
            self.unread += rate * step;
            self.delivered += rate * step;
            self.waited += rate * step * wait;
            if self.probes && self.now >= self.next_probe {
                self.next_probe = self.now + 0.01;
                self.tell(Input::Probe(Some(Span::from_secs_f64(wait))));
            }
            while self.trains_due.front().is_some_and(|due| self.now >= *due) {
                self.trains_due.pop_front();
                self.trains_came += 1;
                let broken = self.trains_broken.contains(&self.trains_came);
                let fits = 75_000.0 < self.buffer + 10_000.0 && !broken;
                let wire = self.capacity * 8.0 * 1500.0 / SEGMENT;
                let rate = Rate::from_bps_f64(wire);
                self.tell(if fits { Input::Train(Some(rate)) } else { Input::TrainRemains(rate) });
            }
            if self.now >= self.next_look {
                self.next_look = self.now + self.look_every;
                let bytes = Bytes::new(std::mem::take(&mut self.unread) as u64);
                self.tell(Input::Delivered(bytes));
                // As the kernel's: once per round trip, in whole milliseconds.
                if !self.probes && self.now >= self.next_probe {
                    self.next_probe = self.now + wait;
                    self.tell(Input::RoundTrip(Span::from_millis((wait * 1e3).round() as u64)));
                }
            }
            let now = self.at();
            while let Some(action) = self.sizer.poll(now) {
                match action {
                    Action::Window(window) => {
                        self.advertised.push_back((self.now + self.base / 2.0, window.get() as f64));
                    }
                    Action::Pace(pace) => self.pace = pace,
                    Action::Train if self.trains => self.trains_due.push_back(self.now + self.base),
                    Action::Train => {}
                }
            }
        }
        self
    }

    fn phase(&self) -> &'static str {
        self.sizer.state().phase
    }

    /// Over the next `seconds`: goodput over capacity, mean RTT over base RTT, losses.
    fn measure(&mut self, seconds: f64) -> (f64, f64, u64) {
        (self.delivered, self.waited, self.lost) = (0.0, 0.0, 0);
        self.run(seconds);
        (self.delivered / seconds / self.capacity, self.waited / self.delivered / self.base, self.lost)
    }
}

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
    // A train takes 6 ms of the path's 40 in the first case, 60 in the second.
    for (mbps, least, most) in [(97.0, 0.04, 0.06), (10.0, 0.4, 0.7)] {
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

fn bounded(mbps: f64, base_ms: f64, buffer_bdp: f64) -> Fluid {
    Fluid::new(mbps, base_ms, buffer_bdp, |config| config.regret = Some(0.05))
}

#[test]
fn with_a_bound_a_transfer_begins_as_without_a_limit() {
    let mut path = bounded(97.0, 40.0, 4.0);
    while path.now < 0.8 {
        path.run(0.001);
        assert!(
            path.window == 0.0 || path.window >= 0.95 * path.cwnd,
            "{} of {} at {:.3} s",
            path.window,
            path.cwnd,
            path.now
        );
    }
    assert!(!path.sizer.wants_quiet(), "data waits for nothing");
}

#[test]
fn with_a_bound_the_window_is_held_where_that_costs_nothing() {
    for buffer in [0.3, 1.0, 4.0] {
        let mut path = bounded(97.0, 40.0, buffer);
        path.run(10.0);
        let (goodput, rtt, _) = path.measure(120.0);
        let why = path.sizer.state();
        assert!(goodput > 0.95 && rtt < 1.0 + 0.7 * buffer, "{goodput:.3} of C, {rtt:.3} of T: {why:?}");
    }
}

#[test]
fn with_a_bound_a_window_without_limit_is_kept_where_others_give_way_to_it() {
    let beside = |bound: Option<f64>| {
        let mut path = Fluid::new(97.0, 40.0, 0.25, |config| config.regret = bound).beside(0.6, 0.2);
        path.run(10.0);
        path.measure(120.0).0
    };
    let (held, bounded, open) = (beside(None), beside(Some(0.05)), {
        let mut path = Fluid::new(97.0, 40.0, 0.25, |_| {}).beside(0.6, 0.2);
        path.sizer = Box::new(Fixed::new(Bytes::new(64_000_000)));
        path.run(10.0);
        path.measure(120.0).0
    });
    assert!(open > 1.05 * held, "the case has something to find: {open:.3} of C open, {held:.3} held");
    assert!(bounded > 0.95 * open, "{bounded:.3} of C, {open:.3} with an open window");
}

#[test]
fn with_a_bound_random_loss_costs_no_more_than_the_bound() {
    let lossy = |sizer: Option<Box<dyn BufferSizer>>| {
        let mut path = bounded(97.0, 40.0, 0.5);
        if let Some(sizer) = sizer {
            path.sizer = sizer;
        }
        path.random_loss = Some(0.5);
        path.measure(60.0).0
    };
    let (bounded, open) = (lossy(None), lossy(Some(Box::new(Fixed::new(Bytes::new(64_000_000))))));
    assert!(bounded > 0.95 * open, "{bounded:.3} of C, {open:.3} with an open window");
}

#[test]
fn a_sender_that_is_ours_is_paced_until_the_window_is_decided() {
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
        assert_eq!(last, None, "with S in force it is not");
    }
}

/// How often a sizer probes once a train came at so many bit/s, and how many trains it asks for in ten seconds.
fn measures(bps: u64) -> (Span, usize) {
    let mut sizer = Sobas::new(SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000)));
    let mut trains = 0;
    for tick in 0..10_000 {
        let now = Time::ZERO + Span::from_millis(tick);
        if tick % 10 == 0 {
            sizer.handle(now, Input::Probe(Some(Span::from_millis(20))));
        }
        let mut asked = 0;
        while let Some(action) = sizer.poll(now) {
            asked += usize::from(action == Action::Train);
        }
        for _ in 0..asked {
            sizer.handle(now, Input::Train(Some(Rate::from_bps(bps))));
        }
        trains += asked;
    }
    (sizer.probe_interval().expect("it probes"), trains)
}

#[test]
fn on_a_slow_path_what_it_measures_by_takes_little_of_it() {
    assert_eq!(measures(100_000_000), (Span::from_millis(10), 5), "as the source has it");
    // A probe of 100 bytes takes 0.8 ms, a train 0.6 s.
    assert_eq!(measures(1_000_000), (Span::from_millis(80), 1));
    let (interval, trains) = measures(5_000_000);
    assert_eq!(
        (interval, trains),
        (Span::from_millis(16), 4),
        "a train takes 0.12 s, and twice that until the next"
    );
}
