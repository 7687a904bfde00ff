//! Child processes, and the numbers that identify them.
//!
//! A child keeps its number until its exit status has been collected; then the kernel may give the number to any other
//! program. So code that sends signals to a number collects the exit status last.

use crate::namespace::before_exec;
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, setsid};
use std::fs;
use std::process::{Child, Command};

/// Makes the kernel keep the exit status of children until it is collected. The kernel would discard it if this process
/// was started with SIGCHLD ignored, as some shells and services do.
pub fn keep_ends() {
    #[expect(unsafe_code, reason = "sigaction")]
    // SAFETY: no handler is installed, so no code can run at a time that it does not expect. Nothing in this program
    // installs one for SIGCHLD that would be lost.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}

/// Makes the program of `command` lead a session of its own, which has no terminal, and the group of its processes. A
/// program that leads a group already stays in this session.
pub fn lead_session(command: &mut Command) {
    #[expect(unsafe_code, reason = "Command::pre_exec, by before_exec")]
    // SAFETY: the step makes one system call, and its error is a code.
    unsafe {
        before_exec(command, || match setsid() {
            Ok(_) | Err(Errno::EPERM) => Ok(()),
            Err(error) => Err(error.into()),
        });
    }
}

/// Returns true if a child has ended. The exit status is not collected, so that the kernel keeps the child's number.
pub(crate) fn has_ended(child: &Child) -> bool {
    !matches!(look(child), Ok(WaitStatus::StillAlive))
}

/// Returns true if a child has ended and failed. The exit status is not collected.
pub(crate) fn has_failed(child: &Child) -> bool {
    matches!(look(child), Ok(WaitStatus::Signaled(..) | WaitStatus::Exited(_, 1..)))
}

fn look(child: &Child) -> nix::Result<WaitStatus> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::Pid(Pid::from_raw(child.id() as i32)), flags)
}

/// Collects the exit status of children that no other code waits for. Processes whose parents have ended become
/// children of the first process of a container, or of a process that has requested them. `own` are the children that
/// the caller waits for.
pub fn collect(own: &[u32]) {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let listed = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    for child in listed.flat_map(|text| {
        text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()).collect::<Vec<_>>()
    }) {
        if !own.contains(&child) {
            // With WNOHANG a child that still runs is left alone.
            let _ = waitpid(Pid::from_raw(child as i32), Some(WaitPidFlag::WNOHANG));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_number_of_a_child_that_ended_stays_taken_until_its_end_is_collected() {
        let mut child = Command::new("true").spawn().expect("true");
        while !has_ended(&child) {
            std::thread::yield_now();
        }
        let there = format!("/proc/{}", child.id());
        assert!(has_ended(&child) && fs::exists(&there).expect("/proc"), "asked twice");
        assert!(child.wait().expect("ours").success());
        assert!(!fs::exists(&there).expect("/proc"));
    }
}
