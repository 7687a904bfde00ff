//! Sessions as scripts (`transfer::fuzzing`): honest ones, which mutation makes wrong.

use crate::Seeds;
use std::io;
use std::path::Path;
use tightlink_fuzz::segment;
use transfer::wire::control::{Finished, Progress, ToSender, Verdict};
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
    let check = |count| Verdict::Check(vec![[7; 32]; count]);
    let verdicts = [
        Verdict::Want,
        Verdict::Have,
        Verdict::Kept,
        Verdict::Rest(vec![(0, [7; 32])]),
        Verdict::Rest(Vec::new()),
        check(1),
        check(2),
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
