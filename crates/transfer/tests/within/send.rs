//! A sender against a receiver whose messages a test chooses.

use super::{SendOptions, send};
use crate::channel::{Channel, Message, MessageReader};
use crate::chunks::{Chunks, Digest, file_digest};
use crate::error::TransferError;
use crate::keys::{Key, receiver_tls};
use crate::name::Name;
use crate::progress::{EntryOutcome, Observer, Snapshot};
use crate::summary::Summary;
use crate::ticket::{Secret, Ticket};
use crate::wire::control::{Counted, Entry, Finished, Id, Kind, ToReceiver, ToSender, Verdict};
use crate::wire::data::Data;
use crate::wire::frame::{self, Framed};
use crate::wire::{Greeting, VERSION};
use host::Clock;
use rustls::{ServerConfig, ServerConnection};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use units::{Rate, Span};

const SOON: Span = Span::from_secs(20);

/// An observer that remembers everything.
#[derive(Default)]
struct Ear {
    said: Mutex<Vec<String>>,
    moved: Mutex<Vec<(String, EntryOutcome)>>,
}

impl Observer for Ear {
    fn say(&self, line: &str) {
        self.said.lock().unwrap().push(line.into());
    }
    fn progress(&self, _snapshot: &Snapshot) {}
    fn moved(&self, name: &Name, fate: EntryOutcome) {
        self.moved.lock().unwrap().push((name.to_string(), fate));
    }
}

/// The receiver's end of one sender's connections.
struct Peer<'a> {
    control: &'a Channel,
    answers: MessageReader<'a>,
    data: MessageReader<'a>,
    clock: Clock,
}

impl Peer<'_> {
    fn say(&self, message: &ToSender) {
        let mut out = Vec::new();
        frame::append(&mut out, message);
        let _ = self.control.write(&out);
    }

    fn answer(&self, id: Id, verdict: Verdict) {
        self.say(&ToSender::Answer { id, verdict });
    }

    /// Reads the next message other than a report, if one comes in time.
    fn hear_within(&mut self, span: Span) -> Option<ToReceiver> {
        let until = self.clock.now() + span;
        loop {
            match self.answers.message(until) {
                Ok(Message::Is(ToReceiver::Report(_) | ToReceiver::Limits(_))) => {}
                Ok(Message::Is(message)) => return Some(message),
                _ => return None,
            }
        }
    }

    /// Reads the offers of a tree, whose size is announced before the first of them.
    fn offers(&mut self) -> Vec<(Id, Entry)> {
        let Some(ToReceiver::Counted(mut counted)) = self.hear_within(SOON) else {
            panic!("no announcement")
        };
        let mut offers = Vec::new();
        while !counted.complete || (offers.len() as u64) < counted.entries {
            match self.hear_within(SOON) {
                Some(ToReceiver::Offer { id, entry }) => offers.push((id, entry)),
                Some(ToReceiver::Counted(more)) => counted = more,
                other => panic!("{other:?}"),
            }
        }
        let size = |entry: &Entry| if let Kind::File { size, .. } = entry.kind { size } else { 0 };
        assert_eq!(offers.iter().map(|(_, entry)| size(entry)).sum::<u64>(), counted.bytes);
        offers
    }

    /// Reads the next message of the data connection, and discards the file's bytes after it.
    fn data(&mut self) -> Data {
        let until = self.clock.now() + SOON;
        let Ok(Message::Is(message)) = self.data.message(until) else { panic!("no data") };
        if let Data::Small { length, .. } | Data::Piece { length, .. } = message {
            let mut left = length as usize;
            while left > 0 {
                let held = self.data.held().len().min(left);
                self.data.consume(held);
                left -= held;
                if left > 0 {
                    self.data.more(until).unwrap();
                }
            }
        }
        message
    }

    /// Announces that everything is stored.
    fn finish(&mut self) {
        while !matches!(self.hear_within(SOON).expect("the end"), ToReceiver::Complete { .. }) {}
        self.say(&ToSender::Finished(Finished::default()));
        while self.hear_within(SOON).is_some() {}
    }
}

fn listen<M: Framed>(listener: &TcpListener, tls: &Arc<ServerConfig>, clock: &Clock) -> (Channel, M) {
    let (socket, _) = listener.accept().unwrap();
    let tls = ServerConnection::new(Arc::clone(tls)).unwrap();
    let channel = Channel::establish(socket, tls, *clock, clock.now() + SOON).unwrap();
    let mut reader = MessageReader::new(&channel);
    let Ok(Message::Is(greeting)) = reader.message(clock.now() + SOON) else { panic!("no greeting") };
    reader.put_back();
    (channel, greeting)
}

/// Sends the entries of `folder` to a receiver that does `act`.
fn against(
    folder: &Path,
    ear: &Ear,
    act: impl FnOnce(&mut Peer<'_>) + Send,
) -> Result<Summary, TransferError> {
    let (clock, key, secret) = (Clock::start(), Key::new(&[1; 32]), Secret([2; 16]));
    let tls = receiver_tls(&key, &secret);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ticket = Ticket {
        addresses: vec![address.ip().into()],
        port: address.port(),
        fingerprint: key.fingerprint(),
        secret,
    };
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let (control, greeting) = listen(&listener, &tls, &clock);
            assert!(matches!(greeting, Greeting::Control { version: VERSION, .. }));
            let mut out = Vec::new();
            frame::append(&mut out, &ToSender::Welcome { token: [3; 16], resumed: false });
            control.write(&out).unwrap();
            let (data, greeting) = listen(&listener, &tls, &clock);
            assert!(matches!(greeting, Greeting::Data { .. }));
            let (answers, data) = (MessageReader::new(&control), MessageReader::new(&data));
            let mut peer = Peer { control: &control, answers, data, clock };
            act(&mut peer);
            // The sender must say goodbye in time.
            while peer.hear_within(SOON).is_some() {}
        });
        // The rate is slow enough for a file to be under way while its receiver sends more messages.
        let limit = Some(Rate::from_bps(80_000_000));
        let options = SendOptions { limit, retry: Span::ZERO, ..SendOptions::default() };
        send(&[folder.to_owned()], &ticket, &options, &clock, ear)
    })
}

fn content(length: usize, seed: u8) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new_keyed(&[seed; 32]).finalize_xof().fill(&mut bytes);
    bytes
}

fn digests(bytes: &[u8]) -> Vec<Digest> {
    bytes.chunks(1 << 20).map(|chunk| *blake3::hash(chunk).as_bytes()).collect()
}

/// Makes a tree with a file that the receiver has, one that it has with other content, a small one, an empty one and a
/// hollow one.
fn tree() -> (tempfile::TempDir, std::path::PathBuf) {
    let bench = tempfile::tempdir().unwrap();
    let tree = bench.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("same"), content(3_000_000, 1)).unwrap();
    fs::write(tree.join("other"), content(3_000_000, 2)).unwrap();
    fs::write(tree.join("small"), content(1000, 3)).unwrap();
    fs::write(tree.join("empty"), "").unwrap();
    fs::File::create(tree.join("hollow")).unwrap().set_len(2_500_000).unwrap();
    std::os::unix::fs::symlink("same", tree.join("link")).unwrap();
    (bench, tree)
}

fn id(offers: &[(Id, Entry)], name: &str) -> Id {
    let named = offers.iter().find(|(_, entry)| entry.name.to_string() == name);
    named.unwrap_or_else(|| panic!("{name} was not offered")).0
}

#[test]
fn what_the_receiver_has_or_keeps_is_not_sent_and_the_rest_is() {
    let (_bench, tree) = tree();
    let ear = Ear::default();
    let sent = against(&tree, &ear, |peer| {
        let offers = peer.offers();
        let [top, same, other, small, empty, hollow, link] =
            ["tree", "tree/same", "tree/other", "tree/small", "tree/empty", "tree/hollow", "tree/link"]
                .map(|name| id(&offers, name));
        let theirs = digests(&content(3_000_000, 2));
        peer.answer(same, Verdict::Have);
        peer.answer(empty, Verdict::Have);
        peer.answer(small, Verdict::Kept);
        peer.answer(hollow, Verdict::Rest(vec![(0, [1; 32]), (1, [2; 32]), (2, [3; 32])]));
        let digest = file_digest(2_500_000, &[[1; 32], [2; 32], [3; 32]]);
        assert_eq!(peer.data(), Data::FileEnd { id: hollow, digest });
        peer.answer(other, Verdict::Rest(vec![(1, theirs[1])]));
        let mut came = 0;
        loop {
            match peer.data() {
                Data::Piece { id, chunk, length, .. } if id == other && chunk != 1 => came += length,
                Data::ChunkEnd { id, .. } if id == other => {}
                Data::FileEnd { id, digest } if id == other => {
                    assert_eq!(digest, file_digest(3_000_000, &theirs));
                    break;
                }
                odd => panic!("{odd:?}"),
            }
        }
        assert_eq!(came, 3_000_000 - (1 << 20));
        peer.answer(link, Verdict::Kept);
        peer.answer(top, Verdict::Have);
        // Answers to offers that have ended, or never existed, have no consequence.
        peer.answer(same, Verdict::Want);
        peer.answer(u64::MAX, Verdict::Rest(vec![(7, [0; 32])]));
        peer.finish();
    });
    let sent = sent.unwrap();
    assert_eq!((sent.sent, sent.skipped), (Some(3_000_000 - (1 << 20)), 4), "{sent:?}");
    let mut moved = ear.moved.lock().unwrap().clone();
    moved.sort_by(|one, other| one.0.cmp(&other.0));
    use EntryOutcome::{Kept, Sent, There};
    let expected = [
        ("tree", Sent),
        ("tree/empty", There),
        ("tree/hollow", Sent),
        ("tree/link", Kept),
        ("tree/other", Sent),
        ("tree/same", There),
        ("tree/small", Kept),
    ];
    assert_eq!(moved, expected.map(|(name, fate)| (name.to_owned(), fate)));
}

#[test]
fn a_file_that_changes_after_its_offer_is_offered_again() {
    let (_bench, tree) = tree();
    let sent = against(&tree, &Ear::default(), |peer| {
        let offers = peer.offers();
        let same = id(&offers, "tree/same");
        fs::write(tree.join("same"), content(3_000_000, 4)).unwrap();
        for (id, _) in offers.iter().filter(|(id, _)| *id != same) {
            peer.answer(*id, Verdict::Have);
        }
        peer.answer(same, Verdict::Want);
        assert_eq!(peer.data(), Data::Gone { id: same });
        let Some(ToReceiver::Offer { id: again, entry }) = peer.hear_within(SOON) else { panic!() };
        assert_eq!(entry.name.to_string(), "tree/same");
        peer.answer(again, Verdict::Have);
        peer.finish();
    });
    assert_eq!(sent.unwrap().sent, Some(0));
}

#[test]
fn answers_that_break_the_protocol_end_the_transfer_and_nothing_else() {
    assert_eq!(Chunks::new(3_000_000).count(), 3);
    type Act = fn(&mut Peer<'_>, Id, Id);
    let acts: [(Act, &str); 6] = [
        (|peer, file, _| (0..2).for_each(|_| peer.answer(file, Verdict::Want)), "a second answer"),
        (|peer, file, _| peer.answer(file, Verdict::Rest(vec![(3, [0; 32])])), "does not have"),
        (|peer, file, _| peer.answer(file, Verdict::Rest(vec![(1, [0; 32]), (0, [0; 32])])), "not in order"),
        (|peer, file, _| peer.answer(file, Verdict::Rest(vec![(1, [0; 32]), (1, [0; 32])])), "not in order"),
        (|peer, _, folder| peer.answer(folder, Verdict::Want), "is not a file"),
        (
            |peer, file, _| {
                (0..100).for_each(|_| peer.say(&ToSender::Failed { id: file, reason: "no".into() }));
            },
            "more failures than offers",
        ),
    ];
    for (act, reason) in acts {
        let (_bench, tree) = tree();
        let error = against(&tree, &Ear::default(), |peer| {
            let offers = peer.offers();
            act(peer, id(&offers, "tree/same"), id(&offers, "tree"));
        });
        let error = error.unwrap_err();
        let expected = error.to_string().contains(reason);
        assert!(matches!(error, TransferError::Protocol { .. }) && expected, "{reason}: {error}");
    }
}

#[test]
fn words_of_the_receiver_are_shown_as_its_words() {
    let (_bench, tree) = tree();
    let ear = Ear::default();
    let sent = against(&tree, &ear, |peer| {
        for (id, entry) in peer.offers() {
            let lost = entry.name.to_string() == "tree/small";
            let reason = "no \x1b]0;owned\x07\rsent 7 entries".into();
            peer.answer(id, if lost { Verdict::Refused(reason) } else { Verdict::Have });
        }
        peer.finish();
    });
    let error = sent.unwrap_err().to_string();
    let words = r#"the receiver says "no \u{1b}]0;owned\u{7}\rsent 7 entries""#;
    assert!(error.contains(words), "{error}");
    assert!(ear.said.lock().unwrap().iter().any(|line| line == words));
}

/// Returns the number of offers, and the number of their bytes, that come to a receiver that answers none.
fn unanswered(folder: &Path) -> (usize, usize) {
    let (mut offers, mut bytes) = (0, 0);
    let counts = (&mut offers, &mut bytes);
    let error = against(folder, &Ear::default(), |peer| {
        while let Some(message) = peer.hear_within(Span::from_secs(2)) {
            if matches!(message, ToReceiver::Offer { .. }) {
                let mut frame = Vec::new();
                frame::append(&mut frame, &message);
                *counts.0 += 1;
                *counts.1 += frame.len();
            }
        }
        peer.say(&ToSender::Abort { reason: "enough".into() });
    });
    assert!(matches!(error, Err(TransferError::Aborted(_))), "{error:?}");
    (offers, bytes)
}

#[test]
fn offers_of_every_kind_are_bounded_by_number_and_by_bytes() {
    // Making twenty thousand entries is slow on a disk.
    let bench = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let many = bench.path().join("many");
    for index in 0..17_000 {
        fs::create_dir_all(many.join(index.to_string())).unwrap();
    }
    assert_eq!(unanswered(&many).0, 16 << 10);
    let long = bench.path().join("long");
    let mut deep = long.clone();
    (0..14).for_each(|_| deep.push("x".repeat(250)));
    fs::create_dir_all(&deep).unwrap();
    for index in 0..3000 {
        std::os::unix::fs::symlink("target", deep.join(index.to_string())).unwrap();
    }
    let (offers, bytes) = unanswered(&long);
    assert!(offers < 3000 && (7 << 20..=8 << 20).contains(&bytes), "{offers} offers, {bytes} bytes");
}

#[test]
fn what_grows_after_it_was_counted_is_announced_before_it_is_offered() {
    let (_bench, tree) = tree();
    let sent = against(&tree, &Ear::default(), |peer| {
        let offers = peer.offers();
        let before: u64 = 3_000_000 * 2 + 1000 + 2_500_000;
        fs::write(tree.join("small"), content(5000, 4)).unwrap();
        for (id, entry) in offers {
            let grown = entry.name.to_string() == "tree/small";
            peer.answer(id, if grown { Verdict::Want } else { Verdict::Have });
        }
        assert!(matches!(peer.data(), Data::Gone { .. }));
        let Some(ToReceiver::Counted(Counted { entries: 7, bytes, complete: true, .. })) =
            peer.hear_within(SOON)
        else {
            panic!("no announcement")
        };
        assert_eq!(bytes, before + 4000);
        let Some(ToReceiver::Offer { id, .. }) = peer.hear_within(SOON) else { panic!("no offer") };
        peer.answer(id, Verdict::Want);
        assert!(matches!(peer.data(), Data::Small { length: 5000, .. }));
        peer.finish();
    });
    sent.unwrap();
}

#[test]
fn a_receiver_that_asks_for_a_bit_per_second_gets_no_less_than_the_least_pace() {
    let bench = tempfile::tempdir().unwrap();
    let file = bench.path().join("file");
    fs::write(&file, content(6000, 4)).unwrap();
    let began = Clock::start();
    let sent = against(&file, &Ear::default(), |peer| {
        let offers = peer.offers();
        peer.say(&ToSender::Pace { stream: 0, bps: Some(1) });
        peer.answer(id(&offers, "file"), Verdict::Want);
        // The first quantum leaves at once, and the rest takes some seconds.
        assert!(matches!(peer.data(), Data::Small { length: 6000, .. }));
        peer.finish();
    });
    assert_eq!(sent.unwrap().sent, Some(6000));
    assert!(began.now().since(units::Time::ZERO) < SOON);
}

#[test]
fn a_receiver_cannot_claim_more_than_there_is() {
    let bench = tempfile::tempdir().unwrap();
    let file = bench.path().join("file");
    fs::write(&file, content(6000, 5)).unwrap();
    let sent = against(&file, &Ear::default(), |peer| {
        let offers = peer.offers();
        peer.answer(id(&offers, "file"), Verdict::Have);
        while !matches!(peer.hear_within(SOON).expect("the end"), ToReceiver::Complete { .. }) {}
        peer.say(&ToSender::Finished(Finished { entries: u64::MAX, bytes: u64::MAX, failed: 0 }));
    });
    let sent = sent.unwrap();
    assert_eq!((sent.entries, sent.bytes), (1, 6000));
}
