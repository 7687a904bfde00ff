//! Tests of the datagrams of probes.

use super::*;
use proptest::prelude::*;

fn messages() -> impl Strategy<Value = Message> {
    let (long, short) = (any::<u64>, any::<u16>);
    prop_oneof![
        long().prop_map(|number| Message::Probe { number }),
        (long(), long(), long(), long()).prop_map(|(number, count, cookie, held)| Message::Echo {
            number,
            count,
            cookie,
            held: Span::from_nanos(held)
        }),
        (long(), short(), short(), long()).prop_map(|(number, packets, length, cookie)| {
            Message::TrainRequest { number, packets, length, cookie }
        }),
        (long(), short(), short(), (LENGTH as u16..2000)).prop_map(|(number, place, packets, length)| {
            Message::Train { number, place, packets, length }
        }),
    ]
}

/// Returns the whole datagram of a message.
fn datagram(message: Message, key: &ProbeKey, session: u64) -> Vec<u8> {
    let mut bytes = message.encode(key, session).to_vec();
    if let Message::Train { length, .. } = message {
        bytes.resize(usize::from(length), 0);
    }
    bytes
}

fn key(byte: u8) -> ProbeKey {
    ProbeKey::from_secret(&[byte; 32])
}

proptest! {
    #[test]
    fn what_is_sent_is_read(message in messages(), session in any::<u64>()) {
        let bytes = datagram(message, &key(1), session);
        prop_assert_eq!(Message::decode(&key(1), &bytes), Some((session, message)));
    }

    #[test]
    fn one_flipped_bit_another_length_or_another_key_is_no_message(
        message in messages(), session in any::<u64>(), bit in 0..LENGTH * 8, more in 1usize..9
    ) {
        let bytes = datagram(message, &key(1), session);
        prop_assert_eq!(Message::decode(&key(2), &bytes), None);
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Message::decode(&key(1), &flipped), None);
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + more, 0);
        prop_assert_eq!(Message::decode(&key(1), &longer), None);
        prop_assert_eq!(Message::decode(&key(1), &bytes[..bytes.len() - more]), None);
    }

    /// A sender with the key may still be wrong, or of another version.
    #[test]
    fn signed_nonsense_does_not_panic(mut head in prop::collection::vec(any::<u8>(), SIGNED), more in 0usize..80) {
        (head[0], head[1], head[2], head[3]) = (b't', b'L', VERSION, head[3] % 6);
        head[44..].fill(0);
        let code = key(1).code(&[&head]);
        head.extend(code);
        head.resize(LENGTH + more, 0);
        if let Some((session, message)) = Message::decode(&key(1), &head) {
            prop_assert_eq!(datagram(message, &key(1), session), head, "nothing but its one form");
        }
    }

    #[test]
    fn random_bytes_are_no_message_and_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Message::decode(&key(1), &bytes), None);
    }
}
