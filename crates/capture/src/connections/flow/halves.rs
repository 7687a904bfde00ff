//! Round-trip times, in two halves: from the place of the capture to the receiver and back, and to the sender and back.

use units::Span;

/// The ratio from which one half is so much shorter than the other that its changes are noise of the host.
const DOMINANT: u64 = 8;

/// Samples of one half, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Half {
    pub least: Option<u64>,
    pub latest: u64,
    pub largest: u64,
    pub sum: u64,
    pub count: u64,
}

impl Half {
    /// Adds a sample. One that is not `clean` may include a wait of a host, and is good for the least alone.
    pub(super) fn observe(&mut self, sample: u64, clean: bool) {
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        if !clean {
            self.latest = self.latest.max(self.least.unwrap_or(0));
            return;
        }
        self.latest = sample;
        self.largest = self.largest.max(sample);
        self.sum = self.sum.saturating_add(sample);
        self.count += 1;
    }

    /// Returns the growth of the latest sample over the least.
    fn growth(&self) -> u64 {
        self.least.map_or(0, |least| self.latest.saturating_sub(least))
    }
}

/// Both halves of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Halves {
    /// From the data to their acknowledgement.
    pub receiver: Half,
    /// From an acknowledgement to the data that it released.
    pub sender: Half,
}

/// The place of a capture on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Sender,
    Middle,
    Receiver,
}

impl Halves {
    /// Returns the place of the capture; `None` if it is not known.
    pub(super) fn side(&self) -> Option<Side> {
        let (receiver, sender) = (self.receiver.least?, self.sender.least?);
        Some(if sender.saturating_mul(DOMINANT) <= receiver {
            Side::Sender
        } else if receiver.saturating_mul(DOMINANT) <= sender {
            Side::Receiver
        } else {
            Side::Middle
        })
    }

    /// Returns the least round-trip time, as far as it is known.
    pub(super) fn least(&self) -> Option<u64> {
        match (self.receiver.least, self.sender.least) {
            (Some(receiver), Some(sender)) => Some(receiver.saturating_add(sender)),
            (receiver, _) => receiver,
        }
    }

    /// Returns the time by which the latest samples are longer than the least, without the noise of a near host.
    pub(super) fn growth(&self) -> u64 {
        match self.side() {
            Some(Side::Receiver) => self.sender.growth(),
            Some(Side::Middle) => self.receiver.growth().saturating_add(self.sender.growth()),
            Some(Side::Sender) | None => self.receiver.growth(),
        }
    }

    /// Returns the present round-trip time.
    pub(super) fn latest(&self) -> Option<Span> {
        Some(Span::from_nanos(self.least()?.saturating_add(self.growth())))
    }

    /// Returns the time from an acknowledgement at this place to the data that the sender answers with: zero at the
    /// sender, or if it is not known.
    pub(super) fn sender_delay(&self) -> u64 {
        match self.side() {
            Some(Side::Sender) | None => 0,
            Some(Side::Middle | Side::Receiver) => {
                self.sender.least.unwrap_or(0).saturating_add(self.sender.growth())
            }
        }
    }
}
