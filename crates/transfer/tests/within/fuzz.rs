//! Random messages: a peer that has the ticket may still be a faulty program. No order of messages makes the receiving
//! end panic, or write anywhere but in its folder.

use super::tests::{assembly, offered};
use super::*;
use crate::chunks::small_file_digest;
use crate::receive::Existing;
use crate::receive::incoming::OpenChunk;
use crate::wire::control::{Kind, Stamp};
use proptest::prelude::*;

/// A message of a sender, on either kind of connection.
#[derive(Clone, Debug)]
enum Said {
    Offer {
        id: Id,
        name: Vec<u8>,
        kind: Kind,
    },
    Small {
        id: Id,
        length: usize,
        right: bool,
    },
    Piece {
        id: Id,
        chunk: u32,
        offset: u64,
        length: usize,
    },
    ChunkEnd {
        id: Id,
        chunk: u32,
    },
    FileEnd {
        id: Id,
    },
    Gone {
        id: Id,
    },
    /// Another sender comes.
    Begin,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let sizes = prop_oneof![Just(0), Just(5), Just(70_000), Just(1 << 20), Just((1 << 20) + 3), any::<u64>()];
    let cuts = prop_oneof![Just(20), Just(21), any::<u8>()];
    prop_oneof![
        (sizes, cuts).prop_map(|(size, chunk)| Kind::File { size, chunk, version: [1; 16] }),
        Just(Kind::Folder),
        Just(Kind::Link { target: b"../outside".to_vec() }),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let names = prop_oneof![Just("a"), Just("b"), Just("a/b"), Just("b/a")];
    let names = names.prop_map(|name| name.as_bytes().to_vec());
    let chunks = || prop_oneof![0u32..3, any::<u32>()];
    let offsets = prop_oneof![Just(0u64), Just(1 << 20), (0u64..1 << 20), any::<u32>().prop_map(u64::from)];
    let id = || 0u64..3;
    prop_oneof![
        3 => (id(), names, kinds()).prop_map(|(id, name, kind)| Said::Offer { id, name, kind }),
        1 => (id(), 0usize..10, any::<bool>()).prop_map(|(id, length, right)| Said::Small { id, length, right }),
        2 => (id(), chunks(), offsets, 0usize..5000)
            .prop_map(|(id, chunk, offset, length)| Said::Piece { id, chunk, offset, length }),
        1 => (id(), chunks()).prop_map(|(id, chunk)| Said::ChunkEnd { id, chunk }),
        1 => id().prop_map(|id| Said::FileEnd { id }),
        1 => id().prop_map(|id| Said::Gone { id }),
        1 => Just(Said::Begin),
    ]
}

/// Handles a message as a data connection does (`stream.rs`).
fn hear(
    assembly: &Assembly,
    open: &mut Option<(Id, u32, OpenChunk)>,
    said: &Said,
) -> Result<(), ReceiveError> {
    match *said {
        Said::Offer { id, ref name, ref kind } => {
            let name = Name::new(name.clone()).expect("a name");
            let entry = Entry { name, kind: kind.clone(), mode: 0o644, modified: Stamp::default() };
            offered(assembly, id, entry).map(drop)
        }
        Said::Small { id, length, right } => {
            let bytes = vec![7; length];
            let digest = if right { small_file_digest(&bytes).0 } else { [0; 32] };
            assembly.small(id, &bytes, &digest)
        }
        Said::Piece { id, chunk, offset, length } => {
            if open.as_ref().is_none_or(|(file, index, _)| (*file, *index) != (id, chunk)) {
                *open = assembly.chunk(id, chunk)?.map(|open| (id, chunk, open));
            }
            open.as_mut().map_or(Ok(()), |(.., open)| assembly.piece(open, offset, &vec![7; length]))
        }
        Said::ChunkEnd { id, chunk } => {
            let open = match open.take() {
                Some((file, index, open)) if (file, index) == (id, chunk) => Some(open),
                _ => assembly.chunk(id, chunk)?,
            };
            open.map_or(Ok(()), |open| assembly.chunk_end(open, &[0; 32]))
        }
        Said::FileEnd { id } => assembly.file_end(id, &[0; 32]),
        Said::Gone { id } => assembly.gone(id),
        Said::Begin => {
            *open = None;
            assembly.begin().map(drop).map_err(ReceiveError::from)
        }
    }
}

proptest! {
    #[test]
    fn no_order_of_messages_makes_it_panic(
        all in prop::collection::vec(said(), 0..25),
        existing in prop_oneof![Just(Existing::Refuse), Just(Existing::Rename), Just(Existing::Update), Just(Existing::Replace)],
    ) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("b"), b"there").unwrap();
        let (_state, assembly) = assembly(&folder, existing);
        let mut open = None;
        for said in &all {
            // A wrong message is refused, and the next one comes all the same.
            let _ = hear(&assembly, &mut open, said);
        }
        open = None;
        prop_assert!(open.is_none() && assembly.counts().arriving == 0, "nothing arrives any more");
        let _ = assembly.finish(1);
        prop_assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "something lies outside");
    }
}
