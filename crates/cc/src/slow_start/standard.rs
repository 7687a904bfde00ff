//! Standard slow start: it adds the acknowledged bytes.

use super::{SlowStart, Step};
use crate::Ack;
use units::Bytes;

/// RFC 5681, section 3.1: `cwnd += min(N, SMSS)` for N newly acknowledged bytes. A receiver that acknowledges
/// every d-th segment lets the window grow by 1 + 1/d per round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl SlowStart for Standard {
    #[inline]
    fn on_ack(&mut self, _ack: &Ack, counted: Bytes, _window: Bytes) -> Step {
        Step::Grow(counted)
    }
}
