//! What the machine or the user's rights lack: exit code 3, before anything runs.

use crate::place::{Ended, Place, SMALL, SOON, alone, end, needs, now, root};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

/// A run that would take the simulator minutes.
fn long() -> Place {
    let place = Place::new();
    place.write(
        "long.toml",
        SMALL.replace("2s", "100000s").replace("10Mbit/s", "10Gbit/s").replace("20kB", "max"),
    );
    place
}

/// Runs `command` and expects exit code 3 sooner than any engine could have come to an end.
#[track_caller]
fn cannot(command: Command, words: &[&str]) -> Ended {
    let started = now();
    let ended = end(command);
    ended.failed(3, words);
    assert!(started.elapsed() < SOON, "something ran first");
    ended
}

#[test]
fn a_file_in_the_place_of_the_results_folder() {
    let place = long();
    let words = [
        "long.toml: cannot make the folder for results: Not a directory",
        "help: choose another folder with --out",
    ];
    cannot(place.program(&["run", "long.toml", "--out", "long.toml"]), &words);
    cannot(
        place.program(&["compare", "long.toml", "--engines", "sim", "--out", "long.toml/below"]),
        &["help: choose"],
    );
}

#[test]
fn a_results_folder_that_cannot_be_made() {
    let place = long();
    let words =
        ["/proc/results: cannot make the folder for results", "help: choose another folder with --out"];
    cannot(place.program(&["run", "long.toml", "--out", "/proc/results"]), &words);
}

#[test]
fn results_in_the_image_of_a_container_are_replaced() {
    let place = Place::new();
    if !root() {
        return;
    }
    place.write("small.toml", SMALL);
    // The first run is in the lower layer, as if a container's image had it; the second one in the upper layer.
    let line = "mount -t tmpfs none disk && mkdir disk/image disk/upper disk/work container || exit 77
        $TIGHTLINK run small.toml --out disk/image || exit 1
        mount -t overlay -o lowerdir=disk/image,upperdir=disk/upper,workdir=disk/work overlay container || exit 77
        $TIGHTLINK run small.toml --out container && ls -AR container";
    fs::create_dir(place.path().join("disk")).unwrap();
    let ended = end(place.shell(&format!("unshare -m sh -c '{line}'")));
    if ended.code == Some(77) {
        testkit::could_not_judge(format_args!("overlayfs cannot be mounted: {}", ended.err));
        return;
    }
    let ended = ended.well();
    assert!(ended.out.contains("summary.json") && !ended.out.contains("under-way"), "{}", ended.out);
}

#[test]
fn a_report_that_cannot_be_written() {
    let place = long();
    fs::create_dir(place.path().join("folder")).unwrap();
    for report in ["/proc/page.html", "nowhere/page.html", "folder"] {
        let words = [report, "cannot write the report", "help: choose another file with --report"];
        cannot(place.program(&["compare", "long.toml", "--engines", "sim", "--report", report]), &words);
    }
}

#[test]
fn a_full_disk() {
    if root() {
        let place = long();
        fs::create_dir(place.path().join("full")).unwrap();
        // The mount is in a namespace of its own and goes with it.
        let mount = "mount -t tmpfs -o size=1m tmpfs full";
        let unshare = |line: &str| {
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", line]);
            place.here(command)
        };
        let words = [
            "full: too little room for results",
            "MB free, 64 MB needed",
            "help: free some, or choose another folder",
        ];
        cannot(unshare(&format!("{mount} && exec $TIGHTLINK run long.toml --out full")), &words);
        let filled = format!(
            "{mount} && (cat /dev/zero > full/rest; true) 2> /dev/null && exec $TIGHTLINK run long.toml --out full"
        );
        cannot(
            unshare(&filled),
            &["full: cannot write to the folder for results: No space left on device", "help: "],
        );
        // A folder made for nothing is not left, nor are those above it.
        let new = format!(
            "{mount} && {{ $TIGHTLINK run long.toml --out full/new/inner; code=$?; ls -A full >&2; exit $code; }}"
        );
        let ended = cannot(unshare(&new), &["full/new/inner: too little room for results"]);
        assert!(ended.err.trim_end().ends_with("--out"), "something is left: {}", ended.err);
    }
}

#[test]
fn a_disk_that_fills_up_while_a_run_goes_on_is_left_as_it_was() {
    if root() {
        let place = Place::new();
        // Seconds of work, so that the disk is full before it is done.
        let seconds = SMALL.replace("2s", "4000s").replace("10Mbit/s", "100Mbit/s").replace("20kB", "max");
        place.write("seconds.toml", seconds);
        fs::create_dir(place.path().join("full")).unwrap();
        let line = "mount -t tmpfs -o size=70m tmpfs full
            \"$TIGHTLINK\" run seconds.toml --out full/results & run=$!
            while [ ! -d full/results ]; do sleep 0.01; done
            sleep 0.3
            cat /dev/zero > full/rest 2> /dev/null
            wait $run; code=$?
            ls -A full/results >&2
            exit $code";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", line]);
        let ended = end(place.here(command));
        ended.failed(3, &["cannot keep the results: No space left on device", "help: "]);
        assert!(ended.err.lines().last().is_some_and(|line| line.contains("help: ")), "{}", ended.err);
    }
}

#[test]
fn an_ordinary_user_is_told_what_the_kernel_engine_needs() {
    let private = fs::metadata("/dev/net/tun").is_ok_and(|tun| tun.permissions().mode() & 0o006 != 0o006);
    if root() && needs(private, "a /dev/net/tun that not everybody may open") {
        let place = Place::small();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]);
        command.args([env!("CARGO_BIN_EXE_tightlink"), "run", "small.toml", "--engine", "live"]);
        cannot(
            place.here(command),
            &["/dev/net/tun: permission denied (mode 0", "run as root, or: sudo chmod 0666 /dev/net/tun"],
        );
        assert_eq!(place.files().len(), 1, "nothing was made");
    }
}

#[test]
fn an_ordinary_user_who_may_open_the_tun_device_gets_the_kernel_engine() {
    const NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let _alone = alone();
    let place = Place::small();
    let allowed = end(place.shell(&format!("{NOBODY} unshare --user true"))).code == Some(0);
    if root() && needs(allowed, "user namespaces for an ordinary user") {
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        // In a mount namespace of its own, /dev/net/tun is another file for the same device.
        let device = "mknod tun c 10 200 && chmod 666 tun && mount --bind tun /dev/net/tun";
        let line = format!("{device} && exec {NOBODY} \"$TIGHTLINK\" run small.toml --engine live --json");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &line]);
        let summary = end(place.here(command)).well().summaries().remove(0);
        assert!(summary["flows"][0]["goodput_bps"].as_f64().unwrap() > 5e6, "{summary}");
        let folder = place.path().join("results").join(summary["scenario_hash"].as_str().unwrap());
        assert_eq!(
            fs::metadata(folder.join("live/summary.json")).unwrap().uid(),
            65534,
            "files keep their owner"
        );
    }
}
