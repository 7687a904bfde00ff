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

/// Returns the verdict on a load, whose shares of time add up to one.
fn verdict(way: &Value) -> &Value {
    let diagnosis = &way["diagnosis"];
    let shares = diagnosis["shares"].as_object().unwrap_or_else(|| panic!("no verdict in {way}")).values();
    assert!((shares.filter_map(Value::as_f64).sum::<f64>() - 1.0).abs() < 1e-9, "{diagnosis}");
    assert_eq!(diagnosis["vantage"], "sender-socket", "{diagnosis}");
    diagnosis
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
        let alone = [&report["up"], &report["down"]];
        for way in alone {
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
            let diagnosis = verdict(way);
            in_time(diagnosis["cause"] == "network" && diagnosis["confidence"] == "high", diagnosis)?;
            in_time(diagnosis["path"] == "self-induced", diagnosis)?;
            let proposal = &diagnosis["proposal"];
            near(number(proposal, "rate_bps"), rate * 1e6, 0.1, proposal)?;
            // The window that the proposal simulates is the one that the test calls needed, and a few segments at hosts.
            let segments = 4.0 * number(diagnosis, "segment_bytes");
            let needed = number(way, "window_needed_bytes") + segments;
            near(number(proposal, "needed_bytes"), needed, 0.15, proposal)?;
            assert!(number(&proposal["after"], "goodput_bps") < rate * 1e6, "{proposal}");
        }
        // Each direction's acknowledgements wait behind the other's data, so it has no more than alone.
        let both = &report["together"];
        for (name, alone) in ["up", "down"].into_iter().zip(alone) {
            let way = &both[name];
            verdict(way);
            let loses = number(both, &format!("{name}_loses"));
            let share = number(way, "late_goodput_bps") / number(alone, "late_goodput_bps");
            assert!((1.0 - share - loses).abs() < 1e-9, "{both}");
            in_time(loses > -0.1 && loses < 0.6, both)?;
            near(number(way, "base_rtt_s"), 2.0 * delay / 1e3, 0.1, way)?;
            assert!(number(way, "goodput_bps") < rate * 1e6 * 1.05, "{way}");
        }
        // The far end shows the same, and stores nothing.
        let there = fs::read_to_string(place.path().join("there.out")).unwrap();
        for words in ["up, from the sender to the receiver", "RPM", "RFC 6349", "both at once", "limits it"] {
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
#[ignore = "half a minute, as the two others: part of `make soak`"]
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
        assert!(report["down"].is_null() && report["together"].is_null(), "{report}");
        let diagnosis = verdict(way);
        in_time(diagnosis["cause"] == "receive-window" && diagnosis["confidence"] != "low", diagnosis)?;
        // The rate by packet trains makes the proposal whole, although the load never filled the path.
        let proposal = &diagnosis["proposal"];
        near(number(proposal, "rate_bps"), 20e6, 0.1, proposal)?;
        let after = number(&proposal["after"], "goodput_bps");
        in_time(after > 2.0 * number(way, "goodput_bps"), proposal)?;
        let remedy = &proposal["remedies"][0];
        assert!(
            remedy["place"].as_str().is_some_and(|place| place.starts_with("at the receiver ")),
            "{remedy}"
        );
        assert!(remedy["command"].as_str().is_some_and(|line| line.contains("tcp_rmem")), "{remedy}");
        in_time(way["buffer_at_least"] == true, way)?;
        assert!(number(way, "window_offered_bytes") < number(way, "window_needed_bytes"), "{way}");
        in_time(number(way, "goodput_bps") < 8e6, way)
    });
}

#[test]
fn the_report_for_people_has_each_number_once_and_the_page_the_same_verdict() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let ended = end(place.shell(
        "exec $TIGHTLINK emulate --rate 20Mbit/s --delay 10ms --queue 50kB --control cubic --server \
         'exec $TIGHTLINK receive --test --ticket-file ticket > there.out 2> there.err' -- sh -c \
         'while ! test -s ticket; do sleep 0.05; done; \
         exec $TIGHTLINK send --test 3s --streams 2 --ticket-file ticket --report page.html'",
    ))
    .well();
    for words in ["RFC 6349", "window  "] {
        assert_eq!(ended.out.matches(words).count(), 2, "once for each direction alone:\n{}", ended.out);
    }
    let folded = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["both at once", "in each direction", "RPM down", "while both run", "of 2 connections have this"]
    {
        assert!(folded.contains(words), "{words} is not in:\n{}", ended.out);
    }
    let there = fs::read_to_string(place.path().join("there.out")).unwrap();
    let numbers = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("  capacity") || line.starts_with("  loss"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&there), numbers(&ended.out));
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    for words in ["First limit:", "while both run: ", "What to do", "responsiveness", "Both at once, up: "] {
        assert!(page.contains(words), "{words} is not in the page");
    }
    assert!(
        !page.contains("src=\"http")
            && page.matches("<section").count() + page.matches("<details").count() >= 4
    );
}

#[test]
fn a_page_that_cannot_be_written_is_known_before_the_test() {
    let place = Place::new();
    let arguments = ["send", "--test", "1s", "--report", "no/such/folder.html", "tl1abc"];
    place.run(&arguments).failed(3, &["no/such/folder.html", "--report"]);
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
