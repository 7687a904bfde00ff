//! Resolution: turns a scenario as written into numbers, with relative limits, distributions and names resolved.

mod assist;
mod cell;
mod changes;
mod complaint;
mod files;
mod flow;
mod kept;
mod links;
mod names;
mod place;
mod queue;
mod room;
mod series;
mod shaper;
mod spread;
mod trace;
mod traffic;
mod ways;

pub use files::{Files, Folder, InMemory, Opened};
pub use flow::ResolvedFlow;
pub use links::ResolvedLink;
pub use names::{KERNEL_CONTROLS, is_policy, kernel_controls, load_module, quic_controls};
pub(crate) use queue::packet_bits;
pub use room::{Room, RoomScale};
pub use traffic::ResolvedSessions;

use crate::run::captured::CaptureFile;
use link::queue::PolicyConfig;
use link::{Limit, LinkConfig};
use scenario::{Column, Complaints, Document, Faults, Scenario, Stack, Theory};
use sim::{CellPlan, TrafficPlan};
use traffic::Unresponsive;
use units::{Bytes, Complaint, Rate, Span};
use ways::Directions;

/// A scenario in numbers, ready for any engine.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The title of a report.
    pub title: String,
    /// Id of the published result.
    pub source: Option<String>,
    /// Hash of the scenario, 16 hex digits.
    pub hash: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// The tight link.
    pub link: LinkConfig,
    /// The tight link's queue policy.
    pub queue: PolicyConfig,
    /// The limit of the tight link's queue.
    pub limit: Limit,
    /// Every direction of every link that has a queue.
    pub links: Vec<ResolvedLink>,
    /// The index of the tight link in `links`.
    pub tight: usize,
    /// A wireless cell. `links` then has one entry, the air with the access point's queue in front of it, which all
    /// flows cross. Its rate is that of the cell's frames.
    pub cell: Option<CellPlan>,
    /// Stations of the cell that the scenario calls saturated but that are not, because a flow makes them send in the
    /// same category.
    pub unsaturated: Vec<String>,
    /// The transfers.
    pub flows: Vec<ResolvedFlow>,
    /// Unresponsive cross traffic.
    pub traffic: Vec<TrafficPlan>,
    /// Remarks on the files of traces, which every engine's record repeats.
    pub notes: Vec<String>,
    /// Populations of users that come and go.
    pub sessions: Vec<ResolvedSessions>,
    /// The time at which the run stops; `None`: it stops when every sized flow has ended.
    pub end: Option<Span>,
    /// The time before which metrics ignore everything.
    pub warmup: Span,
    /// Sampling interval of the series.
    pub every: Span,
    /// True if `every` is longer than the default, so that the series fit into memory.
    pub thinned: bool,
    /// Columns to keep.
    pub columns: Vec<Column>,
    /// The flows that have series of their own, ascending; `None`: all of them.
    pub sample: Option<Vec<usize>>,
    /// The flows whose acknowledgements are recorded one by one, ascending; `None`: those of none.
    pub acks: Option<Vec<usize>>,
    /// The capture of the packets to write, which only the simulator does. No scenario has it.
    pub capture: Option<CaptureFile>,
    /// Length of the intervals over which fairness and convergence are measured; `None`: they are not measured.
    pub fairness: Option<Span>,
    /// The theory by which the model answers.
    pub theory: Theory,
    /// The live engine's TCP profile.
    pub stack: Stack,
}

impl Resolved {
    /// Returns the transfers and the connections of users.
    pub fn connections(&self) -> impl Iterator<Item = &ResolvedFlow> {
        self.flows.iter().chain(self.sessions.iter().flat_map(|sessions| &sessions.connections))
    }

    /// Returns the transfers over the tight link that always have data to send.
    pub fn greedy(&self) -> impl Iterator<Item = &ResolvedFlow> {
        self.flows.iter().filter(|flow| flow.size.is_none() && flow.route.contains(&self.tight))
    }

    /// Returns the mean rate of the unresponsive cross traffic over the tight link.
    #[must_use]
    pub fn unresponsive(&self) -> Rate {
        links::unresponsive(self.tight, &self.traffic)
    }

    /// Returns true if a connection uses a controller or sizer that the calling program added. The hash of the scenario
    /// does not cover its code.
    #[must_use]
    pub fn has_added_parts(&self) -> bool {
        let sizer = |flow: &ResolvedFlow| {
            flow.sizer.as_ref().is_some_and(|sizer| sizing::registry::is_added(&sizer.name))
        };
        self.connections().any(|flow| cc::registry::is_added(&flow.control.name) || sizer(flow))
    }

    /// Returns the number of things to hold in memory: transfers and users, links, traffic, and every link on each of
    /// their routes.
    #[must_use]
    pub fn parts(&self) -> usize {
        let crossings = |flow: &ResolvedFlow| 1 + flow.route.len() + flow.return_route.len();
        let traffic = self.traffic.iter().map(|traffic| 1 + traffic.route.len());
        self.links.len() + self.connections().map(crossings).sum::<usize>() + traffic.sum::<usize>()
    }

    /// Returns true if there is more than one queue.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.links.len() > 1
    }

    /// Returns true if the rate, delay or losses of a link change over time, or if it has outages.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.links.iter().any(|link| link.config.changes != link::changes::Changes::default())
    }

    /// Returns the available bandwidth before the transfers start, A = C - unresponsive traffic.
    #[must_use]
    pub fn available(&self) -> Rate {
        self.link.rate.saturating_sub(self.unresponsive())
    }

    /// Returns the size of a full segment on the wire, the largest of any flow.
    #[must_use]
    pub fn segment(&self) -> Bytes {
        self.connections().map(ResolvedFlow::segment).max().unwrap_or(Bytes::new(1500))
    }

    /// Returns the room of the tight link's queue in bytes.
    #[must_use]
    pub fn limit_bytes(&self) -> Bytes {
        self.links[self.tight].room_scale().bytes(self.limit)
    }
}

/// Reads, checks and resolves the text of a scenario, which may name files relative to its own folder.
///
/// # Errors
/// Everything wrong with it, each with its line and column: what [`Document::scenario`] finds, then what [`resolve`]
/// finds.
pub fn resolve_document(document: &Document) -> Result<Resolved, Faults> {
    let resolved = resolve_checked(&document.scenario()?, &Folder::of_file(document.name()));
    resolved.map_err(|complaints| document.faults(complaints.into()))
}

/// Resolves a scenario and reads the files that it names from `files`.
///
/// # Errors
/// Returns everything wrong with it, each with the path of its key, such as `flow[2].control`. First come the faults
/// that [`Scenario::checked`] finds, then names that no registry has, unreadable files, and parts that no engine can
/// run.
pub fn resolve(scenario: &Scenario, files: &dyn Files) -> Result<Resolved, Complaints> {
    Ok(resolve_checked(&scenario.checked()?, files)?)
}

fn resolve_checked(scenario: &Scenario, files: &dyn Files) -> Result<Resolved, Vec<Complaint>> {
    names::check(scenario)?;
    let changes::LinkNumbers { links: numbers, contents: of_links, notes: of_rates } =
        changes::read(scenario, files)?;
    let directions = Directions::new(&scenario.links, &numbers);
    let hosts = shaper::Hosts::new(scenario)?;
    let flows = flow::flows(scenario, &directions, &hosts);
    let Unresponsive { traffic, mut contents, mut notes } =
        traffic::traffic(scenario, files, &directions, &hosts)?;
    contents.extend(of_links);
    notes.extend(of_rates);
    let sessions = traffic::sessions(scenario, &directions, &hosts);
    let users = sessions.iter().flat_map(|sessions| &sessions.connections);
    let connections: Vec<&ResolvedFlow> = flows.iter().chain(users).collect();
    let links = match &scenario.wlan {
        Some(wlan) => vec![cell::link(wlan, &connections)],
        None => links::resolve(&directions, &connections, &traffic),
    };
    links::check(&links, &connections)?;
    let cell = match &scenario.wlan {
        Some(wlan) => Some(cell::plan(scenario, wlan, &links[0], &connections)?),
        None => None,
    };
    let tight = links::tight(&links, &connections, &traffic);
    let sample = series::sample(scenario, &flows)?;
    let acks = series::acks(scenario, sample.as_deref(), flows.len());
    let every = series::every(scenario, sample.as_ref().map_or(flows.len(), Vec::len))?;
    Ok(Resolved {
        hash: scenario.hash_with(&contents),
        seed: scenario.seed,
        link: links[tight].config.clone(),
        queue: links[tight].queue.clone(),
        limit: links[tight].limit,
        links,
        tight,
        unsaturated: cell.as_ref().map_or_else(Vec::new, |plan| cell::unsaturated(scenario, plan)),
        cell,
        flows,
        traffic,
        notes,
        sessions,
        end: scenario.duration,
        warmup: scenario.warmup,
        every,
        thinned: every > scenario.record.every,
        columns: scenario.record.columns.clone(),
        sample,
        acks,
        capture: None,
        fairness: scenario.record.fairness,
        theory: scenario.model.theory,
        stack: scenario.live.stack,
        title: scenario.title.clone(),
        source: scenario.source.clone(),
    })
}
