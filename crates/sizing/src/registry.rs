//! The sizers that a scenario can name.

use crate::{BufferSizer, Drs, Fixed, Regret, SizerConfig, Sobas, Takeover, Wad};
use std::sync::{PoisonError, RwLock};
use units::{Bytes, Complaint};

/// A sizer in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Sizer {
    /// The name in a scenario.
    pub name: &'static str,
    /// The effect, in one line.
    pub summary: &'static str,
    /// The paper or program that defines it.
    pub source: &'static str,
    /// The function that makes one.
    pub build: fn(SizerConfig) -> Box<dyn BufferSizer>,
}

/// Every sizer that can be named. A constant window is written as a size and needs no sizer.
pub const SIZERS: &[Sizer] = &[
    Sizer {
        name: "sobas",
        summary: "S = R T found during the transfer: fills the path without a standing queue, follows it as it changes",
        source: "Prasad, Jain & Dovrolis 2004; docs/adr/0009",
        build: |config| match (config.running, config.regret) {
            (Some(_), _) => Box::new(Takeover::new(config)),
            (None, Some(_)) => Box::new(Regret::new(config)),
            (None, None) => Box::new(Sobas::new(config)),
        },
    },
    Sizer {
        name: "drs",
        summary: "dynamic right-sizing: twice what a round trip delivers, with room to grow, never less than before",
        source: "Fisk & Feng 2001; Linux, tcp_rcv_space_adjust",
        build: |config| Box::new(Drs::new(config.segment, config.maximum)),
    },
    Sizer {
        name: "wad",
        summary: "capacity by packet trains times base RTT, measured once before the transfer",
        source: "Dunigan, Mathis & Tierney 2002",
        build: |config| Box::new(Wad::new(&config)),
    },
    Sizer {
        name: "maximum",
        summary: "the largest window there may be, from the beginning",
        source: "what bulk transfers do without a sizer",
        build: |config| Box::new(Fixed::new(config.maximum)),
    },
];

/// Sizers that the program has added.
static ADDED: RwLock<Vec<Sizer>> = RwLock::new(Vec::new());

/// Adds a sizer of the program's own: from then on scenarios may name it.
///
/// # Errors
/// If a sizer has that name already.
pub fn add(sizer: Sizer) -> Result<(), Complaint> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if SIZERS.iter().chain(&*added).any(|known| known.name == sizer.name) {
        let found = format!("there is a sizer \"{}\" already", sizer.name);
        return Err(Complaint::new("", found).accepted("a name of its own"));
    }
    added.push(sizer);
    Ok(())
}

/// Returns every sizer that can be named: [`SIZERS`], then those that the program has added.
#[must_use]
pub fn sizers() -> Vec<Sizer> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    SIZERS.iter().chain(&*added).copied().collect()
}

/// Returns true if the program has added a sizer called `name`.
#[must_use]
pub fn is_added(name: &str) -> bool {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).iter().any(|sizer| sizer.name == name)
}

/// Returns true if a sizer is called `name`.
#[must_use]
pub fn has(name: &str) -> bool {
    SIZERS.iter().any(|sizer| sizer.name == name) || is_added(name)
}

/// Makes the sizer called `name` for segments with `segment` bytes of payload and windows up to `maximum`. Returns
/// `None` if no sizer has that name. It does not pace its sender.
#[must_use]
pub fn build(name: &str, segment: Bytes, maximum: Bytes) -> Option<Box<dyn BufferSizer>> {
    build_with(name, SizerConfig::new(segment, maximum))
}

/// Makes the sizer called `name` for a connection as `config` describes it. Returns `None` if no sizer has that name.
#[must_use]
pub fn build_with(name: &str, config: SizerConfig) -> Option<Box<dyn BufferSizer>> {
    let added = || sizers().into_iter().find(|sizer| sizer.name == name);
    let sizer = SIZERS.iter().find(|sizer| sizer.name == name).copied().or_else(added)?;
    Some((sizer.build)(config))
}
