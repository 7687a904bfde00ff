//! Points that were computed elsewhere: kept whole, refused if they are not of this sweep, and found by it.

use scenario::Document;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};
use tightlink_lab::run::BUILD;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::experiment::Experiment;
use tightlink_lab::study::sweep::{KeptPoints, PutError, kept};
use tightlink_lab::study::task::{Task, tasks};
use tightlink_lab::study::watch::{SharedWatch, Unwatched};

const SWEEP: &str = "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n\
                     [[flow]]\n[sweep]\nseed = [1, 2, 3]\n'link.rate' = ['10Mbit/s', '10000kbit/s']\n";

fn document(text: &str) -> Document {
    Document::parse("kept.toml", text).unwrap()
}

fn swept(folder: &Path) -> Vec<Vec<u8>> {
    let experiment = Experiment::new(&document(SWEEP), folder).unwrap();
    let files = experiment.sweep(Engine::Sim, &mut Unwatched).unwrap().files;
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn computed(task: &Task) -> Vec<u8> {
    kept(task, Engine::Sim, &SharedWatch::by_nobody()).unwrap()
}

#[test]
fn points_computed_elsewhere_make_the_table_of_an_ordinary_sweep() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tasks = tasks(&document(SWEEP)).unwrap();
    let points = KeptPoints::open(there.path(), &tasks, Engine::Sim).unwrap();
    assert_eq!(points.missing(), [0, 2, 4], "equal tasks are missing once");
    for number in [4, 0] {
        assert_eq!(points.put(&computed(&tasks[number])).unwrap(), number);
    }
    assert_eq!(points.missing(), [2]);
    points.put(&computed(&tasks[3])).unwrap();
    assert!(points.missing().is_empty());
    let stamp = |folder: &Path| {
        let files = fs::read_dir(folder.join("points/sim")).unwrap();
        let mut all: Vec<_> = files
            .map(|file| file.unwrap())
            .map(|file| (file.file_name(), fs::read(file.path()).unwrap()))
            .collect();
        all.sort();
        all
    };
    let before = stamp(there.path());
    assert_eq!(swept(there.path()), swept(here.path()), "the same tables to the byte");
    assert_eq!(stamp(there.path()), before, "no point was computed again");
}

#[test]
fn bytes_that_are_not_of_this_sweep_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let task = tasks(&document(SWEEP)).unwrap();
    let points = KeptPoints::open(folder.path(), &task, Engine::Sim).unwrap();
    let good = computed(&task[0]);

    let text = String::from_utf8(good.clone()).unwrap();
    let other = text.replacen(BUILD, "0.2.0 0123456789abcdef", 1);
    let error = points.put(other.as_bytes()).unwrap_err();
    assert!(
        matches!(&error, PutError::OtherBuild(why) if why.found.contains("0.2.0 0123") && why.accepted == BUILD)
    );

    let stranger = tasks(&document(&SWEEP.replace("1, 2, 3", "9"))).unwrap();
    let error = points.put(&computed(&stranger[0])).unwrap_err();
    assert!(
        matches!(&error, PutError::Unknown(why) if why.found.contains(&stranger[0].resolved.hash)),
        "{error}"
    );
    let of_model = kept(&task[0], Engine::Model, &SharedWatch::by_nobody()).unwrap();
    assert!(matches!(points.put(&of_model), Err(PutError::Unknown(_))), "of another engine");

    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&flipped[..], &good[..good.len() - 1], b"", b"{}\n"] {
        assert!(matches!(points.put(damaged), Err(PutError::Damaged(_))));
    }
    assert_eq!(fs::read_dir(folder.path().join("points/sim")).unwrap().count(), 0);

    fs::remove_dir_all(folder.path().join("points")).unwrap();
    let error = points.put(&good).unwrap_err();
    assert!(
        matches!(&error, PutError::Keep(_)) && error.to_string().contains("cannot keep a result"),
        "{error}"
    );
}

#[test]
fn a_point_of_another_trace_names_the_file() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = format!(
        "{}[[traffic]]\nkind = 'replay'\nfile = 'cross.csv'\n",
        SWEEP.split("[sweep]").next().unwrap_or_default()
    );
    let of = |folder: &Path, size: u32| {
        fs::write(folder.join("cross.csv"), format!("time_ms,size\n0,{size}\n1,{size}\n")).unwrap();
        let name = folder.join("kept.toml").display().to_string();
        tasks(&Document::parse(&name, &text).unwrap()).unwrap()
    };
    let (here, there) = (of(one.path(), 500), of(two.path(), 600));
    let points = KeptPoints::open(one.path(), &here, Engine::Sim).unwrap();
    let error = points.put(&computed(&there[0])).unwrap_err();
    assert!(error.to_string().contains("the same cross.csv"), "{error}");
    assert_eq!(points.put(&computed(&here[0])).unwrap(), 0);
}

#[test]
fn files_under_way_of_another_machine_stay_for_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let points = folder.path().join("points/sim");
    fs::create_dir_all(&points).unwrap();
    let yesterday = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let make = |name: &str, age: Option<SystemTime>| {
        let file = File::create(points.join(name)).unwrap();
        age.into_iter().for_each(|age| file.set_modified(age).unwrap());
    };
    make(".under-way-0123456789ab@f00.json-abcdefghij", None);
    make(".under-way-0123456789ab@f01.json-abcdefghij", Some(yesterday));
    make(".under-way-f02.json-abcdefghij", None);
    swept(folder.path());
    let left = fs::read_dir(&points).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.contains("under-way")).collect();
    assert_eq!(left, [".under-way-0123456789ab@f00.json-abcdefghij"]);
}

#[test]
fn a_file_under_way_names_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot: String = boot.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    let (done, file) = (AtomicBool::new(false), folder.path().join("file"));
    let write = || {
        for _ in 0..2000 {
            if !done.load(Relaxed) {
                tightlink_lab::files::replace(&file, &[1; 100_000]).unwrap();
            }
        }
    };
    let name = std::thread::scope(|scope| {
        let writer = scope.spawn(write);
        let mut seen = None;
        while seen.is_none() && !writer.is_finished() {
            let names = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
            let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
            seen = names.find(|name| name.starts_with(".under-way-"));
        }
        done.store(true, Relaxed);
        seen
    });
    let name = name.expect("a temporary name was seen");
    assert!(name.starts_with(&format!(".under-way-{boot}@file-")), "{name}");
}

#[test]
fn a_sweep_goes_on_after_a_point_that_failed_if_asked() {
    let text = "title = 't'\nwarmup = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n[[flow]]\n\
                [sweep]\n'flow.size' = ['10kB', '3MB', '20kB']\n";
    let folder = tempfile::tempdir().unwrap();
    let experiment = Experiment::new(&document(text), folder.path()).unwrap();
    let error = experiment.sweep(Engine::Sim, &mut Unwatched).unwrap_err().to_string();
    assert!(error.contains("nothing was measured"), "{error}");
    let swept = experiment.sweep_on(Engine::Sim, &mut Unwatched).unwrap();
    let failed: Vec<&str> = swept.failed.iter().map(|failed| failed.label.as_str()).collect();
    assert_eq!(failed, ["size = 10kB", "size = 20kB"]);
    assert!(swept.failed[0].reason.contains("nothing was measured"), "{}", swept.failed[0].reason);
    assert_eq!(swept.results.len(), 1);
    assert_eq!(swept.results[0].point[0].1, "3MB");
    let csv = fs::read_to_string(&swept.files[0]).unwrap();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[0].starts_with("flow.size,flow.size_bytes,seed,") && rows[0].ends_with(",failed"), "{csv}");
    for (row, start) in [(1, "10kB,10000,,"), (2, "3MB,3000000,1,"), (3, "20kB,20000,,")] {
        assert!(rows[row].starts_with(start), "{csv}");
        assert_eq!(rows[row].contains("nothing was measured"), row != 2, "{csv}");
    }
}

#[test]
fn a_point_that_failed_elsewhere_is_not_run() {
    let text = "title = 't'\nduration = '2s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n\
                [[flow]]\n[sweep]\nseed = [1, 2]\n";
    let folder = tempfile::tempdir().unwrap();
    let mut experiment = Experiment::new(&document(text), folder.path()).unwrap();
    experiment.failed = [(0, "its process died".to_owned()), (1, "so did this".to_owned())].into();
    let swept = experiment.sweep_on(Engine::Sim, &mut Unwatched).unwrap();
    assert!(swept.results.is_empty());
    assert_eq!(fs::read_dir(folder.path().join("points/sim")).unwrap().count(), 0, "it was run");
    let csv = fs::read_to_string(&swept.files[0]).unwrap();
    assert_eq!(csv, "seed,failed\n1,its process died\n2,so did this\n");
}
