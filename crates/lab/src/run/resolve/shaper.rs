//! A link's shaper in numbers, and the hosts and classes of packets, which its queue may look at.

use super::complaint::complaint;
use super::room::RoomScale;
use super::{Resolved, queue};
use link::queue::Tins;
use link::{Cells, Framing, LinkConfig, ShaperConfig};
use scenario::Scenario;
use scenario::spec::{self, Marking, ShaperRate};
use sim::Marking as Numbers;
use std::collections::HashMap;
use units::{Bytes, Complaint, Rate};

/// Resolves the shaper of a link with this `scale`.
pub(super) fn shaper(shaper: &spec::Shaper, scale: &RoomScale) -> ShaperConfig {
    let rate = match shaper.rate {
        ShaperRate::Rate(rate) => rate,
        ShaperRate::Share(share) => scale.rate.scale(share.get()).max(Rate::from_bps(1)),
    };
    let cells = match shaper.framing {
        spec::Framing::None => Cells::None,
        spec::Framing::Atm => Cells::Atm,
        spec::Framing::Ptm => Cells::Ptm,
    };
    let scale = RoomScale { rate, ..*scale };
    ShaperConfig {
        rate,
        framing: Framing { overhead: shaper.overhead, least: shaper.mpu, cells },
        queue: queue::policy(&shaper.queue, &scale),
        limit: scale.limit(shaper.queue.limit),
    }
}

/// Checks the queue of the shaper of a link, whose key is `table`, for packets of the length `segment`.
///
/// # Errors
/// If it has no room for a packet, or settings that its policy does not accept.
pub(super) fn check(table: &str, link: &LinkConfig, segment: Bytes) -> Result<(), Vec<Complaint>> {
    let Some(shaper) = &link.shaper else { return Ok(()) };
    let table = format!("{table}.shaper");
    queue::holds(&table, shaper.limit, segment)?;
    queue::check(&table, &shaper.queue, shaper.limit, shaper.rate)
}

/// The numbers of the hosts that a scenario names.
pub(super) struct Hosts<'a>(HashMap<&'a str, u8>);

impl<'a> Hosts<'a> {
    /// Numbers the hosts in the order of the file.
    ///
    /// # Errors
    /// If there are more than a packet has numbers for.
    pub(super) fn new(scenario: &'a Scenario) -> Result<Self, Vec<Complaint>> {
        let flows = scenario.flows.iter().map(|flow| &flow.marking);
        let users = scenario.sessions.iter().map(|sessions| &sessions.flow.marking);
        let traffic = scenario.traffic.iter().map(|traffic| &traffic.marking);
        let replays = scenario.replays.iter().map(|replay| &replay.marking);
        let mut hosts = HashMap::new();
        for marking in flows.chain(users).chain(traffic).chain(replays) {
            for name in marking.sending_host.iter().chain(&marking.receiving_host) {
                let next = hosts.len() + 1;
                if !hosts.contains_key(name.as_str()) {
                    let Ok(number) = u8::try_from(next) else {
                        let found = format!("more than {} names of hosts", u8::MAX);
                        let accepted = format!("at most {} names", u8::MAX);
                        let help = "leave the key out where a flow has a host of its own".to_owned();
                        return Err(vec![complaint("flow.sending_host", found, accepted, Some(help))]);
                    };
                    hosts.insert(name.as_str(), number);
                }
            }
        }
        Ok(Self(hosts))
    }

    pub(super) fn numbers(&self, marking: &Marking) -> Numbers {
        let number = |name: &Option<String>| {
            name.as_ref().and_then(|name| self.0.get(name.as_str())).copied().unwrap_or_default()
        };
        Numbers {
            sender: number(&marking.sending_host),
            receiver: number(&marking.receiving_host),
            dscp: marking.dscp as u8,
        }
    }
}

impl Resolved {
    /// Returns remarks on shapers that do not shape, and on hosts and classes without a queue that looks at them, or
    /// the other way around.
    #[must_use]
    pub fn shaper_notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.links.iter().filter_map(|link| self.slack(link)).collect();
        let markings = || {
            let flows = self.connections().map(|flow| flow.marking);
            flows.chain(self.traffic.iter().map(|traffic| traffic.marking))
        };
        let queues = || {
            self.links.iter().flat_map(|link| {
                let shaper = link.config.shaper.iter().map(|shaper| &shaper.queue);
                shaper.chain([&link.queue]).filter(|queue| queue.policy == "cake")
            })
        };
        let marked = markings().any(|marking| marking.dscp > 0);
        let classes = |tins: Option<Tins>| tins.unwrap_or_default() != Tins::BestEffort;
        if !marked && queues().any(|queue| queue.settings.tins.is_some_and(|tins| classes(Some(tins)))) {
            notes.push("tins: no packet has a dscp, so that all of them are in best effort".into());
        }
        if marked && self.cell.is_none() && !queues().any(|queue| classes(queue.settings.tins)) {
            notes.push("dscp: no queue looks at it; \"cake\" does, unless tins = \"besteffort\"".into());
        }
        let hosts = markings().any(|marking| marking.sender > 0 || marking.receiver > 0);
        if hosts && self.cell.is_none() && queues().next().is_none() {
            notes.push("sending_host, receiving_host: no queue looks at hosts; \"cake\" does".into());
        }
        notes
    }

    /// Returns a remark on a shaper that lets a full segment through as fast as the link sends it.
    fn slack(&self, link: &super::ResolvedLink) -> Option<String> {
        let shaper = link.config.shaper.as_ref()?;
        let segment = self.segment();
        let share = segment.bits_f64() / shaper.framing.length(segment).bits_f64().max(1.0);
        let passes = shaper.rate.scale(share);
        (passes >= link.config.rate).then(|| {
            format!(
                "{}.shaper: it lets {passes} through, and the link sends {}, so that packets wait in the link's queue. \
                 A shaper works below the link's rate: rate = \"95%\"",
                link.table, link.config.rate
            )
        })
    }
}
