//! `[figure]` of a document.

use crate::document::Document;
use crate::fault::Faults;
use crate::read::figure;
use crate::tables::figure::{FIGURE, FigureSpec};

impl Document {
    /// Reads `[figure]`; returns `None` without one. An `x` that is neither an axis of `[sweep]` nor a key of a
    /// scenario counts as a number of the summary. This crate does not know the list of these numbers.
    ///
    /// # Errors
    /// Returns all faults, among them an `x` that is a key of the scenario but not an axis of `[sweep]`, and a sweep
    /// with `draw`.
    pub fn figure(&self) -> Result<Option<FigureSpec>, Faults> {
        let sweep = self.sweep()?;
        if self.top("figure").is_some() && sweep.keys().count() > sweep.axes().len() {
            let help = "tightlink sweep tabulates drawn points; leave [figure] or sweep.draw out".to_owned();
            let accepted = "a sweep whose keys all have lists of values";
            return Err(self.fault("figure", "a sweep with `draw`", accepted, Some(help)).into());
        }
        let axes: Vec<String> = sweep.axes().iter().map(|axis| axis.key.clone()).collect();
        figure::figure(self.root(), FIGURE, &axes, sweep.baseline())
    }
}
