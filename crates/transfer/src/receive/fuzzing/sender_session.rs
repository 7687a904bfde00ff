//! Sessions of senders whose bytes a script says: greeting, control connection, data connections.

use super::assembly::RULES;
use super::model::Model;
use super::place::Place;
use crate::channel::Channel;
use crate::channel::script::Segment;
use crate::chunks::{ChunkHasher, Chunks, Digest, file_digest, small_file_digest};
use crate::fuzzing::{Input, clock, segments};
use crate::keys::{Key, receiver_tls};
use crate::progress::{Observer, Question, Snapshot};
use crate::receive::assembly::{Assembly, Rules};
use crate::receive::shared::Shared;
use crate::receive::state::State;
use crate::receive::{Accept, Origins, PATIENCE, Receiver};
use crate::store::Store;
use crate::ticket::{Secret, Ticket};
use crate::window::WindowChoice;
use crate::wire::Greeting;
use crate::wire::control::{Id, Kind, ToReceiver, ToSender};
use crate::wire::data::Data;
use crate::wire::frame;
use rustls::ServerConfig;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::net::TcpListener;
use std::sync::Arc;
use units::{Bytes, Span};

/// Turns that are not the sender session's own (`sender/workers.rs`). One is a data connection whose digests are made
/// right. The other is the end of a control connection, after which the next one comes.
const CORRECTED: u8 = 1;
const HANG_UP: u8 = 6;
/// Control connections of one input.
const MOST_SESSIONS: usize = 4;

/// All that an input needs and another one can use again.
struct Setup {
    place: Place,
    listener: TcpListener,
    key: Key,
    tls: Arc<ServerConfig>,
}

/// The sessions of senders whose bytes `input` says, with all that must hold after them.
///
/// # Panics
/// If something does not hold: the test.
pub fn sender_session(input: &[u8]) {
    thread_local! {
        static SETUP: RefCell<Setup> = RefCell::new({
            let (key, listener) = (Key::new(&[1; 32]), TcpListener::bind("127.0.0.1:0").unwrap());
            let tls = receiver_tls(&key, &Secret([2; 16]));
            Setup { place: Place::new(), listener, key, tls }
        });
    }
    SETUP.with_borrow_mut(|setup| {
        let mut input = Input(input);
        let form = input.byte().unwrap_or_default();
        let mut model = Model::default();
        let mut script = segments(input);
        let mut sessions: Vec<_> =
            script.split_mut(|segment| matches!(segment, Segment::Turn(HANG_UP, _))).collect();
        sessions.truncate(MOST_SESSIONS);
        // Holes of large chunks take seconds to hash.
        if sessions.iter_mut().all(|segments| prepare(segments, &mut model)) {
            run(setup, form, &sessions, &model);
        }
    });
}

fn run(setup: &mut Setup, form: u8, sessions: &[&mut [Segment]], model: &Model) {
    let rules =
        Rules { existing: RULES[usize::from(form & 3)], outside_links: form & 4 != 0, listed: form & 8 != 0 };
    let accept = match form >> 4 & 3 {
        0 => Accept::default(),
        1 => Accept { ask: true, ..Accept::default() },
        2 => Accept { all: true, ..Accept::default() },
        _ => Accept { ask: form & 64 != 0, limit: Some(Bytes::new(1000)), ..Accept::default() },
    };
    let (folder, clock) = (setup.place.folder(), clock());
    let (mut state, _) = State::open(&folder, false, clock.since_1970(), Span::from_secs(1 << 30)).unwrap();
    state.keep(([127, 0, 0, 1], 1).into(), &[]).unwrap();
    let (top, own) = state.folders();
    let store = Store::open(&folder, top, own, true).unwrap();
    let receiver = Receiver {
        assembly: Assembly::open(store, state.journal().unwrap(), rules, clock),
        state,
        listener: setup.listener.try_clone().unwrap(),
        tls: Arc::clone(&setup.tls),
        ticket: Ticket {
            addresses: Vec::new(),
            port: 1,
            fingerprint: setup.key.fingerprint(),
            secret: Secret([2; 16]),
        },
        window: WindowChoice::Max,
        accept,
        digests: None,
        clock,
        origins: Origins::New,
        wait: None,
        patience: PATIENCE,
    };
    let user = User { agrees: form & 128 == 0 };
    let shared = Shared::new(&receiver, &user);
    for segments in sessions {
        let channel = Arc::new(Channel::scripted(segments.iter().cloned()));
        if let Ok(greeting) = shared.greeting(&channel, clock.now()) {
            shared.serve_peer(&channel, greeting);
        }
        check_written(&channel.take_written());
        assert_eq!(receiver.assembly.counts().arriving, 0, "nothing arrives any more");
        if shared.is_done() {
            break;
        }
    }
    let done = shared.is_done();
    drop(shared);
    let Receiver { assembly, state, .. } = receiver;
    drop(assembly);
    if done {
        state.finish().expect("the state folder goes");
    } else {
        drop(state);
    }
    setup.place.check(model, rules);
}

/// The receiver's user.
struct User {
    agrees: bool,
}

impl Observer for User {
    fn say(&self, line: &str) {
        shown(line);
    }

    fn progress(&self, snapshot: &Snapshot) {
        shown(&snapshot.phase);
    }

    fn accept(&self, question: &Question, _is_over: &dyn Fn() -> bool) -> bool {
        shown(&question.text);
        self.agrees
    }
}

/// Nothing that the sender chose reaches the terminal as it is.
fn shown(line: &str) {
    let is_control = |letter: char| letter.is_control() && letter != '\n';
    assert!(!line.chars().any(is_control), "{line:?}");
}

/// The receiver says whole messages, the first of them a welcome or a refusal, or an end before either.
fn check_written(mut written: &[u8]) {
    let mut first = true;
    while !written.is_empty() {
        let (message, length) = frame::first::<ToSender>(written).expect("a message").expect("a whole one");
        let begins = matches!(message, ToSender::Welcome { .. } | ToSender::Busy(_))
            || first && matches!(message, ToSender::Abort { .. });
        assert!(begins == first, "{message:?}");
        first = false;
        written = &written[length..];
    }
}

/// Tells `model` all that comes on one control connection and the data connections beside it, and makes digests
/// right. False if there is a file of larger chunks than the smallest.
fn prepare(segments: &mut [Segment], model: &mut Model) -> bool {
    let control: Vec<u8> = segments
        .iter()
        .filter_map(|segment| if let Segment::Bytes(bytes) = segment { Some(&bytes[..]) } else { None })
        .collect::<Vec<_>>()
        .concat();
    let Ok(Some((_, length))) = frame::first::<Greeting>(&control) else { return true };
    let (mut rest, mut sent) = (&control[length..], Sent::default());
    while let Ok(Some((message, length))) = frame::first::<ToReceiver>(rest) {
        rest = &rest[length..];
        if let ToReceiver::Offer { id, entry } = message {
            model.offer(id, &entry);
            if let Kind::File { size, .. } = entry.kind {
                sent.cuts.insert(id, Chunks::new(size));
                if Chunks::new(size).log2() > 20 {
                    return false;
                }
            }
        }
    }
    for segment in segments {
        if let Segment::Turn(way @ 0..=CORRECTED, bytes) = segment {
            let correct = *way == CORRECTED;
            let first = bytes.first().copied();
            let after = sent.hear(bytes.get(1..).unwrap_or_default(), correct, model);
            *segment = Segment::Turn(0, first.into_iter().chain(after).collect());
        }
    }
    true
}

/// The content that data connections bring.
#[derive(Default)]
struct Sent {
    cuts: HashMap<Id, Chunks>,
    digests: HashMap<Id, BTreeMap<u32, Digest>>,
}

impl Sent {
    /// The bytes of one connection, with right digests if `correct` says so.
    fn hear(&mut self, mut bytes: &[u8], correct: bool, model: &mut Model) -> Vec<u8> {
        let mut out = Vec::new();
        let mut open: Option<(Id, u32, ChunkHasher)> = None;
        while let Ok(Some((mut message, length))) = frame::first::<Data>(bytes) {
            bytes = &bytes[length..];
            let length = match message {
                Data::Small { length, .. } | Data::Piece { length, .. } => length as usize,
                _ => 0,
            };
            let (content, rest) = bytes.split_at(length.min(bytes.len()));
            bytes = rest;
            match &mut message {
                Data::Small { id, digest, .. } => {
                    if correct {
                        *digest = small_file_digest(content).0;
                    }
                    model.small(*id, content, digest);
                }
                &mut Data::Piece { id, chunk, offset, .. } if offset <= 1 << 20 => {
                    if open.as_ref().is_none_or(|(file, index, _)| (*file, *index) != (id, chunk)) {
                        open = Some((id, chunk, ChunkHasher::default()));
                    }
                    if let Some((.., hasher)) = &mut open
                        && hasher.at() <= offset.into()
                    {
                        hasher.update(offset.into(), content);
                    }
                }
                Data::ChunkEnd { id, chunk, digest } => {
                    let hasher = open.take().filter(|(file, index, _)| (file, index) == (id, chunk));
                    let hasher = hasher.map(|(.., hasher)| hasher).unwrap_or_default();
                    let length = self.cuts.get(id).map_or(0, |cut| cut.length(*chunk));
                    if correct && hasher.at() <= length {
                        *digest = hasher.finish(length);
                    }
                    self.digests.entry(*id).or_default().insert(*chunk, *digest);
                    model.chunk_end(*id, *chunk, digest);
                }
                Data::FileEnd { id, digest } => {
                    if correct && let Some(cut) = self.cuts.get(id) {
                        let chunks = self.digests.entry(*id).or_default();
                        *digest = file_digest(cut.size(), chunks.values());
                    }
                    model.file_end(*id, digest);
                }
                Data::Piece { .. } | Data::Gone { .. } => {}
            }
            frame::append(&mut out, &message);
            out.extend(content);
        }
        out.extend(bytes);
        out
    }
}
