//! Base 32 with Crockford's alphabet in lower case: no letter that is taken for another, nothing a shell reads.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `bytes` as letters, the last one filled up with zeros.
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

/// The bytes that `text` stands for; bits that fill no byte are not looked at.
///
/// # Errors
/// Where a letter stands that is none of the alphabet's, counted from zero, and which.
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
