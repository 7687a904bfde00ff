//! Tests of the processes of a program: its family, and whether they run.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn own() -> Process {
    Process::open(std::process::id()).expect("this process runs")
}

#[test]
fn a_child_is_family_until_it_ends() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
    let id = child.id();
    assert!(own().family().iter().any(|member| member.id() == id));
    child.kill().expect("it runs");
    // The process has ended, but is not collected: /proc still names its parent.
    let handle = Process::open(id).expect("it is not collected");
    while handle.is_alive() {
        std::thread::yield_now();
    }
    assert_eq!(parent(id), Some(own().id()));
    assert!(own().child(id).is_none(), "it has ended");
    child.wait().expect("it was killed");
    assert!(own().child(id).is_none());
}

#[test]
fn a_process_that_has_another_parent_by_the_time_it_is_opened_is_not_family() {
    // The shell ends at once, and its child gets another parent.
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 60 > /dev/null & echo $!"]).stdout(Stdio::piped());
    let mut shell = shell.spawn().expect("sh");
    let mut line = String::new();
    BufReader::new(shell.stdout.take().expect("piped")).read_line(&mut line).expect("text");
    let former = Process::open(shell.id()).expect("it is not collected");
    while former.is_alive() {
        std::thread::yield_now();
    }
    let orphan = line.trim().parse().expect("a number");
    let opened = Process::open(orphan).expect("it sleeps");
    assert!(opened.is_alive() && former.child(orphan).is_none() && own().child(orphan).is_none());
    let killed = Command::new("kill").arg(line.trim()).status();
    assert!(killed.expect("kill runs").success());
    shell.wait().expect("it has ended");
}

#[test]
fn the_kernels_lists_of_children_are_those_of_a_walk_over_all_processes() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
    // Other tests of this process start and end programs as well.
    let listed = Children::Listed.of(own().id());
    let walked = Children::walk().of(own().id());
    assert!([listed, walked].iter().all(|children| children.contains(&child.id())));
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
}

#[test]
fn the_sockets_of_a_program_are_its_own_and_those_of_its_children() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("free");
    let inode = fs::metadata(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&socket)));
    let inode = inode.expect("it is open").ino();
    assert_eq!(own().sockets().expect("own descriptors").get(&inode), Some(&own().id()));
    // The shell's child opens a socket.
    let mut shell = Command::new("bash");
    shell.args(["-c", "(exec 3<>/dev/udp/127.0.0.1/9; echo; read line); true"]);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash");
    let mut line = String::new();
    BufReader::new(shell.stdout.take().expect("piped")).read_line(&mut line).expect("text");
    let sockets = Process::open(shell.id()).expect("it runs").sockets().expect("own program");
    drop(shell.stdin.take());
    shell.wait().expect("it ends");
    let owners: Vec<u32> = sockets.into_values().collect();
    assert!(owners.len() == 1 && owners[0] != shell.id(), "{owners:?}");
}
