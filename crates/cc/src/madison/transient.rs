//! Prototype.

use std::collections::VecDeque;
use units::{Span, Time};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    count: f64,
    rtt: f64,
    max: f64,
    sent: f64,
    own: f64,
    began: f64,
}

impl Window {
    fn add(&mut self, rtt: f64, sent: f64, own: f64) {
        if self.count == 0.0 {
            self.began = sent;
        }
        self.count += 1.0;
        self.rtt += rtt;
        self.max = self.max.max(rtt);
        self.sent += sent;
        self.own += own;
    }
    fn mean(&self) -> Window {
        let c = self.count;
        Window { count: c, rtt: self.rtt / c, max: self.max, sent: self.sent / c, own: self.own / c, began: self.began }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Transient {
    open: Window,
    last: Option<Window>,
    latest: Option<Window>,
    rates: VecDeque<(Time, f64)>,
    current: f64,
    pub flows: f64,
    slow: f64,
    taken: f64,
}

pub(super) fn knob(name: &str, default: f64) -> f64 {
    #[allow(clippy::disallowed_methods)]
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

impl Transient {
    pub(super) fn changed(&mut self, now: Time, rate: f64) {
        self.rates.push_back((now, rate));
        if self.rates.len() > 4096 {
            self.rates.pop_front();
        }
    }

    fn own_at(&mut self, sent: Time) -> f64 {
        while let Some(&(at, rate)) = self.rates.front()
            && at <= sent
        {
            self.current = rate;
            self.rates.pop_front();
        }
        self.current
    }

    /// A probe; true if a window closed.
    pub(super) fn observe(&mut self, sent: Time, rtt: Span, period: Span) -> bool {
        let own = self.own_at(sent);
        let at = sent.as_nanos() as f64 / 1e9;
        self.open.add(rtt.as_secs_f64(), at, own);
        if self.open.count >= 6.0 && at - self.open.began >= period.as_secs_f64() {
            self.last = self.latest.replace(self.open.mean());
            self.open = Window::default();
            return true;
        }
        false
    }

    /// New share; also near flag.
    pub(super) fn decide(&mut self, least: f64, service: f64, target: f64, starting: bool) -> (Option<f64>, bool) {
        let Some(latest) = self.latest else { return (None, false) };
        let wait = |rtt: f64| ((rtt - least) / service).max(0.0);
        let last = self.last;
        let total = last.map_or(wait(latest.rtt), |last| 0.5 * (wait(last.rtt) + wait(latest.rtt)));
        let own = last.map_or(latest.own, |last| 0.5 * (last.own + latest.own)) * service;
        let most = wait(last.map_or(latest.max, |last| last.max.max(latest.max)));
        let drift = last.map_or(0.0, |last| (wait(latest.rtt) - wait(last.rtt)) * service / (latest.sent - last.sent));
        let drift = drift * knob("DRIFT", 1.0);
        let newest = wait(latest.rtt);
        let off1 = last.map_or(0.0, |last| last.own * service * wait(last.rtt) / target - 1.0);
        let off2 = latest.own * service * newest / target - 1.0;
        self.taken += 1.0;
        self.slow += (newest - self.slow) / self.taken.min(knob("MEM", 16.0));
        let slow = self.slow;
        let nearness = latest.own * service * slow / target - 1.0;
        let near = nearness.abs() <= 0.2;
        let fast = (total - slow).max(-slow) / (2.0 * slow * slow + 1.0) + drift;
        let spare = 1.0 / (2.0 * slow + 1.0);
        if starting && !near {
            let beta = 2.0 * target / (2.0 * target + 1.0);
            let share = beta * (spare - fast + own).clamp(0.0, 1.0);
            self.flows = 1.0;
            return (Some(share), near);
        }
        let dead = knob("DEAD", 0.0);
        if dead > 0.0 && !(off1.min(off2) > dead || off1.max(off2) < -dead) {
            return (None, near);
        }
        let spare = if knob("MOST", 1.0) > 0.0 { spare.max(1.0 / (2.0 * most + 1.0)) } else { spare };
        let flows = if knob("NOWN", 0.0) > 0.0 { ((1.0 - spare) / own).max(1.0) } else { ((1.0 - spare) * slow / target).max(1.0) };
        self.flows = flows;
        let share = 2.0 * target * (spare + flows * own).clamp(0.0, 1.0) / (1.0 + 2.0 * target * flows) - own * fast;
        let share = share.max(0.3 * own);
        (Some(share), near)
    }
}
