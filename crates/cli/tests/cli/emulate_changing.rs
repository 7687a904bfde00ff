//! `tightlink emulate` of a link that changes.

use crate::place::{Ended, Place, alone, end, root};
use serde_json::Value;
use std::process::Command;

/// Writes `up.trace` and `down.trace`: ten and a hundred packets of 1500 bytes a second.
fn write_traces(place: &Place) {
    for (name, every) in [("up.trace", 100), ("down.trace", 10)] {
        let lines: String = (1..=1000 / every).map(|line| format!("{}\n", line * every)).collect();
        place.write(name, lines);
    }
}

/// Returns the seconds of each direction in the JSON of a run that went well.
#[track_caller]
fn seconds(ended: Ended) -> [Vec<Value>; 2] {
    let ended = ended.well();
    let json: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    ["to_far", "from_far"].map(|way| json[way]["seconds"].as_array().cloned().unwrap_or_default())
}

/// Runs a line of bash, which has `<(…)`.
fn bash(place: &Place, line: &str) -> Ended {
    let mut command = Command::new("bash");
    command.args(["-c", line]);
    end(place.here(command))
}

#[test]
fn each_second_says_what_the_link_offered_and_what_of_it_was_used() {
    let _alone = alone();
    let place = Place::new();
    write_traces(&place);
    if root() {
        let send = "head -c 1472 /dev/zero > /dev/udp/$TIGHTLINK_FAR/9";
        let line =
            format!("end=$((SECONDS + 4)); while [ $SECONDS -lt $end ]; do {send}; done 2> /dev/null; true");
        let options = ["emulate", "--rate", "up.trace", "-q", "100packets", "--json", "--", "bash", "-c"];
        let seconds = seconds(place.run(&[&options[..], &[&line]].concat()));
        let number = |second: &Value, key: &str| second[key].as_u64().unwrap();
        for way in &seconds {
            assert!(way.len() >= 2, "{seconds:?}");
            for (second, at) in way.iter().zip(1..) {
                assert_eq!(number(second, "t_s"), at);
                assert_eq!(number(second, "offered_bytes"), 10 * 1504, "{second}");
            }
        }
        // The first packets come after a part of the first second.
        let used: Vec<u64> = seconds[0].iter().map(|second| number(second, "used_bytes")).collect();
        assert!(used.iter().sum::<u64>() <= 15_040 * used.len() as u64, "{used:?}");
        assert!(used[1..].contains(&15_040), "{used:?}");
        // The way back has only the far end's errors, because nobody listens there.
        assert!(seconds[1].iter().all(|second| number(second, "used_bytes") < 15_040), "{seconds:?}");
    }
}

#[test]
fn a_rate_may_come_through_a_pipe() {
    let _alone = alone();
    let place = Place::new();
    write_traces(&place);
    let refused = |line: &str, words: &[&str]| bash(&place, line).failed(2, words);
    refused("exec $TIGHTLINK emulate --rate <(true) -- true", &["--rate: /dev/fd/"]);
    refused(
        "exec $TIGHTLINK emulate --rate <(printf '5\\n4\\n') -- true",
        &["--rate: /dev/fd/", ":2: 4 after 5: the time goes back"],
    );
    if root() {
        let offered = |line: &str| {
            seconds(bash(&place, line)).map(|way| way.first().map(|second| second["offered_bytes"].clone()))
        };
        let tail = "--queue 10packets --json -- sleep 1.3";
        let both = [Some(15_040.into()), Some(150_400.into())];
        let pipes = "--rate <(cat up.trace) --rate-back <(cat down.trace)";
        assert_eq!(offered(&format!("exec $TIGHTLINK emulate {pipes} {tail}")), both);
        // A pipe with a name, which both directions follow. A second reader would wait for another writer.
        let named =
            "mkfifo pipe && (cat up.trace > pipe &) && exec timeout 60 $TIGHTLINK emulate --rate pipe";
        assert_eq!(offered(&format!("{named} {tail}")), [Some(15_040.into()), Some(15_040.into())]);
    }
}

#[test]
fn outages_stop_both_directions() {
    let _alone = alone();
    let place = Place::new();
    let options = |outage: &'static str| ["emulate", "--rate", "8Mbit/s", "--outage", outage, "--json", "--"];
    let refused = |outage: &'static str, words: &[&str]| {
        place.run(&[&options(outage)[..], &["true"]].concat()).failed(2, words);
    };
    refused("80ms", &["--outage", "no period", "80ms, every=15s"]);
    refused("every=15s", &["--outage", "no length", "80ms, every=15s"]);
    refused("80, every=15s", &["--outage", "80"]);
    refused("80ms, every=15s, last=1s", &["--outage", "an unknown key, \"last\""]);
    refused("80ms, every=15s, every=16s", &["--outage", "two values of every"]);
    refused("80ms, every=15s..16s", &["--outage", "a range, where every is one time"]);
    refused("20s, every=15s", &["--outage: a length of 20s every 15s", "a time above 0s and below 15s"]);
    refused("0s, every=15s", &["--outage"]);
    let two = ["--rate-back", "1Mbit/s", "--", "true"];
    place.run(&[&options("80ms, every=15s")[..6], &two].concat()).failed(2, &["--outage", "--rate-back"]);
    if root() {
        let outage = "300ms, every=1s, first=200ms";
        let seconds = seconds(place.run(&[&options(outage)[..], &["sleep", "1.3"]].concat()));
        for way in &seconds {
            assert_eq!(way[0]["offered_bytes"], 700_000, "{seconds:?}");
        }
    }
}
