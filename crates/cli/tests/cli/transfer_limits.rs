//! What limited a transfer: a disk on either side, slow start, the send buffer. `transfer.rs` has `--limit`; what tells the others apart is
//! tested in `crates/transfer/src/limits.rs`.

use crate::place::{Ended, Place, alone, end, root};
use crate::transfer::Receiving;
use std::process::Command;
use testkit::tries::{in_one_of_five, in_time};

/// A disk on which each reading and each writing of a part of a file takes 20 ms, for the program it is loaded into.
const SLOW_DISK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
    struct timespec time = { 0, 20000000 };
    nanosleep(&time, 0);
}

ssize_t pread64(int file, void *into, size_t length, off64_t at) {
    ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    nap();
    return real(file, into, length, at);
}

ssize_t pwrite64(int file, const void *from, size_t length, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    nap();
    return real(file, from, length, at);
}
"#;

/// Has `command` run on a slow disk.
fn on_a_slow_disk(place: &Place, mut command: Command) -> Command {
    place.write("slow.c", SLOW_DISK);
    // Whoever builds this program has a C compiler: it links it.
    let built = end(place.shell("cc -shared -fPIC -o slow.so slow.c -ldl"));
    assert_eq!(built.code, Some(0), "{}", built.err);
    command.env("LD_PRELOAD", place.path().join("slow.so"));
    command
}

#[test]
fn a_slow_disk_is_said_to_be_what_limited_the_transfer_and_whose_it_is() {
    for (slow_sender, verdict, sentence) in [
        (true, "sending-disk", "It was limited by the sender's disk: reading took"),
        (false, "receiving-disk", "It was limited by the receiver's disk: writing took"),
    ] {
        in_one_of_five(|| {
            let place = Place::new();
            place.write("file", vec![7; 4_000_000]);
            let receiver = place.program(&["receive", "there", "--listen", "127.0.0.1:0"]);
            let receiver = if slow_sender { receiver } else { on_a_slow_disk(&place, receiver) };
            let receiving = Receiving::of(receiver);
            let sender = place.program(&["send", "file", &receiving.ticket, "--json"]);
            let sender = if slow_sender { on_a_slow_disk(&place, sender) } else { sender };
            let summary = end(sender).well().json().remove(0);
            let received = receiving.ended().well();
            in_time(summary["limits"]["limited_by"] == verdict, &summary)?;
            let share = summary["limits"]["share"].as_f64().unwrap();
            in_time(share > 0.5, &summary)?;
            assert!(received.err.contains(sentence), "{}", received.err);
            Ok(())
        });
    }
}

/// Sends `file` over `link` by `send`; the receiver has `options`.
fn over(place: &Place, link: &str, options: &str, send: &str) -> Ended {
    end(place.shell(&format!(
        "exec $TIGHTLINK emulate {link} --server \
         'exec $TIGHTLINK receive there {options} --ticket-file ticket 2> there.log' -- sh -c \
         'while ! test -s ticket; do sleep 0.05; done; {send} --ticket-file ticket file'"
    )))
    .well()
}

#[test]
fn a_transfer_that_ends_in_slow_start_was_not_limited_by_the_path() {
    let _alone = alone();
    if root() {
        for window in ["max", "sobas"] {
            in_one_of_five(|| {
                let place = Place::new();
                place.write("file", vec![7; 10_000_000]);
                let link = "--rate 100Mbit/s --delay 131ms";
                let options = format!("--window {window}");
                let ended = over(&place, link, &options, "exec $TIGHTLINK send --json");
                let summary = ended.json().remove(0);
                in_time(summary["limits"]["limited_by"] == "slow-start", &summary)?;
                in_time(summary["limits"]["retransmits"] == 0, &summary)
            });
        }
    }
}

/// Without the right to force a buffer: root but for one capability.
const WITHOUT_RIGHTS: &str = "exec setpriv --bounding-set=-net_admin $TIGHTLINK send --control reno";

#[test]
fn a_send_buffer_that_is_too_small_is_named_with_the_way_out() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let place = Place::new();
            place.write("file", vec![7; 200_000_000]);
            let (link, send) = ("--rate 1Gbit/s --delay 75ms", format!("{WITHOUT_RIGHTS} --streams 1"));
            let ended = over(&place, link, "--window max", &send);
            for words in [
                "limited by the send buffer: ",
                "--streams 8 would have up to ",
                "net.ipv4.tcp_wmem=",
                "/etc/sysctl.d",
            ] {
                in_time(ended.err.contains(words), &ended.err)?;
            }
            Ok(())
        });
    }
}

#[test]
fn buffers_are_raised_and_streams_are_added_where_one_does_not_fill_the_path() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let place = Place::new();
            place.write("file", vec![7; 300_000_000]);
            let link = "--rate 1Gbit/s --delay 75ms";
            // Twice the buffer that an ordinary user may have is still too little.
            let ended = over(&place, link, "", &format!("{WITHOUT_RIGHTS} --json"));
            assert_eq!(std::fs::read(place.path().join("there/file")).unwrap().len(), 300_000_000);
            let summary = ended.json().remove(0);
            in_time(summary["streams"] == 8, &summary)?;
            in_time(
                ended.err.contains("7 more TCP connections: the buffers of one connection carry "),
                &ended.err,
            )?;
            // With rights one connection has the buffer that it needs.
            std::fs::remove_dir_all(place.path().join("there")).unwrap();
            std::fs::remove_file(place.path().join("ticket")).unwrap();
            let summary =
                over(&place, link, "", "exec $TIGHTLINK send --control cubic --json").json().remove(0);
            in_time(summary["streams"] == 1, &summary)?;
            in_time(summary["limits"]["limited_by"] != "send-buffer", &summary)
        });
    }
}
