//! The unit of each column as metadata of its field, where Parquet has no place for it.
//!
//! Parquet's schema has no metadata of a field. Arrow's has, and readers of Parquet into Arrow (pyarrow, pandas,
//! Polars, DuckDB) look for an Arrow schema in the file's metadata, under [`KEY`]. It is an encapsulated IPC message in
//! base 64, and the message is a FlatBuffer. Only the parts that our four kinds of columns need are written, front to
//! back: an object is written after the one that points at it. The crates that could do it would be most of the code
//! that this room has to compile.

use super::sheets::Kind;

/// The key under which readers look for the schema.
pub(super) const KEY: &str = "ARROW:schema";
/// The key under which a field's metadata has its unit.
const UNIT: &str = "unit";

/// Writes the schema of a table with these columns: name, unit and kind of each.
pub(super) fn schema(columns: &[(&str, &str, Kind)]) -> String {
    let mut flat = Flat::default();
    let root = flat.put(&[0; 4]);
    // Message: version 5, header of the type schema, length of the body.
    let message = flat.table(root, &[Slot::Short(4), Slot::Byte(1), Slot::Offset, Slot::Long(0)]);
    // Schema: little endian, fields.
    let schema = flat.table(message[0], &[Slot::Short(0), Slot::Offset]);
    for (place, (name, unit, kind)) in flat.vector(schema[0], columns.len()).into_iter().zip(columns) {
        field(&mut flat, place, name, unit, *kind);
    }
    let padded = flat.0.len().next_multiple_of(8);
    flat.0.resize(padded, 0);
    let mut message = vec![0xff; 4];
    message.extend((padded as u32).to_le_bytes());
    message.extend(flat.0);
    base64(&message)
}

/// Writes a field: its name, whether it may be null, its type and that type's settings, no dictionary, no children,
/// metadata.
fn field(flat: &mut Flat, place: usize, name: &str, unit: &str, kind: Kind) {
    let nullable = match kind {
        Kind::Required | Kind::Text => 0,
        Kind::Number | Kind::Whole => 1,
    };
    // The number of the type in Arrow's list of types, and the fields of the type's table.
    let (number, settings): (u8, &[Slot]) = match kind {
        Kind::Required | Kind::Number => (3, &[Slot::Short(2)]),
        Kind::Whole => (2, &[Slot::Int(64), Slot::Byte(0)]),
        Kind::Text => (5, &[]),
    };
    let metadata = if unit.is_empty() { Slot::Absent } else { Slot::Offset };
    let parts = flat.table(
        place,
        &[
            Slot::Offset,
            Slot::Byte(nullable),
            Slot::Byte(number),
            Slot::Offset,
            Slot::Absent,
            Slot::Offset,
            metadata,
        ],
    );
    flat.text(parts[0], name);
    flat.table(parts[1], settings);
    flat.vector(parts[2], 0);
    if let Some(metadata) = parts.get(3) {
        let entry = flat.vector(*metadata, 1)[0];
        let pair = flat.table(entry, &[Slot::Offset, Slot::Offset]);
        flat.text(pair[0], UNIT);
        flat.text(pair[1], unit);
    }
}

/// A field of a FlatBuffer's table.
#[derive(Clone, Copy)]
enum Slot {
    Absent,
    Byte(u8),
    Short(u16),
    Int(u32),
    Long(u64),
    /// The place of an object that follows.
    Offset,
}

/// An unfinished FlatBuffer.
#[derive(Default)]
struct Flat(Vec<u8>);

impl Flat {
    /// Appends bytes that keep the alignment of their number. Returns the place where they begin.
    fn put(&mut self, bytes: &[u8]) -> usize {
        let at = self.0.len().next_multiple_of(bytes.len().max(1));
        self.0.resize(at, 0);
        self.0.extend(bytes);
        at
    }

    /// Sets the offset at `place` to point at `target`.
    fn point(&mut self, place: usize, target: usize) {
        self.0[place..place + 4].copy_from_slice(&((target - place) as u32).to_le_bytes());
    }

    /// Writes a table that the offset at `from` points at. Returns the places of its own offsets.
    fn table(&mut self, from: usize, slots: &[Slot]) -> Vec<usize> {
        // The widest field has eight bytes: with that alignment, places within the table are known before it is
        // written.
        let (mut end, mut places) = (4_usize, Vec::with_capacity(slots.len()));
        for slot in slots {
            let size = slot.bytes().len();
            end = end.next_multiple_of(size.max(1));
            places.push(if size == 0 { 0 } else { end });
            end += size;
        }
        let vtable = self.put(&(4 + 2 * slots.len() as u16).to_le_bytes());
        for number in std::iter::once(end).chain(places) {
            self.put(&(number as u16).to_le_bytes());
        }
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let at = self.put(&[0; 4]);
        self.0[at..at + 4].copy_from_slice(&((at - vtable) as u32).to_le_bytes());
        self.point(from, at);
        let mut offsets = Vec::new();
        for slot in slots {
            let place = self.put(&slot.bytes());
            if matches!(slot, Slot::Offset) {
                offsets.push(place);
            }
        }
        offsets
    }

    /// Writes a vector of `count` offsets that the one at `from` points at. Returns their places.
    fn vector(&mut self, from: usize, count: usize) -> Vec<usize> {
        let at = self.put(&(count as u32).to_le_bytes());
        self.point(from, at);
        (0..count).map(|_| self.put(&[0; 4])).collect()
    }

    /// Writes a text that the offset at `from` points at.
    fn text(&mut self, from: usize, text: &str) {
        let at = self.put(&(text.len() as u32).to_le_bytes());
        self.point(from, at);
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }
}

impl Slot {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Absent => Vec::new(),
            Self::Byte(value) => vec![value],
            Self::Short(value) => value.to_le_bytes().into(),
            Self::Int(value) => value.to_le_bytes().into(),
            Self::Long(value) => value.to_le_bytes().into(),
            Self::Offset => vec![0; 4],
        }
    }
}

/// Encodes bytes by RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..4 {
            if letter <= group.len() {
                text.push(char::from(LETTERS[(word >> (18 - 6 * letter) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn what_is_wide_lies_at_a_multiple_of_its_width() {
        let mut flat = Flat::default();
        let root = flat.put(&[0; 4]);
        let slots = [Slot::Byte(7), Slot::Long(0x0102_0304_0506_0708), Slot::Absent, Slot::Short(9)];
        assert!(flat.table(root, &slots).is_empty());
        let bytes = &flat.0;
        let long = bytes.windows(8).position(|eight| eight == [8, 7, 6, 5, 4, 3, 2, 1]).unwrap();
        assert_eq!(long % 8, 0);
        let table = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let vtable = table - u32::from_le_bytes(bytes[table..table + 4].try_into().unwrap()) as usize;
        let numbers: Vec<u16> = bytes[vtable..vtable + 12]
            .chunks(2)
            .map(|two| u16::from_le_bytes(two.try_into().unwrap()))
            .collect();
        // The numbers are the vtable's own length, the table's, and the places of the fields in it.
        assert_eq!(numbers, [12, 18, 4, 8, 0, 16]);
    }
}
