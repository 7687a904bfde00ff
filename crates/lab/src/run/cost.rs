//! The cost of a run: wall-clock time and memory.

use std::fs::File;
use std::io::Read;
use std::time::Instant;

/// Wall-clock time since a start: the time that an engine took, never the time that it measures.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "reports how long a run took; no result depends on it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Returns the largest resident memory of this process so far, bytes; zero where the system does not report it.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    // One read into this room is enough; a file that must be measured first takes ten.
    let mut status = [0; 4096];
    let read = File::open("/proc/self/status").and_then(|mut file| file.read(&mut status)).unwrap_or(0);
    let status = String::from_utf8_lossy(&status[..read]);
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    kilobytes.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
