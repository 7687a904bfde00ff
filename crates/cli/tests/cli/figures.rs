//! `tightlink figure` and `tightlink list`.

use crate::place::{Place, SMALL, alone, root};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::could_not_judge;

#[test]
fn figure_list_names_every_published_result() {
    let ended = Place::new().run(&["figure", "list"]).well();
    for id in ["sobas:fig1-4", "sobas:fig5-6"] {
        let line = ended.out.lines().find(|line| line.trim_start().starts_with(id));
        assert!(line.is_some_and(|line| line.contains(" claims, scenarios/sobas/")), "{}", ended.out);
    }
    assert_eq!(ended.err, "");
}

#[test]
fn list_has_a_block_for_each_kind_and_its_columns_line_up() {
    let ended = Place::new().run(&["list"]).well();
    let heads: Vec<&str> = ended.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        heads,
        ["figures:", "controls:", "slow starts:", "sizers:", "queues:", "engines:", "metrics:"]
    );
    for block in ended.out.split_inclusive(":\n").skip(1) {
        let rows: Vec<&str> = block.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(!rows.is_empty());
        // The second column begins where a name, its padding and two spaces end.
        let begins = |row: &str| {
            let row = row.strip_prefix("  ").expect("an indent");
            let gap = row.find("  ").expect("two columns");
            gap + row[gap..].find(|c| c != ' ').expect("a second column")
        };
        let columns: Vec<usize> = rows.iter().map(|row| begins(row)).collect();
        assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{columns:?}:\n{}", rows.join("\n"));
    }
}

#[test]
fn list_of_one_kind_is_that_block_alone() {
    let ended = Place::new().run(&["list", "controls"]).well();
    for control in ["fixed", "reno", "cubic", "bbr"] {
        assert!(ended.out.lines().any(|line| line.trim_start().starts_with(control)), "{}", ended.out);
    }
    let names = || ended.out.lines().filter_map(|line| line.split_whitespace().next());
    assert!(
        names().all(|name| names().filter(|other| *other == name).count() == 1),
        "once each: {}",
        ended.out
    );
    assert!(!ended.out.contains("controls:") && !ended.out.contains("drop-tail"), "{}", ended.out);
}

#[test]
fn list_as_json_has_an_object_per_entry_with_the_same_names() {
    let place = Place::new();
    let all = place.run(&["list", "--json"]).well().json();
    for kind in ["figures", "controls", "slow-starts", "sizers", "queues", "engines", "metrics"] {
        let one = place.run(&["list", kind, "--json"]).well().json();
        let of_kind: Vec<_> = all.iter().filter(|entry| entry["kind"] == kind).cloned().collect();
        assert!(!one.is_empty() && one == of_kind, "{kind}: {one:?}");
        let text = place.run(&["list", kind]).well().out;
        for entry in &one {
            let name = entry["name"].as_str().expect("a name");
            assert!(
                text.lines().any(|line| line.split_whitespace().next() == Some(name)),
                "{name} in {text}"
            );
        }
    }
    let codel = all.iter().find(|entry| entry["name"] == "codel").expect("listed");
    assert_eq!(codel["settings"], serde_json::json!(["target", "interval", "ecn"]));
    assert_eq!(codel["runs_on"], serde_json::json!(["sim", "live"]));
    for (control, runs_on, live_over) in [
        ("reno", &["model", "sim", "live"][..], &["kernel", "quic"][..]),
        ("madison", &["sim", "live"], &["quic"]),
        ("xcp", &["sim"], &[]),
    ] {
        let entry = all.iter().find(|entry| entry["name"] == control).expect("listed");
        assert_eq!(entry["runs_on"], serde_json::json!(runs_on), "{control}");
        assert_eq!(entry["live_over"], serde_json::json!(live_over), "{control}");
    }
    let text = Place::new().run(&["list", "controls"]).well().out;
    assert!(text.contains("  model sim live (kernel, quic)  "), "{text}");
}

#[test]
fn an_unknown_figure_is_told_the_known_ones() {
    let ended = Place::new().run(&["figure", "sobas:fig99"]);
    ended.failed(
        2,
        &["unknown figure \"sobas:fig99\"", "accepted: list, all, ", "sobas:fig1-4, ", "sobas:fig5-6, "],
    );
}

#[test]
fn an_unknown_paper_is_told_the_known_ones() {
    Place::new()
        .run(&["check", "nopaper"])
        .failed(2, &["no paper and no figure is called \"nopaper\"", "accepted: ", "sobas"]);
}

#[test]
fn check_takes_figures_and_the_first_of_the_seeds() {
    let place = Place::new();
    let ended =
        place.run(&["check", "madison:spacing", "sobas:fig5-6", "--engines", "model,sim", "--seed", "101"]);
    assert!(ended.out.contains("madison:spacing: ") && ended.out.contains("sobas:fig5-6: "), "{}", ended.out);
    assert!(ended.out.lines().last().is_some_and(|line| line.starts_with("claims: ")), "{}", ended.out);
    let seeds: Vec<u64> = (0..10).map(|more| 101 + more).collect();
    let kept = walk(&place.path().join("results"));
    let of = |seed: &u64| kept.iter().any(|summary| summary.contains(&format!("\"seed\":{seed},")));
    assert!(seeds.iter().all(of) && !of(&1), "{kept:?}");
}

/// Every `summary.json` below `folder`, without spaces.
fn walk(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false if path.extension().is_some_and(|end| end == "json") => {
                vec![fs::read_to_string(&path).unwrap().replace(' ', "")]
            }
            false => Vec::new(),
        })
        .collect()
}

#[test]
fn a_paper_without_claims_is_said_to_be_unchecked() {
    let ended = Place::new().run(&["check", "protocols"]).well();
    assert_eq!(ended.out, "");
    assert!(ended.err.contains("no claims about protocols: nothing checked"), "{}", ended.err);
}

#[test]
fn claims_are_judged_for_the_engines_that_were_asked_and_the_others_are_counted() {
    let place = Place::new();
    let ended = place.run(&["figure", "sobas:fig5-6", "--engines", "model"]).well();
    let tally = "claims: 1 held, 0 failed, 2 disagree; 3 judged (1 of them not by sim and live), 4 left out, because too few \
                 engines were asked (1 between model, sim and live, 2 of sim, 1 of sim and live)";
    assert!(ended.out.lines().any(|line| line == tally), "{}", ended.out);
    assert!(place.path().join("results/sobas-fig5-6.html").exists());
    let checked = place.run(&["check", "sobas", "--engines", "model", "--json"]).well();
    let verdicts = checked.json();
    let judged = |line: &&serde_json::Value| {
        line["verdict"]["judged"].as_array().is_some_and(|judged| !judged.is_empty())
    };
    let count = verdicts.iter().filter(judged).count();
    assert!(count > 3 && count < verdicts.len(), "{count} of {}", verdicts.len());
    assert!(checked.err.contains(&format!("; {count} judged (")), "{}", checked.err);
}

#[test]
fn one_report_file_cannot_hold_several_figures() {
    let ended = Place::new().run(&["figure", "all", "--report", "one.html"]);
    ended.failed(2, &["--report names one file", "help: use --out DIR"]);
}

#[test]
fn a_repeated_run_shows_the_median_and_keeps_every_run() {
    let place = Place::small();
    let ended = place.run(&["run", "small.toml", "--repeat", "3", "--json"]).well();
    let summary = &ended.summaries()[0];
    assert_eq!(summary["repeats"]["runs"], 3);
    assert_eq!(summary["repeats"]["seeds"].as_array().unwrap().len(), 3);
    let (least, most) =
        (&summary["repeats"]["goodput_bps"]["least"], &summary["repeats"]["goodput_bps"]["most"]);
    let shown = summary["flows"][0]["goodput_bps"].as_f64().unwrap();
    assert!(least.as_f64().unwrap() <= shown && shown <= most.as_f64().unwrap(), "{summary}");
    assert!(
        ended.err.contains("note: of 3 runs (seeds 1, 2, 3) the one with the median goodput"),
        "{}",
        ended.err
    );
    let kept = |file: &&PathBuf| file.ends_with("sim/summary.json");
    assert_eq!(place.files().iter().filter(kept).count(), 3);
    place.run(&["run", "small.toml", "--repeat", "0"]).failed(2, &["--repeat", "1..=99"]);
}

#[test]
fn a_figure_from_several_engines_needs_one_that_the_command_line_leaves() {
    let place = Place::small();
    let figure = "[sweep]\n'link.queue.limit' = ['20 packets', '40 packets']\n[figure]\nx = 'link.queue.limit'\n\
                  y = ['flows.target.goodput_bps']\nengines = ['sim', 'live']\n";
    place.write("fig.toml", format!("{SMALL}{figure}"));
    let ended = place.run(&["compare", "fig.toml", "--engines", "sim", "--repeat", "2"]).well();
    assert!(ended.out.contains("goodput of target (Mbit/s) against buffer"), "{}", ended.out);
    assert!(ended.out.contains(" to "), "from the least to the most:\n{}", ended.out);
    place.run(&["compare", "fig.toml", "--engines", "model"]).failed(
        2,
        &["--engines leaves out the engines of this [figure]", "accepted: sim, live among the engines"],
    );
}

#[test]
fn a_run_of_the_kernel_that_is_in_doubt_is_run_again_and_counted() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::small();
    let figure = "[sweep]\n'link.queue.limit' = ['20 packets', '40 packets']\n[figure]\nx = 'link.queue.limit'\n\
                  y = ['flows.target.goodput_bps']\nengines = ['live']\n";
    place.write("fig.toml", format!("{SMALL}{figure}"));
    let arguments = ["compare", "fig.toml", "--set", "duration=1s", "--set", "warmup=200ms", "--repeat", "2"];
    place.run(&arguments).well();
    let kept = || place.files().into_iter().filter(|file| file.to_string_lossy().contains("points/live"));
    let before: Vec<PathBuf> = kept().map(|file| place.path().join(file)).collect();
    assert!(before.len() >= 4, "{before:?}");
    if before.len() > 4 {
        could_not_judge("the machine was busy, and runs were run again before the test asked for it");
        return;
    }
    for file in &before {
        let text = fs::read_to_string(file).unwrap();
        let (head, point) = text.split_once('\n').unwrap();
        let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let (mut head, mut point) = (read(head), read(point));
        point["notes"] = serde_json::json!([{ "Busy": "the machine was too busy: a test says so" }]);
        let point = point.to_string();
        head["digest"] = blake3::hash(point.as_bytes()).to_hex().as_str().into();
        fs::write(file, format!("{head}\n{point}")).unwrap();
    }
    place.run(&arguments).well();
    assert!(kept().count() > before.len(), "runs with other seeds");
    let pages = place.files().into_iter().filter(|file| file.extension().is_some_and(|of| of == "html"));
    let mut pages = pages.map(|page| fs::read_to_string(place.path().join(page)).unwrap());
    assert!(pages.any(|page| page.contains("Runs that were run again, because the machine was too busy: ")));
}
