//! Pictures for a paper: `--svg`, `--pdf`, `--chart` and `--size`.

use crate::place::{Place, SMALL, SWEEP, alone, root};
use std::fs;

const COMPARE: [&str; 4] = ["compare", "small.toml", "--engines", "model,sim"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    COMPARE.iter().chain(more).copied().collect()
}

#[test]
fn one_chart_is_the_named_file_and_several_have_their_names_in_it() {
    let place = Place::small();
    let ended = place.run(&with(&["--chart", "rtt", "--svg", "one.svg", "--pdf", "deep/one.pdf"])).well();
    assert!(
        ended.err.contains("picture: one.svg\n") && ended.err.contains("picture: deep/one.pdf\n"),
        "{}",
        ended.err
    );
    let svg = fs::read_to_string(place.path().join("one.svg")).unwrap();
    assert!(
        svg.contains("width=\"85mm\" height=\"60mm\"") && svg.contains("aria-label=\"Round-trip time, ms\"")
    );
    assert!(fs::read(place.path().join("deep/one.pdf")).unwrap().starts_with(b"%PDF-"));

    place.run(&with(&["--svg", "all.svg", "--size", "120x70mm"])).well();
    for chart in ["rate", "rtt", "window", "backlog", "drops"] {
        let file = place.path().join(format!("all-{chart}.svg"));
        let svg = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(svg.contains("width=\"120mm\" height=\"70mm\""), "{chart}");
    }
    assert!(!place.path().join("all.svg").exists());

    // The same command gives the same bytes.
    place.run(&with(&["--chart", "rtt,rate", "--pdf", "again.pdf", "--svg", "again.svg"])).well();
    assert_eq!(fs::read_to_string(place.path().join("again-rtt.svg")).unwrap(), svg);
    let [one, again] =
        ["deep/one.pdf", "again-rtt.pdf"].map(|file| fs::read(place.path().join(file)).unwrap());
    assert_eq!(one, again);
}

#[test]
fn an_unknown_chart_lists_those_of_the_report() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let asked = ["compare", "sweep.toml", "--engines", "sim", "--svg", "a.svg", "--chart", "case-1-rat"];
    let ended = place.run(&asked);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    for words in ["no chart \"case-1-rat\"", "overview-goodput, overview-rtt, case-1-rate", "did you mean"] {
        assert!(ended.err.contains(words), "{words} in {}", ended.err);
    }
    assert!(ended.out.contains("report: "), "the results are not lost: {}", ended.out);
    assert!(!place.path().join("a.svg").exists());
}

#[test]
fn options_that_do_not_fit_are_refused_before_anything_runs() {
    let place = Place::small();
    for (more, words) in [
        (&["--chart", "rate"][..], "no picture is asked for"),
        (&["--size", "85x60mm"], "no picture is asked for"),
        (&["--svg", "a.svg", "--size", "85"], "is not a size of a picture"),
        (&["--svg", "a.svg", "--size", "1x1mm"], "from 60x45mm to 1000x1000mm"),
        (&["--svg", "a", "--pdf", "a"], "both name the same file"),
        (&["--svg", ".."], "not the name of a file"),
    ] {
        let ended = place.run(&with(more));
        assert_eq!(ended.code, Some(2), "{more:?}: {}", ended.err);
        assert!(ended.err.contains(words) && ended.out.is_empty(), "{more:?}: {} {}", ended.err, ended.out);
    }
    let ended = place.run(&with(&["--svg", "small.toml/a.svg"]));
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("small.toml") && ended.out.is_empty(), "{}", ended.err);
    let ended = place.run(&["figure", "all", "--svg", "a.svg"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("there are several figures"), "{}", ended.err);
}

#[test]
fn the_size_of_a_buffer_has_pictures_by_theory_alone() {
    let place = Place::new();
    let asked = ["size", "--rate", "100Mbit/s", "--quick", "--svg", "size.svg"];
    place.run(&asked).well();
    for (chart, label) in
        [("idle-time", "Idle time, %"), ("loss", "Loss, %"), ("queueing-delay", "Queueing delay, ms")]
    {
        let svg = fs::read_to_string(place.path().join(format!("size-{chart}.svg"))).unwrap();
        assert!(svg.contains(&format!("aria-label=\"{label}\"")), "{chart}");
    }
}

#[test]
fn a_program_behind_a_link_has_pictures_without_a_page() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        let ping = "ping -q -c 20 -i 0.02 $TIGHTLINK_FAR > /dev/null || sleep 0.5";
        let link =
            ["emulate", "--rate", "20Mbit/s", "--svg", "link.svg", "--chart", "rate", "--", "sh", "-c", ping];
        place.run(&link).well();
        let svg = fs::read_to_string(place.path().join("link.svg")).unwrap();
        assert!(svg.contains("aria-label=\"Rate, Mbit/s\"") && svg.contains("aria-label=\"to the far end\""));
    }
}
