//! The bytes that a packet takes on a medium below IP.

use serde::Serialize;
use units::Bytes;

/// The size of an ATM cell, and of the part of it that carries data (ITU-T I.361).
const CELL: u64 = 53;
const CELL_DATA: u64 = 48;
/// The bytes after which PTM's 64b/65b code adds one (IEEE 802.3, 61.3.3).
const CODE_WORD: u64 = 64;

/// The code in which a medium carries packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Cells {
    /// Bytes as they are.
    #[default]
    None,
    /// ATM: cells of 53 bytes, each with 48 bytes of data. The last one is padded.
    Atm,
    /// PTM, which VDSL2 has: one more byte for each 64 bytes or part of them.
    Ptm,
}

/// The rule for the length of a packet on a medium. Source: Linux `sch_cake`, `cake_calc_overhead`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Framing {
    /// The bytes that the medium adds to each packet.
    pub overhead: Bytes,
    /// The least length of a packet with its overhead.
    pub least: Bytes,
    /// The code of the medium.
    pub cells: Cells,
}

impl Framing {
    /// Returns the bytes on the medium of a packet of `length`.
    #[must_use]
    #[inline]
    pub fn length(&self, length: Bytes) -> Bytes {
        let framed = (length + self.overhead).max(self.least);
        match self.cells {
            Cells::None => framed,
            Cells::Atm => Bytes::new(framed.get().div_ceil(CELL_DATA).saturating_mul(CELL)),
            Cells::Ptm => framed + Bytes::new(framed.get().div_ceil(CODE_WORD)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_the_bytes_that_the_medium_needs() {
        let framing = |overhead, least, cells| Framing {
            overhead: Bytes::new(overhead),
            least: Bytes::new(least),
            cells,
        };
        let length = |framing: Framing, length| framing.length(Bytes::new(length)).get();
        assert_eq!(length(Framing::default(), 1500), 1500);
        // An acknowledgement of 40 bytes over PPPoA with VC-MUX fits into one cell, over PPPoE with LLC into two.
        assert_eq!(length(framing(8, 0, Cells::Atm), 40), 53);
        assert_eq!(length(framing(40, 0, Cells::Atm), 40), 106);
        assert_eq!(length(framing(40, 0, Cells::Atm), 1500), 33 * 53);
        assert_eq!(length(framing(30, 0, Cells::Ptm), 1500), 1530 + 24);
        assert_eq!(length(framing(18, 64, Cells::None), 40), 64);
    }
}
