//! Scripts: bytes that are read as calls. Property tests and fuzz targets play them.

pub(crate) mod datagrams;
pub(crate) mod ledger;

#[cfg(test)]
#[path = "../tests/within/scripts.rs"]
mod properties;

/// The bytes of a script that are not read yet. A used-up script gives zeros.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        byte
    }

    /// Reads a number of two bytes.
    fn number(&mut self) -> u64 {
        u64::from(self.byte()) << 8 | u64::from(self.byte())
    }
}
