//! For the fuzz targets only (`--cfg fuzzing`): the datagrams of probing.

units::fuzzing_checks!();

/// A datagram as it is written again, if it is a message under the key that fuzzing uses.
#[must_use]
pub fn probe(datagram: &[u8]) -> Option<Vec<u8>> {
    crate::wire::decoded(datagram)
}

/// `datagram` with the authentication code of its head, under the same key.
#[must_use]
pub fn probe_signed(datagram: Vec<u8>) -> Vec<u8> {
    crate::wire::signed(datagram)
}
