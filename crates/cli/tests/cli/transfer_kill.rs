//! kill -9 of either side at any point: what was begun is finished by running the same commands again.

use crate::counting::Counting;
use crate::place::{Ended, Place, SOON, end, now, within};
use crate::transfer::Receiving;
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

/// How often something is killed. `make soak` says 50.
fn kills() -> u64 {
    std::env::var("TIGHTLINK_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// The same numbers each time, of no pattern.
fn draw(seed: u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    for _ in 0..3 {
        state ^= state >> 29;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    state >> 16
}

/// Something to send: a large file, one with a hole, many small ones.
fn tree(place: &Place) -> u64 {
    let mut state = 1;
    let mut noise = |length: usize| -> Vec<u8> {
        (0..length.div_ceil(6))
            .flat_map(|_| {
                state = draw(state);
                state.to_le_bytes()[..6].to_vec()
            })
            .take(length)
            .collect()
    };
    let top = place.path().join("tree");
    for folder in 0..20 {
        fs::create_dir_all(top.join(format!("small/{folder}"))).unwrap();
        for file in 0..50 {
            fs::write(top.join(format!("small/{folder}/{file}")), noise(file * 97)).unwrap();
        }
    }
    fs::write(top.join("large"), noise(24 << 20)).unwrap();
    let hollow = fs::File::create(top.join("hollow")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&hollow, &noise(3 << 20), 5 << 20).unwrap();
    hollow.set_len(40 << 20).unwrap();
    let small: u64 = (0..50).map(|file| file * 97).sum();
    (27 << 20) + 20 * small
}

fn start(place: &Place, ticket: &str) -> Child {
    // Two seconds and a half without an interruption.
    let mut command = place.program(&[
        "send",
        "tree",
        ticket,
        "--streams",
        "2",
        "--limit",
        "90Mbit/s",
        "--retry=0s",
        "--json",
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn what_kill_9_interrupts_at_any_point_is_finished_whole() {
    let mut left = kills();
    let mut seed = 0;
    let mut counts = Counts::default();
    while left > 0 {
        let place = Place::new();
        let total = tree(&place);
        let mut receiving = Receiving::start(&place, &["there"]);
        let ticket = receiving.ticket.clone();
        let (counting, through) = Counting::before(&ticket);
        let (mut killed, mut over) = (0, false);
        // Several kills in one session, then it is let through.
        for _ in 0..left.min(5) {
            seed += 1;
            let mut sending = start(&place, &through);
            let pause = Duration::from_millis(draw(seed) % 1500);
            let began = now();
            while began.elapsed() < pause && sending.try_wait().unwrap().is_none() {
                std::thread::park_timeout(Duration::from_millis(2));
            }
            if sending.try_wait().unwrap().is_some() {
                let ended: Ended = sending.wait_with_output().unwrap().into();
                ended.well();
                over = true;
                break;
            }
            let (sender, receiver) = match draw(seed + 1000) % 3 {
                0 => (true, false),
                1 => (false, true),
                _ => (true, true),
            };
            if sender {
                let _ = sending.kill();
            }
            if receiver {
                receiving.kill();
                receiving = Receiving::start(&place, &["there"]);
            }
            let output = sending.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(sender || matches!(output.status.code(), Some(0 | 5)), "kill {seed}: {err}");
            assert!(!err.contains("panicked"), "kill {seed}: {err}");
            left -= 1;
            killed += 1;
            if receiving.ticket != ticket {
                // It had ended properly before it was killed, and this is a new session.
                let there = place.path().join("there/tree/large");
                assert!(there.exists(), "kill {seed}: the session goes on");
                over = true;
                break;
            }
            println!(
                "kill {seed} after {pause:?}: sender {sender}, receiver {receiver}; {:.1} MB so far",
                counting.passed() as f64 / 1e6
            );
        }
        // The last kill may have met a sender that had had its last word; its receiver is about to end then.
        over = over || within(Duration::from_millis(500), || receiving.child.try_wait().unwrap().is_some());
        let mut arguments = vec!["send", "tree", &through, "--streams", "2", "--json"];
        arguments.push("--limit=2Gbit/s");
        if !over {
            let sent = end(place.program(&arguments));
            // It may end later than that, too, on a machine that stalls; then nobody was there to send to.
            over = sent.code != Some(0) && within(SOON, || receiving.child.try_wait().unwrap().is_some());
            if !over {
                let sent = sent.well().json().remove(0);
                assert!(sent["sent"].as_u64().unwrap() <= total, "{sent}");
            }
        }
        if receiving.ticket == ticket {
            let received = receiving.ended();
            assert_eq!(received.code, Some(0), "{}", received.err);
        } else {
            receiving.kill();
            fs::remove_dir_all(place.path().join("there/.tightlink")).unwrap();
        }
        let same =
            end(place.shell("diff -r --no-dereference tree there/tree && cmp tree/hollow there/tree/hollow"));
        assert_eq!(same.code, Some(0), "kill {seed}: {}", same.out);
        assert!(!place.path().join("there/.tightlink").exists());
        counts.add(killed, total, counting.passed());
        // What was no checkpoint yet is sent again, and nothing else.
        let most = total + total / 50 + killed * BEYOND_CHECKPOINT;
        assert!(counting.passed() <= most, "{} bytes were sent, {most} would do", counting.passed());
    }
    println!("{counts}");
}

/// Each of two streams has a chunk of 1 MiB under way, and at 90 Mbit/s as much again may be in the sockets' buffers
/// between the two when a side is killed.
const BEYOND_CHECKPOINT: u64 = 4 << 20;

/// What the kills cost, in all.
#[derive(Default)]
struct Counts {
    kills: u64,
    files: u64,
    sent: u64,
}

impl Counts {
    fn add(&mut self, kills: u64, files: u64, sent: u64) {
        (self.kills, self.files, self.sent) = (self.kills + kills, self.files + files, self.sent + sent);
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (files, sent) = (self.files as f64 / 1e6, self.sent as f64 / 1e6);
        let again = sent - files;
        write!(
            formatter,
            "{} kills: {sent:.1} MB crossed the path for {files:.1} MB of files; {again:.1} MB more, with what TLS and the \
             protocol add: {:.2} MB per kill",
            self.kills,
            again / self.kills.max(1) as f64
        )
    }
}
