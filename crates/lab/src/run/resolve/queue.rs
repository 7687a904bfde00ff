//! A queue in numbers: its room, its thresholds in packets, and the check of its policy's settings.

use super::complaint::complaint;
use super::room::RoomScale;
use link::Limit;
use link::queue::{BuildError, Context, Isolation, POLICIES, PolicyConfig, Settings, StepThreshold, Tins};
use link::traffic::{Pattern, TrafficConfig};
use scenario::spec::{self, Threshold};
use sim::TrafficPlan;
use units::{Bytes, Complaint, Rate};

/// Computes the mean wire length of the packets that will come over a link of `rate`. Unresponsive sources count by
/// their rates. The flows, whose packet lengths are `packets`, share the remaining rate equally; it is at least a
/// hundredth of `rate`.
pub(super) fn mean_packet(rate: Rate, packets: &[Bytes], traffic: &[&TrafficPlan]) -> Bytes {
    if packets.is_empty() && traffic.is_empty() {
        return Context::MEAN_PACKET;
    }
    let unresponsive: f64 = traffic.iter().map(|traffic| traffic.config.rate.as_bps_f64()).sum();
    let rate = rate.as_bps_f64();
    let share = (rate - unresponsive).max(0.01 * rate) / packets.len() as f64;
    let sources = (packets.iter().map(|packet| (share, packet.bits_f64()))).chain(
        traffic.iter().map(|traffic| (traffic.config.rate.as_bps_f64(), packet_bits(&traffic.config))),
    );
    let (bits, packets) = sources
        .fold((0.0, 0.0), |(bits, packets), (rate, packet)| (bits + rate, packets + rate / packet.max(1.0)));
    Bytes::new((bits / packets / 8.0).round().max(1.0) as u64)
}

/// Computes the mean length of the packets of `traffic`, bits.
pub(crate) fn packet_bits(traffic: &TrafficConfig) -> f64 {
    match &traffic.pattern {
        Pattern::Replay { trace, .. } => {
            let packets = trace.len().max(1) as f64;
            // The trace's mean rate includes a mean gap after the last packet, so `seconds` has it, too.
            let seconds = trace.duration().as_secs_f64() * packets / (packets - 1.0).max(1.0);
            let mean = trace.mean_rate().as_bps_f64() * seconds / packets;
            if mean > 0.0 { mean } else { traffic.packet.bits_f64() }
        }
        _ => traffic.packet.bits_f64(),
    }
}

/// Resolves the policy and its settings into numbers.
pub(super) fn policy(queue: &spec::Queue, scale: &RoomScale) -> PolicyConfig {
    let set = queue.settings;
    let packets = |threshold| match threshold {
        Threshold::MeanPackets(packets) => packets,
        Threshold::Room(room) => scale.packets(scale.limit(room)),
        Threshold::OfLimit(share) => share.get() * scale.packets(scale.limit(queue.limit)),
    };
    let settings = Settings {
        target: set.target,
        interval: set.interval,
        burst: set.burst,
        derandomize: set.derandomize,
        min_threshold: set.min_threshold.map(packets),
        max_threshold: set.max_threshold.map(packets),
        max_probability: set.max_probability.map(units::Fraction::get),
        weight: set.weight.map(units::Fraction::get),
        gentle: set.gentle,
        wait: set.wait,
        by_bytes: set.by_bytes,
        quantum: set.quantum,
        flows: set.flows.map(|flows| flows as usize),
        ecn: set.ecn,
        mark_above: set.mark_above.map(packets),
        alpha: set.alpha,
        beta: set.beta,
        ecn_probability: set.ecn_probability.map(units::Fraction::get),
        coupling: set.coupling,
        step_threshold: set.step_threshold.map(|step| match step {
            spec::StepThreshold::Time(time) => StepThreshold::Time(time),
            spec::StepThreshold::Packets(packets) => StepThreshold::Packets(packets),
        }),
        step_queue: set.step_queue,
        classic_protection: set.classic_protection.map(units::Fraction::get),
        drop_on_overload: set.drop_on_overload,
        rtt: set.rtt,
        isolation: set.isolation.map(|isolation| match isolation {
            spec::Isolation::Flows => Isolation::Flows,
            spec::Isolation::Hosts => Isolation::Hosts,
            spec::Isolation::DualSrc => Isolation::DualSrc,
            spec::Isolation::DualDst => Isolation::DualDst,
            spec::Isolation::Triple => Isolation::Triple,
        }),
        tins: set.tins.map(|tins| match tins {
            spec::Tins::BestEffort => Tins::BestEffort,
            spec::Tins::Diffserv3 => Tins::Diffserv3,
            spec::Tins::Diffserv4 => Tins::Diffserv4,
        }),
    };
    PolicyConfig { policy: queue.kind.clone(), settings, mean_packet: scale.packet, assist: None }
}

/// Checks that the queue of the link `table` has room for a packet of the length `segment`.
///
/// # Errors
/// If it has no room.
pub(super) fn holds(table: &str, limit: Limit, segment: Bytes) -> Result<(), Vec<Complaint>> {
    match limit {
        Limit::Bytes(room) if room < segment => {
            let found = format!("room for {room}, less than one segment of {segment}");
            let complaint = Complaint::new(format!("{table}.queue.limit"), found);
            let help = format!("write \"{segment}\" or more");
            Err(vec![complaint.accepted("room for one segment or more").help(help)])
        }
        _ => Ok(()),
    }
}

/// Checks that the registry has the policy with these settings. `table` is the key of the link that the queue belongs
/// to.
///
/// # Errors
/// Returns every setting that the policy does not have, or else the first that is out of its range.
pub(super) fn check(
    table: &str,
    queue: &PolicyConfig,
    limit: Limit,
    rate: Rate,
) -> Result<(), Vec<Complaint>> {
    let key = |setting: &str| format!("{table}.queue.{setting}");
    let Err(error) = queue.check(limit, rate) else { return Ok(()) };
    let fault = match error {
        BuildError::UnknownPolicy { name } => {
            let known: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
            complaint(key("kind"), format!("unknown queue \"{name}\""), known.join(", "), None)
        }
        BuildError::UnknownSetting { policy, accepted, .. } => {
            let stray = queue.settings.given().filter(|setting| !accepted.contains(setting));
            let fault = |setting| {
                let found = format!("a queue of kind \"{policy}\" has no such setting");
                let accepted: Vec<&str> = ["kind", "limit"].iter().chain(accepted).copied().collect();
                let having = POLICIES.iter().filter(|policy| policy.settings.contains(&setting));
                let having: Vec<String> =
                    having.map(|policy| format!("kind = \"{}\"", policy.name)).collect();
                let help = format!("{setting} goes with {}", having.join(", "));
                complaint(key(setting), found, accepted.join(", "), Some(help))
            };
            return Err(stray.map(fault).collect());
        }
        BuildError::OutOfRange { key: setting, found, accepted } => {
            complaint(key(setting), format!("it resolves to {found}"), accepted, None)
        }
    };
    Err(vec![fault])
}
