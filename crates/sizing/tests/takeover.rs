//! A transfer that is taken over under way: what the dip finds, where no queue stands, and where nothing can be found.

use std::collections::VecDeque;
use tightlink_sizing::{Action, BufferSizer, Input, SizerConfig, Takeover};
use units::{Bytes, Span, Time};

const SEGMENT: f64 = 1448.0;
const STEP: f64 = 1e-3;

/// A fluid path with a Reno sender in congestion avoidance. All in payload bytes and seconds. All propagation lies between
/// the receiver and the sender.
struct Transfer {
    sizer: Option<Takeover>,
    now: f64,
    capacity: f64,
    base: f64,
    buffer: f64,
    cwnd: f64,
    /// Nothing is sent from the first of these times to the second.
    pause: (f64, f64),
    /// The receiver's RTTs come.
    times: bool,
    sent: f64,
    arrived: f64,
    /// The right edge of the window, and what is under way to the sender: when, what has arrived, the edge.
    window: f64,
    edge: f64,
    back: VecDeque<(f64, f64, f64)>,
    acknowledged: f64,
    allowed: f64,
    /// What waits at the link: since when, and how much.
    queue: VecDeque<(f64, f64)>,
    round_trip: f64,
    recovers: f64,
    told: f64,
    told_arrived: f64,
    told_round_trip: f64,
    /// Bytes times seconds that have waited.
    waited: f64,
}

impl Transfer {
    /// Alone for two seconds with a large window, then taken over.
    fn new(mbps: f64, base_ms: f64, buffer_bdp: f64) -> Self {
        Self::bounded(mbps, base_ms, buffer_bdp, None)
    }

    /// With a bound on what the window may cost.
    fn bounded(mbps: f64, base_ms: f64, buffer_bdp: f64, regret: Option<f64>) -> Self {
        let (capacity, base) = (mbps * 1e6 / 8.0, base_ms / 1e3);
        let buffer = buffer_bdp * capacity * base;
        let mut transfer = Self {
            sizer: None,
            now: 0.0,
            capacity,
            base,
            buffer,
            cwnd: 0.7 * (capacity * base + buffer),
            pause: (0.0, 0.0),
            times: true,
            sent: 0.0,
            arrived: 0.0,
            window: 2.5 * (capacity * base + buffer),
            edge: 0.0,
            back: VecDeque::new(),
            acknowledged: 0.0,
            allowed: 2.5 * (capacity * base + buffer),
            queue: VecDeque::new(),
            round_trip: base,
            recovers: 0.0,
            told: 0.0,
            told_arrived: 0.0,
            told_round_trip: 0.0,
            waited: 0.0,
        };
        transfer.run(2.0);
        transfer.told_arrived = transfer.arrived;
        let mut config = SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000));
        (config.trains, config.running) = (0, Some(Bytes::new(transfer.window as u64)));
        config.regret = regret;
        transfer.sizer = Some(Takeover::new(config));
        transfer
    }

    fn queued(&self) -> f64 {
        self.queue.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Runs for `seconds`; the goodput as a share of the capacity, and the mean queue in BDP.
    fn run(&mut self, seconds: f64) -> (f64, f64) {
        let (end, arrived, waited) = (self.now + seconds, self.arrived, self.waited);
        while self.now < end {
            self.now += STEP;
            self.send();
            self.forward();
            if self.now >= self.told + 0.01 {
                self.told = self.now;
                self.tell();
            }
        }
        let goodput = (self.arrived - arrived) / seconds / self.capacity;
        (goodput, (self.waited - waited) / seconds / (self.capacity * self.base))
    }

    fn send(&mut self) {
        while self.back.front().is_some_and(|(when, ..)| when + self.base <= self.now) {
            let (_, arrived, edge) = self.back.pop_front().unwrap();
            let limited = self.sent + SEGMENT >= self.acknowledged + self.cwnd;
            if limited && self.now >= self.recovers {
                self.cwnd += (arrived - self.acknowledged) * SEGMENT / self.cwnd;
            }
            (self.acknowledged, self.allowed) = (arrived, edge.max(self.allowed));
        }
        if (self.pause.0..self.pause.1).contains(&self.now) {
            return;
        }
        // The first window is paced over a round trip.
        let most = (self.acknowledged + self.cwnd * (self.now / self.base).min(1.0)).min(self.allowed);
        let wanted = (most - self.sent).max(0.0);
        let sent = wanted.min(self.buffer + SEGMENT - self.queued()).max(0.0);
        if sent < wanted && self.now >= self.recovers {
            self.recovers = self.now + self.round_trip;
            self.cwnd /= 2.0;
        }
        self.sent += sent;
        self.queue.push_back((self.now, sent));
    }

    fn forward(&mut self) {
        self.waited += self.queued() * STEP;
        let mut share = self.capacity * STEP;
        while share > 0.0
            && let Some((since, bytes)) = self.queue.front_mut()
        {
            let taken = bytes.min(share);
            (*bytes, share) = (*bytes - taken, share - taken);
            self.arrived += taken;
            if taken > 0.0 {
                self.round_trip = self.now - *since + self.base;
            }
            if *bytes <= 0.0 {
                self.queue.pop_front();
            }
        }
        self.edge = self.edge.max(self.arrived + self.window);
        self.back.push_back((self.now, self.arrived, self.edge));
    }

    fn tell(&mut self) {
        let at = Time::from_nanos((self.now * 1e9) as u64);
        let Some(sizer) = &mut self.sizer else { return };
        if self.times && self.now - self.told_round_trip >= self.round_trip {
            self.told_round_trip = self.now;
            // As a kernel tells it: in milliseconds, cut.
            sizer.handle(at, Input::RoundTrip(Span::from_millis((self.round_trip * 1e3) as u64)));
        }
        let gained = (self.arrived - self.told_arrived) as u64;
        if gained > 0 {
            self.told_arrived += gained as f64;
            sizer.handle(at, Input::Delivered(Bytes::new(gained)));
        }
        while let Some(Action::Window(window)) = sizer.poll(at) {
            self.window = window.get() as f64;
        }
    }

    fn sizer(&self) -> &Takeover {
        self.sizer.as_ref().expect("taken over")
    }

    fn phase(&self) -> &'static str {
        self.sizer().state().phase
    }

    fn base_ms(&self) -> Option<f64> {
        self.sizer().base_rtt().map(Span::as_millis_f64)
    }
}

/// Over rates, RTTs and buffers: the base is found, the queue shrinks to a third, the goodput stays.
#[test]
fn the_base_rtt_is_found_beneath_a_standing_queue() {
    let paths =
        [(50.0, 40.0, 3.0), (10.0, 10.0, 5.0), (200.0, 10.0, 2.0), (100.0, 150.0, 1.5), (10.0, 100.0, 5.0)];
    for ((mbps, base, bdp), regret) in paths.into_iter().flat_map(|path| [(path, None), (path, Some(0.05))]) {
        let mut alone = Transfer::new(mbps, base, bdp);
        alone.sizer = None;
        let mut taken = Transfer::bounded(mbps, base, bdp, regret);
        alone.run(5.0);
        taken.run(5.0);
        let ((goodput, queue), (rate, less)) = (alone.run(20.0), taken.run(20.0));
        let told = format!(
            "{mbps} Mb/s, {base} ms, {bdp} BDP, bound {regret:?}: {rate} of {goodput}, {less} of {queue} BDP, {taken:?}"
        );
        let found = taken.base_ms().unwrap_or_else(|| panic!("{told}"));
        assert!((base - 1.0..=base * 1.1 + 1.0).contains(&found), "{found} ms; {told}");
        assert!(less <= queue / 3.0, "{told}");
        assert!(rate >= 0.95 * goodput, "{told}");
    }
}

#[test]
fn nothing_is_limited_where_no_queue_stands() {
    // At least four steps of the path fit into the buffer.
    for bdp in [0.1, 0.2] {
        let mut alone = Transfer::new(50.0, 40.0, bdp);
        alone.sizer = None;
        let mut taken = Transfer::new(50.0, 40.0, bdp);
        let ((before, _), (during, _)) = (alone.run(5.0), taken.run(5.0));
        assert!(during >= 0.9 * before, "a dip takes no more: {during} of {before}, {taken:?}");
        let ((goodput, _), (rate, _)) = (alone.run(20.0), taken.run(20.0));
        assert!(rate >= 0.95 * goodput, "{bdp} BDP: {rate} of {goodput}, {taken:?}");
        let found = taken.base_ms().unwrap_or_else(|| panic!("{bdp} BDP: {taken:?}"));
        assert!((39.0..=46.0).contains(&found), "{found}");
    }
}

#[test]
fn a_deeper_queue_than_one_dip_drains_is_drained_by_the_next() {
    let mut taken = Transfer::new(20.0, 20.0, 20.0);
    taken.run(5.0);
    let found = taken.base_ms().unwrap_or_else(|| panic!("{taken:?}"));
    assert!((19.0..=23.0).contains(&found), "{found}");
    let (goodput, queue) = taken.run(10.0);
    assert!(goodput > 0.95 && queue < 1.0, "{goodput} {queue} {taken:?}");
}

#[test]
fn what_is_not_known_is_said_and_nothing_is_limited() {
    let mut blind = Transfer::new(50.0, 40.0, 3.0);
    blind.times = false;
    blind.run(5.0);
    let state = blind.sizer().state();
    assert_eq!(
        (state.phase, blind.base_ms(), blind.window),
        ("open", None, 63_998_704.0),
        "the maximum in whole segments"
    );
    assert!(state.reason.contains("base RTT is not known: no round-trip time comes"), "{}", state.reason);
    let (goodput, _) = blind.run(20.0);
    assert!(goodput > 0.99, "{goodput}");
}

#[test]
fn a_pause_of_the_sender_spoils_a_dip_and_the_next_one_tells() {
    let mut taken = Transfer::new(50.0, 40.0, 3.0);
    while taken.phase() == "watch" {
        taken.run(0.01);
    }
    assert_eq!(taken.phase(), "dip");
    taken.pause = (taken.now, taken.now + 4.0);
    taken.run(3.5);
    assert_eq!(taken.phase(), "watch", "{taken:?}");
    assert_eq!(taken.base_ms(), None);
    taken.run(8.0);
    let found = taken.base_ms().unwrap_or_else(|| panic!("{taken:?}"));
    assert!((39.0..=45.0).contains(&found), "{found}");
}

#[test]
fn a_window_is_never_less_than_promised_data_need_before_the_dip() {
    let mut taken = Transfer::new(50.0, 40.0, 3.0);
    let promised = taken.window;
    taken.run(0.05);
    assert!(taken.window <= promised, "it promises no more: the dip would have to wait for it");
    taken.run(0.6);
    assert_eq!(taken.phase(), "watch");
    assert!(taken.window >= 1.5 * taken.cwnd, "and does not limit: {taken:?}");
}

impl std::fmt::Debug for Transfer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.sizer.as_ref().map(BufferSizer::state);
        write!(
            formatter,
            "{state:?}, window {:.0}, cwnd {:.0}, queue {:.0}",
            self.window,
            self.cwnd,
            self.queued()
        )
    }
}
