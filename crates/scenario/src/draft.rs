//! A scenario under construction: [`ScenarioDraft`], with [`LinkDraft`] and [`FlowDraft`].
//!
//! A draft takes each value as it is, a text or a typed one, and never fails. [`ScenarioDraft::build`] reports all
//! wrong and missing values at once, with the same checks as for a file. A value without a method of its own is set by
//! its key.
//!
//! The structs of [`spec`](crate::spec) can be built in code, too: they are plain data with a `Default`. They hold
//! typed values only, and have no `host`, because that is a set of defaults and not a value.

#![expect(clippy::needless_pass_by_value, reason = "a call is shorter without an &")]

use crate::document::Document;
use crate::fault::Complaints;
use crate::lines::{Lines, Written};
use crate::spec::{Flow, Link, Scenario};
use crate::tables::draft::{FlowDraft, LinkDraft};
use units::Complaint;

/// A scenario under construction.
#[derive(Clone, Debug, Default)]
#[must_use = "a draft is not a scenario before `build`"]
pub struct ScenarioDraft {
    top: Lines,
    links: Vec<Lines>,
    flows: Vec<Lines>,
    traffic: Vec<Lines>,
}

impl Scenario {
    /// Begins a scenario of one link: `Scenario::link("20Mbit/s", "10ms")`.
    ///
    /// ```
    /// use tightlink_scenario::{Flow, Scenario};
    /// let scenario = Scenario::link("20Mbit/s", "10ms")
    ///     .limit("0.5 bdp")
    ///     .flow(Flow::cubic().rtt("40ms"))
    ///     .duration("30s")
    ///     .build()?;
    /// assert_eq!(scenario.flows[0].control, "cubic");
    ///
    /// let path = Scenario::link("20Mbits", "10ms").limit("0.5 bdp").flow(Flow::reno());
    /// let error = path.build().unwrap_err();
    /// assert_eq!(error.as_slice()[0].place, "link.rate");
    /// # Ok::<(), tightlink_scenario::Complaints>(())
    /// ```
    pub fn link(rate: impl Written, delay: impl Written) -> ScenarioDraft {
        ScenarioDraft::default().link(Link::new(rate, delay))
    }
}

impl Link {
    /// Begins a link of `rate` and `delay`.
    #[expect(clippy::new_ret_no_self, reason = "a link without its queue is not a link")]
    pub fn new(rate: impl Written, delay: impl Written) -> LinkDraft {
        LinkDraft::default().set("rate", rate).set("delay", delay)
    }
}

impl Flow {
    /// Begins a flow with a congestion control.
    #[expect(clippy::new_ret_no_self, reason = "a flow gets its defaults with its host")]
    pub fn new(control: impl Written) -> FlowDraft {
        FlowDraft::default().set("control", control)
    }

    /// Begins a flow with `control = "reno"`.
    pub fn reno() -> FlowDraft {
        Self::new("reno")
    }

    /// Begins a flow with `control = "cubic"`.
    pub fn cubic() -> FlowDraft {
        Self::new("cubic")
    }

    /// Begins a flow with `control = "bbr"`.
    pub fn bbr() -> FlowDraft {
        Self::new("bbr")
    }
}

impl ScenarioDraft {
    /// Sets the title, which by default is made of the first link's rate and delay.
    pub fn title(self, title: impl Written) -> Self {
        self.set("title", title)
    }

    /// Sets the time at which the run stops.
    pub fn duration(self, duration: impl Written) -> Self {
        self.set("duration", duration)
    }

    /// Sets the time at the start of the run that metrics leave out.
    pub fn warmup(self, warmup: impl Written) -> Self {
        self.set("warmup", warmup)
    }

    /// Sets the seed of every random stream.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", seed)
    }

    /// Adds a link behind the others.
    pub fn link(mut self, link: LinkDraft) -> Self {
        self.links.push(link.0);
        self
    }

    /// Sets the room in the last link's queue: `"250 packets"`, `"512kB"`, `"40ms"`, `"0.5 bdp"`.
    pub fn limit(self, limit: impl Written) -> Self {
        self.of_link("queue.limit", limit)
    }

    /// Sets the policy of the last link's queue.
    pub fn queue(self, kind: impl Written) -> Self {
        self.of_link("queue.kind", kind)
    }

    /// Sets any key of the last link, such as `loss` or `queue.target`.
    pub fn of_link(mut self, key: &str, value: impl Written) -> Self {
        let link = self.links.pop().unwrap_or_default();
        self.link(LinkDraft(link).set(key, value))
    }

    /// Adds a flow, or several equal ones.
    pub fn flow(mut self, flow: FlowDraft) -> Self {
        self.flows.push(flow.0);
        self
    }

    /// Adds traffic of a kind, such as "cbr", with its keys and values.
    pub fn traffic(mut self, kind: &str, settings: &[(&str, &dyn Written)]) -> Self {
        let mut lines = Lines::default();
        lines.set("kind", kind);
        for (key, value) in settings {
            lines.set(key, *value);
        }
        self.traffic.push(lines);
        self
    }

    /// Sets any key outside links, flows and traffic, such as `record.every`.
    pub fn set(mut self, key: &str, value: impl Written) -> Self {
        self.top.set(key, &value);
        self
    }

    /// Reads and checks the values that were set.
    ///
    /// # Errors
    /// Returns all complaints, each at its key.
    pub fn build(self) -> Result<Scenario, Complaints> {
        Ok(self.document()?.scenario()?)
    }

    /// Renders the values that were set to a document, with the `host` of its flows. The values are checked when the
    /// document is read.
    ///
    /// # Errors
    /// If a key is not a key path, or one is within the value of another.
    pub fn document(mut self) -> Result<Document, Complaints> {
        if self.top.get("title").is_none() {
            let link = self.links.first();
            let parts = ["rate", "delay"].map(|key| link.and_then(|link| link.get(key)).unwrap_or_default());
            self.top.set("title", &parts.join(", ").replace('"', ""));
        }
        let (mut text, mut complaints) = (String::new(), Vec::<Complaint>::new());
        self.top.spelled("", &mut complaints).add_to(&mut text, "");
        for (section, tables) in [("link", &self.links), ("flow", &self.flows), ("traffic", &self.traffic)] {
            for (at, lines) in tables.iter().enumerate() {
                let header =
                    if section == "link" && tables.len() == 1 { "[link]" } else { &format!("[[{section}]]") };
                lines.spelled(&format!("{section}[{at}]."), &mut complaints).add_to(&mut text, header);
            }
        }
        if !complaints.is_empty() {
            return Err(complaints.into());
        }
        Ok(Document::parse("scenario.toml", &text)?)
    }
}
