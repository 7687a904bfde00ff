//! From tree to data: the hand-written walk over a document that collects every fault it meets.
//!
//! `cursor.rs` is the cursor, and `tables/` reads the keys that do not depend on others. This module reads keys that
//! depend on each other, one file per table. `read/flow.rs`, `read/traffic.rs` and `read/sessions.rs` get the links
//! that they cross from `read/way.rs` and `read/cell_way.rs`. `read/wlan.rs` also has `[[station]]`. `read/check.rs`
//! has the checks across tables.

mod cell_way;
mod check;
pub(crate) mod figure;
mod flow;
mod link;
mod partial;
mod sessions;
mod traffic;
mod way;
mod wlan;

pub(crate) use flow::default_flow;

use crate::cursor::{Keys, Sink, ValueAt};
use crate::document::Document;
use crate::fault::Faults;
use crate::spec::Scenario;
use crate::tables::top::{LIVE, LiveRead, MODEL, ModelRead, RECORD, ROOT, RecordRead, ScenarioRead};
use crate::tree::Value;

impl Document {
    /// Reads the scenario: types, units, defaults and all checks that need no registry. Names of congestion
    /// controls, slow-start variants and queue kinds are passed on unchecked; `[sweep]` is left to
    /// [`Document::sweep`].
    ///
    /// # Errors
    /// Returns all faults of the file.
    pub fn scenario(&self) -> Result<Scenario, Faults> {
        let sink = Sink::new(ROOT);
        let scenario = scenario(&ValueAt::root(self.root(), &sink));
        sink.result(scenario)
    }
}

fn scenario(root: &ValueAt<'_>) -> Option<Scenario> {
    let keys = root.keys(ROOT)?;
    let mut read = ScenarioRead::read(&keys, ());
    let cell = wlan::wlan(&keys);
    let links = if cell.is_some() { Some(Vec::new()) } else { link::links(&keys) };
    let ways = match &cell {
        Some(cell) => way::LinkNames::in_cell(cell.as_ref()),
        None => way::LinkNames::new(links.as_deref()),
    };
    let traffic = match &cell {
        Some(_) => wlan::no_traffic(&keys),
        None => traffic::traffic(&keys, &ways),
    };
    let users = traffic.as_ref().is_some_and(|traffic| !traffic.sessions.is_empty());
    // A cell that could not be read may have saturated stations.
    let saturated = cell.as_ref().is_some_and(|cell| cell.as_ref().is_none_or(|cell| cell.saturated));
    let flows = flow::flows(&keys, &ways, users || saturated);
    read.model = keys.read("model", |at| ModelRead::read(&at.keys(MODEL)?, ()).whole());
    read.live = keys.read("live", |at| LiveRead::read(&at.keys(LIVE)?, ()).whole());
    read.record = keys.read("record", |at| RecordRead::read(&at.keys(RECORD)?, ()).whole());
    let users = traffic.as_ref().map_or(&[][..], |traffic| &traffic.users);
    let read_cell = cell.as_ref().and_then(Option::as_ref);
    check::across(&keys, &read, links.as_deref(), read_cell, flows.as_deref(), users);
    read.wlan = match cell {
        Some(cell) => cell.and_then(|cell| cell.wlan).map(Some),
        None => Some(None),
    };
    read.links = links.and_then(|links| links.into_iter().map(|link| link.read.whole()).collect());
    read.flows = flows.and_then(|flows| flows.into_iter().map(|flow| flow.flow).collect());
    let traffic = traffic?;
    read.traffic = traffic.traffic.into_iter().collect();
    read.replays = traffic.replays.into_iter().collect();
    read.sessions = traffic.sessions.into_iter().collect();
    read.whole()
}

/// Returns the tables of `[[name]]`; an empty list if the key is absent. Any other value is a fault.
fn repeated<'a>(keys: &Keys<'a>, name: &str) -> Option<Vec<ValueAt<'a>>> {
    let Some(at) = keys.get(name) else {
        return Some(Vec::new());
    };
    match &at.node.value {
        Value::List(_) => Some(at.items()),
        _ => {
            let help = matches!(at.node.value, Value::Table(_)).then(|| format!("write [[{name}]]"));
            at.fault(at.node.described(), format!("one [[{name}]] for each"), help);
            None
        }
    }
}
