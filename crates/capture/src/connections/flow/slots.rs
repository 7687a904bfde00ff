//! Sums of intervals, of bounded number: if there are too many, pairs merge.

/// The length of an interval at first: that of a socket's readings.
const FIRST_LENGTH: u64 = 20_000_000;

/// The sums of one interval. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub delivered: u64,
    pub sent: u64,
    pub segments: u64,
    /// Payload of the other direction.
    pub returned: u64,
    /// The integral of the bytes in flight over time.
    pub flight: f64,
    pub peak: u64,
    /// The window that the sender knew last, and the least, not scaled.
    pub window: Option<u32>,
    pub least_window: Option<u32>,
    pub receiver_half: HalfSum,
    pub sender_half: HalfSum,
    pub idle: u64,
    pub dry: u64,
    pub retransmitted: u32,
    pub out_of_order: u32,
    pub marked: u32,
}

/// The samples of one half of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HalfSum {
    pub sum: u64,
    pub count: u32,
    pub largest: u64,
    /// The least sample, if there is one.
    pub least: u64,
}

impl HalfSum {
    pub(super) fn observe(&mut self, sample: u64) {
        self.least = if self.count == 0 { sample } else { self.least.min(sample) };
        self.sum = self.sum.saturating_add(sample);
        self.count += 1;
        self.largest = self.largest.max(sample);
    }

    /// Returns the mean.
    pub(super) fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count.into())
    }

    fn add(&mut self, other: &Self) {
        self.least = match (self.count, other.count) {
            (_, 0) => self.least,
            (0, _) => other.least,
            _ => self.least.min(other.least),
        };
        self.sum = self.sum.saturating_add(other.sum);
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }
}

impl Slot {
    /// Adds the interval that follows.
    fn add(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.sent += later.sent;
        self.segments += later.segments;
        self.returned += later.returned;
        self.flight += later.flight;
        self.peak = self.peak.max(later.peak);
        self.window = later.window.or(self.window);
        self.least_window = match (self.least_window, later.least_window) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.receiver_half.add(&later.receiver_half);
        self.sender_half.add(&later.sender_half);
        self.idle += later.idle;
        self.dry += later.dry;
        self.retransmitted = self.retransmitted.saturating_add(later.retransmitted);
        self.out_of_order = self.out_of_order.saturating_add(later.out_of_order);
        self.marked = self.marked.saturating_add(later.marked);
    }

    /// Takes note of a window.
    pub(super) fn see_window(&mut self, window: u32) {
        self.window = Some(window);
        self.least_window = Some(self.least_window.map_or(window, |least| least.min(window)));
    }
}

/// The state of a sender between two packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderState {
    pub flight: u64,
    pub idle: bool,
    pub dry: bool,
}

/// The intervals of a flow.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    origin: u64,
    length: u64,
    slots: Vec<Slot>,
    /// The largest number of intervals.
    most: usize,
    /// The time up to which states are counted.
    until: u64,
}

impl Slots {
    pub(super) const fn new(origin: u64, most: usize) -> Self {
        Self { origin, length: FIRST_LENGTH, slots: Vec::new(), most, until: origin }
    }

    /// Returns the number of intervals.
    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the length of an interval.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the start of the first interval, and the end of the last state.
    pub(super) const fn bounds(&self) -> (u64, u64) {
        (self.origin, self.until)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// Returns the interval of a time.
    pub(super) fn at(&mut self, time: u64) -> &mut Slot {
        let index = loop {
            let index = (time.saturating_sub(self.origin) / self.length) as usize;
            if index < self.most {
                break index;
            }
            self.merge();
        };
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::default());
        }
        &mut self.slots[index]
    }

    /// Sets the largest number of intervals, of which there are two at least.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.max(2);
        while self.slots.len() > self.most {
            self.merge();
        }
    }

    /// Merges pairs of intervals.
    fn merge(&mut self) {
        self.length = self.length.saturating_mul(2);
        let half = self.slots.len().div_ceil(2);
        for at in 0..half {
            let mut slot = self.slots[2 * at];
            if let Some(later) = self.slots.get(2 * at + 1) {
                slot.add(later);
            }
            self.slots[at] = slot;
        }
        self.slots.truncate(half);
        self.slots.shrink_to(half * 2);
    }

    /// Adds what came at the very end to the interval that ends there, so that the last one has a length.
    pub(super) fn close(&mut self) {
        let ends = self.until.saturating_sub(self.origin).div_ceil(self.length).max(1) as usize;
        while self.slots.len() > ends {
            let Some(last) = self.slots.pop() else { return };
            if let Some(slot) = self.slots.last_mut() {
                slot.add(&last);
            }
        }
    }

    /// Counts the state of the sender, from the last call up to `time`.
    pub(super) fn advance(&mut self, time: u64, state: SenderState) {
        if time <= self.until {
            return;
        }
        self.at(time);
        let mut from = self.until;
        while from < time {
            let index = (from - self.origin) / self.length;
            let end = time.min(self.origin.saturating_add((index + 1).saturating_mul(self.length)));
            let part = end - from;
            let slot = &mut self.slots[index as usize];
            slot.flight += state.flight as f64 * part as f64;
            slot.peak = slot.peak.max(state.flight);
            slot.idle += if state.idle { part } else { 0 };
            slot.dry += if state.dry { part } else { 0 };
            from = end;
        }
        self.until = time;
    }
}
