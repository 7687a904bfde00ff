//! Writing the page of a transfer.

use crate::print;
use crate::problem::Problem;
use lab::files::replace;
use std::path::Path;
use transfer::Summary;
use units::Complaint;

/// Writes the page about `transfer` to `file`, whole or not at all.
pub(crate) fn write(file: &Path, transfer: &Summary) -> Result<(), Problem> {
    let command: Vec<String> =
        std::env::args().take(2).map(|word| word.rsplit('/').next().unwrap_or_default().to_owned()).collect();
    let page = report::transfers::page(transfer, &command.join(" "));
    replace(file, page.as_bytes()).map_err(|error| {
        let found = format!("cannot write the report: {error}");
        let complaint = Complaint::new(file.display().to_string(), found);
        Problem::environment(complaint.help("choose another file with --report; the transfer itself is done"))
    })?;
    print::talk(format_args!("report: {}", file.display()));
    Ok(())
}
