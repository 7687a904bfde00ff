//! Buffers for packets in flight, from free lists: after the first moments nothing is allocated.

use crate::segment::Split;

/// The longest frame on a TUN descriptor: virtio header and an IP packet of 65535 bytes.
pub(crate) const FRAME_MAX: usize = crate::vnet::VNET_LEN + 65535;

/// The sizes of buffers: three, so that a small packet does not hold 64 kB while it travels.
const SIZES: [usize; 3] = [2048, 16 << 10, FRAME_MAX];

/// A packet in flight.
#[derive(Debug)]
pub(crate) struct Stored {
    buffer: Box<[u8]>,
    length: usize,
    pub(crate) split: Split,
    pub(crate) flow: u32,
    /// The number of segments still in flight.
    pending: u32,
}

impl Stored {
    /// Returns the virtio header and the packet as they were read.
    pub(crate) fn frame(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Returns the same bytes for changes.
    pub(crate) fn frame_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.length]
    }
}

/// All packets in flight.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: [Vec<Box<[u8]>>; SIZES.len()],
    slots: Vec<Stored>,
    vacant: Vec<u32>,
}

impl Pool {
    /// Returns a buffer of the largest size, to read into.
    pub(crate) fn scratch(&mut self) -> Box<[u8]> {
        self.take(SIZES.len() - 1)
    }

    /// Keeps the first `length` bytes of `scratch` until all segments of `split` are released. A large packet keeps the
    /// scratch buffer itself, which is replaced by another; a small one is copied.
    pub(crate) fn store(&mut self, scratch: &mut Box<[u8]>, length: usize, split: Split, flow: u32) -> u32 {
        let class = SIZES.iter().position(|size| length <= *size).unwrap_or(SIZES.len() - 1);
        let mut buffer = self.take(class);
        if class == SIZES.len() - 1 {
            std::mem::swap(&mut buffer, scratch);
        } else {
            buffer[..length].copy_from_slice(&scratch[..length]);
        }
        let stored = Stored { buffer, length, split, flow, pending: split.count() };
        if let Some(slot) = self.vacant.pop() {
            self.slots[slot as usize] = stored;
            slot
        } else {
            self.slots.push(stored);
            (self.slots.len() - 1) as u32
        }
    }

    /// Returns the packet in `slot`.
    pub(crate) fn get(&self, slot: u32) -> &Stored {
        &self.slots[slot as usize]
    }

    /// Returns the same packet for changes.
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Stored {
        &mut self.slots[slot as usize]
    }

    /// Releases `segments` of the packet in `slot`, which have left the path, delivered or dropped.
    pub(crate) fn release(&mut self, slot: u32, segments: u32) {
        let stored = &mut self.slots[slot as usize];
        stored.pending -= segments;
        if stored.pending == 0 {
            let buffer = std::mem::take(&mut stored.buffer);
            let class = SIZES.iter().position(|size| buffer.len() == *size);
            self.free[class.unwrap_or(SIZES.len() - 1)].push(buffer);
            self.vacant.push(slot);
        }
    }

    /// Returns the number of packets in flight.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    fn take(&mut self, class: usize) -> Box<[u8]> {
        self.free[class].pop().unwrap_or_else(|| vec![0; SIZES[class]].into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vnet::VnetHeader;

    fn whole(length: usize) -> Split {
        Split::of(VnetHeader::default(), &vec![0x45; length]).expect("a packet")
    }

    #[test]
    fn buffers_come_back_and_are_used_again() {
        let mut pool = Pool::default();
        let mut scratch = pool.scratch();
        for round in 0..3u8 {
            for length in [40, 2048, 2049, 16 << 10, 50_000] {
                scratch[..length].fill(round);
                let slot = pool.store(&mut scratch, length, whole(length), 0);
                assert!(pool.get(slot).frame().iter().all(|byte| *byte == round));
                assert_eq!(pool.get(slot).frame().len(), length);
                assert_eq!(scratch.len(), FRAME_MAX, "there is always room to read the next packet");
                pool.release(slot, 1);
            }
        }
        assert_eq!(pool.held(), 0);
        assert_eq!(pool.slots.len(), 1, "one packet at a time needs one slot");
        assert_eq!(pool.free.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
