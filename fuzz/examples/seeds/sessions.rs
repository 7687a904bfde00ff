//! Sessions as scripts (`transfer::fuzzing`): honest ones, which mutation makes wrong.

use crate::Seeds;
use std::io;
use std::path::Path;
use tightlink_fuzz::segment;
use transfer::name::Name;
use transfer::wire::Greeting;
use transfer::wire::control::{
    Counted, Entry, Finished, Kind, Progress, Report, Stamp, ToReceiver, ToSender, Verdict,
};
use transfer::wire::data::Data;
use transfer::wire::frame::{Framed, append};

/// One message as a segment: the body of a frame.
fn say<M: Framed>(message: &M) -> Vec<u8> {
    let mut frame = Vec::new();
    append(&mut frame, message);
    segment(1, &frame[4..])
}

/// All messages as they travel, cut into segments of so many bytes.
fn stream<M: Framed>(messages: &[M], length: usize) -> Vec<u8> {
    let mut frames = Vec::new();
    messages.iter().for_each(|message| append(&mut frames, message));
    frames.chunks(length).flat_map(|piece| segment(0, piece)).collect()
}

/// Offers of the tree in `send/fuzzing/tree.rs`, of files, folders and links.
const OFFERS: u64 = 13;

pub fn sender_control(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "sender_control")?;
    let answer = |id, verdict| ToSender::Answer { id, verdict };
    let finished = ToSender::Finished(Finished { entries: OFFERS, bytes: 9, failed: 0 });
    let verdicts = [
        Verdict::Want,
        Verdict::Have,
        Verdict::Kept,
        Verdict::Rest(vec![(0, [7; 32])]),
        Verdict::Rest(Vec::new()),
        Verdict::Refused("no\x1b".into()),
    ];
    // Files in one go, then one by one with their data.
    for verdict in verdicts {
        let all: Vec<ToSender> = (0..OFFERS).map(|id| answer(id, verdict.clone())).collect();
        let said: Vec<u8> = all.iter().flat_map(say).collect();
        seeds.add([&[0], &said[..], &segment(2, &[120]), &say(&finished)].concat())?;
        let each: Vec<u8> = all.iter().flat_map(|answer| [say(answer), segment(2, &[3])].concat()).collect();
        seeds.add([&[1], &each[..], &say(&finished)].concat())?;
        seeds.add([&[1], &stream(&all, 50)[..], &segment(2, &[200])].concat())?;
    }
    // Folders and links are made, files are wanted.
    let is_file = |id: u64| [1, 3, 5, 8, 9, 12].contains(&id);
    let mixed: Vec<ToSender> =
        (0..OFFERS).map(|id| answer(id, if is_file(id) { Verdict::Want } else { Verdict::Have })).collect();
    for way in 0..12 {
        let meddled = [segment(3, &[way]), segment(2, &[40]), segment(4, &[9]), segment(2, &[41])].concat();
        let again: Vec<u8> = (OFFERS..OFFERS + 4)
            .flat_map(|id| [say(&answer(id, Verdict::Want)), segment(2, &[9])].concat())
            .collect();
        let said: Vec<u8> = mixed.iter().flat_map(say).collect();
        seeds.add([&[0], &said[..], &meddled, &again, &say(&finished)].concat())?;
        let each: Vec<u8> = mixed.iter().flat_map(|said| [say(said), segment(2, &[2])].concat()).collect();
        seeds.add([&[0][..], &segment(3, &[way]), &each[..], &again, &say(&finished)].concat())?;
    }
    let progress = Progress { window: Some(1 << 20), phase: "hold".into(), ..Progress::default() };
    let others = [
        ToSender::Progress(progress),
        ToSender::Pace { stream: 0, bps: Some(1_000_000) },
        ToSender::Pace { stream: 9, bps: None },
        ToSender::Failed { id: 1, reason: "no room".into() },
        answer(1, Verdict::Want),
        ToSender::Abort { reason: "enough".into() },
    ];
    seeds.add([&[1], &stream(&others, 20)[..]].concat())?;
    seeds
        .add([&[1][..], &segment(4, &[2]), &say(&others[0]), &segment(4, &[11]), &segment(4, &[11])].concat())
}

fn offer(id: u64, name: &str, kind: Kind) -> ToReceiver {
    let modified = Stamp { seconds: 1_700_000_000, nanos: 5 };
    let name = Name::new(name.into()).expect("a name");
    ToReceiver::Offer { id, entry: Entry { name, kind, mode: 0o644, modified } }
}

fn file(id: u64, name: &str, size: u64, version: u8) -> ToReceiver {
    offer(id, name, Kind::File { size, chunk: 20, version: [version; 16] })
}

fn link(id: u64, name: &str, target: &str) -> ToReceiver {
    offer(id, name, Kind::Link { target: target.into() })
}

/// Messages of a data connection, each with the bytes that follow it, whose digests the target makes right.
fn data(messages: &[(Data, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0];
    for (message, content) in messages {
        append(&mut bytes, message);
        bytes.extend(*content);
    }
    segment(3, &bytes)
}

fn small(id: u64, content: &[u8]) -> (Data, &[u8]) {
    (Data::Small { id, length: content.len() as u32, digest: [0; 32] }, content)
}

/// A file in chunks, of which this is the first.
fn chunk(id: u64, offset: u32, content: &[u8]) -> [(Data, &[u8]); 3] {
    let digest = [0; 32];
    [
        (Data::Piece { id, chunk: 0, offset, length: content.len() as u32 }, content),
        (Data::ChunkEnd { id, chunk: 0, digest }, b""),
        (Data::FileEnd { id, digest }, b""),
    ]
}

pub fn sender_session(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "sender_session")?;
    let greeting = |version| say(&Greeting::Control { version, streams: 2, echo: 0 });
    let counted = say(&ToReceiver::Counted(Counted { entries: 9, bytes: 2 << 20, disk: 9, complete: true }));
    let hello = [greeting(2), counted.clone()].concat();
    let end = |offers| [say(&ToReceiver::Complete { offers, failed: 0 }), say(&ToReceiver::Bye)].concat();
    let folder = |id, name| say(&offer(id, name, Kind::Folder));
    let (names, question, examine, hang_up) =
        (segment(4, &[]), segment(6, &[]), segment(7, &[]), segment(8, &[]));
    let tree = [
        folder(0, "t"),
        say(&file(1, "t/a", 5, 1)),
        say(&file(2, "t/empty", 0, 1)),
        say(&link(3, "t/l", "a")),
        say(&link(4, "t/out", "../../outside")),
        data(&[small(1, b"small"), small(2, b"")]),
    ]
    .concat();
    // Each of the rules, and each way to accept.
    for form in (0..=255).step_by(4).flat_map(|form: u8| [form | form >> 4 & 3]) {
        seeds.add([&[form], &hello[..], &question, &tree, &names, &end(5)].concat())?;
    }
    for form in 0..8 {
        let others = [
            say(&file(0, "b", 5, 1)),
            say(&file(1, "b", 6, 2)),
            say(&file(2, "sub/x", 5, 3)),
            say(&file(3, "out/n", 5, 3)),
            say(&file(4, "file", 5, 3)),
            say(&link(5, "broken", "elsewhere")),
            say(&file(6, "large", (1 << 20) + 3, 1)),
            examine.clone(),
        ]
        .concat();
        let all = data(&[small(0, b"other"), small(1, b"others"), small(2, b"other"), small(4, b"other")]);
        seeds.add([&[form], &hello[..], &others, &all, &names, &end(7)].concat())?;
        // Chunks, with a hole; the connection breaks; a second sender goes on.
        let offers =
            [folder(0, "t"), say(&file(1, "t/a", 300, 1)), say(&file(2, "t/b", (1 << 20) + 9, 1))].concat();
        let first = data(&chunk(2, 77, b"far"));
        let rest = data(&chunk(1, 0, &[7; 300]));
        let last = [(Data::ChunkEnd { id: 2, chunk: 1, digest: [0; 32] }, &b""[..]), chunk(2, 77, b"far")[2]];
        let both = [&hello[..], &offers, &first].concat();
        let again =
            [&hello[..], &offers, &first, &examine, &rest, &data(&last), &segment(5, &[3]), &end(3)].concat();
        seeds.add([&[form], &both[..], &hang_up, &again, &names].concat())?;
        let gone = data(&[(Data::Gone { id: 2 }, b"")]);
        seeds.add([&[form], &both[..], &gone, &segment(5, &[9]), &segment(5, &[9]), &end(3)].concat())?;
    }
    // Digests that are wrong, of a small file and of a chunk.
    let offers = [say(&file(0, "n", 5, 1)), say(&file(1, "m", 3, 1))].concat();
    for wrong in [data(&[small(0, b"01234")]), data(&chunk(1, 0, b"abc"))] {
        let as_it_is = [&[2], &wrong[1..]].concat();
        seeds.add([&[2], &hello[..], &offers, &as_it_is, &names].concat())?;
    }
    // As bytes, cut anywhere; without an announcement; of another version.
    let offers = [file(0, "n", 5, 1), offer(1, "d", Kind::Folder), ToReceiver::Report(Report::default())];
    for length in [1, 7, 40] {
        let greeting = stream(&[Greeting::Control { version: 2, streams: 1, echo: 5 }], length);
        let all = [&greeting[..], &counted, &stream(&offers, length), &data(&[small(0, b"01234")]), &end(2)];
        seeds.add([&[0], &all.concat()[..]].concat())?;
    }
    for version in 0..4 {
        let totals = say(&ToReceiver::Totals { entries: 5, bytes: 100 });
        seeds.add([&[version], &greeting(version.into())[..], &totals, &tree, &end(5)].concat())?;
        seeds.add(
            [&[version], &greeting(version.into())[..], &tree, &segment(5, &[5]), &tree, &end(10)].concat(),
        )?;
    }
    let token = say(&Greeting::Data { token: [1; 16], stream: 0 });
    let abort = say(&ToReceiver::Abort { reason: "enough\x1b".into() });
    seeds.add([&[0], &token[..], &hang_up, &hello, &abort, &hang_up, &hello, &tree, &end(5)].concat())
}
