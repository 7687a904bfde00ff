//! The datagrams of probing: 72 bytes, or 100 with the headers of IPv4 and UDP [sobas:IV]; packets of a train are
//! padded.
//!
//! | bytes | field |
//! |---|---|
//! | 0-1 | `tL` |
//! | 2 | version, 1 |
//! | 3 | kind: 1 probe, 2 echo, 3 train request, 4 train packet |
//! | 4-11 | session |
//! | 12-19 | number of the probe or the train, from 1 |
//! | 20-27, 28-35, 36-43 | echo: count, cookie, time held (ns); request: packets, length, cookie; train packet: place, packets, length |
//! | 44-55 | zero |
//! | 56-71 | authentication code of bytes 0-55 |
//!
//! Integers are big-endian. A datagram that does not have exactly this form, length included, is not a message.

use crate::key::{CODE, ProbeKey, same};
use units::Span;

/// The length of every datagram other than a train's packets, and of the head of a train's packet.
pub(crate) const LENGTH: usize = 72;
const SIGNED: usize = LENGTH - CODE;
const MAGIC: [u8; 2] = *b"tL";
const VERSION: u8 = 1;

/// The content of one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A request for an echo.
    Probe { number: u64 },
    /// The echo of probe `number`, which arrived as the `count`th and was held for this time.
    Echo { number: u64, count: u64, cookie: u64, held: Span },
    /// A request for `packets` datagrams of `length` bytes.
    TrainRequest { number: u64, packets: u16, length: u16, cookie: u64 },
    /// The datagram at `place` (from 0) of train `number`.
    Train { number: u64, place: u16, packets: u16, length: u16 },
}

impl Message {
    fn fields(self) -> (u8, u64, [u64; 3]) {
        match self {
            Self::Probe { number } => (1, number, [0; 3]),
            Self::Echo { number, count, cookie, held } => (2, number, [count, cookie, held.as_nanos()]),
            Self::TrainRequest { number, packets, length, cookie } => {
                (3, number, [packets.into(), length.into(), cookie])
            }
            Self::Train { number, place, packets, length } => {
                (4, number, [place.into(), packets.into(), length.into()])
            }
        }
    }

    /// Encodes the first 72 bytes of the datagram.
    pub(crate) fn encode(self, key: &ProbeKey, session: u64) -> [u8; LENGTH] {
        let (kind, number, values) = self.fields();
        let mut bytes = [0; LENGTH];
        bytes[..2].copy_from_slice(&MAGIC);
        (bytes[2], bytes[3]) = (VERSION, kind);
        let words = [session, number].into_iter().chain(values);
        for (place, word) in bytes[4..44].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        let code = key.code(&[&bytes[..SIGNED]]);
        bytes[SIGNED..].copy_from_slice(&code);
        bytes
    }

    /// Decodes the session and the message of a datagram; `None` if it is not one of ours.
    pub(crate) fn decode(key: &ProbeKey, datagram: &[u8]) -> Option<(u64, Self)> {
        let (head, filling) = datagram.split_first_chunk::<LENGTH>()?;
        let (signed, code) = head.split_at(SIGNED);
        if signed[..2] != MAGIC || signed[2] != VERSION || signed[44..] != [0; SIGNED - 44] {
            return None;
        }
        // The code is checked before any field is read.
        if !same(&key.code(&[signed]), code.try_into().ok()?) {
            return None;
        }
        let word = |index: usize| {
            let at = 4 + 8 * index;
            u64::from_be_bytes(signed[at..at + 8].try_into().expect("eight bytes"))
        };
        let small = |index: usize| u16::try_from(word(index)).ok();
        let (session, number) = (word(0), word(1));
        let message = match signed[3] {
            1 => Self::Probe { number },
            2 => Self::Echo { number, count: word(2), cookie: word(3), held: Span::from_nanos(word(4)) },
            3 => Self::TrainRequest { number, packets: small(2)?, length: small(3)?, cookie: word(4) },
            4 => Self::Train { number, place: small(2)?, packets: small(3)?, length: small(4)? },
            _ => return None,
        };
        let length = match message {
            Self::Train { length, .. } => usize::from(length),
            _ => LENGTH,
        };
        // Fields that a kind does not have are zero, so that each message has only one encoding.
        (LENGTH + filling.len() == length && message.fields().2 == [word(2), word(3), word(4)])
            .then_some((session, message))
    }
}

/// See [`crate::fuzzing::probe`].
#[cfg(fuzzing)]
pub(crate) fn decoded(datagram: &[u8]) -> Option<Vec<u8>> {
    let key = ProbeKey::from_secret(&[1; 32]);
    let (session, message) = Message::decode(&key, datagram)?;
    let mut bytes = message.encode(&key, session).to_vec();
    if let Message::Train { length, .. } = message {
        bytes.resize(usize::from(length), 0);
    }
    Some(bytes)
}

/// See [`crate::fuzzing::probe_signed`].
#[cfg(fuzzing)]
pub(crate) fn signed(mut datagram: Vec<u8>) -> Vec<u8> {
    if datagram.len() >= LENGTH {
        let code = ProbeKey::from_secret(&[1; 32]).code(&[&datagram[..SIGNED]]);
        datagram[SIGNED..LENGTH].copy_from_slice(&code);
    }
    datagram
}

#[cfg(test)]
#[path = "../tests/within/wire.rs"]
mod tests;
