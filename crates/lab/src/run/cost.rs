//! What a run costs: wall-clock time and memory.

use std::time::Instant;

/// Wall-clock time since it was started: how long an engine took, never what it measures.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "reports how long a run took; no result depends on it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Largest resident memory of this process so far, bytes; zero where the system does not say.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    kilobytes.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
