#!/bin/sh
# A buffer of netsim-embed holds the packets under way, so that buffer over delay is a rate that nobody asked for.
#
# Guess: its link has a delay and a buffer but no rate, so packets never queue, and a buffer of ten packets drops nothing of
# a stream of one packet each 5 ms over 100 ms.
# Seen with netsim-embed-core 0.4.3 (crates.io, the wire of netsim-embed 0.9.1): more than half of the stream is lost, at
# regular intervals. About 9 packets come per 100 ms. With a buffer that also has room for the 20 packets under way none is
# lost. A buffer of exactly ten packets holds nine, because a packet enters only if it leaves room.
# Source: DelayBuffer counts a packet from its arrival until its delay is over; src/lib.rs.
# A user who wants a queue of n packets adds the rate times the delay and one packet. Needs cargo and the network.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'T'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
netsim-embed-core = "=0.4.3"
futures = "=0.3.31"
[workspace]
T
cat >"$folder/src/main.rs" <<'T'
use netsim_embed_core::{wire, DelayBuffer};
use std::time::{Duration, Instant};

const PACKETS: u32 = 400;

/// Sends a packet of 1500 bytes each 5 ms over 100 ms; returns the packets that arrive.
fn arrive(buffer: usize) -> u32 {
    let (mut near, link) = wire();
    let mut delay = DelayBuffer::new();
    delay.set_delay(Duration::from_millis(100));
    delay.set_buffer_size(buffer);
    let mut far = delay.spawn(link);
    let sender = std::thread::spawn(move || {
        let start = Instant::now();
        for number in 0..PACKETS {
            let due = start + Duration::from_millis(5) * number;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            near.unbounded_send(vec![0; 1500]);
        }
        std::thread::sleep(Duration::from_millis(300));
    });
    let mut arrived = 0;
    futures::executor::block_on(async { while far.incoming().await.is_some() { arrived += 1; } });
    sender.join().unwrap();
    arrived
}

fn main() {
    println!("{} {} {}", arrive(10 * 1500), arrive(31 * 1500), PACKETS);
}
T
echo "netsim-embed-core 0.4.3"
CARGO_TARGET_DIR="$folder/target" cargo run --quiet --manifest-path "$folder/Cargo.toml" >"$folder/out"
read -r small large sent <"$folder/out"
echo "one packet each 5 ms over 100 ms, $sent sent: $small arrive with a buffer of 10 packets, $large with one of 31"
# Nine of twenty arrive; a busy machine delays the timer, and less comes.
if [ "$small" -ge 100 ] && [ "$small" -le 200 ] && [ "$large" -eq "$sent" ]; then
    echo "as described: the buffer counts packets under way"
else
    echo "changed: see the head of this script" >&2
    exit 1
fi
