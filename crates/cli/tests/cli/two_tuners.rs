//! Two `tightlink tune` at one connection: the second leaves it alone, so that the first can give it back.

use crate::place::{Ended, Place, SOON, root, within};
use crate::tune::{Stream, own_pid, signal};
use host::TcpInfo;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use units::Bytes;

/// Waits for a line of the child's talk that has these words.
#[track_caller]
fn says(child: &mut Child, words: &str) -> BufReader<std::process::ChildStderr> {
    let mut reader = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(reader.read_line(&mut line).expect("text") > 0, "it never says {words:?}");
    }
    reader
}

#[test]
fn two_tuners_leave_no_limit_on_a_connection() {
    if !root() {
        return;
    }
    for second_in_a_namespace in [false, true] {
        let (place, stream) = (Place::new(), Stream::new());
        let (port, pid) = (stream.port().to_string(), own_pid());
        let arguments =
            |window| ["tune", "--window", window, "--port", &port, "--pid", &pid].map(str::to_owned);
        assert!(!stream.is_locked() && stream.flows(), "it is under way");
        let first = place.start(&arguments("40kB").each_ref().map(String::as_str));
        assert!(within(SOON, || stream.clamp() == Bytes::new(40_000)), "the window is {}", stream.clamp());
        let mut command = match second_in_a_namespace {
            true => {
                let mut command = Command::new("unshare");
                command.args(["-n", env!("CARGO_BIN_EXE_tightlink")]);
                command
            }
            false => Command::new(env!("CARGO_BIN_EXE_tightlink")),
        };
        command.args(arguments("80kB"));
        let mut command = place.here(command);
        let mut second = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let talk = says(&mut second, "left alone: ");
        assert!(within(SOON, || stream.clamp() == Bytes::new(40_000)), "the window is {}", stream.clamp());
        let refused = place.run(&["tune", "--restore", "--port", &port, "--pid", &pid]);
        assert!(refused.code == Some(3) && refused.out.contains("another tightlink tunes it"), "{refused:?}");
        // Whichever ends first.
        signal(&first, "INT");
        let first = Ended::from(first.wait_with_output().expect("it ends")).well();
        signal(&second, "INT");
        drop(talk);
        let second = Ended::from(second.wait_with_output().expect("it ends")).well();
        assert!(first.out.contains("given back to the kernel"), "{}", first.out);
        assert!(!second.out.contains("given back"), "{}", second.out);
        // The kernel's own sizing goes on from there.
        assert!(!stream.is_locked() && stream.clamp() > Bytes::new(100_000), "{}", stream.clamp());
        assert!(stream.flows(), "the program is unharmed");
    }
}

#[test]
fn a_limit_that_was_there_before_is_named_when_it_is_put_back() {
    if !root() {
        return;
    }
    let (place, stream) = (Place::new(), Stream::with_buffer(Some(50_000)));
    let (port, pid) = (stream.receiver.local_addr().expect("bound").port().to_string(), own_pid());
    let mut child = place.start(&["tune", "--window", "40kB", "--port", &port, "--pid", &pid]);
    assert!(stream.is_locked());
    let talk = says(&mut child, &format!("-> 127.0.0.1:{port} (process"));
    // Until the sender has used up the window that it was given before, the buffer must hold that, too.
    let promised = || TcpInfo::of(&stream.receiver).expect("a connection").rcv_wnd;
    assert!(
        within(SOON, || promised().is_none_or(|window| window <= Bytes::new(50_000))),
        "{:?}",
        promised()
    );
    signal(&child, "INT");
    drop(talk);
    let ended = Ended::from(child.wait_with_output().expect("it ends")).well();
    assert!(ended.out.contains("with the limit that the program had set"), "{}", ended.out);
}
