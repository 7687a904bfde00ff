//! `[figure]`: what a published figure draws from a sweep, instead of curves against time.

use crate::document::Document;
use crate::fault::Faults;
use crate::read::figure;
use crate::tables;

/// A figure over the points of the scenario's `[sweep]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// The horizontal axis: a swept key, every other of which tells curves apart; or, where `along` is one, a number
    /// of the summary.
    pub x: String,
    /// The swept key along which a curve goes from point to point, where `x` is a number of the summary.
    pub along: Option<String>,
    /// Another swept key. Each `y` is then drawn as a heat map, with a row per value of this key and a column per
    /// value of `x`. There is a map for each combination of the other swept keys.
    pub rows: Option<String>,
    /// What is drawn.
    pub y: Drawn,
    /// Who is asked, once each.
    pub engines: Vec<FigureEngine>,
    /// How often each point is run: what is drawn is the median, from the least to the most.
    pub repeat: u64,
    /// What the source says of it, in its words or ours.
    pub published: Option<String>,
    /// What another program found at the points.
    pub reference: Option<FigureReference>,
}

/// `reference = { name = "ns-2", file = "ns2.csv" }`: results that are drawn beside those of the engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureReference {
    /// What found them.
    pub name: String,
    /// Their table, relative to the folder of the scenario.
    pub file: String,
}

/// An engine that a figure may be drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureEngine {
    /// Closed forms.
    Model,
    /// Simulation, on all cores.
    Sim,
    /// The real kernel, one run at a time.
    Live,
}

/// No point is run more often.
pub const MOST_REPEATS: u64 = 99;

/// What a figure draws at each point.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// `y = ["loss_rate"]`: numbers of the summary, a chart each.
    Numbers(Vec<String>),
    /// `smallest = { … }`: the smallest value of a key that meets a target, a curve per target.
    Smallest(Smallest),
}

/// `smallest = { over = "link.queue.limit", metric = "idle_fraction", at_most = ["1%", "5%"] }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Smallest {
    /// The key that is searched.
    pub over: String,
    /// The number of the summary that must not exceed the target.
    pub metric: String,
    /// The targets: as typed, and as numbers.
    pub at_most: Vec<(String, f64)>,
}

impl FigureSpec {
    /// The swept key whose values are the points of a curve.
    #[must_use]
    pub fn swept_key(&self) -> &str {
        self.along.as_ref().unwrap_or(&self.x)
    }
}

impl Document {
    /// Reads `[figure]`; `None` without one. An `x` that `[sweep]` does not vary and that is no key of a scenario is
    /// taken for a number of the summary. The list of these numbers is not known here.
    ///
    /// # Errors
    /// Everything wrong with it, also a key of the scenario as `x` that `[sweep]` does not vary, and a sweep that draws.
    pub fn figure(&self) -> Result<Option<FigureSpec>, Faults> {
        let sweep = self.sweep()?;
        if self.top("figure").is_some() && sweep.keys().count() > sweep.axes().len() {
            let help = "tightlink sweep tabulates drawn points; leave [figure] or sweep.draw out".to_owned();
            let accepted = "a sweep whose keys all have lists of values";
            return Err(self.fault("figure", "a sweep with `draw`", accepted, Some(help)).into());
        }
        let axes: Vec<String> = sweep.axes().iter().map(|axis| axis.key.clone()).collect();
        figure::figure(self.root(), tables::FIGURE, &axes)
    }
}
