//! [`Stack`]: two profiles of the kernel's TCP, set for one network namespace.
//!
//! `/proc/sys/net` shows the namespace of the thread that opens the file. So [`Stack::apply`] must run on a thread
//! inside the namespace, on both sides of the path, before sockets are made.

use crate::error::HostError;
use std::fs;
use std::path::{Path, PathBuf};
use units::Bytes;

/// A profile of TCP in a namespace. Congestion control is chosen per flow, not here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// The kernel's defaults: SACK, RACK, tail loss probes, F-RTO.
    #[default]
    Modern,
    /// A profile close to the NewReno of the papers: three duplicate acknowledgements or a timeout indicate a loss, and
    /// one loss is repaired per round trip. These stay modern: PRR, time stamps, an initial window of ten,
    /// receiver-side GRO.
    Classic,
}

/// One setting with its values before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// The file under `/proc/sys`.
    pub path: PathBuf,
    /// Its text before, blanks single.
    pub before: String,
    /// Its text now.
    pub after: String,
}

/// The least limit of the receive buffer. It has room for a window of 12.5 MB (1 Gbit/s x 100 ms), for which the kernel
/// books twice as much memory. A larger limit would change the window scale. The scale is 10 here, so windows have
/// steps of 1 KiB. The receiver raises its buffer itself after the handshake.
const READ_MEMORY: u64 = 32 << 20;
/// The least limit of the send buffer, which has to hold the whole window, and grows from one window to two.
const WRITE_MEMORY: u64 = 64 << 20;

/// The setting of both profiles: connections must not learn from their predecessors.
const COMMON: &[(&str, &str)] = &[("tcp_no_metrics_save", "1")];

const CLASSIC: &[(&str, &str)] = &[
    // No selective acknowledgements (RFC 2018): only duplicate acknowledgements show a loss (RFC 6582).
    ("tcp_sack", "0"),
    // No reports of duplicate segments (RFC 2883), which would undo window reductions.
    ("tcp_dsack", "0"),
    // No detection of loss by time (RACK, RFC 8985).
    ("tcp_recovery", "0"),
    // No tail loss probe and no early retransmit (RFC 5827): a lost tail costs a timeout.
    ("tcp_early_retrans", "0"),
    // No F-RTO (RFC 5682): a timeout is taken for a loss.
    ("tcp_frto", "0"),
    // The threshold stays at three duplicates, because the kernel would raise it after reordering.
    ("tcp_max_reordering", "3"),
];

impl Stack {
    /// Sets the profile in the current thread's network namespace and reads every setting back. Returns all settings,
    /// changed or not.
    ///
    /// # Errors
    /// [`HostError::OwnNamespace`] in the machine's first namespace, or a container's, because the profile is not for
    /// the machine itself. [`HostError::Setting`] if a file cannot be written or the value does not stick.
    pub fn apply(self) -> Result<Vec<SettingChange>, HostError> {
        let mut changes = self.apply_profile()?;
        changes.push(raise_receive_memory()?);
        changes.push(raise_send_memory()?);
        Ok(changes)
    }

    /// Sets the profile, and leaves the limits of buffers as the kernel has them.
    ///
    /// # Errors
    /// As for [`Stack::apply`].
    pub fn apply_profile(self) -> Result<Vec<SettingChange>, HostError> {
        stay_out_of_first()?;
        let own: &[(&str, &str)] = match self {
            Self::Modern => &[],
            Self::Classic => CLASSIC,
        };
        let mut changes = Vec::new();
        for (name, value) in COMMON.iter().chain(own) {
            changes.push(write(name, value)?);
        }
        Ok(changes)
    }
}

/// Allows the receive buffers of the current thread's network namespace to grow beyond the kernel's limit.
///
/// # Errors
/// [`HostError::Setting`] if `tcp_rmem` cannot be written or the value does not stick.
pub fn raise_receive_memory() -> Result<SettingChange, HostError> {
    change_maximum("tcp_rmem", |most| most.max(READ_MEMORY))
}

/// Allows send buffers to grow beyond the kernel's limit.
///
/// # Errors
/// As for [`raise_receive_memory`], for `tcp_wmem`.
pub fn raise_send_memory() -> Result<SettingChange, HostError> {
    change_maximum("tcp_wmem", |most| most.max(WRITE_MEMORY))
}

/// Limits the growth of send buffers to `most` bytes of memory.
///
/// # Errors
/// As for [`raise_send_memory`].
pub fn limit_send_memory(most: Bytes) -> Result<SettingChange, HostError> {
    change_maximum("tcp_wmem", |_| most.get())
}

/// Refuses the machine's own settings.
pub(crate) fn stay_out_of_first() -> Result<(), HostError> {
    if in_first_namespace() { Err(HostError::OwnNamespace) } else { Ok(()) }
}

/// Returns true if this thread is in the machine's first network namespace, or in the network namespace of process 1,
/// which may belong to a container. If process 1 has more capabilities than this process, this process may not examine
/// it, root or not. So the machine-wide settings, which only the first namespace has, are checked as well.
fn in_first_namespace() -> bool {
    let link = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let with_first_process = link("1").is_some_and(|first| link("thread-self") == Some(first));
    with_first_process || Path::new("/proc/sys/net/ipv4/tcp_mem").exists()
}

/// Sets the last of three numbers to the result of `change`, and lowers the second to it if necessary.
fn change_maximum(name: &str, change: impl FnOnce(u64) -> u64) -> Result<SettingChange, HostError> {
    let path = path_of(name);
    let text = read(&path, "a maximum")?;
    let numbers: Vec<u64> = text.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [min, default, max] = numbers[..] else {
        return Err(HostError::Setting {
            path,
            value: "(three numbers)".to_owned(),
            reason: format!("found {text:?} there"),
            help: "tightlink does not know this kernel",
        });
    };
    let most = change(max).clamp(min, i32::MAX as u64);
    write(name, &format!("{min} {} {most}", default.min(most)))
}

pub(crate) fn write(name: &str, value: &str) -> Result<SettingChange, HostError> {
    let path = path_of(name);
    let before = read(&path, value)?;
    fs::write(&path, value).map_err(|error| refused(&path, value, error.to_string()))?;
    let after = read(&path, value)?;
    if after != value {
        return Err(refused(&path, value, format!("it reads {after:?} after writing")));
    }
    Ok(SettingChange { path, before, after })
}

fn read(path: &Path, wanted: &str) -> Result<String, HostError> {
    let text = fs::read_to_string(path).map_err(|error| refused(path, wanted, error.to_string()))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn path_of(name: &str) -> PathBuf {
    Path::new("/proc/sys/net/ipv4").join(name)
}

fn refused(path: &Path, value: &str, reason: String) -> HostError {
    HostError::Setting {
        path: path.to_owned(),
        value: value.to_owned(),
        reason,
        help: "run as root, or in a user namespace that owns the network namespace (unshare -rn), with /proc/sys writable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CloneFlags, unshare};

    // The refusal itself is not tested, because a test must not change the machine if the guard ever fails.
    #[test]
    fn the_machines_own_namespace_is_told_from_a_fresh_one() {
        assert!(in_first_namespace(), "run the tests in the machine's own network namespace");
        unshare(CloneFlags::CLONE_NEWNET).expect("run the tests as root: they make network namespaces");
        assert!(!in_first_namespace());
    }
}
