//! `[figure]` of a document.

use crate::document::Document;
use crate::fault::Faults;
use crate::read::figure;
use crate::tables::figure::{FIGURE, FigureSpec};

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
        figure::figure(self.root(), FIGURE, &axes)
    }
}
