//! The content of the registries, for listing.

use crate::run::engine::has_theory;
use crate::run::resolve::{KERNEL_CONTROLS, quic_controls};

/// One thing that a scenario can name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in a scenario.
    pub name: &'static str,
    /// The engines that have it.
    pub runs_on: Vec<&'static str>,
    /// The senders of real packets that have it, if they differ: "kernel", "quic".
    pub live_over: Vec<&'static str>,
    /// Its description, in one line.
    pub summary: &'static str,
    /// The place of its definition.
    pub source: &'static str,
    /// The status of that source, if it has one: "standard", "experimental", "paper", "yardstick".
    pub status: &'static str,
    /// The settings it accepts.
    pub settings: &'static [&'static str],
}

/// Lists the congestion controls.
#[must_use]
pub fn controls() -> Vec<Entry> {
    let over_quic = quic_controls();
    let entry = |control: &cc::registry::Control| {
        let kernel = KERNEL_CONTROLS.contains(&control.name).then_some("kernel");
        let live_over: Vec<_> =
            kernel.into_iter().chain(over_quic.contains(&control.name).then_some("quic")).collect();
        let live = (!live_over.is_empty()).then_some("live");
        let model = has_theory(control.name).then_some("model");
        Entry {
            name: control.name,
            runs_on: model.into_iter().chain(["sim"]).chain(live).collect(),
            live_over,
            summary: control.summary,
            source: control.source,
            status: control.status,
            settings: &[],
        }
    };
    cc::registry::controls().iter().map(entry).collect()
}

/// Lists the slow starts.
#[must_use]
pub fn slow_starts() -> Vec<Entry> {
    let entry = |slow_start: &cc::registry::SlowStartName| Entry {
        name: slow_start.name,
        runs_on: vec!["sim", "live"],
        live_over: vec!["quic"],
        summary: slow_start.summary,
        source: slow_start.source,
        status: slow_start.status,
        settings: &[],
    };
    cc::registry::SLOW_STARTS.iter().map(entry).collect()
}

/// Lists the sizers of the receive window.
#[must_use]
pub fn sizers() -> Vec<Entry> {
    let entry = |sizer: &sizing::registry::Sizer| Entry {
        name: sizer.name,
        runs_on: vec!["sim", "live"],
        live_over: Vec::new(),
        summary: sizer.summary,
        source: sizer.source,
        status: "",
        settings: &[],
    };
    sizing::registry::sizers().iter().map(entry).collect()
}

/// Lists the queue policies.
#[must_use]
pub fn queues() -> Vec<Entry> {
    let entry = |policy: &link::queue::Policy| Entry {
        name: policy.name,
        runs_on: vec!["sim", "live"],
        live_over: Vec::new(),
        summary: policy.summary,
        source: policy.source,
        status: "",
        settings: policy.settings,
    };
    link::queue::POLICIES.iter().map(entry).collect()
}

/// Lists the engines.
#[must_use]
pub fn engines() -> Vec<Entry> {
    let engines = [
        ("model", "closed forms and fixed points: microseconds", "docs/papers"),
        ("sim", "packet-level simulation: faster than real time", "crates/sim"),
        ("live", "the real kernel over an emulated path: real time", "crates/emu, crates/live"),
    ];
    engines
        .map(|(name, summary, source)| Entry {
            name,
            runs_on: Vec::new(),
            live_over: Vec::new(),
            summary,
            source,
            status: "",
            settings: &[],
        })
        .into()
}
