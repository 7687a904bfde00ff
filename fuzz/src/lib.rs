//! Shared by the targets: the check that they were built for fuzzing, and the forms of their inputs.

/// `checked()` of a crate's module `fuzzing`.
type Checked = fn() -> bool;

/// Ends the process unless every crate under test panics on overflows and failed `debug_assert!`s. A target that lacks
/// these checks finds much less, and would not say so.
pub fn ready() {
    let crates: [(&str, Checked); 8] = [
        ("units", units::fuzzing::checked),
        ("capture", capture::fuzzing::checked),
        ("link", link::fuzzing::checked),
        ("scenario", scenario::fuzzing::checked),
        ("emu", emu::fuzzing::checked),
        ("probe", probe::fuzzing::checked),
        ("quic", quic::fuzzing::checked),
        ("transfer", transfer::fuzzing::checked),
    ];
    // libFuzzer's own hook ends the process at any panic.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let unchecked: Vec<&str> =
        crates.iter().filter(|(_, checked)| !checked()).map(|(name, _)| *name).collect();
    std::panic::set_hook(hook);
    if !unchecked.is_empty() {
        eprintln!("built without overflow checks or debug assertions: {}", unchecked.join(", "));
        eprintln!("  help: build with scripts/fuzz or cargo fuzz, which use fuzz/Cargo.toml");
        std::process::exit(3);
    }
}

/// A frame of the transfer's protocol around `body`: four bytes of length, little-endian.
#[must_use]
pub fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..], body].concat()
}

/// A record of a journal around `body`: a length, the first four bytes of its BLAKE3 hash, the body.
#[must_use]
pub fn record(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..], &blake3::hash(body).as_bytes()[..4], body].concat()
}

/// The text of a ticket with this content: the checksum is added, so that a mutated content is read at all.
#[must_use]
pub fn ticket(content: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let sum = blake3::hash(content);
    let (mut held, mut bits, mut text) = (0u32, 0, String::from("tl1"));
    for &byte in content.iter().chain(&sum.as_bytes()[..4]) {
        held = (held << 8 | u32::from(byte)) & 0xffff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(LETTERS[(held >> bits & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(LETTERS[(held << (5 - bits) & 31) as usize]));
    }
    text
}

/// `bytes` as pieces, each behind one byte of length; the last may be cut short.
pub fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = bytes.split_first()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        bytes = rest;
        Some(piece)
    })
}

/// A segment of a script (`transfer::fuzzing`): 0, bytes as they are; 1, the body of a frame; 2 and more, a turn.
///
/// # Panics
/// If there are too many bytes for a segment.
#[must_use]
pub fn segment(kind: u8, bytes: &[u8]) -> Vec<u8> {
    assert!(kind < 16 && bytes.len() < 4096);
    [&[kind | (bytes.len() >> 8 << 4) as u8, bytes.len() as u8], bytes].concat()
}
