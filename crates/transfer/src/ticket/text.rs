//! Base 32 with Crockford's alphabet in lower case, which has no letters that look alike and none special to a shell.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Encodes `bytes` as letters; zeros fill the last one.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 2);
    let (mut held, mut bits) = (0u32, 0);
    for &byte in bytes {
        held = held << 8 | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(held >> bits & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(held << (5 - bits) & 31) as usize]));
    }
    text
}

/// Decodes the bytes that `text` stands for. Bits that do not fill a byte are ignored.
///
/// # Errors
/// Returns the place, counted from zero, of a letter outside of the alphabet, and the letter.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, (usize, char)> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8 + 1);
    let (mut held, mut bits) = (0u32, 0);
    for (at, letter) in text.chars().enumerate() {
        let lower = letter.to_ascii_lowercase();
        let value = ALPHABET.iter().position(|&known| char::from(known) == lower).ok_or((at, letter))?;
        held = held << 5 | value as u32;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 255) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_five_bits_each() {
        assert_eq!(encode(&[0xff]), "zw");
        assert_eq!(encode(b"hello"), "d1jprv3f");
        assert_eq!(decode("d1jprv3f"), Ok(b"hello".to_vec()));
        assert_eq!(decode("ab!c"), Err((2, '!')));
        assert_eq!(decode("u"), Err((0, 'u')));
    }
}
