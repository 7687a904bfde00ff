//! A sender for the fuzz targets only (`--cfg fuzzing`). It has a small tree, and takes the bytes of an input as its
//! receiver's.

mod tree;

use super::connect::Connections;
use super::control::Control;
use super::count::Count;
use super::offer::Offering;
use super::retry::EarlierAttempts;
use super::stream::Stream;
use super::transfer::Transfer;
use super::{SendOptions, sources};
use crate::error::TransferError;
use crate::fuzzing::script::{Script, Segment};
use crate::fuzzing::{Input, clock, pass, segments};
use crate::history::History;
use crate::name::Name;
use crate::progress::{EntryOutcome, Observer, SilentObserver, Snapshot};
use crate::wire::control::{Entry, Id, Kind, ToReceiver, ToSender};
use crate::wire::data::{Data, LONGEST_PIECE, SMALL};
use crate::wire::frame::{self, Framed};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use tree::Tree;
use units::Span;

/// The greatest number of shown lines: those of a receiver about lost entries, and some about the tree.
const MOST_LINES: u64 = 1100;

/// Runs a sender whose receiver's control connection is `input`, and checks all that must hold after that.
///
/// # Panics
/// If a check fails; that is the purpose of the test.
pub fn sender_control(input: &[u8]) {
    thread_local! {
        static TREE: RefCell<Tree> = RefCell::new(Tree::new());
    }
    TREE.with_borrow_mut(|tree| {
        let mut input = Input(input);
        let form = input.byte().unwrap_or_default();
        run(tree, 1 + usize::from(form & 1), segments(input));
        tree.reset();
    });
}

fn run(tree: &mut Tree, streams: usize, segments: Vec<Segment>) {
    let sources = sources::sources(&tree.paths()).expect("the tree is there");
    let clock = clock();
    let count = Count::new(&clock);
    count.run(&sources);
    let (script, control) = Script::channel([]);
    let (scripts, data): (Vec<_>, Vec<_>) = (0..streams).map(|_| Script::channel([])).unzip();
    let own = |channel| Arc::try_unwrap(channel).expect("nobody else has it");
    let data = data.into_iter().map(own).collect();
    let connections = Connections { control: own(control), data, opener: None, echoer: None };
    let mut earlier = EarlierAttempts::new(clock.now());
    let transfer =
        Transfer::new(connections, &SendOptions::default(), &clock, &earlier).expect("a descriptor");
    let ear = Ear::default();
    let (wants, _wanted) = channel();
    let mut control = Control::new(&transfer, &count, &ear, History::default(), wants);
    transfer.guard(|| play(&transfer, &mut control, (tree, &sources, &count), segments));
    transfer.close();
    let told = control.into_told();
    assert!(ear.0.load(Relaxed) <= MOST_LINES, "the receiver fills the screen");
    let offered = offered(&script.take_written());
    for script in scripts {
        check_data(&script.take_written(), &offered, tree);
    }
    assert!(transfer.unshown_lines().len() <= offered.len());
    let _ = transfer.not_shown();
    let _ = transfer.result(told, &mut earlier);
}

/// Plays the receiver's messages, and the other threads' actions when the script demands them.
fn play(
    transfer: &Transfer,
    control: &mut Control<'_>,
    (tree, sources, count): (&mut Tree, &[sources::Source], &Count),
    segments: Vec<Segment>,
) -> Result<(), TransferError> {
    let mut offering = Offering::new(transfer, count, &SilentObserver);
    let (mut left, mut over) = (Vec::new(), false);
    control.announce()?;
    offering.trees(sources).expect("nothing breaks");
    for segment in segments {
        match segment {
            Segment::Bytes(bytes) => {
                left.extend(bytes);
                loop {
                    let first = frame::first::<ToSender>(&left).map_err(|error| TransferError::Protocol {
                        peer: transfer.control.peer(),
                        reason: error.to_string(),
                    })?;
                    let Some((message, length)) = first else { break };
                    left.drain(..length);
                    if control.handle_message(message)? {
                        return Ok(());
                    }
                }
            }
            Segment::Turn(0, about) => {
                let about = about.first().copied().unwrap_or(4);
                let channels = transfer.channels();
                let channel = &channels[usize::from(about & 1) % channels.len()];
                let mut stream = Stream::new(transfer, channel, &SilentObserver);
                for _ in 0..about / 2 {
                    let Some(job) = transfer.queue.take_now() else { break };
                    stream.work(&job).expect("nothing breaks");
                }
                stream.flush().expect("nothing breaks");
            }
            Segment::Turn(1, about) => tree.meddle(about.first().copied().unwrap_or_default()),
            Segment::Turn(2, about) => {
                pass(Span::from_millis(20 << about.first().copied().unwrap_or_default().min(11)));
                control.look_around()?;
            }
            Segment::Turn(..) => {}
        }
        while !over && let Some(again) = transfer.queue.rest() {
            over = again.is_empty();
            let said = if over { offering.complete() } else { offering.again(again) };
            said.expect("nothing breaks");
        }
    }
    Err(TransferError::gone("the receiver left before the end"))
}

/// An observer that checks the lines for the sender's user.
#[derive(Default)]
struct Ear(AtomicU64);

impl Observer for Ear {
    fn say(&self, line: &str) {
        self.0.fetch_add(1, Relaxed);
        shown(line);
    }

    fn progress(&self, snapshot: &Snapshot) {
        shown(&snapshot.phase);
        shown(&snapshot.reason);
    }

    fn moved(&self, name: &Name, _fate: EntryOutcome) {
        assert!(Tree::has(name), "{name} was not sent");
    }
}

/// Checks that no control characters of the receiver reach the terminal.
fn shown(line: &str) {
    let turns = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!line.chars().any(|letter| letter.is_control() || turns(letter)), "{line:?}");
}

/// Returns the messages of `bytes`, which must be complete and of bounded length.
fn messages<M: Framed>(mut bytes: &[u8]) -> impl Iterator<Item = M> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (message, length) = frame::first::<M>(bytes).expect("a message").expect("a whole one");
        bytes = &bytes[length..];
        Some(message)
    })
}

/// Returns the offers on the control connection.
fn offered(written: &[u8]) -> HashMap<Id, Entry> {
    let mut offered = HashMap::new();
    let mut complete = None;
    for (index, message) in messages::<ToReceiver>(written).enumerate() {
        assert!(index > 0 || matches!(message, ToReceiver::Counted(_)), "offers before an announcement");
        match message {
            ToReceiver::Offer { id, entry } => {
                assert!(id == offered.len() as u64 && complete.is_none());
                assert!(Tree::has(&entry.name), "{} is offered", entry.name);
                offered.insert(id, entry);
            }
            ToReceiver::Complete { offers, failed } => {
                assert!(offers == offered.len() as u64 && failed <= 100, "{offers} offers, {failed} failed");
                assert!(complete.replace(failed).is_none(), "complete twice");
            }
            ToReceiver::Abort { reason } => panic!("nobody gave up: {reason}"),
            ToReceiver::Totals { .. } => panic!("this is not said any more"),
            ToReceiver::Report(_) | ToReceiver::Limits(_) | ToReceiver::Counted(_) | ToReceiver::Bye => {}
        }
    }
    offered
}

/// Checks that a data connection carries only messages about offered files, and bytes of these files.
fn check_data(mut written: &[u8], offered: &HashMap<Id, Entry>, tree: &Tree) {
    while !written.is_empty() {
        let (message, length) = frame::first::<Data>(written).expect("a message").expect("a whole one");
        written = &written[length..];
        let (id, offset, length, most) = match message {
            Data::Small { id, length, .. } => (id, 0, length as usize, SMALL),
            Data::Piece { id, chunk, offset, length } => {
                (id, (u64::from(chunk) << 20) + u64::from(offset), length as usize, LONGEST_PIECE)
            }
            Data::ChunkEnd { id, .. } | Data::FileEnd { id, .. } | Data::Gone { id } => (id, 0, 0, 0),
        };
        let entry = offered.get(&id).expect("a file that was offered");
        let Kind::File { size, .. } = entry.kind else { panic!("{} is no file", entry.name) };
        assert!(length <= most && offset + length as u64 <= size, "{message:?} of {size} bytes");
        let (bytes, rest) = written.split_at(length);
        tree.check_content(&entry.name, offset, bytes);
        written = rest;
    }
}
