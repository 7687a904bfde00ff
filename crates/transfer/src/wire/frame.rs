//! Frames: four bytes of length, little-endian, and a message.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// No message is longer: the digests of a file with the most chunks there can be, and something around it.
pub const LONGEST: usize = 4 << 20;
const LENGTH: usize = 4;

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A length that no message has.
    #[error("a message of {0} bytes, at most {LONGEST} are accepted")]
    Long(usize),
    /// Not a message of this kind.
    #[error("a message that cannot be read: {0}")]
    Malformed(postcard::Error),
    /// Something is left behind the message.
    #[error("{0} bytes too many behind a message")]
    Trailing(usize),
}

/// Appends `message` to `out` as a frame.
///
/// # Panics
/// If the message is longer than [`LONGEST`]: it must be cut before.
pub fn append<M: Serialize>(out: &mut Vec<u8>, message: &M) {
    let start = out.len();
    out.extend([0; LENGTH]);
    let taken = std::mem::take(out);
    *out = postcard::to_extend(message, taken).expect("a message can be written to memory");
    let length = out.len() - start - LENGTH;
    assert!(length <= LONGEST, "a message of {length} bytes");
    out[start..start + LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
}

/// The first message of `bytes` and how many bytes it takes; `None` while it is not all there.
///
/// # Errors
/// [`FrameError`].
pub fn first<M: DeserializeOwned>(bytes: &[u8]) -> Result<Option<(M, usize)>, FrameError> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LONGEST {
        return Err(FrameError::Long(length));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let (message, left) = postcard::take_from_bytes(body).map_err(FrameError::Malformed)?;
    if !left.is_empty() {
        return Err(FrameError::Trailing(left.len()));
    }
    Ok(Some((message, LENGTH + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::Chunks;
    use crate::name::Name;
    use crate::wire::Greeting;
    use crate::wire::control::{Entry, Kind, Stamp, ToReceiver, ToSender, Verdict};
    use crate::wire::data::Data;
    use proptest::prelude::*;

    fn round_trip<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &M) {
        let mut bytes = vec![1, 2, 3];
        append(&mut bytes, message);
        append(&mut bytes, message);
        let (read, length) = first::<M>(&bytes[3..]).unwrap().unwrap();
        assert_eq!(read, *message);
        assert_eq!(first::<M>(&bytes[3 + length..]).unwrap().unwrap().0, *message);
        for cut in 0..length {
            assert_eq!(first::<M>(&bytes[3..3 + cut]), Ok(None), "not whole yet");
        }
    }

    #[test]
    fn frames_come_out_as_they_went_in_one_behind_the_other() {
        let kind = Kind::File { size: 5, chunk: 20, version: [3; 16] };
        let modified = Stamp { seconds: -1, nanos: 5 };
        let entry = Entry { name: Name::new(b"a/\xff".to_vec()).unwrap(), kind, mode: 0o644, modified };
        round_trip(&ToReceiver::Offer { id: 7, entry });
        round_trip(&ToSender::Answer { id: 7, verdict: Verdict::Rest(vec![(3, [7; 32])]) });
        round_trip(&Data::Small { id: u64::MAX, length: 9, digest: [1; 32] });
        round_trip(&Greeting::Data { token: [1; 16], stream: 3 });
    }

    #[test]
    fn the_longest_message_fits() {
        let most = Chunks::new(1 << 40).count();
        let verdict = Verdict::Rest((0..most).map(|index| (index, [255; 32])).collect());
        let mut bytes = Vec::new();
        append(&mut bytes, &ToSender::Answer { id: u64::MAX, verdict });
        assert!(first::<ToSender>(&bytes).unwrap().is_some());
    }

    #[test]
    fn a_name_that_leads_out_is_no_message() {
        let mut bytes = Vec::new();
        let kind = Kind::Folder;
        let entry =
            Entry { name: Name::new(b"xx/etc".to_vec()).unwrap(), kind, mode: 0, modified: Stamp::default() };
        append(&mut bytes, &ToReceiver::Offer { id: 0, entry });
        let at = bytes.windows(2).position(|pair| pair == b"xx").unwrap();
        bytes[at..at + 2].copy_from_slice(b"..");
        assert!(matches!(first::<ToReceiver>(&bytes), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn a_length_beyond_all_messages_is_refused_before_anything_is_read() {
        assert_eq!(first::<Data>(&u32::MAX.to_le_bytes()), Err(FrameError::Long(u32::MAX as usize)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_any_parser_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let framed = [&(body.len() as u32).to_le_bytes()[..], &body].concat();
            for bytes in [&body, &framed] {
                let _ = first::<Greeting>(bytes);
                let _ = first::<ToReceiver>(bytes);
                let _ = first::<ToSender>(bytes);
                let _ = first::<Data>(bytes);
            }
        }

        #[test]
        fn no_changed_byte_makes_a_parser_panic(at in 0usize..80, to: u8) {
            let mut bytes = Vec::new();
            let entry = Entry {
                name: Name::new(b"a/b/c".to_vec()).unwrap(),
                kind: Kind::Link { target: b"somewhere".to_vec() },
                mode: 0o777,
                modified: Stamp { seconds: 1 << 40, nanos: 1 },
            };
            append(&mut bytes, &ToReceiver::Offer { id: 1 << 50, entry });
            let at = at % bytes.len();
            bytes[at] = to;
            if let Ok(Some((ToReceiver::Offer { entry, .. }, _))) = first::<ToReceiver>(&bytes) {
                prop_assert!(!entry.name.bytes().split(|&byte| byte == b'/').any(|part| part == b".."));
            }
        }
    }
}
