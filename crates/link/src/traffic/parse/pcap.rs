//! Captures in the classic pcap format: 24 bytes about the file, then for each packet 16 bytes and what was captured of
//! it. Only the times and the original lengths are read.

use super::{Packets, Place, TraceError, error};
use crate::traffic::Trace;

const FILE_HEADER: u64 = 24;
const RECORD_HEADER: usize = 16;
/// No capture keeps more of a packet: such a length is a sign of damage.
const MOST_CAPTURED: u32 = 1 << 18;

#[derive(Debug)]
pub(super) struct Pcap {
    big_endian: bool,
    /// Units of the fraction in a second.
    fractions: u32,
    /// Bytes to read over: of the file's header, or of the packet before.
    skip: u64,
    /// What has come of the next record's header.
    header: Vec<u8>,
    offset: u64,
    packets: Packets,
}

impl Pcap {
    /// By the first four bytes of the file, if they are a capture's.
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        let (big_endian, fractions) = match magic {
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, 1_000_000),
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, 1_000_000),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, 1_000_000_000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, 1_000_000_000),
            _ => return None,
        };
        let packets = Packets::default();
        Some(Self { big_endian, fractions, skip: FILE_HEADER, header: Vec::new(), offset: 0, packets })
    }

    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<(), TraceError> {
        while !piece.is_empty() {
            let take = if self.skip > 0 {
                let take = usize::try_from(self.skip).unwrap_or(usize::MAX).min(piece.len());
                self.skip -= take as u64;
                take
            } else {
                let take = (RECORD_HEADER - self.header.len()).min(piece.len());
                self.header.extend_from_slice(&piece[..take]);
                take
            };
            self.offset += take as u64;
            piece = &piece[take..];
            if self.header.len() == RECORD_HEADER {
                self.record()?;
                self.header.clear();
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Trace, TraceError> {
        if self.skip > 0 || !self.header.is_empty() {
            let found = format!("the capture ends at byte {}, within this packet", self.offset);
            let number = self.packets.trace.len() as u64;
            // The last packet's data are missing, or the next one's header is.
            let number = if self.skip > 0 && number > 0 { number } else { number + 1 };
            let begins = self.offset - self.header.len() as u64;
            return Err(TraceError {
                help: Some("it is cut off: capture again, or repair it with pcapfix".into()),
                ..error(Place::Packet(number, begins), found, "whole packets")
            });
        }
        Ok(self.packets.trace)
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = self.header[at..].first_chunk::<4>().copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// Takes the packet whose header is complete.
    fn record(&mut self) -> Result<(), TraceError> {
        let (seconds, fraction, captured, original) =
            (self.word(0), self.word(4), self.word(8), self.word(12));
        let begins = self.offset - RECORD_HEADER as u64;
        let place = Place::Packet(self.packets.trace.len() as u64 + 1, begins);
        if fraction >= self.fractions || captured > MOST_CAPTURED {
            let found =
                format!("a time of {seconds} s and {fraction}/{}, {captured} bytes captured", self.fractions);
            return Err(error(place, format!("{found}: the capture is damaged"), "a classic pcap capture"));
        }
        let nanos = u64::from(seconds) * 1_000_000_000
            + u64::from(fraction) * u64::from(1_000_000_000 / self.fractions);
        self.packets
            .push(nanos, u64::from(original))
            .map_err(|(found, accepted)| error(place, found, accepted))?;
        self.skip = u64::from(captured);
        Ok(())
    }
}
