//! A figure's horizontal axis: a swept key, or a number of the summary.

use crate::run::metric::{all, described};
use scenario::{Document, Faults, FigureSpec, did_you_mean};

/// Reads the document's `[figure]`, if it has one.
///
/// # Errors
/// All faults of the figure, also an `x` that is neither a swept key nor a number of the summary.
pub fn figure(document: &Document) -> Result<Option<FigureSpec>, Faults> {
    let spec = document.figure()?;
    let of_results = |spec: &&FigureSpec| spec.along.is_some() && spec.baseline.is_empty();
    let Some(x) = spec.as_ref().filter(of_results).map(|spec| &spec.x).filter(|x| described(x).is_none())
    else {
        return Ok(spec);
    };
    let swept: Vec<String> = document.sweep()?.axes().iter().map(|axis| axis.key.clone()).collect();
    let known: Vec<String> = all().map(|(key, _)| key).collect();
    let help = did_you_mean(x, swept.iter().chain(&known).map(String::as_str));
    let found = format!("\"{x}\", which is neither a swept key nor a number of the summary");
    let accepted = format!("a swept key ({}), or a key that tightlink list metrics names", swept.join(", "));
    Err(document.fault("figure.x", found, accepted, help).into())
}
