//! Checks that XCP and RCP flows cross links with the matching router, in a topology that `sim` supports.

use super::complaint::complaint;
use link::assist::ASSISTS;
use scenario::spec::{Flow, Scenario};
use units::Complaint;

/// Checks `assist` of the links, and the controls that need it.
pub(super) fn check(scenario: &Scenario, faults: &mut Vec<Complaint>) {
    let several = scenario.links.len() > 1;
    let table = |index: usize| if several { format!("link[{index}]") } else { "link".to_owned() };
    let known: Vec<&str> = ASSISTS.iter().map(|assist| assist.name).collect();
    for (index, link) in scenario.links.iter().enumerate() {
        let Some(name) = &link.assist else { continue };
        let mut fault = |found: String, accepted: String, help: Option<String>| {
            faults.push(complaint(format!("{}.assist", table(index)), found, accepted, help));
        };
        if !known.contains(&name.as_str()) {
            fault(format!("unknown assist \"{name}\""), known.join(", "), None);
        } else if several || link.reverse.is_some() {
            let found =
                "a router that assists senders, on a path of several links or with queues on the way back";
            let accepted = "one [link] without reverse";
            fault(found.into(), accepted.into(), Some("leave assist out, or the other links".into()));
        } else if link.rate.constant().is_none() || link.outage.is_some() {
            let found = "a router that assists senders by the rate of its link, at a link whose rate changes";
            fault(found.into(), "one rate, without outages".into(), Some("leave assist out".into()));
        }
    }
    let flows = scenario.flows.iter().enumerate().map(|(index, flow)| (format!("flow[{index}]"), flow));
    let users =
        scenario.sessions.iter().map(|sessions| (format!("traffic[{}]", sessions.entry), &sessions.flow));
    for (table, flow) in flows.chain(users) {
        let Some(needed) = cc::registry::assist(&flow.control) else { continue };
        if let Some(silent) = silent(scenario, flow, needed) {
            let found =
                format!("control \"{}\", but the router at \"{silent}\" does not assist it", flow.control);
            let help = format!("write assist = \"{needed}\" in its [link], or choose another control");
            let accepted = format!("a link with assist = \"{needed}\"");
            faults.push(complaint(format!("{table}.control"), found, accepted, Some(help)));
        }
    }
}

/// Returns the first link on a flow's path without the assist `needed`.
fn silent<'a>(scenario: &'a Scenario, flow: &Flow, needed: &str) -> Option<&'a str> {
    let crossed = scenario.links.iter().filter(|link| flow.path.contains(&link.name));
    crossed.into_iter().find(|link| link.assist.as_deref() != Some(needed)).map(|link| link.name.as_str())
}
