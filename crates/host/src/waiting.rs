//! The time for which threads waited for a processor while they could have run: the kernel's run-queue delay.
//!
//! The second number of `/proc/PID/task/TID/schedstat` counts nanoseconds. It concerns the thread alone, whichever
//! namespaces it is in. It does not include the time in which a hypervisor ran another machine.

use std::collections::{HashMap, HashSet};
use std::fs;
use units::Span;

/// The greatest number of processes that are examined, and of threads of each process.
const MOST: usize = 512;

/// A thread of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    process: u32,
    thread: u32,
}

impl Thread {
    /// Returns the calling thread; `None` without `/proc`.
    #[must_use]
    pub fn current() -> Option<Self> {
        // "PID/task/TID"
        let link = fs::read_link("/proc/thread-self").ok()?;
        let mut parts = link.to_str()?.split('/');
        let process = parts.next()?.parse().ok()?;
        let thread = parts.nth(1)?.parse().ok()?;
        Some(Self { process, thread })
    }

    /// Returns the time for which it has waited for a processor since it began; `None` if it has ended, or the kernel
    /// does not count.
    #[must_use]
    pub fn waited(self) -> Option<Span> {
        let Self { process, thread } = self;
        waited(&fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?)
    }
}

/// Reads the run-queue delay from the text of a `schedstat`: time run, time waited, turns.
fn waited(text: &str) -> Option<Span> {
    text.split_whitespace().nth(1)?.parse().ok().map(Span::from_nanos)
}

/// A process with its descendants, whose threads are examined regularly.
#[derive(Debug)]
pub struct ProcessTree {
    root: u32,
    /// The wait of each thread when it was first seen, and when it was last seen.
    seen: HashMap<Thread, (Span, Span)>,
    started: bool,
}

impl ProcessTree {
    /// Watches the process `root` and its descendants. Waits count from now on; those of later processes count from
    /// their beginning.
    #[must_use]
    pub fn of(root: u32) -> Self {
        let mut tree = Self { root, seen: HashMap::new(), started: false };
        tree.look();
        tree.started = true;
        tree
    }

    /// Reads the wait of each thread. A thread that has ended since the last call keeps its last reading.
    pub fn look(&mut self) {
        let (mut next, mut done) = (vec![self.root], HashSet::new());
        while let Some(process) = next.pop() {
            if !done.insert(process) || done.len() > MOST {
                continue;
            }
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
            let threads = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
            for thread in threads.take(MOST) {
                // A kernel without CONFIG_PROC_CHILDREN does not list the children of a process, so only the root is
                // examined.
                let children = fs::read_to_string(format!("/proc/{process}/task/{thread}/children"));
                next.extend(
                    children.unwrap_or_default().split_whitespace().filter_map(|id| id.parse::<u32>().ok()),
                );
                let thread = Thread { process, thread };
                let full = self.seen.len() >= 64 * MOST;
                let Some(waited) = thread.waited().filter(|_| !full || self.seen.contains_key(&thread))
                else {
                    continue;
                };
                let first = if self.started { Span::ZERO } else { waited };
                self.seen.entry(thread).or_insert((first, waited)).1 = waited;
            }
        }
    }

    /// Returns the wait of the thread that waited longest.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.seen.values().map(|(first, last)| last.saturating_sub(*first)).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_second_number_of_a_schedstat_is_the_delay() {
        assert_eq!(waited("508247 698594 3\n"), Some(Span::from_nanos(698_594)));
        for text in ["", "5", "5 x 7", "-1 -2 3"] {
            assert_eq!(waited(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_thread_finds_itself_and_two_of_them_on_one_processor_wait() {
        let here = Thread::current().expect("/proc is there");
        assert_eq!(here.process, std::process::id());
        let other = std::thread::spawn(Thread::current).join().expect("no panic").expect("/proc is there");
        assert!(other.thread != here.thread && other.process == here.process);
        assert_eq!(other.waited(), None, "it has ended");
        // Two busy processes on one processor: each waits for about half of the time.
        let twins = "for i in 1 2; do taskset -c 0 sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done' & done; wait";
        let Ok(mut child) = Command::new("sh").args(["-c", twins]).spawn() else { return };
        let mut tree = ProcessTree::of(child.id());
        let before = crate::clock::now();
        while child.try_wait().expect("ours").is_none() {
            tree.look();
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        let (took, waited) = (before.elapsed().as_secs_f64(), tree.longest().as_secs_f64());
        assert!(waited > 0.2 * took && waited <= took, "{waited} of {took} s");
    }
}
