//! `send --test` and `receive --test`: measured against what the emulator was told.

use crate::place::{Ended, Place, alone, end, root};
use serde_json::Value;
use std::fs;
use testkit::tries::{Late, in_one_of_five, in_time};

/// Tests the path over `link` with `--json` and `more`.
fn over(place: &Place, link: &str, more: &str) -> Ended {
    end(place.shell(&format!(
        "exec $TIGHTLINK emulate {link} --server \
         'exec $TIGHTLINK receive --test --ticket-file ticket > there.out 2> there.err' -- sh -c \
         'while ! test -s ticket; do sleep 0.05; done; \
         exec $TIGHTLINK send --test 6s --ticket-file ticket --json {more}'"
    )))
}

/// A number of a direction.
fn number(way: &Value, key: &str) -> f64 {
    way[key].as_f64().unwrap_or_else(|| panic!("no {key} in {way}"))
}

/// Succeeds if `found` is within `share` of `expected`.
fn near(found: f64, expected: f64, share: f64, way: &Value) -> Result<(), Late> {
    in_time((found / expected - 1.0).abs() <= share, way)
}

/// Tests a path with this rate in Mbit/s, one-way delay in ms and queue in kB.
fn measures(rate: f64, delay: f64, queue: f64, control: &str) {
    let _alone = alone();
    if !root() {
        return;
    }
    in_one_of_five(|| {
        let place = Place::new();
        let link = format!("--rate {rate}Mbit/s --delay {delay}ms --queue {queue}kB --control {control}");
        let report = over(&place, &link, "").well().json().remove(0);
        for way in [&report["up"], &report["down"]] {
            let base = 2.0 * delay / 1e3;
            near(number(way, "base_rtt_s"), base, 0.05, way)?;
            near(number(way, "capacity_bps"), rate * 1e6, 0.05, way)?;
            in_time(way["by_trains"] == true, way)?;
            in_time(way["buffer_at_least"] == false, way)?;
            near(number(way, "buffer_bytes"), queue * 1e3, 0.15, way)?;
            near(number(way, "window_needed_bytes"), rate * 1e6 * base / 8.0, 0.1, way)?;
            let full = base + queue * 8e3 / (rate * 1e6);
            // An empty queue is the best, and three full ones are worse than the load's own waiting.
            let rpm = number(&way["responsiveness"], "rpm");
            in_time(rpm < 60.0 / base && rpm > 60.0 / (3.0 * full), way)?;
            in_time(number(way, "goodput_bps") > rate * 1e6 * 0.6, way)?;
            assert!(number(way, "goodput_bps") < rate * 1e6 * 1.05, "{way}");
            in_time(way["idle_lost"] == 0 && number(way, "idle_probes") > 50.0, way)?;
            in_time(way["limits"]["limited_by"] == "congestion-window", way)?;
        }
        // The far end shows the same, and stores nothing.
        let there = fs::read_to_string(place.path().join("there.out")).unwrap();
        for words in ["up, from the sender to the receiver", "RPM", "RFC 6349"] {
            assert!(there.contains(words), "{words} is not in:\n{there}");
        }
        let files: Vec<String> = place.files().iter().map(|file| file.display().to_string()).collect();
        assert_eq!(files, ["there.err", "there.out", "ticket"]);
        Ok(())
    });
}

#[test]
fn a_test_finds_a_queue_of_one_bdp() {
    measures(20.0, 20.0, 100.0, "cubic");
}

#[test]
fn a_test_finds_a_long_queue_on_a_slow_path() {
    measures(10.0, 15.0, 120.0, "reno");
}

#[test]
fn a_test_finds_a_faster_path() {
    measures(50.0, 10.0, 125.0, "cubic");
}

#[test]
fn a_window_that_is_too_small_is_named_and_the_buffer_is_at_least_so_large() {
    let _alone = alone();
    if !root() {
        return;
    }
    in_one_of_five(|| {
        let place = Place::new();
        // 64 kB over 100 ms is 5 Mbit/s.
        let small = "sysctl -qw net.ipv4.tcp_rmem=\"4096 65536 65536\";";
        let ended = end(place.shell(&format!(
            "exec $TIGHTLINK emulate --rate 20Mbit/s --delay 50ms --control cubic --server \
             '{small} exec $TIGHTLINK receive --test --ticket-file ticket > there.out 2> there.err' -- sh -c \
             'while ! test -s ticket; do sleep 0.05; done; \
             exec $TIGHTLINK send --test 6s --direction up --ticket-file ticket --json'"
        )))
        .well();
        let report = ended.json().remove(0);
        let way = &report["up"];
        assert!(report["down"].is_null(), "{report}");
        in_time(way["limits"]["limited_by"] == "receive-window", way)?;
        in_time(way["buffer_at_least"] == true, way)?;
        assert!(number(way, "window_offered_bytes") < number(way, "window_needed_bytes"), "{way}");
        in_time(number(way, "goodput_bps") < 8e6, way)
    });
}

#[test]
fn a_test_with_files_or_with_a_bad_time_is_a_mistake() {
    let place = Place::new();
    place.write("file", "content");
    place.run(&["send", "--test", "10s", "file", "tl1abc"]).failed(2, &["a test sends no files"]);
    place.run(&["send", "--test", "10ms", "tl1abc"]).failed(2, &["--test 10ms", "from 1s to 5min"]);
    place.run(&["send", "--test", "10s", "tl1abc"]).failed(2, &["the ticket was changed or cut"]);
    place.run(&["receive", "--test", "inbox"]).failed(2, &["--test", "cannot be used with"]);
    place.run(&["receive"]).failed(2, &["<DIR>"]);
    assert_eq!(place.files().len(), 1);
}
