//! The features that may be on in a sender, as types. The code that runs per packet is compiled for each type, so that
//! a flow does not check for features that it does not have.

/// The features that may be on.
pub(crate) trait Features {
    /// True for pacing and delivery rates.
    const PACED: bool;
    /// True for options of loss recovery and of marking: PRR, RACK-TLP, ECN.
    const OPTIONS: bool;
}

/// Windows only.
#[derive(Debug)]
pub(crate) struct Plain;

/// Windows, a pace and delivery rates: what BBR, FAST, Madison and RCP need.
#[derive(Debug)]
pub(crate) struct Paced;

/// All features.
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
