//! `tightlink size` of a link that changes.

use crate::place::{Place, SMALL};
use std::fs;

/// A trace of 20 s: for 10 s an opportunity every 8 ms, which are 1.5 Mbit/s, and for 10 s one every 40 ms.
fn write_trace(place: &Place) {
    let fast = (0..10_000).step_by(8);
    let slow = (10_000..=20_000).step_by(40);
    let lines: String = fast.chain(slow).map(|ms| format!("{ms}\n")).collect();
    fs::write(place.path().join("lte.down"), lines).unwrap();
}

#[test]
fn a_trace_is_sized_by_the_share_of_what_it_offers() {
    let place = Place::new();
    write_trace(&place);
    let question = ["size", "--trace", "lte.down", "--rtt", "60ms", "--flows", "1..2"];
    let answer = place.run(&[&question[..], &["--json"]].concat()).well().json().remove(0);
    let asked = &answer["asked"];
    assert_eq!(
        (&asked["changing"]["trace"], &asked["changing"]["period_s"]),
        (&"lte.down".into(), &20.0.into())
    );
    // 1250 opportunities and 251 of 1500 bytes in 20 s.
    assert_eq!(asked["rate_bps"], 900_600.0);
    let of = |point: &serde_json::Value, key: &str| point[key].as_f64().unwrap();
    let recommended = &answer["recommended"];
    assert!(of(recommended, "utilization") - of(recommended, "utilization_ci95") >= 0.99, "{recommended}");
    assert!(recommended["self_inflicted_delay_s"].is_number(), "{recommended}");
    assert_eq!(of(recommended, "bytes"), 1500.0 * of(recommended, "packets"));
    // A smaller limit that was tried does not surely keep the utilization.
    for point in answer["curve"].as_array().unwrap() {
        if (10.0..of(recommended, "packets")).contains(&of(point, "packets")) {
            assert!(of(point, "utilization") - of(point, "utilization_ci95") < 0.99, "{point}");
        }
    }
    let rows = answer["pareto"].as_array().unwrap();
    let delay = |row: &serde_json::Value| of(&row["queueing_delay_s"], "p95");
    for queue in ["drop-tail", "codel", "fq-codel", "pie", "fq-pie", "dualpi2"] {
        assert!(rows.iter().any(|row| row["queue"] == queue), "{queue}");
    }
    for row in rows {
        let excelled = rows
            .iter()
            .any(|other| of(other, "utilization") > of(row, "utilization") && delay(other) < delay(row));
        assert!(row["best"] != true || !excelled, "{row}");
    }
    assert!(answer["preferred"]["says"].as_str().unwrap().contains("the fixed limit"), "{answer}");
    assert!(answer["rules"].as_array().unwrap().is_empty(), "{answer}");
    let page = fs::read_to_string(place.path().join("results/size.html")).unwrap();
    for words in ["Which buffer? lte.down, in the mean 0.901 Mbit/s", "self-inflicted, ms", "the fixed limit"]
    {
        assert!(page.contains(words), "{words}");
    }
    let shown = place.run(&question).well().out;
    let rows = || shown.lines().filter(|line| line.contains("p95 ms") || line.contains(" ± "));
    assert!(rows().count() > 15, "{shown}");
    assert!(rows().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(!shown.contains("tbf") && shown.contains("fq_codel"), "{shown}");
}

#[test]
fn a_scenario_whose_rate_changes_is_sized_as_it_is() {
    let place = Place::new();
    write_trace(&place);
    let text = SMALL.replace("rate = \"10Mbit/s\"", "rate = { trace = \"lte.down\" }");
    let text = text
        .replace("socket_buffer = \"20kB\"", "host = \"linux\"")
        .replace("1 bdp", "20 packets")
        .replace("5ms", "30ms");
    place.write(
        "lte.toml",
        text.replace("\"2s\"", "\"45s\"").replace("\"500ms\"", "\"5s\"").replace("2Mbit/s", "100kbit/s"),
    );
    let answer = place.run(&["size", "lte.toml", "--json"]).well().json().remove(0);
    assert_eq!(answer["asked"]["rate_bps"], 900_600.0);
    assert!(answer["preferred"]["queue"].is_string(), "{answer}");
}

#[test]
fn what_cannot_be_asked_of_a_trace_is_said() {
    let place = Place::new();
    write_trace(&place);
    let refused = |options: &[&str], words: &[&str]| {
        place.run(&[&["size"], options].concat()).failed(2, words);
    };
    refused(&["--trace", "none.down"], &["--trace: none.down: No such file"]);
    fs::write(place.path().join("back.down"), "5\n3\n").unwrap();
    refused(&["--trace", "back.down"], &["--trace: back.down", "3 after 5: the time goes back"]);
    let once =
        ["--trace: /dev/null: a pipe or a device, which gives its content once", "save it to a file first"];
    refused(&["--trace", "/dev/null"], &once);
    refused(&["--trace", "lte.down", "--rate", "1Mbit/s"], &["cannot be used with"]);
    refused(&["--rate", "lte.down"], &["--rate", "help: write --trace lte.down"]);
    refused(
        &["--trace", "lte.down", "--quick"],
        &["--quick", "theory describes links that stay as they are"],
    );
    refused(
        &["--trace", "lte.down", "--engine", "live", "--control", "scalable"],
        &["--control: scalable: the kernel does not have it"],
    );
    refused(&["--trace", "lte.down", "--set", "link.delay=1ms"], &["no scenario is given"]);
    fs::write(place.path().join("slow.down"), "60000\n").unwrap();
    refused(&["--trace", "slow.down"], &["--trace: slow.down: a mean rate of 200 bit/s", "10kbit/s or more"]);
}
