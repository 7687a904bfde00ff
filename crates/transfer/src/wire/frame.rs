//! Frames: four bytes of length, little-endian, and a message.

use super::Greeting;
use super::control::{ToReceiver, ToSender};
use super::data::Data;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

const LENGTH: usize = 4;

/// A message that travels in a frame.
pub trait Framed: Serialize + DeserializeOwned {
    /// The greatest length of a message in its frame, in bytes. A reader never has to hold more, whatever a peer
    /// claims.
    const LONGEST: usize;
}

/// Room for a name and a link's target of 4095 bytes each, or for the reports of 64 connections of 90 bytes each, and
/// for the fields around them.
impl Framed for ToReceiver {
    const LONGEST: usize = 16 << 10;
}

/// Room for the digests of a file with the greatest number of chunks, and for the fields around them.
impl Framed for ToSender {
    const LONGEST: usize = 4 << 20;
}

/// Room for numbers, a token and the additions of later versions.
impl Framed for Greeting {
    const LONGEST: usize = 1 << 10;
}

/// Room for numbers, a digest and the additions of later versions.
impl Framed for Data {
    const LONGEST: usize = 1 << 10;
}

/// The reason for which bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A length greater than that of any such message.
    #[error("a message of {length} bytes, at most {most} are accepted")]
    Long {
        /// The claimed length, in bytes.
        length: usize,
        /// The greatest accepted length, in bytes.
        most: usize,
    },
    /// Bytes that are not a message of this kind.
    #[error("a message that cannot be read: {0}")]
    Malformed(postcard::Error),
    /// Bytes left over after the message.
    #[error("{0} bytes too many after a message")]
    Trailing(usize),
}

/// Appends `message` to `out` as a frame.
///
/// # Panics
/// If the message is longer than [`Framed::LONGEST`]; the caller must cut it before.
pub fn append<M: Framed>(out: &mut Vec<u8>, message: &M) {
    let start = out.len();
    out.extend([0; LENGTH]);
    let taken = std::mem::take(out);
    *out = postcard::to_extend(message, taken).expect("a message can be written to memory");
    let length = out.len() - start - LENGTH;
    assert!(length <= M::LONGEST, "a message of {length} bytes");
    out[start..start + LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Reads the first message of `bytes`, and returns it with its length in bytes. Returns `None` if it is incomplete.
///
/// # Errors
/// Returns a [`FrameError`] if the bytes are not a frame.
pub fn first<M: Framed>(bytes: &[u8]) -> Result<Option<(M, usize)>, FrameError> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > M::LONGEST {
        return Err(FrameError::Long { length, most: M::LONGEST });
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
    use crate::history::PhaseEntry;
    use crate::name::Name;
    use crate::wire::bounded::{MOST_ENTERED, MOST_STREAMS};
    use crate::wire::control::{Entry, Kind, Progress, Report, Stamp, Verdict};
    use proptest::prelude::*;

    fn round_trip<M: Framed + PartialEq + std::fmt::Debug>(message: &M) {
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
    fn the_longest_messages_to_a_receiver_fit() {
        let part = [&[b'n'; 254][..], b"/"].concat().repeat(16);
        let name = Name::new([&part[..], &[b'n'; 15]].concat()).unwrap();
        assert_eq!(name.bytes().len(), 4095);
        let kind = Kind::Link { target: vec![b't'; 4095] };
        let modified = Stamp { seconds: i64::MIN, nanos: u32::MAX };
        round_trip_once(&ToReceiver::Offer {
            id: u64::MAX,
            entry: Entry { name, kind, mode: u32::MAX, modified },
        });
        round_trip_once(&ToReceiver::Report(Report::largest(MOST_STREAMS)));
    }

    fn round_trip_once<M: Framed + PartialEq + std::fmt::Debug>(message: &M) {
        let mut bytes = Vec::new();
        append(&mut bytes, message);
        assert_eq!(first::<M>(&bytes).unwrap().unwrap().0, *message);
    }

    #[test]
    fn lists_and_texts_longer_than_an_honest_peers_are_no_message() {
        let mut bytes = Vec::new();
        append(&mut bytes, &ToReceiver::Report(Report::largest(MOST_STREAMS + 1)));
        assert!(matches!(first::<ToReceiver>(&bytes), Err(FrameError::Malformed(_))));
        let entry = PhaseEntry { at_ms: 1, phase: "hold".into(), reason: "why".into() };
        for (count, fits) in [(MOST_ENTERED, true), (MOST_ENTERED + 1, false)] {
            let mut bytes = Vec::new();
            let entered = vec![entry.clone(); count];
            append(&mut bytes, &ToSender::Progress(Progress { entered, ..Progress::default() }));
            assert_eq!(first::<ToSender>(&bytes).is_ok(), fits, "{count}");
        }
        // Abort and its text, which no honest sender would leave so long.
        let text = [&[5u8][..], &[0xd2, 0x0f], &[b'a'; 2002]].concat();
        let frame = [&(text.len() as u32).to_le_bytes()[..], &text].concat();
        assert!(matches!(first::<ToReceiver>(&frame), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn a_reason_of_any_length_can_be_said() {
        let reason = "ä".repeat(5000);
        let mut bytes = Vec::new();
        append(&mut bytes, &ToSender::Failed { id: 1, reason: reason.clone() });
        append(&mut bytes, &ToSender::Answer { id: 1, verdict: Verdict::Refused(reason.clone()) });
        append(&mut bytes, &ToSender::Busy(reason.clone()));
        let Some((ToSender::Failed { reason: read, .. }, _)) = first::<ToSender>(&bytes).unwrap() else {
            panic!()
        };
        assert!(read.len() > 900 && read.starts_with("ää") && read.ends_with('…'), "{read}");
        let mut bytes = Vec::new();
        append(&mut bytes, &ToReceiver::Abort { reason });
        assert!(first::<ToReceiver>(&bytes).unwrap().is_some());
    }

    #[test]
    fn a_length_beyond_all_messages_is_refused_before_anything_is_read() {
        let long = |length: u32| length.to_le_bytes();
        let error = |most, length: u32| Err(FrameError::Long { length: length as usize, most });
        assert_eq!(first::<Data>(&long(u32::MAX)).map(drop), error(1 << 10, u32::MAX));
        assert_eq!(first::<ToReceiver>(&long(16 << 10 | 1)).map(drop), error(16 << 10, 16 << 10 | 1));
        assert_eq!(first::<ToReceiver>(&long(16 << 10)).map(drop), Ok(()));
        assert_eq!(first::<ToSender>(&long(4 << 20)).map(drop), Ok(()));
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
