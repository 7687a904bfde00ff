//! Sessions of senders whose bytes come from a script: greeting, control connection, data connections.

use super::assembly::RULES;
use super::model::Model;
use super::place::Place;
use crate::chunks::{ChunkHasher, Chunks, Digest, file_digest, small_file_digest};
use crate::error::TransferError;
use crate::fuzzing::script::{Script, Segment};
use crate::fuzzing::{Input, clock, pass, segments};
use crate::keys::{Key, receiver_tls};
use crate::progress::{Observer, Question, Snapshot};
use crate::receive::assembly::{Assembly, Rules};
use crate::receive::listen::door::Behind as _;
use crate::receive::registry::{Registry, SessionHandle};
use crate::receive::session::workers::{self, Storing, WorkerEnds};
use crate::receive::session::{Event, Session};
use crate::receive::state::State;
use crate::receive::stream;
use crate::receive::{Accept, Origins, PATIENCE, Receiver};
use crate::store::Store;
use crate::summary::Summary;
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
use std::sync::mpsc::Receiver as Events;
use units::{Bytes, Span};

/// Turns that are not the session's own (`Play::turn`). One is a data connection whose digests are corrected. The other
/// is the end of a control connection, after which the next one comes.
const CORRECTED: u8 = 1;
const HANG_UP: u8 = 6;
/// The greatest number of control connections in one input.
const MOST_SESSIONS: usize = 4;

/// The objects that an input needs and another one can use again.
struct Setup {
    place: Place,
    listener: TcpListener,
    key: Key,
    tls: Arc<ServerConfig>,
}

/// Runs the sessions of senders whose bytes are in `input`, and checks all that must hold after them.
///
/// # Panics
/// If a check fails; that is the purpose of the test.
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
    let registry = Registry::new(&receiver, &user).expect("a descriptor");
    for segments in sessions {
        serve(&registry, segments);
        assert_eq!(receiver.assembly.counts().arriving, 0, "nothing arrives any more");
        if registry.is_done() {
            break;
        }
    }
    let done = registry.is_done();
    drop(registry);
    let Receiver { assembly, state, .. } = receiver;
    drop(assembly);
    if done {
        state.finish().expect("the state folder goes");
    } else {
        drop(state);
    }
    setup.place.check(model, rules);
}

/// Serves a control connection on which these segments come.
fn serve(registry: &Registry<'_>, segments: &[Segment]) {
    let (script, channel) = Script::channel([]);
    let first = segments.iter().position(|segment| matches!(segment, Segment::Turn(..)));
    let (before, after) = segments.split_at(first.unwrap_or(segments.len()));
    let bytes =
        before.iter().map(|segment| if let Segment::Bytes(bytes) = segment { &bytes[..] } else { &[] });
    let mut left = bytes.collect::<Vec<_>>().concat();
    if let Ok(Some((Greeting::Control { version, streams, echo }, length))) = frame::first(&left)
        && let Some((link, events)) = registry.admit(&channel, version, streams, echo)
    {
        left.drain(..length);
        let (mut session, beside) = Session::begin(registry, &link, &channel).expect("the disk is whole");
        let mut play = Play { registry, link: &link, events: &events, session: &mut session, beside, left };
        let ended = play.all(after);
        let Play { session: _, .. } = play;
        if let Err(error) = &ended {
            // The sender reads the reason, and leaves.
            let _ = link.events.send(Event::SenderLeft(TransferError::gone("it read why")));
            session.take_leave(error, &events);
        }
        session.end();
        registry.receiver.assembly.name_waiting().expect("the disk is whole");
        registry.receiver.assembly.checkpoint().expect("the disk is whole");
        registry.end(&link, false, ended);
    }
    check_written(&script.take_written());
}

/// A session, and the events around it that the script demands.
struct Play<'a, 'b> {
    registry: &'a Registry<'a>,
    link: &'b SessionHandle,
    events: &'b Events<Event>,
    session: &'b mut Session<'a>,
    beside: WorkerEnds<'a>,
    /// Bytes of the control connection that are not a complete message yet.
    left: Vec<u8>,
}

impl Play<'_, '_> {
    /// Plays all segments, after which the sender leaves.
    fn all(&mut self, segments: &[Segment]) -> Result<Option<Summary>, TransferError> {
        self.hear()?;
        for segment in segments {
            match segment {
                Segment::Bytes(bytes) => self.left.extend(bytes),
                Segment::Turn(kind, about) => self.turn(*kind, about)?,
            }
            self.hear()?;
            if let Some(ended) = self.session.ended() {
                return ended;
            }
        }
        self.session.handle(Event::SenderLeft(TransferError::gone("the script is over")))?;
        unreachable!("nobody is served who has left")
    }

    /// Has the session handle all complete messages and their consequences.
    fn hear(&mut self) -> Result<(), TransferError> {
        let mut messages = Vec::new();
        let fault = loop {
            match frame::first::<ToReceiver>(&self.left) {
                Ok(Some((message, length))) => {
                    self.left.drain(..length);
                    messages.push(message);
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        self.session.handle(Event::Messages(messages))?;
        self.settle()?;
        match fault {
            Some(reason) => {
                let error = TransferError::Protocol { peer: self.link.peer, reason };
                self.session.handle(Event::SenderLeft(error))
            }
            None => Ok(()),
        }
    }

    /// Handles consequences until there are no more.
    fn settle(&mut self) -> Result<(), TransferError> {
        let assembly = &self.registry.receiver.assembly;
        loop {
            self.session.proceed()?;
            match self.beside.store.try_recv() {
                Ok(Storing::Names) => workers::name(assembly, &self.link.events),
                Ok(Storing::All(streams)) => {
                    let _ = self.link.events.send(Event::Stored(assembly.finish(streams)));
                }
                Err(_) => {}
            }
            match self.events.try_recv() {
                Ok(event) => self.session.handle(event)?,
                Err(_) => return Ok(()),
            }
        }
    }

    /// Plays a data connection, whose bytes come in parts of a given size, or names, passing time, an answer, an
    /// examination.
    fn turn(&mut self, kind: u8, about: &[u8]) -> Result<(), TransferError> {
        let (assembly, events) = (&self.registry.receiver.assembly, &self.link.events);
        let first = about.first().copied().unwrap_or_default();
        match kind {
            0 => {
                let size = if first == 0 { 4096 } else { first.into() };
                let pieces = about.get(1..).unwrap_or_default().chunks(size).map(<[u8]>::to_vec);
                stream::serve(assembly, events, &Script::channel(pieces).1);
            }
            2 => workers::name(assembly, events),
            3 => {
                pass(Span::from_millis(60 << first.min(9)));
                self.session.handle(Event::Tick)?;
            }
            4 => {
                for question in self.beside.ask.try_iter() {
                    let answer = self.registry.observer.accept(&question, &|| false);
                    let _ = events.send(Event::Answer(answer));
                }
            }
            _ => {
                for examination in self.beside.examine.try_iter().take(1) {
                    let id = examination.id();
                    let _ = events.send(Event::Examined(id, assembly.examine(*examination)));
                }
            }
        }
        self.settle()
    }
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

/// Checks that no control characters of the sender reach the terminal.
fn shown(line: &str) {
    let is_control = |letter: char| letter.is_control() && letter != '\n';
    assert!(!line.chars().any(is_control), "{line:?}");
}

/// Checks that the receiver writes complete messages: first a welcome or a refusal, or an end before either.
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

/// Adds to `model` all that comes on one control connection and its data connections, and corrects digests. Returns
/// false if there is a file of larger chunks than the smallest.
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
    /// Returns the bytes of one connection, with corrected digests if `correct` is true.
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
