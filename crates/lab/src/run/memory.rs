//! The bound on the memory of a run, needed because a small scenario can ask for queues and windows of any size.

use rustix::process::{Resource, getrlimit};
use std::fs::read_to_string;
use std::sync::OnceLock;

/// The share that a process may take of the memory that was free when its first run began, or of its limit on address
/// space. It is a half because a full buffer doubles in one step.
const SHARE: f64 = 0.5;

/// The memory that this process takes, and the bound that it exceeds, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExcessMemory {
    pub(crate) taken: u64,
    pub(crate) allowed: u64,
}

/// Reads the memory that this process takes, which costs two microseconds. Returns `None` while it is within bounds, or
/// where the system does not report it.
pub(crate) fn exceeded() -> Option<ExcessMemory> {
    static ALLOWED: OnceLock<u64> = OnceLock::new();
    let [addresses, resident] = taken()?;
    let allowed = *ALLOWED.get_or_init(|| free().map_or(u64::MAX, |free| share(resident + free)));
    let limited = getrlimit(Resource::As).current.map_or(u64::MAX, share);
    let over = |taken: u64, allowed: u64| (taken > allowed).then_some(ExcessMemory { taken, allowed });
    over(resident, allowed).or_else(|| over(addresses, limited))
}

/// Prepares the heap for `bytes` more, if the program lets it.
pub(crate) fn reserve(bytes: u64) {
    host::reserve_heap(bytes);
}

fn share(of: u64) -> u64 {
    (of as f64 * SHARE) as u64
}

/// Returns the address space and the resident memory, bytes.
fn taken() -> Option<[u64; 2]> {
    let text = read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split_whitespace().map(|number| number.parse::<u64>().ok());
    let page = rustix::param::page_size() as u64;
    Some([pages.next()?? * page, pages.next()?? * page])
}

/// Returns the memory that the machine and the control group could give, bytes.
fn free() -> Option<u64> {
    let machine = available(&read_to_string("/proc/meminfo").ok()?)?;
    Some(machine.min(in_group().unwrap_or(u64::MAX)))
}

/// Returns the free memory and swap in the text of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    Some((value("MemAvailable:")? + value("SwapFree:").unwrap_or(0)) * 1024)
}

/// Returns the memory that the control group of this process, or one above it, leaves.
fn in_group() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mut group = std::path::PathBuf::from("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    let mut least = None;
    while group.starts_with("/sys/fs/cgroup") {
        let number = |file: &str| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        if let (Some(most), Some(taken)) = (number("memory.max"), number("memory.current")) {
            let left = most.saturating_sub(taken);
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        group.pop();
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_less_than_it_may() {
        let [addresses, resident] = taken().expect("/proc is there");
        assert!(resident > 100_000 && addresses > resident && exceeded().is_none(), "{addresses} {resident}");
        assert_eq!(share(4000), 2000);
    }

    #[test]
    fn free_memory_and_swap_are_read_from_meminfo() {
        let text = "MemTotal: 100 kB\nMemFree:  1 kB\nMemAvailable:      40 kB\nSwapFree:  2 kB\n";
        assert_eq!(available(text), Some(42 * 1024));
        assert_eq!(available("MemTotal: 100 kB\n"), None);
    }
}
