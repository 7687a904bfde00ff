//! Claims from outside in: what a failed one prints, and that the command ends with 1.

use crate::place::{Place, SMALL, SWEEP};

/// What holds for any [`SMALL`], and what cannot: its packets do not all get lost.
const HOLDS: &str = "[[claim]]\nsays = 'Most packets get through.'\nquantity = 'loss_rate'\nengines = ['sim']\nat_most = '50%'\n";
const FAILS: &str = "[[claim]]\nsays = 'Hardly any packet gets through.'\nquantity = 'loss_rate'\nengines = ['sim']\nat_least = '99%'\n";

fn place() -> Place {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let figure = "\n[figure]\nx = 'link.queue.limit'\ny = ['idle_fraction']\n";
    place.write("figure.toml", format!("{SMALL}{SWEEP}{figure}"));
    place.write("holds.toml", HOLDS);
    place.write("both.toml", format!("{HOLDS}{FAILS}"));
    place
}

#[test]
fn a_failed_claim_is_said_and_ends_with_1() {
    let place = place();
    for scenario in ["small.toml", "figure.toml"] {
        let arguments = ["compare", scenario, "--engines", "sim", "--claims", "both.toml"];
        let ended = place.run(&arguments);
        assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
        let line = |word: &str, says: &str| {
            assert!(
                ended.out.lines().any(|line| line.starts_with(word) && line.ends_with(says)),
                "{}",
                ended.out
            );
        };
        line("held", "Most packets get through.");
        line("FAILED", "Hardly any packet gets through.");
        line("claims: 1 held, 1 failed", "");
        // What failed is in the report, too, and the records are kept.
        let report = ended.out.lines().find_map(|line| line.strip_prefix("report: ")).expect("a report");
        let page = std::fs::read_to_string(place.path().join(report)).unwrap();
        assert!(page.contains("Hardly any packet gets through."));

        let json = place.run(&[&arguments[..], &["--json"]].concat());
        assert_eq!(json.code, Some(1), "{}\n{}", json.out, json.err);
        assert!(!json.json().is_empty() && !json.out.contains("FAILED"), "{}", json.out);
    }
}

#[test]
fn claims_that_hold_end_with_0() {
    let place = place();
    for scenario in ["small.toml", "figure.toml"] {
        let ended = place.run(&["compare", scenario, "--engines", "sim", "--claims", "holds.toml"]).well();
        assert!(ended.out.contains("claims: 1 held, 0 failed"), "{}", ended.out);
    }
}

#[test]
fn claims_about_another_scenario_or_none_are_refused() {
    let place = place();
    place.write("other.toml", HOLDS.replace("says", "figure = 'sobas:fig1-4'\nsays"));
    place.write("broken.toml", "[[claim]]\nsays = 'nothing'\n");
    for (file, words) in [
        ("other.toml", &["other.toml: no claim is about this scenario", "accepted: claims with figure"][..]),
        ("broken.toml", &["broken.toml: ", "missing field"]),
        ("nowhere.toml", &["nowhere.toml: No such file", "help: give the path of a file of claims"]),
    ] {
        place.run(&["compare", "small.toml", "--engines", "sim", "--claims", file]).failed(2, words);
    }
}
