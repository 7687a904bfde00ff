//! `[[flow]]`: the transfers under study.

use super::partial::PartialFlow;
use super::repeated;
use super::way::LinkNames;
use crate::cursor::{Keys, Sink, ValueAt};
use crate::lines::Written;
use crate::places;
use crate::spec::{Flow, Spread};
use crate::tables::ends::{Ends, EndsRead, access_rate};
use crate::tables::flow::{FLOW, FlowContext, FlowRead};
use crate::tables::marking::MarkingRead;
use crate::tables::marks::ByShare;
use crate::tables::quic;
use crate::tables::top::ROOT;
use crate::tree::{Node, Value};
use crate::values::{Carrier, Host};
use std::collections::{HashMap, HashSet};
use units::Span;

/// Reads every flow. At least one is required unless `others` send: users, or saturated stations.
pub(super) fn flows<'a>(root: &Keys<'a>, ways: &LinkNames, others: bool) -> Option<Vec<PartialFlow<'a>>> {
    let tables = repeated(root, "flow")?;
    if tables.is_empty() && !others {
        root.near("flow").fault("zero flows", "at least one [[flow]]", None);
        return None;
    }
    let nodes: Vec<&Node> = tables.iter().map(|at| at.node).collect();
    let names = places::names("flow", &nodes);
    let read: Vec<_> = tables.iter().zip(&names).map(|(at, name)| flow(at, name, ways)).collect();
    let read: Vec<PartialFlow<'a>> = read.into_iter().collect::<Option<_>>()?;
    distinct(&read, &names);
    let none = |read: &PartialFlow<'_>| read.flow.as_ref().is_some_and(|flow| flow.count == 0);
    if let Some(first) = read.first().filter(|_| !others && read.iter().all(none)) {
        first.keys.near("count").fault("zero flows", "at least one flow in all", None);
        return None;
    }
    Some(read)
}

fn flow<'a>(at: &ValueAt<'a>, default_name: &str, ways: &LinkNames) -> Option<PartialFlow<'a>> {
    let keys = at.keys(FLOW)?;
    Some(transfers(&keys, default_name, None, ways))
}

/// Reads the keys that a flow and the connections of users share. `users` is present for users, and then holds their
/// number if it could be read.
pub(super) fn transfers<'a>(
    keys: &Keys<'a>,
    default_name: &str,
    users: Option<Option<u64>>,
    ways: &LinkNames,
) -> PartialFlow<'a> {
    let control = keys.among(FLOW).read("control", ValueAt::text);
    // An unknown host has been reported. The other keys are read as if `host` were absent.
    let host = keys.among(FLOW).read("host", ValueAt::word);
    let keys = keys.on(host.unwrap_or_default(), control.as_deref().unwrap_or_default());
    let written = |key| keys.get(key).map(|at| at.node.value.clone());
    let is_false = |key| matches!(written(key), Some(Value::Boolean(false)));
    let count = match (users, written("count")) {
        (Some(users), _) => users,
        (None, Some(Value::Integer(count))) => u64::try_from(count).ok(),
        (None, None) => Some(1),
        (None, Some(_)) => None,
    };
    // A transport that could not be read has been reported. The connections of users are TCP's.
    let carrier = match users {
        Some(_) => Some(Carrier::Tcp),
        None => keys.among(FLOW).read("transport", ValueAt::word),
    };
    if carrier == Some(Carrier::Quic) {
        quic::refuse(&keys);
    }
    let context = FlowContext {
        count,
        sack: !is_false("sack"),
        header: Flow::header(!is_false("timestamps")),
        carrier: carrier.unwrap_or_default(),
        by_share: control.as_deref().and_then(ByShare::named),
        control: control.clone(),
    };
    let mut read = FlowRead::read(&keys, &context);
    read.carrier = carrier;
    read.marking = MarkingRead::read(&keys, ()).whole();
    read.name = keys.or("name", default_name, ValueAt::name);
    (read.control, read.access_rate) = (control, keys.among(FLOW).read("access_rate", access_rate));
    if let Some(users) = users {
        (read.count, read.handshake) = (users, Some(true));
    }
    let (ends, connection) = (EndsRead::read(&keys, ()).whole(), read.transport.take());
    read.transport =
        host.zip(ends).zip(connection).map(|((_host, Ends { host: mut ends }), mut transport)| {
            if ends.pause == Span::ZERO {
                ends.pause_interval = Span::ZERO;
            }
            ends.send_buffer = transport.host.send_buffer;
            transport.host = ends;
            transport
        });
    stop_follows_start(&keys, &mut read);
    let way = ways.read(&keys);
    (read.path, read.direction, read.cell) = (way.names.clone(), way.direction, way.cell.clone());
    let flow = read.clone().whole();
    PartialFlow { keys, read, way, flow }
}

/// Records a flow that stops no later than the latest time at which a transfer of the table may start.
fn stop_follows_start(keys: &Keys<'_>, read: &mut FlowRead) {
    let (Some(Some(stop)), Some(start)) = (read.stop, &read.start) else { return };
    let at = keys.near("stop");
    let latest = match start {
        Spread::All(start) | Spread::Uniform(_, start) => *start,
        Spread::List(starts) => starts.iter().copied().max().unwrap_or_default(),
        Spread::Pareto { .. } | Spread::ParetoQuantiles { .. } | Spread::Exponential(_) => {
            let found = "`stop` together with a `start` that has no latest time";
            return at.fault(found, "a start that is a time, a list or uniform", None);
        }
    };
    if stop <= latest {
        let found = format!("a stop at {stop}, and a start at {latest}");
        at.fault(found, format!("a time after {latest}"), None);
    }
}

/// Returns the flow of a `[[flow]]` with only its host, control and `sack` written, without a path.
pub(crate) fn default_flow(host: Host, control: &str, sack: bool) -> Flow {
    let text = format!("{{ host = {}, sack = {sack}, control = {} }}", host.written(), control.written());
    let node = Node::of_value(&text).expect("words are TOML");
    let sink = Sink::new(ROOT);
    let read = ValueAt::root(&node, &sink).keys(FLOW);
    let flow = read.and_then(|keys| transfers(&keys, "", None, &LinkNames::new(None)).flow);
    // Reading fails only for an empty control, which gets the default flow.
    let mut flow = flow.unwrap_or_default();
    // The reader resets the interval if there are no pauses; here it has the host's default.
    flow.transport.host.pause_interval = host.default_of("pause_interval", control).unwrap_or_default();
    flow
}

/// Records flows whose own name, or the name of one of their transfers, is taken.
fn distinct(flows: &[PartialFlow<'_>], names: &[String]) {
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
        // A flow may not be named `name-3` if that is the third transfer of another [[flow]] with a count.
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
