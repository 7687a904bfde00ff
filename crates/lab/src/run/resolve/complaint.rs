//! Complaints whose help may be missing.

use units::Complaint;

/// Makes a complaint of its parts, of which some come from tables.
pub(super) fn complaint(
    key: impl Into<String>,
    found: impl Into<String>,
    accepted: impl Into<String>,
    help: Option<String>,
) -> Complaint {
    Complaint { help, ..Complaint::new(key, found).accepted(accepted) }
}
