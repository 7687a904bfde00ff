//! Acknowledgements that cross queues on their way back.

use crate::packet::Packet;
use crate::tcp::{Acknowledgement, SackBlocks};
use std::collections::VecDeque;

/// The content of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckContent {
    pub(super) acknowledgement: Acknowledgement,
    pub(super) blocks: SackBlocks,
}

/// A flow's acknowledgements under way. Links carry their numbers; their contents are kept here.
#[derive(Debug, Default)]
pub(super) struct WayBack {
    /// Acknowledgements that have not reached the sender, numbered from `from`. Dropped ones stay until a later one
    /// arrives, which removes all before it, because queues keep a flow's packets in order.
    under_way: VecDeque<AckContent>,
    from: u64,
    /// The packet of an acknowledgement that leaves before the next, until it does.
    pub(super) first: Option<Packet>,
}

impl WayBack {
    /// Adds an acknowledgement that the receiver sends; returns its number.
    pub(super) fn send(&mut self, contents: AckContent) -> u64 {
        self.under_way.push_back(contents);
        self.from + self.under_way.len() as u64 - 1
    }

    /// Returns the acknowledgement of this number, if it has not reached the sender.
    pub(super) fn get(&self, number: u64) -> Option<&AckContent> {
        self.under_way.get(number.checked_sub(self.from)? as usize)
    }

    /// Takes the acknowledgement with this number, which reaches the sender.
    pub(super) fn take(&mut self, number: u64) -> Option<AckContent> {
        let contents = self.under_way.drain(..=number.checked_sub(self.from)? as usize).next_back();
        self.from = number + 1;
        contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{Receiver, Sacks};
    use units::{Span, Time};

    #[test]
    fn what_was_dropped_is_forgotten_with_the_next_that_gets_through() {
        let mut receiver = Receiver::new(1, Span::ZERO, Sacks::Newest);
        let mut contents = |segment| AckContent {
            acknowledgement: receiver.on_segment(Time::ZERO, segment, Time::ZERO).unwrap(),
            blocks: SackBlocks::default(),
        };
        let mut back = WayBack::default();
        let numbers: Vec<u64> = (0..4).map(|segment| back.send(contents(segment))).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert_eq!(back.take(2).map(|contents| contents.acknowledgement.cumulative), Some(3));
        assert_eq!(back.under_way.len(), 1);
        assert!(back.take(1).is_none(), "it came before and will not come again");
        assert_eq!(back.send(contents(4)), 4);
        assert_eq!(back.take(4).map(|contents| contents.acknowledgement.cumulative), Some(5));
        assert!(back.under_way.is_empty());
    }
}
