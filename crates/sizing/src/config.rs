//! What a sizer is made for.

use crate::sobas::Parameters;
use estimate::TRAINS;
use units::Bytes;

/// The largest window, unless said otherwise: 32 MB fill 1 Gbit/s over 250 ms.
pub const USUAL_MAXIMUM: Bytes = Bytes::new(32_000_000);

/// What `send`, `receive` and `tune` let SOBAS give up of the goodput of a window without limit.
pub const USUAL_REGRET: f64 = 0.05;

/// Payload of a segment before any has come: Ethernet's with time stamps.
pub const USUAL_SEGMENT: Bytes = Bytes::new(1448);

/// The connection that a sizer is made for. All of them use segment and maximum, the rest is for SOBAS.
#[derive(Clone, Copy, Debug)]
pub struct SizerConfig {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// The largest window.
    pub maximum: Bytes,
    /// Headers around a segment's payload at the layer of C'.
    pub header: Bytes,
    /// The sender is ours: it can be paced.
    pub can_pace: bool,
    /// Trains to ask for; none where the other side is a stranger.
    pub trains: usize,
    /// The transfer is under way already, and its sender was promised so large a window.
    pub running: Option<Bytes>,
    /// The share of goodput that SOBAS may give up against a window without limit; `None`: no bound.
    pub regret: Option<f64>,
    /// What SOBAS's decisions hang on.
    pub parameters: Parameters,
}

impl SizerConfig {
    /// For segments with `segment` bytes of payload and windows up to `maximum`. The transfer is about to begin, and
    /// its sender answers trains and is not to be paced.
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
