//! The program that sends, and the memory between it and TCP (Linux's `sk_sndbuf`).
//!
//! The program writes until the memory is full, and sleeps. TCP wakes it when a third is free
//! (`sk_stream_is_writeable`), and it fills the memory again, in large blocks. So a flow whose window is larger than
//! the memory has between two thirds and all of it in flight, and the data it writes leaves as a burst. A program that
//! writes small blocks stays near two thirds; it is not modelled here.

use super::Sender;
use cc::SUPER_PACKET;
use transport::SendBuffer;
use units::Bytes;

/// The state of the program, in segments.
#[derive(Debug)]
pub(super) struct Writer {
    /// The number of unacknowledged written segments at or below which the program is woken.
    low: u64,
    /// The number of unacknowledged written segments after it has written.
    full: u64,
    /// One past the last segment written.
    pub(super) written: u64,
}

impl Writer {
    /// Creates the program behind `buffer`, for segments with `payload` bytes; `None` if it is never the limit.
    pub(super) fn of(buffer: SendBuffer, payload: Bytes) -> Option<Self> {
        let memory = buffer.payload()? / payload;
        // The program begins another super-packet as long as any memory is left.
        let whole = (SUPER_PACKET / payload).max(1);
        let full = memory.div_ceil(whole) * whole;
        Some(Self { low: memory * 2 / 3, full, written: full })
    }

    /// Lets the program write if the acknowledgement of everything below `una` frees enough memory. Returns true if it
    /// writes.
    fn is_woken(&mut self, una: u64) -> bool {
        let woken = self.written.saturating_sub(una) <= self.low;
        if woken {
            self.written = una + self.full;
        }
        woken
    }
}

impl Sender {
    /// Bounds the segments that may be sent by those that the program has written, and by the `advertised` window.
    pub(super) fn bound_by_writer(&mut self, advertised: u64) {
        let una = self.board.una();
        let Some(writer) = self.options.as_deref_mut().and_then(|options| options.writer.as_mut()) else {
            return;
        };
        let written = writer.written;
        let woken = writer.is_woken(una);
        self.buffer_segments = advertised.min(writer.written - una);
        // `tcp_rate_check_app_limited`: the sender had sent all that was written, and the window had room.
        if woken
            && self.board.next() >= written
            && self.has_room()
            && let Some(delivery) = self.pacing.delivery.as_deref_mut()
        {
            delivery.on_out_of_data(self.board.pipe());
        }
    }

    /// Returns one past the last segment that is written and to be sent.
    pub(super) fn written(&self) -> u64 {
        let writer = self.options.as_deref().and_then(|options| options.writer.as_ref());
        writer.map_or(self.total_segments, |writer| writer.written.min(self.total_segments))
    }
}
