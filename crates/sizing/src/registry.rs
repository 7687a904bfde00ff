//! The names of sizers in a scenario, and what they stand for.

use crate::{BufferSizer, Drs};
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
}

/// Every sizer that can be named. A window that stays is written as a size, and needs none.
pub const SIZERS: &[Sizer] = &[Sizer {
    name: "drs",
    summary: "dynamic right-sizing: twice what a round trip delivers, with room to grow, never less than before",
    source: "Fisk & Feng 2001; Linux, tcp_rcv_space_adjust",
}];

/// Whether a sizer is called `name`.
#[must_use]
pub fn has(name: &str) -> bool {
    SIZERS.iter().any(|sizer| sizer.name == name)
}

/// The sizer called `name` for segments with `segment` bytes of payload and windows up to `maximum`; `None` if
/// there is none.
#[must_use]
pub fn build(name: &str, segment: Bytes, maximum: Bytes) -> Option<Box<dyn BufferSizer>> {
    match name {
        "drs" => Some(Box::new(Drs::new(segment, maximum))),
        _ => None,
    }
}
