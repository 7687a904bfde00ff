//! The effects of hosts that theory does not know: they hold packets, send them in bursts, and have a line of their
//! own. On a path of microseconds these effects decide.

use crate::run::resolve::ResolvedFlow;
use cc::super_packet;
use scenario::Host;
use transport::{FALLS_ASLEEP, LossDetection};
use units::{Bytes, Rate, Span};

/// The least number of segments that leave together.
const LEAST_TOGETHER: u64 = 2;

/// The effects of hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hosts {
    /// The time added to each round trip: the receiver's card gathers neighbours, and the sender's departures jitter,
    /// by half of the jitter in the mean.
    always: Span,
    /// The time added if the receiver's processor was idle for a while.
    pub(super) waking: Span,
    /// True if segments leave in super-packets.
    together: bool,
    /// The rate of each host's own line; `None`: without limit.
    line: Option<Rate>,
    /// The least retransmission timeout.
    pub(super) timeout: Span,
    /// True if the last packets of a window are probed for, so that only a lost probe ends in a timeout.
    pub(super) probes: bool,
}

impl Hosts {
    /// The effects of `host = "rfc"`, which holds no packets and adds no time.
    pub const NONE: Self = Self {
        always: Span::ZERO,
        waking: Span::ZERO,
        together: false,
        line: None,
        timeout: Span::from_millis(200),
        probes: false,
    };

    /// Returns the effects of `host = "linux"`, for flows with `control`.
    #[must_use]
    pub fn linux(control: &str) -> Self {
        let of = |key| Host::Linux.default_of::<Span>(key, control).unwrap_or_default();
        Self {
            always: of("gro") + of("send_jitter") / 2,
            waking: of("wake_up"),
            together: Host::Linux.default_of("tso", control).unwrap_or_default(),
            line: Host::Linux.default_of("access_rate", control),
            timeout: of("min_rto"),
            probes: true,
        }
    }

    /// Returns the effects of the hosts of `flows`: the longest times of all, and the slowest line.
    pub(super) fn of_flows(flows: &[&ResolvedFlow]) -> Self {
        let timeout = flows.iter().map(|flow| flow.transport.min_rto).max().unwrap_or(Self::NONE.timeout);
        let probes = flows.iter().all(|flow| flow.transport.loss_detection == LossDetection::Rack);
        let none = Self { timeout, probes, ..Self::NONE };
        flows.iter().fold(none, |all, flow| {
            let host = &flow.transport.host;
            Self {
                always: all.always.max(host.gro + flow.send_jitter / 2),
                waking: all.waking.max(host.wake_up),
                together: all.together || host.tso,
                line: all.line.into_iter().chain(flow.access_rate).reduce(Rate::min),
                ..all
            }
        })
    }

    /// Returns the seconds that hosts add to a round trip of `round` seconds, for each of `flows` that share the link.
    /// A flow's packets arrive close together; while packets of other flows pass, its receiver is idle.
    pub(super) fn held(&self, round: f64, flows: u64) -> f64 {
        let always = self.always.as_secs_f64();
        let idle = (round + always) * (1.0 - 1.0 / flows as f64);
        if idle > FALLS_ASLEEP.as_secs_f64() { always + self.waking.as_secs_f64() } else { always }
    }

    /// Returns the most seconds that hosts add to a round trip.
    pub(super) fn most_held(&self) -> f64 {
        (self.always + self.waking).as_secs_f64()
    }

    /// Returns the packets of a burst that wait together at a link of `rate`. Each of `flows`, with a window of
    /// `window` packets, sends such bursts over `rtt`. A line that is only a little faster than the link spreads them.
    pub(super) fn burst(&self, rate: Rate, flows: u64, window: f64, rtt: Span, packet: Bytes) -> f64 {
        self.super_packet(rate, flows, rtt, packet).min(window.max(1.0)) * self.spread(rate)
    }

    pub(super) fn super_packet(&self, rate: Rate, flows: u64, rtt: Span, packet: Bytes) -> f64 {
        let share = Rate::from_bps((rate.as_bps_f64() / flows as f64) as u64);
        if self.together { super_packet(share, Some(rtt), packet, LEAST_TOGETHER) as f64 } else { 1.0 }
    }

    /// Returns the share of a burst that waits.
    pub(super) fn spread(&self, rate: Rate) -> f64 {
        self.line.map_or(1.0, |line| (1.0 - rate.as_bps_f64() / line.as_bps_f64()).max(0.0))
    }

    /// Returns the share of a link of `rate` that the lines of `flows` can fill.
    pub(super) fn reachable(&self, rate: Rate, flows: u64) -> f64 {
        self.line.map_or(1.0, |line| (flows as f64 * line.as_bps_f64() / rate.as_bps_f64()).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_gathers_for_50_us_jitters_by_25_in_the_mean_and_wakes_up_in_350() {
        let hosts = Hosts::linux("cubic");
        for (round, flows, micros) in
            [(50e-6, 10, 75.0), (150e-6, 10, 425.0), (1e-3, 1, 75.0), (1e-3, 2, 425.0)]
        {
            assert!((hosts.held(round, flows) * 1e6 - micros).abs() < 1e-6, "{round} {flows}");
        }
    }

    #[test]
    fn near_hosts_send_64_kilobytes_together_and_far_ones_a_millisecond() {
        let (hosts, packet) = (Hosts::linux("cubic"), Bytes::new(1500));
        let burst =
            |rate: &str, rtt| hosts.burst(rate.parse().unwrap(), 1, 1e3, Span::from_micros(rtt), packet);
        assert!((burst("1Gbit/s", 100) - 43.0 * 0.9).abs() < 1.0, "{}", burst("1Gbit/s", 100));
        assert!((burst("100Mbit/s", 100_000) - 8.0 * 0.99).abs() < 1.0, "{}", burst("100Mbit/s", 100_000));
        assert_eq!(burst("40Gbit/s", 100), 0.0);
    }

    #[test]
    fn a_line_of_10_gigabits_fills_a_quarter_of_40() {
        let hosts = Hosts::linux("cubic");
        assert_eq!(
            [1, 4, 8].map(|flows| hosts.reachable("40Gbit/s".parse().unwrap(), flows)),
            [0.25, 1.0, 1.0]
        );
    }
}
