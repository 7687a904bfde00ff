//! [`ProbeKey`]: the secret that both sides share.

use host::HostError;
use std::fmt;

/// The purpose of the derived key, which separates it from every other use of the same secret.
const CONTEXT: &str = "tightlink 2026-11 UDP probes, echoes and packet trains";

/// The number of bytes of a truncated code: forging one takes 2^127 tries on average.
pub(crate) const CODE: usize = 16;

/// A key for the probes of one session. It must be fresh for each run: datagrams of an earlier run with the same key
/// and session would be taken for new ones.
#[derive(Clone)]
pub struct ProbeKey([u8; 32]);

impl ProbeKey {
    /// Derives the key from a secret that both sides have. The secret may serve other purposes as well.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key(CONTEXT, secret))
    }

    /// Makes a fresh key from the system's random numbers.
    ///
    /// # Errors
    /// [`HostError::System`] if the system has none.
    pub fn random() -> Result<Self, HostError> {
        let mut secret = [0; 32];
        host::fill_random(&mut secret)?;
        Ok(Self::from_secret(&secret))
    }

    /// Computes the authentication code of `parts`, one after the other.
    pub(crate) fn code(&self, parts: &[&[u8]]) -> [u8; CODE] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(part);
        }
        let mut code = [0; CODE];
        code.copy_from_slice(&hasher.finalize().as_bytes()[..CODE]);
        code
    }
}

impl fmt::Debug for ProbeKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ProbeKey(..)")
    }
}

/// Returns true if two codes are equal, in a time that does not reveal where they differ.
pub(crate) fn same(a: &[u8; CODE], b: &[u8; CODE]) -> bool {
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b));
    std::hint::black_box(differ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_depends_on_the_key_and_on_every_byte() {
        let (one, other) = (ProbeKey::from_secret(&[1; 32]), ProbeKey::from_secret(&[2; 32]));
        let code = one.code(&[b"ab", b"c"]);
        assert!(same(&code, &one.code(&[b"abc"])));
        assert!(!same(&code, &other.code(&[b"abc"])));
        assert!(!same(&code, &one.code(&[b"abd"])));
    }

    #[test]
    fn a_key_does_not_show_itself_and_is_not_drawn_twice() {
        let key = ProbeKey::random().unwrap();
        assert_eq!(format!("{key:?}"), "ProbeKey(..)");
        assert_ne!(key.0, ProbeKey::random().unwrap().0);
    }
}
