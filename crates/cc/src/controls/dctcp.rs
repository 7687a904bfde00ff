//! DCTCP: Reno's growth; marks take a part of the window that is in proportion to their share.

use super::Reno;
use crate::growth::Growth;
use crate::growth::share::in_use;
use crate::marked_share::MarkedShare;
use crate::{Ack, Congestion, CongestionKind, Marks, Wants};
use units::Bytes;

/// RFC 8257. Its behaviour on loss is Linux's, which is that of Reno (`dctcp_ssthresh`, `dctcp_react_to_loss` of 6.18).
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    reno: Reno,
    segment: Bytes,
    share: MarkedShare,
    /// True if a reduction by marks is rounded down to whole segments, as in Linux. So a share below two marks in a
    /// window takes nothing.
    linux: bool,
}

impl Dctcp {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { reno: Reno::new(segment), segment, share: MarkedShare::default(), linux: false }
    }

    /// Creates Linux's growth rule.
    #[must_use]
    pub fn of_linux(segment: Bytes) -> Self {
        Self { linux: true, ..Self::new(segment) }
    }
}

impl Growth for Dctcp {
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.reno.increase(ack, counted, window)
    }

    /// Returns `cwnd (1 - alpha / 2)` after marks [rfc8257:3.3], and half of the data in flight after a loss.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let half = self.reno.threshold_after(event, window);
        if event.kind != CongestionKind::EcnMark {
            return half;
        }
        let used = in_use(event, window);
        let left = used.scale(self.share.kept());
        if !self.linux {
            return left;
        }
        let taken = used.saturating_sub(left) / self.segment.max(Bytes::new(1));
        used.saturating_sub(self.segment * taken)
    }

    /// Counts marks, and moves the average as a round trip ends. The acknowledgement that ends the round trip counts, as
    /// in Linux (`dctcp_update_alpha`).
    fn on_marks(&mut self, marks: &Marks) {
        self.share.count(marks);
        if marks.round_ends {
            self.share.average();
        }
    }

    fn wants(&self) -> Wants {
        Wants { marks: true, ..Wants::default() }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("marked_share", self.share.alpha());
    }
}
