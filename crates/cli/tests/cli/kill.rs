//! A run that is ended from outside leaves nothing behind.

use crate::place::{Place, SMALL, SOON, alone, now, root, within};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use testkit::tries::{in_one_of_five, in_time};

const LIVE: &str = r#"title = "killed"
duration = "20s"
[link]
rate = "97Mbit/s"
delay = "5ms"
queue = { limit = "1 bdp" }
[[flow]]
"#;

/// The network namespaces a process is in, holds open, or has a thread in, by the kernel's name: `net:[…]`.
pub fn namespaces(process: &Path) -> BTreeSet<PathBuf> {
    let entries =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let threads = entries(process.join("task")).map(|thread| thread.join("ns/net"));
    let links = threads.chain(entries(process.join("fd")));
    links
        .filter_map(|link| fs::read_link(link).ok())
        .filter(|target| target.to_string_lossy().starts_with("net:["))
        .collect()
}

/// The namespaces of every process there is.
pub fn all_namespaces() -> BTreeSet<PathBuf> {
    let processes = fs::read_dir("/proc").expect("/proc is mounted").flatten().map(|entry| entry.path());
    let numbered =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok());
    processes.filter(numbered).flat_map(|process| namespaces(&process)).collect()
}

/// The namespaces that `child` made, once it has made both ends of a path.
#[track_caller]
pub fn made_by(child: &Child) -> BTreeSet<PathBuf> {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let own = namespaces(Path::new("/proc/self"));
    let made = || namespaces(&process).difference(&own).cloned().collect::<BTreeSet<_>>();
    assert!(within(SOON, || made().len() >= 2), "the path does not start");
    made()
}

/// None of `made` is in use by any process any more, and none of the emulator's devices is outside them.
#[track_caller]
pub fn all_gone(made: &BTreeSet<PathBuf>) {
    let left = || all_namespaces().intersection(made).cloned().collect::<Vec<_>>();
    assert!(within(SOON, || left().is_empty()), "left: {:?}", left());
    // The emulator's devices are called "tight".
    let devices =
        fs::read_dir("/sys/class/net").expect("/sys is mounted").flatten().map(|entry| entry.file_name());
    let ours: Vec<_> = devices.filter(|name| name.to_string_lossy().starts_with("tight")).collect();
    assert!(ours.is_empty(), "devices in the machine's own namespace: {ours:?}");
}

/// Sends `child` a signal by name.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status();
    assert!(sent.expect("sh runs").success());
}

#[test]
fn kill_9_of_a_live_run_leaves_no_namespace_no_device_and_no_result() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        place.write("live.toml", LIVE);
        let mut child = place.start(&["run", "live.toml", "--engine", "live"]);
        let made = made_by(&child);
        // Well into the transfer.
        std::thread::park_timeout(Duration::from_secs(1));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "it was still running");
        all_gone(&made);
        assert_eq!(place.files(), BTreeSet::from(["live.toml".into()]), "no result under any name");
    }
}

#[test]
fn ctrl_c_ends_a_live_run_within_a_second() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        place.write("live.toml", LIVE);
        in_one_of_five(|| {
            let mut child = place.start(&["run", "live.toml", "--engine", "live"]);
            let made = made_by(&child);
            std::thread::park_timeout(Duration::from_millis(500));
            let started = now();
            signal(&child, "INT");
            let status = child.wait().unwrap();
            let took = started.elapsed();
            assert!(status.signal() == Some(2) || status.code() == Some(130), "{status}");
            all_gone(&made);
            assert_eq!(place.files().len(), 1, "no result");
            in_time(took < Duration::from_secs(1), format!("{took:?}"))
        });
    }
}

#[test]
fn the_next_run_clears_what_killed_runs_left_and_nothing_of_others() {
    let place = Place::small();
    let results = place.path().join("results");
    let folder = results.join("0123456789abcdef");
    fs::create_dir_all(folder.join(".under-way-sim-ab.new")).unwrap();
    fs::write(folder.join(".under-way-sim-ab"), "").unwrap();
    fs::write(folder.join(".under-way-sim-ab.new/summary.json"), "{").unwrap();
    fs::write(folder.join(".under-way-manifest.json-cd"), "{").unwrap();
    fs::write(results.join(".under-way-page.html-ef"), "<").unwrap();
    // Files that versions before 0.3 left, and files that no version makes.
    fs::create_dir(folder.join(".under-way-sim-4294967295")).unwrap();
    symlink("/dev/zero", results.join(".under-way-link")).unwrap();
    // A program holds the locks of these two.
    fs::create_dir(folder.join(".under-way-sim-gh.new")).unwrap();
    fs::write(folder.join(".under-way-sim-gh.new/summary.json"), "{").unwrap();
    let others = [folder.join(".under-way-sim-gh"), results.join(".under-way-page.html-ij")]
        .map(|path| File::create(path).unwrap());
    others.iter().for_each(|file| file.lock().unwrap());
    place.run(&["run", "small.toml"]).well();
    let left: BTreeSet<String> = place
        .files()
        .into_iter()
        .map(|file| file.to_string_lossy().into_owned())
        .filter(|file| file.contains("under-way"))
        .collect();
    let theirs = [
        ".under-way-page.html-ij",
        "0123456789abcdef/.under-way-sim-gh",
        "0123456789abcdef/.under-way-sim-gh.new/summary.json",
    ];
    assert_eq!(left, theirs.map(|name| format!("results/{name}")).into());
}

#[test]
fn a_killed_simulation_keeps_the_results_of_the_run_before() {
    let place = Place::new();
    // The same scenario but for its length, so that the second run can be caught.
    place.write("small.toml", SMALL);
    place.run(&["run", "small.toml"]).well();
    let before = place.files();
    let long = SMALL.replace("2s", "100000s").replace("10Mbit/s", "10Gbit/s").replace("20kB", "max");
    place.write("small.toml", long);
    let mut child = place.start(&["run", "small.toml"]);
    std::thread::park_timeout(Duration::from_millis(300));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "it was still running");
    assert_eq!(place.files(), before);
}
