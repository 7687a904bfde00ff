//! [`Host`]: the defaults of both ends of a flow, which single keys override. `tables/` has the values and their
//! sources.

use crate::schema;
use crate::tables::FLOW;
use crate::values::Host;
use std::str::FromStr;
use units::Bytes;

impl Host {
    /// Returns the default of a key of `[[flow]]` on this host, for a flow with `control`; `None` if it has none of
    /// type `T`.
    #[must_use]
    pub fn default_of<T: FromStr>(self, key: &str, control: &str) -> Option<T> {
        let written = schema::find(FLOW, key)?.default.on(self, control)?;
        written.trim_matches('"').parse().ok()
    }
}

/// The largest receive window that Linux chooses by itself, in payload: 32 MiB of memory (`tcp_rmem`, since 6.16). Of
/// it 170/256 are payload behind a TUN device (`scaling_ratio`), and 229/256 behind a network card.
pub const AUTOTUNED: Bytes = Bytes::new((32 << 20) * 170 / 256);
