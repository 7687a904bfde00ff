//! Messages without frames on [`Assembly`]: an input has them in a form in which most bytes have a meaning.

use super::model::Model;
use super::place::Place;
use crate::chunks::{ChunkHasher, Chunks, Digest, file_digest, small_file_digest};
use crate::fuzzing::{Input, clock};
use crate::name::Name;
use crate::receive::Existing;
use crate::receive::assembly::{Assembly, Examination, Offered, ReceiveError, Rules};
use crate::receive::incoming::OpenChunk;
use crate::receive::state::State;
use crate::store::Store;
use crate::wire::control::{Entry, Id, Kind, Stamp, Verdict};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use units::{Span, Time};

pub(super) const RULES: [Existing; 4] =
    [Existing::Refuse, Existing::Rename, Existing::Update, Existing::Replace];

/// Names of existing entries, of their neighbours, of entries below them, and names that only look like another one.
const NAMES: [&[u8]; 32] = [
    b"a",
    b"a/b",
    b"a/b/c",
    b"n",
    b"n/x",
    b"b",
    b"b/x",
    b"b (1)",
    b"sub",
    b"sub/x",
    b"sub/y",
    b"sub/x/y",
    b"sub/out/x",
    b"sub/out",
    b"dir",
    b"dir/in",
    b"dir/in/x",
    b"dir/n",
    b"out",
    b"out/secret",
    b"out/n",
    b"out/sub/x",
    b"file",
    b"file/x",
    b"pipe",
    b"pipe/x",
    b"large",
    b"broken",
    b"broken/x",
    b".tightlinks",
    b"-rf \xff\n",
    b"sub/out/.tight/link",
];
const TARGETS: [&[u8]; 10] = [
    b"x",
    b"../outside",
    b"/etc",
    b"..",
    b"../x",
    b"a",
    b".tightlink",
    b"sub/.tightlink",
    b"",
    b"./sub/../..",
];
const SIZES: [u64; 12] =
    [0, 1, 5, 10, 300, 5, 70_000, (1 << 20) + 3, 1 << 20, 1 << 36, (1 << 36) + 1, u64::MAX >> 1];
const SECONDS: [i64; 6] = [1_600_000_000, 0, 1_700_000_000, -1, i64::MAX, i64::MIN];
/// Names that another program may take meanwhile.
const MEDDLED: [&str; 4] = ["a", "b (1)", "n", "dir/n"];
/// The number of connections on which chunks come.
const LANES: usize = 2;

/// A chunk that comes on a connection, with the sender's knowledge of it.
type Lane = Option<(Id, u32, OpenChunk, ChunkHasher)>;

struct Session {
    state: State,
    assembly: Assembly,
}

struct Run<'a> {
    place: &'a mut Place,
    rules: Rules,
    preserve: bool,
    session: Option<Session>,
    model: Model,
    lanes: [Lane; LANES],
    later: VecDeque<Examination>,
    /// The division of the files that were offered last under their numbers.
    cuts: HashMap<Id, Chunks>,
    /// The digests of their chunks that have come or existed before.
    digests: HashMap<Id, BTreeMap<u32, Digest>>,
    /// True while no file was offered that is too large for sums of sizes.
    countable: bool,
}

/// Plays messages to the receiving end, in the order of `input`, and checks all that must hold after them.
///
/// # Panics
/// If a check fails; that is the purpose of the test.
pub fn assembly(input: &[u8]) {
    thread_local! {
        static PLACE: RefCell<Place> = RefCell::new(Place::new());
    }
    PLACE.with_borrow_mut(|place| {
        let mut input = Input(input);
        let form = input.byte().unwrap_or_default();
        let rules = Rules {
            existing: RULES[usize::from(form & 3)],
            outside_links: form & 4 != 0,
            listed: form & 8 != 0,
        };
        let mut run = Run {
            place,
            rules,
            preserve: form & 16 == 0,
            session: None,
            model: Model::default(),
            lanes: Default::default(),
            later: VecDeque::new(),
            cuts: HashMap::new(),
            digests: HashMap::new(),
            countable: true,
        };
        run.open();
        let mut count = 0;
        // A wrong message is refused, and the next one comes all the same.
        while let Some(heard) = run.hear(&mut input) {
            let _: Result<(), ReceiveError> = heard;
            count += 1;
        }
        run.end(form & 64 == 0, count);
    });
}

impl Run<'_> {
    /// Starts the process, or starts it again after it was killed.
    fn open(&mut self) {
        self.forget();
        self.session = None;
        let folder = self.place.folder();
        let (mut state, _) =
            State::open(&folder, false, Time::ZERO, Span::from_secs(60)).expect("the state folder");
        state.keep(([127, 0, 0, 1], 1).into(), &[]).expect("the session");
        let (top, own) = state.folders();
        let store = Store::open(&folder, top, own, self.preserve).expect("the folder");
        let journal = state.journal().expect("the journal");
        let assembly = Assembly::open(store, journal, self.rules, clock());
        self.session = Some(Session { state, assembly });
    }

    fn assembly(&self) -> &Assembly {
        &self.session.as_ref().expect("it is open").assembly
    }

    /// Ends the connections of a sender.
    fn forget(&mut self) {
        self.lanes = Default::default();
        self.later.clear();
    }

    /// Handles one message. Returns `None` at the end of the input.
    fn hear(&mut self, input: &mut Input<'_>) -> Option<Result<(), ReceiveError>> {
        let what = input.byte()?;
        Some(match what % 16 {
            0..=2 => self.offer(input)?,
            3 | 4 => {
                let (id, bytes) = (id(input)?, content(input)?);
                let digest = if what < 192 { small_file_digest(&bytes).0 } else { [what; 32] };
                self.model.small(id, &bytes, &digest);
                self.assembly().small(id, &bytes, &digest)
            }
            5 | 6 => self.piece(input)?,
            7 => self.chunk_end(input, what < 192)?,
            8 => {
                let id = id(input)?;
                let chunks = self.digests.get(&id).cloned().unwrap_or_default();
                let size = self.cuts.get(&id).map_or(0, |cut| cut.size());
                let digest = if what < 224 { file_digest(size, chunks.values()) } else { [what; 32] };
                self.model.file_end(id, &digest);
                self.assembly().file_end(id, &digest)
            }
            9 => {
                let id = id(input)?;
                self.assembly().gone(id)
            }
            10 | 11 => {
                self.forget();
                self.assembly().begin().map(drop).map_err(ReceiveError::from)
            }
            12 => self.assembly().name_waiting().map(drop).map_err(ReceiveError::from),
            13 => {
                let examination = self.later.pop_front()?;
                let id = examination.id();
                self.assembly().examine(examination).map(|verdict| self.answered(id, &verdict))
            }
            14 => match input.byte()? % 8 {
                0..=2 => {
                    self.open();
                    Ok(())
                }
                3 | 4 => self.assembly().finish(1).map(drop).map_err(ReceiveError::from),
                5 => self.assembly().checkpoint().map_err(ReceiveError::from),
                _ => {
                    self.place.meddle(input.pick(&MEDDLED)?, &content(input)?);
                    Ok(())
                }
            },
            _ => {
                let _ = (self.assembly().news(), self.assembly().is_full(), self.assembly().is_settled());
                Ok(())
            }
        })
    }

    fn offer(&mut self, input: &mut Input<'_>) -> Option<Result<(), ReceiveError>> {
        let id = id(input)?;
        let bytes = match input.byte()? {
            index @ 0..192 => NAMES[usize::from(index) % NAMES.len()].to_vec(),
            length => input.take(usize::from(length) - 192).to_vec(),
        };
        let Ok(name) = Name::new(bytes) else { return Some(Ok(())) };
        let kind = match input.byte()? {
            byte @ 0..224 => {
                let size = SIZES[usize::from(byte) % SIZES.len()];
                let version = [input.byte()? % 3; 16];
                let chunk = if byte < 216 { Chunks::new(size).log2() } else { byte };
                Kind::File { size, chunk, version }
            }
            224..240 => Kind::Folder,
            _ => match input.byte()? {
                index @ 0..224 => Kind::Link { target: TARGETS[usize::from(index) % TARGETS.len()].to_vec() },
                length => Kind::Link { target: input.take(usize::from(length) - 224).to_vec() },
            },
        };
        let form = input.byte()?;
        let modified =
            Stamp { seconds: SECONDS[usize::from(form) % SECONDS.len()], nanos: u32::from(form / 16) };
        let mode = if form % 3 == 0 { u32::from(form) << 4 } else { 0o644 };
        let entry = Entry { name, kind, mode, modified };
        self.model.offer(id, &entry);
        if let Kind::File { size, .. } = entry.kind {
            self.countable &= size <= 1 << 40;
            self.cuts.insert(id, Chunks::new(size));
            self.digests.remove(&id);
        }
        Some(match self.assembly().offer(id, entry) {
            Ok(Offered::Now(verdict)) => {
                self.answered(id, &verdict);
                Ok(())
            }
            Ok(Offered::Later(examination)) => {
                self.later.push_back(*examination);
                Ok(())
            }
            Err(trouble) => Err(trouble),
        })
    }

    /// Records for the sender which chunks the receiver has.
    fn answered(&mut self, id: Id, verdict: &Verdict) {
        if let Verdict::Rest(there) = verdict {
            self.digests.entry(id).or_default().extend(there.iter().copied());
        }
    }

    fn piece(&mut self, input: &mut Input<'_>) -> Option<Result<(), ReceiveError>> {
        let lane = usize::from(input.byte()?) % LANES;
        let (id, chunk, offset, bytes) = (id(input)?, chunk(input)?, offset(input)?, content(input)?);
        if let Err(trouble) = self.open_chunk(lane, id, chunk) {
            return Some(Err(trouble));
        }
        let assembly = &self.session.as_ref()?.assembly;
        let Some((.., open, hasher)) = &mut self.lanes[lane] else { return Some(Ok(())) };
        let told = assembly.piece(open, offset, &bytes);
        if told.is_ok() {
            hasher.update(offset, &bytes);
        } else {
            self.lanes[lane] = None;
        }
        Some(told)
    }

    /// Begins a chunk with its first piece as a data connection does, and gives it up with the first piece of another.
    fn open_chunk(&mut self, lane: usize, id: Id, chunk: u32) -> Result<(), ReceiveError> {
        if self.lanes[lane].as_ref().is_some_and(|(file, index, ..)| (*file, *index) == (id, chunk)) {
            return Ok(());
        }
        self.lanes[lane] = None;
        // Holes of large chunks take seconds to hash.
        if self.cuts.get(&id).is_some_and(|cut| cut.log2() == 20) {
            let open = self.assembly().chunk(id, chunk)?;
            self.lanes[lane] = open.map(|open| (id, chunk, open, ChunkHasher::default()));
        }
        Ok(())
    }

    fn chunk_end(&mut self, input: &mut Input<'_>, right: bool) -> Option<Result<(), ReceiveError>> {
        let lane = usize::from(input.byte()?) % LANES;
        let (id, index) = (id(input)?, chunk(input)?);
        if let Err(trouble) = self.open_chunk(lane, id, index) {
            return Some(Err(trouble));
        }
        let Some((.., open, hasher)) = self.lanes[lane].take() else { return Some(Ok(())) };
        let length = open.incoming.chunks.length(index);
        let digest = if right { hasher.finish(length) } else { [7; 32] };
        self.model.chunk_end(id, index, &digest);
        self.digests.entry(id).or_default().insert(index, digest);
        Some(self.assembly().chunk_end(open, &digest))
    }

    fn end(mut self, finished: bool, messages: u64) {
        self.forget();
        let assembly = self.assembly();
        assert_eq!(assembly.counts().arriving, 0, "nothing arrives any more");
        let _ = if finished { assembly.finish(2).map(drop) } else { assembly.name_waiting().map(drop) };
        let counts = assembly.counts();
        // A file in a second sender session may fail once more at its end.
        assert!(counts.entries <= messages && counts.failed <= 2 * messages, "{counts:?} of {messages}");
        assert!(!self.countable || counts.bytes <= messages << 40, "{counts:?}");
        let session = self.session.take().expect("it is open");
        drop(session.assembly);
        drop(session.state);
        self.place.check(&self.model, self.rules);
    }
}

fn id(input: &mut Input<'_>) -> Option<Id> {
    Some(match input.byte()? {
        255 => input.number(),
        byte => Id::from(byte % 4),
    })
}

fn chunk(input: &mut Input<'_>) -> Option<u32> {
    Some(match input.byte()? {
        255 => input.number() as u32,
        byte => u32::from(byte / 64),
    })
}

fn offset(input: &mut Input<'_>) -> Option<u64> {
    Some(match input.byte()? {
        255 => input.number(),
        byte @ 240.. => (1 << 20) - u64::from(byte - 240),
        byte => u64::from(byte / 16),
    })
}

/// Makes the bytes of a file: of few lengths, and of one value.
fn content(input: &mut Input<'_>) -> Option<Vec<u8>> {
    const LENGTHS: [usize; 8] = [0, 1, 5, 10, 300, 4, 5, 70_000];
    let byte = input.byte()?;
    Some(vec![byte / 8; LENGTHS[usize::from(byte) % LENGTHS.len()]])
}
