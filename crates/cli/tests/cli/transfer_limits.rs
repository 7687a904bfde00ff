//! What limited a transfer: a disk on either side, the send buffer. `transfer.rs` has `--limit`; what tells the others apart is
//! tested in `crates/transfer/src/limits.rs`.

use crate::place::{Place, alone, end, root};
use crate::transfer::Receiving;
use std::process::Command;
use unjudged::tries::{in_one_of_five, in_time};

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

#[test]
fn a_small_send_buffer_is_said_to_be_what_limited_the_transfer() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let place = Place::new();
            place.write("file", vec![7; 4_000_000]);
            // The path holds 250 kB; the setting is the near namespace's own.
            let ended = end(place.shell(
                "exec $TIGHTLINK emulate --rate 50Mbit/s --delay 20ms --queue 2bdp --server \
                 'exec $TIGHTLINK receive there --window max > ticket' -- sh -c \
                 'while ! test -s ticket; do sleep 0.05; done; \
                 echo 4096 32768 32768 > /proc/sys/net/ipv4/tcp_wmem; \
                 exec $TIGHTLINK send file $(cat ticket)'",
            ))
            .well();
            in_time(ended.err.contains("It was limited by the send buffer: "), &ended.err)?;
            assert!(ended.err.contains("raise net.ipv4.tcp_wmem at the sender."), "{}", ended.err);
            Ok(())
        });
    }
}
