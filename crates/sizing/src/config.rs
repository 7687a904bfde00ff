//! The settings of a sizer.

use crate::sobas::Parameters;
use estimate::TRAINS;
use units::Bytes;

/// The largest window by default: 32 MB fill 1 Gbit/s over 250 ms.
pub const USUAL_MAXIMUM: Bytes = Bytes::new(32_000_000);

/// The share of an open window's goodput that SOBAS may give up in `send`, `receive` and `tune`.
pub const USUAL_REGRET: f64 = 0.05;

/// The payload of a segment before any has arrived: that of Ethernet with time stamps.
pub const USUAL_SEGMENT: Bytes = Bytes::new(1448);

/// The connection for which a sizer is made. All sizers use segment and maximum; the rest is for SOBAS.
#[derive(Clone, Copy, Debug)]
pub struct SizerConfig {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// The largest window.
    pub maximum: Bytes,
    /// Headers around a segment's payload, at the layer at which trains measure the capacity.
    pub header: Bytes,
    /// True if the sender is ours, so that it can be paced.
    pub can_pace: bool,
    /// The number of trains to request; zero if the other side does not cooperate.
    pub trains: usize,
    /// The window that the sender was promised, if the transfer is already under way.
    pub running: Option<Bytes>,
    /// The share of goodput that SOBAS may give up against a window without limit; `None`: no bound.
    pub regret: Option<f64>,
    /// The parameters of SOBAS's decisions.
    pub parameters: Parameters,
}

impl SizerConfig {
    /// Makes the settings for segments with `segment` bytes of payload and windows up to `maximum`. The transfer is
    /// about to begin; its sender answers trains and is not paced.
    #[must_use]
    pub fn new(segment: Bytes, maximum: Bytes) -> Self {
        Self {
            segment,
            maximum,
            header: Bytes::new(52),
            can_pace: false,
            trains: TRAINS,
            running: None,
            regret: None,
            parameters: Parameters::default(),
        }
    }
}
