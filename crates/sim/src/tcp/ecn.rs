//! Explicit congestion notification: a sender's reaction to marks [rfc3168:6.1].

/// The sender's side.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaction {
    /// The segment that reports the last reduction (CWR). Until it is acknowledged, echoes belong to marks that the
    /// sender has answered.
    answered: u64,
    /// True if the next new segment is to report the reduction to the receiver (CWR).
    telling: bool,
}

impl Reaction {
    /// Records that the window came down, for whatever reason; `next` is the next new segment.
    pub(super) fn on_reduction(&mut self, next: u64) {
        (self.answered, self.telling) = (next, true);
    }

    /// Returns true if an echo stands for a mark that is not answered yet; everything below `una` is acknowledged. The
    /// acknowledgement of the segment with CWR is the first that may report another mark. So a sender answers once per
    /// window of data.
    pub(super) fn asks(&self, una: u64) -> bool {
        una > self.answered
    }

    /// Returns true if the new segment that leaves now reports the reduction to the receiver.
    pub(super) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.telling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_answered_once_per_window() {
        let mut reaction = Reaction::default();
        assert!(reaction.asks(1));
        reaction.on_reduction(20);
        assert!(reaction.take_cwr() && !reaction.take_cwr());
        // Up to the acknowledgement that segment 20 would cause, echoes belong to the same mark.
        assert!(!reaction.asks(2) && !reaction.asks(20));
        assert!(reaction.asks(21));
    }
}
