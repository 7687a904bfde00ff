//! What is on in a sender, as types. What happens per packet is compiled apart for each, so that nothing a flow does
//! not have is looked at.

/// What may be on.
pub(crate) trait Features {
    /// Pacing and delivery rates.
    const PACED: bool;
    /// Options of loss recovery and of marking: PRR, RACK-TLP, ECN.
    const OPTIONS: bool;
}

/// Windows only.
#[derive(Debug)]
pub(crate) struct Plain;

/// Windows, a pace and delivery rates: what BBR, FAST, Madison and RCP need.
#[derive(Debug)]
pub(crate) struct Paced;

/// Anything.
#[derive(Debug)]
pub(crate) struct Full;

impl Features for Plain {
    const PACED: bool = false;
    const OPTIONS: bool = false;
}

impl Features for Paced {
    const PACED: bool = true;
    const OPTIONS: bool = false;
}

impl Features for Full {
    const PACED: bool = true;
    const OPTIONS: bool = true;
}
