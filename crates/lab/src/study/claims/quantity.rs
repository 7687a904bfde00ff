//! The quantity that a claim compares: its place in a result, its reading and its display.

use super::outcome::fits;
use crate::run::metric::{Metric, Unit, described, value};
use crate::run::record::{Engine, Record};
use crate::study::task::Answer;
use serde::Deserialize;
use units::{Fraction, Rate, Span, split_quantity};

/// The quantity that a claim compares.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum ClaimQuantity {
    /// The goodput of the first flow.
    Goodput,
    /// The mean RTT of the first flow.
    Rtt,
    /// The segments that the first flow sent again over the measured interval.
    Retransmits,
    /// The drops of the tight link over the whole run, warm-up included.
    Drops,
    /// The result of a search: the smallest value that meets its target, in the unit of the scenario.
    Smallest,
    /// A number of the summary by its key, such as `idle_fraction` or `queueing_delay_s.p99`.
    Summary(String),
}

impl From<String> for ClaimQuantity {
    fn from(name: String) -> Self {
        match name.as_str() {
            "goodput" => Self::Goodput,
            "rtt" => Self::Rtt,
            "retransmits" => Self::Retransmits,
            "drops" => Self::Drops,
            "smallest" => Self::Smallest,
            _ => Self::Summary(name),
        }
    }
}

impl ClaimQuantity {
    /// Returns the value that `engine` found in `case`.
    pub(super) fn value(&self, case: &Answer, engine: Engine) -> Result<f64, String> {
        self.of(case, case.record(engine).ok_or_else(|| no_answer(case, engine))?)
    }

    /// Returns the value that `engine` found in each of its runs of `case`.
    pub(super) fn values(&self, case: &Answer, engine: Engine) -> Result<Vec<f64>, String> {
        let runs = case.runs(engine);
        if runs.is_empty() {
            return Err(no_answer(case, engine));
        }
        runs.into_iter().map(|record| self.of(case, record)).collect()
    }

    /// Returns this quantity for each flow whose name fits. Without a `*` in the flow's name it is the only one.
    pub(super) fn of_each_flow(&self, case: &Answer, engine: Engine) -> Result<Vec<Self>, String> {
        let Some((beginning, key)) = self.flow().filter(|(flow, _)| flow.ends_with('*')) else {
            return Ok(vec![self.clone()]);
        };
        let record = case.record(engine).ok_or_else(|| no_answer(case, engine))?;
        let flows = record.summary.flows.iter().filter(|flow| fits(beginning, &flow.name));
        let each: Vec<Self> = flows.map(|flow| Self::Summary(format!("flows.{}.{key}", flow.name))).collect();
        if each.is_empty() { Err(format!("no flow is named {beginning}")) } else { Ok(each) }
    }

    /// Returns the name of its flow, to be put before a value, if `general` stands for several flows.
    pub(super) fn named_flow(&self, general: &Self) -> String {
        let flow = self.flow().filter(|_| self != general);
        flow.map_or_else(String::new, |(flow, _)| format!("{flow} "))
    }

    /// Returns the flow's name, and the key of its number.
    fn flow(&self) -> Option<(&str, &str)> {
        match self {
            Self::Summary(key) => key.strip_prefix("flows.")?.split_once('.'),
            _ => None,
        }
    }

    fn of(&self, case: &Answer, record: &Record) -> Result<f64, String> {
        let engine = record.summary.engine;
        let flow = || record.summary.flows.first().ok_or("there is no flow");
        let found = match self {
            Self::Goodput => Some(flow()?.goodput_bps),
            Self::Rtt => flow()?.rtt_s.map(|rtt| rtt.mean),
            Self::Retransmits => flow()?.retransmits.map(|count| count as f64),
            Self::Drops => record.summary.packets_dropped.map(|count| count as f64),
            Self::Smallest => {
                let found = case.found.as_ref().ok_or("nothing was searched")?;
                split_quantity(&found.value, "a number").ok().map(|quantity| quantity.value())
            }
            // The time of convergence counts as infinite for a flow that never reached its fair share.
            Self::Summary(key) if key.ends_with("convergence_s") => {
                return Ok(value(&record.summary, key).unwrap_or(f64::INFINITY));
            }
            Self::Summary(key) => value(&record.summary, key),
        };
        // NaN is refused: every comparison with it is false, so that a claim could hold by accident.
        let found = found.filter(|value| value.is_finite());
        found.ok_or_else(|| format!("{engine} does not know the {}", self.name()))
    }

    /// Reads a band or bound in the quantity's base unit: "4% of capacity", "5%" of `whole`, "1.5ms", "25Mbit/s",
    /// "3"; or the larger of two, "10% or 0.3ms".
    pub(super) fn amount(&self, text: &str, case: &Answer, whole: f64) -> Result<f64, String> {
        if let Some((one, other)) = text.split_once(" or ") {
            return Ok(self.amount(one, case, whole)?.max(self.amount(other, case, whole)?));
        }
        let share =
            |text: &str| text.trim().parse::<Fraction>().map(Fraction::get).map_err(|e| e.to_string());
        let number = |text: &str| text.trim().parse::<f64>().map_err(|error| format!("{text}: {error}"));
        if let Some(text) = text.strip_suffix("of capacity") {
            if *self != Self::Goodput {
                return Err(format!("the capacity is not a measure of the {}", self.name()));
            }
            return Ok(share(text)? * case.task.resolved.link.rate.as_bps_f64());
        }
        if text.ends_with('%') && matches!(self, Self::Goodput | Self::Rtt | Self::Smallest) {
            return Ok(share(text)? * whole);
        }
        let failed = |error: units::TextError| error.to_string();
        let unit = self.metric().map(|metric| metric.unit);
        let bare = matches!(unit, None | Some(Unit::Share | Unit::Count | Unit::Number));
        if text.ends_with('%') && matches!(self, Self::Summary(_)) && !bare {
            // A share needs a whole above zero.
            let fault = format!("{text} of what? The {} has a unit", self.name());
            return if whole > 0.0 { Ok(share(text)? * whole) } else { Err(fault) };
        }
        match unit {
            None => split_quantity(text, "a number with the unit of the search")
                .map(|quantity| quantity.value())
                .map_err(failed),
            Some(_) if text.ends_with('%') && matches!(self, Self::Summary(_)) => share(text),
            Some(Unit::BitRate) => text.parse::<Rate>().map(Rate::as_bps_f64).map_err(failed),
            Some(Unit::Delay | Unit::Time) => match text.parse::<Span>() {
                Ok(span) => Ok(span.as_secs_f64()),
                Err(_) => number(text),
            },
            Some(_) => number(text),
        }
    }

    /// Returns the metric that describes its display; `None` for the result of a search.
    fn metric(&self) -> Option<&'static Metric> {
        let key = match self {
            Self::Goodput => "goodput_bps",
            Self::Rtt => "rtt_s.mean",
            Self::Retransmits => "retransmits",
            Self::Drops => "packets_dropped",
            Self::Smallest => return None,
            Self::Summary(key) => key,
        };
        described(key).map(|(metric, _)| metric)
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Goodput => "goodput".into(),
            Self::Rtt => "RTT".into(),
            Self::Retransmits => "retransmissions".into(),
            Self::Drops => "drops".into(),
            Self::Smallest => "smallest value".into(),
            Self::Summary(key) => match described(key) {
                Some((metric, Some(of))) => format!("{} of {of}", metric.words),
                Some((metric, None)) => metric.words.into(),
                None => key.clone(),
            },
        }
    }

    pub(super) fn show(&self, value: f64) -> String {
        match (self, self.metric()) {
            (Self::Summary(key), _) if key.ends_with("convergence_s") && value.is_infinite() => {
                "never".into()
            }
            (Self::Goodput, Some(metric)) => metric.digits(1).with_unit(value),
            (Self::Retransmits | Self::Drops, Some(metric)) => metric.shown(value),
            (_, Some(metric)) => metric.with_unit(value),
            (_, None) => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        }
    }
}

fn no_answer(case: &Answer, engine: Engine) -> String {
    let own = format!("{engine}: ");
    let absent = case.absent.iter().find_map(|absent| absent.strip_prefix(&own));
    let broken = case.records.iter().find(|record| record.summary.engine == engine);
    match broken.and_then(|record| record.summary.assumptions.first()) {
        Some(assumption) => format!("{engine} gave no answer that can be judged: {assumption}"),
        None => format!("{engine} gave no answer: {}", absent.unwrap_or("it was not asked")),
    }
}
