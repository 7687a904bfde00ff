//! [`Keys`]: the raw public keys by which both ends of a run know each other.

/// The keys of both ends, made for one run.
#[derive(Clone, Debug)]
pub struct Keys {}

impl Keys {
    /// Makes new keys from the system's random numbers.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        Ok(Self {})
    }
}
