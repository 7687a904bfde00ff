//! The three engines behind one call, which takes a resolved scenario and returns a [`Record`].

#[cfg_attr(not(feature = "kernel"), path = "engine/no_kernel.rs")]
pub(super) mod live;
mod model;
mod sim;
mod sizer_notes;
mod synchronized;
#[cfg(test)]
#[path = "../../tests/within/engine.rs"]
mod tests;

pub(crate) use model::{has_theory, served_every};

use crate::run::record::{Engine, Note, Record, Summary};
use crate::run::resolve::{Resolved, ResolvedFlow, ResolvedLink};
use link::LinkReport;
use link::queue::PolicyConfig;
use scenario::Direction;
use std::ops::ControlFlow;
use units::{Complaint, Span, Time};

/// The reason for which an engine returned no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine has no answer to this scenario; another may.
    #[error(transparent)]
    CannotAnswer(#[from] Misfit),
    /// The machine or the user's rights lack something.
    #[cfg(feature = "kernel")]
    #[error(transparent)]
    Emulator(#[from] emu::EmuError),
    /// The kernel refused a setting.
    #[cfg(feature = "kernel")]
    #[error(transparent)]
    Host(#[from] host::HostError),
    /// A kernel transfer failed.
    #[cfg(feature = "kernel")]
    #[error(transparent)]
    Live(#[from] ::live::LiveError),
    /// Every flow had ended before the warm-up was over, so that nothing was measured.
    #[error(transparent)]
    NothingMeasured(Complaint),
    /// The run took more memory than it may.
    #[error(transparent)]
    TooLarge(Complaint),
    /// The capture of a run's packets could not be written.
    #[error(transparent)]
    Capture(Complaint),
    /// [`Progress`] ended the run.
    #[error("the run was stopped")]
    Stopped,
    /// The two sides of a live run disagree on what happened.
    #[error("the live run broke off: {0}")]
    Broken(String),
}

/// The part of a scenario that an engine does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{engine}: {}; {}", complaint.found, complaint.help.as_deref().unwrap_or_default())]
pub struct Misfit {
    /// The engine.
    pub engine: Engine,
    /// The key of the scenario, such as `flow[0].control`, the reason for which its value does not fit, the accepted
    /// values, and the remedy.
    pub complaint: Complaint,
}

/// A callback that receives the progress of a run now and then: the seconds of the scenario that have passed, and the
/// total if known. [`ControlFlow::Break`] ends the run.
pub type Progress<'a> = &'a dyn Fn(f64, Option<f64>) -> ControlFlow<()>;

/// A [`Progress`] that ignores the reports and lets a run come to its end.
pub const UNWATCHED: Progress<'static> = &|_, _| ControlFlow::Continue(());

/// Acquires the rights that runs of the kernel need. The process must have only one thread at that time.
///
/// # Errors
/// If the machine or the user lacks something that these runs need.
pub fn prepare_kernel() -> Result<(), EngineError> {
    live::prepare()
}

/// Runs `resolved` on `engine`.
///
/// # Errors
/// [`EngineError`]: [`EngineError::CannotAnswer`] if the engine cannot answer such a scenario, [`EngineError::Stopped`]
/// if `progress` ended the run.
pub fn run(engine: Engine, resolved: &Resolved, progress: Progress<'_>) -> Result<Record, EngineError> {
    if progress(0.0, resolved.end.map(Span::as_secs_f64)).is_break() {
        return Err(EngineError::Stopped);
    }
    let mut record = match engine {
        Engine::Model => model::run(resolved),
        Engine::Sim => sim::run(resolved, progress),
        Engine::Live => live::run(resolved, progress),
    }?;
    let ended = || resolved.warmup + Span::from_secs_f64(record.summary.measured_s);
    let end = resolved.end.or_else(|| (engine != Engine::Model).then(ended));
    record.notes.extend(over_quic(engine, resolved).map(Note::from));
    record.notes.extend(foreign_controls(resolved).map(Note::from));
    record.notes.extend(few_acknowledgements(resolved).map(Note::from));
    record.notes.extend(resolved.shaper_notes().into_iter().map(Note::from));
    record.notes.extend(never_marked(resolved).map(Note::from));
    record.notes.extend(resolved.trace_notes(end).into_iter().map(Note::from));
    Ok(record)
}

/// Describes how `engine` answers for flows over QUIC, if it has no packets of theirs.
fn over_quic(engine: Engine, resolved: &Resolved) -> Option<String> {
    let quic = engine != Engine::Live && resolved.flows.iter().any(ResolvedFlow::is_quic);
    let rules = if engine == Engine::Sim { " with RACK and PRR" } else { "" };
    quic.then(|| {
        format!(
            "{engine}: flows over QUIC are answered as TCP{rules}, whose segments stand for QUIC's packets"
        )
    })
}

/// Returns the names of the congestion controls that only the kernel has.
fn foreign_controls(resolved: &Resolved) -> Option<String> {
    let controls = resolved.flows.iter().map(|flow| flow.control.name.as_str());
    let mut names: Vec<&str> = controls.filter(|name| !cc::registry::has_control(name)).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.join(", ");
    (!names.is_empty()).then(|| {
        format!("live: {names} is this kernel's; the model and the simulator do not have it, so they give no answer")
    })
}

/// Warns of a Madison whose packets are not acknowledged one by one, by which it measures.
fn few_acknowledgements(resolved: &Resolved) -> Option<String> {
    let few = |flow: &&ResolvedFlow| flow.control.name.starts_with("madison") && flow.delayed_ack > 1;
    resolved.flows.iter().find(few).map(|flow| {
        let (name, count) = (&flow.name, flow.delayed_ack);
        format!(
            "{name}: Madison measures by the acknowledgement of each packet; with delayed_ack = {count} it takes a small \
             part of the link. Write delayed_ack = 1"
        )
    })
}

/// Describes a flow that asks for marks where no queue of its way gives any. Controls that live on marks have a remark of
/// their own.
fn never_marked(resolved: &Resolved) -> Option<String> {
    let gives = |queue: &PolicyConfig| {
        let policy = link::queue::POLICIES.iter().find(|policy| policy.name == queue.policy);
        let by_default = policy.is_some_and(|policy| policy.settings.contains(&"ecn"));
        queue.settings.mark_above.is_some() || queue.settings.ecn.unwrap_or(by_default)
    };
    let marks = |link: &usize| {
        let link = &resolved.links[*link];
        gives(&link.queue) || link.config.shaper.as_ref().is_some_and(|shaper| gives(&shaper.queue))
    };
    let alone = |flow: &&ResolvedFlow| {
        flow.transport.ecn.is_on()
            && !cc::registry::wants_marks(&flow.control.name)
            && !flow.route.iter().any(marks)
    };
    let flow = resolved.flows.iter().find(alone).filter(|_| resolved.cell.is_none())?;
    Some(format!(
        "{}: no queue of its way marks packets, so that its ecn changes nothing. Write a queue that marks, such as \
         kind = \"codel\" or mark_above = 20 for drop-tail",
        flow.name
    ))
}

/// Checks that `engine` supports `resolved`; costs nothing and changes nothing. Figures and claims call it; [`run`]
/// calls [`can_answer`].
///
/// # Errors
/// Returns the [`Misfit`] if a part of the scenario does not fit.
pub fn check(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    match engine {
        Engine::Model => model::check(resolved),
        Engine::Sim => sim::check(resolved),
        Engine::Live => live::check(resolved),
    }
}

/// Checks that [`run`] answers with `engine`. The engine must support `resolved`. For [`Engine::Model`] it is enough
/// that a theory answers under assumptions that the scenario breaks.
///
/// # Errors
/// Returns a [`Misfit`] with the reason if no answer is possible.
pub fn can_answer(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    match engine {
        Engine::Model => model::can_answer(resolved),
        Engine::Sim | Engine::Live => check(engine, resolved),
    }
}

/// Refuses a network: several links, or a queue on the way back.
fn one_queue(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    let Some(other) = resolved.links.get(1) else { return Ok(()) };
    let found = match other.direction {
        Direction::Forward => {
            format!("{} queues, and this engine has the tight link's only", resolved.links.len())
        }
        Direction::Reverse => "a queue on the way back, where this engine has none".to_owned(),
    };
    Err(Misfit {
        engine,
        complaint: Complaint::new(other.table.clone(), found)
            .accepted("one [link] without reverse")
            .help("use the simulator: --engine sim"),
    })
}

/// Refuses links that change over time.
fn constant_links(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    let changing = |link: &ResolvedLink| {
        let changes = &link.config.changes;
        let found = [
            (changes.outage.is_some(), "outage", "outages"),
            (changes.capacity.is_some(), "rate", "a rate that changes over time"),
            (changes.delay.is_some(), "delay", "a delay that changes over time"),
            (changes.loss.is_some(), "loss", "losses that are not independent of each other"),
        ];
        let found = found.into_iter().find(|(is_there, ..)| *is_there)?;
        Some((format!("{}.{}", link.table, found.1), found.2))
    };
    let Some((key, found)) = resolved.links.iter().find_map(changing) else { return Ok(()) };
    let found = format!("{found}, and theory describes links that stay as they are");
    let complaint = Complaint::new(key, found).accepted("one value for the whole run");
    Err(Misfit { engine, complaint: complaint.help("use the simulator: --engine sim") })
}

/// Refuses links with a shaper.
fn no_shaper(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    let Some(link) = resolved.links.iter().find(|link| link.config.shaper.is_some()) else { return Ok(()) };
    let found = "a shaper, which is a second queue, and theory describes one";
    let complaint =
        Complaint::new(format!("{}.shaper", link.table), found).accepted("a link without a shaper");
    Err(Misfit { engine, complaint: complaint.help("use the simulator: --engine sim") })
}

/// Refuses names of hosts on cross traffic, whose packets have no addresses in the emulator.
#[cfg(feature = "kernel")]
pub(super) fn no_hosts(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    let named = |traffic: &&::sim::TrafficPlan| traffic.marking.sender > 0 || traffic.marking.receiver > 0;
    let Some(traffic) = resolved.traffic.iter().find(named) else { return Ok(()) };
    let found =
        format!("a host by name on \"{}\", whose packets have no address in the emulator", traffic.name);
    let complaint = Complaint::new("traffic.sending_host", found).accepted("no name of a host");
    Err(Misfit { engine, complaint: complaint.help("leave it out, or use the simulator: --engine sim") })
}

/// Refuses a wireless cell.
#[cfg(feature = "kernel")]
pub(super) fn no_cell(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    if resolved.cell.is_none() {
        return Ok(());
    }
    Err(Misfit {
        engine,
        complaint: Complaint::new("wlan", "a wireless cell, and this engine has links")
            .accepted("[link]")
            .help("use the simulator: --engine sim"),
    })
}

/// Refuses a congestion control that only the kernel of this machine has.
fn no_foreign_control(engine: Engine, resolved: &Resolved) -> Result<(), Misfit> {
    // The flows of a table have the same control, so most need no look into the registry.
    let mut before = "";
    let mut foreign = None;
    for flow in resolved.connections() {
        let name = flow.control.name.as_str();
        if name != before && !cc::registry::has_control(name) {
            foreign = Some(flow);
            break;
        }
        before = name;
    }
    let Some(flow) = foreign else { return Ok(()) };
    let known: Vec<&str> = cc::registry::controls().iter().map(|control| control.name).collect();
    let found = format!("control \"{}\", which only the kernel has", flow.control.name);
    let complaint = Complaint::new(flow.key("control"), found).accepted(known.join(", "));
    let help = "choose another control, or the kernel: --engine live";
    Err(Misfit { engine, complaint: complaint.help(help) })
}

/// Refuses users that come and go.
fn no_users(engine: Engine, resolved: &Resolved, help: &str) -> Result<(), Misfit> {
    let Some(sessions) = resolved.sessions.first() else { return Ok(()) };
    Err(Misfit {
        engine,
        complaint: Complaint::new(
            format!("traffic[{}].kind", sessions.entry),
            "users that come and go (engset): only the simulator can run them",
        )
        .accepted("\"cbr\", \"poisson\", \"on-off\", \"replay\"")
        .help(help),
    })
}

/// Checks that an open-ended run outlasted its warm-up.
fn outlasts_warmup(ended: Time, resolved: &Resolved) -> Result<(), EngineError> {
    let (ended, warmup) = (ended.since(Time::ZERO), resolved.warmup);
    if ended >= warmup {
        return Ok(());
    }
    let found = format!("every flow ended by {ended}, within the warm-up of {warmup}: nothing was measured");
    let complaint = Complaint::new("", found).help("shorten the warm-up: --set warmup=0s");
    Err(EngineError::NothingMeasured(complaint))
}

/// Lists the flows that had ended when measurement began, so that their goodput has no meaning.
fn ended_early(summary: &Summary, resolved: &Resolved) -> Vec<String> {
    let early = summary.flows.iter().zip(&resolved.flows).filter_map(|(flow, plan)| {
        let ended = plan.start.as_secs_f64() + flow.completion_s?;
        (ended <= resolved.warmup.as_secs_f64()).then(|| {
            format!(
                "{}: ended at {ended:.3} s, within the warm-up, so its goodput and RTT are not measured; it took {:.3} s",
                flow.name,
                flow.completion_s.unwrap_or_default()
            )
        })
    });
    early.collect()
}

/// Describes the packets that a queue marked instead of dropping them.
fn marked(link: &LinkReport) -> Option<String> {
    let (marks, packets) = (link.marks, link.arrivals);
    let share = 100.0 * marks as f64 / (packets as f64).max(1.0);
    (marks > 0)
        .then(|| format!("the queue marked {marks} of {packets} packets in place of a drop ({share:.1} %)"))
}

/// Describes the flows whose control answers the share of marks, and which had no marked packet.
fn unmarked(summary: &Summary, resolved: &Resolved) -> Option<String> {
    let flows = summary.flows.iter().zip(&resolved.flows);
    let alone = flows
        .filter(|(summary, flow)| summary.marks == Some(0) && cc::registry::wants_marks(&flow.control.name));
    let names: Vec<&str> = alone.map(|(_, flow)| flow.name.as_str()).take(MOST_NAMES + 1).collect();
    let (listed, more) = (names.iter().take(MOST_NAMES), names.len() > MOST_NAMES);
    let listed = listed.copied().collect::<Vec<_>>().join(", ") + if more { " and others" } else { "" };
    (!names.is_empty()).then(|| {
        format!("{listed}: no packet was marked, so dctcp and prague behaved as reno; drop-tail marks with mark_above")
    })
}

/// The most flows that a remark names.
const MOST_NAMES: usize = 5;
