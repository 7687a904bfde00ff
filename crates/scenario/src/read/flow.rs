//! `[[flow]]`: the transfers under study.

use super::way::{Way, Ways};
use super::{buffer, repeated, spread};
use crate::cursor::{At, Keys, Sink};
use crate::host::Host;
use crate::path;
use crate::spec::{Flow, LossDetection, Recovery, Spread, Transport};
use crate::tables;
use crate::tree::{Node, Value};
use crate::write::Written;
use std::collections::{HashMap, HashSet};
use units::{Bytes, Rate, Span};

/// A flow as far as it could be read, with what the checks across tables need. The outer option of each is
/// whether the key could be read.
pub(super) struct FlowRead<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) size: Option<Option<Bytes>>,
    pub(super) rtt: Option<Option<Spread<Span>>>,
    pub(super) segment: Option<Bytes>,
    pub(super) way: Way,
    pub(super) flow: Option<Flow>,
}

/// More segments than an acknowledgement covers. A stretch acknowledgement after a repaired hole may cover any
/// number. Counting for more than this at once is a burst that nobody means.
const MOST_COUNTED: u64 = 1000;

/// More segments than a receive window grows by: Linux acknowledges one by one for as long, and no longer.
const MOST_QUICK: u64 = 1_000_000;

/// The longest that a host may gather segments or acknowledgements: more is no coalescing but a delay.
const LONGEST_GATHERING: Span = Span::from_millis(10);

/// The longest IPv4 packet [rfc791:3.1].
const LONGEST: Bytes = Bytes::new(65_535);

/// Flows and users beyond this are mistakes, in one table and in all.
pub(super) const MOST_FLOWS: u64 = 1_000_000;

/// Reads every flow; at least one is needed where nothing else sends: users, or saturated stations.
pub(super) fn flows<'a>(root: &Keys<'a>, ways: &Ways, others: bool) -> Option<Vec<FlowRead<'a>>> {
    let tables = repeated(root, "flow")?;
    if tables.is_empty() && !others {
        root.near("flow").fault("zero flows", "at least one [[flow]]", None);
        return None;
    }
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let names = path::names("flow", &nodes);
    let read: Vec<_> = tables.iter().zip(&names).map(|(at, name)| flow(at, name, ways)).collect();
    let read: Vec<FlowRead<'a>> = read.into_iter().collect::<Option<_>>()?;
    distinct(&read, &names);
    let none = |read: &FlowRead<'_>| read.flow.as_ref().is_some_and(|flow| flow.count == 0);
    if let Some(first) = read.first().filter(|_| !others && read.iter().all(none)) {
        first.keys.near("count").fault("zero flows", "at least one flow in all", None);
        return None;
    }
    Some(read)
}

fn flow<'a>(at: &At<'a>, default_name: &str, ways: &Ways) -> Option<FlowRead<'a>> {
    let keys = at.keys(tables::FLOW)?;
    let count = keys.read("count", |at| at.integer(0..=MOST_FLOWS));
    let handshake = keys.read("handshake", At::boolean);
    let read = transfers(&keys, default_name, count, ways);
    let flow = read.flow.and_then(|flow| Some(Flow { handshake: handshake?, ..flow }));
    Some(FlowRead { flow, ..read })
}

/// Reads the keys of `count` transfers alike; a table that is no flow does not have all of them.
pub(super) fn transfers<'a>(
    keys: &Keys<'a>,
    default_name: &str,
    count: Option<u64>,
    ways: &Ways,
) -> FlowRead<'a> {
    let name = keys.or("name", default_name, At::name);
    let control = keys.read("control", At::text);
    // An unknown name has been reported; the other keys are read as if it were absent.
    let named = keys.read("host", |at| at.word());
    let keys = keys.on(named.unwrap_or_default(), control.as_deref().unwrap_or_default());
    let size: Option<Option<Bytes>> =
        keys.optional("size", |at| at.above_zero("B", "a size of zero: nothing to send"));
    let rtt = keys.optional("rtt", |at| spread::spread(at, "ms", count));
    let timestamps = keys.read("timestamps", At::boolean);
    let sack = keys.read("sack", At::boolean);
    let recovery = keys.read("recovery", |at| recovery(at, sack.unwrap_or(true)));
    // Without selective acknowledgements no host has RACK.
    let finding = if sack == Some(false) { keys.on(Host::Rfc, "") } else { keys.clone() };
    let loss_detection = finding.read("loss_detection", |at| loss_detection(at, sack.unwrap_or(true)));
    let ecn = keys.read("ecn", At::boolean);
    let pacing = keys.read("pacing", At::boolean);
    let header = Flow::header(timestamps.unwrap_or(true));
    let segment = keys.read("segment", |at| segment(at, header));
    let delayed_ack = keys.read("delayed_ack", |at| at.count("an acknowledgement for every zero segments"));
    let delayed_ack_timeout = keys.read("delayed_ack_timeout", |at| at.quantity("ms"));
    let quick_ack = keys.read("quick_ack", |at| at.integer(0..=MOST_QUICK));
    let quick_growth = keys.read("quick_growth", At::boolean);
    let sack_compression = keys.read("sack_compression", |at| gathering(at, "ms"));
    let bbr_variant = keys.read("bbr_variant", |at| at.word());
    let cubic_variant = keys.read("cubic_variant", |at| at.word());
    let window_variant = keys.read("window_variant", |at| at.word());
    let tso = keys.read("tso", At::boolean);
    let gro = keys.read("gro", |at| gathering(at, "us"));
    let pause = keys.read("pause", |at| gathering(at, "ms"));
    let pause_interval = keys.read("pause_interval", |at| {
        at.above_zero("s", "no time between two pauses: nothing would ever be received")
    });
    let wake_up = keys.read("wake_up", |at| gathering(at, "us"));
    let access_rate = keys.read("access_rate", access_rate);
    let socket_buffer = keys.read("socket_buffer", |at| buffer::socket_buffer(at, segment, header));
    let send_buffer = keys.read("send_buffer", |at| buffer::send_buffer(at, segment, header));
    let start = keys.read("start", |at| spread::spread(at, "s", count));
    let stop = stop(&keys, start.as_ref());
    let send_jitter = keys.read("send_jitter", |at| at.quantity("us"));
    let initial_window =
        keys.read("initial_window", |at| at.count("an initial window of zero: nothing could start"));
    let initial_ssthresh = keys.read("initial_ssthresh", ssthresh);
    let slow_start = keys.read("slow_start", At::text);
    let max_ssthresh = max_ssthresh(&keys, slow_start.as_deref());
    let fast_alpha =
        keys.optional("fast_alpha", |at| at.count("a backlog of zero packets: no throughput at all"));
    let byte_counting = keys.read("byte_counting", |at| at.integer(0..=MOST_COUNTED));
    let min_rto = keys.read("min_rto", |at| at.quantity("ms"));
    let way = ways.read(&keys);
    let initial_rto = keys
        .read("initial_rto", |at| at.above_zero("s", "a timeout of zero: every segment would be sent twice"));
    let (size_read, rtt_read) = (size, rtt.clone());
    let flow = || {
        named?;
        Some(Flow {
            name: name?,
            count: count?,
            control: control?,
            size: size?,
            rtt: rtt?,
            segment: segment?,
            delayed_ack: delayed_ack?,
            delayed_ack_timeout: delayed_ack_timeout?,
            socket_buffer: socket_buffer?,
            start: start?,
            handshake: true,
            stop: stop?,
            send_jitter: send_jitter?,
            initial_window: initial_window?,
            initial_ssthresh: initial_ssthresh?,
            slow_start: slow_start?,
            max_ssthresh: max_ssthresh?,
            fast_alpha: fast_alpha?,
            byte_counting: byte_counting?,
            transport: Transport {
                min_rto: min_rto?,
                initial_rto: initial_rto?,
                timestamps: timestamps?,
                sack: sack?,
                recovery: recovery?,
                loss_detection: loss_detection?,
                ecn: ecn?,
                pacing: pacing?,
                host: transport::Host {
                    bbr_variant: bbr_variant?,
                    cubic_variant: cubic_variant?,
                    window_variant: window_variant?,
                    tso: tso?,
                    gro: gro?,
                    quick_ack: quick_ack?,
                    quick_growth: quick_growth?,
                    sack_compression: sack_compression?,
                    pause: pause?,
                    pause_interval: if pause? == Span::ZERO { Span::ZERO } else { pause_interval? },
                    wake_up: wake_up?,
                    send_buffer: send_buffer?,
                },
            },
            access_rate: access_rate?,
            path: way.names.clone()?,
            direction: way.direction?,
            cell: way.cell.clone()?,
        })
    };
    let flow = flow();
    FlowRead { keys, size: size_read, rtt: rtt_read, segment, way, flow }
}

/// Returns the flow of a `[[flow]]` in which nothing but its host, control and `sack` is written, without a path.
pub(crate) fn default_flow(host: Host, control: &str, sack: bool) -> Flow {
    let text = format!("{{ host = {}, sack = {sack}, control = {} }}", host.written(), control.written());
    let node = Node::of_value(&text).expect("words are TOML");
    let sink = Sink::new(tables::ROOT);
    let read = At::root(&node, &sink).keys(tables::FLOW);
    let flow = read.and_then(|keys| transfers(&keys, "", Some(1), &Ways::new(None)).flow);
    // Only a control without a name is no control.
    let mut flow = flow.unwrap_or_default();
    // The reader takes it away where there are no pauses.
    flow.transport.host.pause_interval = host.default_of("pause_interval", control).unwrap_or_default();
    flow
}

/// When the flow leaves: after the latest time at which a transfer of the table may start.
fn stop(keys: &Keys<'_>, start: Option<&Spread<Span>>) -> Option<Option<Span>> {
    keys.optional("stop", |at| {
        let stop: Span = at.quantity("s")?;
        let latest = match start? {
            Spread::All(start) | Spread::Uniform(_, start) => *start,
            Spread::List(starts) => starts.iter().copied().max()?,
            Spread::Pareto { .. } | Spread::ParetoQuantiles { .. } | Spread::Exponential(_) => {
                at.fault(
                    "a stop beside a start that has no latest time",
                    "a start that is a time, a list or uniform",
                    None,
                );
                return None;
            }
        };
        if stop <= latest {
            at.fault(
                format!("a stop at {stop}, and a start at {latest}"),
                format!("a time after {latest}"),
                None,
            );
            return None;
        }
        Some(stop)
    })
}

fn recovery(at: &At<'_>, sack: bool) -> Option<Recovery> {
    let recovery = at.word()?;
    if recovery == Recovery::Reno && sack {
        let help = "write sack = false, too, or another recovery".to_owned();
        at.fault(
            "recovery \"reno\" with selective acknowledgements: it repairs one loss of a window and knows of no other [rfc2581]",
            "\"reno\" with sack = false, or \"rfc6675\", \"prr\", \"sack1\"",
            Some(help),
        );
        return None;
    }
    Some(recovery)
}

fn loss_detection(at: &At<'_>, sack: bool) -> Option<LossDetection> {
    let detection = at.word()?;
    if detection == LossDetection::Rack && !sack {
        let help = "leave sack at true, or write loss_detection = \"dupack\"".to_owned();
        at.fault(
            "loss_detection \"rack\" with sack = false: RACK needs to know which segment arrived [rfc8985:5]",
            "\"rack\" with selective acknowledgements, or \"dupack\"",
            Some(help),
        );
        return None;
    }
    Some(detection)
}

fn segment(at: &At<'_>, header: Bytes) -> Option<Bytes> {
    let segment: Bytes = at.quantity("B")?;
    let least = header.get() + 1;
    if segment <= header {
        let found = format!("a segment of {segment}, which its {header} of headers fill");
        at.fault(found, format!("a size on the wire from \"{least}B\" to \"65535B\""), None);
        return None;
    }
    if segment > LONGEST {
        at.fault(
            format!("a segment of {segment}"),
            format!("a size on the wire from \"{least}B\" to \"65535B\""),
            None,
        );
        return None;
    }
    Some(segment)
}

fn access_rate(at: &At<'_>) -> Option<Option<Rate>> {
    if at.node.typed() == "unlimited" {
        return Some(None);
    }
    at.above_zero("Mbit/s", "a line of zero: nothing could be sent").map(Some)
}

/// How long a host gathers what arrives.
fn gathering(at: &At<'_>, unit: &str) -> Option<Span> {
    let time: Span = at.quantity(unit)?;
    if time > LONGEST_GATHERING {
        at.fault(format!("{time}"), format!("a time up to {LONGEST_GATHERING}"), None);
        return None;
    }
    Some(time)
}

fn ssthresh(at: &At<'_>) -> Option<Option<Bytes>> {
    if at.node.typed() == "unlimited" {
        return Some(None);
    }
    at.sized("\"unlimited\", or a size such as \"64kB\"").map(Some)
}

/// Where limited slow start begins to be slower; no other slow start has such a place.
fn max_ssthresh(keys: &Keys<'_>, slow_start: Option<&str>) -> Option<u64> {
    let read = keys.read("max_ssthresh", |at| at.count("a max_ssthresh of zero: no growth at all"))?;
    match (keys.key_origin("max_ssthresh"), slow_start) {
        (Some(origin), Some(slow_start)) if slow_start != "limited" => {
            let found = format!("this key belongs to slow_start = \"limited\", not to \"{slow_start}\"");
            let help = "leave it out, or write slow_start = \"limited\"".to_owned();
            keys.near("max_ssthresh").fault_from(origin, found, "no max_ssthresh here", Some(help));
            None
        }
        _ => Some(read),
    }
}

/// Notes flows whose names, or the names of whose single transfers, are taken.
fn distinct(flows: &[FlowRead<'_>], names: &[String]) {
    let counts: HashMap<&str, u64> = flows
        .iter()
        .zip(names)
        .filter_map(|(read, name)| Some((name.as_str(), read.flow.as_ref()?.count)))
        .filter(|(_, count)| *count > 1)
        .collect();
    let mut seen = HashSet::new();
    for (read, name) in flows.iter().zip(names) {
        let at = read.keys.near("name");
        if !seen.insert(name) {
            at.fault(format!("a second flow is named \"{name}\""), "a name of its own for each flow", None);
            continue;
        }
        // `name-3` is what the third transfer of a [[flow]] with a count is called.
        let group = name
            .rsplit_once('-')
            .filter(|(_, number)| !number.starts_with('0'))
            .and_then(|(group, number)| Some((group, number.parse::<u64>().ok()?)))
            .filter(|(group, number)| *number > 0 && counts.get(group).is_some_and(|count| number <= count));
        if let Some((group, _)) = group.filter(|_| !counts.contains_key(name.as_str())) {
            let found = format!("\"{name}\" is also one of the flows of \"{group}\"");
            at.fault(
                found,
                "a name of its own for each flow",
                Some("give one of the two another name".into()),
            );
        }
    }
}
