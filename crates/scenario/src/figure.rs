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
    /// Everything wrong with it, also a key of the scenario as `x` that `[sweep]` does not vary.
    pub fn figure(&self) -> Result<Option<FigureSpec>, Faults> {
        let axes: Vec<String> = self.sweep()?.axes().iter().map(|axis| axis.key.clone()).collect();
        figure::figure(self.root(), FIGURE, &axes)
    }
}
