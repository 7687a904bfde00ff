//! For the fuzz targets only (`--cfg fuzzing`): the private parts that they reach.

units::fuzzing_checks!();

/// How many of `bytes` are whole records of a journal, behind which it is cut when it is opened. Each record is written and
/// read again.
///
/// # Panics
/// If a record does not read back as it was written: the test.
#[must_use]
pub fn journal(bytes: &[u8]) -> usize {
    crate::journal::whole(bytes)
}
