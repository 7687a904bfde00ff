//! The text of a scenario: [`Written`] values, and `Lines` of keys with such values.

use crate::changes::{Loss, Outage, OverTime, PacketNumbers};
use crate::path::split;
use crate::schema::{self, DefaultValue, Keys};
use crate::values::Host;
use crate::values::{
    AccessRule, AfterCollision, BbrVariant, Carrier, Category, CellDirection, Column, CubicVariant,
    Direction, EcnMode, FlowChoice, Framing, Isolation, Limit, LossDetection, RecordedFlows, Recovery,
    RttScaling, SendBuffer, ShaperRate, SocketBuffer, Spread, Stack, StepThreshold, Theory, Threshold, Tins,
    Volume, WindowVariant,
};
use crate::word::word_of;
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// A value as it stands to the right of a key.
///
/// Texts are not checked here: a text that is not a quantity is a fault when the scenario is read.
pub trait Written {
    /// Returns the value as TOML.
    fn written(&self) -> String;
}

/// Keys and their values as TOML, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines(Vec<(String, String)>);

impl Lines {
    /// Sets a key; replaces an earlier value.
    pub(crate) fn set(&mut self, key: &str, value: &(impl Written + ?Sized)) {
        self.set_text(key, value.written());
    }

    /// Returns the value of a key, as TOML.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn set_text(&mut self, key: &str, text: String) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = text,
            None => self.0.push((key.to_owned(), text)),
        }
    }

    /// Sets a key if its value is not the `usual` one.
    pub(crate) fn differs<T: Written + PartialEq>(&mut self, key: &str, value: &T, usual: &T) {
        if value != usual {
            self.set(key, value);
        }
    }

    /// Sets a key if it is required or its value is not the `usual` one.
    pub(crate) fn put_key<T: Written + PartialEq>(&mut self, keys: Keys, key: &str, value: &T, usual: &T) {
        let required =
            schema::find(keys, key).is_some_and(|key| matches!(key.default, DefaultValue::Required(_)));
        if required || value != usual {
            self.set(key, value);
        }
    }

    /// Sets a key if it has a value.
    pub(crate) fn some<T: Written>(&mut self, key: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets the key `name`, unless the name is empty or the `usual` one.
    pub(crate) fn name(&mut self, name: &str, usual: &str) {
        if name != usual && !name.is_empty() {
            self.set("name", name);
        }
    }

    /// Sets `key` to an inline table, unless that is empty.
    pub(crate) fn table(&mut self, key: &str, table: &Self) {
        if !table.0.is_empty() {
            self.set_text(key, table.inline());
        }
    }

    /// Returns the keys and values as an inline table.
    pub(crate) fn inline(&self) -> String {
        let items: Vec<String> = self.0.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if items.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", items.join(", ")) }
    }

    /// Adds a line for each key to `text`, below the header unless that is empty.
    pub(crate) fn add_to(&self, text: &mut String, header: &str) {
        if !header.is_empty() {
            *text += &format!("\n{header}\n");
        }
        for (key, value) in &self.0 {
            *text += &format!("{key} = {value}\n");
        }
    }

    /// Returns the same lines with each key spelled as in TOML. Keys that are not paths become complaints.
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

    /// Appends other keys and their values.
    pub(crate) fn extend(&mut self, lines: Self) {
        self.0.extend(lines.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
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
    Host, Theory, Stack, Column, Direction, Recovery, LossDetection, BbrVariant, CubicVariant,
    WindowVariant, RttScaling, AccessRule, AfterCollision, Carrier, Category, CellDirection, Framing, Isolation, Tins => word
);

impl Written for EcnMode {
    fn written(&self) -> String {
        match self {
            Self::Off | Self::Classic => self.is_on().written(),
            Self::Accurate => word_of(*self).written(),
        }
    }
}

impl Written for RecordedFlows {
    fn written(&self) -> String {
        match self {
            Self::Sample => "sample".written(),
            Self::All => "all".written(),
            Self::These(choices) => choices.written(),
        }
    }
}

impl Written for FlowChoice {
    fn written(&self) -> String {
        match self {
            Self::Name(name) => name.written(),
            Self::Index(index) => index.written(),
        }
    }
}

impl Written for f64 {
    fn written(&self) -> String {
        // The text has a decimal point, so that it is not read as a whole number.
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

impl<T: Written> Written for OverTime<T> {
    fn written(&self) -> String {
        let mut lines = Lines::default();
        match self {
            Self::Constant(value) => return value.written(),
            Self::Steps { steps, every, reorder } => {
                let pair = |(at, value): &(Span, T)| format!("[{}, {}]", at.written(), value.written());
                let steps: Vec<String> = steps.iter().map(pair).collect();
                lines.set_text("steps", format!("[{}]", steps.join(", ")));
                lines.some("every", every.as_ref());
                lines.differs("reorder", reorder, &false);
            }
            Self::Trace { trace, repeat, every, reorder } => {
                lines.set("trace", trace);
                lines.some("repeat", repeat.as_ref());
                lines.some("every", every.as_ref());
                lines.differs("reorder", reorder, &false);
            }
        }
        lines.inline()
    }
}

impl Written for Loss {
    fn written(&self) -> String {
        let mut lines = Lines::default();
        match self {
            Self::Independent(share) => return share.written(),
            Self::Bursts { gilbert_elliott: states } => {
                let mut inner = Lines::default();
                inner.set("to_bad", &states.to_bad);
                inner.set("to_good", &states.to_good);
                inner.differs("bad_loss", &states.bad_loss, &Fraction::ONE);
                inner.differs("good_loss", &states.good_loss, &Fraction::ZERO);
                lines.table("gilbert_elliott", &inner);
            }
            Self::Packets { packets: PacketNumbers::Listed(numbers) } => lines.set("packets", numbers),
            Self::Packets { packets: PacketNumbers::Trace { trace } } => {
                lines.set_text("packets", format!("{{ trace = {} }}", trace.written()));
            }
        }
        lines.inline()
    }
}

impl Written for Outage {
    fn written(&self) -> String {
        let mut lines = Lines::default();
        lines.set("every", &self.every);
        lines.set("length", &self.length);
        lines.differs("first", &self.first, &self.every);
        lines.inline()
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

impl Written for StepThreshold {
    fn written(&self) -> String {
        match self {
            Self::Time(time) => time.written(),
            Self::Packets(packets) => Limit::Packets(*packets).written(),
        }
    }
}

impl Written for ShaperRate {
    fn written(&self) -> String {
        match self {
            Self::Rate(rate) => rate.written(),
            Self::Share(share) => share.written(),
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

/// Writes `None` as `"unlimited"`, for keys that accept that word.
impl<T: Written> Written for Option<T> {
    fn written(&self) -> String {
        self.as_ref().map_or_else(|| "unlimited".written(), Written::written)
    }
}
