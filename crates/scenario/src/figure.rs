//! `[figure]`: what a published figure draws from a sweep, instead of curves against time.

use crate::document::Document;
use crate::fault::Faults;
use crate::read::figure;
use crate::schema;

/// A figure over the points of the scenario's `[sweep]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// The swept key on the horizontal axis; every other swept key tells curves apart.
    pub x: String,
    /// Another swept key: then each `y` is drawn as a heat map, with a row per value of this key and a column per
    /// value of `x`, a map for each combination of the other swept keys.
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

impl Document {
    /// Reads `[figure]`; `None` without one.
    ///
    /// # Errors
    /// Everything wrong with it, also an `x` that `[sweep]` does not vary.
    pub fn figure(&self) -> Result<Option<FigureSpec>, Faults> {
        let axes: Vec<String> = self.sweep()?.axes().iter().map(|axis| axis.key.clone()).collect();
        figure::figure(self.root(), schema::FIGURE, &axes)
    }
}
