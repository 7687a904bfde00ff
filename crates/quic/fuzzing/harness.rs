//! For the fuzz targets only (`--cfg fuzzing`): scripts of calls to a ledger, and of datagrams to both ends of a flow.

pub use crate::scripts::datagrams::datagrams;
pub use crate::scripts::ledger::ledger;

units::fuzzing_checks!();
