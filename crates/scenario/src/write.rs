//! The text of a scenario: [`Scenario::to_toml`]. Quantities have their units, and what has its default is left out.

use crate::host::Host;
use crate::path::split;
use crate::read::default_flow;
use crate::spec::{
    Access, AccessRule, AfterCollision, AirtimeLimits, Alt, Backhaul, BbrVariant, Categories, Category,
    CellDirection, CellQueue, CellWay, Column, CubicVariant, Direction, Ebdp, Flow, Limit, Link, Live,
    LossDetection, Model, Pattern, Queue, QueueSettings, Record, RecordedFlows, Recovery, Replay, Reverse,
    Scenario, SendBuffer, Sessions, Sizing, SocketBuffer, Spread, Stack, Station, Theory, Threshold, Traffic,
    Volume, WindowVariant, Wlan,
};
use crate::word::{Word, word_of};
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// A value as it stands to the right of a key.
///
/// Texts are taken as they are, so that one that is no quantity is found where the scenario is read.
pub trait Written {
    /// Returns the value as TOML.
    fn written(&self) -> String;
}

/// Keys and their values as TOML, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines(Vec<(String, String)>);

impl Lines {
    /// Sets a key, in the place of an earlier value.
    pub(crate) fn set(&mut self, key: &str, value: &(impl Written + ?Sized)) {
        self.set_text(key, value.written());
    }

    /// The value of a key, as TOML.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    fn set_text(&mut self, key: &str, text: String) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = text,
            None => self.0.push((key.to_owned(), text)),
        }
    }

    /// Sets a key whose value is not the `usual` one.
    fn put<T: Written + PartialEq>(&mut self, key: &str, value: &T, usual: &T) {
        if value != usual {
            self.set(key, value);
        }
    }

    /// Sets a key that has a value.
    fn some<T: Written>(&mut self, key: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets a name, unless it was left out.
    fn name(&mut self, name: &str, usual: &str) {
        if name != usual && !name.is_empty() {
            self.set("name", name);
        }
    }

    /// Sets `key` to an inline table, unless that is empty.
    fn table(&mut self, key: &str, table: &Self) {
        if !table.0.is_empty() {
            self.set_text(key, table.inline());
        }
    }

    /// The keys and values as an inline table.
    fn inline(&self) -> String {
        let items: Vec<String> = self.0.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if items.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", items.join(", ")) }
    }

    /// Adds a line for each key, below a header; no header if that is empty.
    pub(crate) fn add_to(&self, text: &mut String, header: &str) {
        if !header.is_empty() {
            *text += &format!("\n{header}\n");
        }
        for (key, value) in &self.0 {
            *text += &format!("{key} = {value}\n");
        }
    }

    /// The same with each key spelled as TOML has it.
    ///
    /// # Errors
    /// The keys that are no paths.
    pub(crate) fn spelled(&self, prefix: &str, complaints: &mut Vec<Complaint>) -> Self {
        let spelled = self.0.iter().filter_map(|(key, value)| match split(key) {
            Ok(segments) => {
                let segments: Vec<String> = segments.iter().map(|segment| key_text(segment)).collect();
                Some((segments.join("."), value.clone()))
            }
            Err(complaint) => {
                complaints.push(Complaint { place: format!("{prefix}{key}"), ..complaint });
                None
            }
        });
        Self(spelled.collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn key_text(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.chars().all(bare) { key.to_owned() } else { key.written() }
}

impl Written for str {
    fn written(&self) -> String {
        let mut text = String::from('"');
        for c in self.chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                _ if c.is_control() => text += &format!("\\u{:04X}", u32::from(c)),
                _ => text.push(c),
            }
        }
        text + "\""
    }
}

impl Written for &str {
    fn written(&self) -> String {
        (**self).written()
    }
}

impl Written for String {
    fn written(&self) -> String {
        self.as_str().written()
    }
}

macro_rules! written {
    ($($quantity:ty),+ => quoted) => { $(impl Written for $quantity {
        fn written(&self) -> String {
            self.to_string().written()
        }
    })+ };
    ($($number:ty),+ => plain) => { $(impl Written for $number {
        fn written(&self) -> String {
            self.to_string()
        }
    })+ };
    ($($word:ty),+ => word) => { $(impl Written for $word {
        fn written(&self) -> String {
            word_of(*self).written()
        }
    })+ };
}

written!(Span, Rate, Bytes, Fraction, Limit, Volume => quoted);
written!(bool, u64, u32, i32, usize => plain);
written!(
    Host, Theory, Stack, Column, RecordedFlows, Direction, Recovery, LossDetection, BbrVariant, CubicVariant,
    WindowVariant, AccessRule, AfterCollision, Category, CellDirection => word
);

impl Written for f64 {
    fn written(&self) -> String {
        // With a point, so that it stays no whole number.
        format!("{self:?}").to_lowercase()
    }
}

impl<T: Written> Written for [T] {
    fn written(&self) -> String {
        let items: Vec<String> = self.iter().map(Written::written).collect();
        format!("[{}]", items.join(", "))
    }
}

impl<T: Written> Written for Vec<T> {
    fn written(&self) -> String {
        self.as_slice().written()
    }
}

impl<T: Written, const N: usize> Written for [T; N] {
    fn written(&self) -> String {
        self.as_slice().written()
    }
}

impl<T: Written + Clone> Written for Spread<T> {
    fn written(&self) -> String {
        let pareto = |shape: f64, mean: &T, draw: &str| {
            let (shape, mean) = (shape.written(), mean.written());
            format!("{{ pareto = {{ shape = {shape}, mean = {mean}{draw} }} }}")
        };
        match self {
            Self::All(value) => value.written(),
            Self::List(values) => values.written(),
            Self::Uniform(low, high) => format!("{{ uniform = [{}, {}] }}", low.written(), high.written()),
            Self::Pareto { shape, mean } => pareto(*shape, mean, ""),
            Self::ParetoQuantiles { shape, mean } => pareto(*shape, mean, ", draw = \"quantiles\""),
            Self::Exponential(mean) => format!("{{ exponential = {} }}", mean.written()),
        }
    }
}

impl Written for Threshold {
    fn written(&self) -> String {
        match self {
            Self::MeanPackets(packets) => packets.written(),
            Self::Room(limit) => limit.written(),
            Self::OfLimit(share) => share.written(),
        }
    }
}

impl Written for SocketBuffer {
    fn written(&self) -> String {
        match self {
            Self::Max => "max".written(),
            Self::Autotuned => "autotuned".written(),
            Self::Fixed(size) => size.written(),
            Self::Sized { sizer, max, regret } => {
                let mut lines = Lines::default();
                lines.set("sizer", sizer);
                lines.set("max", max);
                lines.some("regret", regret.as_ref());
                lines.inline()
            }
        }
    }
}

impl Written for SendBuffer {
    fn written(&self) -> String {
        match self {
            Self::Unlimited => "unlimited".written(),
            Self::Autotuned => "autotuned".written(),
            Self::AtMost(size) => size.written(),
        }
    }
}

/// What may be written as `"unlimited"`.
fn unlimited<T: Written>(value: Option<&T>) -> String {
    value.map_or_else(|| "unlimited".written(), Written::written)
}

/// The names that flows refer to, in the order of the file.
struct Names<'a> {
    links: Vec<&'a str>,
    stations: Vec<&'a String>,
}

impl Scenario {
    /// Returns the scenario as the text of a file. What has its default is left out, and so is what only a file has:
    /// `[sweep]`, `[figure]` and comments.
    ///
    /// Reading the text gives the same scenario: with the names and paths that were left out, if it was made in code.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let (mut text, usual) = (String::new(), Self::default());
        let mut top = Lines::default();
        top.set("title", &self.title);
        top.some("source", self.source.as_ref());
        top.put("seed", &self.seed, &usual.seed);
        top.some("duration", self.duration.as_ref());
        top.put("warmup", &self.warmup, &usual.warmup);
        top.add_to(&mut text, "");
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
            ("[model]", self.model.lines(&usual.model)),
            ("[live]", self.live.lines(&usual.live)),
            ("[record]", self.record.lines(&usual.record)),
        ];
        for (header, lines) in tables.iter().filter(|(_, lines)| !lines.is_empty()) {
            lines.add_to(&mut text, header);
        }
        text
    }

    /// All traffic, in the order of the file.
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
        let (mut lines, usual) = (Lines::default(), Self::default());
        lines.name(&self.name, &format!("link-{}", index + 1));
        lines.set("rate", &self.rate);
        lines.put("delay", &self.delay, &usual.delay);
        lines.table("queue", &self.queue.lines());
        lines.put("loss", &self.loss, &usual.loss);
        lines.put("jitter", &self.jitter, &usual.jitter);
        lines.some("assist", self.assist.as_ref());
        if let Some(reverse) = &self.reverse {
            lines.table("reverse", &reverse.lines(self.rate));
        }
        lines
    }
}

impl Reverse {
    fn lines(&self, rate: Rate) -> Lines {
        let mut lines = Lines::default();
        lines.put("rate", &self.rate, &rate);
        lines.table("queue", &self.queue.lines());
        lines.put("loss", &self.loss, &Fraction::ZERO);
        lines
    }
}

impl Queue {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        lines.put("kind", &self.kind, &Self::default().kind);
        lines.set("limit", &self.limit);
        self.settings.add_to(&mut lines);
        lines
    }
}

impl QueueSettings {
    fn add_to(&self, lines: &mut Lines) {
        lines.some("target", self.target.as_ref());
        lines.some("interval", self.interval.as_ref());
        lines.some("burst", self.burst.as_ref());
        lines.some("derandomize", self.derandomize.as_ref());
        lines.some("min_threshold", self.min_threshold.as_ref());
        lines.some("max_threshold", self.max_threshold.as_ref());
        lines.some("max_probability", self.max_probability.as_ref());
        lines.some("weight", self.weight.as_ref());
        lines.some("gentle", self.gentle.as_ref());
        lines.some("wait", self.wait.as_ref());
        lines.some("by_bytes", self.by_bytes.as_ref());
        lines.some("quantum", self.quantum.as_ref());
        lines.some("flows", self.flows.as_ref());
        lines.some("ecn", self.ecn.as_ref());
        lines.some("mark_above", self.mark_above.as_ref());
    }
}

impl Flow {
    /// Adds what differs from the host that is nearer.
    fn lines(&self, lines: &mut Lines, names: &Names<'_>) {
        let on = |host: Host| {
            let mut lines = Lines::default();
            lines.put("host", &host, &Host::default());
            lines.put("control", &self.control, &Self::default().control);
            self.lines_on(&default_flow(host, &self.control, self.transport.sack), names, &mut lines);
            lines
        };
        let (rfc, linux) = (on(Host::Rfc), on(Host::Linux));
        let nearer = if linux.0.len() < rfc.0.len() { linux } else { rfc };
        lines.0.extend(nearer.0);
    }

    /// Adds what differs from `usual`.
    fn lines_on(&self, usual: &Self, names: &Names<'_>, lines: &mut Lines) {
        lines.put("count", &self.count, &usual.count);
        lines.some("size", self.size.as_ref());
        lines.put("handshake", &self.handshake, &usual.handshake);
        lines.some("stop", self.stop.as_ref());
        lines.put("start", &self.start, &usual.start);
        lines.some("rtt", self.rtt.as_ref());
        match &self.cell {
            Some(way) => way.add_to(names, lines),
            None => direction(self.direction, lines),
        }
        path(&self.path, names, lines);
        lines.put("segment", &self.segment, &usual.segment);
        lines.put("delayed_ack", &self.delayed_ack, &usual.delayed_ack);
        lines.put("delayed_ack_timeout", &self.delayed_ack_timeout, &usual.delayed_ack_timeout);
        lines.put("socket_buffer", &self.socket_buffer, &usual.socket_buffer);
        lines.put("initial_window", &self.initial_window, &usual.initial_window);
        if self.initial_ssthresh != usual.initial_ssthresh {
            lines.set_text("initial_ssthresh", unlimited(self.initial_ssthresh.as_ref()));
        }
        lines.put("slow_start", &self.slow_start, &usual.slow_start);
        lines.put("max_ssthresh", &self.max_ssthresh, &usual.max_ssthresh);
        lines.some("fast_alpha", self.fast_alpha.as_ref());
        lines.put("byte_counting", &self.byte_counting, &usual.byte_counting);
        lines.put("send_jitter", &self.send_jitter, &usual.send_jitter);
        if self.access_rate != usual.access_rate {
            lines.set_text("access_rate", unlimited(self.access_rate.as_ref()));
        }
        let (own, usual) = (&self.transport, &usual.transport);
        lines.put("timestamps", &own.timestamps, &usual.timestamps);
        lines.put("sack", &own.sack, &true);
        lines.put("recovery", &own.recovery, &usual.recovery);
        lines.put("loss_detection", &own.loss_detection, &usual.loss_detection);
        lines.put("ecn", &own.ecn, &usual.ecn);
        lines.put("min_rto", &own.min_rto, &usual.min_rto);
        lines.put("initial_rto", &own.initial_rto, &usual.initial_rto);
        lines.put("pacing", &own.pacing, &usual.pacing);
        let (own, usual) = (&own.host, &usual.host);
        lines.put("send_buffer", &own.send_buffer, &usual.send_buffer);
        lines.put("bbr_variant", &own.bbr_variant, &usual.bbr_variant);
        lines.put("cubic_variant", &own.cubic_variant, &usual.cubic_variant);
        lines.put("window_variant", &own.window_variant, &usual.window_variant);
        lines.put("tso", &own.tso, &usual.tso);
        lines.put("gro", &own.gro, &usual.gro);
        lines.put("quick_ack", &own.quick_ack, &usual.quick_ack);
        lines.put("quick_growth", &own.quick_growth, &usual.quick_growth);
        lines.put("sack_compression", &own.sack_compression, &usual.sack_compression);
        lines.put("pause", &own.pause, &usual.pause);
        // Without pauses nothing is between them.
        if own.pause != Span::ZERO {
            lines.put("pause_interval", &own.pause_interval, &usual.pause_interval);
        }
        lines.put("wake_up", &own.wake_up, &usual.wake_up);
    }
}

fn direction(direction: Direction, lines: &mut Lines) {
    lines.put("direction", &direction, &Direction::Forward);
}

/// Sets the links that are crossed, unless they are all links or were left out.
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
        // `a-1` and its like are a group of `count` stations.
        let group = self.stations.first().map(|first| first.trim_end_matches(|c: char| c.is_ascii_digit()));
        match (&self.stations[..], group) {
            ([station], _) if !station.ends_with('*') => lines.set("station", station),
            (_, Some(group)) if begins(group) => lines.set("station", &format!("{group}*")),
            (stations, _) => lines.set("station", stations),
        }
        lines.put("direction", &self.direction, &CellDirection::Down);
        lines.put("category", &self.category, &Category::Be);
        lines.put("ack_category", &self.ack_category, &self.category);
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
        lines.put("packet", &self.packet, &Self::default().packet);
        if let Pattern::OnOff { peak, burst, shape } = &self.pattern {
            lines.set("peak", peak);
            lines.set("burst", burst);
            lines.some("shape", shape.as_ref());
        }
        lines.put("start", &self.start, &Span::ZERO);
        lines.some("stop", self.stop.as_ref());
        path(&self.path, names, &mut lines);
        direction(self.direction, &mut lines);
        lines
    }
}

impl Replay {
    fn lines(&self, names: &Names<'_>) -> Lines {
        let mut lines = Lines::default();
        lines.name(&self.name, "");
        lines.set("kind", "replay");
        lines.set("file", &self.file);
        lines.put("repeat", &self.repeat, &false);
        lines.some("toward", self.toward.as_ref());
        lines.some("from", self.from.as_ref());
        lines.put("start", &self.start, &Span::ZERO);
        lines.some("stop", self.stop.as_ref());
        path(&self.path, names, &mut lines);
        direction(self.direction, &mut lines);
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
        lines.put("handshake", &self.handshake, &false);
        // `users` and `handshake` are keys of the users.
        let flow = Flow { count: 1, handshake: true, ..self.flow.clone() };
        flow.lines(&mut lines, names);
        lines
    }
}

impl Model {
    fn lines(&self, usual: &Self) -> Lines {
        let mut lines = Lines::default();
        lines.put("theory", &self.theory, &usual.theory);
        lines
    }
}

impl Live {
    fn lines(&self, usual: &Self) -> Lines {
        let mut lines = Lines::default();
        lines.put("stack", &self.stack, &usual.stack);
        lines
    }
}

impl Record {
    fn lines(&self, usual: &Self) -> Lines {
        let mut lines = Lines::default();
        lines.put("every", &self.every, &usual.every);
        lines.put("columns", &self.columns, &usual.columns);
        lines.put("flows", &self.flows, &usual.flows);
        lines.some("fairness", self.fairness.as_ref());
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
        // Its default depends on the categories, and that of the header on it.
        lines.set("access", &self.access);
        lines.put("after_collision", &self.after_collision, &usual.after_collision);
        lines.some("eifs_rate", self.eifs_rate.as_ref());
        lines.put("header", &self.header, &Self::header_of(self.access));
        lines.put("llc", &self.llc, &usual.llc);
        lines.put("ack", &self.ack, &usual.ack);
        lines.table("ac", &self.ac.lines());
        let mut access_point = Lines::default();
        access_point.table("ac", &self.access_point.lines());
        lines.table("access_point", &access_point);
        if self.queue != usual.queue {
            lines.table("queue", &self.queue.lines());
        }
        if let Some(backhaul) = &self.backhaul {
            lines.table("backhaul", &backhaul.lines());
        }
        lines
    }
}

impl Categories {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        for (word, category) in Category::WORDS {
            lines.table(word, &self.of(*category).lines());
        }
        lines
    }
}

impl Access {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        lines.some("cw_min", self.cw_min.as_ref());
        lines.some("cw_max", self.cw_max.as_ref());
        lines.some("aifsn", self.aifsn.as_ref());
        lines.some("txop", self.txop.as_ref());
        lines.some("retry_limit", self.retry_limit.as_ref());
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
            lines.set_text("airtime_limits", limits.lines().inline());
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
        if let Some(Ebdp { target, extra, weight }) = ebdp {
            let usual = Ebdp::default();
            lines.put("target", target, &usual.target);
            lines.put("extra", extra, &usual.extra);
            lines.put("weight", weight, &usual.weight);
        }
        if let Some(Alt { interval, increase, decrease, fewest }) = alt {
            let usual = Alt::default();
            lines.put("interval", interval, &usual.interval);
            lines.put("increase", increase, &usual.increase);
            lines.put("decrease", decrease, &usual.decrease);
            lines.put("fewest", fewest, &usual.fewest);
        }
        lines
    }
}

impl AirtimeLimits {
    fn lines(&self) -> Lines {
        let (mut lines, usual) = (Lines::default(), Self::default());
        lines.put("low", &self.low, &usual.low);
        lines.put("high", &self.high, &usual.high);
        lines.put("threshold", &self.threshold, &usual.threshold);
        lines
    }
}

impl Backhaul {
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        lines.set("rate", &self.rate);
        lines.put("delay", &self.delay, &Span::ZERO);
        lines.table("queue", &self.queue.lines());
        lines
    }
}

/// The tables of the stations. Those whose names do not follow each other have one each.
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
            lines.put("count", &count, &1);
            lines.some("rate", station.rate.as_ref());
            if let Some(saturated) = &station.saturated {
                lines.set("saturated", &saturated.payload);
                lines.put("category", &saturated.category, &Category::Be);
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
