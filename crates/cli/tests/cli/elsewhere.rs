//! `tightlink sweep --on`, with a script in the place of the Python package. `python/tests/test_cluster.py` has clusters.

use crate::place::{Place, SMALL, SWEEP, end};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const ON: [&str; 4] = ["sweep", "sweep.toml", "--on", "tcp://head:8786"];

/// A place with a script that acts as `python3 -m tightlink COMMAND`: `$3` is the command.
fn with_python(script: &str) -> (Place, Command) {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    place.write("python", format!("#!/bin/sh\n{script}"));
    let path = place.path().join("python");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.program(&ON);
    command.env("TIGHTLINK_PYTHON", &path);
    (place, command)
}

/// A script whose package is of this build, and which does this to fill the store.
fn of_this_build(fill: &str) -> String {
    let build = lab::run::BUILD;
    format!("if [ \"$3\" = --version ]; then echo 'tightlink {build}'; exit; fi\nread -r asked\n{fill}\n")
}

#[test]
fn a_python_without_the_package_is_an_error_that_says_how_to_install_it() {
    let help = ["pip install", "[dask]", "TIGHTLINK_PYTHON=PATH", lab::run::BUILD];
    let (_place, mut missing) = with_python("");
    missing.env("TIGHTLINK_PYTHON", "/no/such/python");
    end(missing).failed(3, &[&["/no/such/python -m tightlink: No such file"][..], &help].concat());

    let (_place, without) = with_python("echo 'python: No module named tightlink' >&2; exit 1");
    end(without).failed(3, &[&["does not start: python: No module named tightlink"][..], &help].concat());

    let (_place, other) = with_python("echo 'tightlink 0.0.1 ffff'");
    end(other).failed(3, &[&["another build, tightlink 0.0.1 ffff"][..], &help].concat());
}

#[test]
fn a_failed_point_is_not_run_and_its_row_says_why() {
    let answer =
        of_this_build("printf %s \"$asked\" > asked; echo '{\"failed\": [[1, \"its process died\"]]}'");
    let (place, command) = with_python(&answer);
    let ended = end(command);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(
        ended.out.contains("limit = 1 bdp\n")
            && ended.out.contains("limit = 2 bdp: failed: its process died")
    );
    assert!(ended.err.contains("1 of 2 points failed; the others are finished"), "{}", ended.err);
    assert_eq!(fs::read_dir(place.path().join("results/points/sim")).unwrap().count(), 1);
    let table = fs::read_to_string(place.path().join("results/sweep.csv")).unwrap();
    assert!(table.lines().nth(2).unwrap().ends_with(",its process died"), "{table}");

    let mut command = place.program(&[&ON[..], &["--json", "--set", "duration=3s"]].concat());
    command.env("TIGHTLINK_PYTHON", place.path().join("python"));
    let lines = end(command).json();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["failed"], "its process died");
    assert_eq!(lines[1]["point"]["link.queue.limit"], "2 bdp");
    let asked: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("asked")).unwrap()).unwrap();
    assert_eq!(asked["settings"], serde_json::json!([["duration", "3s"]]));
    assert_eq!(asked["on"], "tcp://head:8786");
    assert_eq!(asked["name"], place.path().join("sweep.toml").to_str().unwrap());
}

#[test]
fn an_error_of_the_package_ends_the_command_with_its_code() {
    let (place, refused) =
        with_python(&of_this_build("echo '{\"error\": \"on: nowhere\", \"code\": 2}'; exit 2"));
    end(refused).failed(2, &["error: on: nowhere"]);
    assert!(!place.path().join("results/sweep.csv").exists());

    let (_place, died) = with_python(&of_this_build("kill -9 $$"));
    end(died).failed(3, &["gave no answer", "signal: 9"]);
}

#[test]
fn a_search_does_not_run_elsewhere() {
    let place = Place::small();
    let search = ["sweep", "small.toml", "--target", "utilization>=20%", "--over", "link.queue.limit"];
    let ended = place.run(&[&search[..], &["--on", "tcp://head:8786"]].concat());
    ended.failed(2, &["--target", "cannot be used with", "--on"]);
}
