//! A transfer in numbers.

use super::place;
use super::shaper::Hosts;
use super::spread::values;
use super::ways::Directions;
use cc::Start;
use cc::registry::Tuning;
use scenario::spec::{Carrier, RttScaling};
use scenario::{Scenario, SocketBuffer, spec};
use sim::{CellPlace, ControlPlan, FlowPlan, SizerPlan};
use std::ops::Deref;
use std::sync::Arc;
use transport::{BbrVariant, CubicVariant, Host, LossDetection, Recovery, Transport, WindowVariant};
use units::random::Stream;
use units::{Bytes, Fraction, Span, Time};

/// One transfer in numbers, and its place in the scenario.
///
/// The transfers of a table differ in few things, and a run can have a hundred thousand. So they share the others.
#[derive(Clone, Debug)]
pub struct ResolvedFlow {
    /// The name of the transfer and of its random streams.
    pub name: String,
    /// Propagation there and back, the links' delay included.
    pub base_rtt: Span,
    /// The time at which it begins.
    pub start: Time,
    /// Its place in a wireless cell; `None`: the scenario has no cell.
    pub place: Option<CellPlace>,
    /// The plan of a transfer of the same table. In a cell its route is the air, which all flows share.
    like: Arc<FlowPlan>,
    /// The name of the scenario's table that it comes from: `flow`, or `traffic` for a user's connections.
    pub section: &'static str,
    /// The index of that table among those of its name.
    pub entry: usize,
    /// True if the kernel sizes the receive window by itself; the plan's sizer then stands for the kernel's rules.
    pub autotuned: bool,
    /// The protocol that carries the data.
    pub carrier: Carrier,
}

/// Gives the things that the transfers of a table share. Those in which they differ are fields of the flow itself.
impl Deref for ResolvedFlow {
    type Target = FlowPlan;

    fn deref(&self) -> &FlowPlan {
        &self.like
    }
}

impl ResolvedFlow {
    /// Returns the plan of its simulation.
    #[must_use]
    pub fn plan(&self) -> FlowPlan {
        let Self { base_rtt, start, place, .. } = *self;
        FlowPlan { name: self.name.clone(), base_rtt, start, place, ..(*self.like).clone() }
    }

    /// Returns the path of `key` in the flow's table of the scenario: `flow[0].control`.
    #[must_use]
    pub fn key(&self, key: &str) -> String {
        format!("{}[{}].{key}", self.section, self.entry)
    }

    /// Returns true for a flow over QUIC.
    #[must_use]
    pub fn is_quic(&self) -> bool {
        self.carrier == Carrier::Quic
    }

    /// Returns the length of a full segment on the wire.
    #[must_use]
    pub fn segment(&self) -> Bytes {
        self.payload + self.header
    }

    /// Returns the congestion window at the start, in segments.
    #[must_use]
    pub fn initial_window(&self) -> u64 {
        self.control.start.window / self.payload
    }

    /// Returns the largest receive window, or the largest that the sizer may set; `None` if it never limits the flow.
    #[must_use]
    pub fn receive_window(&self) -> Option<Bytes> {
        Some(self.socket_buffer).filter(|window| *window < Bytes::MAX)
    }

    /// Returns the bytes that the buffers of both ends let through in a round trip, as a theory takes it. This is the
    /// lesser of the receive window and [`SendBuffer::per_round_trip`](transport::SendBuffer::per_round_trip); `None`
    /// if neither limits the flow.
    #[must_use]
    pub fn per_round_trip(&self) -> Option<Bytes> {
        let sent = self.transport.host.send_buffer.per_round_trip();
        self.receive_window().into_iter().chain(sent).min()
    }

    /// Returns the sizer that the scenario asks for; `None` also if the kernel sizes the window by itself.
    #[must_use]
    pub fn asked_sizer(&self) -> Option<&SizerPlan> {
        self.sizer.as_ref().filter(|_| !self.autotuned)
    }
}

/// Returns the options of TCP by which `flow` is simulated. A flow over QUIC has those that come nearest to RFC 9002:
/// detection by time, and a window that a loss cuts once. Of its host the variants of the controls remain, because a
/// kernel's bursts and buffers are TCP's.
fn transport(flow: &spec::Flow) -> Transport {
    match flow.carrier {
        Carrier::Tcp => flow.transport,
        Carrier::Quic => {
            let Host { bbr_variant, cubic_variant, window_variant, .. } = flow.transport.host;
            Transport {
                loss_detection: LossDetection::Rack,
                recovery: Recovery::Prr,
                host: Host { bbr_variant, cubic_variant, window_variant, ..Host::default() },
                ..flow.transport
            }
        }
    }
}

/// Makes every transfer of the scenario, with distributions drawn.
pub(super) fn flows(
    scenario: &Scenario,
    directions: &Directions<'_>,
    hosts: &Hosts<'_>,
) -> Vec<ResolvedFlow> {
    scenario
        .flows
        .iter()
        .enumerate()
        .flat_map(|(entry, flow)| transfers(scenario, flow, ("flow", entry), directions, hosts))
        .collect()
}

/// Makes the transfers of one table, with distributions drawn.
pub(super) fn transfers(
    scenario: &Scenario,
    flow: &spec::Flow,
    (section, entry): (&'static str, usize),
    directions: &Directions<'_>,
    hosts: &Hosts<'_>,
) -> Vec<ResolvedFlow> {
    let wlan = scenario.wlan.as_ref();
    let least = wlan.map_or_else(|| directions.round(&flow.path), |wlan| place::delay(wlan) * 2);
    // In a cell all flows share the air, which is the only link.
    let route = wlan.map_or_else(|| directions.there(&flow.path, flow.direction), |_| vec![0]);
    let return_route = directions.back(&flow.path, flow.direction);
    let stream = |what: &str| Stream::new(scenario.seed, &format!("{} {what}", flow.name));
    let rtts = flow.rtt.as_ref().map(|rtt| values(rtt, flow.count, stream("rtt")));
    let starts = values(&flow.start, flow.count, stream("start"));
    let (window, sizer) = match &flow.socket_buffer {
        SocketBuffer::Max => (Bytes::MAX, None),
        // The sizer `drs` follows the rules by which the kernel sizes the window by itself.
        SocketBuffer::Autotuned => (scenario::AUTOTUNED, Some(("drs", None))),
        SocketBuffer::Fixed(bytes) => (*bytes, None),
        SocketBuffer::Sized { sizer, max, regret } => (*max, Some((sizer.as_str(), *regret))),
    };
    // A sizer may ask the sender to pace, because both ends belong to the simulation.
    let sizer = sizer.map(|(name, regret)| SizerPlan {
        name: name.into(),
        can_pace: true,
        regret: regret.map(Fraction::get),
    });
    let (payload, host) = (flow.payload(), transport(flow).host);
    let control = ControlPlan {
        name: flow.control.clone(),
        slow_start: flow.slow_start.clone(),
        start: Start {
            segment: payload,
            window: payload * flow.initial_window,
            threshold: flow.initial_ssthresh.unwrap_or(Bytes::MAX),
        },
        tuning: Tuning {
            byte_counting: flow.byte_counting,
            max_ssthresh: flow.max_ssthresh,
            fast_alpha: flow.fast_alpha,
            prague_rtt: (flow.prague_rtt_scaling == RttScaling::Rate).then_some(cc::RttScaling {
                target: flow.prague_rtt_target,
                transition: flow.prague_rtt_transition,
            }),
            offload: host.tso,
            linux_bbr: host.bbr_variant == BbrVariant::Linux,
            linux_cubic: host.cubic_variant == CubicVariant::Linux,
            linux_window: host.window_variant == WindowVariant::Linux,
        },
    };
    let like = Arc::new(FlowPlan {
        name: flow.name.clone(),
        control,
        payload,
        header: spec::Flow::header(flow.transport.timestamps),
        base_rtt: least,
        route,
        return_route,
        place: None,
        size: flow.size,
        start: Time::ZERO,
        stop: flow.stop.map(|stop| Time::ZERO + stop),
        delayed_ack: flow.delayed_ack,
        delayed_ack_timeout: flow.delayed_ack_timeout,
        socket_buffer: window,
        sizer,
        send_jitter: flow.send_jitter,
        handshake: flow.handshake,
        transport: transport(flow),
        access_rate: flow.access_rate,
        marking: hosts.numbers(&flow.marking),
    });
    let transfer = |(index, start): (usize, Span)| ResolvedFlow {
        name: if flow.count == 1 { flow.name.clone() } else { format!("{}-{}", flow.name, index + 1) },
        // An RTT drawn below the links' own round trip is raised to it.
        base_rtt: rtts.as_ref().map_or(least, |rtts| rtts[index].max(least)),
        start: Time::ZERO + start,
        place: wlan.and_then(|wlan| place::place(wlan, flow, index)),
        like: Arc::clone(&like),
        section,
        entry,
        autotuned: flow.socket_buffer == SocketBuffer::Autotuned,
        carrier: flow.carrier,
    };
    (0..).zip(starts).map(transfer).collect()
}
