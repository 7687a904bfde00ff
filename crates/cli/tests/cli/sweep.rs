//! `tightlink sweep`: one table of many points, whatever happens on the way.

use crate::kill::signal;
use crate::place::{Place, SMALL, SOON, SWEEP, end, root, within};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

/// Eight points, each long enough that a sweep can be caught in the middle.
fn long() -> Place {
    let place = Place::new();
    let long = SMALL.replace("2s", "200s").replace("10Mbit/s", "100Mbit/s").replace("20kB", "max");
    place.write("long.toml", format!("{long}[sweep]\nseed = [1, 2, 3, 4, 5, 6, 7, 8]\n"));
    place
}

/// Finished points by file name, with what tells one writing of a file from the next.
fn points(place: &Place, out: &str) -> BTreeMap<String, (u64, Vec<u8>)> {
    let files = fs::read_dir(place.path().join(out).join("points/sim")).into_iter().flatten().flatten();
    let finished = files.filter(|file| !file.file_name().to_string_lossy().starts_with('.'));
    let point = |file: fs::DirEntry| {
        let kept = (file.metadata().unwrap().ino(), fs::read(file.path()).unwrap());
        (file.file_name().to_string_lossy().into_owned(), kept)
    };
    finished.map(point).collect()
}

#[test]
fn a_table_has_the_same_bytes_on_a_processor_without_fma() {
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let place = Place::new();
    for file in ["wlan/classes.toml", "highspeed/case1.toml"] {
        let file = format!("{scenarios}/{file}");
        let table = |out: &str, tunables: &str| {
            let mut command = place.program(&["sweep", &file, "--engine", "model", "--out", out]);
            // The functions of glibc that it then takes differ in the last bit.
            command.env("GLIBC_TUNABLES", tunables);
            end(command).well().out
        };
        assert_eq!(
            table("old", "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-FMA4,-AVX"),
            table("here", ""),
            "{file}"
        );
    }
    let tables = |out: &str| -> BTreeMap<_, _> {
        let files = fs::read_dir(place.path().join(out)).unwrap().map(|file| file.unwrap().path());
        let tables =
            files.filter(|file| file.extension().is_some_and(|kind| kind == "csv" || kind == "parquet"));
        tables.map(|file| (file.file_name().unwrap().to_owned(), fs::read(&file).unwrap())).collect()
    };
    assert_eq!(tables("here").len(), 4);
    assert!(tables("here") == tables("old"), "the tables in {:?} differ", place.path());
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_comes_to_the_same_bytes() {
    let place = long();
    place.run(&["sweep", "long.toml", "--out", "whole", "--jobs", "2"]).well();
    let mut child = place.start(&["sweep", "long.toml", "--out", "cut", "--jobs", "1"]);
    assert!(within(Duration::from_secs(60), || points(&place, "cut").len() >= 2), "no point is finished");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "it was still running");
    let before = points(&place, "cut");
    assert!((2..8).contains(&before.len()) && !place.path().join("cut/long.csv").exists());
    // What a kill in the middle of writing leaves.
    let half = "cut/points/sim/.under-way-0123456789abcdef.json-abc";
    place.write(half, "{");

    place.run(&["sweep", "long.toml", "--out", "cut", "--jobs", "1"]).well();
    let after = points(&place, "cut");
    assert_eq!(after.len(), 8);
    assert!(before.iter().all(|(name, kept)| after[name] == *kept), "a finished point was run again");
    assert!(!place.path().join(half).exists());
    for table in ["long.csv", "long.parquet"] {
        let read = |out: &str| fs::read(place.path().join(out).join(table)).unwrap();
        assert!(read("cut") == read("whole"), "{table} differs");
    }

    let text = fs::read_to_string(place.path().join("whole/long.csv")).unwrap();
    assert_eq!(text.lines().next().unwrap().split(',').filter(|name| *name == "seed").count(), 1, "{text}");

    // Nothing is left to do; nothing is done.
    place.run(&["sweep", "long.toml", "--out", "cut"]).well();
    assert_eq!(points(&place, "cut"), after);
}

#[test]
fn a_point_that_was_half_written_is_run_again() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let whole = place.run(&["sweep", "sweep.toml"]).well().out;
    let name = points(&place, "results").into_keys().next().unwrap();
    place.write(&format!("results/points/sim/{name}"), "{\"version\": \"0.1.0\", \"summ");
    assert_eq!(place.run(&["sweep", "sweep.toml"]).well().out, whole);
}

#[test]
fn a_point_that_is_not_as_it_was_kept_is_run_again() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let whole = place.run(&["sweep", "sweep.toml"]).well().out;
    let kept = points(&place, "results");
    let [(first, (_, content)), (second, _)] = &kept.iter().collect::<Vec<_>>()[..] else {
        panic!("two points")
    };
    let path = place.path().join("results/points/sim").join(first);
    let text = String::from_utf8(content.clone()).unwrap();
    let at = text.find("\"utilization\":").expect("a number") + "\"utilization\":".len();
    let changed = format!("{}7{}", &text[..at], &text[at..]);
    let other_seed = text.replace("\"seed\":", "\"seed\":9");
    let other_hash = text.replace(first.trim_end_matches(".json"), "0000000000000000");
    type Plant<'a> = &'a dyn Fn();
    let plants: [(&str, Plant<'_>); 7] = [
        ("a changed number", &|| fs::write(&path, &changed).unwrap()),
        ("another seed", &|| fs::write(&path, &other_seed).unwrap()),
        ("another scenario", &|| fs::write(&path, &other_hash).unwrap()),
        ("another point", &|| fs::write(&path, &kept[*second].1).unwrap()),
        ("a link to a whole point", &|| {
            fs::write(place.path().join("copy"), content).unwrap();
            symlink("../../../copy", &path).unwrap();
        }),
        ("a pipe that nobody writes to", &|| {
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        }),
        ("a file of holes", &|| fs::File::create(&path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for (what, plant) in plants {
        fs::remove_file(&path).unwrap();
        plant();
        assert_eq!(place.run(&["sweep", "sweep.toml"]).well().out, whole, "{what}");
        assert!(fs::symlink_metadata(&path).unwrap().is_file(), "{what}");
        let again = fs::read(&path).unwrap();
        assert!(
            again != changed.as_bytes() && again.len().abs_diff(content.len()) < 50,
            "{what}: it is kept anew"
        );
    }
    if root() {
        // Whole, and another user's: that user may have computed anything.
        fs::write(&path, content).unwrap();
        chown(&path, Some(65_534), None).unwrap();
        assert_eq!(place.run(&["sweep", "sweep.toml"]).well().out, whole);
        assert_eq!(fs::metadata(&path).unwrap().uid(), 0, "it is kept anew");
    }
    // A kept point that cannot be replaced is an error, and the sweep takes no number from it.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    place.run(&["sweep", "sweep.toml"]).failed(3, &["cannot keep a result", first]);
}

#[test]
fn the_table_has_a_row_per_point_and_a_column_per_number() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    place.run(&["sweep", "sweep.toml"]).well();
    let text = fs::read_to_string(place.path().join("results/sweep.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    for column in [
        "link.queue.limit",
        "utilization_ci95",
        "queue_length_packets_p1",
        "queueing_delay_p5_s",
        "queueing_delay_p99_s",
    ] {
        let at =
            rows[0].iter().position(|name| *name == column).unwrap_or_else(|| panic!("{column} in {text}"));
        assert!(!rows[1][at].is_empty() && !rows[2][at].is_empty(), "{column} in {text}");
    }
    assert_eq!((rows[1][0], rows[2][0]), ("1 bdp", "2 bdp"));
}

#[test]
fn a_disk_that_fills_up_in_the_middle_costs_no_finished_point() {
    if root() {
        let place = long();
        fs::create_dir(place.path().join("full")).unwrap();
        // The mount is in a namespace of its own; the points are counted from within.
        let line = "mount -t tmpfs -o size=70m tmpfs full
            \"$TIGHTLINK\" sweep long.toml --out full --jobs 1 & sweep=$!
            count() { ls full/points/sim 2> /dev/null | wc -l; }
            while [ $(count) -lt 2 ]; do sleep 0.02; done
            cat /dev/zero > full/rest 2> /dev/null
            wait $sweep; code=$?
            echo finished $(count)
            rm full/rest
            \"$TIGHTLINK\" sweep long.toml --out full --jobs 1 > /dev/null || code=again
            echo then $(count) $(ls full/*.csv full/*.parquet)
            exit $code";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", line]);
        let ended = end(place.here(command));
        assert_eq!(ended.code, Some(3), "{}\n{}", ended.out, ended.err);
        let words =
            ["cannot keep a result: No space left on device", "finished points are kept: free some room"];
        assert!(words.iter().all(|word| ended.err.contains(word)), "{}", ended.err);
        let lines: Vec<&str> = ended.out.lines().collect();
        let finished: u32 = lines[0].strip_prefix("finished ").unwrap().parse().unwrap();
        assert!((2..8).contains(&finished), "{}", ended.out);
        assert_eq!(lines[1], "then 8 full/long.csv full/long.parquet");
    }
}

#[test]
fn a_reader_who_leaves_and_an_output_that_is_full_cost_no_table() {
    for (line, code, word) in [
        ("\"$TIGHTLINK\" sweep sweep.toml > /dev/full", 3, "standard output: No space left on device"),
        ("mkfifo pipe; : < pipe & exec \"$TIGHTLINK\" sweep sweep.toml > pipe", 141, ""),
    ] {
        let place = Place::new();
        place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
        let ended = end(place.shell(line));
        assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
        assert!(ended.err.contains(word), "{}", ended.err);
        assert!(
            place.path().join("results/sweep.csv").exists()
                && place.path().join("results/sweep.parquet").exists()
        );
    }
}

#[test]
fn a_sweep_of_a_billion_points_is_refused_before_anything_runs() {
    let place = Place::new();
    let numbers: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
    let axes = ["seed", "flow.count", "flow.delayed_ack"]
        .map(|key| format!("\"{key}\" = [{}]\n", numbers.join(", ")));
    place.write("huge.toml", format!("{SMALL}[sweep]\n{}", axes.concat()));
    let words =
        ["huge.toml:19:1: sweep: 1000 x 1000 x 1000 = 1000000000 points", "accepted: at most 100000 points"];
    place.run(&["sweep", "huge.toml"]).failed(2, &words);
    assert_eq!(place.files().len(), 1, "nothing was made");
}

#[test]
fn jobs_do_not_change_the_numbers_and_none_is_refused() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let tables = ["1", "2", "7"].map(|jobs| {
        place.run(&["sweep", "sweep.toml", "--jobs", jobs, "--out", jobs]).well();
        fs::read(place.path().join(jobs).join("sweep.csv")).unwrap()
    });
    assert!(tables[0] == tables[1] && tables[1] == tables[2]);
    place.run(&["sweep", "sweep.toml", "--jobs", "0"]).failed(2, &["--jobs 0: nothing would run"]);
}

/// Points that take a while each.
fn slow() -> Place {
    let place = Place::new();
    let small =
        SMALL.replace("duration = \"2s\"", "duration = \"60s\"").replace("socket_buffer = \"20kB\"", "");
    let limits: Vec<String> = (1..=40).map(|share| format!("\"{share}0kB\"")).collect();
    place.write("slow.toml", format!("{small}\n[sweep]\n\"link.queue.limit\" = [{}]\n", limits.join(", ")));
    place
}

#[test]
fn an_interrupted_sweep_says_what_it_kept_and_the_next_what_it_reused() {
    let place = slow();
    let child = place.start(&["sweep", "slow.toml", "-j", "1"]);
    let kept = || fs::read_dir(place.path().join("results/points/sim")).map_or(0, Iterator::count);
    assert!(within(SOON, || kept() >= 2), "no point was finished");
    signal(&child, "INT");
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(
        err.contains("error: interrupted: stopped when ") && err.contains("of 40 runs were finished"),
        "{err}"
    );
    assert!(err.contains("the same command continues"), "{err}");
    let again = place.run(&["sweep", "slow.toml"]).well();
    assert!(again.err.contains(" of 40 points reused from earlier runs"), "{}", again.err);
}

#[test]
fn other_settings_have_a_table_of_their_own() {
    let place = Place::small();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    place.run(&["sweep", "sweep.toml"]).well();
    let table = || fs::read(place.path().join("results/sweep.csv")).unwrap();
    let before = table();
    let ended = place.run(&["sweep", "sweep.toml", "-s", "link.rate=20Mbit/s", "--seed", "2"]).well();
    assert!(ended.err.contains("results/sweep+link.rate=20Mbit-s+seed=2.csv"), "{}", ended.err);
    assert_eq!(table(), before);
}

#[test]
fn a_baseline_gives_ratios_in_the_table_in_json_and_as_quantiles() {
    let place = Place::new();
    let sweep = "[sweep]\nflow.socket_buffer = ['20kB', '5kB']\nlink.queue.limit = ['5 packets', '9 packets']\n\
                 baseline = { flow.socket_buffer = '20kB' }\n\
                 draw = { count = 3, link.rate = { log_uniform = ['5Mbit/s', '50Mbit/s'] } }\n";
    place.write("drawn.toml", format!("{SMALL}{sweep}"));
    let ended = place.run(&["sweep", "drawn.toml", "--json"]).well();
    let lines = ended.json();
    assert_eq!(lines.len(), 12);
    // A point follows its baseline by the two limits.
    let of = |line: &serde_json::Value| line["summary"]["utilization"].as_f64().expect("a utilization");
    let mut ratios = Vec::new();
    for draw in lines.chunks(4) {
        for (most, less) in [(&draw[0], &draw[2]), (&draw[1], &draw[3])] {
            assert_eq!(most["point"]["link.rate"], less["point"]["link.rate"]);
            assert!(most.get("ratio").is_none(), "{most}");
            let ratio = less["ratio"]["utilization"].as_f64().expect("a ratio");
            assert!((ratio - of(less) / of(most)).abs() < 1e-9, "{ratio}");
            ratios.push(ratio);
        }
    }
    let shown = place.run(&["sweep", "drawn.toml"]).well().out;
    let (_, quantiles) = shown.split_once("ratio to socket buffer = 20kB").expect("quantiles");
    assert!(quantiles.contains("socket buffer = 5kB"), "{quantiles}");
    ratios.sort_by(f64::total_cmp);
    let goodput =
        quantiles.lines().find(|line| line.trim_start().starts_with("utilization")).expect("a line");
    let words: Vec<&str> = goodput.split_whitespace().collect();
    let median = format!("{:.3}", (ratios[2] + ratios[3]) / 2.0);
    assert_eq!(
        (words[1], words[2], words[4]),
        ("6", format!("{:.3}", ratios[0]).as_str(), median.as_str()),
        "{goodput}"
    );

    let table = fs::read_to_string(place.path().join("results/drawn.csv")).expect("the table");
    let mut rows = table.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a head");
    let column = head.iter().position(|name| *name == "ratio.utilization").expect("a column of ratios");
    let mut found: Vec<f64> = rows.filter_map(|row| row[column].parse().ok()).collect();
    found.sort_by(f64::total_cmp);
    assert_eq!(found, ratios);
}
