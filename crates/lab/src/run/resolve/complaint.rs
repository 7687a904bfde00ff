//! Complaints whose help may be missing.

use units::Complaint;

/// Makes a complaint from its parts, some of which come from tables.
pub(super) fn complaint(
    key: impl Into<String>,
    found: impl Into<String>,
    accepted: impl Into<String>,
    help: Option<String>,
) -> Complaint {
    Complaint { help, ..Complaint::new(key, found).accepted(accepted) }
}
