//! Controllers and sizers as data: names of the registries of `cc` and `sizing`, with settings.

use super::FlowPlan;
use cc::registry::{Tuning, tuned};
use cc::{CongestionControl, Start};
use serde::Serialize;
use sizing::{BufferSizer, SizerConfig};
use units::Bytes;

/// A congestion controller at its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlPlan {
    /// Its name in the registry of `cc`.
    pub name: String,
    /// The name of its slow start in the registry.
    pub slow_start: String,
    /// The window and the threshold with which it begins.
    pub start: Start,
    /// Its settings.
    pub tuning: Tuning,
}

impl ControlPlan {
    /// Makes the controller called `name` with the standard slow start, an initial window of ten segments of `segment`
    /// bytes of payload, and no slow-start threshold.
    #[must_use]
    pub fn new(name: &str, segment: Bytes) -> Self {
        Self {
            name: name.into(),
            slow_start: "standard".into(),
            start: Start { segment, window: segment * 10, threshold: Bytes::MAX },
            tuning: Tuning::default(),
        }
    }

    /// Builds the controller.
    ///
    /// # Panics
    /// If the registry lacks the controller or the slow start.
    pub(crate) fn build(&self) -> Box<dyn CongestionControl> {
        tuned(&self.name, &self.slow_start, self.start, self.tuning)
            .unwrap_or_else(|| panic!("no control \"{}\" with slow start \"{}\"", self.name, self.slow_start))
    }
}

/// A sizer of the receive window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizerPlan {
    /// Its name in the registry of `sizing`.
    pub name: String,
    /// True if it may ask the sender to pace.
    pub can_pace: bool,
    /// The share of goodput that it may give up against a window without limit.
    pub regret: Option<f64>,
}

impl SizerPlan {
    /// Builds the sizer of `flow`, for windows up to its socket buffer.
    ///
    /// # Panics
    /// If the registry lacks the sizer.
    pub(crate) fn build(&self, flow: &FlowPlan) -> Box<dyn BufferSizer> {
        let config = SizerConfig {
            header: flow.header,
            can_pace: self.can_pace,
            regret: self.regret,
            ..SizerConfig::new(flow.payload, flow.socket_buffer)
        };
        sizing::registry::build_with(&self.name, config)
            .unwrap_or_else(|| panic!("no sizer \"{}\"", self.name))
    }
}
