//! The names of sizers in a scenario, and what they stand for.

use crate::{BufferSizer, Drs, Fixed, Regret, SizerConfig, Sobas, Takeover, Wad};
use units::Bytes;

/// A sizer in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Sizer {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Makes one.
    pub build: fn(SizerConfig) -> Box<dyn BufferSizer>,
}

/// Every sizer that can be named. A window that stays is written as a size, and needs none.
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
        source: "what bulk transfers do without one",
        build: |config| Box::new(Fixed::new(config.maximum)),
    },
];

/// Whether a sizer is called `name`.
#[must_use]
pub fn has(name: &str) -> bool {
    SIZERS.iter().any(|sizer| sizer.name == name)
}

/// The sizer called `name` for segments with `segment` bytes of payload and windows up to `maximum`; `None` if
/// there is none. Its sender is not to be paced.
#[must_use]
pub fn build(name: &str, segment: Bytes, maximum: Bytes) -> Option<Box<dyn BufferSizer>> {
    build_with(name, SizerConfig::new(segment, maximum))
}

/// The sizer called `name`, made for what `config` describes; `None` if there is none.
#[must_use]
pub fn build_with(name: &str, config: SizerConfig) -> Option<Box<dyn BufferSizer>> {
    SIZERS.iter().find(|sizer| sizer.name == name).map(|sizer| (sizer.build)(config))
}
