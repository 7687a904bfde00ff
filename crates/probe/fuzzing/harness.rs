//! For the fuzz targets only (`--cfg fuzzing`): the datagrams of probing.

units::fuzzing_checks!();

/// Decodes a datagram and encodes it again, if it is a message under the key that fuzzing uses.
#[must_use]
pub fn probe(datagram: &[u8]) -> Option<Vec<u8>> {
    crate::wire::decoded(datagram)
}

/// Adds the authentication code of its head to `datagram`, under the same key.
#[must_use]
pub fn probe_signed(datagram: Vec<u8>) -> Vec<u8> {
    crate::wire::signed(datagram)
}
