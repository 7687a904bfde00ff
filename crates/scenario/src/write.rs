//! The text of a scenario: [`Scenario::to_toml`]. Quantities have their units, and defaults are left out.

use crate::lines::{Lines, Written};
use crate::read::default_flow;
use crate::spec::{
    Access, AirtimeLimits, Alt, Backhaul, Categories, Category, CellDirection, CellQueue, CellWay, Direction,
    Ebdp, Flow, Link, Marking, OverTime, Pattern, Queue, Replay, Reverse, Scenario, Sessions, Sizing,
    Station, Traffic, Transport, Wlan,
};
use crate::table::Table;
use crate::tables::ends::Ends;
use crate::values::Host;
use crate::word::Word;
use units::{Rate, Span};

/// The names that flows refer to, in the order of the file.
struct Names<'a> {
    links: Vec<&'a str>,
    stations: Vec<&'a String>,
}

impl Scenario {
    /// Returns the scenario as the text of a file. It leaves out defaults, and the parts that only a file has:
    /// `[sweep]`, `[figure]` and comments.
    ///
    /// Reading the text gives the same scenario. One that was made in code then has the names and paths that it lacked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let (mut text, usual) = (String::new(), Self::default());
        self.changes(&usual).add_to(&mut text, "");
        let names = &Names {
            links: self.links.iter().map(|link| link.name.as_str()).collect(),
            stations: self
                .wlan
                .iter()
                .flat_map(|wlan| &wlan.stations)
                .flat_map(|station| &station.names)
                .collect(),
        };
        for (index, link) in self.links.iter().enumerate() {
            let header = if self.links.len() == 1 { "[link]" } else { "[[link]]" };
            link.lines(index).add_to(&mut text, header);
        }
        if let Some(wlan) = &self.wlan {
            wlan.lines().add_to(&mut text, "[wlan]");
            for lines in stations(&wlan.stations) {
                lines.add_to(&mut text, "[[station]]");
            }
        }
        for flow in &self.flows {
            let mut lines = Lines::default();
            lines.name(&flow.name, if self.flows.len() == 1 { "flow" } else { "" });
            flow.lines(&mut lines, names);
            lines.add_to(&mut text, "[[flow]]");
        }
        for lines in self.traffic_lines(names) {
            lines.add_to(&mut text, "[[traffic]]");
        }
        let tables = [
            ("[model]", self.model.changes(&usual.model)),
            ("[live]", self.live.changes(&usual.live)),
            ("[record]", self.record.changes(&usual.record)),
        ];
        for (header, lines) in tables.iter().filter(|(_, lines)| !lines.is_empty()) {
            lines.add_to(&mut text, header);
        }
        text
    }

    /// Returns all traffic, in the order of the file.
    fn traffic_lines(&self, names: &Names<'_>) -> Vec<Lines> {
        let replays = self.replays.iter().map(|replay| (replay.entry, replay.lines(names)));
        let sessions = self.sessions.iter().map(|sessions| (sessions.entry, sessions.lines(names)));
        let mut placed: Vec<(usize, Lines)> = replays.chain(sessions).collect();
        placed.sort_by_key(|(entry, _)| *entry);
        let mut all: Vec<Lines> = self.traffic.iter().map(|traffic| traffic.lines(names)).collect();
        for (entry, lines) in placed {
            all.insert(entry.min(all.len()), lines);
        }
        all
    }
}

impl Link {
    fn lines(&self, index: usize) -> Lines {
        let mut lines = Lines::default();
        lines.name(&self.name, &format!("link-{}", index + 1));
        self.write(&Self::default(), &mut lines);
        if let Some(reverse) = &self.reverse {
            lines.table("reverse", &reverse.lines(&self.rate));
        }
        lines
    }
}

impl Reverse {
    fn lines(&self, rate: &OverTime<Rate>) -> Lines {
        let mut lines = Lines::default();
        lines.differs("rate", &self.rate, rate);
        self.write(&Self::default(), &mut lines);
        lines
    }
}

impl Queue {
    fn lines(&self) -> Lines {
        let (mut lines, usual) = (Lines::default(), Self::default());
        lines.differs("kind", &self.kind, &usual.kind);
        lines.set("limit", &self.limit);
        self.settings.write(&usual.settings, &mut lines);
        lines
    }
}

impl Written for Queue {
    fn written(&self) -> String {
        self.lines().inline()
    }
}

impl Flow {
    /// Adds the host, and the keys that differ from its defaults. Of the two hosts it chooses the one that needs fewer
    /// keys.
    fn lines(&self, lines: &mut Lines, names: &Names<'_>) {
        let on = |host: Host| {
            let mut lines = Lines::default();
            lines.differs("host", &host, &Host::default());
            lines.differs("control", &self.control, &Self::default().control);
            self.lines_on(&default_flow(host, &self.control, self.transport.sack), &mut lines);
            lines
        };
        let (rfc, linux) = (on(Host::Rfc), on(Host::Linux));
        lines.extend(if linux.len() < rfc.len() { linux } else { rfc });
        match &self.cell {
            Some(way) => way.add_to(names, lines),
            None => direction(self.direction, lines),
        }
        path(&self.path, names, lines);
    }

    /// Adds the keys that differ from `usual`.
    fn lines_on(&self, usual: &Self, lines: &mut Lines) {
        self.write(&Self { transport: Transport { sack: true, ..usual.transport }, ..usual.clone() }, lines);
        lines.differs("transport", &self.carrier, &usual.carrier);
        lines.differs("access_rate", &self.access_rate, &usual.access_rate);
        self.marking.write(&usual.marking, lines);
        let mut ends = Ends { host: self.transport.host };
        // Without pauses their interval has no meaning, so it is left out.
        if ends.host.pause == Span::ZERO {
            ends.host.pause_interval = usual.transport.host.pause_interval;
        }
        ends.write(&Ends { host: usual.transport.host }, lines);
    }
}

fn direction(direction: Direction, lines: &mut Lines) {
    lines.differs("direction", &direction, &Direction::Forward);
}

/// Sets the path, unless it has all links or was left out.
fn path(path: &[String], names: &Names<'_>, lines: &mut Lines) {
    if !path.is_empty() && path != names.links {
        lines.set("path", path);
    }
}

impl CellWay {
    fn add_to(&self, names: &Names<'_>, lines: &mut Lines) {
        let begins = |beginning: &str| {
            let meant = names.stations.iter().filter(|name| name.starts_with(beginning));
            meant.copied().eq(&self.stations)
        };
        // Names such as `a-1` and `a-2` may be those of one group of stations, which is then written as `a-*`.
        let group = self.stations.first().map(|first| first.trim_end_matches(|c: char| c.is_ascii_digit()));
        match (&self.stations[..], group) {
            ([station], _) if !station.ends_with('*') => lines.set("station", station),
            (_, Some(group)) if begins(group) => lines.set("station", &format!("{group}*")),
            (stations, _) => lines.set("station", stations),
        }
        lines.differs("direction", &self.direction, &CellDirection::Down);
        lines.differs("category", &self.category, &Category::Be);
        lines.differs("ack_category", &self.ack_category, &self.category);
    }
}

impl Traffic {
    fn lines(&self, names: &Names<'_>) -> Lines {
        let mut lines = Lines::default();
        let kind = match self.pattern {
            Pattern::Cbr => "cbr",
            Pattern::Poisson => "poisson",
            Pattern::OnOff { .. } => "on-off",
        };
        lines.name(&self.name, "");
        lines.set("kind", kind);
        lines.set("rate", &self.rate);
        lines.differs("packet", &self.packet, &Self::default().packet);
        if let Pattern::OnOff { peak, burst, shape } = &self.pattern {
            lines.set("peak", peak);
            lines.set("burst", burst);
            lines.some("shape", shape.as_ref());
        }
        lines.differs("start", &self.start, &Span::ZERO);
        lines.some("stop", self.stop.as_ref());
        path(&self.path, names, &mut lines);
        direction(self.direction, &mut lines);
        self.marking.write(&Marking::default(), &mut lines);
        lines
    }
}

impl Replay {
    fn lines(&self, names: &Names<'_>) -> Lines {
        let mut lines = Lines::default();
        lines.name(&self.name, "");
        lines.set("kind", "replay");
        lines.set("file", &self.file);
        lines.differs("repeat", &self.repeat, &false);
        lines.some("toward", self.toward.as_ref());
        lines.some("from", self.from.as_ref());
        lines.differs("start", &self.start, &Span::ZERO);
        lines.some("stop", self.stop.as_ref());
        path(&self.path, names, &mut lines);
        direction(self.direction, &mut lines);
        self.marking.write(&Marking::default(), &mut lines);
        lines
    }
}

impl Sessions {
    fn lines(&self, names: &Names<'_>) -> Lines {
        let mut lines = Lines::default();
        lines.name(&self.flow.name, "");
        lines.set("kind", "engset");
        lines.set("users", &self.flow.count);
        lines.set("session", &self.session);
        lines.set("think", &self.think);
        lines.differs("handshake", &self.handshake, &false);
        // Count and handshake get their defaults here, because the lines above already have `users` and `handshake`.
        let flow = Flow { count: 1, handshake: true, ..self.flow.clone() };
        flow.lines(&mut lines, names);
        lines
    }
}

impl Wlan {
    fn lines(&self) -> Lines {
        let (mut lines, usual) = (Lines::default(), Self::default());
        lines.set("phy", &self.phy);
        if self.short_preamble {
            lines.set("preamble", "short");
        }
        lines.set("rate", &self.rate);
        lines.some("control_rate", self.control_rate.as_ref());
        // `access` is always written, because its default depends on the categories, and the default header depends on
        // it.
        lines.set("access", &self.access);
        lines.differs("after_collision", &self.after_collision, &usual.after_collision);
        lines.some("eifs_rate", self.eifs_rate.as_ref());
        lines.differs("header", &self.header, &Self::header_of(self.access));
        lines.differs("llc", &self.llc, &usual.llc);
        lines.differs("ack", &self.ack, &usual.ack);
        lines.table("ac", &self.ac.lines());
        let mut access_point = Lines::default();
        access_point.table("ac", &self.access_point.lines());
        lines.table("access_point", &access_point);
        if self.queue != usual.queue {
            lines.table("queue", &self.queue.lines());
        }
        if let Some(backhaul) = &self.backhaul {
            lines.table("backhaul", &backhaul.changes(&Backhaul::default()));
        }
        lines
    }
}

impl Categories {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        for (word, category) in Category::WORDS {
            lines.table(word, &self.of(*category).changes(&Access::default()));
        }
        lines
    }
}

impl CellQueue {
    fn lines(&self) -> Lines {
        let mut lines = self.queue.lines();
        if let Some(sizing) = &self.sizing {
            lines.table("sizing", &sizing.lines());
        }
        if let Some(limits) = &self.airtime_limits {
            lines.set_text("airtime_limits", limits.changes(&AirtimeLimits::default()).inline());
        }
        lines
    }
}

impl Sizing {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        let (rule, ebdp, alt) = match self {
            Self::Ebdp(ebdp) => ("ebdp", Some(ebdp), None),
            Self::Alt(alt) => ("alt", None, Some(alt)),
            Self::Lesser(ebdp, alt) => ("a*", Some(ebdp), Some(alt)),
        };
        lines.set("rule", rule);
        if let Some(ebdp) = ebdp {
            ebdp.write(&Ebdp::default(), &mut lines);
        }
        if let Some(alt) = alt {
            alt.write(&Alt::default(), &mut lines);
        }
        lines
    }
}

/// Returns the tables of the stations. Stations without consecutive names have one table each.
fn stations(stations: &[Station]) -> Vec<Lines> {
    let (mut tables, mut next) = (Vec::new(), 1);
    for station in stations {
        let count = station.names.len() as u64;
        let run = |name: &str, first: u64| {
            (first..).zip(&station.names).all(|(number, own)| *own == format!("{name}-{number}"))
        };
        let mut named = |name: Option<&str>, count: u64| {
            let mut lines = Lines::default();
            lines.some("name", name.as_ref());
            lines.differs("count", &count, &1);
            lines.some("rate", station.rate.as_ref());
            if let Some(saturated) = &station.saturated {
                lines.set("saturated", &saturated.payload);
                lines.differs("category", &saturated.category, &Category::Be);
            }
            if station.limit != Station::default().limit {
                lines.set_text("queue", format!("{{ limit = {} }}", station.limit.written()));
            }
            tables.push(lines);
        };
        let common = station.names.first().and_then(|name| name.strip_suffix("-1"));
        match common {
            _ if run("station", next) => {
                named(None, count.max(1));
                next += count.max(1);
            }
            Some(common) if count > 1 && run(common, 1) => named(Some(common), count),
            _ => station.names.iter().for_each(|name| named(Some(name), 1)),
        }
    }
    tables
}
