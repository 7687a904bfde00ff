//! Calls to a ledger in any order, with any controller of the registry, compared with a plain model of the records.

use super::Script;
use crate::ledger::{LEAST_DATA, Ledger};
use cc::registry::{self, CONTROLS};
use cc::{Ack, Allowance, CcState, Congestion, CongestionControl, LostSegment, RouterHeader, Start, Wants};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1472);

/// The call of the ledger that runs now.
const NONE: u8 = 0;
const BEGIN: u8 = 1;
const SENT: u8 = 2;
const FLUSH: u8 = 3;

/// A controller that asserts that each event comes from within the call that may give it.
#[derive(Debug)]
struct Watched {
    control: Box<dyn CongestionControl>,
    call: Arc<AtomicU8>,
}

impl Watched {
    fn expect(&self, call: u8) {
        assert_eq!(self.call.load(Ordering::Relaxed), call, "an event outside the call that may give it");
    }
}

impl CongestionControl for Watched {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.expect(BEGIN);
        self.control.on_established(now, rtt);
    }

    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.expect(SENT);
        self.control.on_sent(now, bytes, in_flight);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.expect(FLUSH);
        assert!(ack.rate.is_none_or(|rate| rate.delivered_total >= rate.delivered));
        self.control.on_ack(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.expect(FLUSH);
        self.control.on_congestion(event);
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.expect(FLUSH);
        self.control.on_lost(lost);
    }

    fn gap_after(&mut self, now: Time) -> Option<Span> {
        self.control.gap_after(now)
    }

    fn assist(&self) -> Option<&'static str> {
        self.control.assist()
    }

    fn header(&self) -> RouterHeader {
        self.control.header()
    }

    fn wants(&self) -> Wants {
        self.control.wants()
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.control.measures(show);
    }

    fn allowance(&self) -> Allowance {
        self.control.allowance()
    }

    fn state(&self) -> CcState {
        self.control.state()
    }
}

/// The records, kept in the plainest way.
#[derive(Default)]
struct Model {
    /// The bytes of each packet of data that are neither acknowledged nor lost.
    left: BTreeMap<Time, u64>,
    /// The sizes of packets of control frames and of the handshake, until a loss covers them.
    control: BTreeMap<Time, u64>,
    sent: u64,
    delivered: u64,
    lost: u64,
    differences: u64,
}

impl Model {
    fn in_flight(&self) -> u64 {
        self.left.values().sum()
    }

    fn on_acked(&mut self, name: Time, bytes: u64) {
        if let Some(left) = self.left.get_mut(&name) {
            let settled = bytes.min(*left);
            *left -= settled;
            self.delivered += settled;
        }
    }

    fn on_lost(&mut self, until: Time, bytes: u64) {
        let later = self.control.split_off(&(until + Span::from_nanos(1)));
        let control: u64 = std::mem::replace(&mut self.control, later).values().sum();
        let found: u64 = self.left.range(..=until).map(|(_, left)| left).sum();
        if bytes < found && bytes <= control {
            return;
        }
        self.differences += u64::from(bytes < found || bytes > found + control);
        self.lost += found;
        self.left.range_mut(..=until).for_each(|(_, left)| *left = 0);
    }

    fn withdraw(&mut self, name: Time, size: u64) {
        if let Some(left) = self.left.remove(&name) {
            self.sent -= left;
            self.control.insert(name, size);
        }
    }
}

/// Plays `script`: a controller, then calls, each of which is a byte and its parameters.
///
/// # Panics
/// If the ledger's counts differ from those of the model, or if the controller gets an event at a wrong time; that is
/// the purpose of the test.
pub fn ledger(script: &[u8]) {
    let mut script = Script(script);
    let start = Start { segment: SEGMENT, window: SEGMENT * 10, threshold: Bytes::MAX };
    let name = CONTROLS[usize::from(script.byte()) % CONTROLS.len()].name;
    let control = registry::build(name, "standard", start).expect("a name of the registry");
    let call = Arc::new(AtomicU8::new(NONE));
    let within = |this: u8, act: &mut dyn FnMut()| {
        call.store(this, Ordering::Relaxed);
        act();
        call.store(NONE, Ordering::Relaxed);
    };
    let mut ledger = Ledger::new(Box::new(Watched { control, call: Arc::clone(&call) }));
    let mut model = Model::default();
    let mut now = Time::ZERO + Span::from_secs(1);
    // The names and sizes of packets so far.
    let mut packets = vec![(now, 0)];
    let rtt = (script.byte() % 2 == 0).then_some(Span::from_millis(20));
    within(BEGIN, &mut || ledger.begin(now, rtt));
    while !script.is_over() {
        let kind = script.byte() % 16;
        // A packet so far, the later ones more often, or a name that no packet has.
        let mut pick = |packets: &[(Time, u64)]| {
            let back = script.number() as usize;
            let (name, size) = packets[packets.len() - 1 - back % packets.len().min(1 + back)];
            if back % 7 == 6 { (name + Span::from_nanos(1), size) } else { (name, size) }
        };
        match kind {
            0..=4 => {
                let (last, _) = packets[packets.len() - 1];
                let name = now.max(last + Span::from_nanos(2));
                let size = if kind == 0 { script.number() } else { SEGMENT.get() };
                packets.push((name, size));
                if size < LEAST_DATA {
                    model.control.insert(name, size);
                } else {
                    model.left.insert(name, size);
                    model.sent += size;
                }
                if ledger.places_departures() {
                    ledger.departs(now);
                }
                within(SENT, &mut || ledger.on_sent(name, size));
            }
            5..=8 => {
                let (name, size) = pick(&packets);
                let bytes = if kind == 5 { script.number() } else { size };
                model.on_acked(name, bytes);
                ledger.on_acked(now, name, bytes);
            }
            9 | 10 => {
                let (until, _) = pick(&packets);
                let found: u64 = model.left.range(..=until).map(|(_, left)| left).sum();
                let bytes = if kind == 9 { found } else { script.number() };
                model.on_lost(until, bytes);
                ledger.on_lost(now, until, script.byte() == 0, bytes);
            }
            11..=13 => {
                within(FLUSH, &mut || ledger.flush(now));
                assert!(ledger.control().allowance().window >= SEGMENT, "{ledger:?}");
                ledger.control().measures(&mut |name, value| assert!(!value.is_nan(), "{name}"));
            }
            14 => now += Span::from_micros(script.number() * if script.byte() == 0 { 10_000 } else { 1 }),
            _ => match script.byte() % 3 {
                0 => ledger.on_out_of_data(),
                1 => ledger.on_window_full(),
                _ => {
                    let (name, size) = packets[packets.len() - 1];
                    // The owner withdraws a packet as it is sent, and never one that is acknowledged or lost.
                    if model.left.get(&name) == Some(&size) {
                        model.withdraw(name, size);
                        ledger.withdraw(name);
                    }
                }
            },
        }
        let counts = ledger.counts();
        assert_eq!(ledger.in_flight(), model.in_flight(), "bytes in flight");
        assert_eq!((counts.delivered, counts.lost_bytes), (model.delivered, model.lost));
        assert_eq!(counts.delivered + counts.lost_bytes + ledger.in_flight(), model.sent);
        assert_eq!(counts.differences, model.differences);
    }
    within(FLUSH, &mut || ledger.flush(now));
}
