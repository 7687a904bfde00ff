//! From tree to data: the hand-written walk over a document that collects every fault it meets.
//!
//! `read/keys.rs` is the cursor, `read/quantity.rs` and `read/spread.rs` read values. Then comes one file per table.
//! `read/link.rs` has its queue's settings in `read/settings.rs`. `read/flow.rs`, `read/traffic.rs` and
//! `read/sessions.rs` have the links that they cross in `read/way.rs` and `read/cell_way.rs`. `read/wlan.rs` also has
//! `[[station]]`, and its queue is in `read/cell_queue.rs`. `read/record.rs` also has `[model]` and `[live]`, and
//! `read/figure.rs` is last. `read/check.rs` checks what takes more than one table to see.

mod buffer;
mod cell_queue;
mod cell_way;
mod check;
pub(crate) mod figure;
mod flow;
mod link;
mod record;
mod sessions;
mod settings;
mod spread;
mod traffic;
mod way;
mod wlan;

pub(crate) use flow::default_flow;

use crate::cursor::{At, Keys, Sink};
use crate::document::Document;
use crate::fault::Faults;
use crate::spec::Scenario;
use crate::tables::ROOT;
use crate::tree::Value;
use units::Span;

impl Document {
    /// Reads the scenario: types, units, defaults and all checks that need no registry. Names of congestion
    /// controls, slow-start variants and queue kinds are passed on unchecked; `[sweep]` is left to
    /// [`Document::sweep`].
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn scenario(&self) -> Result<Scenario, Faults> {
        let sink = Sink::new(ROOT);
        let scenario = scenario(&At::root(self.root(), &sink));
        sink.result(scenario)
    }
}

fn scenario(root: &At<'_>) -> Option<Scenario> {
    let keys = root.keys(ROOT)?;
    let title = keys.read("title", At::line);
    let source = keys.optional("source", At::line);
    let seed = keys.read("seed", |at| at.integer(0..=u64::MAX));
    let duration = keys.optional("duration", |at| at.above_zero("s", "a duration of zero"));
    let warmup: Option<Span> = keys.read("warmup", |at| at.quantity("s"));
    let cell = wlan::wlan(&keys);
    let links = if cell.is_some() { Some(Vec::new()) } else { link::links(&keys) };
    let ways = match &cell {
        Some(cell) => way::Ways::in_cell(cell.as_ref()),
        None => way::Ways::new(links.as_deref()),
    };
    let traffic = match &cell {
        Some(_) => wlan::no_traffic(&keys),
        None => traffic::traffic(&keys, &ways),
    };
    let users = traffic.as_ref().is_some_and(|traffic| !traffic.sessions.is_empty());
    // What could not be read may be saturated.
    let saturated = cell.as_ref().is_some_and(|cell| cell.as_ref().is_none_or(|cell| cell.saturated));
    let flows = flow::flows(&keys, &ways, users || saturated);
    let model = record::model(&keys);
    let live = record::live(&keys);
    let record = record::record(&keys);
    let users = traffic.as_ref().map_or(&[][..], |traffic| &traffic.users);
    let read_cell = cell.as_ref().and_then(Option::as_ref);
    check::across(&keys, duration, warmup, links.as_deref(), read_cell, flows.as_deref(), users);
    let traffic = traffic?;
    let wlan = match cell {
        Some(cell) => Some(cell?.wlan?),
        None => None,
    };
    Some(Scenario {
        title: title?,
        source: source?,
        seed: seed?,
        duration: duration?,
        warmup: warmup?,
        links: links?.into_iter().map(|read| read.link).collect::<Option<_>>()?,
        flows: flows?.into_iter().map(|read| read.flow).collect::<Option<_>>()?,
        wlan,
        traffic: traffic.traffic.into_iter().collect::<Option<_>>()?,
        replays: traffic.replays.into_iter().collect::<Option<_>>()?,
        sessions: traffic.sessions.into_iter().collect::<Option<_>>()?,
        model: model?,
        live: live?,
        record: record?,
    })
}

/// The tables of `[[name]]`, none if the key is absent. What else stands there is a fault.
fn repeated<'a>(keys: &Keys<'a>, name: &str) -> Option<Vec<At<'a>>> {
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
