//! From a scenario as written to numbers: relative limits, distributions, names.

mod assist;
mod cell;
mod files;
mod links;
mod queue;
mod room;
mod series;
mod spread;
mod trace;
mod traffic;

pub use files::{Files, Folder, InMemory, Opened};
pub use links::ResolvedLink;
pub(crate) use queue::packet_bits;
pub use room::{Room, RoomScale};
pub use traffic::ResolvedSessions;

use cc::Start;
use cc::registry::Tuning;
use link::queue::PolicyConfig;
use link::{Limit, LinkConfig};
use links::Directions;
use scenario::spec;
use scenario::{Column, Complaints, Document, Faults, Scenario, SocketBuffer, Stack, Theory, did_you_mean};
use sim::{CellPlan, ControlPlan, FlowPlan, SizerPlan, TrafficPlan};
use spread::values;
use std::ops::Deref;
use traffic::Unresponsive;
use transport::{BbrVariant, CubicVariant, WindowVariant};
use units::random::Stream;
use units::{Bytes, Complaint, Fraction, Rate, Span, Time};

/// Congestion controls of the kernels the live engine meets.
pub const KERNEL_CONTROLS: &[&str] = &["reno", "cubic", "bbr"];

/// A scenario in numbers, ready for any engine.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What a report is headed with.
    pub title: String,
    /// Id of the published result.
    pub source: Option<String>,
    /// Hash of the scenario, 16 hex digits.
    pub hash: String,
    /// Seeds every random stream.
    pub seed: u64,
    /// The tight link.
    pub link: LinkConfig,
    /// Its queue policy.
    pub queue: PolicyConfig,
    /// Its room.
    pub limit: Limit,
    /// Every direction of every link that has a queue.
    pub links: Vec<ResolvedLink>,
    /// Which of them is the tight link.
    pub tight: usize,
    /// A wireless cell. `links` then has one entry, the air with the access point's queue in front of it, which all
    /// flows cross. Its rate is that of the cell's frames.
    pub cell: Option<CellPlan>,
    /// Stations of the cell that are not saturated as the scenario has it, since a flow makes them send in the same
    /// category.
    pub unsaturated: Vec<String>,
    /// The transfers.
    pub flows: Vec<ResolvedFlow>,
    /// Unresponsive cross traffic.
    pub traffic: Vec<TrafficPlan>,
    /// Remarks on the files of traces, which every engine's record repeats.
    pub notes: Vec<String>,
    /// Populations of users that come and go.
    pub sessions: Vec<ResolvedSessions>,
    /// When the run stops; `None`: when every sized flow has ended.
    pub end: Option<Span>,
    /// Metrics leave out what happens before this.
    pub warmup: Span,
    /// Sampling interval of the series.
    pub every: Span,
    /// Whether that is more than the default, to keep the series within memory.
    pub thinned: bool,
    /// Columns to keep.
    pub columns: Vec<Column>,
    /// The flows that have series of their own, ascending; `None`: all of them.
    pub sample: Option<Vec<usize>>,
    /// Length of the intervals over which fairness and convergence are measured; `None`: they are not.
    pub fairness: Option<Span>,
    /// Which theory the model answers by.
    pub theory: Theory,
    /// The live engine's TCP profile.
    pub stack: Stack,
}

/// One transfer in numbers: the plan of its simulation, and where the scenario says so.
#[derive(Clone, Debug)]
pub struct ResolvedFlow {
    /// The transfer itself. In a cell its route is the air, which all flows share.
    pub plan: FlowPlan,
    /// The table of the scenario it is from: `flow`, or `traffic` for a user's connections.
    pub section: &'static str,
    /// The number of that table among those of its name.
    pub entry: usize,
    /// True if the kernel sizes the receive window unasked: the plan's sizer stands for the kernel's rules.
    pub autotuned: bool,
}

impl Deref for ResolvedFlow {
    type Target = FlowPlan;

    fn deref(&self) -> &FlowPlan {
        &self.plan
    }
}

impl ResolvedFlow {
    /// Returns the path of `key` in the flow's table of the scenario: `flow[0].control`.
    #[must_use]
    pub fn key(&self, key: &str) -> String {
        format!("{}[{}].{key}", self.section, self.entry)
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

    /// Returns the largest receive window, or the largest that the sizer may make of it; `None`: never the limit.
    #[must_use]
    pub fn receive_window(&self) -> Option<Bytes> {
        Some(self.socket_buffer).filter(|window| *window < Bytes::MAX)
    }

    /// Returns the bytes that the buffers of both ends let through in a round trip, as a theory takes it: the lesser
    /// of the receive window and [`SendBuffer::per_round_trip`](transport::SendBuffer::per_round_trip); `None`: never
    /// the limit.
    #[must_use]
    pub fn per_round_trip(&self) -> Option<Bytes> {
        let sent = self.transport.host.send_buffer.per_round_trip();
        self.receive_window().into_iter().chain(sent).min()
    }

    /// Returns the sizer that the scenario asks for; `None` also if the kernel sizes the window unasked.
    #[must_use]
    pub fn asked_sizer(&self) -> Option<&SizerPlan> {
        self.sizer.as_ref().filter(|_| !self.autotuned)
    }
}

impl Resolved {
    /// The transfers, and the connections of users.
    pub fn connections(&self) -> impl Iterator<Item = &ResolvedFlow> {
        self.flows.iter().chain(self.sessions.iter().flat_map(|sessions| &sessions.connections))
    }

    /// The transfers over the tight link that always have data to send.
    pub fn greedy(&self) -> impl Iterator<Item = &ResolvedFlow> {
        self.flows.iter().filter(|flow| flow.size.is_none() && flow.route.contains(&self.tight))
    }

    /// Mean rate of the unresponsive cross traffic over the tight link.
    #[must_use]
    pub fn unresponsive(&self) -> Rate {
        links::unresponsive(self.tight, &self.traffic)
    }

    /// Returns true if a controller or a sizer is one that the program has added: the hash of the scenario does not
    /// stand for their code.
    #[must_use]
    pub fn has_added_parts(&self) -> bool {
        let sizer = |flow: &ResolvedFlow| {
            flow.sizer.as_ref().is_some_and(|sizer| sizing::registry::is_added(&sizer.name))
        };
        self.connections().any(|flow| cc::registry::is_added(&flow.control.name) || sizer(flow))
    }

    /// How much there is to hold in memory: transfers and users, links, traffic, and each link that one of them crosses.
    #[must_use]
    pub fn parts(&self) -> usize {
        let crossings = |flow: &ResolvedFlow| 1 + flow.route.len() + flow.return_route.len();
        let traffic = self.traffic.iter().map(|traffic| 1 + traffic.route.len());
        self.links.len() + self.connections().map(crossings).sum::<usize>() + traffic.sum::<usize>()
    }

    /// Whether there is more than one queue.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.links.len() > 1
    }

    /// Available bandwidth before the transfers start, A = C - unresponsive traffic.
    #[must_use]
    pub fn available(&self) -> Rate {
        self.link.rate.saturating_sub(self.unresponsive())
    }

    /// A full segment on the wire, the largest of any flow.
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

/// Reads, checks and resolves the text of a scenario, which names files relative to its own folder.
///
/// # Errors
/// Everything wrong with it, each with its line and column: what [`Document::scenario`] finds, then what [`resolve`]
/// finds.
pub fn resolve_document(document: &Document) -> Result<Resolved, Faults> {
    let resolved = resolve_checked(&document.scenario()?, &Folder::of_file(document.name()));
    resolved.map_err(|complaints| document.faults(complaints.into()))
}

/// Resolves a scenario. The files that it names are read from `files`.
///
/// # Errors
/// Everything wrong with it, each with the path of its key, such as `flow[2].control`: what [`Scenario::checked`]
/// finds, then names that no registry has, files that cannot be read, and what no engine can run.
pub fn resolve(scenario: &Scenario, files: &dyn Files) -> Result<Resolved, Complaints> {
    Ok(resolve_checked(&scenario.checked()?, files)?)
}

fn resolve_checked(scenario: &Scenario, files: &dyn Files) -> Result<Resolved, Vec<Complaint>> {
    check_names(scenario)?;
    let directions = Directions::new(&scenario.links);
    let flows = flows(scenario, &directions);
    let Unresponsive { traffic, contents, notes } = traffic::traffic(scenario, files, &directions)?;
    let sessions = traffic::sessions(scenario, &directions);
    let users = sessions.iter().flat_map(|sessions| &sessions.connections);
    let connections: Vec<&ResolvedFlow> = flows.iter().chain(users).collect();
    let links = match &scenario.wlan {
        Some(wlan) => vec![cell::link(wlan, &connections)],
        None => directions.resolve(&connections, &traffic),
    };
    links::check(&links, &connections)?;
    let cell = match &scenario.wlan {
        Some(wlan) => Some(cell::plan(scenario, wlan, &links[0], &connections)?),
        None => None,
    };
    let tight = links::tight(&links, &connections, &traffic);
    let sample = series::sample(scenario, &flows);
    let every = series::every(scenario, sample.as_ref().map_or(flows.len(), Vec::len))?;
    Ok(Resolved {
        hash: scenario.hash_with(&contents),
        seed: scenario.seed,
        link: links[tight].config,
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
        fairness: scenario.record.fairness,
        theory: scenario.model.theory,
        stack: scenario.live.stack,
        title: scenario.title.clone(),
        source: scenario.source.clone(),
    })
}

/// Whether a queue policy is called `name`.
///
/// # Errors
/// The names of those there are.
pub fn is_policy(name: &str) -> Result<(), Complaint> {
    let known: Vec<&str> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let help = did_you_mean(name, known.clone());
    let complaint = Complaint::new("", format!("unknown queue \"{name}\"")).accepted(known.join(", "));
    Err(Complaint { help, ..complaint })
}

/// Names that must be in a registry.
fn check_names(scenario: &Scenario) -> Result<(), Vec<Complaint>> {
    let mut faults = Vec::new();
    let flows = scenario.flows.iter().enumerate().map(|(index, flow)| (format!("flow[{index}]"), flow));
    let users =
        scenario.sessions.iter().map(|sessions| (format!("traffic[{}]", sessions.entry), &sessions.flow));
    for (table, flow) in flows.chain(users) {
        let known: Vec<&str> = cc::registry::controls().iter().map(|control| control.name).collect();
        if !known.contains(&flow.control.as_str()) && !KERNEL_CONTROLS.contains(&flow.control.as_str()) {
            let accepted =
                format!("{} (simulator); {} (kernel)", known.join(", "), KERNEL_CONTROLS.join(", "));
            let found = format!("unknown congestion control \"{}\"", flow.control);
            let help = did_you_mean(&flow.control, known.iter().chain(KERNEL_CONTROLS).copied());
            faults.push(complaint(format!("{table}.control"), found, accepted, help));
        }
        if flow.control == "fixed" && flow.socket_buffer == SocketBuffer::Max {
            let help = "write socket_buffer = \"400kB\"".to_owned();
            let found = "control \"fixed\" with socket_buffer \"max\": nothing limits this flow";
            faults.push(complaint(format!("{table}.socket_buffer"), found, "a size", Some(help)));
        }
        if let SocketBuffer::Sized { sizer, regret: Some(_), .. } = &flow.socket_buffer
            && sizer != "sobas"
        {
            let found = format!("a bound on what the sizer \"{sizer}\" may give up");
            let key = format!("{table}.socket_buffer.regret");
            faults.push(complaint(key, found, "regret with the sizer \"sobas\"", None));
        }
        if let SocketBuffer::Sized { sizer, .. } = &flow.socket_buffer
            && !sizing::registry::has(sizer)
        {
            let known: Vec<&str> = sizing::registry::sizers().iter().map(|sizer| sizer.name).collect();
            let found = format!("unknown sizer \"{sizer}\"");
            let key = format!("{table}.socket_buffer.sizer");
            faults.push(complaint(key, found, known.join(", "), None));
        }
        if !cc::registry::has_slow_start(&flow.slow_start) {
            let known: Vec<&str> =
                cc::registry::SLOW_STARTS.iter().map(|slow_start| slow_start.name).collect();
            let found = format!("unknown slow start \"{}\"", flow.slow_start);
            let (key, help) = (format!("{table}.slow_start"), did_you_mean(&flow.slow_start, known.clone()));
            faults.push(complaint(key, found, known.join(", "), help));
        }
    }
    assist::check(scenario, &mut faults);
    let known: Vec<&str> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
    let cell = scenario.wlan.iter().flat_map(|wlan| {
        let wire = wlan.backhaul.as_ref().map(|wire| ("wlan.backhaul".to_owned(), &wire.queue));
        std::iter::once(("wlan".to_owned(), &wlan.queue.queue)).chain(wire)
    });
    let links = scenario.links.iter().enumerate().flat_map(|(index, link)| {
        let table = if scenario.links.len() > 1 { format!("link[{index}]") } else { "link".into() };
        let back = link.reverse.as_ref().map(|back| (format!("{table}.reverse"), &back.queue));
        std::iter::once((table, &link.queue)).chain(back)
    });
    for (table, queue) in links.chain(cell) {
        if !known.contains(&queue.kind.as_str()) {
            let found = format!("unknown queue \"{}\"", queue.kind);
            let help = did_you_mean(&queue.kind, known.clone());
            faults.push(complaint(format!("{table}.queue.kind"), found, known.join(", "), help));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Makes a complaint of its parts, of which some come from tables.
fn complaint(
    key: impl Into<String>,
    found: impl Into<String>,
    accepted: impl Into<String>,
    help: Option<String>,
) -> Complaint {
    Complaint { help, ..Complaint::new(key, found).accepted(accepted) }
}

/// Every transfer of the scenario, distributions drawn.
fn flows(scenario: &Scenario, directions: &Directions<'_>) -> Vec<ResolvedFlow> {
    scenario
        .flows
        .iter()
        .enumerate()
        .flat_map(|(entry, flow)| transfers(scenario, flow, "flow", entry, directions))
        .collect()
}

/// The transfers of one table, distributions drawn.
fn transfers(
    scenario: &Scenario,
    flow: &spec::Flow,
    section: &'static str,
    entry: usize,
    directions: &Directions<'_>,
) -> Vec<ResolvedFlow> {
    let wlan = scenario.wlan.as_ref();
    let least = wlan.map_or_else(|| directions.round(&flow.path), |wlan| cell::delay(wlan) * 2);
    // In a cell all flows share the air, which is the only link.
    let route = wlan.map_or_else(|| directions.there(&flow.path, flow.direction), |_| vec![0]);
    let return_route = directions.back(&flow.path, flow.direction);
    let stream = |what: &str| Stream::new(scenario.seed, &format!("{} {what}", flow.name));
    let rtts = flow.rtt.as_ref().map(|rtt| values(rtt, flow.count, stream("rtt")));
    let starts = values(&flow.start, flow.count, stream("start"));
    let (window, sizer) = match &flow.socket_buffer {
        SocketBuffer::Max => (Bytes::MAX, None),
        // What the kernel does unasked is what the sizer of its rules does.
        SocketBuffer::Autotuned => (scenario::AUTOTUNED, Some(("drs", None))),
        SocketBuffer::Fixed(bytes) => (*bytes, None),
        SocketBuffer::Sized { sizer, max, regret } => (*max, Some((sizer.as_str(), *regret))),
    };
    // Both ends are ours, so the sender can be paced.
    let sizer = sizer.map(|(name, regret)| SizerPlan {
        name: name.into(),
        can_pace: true,
        regret: regret.map(Fraction::get),
    });
    let (payload, host) = (flow.payload(), &flow.transport.host);
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
            offload: host.tso,
            linux_bbr: host.bbr_variant == BbrVariant::Linux,
            linux_cubic: host.cubic_variant == CubicVariant::Linux,
            linux_window: host.window_variant == WindowVariant::Linux,
        },
    };
    let transfer = |(index, start): (usize, Span)| {
        let rtt = rtts.as_ref().map_or(least, |rtts| rtts[index]);
        let plan = FlowPlan {
            name: if flow.count == 1 { flow.name.clone() } else { format!("{}-{}", flow.name, index + 1) },
            control: control.clone(),
            payload,
            header: spec::Flow::header(flow.transport.timestamps),
            // A drawn RTT below what the links take is theirs.
            base_rtt: rtt.max(least),
            route: route.clone(),
            return_route: return_route.clone(),
            place: wlan.and_then(|wlan| cell::place(wlan, flow, index)),
            size: flow.size,
            start: Time::ZERO + start,
            stop: flow.stop.map(|stop| Time::ZERO + stop),
            delayed_ack: flow.delayed_ack,
            delayed_ack_timeout: flow.delayed_ack_timeout,
            socket_buffer: window,
            sizer: sizer.clone(),
            send_jitter: flow.send_jitter,
            handshake: flow.handshake,
            transport: flow.transport,
            access_rate: flow.access_rate,
        };
        ResolvedFlow { plan, section, entry, autotuned: flow.socket_buffer == SocketBuffer::Autotuned }
    };
    (0..).zip(starts).map(transfer).collect()
}
