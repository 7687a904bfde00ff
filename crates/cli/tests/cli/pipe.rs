//! Readers that leave, and a stdout that takes nothing.

use crate::place::{Place, SMALL, SWEEP, end};

#[test]
fn a_reader_that_leaves_early_ends_the_program_quietly() {
    let place = Place::new();
    // More lines than a pipe holds, so that the writer meets its end.
    let axis: Vec<String> = (1..=300).map(|packets| format!("\"{packets} packets\"")).collect();
    place.write("long.toml", format!("{SMALL}[sweep]\n\"link.queue.limit\" = [{}]\n", axis.join(", ")));
    let line = "set -o pipefail; $TIGHTLINK run long.toml --engine model --json | head -1";
    let mut command = std::process::Command::new("bash");
    command.args(["-c", line]);
    let ended = end(place.here(command));
    assert_eq!(ended.code, Some(141), "as of any program in a pipe: {}", ended.err);
    assert_eq!((ended.json().len(), ended.err.as_str()), (1, ""));
}

#[test]
fn a_full_disk_behind_stdout_is_an_error_not_a_panic() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    for command in ["list", "figure list", "run sweep.toml", "run sweep.toml --json"] {
        let ended = end(place.shell(&format!("exec $TIGHTLINK {command} > /dev/full")));
        ended.failed(3, &["standard output: No space left on device"]);
    }
}

#[test]
fn nobody_listening_to_the_talk_changes_nothing() {
    let place = Place::small();
    let ended = end(place.shell("exec $TIGHTLINK run small.toml --json 2> /dev/full")).well();
    assert_eq!(ended.json().len(), 1);
    assert_eq!(end(place.shell("exec $TIGHTLINK figure nope 2> /dev/full")).code, Some(2));
}
